/* The lock of a GPU: only one process measures on it at a time. */
#ifndef TUNE_GPU_LOCK_H
#define TUNE_GPU_LOCK_H

#include "runtime/device.h"

/* A descriptor, closed by whoever opened it; -1 where there is nothing to lock. */
int gpu_lock_open(const struct device_description *device);
/* Waits for it. */
void gpu_lock_take(int lock);
void gpu_lock_give(int lock);

#endif
