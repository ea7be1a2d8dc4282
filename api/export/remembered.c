/* The problems of a device of which something is remembered. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"

static int remembered_take(void *context, const char *text, cugen_error *err) {
  struct export_texts *texts = context;
  char **all = array_grow(texts->all, texts->count, sizeof *all);
  if (!all) return error_memory(err);
  texts->all = all;
  all[texts->count] = strdup(text);
  return all[texts->count++] ? CUGEN_OK : error_memory(err);
}

int export_problem_texts(struct exporter *x, const struct cache_key *key, struct export_texts *out,
                         cugen_error *err) {
  return cache_problems(x->cache, key, remembered_take, out, err);
}

void export_texts_free(struct export_texts *texts) {
  for (size_t i = 0; i < texts->count; i++) free(texts->all[i]);
  free(texts->all);
}
