/* The records of many problems of one kernel as a matrix; see portfolio.h. The matrix is sparse,
   because the search of each problem tried its own variants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "portfolio.h"

/* ---- Problems that have records -------------------------------------------------------------- */

struct reading {
  const struct config *config;
  struct portfolio_problems *out;
};

/* Reads one problem. A problem that the config no longer has is skipped. */
static int read_one(void *context, const char *text, cugen_error *err) {
  struct reading *reading = context;
  struct portfolio_problems *out = reading->out;
  struct problem problem;
  bool known;
  int status = api_read_problem(reading->config, text, &problem, &known, err);
  if (status || !known) return status;
  if (!ARRAY_ROOM(out->all, out->count)) {
    problem_free(&problem);
    return error_memory(err);
  }
  out->all[out->count++] = problem;
  return CUGEN_OK;
}

int portfolio_problems_open(const struct lookup *l, struct portfolio_problems *out,
                            cugen_error *err) {
  const struct cache_key key = lookup_key(l);
  struct reading reading = {l->config, out};
  struct cache *cache;
  *out = (struct portfolio_problems){0};
  int status = api_cache_to_read(l->lib, &cache, err);
  return status ? status : cache_problems(cache, &key, read_one, &reading, err);
}

void portfolio_problems_free(struct portfolio_problems *problems) {
  for (size_t i = 0; i < problems->count; i++) problem_free(&problems->all[i]);
  free(problems->all);
  *problems = (struct portfolio_problems){0};
}

/* ---- Records -------------------------------------------------------------------------------- */

/* An entry whose variant has no number yet. */
struct loose {
  char *variant;
  struct portfolio_entry entry;
};

struct loose_list {
  struct loose *all;
  size_t count;
};

static int add_loose(struct loose_list *list, size_t problem, struct cache_record *record,
                     const struct objective *objective, cugen_error *err) {
  const bool right = record->outcome == CUGEN_OUTCOME_OK;
  if (!ARRAY_ROOM(list->all, list->count)) return error_memory(err);
  list->all[list->count++] =
      (struct loose){record->variant,
                     {.problem = problem,
                      .cost = right ? cache_record_cost(record, objective) : (double)NAN,
                      .seconds = right ? record->seconds : (double)NAN,
                      .source = record->source_hash,
                      .lacks = record->lacks}};
  record->variant = NULL; /* taken over */
  return CUGEN_OK;
}

static bool is_valid(const struct lookup *l, const char *variant) {
  uint64_t index;
  cugen_error ignored;
  return space_find_brief(l->space, variant, &index, &ignored) == CUGEN_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct cache_record *)a)->variant,
                ((const struct cache_record *)b)->variant);
}

/* Adds the records. Of several records of one variant takes the current ones; if none is current,
   all. Several config files with a kernel of this name may have records of one variant. */
static int add_current(struct lookup *l, size_t problem, struct cache_record *records, size_t count,
                       struct loose_list *list, cugen_error *err) {
  bool any = false;
  int status = count > 1 ? lookup_expander(l, err) : CUGEN_OK;
  for (size_t i = 0; i < count && count > 1 && !status; i++) {
    struct judgement judgement;
    status = api_judge(l, &records[i], &judgement, err);
    if (status || judgement.how != JUDGED_CURRENT) continue;
    any = true;
    status = add_loose(list, problem, &records[i], l->config->objective, err);
  }
  for (size_t i = 0; i < count && !any && !status; i++)
    status = add_loose(list, problem, &records[i], l->config->objective, err);
  return status;
}

static int portfolio_data_load_records(struct lookup *l, size_t problem, struct loose_list *list,
                                       cugen_error *err) {
  const struct cache_key key = lookup_key(l);
  struct cache_record *records;
  size_t count;
  int status = lookup_records(l, &key, &records, &count, err);
  if (!status && l->predicted) status = lookup_expander(l, err);
  if (!status) status = failures_mark(l, records, &count, err);
  if (count) qsort(records, count, sizeof *records, by_name);
  for (size_t i = 0, same; i < count && !status; i += same) {
    for (same = 1; i + same < count && strcmp(records[i].variant, records[i + same].variant) == 0;)
      same++;
    /* A variant that calls a library is left out, because a portfolio also serves on machines
       without the library. */
    const char *variant = records[i].variant;
    if (!config_calls_library(l->config, variant) && (!l->filter || is_valid(l, variant)))
      status = add_current(l, problem, &records[i], same, list, err);
  }
  records_free(records, count);
  return status;
}

int portfolio_open_row(const struct portfolio_data *data, size_t row, const cugen_filter *filter,
                       struct lookup *out, cugen_error *err) {
  int status = lookup_for_problem(data->base, data->rows[row].problem, out, err);
  out->origin = data->base->origin;
  out->filter = filter;
  if (!status && data->base->predicted) status = lookup_use_predictions(out, err);
  return status ? status : lookup_space(out, err);
}

static int load_row(struct portfolio_data *data, size_t problem, struct loose_list *list,
                    cugen_error *err) {
  struct portfolio_row *row = &data->rows[problem];
  struct lookup l = {0};
  struct best_record best = {0};
  int status = portfolio_open_row(data, problem, data->base->filter, &l, err);
  /* The best is the record that a plan for the problem would take. */
  if (!status) status = api_best(&l, &best, err);
  if (!status && best.found) {
    row->best_cost = cache_record_cost(&best.record, l.config->objective);
    row->best_seconds = best.record.seconds;
    row->best = best.record.variant;
    best.record.variant = NULL;
  }
  api_best_free(&best);
  if (!status) status = portfolio_data_load_records(&l, problem, list, err);
  lookup_close(&l);
  return status;
}

/* ---- As a table ----------------------------------------------------------------------------- */

static int portfolio_data_by_text(const void *a, const void *b) {
  return strcmp(((const struct portfolio_row *)a)->text, ((const struct portfolio_row *)b)->text);
}

static int portfolio_data_by_variant(const void *a, const void *b) {
  const struct loose *x = a, *y = b;
  const int order = strcmp(x->variant, y->variant);
  if (order) return order;
  return (x->entry.problem > y->entry.problem) - (x->entry.problem < y->entry.problem);
}

static int portfolio_data_by_place(const void *a, const void *b) {
  const struct portfolio_entry *x = a, *y = b;
  if (x->problem != y->problem) return x->problem < y->problem ? -1 : 1;
  return (x->variant > y->variant) - (x->variant < y->variant);
}

static int make_table(struct portfolio_data *data, struct loose_list *list, cugen_error *err) {
  data->variants = calloc(list->count + 1, sizeof *data->variants);
  data->entries = calloc(list->count + 1, sizeof *data->entries);
  if (!data->variants || !data->entries) return error_memory(err);
  if (list->count) qsort(list->all, list->count, sizeof *list->all, portfolio_data_by_variant);
  for (size_t i = 0; i < list->count; i++) {
    struct loose *loose = &list->all[i];
    const bool same = i && data->variant_count &&
                      strcmp(loose->variant, data->variants[data->variant_count - 1]) == 0;
    if (!same) data->variants[data->variant_count++] = loose->variant, loose->variant = NULL;
    loose->entry.variant = data->variant_count - 1;
    struct portfolio_entry *last = data->entry_count ? &data->entries[data->entry_count - 1] : NULL;
    /* Of several records of one variant and problem, the one with the least cost is kept, or a
       failure. */
    if (!same || !last || last->problem != loose->entry.problem)
      data->entries[data->entry_count++] = loose->entry;
    else if (!isnan(last->cost) && !(loose->entry.cost >= last->cost))
      *last = loose->entry;
    if (!same) continue;
    free(loose->variant);
    loose->variant = NULL;
  }
  if (data->entry_count)
    qsort(data->entries, data->entry_count, sizeof *data->entries, portfolio_data_by_place);
  return CUGEN_OK;
}

int portfolio_data_open(const struct lookup *base, const struct problem *const *problems,
                        size_t count, struct portfolio_data *out, cugen_error *err) {
  struct loose_list list = {0};
  *out = (struct portfolio_data){.base = base, .rows = calloc(count + 1, sizeof *out->rows)};
  int status = out->rows ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < count && !status; i++) {
    struct text text = {0};
    problem_print(base->config, problems[i], &text);
    out->rows[out->row_count++] =
        (struct portfolio_row){.problem = problems[i], .text = text_take(&text)};
    if (!out->rows[i].text) status = error_memory(err);
  }
  if (!status) qsort(out->rows, count, sizeof *out->rows, portfolio_data_by_text);
  for (size_t i = 0; i < out->row_count && !status; i++) status = load_row(out, i, &list, err);
  if (!status) status = make_table(out, &list, err);
  for (size_t i = 0; i < list.count; i++) free(list.all[i].variant);
  free(list.all);
  return status;
}

void portfolio_data_free(struct portfolio_data *data) {
  for (size_t i = 0; i < data->row_count; i++) free(data->rows[i].text), free(data->rows[i].best);
  array_free_texts(data->variants, data->variant_count);
  free(data->rows);
  free(data->entries);
  *data = (struct portfolio_data){0};
}

struct portfolio_entry *portfolio_entry_of(const struct portfolio_data *data, size_t problem,
                                           size_t variant) {
  const struct portfolio_entry wanted = {.problem = problem, .variant = variant};
  if (!data->entry_count) return NULL;
  return bsearch(&wanted, data->entries, data->entry_count, sizeof wanted, portfolio_data_by_place);
}

double portfolio_entry_ratio(const struct portfolio_data *data,
                             const struct portfolio_entry *entry) {
  const double best = data->rows[entry->problem].best_cost;
  if (isnan(entry->cost) || !(best > 0) || isinf(entry->cost)) return NAN;
  return fmax(entry->cost / best, 1);
}

/* ---- Candidates ----------------------------------------------------------------------------- */

/* Which problems have a chosen variant whose cost is at most `ratio` times that of their best. */
struct cover {
  const struct portfolio_data *data;
  double ratio;
  bool *covered; /* by problem */
  size_t *gains; /* by variant: the number of problems that this variant covers and no chosen one
                    does */
  double *sums;  /* by variant: the sum of the ratios for these problems */
  size_t count, most;
  size_t *out;
};

static void count_gains(struct cover *c) {
  memset(c->gains, 0, c->data->variant_count * sizeof *c->gains);
  memset(c->sums, 0, c->data->variant_count * sizeof *c->sums);
  for (size_t i = 0; i < c->data->entry_count; i++) {
    const struct portfolio_entry *entry = &c->data->entries[i];
    const double ratio = portfolio_entry_ratio(c->data, entry);
    if (c->covered[entry->problem] || !(ratio <= c->ratio)) continue;
    c->gains[entry->variant]++;
    c->sums[entry->variant] += ratio;
  }
}

/* Returns the variant that covers the most further problems; among equal variants, the one whose
   costs are nearest to the best. */
static size_t most_gain(const struct cover *c) {
  size_t best = 0;
  for (size_t v = 1; v < c->data->variant_count; v++)
    if (c->gains[v] > c->gains[best] ||
        (c->gains[v] == c->gains[best] && c->sums[v] < c->sums[best]))
      best = v;
  return best;
}

/* Returns whether the allowed number of variants covers everything that can be covered. */
static bool cover_all(struct cover *c) {
  memset(c->covered, 0, c->data->row_count * sizeof *c->covered);
  for (c->count = 0; c->count < c->most; c->count++) {
    count_gains(c);
    const size_t next = most_gain(c);
    if (!c->gains[next]) return true;
    c->out[c->count] = next;
    for (size_t i = 0; i < c->data->entry_count; i++) {
      const struct portfolio_entry *entry = &c->data->entries[i];
      if (entry->variant == next && portfolio_entry_ratio(c->data, entry) <= c->ratio)
        c->covered[entry->problem] = true;
    }
  }
  count_gains(c);
  return !c->gains[most_gain(c)];
}

/* Takes the smallest ratio within which `most` variants cover all problems that can be covered,
   else the largest. */
int portfolio_candidates(const struct portfolio_data *data, size_t most, size_t *out, size_t *count,
                         cugen_error *err) {
  static const double ratios[] = {1.01, 1.02, 1.03, 1.05, 1.1, 1.2, 1.5};
  struct cover c = {.data = data, .out = out, .most = most};
  *count = 0;
  if (!data->variant_count) return CUGEN_OK;
  c.covered = calloc(data->row_count + 1, sizeof *c.covered);
  c.gains = calloc(data->variant_count, sizeof *c.gains);
  c.sums = calloc(data->variant_count, sizeof *c.sums);
  int status = c.covered && c.gains && c.sums ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < sizeof ratios / sizeof *ratios && !status; i++) {
    c.ratio = ratios[i];
    if (cover_all(&c)) break;
  }
  if (!status) *count = c.count;
  free(c.covered);
  free(c.gains);
  free(c.sums);
  return status;
}

/* ---- Missing records ------------------------------------------------------------------------ */

/* Returns the square of the distance of two problems, measured in factors of two. */
static double distance_between(const struct config *config, const struct problem *a,
                               const struct problem *b) {
  double sum = 0;
  for (size_t i = 0; i < config->problem_count; i++) {
    if (!config_is_size(config, i) || a->values[i].integer < 1 || b->values[i].integer < 1)
      continue;
    const double octaves = log2((double)a->values[i].integer / (double)b->values[i].integer);
    sum += octaves * octaves;
  }
  return sum;
}

/* Estimates from the variant's records for other problems how slow it is, as a logarithm; near
   problems count most. A failure, and a variant without records, counts as `failed`. */
static double expectation(const struct portfolio_data *data, size_t problem, size_t variant) {
  const double nearby = 0.25, failed = 2;
  double sum = 0, weights = 0;
  for (size_t p = 0; p < data->row_count; p++) {
    const struct portfolio_entry *entry = portfolio_entry_of(data, p, variant);
    if (!entry) continue;
    const double ratio = portfolio_entry_ratio(data, entry);
    const double weight =
        1 / (nearby + distance_between(data->base->config, data->rows[problem].problem,
                                       data->rows[p].problem));
    sum += weight * (isnan(ratio) ? failed : log(ratio));
    weights += weight;
  }
  return weights > 0 ? sum / weights : failed;
}

size_t portfolio_missing(const struct portfolio_data *data, size_t problem, const size_t *variants,
                         size_t count, size_t *out) {
  double expected[PORTFOLIO_MOST_CANDIDATES];
  size_t missing = 0;
  for (size_t i = 0; i < count && missing < PORTFOLIO_MOST_CANDIDATES; i++) {
    if (portfolio_entry_of(data, problem, variants[i])) continue;
    const double expects = expectation(data, problem, variants[i]);
    size_t at = missing++;
    for (; at > 0 && expected[at - 1] > expects; at--)
      expected[at] = expected[at - 1], out[at] = out[at - 1];
    expected[at] = expects;
    out[at] = variants[i];
  }
  return missing;
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* Fills in a ratio for each variant; NAN: not measured or failed; INFINITY: not valid for the
   problem, as the space tells without a launch. */
static int portfolio_data_fill_row(struct portfolio_data *data, size_t problem,
                                   const size_t *variants, size_t count, double *out,
                                   cugen_error *err) {
  struct lookup l = {0};
  int status = portfolio_open_row(data, problem, NULL, &l, err);
  for (size_t i = 0; i < count && !status; i++) {
    const struct portfolio_entry *entry = portfolio_entry_of(data, problem, variants[i]);
    const bool valid = entry || is_valid(&l, data->variants[variants[i]]);
    out[i] = entry ? portfolio_entry_ratio(data, entry) : valid ? (double)NAN : (double)INFINITY;
  }
  lookup_close(&l);
  return status;
}

/* ---- Divisors of a size --------------------------------------------------------------------- */

/* Finds the variants that are valid if one size of the row's problem becomes `value`. *known false:
   the config admits no such problem. */
static int fill_valid(const struct portfolio_data *data, size_t problem, size_t size, int64_t value,
                      const size_t *variants, size_t count, bool *out, bool *known,
                      cugen_error *err) {
  const struct problem *base = data->rows[problem].problem;
  struct value *values = malloc((base->count + 1) * sizeof *values);
  struct lookup l = {0};
  cugen_error ignored;
  if (!values) return error_memory(err);
  memcpy(values, base->values, base->count * sizeof *values);
  values[size].integer = value;
  const struct problem other = {.values = values, .count = base->count};
  int status = lookup_for_problem(data->base, &other, &l, &ignored);
  if (!status) status = lookup_space(&l, &ignored);
  for (size_t i = 0; i < count && !status; i++) out[i] = is_valid(&l, data->variants[variants[i]]);
  *known = !status;
  lookup_close(&l);
  free(values);
  return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
}

/* Sets *decides if a variant is valid at this multiple of 8, but neither at the number before nor
   at the number behind. */
static int decides_at(const struct portfolio_data *data, size_t problem, size_t size,
                      const size_t *variants, size_t count, bool *decides, cugen_error *err) {
  const int64_t value = data->rows[problem].problem->values[size].integer;
  bool *valid[3], known = true;
  int status = CUGEN_OK;
  bool *all = calloc(3 * count + 1, sizeof *all);
  if (!all) return error_memory(err);
  for (int i = 0; i < 3 && !status && known; i++) {
    valid[i] = &all[(size_t)i * count];
    status = fill_valid(data, problem, size, value + i - 1, variants, count, valid[i], &known, err);
  }
  for (size_t v = 0; v < count && known && !status; v++)
    *decides = *decides || (valid[1][v] && !valid[0][v] && !valid[2][v]);
  free(all);
  return status;
}

/* Finds out whether the divisors of a size decide which variants are valid. Only then may a rule
   test the divisors, because the sizes of measured problems are often all multiples of 8. At most 6
   of the problems are tried, those in which the size is a multiple of 8 above 8; if there are none,
   *out is true. */
static int fill_decides(const struct portfolio_data *data, size_t size, const size_t *variants,
                        size_t count, bool *out, cugen_error *err) {
  enum { ENOUGH = 6 };
  size_t seen = 0;
  int status = CUGEN_OK;
  bool decides = false;
  for (size_t p = 0; p < data->row_count && seen < ENOUGH && !decides && !status; p++) {
    const int64_t value = data->rows[p].problem->values[size].integer;
    if (value < 16 || value % 8) continue;
    seen++;
    status = decides_at(data, p, size, variants, count, &decides, err);
  }
  *out = decides || !seen;
  return status;
}

/* ---- Variants that are one kernel ------------------------------------------------------------ */

enum { SEEN_TOGETHER = 1, SEEN_APART = 2 };

/* Notes which sources of one problem are equal; "": no record. */
static void kernels_compare(const struct hash *sources, size_t count, unsigned char *seen) {
  for (size_t a = 0; a < count; a++)
    for (size_t b = a + 1; b < count && *sources[a].hex; b++)
      if (*sources[b].hex)
        seen[a * count + b] |=
            strcmp(sources[a].hex, sources[b].hex) == 0 ? SEEN_TOGETHER : SEEN_APART;
}

/* Sets for each variant the first variant that is the same compiled kernel. Two variants are one
   kernel if they had the same source for some problem and different sources for none. */
static int portfolio_kernels(const struct portfolio_data *data, const size_t *variants,
                             size_t count, size_t *out, cugen_error *err) {
  struct hash *sources = calloc(count + 1, sizeof *sources);
  unsigned char *seen = calloc(count * count + 1, sizeof *seen);
  for (size_t p = 0; p < data->row_count && sources && seen; p++) {
    for (size_t i = 0; i < count; i++) {
      const struct portfolio_entry *entry = portfolio_entry_of(data, p, variants[i]);
      sources[i] = entry ? entry->source : (struct hash){""};
    }
    kernels_compare(sources, count, seen);
  }
  for (size_t b = 0; b < count && seen; b++) {
    size_t a = 0;
    while (a < b && seen[a * count + b] != SEEN_TOGETHER) a++;
    out[b] = a < b ? out[a] : b;
  }
  const bool good = sources && seen;
  free(sources);
  free(seen);
  return good ? CUGEN_OK : error_memory(err);
}

/* ---- The matrix ------------------------------------------------------------------------------ */

int portfolio_columns_open(struct portfolio_data *data, const size_t *variants, size_t count,
                           struct portfolio_columns *out, cugen_error *err) {
  const struct config *config = data->base->config;
  size_t sizes = 0;
  *out = (struct portfolio_columns){0};
  for (size_t i = 0; i < config->problem_count; i++) sizes += config_is_size(config, i);
  out->names = calloc(sizes + 1, sizeof *out->names);
  out->ratios = calloc(data->row_count * count + 1, sizeof *out->ratios);
  out->values = calloc(data->row_count * sizes + 1, sizeof *out->values);
  out->decides = calloc(sizes + 1, sizeof *out->decides);
  out->kernels = calloc(count + 1, sizeof *out->kernels);
  out->best = calloc(data->row_count + 1, sizeof *out->best);
  const bool good =
      out->names && out->ratios && out->values && out->decides && out->kernels && out->best;
  int status = good ? CUGEN_OK : error_memory(err);
  if (!status) status = portfolio_kernels(data, variants, count, out->kernels, err);
  for (size_t i = 0, at = 0; i < config->problem_count && !status; i++)
    if (config_is_size(config, i)) {
      status = fill_decides(data, i, variants, count, &out->decides[at], err);
      out->names[at++] = config->problems[i].name;
    }
  for (size_t p = 0; p < data->row_count && !status; p++) {
    for (size_t i = 0, at = p * sizes; i < config->problem_count; i++)
      if (config_is_size(config, i)) out->values[at++] = data->rows[p].problem->values[i].integer;
    status = portfolio_data_fill_row(data, p, variants, count, &out->ratios[p * count], err);
    out->best[p] = 1e6 * data->rows[p].best_cost; /* in microseconds (if the cost is a time), as
                                                     numbers that people can read */
  }
  out->matrix = (struct portfolio_matrix){.problems = data->row_count,
                                          .variants = count,
                                          .ratios = out->ratios,
                                          .sizes = sizes,
                                          .names = out->names,
                                          .values = out->values,
                                          .decides = out->decides,
                                          .kernels = out->kernels,
                                          .best = out->best,
                                          .multiprocessors = data->base->device.facts.sm_count};
  return status;
}

void portfolio_columns_free(struct portfolio_columns *columns) {
  free(columns->names);
  free(columns->ratios);
  free(columns->values);
  free(columns->decides);
  free(columns->kernels);
  free(columns->best);
  *columns = (struct portfolio_columns){0};
}
