/* Arithmetic of inline PTX: integers of 8 to 64 bits, floats of 16 to 64 bits, and pairs of
   16-bit floats; see inline_ptx.h. */
#include <math.h>
#include <string.h>

#include "inline_ptx.h"

static enum iptx_type arithmetic_type_of(const struct iptx_instruction *i) {
  return i->type_count ? i->types[0] : IPTX_B32;
}

static bool is_real(enum iptx_type type) {
  return strchr("fdhHgGt", iptx_kind(type)) && iptx_kind(type);
}

static bool is_signed(enum iptx_type type) {
  return iptx_kind(type) == 's';
}

/* ---- Two or three operands ------------------------------------------------------------------ */

/* With .sat the value is clamped to the range from 0 to 1, and NaN becomes 0. */
static double unit_range(double value, const struct iptx_instruction *i) {
  if (iptx_has(i, IPTX_W_SAT)) value = value >= 1 ? 1 : value > 0 ? value : 0;
  return value;
}

typedef double real_function(double a, double b, double c);

static real_function real_fma;

/* Returns a b + c of 16-bit floats rounded to odd: to the neighbour whose last bit is 1 unless the
   sum is exact. Rounded to 16 bits afterwards, the sum is as if it had been rounded once; see
   shim/float16.h. */
static double fma_odd(double a, double b, double c) {
  const double product = a * b, added = (product + c) - product;
  double sum = product + c;
  const double rest = (product - (sum - added)) + (c - added);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if ((rest > 0 || rest < 0) && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : UINT64_MAX;
  memcpy(&sum, &bits, sizeof sum);
  return sum;
}

/* Computes f in double and rounds the result to the type; a fused multiply-add of floats by fmaf,
   and of 16-bit floats by fma_odd, because its sum may not be rounded twice. */
static uint64_t real_part(const struct iptx_instruction *i, real_function *f, const uint64_t *v,
                          enum iptx_type type) {
  const double a = iptx_real(v[0], type), b = iptx_real(v[1], type), c = iptx_real(v[2], type);
  if (f == real_fma && type == IPTX_F32)
    return iptx_from_real(unit_range((double)fmaf((float)a, (float)b, (float)c), i), type);
  if (f == real_fma && type != IPTX_F64) f = fma_odd;
  return iptx_from_real(unit_range(f(a, b, c), i), type);
}

static void real(struct iptx_run *run, const struct iptx_instruction *i, real_function *f) {
  const enum iptx_type type = arithmetic_type_of(i);
  uint64_t v[3] = {0, 0, 0}, out;
  for (unsigned a = 1; a < i->count && a < 4; a++) v[a - 1] = iptx_get(run, i, a, type);
  out = real_part(i, f, v, type);
  if (iptx_kind(type) == 'H' || iptx_kind(type) == 'G') { /* a pair */
    const uint64_t high[3] = {v[0] >> 16, v[1] >> 16, v[2] >> 16};
    out |= real_part(i, f, high, type) << 16;
  }
  iptx_put(run, i, 0, out);
}

typedef uint64_t integer_function(uint64_t a, uint64_t b, bool is_signed);

/* A division by zero gives all ones, and does not end the launch. */
static uint64_t quotient(uint64_t a, uint64_t b, bool s) {
  if (!b) return ~UINT64_C(0);
  if (s && b == ~UINT64_C(0)) return 0 - a;
  return s ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
}

static uint64_t rest(uint64_t a, uint64_t b, bool s) {
  if (!b) return a;
  if (s && b == ~UINT64_C(0)) return 0;
  return s ? (uint64_t)((int64_t)a % (int64_t)b) : a % b;
}

static void integer(struct iptx_run *run, const struct iptx_instruction *i, integer_function *f) {
  const enum iptx_type type = arithmetic_type_of(i);
  const uint64_t b = i->count > 2 ? iptx_get(run, i, 2, type) : 0;
  iptx_put(run, i, 0, f(iptx_get(run, i, 1, type), b, is_signed(type)));
}

/* Instructions, and what each computes of its operands a, b and c; s: its type is signed. */
#define COMPUTES_REAL(name, result)                                                                \
  static double real_##name(double a, double b, double c) {                                        \
    (void)b, (void)c;                                                                              \
    return result;                                                                                 \
  }
#define COMPUTES_INTEGER(name, result)                                                             \
  static uint64_t integer_##name(uint64_t a, uint64_t b, bool s) {                                 \
    (void)b, (void)s;                                                                              \
    return result;                                                                                 \
  }
#define DO(name, call)                                                                             \
  static void do_##name(struct iptx_run *run, const struct iptx_instruction *i) {                  \
    call;                                                                                          \
  }
#define REAL(name, result) COMPUTES_REAL(name, result) DO(name, real(run, i, real_##name))
#define INTEGER(name, result)                                                                      \
  COMPUTES_INTEGER(name, result) DO(name, integer(run, i, integer_##name))
#define EITHER(name, of_reals, of_integers)                                                        \
  COMPUTES_REAL(name, of_reals)                                                                    \
  COMPUTES_INTEGER(name, of_integers)                                                              \
  DO(name,                                                                                         \
     is_real(arithmetic_type_of(i)) ? real(run, i, real_##name) : integer(run, i, integer_##name))
EITHER(add, a + b, a + b)
EITHER(sub, a - b, a - b)
EITHER(div, a / b, quotient(a, b, s))
EITHER(min, fmin(a, b), (s ? (int64_t)a < (int64_t)b : a < b) ? a : b)
EITHER(max, fmax(a, b), (s ? (int64_t)a < (int64_t)b : a < b) ? b : a)
EITHER(neg, -a, 0 - a)
EITHER(abs, fabs(a), s && (int64_t)a < 0 ? 0 - a : a)
INTEGER(rem, rest(a, b, s))
INTEGER(and, (a) & (b))
INTEGER(or, a | b)
INTEGER(xor, a ^ b)
INTEGER(not, ~a)
REAL(copysign, copysign(b, a))
REAL(rcp, 1 / a)
REAL(sqrt, sqrt(a))
REAL(rsqrt, 1 / sqrt(a))
REAL(sin, sin(a))
REAL(cos, cos(a))
REAL(lg2, log2(a))
REAL(ex2, exp2(a))
REAL(tanh, tanh(a))
REAL(fma, fma(a, b, c))
COMPUTES_REAL(mul, (a) * (b))

/* ---- Products of integers ------------------------------------------------------------------- */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_unsigned;

static uint64_t product(const struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  const uint64_t a = iptx_get(run, i, 1, type), b = iptx_get(run, i, 2, type);
  const wide all = is_signed(type) ? (wide)(int64_t)a * (int64_t)b : (wide)((wide_unsigned)a * b);
  return iptx_has(i, IPTX_W_HI) ? (uint64_t)(all >> iptx_bits(type)) : (uint64_t)all;
}

static void do_mul(struct iptx_run *run, const struct iptx_instruction *i) {
  if (is_real(arithmetic_type_of(i)))
    real(run, i, real_mul);
  else
    iptx_put(run, i, 0, product(run, i));
}

/* Returns the type of mad's summand, which is twice as wide with .wide. */
static enum iptx_type sum_type(const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  if (!iptx_has(i, IPTX_W_WIDE)) return type;
  if (iptx_bits(type) == 16) return is_signed(type) ? IPTX_S32 : IPTX_U32;
  return is_signed(type) ? IPTX_S64 : IPTX_U64;
}

static void do_mad(struct iptx_run *run, const struct iptx_instruction *i) {
  if (is_real(arithmetic_type_of(i)))
    real(run, i, real_fma);
  else
    iptx_put(run, i, 0, product(run, i) + iptx_get(run, i, 3, sum_type(i)));
}

static int64_t low24(uint64_t bits, bool s) {
  return s ? (int64_t)(bits << 40) >> 40 : (int64_t)(bits & 0xffffff);
}

static void do_mul24(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  const int64_t all = low24(iptx_get(run, i, 1, type), is_signed(type)) *
                      low24(iptx_get(run, i, 2, type), is_signed(type));
  iptx_put(run, i, 0, (uint64_t)(iptx_has(i, IPTX_W_HI) ? all >> 16 : all));
}

static void do_sad(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  const uint64_t a = iptx_get(run, i, 1, type), b = iptx_get(run, i, 2, type);
  const bool less = is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
  iptx_put(run, i, 0, (less ? b - a : a - b) + iptx_get(run, i, 3, type));
}

static int byte_at(uint32_t word, int at, bool s) {
  return s ? (int8_t)(word >> at) : (int)(word >> at & 255);
}

static void do_dp4a(struct iptx_run *run, const struct iptx_instruction *i) {
  const bool a_signed = i->type_count && is_signed(i->types[0]),
             b_signed = i->type_count > 1 && is_signed(i->types[1]);
  const uint32_t a = (uint32_t)iptx_get(run, i, 1, IPTX_B32),
                 b = (uint32_t)iptx_get(run, i, 2, IPTX_B32);
  uint32_t sum = (uint32_t)iptx_get(run, i, 3, IPTX_B32);
  for (int at = 0; at < 32; at += 8)
    sum += (uint32_t)(byte_at(a, at, a_signed) * byte_at(b, at, b_signed));
  iptx_put(run, i, 0, sum);
}

static void do_vabsdiff4(struct iptx_run *run, const struct iptx_instruction *i) {
  const bool s = i->type_count > 1 && is_signed(i->types[1]);
  const uint32_t a = (uint32_t)iptx_get(run, i, 1, IPTX_B32),
                 b = (uint32_t)iptx_get(run, i, 2, IPTX_B32);
  uint32_t sum = (uint32_t)iptx_get(run, i, 3, IPTX_B32), packed = 0;
  for (int at = 0; at < 32; at += 8) {
    const int x = byte_at(a, at, s), y = byte_at(b, at, s);
    const uint32_t apart = (uint32_t)(x < y ? y - x : x - y);
    sum += apart;
    packed |= (apart & 255) << at;
  }
  iptx_put(run, i, 0, iptx_has(i, IPTX_W_ADD) ? sum : packed);
}

/* ---- Bits ----------------------------------------------------------------------------------- */

static void do_shl(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  const uint64_t by = iptx_get(run, i, 2, IPTX_U32);
  iptx_put(run, i, 0, by >= iptx_bits(type) ? 0 : iptx_get(run, i, 1, type) << by);
}

static void do_shr(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  uint64_t by = iptx_get(run, i, 2, IPTX_U32);
  const uint64_t value = iptx_get(run, i, 1, type);
  if (by > 63) by = 63;
  const bool gone = by >= iptx_bits(type) && !is_signed(type);
  iptx_put(run, i, 0, gone ? 0 : is_signed(type) ? (uint64_t)((int64_t)value >> by) : value >> by);
}

static void do_shf(struct iptx_run *run, const struct iptx_instruction *i) {
  const uint64_t low = iptx_get(run, i, 1, IPTX_B32), high = iptx_get(run, i, 2, IPTX_B32),
                 both = high << 32 | low;
  uint64_t by = iptx_get(run, i, 3, IPTX_U32);
  by = iptx_has(i, IPTX_W_CLAMP) ? (by > 32 ? 32 : by) : by & 31;
  iptx_put(run, i, 0, iptx_has(i, IPTX_W_L) ? (by == 32 ? low : both << by >> 32) : both >> by);
}

/* The operands' three bits at a place are a number from 0 to 7, which selects a bit of the table
   as the result. */
static void do_lop3(struct iptx_run *run, const struct iptx_instruction *i) {
  const uint32_t a = (uint32_t)iptx_get(run, i, 1, IPTX_B32),
                 b = (uint32_t)iptx_get(run, i, 2, IPTX_B32);
  const uint32_t c = (uint32_t)iptx_get(run, i, 3, IPTX_B32),
                 table = (uint32_t)iptx_get(run, i, 4, IPTX_B32);
  uint32_t out = 0;
  for (unsigned row = 0; row < 8; row++)
    if (table >> row & 1) out |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  iptx_put(run, i, 0, out);
}

static void do_prmt(struct iptx_run *run, const struct iptx_instruction *i) {
  const uint64_t bytes = iptx_get(run, i, 2, IPTX_B32) << 32 | iptx_get(run, i, 1, IPTX_B32),
                 picks = iptx_get(run, i, 3, IPTX_B32);
  uint32_t out = 0;
  for (unsigned at = 0; at < 4; at++) {
    const unsigned pick = picks >> 4 * at & 15, byte = (unsigned)(bytes >> 8 * (pick & 7)) & 255;
    out |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * at;
  }
  iptx_put(run, i, 0, out);
}

static void do_popc(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_put(run, i, 0, (uint64_t)__builtin_popcountll(iptx_get(run, i, 1, arithmetic_type_of(i))));
}

static uint64_t arithmetic_leading_zeros(uint64_t value, unsigned width) {
  return value ? (uint64_t)__builtin_clzll(value) - (64 - width) : width;
}

static void do_clz(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_put(run, i, 0,
           arithmetic_leading_zeros(iptx_get(run, i, 1, arithmetic_type_of(i)),
                                    iptx_bits(arithmetic_type_of(i))));
}

/* Finds the position of the highest bit that differs from the sign, or with .shiftamt the bit's
   distance from the type's top bit; all ones if there is none. */
static void do_bfind(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned width = iptx_bits(arithmetic_type_of(i));
  uint64_t value = iptx_get(run, i, 1, arithmetic_type_of(i));
  if (is_signed(arithmetic_type_of(i)) && (int64_t)value < 0) value = ~value;
  if (width < 64) value &= (UINT64_C(1) << width) - 1;
  const uint64_t zeros = arithmetic_leading_zeros(value, width);
  iptx_put(run, i, 0,
           zeros == width                 ? 0xffffffffu
           : iptx_has(i, IPTX_W_SHIFTAMT) ? zeros
                                          : width - 1 - zeros);
}

static void do_brev(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned width = iptx_bits(arithmetic_type_of(i));
  const uint64_t value = iptx_get(run, i, 1, arithmetic_type_of(i));
  uint64_t out = 0;
  for (unsigned at = 0; at < width; at++) out |= (value >> at & 1) << (width - 1 - at);
  iptx_put(run, i, 0, out);
}

static void do_bfe(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  const unsigned width = iptx_bits(type), from = (unsigned)iptx_get(run, i, 2, IPTX_U32) & 255;
  unsigned length = (unsigned)iptx_get(run, i, 3, IPTX_U32) & 255;
  const uint64_t value = iptx_get(run, i, 1, width == 64 ? IPTX_B64 : IPTX_B32);
  const unsigned last = from + length - 1 < width - 1 ? from + length - 1 : width - 1;
  const uint64_t sign = length && is_signed(type) ? value >> last & 1 : 0;
  if (from >= width) length = 0;
  const uint64_t mask = length >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << length) - 1;
  uint64_t out = length ? value >> from & mask : 0;
  if (sign) out |= ~mask;
  if (sign && from + length > width) out |= ~UINT64_C(0) << (width > from ? width - from : 0);
  iptx_put(run, i, 0, out);
}

static void do_bfi(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = arithmetic_type_of(i);
  const unsigned from = (unsigned)iptx_get(run, i, 3, IPTX_U32) & 255,
                 length = (unsigned)iptx_get(run, i, 4, IPTX_U32) & 255;
  const uint64_t mask = from >= iptx_bits(type) || !length
                            ? 0
                            : (length >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << length) - 1) << from;
  const uint64_t part = from < 64 ? iptx_get(run, i, 1, type) << from : 0;
  iptx_put(run, i, 0, (iptx_get(run, i, 2, type) & ~mask) | (part & mask));
}

/* ---- Moves, conversions, comparisons -------------------------------------------------------- */

/* mov from a vector joins its parts into a word; mov to a vector splits a word. */
static void do_mov(struct iptx_run *run, const struct iptx_instruction *i) {
  const struct iptx_argument *to = &i->arguments[0], *from = &i->arguments[1];
  const enum iptx_type type = arithmetic_type_of(i);
  uint64_t bits = iptx_read(run, &from->terms[0], type);
  const unsigned parts = from->count > to->count ? from->count : to->count,
                 width = iptx_bits(type) / (parts ? parts : 1);
  const uint64_t mask = width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
  if (from->count > 1) bits = 0;
  for (unsigned at = 0; at < from->count && from->count > 1; at++)
    bits |= (iptx_read(run, &from->terms[at], IPTX_B64) & mask) << at * width;
  for (unsigned at = 0; at < to->count; at++)
    iptx_write(run, &to->terms[at], to->count > 1 ? bits >> at * width & mask : bits);
}

static double rounded(const struct iptx_instruction *i, double value) {
  if (iptx_has(i, IPTX_W_RZI)) return trunc(value);
  if (iptx_has(i, IPTX_W_RMI)) return floor(value);
  if (iptx_has(i, IPTX_W_RPI)) return ceil(value);
  return rint(value);
}

static uint64_t to_integer(const struct iptx_instruction *i, double value, enum iptx_type to) {
  const unsigned width = iptx_bits(to);
  const double low = is_signed(to) ? -ldexp(1, (int)width - 1) : 0,
               high = ldexp(1, (int)width - is_signed(to));
  value = rounded(i, value);
  if (isnan(value)) return 0;
  if (value <= low) return is_signed(to) ? UINT64_C(1) << (width - 1) : 0;
  if (value >= high)
    return is_signed(to) ? (UINT64_C(1) << (width - 1)) - 1
           : width == 64 ? ~UINT64_C(0)
                         : (UINT64_C(1) << width) - 1;
  return is_signed(to) ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static bool arithmetic_is_number(enum iptx_type type) {
  return is_real(type) || iptx_kind(type) == 'x' || iptx_kind(type) == 'y';
}

/* Rounds toward zero or in a given direction: takes the value rounded to nearest, and moves it to
   the neighbouring number if rounding to nearest went the other way. */
static uint64_t directed(const struct iptx_instruction *i, double value, enum iptx_type to) {
  const uint64_t bits = iptx_from_real(value, to);
  const double near = iptx_real(bits, to);
  const bool up = near > value, down = near < value;
  const bool less =
      iptx_has(i, IPTX_W_RZ) ? (value > 0 ? up : false) : iptx_has(i, IPTX_W_RM) && up;
  const bool more =
      iptx_has(i, IPTX_W_RZ) ? (value < 0 ? down : false) : iptx_has(i, IPTX_W_RP) && down;
  if (!less && !more) return bits;
  const bool positive = near > 0 || (near == 0 && value > 0);
  return positive == more ? bits + 1 : bits - 1; /* the bits grow with the magnitude */
}

static uint64_t convert(const struct iptx_instruction *i, uint64_t bits, enum iptx_type to,
                        enum iptx_type from) {
  if (arithmetic_is_number(from)) {
    if (!arithmetic_is_number(to)) return to_integer(i, iptx_real(bits, from), to);
    const double value = unit_range(iptx_real(bits, from), i);
    const bool integral = iptx_has(i, IPTX_W_RZI) || iptx_has(i, IPTX_W_RMI) ||
                          iptx_has(i, IPTX_W_RPI) || iptx_has(i, IPTX_W_RNI);
    return directed(i, integral ? rounded(i, value) : value, to);
  }
  const double value = is_signed(from) ? (double)(int64_t)bits : (double)bits;
  static const struct iptx_instruction plain = {.count = 0};
  if (arithmetic_is_number(to)) return directed(i, value, to);
  return iptx_has(i, IPTX_W_SAT) ? to_integer(&plain, value, to) : bits;
}

/* `cvt.rn.f16x2.f32 d, a, b`: a becomes the upper half. */
static void do_cvt(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type to = arithmetic_type_of(i), from = i->type_count > 1 ? i->types[1] : to;
  const bool packs = i->count == 3;
  const uint64_t bits = iptx_get(run, i, 1, from);
  if (!packs) {
    iptx_put(run, i, 0, convert(i, bits, to, from));
    return;
  }
  const unsigned width = iptx_bits(to) > 16 ? 16 : 8;
  iptx_put(run, i, 0,
           convert(i, bits, to, from) << width | convert(i, iptx_get(run, i, 2, from), to, from));
}

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
static const struct {
  enum iptx_word word;
  unsigned holds;
} comparisons[] = {{IPTX_W_EQ, EQUAL},
                   {IPTX_W_NE, LESS | GREATER},
                   {IPTX_W_LT, LESS},
                   {IPTX_W_LE, LESS | EQUAL},
                   {IPTX_W_GT, GREATER},
                   {IPTX_W_GE, GREATER | EQUAL},
                   {IPTX_W_LO, LESS},
                   {IPTX_W_LS, LESS | EQUAL},
                   {IPTX_W_HI, GREATER},
                   {IPTX_W_HS, GREATER | EQUAL},
                   {IPTX_W_EQU, EQUAL | UNORDERED},
                   {IPTX_W_NEU, LESS | GREATER | UNORDERED},
                   {IPTX_W_LTU, LESS | UNORDERED},
                   {IPTX_W_LEU, LESS | EQUAL | UNORDERED},
                   {IPTX_W_GTU, GREATER | UNORDERED},
                   {IPTX_W_GEU, GREATER | EQUAL | UNORDERED},
                   {IPTX_W_NUM, LESS | EQUAL | GREATER},
                   {IPTX_W_NAN, UNORDERED}};

static unsigned relation(uint64_t a, uint64_t b, enum iptx_type type) {
  if (is_real(type)) {
    const double x = iptx_real(a, type), y = iptx_real(b, type);
    return isunordered(x, y) ? UNORDERED : x < y ? LESS : x == y ? EQUAL : GREATER;
  }
  if (is_signed(type)) return (int64_t)a < (int64_t)b ? LESS : a == b ? EQUAL : GREATER;
  return a < b ? LESS : a == b ? EQUAL : GREATER;
}

static bool compares(const struct iptx_run *run, const struct iptx_instruction *i,
                     enum iptx_type type) {
  const unsigned found = relation(iptx_get(run, i, 1, type), iptx_get(run, i, 2, type), type);
  for (size_t row = 0; row < sizeof comparisons / sizeof *comparisons; row++)
    if (iptx_has(i, comparisons[row].word)) return comparisons[row].holds & found;
  return false;
}

static bool with_predicate(const struct iptx_instruction *i, bool p, bool other) {
  if (iptx_has(i, IPTX_W_OR)) return p || other;
  return iptx_has(i, IPTX_W_XOR) ? p != other : p && other;
}

static void do_setp(struct iptx_run *run, const struct iptx_instruction *i) {
  bool p = compares(run, i, arithmetic_type_of(i)), q = !p;
  if (i->count > 3) {
    const bool other = iptx_get(run, i, 3, IPTX_PRED);
    p = with_predicate(i, p, other);
    q = with_predicate(i, q, other);
  }
  iptx_write(run, &i->arguments[0].terms[0], p);
  if (i->arguments[0].count > 1) iptx_write(run, &i->arguments[0].terms[1], q);
}

static void do_set(struct iptx_run *run, const struct iptx_instruction *i) {
  const bool holds = compares(run, i, i->type_count > 1 ? i->types[1] : arithmetic_type_of(i));
  iptx_put(run, i, 0,
           is_real(arithmetic_type_of(i)) ? iptx_from_real(holds, arithmetic_type_of(i))
           : holds                        ? ~UINT64_C(0)
                                          : 0);
}

static void do_selp(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_put(run, i, 0,
           iptx_get(run, i, iptx_get(run, i, 3, IPTX_PRED) ? 1 : 2, arithmetic_type_of(i)));
}

#define ROW(name, least, most)                                                                     \
  { #name, IPTX_W_COUNT, least, most, do_##name }
const struct iptx_operation iptx_arithmetic[] = {
    ROW(mov, 2, 2),       ROW(add, 3, 3),      ROW(sub, 3, 3),
    ROW(mul, 3, 3),       ROW(mad, 4, 4),      ROW(fma, 4, 4),
    ROW(div, 3, 3),       ROW(rem, 3, 3),      ROW(min, 3, 3),
    ROW(max, 3, 3),       ROW(neg, 2, 2),      ROW(abs, 2, 2),
    ROW(and, 3, 3),       ROW(or, 3, 3),       ROW(xor, 3, 3),
    ROW(not, 2, 2),       ROW(shl, 3, 3),      ROW(shr, 3, 3),
    ROW(shf, 4, 4),       ROW(lop3, 5, 5),     ROW(prmt, 4, 4),
    ROW(popc, 2, 2),      ROW(clz, 2, 2),      ROW(bfind, 2, 2),
    ROW(brev, 2, 2),      ROW(bfe, 4, 4),      ROW(bfi, 5, 5),
    ROW(cvt, 2, 3),       ROW(setp, 3, 4),     ROW(set, 3, 3),
    ROW(selp, 4, 4),      ROW(rcp, 2, 2),      ROW(sqrt, 2, 2),
    ROW(rsqrt, 2, 2),     ROW(sin, 2, 2),      ROW(cos, 2, 2),
    ROW(lg2, 2, 2),       ROW(ex2, 2, 2),      ROW(tanh, 2, 2),
    ROW(mul24, 3, 3),     ROW(sad, 4, 4),      ROW(dp4a, 4, 4),
    ROW(vabsdiff4, 4, 4), ROW(copysign, 3, 3), {NULL, IPTX_W_COUNT, 0, 0, NULL}};
#undef ROW
