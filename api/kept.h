/* The last result that a public function handed out. The result stays until the next call of the
   function, or until its handle is closed. */
#ifndef API_KEPT_H
#define API_KEPT_H

#include <stddef.h>

#include "base/error.h"

struct kept {
  void *data;                /* the result; NULL: none */
  void (*clear)(void *data); /* frees the contents of data, but not data itself */
};

/* Frees the kept result and keeps `size` zeroed bytes in its place. Returns NULL, with err filled,
   if memory is out. */
void *kept_renew(struct kept *kept, size_t size, void (*clear)(void *data), cugen_error *err);
void kept_close(struct kept *kept);

#endif
