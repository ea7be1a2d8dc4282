/* bench_replay FILE...: scores the strategies of `cugen tune` on recorded spaces, by a simulated
   clock. README.md in this folder has the options and what a score means. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prior.h"
#include "recording.h"
#include "simulate.h"

enum { MOST_STRATEGIES = 32, MOST_DIGITS = 17 };

struct options {
  const struct strategy_ops *strategies[MOST_STRATEGIES];
  size_t strategy_count, seeds, in_flight, threads;
  double compile, rest, budget; /* seconds; negative, or a budget of 0: as the file has them */
  const char *prior;            /* NULL: none */
  FILE *runs;                   /* a line of JSON for each run; NULL: none */
  bool json;
};

/* A space while it is scored. */
struct space {
  const char *path;
  struct recorded recorded;
  struct score *score;
  uint64_t priors[SIMULATE_MOST_PRIORS];
  size_t prior_count;
};

/* What a strategy came to on a space. */
struct result {
  /* error: the standard error of the score, from the scores of single runs; reached: the optimum's
     time by the best found, the median of the runs */
  double score, error, reached, tried;
};

static _Noreturn void fail(const char *message) {
  fprintf(stderr, "bench_replay: %s\n", message);
  exit(1);
}

static void check(int status, const cugen_error *err) {
  if (status) fail(err->message);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) fail("out of memory");
  return memory;
}

/* ---- Options -------------------------------------------------------------------------------- */

static void add_strategies(struct options *o, const char *list) {
  char *words = strdup(list), *rest = words;
  cugen_error err;
  if (!words) fail("out of memory");
  for (const char *name;
       (name = strtok_r(rest, ", ", &rest)) && o->strategy_count < MOST_STRATEGIES;)
    check(strategy_find(name, &o->strategies[o->strategy_count++], &err), &err);
  free(words);
}

static double number(const char *text, double least) {
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end || !(value >= least && value <= 1e9)) {
    fprintf(stderr, "bench_replay: '%s': a number from %g on is expected\n", text, least);
    exit(2);
  }
  return value;
}

static void read_options(struct options *o, int argc, char **argv) {
  static const struct option names[] = {{"strategy", 1, NULL, 's'},
                                        {"seeds", 1, NULL, 'n'},
                                        {"in-flight", 1, NULL, 'f'},
                                        {"threads", 1, NULL, 't'},
                                        {"compile-time", 1, NULL, 'c'},
                                        {"run-time", 1, NULL, 'r'},
                                        {"budget", 1, NULL, 'b'},
                                        {"prior", 1, NULL, 'p'},
                                        {"output", 1, NULL, 'o'},
                                        {"json", 0, NULL, 'j'},
                                        {NULL, 0, NULL, 0}};
  const struct strategy_ops *strategy;
  int letter;
  bool in_flight = false;
  *o = (struct options){.seeds = 50, .compile = -1, .rest = -1};
  while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
    switch (letter) {
    case 's': add_strategies(o, optarg); break;
    case 'n': o->seeds = (size_t)number(optarg, 1); break;
    case 'f': o->in_flight = (size_t)number(optarg, 0), in_flight = true; break;
    case 't': o->threads = (size_t)number(optarg, 1); break;
    case 'c': o->compile = number(optarg, 0); break;
    case 'r': o->rest = number(optarg, 0); break;
    case 'b': o->budget = number(optarg, 0); break;
    case 'p': o->prior = optarg; break;
    case 'o': o->runs = fopen(optarg, "w"); break;
    case 'j': o->json = true; break;
    default: exit(2);
    }
    if (letter == 'o' && !o->runs) fail("the file of runs cannot be written");
  }
  if (optind == argc)
    fail("a FILE is missing: what Kernel Tuner or KTT wrote, or T4; - is the standard input");
  if (!o->strategy_count)
    while (o->strategy_count < MOST_STRATEGIES && (strategy = strategy_at(o->strategy_count)))
      o->strategies[o->strategy_count++] = strategy;
  if (!in_flight && o->threads)
    o->in_flight = 2 * o->threads + 1; /* as the tuner keeps ahead of its compile threads */
  if (o->threads > o->in_flight + 1) fail("there are more --threads than variants --in-flight");
}

/* ---- A space -------------------------------------------------------------------------------- */

static void open_space(struct space *s, const struct options *o, const char *path) {
  cugen_error err;
  *s = (struct space){.path = path};
  check(recorded_read(path, (struct process_stop){0}, &s->recorded, &err), &err);
  s->recorded.all_compile = o->compile, s->recorded.all_else = o->rest;
  check(score_open(&s->recorded, o->budget, &s->score, &err), &err);
  if (score_variants(s->score) < 10)
    fprintf(stderr,
            "bench_replay: %s: the budget is %.0f variants, too few for a score to mean much\n",
            path, score_variants(s->score));
  if (!o->prior) return;
  struct recorded prior;
  check(recorded_read(o->prior, (struct process_stop){0}, &prior, &err), &err);
  check(prior_find(&prior, &s->recorded, SIMULATE_MOST_PRIORS, s->priors, &s->prior_count, &err),
        &err);
  recorded_free(&prior);
  if (!s->prior_count)
    fail("no variant of the prior is one of the space: both need the same tunables and values");
}

static void write_run(const struct space *s, const char *strategy, uint64_t seed,
                      const struct score_run *run, const uint64_t *tried, FILE *out) {
  json_t *all = json_array();
  struct text variant = {0};
  for (size_t i = 0; i < run->count; i++) {
    text_clear(&variant);
    recorded_print(&s->recorded, tried[i], &variant);
    json_t *seconds =
        isnan(run->costs[i]) ? json_null() : json_real(run->costs[i] / s->recorded.per_second);
    json_array_append_new(all, json_pack("{s:s, s:f, s:o}", "variant", text_get(&variant), "at",
                                         run->seconds[i], "seconds", seconds));
  }
  json_t *line = json_pack("{s:s, s:s, s:I, s:o}", "file", s->path, "strategy", strategy, "seed",
                           (json_int_t)seed, "tried", all);
  json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(MOST_DIGITS));
  fputc('\n', out);
  json_decref(line);
  text_free(&variant);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double standard_error(const struct score *score, const struct score_run *runs,
                             size_t count) {
  double one, mean = 0, squares = 0;
  cugen_error err;
  for (size_t i = 0; i < count; i++) {
    check(score_runs(score, &runs[i], 1, &one, &err), &err);
    const double apart = one - mean;
    mean += apart / (double)(i + 1);
    squares += apart * (one - mean);
  }
  return count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : 0;
}

static struct result score_strategy(const struct space *s, const struct options *o,
                                    size_t strategy) {
  struct score_run *runs = allocate(o->seeds, sizeof *runs);
  double *reached = allocate(o->seeds, sizeof *reached);
  struct result out = {0};
  cugen_error err;
  for (size_t i = 0; i < o->seeds; i++) {
    const struct simulation simulation = {
        &s->recorded,   o->strategies[strategy],   i + 1, o->in_flight, o->threads, s->priors,
        s->prior_count, 1.1 * score_stop(s->score)};
    uint64_t *tried;
    double best = (double)INFINITY;
    check(simulate(&simulation, &runs[i], &tried, &err), &err);
    for (size_t n = 0; n < runs[i].count && runs[i].seconds[n] <= score_stop(s->score); n++)
      best = fmin(best, runs[i].costs[n]), out.tried += 1 / (double)o->seeds;
    reached[i] = score_optimum(s->score) / best;
    if (o->runs) write_run(s, o->strategies[strategy]->name, i + 1, &runs[i], tried, o->runs);
    free(tried);
  }
  qsort(reached, o->seeds, sizeof *reached, by_size);
  out.reached = (reached[(o->seeds - 1) / 2] + reached[o->seeds / 2]) / 2;
  check(score_runs(s->score, runs, o->seeds, &out.score, &err), &err);
  out.error = standard_error(s->score, runs, o->seeds);
  for (size_t i = 0; i < o->seeds; i++) simulate_free(&runs[i], NULL);
  free(runs);
  free(reached);
  return out;
}

/* ---- What is printed ------------------------------------------------------------------------ */

static json_t *space_json(const struct space *s, const struct options *o,
                          const struct result *results) {
  const struct recorded *r = &s->recorded;
  json_t *strategies = json_array();
  for (size_t i = 0; i < o->strategy_count; i++)
    json_array_append_new(strategies,
                          json_pack("{s:s, s:f, s:f, s:f, s:f}", "strategy", o->strategies[i]->name,
                                    "score", results[i].score, "error", results[i].error, "reached",
                                    results[i].reached, "tried", results[i].tried));
  return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:o}", "file", s->path, "format",
                   r->format, "kernel", r->kernel, "device", r->device, "tunables",
                   (json_int_t)r->axis_count, "variants", (json_int_t)r->count, "budget_seconds",
                   score_stop(s->score), "budget_variants", score_variants(s->score), "strategies",
                   strategies);
}

static void print_row(const char *name, const char *variants, const char *budget,
                      const double *scores, size_t count) {
  printf("%-32s %8s %9s", name, variants, budget);
  for (size_t i = 0; i < count; i++) printf(" %12.3f", scores[i]);
  putchar('\n');
}

/* Scores every strategy on one space, prints the scores or appends them to `spaces`, and updates
   `sums` and `lowest`. */
static void replay_space(const char *path, const struct options *o, json_t *spaces, double *sums,
                         double *lowest) {
  struct result results[MOST_STRATEGIES];
  double scores[MOST_STRATEGIES];
  struct space s;
  open_space(&s, o, path);
  for (size_t i = 0; i < o->strategy_count; i++) {
    results[i] = score_strategy(&s, o, i);
    scores[i] = results[i].score;
    sums[i] += scores[i], lowest[i] = fmin(lowest[i], scores[i]);
  }
  const char *slash = strrchr(path, '/');
  char variants[32], budget[32];
  snprintf(variants, sizeof variants, "%zu", s.recorded.count);
  snprintf(budget, sizeof budget, "%.1f s", score_stop(s.score));
  if (o->json)
    json_array_append_new(spaces, space_json(&s, o, results));
  else
    print_row(slash ? slash + 1 : path, variants, budget, scores, o->strategy_count);
  score_close(s.score);
  recorded_free(&s.recorded);
}

int main(int argc, char **argv) {
  struct options o;
  double sums[MOST_STRATEGIES] = {0}, lowest[MOST_STRATEGIES];
  json_t *spaces = json_array();
  read_options(&o, argc, argv);
  for (size_t i = 0; i < MOST_STRATEGIES; i++) lowest[i] = (double)INFINITY;
  if (!o.json) {
    printf("%-32s %8s %9s", "space", "variants", "budget");
    for (size_t i = 0; i < o.strategy_count; i++) printf(" %12s", o.strategies[i]->name);
    putchar('\n');
  }
  const int count = argc - optind;
  for (int i = 0; i < count; i++) replay_space(argv[optind + i], &o, spaces, sums, lowest);
  if (o.json) {
    json_t *out =
        json_pack("{s:I, s:I, s:I, s:o}", "runs", (json_int_t)o.seeds, "in_flight",
                  (json_int_t)o.in_flight, "threads", (json_int_t)o.threads, "spaces", spaces);
    json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(MOST_DIGITS));
    putchar('\n');
    json_decref(out);
  } else if (count > 1) {
    for (size_t i = 0; i < o.strategy_count; i++) sums[i] /= count;
    print_row("mean", "", "", sums, o.strategy_count);
    print_row("lowest", "", "", lowest, o.strategy_count);
  }
  return o.runs && fclose(o.runs) ? 1 : 0;
}
