/* Part of cuda_shim.h: functions of real numbers. */
/* ---- min, max, abs: the overloads of CUDA ---------------------------------------------------- */

#define CUGEN_EXTREMES(result, first, second)             \
  static inline result min(first a, second b) {           \
    return (result)b < (result)a ? (result)b : (result)a; \
  }                                                       \
  static inline result max(first a, second b) {           \
    return (result)a < (result)b ? (result)b : (result)a; \
  }
#define CUGEN_EXTREMES_MIXED(type)                            \
  CUGEN_EXTREMES(type, type, type)                            \
  CUGEN_EXTREMES(unsigned type, unsigned type, unsigned type) \
  CUGEN_EXTREMES(unsigned type, type, unsigned type)          \
  CUGEN_EXTREMES(unsigned type, unsigned type, type)
CUGEN_EXTREMES_MIXED(int)
CUGEN_EXTREMES_MIXED(long)
CUGEN_EXTREMES_MIXED(long long)
#undef CUGEN_EXTREMES_MIXED
#undef CUGEN_EXTREMES
/* Of a number and a NaN, the result is the number. */
#define CUGEN_EXTREMES(result, first, second)                                     \
  static inline result min(first a, second b) { return a != a || b < a ? b : a; } \
  static inline result max(first a, second b) { return a != a || a < b ? b : a; }
CUGEN_EXTREMES(float, float, float)
CUGEN_EXTREMES(double, double, double)
CUGEN_EXTREMES(double, float, double)
CUGEN_EXTREMES(double, double, float)
#undef CUGEN_EXTREMES

/* ---- Mathematics ---------------------------------------------------------------------------- */

/* The C library's functions with float overloads, and CUDA's own names. As for NVRTC, most calls
   with an integer or with two different types are ambiguous. Only functions that CUDA has are
   declared. The library's <math.h> declares a thousand more, of which some (sinpi, since glibc
   2.41) conflict with CUDA's. */
#define CUGEN_LIBRARY(type, suffix)                            \
  type fma##suffix(type x, type y, type z) noexcept;           \
  type ldexp##suffix(type x, int exponent) noexcept;           \
  type scalbn##suffix(type x, int exponent) noexcept;          \
  type scalbln##suffix(type x, long exponent) noexcept;        \
  type frexp##suffix(type x, int *exponent) noexcept;          \
  type modf##suffix(type x, type *whole) noexcept;             \
  type remquo##suffix(type x, type y, int *quotient) noexcept; \
  type nan##suffix(const char *tag) noexcept;                  \
  type exp10##suffix(type x) noexcept;                         \
  type logb##suffix(type x) noexcept;                          \
  type j0##suffix(type x) noexcept;                            \
  type j1##suffix(type x) noexcept;                            \
  type jn##suffix(int n, type x) noexcept;                     \
  type y0##suffix(type x) noexcept;                            \
  type y1##suffix(type x) noexcept;                            \
  type yn##suffix(int n, type x) noexcept;                     \
  int ilogb##suffix(type x) noexcept;                          \
  long lround##suffix(type x) noexcept;                        \
  long lrint##suffix(type x) noexcept;                         \
  long long llround##suffix(type x) noexcept;                  \
  long long llrint##suffix(type x) noexcept;                   \
  void sincos##suffix(type x, type *s, type *c) noexcept;
extern "C" {
CUGEN_LIBRARY(double, )
CUGEN_LIBRARY(float, f)
}
#undef CUGEN_LIBRARY
#define CUGEN_FLOAT_1(name)                   \
  extern "C" double name(double x) noexcept;  \
  extern "C" float name##f(float x) noexcept; \
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
#define CUGEN_FLOAT_2(name)                            \
  extern "C" double name(double x, double y) noexcept; \
  extern "C" float name##f(float x, float y) noexcept; \
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

static inline long abs(long x) { return labs(x); }
static inline long long abs(long long x) { return llabs(x); }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
/* Keeps libstdc++ from declaring these functions again for <cstdlib> and <algorithm>. */
#define _GLIBCXX_BITS_STD_ABS_H 1
namespace std {
using ::abs;
}
static inline int __abs(int x) { return abs(x); }

/* Macros of <math.h> that kernels use without including it. */
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x)    __builtin_isinf_sign(x)
#define isnan(x)    __builtin_isnan(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x)  __builtin_signbit(x)
/* The names in CUDA's headers. */
#define __isinf(x)    __builtin_isinf_sign(x)
#define __isinff(x)   __builtin_isinf_sign(x)
#define __isnan(x)    __builtin_isnan(x)
#define __isnanf(x)   __builtin_isnan(x)
#define __finite(x)   __builtin_isfinite(x)
#define __finitef(x)  __builtin_isfinite(x)
#define __signbit(x)  __builtin_signbit(x)
#define __signbitf(x) __builtin_signbit(x)
#define INFINITY      __builtin_inff()
#define NAN           __builtin_nanf("")
#define HUGE_VAL      __builtin_huge_val()
#define HUGE_VALF     __builtin_huge_valf()

#define CUGEN_REAL(name, expression_f, expression)              \
  static inline float name##f(float x) { return expression_f; } \
  static inline double name(double x) { return expression; }    \
  static inline float name(float x) { return name##f(x); }
CUGEN_REAL(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x))
CUGEN_REAL(rcbrt, 1.0f / cbrtf(x), 1.0 / cbrt(x))
CUGEN_REAL(sinpi, (float)sin(3.14159265358979323846 * fmod((double)x, 2.0)),
           sin(3.14159265358979323846 * fmod(x, 2.0)))
CUGEN_REAL(cospi, (float)cos(3.14159265358979323846 * fmod((double)x, 2.0)),
           cos(3.14159265358979323846 * fmod(x, 2.0)))
CUGEN_REAL(normcdf, 0.5f * erfcf(-0.70710678118654752440f * x),
           0.5 * erfc(-0.70710678118654752440 * x))
CUGEN_REAL(erfcx, (float)(exp((double)x *x) * erfc((double)x)), exp(x *x) * erfc(x))
#undef CUGEN_REAL
static inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
static inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
static inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
static inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
static inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
static inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
#define CUGEN_NORMS(type, suffix, root)                                \
  static inline type norm4d##suffix(type x, type y, type z, type w) {  \
    return root(x * x + y * y + z * z + w * w);                        \
  }                                                                    \
  static inline type rnorm4d##suffix(type x, type y, type z, type w) { \
    return 1 / norm4d##suffix(x, y, z, w);                             \
  }                                                                    \
  static inline type norm##suffix(int count, const type *x) {          \
    type sum = 0;                                                      \
    for (int i = 0; i < count; ++i) sum += x[i] * x[i];                \
    return root(sum);                                                  \
  }                                                                    \
  static inline type rnorm##suffix(int count, const type *x) { return 1 / norm##suffix(count, x); }
CUGEN_NORMS(float, f, sqrtf)
CUGEN_NORMS(double, , sqrt)
#undef CUGEN_NORMS
/* Series of the modified Bessel functions: sums of (x / 2)^(2 k + order) / (k! (k + order)!), whose
   terms have one sign. */
static inline double cugen_bessel_i(int order, double x) {
  double term = order ? x / 2 : 1, sum = term;
  for (int k = 1; k < 2000 && fabs(term) > 1e-17 * fabs(sum); ++k)
    sum += term *= x / 2 * (x / 2) / (k * (double)(k + order));
  return sum;
}
static inline double cyl_bessel_i0(double x) { return cugen_bessel_i(0, x); }
static inline double cyl_bessel_i1(double x) { return cugen_bessel_i(1, x); }
static inline float cyl_bessel_i0f(float x) { return (float)cugen_bessel_i(0, x); }
static inline float cyl_bessel_i1f(float x) { return (float)cugen_bessel_i(1, x); }
static inline float fdividef(float x, float y) { return x / y; }

#ifdef CUGEN_LONG_DOUBLE /* <complex> and <random> use functions of long double, too */
#define CUGEN_LONG(name) \
  static inline long double name(long double x) { return name((double)x); }
CUGEN_LONG(log)
CUGEN_LONG(log10)
CUGEN_LONG(exp)
CUGEN_LONG(sqrt)
CUGEN_LONG(sin)
CUGEN_LONG(cos)
CUGEN_LONG(tan)
CUGEN_LONG(sinh)
CUGEN_LONG(cosh)
CUGEN_LONG(tanh)
CUGEN_LONG(fabs)
#undef CUGEN_LONG
static inline long double pow(long double x, long double y) { return pow((double)x, (double)y); }
static inline long double atan2(long double x, long double y) {
  return atan2((double)x, (double)y);
}
#endif
static inline void sincospi(double x, double *s, double *c) {
  sincos(x * 3.14159265358979323846, s, c);
}
static inline void sincospif(float x, float *s, float *c) {
  double wide_s, wide_c;
  sincospi((double)x, &wide_s, &wide_c);
  *s = (float)wide_s, *c = (float)wide_c;
}
/* Winitzki's approximation (2008), then Newton's steps. */
static inline double erfcinv(double y) {
  if (!(y > 0 && y < 2))
    return y == 0 ? __builtin_inf() : y == 2 ? -__builtin_inf() : __builtin_nan("");
  if (y > 1) return -erfcinv(2 - y);
  const double part = log(y * (2 - y)), half = 4.3307467508 + part / 2;
  double x = sqrt(sqrt(half * half - part / 0.147) - half);
  for (int i = 0; i < 4; ++i) x += (erfc(x) - y) / (1.1283791670955126 * exp(-x * x));
  return x;
}
/* Uses erfcinv from |y| = 0.5 on, because erf(x) near 1 has no digits left for Newton's steps. */
static inline double erfinv(double y) {
  if (!(fabs(y) < 0.5)) return y < 0 ? -erfcinv(1 + y) : erfcinv(1 - y);
  double x = y * 0.886226925452758;
  for (int i = 0; i < 5; ++i) x -= (erf(x) - y) / (1.1283791670955126 * exp(-x * x));
  return x;
}
static inline double normcdfinv(double y) { return -1.4142135623730951 * erfcinv(2 * y); }
static inline float erfcinvf(float y) { return (float)erfcinv((double)y); }
static inline float erfinvf(float y) { return (float)erfinv((double)y); }
static inline float normcdfinvf(float y) { return (float)normcdfinv((double)y); }

static inline float __saturatef(float x) { return x >= 1.0f ? 1.0f : x > 0.0f ? x : 0.0f; }
/* Macros, because the GNU C library has functions of some of these names. */
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

/* Keeps the compiler from fusing a product and a sum. */
#if defined(__x86_64__)
#define CUGEN_ROUNDED(type, expression) \
  type result = expression;             \
  __asm__("" : "+x"(result));           \
  return result
#elif defined(__aarch64__)
#define CUGEN_ROUNDED(type, expression) \
  type result = expression;             \
  __asm__("" : "+w"(result));           \
  return result
#else
#define CUGEN_ROUNDED(type, expression) \
  volatile type result = expression;    \
  return result
#endif
static inline float __fadd_rn(float x, float y) { CUGEN_ROUNDED(float, x + y); }
static inline float __fsub_rn(float x, float y) { CUGEN_ROUNDED(float, x - y); }
static inline float __fmul_rn(float x, float y) { CUGEN_ROUNDED(float, x *y); }
static inline double __dadd_rn(double x, double y) { CUGEN_ROUNDED(double, x + y); }
static inline double __dsub_rn(double x, double y) { CUGEN_ROUNDED(double, x - y); }
static inline double __dmul_rn(double x, double y) { CUGEN_ROUNDED(double, x *y); }
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
