/* Textures: arguments that the kernel reads through the texture units. On a GPU a texture is an
   object of the driver over the buffer itself, or over a CUDA array that is filled from the
   buffer before each launch; on the cpu device it is a struct cpu_texture. */
#ifndef RUNTIME_CUDA_TEXTURE_H
#define RUNTIME_CUDA_TEXTURE_H

#include "driver.h"
#include "runtime/device.h"

/* Makes a texture on a GPU, with the GPU's context current. A texture over the buffer itself
   must have the alignments of the GPU `handle`: CUGEN_ERROR_USAGE for a wrong address,
   CUGEN_ERROR_DEVICE for a wrong pitch. */
int texture_open(const struct driver *driver, CUdevice handle,
                 const struct kernel_argument *argument, void *buffer, struct texture *out,
                 cugen_error *err);
/* Copies the buffer into the array, in the stream's order. */
int texture_copy(const struct driver *driver, const struct texture *texture, CUstream stream,
                 cugen_error *err);
void texture_close(const struct driver *driver, struct texture *texture);

#endif
