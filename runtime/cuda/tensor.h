/* Tensor maps: an argument that the kernel reaches through Hopper's tensor memory accelerator, as the driver encodes it. */
#ifndef RUNTIME_CUDA_TENSOR_H
#define RUNTIME_CUDA_TENSOR_H

#include "driver.h"
#include "runtime/device.h"

/* The argument, whose access is tensor, over a buffer. CUGEN_ERROR_USAGE: its address is no multiple of 16;
   CUGEN_ERROR_DEVICE: the driver knows no tensor maps, or refuses this one. */
int tensor_encode(const struct driver *driver, const struct kernel_argument *argument, void *buffer,
                  struct tensor_map *out, cugen_error *err);

#endif
