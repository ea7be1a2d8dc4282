/* Images that this process has compiled for the cpu device, so that an equal source is not
   compiled again: the reference at other sizes, or a variant in another thread of a check. The
   compile pool (tune/compile_pool.h) has the images of one run, this list those of the whole
   process. */
#ifndef RUNTIME_COMPILE_KEPT_H
#define RUNTIME_COMPILE_KEPT_H

#include "runtime/device.h"

struct kept_images;

/* Returns NULL without memory. */
struct kept_images *kept_images_new(void);
void kept_images_free(struct kept_images *kept);

/* Returns true if *out is a copy of the image with that key. Waits while another thread compiles
   it. After false, the caller compiles the image and must call kept_images_put with the same
   key, whether the compile succeeds or not. */
bool kept_images_get(struct kept_images *kept, const struct hash *key,
                     const struct process_stop *stop, struct compiled *out);
/* compiled NULL: the compile failed, and threads that wait for the image compile it themselves. */
void kept_images_put(struct kept_images *kept, const struct hash *key,
                     const struct compiled *compiled);

#endif
