/* Inline PTX: the text of a kernel's `asm` is parsed once and interpreted at each execution.
   inline_ptx_parse.c parses; inline_ptx_run.c executes. PTX ISA 9.0. */
#ifndef EMULATOR_INLINE_PTX_H
#define EMULATOR_INLINE_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi.h"
#include "base/error.h"
#include "base/small_float.h"

/* The words of an instruction after its name. A type has a name, a number of bits and a letter for
   its kind: u, s, b; h for f16, g for bf16, t for tf32, f for f32, d for f64, p for a predicate, x
   for e4m3, y for e5m2. A capital letter is a pair. */
/* clang-format off */
#define IPTX_TYPES(X)                                                                              \
  X(U8, 8, 'u') X(U16, 16, 'u') X(U32, 32, 'u') X(U64, 64, 'u') X(S8, 8, 's') X(S16, 16, 's')      \
  X(S32, 32, 's') X(S64, 64, 's') X(B8, 8, 'b') X(B16, 16, 'b') X(B32, 32, 'b') X(B64, 64, 'b')    \
  X(F16, 16, 'h') X(F16X2, 32, 'H') X(BF16, 16, 'g') X(BF16X2, 32, 'G') X(TF32, 32, 't')           \
  X(F32, 32, 'f') X(F64, 64, 'd') X(PRED, 1, 'p') X(E4M3, 8, 'x') X(E5M2, 8, 'y')
#define IPTX_WORDS(X)                                                                              \
  X(GLOBAL) X(SHARED) X(LOCAL) X(CONST) X(PARAM) X(CTA) X(CLUSTER) X(GPU) X(SYS) X(VOLATILE)       \
  X(RELAXED) X(ACQUIRE) X(RELEASE) X(ACQ_REL) X(SC) X(WEAK) X(CA) X(CG) X(CS) X(LU) X(CV) X(WB)    \
  X(WT) X(NC) X(V2) X(V4) X(V8) X(HI) X(LO) X(WIDE) X(SAT) X(SATFINITE) X(FTZ) X(APPROX) X(FULL)   \
  X(RN) X(RZ) X(RM) X(RP) X(RNI) X(RZI) X(RMI) X(RPI) X(NAN) X(EQ) X(NE) X(LT) X(LE) X(GT) X(GE)   \
  X(LS) X(HS) X(EQU) X(NEU) X(LTU) X(LEU) X(GTU) X(GEU) X(NUM) X(AND) X(OR) X(XOR) X(ADD) X(INC)   \
  X(DEC) X(MIN) X(MAX) X(EXCH) X(CAS) X(SYNC) X(ALIGNED) X(UP) X(DOWN) X(BFLY) X(IDX) X(ALL)       \
  X(ANY) X(UNI) X(BALLOT) X(ARRIVE) X(WAIT) X(RED) X(POPC) X(ASYNC) X(BULK) X(TENSOR)              \
  X(COMMIT_GROUP) X(WAIT_GROUP) X(WAIT_ALL) X(READ) X(MBARRIER) X(INIT) X(INVAL) X(EXPECT_TX)      \
  X(NOCOMPLETE) X(NOINC) X(TRY_WAIT) X(TEST_WAIT) X(PARITY) X(TILE) X(X1) X(X2) X(X4) X(TRANS)     \
  X(M8N8) X(M8N8K4) X(M8N8K16) X(M16N8K4) X(M16N8K8) X(M16N8K16) X(M16N8K32) X(ROW) X(COL) X(L1)   \
  X(L2) X(PROXY) X(ALIAS) X(MBARRIER_INIT) X(TO) X(MULTICAST) X(SHIFTAMT) X(CLAMP) X(WRAP) X(L)    \
  X(R) X(CC) X(TENSORMAP) X(LAUNCH_DEPENDENTS) X(UNIFORM) X(LEVEL) X(EVICT_NORMAL) X(EVICT_LAST)   \
  X(FRACTIONAL) X(HINT) X(WARP) X(RNA) X(CACHE) X(D1) X(D2) X(D3) X(D4) X(D5) X(MMA_ASYNC)         \
  X(FENCE)
/* Special registers; those of three dimensions have consecutive numbers. */
#define IPTX_SPECIALS(X)                                                                           \
  X(TID, "tid.x") X(TID_Y, "tid.y") X(TID_Z, "tid.z") X(NTID, "ntid.x") X(NTID_Y, "ntid.y")        \
  X(NTID_Z, "ntid.z") X(CTAID, "ctaid.x") X(CTAID_Y, "ctaid.y") X(CTAID_Z, "ctaid.z")              \
  X(NCTAID, "nctaid.x") X(NCTAID_Y, "nctaid.y") X(NCTAID_Z, "nctaid.z") X(LANEID, "laneid")        \
  X(WARPID, "warpid") X(NWARPID, "nwarpid") X(SMID, "smid") X(NSMID, "nsmid") X(GRIDID, "gridid")  \
  X(MASK_EQ, "lanemask_eq") X(MASK_LT, "lanemask_lt") X(MASK_LE, "lanemask_le")                    \
  X(MASK_GT, "lanemask_gt") X(MASK_GE, "lanemask_ge") X(CLOCK, "clock") X(CLOCK_HI, "clock_hi")    \
  X(CLOCK64, "clock64") X(GLOBALTIMER, "globaltimer") X(CLUSTER_RANK, "cluster_ctarank")           \
  X(CLUSTER_RANKS, "cluster_nctarank") X(CLUSTER_CTAID, "cluster_ctaid.x")                         \
  X(CLUSTER_CTAID_Y, "cluster_ctaid.y") X(CLUSTER_CTAID_Z, "cluster_ctaid.z")                      \
  X(CLUSTER_NCTAID, "cluster_nctaid.x") X(CLUSTER_NCTAID_Y, "cluster_nctaid.y")                    \
  X(CLUSTER_NCTAID_Z, "cluster_nctaid.z") X(DYNAMIC_BYTES, "dynamic_smem_size")                    \
  X(GLOBALTIMER_LO, "globaltimer_lo") X(GLOBALTIMER_HI, "globaltimer_hi")
/* clang-format on */

enum iptx_type {
  IPTX_NO_TYPE,
#define IPTX_TYPE(name, bits, kind) IPTX_##name,
  IPTX_TYPES(IPTX_TYPE)
#undef IPTX_TYPE
};
enum iptx_word {
#define IPTX_WORD(name) IPTX_W_##name,
  IPTX_WORDS(IPTX_WORD)
#undef IPTX_WORD
      IPTX_W_COUNT
};

enum {
  IPTX_TERMS = 8,
  IPTX_ARGUMENTS = 8,
  IPTX_LIST = 128,
  IPTX_INSTRUCTION_TYPES = 4,
  IPTX_REGISTERS = 128
};

enum iptx_term_kind {
  IPTX_NOTHING,
  IPTX_REGISTER,
  IPTX_OPERAND,
  IPTX_IMMEDIATE,
  IPTX_REAL,
  IPTX_SPECIAL
};

struct iptx_term {
  unsigned char kind;
  bool predicate; /* a register that was declared as .pred */
  bool negated;   /* of a predicate: `!p` */
  uint16_t index; /* number of a register, operand or special register */
  uint64_t bits;  /* value of a number; a real number is kept as a double */
};

/* `%1`, `{a, b}`, or `[%1 + 16]`, also `[%1, {x, y}]`, whose coordinates are the terms from the
   second on. */
struct iptx_argument {
  bool address; /* in brackets */
  /* number of terms; a wgmma's sums may be up to IPTX_LIST, of which the first IPTX_TERMS are
     kept */
  unsigned char count;
  struct iptx_term terms[IPTX_TERMS];
  int64_t offset;
  struct iptx_term added; /* of `[%0 + %1]`, the second operand; kind IPTX_NOTHING: none */
};

struct iptx_run;
struct iptx_instruction;
typedef void iptx_perform(struct iptx_run *run, const struct iptx_instruction *i);

struct iptx_instruction {
  iptx_perform *perform;
  struct iptx_term guard; /* kind IPTX_NOTHING: no guard */
  uint64_t words[(IPTX_W_COUNT + 63) / 64];
  unsigned char types[IPTX_INSTRUCTION_TYPES], type_count;
  unsigned char count;
  uint16_t columns; /* of a wgmma: the n of m64nNkK */
  uint16_t target;  /* of a branch */
  const char *label;
  size_t label_length;
  struct iptx_argument arguments[IPTX_ARGUMENTS];
};

struct iptx_program {
  struct iptx_instruction *instructions;
  size_t count;
  unsigned registers;
  char *text; /* the text, which label names point into */
  struct iptx_program *next;
};

/* One execution of a program. */
struct iptx_run {
  struct iptx_program *program;
  const struct cpu_ptx_operand *operands;
  unsigned operand_count;
  const struct cpu_watch *watch; /* NULL: the kernel is not watched */
  const void *site;
  const char *where;
  size_t at; /* the next instruction */
  uint64_t registers[IPTX_REGISTERS];
};

/* Parses a text. Returns NULL with the reason in `wrong`, such as "the instruction 'wgmma'". */
struct iptx_program *iptx_parse(const char *text, char *wrong, size_t size);
void iptx_free(struct iptx_program *program);

static inline bool iptx_has(const struct iptx_instruction *i, enum iptx_word word) {
  return i->words[word / 64] >> word % 64 & 1;
}

static inline unsigned iptx_bits(enum iptx_type type) {
#define IPTX_BITS(name, bits, kind) bits,
  static const unsigned char bits[] = {0, IPTX_TYPES(IPTX_BITS)};
#undef IPTX_BITS
  return bits[type];
}

static inline char iptx_kind(enum iptx_type type) {
#define IPTX_KIND(name, bits, kind) kind,
  static const char kinds[] = {0, IPTX_TYPES(IPTX_KIND)};
#undef IPTX_KIND
  return kinds[type];
}

static const struct small_float iptx_half = {5, 10, true}, iptx_brain = {8, 7, true},
                                iptx_e4m3 = {4, 3, false}, iptx_e5m2 = {5, 2, true};

static inline double iptx_real(uint64_t bits, enum iptx_type type) {
  const uint32_t word = (uint32_t)bits;
  float single;
  double value;
  switch (iptx_kind(type)) {
  case 'h':
  case 'H': return small_float_load(iptx_half, word & 0xffff);
  case 'g':
  case 'G': return small_float_load(iptx_brain, word & 0xffff);
  case 'x': return small_float_load(iptx_e4m3, word & 0xff);
  case 'y': return small_float_load(iptx_e5m2, word & 0xff);
  case 'd': memcpy(&value, &bits, sizeof value); return value;
  default: memcpy(&single, &word, sizeof single); return single;
  }
}

/* ---- inline_ptx_values.c -------------------------------------------------------------------- */

uint64_t iptx_read(const struct iptx_run *run, const struct iptx_term *term, enum iptx_type type);
void iptx_write(struct iptx_run *run, const struct iptx_term *term, uint64_t bits);
/* Returns the value of an argument's first term, which may be a number. */
static inline uint64_t iptx_get(const struct iptx_run *run, const struct iptx_instruction *i,
                                unsigned argument, enum iptx_type type) {
  return iptx_read(run, &i->arguments[argument].terms[0], type);
}
static inline void iptx_put(struct iptx_run *run, const struct iptx_instruction *i,
                            unsigned argument, uint64_t bits) {
  iptx_write(run, &i->arguments[argument].terms[0], bits);
}
static inline void *iptx_variable(const struct cpu_ptx_operand *output) {
  return (void *)(uintptr_t)output->bits;
}
/* Returns the bits of a term; quick for an operand of 4 bytes, of which mma has many. */
static inline uint64_t iptx_bits_of(const struct iptx_run *run, const struct iptx_term *term) {
  uint32_t word;
  if (term->kind != IPTX_OPERAND || term->index >= run->operand_count ||
      run->operands[term->index].bytes != sizeof word)
    return iptx_read(run, term, IPTX_B64);
  const struct cpu_ptx_operand *operand = &run->operands[term->index];
  if (!operand->output) return (uint32_t)operand->bits;
  memcpy(&word, iptx_variable(operand), sizeof word);
  return word;
}
/* End the launch with a fault text. iptx_trap reports CUGEN_FINDING_ASYNC_MISUSE before, whichever
   instruction is misused. */
_Noreturn void iptx_end(const struct iptx_run *run, const char *what);
_Noreturn void iptx_trap(const struct iptx_run *run, const char *what);
void iptx_close(struct iptx_program *programs);
/* The hook cpu_async.ptx of abi.h. */
void iptx_call(struct cpu_ptx_place *place, const char *text,
               const struct cpu_ptx_operand *operands, unsigned count,
               const struct cpu_watch *watch, const void *site);

/* ---- The operations ------------------------------------------------------------------------- */

struct iptx_operation {
  const char *name; /* of the instruction, up to the first point */
  /* the word that tells instructions of one name apart; IPTX_W_COUNT: none */
  enum iptx_word word;
  unsigned char least, most; /* number of arguments; least above most: the instruction is refused */
  iptx_perform *perform;     /* NULL: the instruction does nothing */
};
/* Tables of operations, each ended by a NULL name; the first row that fits is used. */
extern const struct iptx_operation iptx_arithmetic[], iptx_memory[], iptx_collective[],
    iptx_matrix[], iptx_control[], iptx_warpgroup[];

uint64_t iptx_from_real(double value, enum iptx_type type);
/* Returns the bits of a number of that type, with the sign in all higher bits if the type is
   signed. */
uint64_t iptx_extended(uint64_t bits, enum iptx_type type);
/* Returns the result of an atomic operation or a reduction, by the words of the instruction;
   without a known word, the new value. */
uint64_t iptx_combined(const struct iptx_instruction *i, uint64_t old, uint64_t value,
                       enum iptx_type type);
/* Makes the instruction's place the site of the asynchronous operation that is called next. */
void iptx_at_site(const struct iptx_run *run);
/* Returns the argument as an address of shared memory. */
unsigned iptx_shared(const struct iptx_run *run, const struct iptx_instruction *i,
                     unsigned argument);
void iptx_note(const struct iptx_run *run, const void *at, size_t bytes, unsigned kind);

#endif
