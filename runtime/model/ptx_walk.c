/* Walking PTX; see ptx_walk.h. The walk is an interpreter of one block that counts instead of
   computing; integers, addresses, predicates and branches are followed lane by lane.

   Control flow: lanes of a warp part at a branch, and the lanes furthest behind run first, so that
   all lanes meet again at the first common place. Warps take turns, for example at backward
   branches and barriers, so that data which one warp has brought into L1 serve the others.

   Time: each register has a cycle in which it is ready, in two scenarios (L1 misses come from L2,
   or from memory). An instruction starts when its operands are ready, in any order within a basic
   block, as ptxas schedules: a list schedule without conflicts. The throughput of the units is
   accounted for separately, at the barrier that ends a phase: a phase takes the longer of the
   warp's path and the busiest unit's work (end_phase).

   In long programs only some warps are walked, which stand for all (ptx_walk_add_counts).
   Asynchronous copies are queues of the cycles in which the copies end; a wait takes the oldest. */
#include "ptx_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "ptx_memory.h"
#include "ptx_value.h"

enum {
  GROUPS = 64,          /* asynchronous groups in flight */
  FLIGHTS = 256,        /* loads in flight */
  MOST_STEPS = 4000000, /* steps of one warp */
  PROBE_STEPS = 20000,  /* steps for estimating the length of a warp */
  BLOCK_STEPS = 240000  /* approximate steps of all walked warps together */
};

/* The times at which asynchronous copies end, oldest first. */
struct queue {
  double done[GROUPS][PTX_SCENARIOS];
  int first, count;
};

struct warp {
  struct ptx_values values;
  struct ptx_counts counts;
  uint32_t live; /* a bit for each lane */
  int pc[PTX_LANES];
  bool together; /* all live lanes are at the pc of the first live lane */
  long steps;
  /* `now` is the beginning of the basic block, `last` the latest start of an instruction in it,
     `issued` the number of instructions that were issued in it. */
  double now[PTX_SCENARIOS], last[PTX_SCENARIOS], issued;
  double *ready[PTX_SCENARIOS];
  struct queue groups, bulk, products;
  double tensor[PTX_SCENARIOS]; /* when the last asynchronous product ends */
  double expected;              /* bytes that copies are expected to bring */
  /* Registers that loads under way will fill, and when each of these loads ends. */
  struct flight {
    double done[PTX_SCENARIOS];
    int registers;
  } flights[FLIGHTS];
  int first_flight, flight_count, flying; /* flying: registers of all loads under way */
  double open[PTX_SCENARIOS];             /* when the copies that are not committed yet end */
  bool any_open;
  /* The present phase, since the last barrier. */
  double phase_begin[PTX_SCENARIOS], phase_pipe[PTX_PIPE_COUNT];
  double alone[PTX_SCENARIOS], path[PTX_SCENARIOS];
};

struct walk {
  const struct ptx_kernel *kernel;
  const struct ptx_machine *machine;
  const struct ptx_launch *launch;
  struct ptx_memory memory;
  struct ptx_pattern *patterns; /* by instruction */
  struct ptx_counts counts;
  int warps;                     /* in the block */
  int alike;                     /* number of warps taken to do the same as a walked warp */
  bool wgmma;                    /* the kernel has wgmma: each group of four warps has a task */
  bool joins_quads, joins_pairs; /* ptxas joined loads into 16 or 8 bytes */
  unsigned char *turns;          /* by instruction: enum turn */
  /* The instruction that cannot be followed, and why: a call, or a loop on an unknown value. */
  const struct ptx_instruction *refused;
  enum ptx_origin because;
};

/* ---- Time ----------------------------------------------------------------------------------- */

static double larger(double a, double b) {
  return a > b ? a : b;
}

static void close_basic_block(struct warp *w) {
  for (int s = 0; s < PTX_SCENARIOS; s++) {
    w->now[s] = larger(w->now[s] + w->issued, w->last[s] + 1);
    w->last[s] = w->now[s];
  }
  w->issued = 0;
}

/* Starts an instruction when its operands are ready; results are set later. */
static void ptx_walk_start(const struct walk *walk, struct warp *w,
                           const struct ptx_instruction *in, double begin[PTX_SCENARIOS]) {
  const struct ptx_operand *operands = &walk->kernel->operands[in->first];
  for (int s = 0; s < PTX_SCENARIOS; s++) {
    begin[s] = w->now[s];
    if (in->guard >= 0) begin[s] = larger(begin[s], w->ready[s][in->guard]);
    int first = in->op == PTX_MMA ? 0 : in->op == PTX_WGMMA ? in->count : in->results;
    for (int i = first; i < in->count; i++)
      if (operands[i].slot >= 0 && operands[i].kind != PTX_SPECIAL)
        begin[s] = larger(begin[s], w->ready[s][operands[i].slot]);
    w->last[s] = larger(w->last[s], begin[s]);
  }
}

static void ptx_walk_spend(struct warp *w, enum ptx_pipe pipe, double cycles) {
  w->counts.pipe[pipe] += cycles;
  w->phase_pipe[pipe] += cycles;
}

/* A phase takes the longer of the warp's path and the work that `alike` such warps give to one
   unit. */
static void end_phase(const struct walk *walk, struct warp *w) {
  double busy = 0;
  close_basic_block(w);
  for (int p = 0; p < PTX_PIPE_COUNT; p++) {
    busy = larger(busy, w->phase_pipe[p] * walk->alike);
    w->phase_pipe[p] = 0;
  }
  for (int s = 0; s < PTX_SCENARIOS; s++) {
    w->alone[s] += larger(w->now[s] - w->phase_begin[s], busy);
    w->path[s] += w->now[s] - w->phase_begin[s];
    w->phase_begin[s] = w->now[s];
  }
}

/* A load begins when there are free registers for its results; about a third of the registers
   hold other values. At most as many loads are under way as in the machine code. */
static void wait_for_registers(const struct walk *walk, struct warp *w,
                               const struct ptx_instruction *in, double begin[PTX_SCENARIOS]) {
  int needed = in->results * (in->size > 4 ? in->size / 4 : 1),
      most = walk->launch->registers * 2 / 3;
  int together = walk->launch->in_flight > 0 ? walk->launch->in_flight : FLIGHTS;
  while (w->flight_count &&
         (w->flying + needed > most || w->flight_count == FLIGHTS || w->flight_count >= together)) {
    const struct flight *oldest = &w->flights[w->first_flight++ % FLIGHTS];
    for (int s = 0; s < PTX_SCENARIOS; s++) begin[s] = larger(begin[s], oldest->done[s]);
    w->flying -= oldest->registers;
    w->flight_count--;
  }
  for (int s = 0; s < PTX_SCENARIOS; s++) w->last[s] = larger(w->last[s], begin[s]);
}

static void take_off(struct warp *w, const struct ptx_instruction *in,
                     const double begin[PTX_SCENARIOS], const double latency[PTX_SCENARIOS]) {
  struct flight *flight = &w->flights[(w->first_flight + w->flight_count++) % FLIGHTS];
  flight->registers = in->results * (in->size > 4 ? in->size / 4 : 1);
  for (int s = 0; s < PTX_SCENARIOS; s++) flight->done[s] = begin[s] + latency[s];
  w->flying += flight->registers;
}

/* ---- Asynchronous copies -------------------------------------------------------------------- */

static void ptx_walk_push(struct queue *q, const double done[PTX_SCENARIOS]) {
  if (q->count == GROUPS) q->first++, q->count--;
  memcpy(q->done[(q->first + q->count++) % GROUPS], done, sizeof q->done[0]);
}

static void wait_until(struct warp *w, struct queue *q, int left) {
  close_basic_block(w);
  for (; q->count > left; q->first++, q->count--)
    for (int s = 0; s < PTX_SCENARIOS; s++)
      w->now[s] = larger(w->now[s], q->done[q->first % GROUPS][s]);
  for (int s = 0; s < PTX_SCENARIOS; s++) w->last[s] = w->now[s];
}

static void begin_copy(struct warp *w, const double begin[PTX_SCENARIOS],
                       const double latency[PTX_SCENARIOS]) {
  for (int s = 0; s < PTX_SCENARIOS; s++)
    w->open[s] = larger(w->any_open ? w->open[s] : 0, begin[s] + latency[s]);
  w->any_open = true;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void from_global(const struct walk *walk, const struct ptx_access *access,
                        double latency[PTX_SCENARIOS]) {
  const struct ptx_machine *m = walk->machine;
  latency[PTX_FROM_L2] = access->misses ? m->latency_l2 : m->latency_l1;
  latency[PTX_FROM_MEMORY] = access->misses ? m->latency_memory : m->latency_l1;
  for (int s = 0; s < PTX_SCENARIOS; s++) latency[s] += access->wavefronts - 1;
}

static void count_global(struct warp *w, const struct ptx_access *access, double *to_l2) {
  struct ptx_counts *c = &w->counts;
  c->global_requests++;
  c->global_sectors += access->sectors;
  c->ideal_sectors += access->ideal;
  c->global_wavefronts += access->wavefronts;
  *to_l2 += access->misses;
  ptx_walk_spend(w, PTX_PIPE_MEMORY, access->wavefronts);
}

static void count_shared(struct warp *w, const struct ptx_access *access) {
  w->counts.shared_wavefronts += access->wavefronts;
  w->counts.shared_ideal += access->ideal;
  ptx_walk_spend(w, PTX_PIPE_MEMORY, access->wavefronts);
}

static void both(double latency[PTX_SCENARIOS], double value) {
  for (int s = 0; s < PTX_SCENARIOS; s++) latency[s] = value;
}

static struct ptx_pattern *pattern_of(const struct walk *walk, const struct ptx_instruction *in) {
  return &walk->patterns[in - walk->kernel->instructions];
}

static bool has_index(const struct walk *walk, const struct ptx_instruction *in) {
  return walk->kernel->operands[in->first + (size_t)in->results].slot >= 0;
}

/* Returns how many 128-byte lines the lanes touch at most. The number is exact if the lines adjoin,
   or if each lane has a line of its own. */
static double ptx_walk_lines_of(const struct ptx_lanes *lanes) {
  const int shift = 7;
  uint64_t least = UINT64_MAX, most = 0;
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
    const uint64_t at = lanes->address[__builtin_ctz(rest)] >> shift;
    if (at < least) least = at;
    if (at > most) most = at;
  }
  return fmin((double)(most - least + 1), __builtin_popcount(lanes->mask));
}

static enum ptx_space space_of(const struct ptx_instruction *in, const struct ptx_lanes *lanes) {
  if (in->space != PTX_GENERIC) return in->space;
  int64_t first = lanes->mask ? (int64_t)lanes->address[__builtin_ctz(lanes->mask)] : 0;
  return first & PTX_SHARED_TAG ? PTX_SHARED : first & PTX_LOCAL_TAG ? PTX_LOCAL : PTX_GLOBAL;
}

/* A constant at a fixed address is an operand of the machine instruction. With a variable index,
   the constant cache gives a word every second cycle, to all lanes that ask for the word:
   measured on an H200 with 1 to 32 words a warp. */
static void read_constant(const struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                          const struct ptx_lanes *lanes, double latency[PTX_SCENARIOS]) {
  const double word = 2;
  both(latency, walk->machine->latency[PTX_PIPE_INT]);
  if (!has_index(walk, in)) return;
  const double cycles = word * ptx_distinct_words(lanes);
  ptx_walk_spend(w, PTX_PIPE_CONSTANT, cycles);
  both(latency, walk->machine->latency_shared + cycles);
}

/* The level 2 cache reads and writes a sector in each pass, and returns the old value if it is
   used. The cache's atomic unit makes the passes over one line one after the other. If other blocks
   use other addresses, the passes are taken to spread over the whole buffer. */
static void count_atomic(const struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                         const struct ptx_lanes *lanes, int sectors) {
  const struct ptx_launch *l = walk->launch;
  const uint64_t first = lanes->address[__builtin_ctz(lanes->mask)],
                 buffer = (first >> PTX_BUFFER_SHIFT) - 1;
  const double passes = ptx_atomic_passes(lanes), line = 128;
  const double lines = buffer < (uint64_t)l->buffer_count
                           ? fmax(1, floor((double)l->buffers[buffer].bytes / line))
                           : 1;
  w->counts.atomics += passes * (in->results ? 3 : 2) - sectors;
  w->counts.crowded +=
      passes / (lanes->by_block || !lanes->known ? lines : fmin(lines, ptx_walk_lines_of(lanes)));
}

/* The words of a lane are interleaved with those of its warp, so that each word of the warp is a
   line. Stores leave L1 like stores to global memory. */
static void access_local(struct warp *w, const struct ptx_instruction *in, bool load) {
  const double sectors = 4, words = in->vector * (in->size > 4 ? in->size / 4.0 : 1);
  ptx_walk_spend(w, PTX_PIPE_MEMORY, words);
  if (load) return;
  w->counts.store_wavefronts += words;
  w->counts.store_sectors += sectors * words;
}

static void access_memory(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                          const struct ptx_lanes *lanes, double latency[PTX_SCENARIOS]) {
  const struct ptx_machine *m = walk->machine;
  bool load = in->op == PTX_LOAD;
  struct ptx_access access;
  switch (space_of(in, lanes)) {
  case PTX_PARAM: both(latency, 0); return;
  case PTX_CONST: read_constant(walk, w, in, lanes, latency); return;
  case PTX_LOCAL:
    access_local(w, in, load);
    both(latency, m->latency_l1);
    return;
  case PTX_DISTANT:
    w->counts.exchange += (double)lanes->bytes * __builtin_popcount(lanes->mask) / m->cluster_bytes;
    both(latency, m->latency_cluster);
    return;
  case PTX_SHARED:
    ptx_shared_access(pattern_of(walk, in), lanes, &access);
    /* Integer atomics in shared memory read and write the word in place. For floats the machine
       runs a loop of compare-and-swap, once for each lane that uses the word: 4.7 cycles a round on
       an H200, twice that for f64. */
    if (in->op == PTX_ATOMIC) access.wavefronts *= in->is_float ? 4 * ptx_most_alike(lanes) : 2;
    count_shared(w, &access);
    both(latency, m->latency_shared + access.wavefronts - 1);
    return;
  default: break;
  }
  ptx_global_access(&walk->memory, lanes, load, load && !in->past_l1, &access);
  count_global(w, &access, load ? &w->counts.load_sectors : &w->counts.store_sectors);
  w->counts.requested += (double)lanes->bytes * __builtin_popcount(lanes->mask);
  if (!load) w->counts.store_wavefronts += access.wavefronts;
  if (in->op == PTX_ATOMIC) count_atomic(walk, w, in, lanes, access.sectors);
  from_global(walk, &access, latency);
}

/* Texture coordinates are not followed: neighbouring lanes are assumed to read neighbouring
   texels, mostly from L1. The texture pipe is the bound. */
static void access_texture(struct walk *walk, struct warp *w, uint32_t mask,
                           double latency[PTX_SCENARIOS]) {
  const struct ptx_access access = {.sectors = 4, .ideal = 4, .misses = 1, .wavefronts = 1};
  count_global(w, &access, &w->counts.load_sectors);
  w->counts.requested += (double)walk->launch->texel_bytes * __builtin_popcount(mask);
  w->counts.unknown += !walk->launch->texel_bytes;
  both(latency, 3 * walk->machine->latency_l1);
}

/* A copy may read fewer bytes than it writes, and then fills up with zeros. */
static double copied_bytes(const struct walk *walk, const struct warp *w,
                           const struct ptx_instruction *in, uint32_t mask, int bytes) {
  double sum = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int64_t read =
        in->count > 3 ? ptx_value_of(&w->values, walk->kernel, in, 3, __builtin_ctz(rest)) : bytes;
    sum += read < 0 || read > bytes ? bytes : (double)read;
  }
  return sum;
}

static void copy_async(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                       uint32_t mask, const double begin[PTX_SCENARIOS]) {
  struct ptx_lanes lanes;
  struct ptx_access shared, global;
  double latency[PTX_SCENARIOS];
  int bytes = (int)ptx_operand_number(walk->kernel, in, 2, 16);
  ptx_lanes_read(&w->values, walk->kernel, in, 0, mask, bytes, &lanes);
  ptx_shared_access(pattern_of(walk, in), &lanes, &shared);
  ptx_lanes_read(&w->values, walk->kernel, in, 1, mask, bytes, &lanes);
  ptx_global_access(&walk->memory, &lanes, true, !in->past_l1, &global);
  count_shared(w, &shared);
  count_global(w, &global, &w->counts.load_sectors);
  w->counts.requested += copied_bytes(walk, w, in, mask, bytes);
  from_global(walk, &global, latency);
  begin_copy(w, begin, latency);
}

static void count_bulk(struct warp *w, double bytes, bool load) {
  double sectors = bytes / 32;
  *(load ? &w->counts.load_sectors : &w->counts.store_sectors) += sectors;
  w->counts.global_sectors += sectors;
  w->counts.ideal_sectors += sectors;
  w->counts.global_requests++;
  ptx_walk_spend(w, PTX_PIPE_MEMORY, sectors / 4);
}

static double expected_bytes(const struct walk *walk, const struct warp *w,
                             const struct ptx_instruction *in, uint32_t mask) {
  int64_t bytes = ptx_value_of(&w->values, walk->kernel, in, in->count - 1, __builtin_ctz(mask));
  return bytes > 0 && bytes < 1 << 20 ? (double)bytes : 0;
}

/* Returns the bytes of a tensor map's box, if the operand at `index` is the address of the
   parameter itself; 0: not known. */
static double ptx_walk_box_bytes(const struct walk *walk, const struct warp *w,
                                 const struct ptx_instruction *in, int index, uint32_t mask) {
  int64_t map =
      ptx_value_of(&w->values, walk->kernel, in, index, __builtin_ctz(mask)) >> PTX_PARAM_SHIFT;
  bool known = walk->launch->boxes && map >= 0 && map < walk->launch->parameter_count;
  return known ? walk->launch->boxes[map] : 0;
}

/* Adds a request. With wgmma each walked warp represents `alike` warps, of which one makes the
   request. */
static void request_box(const struct walk *walk, struct warp *w, double bytes) {
  w->counts.requested += bytes / (walk->wgmma ? walk->alike : 1);
  w->counts.unknown += !(bytes > 0);
}

/* Loads by a tensor map: the first of several loads counts the bytes of all. With wgmma, one warp
   of four makes the requests and does not wait. Other blocks want the same data at about the same
   time, so L2 gets about half the requests: by multicast to a cluster, or because requests are
   joined on the way (Nsight Compute's unit "lrc"). */
static void load_tensor(const struct walk *walk, struct warp *w,
                        const double begin[PTX_SCENARIOS]) {
  const double latency[] = {walk->machine->latency_l2, walk->machine->latency_memory}, shared = 0.5;
  double done[PTX_SCENARIOS];
  for (int s = 0; s < PTX_SCENARIOS; s++) done[s] = begin[s] + latency[s] + w->expected / 64;
  if (w->expected > 0 && !walk->wgmma) ptx_walk_push(&w->bulk, done);
  count_bulk(w, w->expected * (walk->wgmma ? shared / walk->alike : 1), true);
  w->expected = 0;
}

/* One thread copies a contiguous piece. */
static void copy_bulk(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                      uint32_t mask, const double begin[PTX_SCENARIOS]) {
  double latency[PTX_SCENARIOS] = {walk->machine->latency_l2, walk->machine->latency_memory},
         done[PTX_SCENARIOS];
  int64_t bytes = ptx_value_of(&w->values, walk->kernel, in, 2, __builtin_ctz(mask));
  if (bytes < 0 || bytes > 1 << 20) bytes = 0;
  bool load = in->op == PTX_BULK_LOAD;
  count_bulk(w, (double)bytes, load);
  w->counts.requested += (double)bytes;
  ptx_touch(&walk->memory,
            (uint64_t)ptx_value_of(&w->values, walk->kernel, in, load ? 1 : 0, __builtin_ctz(mask)),
            bytes, load);
  for (int s = 0; s < PTX_SCENARIOS; s++) {
    latency[s] += (double)bytes / 64; /* 64 bytes a cycle into or out of a multiprocessor */
    done[s] = begin[s] + latency[s];
  }
  if (load)
    ptx_walk_push(&w->bulk, done);
  else
    begin_copy(w, begin, latency);
}

static void access_matrix(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                          uint32_t mask, double latency[PTX_SCENARIOS]) {
  struct ptx_lanes lanes;
  struct ptx_access access;
  int at = in->op == PTX_MATRIX_LOAD ? in->results : 0;
  /* eight lanes give the addresses of a matrix */
  mask &= in->vector >= 4 ? 0xffffffffu : (1u << 8 * in->vector) - 1;
  ptx_lanes_read(&w->values, walk->kernel, in, at, mask, 16, &lanes);
  ptx_shared_access(pattern_of(walk, in), &lanes, &access);
  count_shared(w, &access);
  both(latency, walk->machine->latency_shared + access.wavefronts - 1);
}

static double tensor_rate(const struct ptx_machine *m, const struct ptx_instruction *in) {
  const int64_t smallest = INT64_C(2) * 8 * 8 * 4;
  double share = in->op == PTX_MMA ? m->tensor_sync_share : 1;
  switch (in->operand_size) {
  case 8: return m->tensor_f64_flops * (in->immediate <= smallest ? m->tensor_small_share : 1);
  case 4: return share * m->tensor_tf32_flops;
  case 1: return share * (in->is_float ? m->tensor_fp8_flops : m->tensor_i8_flops);
  default: return share * m->tensor_flops;
  }
}

static double tensor_cycles(const struct walk *walk, const struct ptx_instruction *in) {
  return (double)in->immediate / tensor_rate(walk->machine, in);
}

/* Products queue for the tensor cores; the four warps of a group execute one instruction
   together. */
static void begin_product(const struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                          const double begin[PTX_SCENARIOS]) {
  double cycles = tensor_cycles(walk, in);
  for (int s = 0; s < PTX_SCENARIOS; s++) w->tensor[s] = larger(w->tensor[s], begin[s]) + cycles;
  ptx_walk_spend(w, PTX_PIPE_TENSOR, cycles / 4);
}

/* ---- One instruction ------------------------------------------------------------------------ */

/* Changes the lanes to one access of `bytes` bytes if all base addresses are multiples of `bytes`,
   as ptxas knew when it joined the loads. */
static bool ptx_walk_widen(const struct walk *walk, const struct ptx_instruction *in, int bytes,
                           struct ptx_lanes *lanes) {
  uint64_t at =
      (uint64_t)walk->kernel->operands[in->first + (size_t)in->results].value % (uint64_t)bytes;
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1)
    if (lanes->address[__builtin_ctz(rest)] % (uint64_t)bytes != at) return false;
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1)
    lanes->address[__builtin_ctz(rest)] -= at;
  lanes->bytes = bytes;
  return true;
}

/* Computes the addresses of the lanes of a load, store or atomic operation. Returns true if the
   access is joined with an earlier access. */
static bool read_lanes(const struct walk *walk, const struct warp *w,
                       const struct ptx_instruction *in, uint32_t mask, struct ptx_lanes *out) {
  bool accesses = in->op == PTX_LOAD || in->op == PTX_STORE || in->op == PTX_ATOMIC;
  if (!accesses || !mask) return false;
  ptx_lanes_read(&w->values, walk->kernel, in, in->results, mask, in->size * in->vector, out);
  if (walk->joins_quads && in->quad && ptx_walk_widen(walk, in, 16, out))
    return in->quad == PTX_FOLLOWS;
  if (walk->joins_pairs && in->pair && ptx_walk_widen(walk, in, 8, out))
    return in->pair == PTX_FOLLOWS;
  return false;
}

/* Counts what the instruction costs. lanes, follows: the results of read_lanes. */
static void perform(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                    uint32_t mask, bool follows, struct ptx_lanes *lanes,
                    const double begin[PTX_SCENARIOS], double latency[PTX_SCENARIOS]) {
  const struct ptx_machine *m = walk->machine;
  switch (in->op) {
  case PTX_LOAD:
  case PTX_STORE:
  case PTX_ATOMIC:
    if (follows)
      both(latency, m->latency_shared);
    else
      access_memory(walk, w, in, lanes, latency);
    break;
  case PTX_TEXTURE: access_texture(walk, w, mask, latency); break;
  case PTX_ASYNC: copy_async(walk, w, in, mask, begin); break;
  case PTX_BULK_LOAD:
  case PTX_BULK_STORE: copy_bulk(walk, w, in, mask, begin); break;
  case PTX_MATRIX_LOAD:
  case PTX_MATRIX_STORE: access_matrix(walk, w, in, mask, latency); break;
  case PTX_SHFL: ptx_walk_spend(w, PTX_PIPE_MEMORY, 1); break;
  case PTX_MMA: ptx_walk_spend(w, PTX_PIPE_TENSOR, tensor_cycles(walk, in)); break;
  case PTX_EXPECT: w->expected += expected_bytes(walk, w, in, mask); break;
  case PTX_TENSOR_LOAD:
    load_tensor(walk, w, begin);
    request_box(walk, w, ptx_walk_box_bytes(walk, w, in, 1, mask));
    break;
  case PTX_TENSOR_STORE: request_box(walk, w, ptx_walk_box_bytes(walk, w, in, 0, mask)); break;
  case PTX_WGMMA: begin_product(walk, w, in, begin); break;
  case PTX_WGMMA_COMMIT: ptx_walk_push(&w->products, w->tensor); break;
  case PTX_WGMMA_WAIT:
    wait_until(w, &w->products, (int)ptx_operand_number(walk->kernel, in, 0, 0));
    break;
  case PTX_COMMIT:
    ptx_walk_push(&w->groups, w->any_open ? w->open : w->now);
    w->any_open = false;
    break;
  case PTX_WAIT: wait_until(w, &w->groups, (int)ptx_operand_number(walk->kernel, in, 0, 0)); break;
  case PTX_WAIT_BARRIER: wait_until(w, &w->bulk, w->bulk.count ? w->bulk.count - 1 : 0); break;
  case PTX_BARRIER:
    w->counts.barriers++;
    end_phase(walk, w);
    for (int s = 0; s < PTX_SCENARIOS; s++)
      w->now[s] = w->last[s] =
          w->now[s] + (in->space == PTX_DISTANT ? m->latency_cluster : m->latency_barrier);
    break;
  default: break;
  }
}

static void issue(const struct walk *walk, struct warp *w, const struct ptx_instruction *in) {
  const struct ptx_machine *m = walk->machine;
  w->counts.instructions += in->weight;
  ptx_walk_spend(w, PTX_PIPE_NONE, in->weight * m->pipe[PTX_PIPE_NONE]);
  if (in->pipe != PTX_PIPE_MEMORY && in->pipe != PTX_PIPE_TENSOR)
    ptx_walk_spend(w, in->pipe, in->pipe ? in->weight * m->pipe[in->pipe] : 0);
  w->issued += in->weight;
}

/* Accounts for one instruction: its cost, and when its results are ready. The result of a wgmma is
   ready when the warp waits for the product. */
static void account(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                    uint32_t mask) {
  double begin[PTX_SCENARIOS], latency[PTX_SCENARIOS];
  struct ptx_lanes lanes;
  bool follows = read_lanes(walk, w, in, mask, &lanes);
  const bool operand = in->op == PTX_LOAD &&
                       (in->space == PTX_PARAM || (in->space == PTX_CONST && !has_index(walk, in)));
  const bool free = follows || operand || in->op == PTX_MOV || in->op == PTX_CVTA;
  if (in->leader) close_basic_block(w);
  ptx_walk_start(walk, w, in, begin);
  if (in->op == PTX_LOAD && !operand) wait_for_registers(walk, w, in, begin);
  both(latency,
       free ? 0 : walk->machine->latency[in->pipe] * (in->weight > 1 ? in->weight / 2.0 : 1));
  if (!free) issue(walk, w, in);
  if (!mask) return;
  perform(walk, w, in, mask, follows, &lanes, begin, latency);
  if (in->op == PTX_WGMMA) return;
  if (in->op == PTX_LOAD && !operand) take_off(w, in, begin, latency);
  const struct ptx_operand *operands = &walk->kernel->operands[in->first];
  for (int i = 0; i < in->results; i++)
    if (operands[i].kind == PTX_REGISTER)
      for (int s = 0; s < PTX_SCENARIOS; s++) w->ready[s][operands[i].slot] = begin[s] + latency[s];
}

/* ---- Control flow --------------------------------------------------------------------------- */

/* Chooses the lanes that are furthest behind, so that parted lanes meet again at the first
   possible place. */
static uint32_t choose_lanes(struct warp *w, int *pc) {
  uint32_t chosen = 0;
  if (w->together) {
    *pc = w->pc[__builtin_ctz(w->live)];
    return w->live;
  }
  *pc = INT32_MAX;
  for (uint32_t rest = w->live; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    if (w->pc[lane] < *pc) *pc = w->pc[lane], chosen = 0;
    if (w->pc[lane] == *pc) chosen |= 1u << lane;
  }
  w->together = chosen == w->live;
  return chosen;
}

static void move_lanes(struct warp *w, uint32_t lanes, int pc) {
  for (; lanes; lanes &= lanes - 1) w->pc[__builtin_ctz(lanes)] = pc;
}

/* The meaning of a branch whose condition is not known. */
enum turn {
  TURN_UNSEEN,
  TURN_LOOP,   /* decides how often a loop is repeated */
  TURN_ALWAYS, /* taken, because the code after it fails */
  TURN_NEVER,  /* not taken, because its target fails, or to count the code that it would skip */
  TURN_BOTH    /* chooses between two sides: every second lane branches, if others stay */
};

/* Returns whether straight code from this instruction ends in a failure, so that a correct kernel
   never reaches it. */
static bool fails(const struct ptx_kernel *k, size_t at) {
  while (at < k->count && k->instructions[at].op < PTX_BRANCH) at++;
  return at < k->count && k->instructions[at].op == PTX_FAIL;
}

/* Returns whether `from` is part of the loop: control can get from there to the loop's last
   instruction without passing the loop's first. */
static bool in_loop(const struct ptx_kernel *k, size_t from, size_t first, size_t last,
                    unsigned char *seen, size_t *left) {
  size_t count = 0;
  if (from == first) return true;
  memset(seen, 0, k->count);
  for (left[count++] = from; count;) {
    size_t at = left[--count];
    for (bool goes_on = true; goes_on && at < k->count && at != first && !seen[at]; at++) {
      const struct ptx_instruction *in = &k->instructions[at];
      const struct ptx_targets targets = ptx_targets_of(k, in);
      if (at == last) return true;
      seen[at] = 1;
      for (size_t i = 0; i < targets.count && count < k->count; i++)
        left[count++] = (size_t)targets.first[i].value;
      goes_on = in->guard >= 0 || (!targets.count && in->op != PTX_EXIT && in->op != PTX_FAIL);
    }
  }
  return false;
}

/* Returns whether a branch decides to stay in a loop or to leave the loop; also true when memory
   runs out. */
static bool leaves_loop(const struct ptx_kernel *k, size_t at, size_t target) {
  unsigned char *seen = malloc(k->count + 1);
  size_t *left = malloc((k->count + 1) * sizeof *left);
  bool leaves = !seen || !left;
  for (size_t last = 0; last < k->count && !leaves; last++) {
    const struct ptx_targets back = ptx_targets_of(k, &k->instructions[last]);
    for (size_t j = 0; j < back.count && !leaves; j++) {
      const size_t first = (size_t)back.first[j].value;
      if (first <= last)
        leaves = in_loop(k, at + 1, first, last, seen, left) !=
                 in_loop(k, target, first, last, seen, left);
    }
  }
  free(seen);
  free(left);
  return leaves;
}

static enum turn find_turn(const struct ptx_kernel *k, size_t at) {
  const struct ptx_targets targets = ptx_targets_of(k, &k->instructions[at]);
  const size_t target = targets.count ? (size_t)targets.first[0].value : k->count;
  if (target <= at) return TURN_LOOP;
  if (fails(k, target)) return TURN_NEVER;
  if (fails(k, at + 1)) return TURN_ALWAYS;
  if (leaves_loop(k, at, target)) return TURN_LOOP;
  const struct ptx_instruction *before = &k->instructions[target - 1];
  const bool jumps = target - 1 > at && before->op == PTX_BRANCH && before->guard < 0;
  return jumps && k->operands[before->first].value > (int64_t)target ? TURN_BOTH : TURN_NEVER;
}

static void ptx_walk_refuse(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                            enum ptx_origin because) {
  if (!walk->refused) walk->refused = in, walk->because = because;
  w->live = 0;
}

/* Returns the lanes that an unknown guard moves at a branch, exit or trap. With TURN_BOTH,
   neighbouring lanes part, so that the accesses of each side stay as spread as before. */
static uint32_t guess_lanes(struct walk *walk, struct warp *w, size_t at, uint32_t mask) {
  const uint32_t every_second = 0x55555555u;
  const struct ptx_instruction *in = &walk->kernel->instructions[at];
  const enum ptx_origin origin = (enum ptx_origin)w->values.origin[in->guard];
  if (!walk->turns[at]) walk->turns[at] = (unsigned char)find_turn(walk->kernel, at);
  switch ((enum turn)walk->turns[at]) {
  case TURN_LOOP:
    if (origin != PTX_FROM_SWAP) return ptx_walk_refuse(walk, w, in, origin), 0;
    return ptx_targets_of(walk->kernel, in).first[0].value <= (int64_t)at ? 0 : mask;
  case TURN_ALWAYS: return mask;
  case TURN_BOTH: return mask & every_second && mask & ~every_second ? mask & every_second : 0;
  default: return 0;
  }
}

/* Returns the lanes that execute an instruction. An instruction with an unknown guard, other than a
   branch, exit or trap, is counted for all lanes. */
static uint32_t find_active(struct walk *walk, struct warp *w, size_t at, uint32_t mask) {
  const struct ptx_instruction *in = &walk->kernel->instructions[at];
  if (in->guard < 0) return mask;
  if (w->values.origin[in->guard] == PTX_KNOWN)
    return mask & ptx_predicate(&w->values, in->guard, in->guard_not);
  const bool turns = in->op == PTX_BRANCH || in->op == PTX_EXIT || in->op == PTX_FAIL;
  return turns ? guess_lanes(walk, w, at, mask) : mask;
}

/* Moves each lane to the label that its index selects; an unknown index selects all labels in
   turn. */
static void move_by_table(struct walk *walk, struct warp *w, const struct ptx_instruction *in,
                          uint32_t lanes) {
  const struct ptx_targets targets = ptx_targets_of(walk->kernel, in);
  const bool known = ptx_origin_of(&w->values, walk->kernel, in, 0) == PTX_KNOWN;
  w->together = false;
  for (; lanes; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint64_t index =
        known ? (uint64_t)ptx_value_of(&w->values, walk->kernel, in, 0, lane) : (uint64_t)lane;
    w->pc[lane] = (int)targets.first[index % targets.count].value;
  }
}

/* Executes one instruction. Returns true when other warps should continue: after a backward branch
   or a branch by a table, at a barrier, and when lanes end. */
static bool ptx_walk_step(struct walk *walk, struct warp *w) {
  int pc;
  uint32_t mask = choose_lanes(w, &pc);
  if (pc >= (int)walk->kernel->count) {
    w->live &= ~mask;
    return true;
  }
  const struct ptx_instruction *in = &walk->kernel->instructions[pc];
  uint32_t active = find_active(walk, w, (size_t)pc, mask);
  if (in->op == PTX_CALL && active) ptx_walk_refuse(walk, w, in, PTX_KNOWN);
  if (!w->live) return true;
  account(walk, w, in, active);
  w->steps++;
  move_lanes(w, mask & ~active, pc + 1);
  if (in->op == PTX_BRANCH) {
    int target = (int)walk->kernel->operands[in->first].value;
    move_lanes(w, active, target);
    if (active != mask && active) w->together = false;
    return active && target <= pc;
  }
  if (in->op == PTX_EXIT || in->op == PTX_FAIL) {
    w->live &= ~active;
    return true;
  }
  if (in->op == PTX_BRANCH_TABLE) {
    move_by_table(walk, w, in, active);
    return true;
  }
  move_lanes(w, active, pc + 1);
  ptx_execute(&w->values, walk->kernel, in, active);
  return in->op == PTX_BARRIER;
}

/* ---- Warps ---------------------------------------------------------------------------------- */

static int warp_open(const struct walk *walk, int index, struct warp *out, cugen_error *err) {
  const struct ptx_launch *l = walk->launch;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
           first = (uint64_t)index * PTX_LANES;
  uint64_t lanes = threads - first < PTX_LANES ? threads - first : PTX_LANES;
  *out = (struct warp){.together = true};
  out->live = lanes == PTX_LANES ? 0xffffffffu : (1u << lanes) - 1;
  for (int s = 0; s < PTX_SCENARIOS; s++) {
    out->ready[s] = calloc((size_t)walk->kernel->slots + 1, sizeof *out->ready[s]);
    if (!out->ready[s]) return error_memory(err);
  }
  return ptx_values_open(walk->kernel, l, index, &out->values, err);
}

static void warp_close(struct warp *w) {
  for (int s = 0; s < PTX_SCENARIOS; s++) free(w->ready[s]);
  ptx_values_close(&w->values);
}

/* Counts the steps of a warp, at most `most`. */
static int ptx_walk_probe(const struct walk *walk, int index, long most, long *steps,
                          cugen_error *err) {
  struct walk copy = *walk;
  struct warp w;
  int status = warp_open(walk, index, &w, err);
  if (!status) status = ptx_memory_open(walk->launch->l1_bytes, &copy.memory, err);
  while (!status && w.live && w.steps < most) ptx_walk_step(&copy, &w);
  *steps = w.steps;
  warp_close(&w);
  ptx_memory_close(&copy.memory);
  return status;
}

/* Sets the error for the instruction that cannot be followed, with the instruction's place. */
static int ptx_walk_explain(const struct walk *walk, cugen_error *err) {
  static const char *const origins[] = {[PTX_FROM_FLOAT] = "floats that are computed",
                                        [PTX_FROM_LOCAL] = "values in local memory",
                                        [PTX_FROM_SHARED] = "values in shared memory",
                                        [PTX_FROM_CONSTANT] = "values in constant memory",
                                        [PTX_FROM_GLOBAL] = "values in memory"};
  const struct ptx_instruction *in = walk->refused;
  if (in->op == PTX_CALL) {
    const struct ptx_name name = walk->kernel->called[in->immediate];
    if (*name.text == '%')
      error_set(err, CUGEN_ERROR_COMPILE,
                "the kernel calls a function by its address, which is not followed");
    else
      error_set(err, CUGEN_ERROR_COMPILE,
                "the kernel calls %.*s, which is not inlined and not followed", (int)name.length,
                name.text);
  } else if (walk->because >= PTX_FROM_BUFFER) {
    error_set(err, CUGEN_ERROR_COMPILE, "trip counts depend on '%s'",
              walk->launch->buffers[walk->because - PTX_FROM_BUFFER].name);
  } else {
    error_set(err, CUGEN_ERROR_COMPILE, "trip counts depend on %s", origins[walk->because]);
  }
  ptx_append_place(walk->kernel, in, err);
  return CUGEN_ERROR_COMPILE;
}

static int run_warps(struct walk *walk, struct warp *warps, int count, cugen_error *err) {
  for (bool any = true; any;) {
    any = false;
    for (int i = 0; i < count; i++) {
      while (warps[i].live && !ptx_walk_step(walk, &warps[i]))
        ;
      if (walk->refused) return ptx_walk_explain(walk, err);
      if ((walk->launch->stop && atomic_load(walk->launch->stop)) ||
          (walk->launch->until > 0 && clock_seconds() > walk->launch->until))
        return error_set(err, CUGEN_ERROR_INTERRUPTED,
                         "the prediction was stopped, on request or by its time limit");
      if (warps[i].steps > MOST_STEPS)
        return error_set(err, CUGEN_ERROR_COMPILE, "a warp does not end within %d instructions",
                         MOST_STEPS);
      any |= warps[i].live != 0;
    }
  }
  return CUGEN_OK;
}

/* Adds the counts of a walked warp, times `factor`, the number of warps that it represents. */
static void ptx_walk_add_counts(const struct ptx_counts *from, double factor,
                                struct ptx_counts *c) {
#define ADD(name) c->name += factor * from->name
  ADD(instructions), ADD(shared_wavefronts), ADD(shared_ideal), ADD(global_wavefronts);
  ADD(store_wavefronts), ADD(global_requests), ADD(global_sectors), ADD(ideal_sectors);
  ADD(load_sectors), ADD(store_sectors), ADD(requested), ADD(unknown);
  ADD(atomics), ADD(crowded), ADD(exchange), ADD(barriers);
#undef ADD
  for (int p = 0; p < PTX_PIPE_COUNT; p++) c->pipe[p] += factor * from->pipe[p];
}

/* Completes the times if groups of warps are specialised: the block takes at least the work of its
   busiest unit, and begins one latency later, when the first tiles have arrived. */
static void join_groups(struct walk *walk) {
  const double latency[] = {walk->machine->latency_l2, walk->machine->latency_memory};
  for (int s = 0; s < PTX_SCENARIOS; s++) {
    for (int p = 0; p < PTX_PIPE_COUNT; p++)
      walk->counts.alone[s] = larger(walk->counts.alone[s], walk->counts.pipe[p]);
    walk->counts.alone[s] += latency[s];
    walk->counts.path[s] += latency[s];
  }
}

static int walk_some(struct walk *walk, int count, cugen_error *err) {
  struct warp *warps = calloc((size_t)count, sizeof *warps);
  int status = warps ? CUGEN_OK : error_memory(err);
  for (int i = 0; i < count && !status; i++)
    status = warp_open(walk, (int)((int64_t)i * walk->warps / count), &warps[i], err);
  if (!status)
    status = ptx_memory_open(walk->launch->l1_bytes * count / walk->warps, &walk->memory, err);
  if (!status) status = run_warps(walk, warps, count, err);
  for (int i = 0; i < count && warps; i++) {
    if (!status) end_phase(walk, &warps[i]);
    /* without wgmma the first warp, which often differs, represents only itself */
    double others = walk->wgmma ? (double)walk->warps / count
                    : i         ? (double)(walk->warps - 1) / (count - 1)
                                : 1;
    ptx_walk_add_counts(&warps[i].counts, others, &walk->counts);
    for (int s = 0; s < PTX_SCENARIOS; s++) {
      walk->counts.alone[s] = larger(walk->counts.alone[s], warps[i].alone[s]);
      walk->counts.path[s] = larger(walk->counts.path[s], warps[i].path[s]);
    }
    warp_close(&warps[i]);
  }
  if (walk->wgmma) join_groups(walk);
  if (!status) {
    /* The footprint and the pages of the whole block follow from those of the walked warps. */
    const double factor = (double)walk->warps / count;
    struct ptx_footprint *to = &walk->counts.footprint;
    *to = ptx_footprint_of(&walk->memory);
    to->fetched *= factor, to->written *= factor, to->part *= factor, to->covered *= factor;
    walk->counts.pages = (double)walk->memory.page_count * factor;
  }
  free(warps);
  ptx_memory_close(&walk->memory);
  return status;
}

static int walk_open(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
                     const struct ptx_launch *launch, struct walk *out, cugen_error *err) {
  const int64_t threads = (int64_t)launch->block[0] * launch->block[1] * launch->block[2];
  *out = (struct walk){.kernel = kernel, .machine = machine, .launch = launch};
  out->warps = (int)((threads + PTX_LANES - 1) / PTX_LANES);
  if (out->warps < 1 || out->warps > 32)
    return error_set(err, CUGEN_ERROR_COMPILE, "a block has 1 to 1024 threads");
  for (size_t i = 0; i < kernel->count; i++) {
    const struct ptx_instruction *in = &kernel->instructions[i];
    out->wgmma |= in->op == PTX_WGMMA;
    if ((in->op == PTX_MMA || in->op == PTX_WGMMA) && !(tensor_rate(machine, in) > 0))
      return error_set(err, CUGEN_ERROR_COMPILE,
                       "PTX line %d: how fast the device multiplies matrices of this type is not "
                       "known, so the variant cannot be predicted",
                       in->line);
  }
  out->joins_quads = launch->shared_quads > ptx_join_count(kernel, 16);
  out->joins_pairs = launch->shared_pairs > ptx_join_count(kernel, 8);
  out->alike = out->wgmma && out->warps > 4 ? 4 : out->warps;
  out->patterns = calloc(kernel->count + 1, sizeof *out->patterns);
  out->turns = calloc(kernel->count + 1, sizeof *out->turns);
  return out->patterns && out->turns ? CUGEN_OK : error_memory(err);
}

static void walk_close(struct walk *walk) {
  free(walk->patterns);
  free(walk->turns);
}

int ptx_steps(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
              const struct ptx_launch *launch, long most, long *steps, cugen_error *err) {
  struct walk walk;
  long last;
  *steps = 0;
  int status = walk_open(kernel, machine, launch, &walk, err);
  if (!status) status = ptx_walk_probe(&walk, 0, most, steps, err);
  last = *steps;
  if (!status && walk.warps > 1) status = ptx_walk_probe(&walk, walk.warps - 1, most, &last, err);
  *steps += last;
  walk_close(&walk);
  return status;
}

int ptx_walk(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
             const struct ptx_launch *launch, struct ptx_counts *out, cugen_error *err) {
  struct walk walk;
  long steps = 0;
  int status = walk_open(kernel, machine, launch, &walk, err);
  if (!status) status = ptx_walk_probe(&walk, 0, PROBE_STEPS, &steps, err);
  int64_t most = steps < PROBE_STEPS ? BLOCK_STEPS / (steps + 1) : 2;
  if (most < 2) most = 2;
  if (walk.wgmma) most = (walk.warps + 3) / 4;
  if (!status) status = walk_some(&walk, (int)(most < walk.warps ? most : walk.warps), err);
  walk_close(&walk);
  walk.counts.code = (double)kernel->count;
  *out = walk.counts;
  return status;
}
