/* Several tuners on one space; see tuner_run.h.

   Each tuner claims a variant before it compiles it. Variants that another tuner has claimed wait
   in a list here. Between two variants, the records that others have stored since are read: they
   end the waiting, and the strategy learns from them as from its own. When the strategy has nothing
   left, the waiting variants are claimed again and again, because the tuner that holds the claim
   may be dead, in which case the claim ends after `lease`. While others hold all variants that this
   tuner asks for, it asks for more at a time.

   Tuners walk in different random orders, and hold fewer variants ahead the fewer are left for
   each, so that all end at about the same time. One of them settles the leaders. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/system.h"
#include "tuner_run.h"

/* Seconds until a claim ends, until claims are renewed, and between two requests for news. */
static const double lease = 30, renewed_after = 7, asked_after = 0.25;

/* Returns the seconds between two requests for news. With many tuners each asks less often, because
   each reads the records of all, so that the server's work grows with the square of their
   number. */
static double pause_of(const struct tuner_sharing *s) {
  static const double each = 0.01, most = 5;
  return fmin(fmax(asked_after, each * (double)s->tuners), most);
}

bool tuner_shares(const struct tuner *t) {
  return t->sharing.owner[0] != '\0';
}

static struct cache_lease lease_of(const struct tuner *t) {
  enum { MICROSECONDS = 1000000 };
  return (struct cache_lease){t->sharing.owner, lease,
                              t->run.options->again ? t->run.began_at / MICROSECONDS : 0, 0};
}

int tuner_open_sharing(struct tuner *t, cugen_error *err) {
  struct tuner_sharing *s = &t->sharing;
  struct cache_news news = {.since = -1};
  if (!cache_keeps_claims(t->run.target->cache)) return CUGEN_OK;
  if (getrandom(&s->seed, sizeof s->seed, 0) != sizeof s->seed)
    return error_set(err, CUGEN_ERROR_IO, "no random numbers: %s", strerror(errno));
  snprintf(s->owner, sizeof s->owner, "%016llx", (unsigned long long)s->seed);
  int status = cache_news(t->run.target->cache, &t->run.target->key, &news, err);
  s->since = news.since;
  s->tuners = s->batch_size = 1;
  return status;
}

void tuner_close_sharing(struct tuner *t) {
  struct tuner_sharing *s = &t->sharing;
  cugen_error ignored;
  if (tuner_shares(t)) cache_unclaim(t->run.target->cache, s->owner, &ignored);
  for (size_t i = 0; i < s->batch_count; i++) candidate_close(&t->run.bench, s->batch[i]);
  for (size_t i = 0; i < s->count; i++) free(s->waiting[i].variant);
  free(s->waiting);
}

size_t tuner_most_ahead(const struct tuner *t) {
  const uint64_t met = t->run.result->remembered + t->run.result->tried,
                 left = t->run.result->valid > met ? t->run.result->valid - met : 0;
  const uint64_t share = left / (2 * (t->sharing.tuners ? t->sharing.tuners : 1));
  if (!tuner_shares(t) || share >= t->pending_most) return t->pending_most;
  return share ? (size_t)share : 1;
}

/* ---- Claims --------------------------------------------------------------------------------- */

static int sharing_wait_for(struct tuner *t, const struct candidate *c, cugen_error *err) {
  struct tuner_sharing *s = &t->sharing;
  struct tuner_waiting *waiting =
      array_reserve(s->waiting, &s->capacity, s->count, sizeof *waiting);
  if (!waiting) return error_memory(err);
  s->waiting = waiting;
  waiting[s->count] = (struct tuner_waiting){c->index, strdup(c->real.variant), c->real.hash, 0};
  return waiting[s->count].variant ? (s->count++, CUGEN_OK) : error_memory(err);
}

/* Handles the answer to a candidate's claim: it begins, is met as known, or waits. */
static int sharing_settle(struct tuner *t, struct candidate *c, enum cache_claim_state state,
                          cugen_error *err) {
  if (state == CACHE_CLAIM_GRANTED) return tuner_begin(t, c, err);
  const struct cache_record *known =
      state == CACHE_CLAIM_RECORDED ? run_records_find(&t->records, &c->real) : NULL;
  int status = CUGEN_OK;
  if (known)
    proposals_meet(&t->proposals, c->index, known);
  else
    status = sharing_wait_for(t, c, err);
  candidate_close(&t->run.bench, c);
  return status;
}

/* Claims the batch. Candidates that the server left for later stay in the batch. */
static int claim_batch(struct tuner *t, cugen_error *err) {
  struct tuner_sharing *s = &t->sharing;
  struct cache_claim claims[TUNER_BATCH];
  struct cache_lease terms = lease_of(t);
  const size_t count = s->batch_count, most = tuner_most_ahead(t);
  size_t granted = 0;
  if (most <= t->pending_count) return CUGEN_OK;
  terms.most = most - t->pending_count;
  for (size_t i = 0; i < count; i++)
    claims[i] = (struct cache_claim){s->batch[i]->real.variant, s->batch[i]->real.hash.hex,
                                     CACHE_CLAIM_TAKEN};
  int status = cache_claim(t->run.target->cache, &t->run.target->key, &terms, claims, count, err);
  if (status) return status;
  s->batch_count = 0;
  for (size_t i = 0; i < count; i++) {
    granted += claims[i].state == CACHE_CLAIM_GRANTED;
    if (status || claims[i].state == CACHE_CLAIM_LEFT)
      s->batch[s->batch_count++] = s->batch[i];
    else
      status = sharing_settle(t, s->batch[i], claims[i].state, err);
  }
  s->batch_size = granted ? 1 : s->batch_size < TUNER_BATCH / 2 ? 2 * s->batch_size : TUNER_BATCH;
  return status;
}

int tuner_propose(struct tuner *t, struct candidate *c, cugen_error *err) {
  struct tuner_sharing *s = &t->sharing;
  s->batch[s->batch_count++] = c;
  return s->batch_count < s->batch_size ? CUGEN_OK : claim_batch(t, err);
}

/* A failure is ignored here; it shows when a record is stored. */
void tuner_renew_claims(struct tuner *t) {
  enum { MOST = 256 };
  struct cache_claim claims[MOST];
  const struct cache_lease terms = lease_of(t);
  const double now = clock_seconds();
  size_t count = 0;
  cugen_error ignored;
  if (!tuner_shares(t) || now - t->sharing.renewed < renewed_after) return;
  t->sharing.renewed = now;
  for (size_t i = 0; i < t->pending_count && count < MOST - 1; i++)
    claims[count++] = (struct cache_claim){t->pending[i]->real.variant,
                                           t->pending[i]->real.hash.hex, CACHE_CLAIM_TAKEN};
  for (size_t i = 0; i < t->slot_count && count < MOST; i++)
    if (t->slots[i].turn.candidate)
      claims[count++] =
          (struct cache_claim){t->slots[i].turn.candidate->real.variant,
                               t->slots[i].turn.candidate->real.hash.hex, CACHE_CLAIM_TAKEN};
  if (count)
    cache_claim(t->run.target->cache, &t->run.target->key, &terms, claims, count, &ignored);
}

bool tuner_leads(struct tuner *t) {
  const struct cache_lease terms = lease_of(t);
  struct cache_claim claim = {.variant = "(the leaders)", .hash = ""};
  cugen_error ignored;
  return !tuner_shares(t) ||
         cache_claim(t->run.target->cache, &t->run.target->key, &terms, &claim, 1, &ignored) ||
         claim.state == CACHE_CLAIM_GRANTED;
}

/* ---- News ----------------------------------------------------------------------------------- */

static void sharing_forget(struct tuner_sharing *s, size_t at) {
  free(s->waiting[at].variant);
  s->waiting[at] = s->waiting[--s->count];
}

/* Returns the variant's place in the waiting list; count: it does not wait. */
static size_t find_waiting(const struct tuner_sharing *s, const char *variant) {
  size_t at = 0;
  while (at < s->count && strcmp(s->waiting[at].variant, variant) != 0) at++;
  return at;
}

/* Returns true if the variant is in the batch; its record is used when its claim is refused. */
static bool is_proposed(const struct tuner *t, const char *variant) {
  for (size_t i = 0; i < t->sharing.batch_count; i++)
    if (strcmp(t->sharing.batch[i]->real.variant, variant) == 0) return true;
  return false;
}

static bool is_under_way(const struct tuner *t, const char *variant) {
  for (size_t i = 0; i < t->pending_count; i++)
    if (strcmp(t->pending[i]->real.variant, variant) == 0) return true;
  for (size_t i = 0; i < t->slot_count; i++)
    if (t->slots[i].turn.candidate &&
        strcmp(t->slots[i].turn.candidate->real.variant, variant) == 0)
      return true;
  return false;
}

/* Uses another tuner's record if it is of exactly this kernel. */
static int hear_of(struct tuner *t, const char *variant, cugen_error *err) {
  struct tuner_sharing *s = &t->sharing;
  const size_t at = find_waiting(s, variant);
  const bool waited = at < s->count;
  uint64_t index = waited ? s->waiting[at].index : 0;
  struct candidate *c;
  if (!waited &&
      (!space_look_up(t->run.target->space, variant, &index) || !run_wants_index(&t->run, index)))
    return CUGEN_OK;
  int status = candidate_open(&t->run.bench, index, &c, err);
  if (status) return status;
  const struct cache_record *known = run_records_find(&t->records, &c->real);
  if (known) {
    if (waited) sharing_forget(s, at);
    t->proposals.ops->taken(t->proposals.strategy, index);
    proposals_meet(&t->proposals, index, known);
  }
  candidate_close(&t->run.bench, c);
  return CUGEN_OK;
}

/* Adds new records to the known ones. Records that this run made or has read before are skipped. */
static int take_news(struct tuner *t, struct cache_records *news, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < news->count && !status; i++) {
    struct cache_record *record = &news->data[i];
    if (record->run_began == t->run.began_at || is_under_way(t, record->variant)) continue;
    bool added = false;
    const char *variant = record->variant; /* tuner_add_known may take over the text */
    status = run_records_learn(&t->records, record, &added, err);
    if (!status && added && !is_proposed(t, variant)) status = hear_of(t, variant, err);
  }
  return status;
}

static int sharing_ask(struct tuner *t, cugen_error *err) {
  struct cache_news news = {.since = t->sharing.since};
  int status = cache_news(t->run.target->cache, &t->run.target->key, &news, err);
  t->sharing.since = news.since;
  t->sharing.tuners = news.tuners ? news.tuners : 1;
  if (!status) status = take_news(t, &news.records, err);
  cache_records_free(&news.records);
  return status;
}

/* ---- What still waits when nothing else is left --------------------------------------------- */

static int sharing_begin(struct tuner *t, size_t at, cugen_error *err) {
  struct candidate *c;
  int status = candidate_open(&t->run.bench, t->sharing.waiting[at].index, &c, err);
  if (status) return status;
  sharing_forget(&t->sharing, at);
  return tuner_begin(t, c, err);
}

/* A variant whose record cannot be used here, such as one of a shorter time limit, is left to
   another tuner. */
static int sharing_take_answer(struct tuner *t, size_t at, enum cache_claim_state state,
                               cugen_error *err) {
  enum { ENOUGH = 20 }; /* after so many refusals news of the record should have come */
  if (state == CACHE_CLAIM_GRANTED) return sharing_begin(t, at, err);
  if (state == CACHE_CLAIM_RECORDED && ++t->sharing.waiting[at].recorded == ENOUGH)
    sharing_forget(&t->sharing, at);
  return CUGEN_OK;
}

static int claim_again(struct tuner *t, cugen_error *err) {
  enum { MOST = 64 };
  struct tuner_sharing *s = &t->sharing;
  struct cache_claim claims[MOST];
  const struct cache_lease terms = lease_of(t);
  const size_t most = tuner_most_ahead(t),
               room = most > t->pending_count ? most - t->pending_count : 0;
  size_t count = 0;
  for (; count < room && count < MOST && count < s->count; count++)
    claims[count] = (struct cache_claim){s->waiting[count].variant, s->waiting[count].hash.hex,
                                         CACHE_CLAIM_TAKEN};
  if (!count) return CUGEN_OK;
  int status = cache_claim(t->run.target->cache, &t->run.target->key, &terms, claims, count, err);
  /* From the last one on, because begun variants leave the list. */
  for (size_t i = count; i > 0 && !status; i--)
    status = sharing_take_answer(t, i - 1, claims[i - 1].state, err);
  if (!status && s->count > count) { /* rotate, so that others are claimed next time */
    struct tuner_waiting first = s->waiting[0];
    memmove(&s->waiting[0], &s->waiting[1], (s->count - 1) * sizeof *s->waiting);
    s->waiting[s->count - 1] = first;
  }
  return status;
}

int tuner_share(struct tuner *t, cugen_error *err) {
  const double now = clock_seconds();
  tuner_renew_claims(t);
  if (t->proposals.exhausted && t->sharing.batch_count) {
    int status = claim_batch(t, err);
    if (status) return status;
  }
  if (!tuner_shares(t) || now - t->sharing.asked < pause_of(&t->sharing)) return CUGEN_OK;
  t->sharing.asked = now;
  int status = sharing_ask(t, err);
  return !status && t->proposals.exhausted ? claim_again(t, err) : status;
}

void tuner_rest(const struct tuner *t) {
  const struct timespec pause = {0, 50000000};
  if (t->proposals.exhausted && t->pending_count + tuner_busy(t) == 0 && t->sharing.count)
    nanosleep(&pause, NULL);
}

/* ---- The leaders of all --------------------------------------------------------------------- */

/* Adds other tuners' records that are near the best to this run's records, because leaders are
   chosen from those. */
int tuner_gather_leaders(struct tuner *t, cugen_error *err) {
  enum { MICROSECONDS = 1000000 };
  static const double near = 1.15;
  const int64_t began = t->run.began_at / MICROSECONDS;
  int status = CUGEN_OK;
  for (size_t i = 0;
       tuner_shares(t) && t->proposals.best.variant && i < t->records.known_count && !status; i++) {
    const struct cache_record *known = &t->records.known[i];
    struct cache_record copy;
    if (known->measured_at < began || known->outcome != CUGEN_OUTCOME_OK ||
        run_search_cost(&t->run, known) > near * t->proposals.best.cost)
      continue;
    status = run_records_copy(known, NULL, &copy, err);
    if (status) break;
    status = run_records_keep(&t->records, &copy, (struct hash){{0}}, err);
    if (status) cache_record_free(&copy);
  }
  return status;
}
