/* The element types; see dtype.h. */
#include "dtype.h"

#include <stddef.h>

/* Names the C type; for types that C lacks, the CUDA type. */
#define C_NAME_FLOAT(stored, cuda) #stored
#define C_NAME_SMALL(stored, cuda) cuda
#define C_NAME_INT(stored, cuda)   #stored
#define C_NAME_UINT(stored, cuda)  #stored

/* The wide type of each kind (struct dtype). */
enum {
  WIDE_FLOAT = DTYPE_f64,
  WIDE_SMALL = DTYPE_f64,
  WIDE_INT = DTYPE_i64,
  WIDE_UINT = DTYPE_u64
};

#define DTYPE_ROW(type, type_kind, stored, cuda, include, exponent, fraction, infinite, textured,  \
                  mapped, file)                                                                    \
  [DTYPE_##type] = {.id = DTYPE_##type,                                                            \
                    .name = #type,                                                                 \
                    .kind = DTYPE_##type_kind,                                                     \
                    .bytes = sizeof(stored),                                                       \
                    .cuda_name = cuda,                                                             \
                    .c_name = C_NAME_##type_kind(stored, cuda),                                    \
                    .header = include,                                                             \
                    .wide = &dtype_table[WIDE_##type_kind],                                        \
                    .floating = (exponent) != 0,                                                   \
                    .format = {exponent, fraction, infinite},                                      \
                    .texel = TEXEL_##textured,                                                     \
                    .tensor = TENSOR_##mapped,                                                     \
                    .npy = file},

const struct dtype dtype_table[DTYPE_COUNT] = {DTYPES(DTYPE_ROW)};

#define DTYPE_NAME(name, ...) #name,
const char *const dtype_names[DTYPE_COUNT + 1] = {DTYPES(DTYPE_NAME)};

const struct dtype *dtype_find(const char *name) {
  for (size_t i = 0; i < DTYPE_COUNT; i++)
    if (strcmp(dtype_table[i].name, name) == 0) return &dtype_table[i];
  return NULL;
}

const char *dtype_meant(const char *spelling) {
  static const char *const spellings[][2] = {
      {"float", "f32"},   {"float32", "f32"},  {"fp32", "f32"},      {"double", "f64"},
      {"float64", "f64"}, {"fp64", "f64"},     {"half", "f16"},      {"__half", "f16"},
      {"float16", "f16"}, {"fp16", "f16"},     {"bfloat16", "bf16"}, {"char", "i8"},
      {"int8", "i8"},     {"short", "i16"},    {"int16", "i16"},     {"int", "i32"},
      {"int32", "i32"},   {"long", "i64"},     {"int64", "i64"},     {"uint8", "u8"},
      {"uint16", "u16"},  {"unsigned", "u32"}, {"uint", "u32"},      {"uint32", "u32"},
      {"uint64", "u64"},  {"size_t", "u64"}};
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    if (strcmp(spellings[i][0], spelling) == 0) return spellings[i][1];
  return NULL;
}

bool dtype_passed(const struct dtype *dtype) {
  return !dtype->floating || dtype->bytes > 1;
}

bool dtype_fits(const struct dtype *dtype, int64_t value) {
  const bool is_signed = dtype->kind == DTYPE_INT;
  const int bits = 8 * dtype->bytes;
  if (!is_signed && value < 0) return false;
  if (bits == 64) return true;
  const int64_t limit = INT64_C(1) << (is_signed ? bits - 1 : bits);
  return value < limit && value >= -limit;
}

double dtype_epsilon(const struct dtype *dtype) {
  return dtype->floating ? ldexp(1, -dtype->format.fraction_bits) : 0;
}

double dtype_largest(const struct dtype *dtype) {
  const struct small_float *f = &dtype->format;
  if (!dtype->floating) return (double)INFINITY;
  /* The largest significand is 1.11...1, or 1.11...10 if the last bit pattern is a NaN. The largest
     number is this significand times two to the largest exponent. */
  const double significand = 2 - ldexp(f->infinities ? 1 : 2, -f->fraction_bits);
  return ldexp(significand, small_float_bias(*f) + !f->infinities);
}
