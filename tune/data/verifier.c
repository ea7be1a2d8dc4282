/* Runs the verify kernel and reads the errors that it writes; see verifier.h. */
#include "verifier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "results.h"

struct verifier {
  const char *name; /* file name of the verify kernel */
  /* The largest output. The verify kernel writes one error for each element of this output. */
  const struct kernel_argument *output;
  struct plan *plan;
  struct call *call;
  struct memory errors;
  /* The original contents of arguments that are changed in place. */
  struct memory before[KERNEL_MAX_ARGUMENTS];
  long long count;
  void *extra[KERNEL_MAX_ARGUMENTS + 2]; /* addresses of the values of the parameters that follow
                                            the config's arguments */
  size_t extra_count;
};

int verifier_open(struct device *device, const struct dataset *d,
                  const struct dataset_request *request, struct verifier **out, cugen_error *err) {
  struct verifier *v = calloc(1, sizeof *v);
  *out = NULL;
  if (!v) return error_memory(err);
  v->name = request->verify.name;
  for (size_t i = 0; i < d->spec.argument_count; i++) {
    const struct kernel_argument *a = &d->spec.arguments[i];
    if (!results_has_output(a) || element_count(a) <= v->count) continue;
    v->output = a;
    v->count = element_count(a);
  }
  int status = v->output ? dataset_give_before(device, d, v->before, v->extra, &v->extra_count, err)
                         : error_set(err, CUGEN_ERROR_CONFIG, "the kernel has no output to verify");
  if (!status)
    status = device->ops->alloc(device, MEMORY_DEVICE, verifier_bytes(v), true, &v->errors, err);
  v->extra[v->extra_count++] = &v->errors.device;
  v->extra[v->extra_count++] = &v->count;
  if (!status)
    status = plan_open(device, request->verify.spec, request->verify.compiled, &v->plan, err);
  if (!status) status = call_bind(v->plan, d->sets[0], v->extra, v->extra_count, &v->call, err);
  if (status) {
    error_prefix(err, "the verify kernel %s", v->name);
    verifier_close(device, v);
    return status;
  }
  *out = v;
  return CUGEN_OK;
}

void verifier_close(struct device *device, struct verifier *v) {
  if (!v) return;
  call_free(v->call);
  plan_close(v->plan);
  for (size_t i = 0; i < KERNEL_MAX_ARGUMENTS; i++)
    if (v->before[i].device) device->ops->free(device, &v->before[i]);
  if (v->errors.device) device->ops->free(device, &v->errors);
  free(v);
}

size_t verifier_bytes(const struct verifier *v) {
  return (size_t)v->count * sizeof(double);
}

/* Describes the first wrong element, whose error is `error`. */
static int verifier_describe(const struct verifier *v, const struct verify_tally *tally,
                             double error, cugen_error *err) {
  struct text text = {0};
  uint64_t bits;
  memcpy(&bits, &error, sizeof bits);
  const bool unwritten = bits == UINT64_MAX; /* the poison, unlike the usual NaNs */
  verify_place(v->output, tally->first, &text);
  int status =
      text.failed ? error_memory(err)
      : unwritten
          ? error_set(err, CUGEN_ERROR_WRONG,
                      "the verify kernel %s does not write the error of %s: thread t < count "
                      "writes error[t]",
                      v->name, text_get(&text))
          : error_set(err, CUGEN_ERROR_WRONG,
                      "%s: %s is off by %.9g, allowed is 1; %lld of %lld elements are wrong",
                      v->name, text_get(&text), error, (long long)tally->wrong, v->count);
  text_free(&text);
  return status;
}

/* Counts the errors on the host, to which they are copied. A NaN counts as infinity. */
static int count_here(struct device *device, const struct verifier *v, double *staging,
                      struct verify_tally *tally, cugen_error *err) {
  int status = device->ops->download(device, staging, v->errors.device, verifier_bytes(v), err);
  for (long long i = 0; i < v->count && !status; i++) {
    const double size = isnan(staging[i]) ? (double)INFINITY : fabs(staging[i]);
    tally->worst = fmax(tally->worst, size);
    if (size > 1 && tally->wrong++ == 0) tally->first = i;
  }
  return status;
}

static int count_there(const struct verifier *v, struct data_kernels *kernels,
                       struct verify_tally *tally, cugen_error *err) {
  const struct data_tally *tallies;
  int status = data_kernels_begin(kernels, err);
  if (!status) status = data_kernels_errors(kernels, v->errors.device, v->count, err);
  if (!status) status = data_kernels_await(kernels, &tallies, err);
  if (!status) *tally = data_tally_read(&tallies[0]);
  return status;
}

int verifier_run(struct device *device, struct verifier *v, struct data_kernels *kernels,
                 double *staging, char *doing, double *error, cugen_error *err) {
  struct verify_tally tally = {.first = -1};
  double first = 0;
  int status = device->ops->fill(device, v->errors.device, 0xff, verifier_bytes(v), err);
  if (doing) snprintf(doing, DATASET_DOING_BYTES, "the verify kernel %s", v->name);
  if (!status) status = call_launch(v->call, err);
  if (!status) status = device->ops->sync(device, err);
  dataset_end(doing);
  if (!status) status = device->ops->memory_check(device, &v->errors, err);
  if (status && err->cause == CUGEN_CAUSE_BOUNDS)
    err->cause = CUGEN_CAUSE_NONE; /* it was not the variant that left the bounds */
  if (!status)
    status = kernels ? count_there(v, kernels, &tally, err)
                     : count_here(device, v, staging, &tally, err);
  if (!status && tally.wrong)
    status = device->ops->download(device, &first, (const double *)v->errors.device + tally.first,
                                   sizeof first, err);
  if (status) return error_prefix(err, "the verify kernel %s", v->name), status;
  if (tally.worst > *error) *error = tally.worst;
  return tally.wrong ? verifier_describe(v, &tally, first, err) : CUGEN_OK;
}
