/* Computes the reference's results, one array for each output; see results.h. */
#include "results.h"

#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "dataset_buffers.h"
#include "elements.h"

enum { ALIGNMENT = 64 };

bool results_has_output(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_OUTPUT || a->kind == CUGEN_ARGUMENT_INOUT;
}

/* ---- Layout --------------------------------------------------------------------------------- */

static size_t wide_bytes(const struct kernel_argument *a) {
  return (size_t)a->dtype->wide->bytes;
}

/* Returns the number of entries of an output's array. A sampled output has one entry per sample,
   even for samples beyond the output's end. */
static int64_t entry_count(const struct kernel_argument *a, const struct samples *samples) {
  return samples->flat ? samples->count : element_count(a);
}

size_t results_bytes(const struct kernel_argument *a, const struct samples *samples) {
  size_t bytes = (size_t)entry_count(a, samples) * wide_bytes(a);
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int results_layout(const struct kernel_spec *spec, uint64_t seed, struct samples *samples,
                   size_t *bytes, cugen_error *err) {
  const struct kernel_argument *outputs[KERNEL_MAX_ARGUMENTS];
  size_t count = 0;
  *samples = (struct samples){0};
  for (size_t i = 0; i < spec->argument_count; i++)
    if (results_has_output(&spec->arguments[i])) outputs[count++] = &spec->arguments[i];
  if (!count) return error_set(err, CUGEN_ERROR_CONFIG, "the kernel has no output to verify");
  int status = samples_choose(outputs, count, spec->flops, seed, samples, err);
  *bytes = 0;
  for (size_t i = 0; i < count; i++) *bytes += results_bytes(outputs[i], samples);
  return status;
}

/* ---- Computing ------------------------------------------------------------------------------ */

/* A reference about to be launched. */
struct computation {
  struct device *device;
  struct dataset *dataset;
  const struct dataset_request *request;
  /* The dataset's inputs, and outputs of dtype->wide. */
  struct memory memory[KERNEL_MAX_ARGUMENTS];
  struct memory list; /* list of the samples */
  long long count;    /* number of samples */
  /* The original contents of arguments that are changed in place. */
  struct memory before[KERNEL_MAX_ARGUMENTS];
  struct plan *plan;
  struct call *call;
};

static int upload_list(struct computation *c, const int64_t *list, cugen_error *err) {
  const size_t bytes = (size_t)c->dataset->samples.count * sizeof *list;
  int status = c->list.device
                   ? CUGEN_OK
                   : c->device->ops->alloc(c->device, MEMORY_DEVICE, bytes, false, &c->list, err);
  return status ? status : c->device->ops->upload(c->device, c->list.device, list, bytes, err);
}

static void computation_free(struct computation *c) {
  call_free(c->call);
  plan_close(c->plan);
  for (size_t i = 0; i < c->dataset->spec.argument_count; i++) {
    if (c->dataset->spec.arguments[i].kind == CUGEN_ARGUMENT_OUTPUT && c->memory[i].device)
      c->device->ops->free(c->device, &c->memory[i]);
    if (c->before[i].device) c->device->ops->free(c->device, &c->before[i]);
  }
  if (c->list.device) c->device->ops->free(c->device, &c->list);
}

/* Gathers the samples of an argument changed in place, which keeps its dtype and layout in the
   reference. */
static int gather_inout(struct computation *c, size_t argument, void *to, cugen_error *err) {
  const struct kernel_argument *a = &c->dataset->spec.arguments[argument];
  const struct samples *samples = &c->dataset->samples;
  size_t bytes = (size_t)kernel_argument_bytes(a);
  void *host = malloc(bytes);
  if (!host) return error_memory(err);
  int status = c->device->ops->download(c->device, host, c->memory[argument].device, bytes, err);
  for (int64_t i = 0; i < entry_count(a, samples) && !status; i++)
    if (samples_due(samples, i, a))
      element_widen(a->dtype, host, element_offset(a, samples_flat(samples, i)), to, i);
  free(host);
  return status;
}

/* Converts an argument's entries to dtype->wide on the device. Entries beyond the argument's end
   are zero. */
static int results_widen(struct computation *c, size_t argument, void *to, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const struct kernel_argument *a = &d->spec.arguments[argument];
  const int64_t count = entry_count(a, &d->samples);
  int status = c->device->ops->fill(c->device, to, 0, (size_t)count * wide_bytes(a), err);
  if (status) return status;
  return data_kernels_widen(d->kernels, a, c->memory[argument].device, to, c->list.device, count,
                            err);
}

/* Copies the outputs' entries to `to`, which is memory of the device if `there`, or of the host. */
static int take_outputs(struct computation *c, char *to, bool there, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const struct device_ops *ops = c->device->ops;
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!results_has_output(a)) continue;
    const size_t bytes = (size_t)entry_count(a, &d->samples) * wide_bytes(a);
    if (a->kind == CUGEN_ARGUMENT_INOUT)
      status = there ? results_widen(c, i, to, err) : gather_inout(c, i, to, err);
    else
      status = there ? ops->copy(c->device, to, c->memory[i].device, bytes, NULL, err)
                     : ops->download(c->device, to, c->memory[i].device, bytes, err);
    to += results_bytes(a, &d->samples);
  }
  return status;
}

static int check_guards(struct computation *c, cugen_error *err) {
  const struct kernel_spec *spec = &c->dataset->spec;
  int status = CUGEN_OK;
  for (size_t i = 0; i < spec->argument_count && !status; i++) {
    if (spec->arguments[i].kind != CUGEN_ARGUMENT_OUTPUT) continue;
    status = c->device->ops->memory_check(c->device, &c->memory[i], err);
    if (status == CUGEN_ERROR_WRONG)
      error_append(err, ", output '%s'" RESULTS_ADVICE, spec->arguments[i].name);
  }
  return status;
}

/* Launches once, with outputs that are filled with the poison. */
static int results_launch_once(struct computation *c, unsigned char poison, cugen_error *err) {
  const struct dataset *d = c->dataset;
  int status = dataset_prepare(c->device, c->dataset, c->request->reference.spec, false, err);
  for (size_t i = 0; i < d->spec.argument_count && !status; i++)
    if (d->spec.arguments[i].kind == CUGEN_ARGUMENT_OUTPUT)
      status =
          c->device->ops->fill(c->device, c->memory[i].device, poison,
                               (size_t)d->samples.count * wide_bytes(&d->spec.arguments[i]), err);
  dataset_begin(d->doing, c->request->reference.name);
  if (!status) status = call_launch(c->call, err);
  if (!status) status = c->device->ops->sync(c->device, err);
  dataset_end(d->doing);
  return status ? status : check_guards(c, err);
}

static int results_run_once(struct computation *c, unsigned char poison, char *to,
                            cugen_error *err) {
  int status = results_launch_once(c, poison, err);
  return status ? status : take_outputs(c, to, false, err);
}

/* ---- Entries that the reference left unwritten ---------------------------------------------- */

static const unsigned char poisons[] = {0xff, 0x5a}; /* of the first launch, and of the second */

/* Returns the first entry that the output has and that holds the first launch's poison in `first`
   and the second launch's in `second`; -1: none. second NULL: there was one launch. */
static int64_t results_find_unwritten(const struct kernel_argument *a,
                                      const struct samples *samples, const char *first,
                                      const char *second) {
  const struct dtype *wide = a->dtype->wide;
  for (int64_t i = 0; i < entry_count(a, samples); i++)
    if (element_is_filled(wide, first, i, poisons[0]) &&
        (!second || element_is_filled(wide, second, i, poisons[1])) && samples_due(samples, i, a))
      return i;
  return -1;
}

/* Returns the first output with an unwritten entry, or NULL. Arguments changed in place are
   skipped, because elements that the reference does not write keep their values. */
static const struct kernel_argument *output_unwritten(const struct dataset *d, const char *first,
                                                      const char *second, int64_t *entry) {
  size_t at = 0;
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!results_has_output(a)) continue;
    *entry = a->kind == CUGEN_ARGUMENT_OUTPUT
                 ? results_find_unwritten(a, &d->samples, first + at, second ? second + at : NULL)
                 : -1;
    if (*entry >= 0) return a;
    at += results_bytes(a, &d->samples);
  }
  return NULL;
}

/* Launches a second time if an entry looks like poison, because that may be a result: only an entry
   that also keeps a second poison is unwritten. */
static int results_check_written(struct computation *c, const char *results, cugen_error *err) {
  const struct dataset *d = c->dataset;
  int64_t entry;
  if (!output_unwritten(d, results, NULL, &entry)) return CUGEN_OK;
  char *again = malloc(d->results_bytes);
  int status = again ? results_run_once(c, poisons[1], again, err) : error_memory(err);
  const struct kernel_argument *a = status ? NULL : output_unwritten(d, results, again, &entry);
  free(again);
  if (!a) return status;
  struct text place = {0};
  verify_place(a, samples_flat(&d->samples, entry), &place);
  status = error_set(
      err, CUGEN_ERROR_CONFIG,
      "it does not write %s: thread t < sample_count stores element samples[t] (t where samples is "
      "null) of every output that has such an element",
      text_get(&place));
  text_free(&place);
  return status;
}

/* ---- References that depend on the order of their threads ----------------------------------- */

static bool changes_in_place(const struct dataset *d) {
  for (size_t i = 0; i < d->spec.argument_count; i++)
    if (d->spec.arguments[i].kind == CUGEN_ARGUMENT_INOUT) return true;
  return false;
}

/* Returns an argument changed in place whose results of the two launches differ, or NULL. */
static const struct kernel_argument *differs_in_place(const struct dataset *d, const char *first,
                                                      const char *second) {
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!results_has_output(a)) continue;
    if (a->kind == CUGEN_ARGUMENT_INOUT &&
        memcmp(first, second, (size_t)entry_count(a, &d->samples) * wide_bytes(a)) != 0)
      return a;
    size_t bytes = results_bytes(a, &d->samples);
    first += bytes, second += bytes;
  }
  return NULL;
}

/* Finds races, by a second launch with the threads in reverse order: a thread that reads elements
   which another thread changes in place gets the old or the new value by chance. */
static int check_order(struct computation *c, const char *results, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const int64_t count = d->samples.count;
  if (!changes_in_place(d)) return CUGEN_OK;
  char *again = calloc(1, d->results_bytes);
  int64_t *reversed = malloc((size_t)count * sizeof *reversed + 1);
  int status = again && reversed ? CUGEN_OK : error_memory(err);
  for (int64_t i = 0; i < count && !status; i++)
    reversed[i] = samples_flat(&d->samples, count - 1 - i);
  if (!status) status = upload_list(c, reversed, err);
  free(reversed);
  if (!status) status = results_run_once(c, poisons[0], again, err);
  const struct kernel_argument *a = status ? NULL : differs_in_place(d, results, again);
  free(again);
  if (!a) return status;
  return error_set(err, CUGEN_ERROR_CONFIG,
                   "its result for '%s' depends on the order of its threads: a thread writes its "
                   "own element alone, %s[e] with e = samples ? samples[t] : t, and reads others "
                   "from %s_before, which holds what was there before",
                   a->name, a->name, a->name);
}

static int open_computation(struct computation *c, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const struct dataset_kernel *reference = &c->request->reference;
  void *extra[KERNEL_MAX_ARGUMENTS + 2];
  size_t extra_count = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->rank == 0) continue;
    /* Each output has as many entries as there are samples, so that a reference may write entry t
       of every output. The outputs are guarded, because the last block may have threads beyond the
       samples. */
    if (a->kind == CUGEN_ARGUMENT_OUTPUT)
      status =
          c->device->ops->alloc(c->device, MEMORY_DEVICE, (size_t)d->samples.count * wide_bytes(a),
                                true, &c->memory[i], err);
    else
      c->memory[i] = d->sets[0][i];
  }
  if (!status) status = dataset_give_before(c->device, d, c->before, extra, &extra_count, err);
  if (!status && d->samples.flat) status = upload_list(c, d->samples.flat, err);
  if (!status) status = plan_open(c->device, reference->spec, reference->compiled, &c->plan, err);
  c->count = d->samples.count;
  extra[extra_count++] = &c->list.device;
  extra[extra_count++] = &c->count;
  return status ? status : call_bind(c->plan, c->memory, extra, extra_count, &c->call, err);
}

int results_compute(struct device *device, struct dataset *d, const struct dataset_request *request,
                    cugen_error *err) {
  struct computation c = {.device = device, .dataset = d, .request = request};
  int status = open_computation(&c, err);
  if (!status) status = results_run_once(&c, poisons[0], d->results, err);
  if (!status) status = results_check_written(&c, d->results, err);
  if (!status) status = check_order(&c, d->results, err);
  if (!status) status = dataset_restore(device, d, err);
  computation_free(&c);
  if (status) error_prefix(err, "%s", request->reference.name);
  return status;
}

/* ---- Computing on the device, which only tells whether all is right; the host finds errors --- */

/* Assumed least speed of the bus to the host, in bytes a second. Results that took longer to
   compute than they take to copy are copied to the host. */
static const double bus = 2e9;

/* Sets *written to whether no entry of an output holds the poison any more. */
static int ask_written(struct computation *c, bool *written, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const struct data_tally *tallies;
  size_t asked = 0;
  int status = data_kernels_begin(d->kernels, err);
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->kind != CUGEN_ARGUMENT_OUTPUT) continue;
    status = data_kernels_unwritten(d->kernels, a, c->memory[i].device, c->list.device,
                                    entry_count(a, &d->samples), poisons[0], err);
    asked++;
  }
  if (!status) status = data_kernels_await(d->kernels, &tallies, err);
  *written = !status && dataset_are_whole(tallies, asked);
  return status;
}

static int launch_reversed(struct computation *c, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const struct memory list = c->list;
  struct memory reversed = {0};
  int status = c->device->ops->alloc(c->device, MEMORY_DEVICE,
                                     (size_t)d->samples.count * sizeof *d->samples.flat, false,
                                     &reversed, err);
  if (!status)
    status = data_kernels_reverse(d->kernels, list.device, d->samples.count, reversed.device, err);
  c->list = reversed;
  if (!status) status = results_launch_once(c, poisons[0], err);
  c->list = list;
  if (reversed.device) c->device->ops->free(c->device, &reversed);
  return status;
}

/* Sets *equal to whether the argument's current entries have the digest of those at `kept`. */
static int ask_equal(struct computation *c, size_t argument, const void *kept, bool *equal,
                     cugen_error *err) {
  const struct dataset *d = c->dataset;
  const struct kernel_argument *a = &d->spec.arguments[argument];
  const size_t bytes = (size_t)entry_count(a, &d->samples) * wide_bytes(a);
  const struct data_tally *tallies;
  struct memory again = {0};
  int status = c->device->ops->alloc(c->device, MEMORY_DEVICE, bytes, false, &again, err);
  if (!status) status = results_widen(c, argument, again.device, err);
  if (!status) status = data_kernels_begin(d->kernels, err);
  if (!status) status = data_kernels_digest(d->kernels, kept, bytes, err);
  if (!status) status = data_kernels_digest(d->kernels, again.device, bytes, err);
  if (!status) status = data_kernels_await(d->kernels, &tallies, err);
  *equal = !status && tallies[0].digest == tallies[1].digest;
  if (again.device) c->device->ops->free(c->device, &again);
  return status;
}

/* Like check_order, on the device. */
static int ask_order(struct computation *c, bool *same, cugen_error *err) {
  const struct dataset *d = c->dataset;
  const char *kept = d->wanted.device;
  *same = true;
  int status = changes_in_place(d) ? launch_reversed(c, err) : CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status && *same; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->kind == CUGEN_ARGUMENT_INOUT) status = ask_equal(c, i, kept, same, err);
    if (results_has_output(a)) kept += results_bytes(a, &d->samples);
  }
  return status;
}

int results_compute_there(struct device *device, struct dataset *d,
                          const struct dataset_request *request, bool *done, bool *slow,
                          cugen_error *err) {
  struct computation c = {.device = device, .dataset = d, .request = request};
  *done = *slow = false;
  int status = open_computation(&c, err);
  const double begin = clock_seconds();
  if (!status) status = results_launch_once(&c, poisons[0], err);
  *slow = (clock_seconds() - begin) * bus > (double)d->results_bytes;
  if (!status) status = ask_written(&c, done, err);
  if (!status && *done) status = take_outputs(&c, d->wanted.device, true, err);
  if (!status && *done) status = ask_order(&c, done, err);
  /* results_compute needs less device memory, so it may still work. */
  if (status == CUGEN_ERROR_MEMORY) status = CUGEN_OK, *done = false;
  if (!status) status = dataset_restore(device, d, err);
  computation_free(&c);
  if (status) error_prefix(err, "%s", request->reference.name);
  return status;
}
