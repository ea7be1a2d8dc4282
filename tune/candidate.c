/* Variants on their way through the tuner; see candidate.h. */
#include "candidate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "base/library.h"
#include "base/system.h"
#include "runtime/model/cubin.h"
#include "runtime/model/model.h"
#include "runtime/model/occupancy.h"
#include "runtime/plan.h"
#include "worker/claim.h"

/* ---- Candidates ----------------------------------------------------------------------------- */

static struct value *variant_values(const struct bench *bench, uint64_t index,
                                    struct variant *variant) {
  struct value *values = calloc(space_max_tunables(bench->target->space) + 1, sizeof *values);
  if (values) space_variant(bench->target->space, index, variant, values);
  return values;
}

struct hash candidate_refusal(const char *variant, const char *why) {
  struct text text = {0};
  text_addf(&text, "%s\n%s", variant, why);
  struct hash hash = hash_bytes(text_get(&text), text.length);
  text_free(&text);
  return hash;
}

/* Marks the candidate as refused because of *why. The candidate keeps the variant's text, so that
   the refusal can be recorded. */
static int tune_candidate_refuse(struct candidate *c, const struct variant *variant,
                                 const cugen_error *why, cugen_error *err) {
  struct text text = {0};
  variant_print(variant, &text);
  kernel_spec_free(&c->real);
  c->refused = *why;
  c->real.hash = c->real.source_hash = candidate_refusal(text_get(&text), why->message);
  c->real.variant = text_take(&text);
  return c->real.variant ? CUGEN_OK : error_memory(err);
}

/* Adds what the variant is on the check problem to what its record is held against. */
static int add_check(const struct tune_target *t, struct candidate *c,
                     const struct variant *variant, cugen_error *err) {
  struct kernel_compared check = {0};
  if (c->has_check)
    check = kernel_spec_compared(&c->check);
  else if (t->problem_is_check && !variant->implementation->library)
    check = kernel_spec_compared(&c->real);
  return kernel_spec_add_check(&c->real, &check, 1, err);
}

static int expand_both(struct bench *bench, struct candidate *c, const struct variant *variant,
                       cugen_error *err) {
  const struct tune_target *t = bench->target;
  const struct problem *check = t->problem_is_check ? t->problem : &bench->check;
  const struct expr *unmet;
  cugen_error why, ignored;
  int status = expand_unmet(t->config, check, &t->device->facts, variant, &unmet, err);
  if (status) return status;
  if (unmet && t->problem_is_check) {
    error_set(&why, CUGEN_ERROR_CONFIG, "the check problem does not satisfy \"%s\"",
              expr_text(unmet));
    return tune_candidate_refuse(c, variant, &why, err);
  }
  status = expand_variant(bench->expander, t->config, t->problem, &t->device->facts, variant,
                          &c->real, err);
  if (expand_refuses(status)) {
    why = *err;
    c->faulty = status != CUGEN_ERROR_CONFIG;
    return tune_candidate_refuse(c, variant, &why, err);
  }
  if (status || t->predicted) return status;
  /* A library may take another kernel for another problem, so the check problem proves nothing. */
  c->has_check = !t->problem_is_check && !unmet && !variant->implementation->library &&
                 expand_variant(bench->expander, t->config, check, &t->device->facts, variant,
                                &c->check, &ignored) == CUGEN_OK;
  return add_check(t, c, variant, err);
}

bool candidate_has_data(struct bench *bench, struct candidate *c) {
  const cugen_error *fault = c->refused.status ? NULL : bench_fault(bench, &c->real, true);
  if (!c->refused.status && !fault && c->has_check) fault = bench_fault(bench, &c->check, false);
  if (fault) c->refused = *fault, c->faulty = true;
  return !c->refused.status;
}

/* ---- Counting what the real image requests from memory -------------------------------------- */

/* A count on a thread of its own, because counting can take more than a second. */
struct counting {
  const struct device_description *device;
  const struct kernel_spec *spec;
  const struct compiled *compiled;
  double requested;
  atomic_bool stop;
  pthread_t thread;
};

static void *counting_main(void *context) {
  struct counting *n = context;
  n->requested = model_requested(n->device, n->spec, n->compiled, &n->stop);
  return NULL;
}

/* Sets c->counting, unless the image has no PTX or the thread cannot be started. */
static void counting_begin(const struct bench *bench, struct candidate *c,
                           const struct compiled *compiled) {
  struct counting *n = compiled->ptx ? calloc(1, sizeof *n) : NULL;
  if (!n) return;
  n->device = bench->target->device;
  n->spec = &c->real;
  n->compiled = compiled;
  atomic_init(&n->stop, false);
  if (pthread_create(&n->thread, NULL, counting_main, n) == 0)
    c->counting = n;
  else
    free(n);
}

void candidate_count(struct bench *bench, struct candidate *c) {
  if (!bench->target->predicted && !c->counting && c->real_build && !c->real_build->status)
    counting_begin(bench, c, &c->real_build->compiled);
}

int candidate_want_ptx(struct bench *bench, struct candidate *c, cugen_error *err) {
  const bool counts = bench->target->device->facts.is_gpu && !bench->target->predicted;
  const struct compile_job *build = c->real_build;
  if (!counts || !build || build->status || build->compiled.ptx || build->seconds > 0)
    return CUGEN_OK;
  return compile_pool_request_anew(bench->pool, &c->real, &c->ptx_build, err);
}

bool candidate_counted(struct bench *bench, struct candidate *c, double patience,
                       double *requested) {
  if (!c->counting && c->ptx_build) {
    const double begin = clock_seconds();
    if (!compile_pool_await(bench->pool, c->ptx_build, patience)) return false;
    if (!c->ptx_build->status) counting_begin(bench, c, &c->ptx_build->compiled);
    patience -= clock_seconds() - begin;
  }
  if (!c->counting) return true;
  if (!thread_join_within(c->counting->thread, patience)) return false;
  *requested = c->counting->requested;
  free(c->counting);
  c->counting = NULL;
  return true;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

int candidate_open(struct bench *bench, uint64_t index, struct candidate **out, cugen_error *err) {
  *out = NULL;
  struct candidate *c = calloc(1, sizeof *c);
  struct variant variant;
  struct value *values = variant_values(bench, index, &variant);
  int status = c && values ? CUGEN_OK : error_memory(err);
  if (!status) {
    c->index = index;
    status = expand_both(bench, c, &variant, err);
  }
  if (!status) candidate_has_data(bench, c);
  free(values);
  if (status)
    candidate_close(bench, c);
  else
    *out = c;
  return status;
}

int candidate_replace(struct bench *bench, struct candidate *c,
                      const struct tune_baseline *baseline, cugen_error *err) {
  struct kernel_spec *spec = &c->real;
  struct text call = {0}, variant = {0};
  if (c->refused.status) return CUGEN_OK;
  /* Like a library's kernel, a function is proved on the real problem alone. */
  c->has_check = false;
  free(spec->variant), free(spec->source), free(spec->sequence), free(spec->order);
  text_addf(&call, LIBRARY_FUNCTION "%s %s", baseline->function, baseline->path);
  text_addf(&variant, "%s:%s", baseline->path, baseline->function);
  spec->hash = spec->source_hash = hash_bytes(text_get(&call), call.length);
  spec->source = text_take(&call);
  spec->variant = text_take(&variant);
  spec->sequence = NULL, spec->order = NULL;
  spec->sequence_count = 0, spec->launch_count = 1;
  spec->launches[0] = (struct kernel_launch){
      .entry = baseline->function, .listed = true, .grid = {1, 1, 1}, .block = {1, 1, 1}};
  if (!spec->source || !spec->variant) return error_memory(err);
  /* The image is the call's text (base/library.h). */
  struct compiled compiled = {.image = strdup(spec->source),
                              .image_length = strlen(spec->source),
                              .image_hash = spec->hash,
                              .entry_count = 1,
                              .entries = {strdup(baseline->function)},
                              .log = strdup("")};
  if (compiled.image && compiled.entries[0] && compiled.log)
    return compile_pool_adopt(bench->pool, spec, &compiled, &c->real_build, err);
  compiled_free(&compiled);
  return error_memory(err);
}

void candidate_close(struct bench *bench, struct candidate *c) {
  if (!c) return;
  if (c->counting) {
    atomic_store(&c->counting->stop, true);
    pthread_join(c->counting->thread, NULL);
    free(c->counting);
  }
  compile_job_release(bench->pool, c->real_build);
  compile_job_release(bench->pool, c->check_build);
  compile_job_release(bench->pool, c->ptx_build);
  kernel_spec_free(&c->real);
  kernel_spec_free(&c->check);
  free(c);
}

static struct bench_images variant_images(const struct bench *bench) {
  const struct tune_target *t = bench->target;
  return (struct bench_images){
      .cache = t->cache, .with_ptx = t->predicted ? t->with_ptx : NULL, .options = t->key.options};
}

int candidate_keep_image(struct bench *bench, const struct candidate *c, cugen_error *err) {
  const struct bench_images in = variant_images(bench);
  return c->real_build && !c->real_build->status
             ? bench_keep_image(bench, &in, &c->real, c->real_build, err)
             : CUGEN_OK;
}

int candidate_build(struct bench *bench, struct candidate *c, cugen_error *err) {
  const struct bench_images in = variant_images(bench);
  if (c->refused.status) return CUGEN_OK;
  if (!bench->target->predicted) {
    struct variant variant;
    struct value *values = variant_values(bench, c->index, &variant);
    if (!values) return error_memory(err);
    if (c->has_check) bench_foresee(bench, &c->check, &bench->check, false, &variant);
    bench_foresee(bench, &c->real, bench->target->problem, true, &variant);
    free(values);
  }
  int status = bench_request_image(bench, &in, &c->real, &c->real_build, err);
  if (!status && c->has_check)
    status = bench_request_image(bench, &in, &c->check, &c->check_build, err);
  return status;
}

bool candidate_ready(struct bench *bench, const struct candidate *c) {
  return (!c->real_build || compile_job_finished(bench->pool, c->real_build)) &&
         (!c->check_build || compile_job_finished(bench->pool, c->check_build));
}

void candidate_hasten(struct bench *bench, struct candidate *c) {
  if (c->real_build) compile_pool_await(bench->pool, c->real_build, 0);
  if (c->check_build) compile_pool_await(bench->pool, c->check_build, 0);
}

void candidate_finish(struct bench *bench, struct candidate *c) {
  if (c->real_build) compile_pool_finish(bench->pool, c->real_build);
  if (c->check_build) compile_pool_finish(bench->pool, c->check_build);
}

double candidate_compile_seconds(const struct candidate *c) {
  bool shared = c->check_build == c->real_build;
  return (c->real_build ? c->real_build->seconds : 0) +
         (c->check_build && !shared ? c->check_build->seconds : 0);
}

/* Adds the hashes of what the device runs and of what the result is compared with. */
static void add_identity(struct text *out, const struct kernel_spec *spec,
                         const struct compile_job *build) {
  if (!build) return;
  text_addf(out, "%s %s %s %s %s\n", build->compiled.image_hash.hex, spec->launches_hash.hex,
            spec->arguments_hash.hex, kernel_spec_proof_without(spec, 0, true).hex,
            spec->data_hash.hex);
}

struct hash candidate_image(const struct candidate *c) {
  struct hash hash = {0};
  struct text text = {0};
  if (!c->real_build || c->real_build->status || (c->check_build && c->check_build->status))
    return hash;
  add_identity(&text, &c->real, c->real_build);
  add_identity(&text, &c->check, c->check_build);
  if (!text.failed) hash = hash_bytes(text_get(&text), text.length);
  text_free(&text);
  return hash;
}

/* ---- Records -------------------------------------------------------------------------------- */

static int record_begin(const struct bench *bench, const struct candidate *c,
                        struct cache_record *out, cugen_error *err) {
  *out = (struct cache_record){.flops = c->real.flops,
                               .bytes = c->real.bytes,
                               .driver_version = bench->target->device->driver_version,
                               .nvrtc_version = bench->target->nvrtc_version,
                               .measured_at = clock_unix()};
  cache_record_take_hashes(out, &c->real);
  out->variant = strdup(c->real.variant);
  return out->variant ? CUGEN_OK : error_memory(err);
}

static int record_reason(struct cache_record *out, cugen_outcome outcome, const char *reason,
                         cugen_error *err) {
  out->outcome = outcome;
  out->reason = strdup(reason);
  return out->reason ? CUGEN_OK : error_memory(err);
}

static void record_resources(const struct bench *bench, const struct candidate *c,
                             struct cache_record *out) {
  const struct compiled *compiled = &c->real_build->compiled;
  const struct kernel_launch *launch = &c->real.launches[plan_heaviest(&c->real, compiled)];
  const size_t entry = plan_entry_index(&c->real, launch->entry);
  out->resources = compiled->resources[entry];
  out->threads = (int)((int64_t)launch->block[0] * launch->block[1] * launch->block[2]);
  out->dynamic_shared = launch->shared_bytes;
  if (!(bench->target->ops->capabilities & DEVICE_OCCUPANCY) ||
      library_call_is(compiled->image, compiled->image_length))
    return;
  out->cluster_blocks =
      cubin_cluster(compiled->image, compiled->image_length, compiled->entries[entry]);
  struct occupancy occupancy;
  cugen_error ignored;
  if (occupancy_get(&bench->target->device->facts, &out->resources, out->threads,
                    out->dynamic_shared, launch->has_carveout ? launch->carveout : -1, &occupancy,
                    &ignored))
    return;
  out->occupancy = occupancy.fraction;
  snprintf(out->limiter, sizeof out->limiter, "%s", occupancy.limiter);
}

/* Returns the error of a failed compile, of the real image if both failed; NULL: none failed. */
static const cugen_error *compile_failure(const struct candidate *c) {
  if (c->real_build->status) return &c->real_build->error;
  return c->check_build && c->check_build->status ? &c->check_build->error : NULL;
}

/* Makes the job of a compiled candidate, and the job's datasets. */
static int make_job(struct bench *bench, const struct candidate *c, bool verify,
                    const struct measure_options *measure, double timeout, struct worker_job *job,
                    cugen_error *err) {
  const struct tune_target *t = bench->target;
  *job = (struct worker_job){.real_spec = &c->real,
                             .real_compiled = &c->real_build->compiled,
                             .verify = verify,
                             .measure = *measure,
                             .timeout = timeout};
  struct variant variant;
  struct value *values = variant_values(bench, c->index, &variant);
  if (!values) return error_memory(err);
  int status = bench_dataset(bench, &c->real, t->problem, true, &variant, &job->real, err);
  if (!status && c->has_check && verify) {
    job->check_spec = &c->check;
    job->check_compiled = &c->check_build->compiled;
    status = bench_dataset(bench, &c->check, &bench->check, false, &variant, &job->check, err);
  }
  free(values);
  return status;
}

/* Adds the source line to *why, which is the model's reason for refusing the spec, if the line is
   found. Images have no line numbers, so that equal code has equal images. Therefore the first
   refused variant of each implementation and reason is compiled once more with line numbers. */
static void place_refusal(struct bench *bench, const struct kernel_spec *spec, cugen_error *why) {
  struct text of = {0};
  text_addf(&of, "%.*s: %s", VARIANT_IMPLEMENTATION(spec->variant), why->message);
  const struct unpredicted_reason *known = bench->unpredicted;
  while (known && strcmp(known->of, text_get(&of)) != 0) known = known->next;
  if (known) {
    text_free(&of);
    error_set(why, why->status, "%s", known->placed);
    return;
  }
  struct model_prediction ignored;
  struct compiled compiled = {0};
  cugen_error placed;
  if (compile_pool_with_lines(bench->pool, spec, &compiled, &placed) == CUGEN_OK &&
      model_predict(bench->target->device, spec, &compiled, 0, &ignored, &placed) ==
          CUGEN_ERROR_COMPILE)
    *why = placed;
  compiled_free(&compiled);
  struct unpredicted_reason *made = calloc(1, sizeof *made);
  if (made)
    *made = (struct unpredicted_reason){text_take(&of), strdup(why->message), bench->unpredicted};
  if (made && made->of && made->placed) {
    bench->unpredicted = made;
    return;
  }
  /* Without memory, the place is searched again for the next variant. */
  if (made) free(made->of), free(made->placed), free(made);
  text_free(&of);
}

/* Fills the record with a prediction in place of a measurement. The reason of the record says what
   bounds the variant, or why there is no prediction. */
static int candidate_predict(struct bench *bench, struct candidate *c, struct cache_record *out,
                             cugen_error *err) {
  struct model_prediction prediction;
  cugen_error why;
  int status = model_predict(bench->target->device, &c->real, &c->real_build->compiled,
                             bench->until, &prediction, &why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  if (status == CUGEN_ERROR_INTERRUPTED)
    return error_set(err, status, "'%s' was still being predicted", c->real.variant);
  if (status == CUGEN_ERROR_COMPILE) place_refusal(bench, &c->real, &why);
  record_resources(bench, c, out);
  if (status)
    return record_reason(
        out, status == CUGEN_ERROR_CONFIG ? CUGEN_OUTCOME_LAUNCH : CUGEN_OUTCOME_UNPREDICTED,
        why.message, err);
  out->requested = prediction.requested;
  out->seconds = out->seconds_min = out->seconds_p20 = out->seconds_p80 = prediction.seconds;
  return record_reason(out, CUGEN_OUTCOME_OK, model_part_names[prediction.bound], err);
}

static int candidate_check_launches(const struct bench *bench, const struct kernel_spec *spec,
                                    const struct compiled *compiled, cugen_error *err) {
  const struct tune_target *t = bench->target;
  const bool known = t->ops->capabilities & DEVICE_OCCUPANCY;
  return plan_check_launches(t->ops, &t->device->facts, spec, compiled,
                             known ? occupancy_resident : NULL, err);
}

bool candidate_can_run(struct bench *bench, struct candidate *c) {
  if (bench->target->predicted || !candidate_has_data(bench, c) || compile_failure(c)) return false;
  /* The launches are checked here rather than in the worker, because the worker has no source lines
     for the message. */
  if (candidate_check_launches(bench, &c->real, &c->real_build->compiled, &c->refused))
    return false;
  if (!c->check_build ||
      !candidate_check_launches(bench, &c->check, &c->check_build->compiled, &c->refused))
    return true;
  struct text problem = {0};
  problem_add_check(bench->target->config, &bench->check, &problem);
  error_prefix(&c->refused, "%s", text_get(&problem));
  text_free(&problem);
  return false;
}

int candidate_refuse(struct bench *bench, struct candidate *c, struct cache_record *out,
                     cugen_error *err) {
  return candidate_has_data(bench, c)
             ? err->status
             : record_reason(out, CUGEN_OUTCOME_LAUNCH, c->refused.message, err);
}

/* Completes the record of a candidate whose outcome is known without a run. */
static int end_early(struct bench *bench, struct candidate *c, struct cache_record *out,
                     cugen_error *err) {
  if (!candidate_has_data(bench, c)) return candidate_refuse(bench, c, out, err);
  const cugen_error *refused = compile_failure(c);
  if (!refused) return candidate_predict(bench, c, out, err);
  /* A lack of a compiler or of memory is not the variant's fault. */
  if (refused->status != CUGEN_ERROR_COMPILE) return error_copy(err, refused);
  if (!bench->refused.status) bench->refused = *refused;
  return record_reason(out, CUGEN_OUTCOME_COMPILE, refused->message, err);
}

int candidate_start(struct bench *bench, struct candidate *c, size_t worker, bool verify,
                    const struct measure_options *measure, double timeout, struct worker_job *job,
                    struct cache_record *out, enum candidate_way *way, cugen_error *err) {
  *way = CANDIDATE_ENDED;
  int status = record_begin(bench, c, out, err);
  if (status) return status;
  if (!candidate_can_run(bench, c)) return end_early(bench, c, out, err);
  status = make_job(bench, c, verify, measure, timeout, job, err);
  if (status) return candidate_refuse(bench, c, out, err);
  *way = bench_awaits_data(bench, job) ? CANDIDATE_WAITS : CANDIDATE_RUNS;
  if (*way == CANDIDATE_RUNS)
    bench_start(bench, worker, job);
  else
    cache_record_free(out);
  return CUGEN_OK;
}

/* Takes over the reason of a result. If the run was on the check problem, the reason says so. */
static int record_run_reason(const struct bench *bench, const struct candidate *c,
                             const struct worker_result *result, struct cache_record *out,
                             cugen_error *err) {
  struct text reason = {0};
  if (result->on_check) problem_add_check(bench->target->config, &bench->check, &reason);
  text_add(&reason, result->reason);
  kernel_add_order(&c->real, result->outcome, &reason);
  int status = reason.failed ? error_memory(err)
                             : record_reason(out, result->outcome, text_get(&reason), err);
  text_free(&reason);
  return status;
}

static int candidate_complete(const struct bench *bench, struct candidate *c,
                              const struct worker_result *result, struct cache_record *out,
                              double *busy, cugen_error *err) {
  *busy = result->seconds;
  record_resources(bench, c, out);
  claim_record(result, bench->seed, out);
  c->cause = result->cause;
  if (result->cause == CUGEN_CAUSE_GRID_SYNC) {
    launch_refuse_grid_sync(&c->real, &c->refused);
    return record_reason(out, CUGEN_OUTCOME_LAUNCH, c->refused.message, err);
  }
  return record_run_reason(bench, c, result, out, err);
}

int candidate_take(struct bench *bench, struct candidate *c, size_t worker,
                   const struct worker_job *job, struct cache_record *out, double *busy,
                   const struct dataset_request **failed, cugen_error *err) {
  struct worker_result result;
  *busy = 0;
  int status = bench_take(bench, worker, job, &result, failed, err);
  return status ? status : candidate_complete(bench, c, &result, out, busy, err);
}

int candidate_run(struct bench *bench, struct candidate *c, bool verify,
                  const struct measure_options *measure, double timeout, struct cache_record *out,
                  double *busy, cugen_error *err) {
  struct worker_job job;
  struct worker_result result;
  *busy = 0;
  int status = record_begin(bench, c, out, err);
  if (status) return status;
  if (!candidate_can_run(bench, c)) return end_early(bench, c, out, err);
  status = make_job(bench, c, verify, measure, timeout, &job, err);
  if (!status) status = bench_run(bench, &job, &result, err);
  return status ? candidate_refuse(bench, c, out, err)
                : candidate_complete(bench, c, &result, out, busy, err);
}
