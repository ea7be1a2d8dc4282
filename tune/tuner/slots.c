/* The workers' slots; see slots.h. */
#include "slots.h"

#include <stdlib.h>
#include <string.h>

int slots_open(struct slots *s, cugen_error *err) {
  const struct tuner_run *run = s->run;
  s->count = run->target->device_count && run->bench.workers ? run->target->device_count : 1;
  s->all = calloc(s->count, sizeof *s->all);
  run->result->devices = s->count;
  return s->all ? CUGEN_OK : error_memory(err);
}

size_t slots_busy(const struct slots *s) {
  size_t busy = 0;
  for (size_t i = 0; i < s->count; i++) busy += s->all[i].turn.candidate != NULL;
  return busy;
}

/* ---- Giving candidates to workers ----------------------------------------------------------- */

/* Returns true if no further device can try the candidate: it was tried on all that are left, or
   one alone is left. */
static bool all_tried(const struct slots *s, const struct candidate *c) {
  for (size_t i = 0; i < s->count && s->count > 1; i++)
    if (!s->all[i].lost && !(c->tried_on >> i & 1)) return s->count - s->lost == 1;
  return true;
}

static bool all_doubted(const struct slots *s) {
  for (size_t i = 0; i < s->count; i++)
    if (!s->all[i].lost && !s->all[i].doubted) return false;
  return true;
}

/* Returns true if a variant with an equal image is being measured; its result will hold for this
   candidate as well. */
static bool is_equal_under_way(const struct slots *s, const struct candidate *c) {
  const struct hash image = candidate_image(c);
  for (size_t i = 0; i < s->count && image.hex[0]; i++)
    if (s->all[i].turn.candidate && strcmp(s->all[i].turn.image.hex, image.hex) == 0) return true;
  return false;
}

/* Returns true if the candidate is compiled and the slot's worker may run it. slot NULL: returns
   true if the candidate is compiled and needs no worker. */
static bool is_ready(const struct slots *s, const struct slot *slot, struct candidate *c) {
  if (!candidate_ready(&s->run->bench, c)) return false;
  const bool runs = candidate_can_run(&s->run->bench, c);
  if (!slot || !runs) return !runs;
  if (s->count > 1 && all_tried(s, c)) return true;
  if (c->tried_on >> (slot - s->all) & 1) return false;
  if (slot->doubted) return c->tried_on && all_doubted(s);
  return !is_equal_under_way(s, c);
}

struct candidate *slots_take_ready(struct slots *s, const struct best *best,
                                   const struct slot *slot) {
  struct queue *queue = s->queue;
  size_t waiting = queue->count;
  bool others = false;
  for (size_t i = 0; i < queue->count; i++) {
    const bool ready = is_ready(s, slot, queue->all[i]),
               last = best_lets_wait(best, s->run, queue->all[i]->index);
    if (ready && !last) return queue_take(queue, i);
    if (ready && waiting == queue->count) waiting = i;
    others |= !last;
  }
  return waiting < queue->count && !others ? queue_take(queue, waiting) : NULL;
}

void slots_release(struct slots *s, const struct candidate *c) {
  for (size_t i = 0; i < s->count; i++)
    if (c->tried_on >> i & 1) s->all[i].doubted = false;
}

/* ---- Devices that fail ---------------------------------------------------------------------- */

bool slots_blame_device(const struct slots *s, const cugen_error *err) {
  return s->count - s->lost > 1 &&
         (err->status == CUGEN_ERROR_DEVICE || err->status == CUGEN_ERROR_MEMORY);
}

static int measure_anew(struct slots *s, uint64_t index, cugen_error *err) {
  struct candidate *c;
  int status = candidate_open(&s->run->bench, index, &c, err);
  if (status) return status;
  status = candidate_build(&s->run->bench, c, err);
  if (status) {
    candidate_close(&s->run->bench, c);
    return status;
  }
  run_records_forget(s->records, c->real.variant);
  s->run->result->tried--;
  s->run->result->failed--;
  queue_put_back(s->queue, c);
  return CUGEN_OK;
}

int slots_lose(struct slots *s, struct slot *slot, const cugen_error *why, cugen_error *err) {
  const struct tune_target *target = s->run->target;
  size_t *worker = &s->run->bench.worker;
  int status = CUGEN_OK;
  slot->lost = true;
  slot->doubted = false;
  s->lost++;
  s->run->result->devices = s->count - s->lost;
  int length;
  const char *line = error_essence(why->message, &length);
  if (target->lost)
    text_addf(target->lost, "%s: %.*s\n",
              target->device_count ? target->devices[slot - s->all] : target->device->id, length,
              line);
  while (s->all[*worker].lost) *worker = (*worker + 1) % s->count;
  if (s->count - s->lost == 1) s->all[*worker].doubted = false;
  while (slot->failed_count && !status)
    status = measure_anew(s, slot->failed[--slot->failed_count], err);
  return status;
}

bool slots_doubt(struct slots *s, struct slot *slot, struct candidate *c, bool data,
                 const char *why) {
  c->tried_on |= (uint64_t)1 << (slot - s->all);
  if (all_tried(s, c) || (!data && slot->credit)) return false;
  slot->doubted = true;
  slot->no_data = data;
  error_set(&slot->why, CUGEN_ERROR_DEVICE, "'%s' fails there and not on another one: %s",
            c->real.variant, why);
  queue_put_back(s->queue, c);
  return true;
}

/* The device has given a right result, or a failure that another device confirmed. */
static void restore_credit(struct slot *slot) {
  slot->credit = SLOT_CREDIT;
  slot->failed_count = 0;
}

int slots_trust(struct slots *s, struct slot *slot, const struct candidate *c, bool right,
                bool data, cugen_error *err) {
  const uint64_t others = c->tried_on & ~((uint64_t)1 << (slot - s->all));
  int status = CUGEN_OK;
  if (right || others) {
    restore_credit(slot);
  } else if (slot->credit) { /* else no other device is left to try the variant */
    slot->credit--;
    slot->failed[slot->failed_count++] = c->index;
  }
  for (size_t i = 0; i < s->count && !status; i++) {
    struct slot *other = &s->all[i];
    if (!(others >> i & 1) || other->lost) continue;
    if (right || (other->no_data && !data))
      status = slots_lose(s, other, &other->why, err);
    else
      restore_credit(other);
  }
  return status;
}
