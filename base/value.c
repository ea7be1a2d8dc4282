/* Values; see value.h. */
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

/* The comparison is exact: 2^53 + 1 is not equal to 2^53 as a double. */
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

/* Prints a whole number below 1e15 in full, and any other with the fewest digits that read back as
   the same number. A point or exponent makes it read back as a float. */
static void print_float(double d, bool single, struct text *out) {
  if (fabs(d) < 1e15 && d == floor(d)) { /* prints 1000.0 instead of 1e+03 */
    text_addf(out, "%.0f.0", d);
    return;
  }
  char digits[40];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, d);
    if (single ? strtof(digits, NULL) == (float)d : strtod(digits, NULL) == d) break;
  }
  char *comma = strchr(digits, ','); /* the application may have set a locale with a decimal
                                        comma */
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
