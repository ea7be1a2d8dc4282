/* Textures: an argument that the kernel reads through the texture units. On a GPU an object of the driver over the buffer
   itself, or over a CUDA array that is filled from it before each launch; on the cpu device struct cpu_texture. */
#ifndef RUNTIME_CUDA_TEXTURE_H
#define RUNTIME_CUDA_TEXTURE_H

#include "driver.h"
#include "runtime/device.h"

/* On a GPU, with its context current. handle: the GPU, whose alignments a texture over the buffer itself must keep:
   CUGEN_ERROR_USAGE for an address, CUGEN_ERROR_DEVICE for a pitch that does not. */
int texture_open(const struct driver *driver, CUdevice handle, const struct kernel_argument *argument, void *buffer,
                 struct texture *out, cugen_error *err);
/* The buffer into the array, in the stream's order. */
int texture_copy(const struct driver *driver, const struct texture *texture, CUstream stream, cugen_error *err);
void texture_close(const struct driver *driver, struct texture *texture);

#endif
