/* The results that a reference computes for a dataset, and their places in the memory that
   coordinator and worker share. */
#ifndef TUNE_DATA_RESULTS_H
#define TUNE_DATA_RESULTS_H

#include "dataset.h"

/* Advice to append to a message that a reference wrote beyond its buffers, because `if (t >=
   sample_count) return;` is missing or an index is wrong. */
#define RESULTS_ADVICE ": each thread t < sample_count writes one element, and the others return"

/* Returns true if the argument is compared after a run: an output, or an argument that is changed
   in place. */
bool results_has_output(const struct kernel_argument *argument);

/* Chooses the elements to compare of the spec's outputs, and computes how many bytes their results
   take. The caller frees samples. */
int results_layout(const struct kernel_spec *spec, uint64_t seed, struct samples *samples,
                   size_t *bytes, cugen_error *err);

/* Returns the distance in bytes from an output's results to the next output's results. */
size_t results_bytes(const struct kernel_argument *output, const struct samples *samples);

/* Runs the reference on set 0 and leaves its results on the device, in dataset.wanted, which the
   caller has allocated. *slow: copying the results to the host takes less time than the computation
   took. *done is false if a result may be missing or depend on the order of threads, or if device
   memory is short; then call results_compute. Needs the data kernels. */
int results_compute_there(struct device *device, struct dataset *dataset,
                          const struct dataset_request *request, bool *done, bool *slow,
                          cugen_error *err);

/* Runs the reference on set 0 and copies its results into the shared memory. CUGEN_ERROR_CONFIG if
   an element of an output is not written, or if what is changed in place depends on the order of
   threads. */
int results_compute(struct device *device, struct dataset *dataset,
                    const struct dataset_request *request, cugen_error *err);

#endif
