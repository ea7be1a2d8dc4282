/* Part of cuda_shim.h: 8-bit floats (cuda_fp8.h), which are stored and converted and nothing else. */
/* clang-format off */
/* ---- 8-bit floats: rounded to nearest even, too large ones to the largest -------------------------------------- */

#ifdef CUGEN_SMALL_FLOATS
/* Open Compute Project, "OCP 8-bit Floating Point Specification": e4m3 has no infinity, and NaN where it would be. */
template <int fraction_bits, int bias, int most> struct cugen_float8 {
  unsigned char __x;

  cugen_float8() = default;
#define CUGEN_FROM(type)                                                                                             \
  explicit cugen_float8(type x) : __x(cugen_encode((float)x)) {}
  CUGEN_FROM(float)
  CUGEN_FROM(double)
  CUGEN_FROM(int)
  CUGEN_FROM(unsigned)
  CUGEN_FROM(long long)
#undef CUGEN_FROM
  explicit operator float() const {
    const unsigned size = __x & 0x7f, bits = size << (23 - fraction_bits);
    float value;
    __builtin_memcpy(&value, &bits, sizeof value); /* the factor, 2^120 or 2^112, makes up for the other bias of a float's exponents */
    value *= bias == 7 ? 1.329227995784915873e36f : 5.192296858534827629e33f;
    if (size > most) value = most == 0x7b && size == 0x7c ? __builtin_inff() : __builtin_nanf("");
    return __x & 0x80 ? -value : value;
  }
  explicit operator double() const { return (double)(float)*this; }

  static unsigned char cugen_encode(float x) {
    const unsigned char sign = __builtin_signbit(x) ? 0x80 : 0;
    float size = fabsf(x);
    int exponent;
    if (size != size) return (unsigned char)(sign | 0x7f);
    if (size == 0) return sign;
    frexpf(size, &exponent);
    if (exponent < 2 - bias) exponent = 2 - bias;
    if (exponent > bias + 2) return (unsigned char)(sign | most);
    const int bits = (int)rintf(ldexpf(size, fraction_bits + 1 - exponent)) + ((exponent + bias - 2) << fraction_bits);
    return (unsigned char)(sign | (bits > most ? most : bits));
  }
};
typedef cugen_float8<3, 7, 0x7e> __nv_fp8_e4m3;
typedef cugen_float8<2, 15, 0x7b> __nv_fp8_e5m2;
#endif
