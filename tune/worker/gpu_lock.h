/* The lock of a GPU: only one process of cugen measures on the GPU at a time. */
#ifndef TUNE_WORKER_GPU_LOCK_H
#define TUNE_WORKER_GPU_LOCK_H

#include "runtime/device.h"

/* Returns a descriptor that the caller closes, or -1 if the device needs no lock or the lock cannot
   be opened; then the functions below do nothing. */
int gpu_lock_open(const struct device_description *device);
/* Waits until this process holds the lock. */
void gpu_lock_take(int lock);
void gpu_lock_give(int lock);

#endif
