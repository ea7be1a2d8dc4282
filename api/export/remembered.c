/* The problems of a device of which something is remembered. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"

static int remembered_take(void *context, const char *text, cugen_error *err) {
  struct export_texts *texts = context;
  return array_add_text(&texts->all, &texts->count, text) ? CUGEN_OK : error_memory(err);
}

int export_problem_texts(struct exporter *x, const struct cache_key *key, struct export_texts *out,
                         cugen_error *err) {
  return cache_problems(x->cache, key, remembered_take, out, err);
}

void export_texts_free(struct export_texts *texts) {
  array_free_texts(texts->all, texts->count);
}
