/* Buffers, inputs and reference results; see dataset.h. */
#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "element.h"
#include "generated.h"
#include "inputs.h"
#include "results.h"
#include "verifier.h"

static bool has_input(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_INPUT || a->kind == CUGEN_ARGUMENT_INOUT || a->kind == CUGEN_ARGUMENT_CONSTANT;
}

/* What a kernel may not change. */
static bool is_input(const struct kernel_argument *a) {
  return has_input(a) && a->kind != CUGEN_ARGUMENT_INOUT && !a->overwrite;
}

/* What is written anew before a run that is compared. */
static bool is_restored(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_INOUT || a->overwrite;
}

/* Zero before the first launch, and kept so by the kernel; other scratch may hold anything. */
static bool is_kept_zero(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_SCRATCH && a->fill == FILL_ZERO;
}

/* ---- Shared memory: what is ready, the inputs' data, one array an output ---- */

enum { SHARED_ALIGNMENT = 64 };

/* What the worker makes, and not again after it died. */
struct shared_head {
  int64_t reference;
  int64_t generated[KERNEL_MAX_ARGUMENTS];
};

static size_t aligned(size_t bytes) {
  return (bytes + SHARED_ALIGNMENT - 1) / SHARED_ALIGNMENT * SHARED_ALIGNMENT;
}

static struct shared_head *shared_head(const struct dataset *d) {
  return (struct shared_head *)(void *)d->shared;
}

size_t dataset_data_offset(const struct kernel_spec *spec, size_t i) {
  size_t offset = aligned(sizeof(struct shared_head));
  for (size_t k = 0; k < i; k++)
    if (spec->arguments[k].data) offset += aligned((size_t)kernel_argument_bytes(&spec->arguments[k]));
  return offset;
}

static size_t results_offset(const struct kernel_spec *spec) {
  return dataset_data_offset(spec, spec->argument_count);
}

static bool has_shared_data(const struct kernel_spec *spec) {
  return results_offset(spec) > dataset_data_offset(spec, 0);
}

int dataset_shared_size(const struct kernel_spec *spec, bool reference, uint64_t seed, size_t *bytes,
                        cugen_error *err) {
  struct samples samples = {0};
  size_t results = 0;
  int status = reference ? results_layout(spec, seed, &samples, &results, err) : CUGEN_OK;
  samples_free(&samples);
  *bytes = reference || has_shared_data(spec) ? results_offset(spec) + results : 0;
  return status;
}

/* ---- What runs ---- */

void dataset_begin(char *doing, const char *name) {
  if (doing) snprintf(doing, DATASET_DOING_BYTES, "%s", name);
}

void dataset_end(char *doing) {
  if (doing) *doing = '\0';
}

/* ---- Inputs ---- */

/* An input as it is to be, in *made (the caller frees it) unless it lies there already. NULL: no memory. */
static const void *input_data(const struct dataset *d, size_t i, void **made) {
  const struct kernel_argument *a = &d->spec.arguments[i];
  *made = NULL;
  if (a->data) return d->shared + dataset_data_offset(&d->spec, i);
  *made = malloc((size_t)kernel_argument_bytes(a));
  if (*made) element_fill(a, d->seed, i, *made);
  return *made;
}

int dataset_write_input(struct device *device, const struct dataset *d, size_t i, const struct memory *to,
                        cugen_error *err) {
  void *made;
  const void *data = input_data(d, i, &made);
  size_t bytes = (size_t)kernel_argument_bytes(&d->spec.arguments[i]);
  if (!data) return error_memory(err);
  int status = device->ops->upload(device, to->device, data, bytes, err);
  free(made);
  return status;
}

/* Into set 0, as it is to be. */
static int write_input(struct device *device, struct dataset *d, size_t i, cugen_error *err) {
  return dataset_write_input(device, d, i, &d->sets[0][i], err);
}

/* ---- In a process of its own ---- */

/* A kernel of the config's that is about to be loaded. */
struct loading {
  struct device *device;
  struct dataset *dataset;
  const struct dataset_request *request;
  const struct dataset_generator *generator;
};

static int run_apart(const struct loading *l, int (*step)(void *context, cugen_error *err), cugen_error *err) {
  void *context = (void *)(uintptr_t)l;
  return l->request->apart ? l->request->apart(l->request->apart_context, step, context, err) : step(context, err);
}

/* The inputs before it are filled. */
static int run_generator(struct device *device, struct dataset *d, const struct dataset_generator *generator,
                         cugen_error *err) {
  size_t i = generator->argument;
  struct memory *memory = calloc(d->spec.argument_count + 1, sizeof *memory);
  int status = memory ? CUGEN_OK : error_memory(err);
  for (size_t k = 0; k < i && memory; k++)
    if (!generator->spec->arguments[k].absent) memory[k] = d->sets[0][k];
  for (size_t k = 0; k < i && !status; k++) /* which kernels that ran before may have changed */
    if (is_restored(&d->spec.arguments[k])) status = write_input(device, d, k, err);
  dataset_begin(d->doing, generator->name);
  if (!status)
    status = generated_make(device, &d->spec.arguments[i], generator, memory,
                            d->shared + dataset_data_offset(&d->spec, i), err);
  dataset_end(d->doing);
  if (status == CUGEN_ERROR_WRONG) status = err->status = CUGEN_ERROR_TEMPLATE; /* no variant's fault */
  free(memory);
  if (!status) shared_head(d)->generated[i] = 1;
  return status;
}

static int generator_step(void *context, cugen_error *err) {
  const struct loading *l = context;
  return run_generator(l->device, l->dataset, l->generator, err);
}

static int generate(struct device *device, struct dataset *d, const struct dataset_request *request, size_t i,
                    cugen_error *err) {
  if (shared_head(d)->generated[i]) return CUGEN_OK;
  for (size_t k = 0; k < request->generator_count; k++)
    if (request->generators[k].argument == i)
      return run_apart(&(const struct loading){device, d, request, &request->generators[k]}, generator_step, err);
  return error_set(err, CUGEN_ERROR_INTERNAL, "'%s' has no generator", d->spec.arguments[i].name);
}

/* ---- Buffers ---- */

static int fill_argument(struct device *device, struct dataset *d, size_t i, cugen_error *err) {
  size_t bytes = (size_t)kernel_argument_bytes(&d->spec.arguments[i]);
  void *made;
  const void *data = input_data(d, i, &made);
  int status = data ? CUGEN_OK : error_memory(err);
  if (data) d->digests[i] = inputs_digest(data, bytes);
  for (size_t s = 0; s < d->set_count && !status; s++)
    status = device->ops->upload(device, d->sets[s][i].device, data, bytes, err);
  free(made);
  return status;
}

static int fill_buffers(struct device *device, struct dataset *d, const struct dataset_request *request,
                        cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!has_input(a)) continue;
    if (a->data == DATA_GENERATOR) status = generate(device, d, request, i, err);
    if (!status) status = fill_argument(device, d, i, err);
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
  void *made, *got = malloc(bytes);
  const void *was = input_data(d, i, &made);
  int status = was && got ? CUGEN_OK : error_memory(err);
  if (!status) status = device->ops->download(device, got, d->sets[0][i].device, bytes, err);
  if (!status) status = device->ops->upload(device, d->sets[0][i].device, was, bytes, err);
  if (!status) status = verify_unchanged(a, got, was, err);
  free(made);
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

/* ---- Opening ---- */

static int copy_spec(const struct kernel_spec *from, struct kernel_spec *to, cugen_error *err) {
  *to = (struct kernel_spec){
      .argument_count = from->argument_count, .flops = from->flops, .buffers_hash = from->buffers_hash};
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

static int map_shared(struct dataset *d, int descriptor, cugen_error *err) {
  int status = dataset_shared_size(&d->spec, d->has_reference, d->seed, &d->shared_bytes, err);
  if (!status && d->has_reference) status = results_layout(&d->spec, d->seed, &d->samples, &d->results_bytes, err);
  if (status || !d->shared_bytes) return status;
  void *at = mmap(NULL, d->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) return error_set(err, CUGEN_ERROR_MEMORY, "shared memory: %s", strerror(errno));
  d->shared = at;
  if (d->has_reference) d->results = d->shared + results_offset(&d->spec);
  return CUGEN_OK;
}

static void unmap_shared(struct dataset *d) {
  if (d->shared) munmap(d->shared, d->shared_bytes);
  samples_free(&d->samples);
  d->shared = d->results = NULL;
}

static int reference_step(void *context, cugen_error *err) {
  const struct loading *l = context;
  return results_compute(l->device, l->dataset, l->request, err);
}

/* What variants are held against, where no process can write it, whatever it asks for: it is mapped from a file that is open for
   reading alone. */
static void seal_shared(const struct dataset *d, int descriptor) {
  struct text path = {0};
  text_addf(&path, "/proc/self/fd/%d", descriptor);
  const int file = path.failed ? -1 : open(text_get(&path), O_RDONLY | O_CLOEXEC);
  text_free(&path);
  const bool sealed =
      file >= 0 && mmap(d->shared, d->shared_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  if (!sealed) mprotect(d->shared, d->shared_bytes, PROT_READ);
  if (file >= 0) close(file);
}

static int take_results(struct device *device, const struct dataset_request *request, struct dataset *d,
                        cugen_error *err) {
  const bool wanted = request->reference && !shared_head(d)->reference;
  int status = wanted ? run_apart(&(const struct loading){device, d, request, NULL}, reference_step, err) : CUGEN_OK;
  if (wanted && !status) shared_head(d)->reference = 1;
  if (status == CUGEN_ERROR_WRONG) status = err->status = CUGEN_ERROR_TEMPLATE; /* no variant's fault */
  if (!status && d->shared) seal_shared(d, request->shared);
  return status;
}

/* Whether it can be loaded. */
static int verifier_step(void *context, cugen_error *err) {
  const struct loading *l = context;
  struct verifier *verifier;
  int status = verifier_open(l->device, l->dataset, l->request, &verifier, err);
  verifier_close(l->device, verifier);
  return status;
}

int dataset_load(struct device *device, struct dataset *d, cugen_error *err) {
  if (!d->late || d->verifier) return CUGEN_OK;
  return verifier_open(device, d, d->late, &d->verifier, err);
}

/* What judges the variants. */
static int take_proofs(struct device *device, const struct dataset_request *request, struct dataset *d,
                       cugen_error *err) {
  int status = take_results(device, request, d, err);
  d->late = request->apart && request->verify ? request : NULL;
  if (!status && d->late) return run_apart(&(const struct loading){device, d, request, NULL}, verifier_step, err);
  if (!status && request->verify) status = verifier_open(device, d, request, &d->verifier, err);
  return status;
}

static int build(struct device *device, const struct dataset_request *request, struct dataset *d, cugen_error *err) {
  int status = copy_spec(request->spec, &d->spec, err);
  d->digests = calloc(request->spec->argument_count + 1, sizeof *d->digests);
  d->kept = calloc(request->spec->argument_count + 1, sizeof *d->kept);
  if (!status && (!d->digests || !d->kept)) status = error_memory(err);
  size_t sets = request->timed ? sets_wanted(device, &d->spec) : 1;
  if (!status) status = map_shared(d, request->shared, err);
  while (!status && d->set_count < sets) status = alloc_set(device, d, err);
  if (!status) status = fill_buffers(device, d, request, err);
  return status ? status : take_proofs(device, request, d, err);
}

bool dataset_has_buffers(const struct dataset *d, const struct dataset_request *request) {
  return d->seed == request->seed && d->spec.argument_count == request->spec->argument_count &&
         strcmp(d->spec.buffers_hash.hex, request->spec->buffers_hash.hex) == 0;
}

/* What the new shared memory is to hold of the inputs' data, which lies in the buffers already. */
static int generate_all(struct device *device, struct dataset *d, const struct dataset_request *request,
                        cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++)
    if (d->spec.arguments[i].data == DATA_GENERATOR) status = generate(device, d, request, i, err);
  return status;
}

int dataset_change(struct device *device, struct dataset *d, const struct dataset_request *request,
                   cugen_error *err) {
  struct kernel_spec spec;
  int status = copy_spec(request->spec, &spec, err);
  verifier_close(device, d->verifier);
  d->verifier = NULL;
  unmap_shared(d);
  kernel_spec_free(&d->spec);
  d->spec = spec;
  d->id = request->id;
  d->has_reference = request->reference != NULL;
  if (!status) status = map_shared(d, request->shared, err);
  if (!status) status = generate_all(device, d, request, err);
  return status ? status : take_proofs(device, request, d, err);
}

int dataset_open(struct device *device, const struct dataset_request *request, struct dataset **out,
                 cugen_error *err) {
  *out = NULL;
  struct dataset *d = calloc(1, sizeof *d);
  if (!d) return error_memory(err);
  d->id = request->id;
  d->seed = request->seed;
  d->has_reference = request->reference != NULL;
  d->doing = request->doing;
  int status = build(device, request, d, err);
  if (status)
    dataset_close(device, d);
  else
    *out = d;
  return status;
}

void dataset_close(struct device *device, struct dataset *d) {
  if (!d) return;
  verifier_close(device, d->verifier);
  for (size_t s = 0; s < d->set_count; s++) {
    for (size_t i = 0; i < d->spec.argument_count; i++)
      if (d->sets[s][i].base || d->sets[s][i].device) device->ops->free(device, &d->sets[s][i]);
    free(d->sets[s]);
  }
  for (size_t i = 0; d->kept && i < d->spec.argument_count; i++)
    if (d->kept[i].device) device->ops->free(device, &d->kept[i]);
  if (d->staging.bytes) device->ops->free(device, &d->staging);
  unmap_shared(d);
  kernel_spec_free(&d->spec);
  free(d->kept);
  free(d->digests);
  free(d);
}

/* ---- Before and after a run ---- */

/* Ones in every bit are NaN as a float, but -1 as a whole number, which may be what is wanted: there a second launch finds
   another number. */
static unsigned char poison_of(const struct dataset *d, const struct kernel_argument *a) {
  return d->again && a->kind == CUGEN_ARGUMENT_OUTPUT && element_get_of(a->dtype) ? 0x5a : 0xff;
}

/* A second launch finds the scratch as the first left it, as in an application. */
int dataset_prepare(struct device *device, struct dataset *d, bool again, cugen_error *err) {
  int status = CUGEN_OK;
  d->again = again;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    size_t bytes = (size_t)kernel_argument_bytes(a);
    if (a->kind == CUGEN_ARGUMENT_OUTPUT || (a->kind == CUGEN_ARGUMENT_SCRATCH && !again))
      status = device->ops->fill(device, d->sets[0][i].device, is_kept_zero(a) ? 0 : poison_of(d, a), bytes, err);
    if (is_restored(a)) status = write_input(device, d, i, err);
  }
  return status;
}

bool dataset_changes(const struct dataset *d) {
  size_t i = 0;
  while (i < d->spec.argument_count && !is_restored(&d->spec.arguments[i])) i++;
  return i < d->spec.argument_count;
}

/* Written anew for each variant: one before it may have written anywhere. */
int dataset_keep(struct device *device, struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    struct memory *kept = &d->kept[i];
    cugen_error no_room;
    if (!is_restored(a)) continue;
    if (!kept->device)
      device->ops->alloc(device, MEMORY_DEVICE, (size_t)kernel_argument_bytes(a), false, kept, &no_room);
    if (kept->device) status = dataset_write_input(device, d, i, kept, err);
  }
  return status;
}

int dataset_renew(struct device *device, struct dataset *d, size_t set, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    const struct memory *to = &d->sets[set][i];
    if (!is_restored(a)) continue;
    status = d->kept[i].device
                 ? device->ops->copy(device, to->device, d->kept[i].device, (size_t)kernel_argument_bytes(a), err)
                 : dataset_write_input(device, d, i, to, err);
  }
  return status;
}

/* The verify kernel sees the inputs as they were given, also those that the kernel may overwrite. */
static int judge(struct device *device, struct dataset *d, double *error, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++)
    if (d->spec.arguments[i].overwrite) status = write_input(device, d, i, err);
  if (!status) status = stage(device, d, verifier_bytes(d->verifier), err);
  return status ? status : verifier_run(device, d->verifier, d->staging.host, d->doing, error, err);
}

int dataset_guards(struct device *device, const struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    if (d->spec.arguments[i].rank == 0) continue;
    cugen_error other;
    int now = device->ops->memory_check(device, &d->sets[0][i], status ? &other : err);
    if (now && !status) error_prefix(err, "%s", d->spec.arguments[i].name), status = now;
  }
  return status;
}

static int verify_one(const struct dataset *d, const struct kernel_argument *a, const void *got, const void *want,
                      double *error, bool *bounds, cugen_error *err) {
  int status = verify_padding(a, got, poison_of(d, a), err);
  if (status) *bounds = true;
  if (!status && want) status = verify_output(a, got, want, &d->samples, error, err);
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

int dataset_verify(struct device *device, struct dataset *d, const struct kernel_spec *spec, double *error,
                   bool *bounds, cugen_error *err) {
  int status = dataset_guards(device, d, err);
  *bounds = status == CUGEN_ERROR_WRONG;
  const char *want = d->results;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (!results_has_output(a)) continue;
    size_t bytes = (size_t)kernel_argument_bytes(a);
    status = stage(device, d, bytes, err);
    if (!status) status = device->ops->download(device, d->staging.host, d->sets[0][i].device, bytes, err);
    if (!status) status = verify_one(d, a, d->staging.host, want, error, bounds, err);
    if (want) want += results_bytes(a, &d->samples);
  }
  if (!status && d->verifier) status = judge(device, d, error, err);
  return status ? status : check_kept_zero(device, d, err);
}
