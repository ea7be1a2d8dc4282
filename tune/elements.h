/* The elements of an argument: where they lie, and the data that verification feeds to kernels. */
#ifndef TUNE_ELEMENTS_H
#define TUNE_ELEMENTS_H

#include "base/element_conversion.h"
#include "base/kernel.h"

/* Offset in elements of a logical flat index (row-major over shape). */
int64_t element_offset(const struct kernel_argument *argument, int64_t flat);
int64_t element_count(const struct kernel_argument *argument);

/* Of the noise that fills an argument. */
uint64_t element_stream(uint64_t seed, size_t ordinal);
/* The whole buffer of an input, kernel_argument_bytes long, the same for the same seed and ordinal. What lies
   between rows is all ones in every bit: NaN as a float, so that a kernel that reads it is found out. */
void element_fill(const struct kernel_argument *argument, uint64_t seed, size_t ordinal, void *out);

/* Of the elements' bits, whatever lies between rows; the same on every machine. Two that differ in one element differ always, in
   more but for a chance of 2^-64. */
uint64_t element_digest(const struct kernel_argument *argument, const void *data);

#endif
