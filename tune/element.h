/* Elements of any dtype as doubles, and the data that verification feeds to kernels. */
#ifndef TUNE_ELEMENT_H
#define TUNE_ELEMENT_H

#include "base/kernel.h"

typedef double element_loader(const void *from, int64_t index);
/* Rounds to nearest, ties to even; saturates integers, and e4m3, which has no infinity. */
typedef void element_storer(void *to, int64_t index, double value);
/* Stores a number that a person gave. false: the type cannot hold it. Integers are exact; a finite number of a float type stays
   finite, and is rounded to nearest. */
typedef bool element_putter(void *to, int64_t index, const struct value *value);
/* Of an integer type. false: the element does not fit into 64 bits with a sign. */
typedef bool element_getter(const void *from, int64_t index, int64_t *value);

/* For loops: the type is looked at once. */
element_loader *element_load_of(const struct dtype *dtype);
element_storer *element_store_of(const struct dtype *dtype);
element_putter *element_put_of(const struct dtype *dtype);
element_getter *element_get_of(const struct dtype *dtype); /* NULL: a float type */

double element_load(const struct dtype *dtype, const void *from, int64_t index);
void element_store(const struct dtype *dtype, void *to, int64_t index, double value);

/* An element as one of its type's wide type, which holds it exactly. */
void element_widen(const struct dtype *dtype, const void *from, int64_t at, void *to, int64_t index);

/* Offset in elements of a logical flat index (row-major over shape). */
int64_t element_offset(const struct kernel_argument *argument, int64_t flat);
int64_t element_count(const struct kernel_argument *argument);

/* The whole buffer of an input, kernel_argument_bytes long, the same for the same seed and ordinal. What lies
   between rows is all ones in every bit: NaN as a float, so that a kernel that reads it is found out. */
void element_fill(const struct kernel_argument *argument, uint64_t seed, size_t ordinal, void *out);

#endif
