/* Finds variants of a portfolio that are one compiled kernel with different launches. Two variants
   are one kernel if they had the same source for some problem and different sources for none. */
#include <stdlib.h>
#include <string.h>

#include "portfolio.h"

/* Lists the source hashes of the variants for one problem; empty: no record. */
static void list_sources(const struct portfolio_data *data, size_t problem, const size_t *variants,
                         size_t count, struct hash *out) {
  for (size_t i = 0; i < count; i++) {
    const struct portfolio_entry *entry = portfolio_entry_of(data, problem, variants[i]);
    out[i] = entry ? entry->source : (struct hash){""};
  }
}

enum { SEEN_TOGETHER = 1, SEEN_APART = 2 };

static void kernels_compare(const struct hash *sources, size_t count, unsigned char *seen) {
  for (size_t a = 0; a < count; a++)
    for (size_t b = a + 1; b < count && *sources[a].hex; b++)
      if (*sources[b].hex)
        seen[a * count + b] |=
            strcmp(sources[a].hex, sources[b].hex) == 0 ? SEEN_TOGETHER : SEEN_APART;
}

int portfolio_kernels(const struct portfolio_data *data, const size_t *variants, size_t count,
                      size_t *out, cugen_error *err) {
  struct hash *sources = calloc(count + 1, sizeof *sources);
  unsigned char *seen = calloc(count * count + 1, sizeof *seen);
  for (size_t p = 0; p < data->row_count && sources && seen; p++) {
    list_sources(data, p, variants, count, sources);
    kernels_compare(sources, count, seen);
  }
  for (size_t b = 0; b < count && seen; b++) {
    size_t a = 0;
    while (a < b && seen[a * count + b] != SEEN_TOGETHER) a++;
    out[b] = a < b ? out[a] : b;
  }
  const bool good = sources && seen;
  free(sources);
  free(seen);
  return good ? CUGEN_OK : error_memory(err);
}
