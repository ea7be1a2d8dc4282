/* Lists of compiled images in memory, so that this process does not compile an equal source again.
   Any thread may call these functions. */
#ifndef RUNTIME_COMPILE_KEPT_H
#define RUNTIME_COMPILE_KEPT_H

#include "runtime/device.h"

struct kept_images;

/* most_bytes: limit of all images together; the oldest ones are dropped. Returns NULL without
   memory. */
struct kept_images *kept_images_new(size_t most_bytes);
void kept_images_free(struct kept_images *kept);

/* Returns true if *out is a copy of the image with that key, which the caller frees; false if there
   is none, or no memory for the copy. */
bool kept_images_find(struct kept_images *kept, const struct hash *key, struct compiled *out);
/* Keeps a copy of the image unless the key is present or there is no memory. */
void kept_images_keep(struct kept_images *kept, const struct hash *key,
                      const struct compiled *compiled);

/* Like kept_images_find, but waits while another thread compiles the image, until `stop` asks to
   stop. After false, this thread compiles the image and must call kept_images_put for it,
   whether the compile succeeds or not. */
bool kept_images_get(struct kept_images *kept, const struct hash *key,
                     const struct process_stop *stop, struct compiled *out);
/* compiled NULL: the compile failed, and threads that wait for the image compile it themselves. */
void kept_images_put(struct kept_images *kept, const struct hash *key,
                     const struct compiled *compiled);

#endif
