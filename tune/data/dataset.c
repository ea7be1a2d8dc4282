/* Opens and changes a dataset, and judges the runs on it; see dataset.h. */
#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "dataset_buffers.h"
#include "elements.h"
#include "results.h"
#include "verifier.h"

/* ---- Opening -------------------------------------------------------------------------------- */

int dataset_shared_size(const struct kernel_spec *spec, bool reference, uint64_t seed,
                        size_t *bytes, cugen_error *err) {
  struct samples samples = {0};
  size_t results = 0;
  int status = reference ? results_layout(spec, seed, &samples, &results, err) : CUGEN_OK;
  samples_free(&samples);
  const size_t data_end = dataset_results_offset(spec);
  *bytes = reference || data_end > dataset_data_offset(spec, 0) ? data_end + results : 0;
  return status;
}

static int copy_spec(const struct kernel_spec *from, struct kernel_spec *to, cugen_error *err) {
  *to = (struct kernel_spec){.argument_count = from->argument_count,
                             .flops = from->flops,
                             .buffers_hash = from->buffers_hash};
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

static int dataset_map_shared(struct dataset *d, int descriptor, cugen_error *err) {
  int status = dataset_shared_size(&d->spec, d->has_reference, d->seed, &d->shared_bytes, err);
  if (!status && d->has_reference)
    status = results_layout(&d->spec, d->seed, &d->samples, &d->results_bytes, err);
  if (status || !d->shared_bytes) return status;
  void *at = mmap(NULL, d->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED)
    return error_set(err, CUGEN_ERROR_MEMORY, "shared memory: %s", strerror(errno));
  d->shared = at;
  if (d->has_reference) d->results = d->shared + dataset_results_offset(&d->spec);
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

/* Makes the shared memory read-only, because a variant on the cpu device must not change the
   results with which it is compared. If possible the memory is mapped from a descriptor that is
   open for reading only, so that mprotect cannot make it writable again. */
static void seal_shared(const struct dataset *d, int descriptor) {
  struct text path = {0};
  text_addf(&path, "/proc/self/fd/%d", descriptor);
  const int file = path.failed ? -1 : open(text_get(&path), O_RDONLY | O_CLOEXEC);
  text_free(&path);
  const bool sealed = file >= 0 && mmap(d->shared, d->shared_bytes, PROT_READ,
                                        MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  if (!sealed) mprotect(d->shared, d->shared_bytes, PROT_READ);
  if (file >= 0) close(file);
}

static void drop_wanted(struct device *device, struct dataset *d) {
  struct memory *const both[] = {&d->wanted, &d->sampled};
  for (size_t i = 0; i < 2; i++)
    if (both[i]->device) device->ops->free(device, both[i]);
}

/* Allocates device memory for the reference's results and the samples. If the device has no room,
   the host compares. */
static void alloc_wanted(struct device *device, struct dataset *d) {
  const size_t list = d->samples.flat ? (size_t)d->samples.count * sizeof *d->samples.flat : 0;
  cugen_error no_room;
  if (device->ops->alloc(device, MEMORY_DEVICE, d->results_bytes, false, &d->wanted, &no_room))
    return;
  int status = list ? device->ops->alloc(device, MEMORY_DEVICE, list, false, &d->sampled, &no_room)
                    : CUGEN_OK;
  /* The padding between results is copied with them. */
  if (!status) status = device->ops->fill(device, d->wanted.device, 0, d->results_bytes, &no_room);
  if (status) drop_wanted(device, d);
}

static int upload_wanted(struct device *device, struct dataset *d, bool results, cugen_error *err) {
  const size_t list = d->samples.flat ? (size_t)d->samples.count * sizeof *d->samples.flat : 0;
  int status =
      results ? device->ops->upload(device, d->wanted.device, d->results, d->results_bytes, err)
              : CUGEN_OK;
  return status || !list
             ? status
             : device->ops->upload(device, d->sampled.device, d->samples.flat, list, err);
}

/* Computes the reference's results unless the shared memory has them: on the device or, without
   data kernels or room there, or if a result may be missing or wrong, into the shared memory, where
   the host checks the results. Then seals the shared memory. */
static int dataset_take_results(struct device *device, const struct dataset_request *request,
                                struct dataset *d, cugen_error *err) {
  const bool wanted = request->reference.spec && !dataset_head(d)->reference;
  bool there = false, slow = false;
  int status = CUGEN_OK;
  if (d->kernels && d->results) alloc_wanted(device, d);
  if (wanted && d->wanted.device)
    status = results_compute_there(device, d, request, &there, &slow, err);
  /* Results that took long are also copied to the shared memory, for the next worker. */
  if (wanted && !status && there && slow)
    status = device->ops->download(device, d->results, d->wanted.device, d->results_bytes, err);
  if (wanted && !status && !there)
    status = dataset_run_apart(&(const struct loading){device, d, request, NULL, NULL},
                               reference_step, err);
  if (wanted && !status && (!there || slow)) dataset_head(d)->reference = 1;
  if (!status && d->shared) seal_shared(d, request->shared);
  return status || !d->wanted.device ? status : upload_wanted(device, d, !there, err);
}

/* A step of dataset_run_apart: tests that the verify kernel can be loaded. */
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

static int take_proofs(struct device *device, const struct dataset_request *request,
                       struct dataset *d, cugen_error *err) {
  int status = dataset_take_results(device, request, d, err);
  d->late = request->apart && request->verify.spec ? request : NULL;
  if (!status && d->late)
    return dataset_run_apart(&(const struct loading){device, d, request, NULL, NULL}, verifier_step,
                             err);
  if (!status && request->verify.spec)
    status = verifier_open(device, d, request, &d->verifier, err);
  return status;
}

bool dataset_has_buffers(const struct dataset *d, const struct dataset_request *request) {
  return d->seed == request->seed && d->spec.argument_count == request->spec->argument_count &&
         strcmp(d->spec.buffers_hash.hex, request->spec->buffers_hash.hex) == 0;
}

int dataset_change(struct device *device, struct dataset *d, const struct dataset_request *request,
                   cugen_error *err) {
  struct kernel_spec spec;
  int status = copy_spec(request->spec, &spec, err);
  verifier_close(device, d->verifier);
  d->verifier = NULL;
  drop_wanted(device, d);
  unmap_shared(d);
  kernel_spec_free(&d->spec);
  d->spec = spec;
  d->id = request->id;
  d->has_reference = request->reference.spec || request->answered;
  if (!status) status = dataset_map_shared(d, request->shared, err);
  if (!status) status = dataset_generate_all(device, d, request, err);
  return status ? status : take_proofs(device, request, d, err);
}

int dataset_open(struct device *device, const struct dataset_request *request, struct dataset **out,
                 cugen_error *err) {
  *out = NULL;
  struct dataset *d = calloc(1, sizeof *d);
  if (!d) return error_memory(err);
  d->id = request->id;
  d->seed = request->seed;
  d->has_reference = request->reference.spec || request->answered;
  d->doing = request->doing;
  d->kernels = request->kernels;
  int status = copy_spec(request->spec, &d->spec, err);
  d->digests = calloc(request->spec->argument_count + 1, sizeof *d->digests);
  d->kept = calloc(request->spec->argument_count + 1, sizeof *d->kept);
  if (!status && (!d->digests || !d->kept)) status = error_memory(err);
  const size_t sets = request->timed && !status ? dataset_sets_wanted(device, &d->spec) : 1;
  if (!status) status = dataset_map_shared(d, request->shared, err);
  while (!status && d->set_count < sets) status = dataset_alloc_set(device, d, err);
  if (!status) status = dataset_fill_buffers(device, d, request, err);
  if (!status) status = take_proofs(device, request, d, err);
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
      if (!dataset_is_shared(&d->spec.arguments[i], s) &&
          (d->sets[s][i].base || d->sets[s][i].device))
        device->ops->free(device, &d->sets[s][i]);
    free(d->sets[s]);
  }
  for (size_t i = 0; d->kept && i < d->spec.argument_count; i++)
    if (d->kept[i].device) device->ops->free(device, &d->kept[i]);
  if (d->staging.bytes) device->ops->free(device, &d->staging);
  drop_wanted(device, d);
  unmap_shared(d);
  kernel_spec_free(&d->spec);
  free(d->kept);
  free(d->digests);
  free(d);
}

/* ---- The verdict on a run ------------------------------------------------------------------- */

/* Runs the verify kernel, after restoring the inputs that the kernel under test may overwrite. */
static int dataset_judge(struct device *device, struct dataset *d, double *error,
                         cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++)
    if (d->spec.arguments[i].overwrite)
      status = dataset_write_input(device, d, i, &d->sets[0][i], err);
  if (!status && !d->kernels) status = dataset_stage(device, d, verifier_bytes(d->verifier), err);
  return status
             ? status
             : verifier_run(device, d->verifier, d->kernels, d->staging.host, d->doing, error, err);
}

static int refuse_zero(const struct kernel_argument *a, size_t at, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_WRONG,
                   "scratch '%s' (fill = \"zero\") is not zero after the launch, at byte %zu: the "
                   "next launch finds it so",
                   a->name, at);
}

static int check_kept_zero(struct device *device, struct dataset *d, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    const size_t bytes = (size_t)kernel_argument_bytes(a);
    size_t at = 0;
    if (!dataset_is_kept_zero(a)) continue;
    const void *got;
    status = dataset_read(device, d, i, bytes, &got, err);
    while (!status && at < bytes && !((const unsigned char *)got)[at]) at++;
    if (!status && at < bytes) status = refuse_zero(a, at, err);
  }
  return status;
}

static int verify_here(struct device *device, struct dataset *d, const struct kernel_spec *spec,
                       double *error, cugen_error *err) {
  int status = dataset_guards(device, d, err);
  const char *want = d->results;
  const void *got;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (!results_has_output(a)) continue;
    status = dataset_read(device, d, i, (size_t)kernel_argument_bytes(a), &got, err);
    if (!status) status = verify_padding(a, got, dataset_poison(d, a), err);
    if (!status && want) status = verify_output(a, got, want, &d->samples, error, err);
    if (want) want += results_bytes(a, &d->samples);
  }
  if (!status && d->verifier) status = dataset_judge(device, d, error, err);
  return status ? status : check_kept_zero(device, d, err);
}

/* ---- Verifying on the device: all questions first, then the answers in the host's order ----- */

static int dataset_ask_all(struct dataset *d, const struct kernel_spec *spec, size_t *guards,
                           cugen_error *err) {
  const char *want = d->wanted.device;
  int status = data_kernels_begin(d->kernels, err);
  if (!status) status = dataset_ask_guards(d, guards, err);
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    const void *got = d->sets[0][i].device;
    if (!results_has_output(a)) continue;
    status = data_kernels_gaps(d->kernels, a, got, dataset_poison(d, a), err);
    if (!want) continue;
    if (!status)
      status = data_kernels_compare(d->kernels, a, got, want, d->sampled.device,
                                    d->samples.flat ? d->samples.count : element_count(a), err);
    want += results_bytes(a, &d->samples);
  }
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const int64_t bytes = kernel_argument_bytes(&d->spec.arguments[i]);
    if (dataset_is_kept_zero(&d->spec.arguments[i]))
      status = data_kernels_find(d->kernels, d->sets[0][i].device,
                                 (struct verify_gaps){.rows = 1, .width = bytes, .limit = bytes}, 0,
                                 err);
  }
  return status;
}

/* Judges output i by its tallies. Copies only the first wrong element to the host. */
static int read_output(struct device *device, struct dataset *d, const struct kernel_argument *a,
                       size_t i, const struct data_tally *tallies, const char *want, double *error,
                       cugen_error *err) {
  if (tallies[0].first != UINT64_MAX) return verify_gap_written(a, (int64_t)tallies[0].first, err);
  if (!want) return CUGEN_OK;
  const struct verify_tally tally = data_tally_read(&tallies[1]);
  uint64_t got = 0, due = 0;
  if (!tally.wrong) return verify_judge(a, &tally, &d->samples, NULL, NULL, error, err);
  const int64_t at = element_offset(a, samples_flat(&d->samples, tally.first)) * a->dtype->bytes;
  int status = device->ops->download(device, &got, (const char *)d->sets[0][i].device + at,
                                     (size_t)a->dtype->bytes, err);
  if (!status)
    status = device->ops->download(device, &due, want + tally.first * a->dtype->wide->bytes,
                                   sizeof due, err);
  return status ? status : verify_judge(a, &tally, &d->samples, &got, &due, error, err);
}

static int read_zeros(const struct dataset *d, const struct data_tally *tallies, cugen_error *err) {
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    if (!dataset_is_kept_zero(&d->spec.arguments[i])) continue;
    if (tallies->first != UINT64_MAX)
      return refuse_zero(&d->spec.arguments[i], (size_t)tallies->first, err);
    tallies++;
  }
  return CUGEN_OK;
}

static int verify_there(struct device *device, struct dataset *d, const struct kernel_spec *spec,
                        double *error, cugen_error *err) {
  struct data_tally answers[DATA_MOST_QUESTIONS];
  const struct data_tally *tallies, *at = answers;
  const char *want = d->wanted.device;
  size_t guards;
  int status = dataset_ask_all(d, spec, &guards, err);
  if (!status) status = data_kernels_await(d->kernels, &tallies, err);
  if (status) return status;
  /* The answers are copied, because the calls below may ask further questions. */
  memcpy(answers, tallies, sizeof answers);
  if (!guards || !dataset_are_whole(at, guards)) status = dataset_guards(device, d, err);
  at += guards;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (!results_has_output(a)) continue;
    status = read_output(device, d, a, i, at, want, error, err);
    at += want ? 2 : 1;
    if (want) want += results_bytes(a, &d->samples);
  }
  if (!status && d->verifier) status = dataset_judge(device, d, error, err);
  return status ? status : read_zeros(d, at, err);
}

int dataset_verify(struct device *device, struct dataset *d, const struct kernel_spec *spec,
                   double *error, cugen_error *err) {
  const bool there = d->kernels && (!d->results || d->wanted.device);
  return there ? verify_there(device, d, spec, error, err)
               : verify_here(device, d, spec, error, err);
}

/* ---- Digests of the outputs ----------------------------------------------------------------- */

static int bits_here(struct device *device, struct dataset *d, uint64_t *digests, size_t *count,
                     cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    const size_t bytes = (size_t)kernel_argument_bytes(a);
    if (!results_has_output(a)) continue;
    const void *got;
    status = dataset_read(device, d, i, bytes, &got, err);
    if (!status) digests[(*count)++] = element_digest(a, got);
  }
  return status;
}

static int bits_there(struct dataset *d, uint64_t *digests, size_t *count, cugen_error *err) {
  const struct data_tally *tallies;
  int status = data_kernels_begin(d->kernels, err);
  for (size_t i = 0; i < d->spec.argument_count && !status; i++) {
    if (!results_has_output(&d->spec.arguments[i])) continue;
    status = data_kernels_bits(d->kernels, &d->spec.arguments[i], d->sets[0][i].device, err);
    (*count)++;
  }
  if (!status) status = data_kernels_await(d->kernels, &tallies, err);
  for (size_t i = 0; i < *count && !status; i++) digests[i] = tallies[i].digest;
  return status;
}

int dataset_outputs(struct device *device, struct dataset *d, uint64_t *digest, cugen_error *err) {
  uint64_t digests[KERNEL_MAX_ARGUMENTS];
  size_t count = 0;
  int status =
      d->kernels ? bits_there(d, digests, &count, err) : bits_here(device, d, digests, &count, err);
  *digest = status ? 0 : hash_next(0, digests, count * sizeof *digests);
  return status;
}
