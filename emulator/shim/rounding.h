/* Part of cuda_shim.h: arithmetic and conversions with a direction of rounding, where unit.c
   defines CUGEN_ROUNDING. */
#ifdef CUGEN_ROUNDING
/* Rounds the nearest result in the given direction: moves it by one place if the sign of `rest`
   (the exact result minus the rounded one) requires it. */
template <class Real> static inline Real cugen_toward(Real rounded, Real rest, int direction) {
  const Real infinite = (Real)__builtin_inf();
  if (rounded != rounded || rest == 0) return rounded;
  /* the finite result overflowed */
  if (rounded == infinite || rounded == -infinite)
    rest = rounded > 0 ? -1 : 1;
  else if (rest != rest)
    return rounded;
  /* 0: toward zero */
  const int wanted = direction ? direction : rounded > 0 ? -1 : rounded < 0 ? 1 : 0;
  if (wanted > 0 && rest > 0) return nextafter(rounded, infinite);
  if (wanted < 0 && rest < 0) return nextafter(rounded, -infinite);
  return rounded;
}
template <class Real> static inline bool cugen_finite(Real x, Real y) {
  return __builtin_isfinite(x) && __builtin_isfinite(y);
}
/* Knuth's two-sum, and Dekker's product by a fused operation: both rests are exact. */
template <class Real> static inline Real cugen_add_toward(Real x, Real y, int direction) {
  volatile Real sum = x + y;
  const Real s = sum;
  if (!cugen_finite(x, y)) return s;
  volatile Real part = s - x, other = s - part;
  volatile Real rest_y = y - part, rest_x = x - other;
  return cugen_toward<Real>(s, rest_x + rest_y, direction);
}
template <class Real> static inline Real cugen_multiply_toward(Real x, Real y, int direction) {
  volatile Real product = x * y;
  const Real p = product;
  return cugen_finite(x, y) ? cugen_toward<Real>(p, fma(x, y, -p), direction) : p;
}
template <class Real> static inline Real cugen_divide_toward(Real x, Real y, int direction) {
  volatile Real quotient = x / y;
  const Real q = quotient;
  if (!cugen_finite(x, y) || y == 0) return q;
  const Real rest = fma(-q, y, x);
  return cugen_toward<Real>(q, y < 0 ? -rest : rest, direction);
}
template <class Real> static inline Real cugen_root_toward(Real x, int direction) {
  const Real r = sqrt(x);
  return x > 0 && __builtin_isfinite(x) ? cugen_toward<Real>(r, fma(-r, r, x), direction) : r;
}
static inline float cugen_fused_toward(float x, float y, float z, int direction) {
  /* The product is exact in double; the rest is that of the sum. */
  const double product = (double)x * y, near = product + z;
  if (!__builtin_isfinite(near)) return (float)near;
  const double part = near - product, rest = (product - (near - part)) + (z - part);
  const float rounded = fmaf(x, y, z);
  const double lacks = (near - (double)rounded) + rest;
  return cugen_toward<float>(rounded, lacks > 0 ? 1.0f : lacks < 0 ? -1.0f : 0.0f, direction);
}
static inline double cugen_fused_toward(double x, double y, double z, int direction) {
  /* 11 more bits; a value that is still nearer to a representable number is not distinguished */
  const long double exact = (long double)x * y + z;
  const double rounded = fma(x, y, z);
  const long double lacks = exact - rounded;
  return cugen_toward<double>(rounded, lacks > 0 ? 1.0 : lacks < 0 ? -1.0 : 0.0, direction);
}
template <class Real, class From>
static inline Real cugen_from_integer_toward(From x, int direction) {
  const Real rounded = (Real)x;
  __extension__ typedef __int128 wide;
  const wide rest = (wide)x - (wide)rounded;
  return cugen_toward<Real>(rounded, rest > 0 ? (Real)1 : rest < 0 ? (Real)-1 : (Real)0, direction);
}
#define CUGEN_TOWARD(suffix, direction)                                                            \
  static inline float __fadd_##suffix(float x, float y) {                                          \
    return cugen_add_toward(x, y, direction);                                                      \
  }                                                                                                \
  static inline float __fsub_##suffix(float x, float y) {                                          \
    return cugen_add_toward(x, -y, direction);                                                     \
  }                                                                                                \
  static inline float __fmul_##suffix(float x, float y) {                                          \
    return cugen_multiply_toward(x, y, direction);                                                 \
  }                                                                                                \
  static inline float __fdiv_##suffix(float x, float y) {                                          \
    return cugen_divide_toward(x, y, direction);                                                   \
  }                                                                                                \
  static inline float __frcp_##suffix(float x) { return cugen_divide_toward(1.0f, x, direction); } \
  static inline float __fsqrt_##suffix(float x) { return cugen_root_toward(x, direction); }        \
  static inline float __fmaf_##suffix(float x, float y, float z) {                                 \
    return cugen_fused_toward(x, y, z, direction);                                                 \
  }                                                                                                \
  static inline double __dadd_##suffix(double x, double y) {                                       \
    return cugen_add_toward(x, y, direction);                                                      \
  }                                                                                                \
  static inline double __dsub_##suffix(double x, double y) {                                       \
    return cugen_add_toward(x, -y, direction);                                                     \
  }                                                                                                \
  static inline double __dmul_##suffix(double x, double y) {                                       \
    return cugen_multiply_toward(x, y, direction);                                                 \
  }                                                                                                \
  static inline double __ddiv_##suffix(double x, double y) {                                       \
    return cugen_divide_toward(x, y, direction);                                                   \
  }                                                                                                \
  static inline double __drcp_##suffix(double x) {                                                 \
    return cugen_divide_toward(1.0, x, direction);                                                 \
  }                                                                                                \
  static inline double __dsqrt_##suffix(double x) { return cugen_root_toward(x, direction); }      \
  static inline double __fma_##suffix(double x, double y, double z) {                              \
    return cugen_fused_toward(x, y, z, direction);                                                 \
  }                                                                                                \
  static inline float __double2float_##suffix(double x) {                                          \
    const float rounded = (float)x;                                                                \
    const double rest = x - (double)rounded;                                                       \
    return cugen_toward<float>(rounded, rest > 0 ? 1.0f : rest < 0 ? -1.0f : 0.0f, direction);     \
  }                                                                                                \
  static inline float __int2float_##suffix(int x) {                                                \
    return cugen_from_integer_toward<float>(x, direction);                                         \
  }                                                                                                \
  static inline float __uint2float_##suffix(unsigned x) {                                          \
    return cugen_from_integer_toward<float>(x, direction);                                         \
  }                                                                                                \
  static inline float __ll2float_##suffix(long long x) {                                           \
    return cugen_from_integer_toward<float>(x, direction);                                         \
  }                                                                                                \
  static inline float __ull2float_##suffix(unsigned long long x) {                                 \
    return cugen_from_integer_toward<float>(x, direction);                                         \
  }                                                                                                \
  static inline double __ll2double_##suffix(long long x) {                                         \
    return cugen_from_integer_toward<double>(x, direction);                                        \
  }                                                                                                \
  static inline double __ull2double_##suffix(unsigned long long x) {                               \
    return cugen_from_integer_toward<double>(x, direction);                                        \
  }
CUGEN_TOWARD(rz, 0)
CUGEN_TOWARD(rd, -1)
CUGEN_TOWARD(ru, 1)
#undef CUGEN_TOWARD
#endif
