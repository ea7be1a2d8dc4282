/* Values of inline PTX: operands, registers, special registers, numbers; see inline_ptx.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "async.h"
#include "inline_ptx.h"

enum special {
#define SPECIAL(name, text) name,
  IPTX_SPECIALS(SPECIAL)
#undef SPECIAL
};

void iptx_end(const struct iptx_run *run, const char *what) {
  char text[300];
  snprintf(text, sizeof text, "%.160s%s", run->where, what);
  fibers_ended(run->site, what);
  fibers_give_up(CUGEN_CAUSE_TRAP, text);
}

void iptx_trap(const struct iptx_run *run, const char *what) {
  async_misuse(CUGEN_FINDING_ASYNC_MISUSE, run->site, fibers_current()->slot, what);
  iptx_end(run, what);
}

void iptx_at_site(const struct iptx_run *run) {
  fibers_async()->site = run->site;
}

void iptx_note(const struct iptx_run *run, const void *at, size_t bytes, unsigned kind) {
  if (run->watch) run->watch->access(at, bytes, kind, run->site);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

uint64_t iptx_extended(uint64_t bits, enum iptx_type type) {
  const unsigned unused = 64 - iptx_bits(type);
  return iptx_kind(type) == 's' ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

uint64_t iptx_from_real(double value, enum iptx_type type) {
  const float single = (float)value;
  uint32_t word;
  uint64_t bits;
  switch (iptx_kind(type)) {
  case 'h':
  case 'H': return small_float_store(iptx_half, value);
  case 'g':
  case 'G': return small_float_store(iptx_brain, value);
  case 'x': return small_float_store(iptx_e4m3, fmin(fmax(value, -448), 448));
  case 'y': return small_float_store(iptx_e5m2, fmin(fmax(value, -57344), 57344));
  case 'd': memcpy(&bits, &value, sizeof bits); return bits;
  case 't':
    memcpy(&word, &single, sizeof word);
    return (word + 0x1000u) & ~0x1fffu; /* 10 bits, ties away from zero */
  default: memcpy(&word, &single, sizeof word); return word;
  }
}

/* ---- Terms ---------------------------------------------------------------------------------- */

static uint64_t ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  static _Thread_local uint64_t count;
  return ++count;
#endif
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned values_part(const struct cpu_dim3 *v, unsigned index) {
  return index == 0 ? v->x : index == 1 ? v->y : v->z;
}

static uint64_t values_position(const struct cpu_builtins *b, unsigned index) {
  const struct cpu_dim3 *const all[] = {&b->thread, &b->block_size, &b->block, &b->grid_size};
  return values_part(all[index / 3], index % 3);
}

static uint64_t in_cluster(const struct cpu_builtins *b, unsigned index) {
  const struct cpu_dim3 *size = &b->cluster_size;
  if (index == CLUSTER_RANK) return b->cluster_rank;
  if (index == CLUSTER_RANKS) return (uint64_t)size->x * size->y * size->z;
  if (index < CLUSTER_NCTAID)
    return values_part(&b->block, index - CLUSTER_CTAID) % values_part(size, index - CLUSTER_CTAID);
  return values_part(size, index - CLUSTER_NCTAID);
}

static uint64_t lane_mask(unsigned lane, unsigned index) {
  const uint32_t own = 1u << lane, below = own - 1;
  const uint32_t masks[] = {own, below, below | own, ~(below | own), ~below};
  return masks[index - MASK_EQ];
}

static uint64_t values_special(unsigned index) {
  const struct cpu_builtins *b = fibers_launch()->builtins;
  if (index < LANEID) return values_position(b, index);
  if (index >= MASK_EQ && index <= MASK_GE) return lane_mask(b->linear % FIBERS_LANES, index);
  if (index >= CLUSTER_RANK && index < DYNAMIC_BYTES) return in_cluster(b, index);
  switch (index) {
  case LANEID: return b->linear % FIBERS_LANES;
  case WARPID: return b->linear / FIBERS_LANES;
  case NWARPID: return FIBERS_THREADS / FIBERS_LANES;
  case CLOCK: return (uint32_t)ticks();
  case CLOCK_HI: return ticks() >> 32;
  case CLOCK64: return ticks();
  case GLOBALTIMER: return nanoseconds();
  case GLOBALTIMER_LO: return (uint32_t)nanoseconds();
  case GLOBALTIMER_HI: return nanoseconds() >> 32;
  case DYNAMIC_BYTES: return fibers_launch()->dynamic_bytes;
  case NSMID: return 1;
  default: return 0; /* SMID, GRIDID */
  }
}

static uint64_t values_read_operand(const struct iptx_run *run, unsigned index) {
  uint64_t bits = 0;
  if (index >= run->operand_count)
    iptx_trap(run, "inline PTX names an operand that its asm does not have");
  const struct cpu_ptx_operand *operand = &run->operands[index];
  if (!operand->output)
    return operand->bytes < sizeof bits ? operand->bits & ((UINT64_C(1) << 8 * operand->bytes) - 1)
                                        : operand->bits;
  memcpy(&bits, iptx_variable(operand),
         operand->bytes < sizeof bits ? operand->bytes : sizeof bits);
  return bits;
}

uint64_t iptx_read(const struct iptx_run *run, const struct iptx_term *term, enum iptx_type type) {
  uint64_t bits = term->bits;
  double real;
  switch (term->kind) {
  case IPTX_REGISTER: bits = run->registers[term->index]; break;
  case IPTX_OPERAND: bits = values_read_operand(run, term->index); break;
  case IPTX_REAL:
    memcpy(&real, &bits, sizeof real);
    return iptx_from_real(real, !type || iptx_kind(type) == 'b' ? IPTX_F32 : type);
  case IPTX_SPECIAL: bits = values_special(term->index); break;
  default: break;
  }
  if (iptx_kind(type) == 'p') return term->negated ? !bits : bits != 0;
  const unsigned width = iptx_bits(type);
  if (!width || width == 64) return bits;
  return iptx_extended(bits & ((UINT64_C(1) << width) - 1), type);
}

void iptx_write(struct iptx_run *run, const struct iptx_term *term, uint64_t bits) {
  if (term->kind == IPTX_REGISTER) run->registers[term->index] = bits;
  if (term->kind != IPTX_OPERAND) return;
  if (term->index >= run->operand_count)
    iptx_trap(run, "inline PTX names an operand that its asm does not have");
  const struct cpu_ptx_operand *operand = &run->operands[term->index];
  if (!operand->output) iptx_trap(run, "inline PTX writes an operand that its asm has as an input");
  if (operand->bytes == sizeof(uint32_t))
    memcpy(iptx_variable(operand), &(uint32_t){(uint32_t)bits}, sizeof(uint32_t));
  else
    memcpy(iptx_variable(operand), &bits,
           operand->bytes < sizeof bits ? operand->bytes : sizeof bits);
}
