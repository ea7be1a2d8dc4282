/* Detects whether a kernel changed its inputs, where there are no data kernels. The host digests
   each input when it is filled and again after a run, and compares the digests. Of an input of more
   than 256 MiB, only evenly spaced pieces of 256 MiB in total are digested, the first and the last
   piece included. */
#ifndef TUNE_DATA_INPUTS_H
#define TUNE_DATA_INPUTS_H

#include "runtime/device.h"

enum { INPUTS_PIECE = 1 << 22 };

uint64_t inputs_digest(const void *data, size_t bytes);
/* Digests device memory. piece: INPUTS_PIECE bytes (or `bytes`, if fewer) of host memory to work
   in. */
int inputs_digest_device(struct device *device, const struct memory *memory, size_t bytes,
                         void *piece, uint64_t *digest, cugen_error *err);

#endif
