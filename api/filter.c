/* The filter of a kernel's space. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "kernel.h"

static char *filter_keep(char **at, const char *text) {
  if (!text) return NULL;
  char *kept = *at;
  const size_t size = strlen(text) + 1;
  memcpy(kept, text, size);
  *at += size;
  return kept;
}

static size_t filter_size_of(const char *text) {
  return text ? strlen(text) + 1 : 0;
}

/* Copies the filter with its strings into one block. NULL: out of memory. */
static struct space_filter *filter_copy(const cugen_filter *from) {
  const size_t list = from->where_count * sizeof(char *);
  size_t strings = filter_size_of(from->variant) + filter_size_of(from->implementation);
  for (size_t i = 0; i < from->where_count; i++) strings += filter_size_of(from->where[i]);
  struct space_filter *out = calloc(1, sizeof *out + list + strings);
  if (!out) return NULL;
  const char **where = (const char **)(out + 1);
  char *at = (char *)(out + 1) + list;
  for (size_t i = 0; i < from->where_count; i++) where[i] = filter_keep(&at, from->where[i]);
  *out = (struct space_filter){.where = where,
                               .where_count = from->where_count,
                               .variant = filter_keep(&at, from->variant),
                               .implementation = filter_keep(&at, from->implementation),
                               .all = from->all};
  return out;
}

static int filter_check(const cugen_filter *filter, cugen_error *err) {
  if (filter->where_count && !filter->where)
    return error_set(err, CUGEN_ERROR_USAGE, "api_kernel_filter: where is NULL");
  for (size_t i = 0; i < filter->where_count; i++)
    if (!filter->where[i])
      return error_set(err, CUGEN_ERROR_USAGE, "cugen_filter.where[%zu] is NULL", i);
  return CUGEN_OK;
}

int api_kernel_filter(cugen_kernel *k, const cugen_filter *filter, cugen_error *error) {
  struct space_filter *wanted = NULL;
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  struct lookup *l = &k->lookup;
  int status = filter ? filter_check(filter, error) : CUGEN_OK;
  if (status) return status;
  if (filter && !(wanted = filter_copy(filter))) return error_memory(error);
  struct space *space = l->space;
  l->space = NULL;
  l->filter = wanted;
  status = filter ? lookup_space(l, error) : CUGEN_OK;
  if (status) { /* the old filter stays in force */
    l->filter = k->filter;
    l->space = space;
    free(wanted);
    return status;
  }
  space_close(space);
  free(k->filter);
  k->filter = wanted;
  api_forget_records(k);
  return CUGEN_OK;
}
