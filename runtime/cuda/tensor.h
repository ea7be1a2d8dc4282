/* Tensor maps: the driver's encoding of an argument that the kernel reads through Hopper's
   tensor memory accelerator. */
#ifndef RUNTIME_CUDA_TENSOR_H
#define RUNTIME_CUDA_TENSOR_H

#include "driver.h"
#include "runtime/device.h"

/* Encodes the map of an argument, whose access is tensor, over a buffer. CUGEN_ERROR_USAGE: the
   buffer's address is not a multiple of 16; CUGEN_ERROR_DEVICE: the driver has no tensor maps,
   or refuses this one. */
int tensor_encode(const struct driver *driver, const struct kernel_argument *argument, void *buffer,
                  struct tensor_map *out, cugen_error *err);

#endif
