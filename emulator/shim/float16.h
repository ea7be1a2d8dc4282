/* Part of cuda_shim.h: 16-bit floats. Their types are there only if unit.c defines
   CUGEN_SMALL_FLOATS. */
/* ---- 16-bit floats: computed in float, rounded to nearest even ------------------------------- */

struct cugen_binary16 {
  static unsigned short encode(float from) {
#if defined(__F16C__)
    typedef float four __attribute__((__vector_size__(16)));
    typedef short eight __attribute__((__vector_size__(16)));
    const eight packed = (eight)__builtin_ia32_vcvtps2ph((four){from, 0, 0, 0}, 0);
    return (unsigned short)packed[0];
#else
    const unsigned bits = cugen_bits<unsigned>(from), sign = bits >> 16 & 0x8000u,
                   size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return (unsigned short)(sign | 0x7e00u | (size >> 13 & 0x3ffu));
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u); /* rounds to 2^16 or more */
    /* below 2^-14 the last place is 2^-24: adding 2^-1 rounds to that place */
    if (size < 0x38800000u) {
      return (unsigned short)(sign |
                              (cugen_bits<unsigned>(cugen_bits<float>(size) + 0.5f) - 0x3f000000u));
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
    /* Converted as a float whose exponent is too small by 112, then multiplied by 2^112. Exact
       for subnormal numbers as well. */
    return cugen_bits<float>(
        sign | cugen_bits<unsigned>(cugen_bits<float>(size << 13) * 5.192296858534827629e33f));
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

#ifdef CUGEN_SMALL_FLOATS
/* Rounds x + rest to odd, where `rest` is below half of x's last place: to x + rest itself if that
   is a float, else to the neighbour whose last bit is 1. Rounded to 16 bits afterwards, the sum is
   as if it had been rounded once (Boldo, Melquiond, Emulation of a FMA and Correctly Rounded Sums,
   IEEE Transactions on Computers 57, 2008). */
static inline float cugen_round_odd(double x, double rest = 0) {
  const float single = (float)x;
  const double off = (double)single != x ? x - (double)single : rest;
  unsigned bits = cugen_bits<unsigned>(single);
  if ((off > 0 || off < 0) && !(bits & 1)) bits += (off > 0) == (x > 0) ? 1u : ~0u;
  return cugen_bits<float>(bits);
}
/* Returns a b + c, rounded to odd. The product of two 16-bit floats is exact as a double; `rest` is
   what the sum lost (Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B). */
static inline float cugen_fma_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c, added = sum - product;
  return cugen_round_odd(sum, (product - (sum - added)) + (c - added));
}

/* Functions of one float: hexp for a half, h2exp for two. */
#define CUGEN_HALF_FUNCTIONS(add)                                                       \
  add(sqrt, sqrtf(x)) add(rsqrt, 1.0f / sqrtf(x)) add(rcp, 1.0f / x) add(exp, expf(x))  \
      add(exp2, exp2f(x)) add(exp10, exp10f(x)) add(log, logf(x)) add(log2, log2f(x))   \
          add(log10, log10f(x)) add(sin, sinf(x)) add(cos, cosf(x)) add(tanh, tanhf(x)) \
              add(tanh_approx, tanhf(x)) add(floor, floorf(x)) add(ceil, ceilf(x))      \
                  add(trunc, truncf(x)) add(rint, rintf(x))

/* Functions of the class are friends that it defines, because such friends are compiled only when
   they are used, and are found only if an argument is of the class. */
template <class Format> struct cugen_float16 {
  unsigned short cugen_raw;
  typedef cugen_float16 Self;

  cugen_float16() = default;
  cugen_float16(float x) : cugen_raw(Format::encode(x)) {}
  cugen_float16(double x) : cugen_raw(Format::encode(cugen_round_odd(x))) {}
#define CUGEN_FROM(type) \
  cugen_float16(type x) : cugen_raw(Format::encode((float)x)) {}
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

#define CUGEN_BINARY(sign, name)                                                 \
  friend Self operator sign(const Self &a, const Self &b) {                      \
    return a.cugen_get() sign b.cugen_get();                                     \
  }                                                                              \
  friend Self &operator sign##=(Self &a, const Self &b) { return a = a sign b; } \
  friend Self name(Self a, Self b) { return a sign b; }                          \
  friend Self name##_rn(Self a, Self b) { return a sign b; }
  CUGEN_BINARY(+, __hadd)
  CUGEN_BINARY(-, __hsub)
  CUGEN_BINARY(*, __hmul)
  CUGEN_BINARY(/, __hdiv)
#undef CUGEN_BINARY
#define CUGEN_COMPARE(sign, name)                           \
  friend bool operator sign(const Self &a, const Self &b) { \
    return a.cugen_get() sign b.cugen_get();                \
  }                                                         \
  friend bool name(Self a, Self b) { return a sign b; }
  CUGEN_COMPARE(==, __heq)
  CUGEN_COMPARE(!=, __hne)
  CUGEN_COMPARE(<, __hlt)
  CUGEN_COMPARE(<=, __hle)
  CUGEN_COMPARE(>, __hgt)
  CUGEN_COMPARE(>=, __hge)
#undef CUGEN_COMPARE
#define CUGEN_UNARY(name, expression) \
  friend Self h##name(Self a) {       \
    const float x = a.cugen_get();    \
    return expression;                \
  }
  CUGEN_HALF_FUNCTIONS(CUGEN_UNARY)
#undef CUGEN_UNARY
  friend Self operator-(const Self &a) { return cugen_of(a.cugen_raw ^ 0x8000u); }
  friend Self operator+(const Self &a) { return a; }
  friend Self &operator++(Self &a) { return a = a + Self(1.0f); }
  friend Self &operator--(Self &a) { return a = a - Self(1.0f); }
  friend Self __hneg(Self a) { return -a; }
  friend Self __habs(Self a) { return cugen_of(a.cugen_raw & 0x7fffu); }
  friend Self __hmin(Self a, Self b) { return min(a.cugen_get(), b.cugen_get()); }
  friend Self __hmax(Self a, Self b) { return max(a.cugen_get(), b.cugen_get()); }
  friend Self __hfma(Self a, Self b, Self c) {
    return cugen_fma_odd(a.cugen_get(), b.cugen_get(), c.cugen_get());
  }
  friend bool __hisnan(Self a) { return a.cugen_get() != a.cugen_get(); }
  friend int __hisinf(Self a) { return __builtin_isinf_sign(a.cugen_get()); }
};

template <class Format> struct __attribute__((__aligned__(4))) cugen_float16x2 {
  typedef cugen_float16<Format> One;
  typedef cugen_float16x2 Self;
  One x, y;

  cugen_float16x2() = default;
  cugen_float16x2(const One &a, const One &b) : x(a), y(b) {}

#define CUGEN_BINARY(sign, name)                                                 \
  friend Self operator sign(const Self &a, const Self &b) {                      \
    return Self(a.x sign b.x, a.y sign b.y);                                     \
  }                                                                              \
  friend Self &operator sign##=(Self &a, const Self &b) { return a = a sign b; } \
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
  friend Self __hfma2(Self a, Self b, Self c) {
    return Self(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
  }
#define CUGEN_UNARY(name, expression) \
  friend Self h2##name(Self a) { return Self(h##name(a.x), h##name(a.y)); }
  CUGEN_HALF_FUNCTIONS(CUGEN_UNARY)
#undef CUGEN_UNARY
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

#define CUGEN_FLOAT16(one, two, name)                                                       \
  static inline one __float2##name(float x) { return x; }                                   \
  static inline one __float2##name##_rn(float x) { return x; }                              \
  static inline one __double2##name(double x) { return x; }                                 \
  static inline one __int2##name##_rn(int x) { return x; }                                  \
  static inline one __uint2##name##_rn(unsigned x) { return x; }                            \
  static inline float __##name##2float(one x) { return x; }                                 \
  static inline int __##name##2int_rn(one x) { return __float2int_rn(x); }                  \
  static inline int __##name##2int_rz(one x) { return __float2int_rz(x); }                  \
  static inline unsigned short __##name##_as_ushort(one x) { return x.cugen_raw; }          \
  static inline short __##name##_as_short(one x) { return (short)x.cugen_raw; }             \
  static inline one __ushort_as_##name(unsigned short x) { return one::cugen_of(x); }       \
  static inline one __short_as_##name(short x) { return one::cugen_of((unsigned short)x); } \
  static inline two __halves2##name##2(one x, one y) { return two(x, y); }                  \
  static inline two __##name##2##name##2(one x) { return two(x, x); }                       \
  static inline two __float2##name##2_rn(float x) { return two(x, x); }                     \
  static inline two __floats2##name##2_rn(float x, float y) { return two(x, y); }           \
  static inline two __float22##name##2_rn(float2 x) { return two(x.x, x.y); }               \
  static inline float2 __##name##22float2(two x) { return {x.x, x.y}; }                     \
  CUGEN_ATOMIC(atomicAdd, one, old + value)                                                 \
  CUGEN_ATOMIC(atomicAdd, two, old + value)
CUGEN_FLOAT16(__half, __half2, half)
CUGEN_FLOAT16(__nv_bfloat16, __nv_bfloat162, bfloat16)
#undef CUGEN_FLOAT16
#undef CUGEN_HALF_FUNCTIONS
static inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
static inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
#endif
#undef CUGEN_EXCHANGE
#undef CUGEN_ATOMIC
#undef CUGEN_ATOMIC_SCOPES
#undef CUGEN_ATOMIC_AS
