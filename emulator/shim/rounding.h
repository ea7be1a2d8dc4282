/* Part of cuda_shim.h: arithmetic and conversions with a direction of rounding, where unit.c
   defines CUGEN_ROUNDING. */
#ifdef CUGEN_ROUNDING
/* Rounds the nearest result in the given direction: moves it by one place if the sign of `rest`
   (the exact result minus the rounded one) requires it. */
template <class Real> static inline Real cugen_toward(Real rounded, Real rest, int direction) {
  const Real infinite = (Real)__builtin_inf();
  if (rounded != rounded || rest == 0) return rounded;
  /* the exact result is finite and too large */
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
  /* at least 11 more bits; a rest below these bits counts as 0 */
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
static inline float cugen_double_toward(double x, int direction) {
  const float rounded = (float)x;
  const double rest = x - (double)rounded;
  return cugen_toward<float>(rounded, rest > 0 ? 1.0f : rest < 0 ? -1.0f : 0.0f, direction);
}
#define CUGEN_FUNCTION(Real, name, parameters, ...) \
  static inline Real name parameters { return __VA_ARGS__; }
/* The arithmetic of one type, whose letter begins the functions' names. */
#define CUGEN_ARITHMETIC(Real, letter, fused, suffix, direction)                             \
  CUGEN_FUNCTION(Real, __##letter##add_##suffix, (Real x, Real y),                           \
                 cugen_add_toward(x, y, direction))                                          \
  CUGEN_FUNCTION(Real, __##letter##sub_##suffix, (Real x, Real y),                           \
                 cugen_add_toward(x, -y, direction))                                         \
  CUGEN_FUNCTION(Real, __##letter##mul_##suffix, (Real x, Real y),                           \
                 cugen_multiply_toward(x, y, direction))                                     \
  CUGEN_FUNCTION(Real, __##letter##div_##suffix, (Real x, Real y),                           \
                 cugen_divide_toward(x, y, direction))                                       \
  CUGEN_FUNCTION(Real, __##letter##rcp_##suffix, (Real x),                                   \
                 cugen_divide_toward((Real)1, x, direction))                                 \
  CUGEN_FUNCTION(Real, __##letter##sqrt_##suffix, (Real x), cugen_root_toward(x, direction)) \
  CUGEN_FUNCTION(Real, fused##_##suffix, (Real x, Real y, Real z),                           \
                 cugen_fused_toward(x, y, z, direction))
#define CUGEN_INTEGER(Real, name, From, suffix, direction) \
  CUGEN_FUNCTION(Real, name##_##suffix, (From x), cugen_from_integer_toward<Real>(x, direction))
#define CUGEN_TOWARD(suffix, direction)                                                         \
  CUGEN_ARITHMETIC(float, f, __fmaf, suffix, direction)                                         \
  CUGEN_ARITHMETIC(double, d, __fma, suffix, direction)                                         \
  CUGEN_FUNCTION(float, __double2float_##suffix, (double x), cugen_double_toward(x, direction)) \
  CUGEN_INTEGER(float, __int2float, int, suffix, direction)                                     \
  CUGEN_INTEGER(float, __uint2float, unsigned, suffix, direction)                               \
  CUGEN_INTEGER(float, __ll2float, long long, suffix, direction)                                \
  CUGEN_INTEGER(float, __ull2float, unsigned long long, suffix, direction)                      \
  CUGEN_INTEGER(double, __ll2double, long long, suffix, direction)                              \
  CUGEN_INTEGER(double, __ull2double, unsigned long long, suffix, direction)
CUGEN_TOWARD(rz, 0)
CUGEN_TOWARD(rd, -1)
CUGEN_TOWARD(ru, 1)
#undef CUGEN_TOWARD
#undef CUGEN_INTEGER
#undef CUGEN_ARITHMETIC
#undef CUGEN_FUNCTION
#endif
