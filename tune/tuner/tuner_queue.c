/* Chooses which compiled variant is measured next; see tuner_run.h. Variants of an implementation
   whose best so far is many times slower than the best of all wait until no others are left: one
   run of a naive product may take as long as a hundred runs of a fast one, and nothing that runs on
   a GPU can be interrupted. Variants that take little time do not wait. */
#include <stdlib.h>
#include <string.h>

#include "tuner_run.h"

int tuner_open_queue(struct tuner *t, cugen_error *err) {
  t->pending = calloc(t->pending_most + (TUNER_CREDIT + 1) * t->slot_count,
                      sizeof *t->pending); /* room for candidates that workers give back */
  return t->pending ? CUGEN_OK : error_memory(err);
}

void tuner_close_queue(struct tuner *t) {
  free(t->pending);
}

int tuner_begin(struct tuner *t, struct candidate *c, cugen_error *err) {
  int status = candidate_build(&t->run.bench, c, err);
  if (status) {
    candidate_close(&t->run.bench, c);
    return status;
  }
  t->given++;
  proposals_count_prior(&t->proposals, c->index);
  t->pending[t->pending_count++] = c;
  return CUGEN_OK;
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
  if (!candidate_can_run(&t->run.bench, c) || tuner_all_tried(t, c)) return true;
  if (c->tried_on >> (slot - t->slots) & 1) return false;
  if (slot->doubted) return c->tried_on && all_doubted(t);
  return !is_equal_under_way(t, c);
}

/* Returns true if the candidate is compiled and this worker may run it; slot NULL: if it needs no
   worker. */
static bool is_ready(struct tuner *t, const struct tuner_slot *slot, struct candidate *c) {
  if (!candidate_ready(&t->run.bench, c)) return false;
  return slot ? may_run(t, slot, c) : !candidate_can_run(&t->run.bench, c);
}

struct candidate *tuner_take_ready(struct tuner *t, const struct tuner_slot *slot) {
  size_t waiting = t->pending_count;
  bool others = false;
  for (size_t i = 0; i < t->pending_count; i++) {
    const bool ready = is_ready(t, slot, t->pending[i]),
               last = best_lets_wait(&t->proposals.best, &t->run, t->pending[i]->index);
    if (ready && !last) return tuner_queue_take(t, i);
    if (ready && waiting == t->pending_count) waiting = i;
    others |= !last;
  }
  return waiting < t->pending_count && !others ? tuner_queue_take(t, waiting) : NULL;
}
