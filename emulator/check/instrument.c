/* Observed runs; see instrument.h. */
#include "instrument.h"
#include "runtime/devices.h"

#include <stdlib.h>
#include <string.h>

struct instrument {
  struct tune_target target;
  struct device_description device;
  struct bench bench;
  struct instrument_options options;
  /* The last variant. */
  struct kernel_spec spec;
  struct compiled compiled, at_source; /* without an image until the image is needed */
  struct hash compiled_image;          /* hash of the source and kernels of the two images */
  /* Used when two runs were needed: findings of one, traffic of the other. */
  struct watch_report report;
  cugen_error refused; /* status set: the source does not compile */
  struct text text, printed;
};

int instrument_open(const struct tune_target *target, const struct instrument_options *options,
                    struct instrument **out, cugen_error *err) {
  *out = NULL;
  struct instrument *p = calloc(1, sizeof *p);
  if (!p) return error_memory(err);
  p->target = *target;
  p->options = *options;
  int status = cpu_device_ops.describe(target->toolkit, 0, &p->device, err);
  p->device.facts = target->device->facts;
  p->target.ops = &cpu_device_ops;
  p->target.device = &p->device;
  p->target.arch = "cpu";
  p->target.in_process = false;
  const struct bench_options bench = {.seed = options->seed,
                                      .threads = 1,
                                      .timeout = 120,
                                      .data_timeout = options->timeout,
                                      .interrupted = options->interrupted,
                                      .context = options->context};
  if (!status) status = bench_open(&p->target, &bench, &p->bench, err);
  if (status)
    instrument_close(p);
  else
    *out = p;
  return status;
}

void instrument_close(struct instrument *p) {
  if (!p) return;
  if (p->bench.target) bench_close(&p->bench);
  kernel_spec_free(&p->spec);
  compiled_free(&p->compiled);
  compiled_free(&p->at_source);
  text_free(&p->text);
  text_free(&p->printed);
  free(p);
}

static void instrument_fail(struct instrument_result *out, cugen_outcome outcome, cugen_cause cause,
                            const char *reason) {
  size_t length = strnlen(reason, sizeof out->reason - 1);
  out->outcome = outcome;
  out->cause = cause;
  memcpy(out->reason, reason, length);
  out->reason[length] = '\0';
}

static void fail_with(struct instrument_result *out, cugen_outcome outcome,
                      const cugen_error *why) {
  instrument_fail(out, outcome, why->cause, why->message);
}

static void instrument_place(struct instrument_result *out, const cugen_error *why) {
  out->where.line = why->line;
  const size_t length = strnlen(why->file, sizeof out->where.file - 1);
  memcpy(out->where.file, why->file, length);
  out->where.file[length] = '\0';
}

static void refuse_launch(struct instrument_result *out, const cugen_error *why) {
  instrument_fail(out, CUGEN_OUTCOME_LAUNCH, why->cause, error_without_place(why));
  out->refused = true;
  instrument_place(out, why);
}

static int instrument_refuse(struct instrument_result *out, const cugen_error *fault) {
  fail_with(out, CUGEN_OUTCOME_LAUNCH, fault);
  out->fault = fault->status;
  return CUGEN_OK;
}

/* Returns true if findings need p->at_source, the image in which the compiler keeps accesses in
   their places: p->compiled has no image, or the compiler may have moved accesses in that image. */
static bool is_apart(const struct instrument *p) {
  return !p->compiled.image || p->compiled.moved;
}

static int compile_image(struct instrument *p, bool at_source, cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  const struct compile_request request = {.toolkit = p->target.toolkit,
                                          .name = p->target.config->name,
                                          .source = p->spec.source,
                                          .options = p->spec.options,
                                          .entries = entries,
                                          .entry_count = plan_entries(&p->spec, entries),
                                          .timeout = 120,
                                          .watched = true,
                                          .at_source = at_source,
                                          .stop = {p->options.interrupted, p->options.context}};
  const int status =
      cpu_device_ops.compile(&request, at_source ? &p->at_source : &p->compiled, &p->refused);
  if (status == CUGEN_OK || status == CUGEN_ERROR_COMPILE) return CUGEN_OK;
  p->compiled_image = (struct hash){0};
  return error_copy(err, &p->refused);
}

/* Compiles what is not compiled already. The optimised image is made only if traffic is counted. */
static int instrument_compile(struct instrument *p, bool traffic, cugen_error *err) {
  struct text key = {0};
  text_add(&key, p->spec.source_hash.hex);
  plan_add_entries(&p->spec, &key);
  const struct hash image = hash_bytes(text_get(&key), key.length);
  int status = key.failed ? error_memory(err) : CUGEN_OK;
  text_free(&key);
  if (status) return status;
  if (strcmp(p->compiled_image.hex, image.hex) != 0) {
    compiled_free(&p->compiled);
    compiled_free(&p->at_source);
    p->compiled_image = image;
    p->refused = (cugen_error){0};
  }
  if (traffic && !p->compiled.image && !p->refused.status) status = compile_image(p, false, err);
  if (status || p->refused.status || p->at_source.image || !is_apart(p)) return status;
  return compile_image(p, true, err);
}

/* Counts the traffic in the optimised image. If the blocks of a single launch are independent, only
   the blocks to count run. */
static int count_traffic(struct instrument *p, struct worker_job *job,
                         struct instrument_result *out, cugen_error *err) {
  struct worker_result result = {0};
  p->report = *out->report;
  out->report = &p->report;
  if (out->outcome != CUGEN_OUTCOME_OK && out->outcome != CUGEN_OUTCOME_WRONG) return CUGEN_OK;
  job->real_compiled = &p->compiled;
  job->mode = WATCH_TRAFFIC;
  if (p->report.launch_count == 1 && !p->report.dependent) job->count_blocks = WATCH_COUNTED_BLOCKS;
  const int status = bench_run(&p->bench, job, &result, err);
  const struct watch_report *counted =
      status ? NULL : worker_report(worker_pool_at(p->bench.workers, 0));
  if (!counted || result.outcome != CUGEN_OUTCOME_OK) return status;
  p->report.launch_count = counted->launch_count;
  memcpy(p->report.launches, counted->launches, sizeof counted->launches);
  return status;
}

static int check_instrument_run(struct instrument *p, const struct problem *problem,
                                const struct variant *variant,
                                const struct instrument_request *wanted,
                                struct instrument_result *out, cugen_error *err) {
  const bool apart = is_apart(p);
  struct worker_job job = {.real_spec = &p->spec,
                           .real_compiled = apart ? &p->at_source : &p->compiled,
                           .mode = apart || !wanted->traffic ? WATCH_FINDINGS : WATCH_ALL,
                           .verify = true,
                           .watched = true,
                           .processes = (uint32_t)wanted->processes,
                           .timeout = p->options.timeout};
  struct worker_result result = {0};
  p->target.problem = problem;
  int status = bench_dataset(&p->bench, &p->spec, problem, false, variant, &job.real, err);
  const bool made = !status;
  if (!status) status = bench_run(&p->bench, &job, &result, err);
  const cugen_error *fault = status ? bench_fault(&p->bench, &p->spec, false) : NULL;
  if (fault && p->target.config->shared_tunable_count) return instrument_refuse(out, fault);
  /* the problem has no data */
  if (fault && (made || status == CUGEN_ERROR_DEVICE) && status != CUGEN_ERROR_MEMORY) {
    fail_with(out, CUGEN_OUTCOME_TIMEOUT, fault);
    out->without_data = true;
    out->fault = fault->status;
    return CUGEN_OK;
  }
  if (status) return status;
  instrument_fail(out, result.outcome, result.cause, result.reason);
  out->report = worker_report(worker_pool_at(p->bench.workers, 0));
  text_clear(&p->printed);
  worker_printed(worker_pool_at(p->bench.workers, 0), true, &p->printed);
  out->printed = text_get(&p->printed);
  out->compiled = job.real_compiled;
  if (result.cause == CUGEN_CAUSE_GRID_SYNC) {
    cugen_error why = {0};
    launch_refuse_grid_sync(&p->spec, &why);
    refuse_launch(out, &why);
    out->always = true;
    return CUGEN_OK;
  }
  return apart && wanted->traffic ? count_traffic(p, &job, out, err) : CUGEN_OK;
}

int instrument_run(struct instrument *p, const struct problem *problem,
                   const struct variant *variant, const struct instrument_request *wanted,
                   struct instrument_result *out, cugen_error *err) {
  static const struct watch_report nothing;
  text_clear(&p->text);
  variant_print(variant, &p->text);
  *out = (struct instrument_result){
      .variant = text_get(&p->text), .report = &nothing, .printed = "", .source = ""};
  kernel_spec_free(&p->spec);
  p->spec = (struct kernel_spec){0};
  /* The error message does not name the variant, so that equal reasons are equal texts. */
  int status = expand_variant_unnamed(p->bench.expander, p->target.config, problem,
                                      &p->device.facts, variant, &p->spec, err);
  if (status == CUGEN_ERROR_CONFIG) { /* no device can launch the variant */
    fail_with(out, CUGEN_OUTCOME_LAUNCH, err);
    instrument_place(out, err);
    out->invalid = true;
    return CUGEN_OK;
  }
  if (expand_refuses(status)) return instrument_refuse(out, err);
  if (!status) status = instrument_compile(p, wanted->traffic, err);
  if (status) return status;
  out->source = p->spec.source;
  out->spec = &p->spec;
  out->compiled = &p->compiled;
  if (p->refused.status) {
    fail_with(out, CUGEN_OUTCOME_COMPILE, &p->refused);
    return CUGEN_OK;
  }
  const struct compiled *image = p->compiled.image ? &p->compiled : &p->at_source;
  cugen_error why = {0};
  if (plan_check_launches(&cpu_device_ops, &p->device.facts, &p->spec, image, NULL, &why)) {
    refuse_launch(out, &why);
    return CUGEN_OK;
  }
  return check_instrument_run(p, problem, variant, wanted, out, err);
}
