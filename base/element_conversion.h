/* Elements of any dtype as doubles and back. NAME_to_double and double_to_NAME are made of the table's rows and inline, so that a
   loop over one type is vectorised; where the type is not known, a loop takes a function once. */
#ifndef BASE_ELEMENT_CONVERSION_H
#define BASE_ELEMENT_CONVERSION_H

#include "dtype.h"
#include "value.h"

/* To the nearest integer, ties to even; too large ones to the type's largest. digits: bits without a sign. */
static inline double element_clamp(double value, int digits, bool is_signed) {
  const double end = ldexp(1, digits), low = is_signed ? -end : 0;
  const double high = digits > 53 ? end - end * 0x1p-53 : end - 1; /* a double's digits end there */
  return value < low ? low : value > high ? high : rint(value);
}

#define ELEMENT_LOAD_FLOAT(bits, ...)    (double)(bits)
#define ELEMENT_LOAD_SMALL(bits, ...)    small_float_load((struct small_float){__VA_ARGS__}, bits)
#define ELEMENT_LOAD_SIGNED(bits, ...)   (double)(bits)
#define ELEMENT_LOAD_UNSIGNED(bits, ...) (double)(bits)

#define ELEMENT_STORE_FLOAT(stored, value, ...)    (stored)(value)
#define ELEMENT_STORE_SMALL(stored, value, ...)    (stored) small_float_store((struct small_float){__VA_ARGS__}, value)
#define ELEMENT_STORE_SIGNED(stored, value, ...)   (stored) element_clamp(value, 8 * (int)sizeof(stored) - 1, true)
#define ELEMENT_STORE_UNSIGNED(stored, value, ...) (stored) element_clamp(value, 8 * (int)sizeof(stored), false)

#define ELEMENT_CONVERSIONS(name, kind, stored, cuda, header, wide, exponent, fraction, infinities, ...)             \
  static inline double name##_to_double(stored bits) {                                                               \
    return ELEMENT_LOAD_##kind(bits, exponent, fraction, infinities);                                                \
  }                                                                                                                  \
  static inline stored double_to_##name(double value) {                                                              \
    return ELEMENT_STORE_##kind(stored, value, exponent, fraction, infinities);                                      \
  }
DTYPES(ELEMENT_CONVERSIONS)
#undef ELEMENT_CONVERSIONS

typedef double element_loader(const void *from, int64_t index);
/* Rounds to nearest, ties to even; saturates integers, and floats without infinities. */
typedef void element_storer(void *to, int64_t index, double value);
/* Of an integer type. false: the element does not fit into 64 bits with a sign. */
typedef bool element_getter(const void *from, int64_t index, int64_t *value);

element_loader *element_load_of(const struct dtype *dtype);
element_storer *element_store_of(const struct dtype *dtype);
element_getter *element_get_of(const struct dtype *dtype); /* NULL: a float type */

double element_load(const struct dtype *dtype, const void *from, int64_t index);
void element_store(const struct dtype *dtype, void *to, int64_t index, double value);

/* Stores a VALUE_INT or VALUE_FLOAT that a person gave. false: the type cannot hold it. Integers are exact; a finite number of a
   float type stays finite, and is rounded to nearest. */
bool element_put(const struct dtype *dtype, void *to, int64_t index, const struct value *value);

/* An element as one of its type's wide type, which holds it exactly. */
void element_widen(const struct dtype *dtype, const void *from, int64_t at, void *to, int64_t index);

/* The value as the bytes of that type, eight at most, at any address; false: it is no number of the type. What a float type
   cannot hold is packed as element_store has it; element_overflows: a finite number of which that makes another one. */
bool element_pack(const struct dtype *dtype, struct value value, unsigned char *out);
bool element_overflows(const struct dtype *dtype, struct value value);

#endif
