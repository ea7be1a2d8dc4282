/* Benchmark: how well the model ranks. For every problem that there are measurements of, on a
   device that is described: the rank correlation (Spearman) of predicted and measured times, the
   regret of the model's first choice, and how many variants are tried until one is within 5 % of
   the best: in the model's order, in a random one, by the tuner's default strategy, and by that
   when it begins with the model's eight. Nothing runs on a GPU; each variant is compiled.
   bench_model [RECORDS [FOLDER [CONFIG]]] RECORDS is a cache, wisdom or wisdom.xz; without it
   the measurements that are kept here, which is what docs/performance.md has. FOLDER keeps what
   was compiled, so that the next run only predicts; there it also writes LINES.txt, a line a
   variant, and RESIDUALS.txt: how much too slow (> 0) or too fast each value of each tunable is
   predicted. Of each record the very source is wanted that was measured: what ships now has it,
   or one of the revisions below, which git has. Where none does, what ships now stands for it if
   it compiles to as many registers. */
#include <pthread.h>

#include "api/kernel.h"
#include "common.h"
#include "runtime/model/model.h"
#include "runtime/plan.h"
#include "runtime/store/wisdom.h"
#include "tune/search/strategy.h"

enum { FEWEST = 20, MOST_THREADS = 64, SEEDS = 50, LATENCY = 6, FIRSTS = 8, DRAWN = 48 };

static const char recorded[] = "tools/bench/results/2026-11-21-h200-model.wisdom.xz";
static const char *const revisions[] = {"9e3cbd8af1bc", "d45a8ba54d6b", "50d6715e8803",
                                        "879a6831531b", "4d0167d4cfda", "4824d9c2c63b",
                                        "09137f666915", "13b60066aeac"};

struct row {
  struct kernel_spec spec;
  int registers;              /* as in the record */
  uint64_t place;             /* place in the config's order */
  double measured, predicted; /* predicted 0: no prediction is possible */
  struct model_prediction parts;
};

struct work {
  cugen_kernel *kernel;
  const char *folder; /* NULL: nothing is written */
  struct row *rows;
  size_t count, next;
  pthread_mutex_t mutex;
};

/* ---- What is kept --------------------------------------------------------------------------- */

static void name_file(const struct work *w, const struct kernel_spec *spec, struct text *out) {
  text_addf(out, "%s/%s-%s", w->folder, w->kernel->lookup.arch, spec->source_hash.hex);
}

static bool load_kept(const char *path, size_t entries, struct compiled *out) {
  FILE *file = fopen(path, "r");
  char name[1024];
  long long static_shared, local, spills;
  if (!file) return false;
  for (size_t i = 0; i < entries; i++) {
    struct kernel_resources *r = &out->resources[i];
    struct sass_facts *code = &out->code[i];
    if (fscanf(file, "%1023s %d %d %lld %lld %lld %d %d %d %d %d", name, &r->registers,
               &r->max_threads, &static_shared, &local, &spills, &code->instructions, &code->loads,
               &code->in_flight, &code->shared_quads, &code->shared_pairs) != 11)
      break;
    r->static_shared = static_shared, r->local_bytes = local, r->spill_bytes = spills;
    out->entries[out->entry_count++] = require_memory(strdup(name));
  }
  long begin = ftell(file), length = fseek(file, 0, SEEK_END) ? -1 : ftell(file) - begin;
  bool whole = out->entry_count == entries && length > 0 && fseek(file, begin, SEEK_SET) == 0;
  if (whole) out->ptx = require_memory(calloc(1, (size_t)length + 1));
  whole = whole && fread(out->ptx, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  return whole;
}

static void keep(const char *path, const struct compiled *compiled) {
  FILE *file = fopen(path, "w");
  if (!file) return;
  for (size_t i = 0; i < compiled->entry_count; i++) {
    const struct kernel_resources *r = &compiled->resources[i];
    const struct sass_facts *code = &compiled->code[i];
    fprintf(file, "%s %d %d %lld %lld %lld %d %d %d %d %d\n", compiled->entries[i], r->registers,
            r->max_threads, (long long)r->static_shared, (long long)r->local_bytes,
            (long long)r->spill_bytes, code->instructions, code->loads, code->in_flight,
            code->shared_quads, code->shared_pairs);
  }
  fputs(compiled->ptx, file);
  fclose(file);
}

/* ---- Predicting ----------------------------------------------------------------------------- */

static int get_compiled(const struct work *w, const struct kernel_spec *spec, struct compiled *out,
                        cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct text path = {0};
  const struct compile_request request = {.toolkit = w->kernel->lookup.lib->toolkit,
                                          .name = spec->variant,
                                          .source = spec->source,
                                          .options = spec->options,
                                          .arch = w->kernel->lookup.arch,
                                          .entries = entries,
                                          .entry_count = plan_entries(spec, entries),
                                          .keep_ptx = true};
  *out = (struct compiled){0};
  if (w->folder) name_file(w, spec, &path);
  bool kept = w->folder && load_kept(text_get(&path), request.entry_count, out);
  if (!kept) compiled_free(out);
  int status = kept ? CUGEN_OK : w->kernel->lookup.ops->compile(&request, out, err);
  if (!status && !kept && w->folder) keep(text_get(&path), out);
  text_free(&path);
  return status;
}

static bool same_kernel(const struct compiled *compiled, int registers) {
  bool same = false;
  for (size_t i = 0; i < compiled->entry_count; i++)
    same |= compiled->resources[i].registers == registers;
  return same;
}

static void predict(const struct work *w, struct row *row) {
  struct compiled compiled;
  cugen_error err;
  int status = get_compiled(w, &row->spec, &compiled, &err);
  if (!status && !same_kernel(&compiled, row->registers))
    status = error_set(&err, CUGEN_ERROR_CACHE, "another kernel than the one that was measured");
  if (!status)
    status = model_predict(&w->kernel->lookup.device, &row->spec, &compiled, 0, &row->parts, &err);
  if (!status) row->predicted = row->parts.seconds;
  if (status) fprintf(stderr, "%s: %s\n", row->spec.variant, err.message);
  compiled_free(&compiled);
}

static void *run_thread(void *argument) {
  struct work *w = argument;
  for (;;) {
    pthread_mutex_lock(&w->mutex);
    size_t at = w->next++;
    pthread_mutex_unlock(&w->mutex);
    if (at >= w->count) return NULL;
    predict(w, &w->rows[at]);
  }
}

static void predict_all(struct work *w) {
  pthread_t threads[MOST_THREADS];
  int count = cpu_count() < MOST_THREADS ? cpu_count() : MOST_THREADS, started = 0;
  pthread_mutex_init(&w->mutex, NULL);
  while (started < count && pthread_create(&threads[started], NULL, run_thread, w) == 0) started++;
  if (!started) run_thread(w);
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&w->mutex);
}

/* ---- Judging -------------------------------------------------------------------------------- */

/* Ranks the values; equal values share the mean of their ranks. */
static void rank(const double *values, size_t count, double *out) {
  for (size_t i = 0; i < count; i++) {
    double below = 0, same = 0;
    for (size_t j = 0; j < count; j++)
      below += values[j] < values[i], same += values[j] == values[i];
    out[i] = below + (same - 1) / 2;
  }
}

static double correlation(const double *x, const double *y, size_t count) {
  double mean = (double)(count - 1) / 2, xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < count; i++) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static double spearman(const struct row *rows, size_t count) {
  double *all = require_memory(calloc(4 * count, sizeof *all));
  double *measured = all, *predicted = all + count, *x = all + 2 * count, *y = all + 3 * count;
  for (size_t i = 0; i < count; i++)
    measured[i] = rows[i].measured, predicted[i] = rows[i].predicted;
  rank(measured, count, x);
  rank(predicted, count, y);
  double rho = correlation(x, y, count);
  free(all);
  return rho;
}

/* ---- Searching ------------------------------------------------------------------------------ */

enum { MOST_SPANS = 64 };

/* The rows in the config's order, which strategies see, and where the model's order begins. */
struct searched {
  struct row *rows;
  size_t count, span_count;
  double best;
  struct strategy_span spans[MOST_SPANS]; /* implementations */
  uint64_t *by_model;
};

static void find_spans(struct searched *s) {
  s->span_count = 0;
  for (size_t i = 0; i < s->count; i++) {
    const char *variant = s->rows[i].spec.variant, *before = i ? s->rows[i - 1].spec.variant : "";
    size_t length = strcspn(variant, " ") + 1;
    if ((!i || strncmp(variant, before, length) != 0) && s->span_count < MOST_SPANS)
      s->spans[s->span_count++] = (struct strategy_span){i, 0};
    s->spans[s->span_count - 1].count++;
  }
}

/* Counts the words that differ. Two variants are neighbours if one word differs, of a tunable of
   the same implementation. */
static size_t differences(const char *a, const char *b) {
  size_t count = 0;
  for (;;) {
    size_t m = strcspn(a, " "), n = strcspn(b, " ");
    count += m != n || strncmp(a, b, m) != 0;
    a += m, b += n;
    if (!*a || !*b || count > 1) return count + (*a != *b);
    a++, b++;
  }
}

static size_t find_neighbours(const void *context, uint64_t index, uint64_t *out) {
  const struct searched *s = context;
  const char *variant = s->rows[index].spec.variant;
  size_t count = 0;
  for (size_t i = 0; i < s->count; i++)
    if (i != index && differences(variant, s->rows[i].spec.variant) == 1) out[count++] = i;
  return count;
}

/* Returns the tries until one is within 5 % of the best. The strategy hears of a result when
   LATENCY more variants have been asked for. */
static double tries(const struct searched *s, const char *name, size_t firsts, uint64_t seed) {
  const struct strategy_space space = {.spans = s->spans,
                                       .span_count = s->span_count,
                                       .seed = seed,
                                       .firsts = s->by_model,
                                       .first_count = firsts,
                                       .neighbours = find_neighbours,
                                       .max_neighbours = s->count,
                                       .context = s};
  const struct strategy_ops *ops;
  uint64_t ahead[LATENCY + 1], index;
  size_t given = 0, tried = 0;
  double best = INFINITY;
  require(strategy_find(name, &ops, NULL), NULL);
  struct strategy *strategy = require_memory(ops->open(&space));
  while (best > 1.05 * s->best) {
    while (given - tried <= LATENCY && ops->next(strategy, &index))
      ahead[given++ % (LATENCY + 1)] = index;
    if (tried == given) break;
    index = ahead[tried++ % (LATENCY + 1)];
    ops->report(strategy, index, s->rows[index].measured, 0);
    best = fmin(best, s->rows[index].measured);
  }
  ops->close(strategy);
  return (double)tried;
}

static double model_tries(const struct searched *s) {
  size_t tried = 0;
  while (s->rows[s->by_model[tried]].measured > 1.05 * s->best) tried++;
  return (double)(tried + 1);
}

static double median_tries(const struct searched *s, const char *name, size_t firsts) {
  double all[SEEDS];
  for (int seed = 0; seed < SEEDS; seed++) all[seed] = tries(s, name, firsts, (uint64_t)seed);
  return median(all, SEEDS);
}

/* Takes the model's order of some variants that are drawn at random, which a tuning run could do
   at the cost of compiling them. */
static size_t draw(const struct searched *s, uint64_t seed, uint64_t *out) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  size_t taken = 0;
  bool *drawn = require_memory(calloc(s->count, sizeof *drawn));
  for (size_t left = s->count < DRAWN ? s->count : DRAWN; left;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t at = (size_t)((state >> 33) % s->count);
    left -= !drawn[at];
    drawn[at] = true;
  }
  for (size_t i = 0; i < s->count && taken < FIRSTS; i++)
    if (drawn[s->by_model[i]]) out[taken++] = s->by_model[i];
  free(drawn);
  return taken;
}

static double drawn_tries(const struct searched *s) {
  uint64_t order[FIRSTS];
  struct searched some = *s;
  double all[SEEDS];
  some.by_model = order;
  for (int seed = 0; seed < SEEDS; seed++) {
    size_t firsts = draw(s, (uint64_t)seed + 1, order);
    all[seed] = tries(&some, "local", firsts, (uint64_t)seed);
  }
  return median(all, SEEDS);
}

/* ---- Verdicts ------------------------------------------------------------------------------- */

struct verdicts {
  size_t count, left_out;
  double rho, regret, error;                    /* error: median of predicted by measured */
  double model, random, local, informed, drawn; /* tries until one is within 5 % of the best */
};

static int by_place(const void *a, const void *b) {
  uint64_t x = ((const struct row *)a)->place, y = ((const struct row *)b)->place;
  return (x > y) - (x < y);
}

/* Returns the model's order as places among the rows. */
static uint64_t *order_by_model(const struct row *rows, size_t count) {
  uint64_t *order = require_memory(calloc(count + 1, sizeof *order));
  for (size_t i = 0; i < count; i++) {
    size_t at = i;
    for (; at && rows[order[at - 1]].predicted > rows[i].predicted; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

static struct verdicts judge(struct row *rows, size_t count) {
  struct verdicts out = {.count = count};
  struct searched s = {.rows = rows, .count = count, .best = INFINITY};
  double *ratios = require_memory(calloc(count, sizeof *ratios));
  qsort(rows, count, sizeof *rows, by_place);
  for (size_t i = 0; i < count; i++) {
    ratios[i] = rows[i].predicted / rows[i].measured;
    s.best = fmin(s.best, rows[i].measured);
  }
  s.by_model = order_by_model(rows, count);
  find_spans(&s);
  out.rho = spearman(rows, count);
  out.regret = rows[s.by_model[0]].measured / s.best;
  out.model = model_tries(&s);
  out.random = median_tries(&s, "random", 0);
  out.local = median_tries(&s, "local", 0);
  out.informed = median_tries(&s, "local", count < FIRSTS ? count : FIRSTS);
  out.drawn = drawn_tries(&s);
  out.error = median(ratios, count);
  free(ratios), free(s.by_model);
  return out;
}

static void print_judgement(const char *config, const char *what, const struct verdicts *j) {
  printf("%-10s %-44.44s %5zu %7.3f %7.3f %7.2f %7.1f %7.1f %7.1f %7.1f %7.1f\n", config, what,
         j->count, j->rho, j->regret, j->error, j->model, j->random, j->local, j->informed,
         j->drawn);
  fflush(stdout);
}

static void write_lines(const struct work *w) {
  struct text path = {0};
  text_addf(&path, "%s/LINES.txt", w->folder);
  FILE *file = fopen(text_get(&path), "a");
  text_free(&path);
  for (size_t i = 0; file && i < w->count; i++) {
    const struct row *r = &w->rows[i];
    fprintf(file, "%s|%s|%s|%.4g|%.4g", w->kernel->lookup.config->name,
            text_get(&w->kernel->lookup.problem_text), r->spec.variant, 1e6 * r->measured,
            1e6 * r->predicted);
    for (int p = 0; p < MODEL_PARTS; p++)
      fprintf(file, "|%s %.4g", model_part_names[p], 1e6 * r->parts.launches[0].parts[p]);
    fputc('\n', file);
  }
  if (file) fclose(file);
}

/* ---- Residuals ------------------------------------------------------------------------------ */

/* Returns ln(predicted / measured) minus its median over the problem. */
static double *residuals_of(const struct row *rows, size_t count) {
  double *all = require_memory(calloc(2 * count + 1, sizeof *all));
  for (size_t i = 0; i < count; i++)
    all[i] = all[count + i] = log(rows[i].predicted / rows[i].measured);
  double middle = median(all + count, count);
  for (size_t i = 0; i < count; i++) all[i] -= middle;
  return all;
}

/* Returns whether the variant is of the implementation that `of` begins with, and has that word. */
static bool has_word(const char *variant, const char *of, const char *word, size_t length) {
  size_t head = strcspn(of, " ") + 1;
  if (strncmp(variant, of, head) != 0) return false;
  for (const char *at = variant; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
    if (strcspn(at, " ") == length && strncmp(at, word, length) == 0) return true;
  return false;
}

/* Writes a line for the word, unless an earlier row has it: how many variants have it, and mean,
   least and greatest of their residuals. */
static void write_word(FILE *file, const struct work *w, const double *residuals, size_t row,
                       const char *word) {
  const char *variant = w->rows[row].spec.variant;
  size_t length = strcspn(word, " "), count = 0;
  double sum = 0, least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < w->count; i++) {
    if (!has_word(w->rows[i].spec.variant, variant, word, length)) continue;
    if (i < row) return;
    count++, sum += residuals[i];
    least = fmin(least, residuals[i]), most = fmax(most, residuals[i]);
  }
  fprintf(file, "  %-12.*s %-28.*s %4zu  mean %+5.2f  %+5.2f to %+5.2f\n",
          (int)strcspn(variant, " "), variant, (int)length, word, count, sum / (double)count, least,
          most);
}

static void write_residuals(const struct work *w) {
  struct text path = {0};
  text_addf(&path, "%s/RESIDUALS.txt", w->folder);
  FILE *file = w->count ? fopen(text_get(&path), "a") : NULL;
  text_free(&path);
  if (!file) return;
  double *residuals = residuals_of(w->rows, w->count);
  fprintf(file, "%s %s: %zu variants\n", w->kernel->lookup.config->name,
          text_get(&w->kernel->lookup.problem_text), w->count);
  for (size_t i = 0; i < w->count; i++)
    for (const char *at = w->rows[i].spec.variant; at;
         at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
      write_word(file, w, residuals, i, at);
  free(residuals);
  fclose(file);
}

/* ---- One problem ---------------------------------------------------------------------------- */

/* exact: adds only records of exactly this source. */
static bool add_row(cugen_kernel *k, const struct cache_record *record, bool exact,
                    struct row *out) {
  uint64_t index;
  cugen_error err;
  *out = (struct row){.measured = record->seconds, .registers = record->resources.registers};
  if (record->outcome != CUGEN_OUTCOME_OK ||
      space_find(k->lookup.space, record->variant, &index, &err))
    return false;
  out->place = index;
  if (lookup_expand(&k->lookup, index, &out->spec, &err)) return false;
  if (!exact || strcmp(out->spec.source_hash.hex, record->source_hash.hex) == 0) return true;
  kernel_spec_free(&out->spec);
  return false;
}

/* The records of one problem, and the results for them. */
struct recorded {
  const char *database, *folder; /* folder NULL: nothing is written */
  const struct cache_space *space;
  struct cache_record *records;
  bool *taken;
  size_t count, kept;
  struct row *rows;
};

/* Predicts the records whose source is that of this kernel's config. */
static void predict_some(cugen_kernel *k, struct recorded *r, bool exact) {
  struct work w = {.kernel = k, .folder = r->folder, .rows = r->rows + r->kept};
  size_t kept = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (r->taken[i]) continue;
    r->taken[i] = add_row(k, &r->records[i], exact, &w.rows[w.count]);
    w.count += r->taken[i];
  }
  predict_all(&w);
  for (size_t i = 0; i < w.count; i++)
    if (w.rows[i].predicted > 0)
      w.rows[kept++] = w.rows[i];
    else
      kernel_spec_free(&w.rows[i].spec);
  w.count = kept;
  if (r->folder) write_lines(&w), write_residuals(&w);
  r->kept += kept;
}

/* Cuts the text of a problem, "M=4 N=8", into its settings, in place. */
static size_t cut_settings(char *text, const char **out, size_t most) {
  size_t count = 0;
  for (char *at = strtok(text, " "); at && count < most; at = strtok(NULL, " ")) out[count++] = at;
  return count;
}

/* Predicts with the config and the templates of a tree; NULL: the shipped ones. A config that
   cannot be opened gives no predictions. */
static void open_and_predict(struct recorded *r, const char *tree, bool exact) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  const char *settings[KERNEL_MAX_ARGUMENTS];
  struct text templates = {0}, config = {0};
  cugen_error err;
  cugen *lib;
  cugen_kernel *k;
  text_addf(&templates, "%s/templates", tree ? tree : "");
  text_addf(&config, tree ? "%s/configs/%s.lua" : "%s%s", tree ? tree : "", r->space->config);
  options.device = r->space->device, options.cache = r->database;
  if (tree) options.template_dir = text_get(&templates);
  char *text = require_memory(strdup(r->space->problem));
  size_t setting_count = cut_settings(text, settings, KERNEL_MAX_ARGUMENTS);
  require(cugen_open(&options, &lib, &err), &err);
  if (cugen_kernel_open(lib, text_get(&config), settings, setting_count, &k, &err) == CUGEN_OK) {
    int status = api_kernel_use_predictions(k, &err);
    if (!status) status = lookup_space(&k->lookup, &err);
    if (!status) status = lookup_expander(&k->lookup, &err);
    if (!status) predict_some(k, r, exact);
    cugen_kernel_close(k);
  }
  cugen_close(lib);
  free(text);
  text_free(&templates), text_free(&config);
}

static struct verdicts look_at(const char *database, const struct cache_space *space,
                               struct cache *cache, const char *trees, const char *folder) {
  struct recorded r = {.database = database, .folder = folder, .space = space};
  struct verdicts out = {0};
  struct text tree = {0};
  cugen_error err;
  const struct cache_key key = {
      space->device, space->config, space->problem, space->options, NULL, NULL, 0};
  require(cache_load(cache, &key, &r.records, &r.count, &err), &err);
  r.rows = require_memory(calloc(r.count + 1, sizeof *r.rows));
  r.taken = require_memory(calloc(r.count + 1, sizeof *r.taken));
  open_and_predict(&r, NULL, true);
  for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++) {
    size_t before = r.kept;
    text_clear(&tree);
    text_addf(&tree, "%s/%s", trees, revisions[i]);
    if (file_exists(text_get(&tree))) open_and_predict(&r, text_get(&tree), true);
    for (size_t row = before; row < r.kept; row++) r.rows[row].place += (i + 1) << 48;
  }
  open_and_predict(&r, NULL, false);
  if (r.kept >= FEWEST) out = judge(r.rows, r.kept);
  out.left_out = r.count - r.kept;
  for (size_t i = 0; i < r.kept; i++) kernel_spec_free(&r.rows[i].spec);
  for (size_t i = 0; i < r.count; i++) cache_record_free(&r.records[i]);
  text_free(&tree);
  free(r.taken), free(r.rows), free(r.records);
  return out;
}

/* Adds a problem to its family: means are weighted by the number of variants; the worst regret
   counts. */
static void add_up(struct verdicts *sum, const struct verdicts *one) {
  double before = (double)sum->count, now = (double)one->count, all = before + now;
  const double from[] = {one->rho,   one->error,    one->model, one->random,
                         one->local, one->informed, one->drawn};
  double *const to[] = {&sum->rho,   &sum->error,    &sum->model, &sum->random,
                        &sum->local, &sum->informed, &sum->drawn};
  for (size_t i = 0; i < sizeof to / sizeof *to; i++)
    *to[i] = (*to[i] * before + from[i] * now) / all;
  sum->regret = fmax(sum->regret, one->regret);
  sum->count += one->count;
}

/* Names the family. matmul is divided by the type of its operands, which use other units and
   implementations. */
static void name_family(const struct cache_space *space, struct text *out) {
  const char *type = strcmp(space->config, "matmul") == 0 ? strstr(space->problem, "dtype=") : NULL;
  text_clear(out);
  text_add(out, space->config);
  if (type) text_addf(out, " %.*s", (int)strcspn(type + 6, " "), type + 6);
}

static int by_family(const void *a, const void *b) {
  struct text x = {0}, y = {0};
  name_family(a, &x), name_family(b, &y);
  int order = strcmp(text_get(&x), text_get(&y));
  text_free(&x), text_free(&y);
  return order ? order
               : strcmp(((const struct cache_space *)a)->problem,
                        ((const struct cache_space *)b)->problem);
}

static void look_at_all(const char *database, const char *trees, const char *folder,
                        const char *config) {
  struct cache *cache;
  struct cache_space *spaces;
  struct verdicts family = {0};
  struct text name = {0}, next = {0};
  size_t count, left_out = 0;
  cugen_error err;
  require(cache_open(database, &cache, NULL, &err), &err);
  require(cache_spaces(cache, &spaces, &count, &err), &err);
  if (count) qsort(spaces, count, sizeof *spaces, by_family);
  printf("%-10s %-44s %5s %7s %7s %7s %7s %7s %7s %7s %7s\n", "kernel", "problem", "n", "rho",
         "regret", "ratio", "model", "random", "local", "both", "drawn");
  for (size_t i = 0; i < count; i++) {
    bool wanted = !config || strcmp(config, spaces[i].config) == 0;
    name_family(&spaces[i], &name);
    if (wanted && spaces[i].records >= FEWEST && strncmp(spaces[i].options, "arch ", 5) == 0) {
      struct verdicts one = look_at(database, &spaces[i], cache, trees, folder);
      if (one.count)
        print_judgement(spaces[i].config, spaces[i].problem, &one), add_up(&family, &one);
      left_out += one.left_out;
    }
    if (i + 1 < count) name_family(&spaces[i + 1], &next);
    if (i + 1 < count && strcmp(text_get(&name), text_get(&next)) == 0) continue;
    if (family.count) print_judgement(text_get(&name), "all of them; the worst regret", &family);
    family = (struct verdicts){0};
  }
  printf("%zu records were left out: their source is neither here nor in the revisions.\n",
         left_out);
  cache_spaces_free(spaces, count);
  cache_close(cache);
  text_free(&name), text_free(&next);
}

/* ---- What was measured ---------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end) {
  return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static void read_wisdom(const char *path, struct text *out) {
  struct text command = {0};
  char part[65536];
  text_addf(&command, ends_in(path, ".xz") ? "xz -dc '%s'" : "cat '%s'", path);
  FILE *pipe = popen(text_get(&command), "r");
  for (size_t n; pipe && (n = fread(part, 1, sizeof part, pipe)) > 0;) text_add_n(out, part, n);
  if (!pipe || pclose(pipe) || out->failed) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  text_free(&command);
}

/* Imports the wisdom into a cache of this run. */
static void import(const char *path, const char *database) {
  struct text wisdom = {0};
  cugen_cache_merged merged;
  struct cache *cache;
  cugen_error err;
  read_wisdom(path, &wisdom);
  require(cache_open(database, &cache, NULL, &err), &err);
  require(wisdom_import(cache, path, text_get(&wisdom), wisdom.length, &merged, &err), &err);
  cache_close(cache);
  text_free(&wisdom);
}

/* Checks out the configs and templates of each revision into trees/REVISION. */
static void check_out(const char *trees) {
  struct text command = {0};
  for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++) {
    text_clear(&command);
    text_addf(&command, "mkdir '%s/%s' && git archive %s configs templates | tar x -C '%s/%s'",
              trees, revisions[i], revisions[i], trees, revisions[i]);
    if (system(text_get(&command))) fprintf(stderr, "revision %s is not here\n", revisions[i]);
  }
  text_free(&command);
}

static void remove_folder(const char *folder) {
  struct text command = {0};
  text_addf(&command, "rm -r '%s'", folder);
  if (system(text_get(&command))) fprintf(stderr, "%s is left behind\n", folder);
  text_free(&command);
}

int main(int argc, char **argv) {
  const char *records = argc > 1 ? argv[1] : recorded, *folder = argc > 2 ? argv[2] : NULL;
  char made[] = "/tmp/bench_model_XXXXXX";
  struct text database = {0};
  if (argc > 4) return fprintf(stderr, "bench_model [RECORDS [FOLDER [CONFIG]]]\n"), 2;
  bool is_wisdom = ends_in(records, ".xz") || strstr(records, ".wisdom");
  if (!mkdtemp(made)) return perror(made), 1;
  text_addf(&database, is_wisdom ? "%s/records.db" : "%s", is_wisdom ? made : records);
  if (is_wisdom) import(records, text_get(&database));
  check_out(made);
  look_at_all(text_get(&database), made, folder, argc > 3 ? argv[3] : NULL);
  remove_folder(made);
  text_free(&database);
  return 0;
}
