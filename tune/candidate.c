/* Variants on their way through the tuner; see candidate.h. */
#include "candidate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system.h"
#include "model.h"
#include "runtime/nvrtc.h"
#include "runtime/occupancy.h"
#include "runtime/plan.h"

/* One dataset and what it owns. Requests for one problem differ by the arguments' shapes, types and places alone. */
struct bench_data {
  struct dataset_request request;
  const struct problem *problem;
  struct kernel_spec spec, reference;
  struct build *build;
  struct bench_data *next;
};

/* ---- The bench ---- */

int bench_open(const struct tune_target *target, const struct bench_options *options, struct bench *out,
               cugen_error *err) {
  *out = (struct bench){.target = target, .seed = options->seed};
  const struct builds_options builds = {.ops = target->ops,
                                        .toolkit = target->toolkit,
                                        .arch = target->arch,
                                        .timeout = options->timeout,
                                        .keep_ptx = target->predicted,
                                        .threads = options->threads};
  const struct worker_options worker = {.program = target->worker,
                                        .device = target->device->id,
                                        .toolkit = target->toolkit_options,
                                        .in_process = target->in_process,
                                        .cuda_context = target->cuda_context,
                                        .interrupted = options->interrupted,
                                        .context = options->context};
  int status = expander_open(target->sources, &out->expander, err);
  if (!status) status = builds_open(&builds, &out->builds, err);
  if (!status && !target->predicted) status = worker_open(&worker, &out->worker, err);
  if (!status) status = problem_check(target->config, target->problem, &out->check, err);
  if (status) bench_close(out);
  return status;
}

static void data_free(struct bench *bench, struct bench_data *data) {
  build_release(bench->builds, data->build);
  kernel_spec_free(&data->reference);
  free(data->spec.arguments);
  if (data->request.results >= 0) close(data->request.results);
  free(data);
}

void bench_close(struct bench *bench) {
  worker_close(bench->worker);
  while (bench->data) {
    struct bench_data *next = bench->data->next;
    data_free(bench, bench->data);
    bench->data = next;
  }
  builds_close(bench->builds);
  expander_close(bench->expander);
  problem_free(&bench->check);
  *bench = (struct bench){0};
}

/* ---- Datasets ---- */

static bool same_arguments(const struct kernel_spec *a, const struct kernel_spec *b) {
  for (size_t i = 0; i < a->argument_count; i++) {
    const struct kernel_argument *x = &a->arguments[i], *y = &b->arguments[i];
    bool same = x->rank == y->rank && x->dtype == y->dtype && x->column_major == y->column_major &&
                x->elements == y->elements && x->memory == y->memory && x->fill == y->fill &&
                x->tolerance == y->tolerance && x->norm == y->norm &&
                memcmp(x->shape, y->shape, sizeof x->shape) == 0 &&
                memcmp(x->stride, y->stride, sizeof x->stride) == 0 && value_equal(x->value, y->value);
    if (!same) return false;
  }
  return true;
}

static int make_results(struct bench_data *data, cugen_error *err) {
  int64_t count;
  size_t bytes;
  bool all;
  int status = dataset_results_size(&data->spec, data->request.seed, &bytes, &count, &all, err);
  if (status) return status;
  data->request.results = memfd_create("cugen-reference", MFD_CLOEXEC);
  if (data->request.results < 0 || ftruncate(data->request.results, (off_t)bytes) != 0)
    return error_set(err, CUGEN_ERROR_MEMORY, "%zu bytes of shared memory for the reference: %s", bytes,
                     strerror(errno));
  return CUGEN_OK;
}

static int make_reference(struct bench *bench, struct bench_data *data, const struct problem *problem,
                          const struct variant *variant, cugen_error *err) {
  const struct tune_target *t = bench->target;
  int64_t count;
  size_t bytes;
  bool all;
  int status = dataset_results_size(&data->spec, data->request.seed, &bytes, &count, &all, err);
  if (!status)
    status = expand_reference(bench->expander, t->config, problem, &t->device->facts, variant, all ? 0 : count,
                              &data->reference, err);
  if (!status) status = builds_request(bench->builds, &data->reference, &data->build, err);
  if (status) return status;
  while (!build_finished(bench->builds, data->build)) builds_wait(bench->builds, 0.05);
  if (data->build->status) {
    *err = data->build->error;
    return error_prefix(err, "the reference does not compile");
  }
  data->request.reference = &data->reference;
  data->request.reference_compiled = &data->build->compiled;
  return make_results(data, err);
}

/* Only the plain part of the arguments is kept; their names live in the config. */
static int copy_arguments(const struct kernel_spec *from, const struct config *config, struct kernel_spec *to,
                          cugen_error *err) {
  *to = (struct kernel_spec){
      .variant = (char *)(uintptr_t) "", .flops = from->flops, .argument_count = from->argument_count};
  to->arguments = calloc(from->argument_count + 1, sizeof *to->arguments);
  if (!to->arguments) return error_memory(err);
  memcpy(to->arguments, from->arguments, from->argument_count * sizeof *to->arguments);
  for (size_t i = 0; i < to->argument_count; i++) to->arguments[i].name = config->arguments[i].name;
  return CUGEN_OK;
}

int bench_dataset(struct bench *bench, const struct kernel_spec *spec, const struct problem *problem, bool timed,
                  const struct variant *variant, const struct dataset_request **out, cugen_error *err) {
  for (struct bench_data *d = bench->data; d; d = d->next)
    if (d->request.timed == timed && d->problem == problem && same_arguments(&d->spec, spec)) {
      *out = &d->request;
      return CUGEN_OK;
    }
  struct bench_data *d = calloc(1, sizeof *d);
  if (!d) return error_memory(err);
  d->request = (struct dataset_request){
      .id = bench->next_id++, .spec = &d->spec, .seed = bench->seed + timed, .timed = timed, .results = -1};
  d->problem = problem;
  int status = copy_arguments(spec, bench->target->config, &d->spec, err);
  if (!status && bench->target->config->reference) status = make_reference(bench, d, problem, variant, err);
  if (status) {
    data_free(bench, d);
    return status;
  }
  d->next = bench->data;
  bench->data = d;
  *out = &d->request;
  return CUGEN_OK;
}

/* ---- Candidates ---- */

/* An expression that fails says no. */
static bool holds(const struct expr *expr, const struct value *slots) {
  cugen_error ignored;
  bool met;
  return !expr_eval_bool(expr, slots, &met, &ignored) && met;
}

/* Whether the check problem is one that the variant's implementation takes, and satisfies its restrictions. */
static bool valid_on_check(const struct bench *bench, const struct variant *variant) {
  const struct tune_target *t = bench->target;
  const struct config_implementation *impl = variant->implementation;
  struct value *slots = calloc(config_slot_count(t->config, impl) + 1, sizeof *slots);
  if (!slots) return false;
  config_slots(t->config, &bench->check, &t->device->facts, slots);
  memcpy(slots + t->config->first_tunable, variant->values, impl->tunable_count * sizeof *slots);
  bool valid = true;
  for (size_t i = 0; i < impl->requirement_count && valid; i++) valid = holds(impl->requirements[i].expr, slots);
  for (size_t i = 0; i < impl->restriction_count && valid; i++) valid = holds(impl->restrictions[i].expr, slots);
  free(slots);
  return valid;
}

static struct value *variant_values(const struct bench *bench, uint64_t index, struct variant *variant) {
  struct value *values = calloc(space_max_tunables(bench->target->space) + 1, sizeof *values);
  if (values) space_variant(bench->target->space, index, variant, values);
  return values;
}

/* What the config describes but no device launches (an empty grid, too large a block) is a refused variant, kept with
   its text so that it is remembered as such. */
static int refuse(struct candidate *c, const struct variant *variant, const cugen_error *why, cugen_error *err) {
  struct text text = {0};
  variant_print(variant, &text);
  kernel_spec_free(&c->real);
  c->refused = *why;
  text_addf(&text, "\n%s", why->message);
  c->real.hash = c->real.source_hash = hash_bytes(text_get(&text), text.length);
  text_clear(&text);
  variant_print(variant, &text);
  c->real.variant = text_take(&text);
  return c->real.variant ? CUGEN_OK : error_memory(err);
}

static int expand_both(struct bench *bench, struct candidate *c, const struct variant *variant, cugen_error *err) {
  const struct tune_target *t = bench->target;
  int status = expand_variant(bench->expander, t->config, t->problem, &t->device->facts, variant, &c->real, err);
  if (status == CUGEN_ERROR_CONFIG) {
    cugen_error why = *err;
    return refuse(c, variant, &why, err);
  }
  if (status || t->problem_is_check || t->predicted || !valid_on_check(bench, variant)) return status;
  cugen_error ignored;
  status = expand_variant(bench->expander, t->config, &bench->check, &t->device->facts, variant, &c->check, &ignored);
  c->has_check = status == CUGEN_OK;
  return CUGEN_OK;
}

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
  free(values);
  if (status)
    candidate_close(bench, c);
  else
    *out = c;
  return status;
}

void candidate_close(struct bench *bench, struct candidate *c) {
  if (!c) return;
  build_release(bench->builds, c->real_build);
  build_release(bench->builds, c->check_build);
  kernel_spec_free(&c->real);
  kernel_spec_free(&c->check);
  free(c);
}

static int image_key(const struct bench *bench, const struct kernel_spec *spec, struct text *out, cugen_error *err) {
  const struct tune_target *t = bench->target;
  return cache_image_key(spec, device_target(t->device, t->arch), t->key.options, t->nvrtc_version, out, err);
}

static int request_build(struct bench *bench, const struct kernel_spec *spec, struct build **out, cugen_error *err) {
  struct text key = {0};
  struct compiled compiled = {0};
  bool found = false;
  int status = image_key(bench, spec, &key, err);
  if (!status && !bench->target->predicted) /* the PTX is wanted, too */
    status = cache_image_load(bench->target->cache, text_get(&key), &compiled, &found, err);
  if (!status)
    status = found ? builds_adopt(bench->builds, spec, &compiled, out, err)
                   : builds_request(bench->builds, spec, out, err);
  text_free(&key);
  return status;
}

int candidate_keep_image(struct bench *bench, const struct candidate *c, cugen_error *err) {
  if (!c->real_build || c->real_build->status) return CUGEN_OK;
  struct text key = {0};
  int status = image_key(bench, &c->real, &key, err);
  if (!status) status = cache_image_store(bench->target->cache, text_get(&key), &c->real_build->compiled, err);
  text_free(&key);
  return status;
}

int candidate_build(struct bench *bench, struct candidate *c, cugen_error *err) {
  if (c->refused.status) return CUGEN_OK;
  int status = request_build(bench, &c->real, &c->real_build, err);
  if (!status && c->has_check) status = request_build(bench, &c->check, &c->check_build, err);
  return status;
}

bool candidate_ready(struct bench *bench, const struct candidate *c) {
  return (!c->real_build || build_finished(bench->builds, c->real_build)) &&
         (!c->check_build || build_finished(bench->builds, c->check_build));
}

static void add_argument(struct text *out, const struct kernel_argument *a) {
  text_addf(out, "%d %s %d %d %lld", (int)a->kind, a->dtype->name, (int)a->memory, (int)a->compiled_in,
            (long long)a->elements);
  for (int i = 0; i < a->rank; i++) text_addf(out, " %lld/%lld", (long long)a->shape[i], (long long)a->stride[i]);
  value_print(a->value, out);
  text_addf(out, " %s %s", access_kind_names[a->access], address_kind_names[a->address]);
  for (int i = 0; i < a->rank && a->access == ACCESS_TENSOR; i++)
    text_addf(out, " %d/%d/%lld", a->box[i], a->swizzle, (long long)a->parts);
}

struct hash candidate_image(const struct candidate *c) {
  struct hash hash = {0};
  struct text text = {0};
  if (!c->real_build || c->real_build->status) return hash;
  text_add(&text, c->real_build->compiled.image_hash.hex);
  for (size_t i = 0; i < c->real.launch_count; i++) {
    const struct kernel_launch *l = &c->real.launches[i];
    text_addf(&text, "\n%s %u %u %u %u %u %u %lld", l->entry, l->grid[0], l->grid[1], l->grid[2], l->block[0],
              l->block[1], l->block[2], (long long)l->shared_bytes);
    if (l->has_carveout) text_addf(&text, " carveout %d", l->carveout);
    if (l->overlap) text_add(&text, " overlap");
  }
  for (size_t i = 0; i < c->real.argument_count; i++) {
    text_add_char(&text, '\n');
    add_argument(&text, &c->real.arguments[i]);
  }
  if (!text.failed) hash = hash_bytes(text_get(&text), text.length);
  text_free(&text);
  return hash;
}

/* ---- Records ---- */

static int record_begin(const struct bench *bench, const struct candidate *c, struct cache_record *out,
                        cugen_error *err) {
  *out = (struct cache_record){.flops = c->real.flops,
                               .bytes = c->real.bytes,
                               .driver_version = bench->target->device->driver_version,
                               .nvrtc_version = bench->target->nvrtc_version,
                               .measured_at = clock_unix()};
  cache_record_take_hashes(out, &c->real);
  out->variant = strdup(c->real.variant);
  return out->variant ? CUGEN_OK : error_memory(err);
}

static int record_reason(struct cache_record *out, cugen_outcome outcome, const char *reason, cugen_error *err) {
  out->outcome = outcome;
  out->reason = strdup(reason);
  return out->reason ? CUGEN_OK : error_memory(err);
}

static void record_occupancy(const struct bench *bench, const struct kernel_launch *launch,
                             struct cache_record *out) {
  struct occupancy occupancy;
  cugen_error ignored;
  if (occupancy_get_carved(&bench->target->device->facts, &out->resources, out->threads, out->dynamic_shared,
                           launch->has_carveout ? launch->carveout : -1, &occupancy, &ignored))
    return;
  out->occupancy = occupancy.fraction;
  struct text limiter = {0};
  text_add_n(&limiter, occupancy.limiter, strnlen(occupancy.limiter, sizeof out->limiter - 1));
  memcpy(out->limiter, text_get(&limiter), limiter.length + 1);
  text_free(&limiter);
}

static void record_resources(const struct bench *bench, const struct candidate *c, struct cache_record *out) {
  const struct compiled *compiled = &c->real_build->compiled;
  const struct kernel_launch *launch = &c->real.launches[plan_heaviest(&c->real, compiled)];
  const size_t entry = plan_entry_index(&c->real, launch->entry);
  out->resources = compiled->resources[entry];
  out->threads = (int)((int64_t)launch->block[0] * launch->block[1] * launch->block[2]);
  out->dynamic_shared = launch->shared_bytes;
  if (!(bench->target->ops->capabilities & DEVICE_OCCUPANCY)) return;
  out->cluster_blocks = cubin_cluster(compiled->image, compiled->image_length, compiled->entries[entry]);
  record_occupancy(bench, launch, out);
}

static void record_times(const struct worker_result *result, struct cache_record *out) {
  out->error = result->error;
  out->samples = result->measurement.samples;
  out->seconds = result->measurement.seconds;
  out->seconds_min = result->measurement.minimum;
  out->seconds_p20 = result->measurement.p20;
  out->seconds_p80 = result->measurement.p80;
  out->active_clusters = result->active_clusters;
  out->clock_mhz = result->measurement.clock.sm_mhz;
  out->power_watts = result->measurement.clock.power_watts;
  memcpy(out->throttle, result->measurement.clock.throttle, sizeof out->throttle);
}

/* The compiler's verdict comes before the device's. */
static const cugen_error *compile_failure(const struct candidate *c) {
  if (c->real_build->status) return &c->real_build->error;
  return c->check_build && c->check_build->status ? &c->check_build->error : NULL;
}

static int run_built(struct bench *bench, struct candidate *c, bool verify, const struct measure_options *measure,
                     double timeout, struct worker_result *result, cugen_error *err) {
  const struct tune_target *t = bench->target;
  struct worker_job job = {.real_spec = &c->real,
                           .real_compiled = &c->real_build->compiled,
                           .verify = verify,
                           .measure = *measure,
                           .timeout = timeout};
  struct variant variant;
  struct value *values = variant_values(bench, c->index, &variant);
  if (!values) return error_memory(err);
  int status = bench_dataset(bench, &c->real, t->problem, true, &variant, &job.real, err);
  if (!status && c->has_check && verify) {
    job.check_spec = &c->check;
    job.check_compiled = &c->check_build->compiled;
    status = bench_dataset(bench, &c->check, &bench->check, false, &variant, &job.check, err);
  }
  free(values);
  return status ? status : worker_run(bench->worker, &job, result, err);
}

/* A prediction in place of a measurement; what bounds it is its reason. */
static int predict(struct bench *bench, struct candidate *c, struct cache_record *out, cugen_error *err) {
  struct model_prediction prediction;
  struct text reason = {0};
  cugen_error why;
  int status = model_predict(bench->target->device, &c->real, &c->real_build->compiled, &prediction, &why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  record_resources(bench, c, out);
  if (!status) out->seconds = out->seconds_min = out->seconds_p20 = out->seconds_p80 = prediction.seconds;
  text_addf(&reason, status ? "no prediction: %s" : "%s", status ? why.message : model_part_names[prediction.bound]);
  status = record_reason(out, status ? CUGEN_OUTCOME_LAUNCH : CUGEN_OUTCOME_OK, text_get(&reason), err);
  text_free(&reason);
  return status;
}

int candidate_run(struct bench *bench, struct candidate *c, bool verify, const struct measure_options *measure,
                  double timeout, struct cache_record *out, double *busy, cugen_error *err) {
  *busy = 0;
  int status = record_begin(bench, c, out, err);
  if (status) return status;
  if (c->refused.status) return record_reason(out, CUGEN_OUTCOME_LAUNCH, c->refused.message, err);
  const cugen_error *refused = compile_failure(c);
  if (refused && refused->status != CUGEN_ERROR_COMPILE) /* no compiler, no memory: not this variant's fault */
    return error_set(err, refused->status, "%s", refused->message);
  if (refused) return record_reason(out, CUGEN_OUTCOME_COMPILE, refused->message, err);
  if (bench->target->predicted) return predict(bench, c, out, err);
  struct worker_result result;
  status = run_built(bench, c, verify, measure, timeout, &result, err);
  if (status) return status;
  *busy = result.seconds;
  record_resources(bench, c, out);
  record_times(&result, out);
  return record_reason(out, result.outcome, result.reason, err);
}
