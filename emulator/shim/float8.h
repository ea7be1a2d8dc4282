/* Part of cuda_shim.h: 8-bit floats (cuda_fp8.h), which are stored and converted and nothing
   else. */
/* ---- 8-bit floats: rounded to nearest even, too large ones to the largest -------------------- */

#ifdef CUGEN_SMALL_FLOATS
/* Open Compute Project, "OCP 8-bit Floating Point Specification". e4m3 has no infinity, and one
   NaN, all ones. */
template <int fraction_bits, int bias, int most> struct cugen_float8 {
  unsigned char __x;

  cugen_float8() = default;
#define CUGEN_FROM(type) \
  explicit cugen_float8(type x) : __x(cugen_encode((double)x)) {}
  CUGEN_FROM(float)
  CUGEN_FROM(double)
  CUGEN_FROM(int)
  CUGEN_FROM(unsigned)
  CUGEN_FROM(long long)
#undef CUGEN_FROM
  explicit operator float() const {
    const unsigned size = __x & 0x7f, bits = size << (23 - fraction_bits);
    float value;
    /* the factor, 2^120 or 2^112, corrects the different bias of a float's exponents */
    __builtin_memcpy(&value, &bits, sizeof value);
    value *= bias == 7 ? 1.329227995784915873e36f : 5.192296858534827629e33f;
    if (size > most) value = most == 0x7b && size == 0x7c ? __builtin_inff() : __builtin_nanf("");
    return __x & 0x80 ? -value : value;
  }
  explicit operator double() const { return (double)(float)*this; }

  /* Without `saturate`, a number that is too large becomes infinity, or a NaN if the type has no
     infinity: the bits after those of the largest number. */
  static unsigned char cugen_encode(double x, bool saturate = true) {
    const unsigned char sign = __builtin_signbit(x) ? 0x80 : 0;
    const int beyond = saturate ? most : most + 1;
    const double size = fabs(x);
    int exponent;
    if (size != size) return (unsigned char)(sign | 0x7f);
    if (size == 0) return sign;
    frexp(size, &exponent);
    if (exponent > bias + 2 || __builtin_isinf(size)) return (unsigned char)(sign | beyond);
    if (exponent < 2 - bias) exponent = 2 - bias;
    const int bits = (int)rint(ldexp(size, fraction_bits + 1 - exponent)) +
                     ((exponent + bias - 2) << fraction_bits);
    return (unsigned char)(sign | (bits > most ? beyond : bits));
  }
};
typedef cugen_float8<3, 7, 0x7e> __nv_fp8_e4m3;
typedef cugen_float8<2, 15, 0x7b> __nv_fp8_e5m2;

template <class One> struct __attribute__((__aligned__(2))) cugen_float8x2 {
  unsigned short __x;
  cugen_float8x2() = default;
  template <class Two>
  explicit cugen_float8x2(const Two &v)
      : __x((unsigned short)(One((float)v.x).__x | One((float)v.y).__x << 8)) {}
  explicit operator float2() const { return {cugen_part(0), cugen_part(1)}; }
  explicit operator __half2() const { return __half2(cugen_part(0), cugen_part(1)); }
  float cugen_part(int i) const {
    One one;
    one.__x = (unsigned char)(__x >> 8 * i);
    return (float)one;
  }
};
template <class One> struct __attribute__((__aligned__(4))) cugen_float8x4 {
  unsigned __x;
  cugen_float8x4() = default;
  template <class Four>
  explicit cugen_float8x4(const Four &v)
      : __x(One((float)v.x).__x | One((float)v.y).__x << 8 | One((float)v.z).__x << 16 |
            (unsigned)One((float)v.w).__x << 24) {}
  template <class Two>
  cugen_float8x4(const Two &low, const Two &high)
      : __x(One((float)low.x).__x | One((float)low.y).__x << 8 | One((float)high.x).__x << 16 |
            (unsigned)One((float)high.y).__x << 24) {}
  explicit operator float4() const {
    return {cugen_part(0), cugen_part(1), cugen_part(2), cugen_part(3)};
  }
  float cugen_part(int i) const {
    One one;
    one.__x = (unsigned char)(__x >> 8 * i);
    return (float)one;
  }
};
typedef cugen_float8x2<__nv_fp8_e4m3> __nv_fp8x2_e4m3;
typedef cugen_float8x2<__nv_fp8_e5m2> __nv_fp8x2_e5m2;
typedef cugen_float8x4<__nv_fp8_e4m3> __nv_fp8x4_e4m3;
typedef cugen_float8x4<__nv_fp8_e5m2> __nv_fp8x4_e5m2;
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
static inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t limit,
                                                       __nv_fp8_interpretation_t kind) {
  const bool saturate = limit == __NV_SATFINITE;
  return kind == __NV_E4M3 ? __nv_fp8_e4m3::cugen_encode(x, saturate)
                           : __nv_fp8_e5m2::cugen_encode(x, saturate);
}
#endif
