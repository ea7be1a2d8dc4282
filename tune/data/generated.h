/* Test data that a kernel makes: runs an input's generator, checks what the generator wrote, and
   copies it to the place of the input's data. */
#ifndef TUNE_DATA_GENERATED_H
#define TUNE_DATA_GENERATED_H

#include "dataset.h"

/* Runs the generator of an argument. `memory` is indexed by arguments: it has the generator's
   inputs, already filled; the argument's own entry is overwritten. The data is written to `to` in
   the layout of the argument's buffer. CUGEN_ERROR_CONFIG if the generator leaves an element
   unwritten, or writes a number that the argument's type cannot hold. */
int generated_make(struct device *device, const struct kernel_argument *argument,
                   const struct dataset_kernel *generator, struct memory *memory, void *to,
                   cugen_error *err);

/* Like generated_make, but with the data kernels and a `to` in device memory. *done is false if an
   element may be wrong; then call generated_make, which finds out. */
int generated_make_there(struct device *device, struct data_kernels *kernels,
                         const struct kernel_argument *argument,
                         const struct dataset_kernel *generator, struct memory *memory, void *to,
                         bool *done, cugen_error *err);

#endif
