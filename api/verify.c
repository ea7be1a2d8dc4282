/* Verifies predictions: the fastest variant is run on the cpu device, with its source for the GPU,
   at the sizes at which `cugen check` runs it; if the variant is wrong at one of these sizes, the
   next is tried. A wrong variant is remembered as a failure on the check problem (failures.c). For
   a correct variant the verdict is stored with the prediction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/devices.h"
#include "tune/trial.h"
#include "verdict.h"

/* Limits in seconds if the options set none: for the whole verification, and for a variant's
   run. */
static const double usual_limit = 30, most_run = 10;

struct proof {
  cugen_kernel *kernel;
  const cugen_tune_options *options;
  cugen_tune_result *result;
  struct problem check;
  struct text key_options;
  struct device_description device; /* the cpu device, with the facts of the GPU */
  struct tune_target target;        /* with the problem and the space of the current run */
  struct trial *trial;              /* opened for the first run */
  double begin, limit;
  bool by_budget;                  /* limit is the rest of the budget */
  const struct cache_record *best; /* record of the variant that is running; NULL: none */
  bool stopped;                    /* the callback asked to stop */
};

/* ---- Preparation ---------------------------------------------------------------------------- */

static double verify_time_left(const struct proof *p) {
  return p->limit - (clock_seconds() - p->begin);
}

static bool is_over(void *context) {
  struct proof *p = context;
  cugen_progress progress = {.done = p->result->tried,
                             .failed = p->result->failed + p->result->refuted,
                             .planned = p->result->tried,
                             .valid = p->result->valid,
                             .elapsed = p->result->seconds + clock_seconds() - p->begin,
                             .remaining = -1,
                             .problem = text_get(&p->kernel->lookup.problem_text),
                             .problems = 1,
                             .stage = CUGEN_STAGE_VERIFY};
  if (p->best) {
    progress.best = p->best->variant, progress.best_seconds = p->best->seconds;
    progress.flops = p->best->flops, progress.bytes = p->best->bytes;
  }
  if (p->options->progress && !p->stopped)
    p->stopped = p->options->progress(&progress, p->options->context) != 0;
  return p->stopped || verify_time_left(p) <= 0;
}

/* Opens the target. The config's expressions see the facts of the GPU. */
static int open_target(struct proof *p, cugen_error *err) {
  const struct lookup *l = &p->kernel->lookup;
  struct cache *cache, *images;
  int status = api_cache(l->lib, &cache, err);
  if (!status) status = api_images(l->lib, &images, err);
  if (!status) status = problem_check(l->config, l->problem, &p->check, err);
  if (!status) status = cpu_device_ops.describe(l->lib->toolkit, 0, &p->device, err);
  if (status) return status;
  p->device.facts = l->device.facts;
  text_addf(&p->key_options, "arch %s, facts of %s", p->device.arch, l->device.arch);
  if (p->key_options.failed) return error_memory(err);
  p->target = lookup_target(l);
  p->target.problem = &p->check;
  p->target.stop = api_stop(l->lib);
  p->target.ops = &cpu_device_ops;
  p->target.device = &p->device;
  p->target.cache = cache;
  p->target.images = images;
  p->target.key = (struct cache_key){.device = p->device.fingerprint,
                                     .config = l->config->name,
                                     .problem = "",
                                     .options = text_get(&p->key_options)};
  p->target.problem_is_check = true;
  return CUGEN_OK;
}

/* ---- One run -------------------------------------------------------------------------------- */

/* Names the problem on which the variant was wrong, which may not be the user's problem. */
static int name_problem(const struct proof *p, const struct problem *problem,
                        struct cache_record *got, cugen_error *err) {
  const struct lookup *l = &p->kernel->lookup;
  struct text text = {0}, reason = {0};
  problem_print(l->config, problem, &text);
  const bool same = strcmp(text_get(&text), text_get(&l->problem_text)) == 0;
  text_free(&text);
  if (same) return CUGEN_OK;
  problem_add_check(l->config, problem, &reason);
  text_add(&reason, got->reason);
  char *named = strdup(text_get(&reason));
  const bool failed = reason.failed || !named;
  text_free(&reason);
  if (failed) {
    free(named);
    return error_memory(err);
  }
  free(got->reason);
  got->reason = named;
  return CUGEN_OK;
}

/* ---- The verdict ---------------------------------------------------------------------------- */

/* Notes the line of the reason that says what is wrong, in a form that fits into a table. */
static void note_unverified(struct cache_record *record, const char *what, const char *reason) {
  int length;
  const char *line = error_essence(reason, &length);
  struct text text = {0};
  text_addf(&text, "on the cpu device: %s%s", what, *what ? ": " : "");
  for (int i = 0; i < length; i++)
    text_add_char(&text,
                  (unsigned char)line[i] < ' ' || (unsigned char)line[i] > '~' ? '?' : line[i]);
  record->verdict = CACHE_NOT_VERIFIABLE;
  snprintf(record->unverified, sizeof record->unverified, "%s", text_get(&text));
  text_free(&text);
}

/* Appends "n=300": the settings in which the problems of the list differ; if there is only one
   problem, all whole numbers of its check { }. */
static void verify_add_sizes(const struct proof *p, const struct check_list *list, size_t number,
                             struct text *out) {
  const struct problem *problem = &list->problems[number].problem;
  const char *lead = out->length ? "; " : "";
  for (size_t i = 0; i < problem->count; i++) {
    bool differs =
        list->problem_count == 1 && p->kernel->lookup.config->problems[i].check.type == VALUE_INT;
    for (size_t other = 0; other < list->problem_count; other++)
      differs |= !value_equal(problem->values[i], list->problems[other].problem.values[i]);
    if (!differs) continue;
    text_addf(out, "%s%s=", lead, p->kernel->lookup.config->problems[i].name);
    value_print(problem->values[i], out);
    lead = " ";
  }
}

/* Notes the sizes at which the variant was right. A text that is too long is cut behind a size. */
static int note_right(struct cache_record *record, const struct text *sizes, size_t left,
                      cugen_error *err) {
  struct text text = {0};
  size_t length = sizes->length;
  const size_t room = sizeof record->unverified - sizeof "; ...; 1234567890 more not run";
  while (length > room || (text_get(sizes)[length] && text_get(sizes)[length] != ';')) length--;
  text_add_n(&text, text_get(sizes), length);
  if (length < sizes->length) text_add(&text, "; ...");
  if (left) text_addf(&text, "; %zu more not run", left);
  record->verdict = CACHE_RIGHT;
  snprintf(record->unverified, sizeof record->unverified, "%s", text_get(&text));
  const bool failed = text.failed;
  text_free(&text);
  return failed ? error_memory(err) : CUGEN_OK;
}

/* Gives the record the hashes of the kernel as it is now, and stores the record. */
static int verify_renew(struct proof *p, struct cache_record *record, cugen_error *err) {
  struct judgement judgement;
  int status = api_judge(&p->kernel->lookup, record, &judgement, err);
  if (status) return status;
  record->hash = judgement.now.hash;
  record->proof_hash = judgement.now.proof_hash;
  const struct cache_key key = lookup_key(&p->kernel->lookup);
  return cache_store(p->target.cache, &key, record, err);
}

/* Remembers a failed variant for the problem with which the variant's check begins. got: how the
   variant failed, on that problem or at another size. */
static int remember_refuted(struct proof *p, const struct check_list *list,
                            struct cache_record *got, cugen_error *err) {
  const struct lookup *l = &p->kernel->lookup;
  const struct check_run *first = &list->runs[0];
  struct lookup there;
  struct kernel_spec spec = {0};
  int status = lookup_for_problem(l, &list->problems[first->problem].problem, &there, err);
  there.origin = l->origin;
  if (!status) status = lookup_prepare(&there, err);
  if (!status) status = lookup_expand(&there, first->index, &spec, err);
  if (!status) status = api_hash_verdict(&there, &spec, err);
  if (!status) {
    const struct cache_key key = lookup_predicted_key(&there, &l->predictions);
    cache_record_take_hashes(got, &spec);
    got->measured_at = clock_unix();
    status = cache_store(p->target.cache, &key, got, err);
  }
  kernel_spec_free(&spec);
  lookup_close(&there);
  p->result->refuted += !status;
  return status;
}

/* Takes over a run's result. *over: the variant is wrong, or cannot run on the check problem, the
   first of the list. */
static int take_run(struct proof *p, const struct check_list *list, size_t number,
                    struct cache_record *got, struct cache_record *record, bool *over,
                    cugen_error *err) {
  if (cache_record_is_refuted(got)) {
    *over = true;
    return remember_refuted(p, list, got, err);
  }
  if (got->outcome == CUGEN_OUTCOME_OK) {
    if (got->error > record->error || number == 0) record->error = got->error;
  } else if (number == 0) {
    *over = true;
    note_unverified(record, outcome_text((int)got->outcome), got->reason);
    return verify_renew(p, record, err);
  }
  return CUGEN_OK;
}

/* Runs the variant on all problems of the list. If the variant was right on the check problem, a
   size that cannot be run, or for which no time is left, is only left out of the list of verified
   sizes. */
static int run_list(struct proof *p, const struct check_list *list, struct cache_record *record,
                    cugen_error *err) {
  const struct measure_options once = {.samples = 1};
  const double timeout = p->options->variant_timeout > 0 ? p->options->variant_timeout : most_run;
  struct text sizes = {0};
  size_t right = 0;
  bool over = false;
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->run_count && !over && !status; i++) {
    const struct check_run *run = &list->runs[i];
    const struct check_problem *at = &list->problems[run->problem];
    struct cache_record got;
    p->target.problem = &at->problem;
    p->target.space = at->space;
    status = trial_run(p->trial, run->index, timeout, &once, &got, err);
    if (!status && cache_record_is_refuted(&got)) {
      status = name_problem(p, &at->problem, &got, err);
      if (status) cache_record_free(&got);
    }
    if (status && i > 0 && status != CUGEN_ERROR_MEMORY &&
        !p->stopped) { /* the size's data cannot be made, or no time is left */
      status = CUGEN_OK;
      if (verify_time_left(p) <= 0) break;
      continue;
    }
    if (status) break;
    status = take_run(p, list, i, &got, record, &over, err);
    if (got.outcome == CUGEN_OUTCOME_OK) verify_add_sizes(p, list, run->problem, &sizes), right++;
    cache_record_free(&got);
  }
  if (!status && sizes.failed) status = error_memory(err);
  if (!status && !over) {
    status = note_right(record, &sizes, list->run_count - right, err);
    if (!status) status = verify_renew(p, record, err);
    p->result->verified += !status;
  }
  text_free(&sizes);
  return status;
}

static int verify(struct proof *p, struct cache_record *record, cugen_error *err) {
  const struct check_options options = api_verdict_sizes(&p->kernel->lookup, record->variant);
  struct check_list list;
  cugen_error why;
  const struct trial_options trial = {
      .seed = p->options->seed, .compile_timeout = p->limit, .interrupted = is_over, .context = p};
  int status = p->trial ? CUGEN_OK : open_target(p, err);
  if (!status && !p->trial) status = trial_open(&p->target, &trial, &p->trial, err);
  if (status) return status;
  p->target.problem = &p->check;
  status = check_select(&p->target, &options, &list, &why);
  if (!status && !list.run_count)
    status =
        error_set(&why, CUGEN_ERROR_EMPTY, "the variant is valid on no size of the check problem");
  if (!status) {
    status = run_list(p, &list, record, err);
  } else if (status == CUGEN_ERROR_MEMORY || is_over(p)) {
    status = error_copy(err, &why);
  } else {
    note_unverified(record, "", why.message);
    status = verify_renew(p, record, err);
  }
  check_list_free(&list);
  return status;
}

/* ---- The whole verification ----------------------------------------------------------------- */

static const char *refusal(const struct proof *p) {
  if (!config_proves(p->kernel->lookup.config)) return "the config has reference \"none\"";
  if (p->limit < 0) return "it was not asked for";
  if (p->options->flags & CUGEN_TUNE_IN_PROCESS)
    return "nothing runs in the application's own process";
  return NULL;
}

/* Notes why the verification ended early. */
static int verify_give_up(struct proof *p, int status, cugen_error *err) {
  struct text *why = &p->kernel->unverified;
  if (status == CUGEN_ERROR_MEMORY) return status;
  if (p->stopped) {
    p->result->interrupted = 1;
    return error_set(err, CUGEN_ERROR_INTERRUPTED,
                     "stopped on request; everything predicted is kept");
  }
  if (verify_time_left(p) <= 0 && p->by_budget)
    text_addf(why, "the budget of %g s was over", p->options->budget_seconds);
  else if (verify_time_left(p) <= 0)
    text_addf(why, "that took longer than %g s", p->limit);
  else {
    /* the heading, if there is one, and what is wrong, without a full stop */
    int length;
    const char *line = error_essence(err->message, &length);
    if (line != err->message)
      text_addf(why, "%.*s ", (int)strcspn(err->message, "\n"), err->message);
    if (length && line[length - 1] == '.') length--;
    text_add_n(why, line, (size_t)length);
  }
  return why->failed ? error_memory(err) : CUGEN_OK;
}

int api_verify_predictions(cugen_kernel *k, const cugen_tune_options *options,
                           cugen_tune_result *result, cugen_error *err) {
  struct proof p = {.kernel = k,
                    .options = options,
                    .result = result,
                    .begin = clock_seconds(),
                    .limit = options->verify_seconds != 0 ? options->verify_seconds : usual_limit};
  const double left = options->budget_seconds - result->seconds;
  const char *refused = refusal(&p);
  if (options->budget_seconds > 0 && !refused && left < p.limit) p.limit = left, p.by_budget = true;
  bool settled = refused != NULL;
  int status = CUGEN_OK;
  text_restart(&k->unverified);
  if (refused) text_add(&k->unverified, refused);
  while (!status && !settled) {
    struct best_record best;
    status = is_over(&p) ? CUGEN_ERROR_INTERRUPTED : api_best(&k->lookup, &best, err);
    if (status) break;
    settled = !best.found || best.record.verdict != CACHE_NOT_RUN;
    p.best = best.found ? &best.record : NULL;
    if (!settled) status = verify(&p, &best.record, err);
    p.best = NULL;
    api_best_free(&best);
  }
  if (status) status = verify_give_up(&p, status, err);
  const int synced = p.trial ? cache_sync(p.target.cache, status ? NULL : err) : CUGEN_OK;
  if (!status) status = synced;
  trial_close(p.trial);
  problem_free(&p.check);
  text_free(&p.key_options);
  result->seconds += clock_seconds() - p.begin;
  return status;
}
