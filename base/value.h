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

/* ---- dtypes: the element types a config can name ---- */

struct dtype {
  const char *name; /* "f32" */
  int bytes;
  const char *c_name; /* "float"; NULL-terminated C++ type for the template */
  const char *header; /* "cuda_fp16.h" or NULL */
  const char *wide;   /* dtype of a wider-precision result: f32 -> f64, i32 -> i64 */
  bool floating;
};

/* f64 f32 f16 bf16 e4m3 e5m2 i8 i16 i32 i64 u8 u16 u32 u64; NULL when the name is none of them. */
const struct dtype *dtype_find(const char *name);
/* All names, NULL-terminated. */
const char *const *dtype_names(void);

/* The value as the bytes of that type, eight at most; false: it is no number of the type. */
bool value_pack(const struct dtype *dtype, struct value value, unsigned char *out);
/* A finite number of which value_pack makes an infinity. */
bool value_overflows(const struct dtype *dtype, struct value value);

#endif
