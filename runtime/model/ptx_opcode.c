/* Reading opcodes with tables. */
#include "ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Opcodes up to the first '.', or longer where only the next words tell them apart. A name comes
   before its own first words: "cp.async.bulk" before "cp.async". */
static const struct {
  const char *name;
  enum ptx_op op;
  enum ptx_pipe pipe; /* for integers */
  bool result;
} opcodes[] = {
    {"cp.async.bulk.commit_group", PTX_COMMIT, PTX_PIPE_NONE, false},
    {"cp.async.bulk.wait_group", PTX_WAIT, PTX_PIPE_NONE, false},
    {"cp.async.bulk.prefetch", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"cp.async.bulk.tensor", PTX_TENSOR_LOAD, PTX_PIPE_NONE, false},
    {"cp.async.bulk.global", PTX_BULK_STORE, PTX_PIPE_NONE, false},
    {"cp.async.bulk", PTX_BULK_LOAD, PTX_PIPE_NONE, false},
    {"cp.async.commit_group", PTX_COMMIT, PTX_PIPE_NONE, false},
    {"cp.async.wait_group", PTX_WAIT, PTX_PIPE_NONE, false},
    {"cp.async.wait_all", PTX_WAIT, PTX_PIPE_NONE, false},
    {"cp.async.mbarrier", PTX_COMMIT, PTX_PIPE_NONE, false},
    {"cp.async", PTX_ASYNC, PTX_PIPE_MEMORY, false},
    {"mbarrier.try_wait", PTX_WAIT_BARRIER, PTX_PIPE_NONE, true},
    {"mbarrier.test_wait", PTX_WAIT_BARRIER, PTX_PIPE_NONE, true},
    {"mbarrier.arrive.expect_tx", PTX_EXPECT, PTX_PIPE_NONE, false},
    {"mbarrier.expect_tx", PTX_EXPECT, PTX_PIPE_NONE, false},
    {"mbarrier", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"ld", PTX_LOAD, PTX_PIPE_MEMORY, true},
    {"ldu", PTX_LOAD, PTX_PIPE_MEMORY, true},
    {"st", PTX_STORE, PTX_PIPE_MEMORY, false},
    {"atom", PTX_ATOMIC, PTX_PIPE_MEMORY, true},
    {"red", PTX_ATOMIC, PTX_PIPE_MEMORY, false},
    {"tex", PTX_TEXTURE, PTX_PIPE_TEXTURE, true},
    {"tld4", PTX_TEXTURE, PTX_PIPE_TEXTURE, true},
    {"ldmatrix", PTX_MATRIX_LOAD, PTX_PIPE_MEMORY, true},
    {"stmatrix", PTX_MATRIX_STORE, PTX_PIPE_MEMORY, false},
    {"mma", PTX_MMA, PTX_PIPE_TENSOR, true},
    {"wgmma.mma_async", PTX_WGMMA, PTX_PIPE_TENSOR, true},
    {"wgmma.commit_group", PTX_WGMMA_COMMIT, PTX_PIPE_NONE, false},
    {"wgmma.wait_group", PTX_WGMMA_WAIT, PTX_PIPE_NONE, false},
    {"wgmma", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"bar", PTX_BARRIER, PTX_PIPE_NONE, false},
    {"barrier.cluster.arrive", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"barrier", PTX_BARRIER, PTX_PIPE_NONE, false},
    {"bra", PTX_BRANCH, PTX_PIPE_NONE, false},
    {"brx", PTX_BRANCH_TABLE, PTX_PIPE_NONE, false},
    {"ret", PTX_EXIT, PTX_PIPE_NONE, false},
    {"exit", PTX_EXIT, PTX_PIPE_NONE, false},
    {"trap", PTX_FAIL, PTX_PIPE_NONE, false},
    {"call", PTX_CALL, PTX_PIPE_NONE, false},
    {"mov", PTX_MOV, PTX_PIPE_NONE, true},
    {"cvta", PTX_CVTA, PTX_PIPE_NONE, true},
    {"cvt", PTX_CVT, PTX_PIPE_NONE, true},
    {"add", PTX_ADD, PTX_PIPE_INT, true},
    {"sub", PTX_SUB, PTX_PIPE_INT, true},
    {"mul", PTX_MUL, PTX_PIPE_INT, true},
    {"mul24", PTX_MUL, PTX_PIPE_INT, true},
    {"mad", PTX_MAD, PTX_PIPE_INT, true},
    {"div", PTX_DIV, PTX_PIPE_INT, true},
    {"rem", PTX_REM, PTX_PIPE_INT, true},
    {"min", PTX_MIN, PTX_PIPE_INT, true},
    {"max", PTX_MAX, PTX_PIPE_INT, true},
    {"abs", PTX_ABS, PTX_PIPE_INT, true},
    {"neg", PTX_NEG, PTX_PIPE_INT, true},
    {"and", PTX_AND, PTX_PIPE_INT, true},
    {"or", PTX_OR, PTX_PIPE_INT, true},
    {"xor", PTX_XOR, PTX_PIPE_INT, true},
    {"not", PTX_NOT, PTX_PIPE_INT, true},
    {"shl", PTX_SHL, PTX_PIPE_INT, true},
    {"shr", PTX_SHR, PTX_PIPE_INT, true},
    {"shf", PTX_SHF, PTX_PIPE_INT, true},
    {"bfe", PTX_BFE, PTX_PIPE_INT, true},
    {"bfi", PTX_BFI, PTX_PIPE_INT, true},
    {"lop3", PTX_LOP3, PTX_PIPE_INT, true},
    {"popc", PTX_POPC, PTX_PIPE_SPECIAL, true},
    {"clz", PTX_CLZ, PTX_PIPE_SPECIAL, true},
    {"setp", PTX_SETP, PTX_PIPE_INT, true},
    {"selp", PTX_SELP, PTX_PIPE_INT, true},
    {"shfl", PTX_SHFL, PTX_PIPE_MEMORY, true},
    {"vote", PTX_VOTE, PTX_PIPE_INT, true},
    {"activemask", PTX_VOTE, PTX_PIPE_INT, true},
    {"membar", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"fence", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"griddepcontrol", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"setmaxnreg", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"elect", PTX_SETP, PTX_PIPE_INT, true},
    {"prefetch", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"prefetchu", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"nanosleep", PTX_NOTHING, PTX_PIPE_NONE, false},
    {"sqrt", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"rsqrt", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"rcp", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"sin", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"cos", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"ex2", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"lg2", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
    {"tanh", PTX_FLOAT, PTX_PIPE_SPECIAL, true},
};

static void find_opcode(const char *text, size_t length, struct ptx_instruction *out) {
  *out = (struct ptx_instruction){.op = PTX_FLOAT,
                                  .pipe = PTX_PIPE_INT,
                                  .guard = out->guard,
                                  .guard_not = out->guard_not,
                                  .results = 1,
                                  .vector = 1,
                                  .weight = 1,
                                  .line = out->line,
                                  .first = out->first};
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
    size_t n = strlen(opcodes[i].name);
    if (n > length || strncmp(opcodes[i].name, text, n) != 0 || (n < length && text[n] != '.'))
      continue;
    out->op = opcodes[i].op;
    out->pipe = opcodes[i].pipe;
    out->results = opcodes[i].result;
    return;
  }
}

/* ---- Types and other words between dots ----------------------------------------------------- */

static const struct {
  const char *name;
  int size;
  bool is_signed;
  enum ptx_pipe pipe; /* for floats */
} types[] = {
    {"u8", 1, false, PTX_PIPE_NONE},    {"s8", 1, true, PTX_PIPE_NONE},
    {"b8", 1, false, PTX_PIPE_NONE},    {"u16", 2, false, PTX_PIPE_NONE},
    {"s16", 2, true, PTX_PIPE_NONE},    {"b16", 2, false, PTX_PIPE_NONE},
    {"u32", 4, false, PTX_PIPE_NONE},   {"s32", 4, true, PTX_PIPE_NONE},
    {"b32", 4, false, PTX_PIPE_NONE},   {"u64", 8, false, PTX_PIPE_NONE},
    {"s64", 8, true, PTX_PIPE_NONE},    {"b64", 8, false, PTX_PIPE_NONE},
    {"b128", 16, false, PTX_PIPE_NONE}, {"pred", 1, false, PTX_PIPE_NONE},
    {"f16", 2, false, PTX_PIPE_FP16},   {"bf16", 2, false, PTX_PIPE_BF16},
    {"f16x2", 4, false, PTX_PIPE_FP16}, {"bf16x2", 4, false, PTX_PIPE_BF16},
    {"tf32", 4, false, PTX_PIPE_FP32},  {"f32", 4, false, PTX_PIPE_FP32},
    {"f64", 8, false, PTX_PIPE_FP64},   {"e4m3", 1, false, PTX_PIPE_FP16},
    {"e5m2", 1, false, PTX_PIPE_FP16},
};

static bool ptx_opcode_same(const char *word, size_t length, const char *name) {
  return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* The first type is that of the result, the last that of the source. */
static bool take_type(const char *word, size_t length, struct ptx_instruction *out, int *seen) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!ptx_opcode_same(word, length, types[i].name)) continue;
    if (++*seen == 1) {
      out->size = types[i].size;
      out->is_signed = types[i].is_signed;
      out->is_float = types[i].pipe != PTX_PIPE_NONE;
      if (out->is_float && (out->pipe == PTX_PIPE_INT || out->pipe == PTX_PIPE_NONE))
        out->pipe = types[i].pipe;
    } else {
      if (*seen == 2) out->operand_size = types[i].size;
      out->is_float |= types[i].pipe != PTX_PIPE_NONE;
    }
    out->from_size = types[i].size;
    out->from_signed = types[i].is_signed;
    return true;
  }
  return false;
}

static const struct {
  const char *name;
  enum ptx_space space;
} spaces[] = {{"global", PTX_GLOBAL},   {"shared", PTX_SHARED},
              {"local", PTX_LOCAL},     {"const", PTX_CONST},
              {"param", PTX_PARAM},     {"shared::cta", PTX_SHARED},
              {"cluster", PTX_DISTANT}, {"shared::cluster", PTX_DISTANT}};

static const struct {
  const char *name;
  enum ptx_compare compare;
} compares[] = {{"eq", PTX_EQ}, {"ne", PTX_NE}, {"lt", PTX_LT}, {"le", PTX_LE},
                {"gt", PTX_GT}, {"ge", PTX_GE}, {"lo", PTX_LT}, {"ls", PTX_LE},
                {"hi", PTX_GT}, {"hs", PTX_GE}, {"neu", PTX_NE}};

/* m16n8k16 is 2 * 16 * 8 * 16 operations. */
static int64_t shape_flops(const char *word, size_t length) {
  const char *end = word + length;
  int64_t flops = 2;
  for (const char *at = word; at < end; at++)
    if (strchr("mnk", *at)) flops *= strtoll(at + 1, NULL, 10);
  return flops;
}

static void ptx_opcode_take_word(const char *word, size_t length, struct ptx_instruction *out) {
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (ptx_opcode_same(word, length, spaces[i].name)) out->space = spaces[i].space;
  if (out->op == PTX_SETP)
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++)
      if (ptx_opcode_same(word, length, compares[i].name)) out->compare = compares[i].compare;
  if (out->op == PTX_CVTA && ptx_opcode_same(word, length, "to")) out->high = true;
  if (ptx_opcode_same(word, length, "wide")) out->wide = true;
  if (ptx_opcode_same(word, length, "hi")) out->high = true;
  if (ptx_opcode_same(word, length, "l")) out->left = true;
  if (ptx_opcode_same(word, length, "cg") || ptx_opcode_same(word, length, "cv") ||
      ptx_opcode_same(word, length, "volatile"))
    out->past_l1 = true;
  if (out->op == PTX_ATOMIC && ptx_opcode_same(word, length, "cas")) out->swaps = true;
  if (ptx_opcode_same(word, length, "bfly")) out->immediate = 1;
  if (ptx_opcode_same(word, length, "down")) out->immediate = 2;
  if (ptx_opcode_same(word, length, "up")) out->immediate = 3;
  if (length == 2 && (*word == 'v' || *word == 'x') && isdigit((unsigned char)word[1]))
    out->vector = word[1] - '0';
  if ((out->op == PTX_MMA || out->op == PTX_WGMMA) && *word == 'm' && length > 4 &&
      isdigit((unsigned char)word[1]))
    out->immediate = shape_flops(word, length);
}

/* Returns the rough number of machine instructions; divisions and other complex operations become
   sequences. exact: the opcode rounds exactly (.rn). */
static int ptx_opcode_weight_of(const struct ptx_instruction *in, bool exact) {
  if (in->op == PTX_DIV || in->op == PTX_REM) return in->is_float ? 10 : in->size == 8 ? 70 : 20;
  return in->pipe == PTX_PIPE_SPECIAL && exact ? 8 : 1;
}

/* Completes the instruction when all words are read. Moves between registers are removed by the
   compiler; conversions from or to floats are real instructions. */
static void ptx_opcode_settle(struct ptx_instruction *out, bool exact) {
  if (!out->size) out->size = out->from_size = 4;
  out->weight = ptx_opcode_weight_of(out, exact);
  const bool logic =
      out->op == PTX_AND || out->op == PTX_OR || out->op == PTX_XOR || out->op == PTX_NOT;
  /* logic of predicates costs nothing: comparisons combine predicates, any instruction negates */
  if (logic && out->size == 1) out->weight = 0;
  if (out->op == PTX_MOV || out->op == PTX_CVTA) out->pipe = PTX_PIPE_NONE;
  if (out->op == PTX_CVT && out->is_float) out->op = PTX_FLOAT, out->pipe = PTX_PIPE_SPECIAL;
  bool arithmetic = out->op >= PTX_ADD && out->op <= PTX_CLZ;
  if (out->is_float && arithmetic) out->op = PTX_FLOAT;
  if (out->op == PTX_MMA || out->op == PTX_WGMMA) out->pipe = PTX_PIPE_TENSOR;
  if (out->op == PTX_TENSOR_LOAD && out->space == PTX_SHARED)
    out->op = PTX_TENSOR_STORE; /* the last space in the opcode is that of the source */
}

void ptx_opcode_read(const char *text, size_t length, struct ptx_instruction *out) {
  int types_seen = 0;
  bool exact = false;
  find_opcode(text, length, out);
  const char *end = text + length;
  for (const char *at = text; at < end;) {
    size_t n = 0;
    while (at + n < end && at[n] != '.') n++;
    exact |= ptx_opcode_same(at, n, "rn");
    if (at != text && !take_type(at, n, out, &types_seen)) ptx_opcode_take_word(at, n, out);
    at += n + 1;
  }
  ptx_opcode_settle(out, exact);
}
