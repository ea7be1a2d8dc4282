/* Test data that a kernel makes: an input's generator is run, and what it wrote is checked and brought to where the input's
   data lies. */
#ifndef TUNE_GENERATED_H
#define TUNE_GENERATED_H

#include "dataset.h"

/* Runs the generator of an argument. memory has its inputs, as they are to be, by their numbers, and an unused place for the
   argument itself. Into `to`, as the argument's buffer has it. CUGEN_ERROR_CONFIG when it leaves an element unwritten or
   writes a number that the input's type cannot hold. */
int generated_make(struct device *device, const struct kernel_argument *argument,
                   const struct dataset_generator *generator, struct memory *memory, void *to, cugen_error *err);

/* The same on the device alone, by its data kernels: into `to`, which lies there. *done false: something is to be found fault with, which
   is for the other function. Nothing of the input's size crosses the bus. */
int generated_make_there(struct device *device, struct data_kernels *kernels, const struct kernel_argument *argument,
                         const struct dataset_generator *generator, struct memory *memory, void *to, bool *done,
                         cugen_error *err);

#endif
