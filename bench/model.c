/* Benchmark: how well the model ranks. For every problem that a cache holds measurements of, on a device that is described:
   the rank correlation (Spearman) of predicted and measured times, the regret of the model's first choice, and how many
   variants are tried until one is within 5 % of the best, in the model's order and, on average, in a random one. Nothing
   runs on a GPU; each variant is compiled.
   bench_model DATABASE [FOLDER [CONFIG]]
   FOLDER keeps what was compiled, so that the next run only predicts; there it also writes LINES.txt, a line a variant. */
#include <pthread.h>

#include "common.h"
#include "runtime/plan.h"
#include "tune/model.h"

enum { FEWEST = 30, MOST_THREADS = 64 };

struct row {
  struct kernel_spec spec;
  double measured, predicted; /* predicted 0: not possible */
  struct model_prediction parts;
};

struct work {
  cugen_kernel *kernel;
  const char *folder; /* NULL: nothing is kept */
  struct row *rows;
  size_t count, next;
  pthread_mutex_t mutex;
};

/* ---- What is kept ------------------------------------------------------------------------------------------------- */

static void name_file(const struct work *w, const struct kernel_spec *spec, struct text *out) {
  text_addf(out, "%s/%s-%s", w->folder, w->kernel->arch, spec->source_hash.hex);
}

static bool load_kept(const char *path, size_t entries, struct compiled *out) {
  FILE *file = fopen(path, "r");
  char name[1024];
  long long static_shared, local, spills;
  if (!file) return false;
  for (size_t i = 0; i < entries; i++) {
    struct kernel_resources *r = &out->resources[i];
    if (fscanf(file, "%1023s %d %d %lld %lld %lld", name, &r->registers, &r->max_threads, &static_shared, &local,
               &spills) != 6)
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
    fprintf(file, "%s %d %d %lld %lld %lld\n", compiled->entries[i], r->registers, r->max_threads,
            (long long)r->static_shared, (long long)r->local_bytes, (long long)r->spill_bytes);
  }
  fputs(compiled->ptx, file);
  fclose(file);
}

/* ---- Predicting --------------------------------------------------------------------------------------------------- */

static int get_compiled(const struct work *w, const struct kernel_spec *spec, struct compiled *out,
                        cugen_error *err) {
  const char *entries[KERNEL_MAX_LAUNCHES];
  struct text path = {0};
  const struct compile_request request = {.toolkit = w->kernel->lib->toolkit,
                                          .name = spec->variant,
                                          .source = spec->source,
                                          .arch = w->kernel->arch,
                                          .entries = entries,
                                          .entry_count = plan_entries(spec, entries),
                                          .keep_ptx = true};
  *out = (struct compiled){0};
  if (w->folder) name_file(w, spec, &path);
  bool kept = w->folder && load_kept(text_get(&path), request.entry_count, out);
  if (!kept) compiled_free(out);
  int status = kept ? CUGEN_OK : w->kernel->ops->compile(&request, out, err);
  if (!status && !kept && w->folder) keep(text_get(&path), out);
  text_free(&path);
  return status;
}

static void predict(const struct work *w, struct row *row) {
  struct compiled compiled;
  cugen_error err;
  int status = get_compiled(w, &row->spec, &compiled, &err);
  if (!status) status = model_predict(&w->kernel->device, &row->spec, &compiled, &row->parts, &err);
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

/* ---- Judging ------------------------------------------------------------------------------------------------------ */

static int by_measured(const void *a, const void *b) {
  return compare_doubles(&((const struct row *)a)->measured, &((const struct row *)b)->measured);
}

static int by_predicted(const void *a, const void *b) {
  return compare_doubles(&((const struct row *)a)->predicted, &((const struct row *)b)->predicted);
}

/* Equal values share the mean of their ranks. */
static void rank(const double *values, size_t count, double *out) {
  for (size_t i = 0; i < count; i++) {
    double below = 0, same = 0;
    for (size_t j = 0; j < count; j++) below += values[j] < values[i], same += values[j] == values[i];
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
  for (size_t i = 0; i < count; i++) measured[i] = rows[i].measured, predicted[i] = rows[i].predicted;
  rank(measured, count, x);
  rank(predicted, count, y);
  double rho = correlation(x, y, count);
  free(all);
  return rho;
}

struct verdicts {
  size_t count;
  double rho, regret;
  double tried, tried_random; /* until one is within 5 % of the best */
  double error;               /* median of predicted by measured */
};

static struct verdicts judge(struct row *rows, size_t count) {
  struct verdicts out = {.count = count};
  double *ratios = require_memory(calloc(count, sizeof *ratios));
  out.rho = spearman(rows, count);
  qsort(rows, count, sizeof *rows, by_measured);
  double best = rows[0].measured;
  size_t good = 0, first = 0;
  for (size_t i = 0; i < count; i++) ratios[i] = rows[i].predicted / rows[i].measured;
  while (good < count && rows[good].measured <= 1.05 * best) good++;
  qsort(rows, count, sizeof *rows, by_predicted);
  while (rows[first].measured > 1.05 * best) first++;
  out.regret = rows[0].measured / best;
  out.tried = (double)(first + 1);
  out.tried_random = ((double)count + 1) / ((double)good + 1);
  out.error = median(ratios, count);
  free(ratios);
  return out;
}

static void print_judgement(const char *config, const char *what, const struct verdicts *j) {
  printf("%-10s %-44.44s %5zu %7.3f %7.3f %7.0f %7.0f %7.2f\n", config, what, j->count, j->rho, j->regret, j->tried,
         j->tried_random, j->error);
  fflush(stdout);
}

static void write_lines(const struct work *w) {
  struct text path = {0};
  text_addf(&path, "%s/LINES.txt", w->folder);
  FILE *file = fopen(text_get(&path), "a");
  text_free(&path);
  for (size_t i = 0; file && i < w->count; i++) {
    const struct row *r = &w->rows[i];
    fprintf(file, "%s|%s|%s|%.4g|%.4g", w->kernel->config->name, text_get(&w->kernel->problem_text), r->spec.variant,
            1e6 * r->measured, 1e6 * r->predicted);
    for (int p = 0; p < MODEL_PARTS; p++)
      fprintf(file, "|%s %.4g", model_part_names[p], 1e6 * r->parts.launches[0].parts[p]);
    fputc('\n', file);
  }
  if (file) fclose(file);
}

/* ---- One problem -------------------------------------------------------------------------------------------------- */

static bool add_row(cugen_kernel *k, const struct cache_record *record, struct row *out) {
  struct variant variant;
  uint64_t index;
  cugen_error err;
  *out = (struct row){.measured = record->seconds};
  if (record->outcome != CUGEN_OUTCOME_OK || space_find(k->space, record->variant, &index, &err)) return false;
  space_variant(k->space, index, &variant, k->values);
  return expand_variant(k->expander, k->config, &k->problem, &k->device.facts, &variant, &out->spec, &err) ==
         CUGEN_OK;
}

static struct verdicts look_at(cugen_kernel *k, struct cache *cache, const struct cache_space *space,
                               const char *folder) {
  struct cache_record *records;
  struct verdicts out = {0};
  size_t count;
  cugen_error err;
  const struct cache_key key = {space->device, space->config, space->problem, space->options};
  require(cache_load(cache, &key, &records, &count, &err), &err);
  struct work w = {.kernel = k, .folder = folder, .rows = require_memory(calloc(count + 1, sizeof *w.rows))};
  for (size_t i = 0; i < count; i++) w.count += add_row(k, &records[i], &w.rows[w.count]);
  predict_all(&w);
  size_t kept = 0;
  for (size_t i = 0; i < w.count; i++)
    if (w.rows[i].predicted > 0) w.rows[kept++] = w.rows[i];
  w.count = kept;
  if (folder) write_lines(&w);
  if (kept >= FEWEST) out = judge(w.rows, kept);
  for (size_t i = 0; i < kept; i++) kernel_spec_free(&w.rows[i].spec);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(w.rows);
  free(records);
  return out;
}

/* The settings of a problem's text: "M=4 N=8" in place, cut at the spaces. */
static size_t cut_settings(char *text, const char **out, size_t most) {
  size_t count = 0;
  for (char *at = strtok(text, " "); at && count < most; at = strtok(NULL, " ")) out[count++] = at;
  return count;
}

static struct verdicts open_and_look(const char *database, const struct cache_space *space, struct cache *cache,
                                     const char *folder) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  const char *settings[KERNEL_MAX_ARGUMENTS];
  struct verdicts out = {0};
  cugen_error err;
  cugen *lib;
  cugen_kernel *k;
  options.device = space->device, options.cache = database;
  char *text = require_memory(strdup(space->problem));
  size_t count = cut_settings(text, settings, KERNEL_MAX_ARGUMENTS);
  require(cugen_open(&options, &lib, &err), &err);
  if (cugen_kernel_open(lib, space->config, settings, count, &k, &err) == CUGEN_OK) {
    int status = cugen_kernel_use_predictions(k, &err);
    if (!status) status = api_space(k, &err);
    if (!status) status = api_expander(k, &err);
    if (!status) out = look_at(k, cache, space, folder);
    cugen_kernel_close(k);
  }
  cugen_close(lib);
  free(text);
  return out;
}

/* Of a family's problems: means weighted by their variants; the worst regret. */
static void add_up(struct verdicts *sum, const struct verdicts *one) {
  double before = (double)sum->count, now = (double)one->count, all = before + now;
  sum->rho = (sum->rho * before + one->rho * now) / all;
  sum->tried = (sum->tried * before + one->tried * now) / all;
  sum->tried_random = (sum->tried_random * before + one->tried_random * now) / all;
  sum->error = (sum->error * before + one->error * now) / all;
  sum->regret = fmax(sum->regret, one->regret);
  sum->count += one->count;
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "bench_model DATABASE [FOLDER [CONFIG]]\n"), 2;
  struct cache *cache;
  struct cache_space *spaces;
  size_t count;
  cugen_error err;
  struct verdicts family = {0};
  const char *folder = argc > 2 ? argv[2] : NULL;
  require(cache_open(argv[1], &cache, NULL, &err), &err);
  require(cache_spaces(cache, &spaces, &count, &err), &err);
  printf("%-10s %-44s %5s %7s %7s %7s %7s %7s\n", "kernel", "problem", "n", "rho", "regret", "tried", "random",
         "ratio");
  for (size_t i = 0; i < count; i++) {
    bool wanted = argc < 4 || strcmp(argv[3], spaces[i].config) == 0;
    if (wanted && spaces[i].records >= FEWEST && strncmp(spaces[i].options, "arch ", 5) == 0) {
      struct verdicts one = open_and_look(argv[1], &spaces[i], cache, folder);
      if (one.count) print_judgement(spaces[i].config, spaces[i].problem, &one), add_up(&family, &one);
    }
    if (i + 1 < count && strcmp(spaces[i].config, spaces[i + 1].config) == 0) continue;
    if (family.count) print_judgement(spaces[i].config, "all of them; the worst regret", &family);
    family = (struct verdicts){0};
  }
  cache_spaces_free(spaces, count);
  cache_close(cache);
  return 0;
}
