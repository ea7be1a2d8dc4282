/* Values and dtypes; see value.h. */
#include "value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value value_bool(bool b) {
  return (struct value){.type = VALUE_BOOL, .boolean = b};
}

struct value value_int(int64_t i) {
  return (struct value){.type = VALUE_INT, .integer = i};
}

struct value value_float(double d) {
  return (struct value){.type = VALUE_FLOAT, .real = d};
}

struct value value_string(const char *s) {
  return (struct value){.type = VALUE_STRING, .string = s};
}

/* Exact: 2^53 + 1 differs from 2^53 as a float. */
static bool int_equals_float(int64_t i, double d) {
  return d >= -0x1p63 && d < 0x1p63 && (int64_t)d == i && (double)(int64_t)d == d;
}

bool value_equal(struct value a, struct value b) {
  if (a.type == VALUE_INT && b.type == VALUE_FLOAT) return int_equals_float(a.integer, b.real);
  if (a.type == VALUE_FLOAT && b.type == VALUE_INT) return int_equals_float(b.integer, a.real);
  if (a.type != b.type) return false;
  switch (a.type) {
  case VALUE_NIL: return true;
  case VALUE_BOOL: return a.boolean == b.boolean;
  case VALUE_INT: return a.integer == b.integer;
  case VALUE_FLOAT: return a.real == b.real;
  case VALUE_STRING: return strcmp(a.string, b.string) == 0;
  }
  return false;
}

static bool reads_back(const char *digits, double d, bool single) {
  return single ? strtof(digits, NULL) == (float)d : strtod(digits, NULL) == d;
}

/* The fewest digits that read back as the same number; always with a point or exponent, so that it stays a float. */
static void print_float(double d, bool single, struct text *out) {
  if (fabs(d) < 1e15 && d == floor(d)) { /* 1000.0, not 1e+03 */
    text_addf(out, "%.0f.0", d);
    return;
  }
  char digits[40];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, d);
    if (reads_back(digits, d, single)) break;
  }
  char *comma = strchr(digits, ','); /* an application may have set a locale that writes one */
  if (comma) *comma = '.';
  text_add(out, digits);
  if (isfinite(d) && !strpbrk(digits, ".e")) text_add(out, ".0");
}

void value_print(struct value value, struct text *out) {
  switch (value.type) {
  case VALUE_NIL: text_add(out, "nil"); break;
  case VALUE_BOOL: text_add(out, value.boolean ? "true" : "false"); break;
  case VALUE_INT: text_addf(out, "%lld", (long long)value.integer); break;
  case VALUE_FLOAT: print_float(value.real, false, out); break;
  case VALUE_STRING: text_add(out, value.string); break;
  }
}

void value_print_literal(struct value value, struct text *out) {
  if (value.type != VALUE_FLOAT || !value.single) {
    value_print(value, out);
    return;
  }
  print_float(value.real, true, out);
  text_add_char(out, 'f');
}

static const struct dtype dtypes[] = {
    {"f64", 8, "double", NULL, "f64", true},
    {"f32", 4, "float", NULL, "f64", true},
    {"f16", 2, "__half", "cuda_fp16.h", "f64", true},
    {"bf16", 2, "__nv_bfloat16", "cuda_bf16.h", "f64", true},
    {"e4m3", 1, "__nv_fp8_e4m3", "cuda_fp8.h", "f64", true},
    {"e5m2", 1, "__nv_fp8_e5m2", "cuda_fp8.h", "f64", true},
    {"i8", 1, "signed char", NULL, "i64", false},
    {"i16", 2, "short", NULL, "i64", false},
    {"i32", 4, "int", NULL, "i64", false},
    {"i64", 8, "long long", NULL, "i64", false},
    {"u8", 1, "unsigned char", NULL, "u64", false},
    {"u16", 2, "unsigned short", NULL, "u64", false},
    {"u32", 4, "unsigned int", NULL, "u64", false},
    {"u64", 8, "unsigned long long", NULL, "u64", false},
};

static const char *const all_dtype_names[] = {"f64", "f32", "f16", "bf16", "e4m3", "e5m2", "i8", "i16",
                                              "i32", "i64", "u8",  "u16",  "u32",  "u64",  NULL};

const struct dtype *dtype_find(const char *name) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (strcmp(dtypes[i].name, name) == 0) return &dtypes[i];
  return NULL;
}

const char *const *dtype_names(void) {
  return all_dtype_names;
}

/* ---- As bytes ---- */

/* x rounded to nearest even in a 16-bit format with that many exponent and mantissa bits (IEEE 754 binary16: 5 and
   10; bfloat16: 8 and 7). */
static uint16_t small_float(double x, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const unsigned sign = signbit(x) ? 0x8000u : 0;
  if (isnan(x)) return (uint16_t)(sign | infinity | 1u << (mantissa_bits - 1));
  if (isinf(x) || x == 0) return (uint16_t)(sign | (isinf(x) ? infinity : 0));
  int exponent;
  frexp(x, &exponent);
  exponent = exponent - 1 > 1 - bias ? exponent - 1 : 1 - bias; /* subnormals share the lowest */
  if (exponent > bias) return (uint16_t)(sign | infinity);
  /* The significand carries its leading one into the exponent field, as rounding up may carry further. */
  unsigned significand = (unsigned)nearbyint(ldexp(fabs(x), mantissa_bits - exponent));
  unsigned bits = ((unsigned)(exponent + bias - 1) << mantissa_bits) + significand;
  return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

static void pack_float(const struct dtype *dtype, double x, unsigned char *out) {
  float single = (float)x;
  uint16_t half = strcmp(dtype->name, "bf16") ? small_float(x, 5, 10) : small_float(x, 8, 7);
  if (dtype->bytes == sizeof x) memcpy(out, &x, sizeof x);
  if (dtype->bytes == sizeof single) memcpy(out, &single, sizeof single);
  if (dtype->bytes == sizeof half) memcpy(out, &half, sizeof half);
}

/* Whether x fits that integer type. u64 takes what int64_t can hold. */
static bool integer_fits(const struct dtype *dtype, int64_t x) {
  int bits = 8 * dtype->bytes;
  if (dtype->name[0] == 'u') return x >= 0 && (bits == 64 || x >> bits == 0);
  return bits == 64 || (x >= -(INT64_C(1) << (bits - 1)) && x < INT64_C(1) << (bits - 1));
}

static void pack_integer(const struct dtype *dtype, int64_t x, unsigned char *out) {
  memcpy(out, &x, (size_t)dtype->bytes); /* every machine with a CUDA driver is little-endian */
}

static double value_number(struct value value) {
  return value.type == VALUE_FLOAT ? value.real : value.type == VALUE_BOOL ? value.boolean : (double)value.integer;
}

bool value_pack(const struct dtype *dtype, struct value value, unsigned char *out) {
  if (value.type == VALUE_NIL || value.type == VALUE_STRING) return false;
  if (dtype->floating) {
    pack_float(dtype, value_number(value), out);
    return true;
  }
  int64_t x = value.type == VALUE_BOOL ? value.boolean : value.type == VALUE_INT ? value.integer : 0;
  if (value.type == VALUE_FLOAT) {
    if (!(fabs(value.real) < 0x1p63) || value.real != floor(value.real)) return false;
    x = (int64_t)value.real;
  }
  if (!integer_fits(dtype, x)) return false;
  pack_integer(dtype, x, out);
  return true;
}

bool value_overflows(const struct dtype *dtype, struct value value) {
  if (!dtype->floating || dtype->bytes < 2 || value.type == VALUE_NIL || value.type == VALUE_STRING) return false;
  const double x = value_number(value);
  unsigned char packed[8];
  float single;
  uint16_t half;
  pack_float(dtype, x, packed);
  memcpy(&single, packed, sizeof single);
  memcpy(&half, packed, sizeof half);
  if (!isfinite(x) || dtype->bytes == sizeof x) return false;
  return dtype->bytes == sizeof single ? isinf(single)
                                       : (half & 0x7fffu) == (strcmp(dtype->name, "bf16") ? 0x7c00 : 0x7f80);
}
