/* <cuComplex.h>: complex numbers of two floats or doubles. */
#ifndef CUGEN_CUCOMPLEX
#define CUGEN_CUCOMPLEX
typedef float2 cuFloatComplex, cuComplex;
typedef double2 cuDoubleComplex;
#define CUGEN_COMPLEX(type, real, z, f, made)                                                      \
  static inline type make_##made(real x, real y) { return {x, y}; }                                \
  static inline real cuCreal##z(type a) { return a.x; }                                            \
  static inline real cuCimag##z(type a) { return a.y; }                                            \
  static inline type cuConj##z(type a) { return {a.x, -a.y}; }                                     \
  static inline type cuCadd##z(type a, type b) { return {a.x + b.x, a.y + b.y}; }                  \
  static inline type cuCsub##z(type a, type b) { return {a.x - b.x, a.y - b.y}; }                  \
  static inline type cuCmul##z(type a, type b) {                                                   \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                         \
  }                                                                                                \
  static inline type cuCfma##z(type a, type b, type c) {                                           \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                             \
  }                                                                                                \
  static inline real cuCabs##z(type a) { return hypot##f(a.x, a.y); }                              \
  static inline type cuCdiv##z(type a,                                                             \
                               type b) { /* scaled, so that squares neither overflow nor vanish */ \
    const real scale = 1 / (fabs##f(b.x) + fabs##f(b.y));                                          \
    const real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;             \
    const real size = 1 / (bx * bx + by * by);                                                     \
    return {(ax * bx + ay * by) * size, (ay * bx - ax * by) * size};                               \
  }
CUGEN_COMPLEX(cuFloatComplex, float, f, f, cuFloatComplex)
CUGEN_COMPLEX(cuDoubleComplex, double, , , cuDoubleComplex)
#undef CUGEN_COMPLEX
static inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {(float)a.x, (float)a.y};
}
#endif
