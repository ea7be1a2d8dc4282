/* Part of cuda_shim.h: operations on the bytes and halves of a word, where unit.c defines
   CUGEN_SIMD. CUDA Math API, "SIMD Intrinsics". */
#ifdef CUGEN_SIMD
/* a and b: a part of each word, converted to int by way of the type `part`; the lower bits of the
   expression become the result's part. */
#define CUGEN_PARTS(name, count, part, expression)                                        \
  static inline unsigned __v##name##count(unsigned x, unsigned y) {                       \
    const int bits = 32 / count;                                                          \
    const unsigned ones = ~0u >> (32 - bits);                                             \
    unsigned out = 0;                                                                     \
    for (int i = 0; i < 32; i += bits) {                                                  \
      const int a = (part)(x >> i), b = (part)(y >> i), least = (part)(1u << (bits - 1)), \
                most = ~least;                                                            \
      (void)a, (void)b, (void)least, (void)most;                                          \
      out |= ((unsigned)(expression)&ones) << i;                                          \
    }                                                                                     \
    return out;                                                                           \
  }
#define CUGEN_SIGNED(name, expression)          \
  CUGEN_PARTS(name, 4, signed char, expression) \
  CUGEN_PARTS(name, 2, short, expression)
#define CUGEN_UNSIGNED(name, expression)          \
  CUGEN_PARTS(name, 4, unsigned char, expression) \
  CUGEN_PARTS(name, 2, unsigned short, expression)
CUGEN_UNSIGNED(add, a + b)
CUGEN_UNSIGNED(sub, a - b)
CUGEN_SIGNED(addss, a + b > most ? most : a + b < least ? least : a + b)
CUGEN_SIGNED(subss, a - b > most ? most : a - b < least ? least : a - b)
CUGEN_UNSIGNED(addus, a + b > (int)ones ? (int)ones : a + b)
CUGEN_UNSIGNED(subus, a < b ? 0 : a - b)
CUGEN_SIGNED(avgs, (a + b + (a + b >= 0)) >> 1)
CUGEN_UNSIGNED(avgu, (a + b + 1) >> 1)
CUGEN_UNSIGNED(haddu, (a + b) >> 1)
CUGEN_SIGNED(absdiffs, a < b ? b - a : a - b)
CUGEN_UNSIGNED(absdiffu, a < b ? b - a : a - b)
CUGEN_SIGNED(maxs, a < b ? b : a)
CUGEN_SIGNED(mins, b < a ? b : a)
CUGEN_UNSIGNED(maxu, a < b ? b : a)
CUGEN_UNSIGNED(minu, b < a ? b : a)
#define CUGEN_COMPARE(kind, name, sign) kind(cmp##name, a sign b ? -1 : 0) kind(set##name, a sign b)
CUGEN_COMPARE(CUGEN_UNSIGNED, eq, ==)
CUGEN_COMPARE(CUGEN_UNSIGNED, ne, !=)
CUGEN_COMPARE(CUGEN_SIGNED, ges, >=)
CUGEN_COMPARE(CUGEN_SIGNED, gts, >)
CUGEN_COMPARE(CUGEN_SIGNED, les, <=)
CUGEN_COMPARE(CUGEN_SIGNED, lts, <)
CUGEN_COMPARE(CUGEN_UNSIGNED, geu, >=)
CUGEN_COMPARE(CUGEN_UNSIGNED, gtu, >)
CUGEN_COMPARE(CUGEN_UNSIGNED, leu, <=)
CUGEN_COMPARE(CUGEN_UNSIGNED, ltu, <)
#undef CUGEN_COMPARE
#define CUGEN_ONE(name, expression)                                                 \
  CUGEN_SIGNED(name##_of, expression)                                               \
  static inline unsigned __v##name##4(unsigned x) { return __v##name##_of4(x, 0); } \
  static inline unsigned __v##name##2(unsigned x) { return __v##name##_of2(x, 0); }
CUGEN_ONE(abs, a < 0 ? -a : a)
CUGEN_ONE(absss, a == least ? most : a < 0 ? -a : a)
CUGEN_ONE(neg, -a)
CUGEN_ONE(negss, a == least ? most : -a)
#undef CUGEN_ONE
#define CUGEN_SUM(name, count, part)                                \
  static inline unsigned __v##name##count(unsigned x, unsigned y) { \
    unsigned sum = 0;                                               \
    for (int i = 0; i < 32; i += 32 / count) {                      \
      const int a = (part)(x >> i), b = (part)(y >> i);             \
      sum += (unsigned)(a < b ? b - a : a - b);                     \
    }                                                               \
    return sum;                                                     \
  }
CUGEN_SUM(sads, 4, signed char)
CUGEN_SUM(sads, 2, short)
CUGEN_SUM(sadu, 4, unsigned char)
CUGEN_SUM(sadu, 2, unsigned short)
#undef CUGEN_SUM
#undef CUGEN_UNSIGNED
#undef CUGEN_SIGNED
#undef CUGEN_PARTS
#endif
