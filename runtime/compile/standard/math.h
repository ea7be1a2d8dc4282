/* The functions are built into NVRTC, and the cpu device has them. This header has the names in std
   and the macros. */
#ifndef CUGEN_MATH
#define CUGEN_MATH
/* A function, and its form for floats, whose name ends with f. */
#define CUGEN_BOTH(name)                                                                           \
  using ::name;                                                                                    \
  using ::name##f
namespace std {
using ::abs;
CUGEN_BOTH(acos);
CUGEN_BOTH(acosh);
CUGEN_BOTH(asin);
CUGEN_BOTH(asinh);
CUGEN_BOTH(atan);
CUGEN_BOTH(atan2);
CUGEN_BOTH(atanh);
CUGEN_BOTH(cbrt);
CUGEN_BOTH(ceil);
CUGEN_BOTH(copysign);
CUGEN_BOTH(cos);
CUGEN_BOTH(cosh);
CUGEN_BOTH(erf);
CUGEN_BOTH(erfc);
CUGEN_BOTH(exp);
CUGEN_BOTH(exp2);
CUGEN_BOTH(expm1);
CUGEN_BOTH(fabs);
CUGEN_BOTH(fdim);
CUGEN_BOTH(floor);
CUGEN_BOTH(fma);
CUGEN_BOTH(fmax);
CUGEN_BOTH(fmin);
CUGEN_BOTH(fmod);
CUGEN_BOTH(frexp);
CUGEN_BOTH(hypot);
CUGEN_BOTH(ilogb);
CUGEN_BOTH(ldexp);
CUGEN_BOTH(lgamma);
CUGEN_BOTH(llrint);
CUGEN_BOTH(llround);
CUGEN_BOTH(log);
CUGEN_BOTH(log10);
CUGEN_BOTH(log1p);
CUGEN_BOTH(log2);
CUGEN_BOTH(logb);
CUGEN_BOTH(lrint);
CUGEN_BOTH(lround);
CUGEN_BOTH(modf);
CUGEN_BOTH(nan);
CUGEN_BOTH(nearbyint);
CUGEN_BOTH(nextafter);
CUGEN_BOTH(pow);
CUGEN_BOTH(remainder);
CUGEN_BOTH(remquo);
CUGEN_BOTH(rint);
CUGEN_BOTH(round);
CUGEN_BOTH(scalbln);
CUGEN_BOTH(scalbn);
CUGEN_BOTH(sin);
CUGEN_BOTH(sinh);
CUGEN_BOTH(sqrt);
CUGEN_BOTH(tan);
CUGEN_BOTH(tanh);
CUGEN_BOTH(tgamma);
CUGEN_BOTH(trunc);
#ifndef __CUGEN_CPU__
using ::isfinite;
using ::isinf;
using ::isnan;
using ::signbit;
#endif
} // namespace std
#undef CUGEN_BOTH

#ifdef __CUGEN_CPU__ /* the host's headers have macros of these names */
#undef isfinite
#undef isinf
#undef isnan
#undef signbit
namespace std {
template <class T> inline bool isfinite(T x) {
  return __builtin_isfinite(x);
}
template <class T> inline bool isinf(T x) {
  return __builtin_isinf(x);
}
template <class T> inline bool isnan(T x) {
  return __builtin_isnan(x);
}
template <class T> inline bool signbit(T x) {
  return __builtin_signbit(x);
}
} // namespace std
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
#endif

#ifndef INFINITY
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN      __builtin_bit_cast(float, 0x7fffffff)
#endif
#define HUGE_VALF  __builtin_bit_cast(float, 0x7f800000)
#define HUGE_VAL   __builtin_bit_cast(double, 0x7ff0000000000000)
#define M_E        2.7182818284590452354
#define M_LOG2E    1.4426950408889634074
#define M_LOG10E   0.43429448190325182765
#define M_LN2      0.69314718055994530942
#define M_LN10     2.30258509299404568402
#define M_PI       3.14159265358979323846
#define M_PI_2     1.57079632679489661923
#define M_PI_4     0.78539816339744830962
#define M_1_PI     0.31830988618379067154
#define M_2_PI     0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2    1.41421356237309504880
#define M_SQRT1_2  0.70710678118654752440
#endif
