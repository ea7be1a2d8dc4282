/* What this process has compiled for the cpu device, so that an equal source is not compiled again: the same reference at other sizes,
   the same variant in another thread of a check. The compile pool (tune/compile_pool.h) knows those of one run, this those of all. */
#ifndef RUNTIME_COMPILE_KEPT_H
#define RUNTIME_COMPILE_KEPT_H

#include "runtime/device.h"

struct kept_images;

/* NULL: no memory. */
struct kept_images *kept_images_new(void);
void kept_images_free(struct kept_images *kept);

/* Whether *out is a copy of what was compiled under the key. While another thread compiles it, this waits; when false is returned,
   it is the caller who compiles it, and calls kept_images_put with the same key whatever comes of that. */
bool kept_images_get(struct kept_images *kept, const struct hash *key, const struct process_stop *stop,
                     struct compiled *out);
/* compiled NULL: there is none, and whoever waits for it tries it itself. */
void kept_images_put(struct kept_images *kept, const struct hash *key, const struct compiled *compiled);

#endif
