/* What the cache holds for one kernel, whether or not a look-up takes it. */
#include <stdlib.h>

#include "api.h"

struct api_record_list {
  struct cache_record *records, *history; /* what `out` has its strings from */
  size_t record_count, history_count;
  cugen_stored_record *out;
};

static void free_records(struct cache_record *records, size_t count) {
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
}

static void clear(struct api_record_list *list) {
  free_records(list->records, list->record_count);
  free_records(list->history, list->history_count);
  free(list->out);
  *list = (struct api_record_list){0};
}

void api_record_list_close(struct api_record_list *list) {
  if (list) clear(list);
  free(list);
}

static int describe(cugen_kernel *k, struct cache_record *record, bool superseded, cugen_stored_record *out,
                    cugen_error *err) {
  struct judgement judgement = {.how = JUDGED_GONE};
  int status = superseded ? CUGEN_OK : api_judge(k, record, &judgement, err);
  *out = (cugen_stored_record){.current = judgement.how == JUDGED_CURRENT,
                               .superseded = superseded,
                               .measured_at = record->measured_at,
                               .driver_version = record->driver_version,
                               .nvrtc_version = record->nvrtc_version};
  if (judgement.proof_changed) record->verdict = CACHE_NOT_RUN;
  api_publish(k, record, &out->record);
  out->record.from_cache = 1;
  return status;
}

static int load(cugen_kernel *k, bool history, struct api_record_list *list, cugen_error *err) {
  const struct cache_key key = api_key(k);
  struct cache *cache;
  int status = api_space(k, err);
  if (!status) status = api_expander(k, err);
  if (!status) status = api_cache_to_read(k->lib, &cache, err);
  if (!status) status = cache_load(cache, &key, &list->records, &list->record_count, err);
  if (!status) status = api_drop_others(k, list->records, &list->record_count, err);
  if (!status && history) status = cache_history(cache, &key, &list->history, &list->history_count, err);
  size_t count = list->record_count + list->history_count;
  if (!status) list->out = calloc(count + 1, sizeof *list->out);
  if (!status && !list->out) status = error_memory(err);
  for (size_t i = 0; !status && i < count; i++) {
    bool old = i >= list->record_count;
    struct cache_record *record = old ? &list->history[i - list->record_count] : &list->records[i];
    status = describe(k, record, old, &list->out[i], err);
  }
  return status;
}

int cugen_kernel_stored(cugen_kernel *k, int history, const cugen_stored_record **out, size_t *count,
                        cugen_error *error) {
  if (API_NEEDS(error, "kernel, out, count", k, out, count)) return CUGEN_ERROR_USAGE;
  *out = NULL, *count = 0;
  if (!k->record_list) k->record_list = calloc(1, sizeof *k->record_list);
  if (!k->record_list) return error_memory(error);
  clear(k->record_list);
  int status = load(k, history != 0, k->record_list, error);
  if (status) return status;
  *out = k->record_list->out;
  *count = k->record_list->record_count + k->record_list->history_count;
  return CUGEN_OK;
}
