/* What a public function handed out last. It stays until the next call of that function, or until the handle that keeps it
   closes. A handle has one of these for each such function and knows nothing of what is in it. */
#ifndef API_KEPT_H
#define API_KEPT_H

#include <stddef.h>

#include "base/error.h"

struct kept {
  void *data;                /* NULL: nothing */
  void (*clear)(void *data); /* frees what is in it, not itself */
};

/* Closes what was kept and keeps `size` bytes of zeros instead. NULL: no memory; err is filled. */
void *kept_renew(struct kept *kept, size_t size, void (*clear)(void *data), cugen_error *err);
void kept_close(struct kept *kept);

#endif
