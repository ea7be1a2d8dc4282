/* The public functions whose results are JSON; see docs/json.md. */
#include <stdlib.h>

#include "api.h"
#include "cache.h"
#include "json.h"
#include "kernel.h"
#include "records.h"
#include "tuning.h"

/* Keeps the text of the value and releases the value; value NULL: memory ran out. */
static int results_keep(json_t *value, struct text *kept, const char **out, cugen_error *err) {
  char *text = value ? json_dumps(value, JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY) : NULL;
  json_decref(value);
  text_restart(kept);
  if (text) text_add(kept, text);
  free(text);
  if (!text || kept->failed) return error_memory(err);
  *out = text_get(kept);
  return CUGEN_OK;
}

static json_t *record_json(const void *record) {
  return json_record_plain(record);
}

static int records_json(cugen_kernel *k, json_t **out, cugen_error *err) {
  size_t count;
  *out = NULL;
  int status = api_load_records(k, err);
  if (status) return status;
  const cugen_record *records = api_records(k, &count);
  *out = JSON_LIST(records, count, record_json);
  if (records && json_array_size(*out) == count) return CUGEN_OK;
  json_decref(*out);
  *out = NULL;
  return error_memory(err);
}

int cugen_kernel_records(cugen_kernel *k, const char **out, cugen_error *error) {
  json_t *records;
  if (out) *out = NULL;
  if (API_NEEDS(error, "kernel, out", k, out)) return CUGEN_ERROR_USAGE;
  const int status = records_json(k, &records, error);
  return status ? status : results_keep(records, &k->json, out, error);
}

/* ---- Tuning --------------------------------------------------------------------------------- */

/* Returns whether the status comes with a result: also a run that found nothing correct or was
   stopped has one. */
static bool has_result(int status) {
  return status == CUGEN_OK || status == CUGEN_ERROR_WRONG || status == CUGEN_ERROR_INTERRUPTED;
}

/* Prints the result of a tune. On the cpu device the records are those of the check problem. */
static int tuned_json(cugen_kernel *k, const cugen_tune_result *result, json_t **out,
                      cugen_error *err) {
  const bool on_check = k->on_check;
  json_t *records = NULL;
  int status = k->lookup.device.facts.is_gpu ? CUGEN_OK : api_kernel_use_check(k, err);
  if (!status) status = records_json(k, &records, err);
  json_t *object = JSON_NEW({"problem", json_string(cugen_kernel_problem(k))},
                            {"run", json_tune_result(result)}, {"records", records});
  status = api_restore_problem(k, on_check, status, err);
  if (status) json_decref(object);
  *out = status ? NULL : object;
  return status;
}

int cugen_kernel_tune(cugen_kernel *k, const cugen_tune_options *options, const char **result,
                      cugen_error *error) {
  cugen_tune_result run = {0};
  cugen_error ignored = {0};
  json_t *tuned;
  if (!error) error = &ignored; /* tuning judges some failures by their cause or message */
  if (result) *result = NULL;
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  const int status = api_kernel_tune(k, options, &run, error);
  if (!result || !has_result(status)) return status;
  int failed = tuned_json(k, &run, &tuned, status ? NULL : error);
  if (!failed) failed = results_keep(tuned, &k->json, result, status ? NULL : error);
  return status ? status : failed;
}

/* Prints the results in the order of the kernels; the first kernel keeps the text. */
static int all_json(cugen_kernel *const *kernels, size_t count, const cugen_tune_result *runs,
                    const char **out, cugen_error *err) {
  json_t *all = json_array();
  int status = CUGEN_OK;
  for (size_t i = 0; !status && i < count; i++) {
    json_t *tuned;
    status = tuned_json(kernels[i], &runs[i], &tuned, err);
    if (!status && json_array_append_new(all, tuned)) status = error_memory(err);
  }
  if (!status) return results_keep(all, &kernels[0]->json, out, err);
  json_decref(all);
  return status;
}

int cugen_kernels_tune(cugen_kernel *const *kernels, size_t count,
                       const cugen_tune_options *options, const char **result, cugen_error *error) {
  cugen_error ignored = {0};
  if (!error) error = &ignored; /* as in cugen_kernel_tune */
  if (result) *result = NULL;
  if (API_NEEDS(error, "kernels", count ? (const void *)kernels : "")) return CUGEN_ERROR_USAGE;
  cugen_tune_result *runs = calloc(count + 1, sizeof *runs);
  if (!runs) return error_memory(error);
  const int status = api_kernels_tune(kernels, count, options, runs, error);
  const int failed = result && count && has_result(status)
                         ? all_json(kernels, count, runs, result, status ? NULL : error)
                         : CUGEN_OK;
  free(runs);
  return status ? status : failed;
}

/* ---- Importing ------------------------------------------------------------------------------ */

static int results_ask_stop(const cugen_import_progress *progress, void *context) {
  cugen *lib = context;
  (void)progress;
  return lib->stop ? lib->stop(lib->stop_context) : 0;
}

int cugen_cache_import(cugen *lib, const char *path, const char **result, cugen_error *error) {
  cugen_cache_merged merged;
  if (result) *result = NULL;
  if (API_NEEDS(error, "lib, path", lib, path)) return CUGEN_ERROR_USAGE;
  const int status = api_cache_import(lib, path, results_ask_stop, lib, &merged, error);
  return status || !result ? status : results_keep(json_merged(&merged), &lib->json, result, error);
}
