/* The trace of tuning; see trace.h.

   A record has the start of its run (run_began) and the time from then on (run_seconds); records
   without these are left out. The runs are put one after the other in the order in which they
   began. The position of a record is the time of all earlier runs plus the record's run_seconds.

   The best at a moment is the variant that a plan would have taken then: api_best_of over each
   variant's latest record. The best may become slower, because a later measurement of a variant
   replaces the first, and because within a tie a variant may be preferred that is slower. */
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"

/* ---- Order ---------------------------------------------------------------------------------- */

static int trace_compare(double a, double b) {
  return (a > b) - (a < b);
}

/* Sorts by time; of a variant's records of equal time, replaced ones come first. */
static int by_time(const void *a, const void *b) {
  const cugen_stored_record *x = *(const cugen_stored_record *const *)a,
                            *y = *(const cugen_stored_record *const *)b;
  if (x->record.run_began != y->record.run_began)
    return x->record.run_began < y->record.run_began ? -1 : 1;
  int time = trace_compare(x->record.run_seconds, y->record.run_seconds);
  if (time) return time;
  int variant = strcmp(x->record.variant, y->record.variant);
  return variant ? variant : (y->superseded != 0) - (x->superseded != 0);
}

/* Returns true if record b replaces record a: a verified prediction is stored again with its first
   time, and the two count as one record. */
static bool is_replaced_at_once(const cugen_stored_record *a, const cugen_stored_record *b) {
  return a->record.run_began == b->record.run_began &&
         a->record.run_seconds == b->record.run_seconds &&
         strcmp(a->record.variant, b->record.variant) == 0;
}

/* Returns true if the record has a plausible time in a run; a database may hold anything. */
static bool trace_is_timed(const cugen_record *record) {
  static const double most = 1e9; /* seconds, 30 years */
  return record->run_began > 0 && record->run_seconds >= 0 && record->run_seconds < most;
}

static bool trace_is_right(const cugen_record *record) {
  return record->outcome == CUGEN_OUTCOME_OK && isnormal(record->seconds) && record->seconds > 0 &&
         isnormal(record->cost) && record->cost > 0;
}

static size_t trace_choose(const cugen_stored_record *all, size_t count,
                           const cugen_stored_record **chosen, size_t *unknown) {
  size_t taken = 0, kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (!all[i].current) continue;
    if (trace_is_timed(&all[i].record))
      chosen[taken++] = &all[i];
    else
      *unknown += !all[i].superseded;
  }
  if (taken) qsort(chosen, taken, sizeof *chosen, by_time);
  for (size_t i = 0; i < taken; i++)
    if (i + 1 == taken || !is_replaced_at_once(chosen[i], chosen[i + 1]))
      chosen[kept++] = chosen[i];
  return kept;
}

/* ---- Runs, one after the other -------------------------------------------------------------- */

static bool place_runs(struct trace *t, const cugen_stored_record *const *chosen) {
  double before = 0;
  t->run_ends = calloc(t->count + 1, sizeof *t->run_ends);
  if (!t->run_ends) return false;
  for (size_t i = 0; i < t->count; i++) {
    const cugen_record *record = &chosen[i]->record;
    if (i && record->run_began != chosen[i - 1]->record.run_began) before = t->run_ends[t->runs++];
    t->points[i] = (struct trace_point){
        .record = record, .run = t->runs, .spent = before + record->run_seconds};
    t->points[i].right = trace_is_right(record);
    t->right += t->points[i].right;
    t->run_ends[t->runs] = t->points[i].spent;
  }
  t->runs += t->count > 0;
  t->seconds = t->runs ? t->run_ends[t->runs - 1] : 0;
  return true;
}

/* ---- The best by then ----------------------------------------------------------------------- */

struct sorted {
  const char *variant;
  size_t point;
};

static int trace_by_variant(const void *a, const void *b) {
  return strcmp(((const struct sorted *)a)->variant, ((const struct sorted *)b)->variant);
}

/* Sets ids[point]; points of one variant have equal ids. Returns the number of ids, 1 if there are
   no points; 0: out of memory. */
static size_t trace_number_variants(const struct trace *t, size_t *ids) {
  struct sorted *sorted = calloc(t->count + 1, sizeof *sorted);
  size_t count = 0;
  if (!sorted) return 0;
  for (size_t i = 0; i < t->count; i++)
    sorted[i] = (struct sorted){t->points[i].record->variant, i};
  if (t->count) qsort(sorted, t->count, sizeof *sorted, trace_by_variant);
  for (size_t i = 0; i < t->count; i++) {
    if (i && strcmp(sorted[i].variant, sorted[i - 1].variant) != 0) count++;
    ids[sorted[i].point] = count;
  }
  free(sorted);
  return count + 1;
}

/* The latest record of each variant so far; NULL: there is none, or it is not right. */
struct standings {
  const cugen_record **latest, **right; /* right: room for the right records */
  size_t variants;
  double least; /* least cost of the right records */
};

static const cugen_record *trace_best_of(struct standings *s) {
  size_t count = 0;
  s->least = (double)INFINITY;
  for (size_t i = 0; i < s->variants; i++) {
    if (!s->latest[i]) continue;
    s->right[count++] = s->latest[i];
    s->least = fmin(s->least, s->latest[i]->cost);
  }
  const size_t best = api_best_of(s->right, count);
  return best < count ? s->right[best] : NULL;
}

/* Returns true if adding or replacing the record can change the best: its cost ties with the least
   cost, or is less. */
static bool trace_matters(const struct standings *s, const cugen_record *record) {
  return record && record->cost <= s->least * CUGEN_TIE;
}

static void follow_best(struct trace *t, const size_t *ids, struct standings *s) {
  const cugen_record *best = NULL;
  for (size_t i = 0; i < t->count; i++) {
    struct trace_point *point = &t->points[i];
    const cugen_record *before = best, *old = s->latest[ids[i]],
                       *new = point->right ? point->record : NULL;
    s->latest[ids[i]] = new;
    if (trace_matters(s, new) || trace_matters(s, old)) best = trace_best_of(s);
    point->best = best;
    point->changed = best != before;
  }
}

static bool trace_find_best(struct trace *t) {
  size_t *ids = calloc(t->count + 1, sizeof *ids);
  struct standings s = {.variants = ids ? trace_number_variants(t, ids) : 0,
                        .least = (double)INFINITY};
  s.latest = calloc(s.variants + 1, sizeof *s.latest);
  s.right = calloc(s.variants + 1, sizeof *s.right);
  const bool good = s.variants && s.latest && s.right;
  if (good) follow_best(t, ids, &s);
  free(ids);
  free(s.latest);
  free(s.right);
  return good;
}

bool trace_open(const cugen_stored_record *all, size_t count, struct trace *out) {
  *out = (struct trace){0};
  const cugen_stored_record **chosen = calloc(count + 1, sizeof *chosen);
  if (chosen) out->count = trace_choose(all, count, chosen, &out->unknown);
  if (chosen) out->points = calloc(out->count + 1, sizeof *out->points);
  bool good = out->points && place_runs(out, chosen) && trace_find_best(out);
  free(chosen);
  if (!good) trace_close(out);
  return good;
}

void trace_close(struct trace *t) {
  free(t->points);
  free(t->run_ends);
  *t = (struct trace){0};
}

double trace_value(const cugen_kernel *kernel, const cugen_record *record) {
  return cli_ranks_by_rate(kernel) ? 1 / record->cost : record->seconds;
}

/* ---- As JSON -------------------------------------------------------------------------------- */

static json_t *trace_point_json(const void *item) {
  const struct trace_point *point = item;
  return JSON_NEW(MEMBER(number, point, spent), MEMBER(count, point, run),
                  {"variant", json_string(point->record->variant)},
                  {"outcome", json_string(outcome_name((int)point->record->outcome))},
                  {"seconds", point->right ? json_number(point->record->seconds) : json_null()},
                  {"best", point->best ? json_string(point->best->variant) : json_null()},
                  {"best_seconds", point->best ? json_number(point->best->seconds) : json_null()},
                  MEMBER(boolean, point, changed));
}

json_t *trace_json(const struct trace *t) {
  return JSON_NEW(MEMBER(count, t, runs), MEMBER(number, t, seconds), MEMBER(count, t, unknown),
                  {"points", JSON_LIST(t->points, t->count, trace_point_json)});
}

int trace_into_json(struct cli *cli, json_t *object) {
  const cugen_stored_record *all;
  size_t count;
  struct trace trace;
  int status = api_kernel_stored(cli->kernel, 1, &all, &count, &cli->error);
  if (status) return status;
  if (!trace_open(all, count, &trace)) return cli_no_memory(cli);
  json_object_set_new(object, "trace", trace_json(&trace));
  trace_close(&trace);
  return CUGEN_OK;
}
