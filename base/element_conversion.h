/* Conversion of elements of any dtype to doubles and back. NAME_to_double and double_to_NAME are
   inline, so that a loop over one type is vectorised. Where the type is known only at run time, a
   loop looks up the type's function once. */
#ifndef BASE_ELEMENT_CONVERSION_H
#define BASE_ELEMENT_CONVERSION_H

#include "dtype.h"
#include "value.h"

/* Rounds to the nearest integer, ties to even, and clamps to the range of the type; NaN becomes the
   lower end. digits: the bits of the type without the sign. */
static inline double element_clamp(double value, int digits, bool is_signed) {
  const double end = ldexp(1, digits), low = is_signed ? -end : 0;
  /* a double has only 53 digits, so `high` is the largest double below `end` */
  const double high = digits > 53 ? end - end * 0x1p-53 : end - 1;
  return !(value > low) ? low : value < high ? rint(value) : high;
}

#define ELEMENT_LOAD_FLOAT(bits, ...) (double)(bits)
#define ELEMENT_LOAD_SMALL(bits, ...) small_float_load((struct small_float){__VA_ARGS__}, bits)
#define ELEMENT_LOAD_INT(bits, ...)   (double)(bits)
#define ELEMENT_LOAD_UINT(bits, ...)  (double)(bits)

#define ELEMENT_STORE_FLOAT(stored, value, ...) (stored)(value)
#define ELEMENT_STORE_SMALL(stored, value, ...)                                                    \
  (stored) small_float_store((struct small_float){__VA_ARGS__}, value)
#define ELEMENT_STORE_INT(stored, value, ...)                                                      \
  (stored) element_clamp(value, 8 * (int)sizeof(stored) - 1, true)
#define ELEMENT_STORE_UINT(stored, value, ...)                                                     \
  (stored) element_clamp(value, 8 * (int)sizeof(stored), false)

#define ELEMENT_CONVERSIONS(name, kind, stored, cuda, header, exponent, fraction, infinities, ...) \
  static inline double name##_to_double(stored bits) {                                             \
    return ELEMENT_LOAD_##kind(bits, exponent, fraction, infinities);                              \
  }                                                                                                \
  static inline stored double_to_##name(double value) {                                            \
    return ELEMENT_STORE_##kind(stored, value, exponent, fraction, infinities);                    \
  }
DTYPES(ELEMENT_CONVERSIONS)
#undef ELEMENT_CONVERSIONS

typedef double element_loader(const void *from, int64_t index);
/* Rounds to nearest, ties to even. Integers, and floats without infinities, saturate. */
typedef void element_storer(void *to, int64_t index, double value);
/* Reads an element of an integer type. Returns false if the element does not fit into an
   int64_t. */
typedef bool element_getter(const void *from, int64_t index, int64_t *value);

element_loader *element_load_of(const struct dtype *dtype);
element_storer *element_store_of(const struct dtype *dtype);
element_getter *element_get_of(const struct dtype *dtype); /* Returns NULL for a float type. */

double element_load(const struct dtype *dtype, const void *from, int64_t index);
void element_store(const struct dtype *dtype, void *to, int64_t index, double value);

/* Stores a user's number, a VALUE_INT or VALUE_FLOAT, in element `index`. Returns false if an
   integer type cannot hold the value exactly, or if a float type lacks infinity and the value is
   infinite, or if a finite value, rounded, exceeds the largest number of a float type. */
bool element_put(const struct dtype *dtype, void *to, int64_t index, const struct value *value);

/* Converts element `at` of `from` to the wide type of the dtype, which holds every element
   exactly. */
void element_widen(const struct dtype *dtype, const void *from, int64_t at, void *to,
                   int64_t index);

/* Writes the value as the bytes (at most eight) of the type to out, which needs no alignment.
   Returns false if the value is neither a number nor a boolean, or if an integer type cannot hold
   it exactly. A float type rounds as in element_store; element_overflows tells whether a finite
   number is too large for the type. */
bool element_pack(const struct dtype *dtype, struct value value, unsigned char *out);
bool element_overflows(const struct dtype *dtype, struct value value);

#endif
