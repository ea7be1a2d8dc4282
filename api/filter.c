/* What of a kernel's space is wanted. */
#include <stdlib.h>
#include <string.h>

#include "api.h"

void api_filter_free(struct api_filter *filter) {
  for (size_t i = 0; i < filter->string_count; i++) free(filter->strings[i]);
  free(filter->strings);
  *filter = (struct api_filter){0};
}

/* NULL: there is none, or no memory for it. */
static const char *keep(struct api_filter *out, const char *text, bool *memory) {
  if (!text) return NULL;
  out->strings[out->string_count] = strdup(text);
  if (!out->strings[out->string_count]) *memory = false;
  return *memory ? out->strings[out->string_count++] : NULL;
}

/* The strings are in the order of `where`, so that they serve as that array. */
static int copy(const cugen_filter *from, struct api_filter *out, cugen_error *err) {
  bool memory = true;
  *out = (struct api_filter){.strings = calloc(from->where_count + 3, sizeof *out->strings)};
  if (!out->strings) return error_memory(err);
  for (size_t i = 0; i < from->where_count && memory; i++) keep(out, from->where[i], &memory);
  out->filter.where = (const char *const *)out->strings;
  out->filter.where_count = from->where_count;
  out->filter.variant = keep(out, from->variant, &memory);
  out->filter.implementation = keep(out, from->implementation, &memory);
  out->filter.all = from->all;
  if (memory) return CUGEN_OK;
  api_filter_free(out);
  return error_memory(err);
}

static int check(const cugen_filter *filter, cugen_error *err) {
  if (API_SIZE(err, cugen_filter, CUGEN_FILTER_INIT, filter)) return CUGEN_ERROR_USAGE;
  if (filter->where_count && !filter->where)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_kernel_filter: where is NULL");
  for (size_t i = 0; i < filter->where_count; i++)
    if (!filter->where[i]) return error_set(err, CUGEN_ERROR_USAGE, "cugen_filter.where[%zu] is NULL", i);
  return CUGEN_OK;
}

const struct space_filter *api_filter(const cugen_kernel *k) {
  return k->filter.strings ? &k->filter.filter : NULL;
}

int cugen_kernel_filter(cugen_kernel *k, const cugen_filter *filter, cugen_error *error) {
  struct api_filter wanted = {0}, old;
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  int status = filter ? check(filter, error) : CUGEN_OK;
  if (!status && filter) status = copy(filter, &wanted, error);
  if (status) return status;
  struct space *space = k->space;
  old = k->filter;
  k->filter = wanted;
  k->space = NULL;
  status = filter ? api_space(k, error) : CUGEN_OK;
  if (status) {
    k->filter = old;
    k->space = space;
    api_filter_free(&wanted);
    return status;
  }
  space_close(space);
  api_filter_free(&old);
  api_forget_records(k);
  return CUGEN_OK;
}
