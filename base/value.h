/* The values of problems, tunables and expressions: Lua's values without tables. */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum value_type { VALUE_NIL, VALUE_BOOL, VALUE_INT, VALUE_FLOAT, VALUE_STRING };

/* A value does not own its string, which must outlive the value. */
struct value {
  enum value_type type;
  bool single; /* VALUE_FLOAT: the value is rounded to float, and is a float in C; sums, products
                  and the like are doubles again */
  union {
    bool boolean;
    int64_t integer;
    double real;
    const char *string;
  };
};

struct value value_bool(bool b);
struct value value_int(int64_t i);
struct value value_float(double d);
struct value value_string(const char *s);

static inline bool value_is_number(const struct value *value) {
  return value->type == VALUE_INT || value->type == VALUE_FLOAT;
}
/* Returns the number as a double. */
static inline double value_real(const struct value *value) {
  return value->type == VALUE_INT ? (double)value->integer : value->real;
}

/* Equality as in Lua: 1 == 1.0, and "1" ~= 1. */
bool value_equal(struct value a, struct value b);

/* Prints a value as a user writes it: 64, 0.5 (the shortest form that reads back), true, nil.
   Strings have no quotes. */
void value_print(struct value value, struct text *out);
/* Like value_print, but a `single` number gets the suffix of a float in C: "0.1f". */
void value_print_literal(struct value value, struct text *out);

#endif
