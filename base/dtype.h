/* The element types that a config can name. A new type of a known kind is a row of the table. */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "small_float.h"

/* The columns of the table:
   name      as configs write the type
   kind      how an element represents a number: enum dtype_kind
   stored    the host's type of equal size; an integer for floats that C does not have
   cuda      the type in kernels
   header    the header that declares the CUDA type
   exponent, fraction, infinities
             of floats: numbers of bits of the fields. Without infinities, the bit patterns of
             infinities are numbers, and only the last pattern is a NaN
   texel     enum texel_format, which texture units need
   tensor    enum tensor_type, which tensor maps need. A tensor reads as zero outside its bounds in
             every type, so an unsigned integer of equal size stands for types that the driver does
             not know
   npy       as NumPy's files name the type; V (bytes without a meaning) for types that NumPy does
             not know */
/* clang-format off */
#define DTYPES(X) \
  X(f64,  FLOAT, double,   "double",             NULL,          11, 52, 1, NONE,   FLOAT64,  "f8") \
  X(f32,  FLOAT, float,    "float",              NULL,          8,  23, 1, FLOAT,  FLOAT32,  "f4") \
  X(f16,  SMALL, uint16_t, "__half",             "cuda_fp16.h", 5,  10, 1, HALF,   FLOAT16,  "f2") \
  X(bf16, SMALL, uint16_t, "__nv_bfloat16",      "cuda_bf16.h", 8,  7,  1, NONE,   BFLOAT16, "V2") \
  X(e4m3, SMALL, uint8_t,  "__nv_fp8_e4m3",      "cuda_fp8.h",  4,  3,  0, NONE,   UINT8,    "V1") \
  X(e5m2, SMALL, uint8_t,  "__nv_fp8_e5m2",      "cuda_fp8.h",  5,  2,  1, NONE,   UINT8,    "V1") \
  X(i8,   INT,   int8_t,   "signed char",        NULL,          0,  0,  0, INT8,   UINT8,    "i1") \
  X(i16,  INT,   int16_t,  "short",              NULL,          0,  0,  0, INT16,  UINT16,   "i2") \
  X(i32,  INT,   int32_t,  "int",                NULL,          0,  0,  0, INT32,  INT32,    "i4") \
  X(i64,  INT,   int64_t,  "long long",          NULL,          0,  0,  0, NONE,   INT64,    "i8") \
  X(u8,   UINT,  uint8_t,  "unsigned char",      NULL,          0,  0,  0, UINT8,  UINT8,    "u1") \
  X(u16,  UINT,  uint16_t, "unsigned short",     NULL,          0,  0,  0, UINT16, UINT16,   "u2") \
  X(u32,  UINT,  uint32_t, "unsigned int",       NULL,          0,  0,  0, UINT32, UINT32,   "u4") \
  X(u64,  UINT,  uint64_t, "unsigned long long", NULL,          0,  0,  0, NONE,   UINT64,   "u8")
/* clang-format on */

#define DTYPE_ID(name, ...) DTYPE_##name,
enum dtype_id { DTYPES(DTYPE_ID) DTYPE_COUNT };
#undef DTYPE_ID

/* DTYPE_FLOAT: a float type of C. DTYPE_SMALL: a float type of at most 16 bits that C does not
   have. Integers are DTYPE_INT and DTYPE_UINT. */
enum dtype_kind { DTYPE_FLOAT, DTYPE_SMALL, DTYPE_INT, DTYPE_UINT };

/* The values equal those of CUarray_format and CUtensorMapDataType (CUDA Driver API), which
   runtime/cuda asserts. */
enum texel_format {
  TEXEL_NONE = 0,
  TEXEL_UINT8 = 0x01,
  TEXEL_UINT16 = 0x02,
  TEXEL_UINT32 = 0x03,
  TEXEL_INT8 = 0x08,
  TEXEL_INT16 = 0x09,
  TEXEL_INT32 = 0x0a,
  TEXEL_HALF = 0x10,
  TEXEL_FLOAT = 0x20
};
enum tensor_type {
  TENSOR_UINT8,
  TENSOR_UINT16,
  TENSOR_UINT32,
  TENSOR_INT32,
  TENSOR_UINT64,
  TENSOR_INT64,
  TENSOR_FLOAT16,
  TENSOR_FLOAT32,
  TENSOR_FLOAT64,
  TENSOR_BFLOAT16
};

struct dtype {
  enum dtype_id id; /* number of this row in the table */
  const char *name; /* "f32" */
  enum dtype_kind kind;
  int bytes;
  const char *cuda_name;    /* "float", "signed char" */
  const char *c_name;       /* type name in C or CUDA for a caller: "float", "int8_t" */
  const char *header;       /* header that declares the CUDA type: "cuda_fp16.h", or NULL */
  const struct dtype *wide; /* the type of a reference's results, which holds every value of this
                               type */
  bool floating;
  struct small_float format; /* format of a float type, of C's own floats as well */
  enum texel_format texel;
  enum tensor_type tensor;
  const char *npy;
};

extern const struct dtype dtype_table[DTYPE_COUNT];
/* Names of all types, "f64", "f32"..., in the order of the table, NULL-terminated. */
extern const char *const dtype_names[DTYPE_COUNT + 1];

/* Returns the name of the type that other languages call `spelling`, such as "f32" for "float";
   NULL: there is none. */
const char *dtype_meant(const char *spelling);
/* Returns NULL if no type has this name. */
const struct dtype *dtype_find(const char *name);

/* Returns whether scalars and fields of structs may have the type. Floats of 8 bits may not. */
bool dtype_passed(const struct dtype *dtype);
/* Returns whether an integer type can hold the value; u64 holds every value that is not
   negative. */
bool dtype_fits(const struct dtype *dtype, int64_t value);
/* Returns the distance from 1 to the next number of a float type, and 0 for an integer type. */
double dtype_epsilon(const struct dtype *dtype);
/* Returns the largest finite number of a float type, and infinity for an integer type. */
double dtype_largest(const struct dtype *dtype);

#endif
