/* What a reference computes for a dataset: which elements of the outputs, where they lie in the shared memory, and the
   computing itself. */
#ifndef TUNE_RESULTS_H
#define TUNE_RESULTS_H

#include "dataset.h"

/* Behind what says that a reference left its buffers: at their end it mostly lacks `if (t >= sample_count) return;`. */
const char *results_hint(const char *message);

/* What a kernel leaves that is compared: an output, also one that is changed in place. */
bool results_has_output(const struct kernel_argument *argument);

/* Which elements, for the outputs of spec, and how many bytes their results take. samples is freed by the caller. */
int results_layout(const struct kernel_spec *spec, uint64_t seed, struct samples *samples, size_t *bytes,
                   cugen_error *err);

/* How far behind an output's results those of the next one lie. */
size_t results_bytes(const struct kernel_argument *output, const struct samples *samples);

/* Runs the reference on set 0 and leaves its results in the dataset's `wanted`, which is that large; *slow: that took so long that they
   should be kept on the host, for the next worker and for when they are wanted again. False through *done: the other function is to find out what they are. Needs the data kernels. */
int results_compute_there(struct device *device, struct dataset *dataset, const struct dataset_request *request,
                          bool *done, bool *slow, cugen_error *err);

/* Runs the reference on set 0 and brings its results into the shared memory. An element that is due and that it does not
   write is an error. */
int results_compute(struct device *device, struct dataset *dataset, const struct dataset_request *request,
                    cugen_error *err);

#endif
