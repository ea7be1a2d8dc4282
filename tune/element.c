/* Elements and input data; see element.h. */
#include "element.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "parallel_for.h"

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

/* The number of the nearest one in the format's order of size, ties to even, as if it went on without infinities: what an
   exponent beyond the largest gives is larger than all that are there. */
static inline unsigned small_size(struct small_float format, double value) {
  enum { FRACTION = 52, BIAS = 1023 };
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t fraction = (bits & ((UINT64_C(1) << FRACTION) - 1)) | UINT64_C(1) << FRACTION;
  int exponent = (int)(bits >> FRACTION & 0x7ff) - BIAS, smallest = 1 - format.bias;
  int dropped = FRACTION - format.fraction_bits; /* and more of a subnormal one, which has a fixed step */
  if (exponent < smallest) dropped += smallest - exponent, exponent = smallest;
  if (dropped > FRACTION + 1) return 0;
  uint64_t kept = fraction >> dropped, rest = fraction & ((UINT64_C(1) << dropped) - 1),
           half = UINT64_C(1) << (dropped - 1);
  kept += rest > half || (rest == half && kept & 1);
  /* A carry runs into the exponent as it should. */
  return (unsigned)kept + (unsigned)(exponent - smallest) * (1u << format.fraction_bits);
}

static inline uint16_t small_store(struct small_float format, double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint16_t)((2 * format.bias + 1) << format.fraction_bits);
  if (isnan(value)) return (uint16_t)(sign | infinity | 1);
  unsigned size = small_size(format, value);
  return (uint16_t)(sign | (size >= infinity ? infinity : size));
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

static inline uint8_t e4m3_store(double value) {
  static const struct small_float format = {3, 7};
  uint8_t sign = signbit(value) ? 0x80 : 0;
  if (isnan(value)) return (uint8_t)(sign | 0x7f);
  unsigned size = small_size(format, value);
  return (uint8_t)(sign | (size > 0x7e ? 0x7e : size));
}

/* ---- Noise ---- */

/* A counter-based generator: element i of a buffer does not depend on how the buffer is walked. */
static uint64_t noise(uint64_t stream, int64_t i) {
  uint64_t state = stream + (uint64_t)i * 0x9e3779b97f4a7c15u;
  return random_next(&state);
}

/* Floats fill all 24 bits of an f32: fewer would switch fewer wires, and a GPU at its power limit would look faster
   than it is. */
static double uniform(char kind, uint64_t bits) {
  if (kind == 'u') return (double)(bits % 17);
  return kind == 'i' ? (double)(int64_t)(bits % 17) - 8.0 : (double)(int64_t)(bits >> 40) * 0x1p-23 - 1.0;
}

/* ---- Any dtype ---- */

/* dtype, C type, load from the C value v, store of the double d */
#define FLOAT_TYPES(X)                                                                                               \
  X(f32, float, v, d)                                                                                                \
  X(f64, double, v, d)                                                                                               \
  X(f16, uint16_t, small_load(half_format, v), small_store(half_format, d))                                          \
  X(bf16, uint16_t, small_load(bfloat_format, v), small_store(bfloat_format, d))                                     \
  X(e4m3, uint8_t, e4m3_load(v), e4m3_store(d))                                                                      \
  X(e5m2, uint8_t, e5m2_load(v), e5m2_store(d))
#define WHOLE_TYPES(X)                                                                                               \
  X(i8, int8_t, v, clamp(d, INT8_MIN, INT8_MAX))                                                                     \
  X(i16, int16_t, v, clamp(d, INT16_MIN, INT16_MAX))                                                                 \
  X(i32, int32_t, v, clamp(d, INT32_MIN, INT32_MAX))                                                                 \
  X(i64, int64_t, v, clamp(d, -0x1p63, 0x1.fffffffffffffp62))                                                        \
  X(u8, uint8_t, v, clamp(d, 0, UINT8_MAX))                                                                          \
  X(u16, uint16_t, v, clamp(d, 0, UINT16_MAX))                                                                       \
  X(u32, uint32_t, v, clamp(d, 0, UINT32_MAX))                                                                       \
  X(u64, uint64_t, v, clamp(d, 0, 0x1.fffffffffffffp63))
#define ELEMENT_TYPES(X) FLOAT_TYPES(X) WHOLE_TYPES(X)

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
  }                                                                                                                  \
  static void noise_##name(void *to, int64_t stride, int64_t count, uint64_t stream, int64_t flat, int64_t step) {   \
    for (int64_t i = 0; i < count; i++) {                                                                            \
      double d = uniform(#name[0], noise(stream, flat + i * step));                                                  \
      ((type *)to)[i * stride] = (type)(store);                                                                      \
    }                                                                                                                \
  }
ELEMENT_TYPES(X)
#undef X

static bool is_whole(const struct value *value) {
  return value->type == VALUE_INT;
}

static double number_of(const struct value *value) {
  return is_whole(value) ? (double)value->integer : value->real;
}

/* A finite number stays finite. e4m3 has no infinity: its largest is 448, and the next number would be 480. */
static bool is_held(const char *name, double number, double stored) {
  if (isnan(number)) return true;
  if (strcmp(name, "e4m3") == 0) return fabs(number) <= 464;
  return isfinite(number) == isfinite(stored);
}

#define X(name, type, load, store)                                                                                   \
  static bool put_##name(void *to, int64_t index, const struct value *value) {                                       \
    const double d = number_of(value);                                                                               \
    store_##name(to, index, d);                                                                                      \
    return is_held(#name, d, load_##name(to, index));                                                                \
  }
FLOAT_TYPES(X)
#undef X

#define X(name, type, load, store)                                                                                   \
  static bool get_##name(const void *from, int64_t index, int64_t *value) {                                          \
    *value = (int64_t)((const type *)from)[index];                                                                   \
    return #name[0] == 'i' || *value >= 0;                                                                           \
  }                                                                                                                  \
  static bool put_##name(void *to, int64_t index, const struct value *value) {                                       \
    int64_t stored;                                                                                                  \
    if (is_whole(value)) {                                                                                           \
      ((type *)to)[index] = (type)value->integer;                                                                    \
      return get_##name(to, index, &stored) && stored == value->integer;                                             \
    }                                                                                                                \
    if (isnan(value->real)) return false;                                                                            \
    store_##name(to, index, value->real);                                                                            \
    return load_##name(to, index) == value->real;                                                                    \
  }
WHOLE_TYPES(X)
#undef X

static const struct {
  const char *name;
  element_loader *load;
  element_storer *store;
  element_putter *put;
  element_getter *get;
  /* Elements flat, flat + step and so on, `stride` apart from `to` on. */
  void (*noise)(void *to, int64_t stride, int64_t count, uint64_t stream, int64_t flat, int64_t step);
} types[] = {
#define X(name, type, load, store) {#name, load_##name, store_##name, put_##name, NULL, noise_##name},
    FLOAT_TYPES(X)
#undef X
#define X(name, type, load, store) {#name, load_##name, store_##name, put_##name, get_##name, noise_##name},
        WHOLE_TYPES(X)
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

element_putter *element_put_of(const struct dtype *dtype) {
  return types[find_type(dtype)].put;
}

element_getter *element_get_of(const struct dtype *dtype) {
  return types[find_type(dtype)].get;
}

double element_load(const struct dtype *dtype, const void *from, int64_t index) {
  return element_load_of(dtype)(from, index);
}

void element_store(const struct dtype *dtype, void *to, int64_t index, double value) {
  element_store_of(dtype)(to, index, value);
}

void element_widen(const struct dtype *dtype, const void *from, int64_t at, void *to, int64_t index) {
  if (dtype->bytes == 8)
    memcpy((char *)to + 8 * index, (const char *)from + 8 * at, 8); /* it is its own wide type */
  else
    element_store(dtype_find(dtype->wide), to, index, element_load(dtype, from, at));
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

/* Numbers up to the type's largest: an infinity times zero is no number, in the reference either. */
static double number(const struct dtype *dtype, int64_t flat) {
  const double largest = strcmp(dtype->name, "f16") == 0    ? 65504
                         : strcmp(dtype->name, "e5m2") == 0 ? 57344
                                                            : INFINITY;
  return fmin((double)flat, largest);
}

static double fill_value(const struct kernel_argument *argument, uint64_t stream, int64_t flat) {
  switch (argument->fill) {
  case FILL_UNIFORM: return uniform(argument->dtype->name[0], noise(stream, flat));
  case FILL_IDENTITY: return on_diagonal(argument, flat) ? 1.0 : 0.0;
  case FILL_INDEX: return number(argument->dtype, flat);
  case FILL_ONES: return 1.0;
  case FILL_ZERO:
  case FILL_KIND_COUNT: break;
  }
  return 0.0;
}

/* A thread's part of a buffer, counted in the order of memory: line after line of elements side by side. */
struct fill {
  const struct kernel_argument *argument;
  uint64_t stream;
  void *out;
  int along;           /* the dimension that lines run along */
  int64_t first, last; /* of the elements */
};

static void fill_line(const struct fill *f, int64_t line, int64_t first, int64_t last) {
  const struct kernel_argument *a = f->argument;
  int64_t offset = 0, flat = 0, step = 1, all = 1;
  for (int i = a->rank - 1; i >= 0; all *= a->shape[i--]) {
    if (i == f->along) {
      step = all;
      continue;
    }
    int64_t at = line % a->shape[i];
    line /= a->shape[i];
    offset += at * a->stride[i];
    flat += at * all;
  }
  int64_t stride = a->stride[f->along];
  if (a->fill == FILL_UNIFORM) {
    char *to = (char *)f->out + (offset + first * stride) * a->dtype->bytes;
    types[find_type(a->dtype)].noise(to, stride, last - first, f->stream, flat + first * step, step);
    return;
  }
  element_storer *store = element_store_of(a->dtype);
  for (int64_t i = first; i < last; i++)
    store(f->out, offset + i * stride, fill_value(a, f->stream, flat + i * step));
}

static void fill_part(void *context) {
  const struct fill *f = context;
  int64_t length = f->argument->shape[f->along];
  for (int64_t at = f->first; at < f->last;) {
    int64_t begin = at % length, end = f->last - at < length - begin ? begin + f->last - at : length;
    fill_line(f, at / length, begin, end);
    at += end - begin;
  }
}

static int contiguous_dimension(const struct kernel_argument *a) {
  int along = a->rank - 1;
  for (int i = 0; i < a->rank && a->stride[along] != 1; i++)
    if (a->stride[i] == 1) along = i;
  return along;
}

void element_fill(const struct kernel_argument *argument, uint64_t seed, size_t ordinal, void *out) {
  uint64_t state = seed * 1000003u + ordinal, stream = random_next(&state);
  int64_t elements = element_count(argument);
  struct fill parts[PARALLEL_MOST];
  memset(out, 0xff, (size_t)kernel_argument_bytes(argument));
  if (argument->rank == 0) {
    element_store(argument->dtype, out, 0, fill_value(argument, stream, 0));
    return;
  }
  int count = parallel_count(elements), along = contiguous_dimension(argument);
  for (int i = 0; i < count; i++)
    parts[i] = (struct fill){
        argument, stream, out, along, parallel_begin(elements, i, count), parallel_begin(elements, i + 1, count)};
  parallel_for(fill_part, parts, sizeof *parts, count);
}
