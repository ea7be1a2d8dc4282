/* Counting bank passes and sectors; see traffic.h. */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/abi.h"

enum {
  WARP = 32,
  MOST_WARPS = 32,
  MOST_SITES = 1024, /* a power of two */
  /* passes of a lane through a site until its warp's lanes meet; further ones are not counted, and
     the counters are then incomplete */
  MOST_PASSES = 512
};

/* One pass of a warp's lanes through a place: the address that each lane has accessed. */
struct instance {
  uintptr_t at[WARP];
  unsigned lanes;
};

/* The passes of one warp through a place in the program. */
struct trail {
  struct instance *instances;
  unsigned room, used;
  uint16_t passes[WARP];
};

struct traffic_site {
  uint32_t site;
  unsigned bytes, kind;
  struct watch_counter *counter;
  const char *array;
  struct trail trails[MOST_WARPS];
};

struct traffic {
  struct traffic_site *sites[MOST_SITES]; /* by hash; NULL: free */
  unsigned site_count;
  /* by warp: the sites that it has accessed since traffic_met or the beginning of its block */
  struct traffic_site *used[MOST_WARPS][MOST_SITES];
  unsigned used_count[MOST_WARPS];
  struct launch_counters *out;
};

/* ---- Places --------------------------------------------------------------------------------- */

int traffic_open(struct traffic **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? CUGEN_OK : error_memory(err);
}

static void forget_sites(struct traffic *t) {
  for (unsigned i = 0; i < MOST_SITES; i++) {
    if (!t->sites[i]) continue;
    for (unsigned warp = 0; warp < MOST_WARPS; warp++) free(t->sites[i]->trails[warp].instances);
    free(t->sites[i]);
    t->sites[i] = NULL;
  }
  t->site_count = 0;
  memset(t->used_count, 0, sizeof t->used_count);
}

void traffic_close(struct traffic *t) {
  if (!t) return;
  forget_sites(t);
  free(t);
}

void traffic_begin(struct traffic *t, struct launch_counters *out) {
  forget_sites(t);
  t->out = out;
  *out = (struct launch_counters){0};
}

static struct watch_counter *find_counter(struct launch_counters *out, const char *array,
                                          cugen_memory memory, bool write) {
  for (size_t i = 0; i < out->count; i++) {
    struct watch_counter *c = &out->counters[i];
    if (c->memory == memory && c->write == write && strcmp(c->array, array) == 0) return c;
  }
  if (out->count == WATCH_MOST_COUNTERS) return NULL;
  struct watch_counter *c = &out->counters[out->count++];
  *c = (struct watch_counter){.memory = memory, .write = write};
  memcpy(c->array, array, strnlen(array, WATCH_NAME - 1));
  return c;
}

/* A place has a site for each array, width and kind, because a copy reads one array and writes
   another at the same place. */
struct traffic_site *traffic_site(struct traffic *t, uint32_t site, const char *array,
                                  cugen_memory memory, unsigned bytes, unsigned kind) {
  unsigned slot = (site * 2654435761u) >> 22;
  for (; t->sites[slot]; slot = (slot + 1) % MOST_SITES) {
    const struct traffic_site *s = t->sites[slot];
    if (s->site == site && s->array == array && s->kind == kind && s->bytes == bytes)
      return t->sites[slot];
  }
  struct watch_counter *counter =
      t->site_count > MOST_SITES / 2 ? NULL : find_counter(t->out, array, memory, kind & CPU_WRITE);
  struct traffic_site *made = counter ? calloc(1, sizeof *made) : NULL;
  t->out->incomplete |= !made;
  if (!made) return NULL;
  made->site = site;
  made->array = array;
  made->kind = kind;
  made->bytes = bytes;
  made->counter = counter;
  t->sites[slot] = made;
  t->site_count++;
  return made;
}

static struct instance *instance_at(struct trail *trail, unsigned pass) {
  if (pass >= trail->room) {
    const unsigned room = trail->room ? trail->room * 4 : 8;
    struct instance *grown = realloc(trail->instances, room * sizeof *grown);
    if (!grown) return NULL;
    memset(grown + trail->room, 0, (room - trail->room) * sizeof *grown);
    trail->instances = grown;
    trail->room = room;
  }
  if (pass >= trail->used) trail->used = pass + 1;
  return &trail->instances[pass];
}

void traffic_access(struct traffic *t, struct traffic_site *s, unsigned thread, uintptr_t at) {
  const unsigned warp = thread / WARP, lane = thread % WARP;
  if (!s) return;
  struct trail *trail = &s->trails[warp];
  const unsigned pass = trail->passes[lane];
  const bool first = !trail->used;
  struct instance *instance = pass < MOST_PASSES ? instance_at(trail, pass) : NULL;
  if (!instance) {
    t->out->incomplete = true;
    return;
  }
  if (first) t->used[warp][t->used_count[warp]++] = s;
  instance->at[lane] = at;
  instance->lanes |= 1u << lane;
  trail->passes[lane]++;
}

/* ---- Adding up ------------------------------------------------------------------------------ */

/* A lane with fewer passes left a loop earlier, perhaps in each round of an outer loop. Aligns its
   passes with those passes of the lane `guide` at which the addresses of both lanes differ by as
   much as in the first pass. */
static void align_lane(struct trail *trail, unsigned lane, unsigned guide) {
  enum { REACH = 8 };
  uintptr_t own[MOST_PASSES];
  const unsigned count = trail->passes[lane], bit = 1u << lane;
  const uintptr_t apart = trail->instances[0].at[lane] - trail->instances[0].at[guide];
  for (unsigned pass = 0; pass < count; pass++) {
    own[pass] = trail->instances[pass].at[lane];
    trail->instances[pass].lanes &= ~bit;
  }
  for (unsigned pass = 0, next = 0; pass < count; pass++, next++) {
    const unsigned room = trail->used - (count - pass),
                   last = room < next + REACH ? room : next + REACH;
    unsigned at = next;
    while (at <= last && trail->instances[at].at[guide] + apart != own[pass]) at++;
    if (at <= last) next = at;
    trail->instances[next].at[lane] = own[pass];
    trail->instances[next].lanes |= bit;
  }
}

/* Returns the nearest lane that has the most passes. */
static unsigned guide_of(const struct trail *trail, unsigned lane) {
  unsigned guide = lane;
  for (unsigned away = 1; away < WARP && guide == lane; away++) {
    if (lane >= away && trail->passes[lane - away] == trail->used) guide = lane - away;
    if (lane + away < WARP && trail->passes[lane + away] == trail->used) guide = lane + away;
  }
  return guide;
}

static void align(struct trail *trail) {
  for (unsigned lane = 0; lane < WARP; lane++)
    if (trail->passes[lane] && trail->passes[lane] < trail->used)
      align_lane(trail, lane, guide_of(trail, lane));
}

/* Returns true if `passes` instances have the same lanes, and each lane continues where it ended in
   the instance before, from an aligned address on. */
static bool side_by_side(const struct instance *first, unsigned passes, unsigned bytes) {
  for (unsigned left = first->lanes; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left);
    if (first->at[lane] % (passes * bytes)) return false;
    for (unsigned i = 1; i < passes; i++)
      if (first[i].at[lane] != first->at[lane] + (uintptr_t)i * bytes) return false;
  }
  for (unsigned i = 1; i < passes; i++)
    if (first[i].lanes != first->lanes) return false;
  return true;
}

/* Returns the number of passes that NVRTC joins into one access: it unrolls a loop and joins a
   lane's reads of shared memory in successive rounds, up to 16 bytes. Seen in NVRTC's code, and in
   an H200's counters: docs/check.md. */
static unsigned together(const struct traffic_site *s, const struct trail *trail, unsigned pass) {
  if (s->counter->memory != CUGEN_MEMORY_SHARED || s->kind & CPU_WRITE) return 1;
  for (unsigned passes = 16 / s->bytes; passes > 1; passes /= 2)
    if (pass + passes <= trail->used && side_by_side(&trail->instances[pass], passes, s->bytes))
      return passes;
  return 1;
}

static void traffic_add_up(const struct traffic_site *s, const struct instance *instance,
                           unsigned bytes) {
  const bool store = s->kind & CPU_WRITE;
  unsigned needed, ideal;
  struct watch_counter *c = s->counter;
  if (c->memory == CUGEN_MEMORY_SHARED) {
    warp_banks(instance->at, instance->lanes, bytes, store, &needed, &ideal);
  } else if (c->memory == CUGEN_MEMORY_CONSTANT) {
    warp_words(instance->at, instance->lanes, bytes, &needed, &ideal);
  } else {
    const struct warp_touched touched = warp_sectors(instance->at, instance->lanes, bytes);
    needed = touched.sectors;
    ideal = touched.sectors_ideal;
    c->lines += touched.lines;
    c->touched += touched.bytes;
  }
  c->requests++;
  c->bytes += (double)__builtin_popcount(instance->lanes) * bytes;
  c->needed += needed;
  c->ideal += ideal;
}

void traffic_met(struct traffic *t, unsigned warp) {
  for (unsigned i = 0; i < t->used_count[warp]; i++) {
    struct trail *trail = &t->used[warp][i]->trails[warp];
    const struct traffic_site *s = t->used[warp][i];
    align(trail);
    for (unsigned pass = 0, passes; pass < trail->used; pass += passes) {
      passes = together(s, trail, pass);
      if (trail->instances[pass].lanes)
        traffic_add_up(s, &trail->instances[pass], passes * s->bytes);
    }
    for (unsigned pass = 0; pass < trail->used; pass++) trail->instances[pass].lanes = 0;
    memset(trail->passes, 0, sizeof trail->passes);
    trail->used = 0;
  }
  t->used_count[warp] = 0;
}

void traffic_all_met(struct traffic *t, unsigned threads) {
  for (unsigned warp = 0; warp * WARP < threads; warp++) traffic_met(t, warp);
}

static void scale_counter(struct watch_counter *c, double scale) {
  double *const figures[] = {&c->requests, &c->bytes, &c->needed,
                             &c->ideal,    &c->lines, &c->touched};
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) *figures[i] *= scale;
}

void traffic_move(struct traffic *t, struct launch_counters *to) {
  for (unsigned i = 0; i < MOST_SITES; i++)
    if (t->sites[i])
      t->sites[i]->counter = to->counters + (t->sites[i]->counter - t->out->counters);
  t->out = to;
  to->counted = to->barriers = 0;
  for (size_t i = 0; i < to->count; i++) scale_counter(&to->counters[i], 0);
}

void traffic_add(struct launch_counters *to, const struct launch_counters *more) {
  to->counted += more->counted;
  to->barriers += more->barriers;
  to->incomplete |= more->incomplete;
  for (size_t i = 0; i < more->count; i++) {
    const struct watch_counter *from = &more->counters[i];
    struct watch_counter *c = find_counter(to, from->array, from->memory, from->write);
    to->incomplete |= !c;
    if (!c) continue;
    c->requests += from->requests;
    c->bytes += from->bytes;
    c->needed += from->needed;
    c->ideal += from->ideal;
    c->lines += from->lines;
    c->touched += from->touched;
  }
}

void traffic_end(struct traffic *t) {
  struct launch_counters *out = t->out;
  const double scale = out->counted > 0 ? out->blocks / out->counted : 1;
  for (size_t i = 0; i < out->count; i++) scale_counter(&out->counters[i], scale);
  out->barriers *= scale;
  t->out = NULL;
}
