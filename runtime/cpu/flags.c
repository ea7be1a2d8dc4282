/* Fences, and what threads say and hear at flags; see flags.h. All is kept as it happened; what follows from it is looked
   for when two accesses are ordered by nothing else. */
#include "flags.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST_EVENTS = 1 << 22, /* of a launch; from there on all counts as ordered */
  MOST_STEPS = 1 << 14   /* of one look, likewise */
};

/* What a fence has behind it: what its thread did before, and what that comes after. */
struct fence {
  uint32_t time, barrier, cluster, warp; /* time 0: there was none */
};

/* Somebody has said something at a word: what is behind the fences. */
struct release {
  struct fence device, block;
  uint32_t time, swept;            /* swept: until then each thread of the block has fenced what it wrote */
  uint32_t chain;                  /* those that atomic operations have added to one another */
  uint32_t heard_first, heard_end; /* by its block until then */
  uint32_t thread;
  bool vague; /* other orders than those of barriers were in use */
};

/* Somebody has found it there. */
struct hearing {
  uint32_t time, device, block; /* the thread's next fence, if there was one */
  uint32_t release, thread;
  uint32_t unfenced; /* the thread's hearing before without a fence behind it, + 1 */
};

struct speaker { /* of a block's threads */
  struct fence device, block;
  uint32_t written;         /* the last time it wrote to global memory */
  uint32_t heard, unfenced; /* its last hearing, and the last without a fence of the device, + 1 */
};

struct events {
  void *all;
  size_t size;
  uint32_t count, room;
};

struct flags {
  struct order *order;
  struct events releases, hearings;
  uint32_t base;  /* of the launch's first release: words of earlier launches have lower numbers */
  uint32_t chain; /* the next one's number */
  uint32_t heard_first;
  uint32_t swept[ORDER_BLOCKS];
  bool fenced; /* somebody has, in this block */
  bool lost;
  struct speaker speakers[ORDER_THREADS];
};

int flags_open(struct flags **out, struct order *order, cugen_error *err) {
  struct flags *f = *out = calloc(1, sizeof *f);
  if (!f) return error_memory(err);
  f->order = order;
  f->releases.size = sizeof(struct release);
  f->hearings.size = sizeof(struct hearing);
  return CUGEN_OK;
}

void flags_close(struct flags *f) {
  if (!f) return;
  free(f->releases.all);
  free(f->hearings.all);
  free(f);
}

static struct release *release_at(const struct flags *f, uint32_t i) {
  return (struct release *)f->releases.all + i;
}

static struct hearing *hearing_at(const struct flags *f, uint32_t i) {
  return (struct hearing *)f->hearings.all + i;
}

/* False: there is no room, and nothing is sure any more. */
static bool need_room(struct flags *f, struct events *events) {
  if (events->count < events->room) return true;
  const uint32_t room = events->room ? 2 * events->room : 64;
  void *grown = room > MOST_EVENTS ? NULL : realloc(events->all, room * events->size);
  f->lost |= !grown;
  if (!grown) return false;
  events->all = grown;
  events->room = room;
  return true;
}

/* ---- What happens ---- */

void flags_launch(struct flags *f) {
  f->base += f->releases.count;
  f->releases.count = f->hearings.count = 0;
  f->lost = false;
}

void flags_block(struct flags *f) {
  const size_t threads = (size_t)f->order->blocks * f->order->padded;
  memset(f->speakers, 0, threads * sizeof *f->speakers);
  memset(f->swept, 0, sizeof f->swept);
  f->heard_first = f->hearings.count;
  f->fenced = false;
}

void flags_written(struct flags *f, unsigned thread) {
  f->speakers[thread].written = f->order->time;
}

void flags_fence(struct flags *f, unsigned thread, bool device) {
  const struct order *o = f->order;
  struct speaker *speaker = &f->speakers[thread];
  const uint32_t now = ++f->order->time;
  speaker->block =
      (struct fence){now, o->barrier_time[thread / o->padded], o->cluster_time, o->warp_time[thread / ORDER_WARP]};
  for (uint32_t i = speaker->unfenced; i; i = hearing_at(f, i - 1)->unfenced) {
    struct hearing *hearing = hearing_at(f, i - 1);
    if (!hearing->block) hearing->block = now;
    if (device) hearing->device = now;
  }
  if (!device) return;
  speaker->device = speaker->block;
  speaker->unfenced = 0;
  f->fenced = true;
}

void flags_barrier(struct flags *f, unsigned rank) {
  const unsigned first = rank * f->order->padded;
  if (!f->fenced) return;
  for (unsigned thread = first; thread < first + f->order->padded; thread++)
    if (f->speakers[thread].written && f->speakers[thread].written >= f->speakers[thread].device.time) return;
  f->swept[rank] = f->order->barrier_time[rank];
}

static void hear(struct flags *f, unsigned thread, uint32_t release) {
  struct speaker *speaker = &f->speakers[thread];
  if (speaker->heard && hearing_at(f, speaker->heard - 1)->release == release) return;
  if (!need_room(f, &f->hearings)) return;
  *hearing_at(f, f->hearings.count++) =
      (struct hearing){.time = ++f->order->time, .release = release, .thread = thread, .unfenced = speaker->unfenced};
  speaker->heard = speaker->unfenced = f->hearings.count;
}

static void say(struct flags *f, unsigned thread, uint32_t *word, bool adds) {
  const struct order *o = f->order;
  const struct speaker *speaker = &f->speakers[thread];
  const uint32_t swept = f->swept[thread / o->padded], before = *word;
  if (!adds) *word = 0;
  if ((!speaker->block.time && !swept) || !need_room(f, &f->releases)) return;
  *release_at(f, f->releases.count) = (struct release){
      .device = speaker->device,
      .block = speaker->block,
      .time = ++f->order->time,
      .swept = swept,
      .chain = adds && before ? release_at(f, before - f->base - 1)->chain : f->chain++,
      .heard_first = f->heard_first,
      .heard_end = f->hearings.count,
      .thread = thread,
      .vague = o->clocks.words || o->pairs_used[thread / ORDER_WARP],
  };
  *word = f->base + ++f->releases.count;
}

bool flags_is_flag(const struct flags *f, uint32_t word) {
  return word > f->base;
}

void flags_use(struct flags *f, unsigned thread, uint32_t *word, int use) {
  if (*word <= f->base) *word = 0;
  if (*word && use & FLAGS_READ) hear(f, thread, *word - f->base - 1);
  if (use & FLAGS_WRITE) say(f, thread, word, use & FLAGS_READ);
}

/* ---- What follows ---- */

static bool behind_fence(const struct flags *f, const struct fence *fence, unsigned whose,
                         const struct moment *then) {
  if (!fence->time) return false;
  if (then->thread == whose) return then->time < fence->time;
  if (then->time < fence->cluster) return true;
  if (then->thread / f->order->padded == whose / f->order->padded && then->time < fence->barrier) return true;
  return then->thread / ORDER_WARP == whose / ORDER_WARP && then->time < fence->warp;
}

/* Whether what its block did then is behind the release. */
static bool is_behind(const struct flags *f, const struct release *r, const struct moment *then, bool device) {
  const struct fence *fence = device ? &r->device : &r->block;
  if (behind_fence(f, fence, r->thread, then)) return true;
  if (then->thread / f->order->padded == r->thread / f->order->padded && then->time < r->swept) return true;
  return r->vague && then->time < fence->time;
}

/* A look for what orders `then`: releases of its block since, which may have it behind them. */
struct look {
  const struct flags *flags;
  struct moment then;
  unsigned thread;
  uint32_t first, end;
  bool device, strong;
  int steps; /* that are left */
};

static uint32_t first_release(const struct flags *f, uint32_t time) {
  uint32_t low = 0, high = f->releases.count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (release_at(f, middle)->time < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* One of them was found in what the hearing found. */
static bool is_heard(struct look *look, const struct hearing *hearing) {
  const struct flags *f = look->flags;
  const uint32_t chain = release_at(f, hearing->release)->chain;
  for (uint32_t i = look->first; i < look->end && i <= hearing->release && look->steps > 0; i++, look->steps--)
    if (release_at(f, i)->chain == chain && is_behind(f, release_at(f, i), &look->then, look->device)) return true;
  return false;
}

/* Or by the block whose release was found, or one before it. */
static bool is_handed_on(struct look *look, const struct hearing *hearing) {
  const struct flags *f = look->flags;
  const struct release *r = release_at(f, hearing->release);
  while (r->time > look->then.time && look->steps > 0) {
    const struct hearing *newest = NULL;
    for (uint32_t i = r->heard_end; i-- > r->heard_first && look->steps > 0; look->steps--) {
      const struct hearing *heard = hearing_at(f, i);
      const struct moment moment = {.time = heard->time, .thread = heard->thread};
      if (!is_behind(f, r, &moment, look->device)) continue;
      if (is_heard(look, heard)) return true;
      if (!newest || heard->release > newest->release) newest = heard;
    }
    if (!newest || newest->release >= (uint32_t)(r - release_at(f, 0))) return false;
    r = release_at(f, newest->release);
  }
  return false;
}

/* A fence lies between the hearing and what the thread does now. */
static bool is_acquired(const struct look *look, const struct hearing *hearing) {
  const struct flags *f = look->flags;
  const struct speaker *speaker = &f->speakers[look->thread];
  const struct moment at = {.time = hearing->time, .thread = hearing->thread};
  const struct moment fenced = {.time = look->device ? hearing->device : hearing->block, .thread = hearing->thread};
  if (fenced.time && order_before(f->order, &fenced, look->thread)) return true;
  if (behind_fence(f, look->device ? &speaker->device : &speaker->block, look->thread, &at)) return true;
  return look->strong && order_before(f->order, &at, look->thread);
}

bool flags_order(struct flags *f, const struct moment *then, unsigned thread, bool strong) {
  uint32_t until = UINT32_MAX;
  if (f->lost) return true;
  if (f->hearings.count == f->heard_first) return false;
  order_begun(f->order, then->time, &until);
  struct look look = {.flags = f,
                      .then = *then,
                      .thread = thread,
                      .first = first_release(f, then->time),
                      .end = first_release(f, until),
                      .device = then->time < f->order->block_time,
                      .strong = strong,
                      .steps = MOST_STEPS};
  for (uint32_t i = f->hearings.count; i-- > f->heard_first && look.steps > 0; look.steps--) {
    const struct hearing *hearing = hearing_at(f, i);
    if (!is_acquired(&look, hearing)) continue;
    if (is_heard(&look, hearing) || is_handed_on(&look, hearing)) return true;
  }
  return look.steps <= 0;
}
