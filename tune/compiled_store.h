/* A store of compiled images in memory, for runs that predict. Predictions need the PTX of an image
   as well, which the cache does not keep, and one image serves all problems whose sizes are passed
   at launch. Any thread may call these functions. */
#ifndef TUNE_COMPILED_STORE_H
#define TUNE_COMPILED_STORE_H

#include "runtime/device.h"

struct compiled_store;

/* Returns NULL if there is no memory. */
struct compiled_store *compiled_store_open(void);
void compiled_store_close(struct compiled_store *store);
/* Copies the image of that key into *out; the caller frees it with compiled_free. Returns false if
   the store has no such image, or if there is no memory for the copy. */
bool compiled_store_find(struct compiled_store *store, const char *key, struct compiled *out);
/* Stores a copy of the image unless the key is present or there is no memory. The oldest images are
   dropped when the store exceeds its size limit. */
void compiled_store_keep(struct compiled_store *store, const char *key,
                         const struct compiled *compiled);

#endif
