/* Elements of arguments and input data; see elements.h. */
#include "elements.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "parallel_for.h"

/* ---- Noise ---------------------------------------------------------------------------------- */

/* A counter-based generator: element i of a buffer does not depend on the order in which the buffer
   is filled. */
static uint64_t noise(uint64_t stream, int64_t i) {
  uint64_t state = stream + (uint64_t)i * 0x9e3779b97f4a7c15u;
  return random_next(&state);
}

/* Random floats use all 24 bits of an f32's significand. With fewer bits fewer wires would switch,
   and a GPU at its power limit would look faster than it is. */
static inline double uniform(enum dtype_kind kind, uint64_t bits) {
  if (kind == DTYPE_UINT) return (double)(bits % 17);
  return kind == DTYPE_INT ? (double)(int64_t)(bits % 17) - 8.0
                           : (double)(int64_t)(bits >> 40) * 0x1p-23 - 1.0;
}

#define NOISE(name, kind, stored, ...)                                                             \
  static void noise_##name(void *to, int64_t stride, int64_t count, uint64_t stream, int64_t flat, \
                           int64_t step) {                                                         \
    for (int64_t i = 0; i < count; i++)                                                            \
      ((stored *)to)[i * stride] =                                                                 \
          double_to_##name(uniform(DTYPE_##kind, noise(stream, flat + i * step)));                 \
  }
DTYPES(NOISE)

/* For each dtype, a function that fills elements flat, flat + step and so on, which are `stride`
   elements apart in memory from `to` on. */
#define NOISE_ROW(name, ...) noise_##name,
static void (*const noises[DTYPE_COUNT])(void *to, int64_t stride, int64_t count, uint64_t stream,
                                         int64_t flat, int64_t step) = {DTYPES(NOISE_ROW)};

/* ---- Places in memory ----------------------------------------------------------------------- */

int64_t element_count(const struct kernel_argument *argument) {
  int64_t count = 1;
  for (int i = 0; i < argument->rank; i++) count *= argument->shape[i];
  return count;
}

void element_coordinates(const struct kernel_argument *argument, int64_t flat, int64_t *at) {
  for (int i = argument->rank - 1; i >= 0; i--) {
    at[i] = flat % argument->shape[i];
    flat /= argument->shape[i];
  }
}

int64_t element_offset(const struct kernel_argument *argument, int64_t flat) {
  int64_t offset = 0;
  if (argument->map.count) {
    int64_t at[KERNEL_MAX_RANK] = {0};
    element_coordinates(argument, flat, at);
    return layout_offset(&argument->map, at);
  }
  for (int i = argument->rank - 1; i >= 0; i--) {
    offset += flat % argument->shape[i] * argument->stride[i];
    flat /= argument->shape[i];
  }
  return offset;
}

bool element_is_filled(const struct dtype *dtype, const void *elements, int64_t index,
                       unsigned char byte) {
  const unsigned char *at = (const unsigned char *)elements + index * dtype->bytes;
  int i = 0;
  while (i < dtype->bytes && at[i] == byte) i++;
  return i == dtype->bytes;
}

/* ---- Digests -------------------------------------------------------------------------------- */

static inline uint64_t element_bits(const unsigned char *from, size_t bytes) {
  uint64_t bits = 0; /* little-endian, as on GPUs */
  memcpy(&bits, from, bytes);
  return bits;
}

/* One function for each element size, so that reading an element is a load and not a call. */
#define DIGEST(bytes)                                                                              \
  static uint64_t digest_##bytes(const unsigned char *at, int64_t step, int64_t count,             \
                                 int64_t flat) {                                                   \
    uint64_t sum = 0;                                                                              \
    for (int64_t i = 0; i < count; i++)                                                            \
      sum += noise(element_bits(at + i * step, bytes), flat + i);                                  \
    return sum;                                                                                    \
  }
DIGEST(1)
DIGEST(2)
DIGEST(4)
DIGEST(8)

uint64_t element_digest(const struct kernel_argument *a, const void *data) {
  static uint64_t (*const digests[])(const unsigned char *, int64_t, int64_t, int64_t) = {
      [1] = digest_1, [2] = digest_2, [4] = digest_4, [8] = digest_8};
  const int64_t count = element_count(a),
                row = a->rank && !a->map.count ? a->shape[a->rank - 1] : 1,
                step = a->rank ? a->stride[a->rank - 1] * a->dtype->bytes : 0;
  uint64_t sum = 0;
  for (int64_t first = 0; first < count; first += row) {
    const unsigned char *at =
        (const unsigned char *)data + element_offset(a, first) * a->dtype->bytes;
    sum += digests[a->dtype->bytes](at, step, row, first);
  }
  return sum;
}

/* ---- Fills ---------------------------------------------------------------------------------- */

static bool on_diagonal(const struct kernel_argument *argument, int64_t flat) {
  int64_t at[KERNEL_MAX_RANK] = {0};
  element_coordinates(argument, flat, at);
  for (int i = 1; i < argument->rank; i++)
    if (at[i] != at[0]) return false;
  return true;
}

static double fill_value(const struct kernel_argument *argument, uint64_t stream, int64_t flat) {
  switch (argument->fill) {
  case FILL_UNIFORM: return uniform(argument->dtype->kind, noise(stream, flat));
  case FILL_IDENTITY: return on_diagonal(argument, flat) ? 1.0 : 0.0;
  /* Avoids infinity, which times zero would be NaN. */
  case FILL_INDEX: return fmin((double)flat, dtype_largest(argument->dtype));
  case FILL_ONES: return 1.0;
  case FILL_ZERO:
  case FILL_KIND_COUNT: break;
  }
  return 0.0;
}

/* A buffer that is being filled line by line, in the contiguous dimension if the array has one. */
struct fill {
  const struct kernel_argument *argument;
  uint64_t stream;
  void *out;
  int along; /* the dimension of the lines */
};

/* Fills the elements of a line from `first` up to, but not including, `last`. */
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
    noises[a->dtype->id](to, stride, last - first, f->stream, flat + first * step, step);
    return;
  }
  element_storer *store = element_store_of(a->dtype);
  for (int64_t i = first; i < last; i++)
    store(f->out, offset + i * stride, fill_value(a, f->stream, flat + i * step));
}

static int fill_part(void *context, int part, int64_t first, int64_t last, cugen_error *err) {
  const struct fill *f = context;
  const struct kernel_argument *a = f->argument;
  (void)part, (void)err;
  if (a->map.count) { /* a tiled or swizzled array is filled in the order of the flat index */
    element_storer *store = element_store_of(a->dtype);
    for (int64_t flat = first; flat < last; flat++)
      store(f->out, element_offset(a, flat), fill_value(a, f->stream, flat));
    return CUGEN_OK;
  }
  int64_t length = a->shape[f->along];
  for (int64_t at = first; at < last;) {
    int64_t begin = at % length, end = last - at < length - begin ? begin + last - at : length;
    fill_line(f, at / length, begin, end);
    at += end - begin;
  }
  return CUGEN_OK;
}

uint64_t element_stream(uint64_t seed, size_t ordinal) {
  uint64_t state = seed * 1000003u + ordinal;
  return random_next(&state);
}

void element_fill(const struct kernel_argument *argument, uint64_t seed, size_t ordinal,
                  void *out) {
  struct fill fill = {.argument = argument,
                      .stream = element_stream(seed, ordinal),
                      .out = out,
                      .along = argument->rank - 1};
  cugen_error none; /* fill_part does not fail */
  memset(out, 0xff, (size_t)kernel_argument_bytes(argument));
  if (argument->rank == 0) {
    element_store(argument->dtype, out, 0, fill_value(argument, fill.stream, 0));
    return;
  }
  for (int i = 0; i < argument->rank && argument->stride[fill.along] != 1; i++)
    if (argument->stride[i] == 1) fill.along = i;
  parallel_for(element_count(argument), 1, fill_part, &fill, &none);
}
