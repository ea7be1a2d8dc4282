/* A dataset is what a variant is run on: one problem's buffers on the device, filled from a seed, and the reference's
   results, which lie in shared memory so that they outlive the worker that computed them. */
#ifndef TUNE_DATASET_H
#define TUNE_DATASET_H

#include "runtime/plan.h"
#include "verify.h"

enum { DATASET_MOST_SETS = 16 };

struct dataset {
  int64_t id;
  struct kernel_spec spec; /* arguments, and flops to choose samples by */
  uint64_t seed;
  struct memory *sets[DATASET_MOST_SETS]; /* one memory for each argument (unused for scalars) */
  size_t set_count;
  uint64_t *digests; /* one for each argument: of an input as it was filled */
  struct samples samples;
  void *results; /* shared: a flag, then each output's reference; NULL: the config has none */
  size_t results_bytes;
  struct memory staging; /* pinned, where outputs are brought to be compared; made when first needed */
};

/* Everything dataset_open needs besides the device. reference NULL: none. */
struct dataset_request {
  int64_t id;
  const struct kernel_spec *spec;
  uint64_t seed;
  bool timed; /* enough buffer sets to rotate past the L2 */
  const struct kernel_spec *reference;
  const struct compiled *reference_compiled;
  int results; /* descriptor of the shared results; borrowed */
};

/* How large the shared results must be, and at how many outputs the reference is wanted. */
int dataset_results_size(const struct kernel_spec *spec, uint64_t seed, size_t *bytes, int64_t *sample_count,
                         bool *all, cugen_error *err);

/* Takes over nothing; copies the arguments. Computes the reference unless the shared results hold it already. */
int dataset_open(struct device *device, const struct dataset_request *request, struct dataset **out,
                 cugen_error *err);
void dataset_close(struct device *device, struct dataset *dataset);

/* Poisons what the kernel is to write in set 0 and restores what it changes in place. */
int dataset_prepare(struct device *device, struct dataset *dataset, cugen_error *err);
/* After a run on set 0: guards, padding, results. *error as in verify_output. CUGEN_ERROR_WRONG; *bounds tells a
   write out of bounds from a wrong number. */
int dataset_verify(struct device *device, struct dataset *dataset, double *error, bool *bounds, cugen_error *err);
/* After a run on set 0, right or not: CUGEN_ERROR_WRONG when an input is not what it was (see inputs.h for what is
   compared); every input is afterwards. */
int dataset_restore(struct device *device, struct dataset *dataset, cugen_error *err);

#endif
