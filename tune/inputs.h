/* Did a kernel leave its inputs as they were? A digest of each is taken when it is filled and compared after a run.
   Of an input of more than 256 MiB evenly spaced pieces of 256 MiB in all count, its first and last among them: that
   bounds the time to some tens of milliseconds an input. */
#ifndef TUNE_INPUTS_H
#define TUNE_INPUTS_H

#include "runtime/device.h"

enum { INPUTS_PIECE = 1 << 22 };

uint64_t inputs_digest(const void *data, size_t bytes);
/* Of what is on the device. piece: INPUTS_PIECE bytes (or all, if fewer) of host memory to work in. */
int inputs_digest_device(struct device *device, const struct memory *memory, size_t bytes, void *piece,
                         uint64_t *digest, cugen_error *err);

#endif
