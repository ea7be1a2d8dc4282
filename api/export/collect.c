/* Decides what an export contains: for each device its tuned problems, with the variants that may
   be chosen for them, and the default variants.

   For each tuned problem of each device the records that a look-up may take are read, the best
   first. A variant that a bundle can hold joins it unless a better variant serves wherever that
   variant serves (collect_is_beaten). Slower variants may serve sizes, or an alignment of memory,
   that the best variant does not accept. Equal code is stored once (same_code in codes.c). Problems
   that nobody tuned get defaults (defaults.c). */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"

void export_free(struct exporter *x) {
  for (size_t i = 0; i < x->device_count; i++) export_device_free(&x->devices[i]);
  for (size_t i = 0; i < x->image_count; i++) free(x->images[i].data);
  for (size_t i = 0; i < x->code_count; i++) export_code_free(&x->codes[i]);
  for (size_t i = 0; i < x->tuned_count; i++)
    problem_free(&x->tuned[i].problem), free(x->tuned[i].text);
  for (size_t i = 0; i < x->problem_count; i++) problem_free(&x->problems[i]);
  array_free_texts(x->classes, x->class_count);
  export_portfolios_free(x);
  export_failing_close(&x->failing);
  text_free(&x->named);
  void *arrays[] = {x->devices,  x->images,   x->codes,   x->tuned,
                    x->measured, x->defaults, x->problems};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

/* ---- The variants of a tuned problem -------------------------------------------------------- */

/* Returns whether every line of `part` is a line of `whole`. */
static bool lines_within(const struct text *part, const struct text *whole) {
  const char *line = text_get(part);
  while (*line) {
    size_t length = strcspn(line, "\n") + 1;
    const char *at = text_get(whole);
    while (*at && strncmp(at, line, length) != 0) at += strcspn(at, "\n") + 1;
    if (!*at) return false;
    line += length;
  }
  return true;
}

/* Returns whether a kept variant of the current problem is better than `code` and right wherever
   `code` is, so that no look-up would take `code`. Among tied variants the smallest order wins. */
static bool collect_is_beaten(const struct exporter *x, const struct export_tuned *tuned,
                              const struct export_code *code,
                              const struct export_measured *measured) {
  for (size_t i = tuned->first; i < x->measured_count; i++) {
    const struct export_measured *kept = &x->measured[i];
    if (!cache_leads(kept->cost, kept->order, measured->cost, measured->order) &&
        x->codes[kept->code].wide == code->wide &&
        lines_within(&x->codes[kept->code].conditions, &code->conditions))
      return true;
  }
  return false;
}

static int collect_consider(struct exporter *x, const struct export_tuned *tuned,
                            const struct cache_record *record, cugen_error *err) {
  const struct objective *objective = x->devices[tuned->device].lookup.config->objective;
  struct export_measured measured = {.how = !x->devices[tuned->device].lookup.predicted ? "measured"
                                            : record->verdict == CACHE_RIGHT
                                                ? "predicted, verified"
                                                : "predicted, not verified",
                                     .seconds = record->seconds,
                                     .cost = cache_record_cost(record, objective)};
  struct export_code code;
  struct kernel_spec spec;
  uint64_t place = 0;
  int status = space_find(x->devices[tuned->device].lookup.space, record->variant, &place, err);
  if (!status) status = export_make_code(x, tuned->device, place, &code, &spec, err);
  if (status) return status;
  measured.order = cache_record_order(record, place, objective);
  const struct kernel_argument *textured = export_textured(&spec);
  if (textured)
    text_addf(x->notes,
              "%s, %s: %s is left out: it reads '%s' as a texture, which a bundle cannot\n",
              x->devices[tuned->device].text, tuned->text, spec.variant, textured->name);
  if (!textured && !collect_is_beaten(x, tuned, &code, &measured)) {
    status = export_add_code(x, &code, &spec, &measured.code, err);
    if (!status && !ARRAY_ROOM(x->measured, x->measured_count)) status = error_memory(err);
    if (!status) x->measured[x->measured_count++] = measured;
  }
  export_code_free(&code);
  kernel_spec_free(&spec);
  return status;
}

/* Looks at the records, which are ordered by cost. Of predictions only those verified as right are
   taken; if there are none, all. */
static int consider_all(struct exporter *x, const struct export_tuned *tuned,
                        struct cache_record *records, size_t count, size_t *stale,
                        cugen_error *err) {
  struct lookup *l = &x->devices[tuned->device].lookup;
  bool verified = false;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && l->predicted; i++)
    verified |= records[i].outcome == CUGEN_OUTCOME_OK && records[i].verdict == CACHE_RIGHT;
  for (size_t i = 0; i < count && !status && records[i].outcome == CUGEN_OUTCOME_OK; i++) {
    struct judgement judgement;
    if (verified && records[i].verdict != CACHE_RIGHT) continue;
    if (config_calls_library(l->config, records[i].variant)) {
      if (!i)
        text_addf(x->notes,
                  "%s, %s: the fastest is %s, a kernel of a library, which a bundle does not hold; "
                  "it has the next\n",
                  x->devices[tuned->device].text, tuned->text, records[i].variant);
      continue;
    }
    status = api_judge(l, &records[i], &judgement, err);
    if (status) return status;
    if (judgement.proof_changed) records[i].verdict = CACHE_NOT_RUN;
    if (judgement.how == JUDGED_CURRENT)
      status = collect_consider(x, tuned, &records[i], err);
    else
      ++*stale;
  }
  return status;
}

/* Adds the variants of a tuned problem that a look-up may take. Without such variants tuned->count
   becomes 0, and the problem is not exported. */
static int add_variants(struct exporter *x, struct export_tuned *tuned, cugen_error *err) {
  struct lookup *l = &x->devices[tuned->device].lookup;
  struct cache_record *records = NULL;
  size_t count = 0, stale = 0;
  int status = lookup_set_problem(l, &tuned->problem, err);
  if (!status) status = lookup_space(l, err);
  const struct cache_key key = lookup_key(l);
  if (!status) status = cache_load(x->cache, &key, &records, &count, err);
  if (!status) status = api_drop_stale(l, records, &count, true, err);
  if (!status) status = failures_mark(l, records, &count, err);
  if (!status) status = consider_all(x, tuned, records, count, &stale, err);
  records_free(records, count);
  tuned->count = x->measured_count - tuned->first;
  if (status) return status;
  x->result->stale += stale;
  if (stale)
    text_addf(x->notes,
              "%s, %s: %zu record%s not used: the source, the launch or the check has changed "
              "since; tune again\n",
              x->devices[tuned->device].text, tuned->text, stale, stale == 1 ? "" : "s");
  else if (!tuned->count && count)
    text_addf(x->notes, "%s, %s: no variant came out right, so there is none to export\n",
              x->devices[tuned->device].text, tuned->text);
  return CUGEN_OK;
}

/* ---- The tuned problems of a device --------------------------------------------------------- */

/* Returns whether the problem is one of options->problems or, without options->problems, agrees
   with the base's settings. */
static bool collect_is_wanted(const struct exporter *x, const struct problem *problem) {
  for (size_t i = 0; i < x->problem_count; i++)
    if (api_same_problem(&x->problems[i], problem)) return true;
  return !x->options->problems && api_agrees(x->base, problem, true);
}

static bool is_taken(const struct exporter *x, size_t device, const struct problem *problem) {
  for (size_t i = 0; i < x->tuned_count; i++)
    if (x->tuned[i].device == device && api_same_problem(&x->tuned[i].problem, problem))
      return true;
  return false;
}

static int collect_add_tuned(struct exporter *x, size_t device, const char *text,
                             cugen_error *err) {
  struct export_tuned tuned = {.device = device, .first = x->measured_count};
  bool known;
  int status = api_read_problem(x->base->opened.config, text, &tuned.problem, &known, err);
  if (status) return status;
  if (!known) {
    text_addf(x->notes,
              "%s, %s: not used: the problem of this config has other parameters or values now\n",
              x->devices[device].text, text);
    return CUGEN_OK;
  }
  struct text whole = {0};
  problem_print(x->base->opened.config, &tuned.problem, &whole);
  tuned.text = text_take(&whole);
  status = tuned.text && ARRAY_ROOM(x->tuned, x->tuned_count) ? CUGEN_OK : error_memory(err);
  /* A problem may come twice, once by records that lack newer parameters; add_variants finds all
     records of the problem the first time. */
  if (!status && collect_is_wanted(x, &tuned.problem) && !is_taken(x, device, &tuned.problem))
    status = add_variants(x, &tuned, err);
  if (!status && tuned.count) {
    x->tuned[x->tuned_count++] = tuned;
    return CUGEN_OK;
  }
  problem_free(&tuned.problem);
  free(tuned.text);
  return status;
}

static int add_all_tuned(struct exporter *x, size_t device, cugen_error *err) {
  struct export_texts texts = {0};
  const struct cache_key key = lookup_key(&x->devices[device].lookup);
  int status = export_problem_texts(x, &key, &texts, err);
  for (size_t i = 0; i < texts.count && !status; i++)
    status = collect_add_tuned(x, device, texts.all[i], err);
  array_free_texts(texts.all, texts.count);
  return status;
}

/* ---- The whole collection ------------------------------------------------------------------- */

/* Cuts "M=4 N=8" into its settings, in place. */
static size_t cut_settings(char *text, const char **out) {
  size_t count = 0;
  for (char *at = text; *at;) {
    at += strspn(at, " \t\n");
    if (*at) out[count++] = at;
    at += strcspn(at, " \t\n");
    if (*at) *at++ = '\0';
  }
  return count;
}

/* Adds the problem with the base's settings and those of the text, which take precedence. */
static int collect_add_problem(struct exporter *x, char *text, cugen_error *err) {
  const cugen_kernel *base = x->base;
  const char **settings = calloc(base->setting_count + strlen(text) + 1, sizeof *settings);
  int status = settings && ARRAY_ROOM(x->problems, x->problem_count) ? CUGEN_OK : error_memory(err);
  if (!status) {
    memcpy(settings, base->settings, base->setting_count * sizeof *settings);
    size_t count = cut_settings(text, settings + base->setting_count);
    if (!count)
      status = error_set(err, CUGEN_ERROR_USAGE,
                         "a problem is missing; it is a list such as \"M=1024 N=1024; M=4096\"");
    if (!status)
      status = problem_set(base->opened.config, settings, base->setting_count + count, false,
                           &x->problems[x->problem_count], err);
    if (status) error_prefix(err, "--problems");
  }
  free(settings);
  x->problem_count += !status;
  return status;
}

static int collect_read_problems(struct exporter *x, cugen_error *err) {
  char *copy = strdup(x->options->problems);
  if (!copy) return error_memory(err);
  int status = CUGEN_OK;
  for (char *at = copy; at && !status;) {
    char *next = strchr(at, ';');
    if (next) *next++ = '\0';
    status = collect_add_problem(x, at, err);
    at = next && next[strspn(next, " \t\n")] ? next : NULL;
  }
  free(copy);
  return status;
}

/* Sorts the defaults: the config's tries first, then other variants in the order of the config. */
static void sort_defaults(struct exporter *x) {
  for (size_t i = 1; i < x->default_count; i++)
    for (size_t j = i; j > 0; j--) {
      struct export_default *a = &x->defaults[j - 1], *b = &x->defaults[j], swap;
      const struct export_code *left = &x->codes[a->code], *right = &x->codes[b->code];
      bool later = a->try > b->try;
      if (a->try == b->try && left->implementation != right->implementation)
        later = left->implementation > right->implementation;
      else if (a->try == b->try)
        later = left->order > right->order;
      if (!later) break;
      swap = *a, *a = *b, *b = swap;
    }
}

/* Adds the tuned problems and the portfolios of a device, as far as the options ask for them; none
   if a variant is named, or if the device stands for others. */
static int collect_add_measured(struct exporter *x, size_t device, cugen_error *err) {
  const cugen_export_options *options = x->options;
  struct lookup *l = &x->devices[device].lookup;
  int status = CUGEN_OK;
  if (options->variant || export_stands_for_others(&x->devices[device])) return CUGEN_OK;
  if (!options->portfolio) {
    status = add_all_tuned(x, device, err);
    l->predicted = options->predicted;
    if (!status && l->predicted) status = add_all_tuned(x, device, err);
    l->predicted = false;
  }
  /* Portfolios are exported if the options ask for them, or if plans use them by the config's
     policy and the export is not limited to some problems. */
  const size_t before = x->portfolio_count;
  const bool by_policy =
      options->distance == 0 && x->base->opened.config->policy.kind == POLICY_PORTFOLIO;
  if (!status && (options->portfolio || (by_policy && !options->problems)))
    status = export_portfolios(x, device, err);
  if (!status && options->portfolio && x->portfolio_count == before)
    text_addf(x->notes, "%s: no portfolio is remembered, so there is nothing for it\n",
              x->devices[device].text);
  return status;
}

/* Adds the variant that the options name, or else the defaults for problems that nobody tuned. An
   export of portfolios alone gets neither. */
static int add_rest(struct exporter *x, size_t device, cugen_error *err) {
  if (x->options->portfolio) return CUGEN_OK;
  if (x->options->variant) return export_named(x, device, err);
  for (size_t i = 0; i < x->problem_count; i++) {
    struct text text = {0};
    if (is_taken(x, device, &x->problems[i])) continue;
    problem_print(x->base->opened.config, &x->problems[i], &text);
    text_addf(x->notes, "%s, %s: nothing is remembered, the default variant is exported\n",
              x->devices[device].text, text_get(&text));
    text_free(&text);
  }
  return export_defaults(x, device, err);
}

int export_collect(struct exporter *x, cugen_error *err) {
  int status = lookup_expander(&x->base->lookup, err);
  if (!status && x->options->problems) status = collect_read_problems(x, err);
  if (!status) status = export_devices(x, err);
  for (size_t i = 0; i < x->device_count && !status; i++) status = collect_add_measured(x, i, err);
  if (!status && x->options->portfolio && !x->code_count)
    status = error_set(
        err, CUGEN_ERROR_USAGE,
        "no portfolio of %s is remembered for these devices and settings: 'cugen tune CONFIG "
        "--portfolio 8' learns one, on such a GPU; those of predictions are not exported",
        x->base->opened.config->name);
  for (size_t i = 0; i < x->device_count && !status; i++) status = add_rest(x, i, err);
  if (status) return status;
  sort_defaults(x);
  for (size_t i = 0; i < x->code_count && !status; i++) {
    const char *label = text_get(&x->codes[i].label);
    size_t at = 0;
    while (at < x->class_count && strcmp(x->classes[at], label) != 0) at++;
    if (at == x->class_count && !array_add_text(&x->classes, &x->class_count, label))
      status = error_memory(err);
  }
  if (!status && !x->code_count) { /* explains why nothing is exported */
    struct lookup *l = &x->devices[0].lookup;
    status = lookup_set_problem(l, &x->base->problem, err);
    if (!status) status = lookup_space(l, err);
    if (!status && x->uncompiled.status) status = error_copy(err, &x->uncompiled);
    if (!status && space_valid(l->space))
      status = error_set(err, CUGEN_ERROR_EMPTY,
                         "every variant of %s is known to fail, so there is none to export: mend "
                         "the source, or name a variant by --variant",
                         l->config->name);
    if (!status) status = space_explain_empty(l->space, err);
  }
  return status;
}
