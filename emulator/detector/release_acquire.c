/* Fences, and what threads release and acquire at flags; see release_acquire.h. Events are
   recorded; their consequences are searched for when nothing else orders two accesses. */
#include "release_acquire.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
  /* of a launch's releases, and of its acquires; after that everything counts as ordered */
  MOST_EVENTS = 1 << 22,
  MOST_STEPS = 1 << 14 /* of one search; after that the accesses count as ordered */
};

/* The last fence of a thread. A fence orders the thread's earlier actions before its later ones;
   the other fields are the epochs of the last barriers before the fence. */
struct fence {
  uint32_t epoch, barrier, cluster, warp; /* epoch 0: no fence */
};

/* A release at a word: it publishes the actions that its fences cover. */
struct release {
  struct fence device, block;
  /* swept: every thread of the block has fenced the writes that it made before this epoch */
  uint32_t epoch, swept;
  uint32_t chain;                        /* equal for releases that atomic operations connect */
  uint32_t acquired_first, acquired_end; /* range of the block's acquires before the release */
  uint32_t thread;
  bool vague; /* barriers alone do not describe the order of threads */
};

/* A read of a released word, which becomes an acquire if a fence follows. */
struct acquire {
  uint32_t epoch, device, block; /* device, block: the thread's next fence of the scope, if any */
  uint32_t release, thread;
  /* 1 + the index of the thread's earlier acquire without a device fence; 0: none */
  uint32_t unfenced;
};

struct synchronizer { /* of a thread */
  struct fence device, block;
  /* 1 + the index of the thread's last acquire, and of its last acquire without a device fence; 0:
     none */
  uint32_t acquired, unfenced;
};

struct release_acquire {
  struct happens_before *hb;
  struct release *releases;
  struct acquire *acquires;
  uint32_t release_count, acquire_count;
  size_t release_room, acquire_room;
  /* releases of this launch have numbers above `base` */
  uint32_t base;
  uint32_t chain; /* number of the next chain */
  uint32_t acquired_first;
  uint32_t swept[HB_BLOCKS];
  bool fenced; /* a thread has used a device fence in this block */
  bool lost;
  uint32_t written[HB_THREADS]; /* epoch of each thread's last plain write to global memory */
  struct synchronizer threads[HB_THREADS];
};

int ra_open(struct release_acquire **out, struct happens_before *hb, cugen_error *err) {
  struct release_acquire *ra = *out = calloc(1, sizeof *ra);
  if (!ra) return error_memory(err);
  ra->hb = hb;
  return CUGEN_OK;
}

void ra_close(struct release_acquire *ra) {
  if (!ra) return;
  free(ra->releases);
  free(ra->acquires);
  free(ra);
}

/* Makes room for another event. Returns NULL and sets ra->lost if there is no room; then no order
   can be excluded any more. */
static void *need_room(struct release_acquire *ra, void *events, size_t *room, uint32_t count,
                       size_t size) {
  void *grown = count < MOST_EVENTS ? array_reserve(events, room, count, size) : NULL;
  ra->lost |= !grown;
  return grown;
}

/* ---- Recording ------------------------------------------------------------------------------ */

void ra_launch(struct release_acquire *ra) {
  ra->base += ra->release_count;
  ra->release_count = ra->acquire_count = 0;
  ra->lost = false;
}

void ra_block(struct release_acquire *ra) {
  const size_t threads = (size_t)ra->hb->blocks * ra->hb->padded;
  memset(ra->threads, 0, threads * sizeof *ra->threads);
  memset(ra->written, 0, threads * sizeof *ra->written);
  memset(ra->swept, 0, sizeof ra->swept);
  ra->acquired_first = ra->acquire_count;
  ra->fenced = false;
}

uint32_t *ra_written(struct release_acquire *ra) {
  return ra->written;
}

void ra_fence(struct release_acquire *ra, unsigned thread, bool device) {
  const struct happens_before *hb = ra->hb;
  struct synchronizer *self = &ra->threads[thread];
  const uint32_t now = ++ra->hb->epoch;
  self->block = (struct fence){now, hb->barrier_epoch[thread / hb->padded], hb->cluster_epoch,
                               hb->warp_epoch[thread / HB_WARP]};
  for (uint32_t i = self->unfenced; i; i = ra->acquires[i - 1].unfenced) {
    struct acquire *acquire = &ra->acquires[i - 1];
    if (!acquire->block) acquire->block = now;
    if (device) acquire->device = now;
  }
  if (!device) return;
  self->device = self->block;
  self->unfenced = 0;
  ra->fenced = true;
}

uint32_t ra_last_fence(const struct release_acquire *ra, unsigned thread) {
  return ra->threads[thread].device.epoch;
}

void ra_barrier(struct release_acquire *ra, unsigned rank) {
  const unsigned first = rank * ra->hb->padded;
  if (!ra->fenced) return;
  for (unsigned thread = first; thread < first + ra->hb->padded; thread++)
    if (ra->written[thread] && ra->written[thread] >= ra->threads[thread].device.epoch) return;
  ra->swept[rank] = ra->hb->barrier_epoch[rank];
}

static void acquire_acquire(struct release_acquire *ra, unsigned thread, uint32_t release) {
  struct synchronizer *self = &ra->threads[thread];
  if (self->acquired && ra->acquires[self->acquired - 1].release == release) return;
  struct acquire *grown =
      need_room(ra, ra->acquires, &ra->acquire_room, ra->acquire_count, sizeof *grown);
  if (!grown) return;
  ra->acquires = grown;
  ra->acquires[ra->acquire_count++] = (struct acquire){
      .epoch = ++ra->hb->epoch, .release = release, .thread = thread, .unfenced = self->unfenced};
  self->acquired = self->unfenced = ra->acquire_count;
}

static void acquire_release(struct release_acquire *ra, unsigned thread, uint32_t *word,
                            bool adds) {
  const struct happens_before *hb = ra->hb;
  const struct synchronizer *self = &ra->threads[thread];
  const uint32_t swept = ra->swept[thread / hb->padded], before = *word;
  if (!adds) *word = 0;
  if (!self->block.epoch && !swept) return;
  struct release *grown =
      need_room(ra, ra->releases, &ra->release_room, ra->release_count, sizeof *grown);
  if (!grown) return;
  ra->releases = grown;
  ra->releases[ra->release_count] = (struct release){
      .device = self->device,
      .block = self->block,
      .epoch = ++ra->hb->epoch,
      .swept = swept,
      .chain = adds && before ? ra->releases[before - ra->base - 1].chain : ra->chain++,
      .acquired_first = ra->acquired_first,
      .acquired_end = ra->acquire_count,
      .thread = thread,
      .vague = hb->clocks.words || hb->pairs_used[thread / HB_WARP],
  };
  *word = ra->base + ++ra->release_count;
}

bool ra_is_flag(const struct release_acquire *ra, uint32_t release) {
  return release > ra->base;
}

void ra_use(struct release_acquire *ra, unsigned thread, uint32_t *release, int use) {
  if (*release <= ra->base) *release = 0;
  if (*release && use & RA_READ) acquire_acquire(ra, thread, *release - ra->base - 1);
  if (use & RA_WRITE) acquire_release(ra, thread, release, use & RA_READ);
}

/* ---- Searching ------------------------------------------------------------------------------ */

static bool behind_fence(const struct release_acquire *ra, const struct fence *fence,
                         unsigned whose, const struct event *then) {
  if (!fence->epoch) return false;
  if (then->thread == whose) return then->epoch < fence->epoch;
  if (then->epoch < fence->cluster) return true;
  if (then->thread / ra->hb->padded == whose / ra->hb->padded && then->epoch < fence->barrier)
    return true;
  return then->thread / HB_WARP == whose / HB_WARP && then->epoch < fence->warp;
}

/* Returns true if the release publishes `then`, an action of its block. device: to other blocks. */
static bool is_behind(const struct release_acquire *ra, const struct release *r,
                      const struct event *then, bool device) {
  const struct fence *fence = device ? &r->device : &r->block;
  if (behind_fence(ra, fence, r->thread, then)) return true;
  if (then->thread / ra->hb->padded == r->thread / ra->hb->padded && then->epoch < r->swept)
    return true;
  return r->vague && then->epoch < fence->epoch;
}

/* A search for what orders `then`. Releases from `first` to before `end`, which the block of `then`
   made later, may publish `then`. */
struct search {
  const struct release_acquire *ra;
  struct event then;
  unsigned thread;
  uint32_t first, end;
  bool device, strong;
  int steps; /* steps that are left */
};

static uint32_t first_release(const struct release_acquire *ra, uint32_t epoch) {
  uint32_t low = 0, high = ra->release_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (ra->releases[middle].epoch < epoch)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns true if the acquire has read a release of the search that publishes `then`, or a later
   release of the same chain. */
static bool is_found(struct search *search, const struct acquire *acquire) {
  const struct release_acquire *ra = search->ra;
  const uint32_t chain = ra->releases[acquire->release].chain;
  for (uint32_t i = search->first; i < search->end && i <= acquire->release && search->steps > 0;
       i++, search->steps--)
    if (ra->releases[i].chain == chain &&
        is_behind(ra, &ra->releases[i], &search->then, search->device))
      return true;
  return false;
}

/* Returns true if the block whose release was read, or one from which that block acquired, had
   itself acquired `then`. */
static bool is_handed_on(struct search *search, const struct acquire *acquire) {
  const struct release_acquire *ra = search->ra;
  const struct release *r = &ra->releases[acquire->release];
  while (r->epoch > search->then.epoch && search->steps > 0) {
    const struct acquire *newest = NULL;
    for (uint32_t i = r->acquired_end; i-- > r->acquired_first && search->steps > 0;
         search->steps--) {
      const struct acquire *acquired = &ra->acquires[i];
      const struct event event = {.epoch = acquired->epoch, .thread = acquired->thread};
      if (!is_behind(ra, r, &event, search->device)) continue;
      if (is_found(search, acquired)) return true;
      if (!newest || acquired->release > newest->release) newest = acquired;
    }
    if (!newest || newest->release >= (uint32_t)(r - ra->releases)) return false;
    r = &ra->releases[newest->release];
  }
  return false;
}

/* Returns true if the acquire and a fence come before the thread's present action; with
   search->strong, the acquire is enough. */
static bool is_fenced_since(const struct search *search, const struct acquire *acquire) {
  const struct release_acquire *ra = search->ra;
  const struct synchronizer *self = &ra->threads[search->thread];
  const struct event at = {.epoch = acquire->epoch, .thread = acquire->thread};
  const struct event fenced = {.epoch = search->device ? acquire->device : acquire->block,
                               .thread = acquire->thread};
  if (fenced.epoch && happens_before(ra->hb, &fenced, search->thread)) return true;
  if (behind_fence(ra, search->device ? &self->device : &self->block, search->thread, &at))
    return true;
  return search->strong && happens_before(ra->hb, &at, search->thread);
}

bool ra_orders(struct release_acquire *ra, const struct event *then, unsigned thread, bool strong) {
  uint32_t until = UINT32_MAX;
  if (ra->lost) return true;
  if (ra->acquire_count == ra->acquired_first) return false;
  hb_begun(ra->hb, then->epoch, &until);
  struct search search = {.ra = ra,
                          .then = *then,
                          .thread = thread,
                          .first = first_release(ra, then->epoch),
                          .end = first_release(ra, until),
                          .device = then->epoch < ra->hb->block_epoch,
                          .strong = strong,
                          .steps = MOST_STEPS};
  for (uint32_t i = ra->acquire_count; i-- > ra->acquired_first && search.steps > 0;
       search.steps--) {
    const struct acquire *acquire = &ra->acquires[i];
    if (!is_fenced_since(&search, acquire)) continue;
    if (is_found(&search, acquire) || is_handed_on(&search, acquire)) return true;
  }
  return search.steps <= 0;
}
