/* Part of cuda_shim.h: conversions of numbers, operations on integers and their bits. */
/* ---- Conversions ----------------------------------------------------------------------------- */

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
static inline int __double2loint(double x) {
  return (int)(unsigned)cugen_bits<unsigned long long>(x);
}
static inline int __double2hiint(double x) {
  return (int)(cugen_bits<unsigned long long>(x) >> 32);
}
static inline double __hiloint2double(int high, int low) {
  return cugen_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

/* Values beyond the range become the nearest end, NaN becomes 0 (CUDA C++ Programming Guide; PTX
   ISA, cvt). */
template <class To> static inline To cugen_to_integer(double x) {
  const bool is_signed = (To)-1 < (To)0;
  const To low = is_signed ? (To)((To)1 << (sizeof(To) * 8 - 1)) : (To)0, high = (To)~low;
  if (x != x) return 0;
  return x <= (double)low ? low : x >= (double)high ? high : (To)x;
}
#define CUGEN_FROM_REAL(from, type, name, to)       \
  static inline to __##from##2##name##_rn(type x) { \
    return cugen_to_integer<to>(rint((double)x));   \
  }                                                 \
  static inline to __##from##2##name##_rz(type x) { \
    return cugen_to_integer<to>(trunc((double)x));  \
  }                                                 \
  static inline to __##from##2##name##_ru(type x) { \
    return cugen_to_integer<to>(ceil((double)x));   \
  }                                                 \
  static inline to __##from##2##name##_rd(type x) { return cugen_to_integer<to>(floor((double)x)); }
#define CUGEN_CONVERSIONS(name, to)                                  \
  CUGEN_FROM_REAL(float, float, name, to)                            \
  CUGEN_FROM_REAL(double, double, name, to)                          \
  static inline float __##name##2float_rn(to x) { return (float)x; } \
  static inline double __##name##2double_rn(to x) { return (double)x; }
CUGEN_CONVERSIONS(int, int)
CUGEN_CONVERSIONS(uint, unsigned)
CUGEN_CONVERSIONS(ll, long long)
CUGEN_CONVERSIONS(ull, unsigned long long)
#undef CUGEN_CONVERSIONS
#undef CUGEN_FROM_REAL
static inline float __double2float_rn(double x) { return (float)x; }

/* ---- Integers ------------------------------------------------------------------------------- */

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
static inline int __mul24(int x, int y) {
  return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8));
}
static inline unsigned __umul24(unsigned x, unsigned y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
static inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) {
  return (unsigned)((unsigned long long)x * y >> 32);
}
static inline long long __mul64hi(long long x, long long y) {
  __extension__ typedef __int128 wide;
  return (long long)((wide)x * y >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ typedef unsigned __int128 wide;
  return (unsigned long long)((wide)x * y >> 64);
}
static inline unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return (x < y ? y - x : x - y) + z;
}
static inline unsigned __sad(int x, int y, unsigned z) {
  return (x < y ? (unsigned)y - (unsigned)x : (unsigned)x - (unsigned)y) + z;
}
static inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
static inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
static inline unsigned __uhadd(unsigned x, unsigned y) {
  return (unsigned)(((unsigned long long)x + y) >> 1);
}
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
/* Products of two 16-bit numbers with the lower or the upper two 8-bit numbers. */
#define CUGEN_DP2A(name, from)                                                                     \
  static inline int name(int a, int b, int sum) {                                                  \
    return sum + (short)a * (signed char)(b >> from) + (a >> 16) * (signed char)(b >> (from + 8)); \
  }                                                                                                \
  static inline unsigned name(unsigned a, unsigned b, unsigned sum) {                              \
    return sum + (a & 0xffffu) * (b >> from & 255u) + (a >> 16) * (b >> (from + 8) & 255u);        \
  }
CUGEN_DP2A(__dp2a_lo, 0)
CUGEN_DP2A(__dp2a_hi, 16)
#undef CUGEN_DP2A
/* Sums and extremes of 32 bits in one operation, since sm_90. Sums wrap. The _relu forms of the
   signed functions give 0 for negative results. */
#define CUGEN_THREE(type, suffix)                                  \
  static inline type __vimax3_##suffix(type a, type b, type c) {   \
    return a > b ? a > c ? a : c : b > c ? b : c;                  \
  }                                                                \
  static inline type __vimin3_##suffix(type a, type b, type c) {   \
    return a < b ? a < c ? a : c : b < c ? b : c;                  \
  }                                                                \
  static inline type __viaddmax_##suffix(type a, type b, type c) { \
    const type sum = (type)((unsigned)a + (unsigned)b);            \
    return sum > c ? sum : c;                                      \
  }                                                                \
  static inline type __viaddmin_##suffix(type a, type b, type c) { \
    const type sum = (type)((unsigned)a + (unsigned)b);            \
    return sum < c ? sum : c;                                      \
  }
CUGEN_THREE(int, s32)
CUGEN_THREE(unsigned, u32)
#undef CUGEN_THREE
static inline int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
static inline int __vimin_s32_relu(int a, int b) { return __vimax3_s32(a < b ? a : b, 0, 0); }
#define CUGEN_RELU(name)                                   \
  static inline int name##_s32_relu(int a, int b, int c) { \
    return __vimax3_s32(name##_s32(a, b, c), 0, 0);        \
  }
CUGEN_RELU(__vimax3)
CUGEN_RELU(__vimin3)
CUGEN_RELU(__viaddmax)
CUGEN_RELU(__viaddmin)
#undef CUGEN_RELU

static inline long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  static long long ticks;
  return ++ticks;
#endif
}
typedef long clock_t; /* as in <time.h> */
/* A template, because <time.h> declares a function of this name. */
template <class = void> static inline clock_t clock() { return (clock_t)(int)clock64(); }
#define CUGEN_EXTREMES(type, prefix)                                       \
  static inline type prefix##min(type x, type y) { return y < x ? y : x; } \
  static inline type prefix##max(type x, type y) { return x < y ? y : x; }
CUGEN_EXTREMES(unsigned, u)
CUGEN_EXTREMES(long long, ll)
CUGEN_EXTREMES(unsigned long long, ull)
#undef CUGEN_EXTREMES
