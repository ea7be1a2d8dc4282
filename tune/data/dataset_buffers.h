/* The lower half of a dataset: its buffers and its shared memory, without the reference's results
   and the verify kernel. Files outside tune/data include dataset.h instead. */
#ifndef TUNE_DATA_DATASET_BUFFERS_H
#define TUNE_DATA_DATASET_BUFFERS_H

#include "dataset.h"

/* ---- Shared memory -------------------------------------------------------------------------- */

/* The head of the shared memory. A member is 1 if the reference's results, or the argument's
   generated data, are there. The inputs' data and the reference's results follow the head. */
struct shared_head {
  int64_t reference;
  int64_t generated[KERNEL_MAX_ARGUMENTS];
};

struct shared_head *dataset_head(const struct dataset *dataset);
/* Returns the offset of the reference's results in the shared memory. */
size_t dataset_results_offset(const struct kernel_spec *spec);

/* ---- In a process of its own ---------------------------------------------------------------- */

/* A kernel of the config (a generator, the reference or the verify kernel) that is about to be
   loaded. */
struct loading {
  struct device *device;
  struct dataset *dataset;
  const struct dataset_request *request;
  const struct dataset_kernel *generator; /* NULL: the reference or the verify kernel */
  /* Set to true if set 0 already holds the generator's data; stays false if the step runs in
     another process. */
  bool *there;
};

/* Runs the step with the loading as its context: through the request's `apart` if that is set,
   otherwise in this process. */
int dataset_run_apart(const struct loading *loading, int (*step)(void *context, cugen_error *err),
                      cugen_error *err);

/* ---- Buffers -------------------------------------------------------------------------------- */

/* Returns the number of buffer sets that a timed dataset rotates through. */
size_t dataset_sets_wanted(const struct device *device, const struct kernel_spec *spec);
/* Returns true if the set has the argument's memory from set 0, which owns it. */
bool dataset_is_shared(const struct kernel_argument *argument, size_t set);
/* Allocates one more buffer set without filling it. */
int dataset_alloc_set(struct device *device, struct dataset *dataset, cugen_error *err);
/* Fills every input of every set. Runs the generators whose data is not ready. */
int dataset_fill_buffers(struct device *device, struct dataset *dataset,
                         const struct dataset_request *request, cugen_error *err);
/* Runs the generators whose data the shared memory does not hold. */
int dataset_generate_all(struct device *device, struct dataset *dataset,
                         const struct dataset_request *request, cugen_error *err);
/* Makes dataset.staging at least `bytes` large. */
int dataset_stage(struct device *device, struct dataset *dataset, size_t bytes, cugen_error *err);
/* Sets *out to the bytes of buffer i of set 0, valid until the next call. On the cpu device the
   bytes stay in place; on a GPU they are copied to the staging buffer. */
int dataset_read(struct device *device, struct dataset *dataset, size_t i, size_t bytes,
                 const void **out, cugen_error *err);
/* Returns true for scratch that is zero before the first launch and that the kernel must leave
   zero. Other scratch may hold anything. */
bool dataset_is_kept_zero(const struct kernel_argument *argument);
/* With data kernels: asks whether the guards of set 0 are intact. *asked becomes the number of
   questions; 0: the guards cannot be read on the device. */
int dataset_ask_guards(struct dataset *dataset, size_t *asked, cugen_error *err);
/* Returns true if `first` is UINT64_MAX in each of the `asked` answers. */
bool dataset_are_whole(const struct data_tally *tallies, size_t asked);
/* Returns the byte that fills an output, or an inout's padding, before a run. */
unsigned char dataset_poison(const struct dataset *dataset, const struct kernel_argument *argument);

#endif
