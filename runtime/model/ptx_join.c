/* Loads from shared memory that ptxas joins: NVRTC's PTX may load a row of a tile word by word,
   but ptxas, which knows the alignment of the row, loads 16 bytes at a time. So the shared memory
   traffic of PTX differs from the machine's. */
#include "ptx.h"

enum { QUAD = 16, PAIR = 8, WORD = 4, MOST = QUAD / WORD };

static int ptx_join_bytes_of(const struct ptx_instruction *in) {
  return in->size * in->vector;
}

static bool is_shared_load(const struct ptx_instruction *in) {
  return in->op == PTX_LOAD && in->space == PTX_SHARED;
}

/* Returns whether the instruction is an unguarded load of less than 16 bytes, but at least a word,
   from shared memory. */
static bool may_join(const struct ptx_kernel *k, size_t at) {
  const struct ptx_instruction *in = &k->instructions[at];
  return is_shared_load(in) && in->guard < 0 && in->count > in->results &&
         ptx_join_bytes_of(in) >= WORD && ptx_join_bytes_of(in) < QUAD &&
         k->operands[in->first + (size_t)in->results].kind == PTX_ADDRESS;
}

static const struct ptx_operand *address_of(const struct ptx_kernel *k, size_t at) {
  const struct ptx_instruction *in = &k->instructions[at];
  return &k->operands[in->first + (size_t)in->results];
}

/* Returns whether no group reaches beyond the instruction, because shared memory may change there
   or a basic block ends. */
static bool ends_group(const struct ptx_instruction *in) {
  bool stores = in->op == PTX_STORE && in->space != PTX_GLOBAL && in->space != PTX_LOCAL;
  return stores || in->leader || in->op == PTX_BARRIER || in->op == PTX_ATOMIC ||
         in->op == PTX_WAIT || in->op == PTX_WAIT_BARRIER || in->op == PTX_BRANCH;
}

static bool defines(const struct ptx_kernel *k, const struct ptx_instruction *in, int slot) {
  for (int i = 0; i < in->results; i++)
    if (k->operands[in->first + (size_t)i].kind == PTX_REGISTER &&
        k->operands[in->first + (size_t)i].slot == slot)
      return slot >= 0;
  return false;
}

static enum ptx_part *ptx_join_part_of(struct ptx_kernel *k, size_t at, int width) {
  return width == QUAD ? &k->instructions[at].quad : &k->instructions[at].pair;
}

/* Collects the loads that fill `width` bytes together with the load at `first`, which leads them.
   Returns the number of loads; 0: some are missing. */
static int ptx_join_find_group(const struct ptx_kernel *k, size_t first, int width, size_t *out) {
  const struct ptx_operand *own = address_of(k, first);
  int each = ptx_join_bytes_of(&k->instructions[first]), wanted = width / each, count = 0;
  bool seen[MOST] = {false};
  if (own->value < 0 || wanted < 2) return 0;
  for (size_t at = first; at < k->count && count < wanted; at++) {
    const struct ptx_instruction *in = &k->instructions[at];
    const struct ptx_operand *address = may_join(k, at) ? address_of(k, at) : NULL;
    if (at > first && ends_group(in)) break;
    if (address && address->slot == own->slot && address->value / width == own->value / width &&
        ptx_join_bytes_of(in) == each && address->value % each == 0 &&
        !seen[address->value % width / each]) {
      seen[address->value % width / each] = true;
      out[count++] = at;
    }
    if (defines(k, in, own->slot)) break;
  }
  return count == wanted ? count : 0;
}

static void join_all(struct ptx_kernel *k, int width) {
  size_t group[MOST];
  for (size_t i = 0; i < k->count; i++) {
    int count = may_join(k, i) && *ptx_join_part_of(k, i, width) == PTX_ALONE
                    ? ptx_join_find_group(k, i, width, group)
                    : 0;
    for (int j = 0; j < count; j++)
      *ptx_join_part_of(k, group[j], width) = j ? PTX_FOLLOWS : PTX_LEADS;
  }
}

void ptx_join(struct ptx_kernel *kernel) {
  join_all(kernel, QUAD);
  join_all(kernel, PAIR);
}

int ptx_join_count(const struct ptx_kernel *kernel, int bytes) {
  int count = 0;
  for (size_t i = 0; i < kernel->count; i++)
    count += is_shared_load(&kernel->instructions[i]) &&
             ptx_join_bytes_of(&kernel->instructions[i]) == bytes;
  return count;
}
