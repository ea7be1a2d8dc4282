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
static cugen_filter *filter_copy(const cugen_filter *from) {
  const size_t list = from->where_count * sizeof(char *);
  size_t strings = filter_size_of(from->variant) + filter_size_of(from->implementation);
  for (size_t i = 0; i < from->where_count; i++) strings += filter_size_of(from->where[i]);
  cugen_filter *out = calloc(1, sizeof *out + list + strings);
  if (!out) return NULL;
  const char **where = (const char **)(out + 1);
  char *at = (char *)(out + 1) + list;
  for (size_t i = 0; i < from->where_count; i++) where[i] = filter_keep(&at, from->where[i]);
  *out = *from;
  out->where = where;
  out->variant = filter_keep(&at, from->variant);
  out->implementation = filter_keep(&at, from->implementation);
  return out;
}

int api_kernel_filter(cugen_kernel *k, const cugen_filter *filter, cugen_error *error) {
  cugen_filter *wanted = NULL;
  struct lookup *l = &k->lookup;
  if (filter && !(wanted = filter_copy(filter))) return error_memory(error);
  struct space *space = l->space;
  l->space = NULL;
  l->filter = wanted;
  int status = filter ? lookup_space(l, error) : CUGEN_OK;
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
