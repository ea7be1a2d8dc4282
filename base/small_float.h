/* Conversion of floats of at most 16 bits to doubles and back. A format is described by the numbers
   of bits of its fields; the rest follows from IEEE 754 and, for 8 bits, from the Open Compute
   Project's "OCP 8-bit Floating Point Specification". Called with a constant format,
   small_float_load and small_float_store compile to a few instructions and are vectorised. */
#ifndef BASE_SMALL_FLOAT_H
#define BASE_SMALL_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct small_float {
  int exponent_bits, fraction_bits;
  bool infinities; /* false: the bit patterns of infinities are numbers, and only the last pattern
                      is a NaN */
};

static inline int small_float_bias(struct small_float format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}

/* The bits of the largest finite number. Non-negative numbers are ordered by their bits. */
static inline uint32_t small_float_largest(struct small_float format) {
  const uint32_t last_exponent = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  return format.infinities ? last_exponent - 1 : last_exponent + (1u << format.fraction_bits) - 2;
}

/* When the fields are moved to the positions of a float's fields, they form a float whose exponent
   is too small by the difference of the biases, also for subnormal numbers. The multiplication in
   double that corrects the exponent is exact. */
static inline double small_float_load(struct small_float format, uint32_t bits) {
  enum { EXPONENT = 8, FRACTION = 23, BIAS = 127, DOUBLE_FRACTION = 52, DOUBLE_BIAS = 1023 };
  const int sign_at = format.exponent_bits + format.fraction_bits;
  const uint32_t sign = bits >> sign_at, size = bits & ((1u << sign_at) - 1);
  const uint64_t power = (uint64_t)(DOUBLE_BIAS + BIAS - small_float_bias(format))
                         << DOUBLE_FRACTION;
  uint32_t aligned = sign << (EXPONENT + FRACTION) | size << (FRACTION - format.fraction_bits);
  if (format.exponent_bits < EXPONENT && size > small_float_largest(format))
    aligned |= 0x7f800000u; /* infinity, NaN */
  float value;
  double factor;
  memcpy(&value, &aligned, sizeof value);
  memcpy(&factor, &power, sizeof factor);
  return (double)value * factor;
}

/* Returns the nearest number's bits without the sign, ties to even, as if the format had no largest
   number. */
static inline uint32_t small_float_size(struct small_float format, double value) {
  enum { FRACTION = 52, BIAS = 1023 };
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t fraction = (bits & ((UINT64_C(1) << FRACTION) - 1)) | UINT64_C(1) << FRACTION;
  int exponent = (int)(bits >> FRACTION & 0x7ff) - BIAS, smallest = 1 - small_float_bias(format);
  int dropped = FRACTION - format.fraction_bits; /* of a subnormal number more bits are dropped,
                                                    because its step is fixed */
  if (exponent < smallest) dropped += smallest - exponent, exponent = smallest;
  if (dropped > FRACTION + 1) return 0;
  uint64_t kept = fraction >> dropped, rest = fraction & ((UINT64_C(1) << dropped) - 1),
           half = UINT64_C(1) << (dropped - 1);
  kept += rest > half || (rest == half && kept & 1);
  /* A carry out of the fraction goes into the exponent, which is right. */
  return (uint32_t)kept + (uint32_t)(exponent - smallest) * (1u << format.fraction_bits);
}

/* A number that is too large becomes an infinity, or the largest number if the format has no
   infinities. */
static inline uint32_t small_float_store(struct small_float format, double value) {
  const uint32_t largest = small_float_largest(format);
  const uint32_t sign = signbit(value) ? 1u << (format.exponent_bits + format.fraction_bits) : 0;
  if (isnan(value)) return sign | (largest + 1) | 1u << (format.fraction_bits - 1);
  const uint32_t size = small_float_size(format, value);
  return sign | (size > largest ? largest + format.infinities : size);
}

/* Returns whether the format has the value after rounding: false for a finite number that rounds to
   more than the largest number, and for an infinity if the format has none. */
static inline bool small_float_holds(struct small_float format, double value) {
  if (isnan(value)) return true;
  return isinf(value) ? format.infinities
                      : small_float_size(format, value) <= small_float_largest(format);
}

#endif
