/* Keeps the last result of a public function; see kept.h. */
#include "kept.h"

#include <stdlib.h>

void kept_close(struct kept *kept) {
  if (kept->data) kept->clear(kept->data);
  free(kept->data);
  *kept = (struct kept){0};
}

void *kept_renew(struct kept *kept, size_t size, void (*clear)(void *data), cugen_error *err) {
  kept_close(kept);
  void *data = calloc(1, size);
  if (data)
    *kept = (struct kept){data, clear};
  else
    error_memory(err);
  return data;
}
