/* Tensor core operations of inline PTX: ldmatrix, stmatrix, mma.sync; see inline_ptx.h. With g = l
   / 4 and t = l % 4, lane l holds: of A, in register 2 q + h (q if A has 8 rows), word t + 4 q of
   row g + 8 h; of B, in register q, word t + 4 q of column g; of the sums, columns 2 t and 2 t + 1
   of the rows g + 8 h. A word is 4 bytes of elements, or a double. PTX ISA, "Matrix
   Multiply-Accumulate Operation using mma Instruction". */
#include <stdio.h>
#include <string.h>

#include "async.h"
#include "inline_ptx.h"
#include "scheduler.h"

/* WORD_ELEMENTS: room for the elements of a register. */
enum { ROWS = 16, COLUMNS = 8, DEPTH = 64, LANES = 32, WORD_ELEMENTS = 8 };

static const unsigned all_lanes = ~0u;

/* ---- mma.sync ------------------------------------------------------------------------------- */

struct member {
  const struct iptx_instruction *i;
  uint64_t a[IPTX_TERMS], b[IPTX_TERMS];
  double sums[4];
  int64_t whole[4];
};

struct shape {
  unsigned halves, a_registers, b_registers, elements, depth;
  enum iptx_type a, b, sum, result;
};

static struct shape matrix_shape_of(const struct iptx_instruction *i) {
  struct shape s = {.halves = iptx_has(i, IPTX_W_M8N8K4) || iptx_has(i, IPTX_W_M8N8K16) ? 1 : 2,
                    .a_registers = i->arguments[1].count,
                    .b_registers = i->arguments[2].count,
                    .result = i->types[0],
                    .a = i->types[1],
                    .b = i->types[2],
                    .sum = i->types[3]};
  s.elements = s.a == IPTX_F64 ? 1 : 32 / iptx_bits(s.a);
  s.depth = s.b_registers * 4 * s.elements;
  return s;
}

static bool matrix_is_whole(const struct shape *s) {
  return iptx_kind(s->sum) == 's';
}

/* Writes the elements of a register. With a constant format each loop becomes a few
   instructions. */
static void elements_of(uint64_t word, const struct shape *s, enum iptx_type type, double *to) {
  const unsigned width = iptx_bits(type);
  switch (iptx_kind(type)) {
  case 'g':
    for (unsigned e = 0; e < 2; e++) to[e] = small_float_load(iptx_brain, word >> 16 * e & 0xffff);
    break;
  case 'h':
    for (unsigned e = 0; e < 2; e++) to[e] = small_float_load(iptx_half, word >> 16 * e & 0xffff);
    break;
  case 's':
    for (unsigned e = 0; e < s->elements; e++)
      to[e] = (double)((int64_t)(word << (64 - width - e * width)) >> (64 - width));
    break;
  case 'u':
    for (unsigned e = 0; e < s->elements; e++)
      to[e] = (double)(word >> e * width & ((UINT64_C(1) << width) - 1));
    break;
  /* the last 13 bits do not reach the multiplier */
  case 't': to[0] = iptx_real(word & 0xffffe000u, IPTX_F32); break;
  default:
    for (unsigned e = 0; e < s->elements; e++) to[e] = iptx_real(word >> e * (width & 63), type);
  }
}

typedef double row_of_b __attribute__((vector_size(COLUMNS * sizeof(double))));

struct matrices {
  double a[ROWS][DEPTH];
  row_of_b b[DEPTH], sums[ROWS];
};

static void matrix_place(struct matrices *m, const struct shape *s, const struct member *own,
                         unsigned lane) {
  for (unsigned r = 0; r < s->a_registers; r++)
    elements_of(
        own->a[r], s, s->a,
        &m->a[lane / 4 + r % s->halves * 8][(lane % 4 + 4 * (r / s->halves)) * s->elements]);
  for (unsigned r = 0; r < s->b_registers; r++) {
    double column[WORD_ELEMENTS] = {0};
    elements_of(own->b[r], s, s->b, column);
    for (unsigned e = 0; e < s->elements; e++)
      m->b[(lane % 4 + 4 * r) * s->elements + e][lane / 4] = column[e];
  }
}

static void add_to_lane(const struct matrices *m, const struct shape *s, struct member *own,
                        unsigned lane) {
  for (unsigned r = 0; r < 2 * s->halves; r++) {
    const double sum = m->sums[lane / 4 + r / 2 * 8][lane % 4 * 2 + r % 2];
    if (matrix_is_whole(s))
      own->whole[r] += (int64_t)sum; /* exact: at most DEPTH products of 16 bits */
    else
      own->sums[r] += sum;
  }
}

static void matrix_multiply(void **slots, unsigned mask) {
  struct matrices m;
  if (mask != all_lanes) memset(&m, 0, sizeof m);
  const struct member *first = slots[__builtin_ctz(mask)];
  const struct shape s = matrix_shape_of(first->i);
  for (unsigned lane = 0; lane < LANES; lane++)
    if (slots[lane]) matrix_place(&m, &s, slots[lane], lane);
  for (unsigned row = 0; row < 8 * s.halves; row++) {
    row_of_b sums = {0};
    for (unsigned k = 0; k < s.depth; k++) sums += m.a[row][k] * m.b[k];
    m.sums[row] = sums;
  }
  for (unsigned lane = 0; lane < LANES; lane++)
    if (slots[lane]) add_to_lane(&m, &s, slots[lane], lane);
}

/* Reads the sums; f16 has two in a register. */
static void take_sums(const struct iptx_run *run, const struct shape *s,
                      const struct iptx_argument *from, struct member *own) {
  const bool packed = s->sum == IPTX_F16;
  for (unsigned r = 0; r < 2 * s->halves; r++) {
    const uint64_t bits = iptx_bits_of(run, &from->terms[packed ? r / 2 : r]);
    own->sums[r] = matrix_is_whole(s) ? 0 : iptx_real(packed ? bits >> 16 * (r % 2) : bits, s->sum);
    own->whole[r] = matrix_is_whole(s) ? (int32_t)bits : 0;
  }
}

static void give_sums(struct iptx_run *run, const struct shape *s, const struct iptx_argument *to,
                      const struct member *own) {
  for (unsigned r = 0; r < 2 * s->halves; r++) {
    const uint64_t bits =
        matrix_is_whole(s) ? (uint32_t)own->whole[r] : iptx_from_real(own->sums[r], s->result);
    if (s->result != IPTX_F16) {
      iptx_write(run, &to->terms[r], bits);
    } else if (r % 2) {
      iptx_write(run, &to->terms[r / 2], bits << 16 | iptx_from_real(own->sums[r - 1], IPTX_F16));
    }
  }
}

static void mma(struct iptx_run *run, const struct iptx_instruction *i) {
  struct member own; /* not initialised, for speed: the elements in use are set below */
  own.i = i;
  if (i->type_count != 4) iptx_trap(run, "an mma of other than four types");
  const struct shape s = matrix_shape_of(i);
  if (iptx_has(i, IPTX_W_M8N8K4) && s.a != IPTX_F64)
    iptx_trap(run,
              "an mma m8n8k4 of other numbers than f64, which only compute capability 7.0 has");
  const unsigned sums = s.sum == IPTX_F16 ? s.halves : 2 * s.halves;
  const bool fits = i->arguments[0].count >= (s.result == IPTX_F16 ? s.halves : 2 * s.halves) &&
                    i->arguments[3].count >= sums;
  if (!fits || s.depth > DEPTH || s.a_registers != s.b_registers * s.halves)
    iptx_trap(run, "an mma whose operands do not fit its shape");
  for (unsigned r = 0; r < s.a_registers; r++)
    own.a[r] = iptx_bits_of(run, &i->arguments[1].terms[r]);
  for (unsigned r = 0; r < s.b_registers; r++)
    own.b[r] = iptx_bits_of(run, &i->arguments[2].terms[r]);
  take_sums(run, &s, &i->arguments[3], &own);
  const unsigned came = collective_warp_at(run->site, all_lanes, matrix_multiply, &own);
  if (run->watch && ~came) run->watch->lane(all_lanes, (unsigned)__builtin_ctz(~came));
  give_sums(run, &s, &i->arguments[0], &own);
}

/* ---- ldmatrix, stmatrix --------------------------------------------------------------------- */

struct rows {
  char *own;
  char *of[LANES];
};

static void tell_rows(void **slots, unsigned mask) {
  (void)mask;
  for (unsigned lane = 0; lane < LANES; lane++) {
    struct rows *to = slots[lane];
    for (unsigned other = 0; to && other < LANES; other++)
      to->of[other] = slots[other] ? ((struct rows *)slots[other])->own : NULL;
  }
}

static unsigned matrices_of(const struct iptx_instruction *i) {
  return iptx_has(i, IPTX_W_X4) ? 4 : iptx_has(i, IPTX_W_X2) ? 2 : 1;
}

static void meet_rows(struct iptx_run *run, const struct iptx_instruction *i, unsigned address,
                      struct rows *rows) {
  const unsigned used = matrices_of(i) * 8, lane = fibers_launch()->builtins->linear % LANES;
  rows->own = NULL;
  if (lane < used) rows->own = async_pointer(iptx_shared(run, i, address));
  if ((uintptr_t)rows->own % 16) {
    if (run->watch) run->watch->misaligned("a row of ldmatrix", rows->own, 16, 0, run->site);
    iptx_trap(run, "a row of ldmatrix or stmatrix lies at a multiple of 16 bytes");
  }
  const unsigned came = collective_warp_at(run->site, all_lanes, tell_rows, rows);
  if (run->watch && ~came) run->watch->lane(all_lanes, (unsigned)__builtin_ctz(~came));
  for (unsigned row = 0; row < used; row++)
    if (!rows->of[row]) iptx_trap(run, "ldmatrix or stmatrix without a lane that names a row");
}

/* Returns the address of a half of the lane's word of a matrix. */
static char *half_at(const struct rows *rows, const struct iptx_instruction *i, unsigned matrix,
                     unsigned half) {
  const unsigned lane = fibers_launch()->builtins->linear % LANES;
  if (!iptx_has(i, IPTX_W_TRANS)) return rows->of[matrix * 8 + lane / 4] + lane % 4 * 4 + 2 * half;
  return rows->of[matrix * 8 + lane % 4 * 2 + half] + lane / 4 * 2;
}

static void ldmatrix(struct iptx_run *run, const struct iptx_instruction *i) {
  struct rows rows;
  if (i->arguments[0].count != matrices_of(i))
    iptx_trap(run, "ldmatrix with other registers than matrices");
  meet_rows(run, i, 1, &rows);
  for (unsigned matrix = 0; matrix < matrices_of(i); matrix++) {
    uint16_t halves[2];
    for (unsigned half = 0; half < 2; half++) {
      const char *at = half_at(&rows, i, matrix, half);
      if (iptx_has(i, IPTX_W_TRANS) || half == 0)
        iptx_note(run, at, iptx_has(i, IPTX_W_TRANS) ? 2 : 4, 0);
      memcpy(&halves[half], at, sizeof halves[half]);
    }
    iptx_write(run, &i->arguments[0].terms[matrix], (uint64_t)halves[1] << 16 | halves[0]);
  }
}

static void stmatrix(struct iptx_run *run, const struct iptx_instruction *i) {
  struct rows rows;
  if (i->arguments[1].count != matrices_of(i))
    iptx_trap(run, "stmatrix with other registers than matrices");
  meet_rows(run, i, 0, &rows);
  for (unsigned matrix = 0; matrix < matrices_of(i); matrix++) {
    const uint32_t word = (uint32_t)iptx_read(run, &i->arguments[1].terms[matrix], IPTX_B32);
    for (unsigned half = 0; half < 2; half++) {
      char *at = half_at(&rows, i, matrix, half);
      const uint16_t part = (uint16_t)(word >> 16 * half);
      if (iptx_has(i, IPTX_W_TRANS) || half == 0)
        iptx_note(run, at, iptx_has(i, IPTX_W_TRANS) ? 2 : 4, CPU_WRITE);
      memcpy(at, &part, sizeof part);
    }
  }
}

const struct iptx_operation iptx_matrix[] = {
    {"mma", IPTX_W_M16N8K4, 4, 4, mma},        {"mma", IPTX_W_M16N8K8, 4, 4, mma},
    {"mma", IPTX_W_M16N8K16, 4, 4, mma},       {"mma", IPTX_W_M16N8K32, 4, 4, mma},
    {"mma", IPTX_W_M8N8K16, 4, 4, mma},        {"mma", IPTX_W_M8N8K4, 4, 4, mma},
    {"ldmatrix", IPTX_W_M8N8, 2, 2, ldmatrix}, {"stmatrix", IPTX_W_M8N8, 2, 2, stmatrix},
    {NULL, IPTX_W_COUNT, 0, 0, NULL}};
