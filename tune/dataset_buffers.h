/* The lower half of a dataset, for the files that make it up: the buffers and the shared memory, without the reference's results
   and the verify kernel. dataset.h has what it offers to others. */
#ifndef TUNE_DATASET_BUFFERS_H
#define TUNE_DATASET_BUFFERS_H

#include "dataset.h"

/* ---- Shared memory ---- */

/* What the worker makes, and not again after it died. It opens the shared memory; the inputs' data and the results follow. */
struct shared_head {
  int64_t reference;
  int64_t generated[KERNEL_MAX_ARGUMENTS];
};

struct shared_head *dataset_head(const struct dataset *dataset);
/* Where the reference's results begin. */
size_t dataset_results_offset(const struct kernel_spec *spec);
/* Whether any input has its data there. */
bool dataset_has_shared_data(const struct kernel_spec *spec);

/* ---- In a process of its own ---- */

/* A kernel of the config's that is about to be loaded. */
struct loading {
  struct device *device;
  struct dataset *dataset;
  const struct dataset_request *request;
  const struct dataset_generator *generator;
  bool *there; /* whether a generator's data lies in set 0 already; never where the step runs in another process */
};

/* Carries out the step, whose context is the loading, where the request wants it. */
int dataset_run_apart(const struct loading *loading, int (*step)(void *context, cugen_error *err), cugen_error *err);

/* ---- Buffers ---- */

/* How many sets a timed dataset rotates through. */
size_t dataset_sets_wanted(const struct device *device, const struct kernel_spec *spec);
/* One more set, not filled. */
int dataset_alloc_set(struct device *device, struct dataset *dataset, cugen_error *err);
/* Fills every input of every set; runs generators whose data is not ready. */
int dataset_fill_buffers(struct device *device, struct dataset *dataset, const struct dataset_request *request,
                         cugen_error *err);
int dataset_generate_all(struct device *device, struct dataset *dataset, const struct dataset_request *request,
                         cugen_error *err);
/* Makes dataset.staging that large. */
int dataset_stage(struct device *device, struct dataset *dataset, size_t bytes, cugen_error *err);
/* The bytes of the i-th buffer of set 0, in *out until the next call: where they lie, if that is the host's memory, or staged. */
int dataset_read(struct device *device, struct dataset *dataset, size_t i, size_t bytes, const void **out,
                 cugen_error *err);
/* Zero before the first launch, and kept so by the kernel; other scratch may hold anything. */
bool dataset_is_kept_zero(const struct kernel_argument *argument);
/* Where there are kernels: asks about the guards of set 0. *asked: how many questions that were; 0: they cannot be read there. */
int dataset_ask_guards(struct dataset *dataset, size_t *asked, cugen_error *err);
/* What came of so many of these questions: no guard was written over. */
bool dataset_are_whole(const struct data_tally *tallies, size_t asked);
/* What fills an output before a run. */
unsigned char dataset_poison(const struct dataset *dataset, const struct kernel_argument *argument);

#endif
