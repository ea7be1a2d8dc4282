/* Chooses which compiled variant is measured next; see tuner_run.h. Variants of an implementation
   whose best so far is many times slower than the best of all wait until no others are left: one
   run of a naive product may take as long as a hundred runs of a fast one, and nothing that runs on
   a GPU can be interrupted. Variants that take little time do not wait. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner_run.h"

static const double many_times = 8, worth_waiting = 0.02;

static const struct space_implementation *implementations(const struct tuner *t, size_t *count) {
  return space_implementations(t->target->space, count);
}

static size_t implementation_of(const struct tuner *t, uint64_t index) {
  size_t count, i = 0;
  const struct space_implementation *all = implementations(t, &count);
  while (i + 1 < count && (index < all[i].first || index - all[i].first >= all[i].valid)) i++;
  return i;
}

int tuner_open_queue(struct tuner *t, cugen_error *err) {
  size_t count;
  implementations(t, &count);
  t->fastest = calloc(count + 1, sizeof *t->fastest);
  t->pending = calloc(t->pending_most + (TUNER_CREDIT + 1) * t->slot_count,
                      sizeof *t->pending); /* room for candidates that workers give back */
  if (!t->fastest || !t->pending) return error_memory(err);
  for (size_t i = 0; i < count; i++) t->fastest[i].cost = (double)INFINITY;
  return CUGEN_OK;
}

void tuner_close_queue(struct tuner *t) {
  free(t->fastest);
  free(t->pending);
}

void tuner_note_fastest(struct tuner *t, uint64_t index, const struct cache_record *record) {
  struct fastest *own = &t->fastest[implementation_of(t, index)];
  const double cost = tuner_search_cost(t, record);
  if (tuner_is_wanted(t, record) && cost < own->cost)
    *own = (struct fastest){cost, record->seconds};
}

static bool can_wait(const struct tuner *t, const struct candidate *c) {
  const struct fastest *own = &t->fastest[implementation_of(t, c->index)];
  return t->best && isfinite(own->cost) && own->cost > many_times * t->best_cost &&
         own->seconds > worth_waiting;
}

static struct candidate *tuner_queue_take(struct tuner *t, size_t place) {
  struct candidate *c = t->pending[place];
  t->pending_count--;
  memmove(&t->pending[place], &t->pending[place + 1],
          (t->pending_count - place) * sizeof *t->pending);
  return c;
}

/* ---- Who gets what -------------------------------------------------------------------------- */

size_t tuner_busy(const struct tuner *t) {
  size_t busy = 0;
  for (size_t i = 0; i < t->slot_count; i++) busy += t->slots[i].turn.candidate != NULL;
  return busy;
}

bool tuner_all_tried(const struct tuner *t, const struct candidate *c) {
  for (size_t i = 0; i < t->slot_count && t->slot_count > 1; i++)
    if (!t->slots[i].lost && !(c->tried_on >> i & 1)) return tuner_devices_left(t) == 1;
  return true;
}

size_t tuner_devices_left(const struct tuner *t) {
  return t->slot_count - t->lost_count;
}

static bool all_doubted(const struct tuner *t) {
  for (size_t i = 0; i < t->slot_count; i++)
    if (!t->slots[i].lost && !t->slots[i].doubted) return false;
  return true;
}

/* Returns true if a variant with an equal image is being measured; its result will hold for this
   candidate as well. */
static bool is_equal_under_way(const struct tuner *t, const struct candidate *c) {
  const struct hash image = candidate_image(c);
  for (size_t i = 0; i < t->slot_count && image.hex[0]; i++)
    if (t->slots[i].turn.candidate && strcmp(t->slots[i].turn.image.hex, image.hex) == 0)
      return true;
  return false;
}

static bool may_run(struct tuner *t, const struct tuner_slot *slot, struct candidate *c) {
  if (!candidate_can_run(&t->bench, c) || tuner_all_tried(t, c)) return true;
  if (c->tried_on >> (slot - t->slots) & 1) return false;
  if (slot->doubted) return c->tried_on && all_doubted(t);
  return !is_equal_under_way(t, c);
}

/* Returns true if the candidate is compiled and this worker may run it; slot NULL: if it needs no
   worker. */
static bool is_ready(struct tuner *t, const struct tuner_slot *slot, struct candidate *c) {
  if (!candidate_ready(&t->bench, c)) return false;
  return slot ? may_run(t, slot, c) : !candidate_can_run(&t->bench, c);
}

struct candidate *tuner_take_ready(struct tuner *t, const struct tuner_slot *slot) {
  size_t waiting = t->pending_count;
  bool others = false;
  for (size_t i = 0; i < t->pending_count; i++) {
    const bool ready = is_ready(t, slot, t->pending[i]), last = can_wait(t, t->pending[i]);
    if (ready && !last) return tuner_queue_take(t, i);
    if (ready && waiting == t->pending_count) waiting = i;
    others |= !last;
  }
  return waiting < t->pending_count && !others ? tuner_queue_take(t, waiting) : NULL;
}
