/* Elements and input data; see element.h. */
#include "element.h"

#include <math.h>
#include <string.h>

/* ---- 16-bit floats: exponent and fraction widths differ, the arithmetic is the same ---- */

struct small_float {
  int fraction_bits, bias;
};

static const struct small_float half_format = {10, 15}, bfloat_format = {7, 127};

static double small_load(struct small_float format, uint16_t bits) {
  int exponent = (bits & 0x7fff) >> format.fraction_bits, fraction = bits & ((1 << format.fraction_bits) - 1);
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 2 * format.bias + 1) return fraction ? (double)NAN : sign * (double)INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - format.bias - format.fraction_bits);
  return sign * ldexp((1 << format.fraction_bits) + fraction, exponent - format.bias - format.fraction_bits);
}

static uint16_t small_store(struct small_float format, double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint16_t)((2 * format.bias + 1) << format.fraction_bits);
  double size = fabs(value);
  if (isnan(value)) return (uint16_t)(sign | infinity | 1);
  if (isinf(value)) return (uint16_t)(sign | infinity);
  if (size == 0) return sign;
  int exponent;
  frexp(size, &exponent); /* size = f * 2^exponent, f in [0.5, 1) */
  int smallest = 1 - format.bias;
  if (exponent - 1 < smallest) exponent = smallest + 1; /* subnormal: fixed step */
  /* Steps of the last place; rint rounds to even, and a carry runs into the exponent as it should. */
  double steps = rint(ldexp(size, format.fraction_bits - (exponent - 1)));
  double bits = steps + ldexp(exponent - 1 - smallest, format.fraction_bits);
  return (uint16_t)(sign | (bits >= infinity ? infinity : (uint16_t)bits));
}

/* ---- 8-bit floats (Open Compute Project, "OCP 8-bit Floating Point Specification") ---- */

/* The upper half of an f16. */
static double e5m2_load(uint8_t bits) {
  return small_load(half_format, (uint16_t)(bits << 8));
}

static const struct small_float e5m2_format = {2, 15};

static uint8_t e5m2_store(double value) {
  uint16_t bits = small_store(e5m2_format, value);
  return (uint8_t)((bits >> 8 & 0x80) | (bits & 0x7f));
}

/* Has no infinity: where others have it are more numbers, of which the last is NaN. */
static double e4m3_load(uint8_t bits) {
  int exponent = (bits & 0x7f) >> 3, fraction = bits & 7;
  double size = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
  if ((bits & 0x7f) == 0x7f) return (double)NAN;
  return bits & 0x80 ? -size : size;
}

static uint8_t e4m3_store(double value) {
  uint8_t sign = signbit(value) ? 0x80 : 0;
  double size = fabs(value);
  int exponent;
  if (isnan(value)) return (uint8_t)(sign | 0x7f);
  if (size >= 448) return (uint8_t)(sign | 0x7e);
  frexp(size, &exponent); /* size = f * 2^exponent, f in [0.5, 1) */
  if (exponent < -5 || size == 0) exponent = -5;
  return (uint8_t)(sign | ((int)rint(ldexp(size, 4 - exponent)) + (exponent + 5) * 8));
}

/* ---- Any dtype ---- */

/* dtype, C type, load from the C value v, store of the double d */
#define ELEMENT_TYPES(X)                                                                                             \
  X(f32, float, v, d)                                                                                                \
  X(f64, double, v, d)                                                                                               \
  X(f16, uint16_t, small_load(half_format, v), small_store(half_format, d))                                          \
  X(bf16, uint16_t, small_load(bfloat_format, v), small_store(bfloat_format, d))                                     \
  X(e4m3, uint8_t, e4m3_load(v), e4m3_store(d))                                                                      \
  X(e5m2, uint8_t, e5m2_load(v), e5m2_store(d))                                                                      \
  X(i8, int8_t, v, clamp(d, INT8_MIN, INT8_MAX))                                                                     \
  X(i16, int16_t, v, clamp(d, INT16_MIN, INT16_MAX))                                                                 \
  X(i32, int32_t, v, clamp(d, INT32_MIN, INT32_MAX))                                                                 \
  X(i64, int64_t, v, clamp(d, -0x1p63, 0x1.fffffffffffffp62))                                                        \
  X(u8, uint8_t, v, clamp(d, 0, UINT8_MAX))                                                                          \
  X(u16, uint16_t, v, clamp(d, 0, UINT16_MAX))                                                                       \
  X(u32, uint32_t, v, clamp(d, 0, UINT32_MAX))                                                                       \
  X(u64, uint64_t, v, clamp(d, 0, 0x1.fffffffffffffp63))

static double clamp(double d, double low, double high) {
  return d < low ? low : d > high ? high : rint(d);
}

#define X(name, type, load, store)                                                                                   \
  static double load_##name(const void *from, int64_t index) {                                                       \
    type v = ((const type *)from)[index];                                                                            \
    return (double)(load);                                                                                           \
  }                                                                                                                  \
  static void store_##name(void *to, int64_t index, double d) {                                                      \
    ((type *)to)[index] = (type)(store);                                                                             \
  }
ELEMENT_TYPES(X)
#undef X

static const struct {
  const char *name;
  element_loader *load;
  element_storer *store;
} types[] = {
#define X(name, type, load, store) {#name, load_##name, store_##name},
    ELEMENT_TYPES(X)
#undef X
};

/* Every dtype has a row: a unit test goes through them all. */
static size_t find_type(const struct dtype *dtype) {
  size_t i = 0;
  while (i + 1 < sizeof types / sizeof *types && strcmp(types[i].name, dtype->name) != 0) i++;
  return i;
}

element_loader *element_load_of(const struct dtype *dtype) {
  return types[find_type(dtype)].load;
}

element_storer *element_store_of(const struct dtype *dtype) {
  return types[find_type(dtype)].store;
}

double element_load(const struct dtype *dtype, const void *from, int64_t index) {
  return element_load_of(dtype)(from, index);
}

void element_store(const struct dtype *dtype, void *to, int64_t index, double value) {
  element_store_of(dtype)(to, index, value);
}

int64_t element_count(const struct kernel_argument *argument) {
  int64_t count = 1;
  for (int i = 0; i < argument->rank; i++) count *= argument->shape[i];
  return count;
}

int64_t element_offset(const struct kernel_argument *argument, int64_t flat) {
  int64_t offset = 0;
  for (int i = argument->rank - 1; i >= 0; i--) {
    offset += flat % argument->shape[i] * argument->stride[i];
    flat /= argument->shape[i];
  }
  return offset;
}

/* ---- Fills ---- */

/* A counter-based generator: element i of a buffer does not depend on how the buffer is walked. */
static uint64_t noise(uint64_t stream, int64_t i) {
  uint64_t state = stream + (uint64_t)i * 0x9e3779b97f4a7c15u;
  return random_next(&state);
}

/* Floats fill all 24 bits of an f32: fewer would switch fewer wires, and a GPU at its power limit would look faster
   than it is. */
static double uniform(const struct dtype *dtype, uint64_t bits) {
  if (dtype->floating) return (double)(int64_t)(bits >> 40) * 0x1p-23 - 1.0;
  return dtype->name[0] == 'u' ? (double)(bits % 17) : (double)(int64_t)(bits % 17) - 8.0;
}

static bool on_diagonal(const struct kernel_argument *argument, int64_t flat) {
  int64_t first = -1;
  for (int i = argument->rank - 1; i >= 0; i--) {
    int64_t coordinate = flat % argument->shape[i];
    if (first >= 0 && coordinate != first) return false;
    first = coordinate;
    flat /= argument->shape[i];
  }
  return true;
}

static double fill_value(const struct kernel_argument *argument, uint64_t stream, int64_t flat) {
  switch (argument->fill) {
  case FILL_UNIFORM: return uniform(argument->dtype, noise(stream, flat));
  case FILL_IDENTITY: return on_diagonal(argument, flat) ? 1.0 : 0.0;
  case FILL_INDEX: return (double)flat;
  case FILL_ONES: return 1.0;
  case FILL_ZERO:
  case FILL_KIND_COUNT: break;
  }
  return 0.0;
}

void element_fill(const struct kernel_argument *argument, uint64_t seed, size_t ordinal, void *out) {
  uint64_t state = seed * 1000003u + ordinal, stream = random_next(&state);
  int64_t count = element_count(argument);
  memset(out, 0xff, (size_t)kernel_argument_bytes(argument));
  element_storer *store = element_store_of(argument->dtype);
  bool packed = argument->elements == count && !argument->column_major;
  for (int64_t i = 0; i < count; i++)
    store(out, packed ? i : element_offset(argument, i), fill_value(argument, stream, i));
}
