/* A dataset's buffers: their contents, and how they are filled, kept and restored; see
   dataset_buffers.h. */
#include "dataset_buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "generated.h"
#include "inputs.h"
#include "parallel_for.h"

static bool has_input(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_INPUT || a->kind == CUGEN_ARGUMENT_INOUT ||
         a->kind == CUGEN_ARGUMENT_CONSTANT;
}

/* Returns true for an argument that a kernel must not change. */
static bool is_input(const struct kernel_argument *a) {
  return has_input(a) && a->kind != CUGEN_ARGUMENT_INOUT && !a->overwrite;
}

/* Returns true for an argument that a kernel may change, so that it is restored before a run. */
static bool is_restored(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_INOUT || a->overwrite;
}

bool dataset_is_kept_zero(const struct kernel_argument *a) {
  return a->kind == CUGEN_ARGUMENT_SCRATCH && a->fill == FILL_ZERO;
}

/* ---- Shared memory -------------------------------------------------------------------------- */

enum { SHARED_ALIGNMENT = 64 };

static size_t aligned(size_t bytes) {
  return (bytes + SHARED_ALIGNMENT - 1) / SHARED_ALIGNMENT * SHARED_ALIGNMENT;
}

struct shared_head *dataset_head(const struct dataset *d) {
  return (struct shared_head *)(void *)d->shared;
}

size_t dataset_data_offset(const struct kernel_spec *spec, size_t i) {
  size_t offset = aligned(sizeof(struct shared_head));
  for (size_t k = 0; k < i; k++)
    if (spec->arguments[k].data)
      offset += aligned((size_t)kernel_argument_bytes(&spec->arguments[k]));
  return offset;
}

size_t dataset_results_offset(const struct kernel_spec *spec) {
  return dataset_data_offset(spec, spec->argument_count);
}

/* A copy that threads share, because touching new pages takes long. */
struct copied {
  const char *from;
  char *to;
};

static int copy_part(void *context, int part, int64_t first, int64_t last, cugen_error *err) {
  const struct copied *c = context;
  (void)part, (void)err;
  memcpy(c->to + first, c->from + first, (size_t)(last - first));
  return CUGEN_OK;
}

void dataset_copy_data(const struct kernel_spec *spec, const char *from, char *to) {
  const struct shared_head *had = (const struct shared_head *)(const void *)from;
  struct shared_head *head = (struct shared_head *)(void *)to;
  cugen_error none; /* copy_part does not fail */
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (!a->data || (a->data == DATA_GENERATOR && !had->generated[i])) continue;
    const size_t at = dataset_data_offset(spec, i);
    struct copied copied = {from + at, to + at};
    parallel_for(kernel_argument_bytes(a), 1, copy_part, &copied, &none);
    head->generated[i] = had->generated[i];
  }
}

/* ---- The kernel that runs ------------------------------------------------------------------- */

void dataset_begin(char *doing, const char *name) {
  if (doing) snprintf(doing, DATASET_DOING_BYTES, "%s", name);
}

void dataset_end(char *doing) {
  if (doing) *doing = '\0';
}

/* ---- Inputs --------------------------------------------------------------------------------- */

/* Returns the original contents of an input: in the shared memory, or for a fill in *made, which
   the caller frees. NULL: out of memory. */
static const void *input_data(const struct dataset *d, size_t i, void **made) {
  const struct kernel_argument *a = &d->spec.arguments[i];
  *made = NULL;
  if (a->data) return d->shared + dataset_data_offset(&d->spec, i);
  *made = malloc((size_t)kernel_argument_bytes(a));
  if (*made) element_fill(a, d->seed, i, *made);
  return *made;
}

static bool is_host(const struct device *device) {
  return !(device->ops->capabilities & DEVICE_EXECUTES_ON_GPU);
}

/* Returns true if the data is made directly in the buffer: a fill, on a device that is the host. */
static bool is_made_there(const struct device *device, const struct kernel_argument *argument) {
  return is_host(device) && argument->data == DATA_FILL;
}

static int write_from_host(struct device *device, const struct dataset *d, size_t i,
                           const struct memory *to, cugen_error *err) {
  void *made;
  if (is_made_there(device, &d->spec.arguments[i])) {
    element_fill(&d->spec.arguments[i], d->seed, i, to->device);
    return CUGEN_OK;
  }
  const void *data = input_data(d, i, &made);
  size_t bytes = (size_t)kernel_argument_bytes(&d->spec.arguments[i]);
  if (!data) return error_memory(err);
  int status = device->ops->upload(device, to->device, data, bytes, err);
  free(made);
  return status;
}

static int digest_of(const struct dataset *d, size_t i, const struct memory *memory,
                     uint64_t *digest, cugen_error *err) {
  const struct data_tally *tallies;
  int status = data_kernels_begin(d->kernels, err);
  if (!status)
    status = data_kernels_digest(d->kernels, memory->device,
                                 (size_t)kernel_argument_bytes(&d->spec.arguments[i]), err);
  if (!status) status = data_kernels_await(d->kernels, &tallies, err);
  if (!status) *digest = tallies[0].digest;
  return status;
}

int dataset_write_input(struct device *device, const struct dataset *d, size_t i,
                        const struct memory *to, cugen_error *err) {
  const struct kernel_argument *a = &d->spec.arguments[i];
  const struct memory *kept = &d->kept[i];
  uint64_t digest;
  if (d->kernels && data_kernels_make(a))
    return data_kernels_fill(d->kernels, a, d->seed, i, to->device, err);
  if (!d->kernels || !kept->device) return write_from_host(device, d, i, to, err);
  /* A kernel may have overwritten the kept copy as well; then the host's data is used. */
  int status = digest_of(d, i, kept, &digest, err);
  if (!status && digest != d->digests[i]) status = write_from_host(device, d, i, kept, err);
  if (status || to == kept) return status;
  return device->ops->copy(device, to->device, kept->device, (size_t)kernel_argument_bytes(a), NULL,
                           err);
}

int dataset_give_before(struct device *device, const struct dataset *d, struct memory *before,
                        void **extra, size_t *extra_count, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->kind != CUGEN_ARGUMENT_INOUT || a->absent) continue;
    status = device->ops->alloc(device, MEMORY_DEVICE, (size_t)kernel_argument_bytes(a), false,
                                &before[i], err);
    if (!status) status = dataset_write_input(device, d, i, &before[i], err);
    extra[(*extra_count)++] = &before[i].device;
  }
  return status;
}

static int write_input(struct device *device, struct dataset *d, size_t i, cugen_error *err) {
  return dataset_write_input(device, d, i, &d->sets[0][i], err);
}

/* ---- In a process of its own ---------------------------------------------------------------- */

int dataset_run_apart(const struct loading *l, int (*step)(void *context, cugen_error *err),
                      cugen_error *err) {
  void *context = (void *)(uintptr_t)l;
  return l->request->apart ? l->request->apart(l->request->apart_context, step, context, err)
                           : step(context, err);
}

enum { LEAST_PAGE = 4096 };

static int touch_pages(void *memory, int part, int64_t first, int64_t last, cugen_error *err) {
  (void)part, (void)err;
  for (int64_t page = first; page < last; page++) ((volatile char *)memory)[page * LEAST_PAGE] = 0;
  return CUGEN_OK;
}

/* Runs a generator. memory: buffers of the generator's inputs. With data kernels, set 0 is made on
   the device and copied to the shared memory, unless an element may be wrong. */
static int make_generated(const struct loading *l, struct memory *memory, cugen_error *err) {
  /* For parallel_for: touching a page costs about as much as COST elements. */
  enum { COST = 64 };
  struct device *device = l->device;
  const struct dataset *d = l->dataset;
  const struct dataset_kernel *generator = l->generator;
  const struct kernel_argument *a = &d->spec.arguments[generator->argument];
  const size_t bytes = (size_t)kernel_argument_bytes(a);
  void *at = d->sets[0][generator->argument].device,
       *shared = d->shared + dataset_data_offset(&d->spec, generator->argument);
  int status = CUGEN_OK;
  if (d->kernels)
    status = generated_make_there(device, d->kernels, a, generator, memory, at, l->there, err);
  if (status) return status;
  if (!*l->there) return generated_make(device, a, generator, memory, shared, err);
  /* Threads touch the fresh pages first, because touching them one after the other takes longer
     than the transfer. */
  status = parallel_for((int64_t)(bytes / LEAST_PAGE), COST, touch_pages, shared, err);
  return status ? status : device->ops->download(device, shared, at, bytes, err);
}

/* A step of dataset_run_apart: runs a generator, after restoring the arguments that the generator
   reads. */
static int generator_step(void *context, cugen_error *err) {
  const struct loading *l = context;
  struct device *device = l->device;
  struct dataset *d = l->dataset;
  const struct dataset_kernel *generator = l->generator;
  size_t i = generator->argument;
  struct memory *memory = calloc(d->spec.argument_count + 1, sizeof *memory);
  int status = memory ? CUGEN_OK : error_memory(err);
  for (size_t k = 0; k < i && memory; k++)
    if (!generator->spec->arguments[k].absent) memory[k] = d->sets[0][k];
  for (size_t k = 0; k < i && !status; k++) /* an earlier generator may have changed its inputs */
    if (is_restored(&d->spec.arguments[k])) status = write_input(device, d, k, err);
  dataset_begin(d->doing, generator->name);
  if (!status) status = make_generated(l, memory, err);
  dataset_end(d->doing);
  free(memory);
  if (!status) dataset_head(d)->generated[i] = 1;
  return status;
}

/* Makes the data of an input by its generator, unless the shared memory has it. *there is set to
   true if set 0 holds the data as well. */
static int generate(struct device *device, struct dataset *d, const struct dataset_request *request,
                    size_t i, bool *there, cugen_error *err) {
  *there = false;
  if (dataset_head(d)->generated[i]) return CUGEN_OK;
  for (size_t k = 0; k < request->generator_count; k++)
    if (request->generators[k].argument == i)
      return dataset_run_apart(
          &(const struct loading){device, d, request, &request->generators[k], there},
          generator_step, err);
  return error_set(err, CUGEN_ERROR_INTERNAL, "'%s' has no generator", d->spec.arguments[i].name);
}

/* ---- Buffers -------------------------------------------------------------------------------- */

/* Allocates the copy from which an argument is restored, unless the device has no memory for the
   copy. */
static void alloc_kept(struct device *device, struct dataset *d, size_t i) {
  cugen_error no_room;
  if (d->kept[i].device) return;
  device->ops->alloc(device, MEMORY_DEVICE, (size_t)kernel_argument_bytes(&d->spec.arguments[i]),
                     false, &d->kept[i], &no_room);
}

/* Fills an input of all sets with the data kernels: made on the device, or uploaded once and
   copied. first_made: set 0 is filled already. */
static int fill_there(struct device *device, struct dataset *d, size_t i, bool first_made,
                      cugen_error *err) {
  const struct kernel_argument *a = &d->spec.arguments[i];
  const bool made = data_kernels_make(a);
  const size_t bytes = (size_t)kernel_argument_bytes(a);
  const struct memory *first = &d->sets[0][i];
  int status = made || first_made ? CUGEN_OK : write_from_host(device, d, i, first, err);
  for (size_t s = 0; s < d->set_count && !status; s++)
    if (made)
      status = data_kernels_fill(d->kernels, a, d->seed, i, d->sets[s][i].device, err);
    else if (s)
      status = device->ops->copy(device, d->sets[s][i].device, first->device, bytes, NULL, err);
  if (!status && !made && is_restored(a)) {
    alloc_kept(device, d, i);
    if (d->kept[i].device)
      status = device->ops->copy(device, d->kept[i].device, first->device, bytes, NULL, err);
  }
  return status ? status : digest_of(d, i, first, &d->digests[i], err);
}

static int fill_argument(struct device *device, struct dataset *d, size_t i, bool first_made,
                         cugen_error *err) {
  if (d->kernels) return fill_there(device, d, i, first_made, err);
  const struct kernel_argument *a = &d->spec.arguments[i];
  const size_t bytes = (size_t)kernel_argument_bytes(a);
  void *made;
  if (is_made_there(device, a)) {
    for (size_t s = 0; s < d->set_count; s++) element_fill(a, d->seed, i, d->sets[s][i].device);
    d->digests[i] = inputs_digest(d->sets[0][i].device, bytes);
    return CUGEN_OK;
  }
  const void *data = input_data(d, i, &made);
  int status = data ? CUGEN_OK : error_memory(err);
  if (data) d->digests[i] = inputs_digest(data, bytes);
  for (size_t s = 0; s < d->set_count && !status; s++)
    status = device->ops->upload(device, d->sets[s][i].device, data, bytes, err);
  free(made);
  return status;
}

int dataset_fill_buffers(struct device *device, struct dataset *d,
                         const struct dataset_request *request, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    bool there = false;
    if (!has_input(a)) continue;
    if (a->data == DATA_GENERATOR) status = generate(device, d, request, i, &there, err);
    if (!status) status = fill_argument(device, d, i, there, err);
  }
  return status;
}

bool dataset_is_shared(const struct kernel_argument *a, size_t set) {
  return set > 0 && a->kind == CUGEN_ARGUMENT_SCRATCH;
}

int dataset_alloc_set(struct device *device, struct dataset *d, cugen_error *err) {
  struct memory *set = calloc(d->spec.argument_count + 1, sizeof *set);
  if (!set) return error_memory(err);
  d->sets[d->set_count++] = set;
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (a->rank == 0) continue;
    if (dataset_is_shared(a, d->set_count - 1)) {
      set[i] = d->sets[0][i];
      continue;
    }
    status =
        device->ops->alloc(device, a->memory, (size_t)kernel_argument_bytes(a), true, &set[i], err);
    if (!status && dataset_is_kept_zero(a))
      status = device->ops->fill(device, set[i].device, 0, (size_t)kernel_argument_bytes(a), err);
    if (status)
      error_prefix(err, "argument '%s' (%lld bytes)", a->name, (long long)kernel_argument_bytes(a));
  }
  return status;
}

/* On a GPU, what the sets hold beside scratch takes at least twice the L2 cache together, unless so
   many sets are more than DATASET_MOST_SETS, or take more than a quarter of the device's memory
   with the scratch. */
size_t dataset_sets_wanted(const struct device *device, const struct kernel_spec *spec) {
  const struct device_facts *facts = &device->description.facts;
  int64_t bytes = 1, scratch = 0;
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (a->rank == 0) continue;
    *(a->kind == CUGEN_ARGUMENT_SCRATCH ? &scratch : &bytes) += kernel_argument_bytes(a);
  }
  int64_t wanted = (2 * facts->l2_bytes + bytes - 1) / bytes;
  const int64_t most = (facts->memory_bytes / 4 - scratch) / bytes;
  if (wanted > most) wanted = most;
  if (wanted > DATASET_MOST_SETS) wanted = DATASET_MOST_SETS;
  return wanted < 1 || !facts->is_gpu ? 1 : (size_t)wanted;
}

/* ---- Restoring changed inputs --------------------------------------------------------------- */

/* The staging buffer is kept from one variant to the next, because touching new pages would cost
   more than the transfer. */
int dataset_stage(struct device *device, struct dataset *d, size_t bytes, cugen_error *err) {
  if (d->staging.bytes >= bytes) return CUGEN_OK;
  if (d->staging.bytes) device->ops->free(device, &d->staging);
  d->staging = (struct memory){0};
  return device->ops->alloc(device, MEMORY_PINNED, bytes, false, &d->staging, err);
}

int dataset_read(struct device *device, struct dataset *d, size_t i, size_t bytes, const void **out,
                 cugen_error *err) {
  *out = d->sets[0][i].device;
  if (is_host(device)) return CUGEN_OK;
  int status = dataset_stage(device, d, bytes, err);
  *out = d->staging.host;
  return status ? status
                : device->ops->download(device, d->staging.host, d->sets[0][i].device, bytes, err);
}

/* Restores an input, and returns CUGEN_ERROR_WRONG with what had changed in it. */
static int buffers_refill(struct device *device, struct dataset *d, size_t i, cugen_error *err) {
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

/* digest_here and digest_there digest the current contents of the inputs of set 0, on the host and
   by the data kernels. */
static int digest_here(struct device *device, struct dataset *d, uint64_t *digests,
                       cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const size_t bytes = (size_t)kernel_argument_bytes(&d->spec.arguments[i]);
    if (!is_input(&d->spec.arguments[i])) continue;
    if (is_host(device)) {
      digests[i] = inputs_digest(d->sets[0][i].device, bytes);
      continue;
    }
    status = dataset_stage(device, d, bytes < INPUTS_PIECE ? bytes : INPUTS_PIECE, err);
    if (!status)
      status =
          inputs_digest_device(device, &d->sets[0][i], bytes, d->staging.host, &digests[i], err);
  }
  return status;
}

static int digest_there(struct dataset *d, uint64_t *digests, cugen_error *err) {
  const struct data_tally *tallies;
  int status = data_kernels_begin(d->kernels, err);
  for (size_t i = 0; i < d->spec.argument_count && !status; i++)
    if (is_input(&d->spec.arguments[i]))
      status = data_kernels_digest(d->kernels, d->sets[0][i].device,
                                   (size_t)kernel_argument_bytes(&d->spec.arguments[i]), err);
  if (!status) status = data_kernels_await(d->kernels, &tallies, err);
  for (size_t i = 0, at = 0; i < d->spec.argument_count && !status; i++)
    if (is_input(&d->spec.arguments[i])) digests[i] = tallies[at++].digest;
  return status;
}

int dataset_restore(struct device *device, struct dataset *d, cugen_error *err) {
  uint64_t digests[KERNEL_MAX_ARGUMENTS];
  int wrong = CUGEN_OK;
  int status = d->kernels ? digest_there(d, digests, err) : digest_here(device, d, digests, err);
  if (status) return status;
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    if (!is_input(&d->spec.arguments[i]) || digests[i] == d->digests[i]) continue;
    cugen_error other;
    status = buffers_refill(device, d, i, wrong ? &other : err);
    if (status != CUGEN_ERROR_WRONG) return status;
    wrong = status;
  }
  return wrong;
}

int dataset_generate_all(struct device *device, struct dataset *d,
                         const struct dataset_request *request, cugen_error *err) {
  int status = CUGEN_OK;
  bool ignored;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++)
    if (d->spec.arguments[i].data == DATA_GENERATOR)
      status = generate(device, d, request, i, &ignored, err);
  return status;
}

/* ---- Before and after a run ----------------------------------------------------------------- */

/* All bits set is NaN as a float, but -1 as an integer, which may be the right result. So the
   second launch has another poison for integers. */
unsigned char dataset_poison(const struct dataset *d, const struct kernel_argument *a) {
  return d->again && a->kind == CUGEN_ARGUMENT_OUTPUT && element_get_of(a->dtype) ? 0x5a : 0xff;
}

/* For a second launch the scratch stays as the first launch left it, as in an application. Scratch
   that the variant does not use is left alone, because it may be most of the memory, unless it has
   to be zero. */
static bool is_filled(const struct kernel_argument *a, bool again) {
  if (a->kind != CUGEN_ARGUMENT_SCRATCH) return a->kind == CUGEN_ARGUMENT_OUTPUT;
  return !again && (!a->unused || dataset_is_kept_zero(a));
}

int dataset_prepare(struct device *device, struct dataset *d, const struct kernel_spec *spec,
                    bool again, cugen_error *err) {
  int status = CUGEN_OK;
  d->again = again;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    size_t bytes = (size_t)kernel_argument_bytes(a);
    if (is_filled(&spec->arguments[i], again))
      status = device->ops->fill(device, d->sets[0][i].device,
                                 dataset_is_kept_zero(a) ? 0 : dataset_poison(d, a), bytes, err);
    if (is_restored(a)) status = write_input(device, d, i, err);
  }
  return status;
}

bool dataset_changes(const struct dataset *d) {
  size_t i = 0;
  while (i < d->spec.argument_count && !is_restored(&d->spec.arguments[i])) i++;
  return i < d->spec.argument_count;
}

/* The copies are written for each variant, because the variant before may have overwritten them. */
int dataset_keep(struct device *device, struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    struct memory *kept = &d->kept[i];
    if (!is_restored(a)) continue;
    alloc_kept(device, d, i);
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
    status = d->kept[i].device ? device->ops->copy(device, to->device, d->kept[i].device,
                                                   (size_t)kernel_argument_bytes(a), NULL, err)
                               : dataset_write_input(device, d, i, to, err);
  }
  return status;
}

int dataset_ask_guards(struct dataset *d, size_t *asked, cugen_error *err) {
  bool readable = true;
  int status = CUGEN_OK;
  *asked = 0;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    if (d->spec.arguments[i].rank == 0) continue;
    status = data_kernels_guards(d->kernels, &d->sets[0][i], &readable, err);
    if (!readable) break;
    *asked += 2;
  }
  if (!readable) *asked = 0;
  return status;
}

bool dataset_are_whole(const struct data_tally *tallies, size_t asked) {
  size_t i = 0;
  while (i < asked && tallies[i].first == UINT64_MAX) i++;
  return i == asked;
}

int dataset_guards(struct device *device, struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  if (d->kernels) {
    const struct data_tally *tallies;
    size_t asked = 0;
    status = data_kernels_begin(d->kernels, err);
    if (!status) status = dataset_ask_guards(d, &asked, err);
    if (!status) status = data_kernels_await(d->kernels, &tallies, err);
    /* asked is 0 if the data kernels cannot read the guards; then the host checks them */
    if (status || (asked > 0 && dataset_are_whole(tallies, asked))) return status;
  }
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    if (d->spec.arguments[i].rank == 0) continue;
    cugen_error other;
    int now = device->ops->memory_check(device, &d->sets[0][i], status ? &other : err);
    if (now && !status) error_prefix(err, "%s", d->spec.arguments[i].name), status = now;
  }
  return status;
}
