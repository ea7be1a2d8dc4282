/* Barriers, warp operations and branches of inline PTX; see inline_ptx.h. */
#include <string.h>

#include "async.h"
#include "inline_ptx.h"
#include "scheduler.h"

static unsigned lane_of_current(void) {
  return fibers_launch()->builtins->linear % FIBERS_LANES;
}

/* ---- Barriers ------------------------------------------------------------------------------- */

/* bar.sync number {, threads}: number 0 without a count is the barrier of the whole block. */
static void bar(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned number = i->count ? (unsigned)iptx_get(run, i, 0, IPTX_U32) : 0;
  const unsigned all = fibers_current()->padded;
  const unsigned threads = i->count > 1 ? (unsigned)iptx_get(run, i, 1, IPTX_U32) : all;
  const bool waits = !iptx_has(i, IPTX_W_ARRIVE);
  if (waits && number == 0 && i->count < 2) {
    collective_barrier_at(run->site, CPU_BARRIER_PLAIN, 0);
    return;
  }
  iptx_at_site(run);
  barriers_named(number, threads, waits);
}

static void barrier_cluster(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_at_site(run);
  barriers_cluster(iptx_has(i, IPTX_W_ARRIVE) ? CPU_CLUSTER_ARRIVE : CPU_CLUSTER_WAIT);
}

static void combine_nothing(void **slots, unsigned mask) {
  (void)slots, (void)mask;
}

static void warp_barrier(struct iptx_run *run, const struct iptx_instruction *i) {
  collective_warp_at(run->site, (unsigned)iptx_get(run, i, 0, IPTX_U32), combine_nothing, NULL);
}

/* ---- Operations of a warp ------------------------------------------------------------------- */

struct slot {
  uint64_t value, result;
  unsigned source;
  const struct iptx_instruction *i;
};

#define LANES(lane, mask)                                                                          \
  for (unsigned left = (mask), lane; left && (lane = (unsigned)__builtin_ctz(left), true);         \
       left &= left - 1)

static void collective_exchange(void **slots, unsigned mask) {
  LANES(lane, mask) {
    struct slot *to = slots[lane];
    const struct slot *from = slots[to->source];
    to->result = from ? from->value : to->value;
  }
}

/* Sets *source to the lane that `lane` reads. Returns true if that lane is in range (PTX ISA,
   shfl.sync). */
static bool shuffle_source(const struct iptx_instruction *i, unsigned lane, unsigned by, unsigned c,
                           unsigned *source) {
  const unsigned segment = c >> 8 & 31, clamp = c & 31, least = lane & segment,
                 most = least | (clamp & ~segment);
  const int up = (int)lane - (int)(by & 31);
  unsigned other = least | (by & 31 & ~segment);
  bool inside = other <= most;
  if (iptx_has(i, IPTX_W_UP)) inside = up >= (int)most, other = (unsigned)up & 31;
  if (iptx_has(i, IPTX_W_DOWN)) other = lane + (by & 31), inside = other <= most;
  if (iptx_has(i, IPTX_W_BFLY)) other = lane ^ (by & 31), inside = other <= most;
  *source = inside ? other & 31 : lane;
  return inside;
}

/* shfl.sync d{|p}, a, b, c, mask */
static void shfl(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned by = (unsigned)iptx_get(run, i, 2, IPTX_U32),
                 c = (unsigned)iptx_get(run, i, 3, IPTX_U32);
  const unsigned mask = (unsigned)iptx_get(run, i, 4, IPTX_U32);
  struct slot slot = {.value = iptx_get(run, i, 1, IPTX_B32)};
  const bool inside = shuffle_source(i, lane_of_current(), by, c, &slot.source);
  const unsigned came = collective_warp_at(run->site, mask, collective_exchange, &slot);
  if (run->watch && !(came >> slot.source & 1)) run->watch->lane(mask, slot.source);
  iptx_put(run, i, 0, slot.result);
  if (i->arguments[0].count > 1) iptx_write(run, &i->arguments[0].terms[1], inside);
}

static void gather_votes(void **slots, unsigned mask) {
  uint64_t all = 0;
  LANES(lane, mask) all |= (uint64_t)(((struct slot *)slots[lane])->value != 0) << lane;
  LANES(lane, mask) {
    ((struct slot *)slots[lane])->result = all;
    ((struct slot *)slots[lane])->source = mask;
  }
}

/* vote.sync.mode d, p, mask */
static void vote(struct iptx_run *run, const struct iptx_instruction *i) {
  struct slot slot = {.value = iptx_get(run, i, 1, IPTX_PRED)};
  collective_warp_at(run->site, (unsigned)iptx_get(run, i, 2, IPTX_U32), gather_votes, &slot);
  const bool none = !slot.result, every = slot.result == slot.source;
  iptx_put(run, i, 0,
           iptx_has(i, IPTX_W_BALLOT) ? slot.result
           : iptx_has(i, IPTX_W_ALL)  ? every
           : iptx_has(i, IPTX_W_UNI)  ? none || every
                                      : !none);
}

static void find_equal(void **slots, unsigned mask) {
  LANES(lane, mask) {
    struct slot *self = slots[lane];
    self->result = 0;
    self->source = mask;
    for (unsigned others = mask; others; others &= others - 1) {
      const unsigned other = (unsigned)__builtin_ctz(others);
      if (((struct slot *)slots[other])->value == self->value) self->result |= UINT64_C(1) << other;
    }
  }
}

/* match.any.sync d, a, mask; match.all.sync d|p, a, mask */
static void match(struct iptx_run *run, const struct iptx_instruction *i) {
  struct slot slot = {.value = iptx_get(run, i, 1, i->type_count ? i->types[0] : IPTX_B32)};
  collective_warp_at(run->site, (unsigned)iptx_get(run, i, 2, IPTX_U32), find_equal, &slot);
  const bool all = slot.result == slot.source;
  iptx_put(run, i, 0, iptx_has(i, IPTX_W_ALL) && !all ? 0 : slot.result);
  if (i->arguments[0].count > 1) iptx_write(run, &i->arguments[0].terms[1], all);
}

static void reduce(void **slots, unsigned mask) {
  const struct slot *first = slots[__builtin_ctz(mask)];
  const enum iptx_type type = first->i->type_count ? first->i->types[0] : IPTX_B32;
  uint64_t all = first->value;
  LANES(lane, mask & (mask - 1))
  all = iptx_combined(first->i, all, ((struct slot *)slots[lane])->value, type);
  LANES(lane, mask)((struct slot *)slots[lane])->result = all;
}

/* redux.sync.op d, a, mask */
static void redux(struct iptx_run *run, const struct iptx_instruction *i) {
  struct slot slot = {.value = iptx_get(run, i, 1, i->type_count ? i->types[0] : IPTX_B32), .i = i};
  collective_warp_at(run->site, (unsigned)iptx_get(run, i, 2, IPTX_U32), reduce, &slot);
  iptx_put(run, i, 0, slot.result);
}

/* elect.sync d|p, mask: elects the lowest lane. */
static void elect(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned mask = (unsigned)iptx_get(run, i, 1, IPTX_U32);
  struct slot slot = {.value = 1};
  collective_warp_at(run->site, mask, gather_votes, &slot);
  const unsigned leader = slot.result ? (unsigned)__builtin_ctzll(slot.result) : 0;
  iptx_put(run, i, 0, leader);
  if (i->arguments[0].count > 1)
    iptx_write(run, &i->arguments[0].terms[1], leader == lane_of_current());
}

static void activemask(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_put(run, i, 0, collective_active_mask());
}

#define ANY IPTX_W_COUNT
const struct iptx_operation iptx_collective[] = {{"bar", IPTX_W_WARP, 1, 1, warp_barrier},
                                                 {"bar", IPTX_W_SYNC, 1, 2, bar},
                                                 {"bar", IPTX_W_ARRIVE, 2, 2, bar},
                                                 {"barrier", IPTX_W_CLUSTER, 0, 0, barrier_cluster},
                                                 {"barrier", IPTX_W_SYNC, 1, 2, bar},
                                                 {"barrier", IPTX_W_ARRIVE, 2, 2, bar},
                                                 {"shfl", IPTX_W_SYNC, 5, 5, shfl},
                                                 {"vote", IPTX_W_SYNC, 3, 3, vote},
                                                 {"match", IPTX_W_SYNC, 3, 3, match},
                                                 {"redux", IPTX_W_SYNC, 3, 3, redux},
                                                 {"elect", IPTX_W_SYNC, 2, 2, elect},
                                                 {"activemask", ANY, 1, 1, activemask},
                                                 {NULL, ANY, 0, 0, NULL}};

/* ---- Control -------------------------------------------------------------------------------- */

static void branch(struct iptx_run *run, const struct iptx_instruction *i) {
  run->at = i->target;
}

static void collective_leave(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)i;
  run->at = run->program->count;
}

static void collective_trap(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)i;
  iptx_end(run, "trap; was executed");
}

const struct iptx_operation iptx_control[] = {
    {"bra", IPTX_W_COUNT, 0, 0, branch},           {"ret", IPTX_W_COUNT, 0, 0, collective_leave},
    {"trap", IPTX_W_COUNT, 0, 0, collective_trap}, {"brkpt", IPTX_W_COUNT, 0, 0, collective_trap},
    {"nanosleep", IPTX_W_COUNT, 1, 1, NULL},       {"pmevent", IPTX_W_COUNT, 1, 1, NULL},
    {"setmaxnreg", IPTX_W_COUNT, 1, 1, NULL},      {NULL, IPTX_W_COUNT, 0, 0, NULL}};
