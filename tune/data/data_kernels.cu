// Kernels that make, digest and compare a data set in device memory. The build puts data_layout.h
// in front of this text, and NVRTC compiles both for the device. Noise, conversions and the error
// of an element equal those of elements.c and verify.c on the host, bit for bit. data_kernels.h
// describes the kernels.
//
// Threads walk over the elements with the stride of the grid, so that any number of blocks will do.
// Counts, digests and extremes reach a data_tally with atomics, mostly after the warp has combined
// them. Sums of squares for a norm are stored per block instead and added in order, so that equal
// data give an equal sum.
//
// Tuning waits for the compile of these kernels, so they are compiled in parts, side by side, and
// loops over elements, except for that of the digest, are not unrolled. DATA_PART is the number of
// the part.

typedef long long i64;
typedef unsigned long long u64;

enum { KIND_FLOAT, KIND_SMALL, KIND_SIGNED, KIND_UNSIGNED };
enum { MAKE_UNIFORM, MAKE_IDENTITY, MAKE_INDEX, MAKE_ONES };
enum { WARP = 32, THREADS = 256 };

// ---- Elements ----

__device__ double power_of_two(int exponent) {
  return __longlong_as_double((i64)(exponent + 1023) << 52);
}

__device__ unsigned small_largest(const data_type &t) {
  const unsigned last = ((1u << t.exponent_bits) - 1) << t.fraction_bits;
  return t.infinities ? last - 1 : last + (1u << t.fraction_bits) - 2;
}

// Like small_float_load: the fields are aligned to those of a float, and the product corrects the
// exponent, which is too small by the difference of the biases.
__device__ double load_small(const data_type &t, unsigned bits) {
  const int sign_at = t.exponent_bits + t.fraction_bits, bias = (1 << (t.exponent_bits - 1)) - 1;
  const unsigned sign = bits >> sign_at, size = bits & ((1u << sign_at) - 1);
  unsigned aligned = sign << 31 | size << (23 - t.fraction_bits);
  if (t.exponent_bits < 8 && size > small_largest(t)) aligned |= 0x7f800000u;
  return (double)__uint_as_float(aligned) * power_of_two(127 - bias);
}

// Like small_float_store on the host.
__device__ unsigned store_small(const data_type &t, double value) {
  const u64 bits = (u64)__double_as_longlong(value);
  const unsigned largest = small_largest(t);
  const unsigned sign = bits >> 63 ? 1u << (t.exponent_bits + t.fraction_bits) : 0;
  if (value != value) return sign | (largest + 1) | 1u << (t.fraction_bits - 1);
  const u64 fraction = (bits & ((1ull << 52) - 1)) | 1ull << 52;
  const int smallest = 2 - (1 << (t.exponent_bits - 1));
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023, dropped = 52 - t.fraction_bits;
  if (exponent < smallest) dropped += smallest - exponent, exponent = smallest;
  if (dropped > 53) return sign;
  u64 kept = fraction >> dropped;
  const u64 rest = fraction & ((1ull << dropped) - 1), half = 1ull << (dropped - 1);
  kept += rest > half || (rest == half && (kept & 1));
  const unsigned size = (unsigned)kept + (unsigned)(exponent - smallest) * (1u << t.fraction_bits);
  return sign | (size > largest ? largest + t.infinities : size);
}

__device__ u64 load_bits(const void *from, i64 at, int bytes) {
  if (bytes == 1) return ((const unsigned char *)from)[at];
  if (bytes == 2) return ((const unsigned short *)from)[at];
  if (bytes == 4) return ((const unsigned *)from)[at];
  return ((const u64 *)from)[at];
}

__device__ void store_bits(void *to, i64 at, int bytes, u64 bits) {
  if (bytes == 1)
    ((unsigned char *)to)[at] = (unsigned char)bits;
  else if (bytes == 2)
    ((unsigned short *)to)[at] = (unsigned short)bits;
  else if (bytes == 4)
    ((unsigned *)to)[at] = (unsigned)bits;
  else
    ((u64 *)to)[at] = bits;
}

__device__ double load(const data_type &t, const void *from, i64 at) {
  const u64 bits = load_bits(from, at, t.bytes);
  const int unused = 64 - 8 * t.bytes;
  if (t.kind == KIND_SMALL) return load_small(t, (unsigned)bits);
  if (t.kind == KIND_SIGNED) return (double)((i64)(bits << unused) >> unused);
  if (t.kind == KIND_UNSIGNED) return (double)bits;
  return t.bytes == 4 ? (double)__uint_as_float((unsigned)bits) : __longlong_as_double((i64)bits);
}

__device__ u64 to_bits(const data_type &t, double value) {
  if (t.kind == KIND_SMALL) return store_small(t, value);
  if (t.kind == KIND_FLOAT) return t.bytes == 4 ? __float_as_uint((float)value) : (u64)__double_as_longlong(value);
  const double inside = !(value > t.low) ? t.low : value < t.high ? rint(value) : t.high;
  return t.kind == KIND_SIGNED ? (u64)(i64)inside : (u64)inside;
}

__device__ i64 quotient(i64 n, i64 by) {
  return (u64)n <= 0xffffffffull && (u64)by <= 0xffffffffull ? (i64)((unsigned)n / (unsigned)by) : n / by;
}

// A swizzle is its own inverse.
__device__ i64 swizzled(const data_layout &l, i64 offset) {
  return offset ^ (offset >> l.shift >> l.base & ((1ll << l.bits) - 1)) << l.base;
}

// Like layout_offset on the host.
__device__ i64 place_by_modes(const data_layout &l, i64 n) {
  i64 offset = 0;
#pragma unroll 1
  for (int i = 0; i < l.mode_count; i++) {
    const data_mode &mode = l.modes[i];
    const i64 line = quotient(n, l.weight[mode.dimension]), shape = l.shape[mode.dimension];
    const i64 at = quotient(line - quotient(line, shape) * shape, mode.divisor);
    offset += (at - quotient(at, mode.extent) * mode.extent) * mode.stride;
  }
  return swizzled(l, offset);
}

// Returns the offset of element n in memory, and its logical flat index through *flat.
__device__ i64 place(const data_layout &l, i64 n, i64 *flat) {
  i64 offset = 0;
  *flat = n;
  if (l.mode_count) return place_by_modes(l, n);
  *flat = 0;
#pragma unroll 1
  for (int i = l.rank - 1; i > 0; i--) {
    const i64 rest = quotient(n, l.shape[i]);
    const i64 at = n - rest * l.shape[i];
    offset += at * l.stride[i];
    *flat += at * l.weight[i];
    n = rest;
  }
  *flat += n * l.weight[0];
  return offset + n * l.stride[0];
}

// The last steps of SplitMix64 (random_next), which make the noise and mix the digests.
__device__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

#if DATA_PART == 0
// ---- Fills ----

__device__ double uniform(int kind, u64 bits) {
  if (kind == KIND_UNSIGNED) return (double)(bits % 17);
  return kind == KIND_SIGNED ? (double)(i64)(bits % 17) - 8.0 : (double)(i64)(bits >> 40) * 0x1p-23 - 1.0;
}

// shape: the layout with the argument's own dimensions, before any are merged.
__device__ bool on_diagonal(const data_layout &shape, i64 flat) {
  i64 first = -1;
#pragma unroll 1
  for (int i = shape.rank - 1; i >= 0; i--) {
    const i64 at = flat % shape.shape[i];
    if (first >= 0 && at != first) return false;
    first = at;
    flat /= shape.shape[i];
  }
  return true;
}

extern "C" __global__ void cugen_data_fill(void *to, data_layout layout, data_layout shape, data_type type, int make,
                                           u64 stream, i64 count) {
  const i64 step = (i64)gridDim.x * blockDim.x;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
    i64 flat;
    const i64 at = place(layout, n, &flat);
    double value = 0;
    if (make == MAKE_UNIFORM) value = uniform(type.kind, mix(stream + (u64)(flat + 1) * 0x9e3779b97f4a7c15ull));
    if (make == MAKE_IDENTITY) value = on_diagonal(shape, flat) ? 1.0 : 0.0;
    if (make == MAKE_INDEX) value = fmin((double)flat, type.largest);
    if (make == MAKE_ONES) value = 1.0;
    store_bits(to, at, type.bytes, to_bits(type, value));
  }
}
#elif DATA_PART == 1
// ---- References ----

// Converts all elements of an argument, or only the samples, to a type of 8 bytes (dtype->wide).
// The results are packed.
extern "C" __global__ void cugen_data_widen(const void *from, data_layout layout, data_type type, u64 *to, const i64 *samples,
                                            i64 count, i64 elements) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  const int unused = 64 - 8 * type.bytes;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
    const i64 flat = samples ? samples[n] : n;
    if (flat >= elements) continue;
    i64 ignored;
    const i64 at = place(layout, flat, &ignored);
    const u64 bits = load_bits(from, at, type.bytes);
    if (type.kind == KIND_SIGNED)
      to[n] = (u64)((i64)(bits << unused) >> unused);
    else
      to[n] = type.kind == KIND_UNSIGNED ? bits : (u64)__double_as_longlong(load(type, from, at));
  }
}

// Returns whether the type holds the number, like element_put. For a float type without infinities
// the test does not round, so a number just above the largest one counts as too large.
__device__ bool holds(const data_type &t, double value, double stored) {
  if (t.kind >= KIND_SIGNED) return stored == value;
  if (value != value) return true;
  const bool finite = value - value == 0.0;
  if (t.kind == KIND_SMALL && !t.infinities) return finite && fabs(value) <= t.largest;
  return finite == (stored - stored == 0.0);
}

// Converts what a generator wrote, packed and in the wide type, to the argument's type and layout.
// Counts the elements that still hold the poison or, unless the type has 8 bytes, whose value the
// type does not hold.
extern "C" __global__ void cugen_data_narrow(const u64 *from, data_type wide, void *to, data_layout layout, data_type type,
                                             u64 poison, i64 count, data_tally *tally) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  const bool copied = type.bytes == 8;
  u64 wrong = 0;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
    i64 ignored;
    const i64 at = place(layout, n, &ignored);
    const u64 bits = from[n];
    const double value = load(wide, from, n);
    store_bits(to, at, type.bytes, copied ? bits : to_bits(type, value));
    wrong += bits == poison || (!copied && !holds(type, value, load(type, to, at)));
  }
  if (wrong) atomicAdd(&tally->wrong, wrong);
}

// Writes the indices of all elements, or the list of samples, in reverse order.
extern "C" __global__ void cugen_data_reverse(i64 *to, const i64 *samples, i64 count) {
  const i64 step = (i64)gridDim.x * blockDim.x;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step)
    to[n] = samples ? samples[count - 1 - n] : count - 1 - n;
}
#endif

// ---- Combining ----

__device__ u64 warp_sum(u64 x) {
  for (int away = WARP / 2; away > 0; away /= 2) x += __shfl_xor_sync(~0u, x, away);
  return x;
}

__device__ u64 warp_least(u64 x) {
  for (int away = WARP / 2; away > 0; away /= 2) {
    const u64 other = __shfl_xor_sync(~0u, x, away);
    if (other < x) x = other;
  }
  return x;
}

__device__ u64 warp_most(u64 x) {
  return ~warp_least(~x);
}

__device__ double warp_total(double x) {
  for (int away = WARP / 2; away > 0; away /= 2) x = __dadd_rn(x, __shfl_xor_sync(~0u, x, away));
  return x;
}

// What one thread found in its elements.
struct found {
  double worst;
  u64 wrong, first;
};

__device__ void note(found &f, double size, bool right, i64 at) {
  if (size > f.worst) f.worst = size;
  if (right) return;
  if (f.wrong++ == 0) f.first = (u64)at; // the indices that a thread visits rise
}

__device__ void add_found(const found &f, data_tally *tally) {
  const u64 worst = warp_most((u64)__double_as_longlong(f.worst)), wrong = warp_sum(f.wrong),
            first = warp_least(f.first);
  if (threadIdx.x % WARP != 0) return;
  if (worst) atomicMax(&tally->worst, worst);
  if (!wrong) return;
  atomicAdd(&tally->wrong, wrong);
  atomicMin(&tally->first, first);
}

#if DATA_PART == 2
// ---- Comparing ----

// Notes the error of an element like verify.c: the difference divided by max(1, |want|), then by
// the tolerance. A NaN counts as infinity.
__device__ void compare_element(found &f, double difference, double want, double tolerance, i64 at) {
  if (difference == 0.0) return;
  const double size = fabs(want) > 1.0 ? fabs(want) : 1.0, error = fabs(difference) / size, r = error / tolerance;
  note(f, r >= 0.0 ? r : __longlong_as_double(0x7ffll << 52), error <= tolerance, at);
}

__device__ double whole_difference(bool is_signed, u64 a, u64 b) {
  const bool above = is_signed ? (i64)a > (i64)b : a > b;
  return above ? (double)(a - b) : -(double)(b - a);
}

// Compares an output with the wanted values. samples NULL: all elements, in order. partial: for
// each block, the sum of squares of the errors and that of the wanted values; NULL: no norm is
// checked.
extern "C" __global__ void cugen_data_compare(const void *got, data_layout layout, data_type type, const void *want,
                                              data_type wide, const i64 *samples, i64 count, i64 elements,
                                              double tolerance, double *partial, data_tally *tally) {
  __shared__ double sums[2][THREADS / WARP];
  const i64 step = (i64)gridDim.x * blockDim.x;
  const bool whole = type.bytes == 8 && type.kind >= KIND_SIGNED;
  found f = {0.0, 0, ~0ull};
  double errors = 0, wanted = 0;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
    const i64 flat = samples ? samples[n] : n;
    if (flat >= elements) continue;
    i64 ignored;
    const i64 at = place(layout, flat, &ignored);
    const double value = load(type, got, at), due = load(wide, want, n);
    double difference = value == due ? 0.0 : value - due;
    if (whole)
      difference = whole_difference(type.kind == KIND_SIGNED, ((const u64 *)got)[at], ((const u64 *)want)[n]);
    compare_element(f, difference, due, tolerance, n);
    errors = __dadd_rn(errors, __dmul_rn(difference, difference));
    wanted = __dadd_rn(wanted, __dmul_rn(due, due));
  }
  add_found(f, tally);
  if (!partial) return;
  errors = warp_total(errors);
  wanted = warp_total(wanted);
  if (threadIdx.x % WARP == 0) {
    sums[0][threadIdx.x / WARP] = errors;
    sums[1][threadIdx.x / WARP] = wanted;
  }
  __syncthreads();
  if (threadIdx.x > 1) return;
  double sum = 0;
  for (int w = 0; w < THREADS / WARP; w++) sum = __dadd_rn(sum, sums[threadIdx.x][w]);
  partial[2 * blockIdx.x + threadIdx.x] = sum;
}
#elif DATA_PART == 3
// Adds up the sums of the blocks. Launched with one warp.
extern "C" __global__ void cugen_data_sums(const double *partial, int blocks, data_tally *tally) {
  double errors = 0, wanted = 0;
#pragma unroll 1
  for (int b = (int)threadIdx.x; b < blocks; b += WARP) {
    errors = __dadd_rn(errors, partial[2 * b]);
    wanted = __dadd_rn(wanted, partial[2 * b + 1]);
  }
  errors = warp_total(errors);
  wanted = warp_total(wanted);
  if (threadIdx.x == 0) tally->errors = errors, tally->wanted = wanted;
}

// ---- Digests ----

// Digests bytes. Each word adds a value to the sum that is a permutation of the word, and a
// different permutation for each index, so a change of a single word always changes the sum.
extern "C" __global__ void cugen_data_digest(const unsigned char *from, i64 bytes, u64 key, u64 odd,
                                             data_tally *tally) {
  const i64 words = bytes / 8, step = (i64)gridDim.x * blockDim.x;
  const i64 begin = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  u64 sum = 0;
  for (i64 i = begin; i < words; i += step) sum += mix((((const u64 *)from)[i] ^ key) + (u64)i * odd);
  if (begin == 0 && bytes % 8) {
    u64 last = 0;
#pragma unroll 1
    for (i64 b = words * 8; b < bytes; b++) last |= (u64)from[b] << (b % 8 * 8);
    sum += mix((last ^ key) + (u64)words * odd);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % WARP == 0 && sum) atomicAdd(&tally->digest, sum);
}
#elif DATA_PART == 4
// Digests elements like element_digest: by their flat index, whatever the layout, without padding.
extern "C" __global__ void cugen_data_bits(const void *from, data_layout layout, int bytes, i64 count, data_tally *tally) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  u64 sum = 0;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
    i64 flat;
    const i64 at = place(layout, n, &flat);
    sum += mix(load_bits(from, at, bytes) + (u64)(flat + 1) * 0x9e3779b97f4a7c15ull);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % WARP == 0 && sum) atomicAdd(&tally->digest, sum);
}
#elif DATA_PART == 5
// ---- Overwritten bytes ----

// Finds the first byte that differs from the pattern in `rows` rows, `pitch` bytes apart: of each
// row the `width` bytes from `skip` on, without the bytes at or beyond `limit`. The pattern has
// eight bytes and begins at every address that is divisible by eight.
extern "C" __global__ void cugen_data_find(const unsigned char *from, i64 rows, i64 pitch, i64 skip, i64 width, i64 limit,
                                           u64 pattern, data_tally *tally) {
  const i64 pieces = width / 8 + 2, step = (i64)gridDim.x * blockDim.x; // the first and the last
                                                                        // piece may be incomplete
  u64 first = ~0ull;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < rows * pieces; n += step) {
    const i64 begin = n / pieces * pitch + skip, end = begin + width < limit ? begin + width : limit;
    const i64 aligned = begin - (i64)((u64)(from + begin) % 8) + n % pieces * 8;
    const i64 low = aligned < begin ? begin : aligned, high = aligned + 8 < end ? aligned + 8 : end;
    if (high - low == 8 && *(const u64 *)(from + low) == pattern) continue;
#pragma unroll 1
    for (i64 b = low; b < high; b++)
      if (from[b] != (unsigned char)(pattern >> ((b - aligned) * 8)) && (u64)b < first) first = (u64)b;
  }
  first = warp_least(first);
  if (threadIdx.x % WARP == 0 && first != ~0ull) atomicMin(&tally->first, first);
}

// Returns whether an element lies at the offset, like layout_element, one dimension at a time.
__device__ bool is_element(const data_layout &l, i64 offset) {
  offset = swizzled(l, offset);
#pragma unroll 1
  for (int d = 0; d < l.rank; d++) {
    i64 rest = offset, coordinate = 0;
#pragma unroll 1
    for (int i = 0; i < l.mode_count; i++) {
      const data_mode &mode = l.modes[i];
      if (mode.extent == 1) continue;
      const i64 at = quotient(rest, mode.stride);
      if (at >= mode.extent) return false;
      if (mode.dimension == d) coordinate += at * mode.divisor;
      rest -= at * mode.stride;
    }
    if (rest || coordinate >= l.shape[d]) return false;
  }
  return true;
}

// Finds the first byte that differs from `byte` in the padding. `count` is the size of the array in
// memory in elements, padding included.
extern "C" __global__ void cugen_data_gaps(const unsigned char *from, data_layout layout, int bytes, i64 count, int byte,
                                           data_tally *tally) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  u64 first = ~0ull;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count && first == ~0ull; n += step) {
    if (is_element(layout, n)) continue;
#pragma unroll 1
    for (int b = bytes - 1; b >= 0; b--)
      if (from[n * bytes + b] != byte) first = (u64)(n * bytes + b);
  }
  first = warp_least(first);
  if (threadIdx.x % WARP == 0 && first != ~0ull) atomicMin(&tally->first, first);
}

// ---- Results ----

// Finds the first result of 8 bytes that the reference had to write and that still holds the
// poison.
extern "C" __global__ void cugen_data_unwritten(const u64 *results, const i64 *samples, i64 count, i64 elements, u64 poison,
                                                data_tally *tally) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  u64 first = ~0ull;
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count && first == ~0ull; n += step)
    if (results[n] == poison && (samples ? samples[n] : n) < elements) first = (u64)n;
  first = warp_least(first);
  if (threadIdx.x % WARP == 0 && first != ~0ull) atomicMin(&tally->first, first);
}

// Tallies the errors that a verify kernel wrote, one for each element, in units of the tolerance:
// an element is wrong if its error exceeds 1.
extern "C" __global__ void cugen_data_errors(const double *errors, i64 count, data_tally *tally) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  found f = {0.0, 0, ~0ull};
#pragma unroll 1
  for (i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
    const double size = fabs(errors[n]);
    note(f, size >= 0.0 ? size : __longlong_as_double(0x7ffll << 52), size <= 1.0, n);
  }
  add_found(f, tally);
}
#endif
