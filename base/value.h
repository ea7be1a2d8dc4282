/* The values of problems, tunables and expressions: what Lua has, without its tables. */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum value_type { VALUE_NIL, VALUE_BOOL, VALUE_INT, VALUE_FLOAT, VALUE_STRING };

/* A string belongs to whoever made the value (a config, mostly) and outlives it. */
struct value {
  enum value_type type;
  bool single; /* VALUE_FLOAT: rounded to a float, and one in C; operations on it give doubles again */
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

/* As in Lua: 1 == 1.0, "1" ~= 1. */
bool value_equal(struct value a, struct value b);

/* As a person writes it: 64, 0.5 (shortest form that reads back), true, none. Strings without quotes. */
void value_print(struct value value, struct text *out);
/* The same as C has it: a number that is a float there gets its f, "0.1f". */
void value_print_literal(struct value value, struct text *out);

#endif
