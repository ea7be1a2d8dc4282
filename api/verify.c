/* Verifying what is predicted: the fastest variant is run on the cpu device, with the config's check problem and what
   is compiled for its GPU, until one comes out right. What comes out wrong is remembered as that, so that it is chosen no more;
   what came out right is remembered too, and no run pays for it again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/devices.h"
#include "tune/trial.h"

static const double usual_limit = 30, most_run = 10;

struct proof {
  cugen_kernel *kernel;
  const cugen_tune_options *options;
  cugen_tune_result *result;
  struct problem check;
  struct text key_options;
  struct device_description device; /* the cpu device, with the facts of the GPU */
  struct tune_target target;
  struct trial *trial; /* opened when something is to be run */
  double begin, limit;
  const struct cache_record *best; /* that runs now; NULL: none does */
  bool stopped;                    /* the callback asked to */
};

/* ---- What runs it ------------------------------------------------------------------------------------------------ */

static double time_left(const struct proof *p) {
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
  if (p->options->progress && !p->stopped) p->stopped = p->options->progress(&progress, p->options->context) != 0;
  return p->stopped || time_left(p) <= 0;
}

/* Sources are those of the GPU, and so are the launches: the config's expressions see its facts. */
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
  p->target = (struct tune_target){.config = l->config,
                                   .problem = &p->check,
                                   .space = l->space,
                                   .sources = &l->opened->sources,
                                   .ops = &cpu_device_ops,
                                   .device = &p->device,
                                   .arch = l->arch,
                                   .toolkit = l->lib->toolkit,
                                   .toolkit_options = l->lib->toolkit_options,
                                   .worker = l->lib->worker,
                                   .worker_places = text_get(&l->lib->worker_places),
                                   .cache = cache,
                                   .images = images,
                                   .key = {.device = p->device.fingerprint,
                                           .config = l->config->name,
                                           .problem = "",
                                           .options = text_get(&p->key_options)},
                                   .problem_is_check = true};
  return CUGEN_OK;
}

static int open_trial(struct proof *p, cugen_error *err) {
  const struct trial_options options = {
      .seed = p->options->seed, .compile_timeout = p->limit, .interrupted = is_over, .context = p};
  if (p->trial) return CUGEN_OK;
  int status = open_target(p, err);
  return status ? status : trial_open(&p->target, &options, &p->trial, err);
}

static void proof_close(struct proof *p) {
  trial_close(p->trial);
  problem_free(&p->check);
  text_free(&p->key_options);
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

/* The first line that is no heading ("In function 'k':"), as one that a table can hold. */
static void note_unverified(struct cache_record *record, const struct cache_record *got) {
  const char *line = got->reason;
  size_t length = strcspn(line, "\n");
  while (length && line[length - 1] == ':' && line[length]) {
    line += length + 1;
    length = strcspn(line, "\n");
  }
  struct text text = {0};
  text_addf(&text, "on the cpu device: %s: ", cugen_outcome_text((int)got->outcome));
  for (size_t i = 0; i < length; i++)
    text_add_char(&text, (unsigned char)line[i] < ' ' || (unsigned char)line[i] > '~' ? '?' : line[i]);
  snprintf(record->unverified, sizeof record->unverified, "%s", text_get(&text));
  text_free(&text);
}

/* The cpu device cannot run all that a GPU can, and is slow: only what went wrong there is known to be wrong. */
static void judge(struct proof *p, struct cache_record *record, struct cache_record *got) {
  record->verdict = CACHE_NOT_VERIFIABLE;
  record->unverified[0] = '\0';
  if (got->outcome == CUGEN_OUTCOME_OK) {
    record->verdict = CACHE_RIGHT;
    record->error = got->error;
    p->result->verified++;
  } else if (cache_record_is_refuted(got)) {
    char *reason = record->reason;
    record->verdict = CACHE_NOT_RUN;
    record->outcome = got->outcome;
    record->reason = got->reason; /* exchanged: each is freed once */
    got->reason = reason;
    record->measured_at = clock_unix();
    p->result->refuted++;
  } else {
    note_unverified(record, got);
  }
}

/* The record speaks of the kernel as it is now. */
static int renew(struct proof *p, struct cache_record *record, cugen_error *err) {
  struct judgement judgement;
  int status = api_judge(&p->kernel->lookup, record, &judgement, err);
  if (status) return status;
  record->hash = judgement.now.hash;
  record->proof_hash = judgement.now.proof_hash;
  const struct cache_key key = lookup_key(&p->kernel->lookup);
  return cache_store(p->target.cache, &key, record, err);
}

/* What ran and was wrong was so on the check problem, which may not be the one that the user gave. */
static int name_check(const struct proof *p, struct cache_record *got, cugen_error *err) {
  const struct lookup *l = &p->kernel->lookup;
  struct text problem = {0}, reason = {0};
  problem_print(l->config, &p->check, &problem);
  const bool same = strcmp(text_get(&problem), text_get(&l->problem_text)) == 0;
  text_free(&problem);
  if (same || !cache_record_is_refuted(got)) return CUGEN_OK;
  problem_add_check(l->config, &p->check, &reason);
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

static int verify(struct proof *p, uint64_t index, struct cache_record *record, cugen_error *err) {
  const struct measure_options once = {.samples = 1};
  struct cache_record got;
  double asked = p->options->variant_timeout > 0 ? p->options->variant_timeout : most_run;
  int status = open_trial(p, err);
  if (!status) status = trial_run(p->trial, index, asked, &once, &got, err);
  if (status) return status;
  status = name_check(p, &got, err);
  if (!status) judge(p, record, &got);
  cache_record_free(&got);
  if (status) return status;
  return renew(p, record, err);
}

/* The fastest; *settled: nothing is left to do. */
static int verify_first(struct proof *p, bool *settled, cugen_error *err) {
  struct best_record best;
  int status = api_best(&p->kernel->lookup, &best, err);
  if (status) return status;
  *settled = !best.found || best.record.verdict != CACHE_NOT_RUN;
  p->best = best.found ? &best.record : NULL;
  if (!*settled) status = verify(p, best.index, &best.record, err);
  p->best = NULL;
  api_best_free(&best);
  return status;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static const char *refusal(const struct proof *p) {
  if (!config_proves(p->kernel->lookup.config)) return "the config has reference \"none\"";
  if (p->limit < 0) return "it was not asked for";
  if (p->options->flags & CUGEN_TUNE_IN_PROCESS) return "nothing runs in the application's own process";
  return NULL;
}

/* Without its full stop, on one line. */
static size_t first_sentence(const char *message) {
  size_t length = strcspn(message, "\n");
  return length && message[length - 1] == '.' ? length - 1 : length;
}

/* Why it ended before all was settled: no failure of the tuning. */
static int give_up(struct proof *p, int status, cugen_error *err) {
  struct text *why = &p->kernel->unverified;
  if (status == CUGEN_ERROR_MEMORY) return status;
  if (p->stopped) {
    p->result->interrupted = 1;
    return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request; everything predicted is kept");
  }
  if (time_left(p) <= 0)
    text_addf(why, "that took longer than %g s", p->limit);
  else
    text_addf(why, "%.*s", (int)first_sentence(err->message), err->message);
  return why->failed ? error_memory(err) : CUGEN_OK;
}

int api_verify_predictions(cugen_kernel *k, const cugen_tune_options *options, cugen_tune_result *result,
                           cugen_error *err) {
  struct proof p = {.kernel = k,
                    .options = options,
                    .result = result,
                    .begin = clock_seconds(),
                    .limit = options->verify_seconds != 0 ? options->verify_seconds : usual_limit};
  const char *refused = refusal(&p);
  bool settled = refused != NULL;
  int status = CUGEN_OK;
  text_restart(&k->unverified);
  if (refused) text_add(&k->unverified, refused);
  while (!status && !settled) {
    if (is_over(&p)) status = CUGEN_ERROR_INTERRUPTED;
    if (!status) status = verify_first(&p, &settled, err);
  }
  if (status) status = give_up(&p, status, err);
  const int synced = p.trial ? cache_sync(p.target.cache, status ? NULL : err) : CUGEN_OK;
  if (!status) status = synced;
  proof_close(&p);
  result->seconds += clock_seconds() - p.begin;
  return status;
}
