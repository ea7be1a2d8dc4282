/* The worker itself, usually a process: one device, one coordinator, one question at a time. The
   worker ends when the coordinator hangs up. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system.h"
#include "claim.h"
#include "confine.h"
#include "energy.h"
#include "gpu_lock.h"
#include "isolate.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/compilers.h"
#include "runtime/cuda/nvml.h"
#include "runtime/devices.h"
#include "runtime/function.h"
#include "tune/data/data_proof.h"
#include "worker.h"

enum { KEPT_DATASETS = 2 };

struct server {
  int socket;
  const struct worker_place *place;
  struct toolkit *toolkit;
  struct device *device;
  struct worker_shared *shared; /* NULL: nothing is shared */
  struct compilers_child compiler;
  struct isolate_output *output; /* in `shared`, or private */
  struct confinement confinement;
  int lock; /* descriptor of the device's lock file; -1: none */
  /* The datasets of the check problem and of the real problem, indexed by `timed`. A new dataset
     replaces the earlier one with the same index. */
  struct dataset *datasets[KEPT_DATASETS];
  struct dataset_parts *parts[KEPT_DATASETS]; /* the memory that the datasets borrow */
  /* Kernels that fill, digest and compare; NULL: the host does. */
  struct data_kernels *kernels;
  /* The data kernels do not compute on this device what the host computes. */
  bool kernels_refused;
};

/* ---- Failures ------------------------------------------------------------------------------- */

static void worker_main_fail(struct worker_result *result, cugen_outcome outcome,
                             const cugen_error *err) {
  result->outcome = outcome;
  result->cause = err->cause;
  size_t length = strnlen(err->message, sizeof result->reason - 1);
  memcpy(result->reason, err->message, length);
  result->reason[length] = '\0';
}

/* ---- A variant ------------------------------------------------------------------------------ */

struct job {
  bool verify, watched; /* as in struct worker_job */
  bool shared;          /* the check problem runs the image of the real problem */
  bool reversed;        /* blocks may communicate, so that verify_reversed is worthwhile */
  struct measure_options measure;
  int64_t real_id, check_id;
  struct kernel_spec real_spec, check_spec;
  struct compiled real_compiled, check_compiled;
};

static int read_job(struct wire_reader *reader, struct job *job, cugen_error *err) {
  job->verify = wire_get_int(reader) != 0;
  job->watched = wire_get_int(reader) != 0;
  job->reversed = wire_get_int(reader) != 0;
  const void *measure = wire_get(reader, sizeof job->measure);
  if (measure) memcpy(&job->measure, measure, sizeof job->measure);
  job->real_id = wire_get_int(reader);
  int status = wire_get_spec(reader, &job->real_spec, err);
  if (!status) status = wire_get_compiled(reader, &job->real_compiled, err);
  if (status) return status;
  job->check_id = wire_get_int(reader);
  job->shared = wire_get_int(reader) != 0;
  if (job->check_id >= 0) status = wire_get_spec(reader, &job->check_spec, err);
  if (!status && job->check_id >= 0 && !job->shared)
    status = wire_get_compiled(reader, &job->check_compiled, err);
  return status;
}

static struct dataset *find_dataset(const struct server *s, int64_t id) {
  for (size_t i = 0; i < KEPT_DATASETS; i++)
    if (s->datasets[i] && s->datasets[i]->id == id) return s->datasets[i];
  return NULL;
}

/* Returns true in a worker process on the cpu device, where a variant is native code and may change
   anything in its process. */
static bool is_isolated(const struct server *s) {
  return !s->place->embedded && s->device->ops->capabilities & DEVICE_IN_PROCESS;
}

static int worker_main_launch_once(void *call, cugen_error *err) {
  return call_launch(call, err);
}

/* Restores the inputs after a run. A changed input is reported in place of a wrong result, which
   the change may have caused, but not in place of a worse failure. Returns false if an input has
   changed or cannot be restored. */
static bool keep_inputs(struct device *device, struct dataset *dataset,
                        struct worker_result *result) {
  cugen_error err = {0};
  if (dataset_restore(device, dataset, &err) == CUGEN_OK) return true;
  if (result->outcome == CUGEN_OUTCOME_OK || result->outcome == CUGEN_OUTCOME_WRONG)
    worker_main_fail(result, CUGEN_OUTCOME_WRONG, &err);
  return false;
}

/* Digests the outputs of the run. again: notes whether the digest differs from that of the run
   before. */
static void note_outputs(struct device *device, struct dataset *dataset, bool again,
                         struct worker_result *result) {
  const uint64_t before = result->outputs;
  const bool compares = again && result->has_outputs;
  cugen_error err = {0};
  if (dataset_outputs(device, dataset, &result->outputs, &err))
    worker_main_fail(result, cause_outcome(err.cause), &err);
  result->has_outputs = result->outcome == CUGEN_OUTCOME_OK;
  result->varies |= compares && result->has_outputs && result->outputs != before;
}

/* Runs the plan once on buffer set 0 and verifies the outputs (dataset_verify). Returns true if all
   is right, with the duration of the run in *seconds; otherwise `result` has the failure. A failure
   before the launch counts as a refused launch. again: this is the second launch of
   verify_twice. */
static bool verify_on(struct device *device, struct plan *plan, const struct kernel_spec *spec,
                      bool again, struct dataset *dataset, struct worker_result *result,
                      double *seconds) {
  cugen_error err = {0};
  struct call *call = NULL;
  int status = call_bind(plan, dataset->sets[0], NULL, 0, &call, &err);
  if (!status) status = dataset_prepare(device, dataset, spec, again, &err);
  if (!status) status = call_poison(call, &err);
  if (status) worker_main_fail(result, CUGEN_OUTCOME_LAUNCH, &err);
  if (!status && (status = device->ops->time(device, false, worker_main_launch_once, call, seconds,
                                             &err)) != CUGEN_OK)
    worker_main_fail(result, cause_outcome(err.cause), &err);
  if (!status && (status = dataset_verify(device, dataset, spec, &result->error, &err)) != CUGEN_OK)
    worker_main_fail(
        result, err.cause == CUGEN_CAUSE_BOUNDS ? CUGEN_OUTCOME_BOUNDS : CUGEN_OUTCOME_WRONG, &err);
  if (!status) note_outputs(device, dataset, again, result);
  bool kept = keep_inputs(device, dataset, result);
  call_free(call);
  return result->outcome == CUGEN_OUTCOME_OK && status == CUGEN_OK && kept;
}

/* Puts the place before the reason of a failure, and the advice behind it. Returns false. */
static bool worker_main_fail_at(const char *where, const char *advice,
                                struct worker_result *result) {
  cugen_error err = {0};
  error_set_cause(&err, CUGEN_ERROR_WRONG, result->cause, "%s: %.800s%s", where, result->reason,
                  advice);
  worker_main_fail(result, result->outcome, &err);
  return false;
}

/* Verifies two launches, because state that a kernel keeps in scratch or outside of its arguments,
   such as a __device__ variable, shows from the second launch on. */
static bool verify_twice(const struct server *s, struct plan *plan, const struct kernel_spec *spec,
                         struct dataset *dataset, struct worker_result *result, double *seconds) {
  if (!verify_on(s->device, plan, spec, false, dataset, result, seconds)) return false;
  if (is_isolated(s)) isolate_mark(); /* worker_printed may show the first launch's text alone */
  return verify_on(s->device, plan, spec, true, dataset, result, seconds) ||
         worker_main_fail_at("in a second launch", "", result);
}

/* Verifies once more with the blocks in reverse order, if the device can do so and a run is
   short. A run whose blocks wait for earlier blocks does not end, and is stopped. The stop is
   no failure, but leaves the kernel's variables in any state; therefore this is the last launch
   in the process. */
static void verify_reversed(const struct server *s, struct plan *plan,
                            const struct kernel_spec *spec, struct dataset *dataset,
                            struct worker_result *result, double seconds) {
  struct device *device = s->device;
  const struct worker_result found = *result;
  if (!is_isolated(s) || !device->ops->reverse_blocks || seconds > 2) return;
  device->ops->reverse_blocks(device, 2 * seconds + 0.2);
  const bool right = verify_on(device, plan, spec, false, dataset, result, &seconds);
  if (right || result->cause == CUGEN_CAUSE_UNSUPPORTED)
    *result = found;
  else
    worker_main_fail_at("with its blocks in reverse order",
                        "; a GPU runs blocks in any order, and no result may depend on it", result);
}

struct renewing {
  struct device *device;
  struct dataset *dataset;
};

static int worker_main_renew(void *context, size_t set, cugen_error *err) {
  const struct renewing *r = context;
  return dataset_renew(r->device, r->dataset, set, err);
}

/* Marks the timed launches for a profiler, so that `ncu --profile-from-start off` counts only
   these. Does nothing in an application's own process. */
static void mark_timed(const struct server *s, bool begin) {
  if (!s->place->embedded && s->device->ops->profile) s->device->ops->profile(s->device, begin);
}

static void time_on(const struct server *s, struct plan *plan, struct dataset *dataset,
                    const struct measure_options *options, struct worker_result *result) {
  struct device *device = s->device;
  cugen_error err = {0};
  struct call *calls[DATASET_MOST_SETS] = {0};
  struct renewing renewing = {device, dataset};
  const struct measure_renewal renewal = {worker_main_renew, &renewing};
  const bool changes = dataset_changes(dataset);
  int status = changes ? dataset_keep(device, dataset, &err) : CUGEN_OK;
  for (size_t i = 0; i < dataset->set_count && !status; i++)
    status = call_bind(plan, dataset->sets[i], NULL, 0, &calls[i], &err);
  mark_timed(s, true);
  if (!status)
    status = measure_calls(device, calls, dataset->set_count, changes ? &renewal : NULL, options,
                           &result->measurement, &err);
  mark_timed(s, false);
  if (!status && options->energy > 0 && !result->measurement.dropped)
    status = energy_measure(device, calls, dataset->set_count, changes ? &renewal : NULL,
                            options->energy, &result->measurement, &err);
  if (status) worker_main_fail(result, cause_outcome(err.cause), &err);
  if (!status && dataset_guards(device, dataset, &err)) {
    error_prefix(&err, "in a later launch");
    worker_main_fail(result, CUGEN_OUTCOME_BOUNDS, &err);
  }
  if (result->outcome == CUGEN_OUTCOME_OK && !changes) note_outputs(device, dataset, true, result);
  for (size_t i = 0; i < dataset->set_count; i++) call_free(calls[i]);
}

/* Loads the variant unless *plan is loaded already, and returns true if it loads. Otherwise it
   counts as a refused launch. */
static bool with_plan(struct server *s, const struct kernel_spec *spec,
                      const struct compiled *compiled, struct worker_result *result,
                      struct plan **plan) {
  cugen_error err = {0};
  if (*plan || plan_open(s->device, spec, compiled, plan, &err) == CUGEN_OK) return true;
  worker_main_fail(result, CUGEN_OUTCOME_LAUNCH, &err);
  return false;
}

/* Tells the watching device the names of the dataset's buffers. */
static int name_buffers(struct device *device, const struct dataset *dataset, cugen_error *err) {
  struct watch_buffer buffers[WATCH_MOST_BUFFERS];
  size_t count = 0;
  for (size_t i = 0; i < dataset->spec.argument_count && count < WATCH_MOST_BUFFERS; i++) {
    const struct kernel_argument *a = &dataset->spec.arguments[i];
    if (a->rank == 0) continue;
    bool zero = a->kind == CUGEN_ARGUMENT_SCRATCH && a->fill == FILL_ZERO;
    bool written = a->kind == CUGEN_ARGUMENT_INPUT || a->kind == CUGEN_ARGUMENT_INOUT ||
                   a->kind == CUGEN_ARGUMENT_CONSTANT || zero;
    buffers[count++] =
        (struct watch_buffer){.name = a->name,
                              .start = dataset->sets[0][i].device,
                              .bytes = (size_t)kernel_argument_bytes(a),
                              .element = a->dtype->bytes,
                              .read_only = a->kind == CUGEN_ARGUMENT_INPUT && !a->overwrite,
                              .unwritten = !written};
  }
  return device->ops->watch(device, buffers, count, err);
}

/* Runs the plan for its access counts, without comparing outputs: some blocks may not run. */
static void count_on(struct device *device, struct plan *plan, struct dataset *dataset,
                     struct worker_result *result) {
  cugen_error err = {0};
  struct call *call = NULL;
  int status = call_bind(plan, dataset->sets[0], NULL, 0, &call, &err);
  if (!status) status = dataset_renew(device, dataset, 0, &err);
  if (!status) status = call_launch(call, &err);
  if (!status) status = device->ops->sync(device, &err);
  if (status) worker_main_fail(result, cause_outcome(err.cause), &err);
  call_free(call);
}

static bool only_counts(const struct watch_report *report) {
  return report->count_blocks || report->mode == WATCH_TRAFFIC;
}

static bool load_judges(struct server *s, struct dataset *dataset, struct worker_result *result) {
  cugen_error err = {0};
  if (!dataset || dataset_load(s->device, dataset, &err) == CUGEN_OK) return true;
  worker_main_fail(result, CUGEN_OUTCOME_LAUNCH, &err);
  return false;
}

static void watch_variant(struct server *s, struct job *job, struct dataset *real,
                          struct worker_result *result) {
  struct plan *plan = NULL;
  double seconds;
  cugen_error err = {0};
  if (!s->shared || !s->device->ops->watch || name_buffers(s->device, real, &err)) {
    worker_main_fail(result, CUGEN_OUTCOME_LAUNCH, &err);
    return;
  }
  if (!load_judges(s, real, result) ||
      !with_plan(s, &job->real_spec, &job->real_compiled, result, &plan))
    return;
  if (only_counts(&s->shared->report))
    count_on(s->device, plan, real, result);
  else if (verify_on(s->device, plan, &job->real_spec, false, real, result, &seconds) &&
           s->shared->report.dependent)
    verify_reversed(s, plan, &job->real_spec, real, result, seconds);
  plan_close(plan);
}

/* Verifies the variant on the real problem if the job asks for it, and times the variant unless
   the verification fails. checked: the variant was right on the check problem, so that one launch
   is verified instead of two. *seconds: duration of the verified run. */
static void time_variant(struct server *s, const struct job *job, bool checked, struct plan *plan,
                         struct dataset *real, struct worker_result *result, double *seconds) {
  struct measure_options measure = job->measure;
  bool right = true;
  result->active_clusters =
      plan_active_clusters(plan, plan_heaviest(&job->real_spec, &job->real_compiled));
  if (job->verify)
    right = checked
                ? verify_on(s->device, plan, &job->real_spec, false, real, result, &measure.seen)
                : verify_twice(s, plan, &job->real_spec, real, result, &measure.seen);
  *seconds = measure.seen;
  if (right) time_on(s, plan, real, &measure, result);
}

/* Notes for the coordinator whether the next run is on the check problem. The note must precede the
   run, because the process may die in the run. */
static void note_check(const struct server *s, bool runs) {
  if (s->shared) s->shared->on_check = runs;
}

static void worker_main_run_variant(struct server *s, struct job *job, struct dataset *check,
                                    struct dataset *real, struct worker_result *result) {
  const struct compiled *image = &job->real_compiled,
                        *check_image = job->shared ? image : &job->check_compiled;
  struct plan *check_plan = NULL, *plan = NULL;
  double seconds = 0, real_seconds = 0;
  if (!job->verify) check = NULL;
  /* In a jail everything is loaded first, because nothing can be loaded after a kernel has run. */
  bool right = !is_isolated(s) ||
               (load_judges(s, check, result) && load_judges(s, real, result) &&
                (!check || with_plan(s, &job->check_spec, check_image, result, &check_plan)) &&
                with_plan(s, &job->real_spec, image, result, &plan));
  if (right && check) {
    note_check(s, true);
    right = with_plan(s, &job->check_spec, check_image, result, &check_plan) &&
            verify_twice(s, check_plan, &job->check_spec, check, result, &seconds);
    if (right) note_check(s, false);
  }
  if (right && with_plan(s, &job->real_spec, image, result, &plan))
    time_variant(s, job, check != NULL, plan, real, result, &real_seconds);
  if (right && job->verify && job->reversed && result->outcome == CUGEN_OUTCOME_OK) {
    note_check(s, check != NULL);
    if (check)
      verify_reversed(s, check_plan, &job->check_spec, check, result, seconds);
    else
      verify_reversed(s, plan, &job->real_spec, real, result, real_seconds);
  }
  plan_close(check_plan);
  plan_close(plan);
}

struct task {
  struct server *server;
  struct job *job;
  struct dataset *check, *real;
};

/* A function that the user named himself is trusted, as his own program would be: its process is in
   no jail, so that it may use threads, files and memory. */
static void run_task(void *context, void *result) {
  const struct task *t = context;
  const bool trusted = function_is(&t->job->real_compiled);
  if (is_isolated(t->server) && trusted)
    t->server->confinement.none = true;
  else if (is_isolated(t->server))
    confine_loading(&t->server->confinement, t->job->watched && t->server->shared &&
                                                 t->server->shared->report.processes > 1);
  if (t->job->watched)
    watch_variant(t->server, t->job, t->real, result);
  else
    worker_main_run_variant(t->server, t->job, t->check, t->real, result);
}

/* Checks and restores the buffers that this process shares with the variant's process, whatever
   happened there. A damaged guard that the variant's process did not find was written by a later
   launch. */
static void make_whole(struct server *s, struct dataset *dataset, struct worker_result *result) {
  cugen_error err = {0};
  if (!dataset) return;
  if (dataset_guards(s->device, dataset, &err) && result->outcome == CUGEN_OUTCOME_OK) {
    error_prefix(&err, "in a later launch");
    worker_main_fail(result, CUGEN_OUTCOME_BOUNDS, &err);
  }
  keep_inputs(s->device, dataset, result);
}

static void claim_task(void *context, void *claim) {
  struct worker_result result = {0};
  run_task(context, &result);
  claim_make(&result, claim);
}

static int run_isolated(struct server *s, struct task *task, struct worker_result *result,
                        cugen_error *err) {
  /* The outputs of a counted run are not compared, so damage that make_whole finds is no
     failure. */
  const bool counted = task->job->watched && s->shared && only_counts(&s->shared->report);
  struct worker_result ignored = {0};
  struct claim claim = {0};
  char why[160];
  const double begin = clock_seconds();
  int status =
      isolate(claim_task, task, &claim, sizeof claim, s->output, s->confinement.files, err);
  if (status) return status;
  const struct claim_bounds bounds = {.timed = !task->job->watched,
                                      .seconds = clock_seconds() - begin};
  claim_read(&claim, result);
  if (!claim_is_possible(result, &bounds, why, sizeof why)) claim_refuse(why, result);
  make_whole(s, task->check, result);
  make_whole(s, task->real, counted ? &ignored : result);
  return CUGEN_OK;
}

static int worker_main_run_job(struct server *s, struct job *job, struct worker_result *result,
                               cugen_error *err) {
  struct task task = {s, job, find_dataset(s, job->check_id), find_dataset(s, job->real_id)};
  int status = CUGEN_OK;
  if (!task.real)
    return error_set(err, CUGEN_ERROR_INTERNAL, "the worker was not given dataset %lld",
                     (long long)job->real_id);
  gpu_lock_take(s->lock);
  if (is_isolated(s))
    status = run_isolated(s, &task, result, err);
  else
    run_task(&task, result);
  gpu_lock_give(s->lock);
  return status;
}

/* ---- What the config's own kernels do ------------------------------------------------------- */

struct errand {
  struct server *server;
  int (*step)(void *context, cugen_error *err);
  void *context;
};

static void run_errand(void *context, void *claim) {
  const struct errand *errand = context;
  cugen_error err = {0};
  confine_loading(&errand->server->confinement, false);
  const int status = errand->step(errand->context, &err);
  claim_make_error(status, &err, claim);
}

static int run_apart(void *context, int (*step)(void *step_context, cugen_error *err),
                     void *step_context, cugen_error *err) {
  struct errand errand = {context, step, step_context};
  struct claim_error claim = {.status = CUGEN_OK};
  int status = isolate(run_errand, &errand, &claim, sizeof claim, errand.server->output,
                       errand.server->confinement.files, err);
  return status ? status : claim_read_error(&claim, err);
}

/* ---- Questions ------------------------------------------------------------------------------ */

/* Answers with this program's identity. The coordinator compares. */
static int put_identity(struct text *payload) {
  struct text identity = {0};
  wire_identity(&identity);
  wire_put_string(payload, text_get(&identity));
  text_free(&identity);
  return CUGEN_OK;
}

static void before_launch(void *server) {
  confine_running(&((struct server *)server)->confinement);
}

/* Reads the toolkit's options, which begin both MESSAGE_GPUS and MESSAGE_OPEN, and opens the
   toolkit unless it is open. */
static int open_toolkit(struct server *s, struct wire_reader *reader, cugen_error *err) {
  const char *toolkit = wire_get_string(reader), *compiler = wire_get_string(reader);
  const struct toolkit_options options = {.toolkit = *toolkit ? toolkit : NULL,
                                          .compiler = *compiler ? compiler : NULL};
  return s->toolkit ? CUGEN_OK : toolkit_open(&options, &s->toolkit, err);
}

/* Fails if there is no GPU. */
static int worker_main_list_gpus(struct server *s, struct wire_reader *reader, struct text *payload,
                                 cugen_error *err) {
  struct device_description gpu;
  int status = open_toolkit(s, reader, err);
  const int count = status ? 0 : cuda_device_ops.count(s->toolkit, err);
  if (!status && count < 1) status = CUGEN_ERROR_DEVICE;
  wire_put_int(payload, count);
  for (int i = 0; i < count && !status; i++) {
    status = cuda_device_ops.describe(s->toolkit, i, &gpu, err);
    wire_put(payload, &gpu, sizeof gpu);
  }
  return status;
}

/* Opens NVML ahead of the first measurement, which needs it. Opening takes 20 ms. */
static void start_nvml(const struct server *s) {
  const struct nvml *nvml;
  cugen_error ignored; /* without NVML clocks are not known */
  nvml_open(s->toolkit, &nvml, &ignored);
}

static int worker_main_open_device(struct server *s, struct wire_reader *reader, int fd,
                                   cugen_error *err) {
  const struct device_ops *ops;
  struct device_options device = {
      .context = s->place->context, .embedded = s->place->embedded, .stop = s->place->stop};
  void *shared = fd < 0 ? MAP_FAILED
                        : mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared != MAP_FAILED) {
    s->shared = shared;
    s->output = &s->shared->output;
    device.fault = &s->shared->fault;
    device.report = &s->shared->report;
  }
  if (!s->place->embedded) confinement_open(&s->confinement);
  int status = open_toolkit(s, reader, err);
  if (!status) status = device_find(wire_get_string(reader), &ops, &device.ordinal, err);
  device.toolkit = s->toolkit;
  if (!s->place->embedded)
    device.before_launch = before_launch, device.before_context = s,
    device.fork = &s->confinement.fork;
  if (!status) status = ops->open(&device, &s->device, err);
  if (!status && !s->place->embedded) {
    /* Only now, because CUDA's libraries may start a setuid program while they open the device. */
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
  }
  if (!status) s->lock = gpu_lock_open(&s->device->description);
  if (!status && ops->capabilities & DEVICE_EXECUTES_ON_GPU) start_nvml(s);
  return status;
}

/* Opens a dataset in place of the earlier one with equal `timed`. Equal buffers are kept. */
static int take_dataset(struct server *s, const struct dataset_request *request, cugen_error *err) {
  struct dataset **place = &s->datasets[request->timed];
  const bool changes = *place && dataset_has_buffers(*place, request);
  int status = changes ? dataset_change(s->device, *place, request, err) : CUGEN_OK;
  if (changes && !status) return CUGEN_OK;
  dataset_close(s->device, *place);
  *place = NULL;
  return status ? status : dataset_open(s->device, request, place, err);
}

/* A kernel that a request for a dataset points to. */
struct part {
  char *name; /* copied, because it outlives the message */
  struct kernel_spec spec;
  struct compiled compiled;
};

/* The memory that a request for a dataset points to. */
struct dataset_parts {
  struct dataset_request request;
  struct kernel_spec spec;
  struct part reference, verify, generators[KERNEL_MAX_ARGUMENTS];
  struct dataset_kernel kernels[KERNEL_MAX_ARGUMENTS]; /* the generators */
  struct compiled kernels_compiled[DATA_PARTS];
};

static int get_kernel(struct wire_reader *reader, struct part *part, struct dataset_kernel *out,
                      cugen_error *err) {
  if (!wire_get_int(reader)) return CUGEN_OK;
  part->name = strdup(wire_get_string(reader));
  int status = part->name ? wire_get_spec(reader, &part->spec, err) : error_memory(err);
  if (!status) status = wire_get_compiled(reader, &part->compiled, err);
  *out = (struct dataset_kernel){part->name, &part->spec, &part->compiled,
                                 (size_t)wire_get_int(reader)};
  return status;
}

static int read_dataset(struct wire_reader *reader, struct dataset_parts *parts, cugen_error *err) {
  struct dataset_request *request = &parts->request;
  request->id = wire_get_int(reader);
  request->seed = (uint64_t)wire_get_int(reader);
  request->timed = wire_get_int(reader) != 0;
  request->answered = wire_get_int(reader) != 0;
  request->spec = &parts->spec;
  request->generators = parts->kernels;
  double flops = wire_get_float(reader);
  const void *buffers = wire_get(reader, sizeof parts->spec.buffers_hash);
  int status = wire_get_spec(reader, &parts->spec, err);
  parts->spec.flops = flops;
  if (!status && buffers)
    memcpy(&parts->spec.buffers_hash, buffers, sizeof parts->spec.buffers_hash);
  if (!status) status = get_kernel(reader, &parts->reference, &request->reference, err);
  if (!status) status = get_kernel(reader, &parts->verify, &request->verify, err);
  request->has_kernels = !status && wire_get_int(reader) != 0;
  for (int part = 0; part < DATA_PARTS && request->has_kernels && !status; part++) {
    request->kernels_compiled[part] = &parts->kernels_compiled[part];
    status = wire_get_compiled(reader, &parts->kernels_compiled[part], err);
  }
  int64_t count = status ? 0 : wire_get_int(reader);
  if (count < 0 || count > KERNEL_MAX_ARGUMENTS) count = 0, reader->failed = true;
  for (size_t i = 0; i < (size_t)count && !status; i++) {
    status = get_kernel(reader, &parts->generators[i], &parts->kernels[i], err);
    request->generator_count++;
  }
  return status;
}

static void part_free(struct part *part) {
  free(part->name);
  kernel_spec_free(&part->spec);
  compiled_free(&part->compiled);
}

static void dataset_parts_free(struct dataset_parts *parts) {
  if (!parts) return;
  kernel_spec_free(&parts->spec);
  part_free(&parts->reference);
  part_free(&parts->verify);
  for (int part = 0; part < DATA_PARTS; part++) compiled_free(&parts->kernels_compiled[part]);
  for (size_t i = 0; i < parts->request.generator_count; i++) part_free(&parts->generators[i]);
  free(parts);
}

/* Decides, once for all datasets, what fills, digests and compares: the data kernels, if there are
   any and they prove to compute the same as the host; otherwise the host. */
static int worker_main_take_kernels(struct server *s, struct dataset_request *request,
                                    cugen_error *err) {
  bool same = true;
  int status = CUGEN_OK;
  if (!s->kernels && !s->kernels_refused && request->has_kernels) {
    status = data_kernels_open(s->device, request->kernels_compiled, &s->kernels, err);
    if (!status) status = data_proof(s->device, s->kernels, &same, err);
    s->kernels_refused = !same;
    if (status || !same) {
      data_kernels_close(s->kernels);
      s->kernels = NULL;
    }
  }
  request->kernels = s->kernels;
  return status;
}

static int open_dataset(struct server *s, struct wire_reader *reader, int fd, cugen_error *err) {
  struct dataset_parts *parts = calloc(1, sizeof *parts);
  if (!parts) return error_memory(err);
  int status = read_dataset(reader, parts, err);
  parts->request.shared = fd;
  parts->request.doing = s->shared ? s->shared->doing : NULL; /* where the coordinator reads it */
  if (is_isolated(s)) parts->request.apart = run_apart, parts->request.apart_context = s;
  gpu_lock_take(s->lock);
  if (!status) status = worker_main_take_kernels(s, &parts->request, err);
  if (!status) status = take_dataset(s, &parts->request, err);
  if (!status) {
    struct dataset_parts **kept = &s->parts[parts->request.timed], *replaced = *kept;
    *kept = parts;
    parts = replaced;
  }
  gpu_lock_give(s->lock);
  dataset_parts_free(parts);
  return status;
}

static int serve_variant(struct server *s, struct wire_reader *reader, struct text *payload,
                         cugen_error *err) {
  struct job job = {0};
  struct worker_result result = {0};
  int status = read_job(reader, &job, err);
  if (!status) status = worker_main_run_job(s, &job, &result, err);
  /* A kernel in the jail cannot claim this cause (claim.c). */
  if (!status && result.outcome && result.cause == CUGEN_CAUSE_DEVICE_LOST)
    status = error_set_cause(err, CUGEN_ERROR_DEVICE, result.cause,
                             "the device is gone: %s\nEverything measured is kept.", result.reason);
  kernel_spec_free(&job.real_spec);
  kernel_spec_free(&job.check_spec);
  compiled_free(&job.real_compiled);
  compiled_free(&job.check_compiled);
  if (status) return status;
  /* This worker has to be replaced after a failure if the device's context is broken, or if the
     variant may have overwritten what its process shares with this one, such as the buffers. */
  cugen_error broken;
  const bool dying = result.outcome != CUGEN_OUTCOME_OK &&
                     (is_isolated(s) || s->device->ops->sync(s->device, &broken) != CUGEN_OK);
  wire_put_int(payload, dying);
  wire_put(payload, &result, sizeof result);
  return CUGEN_OK;
}

/* Carries out one question, and fills the payload of its answer. */
static int serve_question(struct server *s, enum message_type type, struct wire_reader *reader,
                          int fd, struct text *payload, cugen_error *err) {
  if (!s->device && (type == MESSAGE_DATASET || type == MESSAGE_VARIANT))
    return error_set(err, CUGEN_ERROR_INTERNAL,
                     "the worker was asked before it was given a device");
  switch (type) {
  case MESSAGE_HELLO: return put_identity(payload);
  case MESSAGE_COMPILE: return compilers_serve(reader, &s->compiler, payload, err);
  case MESSAGE_PREPARE: return compilers_serve_prepare(reader, &s->compiler, err);
  case MESSAGE_GPUS: return worker_main_list_gpus(s, reader, payload, err);
  case MESSAGE_OPEN: return worker_main_open_device(s, reader, fd, err);
  case MESSAGE_DATASET: return open_dataset(s, reader, fd, err);
  case MESSAGE_VARIANT: return serve_variant(s, reader, payload, err);
  default:
    return error_set(err, CUGEN_ERROR_INTERNAL,
                     "the worker was sent an answer instead of a question");
  }
}

/* Carries out one message and answers it. Only an error of the communication with the coordinator
   is returned, and ends the worker. */
static int serve_one(struct server *s, enum message_type type, const struct text *message, int fd,
                     cugen_error *err) {
  struct wire_reader reader = wire_read(message);
  struct text payload = {0};
  cugen_error why = {0};
  const int failed = serve_question(s, type, &reader, fd, &payload, &why);
  if (failed) {
    text_restart(&payload);
    wire_put_error(&payload, &why);
  }
  int status = wire_send(s->socket, failed ? MESSAGE_ERROR : MESSAGE_DONE, &payload, -1, err);
  text_free(&payload);
  if (!failed && type == MESSAGE_GPUS) start_nvml(s);
  return status;
}

static void server_close(struct server *s) {
  for (size_t i = 0; i < KEPT_DATASETS; i++) {
    dataset_close(s->device, s->datasets[i]);
    dataset_parts_free(s->parts[i]);
  }
  data_kernels_close(s->kernels);
  if (s->device) s->device->ops->close(s->device);
  toolkit_close(s->toolkit);
  compilers_child_close(&s->compiler);
  confinement_close(&s->confinement);
  if (s->shared) munmap(s->shared, sizeof *s->shared);
  if (s->lock >= 0) close(s->lock);
}

int worker_serve(int socket, const struct worker_place *place) {
  struct isolate_output unread = {.bytes = 0};
  struct server server = {.socket = socket, .place = place, .lock = -1, .output = &unread};
  struct text message = {0};
  cugen_error err = {0};
  int status = CUGEN_OK;
  server.confinement.files = -1;
  while (!status) {
    enum message_type type;
    int fd;
    if (server.compiler.idle > 0) wire_end_when_idle(socket, server.compiler.idle);
    status = wire_receive(socket, -1, &type, &message, &fd, &err);
    if (!status) status = serve_one(&server, type, &message, fd, &err);
    if (fd >= 0) close(fd);
  }
  text_free(&message);
  server_close(&server);
  return 0;
}
