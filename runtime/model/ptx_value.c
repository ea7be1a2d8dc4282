/* Integer arithmetic for each lane; see ptx_value.h. */
#include "ptx_value.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening -------------------------------------------------------------------------------- */

int ptx_values_open(const struct ptx_kernel *kernel, const struct ptx_launch *launch, int index,
                    struct ptx_values *out, cugen_error *err) {
  size_t kept = 0;
  *out = (struct ptx_values){.launch = launch, .warp = index};
  out->place = malloc(((size_t)kernel->slots + 1) * sizeof *out->place);
  if (!out->place) return error_memory(err);
  for (int i = 0; i < kernel->slots; i++) out->place[i] = kernel->valueless[i] ? -1 : (int)kept++;
  out->lanes = calloc(kept + 1, sizeof *out->lanes);
  out->origin = calloc((size_t)kernel->slots + 1, sizeof *out->origin);
  out->by_block = calloc((size_t)kernel->slots + 1, sizeof *out->by_block);
  if (!out->lanes || !out->origin || !out->by_block) return error_memory(err);
  for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
    const uint32_t flat = (uint32_t)index * PTX_LANES + lane;
    out->thread[lane][0] = flat % launch->block[0];
    out->thread[lane][1] = flat / launch->block[0] % launch->block[1];
    out->thread[lane][2] = flat / launch->block[0] / launch->block[1];
  }
  memcpy(out->block, launch->at, sizeof out->block);
  return CUGEN_OK;
}

void ptx_values_close(struct ptx_values *values) {
  free(values->lanes);
  free(values->origin);
  free(values->by_block);
  free(values->place);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static const uint64_t *row(const struct ptx_values *v, int slot) {
  int place = slot < 0 ? -1 : v->place[slot];
  return place < 0 ? NULL : v->lanes[place];
}

static uint64_t ptx_value_special(const struct ptx_values *v, int which, int lane) {
  switch (which) {
  case PTX_TID_X:
  case PTX_TID_Y:
  case PTX_TID_Z: return v->thread[lane][which - PTX_TID_X];
  case PTX_NTID_X:
  case PTX_NTID_Y:
  case PTX_NTID_Z: return v->launch->block[which - PTX_NTID_X];
  case PTX_CTAID_X:
  case PTX_CTAID_Y:
  case PTX_CTAID_Z: return v->block[which - PTX_CTAID_X];
  case PTX_NCTAID_X:
  case PTX_NCTAID_Y:
  case PTX_NCTAID_Z: return v->launch->grid[which - PTX_NCTAID_X];
  case PTX_LANEID: return (uint64_t)lane;
  case PTX_WARPID: return (uint64_t)v->warp;
  default: return 0;
  }
}

static uint64_t ptx_value_read_operand(const struct ptx_values *v,
                                       const struct ptx_operand *operand, int lane) {
  const uint64_t *lanes;
  switch (operand->kind) {
  case PTX_NUMBER: return (uint64_t)operand->value;
  case PTX_SPECIAL: return ptx_value_special(v, operand->slot, lane);
  case PTX_REGISTER:
  case PTX_ADDRESS:
    lanes = row(v, operand->slot);
    return (lanes ? lanes[lane] : 0) +
           (operand->kind == PTX_ADDRESS ? (uint64_t)operand->value : 0);
  default: return 0;
  }
}

int64_t ptx_value_of(const struct ptx_values *v, const struct ptx_kernel *kernel,
                     const struct ptx_instruction *in, int index, int lane) {
  return index < in->count ? (int64_t)ptx_value_read_operand(
                                 v, &kernel->operands[in->first + (size_t)index], lane)
                           : 0;
}

int64_t ptx_operand_number(const struct ptx_kernel *kernel, const struct ptx_instruction *in,
                           int index, int64_t otherwise) {
  const struct ptx_operand *operand = &kernel->operands[in->first + (size_t)index];
  return index < in->count && operand->kind == PTX_NUMBER ? operand->value : otherwise;
}

static enum ptx_origin operand_origin(const struct ptx_values *v,
                                      const struct ptx_operand *operand) {
  const bool is_register = operand->kind == PTX_REGISTER || operand->kind == PTX_ADDRESS;
  return is_register && operand->slot >= 0 ? (enum ptx_origin)v->origin[operand->slot] : PTX_KNOWN;
}

static bool is_by_block(const struct ptx_values *v, const struct ptx_operand *operand) {
  if (operand->kind == PTX_SPECIAL)
    return operand->slot >= PTX_CTAID_X && operand->slot <= PTX_CTAID_Z;
  const bool is_register = operand->kind == PTX_REGISTER || operand->kind == PTX_ADDRESS;
  return is_register && operand->slot >= 0 && v->by_block[operand->slot];
}

enum ptx_origin ptx_origin_of(const struct ptx_values *v, const struct ptx_kernel *kernel,
                              const struct ptx_instruction *in, int first) {
  enum ptx_origin most = PTX_KNOWN;
  for (int i = first; i < in->count; i++) {
    const enum ptx_origin one = operand_origin(v, &kernel->operands[in->first + (size_t)i]);
    if (one > most) most = one;
  }
  return most;
}

/* Wraps an address that comes from unknown values into its buffer or shared memory, if known. */
static uint64_t wrap(const struct ptx_values *v, const struct ptx_kernel *kernel,
                     enum ptx_space space, uint64_t address, int bytes) {
  const uint64_t tags = PTX_SHARED_TAG | PTX_LOCAL_TAG, buffer = (address >> PTX_BUFFER_SHIFT) - 1;
  int64_t size = 0;
  uint64_t base = 0;
  if (space == PTX_SHARED || address & PTX_SHARED_TAG)
    size = kernel->static_shared + v->launch->shared_bytes, base = address & tags;
  else if (!(address & tags) && buffer < (uint64_t)v->launch->buffer_count)
    size = v->launch->buffers[buffer].bytes, base = (buffer + 1) << PTX_BUFFER_SHIFT;
  const uint64_t whole = (uint64_t)(size / bytes * bytes);
  return size > bytes && whole ? base + (address - base) % whole : address;
}

void ptx_lanes_read(const struct ptx_values *v, const struct ptx_kernel *kernel,
                    const struct ptx_instruction *in, int index, uint32_t mask, int bytes,
                    struct ptx_lanes *out) {
  *out = (struct ptx_lanes){.mask = mask, .bytes = bytes};
  if (index >= in->count) out->mask = 0;
  out->known =
      !out->mask || operand_origin(v, &kernel->operands[in->first + (size_t)index]) == PTX_KNOWN;
  out->by_block = out->mask && is_by_block(v, &kernel->operands[in->first + (size_t)index]);
  for (uint32_t rest = out->mask; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    uint64_t address = (uint64_t)ptx_value_of(v, kernel, in, index, lane);
    out->address[lane] = out->known ? address : wrap(v, kernel, in->space, address, bytes);
  }
}

uint32_t ptx_predicate(const struct ptx_values *v, int slot, bool negated) {
  const uint64_t *lanes = row(v, slot);
  uint32_t mask = 0;
  for (int lane = 0; lane < PTX_LANES && lanes; lane++) mask |= (uint32_t)(lanes[lane] & 1) << lane;
  return negated ? ~mask : mask;
}

/* ---- Arithmetic ----------------------------------------------------------------------------- */

/* Returns the low bytes of a value, sign-extended if is_signed. */
static uint64_t narrow(uint64_t value, int size, bool is_signed) {
  if (size >= 8) return value;
  int unused = 64 - 8 * size;
  return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

/* For the upper half of a 64-bit product. */
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static uint64_t ptx_value_multiply(const struct ptx_instruction *in, uint64_t a, uint64_t b) {
  /* operands are extended to 64 bits, so that a wide product is right, too */
  if (!in->high) return a * b;
  if (in->size == 8)
    return in->is_signed ? (uint64_t)((wide)(int64_t)a * (int64_t)b >> 64)
                         : (uint64_t)((unsigned_wide)a * b >> 64);
  return (in->is_signed ? (uint64_t)((int64_t)a * (int64_t)b >> 8 * in->size)
                        : a * b >> 8 * in->size);
}

static uint64_t divide(const struct ptx_instruction *in, uint64_t a, uint64_t b) {
  if (!b) return 0;
  if (in->is_signed && (int64_t)b == -1) return in->op == PTX_DIV ? 0 - a : 0;
  if (in->is_signed)
    return (uint64_t)(in->op == PTX_DIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
  return in->op == PTX_DIV ? a / b : a % b;
}

static bool less(const struct ptx_instruction *in, uint64_t a, uint64_t b) {
  return in->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static bool ptx_value_compare(const struct ptx_instruction *in, uint64_t a, uint64_t b) {
  switch (in->compare) {
  case PTX_EQ: return a == b;
  case PTX_NE: return a != b;
  case PTX_LT: return less(in, a, b);
  case PTX_LE: return !less(in, b, a);
  case PTX_GT: return less(in, b, a);
  default: return !less(in, a, b);
  }
}

static uint64_t shift_right(const struct ptx_instruction *in, uint64_t a, uint64_t by) {
  if (by >= 8 * (uint64_t)in->size) return in->is_signed && (int64_t)a < 0 ? UINT64_MAX : 0;
  return in->is_signed ? (uint64_t)((int64_t)a >> by) : a >> by;
}

static uint64_t funnel(const struct ptx_instruction *in, uint64_t low, uint64_t high, uint64_t by) {
  uint64_t whole = (high << 32) | (low & 0xffffffffu);
  by &= 31;
  return in->left ? whole << by >> 32 : whole >> by;
}

static uint64_t field(uint64_t length) {
  return length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
}

static uint64_t extract(const struct ptx_instruction *in, uint64_t a, uint64_t at,
                        uint64_t length) {
  at &= 255, length &= 255;
  if (!length || at > 63) return 0;
  uint64_t bits = (narrow(a, in->size, false) >> at) & field(length);
  bool negative = in->is_signed && length < 64 && bits >> (length - 1) & 1;
  return negative ? bits | ~field(length) : bits;
}

/* bfi d, a, b, at, length: inserts a's low bits into b. */
static uint64_t ptx_value_insert(uint64_t a, uint64_t b, uint64_t at, uint64_t length) {
  at &= 255, length &= 255;
  if (at > 63) return b;
  uint64_t mask = field(length) << at;
  return (b & ~mask) | ((a << at) & mask);
}

static uint64_t logic3(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 8; i++)
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

static uint64_t ptx_value_leading_zeros(uint64_t a, int size) {
  a = narrow(a, size, false);
  return a ? (uint64_t)(__builtin_clzll(a) - (64 - 8 * size)) : 8 * (uint64_t)size;
}

static uint64_t compute(const struct ptx_instruction *in, const uint64_t x[5]) {
  switch (in->op) {
  case PTX_MOV:
  case PTX_CVT: return x[0];
  case PTX_ADD: return x[0] + x[1];
  case PTX_SUB: return x[0] - x[1];
  case PTX_MUL: return ptx_value_multiply(in, x[0], x[1]);
  case PTX_MAD: return ptx_value_multiply(in, x[0], x[1]) + x[2];
  case PTX_DIV:
  case PTX_REM: return divide(in, x[0], x[1]);
  case PTX_MIN: return less(in, x[0], x[1]) ? x[0] : x[1];
  case PTX_MAX: return less(in, x[0], x[1]) ? x[1] : x[0];
  case PTX_ABS: return (int64_t)x[0] < 0 ? 0 - x[0] : x[0];
  case PTX_NEG: return 0 - x[0];
  case PTX_AND: return x[0] & x[1];
  case PTX_OR: return x[0] | x[1];
  case PTX_XOR: return x[0] ^ x[1];
  case PTX_NOT: return ~x[0];
  case PTX_SHL: return x[1] >= 8 * (uint64_t)in->size ? 0 : x[0] << x[1];
  case PTX_SHR: return shift_right(in, x[0], x[1]);
  case PTX_SHF: return funnel(in, x[0], x[1], x[2]);
  case PTX_BFE: return extract(in, x[0], x[1], x[2]);
  case PTX_BFI: return ptx_value_insert(x[0], x[1], x[2], x[3]);
  case PTX_LOP3: return logic3(x[0], x[1], x[2], x[3]);
  case PTX_POPC: return (uint64_t)__builtin_popcountll(narrow(x[0], in->size, false));
  case PTX_CLZ: return ptx_value_leading_zeros(x[0], in->size);
  case PTX_SETP: return in->is_float ? 0 : ptx_value_compare(in, x[0], x[1]);
  case PTX_SELP: return x[2] & 1 ? x[0] : x[1];
  case PTX_WAIT_BARRIER: return 1;
  default: return 0;
  }
}

/* ---- Unknown values ------------------------------------------------------------------------- */

/* Returns the origin of a loaded value. The tag of a generic address tells shared from local
   memory. */
static enum ptx_origin loaded_from(const struct ptx_values *v, const struct ptx_kernel *kernel,
                                   const struct ptx_instruction *in, uint32_t mask) {
  const int64_t address = ptx_value_of(v, kernel, in, in->results, __builtin_ctz(mask));
  const bool generic = in->space == PTX_GENERIC;
  if (in->space == PTX_PARAM) return PTX_KNOWN;
  if (in->space == PTX_CONST) return PTX_FROM_CONSTANT;
  if (in->space == PTX_LOCAL || (generic && address & PTX_LOCAL_TAG)) return PTX_FROM_LOCAL;
  if (in->space == PTX_SHARED || in->space == PTX_DISTANT || (generic && address & PTX_SHARED_TAG))
    return v->stored ? (enum ptx_origin)v->stored : PTX_FROM_SHARED;
  const int64_t buffer = (address >> PTX_BUFFER_SHIFT) - 1;
  return buffer >= 0 && buffer < v->launch->buffer_count
             ? (enum ptx_origin)(PTX_FROM_BUFFER + buffer)
             : PTX_FROM_GLOBAL;
}

static enum ptx_origin result_origin(const struct ptx_values *v, const struct ptx_kernel *kernel,
                                     const struct ptx_instruction *in, uint32_t mask) {
  enum ptx_origin origin = ptx_origin_of(v, kernel, in, in->results);
  if (in->op == PTX_ATOMIC) return in->swaps ? PTX_FROM_SWAP : loaded_from(v, kernel, in, mask);
  if (in->op == PTX_WAIT_BARRIER) return PTX_KNOWN;
  if (in->op == PTX_LOAD) return loaded_from(v, kernel, in, mask);
  if (in->op == PTX_TEXTURE) return PTX_FROM_GLOBAL;
  const bool floats = in->op == PTX_FLOAT || (in->op == PTX_SETP && in->is_float);
  return floats && origin == PTX_KNOWN ? PTX_FROM_FLOAT : origin;
}

/* A guarded write may leave lanes of the register unchanged, so the guard's origin counts, too. */
static void note_origins(struct ptx_values *v, const struct ptx_kernel *kernel,
                         const struct ptx_instruction *in, uint32_t mask) {
  const struct ptx_operand *operands = &kernel->operands[in->first];
  if (in->op == PTX_STORE && !v->stored && (in->space == PTX_SHARED || in->space == PTX_GENERIC))
    v->stored = (uint8_t)ptx_origin_of(v, kernel, in, 1);
  if (!in->results || !mask) return;
  enum ptx_origin origin = result_origin(v, kernel, in, mask);
  if (in->guard >= 0 && v->origin[in->guard] > origin)
    origin = (enum ptx_origin)v->origin[in->guard];
  bool by_block = in->op == PTX_LOAD && origin != PTX_KNOWN;
  for (int i = in->results; i < in->count; i++) by_block |= is_by_block(v, &operands[i]);
  for (int i = 0; i < in->results; i++) {
    if (operands[i].kind != PTX_REGISTER) continue;
    v->origin[operands[i].slot] = (uint8_t)origin;
    v->by_block[operands[i].slot] = by_block;
  }
}

/* ---- Whole instructions --------------------------------------------------------------------- */

static void write_operand(struct ptx_values *v, const struct ptx_operand *operand, int lane,
                          uint64_t value) {
  if (operand->kind != PTX_REGISTER) return;
  int place = v->place[operand->slot];
  if (place >= 0) v->lanes[place][lane] = value;
}

/* Executes mov.b64 {low, high}, whole and mov.b64 whole, {low, high}. Returns false for any other
   instruction. */
static bool move_parts(struct ptx_values *v, const struct ptx_instruction *in,
                       const struct ptx_operand *operands, int lane) {
  int parts = in->results > 1 ? in->results : in->count - in->results;
  int bits = 8 * in->size / (parts ? parts : 1);
  uint64_t whole = 0;
  if (in->op != PTX_MOV || parts < 2 || parts > 4) return false;
  if (in->results > 1) {
    whole = ptx_value_read_operand(v, &operands[in->results], lane);
    for (int i = 0; i < parts; i++)
      write_operand(v, &operands[i], lane,
                    bits < 64 ? whole >> (i * bits) & field((uint64_t)bits) : whole);
    return true;
  }
  for (int i = 0; i < parts && bits < 64; i++)
    whole |= (ptx_value_read_operand(v, &operands[1 + i], lane) & field((uint64_t)bits))
             << (i * bits);
  write_operand(v, &operands[0], lane, whole);
  return true;
}

static void compute_lane(struct ptx_values *v, const struct ptx_instruction *in,
                         const struct ptx_operand *operands, int lane) {
  uint64_t x[5] = {0};
  int size = in->op == PTX_CVT ? in->from_size : in->size;
  bool is_signed = in->op == PTX_CVT ? in->from_signed : in->is_signed;
  if (move_parts(v, in, operands, lane)) return;
  for (int i = in->results; i < in->count && i - in->results < 5; i++)
    x[i - in->results] = ptx_value_read_operand(v, &operands[i], lane);
  bool shift = in->op == PTX_SHL || in->op == PTX_SHR;
  x[0] = narrow(x[0], size, is_signed);
  if (in->op != PTX_SELP && !shift) x[1] = narrow(x[1], size, is_signed);
  if (shift) x[1] = narrow(x[1], 4, false);
  uint64_t result = compute(in, x);
  if (in->op == PTX_SETP) {
    write_operand(v, &operands[0], lane, result);
    if (in->results > 1) write_operand(v, &operands[1], lane, !result);
    return;
  }
  int kept = in->wide ? 2 * in->size : in->size;
  for (int i = 0; i < in->results; i++)
    write_operand(v, &operands[i], lane, i ? 0 : narrow(result, kept, in->is_signed));
}

/* Copies the source before a lane overwrites it, because lanes read the registers' old values. */
static void ptx_value_shuffle(struct ptx_values *v, const struct ptx_instruction *in,
                              const struct ptx_operand *operands, uint32_t mask) {
  uint64_t from[PTX_LANES];
  for (int lane = 0; lane < PTX_LANES; lane++)
    from[lane] = ptx_value_read_operand(v, &operands[in->results], lane);
  for (; mask; mask &= mask - 1) {
    int lane = __builtin_ctz(mask),
        by = (int)ptx_value_read_operand(v, &operands[in->results + 1], lane) & 31, to = by;
    if (in->immediate == 1) to = lane ^ by;
    if (in->immediate == 2) to = lane + by < PTX_LANES ? lane + by : lane;
    if (in->immediate == 3) to = lane >= by ? lane - by : lane;
    write_operand(v, &operands[0], lane, from[to]);
    if (in->results > 1) write_operand(v, &operands[1], lane, 1);
  }
}

/* Generic addresses carry the tag of their space. */
static void convert_address(struct ptx_values *v, const struct ptx_instruction *in,
                            const struct ptx_operand *operands, uint32_t mask) {
  uint64_t tag = in->space == PTX_SHARED  ? PTX_SHARED_TAG
                 : in->space == PTX_LOCAL ? PTX_LOCAL_TAG
                                          : 0;
  for (; mask; mask &= mask - 1) {
    int lane = __builtin_ctz(mask);
    uint64_t value = ptx_value_read_operand(v, &operands[1], lane);
    write_operand(v, &operands[0], lane, in->high ? value & ~tag : value | tag);
  }
}

/* Returns result i of a load from a struct parameter; 0: not a struct, or outside of the struct. */
static uint64_t load_field(const struct ptx_values *v, const struct ptx_instruction *in,
                           int64_t index, int64_t offset, int i) {
  const struct ptx_launch *launch = v->launch;
  uint64_t bits = 0;
  if (!launch->structs || index < 0 || index >= launch->parameter_count) return 0;
  const struct ptx_struct *from = &launch->structs[index];
  offset += (int64_t)i * in->size;
  if (in->size > (int)sizeof bits || offset < 0 || offset + in->size > from->bytes) return 0;
  memcpy(&bits, from->data + offset, (size_t)in->size);
  return narrow(bits, in->size, in->is_signed);
}

/* Returns the stand-in for an unknown value: equal for equal places, and mostly different for
   different places. */
static uint64_t ptx_value_stand_in(uint64_t place) {
  const int bits = 24; /* few enough that an index by the value stays in its buffer's region */
  place = (place ^ place >> 32) * UINT64_C(0x9e3779b97f4a7c15);
  return place >> (64 - bits);
}

static void ptx_value_load(struct ptx_values *v, const struct ptx_instruction *in,
                           const struct ptx_operand *operands, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    int lane = __builtin_ctz(mask);
    uint64_t value = 0;
    int64_t index = in->space == PTX_PARAM ? operands[in->results].value >> PTX_PARAM_SHIFT : -1;
    int64_t offset =
        in->space == PTX_PARAM ? operands[in->results].value & ((1 << PTX_PARAM_SHIFT) - 1) : 0;
    if (index >= 0 && index < v->launch->parameter_count && !offset)
      value = narrow((uint64_t)v->launch->parameters[index], in->size, in->is_signed);
    const bool field = index >= 0 && index < v->launch->parameter_count && v->launch->structs &&
                       v->launch->structs[index].bytes;
    const uint64_t place = index < 0 ? ptx_value_read_operand(v, &operands[in->results], lane) : 0;
    for (int i = 0; i < in->results; i++) {
      if (index < 0)
        value = narrow(ptx_value_stand_in(place + (uint64_t)(i * in->size)), in->size, false);
      write_operand(v, &operands[i], lane,
                    field             ? load_field(v, in, index, offset, i)
                    : index >= 0 && i ? 0
                                      : value);
    }
  }
}

void ptx_execute(struct ptx_values *v, const struct ptx_kernel *kernel,
                 const struct ptx_instruction *in, uint32_t mask) {
  const struct ptx_operand *operands = &kernel->operands[in->first];
  note_origins(v, kernel, in, mask);
  bool kept = in->results > 0 && (operands[0].kind == PTX_REGISTER || in->results > 1);
  if (!kept) return;
  if (in->op == PTX_FLOAT && (operands[0].slot < 0 || v->place[operands[0].slot] < 0)) return;
  switch (in->op) {
  case PTX_LOAD: ptx_value_load(v, in, operands, mask); return;
  case PTX_CVTA: convert_address(v, in, operands, mask); return;
  case PTX_SHFL:
    if (in->count >= in->results + 2) ptx_value_shuffle(v, in, operands, mask);
    return;
  case PTX_FLOAT:
    if (v->origin[operands[0].slot] > PTX_FROM_FLOAT) {
      for (; mask; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        write_operand(v, &operands[0], lane,
                      narrow(ptx_value_stand_in(in->first << 5 | (uint64_t)lane), in->size, false));
      }
      return;
    } /* fall through */
  default:
    for (; mask; mask &= mask - 1) compute_lane(v, in, operands, __builtin_ctz(mask));
  }
}
