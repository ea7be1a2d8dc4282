/* wgmma of inline PTX: the products of warpgroup.c, with sums in registers that the text names
   one by one. The registers must be the elements of an array, one after the other in memory. See
   inline_ptx.h. */
#include "async.h"
#include "inline_ptx.h"

enum { DESCRIPTOR_X = 1, DESCRIPTOR_Y, SCALE, NEGATE_X, NEGATE_Y, ACROSS_X, ACROSS_Y };

/* Returns the enum warpgroup_number of the operands' type; -1: not supported. */
static int warpgroup_number_of(const struct iptx_instruction *i) {
  static const struct {
    enum iptx_type sum, element;
    int number;
  } numbers[] = {{IPTX_F32, IPTX_F16, WARPGROUP_F16},   {IPTX_F32, IPTX_BF16, WARPGROUP_BF16},
                 {IPTX_F32, IPTX_TF32, WARPGROUP_TF32}, {IPTX_F32, IPTX_E4M3, WARPGROUP_E4M3},
                 {IPTX_F32, IPTX_E5M2, WARPGROUP_E5M2}, {IPTX_S32, IPTX_S8, WARPGROUP_S8},
                 {IPTX_S32, IPTX_U8, WARPGROUP_U8}};
  if (i->type_count != 3 || i->types[1] != i->types[2] || iptx_has(i, IPTX_W_SATFINITE)) return -1;
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
    if (i->types[0] == numbers[n].sum && i->types[1] == numbers[n].element)
      return numbers[n].number;
  return -1;
}

/* Returns the array of the sums. Traps unless consecutive operands are consecutive in memory.
   Checks this at each execution. */
static void *sums_of(const struct iptx_run *run, const struct iptx_instruction *i) {
  const struct iptx_argument *sums = &i->arguments[0];
  const unsigned first = sums->terms[0].index,
                 stored = sums->count < IPTX_TERMS ? sums->count : IPTX_TERMS;
  bool follow = sums->terms[0].kind == IPTX_OPERAND && first + sums->count <= run->operand_count;
  for (unsigned n = 1; n < stored && follow; n++)
    follow = sums->terms[n].kind == IPTX_OPERAND && sums->terms[n].index == first + n;
  for (unsigned n = 0; n < sums->count && follow; n++) {
    const struct cpu_ptx_operand *operand = &run->operands[first + n];
    follow = operand->output && operand->bytes == 4 &&
             operand->bits == run->operands[first].bits + (uint64_t)4 * n;
  }
  if (!follow)
    iptx_trap(run, "a wgmma whose sums do not lie one behind the other, as an array's elements do");
  return iptx_variable(&run->operands[first]);
}

/* Reads the scale, a predicate or a number, then the signs, 1 or -1, and for elements of 16 bits
   the transpositions: 1 if k is not contiguous. */
static int flags_of(const struct iptx_run *run, const struct iptx_instruction *i) {
  int flags = iptx_get(run, i, SCALE,
                       i->arguments[SCALE].terms[0].kind == IPTX_REGISTER ? IPTX_PRED : IPTX_U32)
                  ? WARPGROUP_ADD
                  : 0;
  for (unsigned sign = NEGATE_X; sign <= NEGATE_Y && sign < i->count; sign++)
    if ((int32_t)iptx_get(run, i, sign, IPTX_S32) != 1)
      iptx_trap(run, "a wgmma with a negated operand");
  /* an X in registers has no transposition */
  const bool registers = i->arguments[DESCRIPTOR_X].count > 1;
  const unsigned across_y = registers ? ACROSS_X : ACROSS_Y;
  if (!registers && i->count > ACROSS_X && iptx_get(run, i, ACROSS_X, IPTX_U32))
    flags |= WARPGROUP_X_ACROSS;
  if (i->count > across_y && iptx_get(run, i, across_y, IPTX_U32)) flags |= WARPGROUP_Y_ACROSS;
  return flags;
}

/* An address of static shared memory is too large for a descriptor (shared_address.c). */
static uint64_t descriptor_of(const struct iptx_run *run, const struct iptx_instruction *i,
                              unsigned argument) {
  const uint64_t descriptor = iptx_get(run, i, argument, IPTX_U64);
  if ((descriptor & 0x3fff) << 4 >= fibers_launch()->dynamic_bytes)
    iptx_trap(run, "a wgmma with an operand outside of dynamic shared memory, which alone the cpu "
                   "device has for it");
  return descriptor;
}

/* Reads the thread's words of an X in registers; false: X has a descriptor. */
static bool words_of(const struct iptx_run *run, const struct iptx_argument *x, uint32_t *words) {
  if (x->count == 1) return false;
  if (x->count != WARPGROUP_X_WORDS)
    iptx_trap(run, "a wgmma with other than four registers for an operand");
  for (int r = 0; r < WARPGROUP_X_WORDS; r++) words[r] = (uint32_t)iptx_bits_of(run, &x->terms[r]);
  return true;
}

static void cpu_warpgroup_multiply(struct iptx_run *run, const struct iptx_instruction *i) {
  const int number = warpgroup_number_of(i), n = 2 * i->arguments[0].count;
  if (number < 0) iptx_trap(run, "a wgmma of types that the cpu device does not have");
  if (n != i->columns) iptx_trap(run, "a wgmma with other registers than its shape has");
  void *sums = sums_of(run, i);
  uint32_t words[WARPGROUP_X_WORDS];
  const bool registers = words_of(run, &i->arguments[DESCRIPTOR_X], words);
  const uint64_t x = registers ? 0 : descriptor_of(run, i, DESCRIPTOR_X);
  const uint64_t y = descriptor_of(run, i, DESCRIPTOR_Y);
  const int flags = flags_of(run, i);
  iptx_at_site(run);
  warpgroup_multiply(number, n, sums, registers ? words : NULL, x, y, flags);
}

static void cpu_warpgroup_fence(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)run, (void)i;
  warpgroup_fence();
}

static void cpu_warpgroup_commit(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)run, (void)i;
  warpgroup_commit();
}

static void wait(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_at_site(run);
  warpgroup_wait((unsigned)iptx_get(run, i, 0, IPTX_U32));
}

const struct iptx_operation iptx_warpgroup[] = {
    {"wgmma", IPTX_W_MMA_ASYNC, 4, 8, cpu_warpgroup_multiply},
    {"wgmma", IPTX_W_FENCE, 0, 0, cpu_warpgroup_fence},
    {"wgmma", IPTX_W_COMMIT_GROUP, 0, 0, cpu_warpgroup_commit},
    {"wgmma", IPTX_W_WAIT_GROUP, 1, 1, wait},
    {NULL, IPTX_W_COUNT, 0, 0, NULL}};
