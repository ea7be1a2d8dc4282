/* Turns CUDA C++ into C++17 for the host's compiler. It stands between abi.h and the user's source in a translation
   unit, which device_cpu.c makes; docs/cpu-device.md says what is there and what is not.

   The user's source may define macros of any name, and the only thing expanded after it are the macros of this file:
   their replacements name nothing but keywords and names that begin with cugen_ or two underscores.
   Every kernel compile parses this file: it includes little and says things once, by macros or templates. Most of it
   is tables of functions, one a line, which clang-format would make three times as long. */
/* clang-format off */
#ifndef CUGEN_CUDA_SHIM_H
#define CUGEN_CUDA_SHIM_H

/* The C library's own header: with the C++ library's wrapper around it the parse takes 0.1 s longer. It stays defined
   so that the user's <math.h> is the same one. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1
#include <math.h>
#include <string.h>
/* NVRTC knows these without a header, but no int64_t: sources that define their own must not meet another. */
extern "C" {
int printf(const char *format, ...);
void *malloc(size_t bytes) noexcept;
void free(void *memory) noexcept;
int abs(int x) noexcept;
long labs(long x) noexcept;
long long llabs(long long x) noexcept;
}

#define __CUGEN_CPU__        1
#define __CUDACC__           1
#define __CUDA_ARCH__        800
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

/* ---- What the program that loads this exports and sets --------------------------------------------------------- */

extern "C" {
__attribute__((__visibility__("default"))) struct cpu_builtins cugen_builtins;
__attribute__((__visibility__("default"))) const struct cpu_hooks *cugen_hooks;
/* The same under names that need no look-up in position-independent code. */
extern __attribute__((__visibility__("hidden"), __alias__("cugen_builtins"))) struct cpu_builtins cugen_own_builtins;
extern __attribute__((__visibility__("hidden"), __alias__("cugen_hooks"))) const struct cpu_hooks *cugen_own_hooks;
}

/* ---- Language -------------------------------------------------------------------------------------------------- */

#define __global__ __attribute__((noinline)) /* compiled once, not again inside its entry */
#define __host__
/* Variables are found by their names, which C++ leaves alone at file scope. A compiler flag hides all else. */
#define __constant__ __attribute__((__visibility__("default")))
#define __device__   __attribute__((__visibility__("default")))
#define __managed__  __attribute__((__visibility__("default")))
/* One block runs at a time, and what it leaves behind the next one finds, as on a GPU. */
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(bytes)      __attribute__((__aligned__(bytes)))
#define __forceinline__       __inline__ __attribute__((__always_inline__))
#define __noinline__          __attribute__((noinline))
#define __nv_pure__           __attribute__((__pure__))
#ifndef __clang__
#define __builtin_assume(...) ((void)0)
#endif
#define __nv_loop_unroll(...)

#define CUGEN_TEXT_OF(text) #text
#define CUGEN_TEXT(text)    CUGEN_TEXT_OF(text)
#undef assert
#define assert(...)                                                                                                  \
  ((__VA_ARGS__) ? (void)0                                                                                           \
                 : cugen_own_hooks->trap(__FILE__ ":" CUGEN_TEXT(__LINE__) ": assertion failed: " #__VA_ARGS__))

/* ---- Vector types, with CUDA's alignments ---------------------------------------------------------------------- */

#define CUGEN_VECTORS(type, name, align2, align4)                                                                    \
  struct name##1 {                                                                                                   \
    type x;                                                                                                          \
  };                                                                                                                 \
  struct __attribute__((__aligned__(align2))) name##2 {                                                              \
    type x, y;                                                                                                       \
  };                                                                                                                 \
  struct CUGEN_THREE(name);                                                                                          \
  CUGEN_THREE_BODY(type, name)                                                                                       \
  struct __attribute__((__aligned__(align4))) name##4 {                                                              \
    type x, y, z, w;                                                                                                 \
  };                                                                                                                 \
  static inline name##1 make_##name##1(type x) { return {x}; }                                                       \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                            \
  static inline CUGEN_THREE(name) make_##name##3(type x, type y, type z) { return {x, y, z}; }                       \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define CUGEN_THREE(name) name##3
#define CUGEN_THREE_BODY(type, name)                                                                                 \
  struct name##3 {                                                                                                   \
    type x, y, z;                                                                                                    \
  };
CUGEN_VECTORS(signed char, char, 2, 4)
CUGEN_VECTORS(unsigned char, uchar, 2, 4)
CUGEN_VECTORS(short, short, 4, 8)
CUGEN_VECTORS(unsigned short, ushort, 4, 8)
CUGEN_VECTORS(int, int, 8, 16)
CUGEN_VECTORS(long, long, 16, 16)
CUGEN_VECTORS(unsigned long, ulong, 16, 16)
CUGEN_VECTORS(long long, longlong, 16, 16)
CUGEN_VECTORS(unsigned long long, ulonglong, 16, 16)
CUGEN_VECTORS(float, float, 8, 16)
CUGEN_VECTORS(double, double, 16, 16)
#undef CUGEN_THREE_BODY
#define CUGEN_THREE_BODY(type, name) typedef cpu_dim3 uint3;
#undef CUGEN_THREE
#define CUGEN_THREE(name) cpu_dim3
CUGEN_VECTORS(unsigned, uint, 8, 16)
#undef CUGEN_VECTORS
#undef CUGEN_THREE
#undef CUGEN_THREE_BODY

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

/* ---- Built-in variables ---------------------------------------------------------------------------------------- */

#define CUGEN_VARIABLE __attribute__((__unused__)) static constexpr
CUGEN_VARIABLE const uint3 &threadIdx = cugen_own_builtins.thread;
CUGEN_VARIABLE const uint3 &blockIdx = cugen_own_builtins.block;
CUGEN_VARIABLE const uint3 &blockDim = cugen_own_builtins.block_size;
CUGEN_VARIABLE const uint3 &gridDim = cugen_own_builtins.grid_size;
CUGEN_VARIABLE int warpSize = 32;
#undef CUGEN_VARIABLE

/* ---- Barriers and fences --------------------------------------------------------------------------------------- */

static inline void __syncthreads() { cugen_own_hooks->barrier(CPU_BARRIER_PLAIN, 0); }
static inline int __syncthreads_count(int p) { return cugen_own_hooks->barrier(CPU_BARRIER_COUNT, p); }
static inline int __syncthreads_and(int p) { return cugen_own_hooks->barrier(CPU_BARRIER_AND, p); }
static inline int __syncthreads_or(int p) { return cugen_own_hooks->barrier(CPU_BARRIER_OR, p); }
static inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence() { __threadfence_block(); }
static inline void __threadfence_system() { __threadfence_block(); }
static inline void __nanosleep(unsigned) {}
static inline void __trap() { cugen_own_hooks->trap("__trap() was called"); }
static inline void __brkpt() { cugen_own_hooks->trap("__brkpt() was called"); }

/* ---- Warp operations: the lane that comes last computes for all ------------------------------------------------ */

#define CUGEN_LANES(lane, lanes)                                                                                     \
  for (unsigned cugen_left = (lanes), lane; cugen_left && (lane = (unsigned)__builtin_ctz(cugen_left), true);        \
       cugen_left &= cugen_left - 1)

static inline unsigned cugen_lane() { return cugen_own_builtins.linear % 32u; }
static inline unsigned __activemask() { return cugen_own_hooks->active_mask(); }

static inline void cugen_combine_nothing(void **, unsigned) {}
static inline void __syncwarp(unsigned mask = 0xffffffffu) { cugen_own_hooks->warp(mask, cugen_combine_nothing, 0); }

template <class Value> struct cugen_shuffle {
  Value value, result;
  unsigned source;
  /* What a lane gets from one that has ended or is not in the mask is undefined: here its own value. */
  static void combine(void **slots, unsigned mask) {
    CUGEN_LANES(lane, mask) {
      cugen_shuffle *to = static_cast<cugen_shuffle *>(slots[lane]);
      const cugen_shuffle *from = static_cast<const cugen_shuffle *>(slots[to->source]);
      to->result = from ? from->value : to->value;
    }
  }
  static Value run(unsigned mask, Value value, unsigned source) {
    cugen_shuffle slot = {value, value, source};
    cugen_own_hooks->warp(mask, combine, &slot);
    return slot.result;
  }
};

/* Segments of `width` lanes; a source outside the segment means the lane itself (PTX ISA, shfl.sync). */
template <class Value> static inline Value __shfl_sync(unsigned mask, Value value, int source, int width = 32) {
  const unsigned lane = cugen_lane(), last = (unsigned)width - 1;
  return cugen_shuffle<Value>::run(mask, value, (lane & ~last) | ((unsigned)source & last));
}
template <class Value>
static inline Value __shfl_up_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cugen_lane(), within = lane & ((unsigned)width - 1);
  return cugen_shuffle<Value>::run(mask, value, within >= delta ? lane - delta : lane);
}
template <class Value>
static inline Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cugen_lane(), within = lane & ((unsigned)width - 1);
  return cugen_shuffle<Value>::run(mask, value, delta < (unsigned)width - within ? lane + delta : lane);
}
template <class Value> static inline Value __shfl_xor_sync(unsigned mask, Value value, int bits, int width = 32) {
  const unsigned lane = cugen_lane(), other = (lane ^ (unsigned)bits) & 31u;
  return cugen_shuffle<Value>::run(mask, value, other <= (lane | ((unsigned)width - 1)) ? other : lane);
}

template <class Value, Value (*join)(Value, Value)> struct cugen_fold {
  Value value, result;
  static void combine(void **slots, unsigned mask) {
    Value all = static_cast<cugen_fold *>(slots[__builtin_ctz(mask)])->value;
    CUGEN_LANES(lane, mask & (mask - 1)) all = join(all, static_cast<cugen_fold *>(slots[lane])->value);
    CUGEN_LANES(lane, mask) static_cast<cugen_fold *>(slots[lane])->result = all;
  }
  static Value run(unsigned mask, Value value) {
    cugen_fold slot = {value, value};
    cugen_own_hooks->warp(mask, combine, &slot);
    return slot.result;
  }
};
#define CUGEN_JOIN(name, expression)                                                                                 \
  template <class Value> static inline Value cugen_##name(Value a, Value b) { return expression; }
CUGEN_JOIN(add, a + b)
CUGEN_JOIN(min, b < a ? b : a)
CUGEN_JOIN(max, a < b ? b : a)
CUGEN_JOIN(and, a & b)
CUGEN_JOIN(or, a | b)
CUGEN_JOIN(xor, a ^ b)
#undef CUGEN_JOIN

#define CUGEN_REDUCE(name, type)                                                                                     \
  static inline type __reduce_##name##_sync(unsigned mask, type value) {                                             \
    return cugen_fold<type, cugen_##name<type>>::run(mask, value);                                                   \
  }
CUGEN_REDUCE(add, unsigned)
CUGEN_REDUCE(add, int)
CUGEN_REDUCE(min, unsigned)
CUGEN_REDUCE(min, int)
CUGEN_REDUCE(max, unsigned)
CUGEN_REDUCE(max, int)
CUGEN_REDUCE(and, unsigned)
CUGEN_REDUCE(or, unsigned)
CUGEN_REDUCE(xor, unsigned)
#undef CUGEN_REDUCE

static inline unsigned __ballot_sync(unsigned mask, int p) {
  return cugen_fold<unsigned, cugen_or<unsigned>>::run(mask, p ? 1u << cugen_lane() : 0u);
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }

template <class Value> struct cugen_match {
  Value value;
  unsigned equal, all;
  static void combine(void **slots, unsigned mask) {
    CUGEN_LANES(lane, mask) {
      cugen_match *self = static_cast<cugen_match *>(slots[lane]);
      self->all = mask;
      CUGEN_LANES(other, mask) if (static_cast<cugen_match *>(slots[other])->value == self->value) {
        self->equal |= 1u << other;
      }
    }
  }
};
template <class Value> static inline unsigned __match_any_sync(unsigned mask, Value value) {
  cugen_match<Value> slot = {value, 0, 0};
  cugen_own_hooks->warp(mask, cugen_match<Value>::combine, &slot);
  return slot.equal;
}
template <class Value> static inline unsigned __match_all_sync(unsigned mask, Value value, int *p) {
  cugen_match<Value> slot = {value, 0, 0};
  cugen_own_hooks->warp(mask, cugen_match<Value>::combine, &slot);
  *p = slot.equal == slot.all;
  return *p ? slot.all : 0;
}

/* ---- Loads and stores with cache hints: plain ones ------------------------------------------------------------- */

#define CUGEN_LOAD(name)                                                                                             \
  template <class Value> static inline Value name(const Value *from) { return *from; }
CUGEN_LOAD(__ldg)
CUGEN_LOAD(__ldca)
CUGEN_LOAD(__ldcg)
CUGEN_LOAD(__ldcs)
CUGEN_LOAD(__ldlu)
CUGEN_LOAD(__ldcv)
#undef CUGEN_LOAD
template <class Value> struct cugen_same {
  typedef Value type;
};
#define CUGEN_STORE(name)                                                                                            \
  template <class Value> static inline void name(Value *to, typename cugen_same<Value>::type value) { *to = value; }
CUGEN_STORE(__stwb)
CUGEN_STORE(__stcg)
CUGEN_STORE(__stcs)
CUGEN_STORE(__stwt)
#undef CUGEN_STORE

static inline size_t __cvta_generic_to_shared(const void *at) { return reinterpret_cast<size_t>(at); }
static inline size_t __cvta_generic_to_global(const void *at) { return reinterpret_cast<size_t>(at); }
static inline void *__cvta_shared_to_generic(size_t at) { return reinterpret_cast<void *>(at); }

/* ---- Atomics: a thread is interrupted only where it synchronises ----------------------------------------------- */

#define CUGEN_ATOMIC_AS(name, type, expression)                                                                      \
  static inline type name(type *at, type value) {                                                                    \
    const type old = *at;                                                                                            \
    *at = (type)(expression);                                                                                        \
    return old;                                                                                                      \
  }
#define CUGEN_ATOMIC(name, type, expression)                                                                         \
  CUGEN_ATOMIC_AS(name, type, expression)                                                                            \
  CUGEN_ATOMIC_AS(name##_block, type, expression)                                                                    \
  CUGEN_ATOMIC_AS(name##_system, type, expression)
#define CUGEN_ATOMIC_INTEGERS(name, expression)                                                                      \
  CUGEN_ATOMIC(name, int, expression)                                                                                \
  CUGEN_ATOMIC(name, unsigned, expression)                                                                           \
  CUGEN_ATOMIC(name, unsigned long long, expression)
CUGEN_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)value)
CUGEN_ATOMIC(atomicAdd, unsigned, old + value)
CUGEN_ATOMIC(atomicAdd, unsigned long long, old + value)
CUGEN_ATOMIC(atomicAdd, float, old + value)
CUGEN_ATOMIC(atomicAdd, double, old + value)
CUGEN_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)value)
CUGEN_ATOMIC(atomicSub, unsigned, old - value)
CUGEN_ATOMIC_INTEGERS(atomicExch, value)
CUGEN_ATOMIC(atomicExch, float, value)
CUGEN_ATOMIC_INTEGERS(atomicMin, value < old ? value : old)
CUGEN_ATOMIC(atomicMin, long long, value < old ? value : old)
CUGEN_ATOMIC_INTEGERS(atomicMax, old < value ? value : old)
CUGEN_ATOMIC(atomicMax, long long, old < value ? value : old)
CUGEN_ATOMIC_INTEGERS(atomicAnd, old & value)
CUGEN_ATOMIC_INTEGERS(atomicOr, old | value)
CUGEN_ATOMIC_INTEGERS(atomicXor, old ^ value)
CUGEN_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
CUGEN_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1u)
#define CUGEN_CAS(name, type)                                                                                        \
  static inline type name(type *at, type expected, type value) {                                                     \
    const type old = *at;                                                                                            \
    if (old == expected) *at = value;                                                                                \
    return old;                                                                                                      \
  }
#define CUGEN_CAS_SCOPES(type)                                                                                       \
  CUGEN_CAS(atomicCAS, type) CUGEN_CAS(atomicCAS_block, type) CUGEN_CAS(atomicCAS_system, type)
CUGEN_CAS_SCOPES(int)
CUGEN_CAS_SCOPES(unsigned)
CUGEN_CAS_SCOPES(unsigned long long)
CUGEN_CAS_SCOPES(unsigned short)
#undef CUGEN_CAS_SCOPES
#undef CUGEN_CAS
#undef CUGEN_ATOMIC_INTEGERS

/* ---- min, max, abs: the overloads of CUDA ---------------------------------------------------------------------- */

#define CUGEN_EXTREMES(result, first, second)                                                                        \
  static inline result min(first a, second b) { return (result)b < (result)a ? (result)b : (result)a; }              \
  static inline result max(first a, second b) { return (result)a < (result)b ? (result)b : (result)a; }
#define CUGEN_EXTREMES_MIXED(type)                                                                                   \
  CUGEN_EXTREMES(type, type, type)                                                                                   \
  CUGEN_EXTREMES(unsigned type, unsigned type, unsigned type)                                                        \
  CUGEN_EXTREMES(unsigned type, type, unsigned type)                                                                 \
  CUGEN_EXTREMES(unsigned type, unsigned type, type)
CUGEN_EXTREMES_MIXED(int)
CUGEN_EXTREMES_MIXED(long)
CUGEN_EXTREMES_MIXED(long long)
#undef CUGEN_EXTREMES_MIXED
#undef CUGEN_EXTREMES
/* Of a number and a NaN, the number. */
#define CUGEN_EXTREMES(result, first, second)                                                                        \
  static inline result min(first a, second b) { return a != a || b < a ? b : a; }                                    \
  static inline result max(first a, second b) { return a != a || a < b ? b : a; }
CUGEN_EXTREMES(float, float, float)
CUGEN_EXTREMES(double, double, double)
CUGEN_EXTREMES(double, float, double)
CUGEN_EXTREMES(double, double, float)
#undef CUGEN_EXTREMES

static inline long abs(long x) { return labs(x); }
static inline long long abs(long long x) { return llabs(x); }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
static inline int __abs(int x) { return abs(x); }

/* ---- Mathematics: float overloads of the C library's names, and CUDA's own names. As for NVRTC, an integer or two
   different types as arguments are ambiguous. -------------------------------------------------------------------- */

#define CUGEN_FLOAT_1(name)                                                                                          \
  static inline float name(float x) { return name##f(x); }
CUGEN_FLOAT_1(sqrt)
CUGEN_FLOAT_1(cbrt)
CUGEN_FLOAT_1(exp)
CUGEN_FLOAT_1(exp2)
CUGEN_FLOAT_1(expm1)
CUGEN_FLOAT_1(log)
CUGEN_FLOAT_1(log2)
CUGEN_FLOAT_1(log10)
CUGEN_FLOAT_1(log1p)
CUGEN_FLOAT_1(sin)
CUGEN_FLOAT_1(cos)
CUGEN_FLOAT_1(tan)
CUGEN_FLOAT_1(asin)
CUGEN_FLOAT_1(acos)
CUGEN_FLOAT_1(atan)
CUGEN_FLOAT_1(sinh)
CUGEN_FLOAT_1(cosh)
CUGEN_FLOAT_1(tanh)
CUGEN_FLOAT_1(asinh)
CUGEN_FLOAT_1(acosh)
CUGEN_FLOAT_1(atanh)
CUGEN_FLOAT_1(erf)
CUGEN_FLOAT_1(erfc)
CUGEN_FLOAT_1(lgamma)
CUGEN_FLOAT_1(tgamma)
CUGEN_FLOAT_1(floor)
CUGEN_FLOAT_1(ceil)
CUGEN_FLOAT_1(trunc)
CUGEN_FLOAT_1(round)
CUGEN_FLOAT_1(rint)
CUGEN_FLOAT_1(nearbyint)
CUGEN_FLOAT_1(fabs)
#undef CUGEN_FLOAT_1
#define CUGEN_FLOAT_2(name)                                                                                          \
  static inline float name(float x, float y) { return name##f(x, y); }
CUGEN_FLOAT_2(pow)
CUGEN_FLOAT_2(atan2)
CUGEN_FLOAT_2(fmod)
CUGEN_FLOAT_2(remainder)
CUGEN_FLOAT_2(hypot)
CUGEN_FLOAT_2(copysign)
CUGEN_FLOAT_2(fmin)
CUGEN_FLOAT_2(fmax)
CUGEN_FLOAT_2(fdim)
CUGEN_FLOAT_2(nextafter)
#undef CUGEN_FLOAT_2
static inline float pow(float x, int y) { return powf(x, (float)y); }
static inline double pow(double x, int y) { return pow(x, (double)y); }
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline float ldexp(float x, int e) { return ldexpf(x, e); }
static inline float frexp(float x, int *e) { return frexpf(x, e); }
static inline float modf(float x, float *whole) { return modff(x, whole); }
static inline void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
static inline long lround(float x) { return lroundf(x); }
static inline long lrint(float x) { return lrintf(x); }
static inline long long llround(float x) { return llroundf(x); }
static inline long long llrint(float x) { return llrintf(x); }

#define CUGEN_REAL(name, expression_f, expression)                                                                   \
  static inline float name##f(float x) { return expression_f; }                                                      \
  static inline double name(double x) { return expression; }                                                         \
  static inline float name(float x) { return name##f(x); }
CUGEN_REAL(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x))
CUGEN_REAL(rcbrt, 1.0f / cbrtf(x), 1.0 / cbrt(x))
CUGEN_REAL(sinpi, (float)sin(3.14159265358979323846 * fmod((double)x, 2.0)),
           sin(3.14159265358979323846 * fmod(x, 2.0)))
CUGEN_REAL(cospi, (float)cos(3.14159265358979323846 * fmod((double)x, 2.0)),
           cos(3.14159265358979323846 * fmod(x, 2.0)))
CUGEN_REAL(normcdf, 0.5f * erfcf(-0.70710678118654752440f * x), 0.5 * erfc(-0.70710678118654752440 * x))
CUGEN_REAL(erfcx, (float)(exp((double)x * x) * erfc((double)x)), exp(x * x) * erfc(x))
#undef CUGEN_REAL
static inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
static inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
static inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
static inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
static inline float fdividef(float x, float y) { return x / y; }

static inline float __saturatef(float x) { return x >= 1.0f ? 1.0f : x > 0.0f ? x : 0.0f; }
/* Macros, since the GNU C library declares functions of some of these names. */
#define __expf    expf
#define __exp10f  exp10f
#define __logf    logf
#define __log2f   log2f
#define __log10f  log10f
#define __sinf    sinf
#define __cosf    cosf
#define __tanf    tanf
#define __tanhf   tanhf
#define __sincosf sincosf
#define __powf    powf
static inline float __fdividef(float x, float y) { return x / y; }

/* Rounded as they stand: the compiler may not make one instruction of a product and a sum. */
#if defined(__x86_64__)
#define CUGEN_ROUNDED(type, expression)                                                                              \
  type result = expression;                                                                                          \
  __asm__("" : "+x"(result));                                                                                        \
  return result
#elif defined(__aarch64__)
#define CUGEN_ROUNDED(type, expression)                                                                              \
  type result = expression;                                                                                          \
  __asm__("" : "+w"(result));                                                                                        \
  return result
#else
#define CUGEN_ROUNDED(type, expression)                                                                              \
  volatile type result = expression;                                                                                 \
  return result
#endif
static inline float __fadd_rn(float x, float y) { CUGEN_ROUNDED(float, x + y); }
static inline float __fsub_rn(float x, float y) { CUGEN_ROUNDED(float, x - y); }
static inline float __fmul_rn(float x, float y) { CUGEN_ROUNDED(float, x * y); }
static inline double __dadd_rn(double x, double y) { CUGEN_ROUNDED(double, x + y); }
static inline double __dsub_rn(double x, double y) { CUGEN_ROUNDED(double, x - y); }
static inline double __dmul_rn(double x, double y) { CUGEN_ROUNDED(double, x * y); }
#undef CUGEN_ROUNDED
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __fmaf_ieee_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

/* ---- Conversions ----------------------------------------------------------------------------------------------- */

template <class To, class From> static inline To cugen_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a cast of bits keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
static inline int __float_as_int(float x) { return cugen_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return cugen_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return cugen_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return cugen_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return cugen_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return cugen_bits<double>(x); }
static inline int __double2loint(double x) { return (int)(unsigned)cugen_bits<unsigned long long>(x); }
static inline int __double2hiint(double x) { return (int)(cugen_bits<unsigned long long>(x) >> 32); }
static inline double __hiloint2double(int high, int low) {
  return cugen_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

/* Past the ends of the range to the nearest end, NaN to 0 (CUDA C++ Programming Guide; PTX ISA, cvt). */
template <class To> static inline To cugen_to_integer(double x) {
  const bool is_signed = (To)-1 < (To)0;
  const To low = is_signed ? (To)((To)1 << (sizeof(To) * 8 - 1)) : (To)0, high = (To)~low;
  if (x != x) return 0;
  return x <= (double)low ? low : x >= (double)high ? high : (To)x;
}
#define CUGEN_FROM_REAL(from, type, name, to)                                                                        \
  static inline to __##from##2##name##_rn(type x) { return cugen_to_integer<to>(rint((double)x)); }                  \
  static inline to __##from##2##name##_rz(type x) { return cugen_to_integer<to>(trunc((double)x)); }                 \
  static inline to __##from##2##name##_ru(type x) { return cugen_to_integer<to>(ceil((double)x)); }                  \
  static inline to __##from##2##name##_rd(type x) { return cugen_to_integer<to>(floor((double)x)); }
#define CUGEN_CONVERSIONS(name, to)                                                                                  \
  CUGEN_FROM_REAL(float, float, name, to)                                                                            \
  CUGEN_FROM_REAL(double, double, name, to)                                                                          \
  static inline float __##name##2float_rn(to x) { return (float)x; }                                                 \
  static inline double __##name##2double_rn(to x) { return (double)x; }
CUGEN_CONVERSIONS(int, int)
CUGEN_CONVERSIONS(uint, unsigned)
CUGEN_CONVERSIONS(ll, long long)
CUGEN_CONVERSIONS(ull, unsigned long long)
#undef CUGEN_CONVERSIONS
#undef CUGEN_FROM_REAL
static inline float __double2float_rn(double x) { return (float)x; }

/* ---- Integers -------------------------------------------------------------------------------------------------- */

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned long long __brevll(unsigned long long x) {
  x = __builtin_bswap64(x);
  x = (x & 0x0f0f0f0f0f0f0f0full) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0full);
  x = (x & 0x3333333333333333ull) << 2 | (x >> 2 & 0x3333333333333333ull);
  return (x & 0x5555555555555555ull) << 1 | (x >> 1 & 0x5555555555555555ull);
}
static inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
static inline int __mul24(int x, int y) { return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8)); }
static inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
static inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
static inline long long __mul64hi(long long x, long long y) {
  __extension__ typedef __int128 wide;
  return (long long)((wide)x * y >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ typedef unsigned __int128 wide;
  return (unsigned long long)((wide)x * y >> 64);
}
static inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x < y ? y - x : x - y) + z; }
static inline unsigned __sad(int x, int y, unsigned z) {
  return (x < y ? (unsigned)y - (unsigned)x : (unsigned)x - (unsigned)y) + z;
}
static inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
static inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
static inline unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned pick = selector >> 4 * i & 15, byte = (unsigned)(bytes >> 8 * (pick & 7)) & 255;
    result |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return result;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (by & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
  return by >= 32 ? low : __funnelshift_l(low, high, by);
}
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
  return by >= 32 ? high : __funnelshift_r(low, high, by);
}
static inline int __dp4a(int a, int b, int sum) {
  for (int i = 0; i < 32; i += 8) sum += (signed char)(a >> i) * (signed char)(b >> i);
  return sum;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 255u) * (b >> i & 255u);
  return sum;
}

static inline long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  static long long ticks;
  return ++ticks;
#endif
}

/* ---- 16-bit floats: computed in float, rounded to nearest even ------------------------------------------------- */

struct cugen_binary16 {
  static unsigned short encode(float from) {
#if defined(__F16C__)
    typedef float four __attribute__((__vector_size__(16)));
    typedef short eight __attribute__((__vector_size__(16)));
    const eight packed = (eight)__builtin_ia32_vcvtps2ph((four){from, 0, 0, 0}, 0);
    return (unsigned short)packed[0];
#else
    const unsigned bits = cugen_bits<unsigned>(from), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return (unsigned short)(sign | 0x7e00u | (size >> 13 & 0x3ffu));
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u); /* rounds to 2^16 or more */
    if (size < 0x38800000u) { /* below 2^-14 the last place is 2^-24: adding 1.5 * 2^-1 rounds to it */
      return (unsigned short)(sign | (cugen_bits<unsigned>(cugen_bits<float>(size) + 0.5f) - 0x3f000000u));
    }
    return (unsigned short)(sign | ((size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13));
#endif
  }
  static float decode(unsigned short from) {
#if defined(__F16C__)
    typedef float four __attribute__((__vector_size__(16)));
    typedef short eight __attribute__((__vector_size__(16)));
    const four wide = (four)__builtin_ia32_vcvtph2ps((eight){(short)from, 0, 0, 0, 0, 0, 0, 0});
    return wide[0];
#else
    const unsigned sign = (from & 0x8000u) << 16, size = from & 0x7fffu;
    if (size >= 0x7c00u) return cugen_bits<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    /* As a float with the exponent too small by 112. Exact for subnormal numbers as well. */
    return cugen_bits<float>(sign | cugen_bits<unsigned>(cugen_bits<float>(size << 13) * 0x1p+112f));
#endif
  }
};
struct cugen_brain16 {
  static unsigned short encode(float from) {
    const unsigned bits = cugen_bits<unsigned>(from);
    if (from != from) return 0x7fff;
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  static float decode(unsigned short from) { return cugen_bits<float>((unsigned)from << 16); }
};

/* Friends inside the class are compiled only when they are used, and found for its arguments alone. */
template <class Format> struct cugen_float16 {
  unsigned short cugen_raw;
  typedef cugen_float16 Self;

  cugen_float16() = default;
  cugen_float16(float x) : cugen_raw(Format::encode(x)) {}
#define CUGEN_FROM(type)                                                                                             \
  cugen_float16(type x) : cugen_raw(Format::encode((float)x)) {}
  CUGEN_FROM(double)
  CUGEN_FROM(short)
  CUGEN_FROM(unsigned short)
  CUGEN_FROM(int)
  CUGEN_FROM(unsigned)
  CUGEN_FROM(long)
  CUGEN_FROM(unsigned long)
  CUGEN_FROM(long long)
  CUGEN_FROM(unsigned long long)
#undef CUGEN_FROM
  operator float() const { return Format::decode(cugen_raw); }
  float cugen_get() const { return Format::decode(cugen_raw); }
  static Self cugen_of(unsigned short raw) {
    Self self;
    self.cugen_raw = raw;
    return self;
  }

#define CUGEN_BINARY(sign, name)                                                                                     \
  friend Self operator sign(const Self &a, const Self &b) { return a.cugen_get() sign b.cugen_get(); }               \
  friend Self &operator sign##=(Self &a, const Self &b) { return a = a sign b; }                                     \
  friend Self name(Self a, Self b) { return a sign b; }                                                              \
  friend Self name##_rn(Self a, Self b) { return a sign b; }
  CUGEN_BINARY(+, __hadd)
  CUGEN_BINARY(-, __hsub)
  CUGEN_BINARY(*, __hmul)
  CUGEN_BINARY(/, __hdiv)
#undef CUGEN_BINARY
#define CUGEN_COMPARE(sign, name)                                                                                    \
  friend bool operator sign(const Self &a, const Self &b) { return a.cugen_get() sign b.cugen_get(); }               \
  friend bool name(Self a, Self b) { return a sign b; }
  CUGEN_COMPARE(==, __heq)
  CUGEN_COMPARE(!=, __hne)
  CUGEN_COMPARE(<, __hlt)
  CUGEN_COMPARE(<=, __hle)
  CUGEN_COMPARE(>, __hgt)
  CUGEN_COMPARE(>=, __hge)
#undef CUGEN_COMPARE
#define CUGEN_UNARY(name, expression)                                                                                \
  friend Self name(Self a) {                                                                                         \
    const float x = a.cugen_get();                                                                                   \
    return expression;                                                                                               \
  }
  CUGEN_UNARY(hsqrt, sqrtf(x))
  CUGEN_UNARY(hrsqrt, 1.0f / sqrtf(x))
  CUGEN_UNARY(hrcp, 1.0f / x)
  CUGEN_UNARY(hexp, expf(x))
  CUGEN_UNARY(hexp2, exp2f(x))
  CUGEN_UNARY(hlog, logf(x))
  CUGEN_UNARY(hlog2, log2f(x))
  CUGEN_UNARY(hsin, sinf(x))
  CUGEN_UNARY(hcos, cosf(x))
  CUGEN_UNARY(htanh, tanhf(x))
  CUGEN_UNARY(hfloor, floorf(x))
  CUGEN_UNARY(hceil, ceilf(x))
  CUGEN_UNARY(htrunc, truncf(x))
  CUGEN_UNARY(hrint, rintf(x))
#undef CUGEN_UNARY
  friend Self operator-(const Self &a) { return cugen_of(a.cugen_raw ^ 0x8000u); }
  friend Self operator+(const Self &a) { return a; }
  friend Self &operator++(Self &a) { return a = a + Self(1.0f); }
  friend Self &operator--(Self &a) { return a = a - Self(1.0f); }
  friend Self __hneg(Self a) { return -a; }
  friend Self __habs(Self a) { return cugen_of(a.cugen_raw & 0x7fffu); }
  friend Self __hmin(Self a, Self b) { return min(a.cugen_get(), b.cugen_get()); }
  friend Self __hmax(Self a, Self b) { return max(a.cugen_get(), b.cugen_get()); }
  friend Self __hfma(Self a, Self b, Self c) { return fmaf(a.cugen_get(), b.cugen_get(), c.cugen_get()); }
  friend bool __hisnan(Self a) { return a.cugen_get() != a.cugen_get(); }
  friend int __hisinf(Self a) { return __builtin_isinf_sign(a.cugen_get()); }
};

template <class Format> struct __attribute__((__aligned__(4))) cugen_float16x2 {
  typedef cugen_float16<Format> One;
  typedef cugen_float16x2 Self;
  One x, y;

  cugen_float16x2() = default;
  cugen_float16x2(const One &a, const One &b) : x(a), y(b) {}

#define CUGEN_BINARY(sign, name)                                                                                     \
  friend Self operator sign(const Self &a, const Self &b) { return Self(a.x sign b.x, a.y sign b.y); }               \
  friend Self &operator sign##=(Self &a, const Self &b) { return a = a sign b; }                                     \
  friend Self name(Self a, Self b) { return a sign b; }
  CUGEN_BINARY(+, __hadd2)
  CUGEN_BINARY(-, __hsub2)
  CUGEN_BINARY(*, __hmul2)
  CUGEN_BINARY(/, __h2div)
#undef CUGEN_BINARY
  friend Self operator-(const Self &a) { return Self(-a.x, -a.y); }
  friend bool operator==(const Self &a, const Self &b) { return a.x == b.x && a.y == b.y; }
  friend Self __hneg2(Self a) { return -a; }
  friend Self __habs2(Self a) { return Self(__habs(a.x), __habs(a.y)); }
  friend Self __hmin2(Self a, Self b) { return Self(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
  friend Self __hmax2(Self a, Self b) { return Self(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
  friend Self __hfma2(Self a, Self b, Self c) { return Self(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
  friend Self h2exp(Self a) { return Self(hexp(a.x), hexp(a.y)); }
  friend Self h2sqrt(Self a) { return Self(hsqrt(a.x), hsqrt(a.y)); }
  friend Self h2rsqrt(Self a) { return Self(hrsqrt(a.x), hrsqrt(a.y)); }
  friend One __low2half(Self a) { return a.x; }
  friend One __high2half(Self a) { return a.y; }
  friend One __low2bfloat16(Self a) { return a.x; }
  friend One __high2bfloat16(Self a) { return a.y; }
  friend float __low2float(Self a) { return a.x; }
  friend float __high2float(Self a) { return a.y; }
  friend Self __low2half2(Self a) { return Self(a.x, a.x); }
  friend Self __high2half2(Self a) { return Self(a.y, a.y); }
  friend Self __lowhigh2highlow(Self a) { return Self(a.y, a.x); }
  friend Self __lows2half2(Self a, Self b) { return Self(a.x, b.x); }
  friend Self __highs2half2(Self a, Self b) { return Self(a.y, b.y); }
};

typedef cugen_float16<cugen_binary16> __half, half, nv_half;
typedef cugen_float16x2<cugen_binary16> __half2, half2, nv_half2;
typedef cugen_float16<cugen_brain16> __nv_bfloat16, nv_bfloat16;
typedef cugen_float16x2<cugen_brain16> __nv_bfloat162, nv_bfloat162;

#define CUGEN_FLOAT16(one, two, name)                                                                                \
  static inline one __float2##name(float x) { return x; }                                                            \
  static inline one __float2##name##_rn(float x) { return x; }                                                       \
  static inline one __double2##name(double x) { return x; }                                                          \
  static inline one __int2##name##_rn(int x) { return x; }                                                           \
  static inline one __uint2##name##_rn(unsigned x) { return x; }                                                     \
  static inline float __##name##2float(one x) { return x; }                                                          \
  static inline int __##name##2int_rn(one x) { return __float2int_rn(x); }                                           \
  static inline int __##name##2int_rz(one x) { return __float2int_rz(x); }                                           \
  static inline unsigned short __##name##_as_ushort(one x) { return x.cugen_raw; }                                   \
  static inline short __##name##_as_short(one x) { return (short)x.cugen_raw; }                                      \
  static inline one __ushort_as_##name(unsigned short x) { return one::cugen_of(x); }                                \
  static inline one __short_as_##name(short x) { return one::cugen_of((unsigned short)x); }                          \
  static inline two __halves2##name##2(one x, one y) { return two(x, y); }                                           \
  static inline two __##name##2##name##2(one x) { return two(x, x); }                                                \
  static inline two __float2##name##2_rn(float x) { return two(x, x); }                                              \
  static inline two __floats2##name##2_rn(float x, float y) { return two(x, y); }                                    \
  static inline two __float22##name##2_rn(float2 x) { return two(x.x, x.y); }                                        \
  static inline float2 __##name##22float2(two x) { return {x.x, x.y}; }                                              \
  CUGEN_ATOMIC(atomicAdd, one, old + value)                                                                          \
  CUGEN_ATOMIC(atomicAdd, two, old + value)
CUGEN_FLOAT16(__half, __half2, half)
CUGEN_FLOAT16(__nv_bfloat16, __nv_bfloat162, bfloat16)
#undef CUGEN_FLOAT16
#undef CUGEN_ATOMIC
#undef CUGEN_ATOMIC_AS
static inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
static inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }

/* ---- Textures: point-sampled, one channel ---------------------------------------------------------------------- */

typedef unsigned long long cudaTextureObject_t;

/* The element that a coordinate means along a dimension; -1: none, zero is read. */
static inline long long cugen_texel_index(const cpu_texture *texture, float at, long long count) {
  const bool unit = texture->address == CPU_ADDRESS_WRAP || texture->address == CPU_ADDRESS_MIRROR;
  const double place = floor(unit ? (double)at * (double)count : (double)at);
  const long long index = !(place > -0x1p62) ? -1 : !(place < 0x1p62) ? count : (long long)place;
  const long long period = texture->address == CPU_ADDRESS_MIRROR ? 2 * count : count;
  if (texture->address == CPU_ADDRESS_CLAMP) return index < 0 ? 0 : index < count ? index : count - 1;
  if (texture->address == CPU_ADDRESS_BORDER) return index < 0 || index >= count ? -1 : index;
  const long long within = (index % period + period) % period;
  return within < count ? within : period - 1 - within;
}
template <class Value> struct cugen_texel {
  static Value load(const cpu_texture *texture, long long at) { return static_cast<const Value *>(texture->base)[at]; }
};
template <> struct cugen_texel<float> {
  static float load(const cpu_texture *texture, long long at) {
    if (!texture->half_float) return static_cast<const float *>(texture->base)[at];
    return cugen_binary16::decode(static_cast<const unsigned short *>(texture->base)[at]);
  }
};
template <class Value> static inline Value tex3D(cudaTextureObject_t object, float x, float y, float z) {
  const cpu_texture *texture = reinterpret_cast<const cpu_texture *>(object);
  const long long i = cugen_texel_index(texture, x, texture->width);
  const long long j = cugen_texel_index(texture, y, texture->height);
  const long long k = cugen_texel_index(texture, z, texture->depth);
  return i < 0 || j < 0 || k < 0 ? Value() : cugen_texel<Value>::load(texture, i + j * texture->row + k * texture->slice);
}
template <class Value> static inline Value tex2D(cudaTextureObject_t object, float x, float y) {
  return tex3D<Value>(object, x, y, 0);
}
template <class Value> static inline Value tex1D(cudaTextureObject_t object, float x) {
  return tex3D<Value>(object, x, 0, 0);
}

/* ---- Constants of math_constants.h ----------------------------------------------------------------------------- */

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF   __builtin_inf()
#define CUDART_NAN   __builtin_nan("")
#define CUDART_PI_F  3.141592654f
#define CUDART_PI    3.1415926535897931e+0

/* ---- Entries: after the user's source, one for each kernel that is wanted -------------------------------------- */

template <unsigned... index> struct cugen_indices {};
template <unsigned count, unsigned... index>
struct cugen_count_up : cugen_count_up<count - 1, count - 1, index...> {};
template <unsigned... index> struct cugen_count_up<0, index...> {
  typedef cugen_indices<index...> type;
};
template <class... Parameter, unsigned... index>
static inline void cugen_call(void (*kernel)(Parameter...), void **parameters, cugen_indices<index...>) {
  (void)parameters;
  kernel(*static_cast<Parameter *>(parameters[index])...);
}
template <class... Parameter> static inline void cugen_launch(void (*kernel)(Parameter...), void **parameters) {
  cugen_call(kernel, parameters, typename cugen_count_up<sizeof...(Parameter)>::type());
}
template <class... Parameter> static inline int cugen_describe(void (*)(Parameter...), int *sizes, int capacity) {
  const int all[] = {0, (int)sizeof(Parameter)...};
  for (int i = 0; i < (int)sizeof...(Parameter) && i < capacity; ++i) sizes[i] = all[i + 1];
  return sizeof...(Parameter);
}
/* CUGEN_ENTRY(0, reduce<4>): runs one CUDA thread; parameters[i] points at the i-th parameter's value. Beside it, how
   many parameters the kernel takes, and their sizes. */
#define CUGEN_ENTRY(number, ...)                                                                                     \
  extern "C" __attribute__((__visibility__("default"))) void cugen_entry_##number(void **cugen_parameters) {         \
    cugen_launch(&__VA_ARGS__, cugen_parameters);                                                                    \
  }                                                                                                                  \
  extern "C" __attribute__((__visibility__("default"))) int cugen_entry_##number##_takes(int *sizes, int capacity) { \
    return cugen_describe(&__VA_ARGS__, sizes, capacity);                                                            \
  }

#endif
