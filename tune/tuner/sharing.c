/* Several tuners on one space; see sharing.h. */
#include "sharing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/error.h"
#include "base/system.h"

enum { MICROSECONDS = 1000000 };

/* Seconds until a claim ends, until claims are renewed, and between two requests for news. */
static const double lease = 30, renewed_after = 7, asked_after = 0.25;
/* With many tuners each tuner asks for news less often: after asked_after_each seconds times their
   number, at most asked_after_most. */
static const double asked_after_each = 0.01, asked_after_most = 5;

static bool is_shared(const struct sharing *s) {
  return s->owner[0] != '\0';
}

int sharing_open(struct sharing *s, cugen_error *err) {
  const struct tune_target *target = s->run->target;
  struct cache_news news = {.since = -1};
  if (!cache_keeps_claims(target->cache)) return CUGEN_OK;
  if (getrandom(&s->seed, sizeof s->seed, 0) != sizeof s->seed)
    return error_set(err, CUGEN_ERROR_IO, "no random numbers: %s", strerror(errno));
  snprintf(s->owner, sizeof s->owner, "%016llx", (unsigned long long)s->seed);
  int status = cache_news(target->cache, &target->key, &news, err);
  s->since = news.since;
  s->tuners = s->batch_size = 1;
  return status;
}

void sharing_close(struct sharing *s) {
  cugen_error ignored;
  if (is_shared(s)) cache_unclaim(s->run->target->cache, s->owner, &ignored);
  for (size_t i = 0; i < s->batch_count; i++) candidate_close(&s->run->bench, s->batch[i]);
  for (size_t i = 0; i < s->count; i++) free(s->waiting[i].variant);
  free(s->waiting);
}

size_t sharing_room(const struct sharing *s) {
  const cugen_tune_result *result = s->run->result;
  const uint64_t met = result->remembered + result->tried,
                 left = result->valid > met ? result->valid - met : 0,
                 share = left / (2 * (s->tuners ? s->tuners : 1)), queued = s->queue->count;
  uint64_t most = strategy_ahead(s->queue->busy, met, s->queue->most);
  if (is_shared(s) && share < most) most = share ? share : 1;
  return (size_t)(most > queued ? most - queued : 0);
}

/* ---- Claims --------------------------------------------------------------------------------- */

static struct cache_claim claim_of(const struct candidate *c) {
  return (struct cache_claim){c->real.variant, c->real.hash.hex, CACHE_CLAIM_TAKEN};
}

/* Claims variants for this run, or renews the claims. most: the most claims to grant; 0: all. */
static int ask_claims(const struct sharing *s, struct cache_claim *claims, size_t count,
                      size_t most, cugen_error *err) {
  const struct tune_target *target = s->run->target;
  const int64_t again = s->run->options->again ? s->run->began_at / MICROSECONDS : 0;
  const struct cache_lease terms = {s->owner, lease, again, most};
  return cache_claim(target->cache, &target->key, &terms, claims, count, err);
}

static int sharing_wait_for(struct sharing *s, const struct candidate *c, cugen_error *err) {
  const struct sharing_waiting one = {c->index, strdup(c->real.variant), c->real.hash, 0};
  if (one.variant && ARRAY_ADD(s->waiting, s->count, one)) return CUGEN_OK;
  free(one.variant);
  return error_memory(err);
}

/* Handles the answer to a candidate's claim: the candidate begins, its record is used, or it
   waits. */
static int sharing_settle(struct sharing *s, struct candidate *c, enum cache_claim_state state,
                          cugen_error *err) {
  if (state == CACHE_CLAIM_GRANTED) return queue_begin(s->queue, s->proposals, c, err);
  const struct cache_record *known =
      state == CACHE_CLAIM_RECORDED ? run_records_find(s->records, &c->real) : NULL;
  int status = known ? CUGEN_OK : sharing_wait_for(s, c, err);
  if (known) proposals_meet(s->proposals, c->index, known);
  candidate_close(&s->run->bench, c);
  return status;
}

/* Claims the batch. Candidates that the server left for later stay in the batch. */
static int claim_batch(struct sharing *s, cugen_error *err) {
  struct cache_claim claims[SHARING_BATCH];
  const size_t count = s->batch_count, room = sharing_room(s);
  size_t granted = 0;
  if (!room) return CUGEN_OK;
  for (size_t i = 0; i < count; i++) claims[i] = claim_of(s->batch[i]);
  int status = ask_claims(s, claims, count, room, err);
  if (status) return status;
  s->batch_count = 0;
  for (size_t i = 0; i < count; i++) {
    granted += claims[i].state == CACHE_CLAIM_GRANTED;
    if (status || claims[i].state == CACHE_CLAIM_LEFT)
      s->batch[s->batch_count++] = s->batch[i];
    else
      status = sharing_settle(s, s->batch[i], claims[i].state, err);
  }
  s->batch_size = granted                             ? 1
                  : s->batch_size < SHARING_BATCH / 2 ? 2 * s->batch_size
                                                      : SHARING_BATCH;
  return status;
}

int sharing_begin(struct sharing *s, struct candidate *c, cugen_error *err) {
  if (!is_shared(s)) return queue_begin(s->queue, s->proposals, c, err);
  s->batch[s->batch_count++] = c;
  return s->batch_count < s->batch_size ? CUGEN_OK : claim_batch(s, err);
}

void sharing_renew(struct sharing *s) {
  enum { MOST = 256 };
  struct cache_claim claims[MOST];
  const double now = clock_seconds();
  size_t count = 0;
  cugen_error ignored;
  if (!is_shared(s) || now - s->renewed < renewed_after) return;
  s->renewed = now;
  for (size_t i = 0; i < s->queue->count && count < MOST - 1; i++)
    claims[count++] = claim_of(s->queue->all[i]);
  for (size_t i = 0; i < s->slots->count && count < MOST; i++)
    if (s->slots->all[i].turn.candidate)
      claims[count++] = claim_of(s->slots->all[i].turn.candidate);
  if (count) ask_claims(s, claims, count, 0, &ignored);
}

bool sharing_leads(const struct sharing *s) {
  struct cache_claim claim = {.variant = "(the leaders)", .hash = ""};
  cugen_error ignored;
  return !is_shared(s) || ask_claims(s, &claim, 1, 0, &ignored) ||
         claim.state == CACHE_CLAIM_GRANTED;
}

/* ---- News ----------------------------------------------------------------------------------- */

static void sharing_forget(struct sharing *s, size_t at) {
  free(s->waiting[at].variant);
  s->waiting[at] = s->waiting[--s->count];
}

static bool is_variant(const struct candidate *c, const char *variant) {
  return c && strcmp(c->real.variant, variant) == 0;
}

/* Returns true if the variant is in the batch; its record is used when its claim is refused. */
static bool is_proposed(const struct sharing *s, const char *variant) {
  for (size_t i = 0; i < s->batch_count; i++)
    if (is_variant(s->batch[i], variant)) return true;
  return false;
}

static bool is_under_way(const struct sharing *s, const char *variant) {
  for (size_t i = 0; i < s->queue->count; i++)
    if (is_variant(s->queue->all[i], variant)) return true;
  for (size_t i = 0; i < s->slots->count; i++)
    if (is_variant(s->slots->all[i].turn.candidate, variant)) return true;
  return false;
}

/* Uses another tuner's record if it is of exactly this kernel. */
static int hear_of(struct sharing *s, const char *variant, cugen_error *err) {
  struct candidate *c;
  size_t at = 0;
  int status = run_open(s->run, variant, &c, err);
  if (!c) return status;
  const struct cache_record *known = run_records_find(s->records, &c->real);
  if (known) {
    while (at < s->count && s->waiting[at].index != c->index) at++;
    if (at < s->count) sharing_forget(s, at);
    s->proposals->ops->taken(s->proposals->strategy, c->index);
    proposals_meet(s->proposals, c->index, known);
  }
  candidate_close(&s->run->bench, c);
  return CUGEN_OK;
}

/* Adds new records to the known ones. Records that this run made or has read before, and records of
   variants that are under way here, are skipped. */
static int take_news(struct sharing *s, cugen_error *err) {
  struct cache_news news = {.since = s->since};
  int status = cache_news(s->run->target->cache, &s->run->target->key, &news, err);
  s->since = news.since;
  s->tuners = news.tuners ? news.tuners : 1;
  for (size_t i = 0; i < news.records.count && !status; i++) {
    struct cache_record *record = &news.records.data[i];
    if (record->run_began == s->run->began_at || is_under_way(s, record->variant)) continue;
    bool added = false;
    const char *variant = record->variant; /* still valid if run_records_learn takes it over */
    status = run_records_learn(s->records, record, &added, err);
    if (!status && added && !is_proposed(s, variant)) status = hear_of(s, variant, err);
  }
  cache_records_free(&news.records);
  return status;
}

/* ---- Waiting variants, when the strategy has no others -------------------------------------- */

/* Handles the answer to a waiting variant's claim. A variant whose record cannot be used here, such
   as a record made with a shorter time limit, is left to another tuner. */
static int sharing_take_answer(struct sharing *s, size_t at, enum cache_claim_state state,
                               cugen_error *err) {
  /* After so many refusals news of the record should have come. */
  enum { ENOUGH = 20 };
  struct candidate *c = NULL;
  int status = state == CACHE_CLAIM_GRANTED
                   ? candidate_open(&s->run->bench, s->waiting[at].index, &c, err)
                   : CUGEN_OK;
  if (c || (state == CACHE_CLAIM_RECORDED && ++s->waiting[at].recorded == ENOUGH))
    sharing_forget(s, at);
  return c ? queue_begin(s->queue, s->proposals, c, err) : status;
}

static int claim_again(struct sharing *s, cugen_error *err) {
  enum { MOST = 64 };
  struct cache_claim claims[MOST];
  const size_t room = sharing_room(s);
  size_t count = 0;
  for (; count < room && count < MOST && count < s->count; count++)
    claims[count] = (struct cache_claim){s->waiting[count].variant, s->waiting[count].hash.hex,
                                         CACHE_CLAIM_TAKEN};
  if (!count) return CUGEN_OK;
  int status = ask_claims(s, claims, count, 0, err);
  /* From the last claim on, because begun variants leave the list. */
  for (size_t i = count; i > 0 && !status; i--)
    status = sharing_take_answer(s, i - 1, claims[i - 1].state, err);
  if (!status && s->count > count) { /* rotate, so that others are claimed next time */
    struct sharing_waiting first = s->waiting[0];
    memmove(&s->waiting[0], &s->waiting[1], (s->count - 1) * sizeof *s->waiting);
    s->waiting[s->count - 1] = first;
  }
  return status;
}

int sharing_update(struct sharing *s, cugen_error *err) {
  const double now = clock_seconds(), each = asked_after_each * (double)s->tuners,
               pause = fmin(fmax(asked_after, each), asked_after_most);
  sharing_renew(s);
  if (s->proposals->exhausted && s->batch_count) {
    int status = claim_batch(s, err);
    if (status) return status;
  }
  if (!is_shared(s) || now - s->asked < pause) return CUGEN_OK;
  s->asked = now;
  int status = take_news(s, err);
  return !status && s->proposals->exhausted ? claim_again(s, err) : status;
}

/* ---- The leaders of all --------------------------------------------------------------------- */

int sharing_gather_leaders(struct sharing *s, cugen_error *err) {
  static const double near = 1.15;
  const struct best *best = &s->proposals->best;
  int status = CUGEN_OK;
  for (size_t i = 0; is_shared(s) && best->variant && i < s->records->known_count && !status; i++) {
    const struct cache_record *known = &s->records->known[i];
    struct cache_record copy;
    if (known->measured_at < s->run->began_at / MICROSECONDS ||
        known->outcome != CUGEN_OUTCOME_OK || run_search_cost(s->run, known) > near * best->cost)
      continue;
    status = run_records_copy(known, NULL, &copy, err);
    if (status) break;
    status = run_records_keep(s->records, &copy, (struct hash){{0}}, err);
    if (status) cache_record_free(&copy);
  }
  return status;
}
