/* The elements of an argument: where they are stored, and the data of fills. */
#ifndef TUNE_DATA_ELEMENTS_H
#define TUNE_DATA_ELEMENTS_H

#include "base/element_conversion.h"
#include "base/kernel.h"

/* Returns the offset, in elements, of a logical flat index (row-major over shape). */
int64_t element_offset(const struct kernel_argument *argument, int64_t flat);
int64_t element_count(const struct kernel_argument *argument);
/* Sets at[i] to the coordinate in dimension i of the element with this flat index. */
void element_coordinates(const struct kernel_argument *argument, int64_t flat, int64_t *at);

/* Returns true if all bytes of element `index` of the packed elements are `byte`. */
bool element_is_filled(const struct dtype *dtype, const void *elements, int64_t index,
                       unsigned char byte);

/* Returns the random stream of the noise that fills an argument. */
uint64_t element_stream(uint64_t seed, size_t ordinal);
/* Fills the whole buffer of an input, kernel_argument_bytes long. Equal seed and ordinal give equal
   data. The padding between rows has every bit set, which is NaN as a float, so that a kernel that
   reads the padding is found out. */
void element_fill(const struct kernel_argument *argument, uint64_t seed, size_t ordinal, void *out);

/* Digests the elements' bits without the padding; the digest is the same on every machine. Data
   that differ in a single element always have different digests; otherwise digests collide with a
   chance of 2^-64. */
uint64_t element_digest(const struct kernel_argument *argument, const void *data);

#endif
