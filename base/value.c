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

/* The fewest digits that read back as the same number; always with a point or exponent, so that it stays a float. */
static void print_float(double d, struct text *out) {
  if (fabs(d) < 1e15 && d == floor(d)) { /* 1000.0, not 1e+03 */
    text_addf(out, "%.0f.0", d);
    return;
  }
  char digits[40];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, d);
    if (strtod(digits, NULL) == d) break;
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
  case VALUE_FLOAT: print_float(value.real, out); break;
  case VALUE_STRING: text_add(out, value.string); break;
  }
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
