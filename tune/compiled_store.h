/* What was compiled, in memory: for runs that predict. They want the PTX of an image, too, which no cache keeps, and one image serves all
   problems whose sizes are passed at launch. Any thread may call. */
#ifndef TUNE_COMPILED_STORE_H
#define TUNE_COMPILED_STORE_H

#include "runtime/device.h"

struct compiled_store;

/* NULL: out of memory. */
struct compiled_store *compiled_store_open(void);
void compiled_store_close(struct compiled_store *store);
/* A copy, to be freed by compiled_free. False: it is not there, or there is no memory for it. */
bool compiled_store_find(struct compiled_store *store, const char *key, struct compiled *out);
/* Keeps a copy, unless one is there or there is no memory for it. The oldest are dropped where all take too much. */
void compiled_store_keep(struct compiled_store *store, const char *key, const struct compiled *compiled);

#endif
