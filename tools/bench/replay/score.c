/* The methodology's score; see score.h. What follows autotuning_methodology 1.1.0, step by step:

   - costs of the variants that are right, ranked; the end of the budget is where the cost is 95
     % of the way from the median to the optimum (find_end), in variants of random search without
     replacement, times the median time of a variant;
   - 10,000 points of time over the budget (make_times);
   - random search at these: the expected rank after so many draws, at the mean time of a
     variant, smoothed (make_baseline);
   - the strategy: the ranks of the best so far, of all runs together, fitted by bagged isotonic
     regression (fit), with the numbers that it draws after numpy.random.seed(1);
   - the mean of (curve - random) / (optimum - random) (score_runs). */
#include "score.h"

#include <math.h>
#include <stdlib.h>

#include "curves.h"

enum { POINTS = 10000, FEWEST_FITS = 3 };

static const double begin_share = 0.01, end_share = 0.95;

struct score {
  double *ranked; /* costs of the right variants, the best first */
  size_t valid;
  double start, stop, per_variant; /* seconds */
  double variants;
  double times[POINTS], baseline[POINTS];
};

double score_start(const struct score *score) {
  return score->start;
}

double score_stop(const struct score *score) {
  return score->stop;
}

double score_variants(const struct score *score) {
  return score->variants;
}

double score_optimum(const struct score *score) {
  return score->ranked[0];
}

/* ---- The budget ----------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *sorted, size_t count) {
  return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Returns the number of variants after which random search is expected to be that share of the
   way from the median to the optimum. */
static double draws_until(const struct score *score, double share) {
  const double best = score->ranked[0], middle = median(score->ranked, score->valid);
  const double wanted = best + (middle - best) * (1 - share);
  size_t i = 0; /* counted from the worst */
  while (score->ranked[score->valid - 1 - i] > wanted) i++;
  if (i && score->ranked[score->valid - 1 - i] <= best) i--;
  return ceil((double)i / (double)(score->valid + 1 - i));
}

/* Returns the mean time of the right variants, with a share of the time that failures cost. */
static double mean_time(const struct recorded *recorded) {
  double right = 0, wrong = 0, rights = 0, wrongs = 0;
  for (size_t i = 0; i < recorded->count; i++) {
    if (isnan(recorded->costs[i]))
      wrong += recorded_total(recorded, i), wrongs++;
    else
      right += recorded_total(recorded, i), rights++;
  }
  return right / rights + (wrongs > 0 ? wrongs / (rights + wrongs) * (wrong / wrongs) : 0);
}

static int find_budget(struct score *score, const struct recorded *recorded, double seconds,
                       cugen_error *err) {
  double *sorted = calloc(recorded->count + 1, sizeof *sorted);
  if (!sorted) return error_memory(err);
  for (size_t i = 0; i < recorded->count; i++) sorted[i] = recorded_total(recorded, i);
  qsort(sorted, recorded->count, sizeof *sorted, by_size);
  const double usual = median(sorted, recorded->count), from = draws_until(score, begin_share);
  free(sorted);
  score->per_variant = mean_time(recorded);
  if (usual <= 0)
    return error_set(
        err, CUGEN_ERROR_CACHE,
        "what a variant took is not recorded: give it with cugen_replay_options.compile_time and "
        "cugen_replay_options.run_time");
  score->variants = seconds > 0 ? seconds / usual : fmax(draws_until(score, end_share), from + 2);
  score->start = from * usual;
  score->stop = score->variants * usual;
  if (score->stop > score->start) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "a budget of %.3g s is too short: a variant takes %.3g s", seconds, usual);
}

static void make_times(struct score *score) {
  const double step = (score->stop - score->start) / (POINTS - 1);
  for (size_t i = 0; i < POINTS; i++) score->times[i] = (double)i * step + score->start;
  score->times[POINTS - 1] = score->stop;
}

/* ---- Random search -------------------------------------------------------------------------- */

/* Returns the expected best of so many draws without replacement: the cost at the expected rank. */
static double expected_cost(const struct score *score, double draws) {
  const double count = (double)score->valid;
  const double rank = fmin(count - 1, rint(draws * (count + 1) / (draws + 1)));
  return score->ranked[score->valid - 1 - (size_t)rank];
}

/* Fills draws with the number of draws at each time, and steps with a point for each number of
   draws. Returns how many. */
static size_t draw(struct score *score, double *draws, struct curve_point *steps) {
  size_t count = 0;
  for (size_t i = 0; i < POINTS; i++) {
    draws[i] = rint(fmax(score->times[i] / score->per_variant, 1));
    score->baseline[i] = expected_cost(score, draws[i]);
    if (i == 0 || draws[i] > draws[i - 1])
      steps[count++] = (struct curve_point){draws[i], score->baseline[i]};
  }
  return count;
}

static int make_baseline(struct score *score, cugen_error *err) {
  double *draws = calloc(POINTS, sizeof *draws);
  struct curve_point *steps = calloc(POINTS, sizeof *steps);
  int status = draws && steps ? CUGEN_OK : error_memory(err);
  const size_t count = status ? 0 : draw(score, draws, steps);
  if (count > 1) {
    const double first = draws[0], last = draws[POINTS - 1], step = (last - first) / (POINTS - 1);
    for (size_t i = 0; i < POINTS; i++) draws[i] = (double)i * step + first;
    draws[POINTS - 1] = last;
    status = curve_cubic(steps, count, draws, POINTS, score->baseline, err);
  }
  free(draws);
  free(steps);
  return status;
}

int score_open(const struct recorded *recorded, double seconds, struct score **out,
               cugen_error *err) {
  struct score *score = calloc(1, sizeof *score);
  if (score) score->ranked = calloc(recorded->count + 1, sizeof *score->ranked);
  int status = score && score->ranked ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < recorded->count && !status; i++)
    if (!isnan(recorded->costs[i])) score->ranked[score->valid++] = recorded->costs[i];
  if (!status) qsort(score->ranked, score->valid, sizeof *score->ranked, by_size);
  if (!status) status = find_budget(score, recorded, seconds, err);
  if (!status) make_times(score);
  if (!status) status = make_baseline(score, err);
  if (status) score_close(score), score = NULL;
  *out = score;
  return status;
}

void score_close(struct score *score) {
  if (score) free(score->ranked);
  free(score);
}

/* ---- A strategy ----------------------------------------------------------------------------- */

/* The points in time of all runs, from before the budget to behind it. */
struct pooled {
  struct curve_point *points;
  size_t count;
  double from, to, stopping; /* stopping: time by which most runs have ended */
};

/* Returns how many of the costs are smaller. */
static double rank_of(const struct score *score, double cost) {
  size_t low = 0, high = score->valid;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (score->ranked[middle] < cost)
      low = middle + 1;
    else
      high = middle;
  }
  return (double)low;
}

/* Returns the longest run; runs of more than twice the usual length are left out as outliers. */
static size_t longest(const struct score_run *runs, size_t count) {
  size_t most = 0;
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    most = runs[i].count > most ? runs[i].count : most, sum += (double)runs[i].count;
  const double twice = 2 * (sum / (double)count);
  return (double)most > twice ? (size_t)twice : most;
}

static size_t first_valid(const struct score_run *run) {
  size_t i = 0;
  while (i < run->count && isnan(run->costs[i])) i++;
  return i;
}

/* Finds the time after which only runs continue that are longer than most. */
static double find_stopping(const struct score *score, const struct score_run *runs, size_t count,
                            size_t most, double *ends) {
  size_t ended = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t length = runs[i].count < most ? runs[i].count : most;
    if (first_valid(&runs[i]) < length) ends[ended++] = runs[i].seconds[length - 1];
  }
  qsort(ends, ended, sizeof *ends, by_size);
  for (size_t i = 0; i < ended; i++)
    if (ends[i] > median(ends, ended)) return ends[i];
  return score->stop;
}

static void add_point(struct pooled *pooled, double x, double y) {
  pooled->points[pooled->count++] = (struct curve_point){x, y};
}

/* What each run has found so far: its cost, and its points within the budget. */
struct found {
  double best;
  size_t points;
};

/* Adds the n-th result of all runs, then the next, in the order in which the methodology draws. */
static void add_results(const struct score *score, const struct score_run *runs, size_t count,
                        size_t most, struct found *found, struct pooled *pooled) {
  for (size_t i = 0; i < count; i++) found[i] = (struct found){(double)INFINITY, 0};
  for (size_t n = 0; n < most; n++)
    for (size_t i = 0; i < count; i++) {
      if (n >= runs[i].count) continue;
      found[i].best = fmin(found[i].best, runs[i].costs[n]);
      if (!isfinite(found[i].best) || runs[i].seconds[n] < pooled->from ||
          runs[i].seconds[n] > pooled->to)
        continue;
      add_point(pooled, runs[i].seconds[n], rank_of(score, found[i].best));
      found[i].points++;
    }
}

/* The methodology refuses a run that found nothing in the budget; here such a run counts as the
   worst. */
static void add_missing(const struct score *score, const struct found *found, size_t count,
                        struct pooled *pooled) {
  for (size_t i = 0; i < count; i++) {
    if (found[i].points) continue;
    add_point(pooled, score->start, (double)score->valid - 1);
    add_point(pooled, score->stop, (double)score->valid - 1);
  }
}

static int pool_runs(const struct score *score, const struct score_run *runs, size_t count,
                     struct pooled *out, cugen_error *err) {
  const size_t most = longest(runs, count);
  size_t first = most;
  double *ends = calloc(count, sizeof *ends);
  struct found *found = calloc(count, sizeof *found);
  *out = (struct pooled){.points = calloc(count * (most + 2), sizeof *out->points)};
  if (!ends || !found || !out->points) {
    free(ends);
    free(found);
    return error_memory(err);
  }
  for (size_t i = 0; i < count; i++)
    first = first_valid(&runs[i]) < first ? first_valid(&runs[i]) : first;
  const double margin = 0.1 + 0.25 / (double)(most > first ? most - first : 1);
  out->from = score->start * (1 - margin), out->to = score->stop * (1 + margin);
  out->stopping = find_stopping(score, runs, count, most, ends);
  add_results(score, runs, count, most, found, out);
  add_missing(score, found, count, out);
  free(ends);
  free(found);
  return CUGEN_OK;
}

/* Fits a falling curve to the ranks of the runs' costs over time, rounds the ranks, and replaces each
   by its cost. The last rank before pooled->stopping stays until the end. */
static int fit(const struct score *score, struct pooled *pooled, size_t runs, double *curve,
               cugen_error *err) {
  const size_t fits = runs > FEWEST_FITS ? runs : FEWEST_FITS;
  int status =
      curve_isotonic(pooled->points, pooled->count, fits, score->times, POINTS, curve, err);
  double last = -1;
  for (size_t i = 0; i < POINTS && !status; i++) {
    const double rank = fmin(fmax(rint(curve[i]), 0), (double)score->valid - 1);
    if (last < 0 || score->times[i - 1] <= pooled->stopping) last = rank;
    curve[i] = score->ranked[(size_t)last];
  }
  return status;
}

/* If random search has reached the optimum, nothing can be said. */
static double mean_gain(const struct score *score, const double *curve) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < POINTS; i++) {
    const double whole = score->ranked[0] - score->baseline[i];
    if (whole < 0) sum += (curve[i] - score->baseline[i]) / whole, count++;
  }
  return count > 0 ? sum / count : 0;
}

int score_runs(const struct score *score, const struct score_run *runs, size_t count, double *out,
               cugen_error *err) {
  struct pooled pooled;
  double *curve = calloc(POINTS, sizeof *curve);
  int status = curve ? CUGEN_OK : error_memory(err);
  if (!status) {
    status = pool_runs(score, runs, count, &pooled, err);
    if (!status) status = fit(score, &pooled, count, curve, err);
    free(pooled.points);
  }
  if (!status) *out = mean_gain(score, curve);
  free(curve);
  return status;
}
