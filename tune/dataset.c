/* Buffers, inputs and reference results; see dataset.h. */
#include "dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "element.h"
#include "inputs.h"

static bool is_output(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_OUTPUT || a->kind == CUGEN_ARGUMENT_INOUT;
}

static bool has_input(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_INPUT || a->kind == CUGEN_ARGUMENT_INOUT || a->kind == CUGEN_ARGUMENT_CONSTANT;
}

static bool is_input(const struct kernel_argument *a) {
  return has_input(a) && a->kind != CUGEN_ARGUMENT_INOUT;
}

/* Zero before the first launch, and kept so by the kernel; other scratch may hold anything. */
static bool is_kept_zero(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_SCRATCH && a->fill == FILL_ZERO;
}

/* ---- Shared results: the ready flag, then one array an output ---- */

enum { RESULTS_ALIGNMENT = 64 };

static size_t results_array(const struct kernel_argument *a, int64_t count) {
  size_t bytes = (size_t)count * (size_t)dtype_find(a->dtype->wide)->bytes;
  return (bytes + RESULTS_ALIGNMENT - 1) / RESULTS_ALIGNMENT * RESULTS_ALIGNMENT;
}

static const struct kernel_argument *first_output(const struct kernel_spec *spec) {
  for (size_t i = 0; i < spec->argument_count; i++)
    if (is_output(&spec->arguments[i])) return &spec->arguments[i];
  return NULL;
}

/* All outputs must have one shape when there is a reference: its thread t computes the t-th sample of each. */
static int same_shapes(const struct kernel_spec *spec, cugen_error *err) {
  const struct kernel_argument *first = first_output(spec);
  if (!first) return error_set(err, CUGEN_ERROR_CONFIG, "the kernel has no output to verify");
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (is_output(a) && element_count(a) != element_count(first))
      return error_set(err, CUGEN_ERROR_CONFIG,
                       "outputs '%s' and '%s' differ in size, which a reference cannot serve", first->name, a->name);
  }
  return CUGEN_OK;
}

int dataset_results_size(const struct kernel_spec *spec, uint64_t seed, size_t *bytes, int64_t *sample_count,
                         bool *all, cugen_error *err) {
  struct samples samples;
  int status = same_shapes(spec, err);
  if (!status) status = samples_choose(first_output(spec), spec->flops, seed, &samples, err);
  if (status) return status;
  *sample_count = samples.count;
  *all = samples.flat == NULL;
  samples_free(&samples);
  *bytes = RESULTS_ALIGNMENT;
  for (size_t i = 0; i < spec->argument_count; i++)
    if (is_output(&spec->arguments[i])) *bytes += results_array(&spec->arguments[i], *sample_count);
  return CUGEN_OK;
}

static bool results_ready(const struct dataset *d) {
  return *(const int64_t *)d->results == 1;
}

/* ---- Buffers ---- */

static int fill_argument(struct device *device, struct dataset *d, size_t i, void *host, cugen_error *err) {
  const struct kernel_argument *a = &d->spec.arguments[i];
  size_t bytes = (size_t)kernel_argument_bytes(a);
  element_fill(a, d->seed, i, host);
  d->digests[i] = inputs_digest(host, bytes);
  int status = CUGEN_OK;
  for (size_t s = 0; s < d->set_count && !status; s++)
    status = device->ops->upload(device, d->sets[s][i].device, host, bytes, err);
  return status;
}

static int fill_buffers(struct device *device, struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    if (!has_input(&d->spec.arguments[i])) continue;
    void *host = malloc((size_t)kernel_argument_bytes(&d->spec.arguments[i]));
    if (!host) return error_memory(err);
    status = fill_argument(device, d, i, host, err);
    free(host);
  }
  return status;
}

static int alloc_set(struct device *device, struct dataset *d, cugen_error *err) {
  struct memory *set = calloc(d->spec.argument_count + 1, sizeof *set);
  if (!set) return error_memory(err);
  d->sets[d->set_count++] = set;
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->rank == 0) continue;
    status = device->ops->alloc(device, a->memory, (size_t)kernel_argument_bytes(a), true, &set[i], err);
    if (!status && is_kept_zero(a))
      status = device->ops->fill(device, set[i].device, 0, (size_t)kernel_argument_bytes(a), err);
    if (status) error_prefix(err, "argument '%s' (%lld bytes)", a->name, (long long)kernel_argument_bytes(a));
  }
  return status;
}

/* Twice the L2 in all (a set that is larger needs no second), within a quarter of the device's memory. */
static size_t sets_wanted(const struct device *device, const struct kernel_spec *spec) {
  const struct device_facts *facts = &device->description.facts;
  int64_t bytes = 1;
  for (size_t i = 0; i < spec->argument_count; i++)
    if (spec->arguments[i].rank) bytes += kernel_argument_bytes(&spec->arguments[i]);
  int64_t wanted = (2 * facts->l2_bytes + bytes - 1) / bytes, most = facts->memory_bytes / 4 / bytes;
  if (wanted > most) wanted = most;
  if (wanted > DATASET_MOST_SETS) wanted = DATASET_MOST_SETS;
  return wanted < 1 || !facts->is_gpu ? 1 : (size_t)wanted;
}

/* ---- Inputs as they were ---- */

/* Kept from one variant to the next: touching new pages would cost more than the transfer. */
static int stage(struct device *device, struct dataset *d, size_t bytes, cugen_error *err) {
  if (d->staging.bytes >= bytes) return CUGEN_OK;
  if (d->staging.bytes) device->ops->free(device, &d->staging);
  d->staging = (struct memory){0};
  return device->ops->alloc(device, MEMORY_PINNED, bytes, false, &d->staging, err);
}

/* Says what changed in an input, and writes it anew. */
static int refill(struct device *device, struct dataset *d, size_t i, cugen_error *err) {
  const struct kernel_argument *a = &d->spec.arguments[i];
  size_t bytes = (size_t)kernel_argument_bytes(a);
  char *was = malloc(bytes), *got = malloc(bytes);
  int status = was && got ? CUGEN_OK : error_memory(err);
  if (!status) status = device->ops->download(device, got, d->sets[0][i].device, bytes, err);
  if (!status) {
    element_fill(a, d->seed, i, was);
    status = device->ops->upload(device, d->sets[0][i].device, was, bytes, err);
  }
  if (!status) status = verify_unchanged(a, got, was, err);
  free(was);
  free(got);
  return status;
}

int dataset_restore(struct device *device, struct dataset *d, cugen_error *err) {
  int wrong = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    size_t bytes = (size_t)kernel_argument_bytes(a);
    uint64_t digest;
    if (!is_input(a)) continue;
    int status = stage(device, d, bytes < INPUTS_PIECE ? bytes : INPUTS_PIECE, err);
    if (!status) status = inputs_digest_device(device, &d->sets[0][i], bytes, d->staging.host, &digest, err);
    if (status) return status;
    if (digest == d->digests[i]) continue;
    cugen_error other;
    status = refill(device, d, i, wrong ? &other : err);
    if (status != CUGEN_ERROR_WRONG) return status;
    wrong = status;
  }
  return wrong;
}

/* ---- The reference ---- */

/* Memory for the reference's launch: the dataset's inputs, and wide outputs of its own. */
static int reference_memory(struct device *device, const struct dataset *d, struct memory *memory, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->rank == 0) continue;
    memory[i] = d->sets[0][i];
    if (a->kind == CUGEN_ARGUMENT_OUTPUT)
      status = device->ops->alloc(device, MEMORY_DEVICE, results_array(a, d->samples.count), false, &memory[i], err);
  }
  return status;
}

/* An argument changed in place keeps its dtype and layout in the reference; its samples are picked out here. */
static int gather_inout(struct device *device, const struct dataset *d, const struct kernel_argument *a,
                        const struct memory *memory, void *to, cugen_error *err) {
  size_t bytes = (size_t)kernel_argument_bytes(a);
  void *host = malloc(bytes);
  if (!host) return error_memory(err);
  int status = device->ops->download(device, host, memory->device, bytes, err);
  for (int64_t i = 0; i < d->samples.count && !status; i++) {
    int64_t flat = d->samples.flat ? d->samples.flat[i] : i;
    element_store(dtype_find(a->dtype->wide), to, i, element_load(a->dtype, host, element_offset(a, flat)));
  }
  free(host);
  return status;
}

static int reference_download(struct device *device, struct dataset *d, const struct memory *memory,
                              cugen_error *err) {
  char *to = (char *)d->results + RESULTS_ALIGNMENT;
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!is_output(a)) continue;
    size_t bytes = (size_t)d->samples.count * (size_t)dtype_find(a->dtype->wide)->bytes;
    status = a->kind == CUGEN_ARGUMENT_INOUT ? gather_inout(device, d, a, &memory[i], to, err)
                                             : device->ops->download(device, to, memory[i].device, bytes, err);
    to += results_array(a, d->samples.count);
  }
  return status;
}

static int reference_launch(struct device *device, struct dataset *d, const struct dataset_request *request,
                            const struct memory *memory, void *samples, cugen_error *err) {
  long long count = d->samples.count;
  void *extra[] = {&samples, &count};
  struct plan *plan = NULL;
  struct call *call = NULL;
  int status = plan_open(device, request->reference, request->reference_compiled, &plan, err);
  if (!status) status = call_bind(plan, memory, extra, 2, &call, err);
  if (!status) status = call_launch(call, err);
  if (!status) status = device->ops->sync(device, err);
  if (!status) status = reference_download(device, d, memory, err);
  call_free(call);
  plan_close(plan);
  return status;
}

static int reference_compute(struct device *device, struct dataset *d, const struct dataset_request *request,
                             cugen_error *err) {
  struct memory *memory = calloc(d->spec.argument_count + 1, sizeof *memory), list = {0};
  if (!memory) return error_memory(err);
  int status = reference_memory(device, d, memory, err);
  size_t bytes = (size_t)d->samples.count * sizeof *d->samples.flat;
  if (!status && d->samples.flat) {
    status = device->ops->alloc(device, MEMORY_DEVICE, bytes, false, &list, err);
    if (!status) status = device->ops->upload(device, list.device, d->samples.flat, bytes, err);
  }
  if (!status) status = reference_launch(device, d, request, memory, list.device, err);
  if (!status) status = dataset_restore(device, d, err);
  if (!status) *(int64_t *)d->results = 1;
  for (size_t i = 0; i < d->spec.argument_count; i++)
    if (d->spec.arguments[i].kind == CUGEN_ARGUMENT_OUTPUT && memory[i].device) device->ops->free(device, &memory[i]);
  if (list.device) device->ops->free(device, &list);
  free(memory);
  if (status) error_prefix(err, "the reference");
  return status;
}

/* ---- Opening ---- */

static int copy_spec(const struct kernel_spec *from, struct kernel_spec *to, cugen_error *err) {
  *to = (struct kernel_spec){.argument_count = from->argument_count, .flops = from->flops};
  to->arguments = calloc(from->argument_count + 1, sizeof *to->arguments);
  if (!to->arguments) return error_memory(err);
  memcpy(to->arguments, from->arguments, from->argument_count * sizeof *to->arguments);
  for (size_t i = 0; i < from->argument_count; i++)
    text_add_n(&to->strings, from->arguments[i].name, strlen(from->arguments[i].name) + 1);
  if (to->strings.failed) return error_memory(err);
  const char *at = text_get(&to->strings);
  for (size_t i = 0; i < from->argument_count; i++) {
    to->arguments[i].name = at;
    at += strlen(at) + 1;
  }
  return CUGEN_OK;
}

static int map_results(struct dataset *d, int descriptor, cugen_error *err) {
  int64_t count;
  bool all;
  int status = dataset_results_size(&d->spec, d->seed, &d->results_bytes, &count, &all, err);
  if (!status) status = samples_choose(first_output(&d->spec), d->spec.flops, d->seed, &d->samples, err);
  if (status) return status;
  void *at = mmap(NULL, d->results_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) return error_set(err, CUGEN_ERROR_MEMORY, "shared memory: %s", strerror(errno));
  d->results = at;
  return CUGEN_OK;
}

static int build(struct device *device, const struct dataset_request *request, struct dataset *d, cugen_error *err) {
  int status = copy_spec(request->spec, &d->spec, err);
  d->digests = calloc(request->spec->argument_count + 1, sizeof *d->digests);
  if (!status && !d->digests) status = error_memory(err);
  size_t sets = request->timed ? sets_wanted(device, &d->spec) : 1;
  while (!status && d->set_count < sets) status = alloc_set(device, d, err);
  if (!status) status = fill_buffers(device, d, err);
  if (!status && request->reference) {
    status = map_results(d, request->results, err);
    if (!status && !results_ready(d)) status = reference_compute(device, d, request, err);
  }
  return status;
}

int dataset_open(struct device *device, const struct dataset_request *request, struct dataset **out,
                 cugen_error *err) {
  *out = NULL;
  struct dataset *d = calloc(1, sizeof *d);
  if (!d) return error_memory(err);
  d->id = request->id;
  d->seed = request->seed;
  int status = build(device, request, d, err);
  if (status)
    dataset_close(device, d);
  else
    *out = d;
  return status;
}

void dataset_close(struct device *device, struct dataset *d) {
  if (!d) return;
  for (size_t s = 0; s < d->set_count; s++) {
    for (size_t i = 0; i < d->spec.argument_count; i++)
      if (d->sets[s][i].base || d->sets[s][i].device) device->ops->free(device, &d->sets[s][i]);
    free(d->sets[s]);
  }
  if (d->staging.bytes) device->ops->free(device, &d->staging);
  if (d->results) munmap(d->results, d->results_bytes);
  samples_free(&d->samples);
  kernel_spec_free(&d->spec);
  free(d->digests);
  free(d);
}

/* ---- Before and after a run ---- */

int dataset_prepare(struct device *device, struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    size_t bytes = (size_t)kernel_argument_bytes(a);
    if (a->kind == CUGEN_ARGUMENT_OUTPUT || a->kind == CUGEN_ARGUMENT_SCRATCH)
      status = device->ops->fill(device, d->sets[0][i].device, is_kept_zero(a) ? 0 : 0xff, bytes, err);
    if (a->kind != CUGEN_ARGUMENT_INOUT) continue;
    void *host = malloc(bytes);
    if (!host) return error_memory(err);
    element_fill(a, d->seed, i, host);
    status = device->ops->upload(device, d->sets[0][i].device, host, bytes, err);
    free(host);
  }
  return status;
}

static int check_guards(struct device *device, const struct dataset *d, cugen_error *err) {
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    if (d->spec.arguments[i].rank == 0) continue;
    int status = device->ops->memory_check(device, &d->sets[0][i], err);
    if (status) return error_prefix(err, "%s", d->spec.arguments[i].name), status;
  }
  return CUGEN_OK;
}

static int verify_one(const struct dataset *d, const struct kernel_argument *a, const void *got, const void *want,
                      double *error, bool *bounds, cugen_error *err) {
  int status = a->kind == CUGEN_ARGUMENT_OUTPUT ? verify_padding(a, got, err) : CUGEN_OK;
  if (status) *bounds = true;
  if (!status && d->results) status = verify_output(a, got, want, &d->samples, error, err);
  return status;
}

static int check_zero(const struct kernel_argument *a, const unsigned char *got, size_t bytes, cugen_error *err) {
  size_t at = 0;
  while (at < bytes && !got[at]) at++;
  if (at == bytes) return CUGEN_OK;
  return error_set(
      err, CUGEN_ERROR_WRONG,
      "scratch '%s' (fill = \"zero\") is not zero after the launch, at byte %zu: the next launch finds it so",
      a->name, at);
}

static int check_kept_zero(struct device *device, struct dataset *d, cugen_error *err) {
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    size_t bytes = (size_t)kernel_argument_bytes(a);
    if (!is_kept_zero(a)) continue;
    int status = stage(device, d, bytes, err);
    if (!status) status = device->ops->download(device, d->staging.host, d->sets[0][i].device, bytes, err);
    if (!status) status = check_zero(a, d->staging.host, bytes, err);
    if (status) return status;
  }
  return CUGEN_OK;
}

int dataset_verify(struct device *device, struct dataset *d, double *error, bool *bounds, cugen_error *err) {
  int status = check_guards(device, d, err);
  *bounds = status == CUGEN_ERROR_WRONG;
  const char *want = d->results ? (const char *)d->results + RESULTS_ALIGNMENT : NULL;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!is_output(a)) continue;
    size_t bytes = (size_t)kernel_argument_bytes(a);
    status = stage(device, d, bytes, err);
    if (!status) status = device->ops->download(device, d->staging.host, d->sets[0][i].device, bytes, err);
    if (!status) status = verify_one(d, a, d->staging.host, want, error, bounds, err);
    if (want) want += results_array(a, d->samples.count);
  }
  return status ? status : check_kept_zero(device, d, err);
}
