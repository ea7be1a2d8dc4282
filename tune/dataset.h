/* A dataset is what a variant is run on: one problem's buffers on the device, filled from a seed or with what the config
   gives, and the reference's results. What takes time to make lies in memory that coordinator and worker share, so that it
   outlives the worker: which parts of it are ready; the data of each input that has other than a fill, as it lies in the
   buffer; each output's reference. */
#ifndef TUNE_DATASET_H
#define TUNE_DATASET_H

#include "data_kernels.h"
#include "runtime/plan.h"

enum { DATASET_MOST_SETS = 16, DATASET_DOING_BYTES = 512 };

struct dataset {
  int64_t id;
  struct kernel_spec spec; /* arguments, buffers_hash, and flops to choose samples by */
  uint64_t seed;
  struct memory *sets[DATASET_MOST_SETS]; /* one memory for each argument (unused for scalars) */
  size_t set_count;
  struct memory *kept; /* one for each argument: a copy of what a kernel may change, from dataset_keep on */
  uint64_t *digests;   /* one for each argument: of an input as it was filled, by the kernels or the host */
  bool again;          /* the last dataset_prepare was for a second launch */
  struct samples samples;
  char *shared; /* NULL: nothing is */
  size_t shared_bytes;
  bool has_reference;
  char *results; /* in the shared memory: each output's reference; NULL: the config has none */
  size_t results_bytes;
  struct verifier *verifier;          /* NULL: the config has no verify kernel, or it is not loaded */
  const struct dataset_request *late; /* NULL, or the request whose verify kernel dataset_load loads */
  char *doing; /* NULL, or where "c.lua:5: the reference r.cu" stands while that runs, for whoever outlives it */
  struct memory staging; /* pinned, where outputs are brought to be compared; made when first needed */
  /* NULL: the host fills, digests and compares. Else that is done on the device, which then has the results and the samples, too. */
  struct data_kernels *kernels;
  struct memory wanted, sampled;
};

/* Everything dataset_open needs besides the device. reference NULL: none. */
struct dataset_request {
  int64_t id;
  const struct kernel_spec *spec; /* arguments, flops, buffers_hash */
  uint64_t seed;
  bool timed;                 /* enough buffer sets to rotate past the L2 */
  char *doing;                /* as in struct dataset */
  const char *reference_name; /* for messages: "c.lua:5: the reference r.cu" */
  const struct kernel_spec *reference;
  const struct compiled *reference_compiled;
  /* The verify kernel; verify NULL: none. Borrowed as long as the dataset has it: till it is closed or changed again. */
  const char *verify_name;
  const struct kernel_spec *verify;
  const struct compiled *verify_compiled;
  struct dataset_generator *generators; /* in the order of their arguments */
  size_t generator_count;
  /* Carries out what runs the kernels above in another process, which shares the buffers; NULL: here. Then the verify kernel is loaded
     by dataset_load, and the request lives as long as the dataset has it. */
  int (*apart)(void *context, int (*step)(void *step_context, cugen_error *err), void *step_context,
               cugen_error *err);
  void *apart_context;
  int shared; /* descriptor of the shared memory; borrowed; -1: nothing is shared */
  /* Images of the data kernels for the worker, and there they themselves, which outlive the dataset; NULL: the host does it. */
  bool has_kernels;
  const struct compiled *kernels_compiled[DATA_PARTS];
  struct data_kernels *kernels;
};

/* The kernel that makes an input's data. */
struct dataset_generator {
  size_t argument;
  const char *name; /* for messages: "c.lua:8: the generator keys.cu of 'k'" */
  const struct kernel_spec *spec;
  const struct compiled *compiled;
};

/* Where the data of argument i lies in the shared memory. */
size_t dataset_data_offset(const struct kernel_spec *spec, size_t i);
/* How large it must be; 0: nothing is shared. */
int dataset_shared_size(const struct kernel_spec *spec, bool reference, uint64_t seed, size_t *bytes,
                        cugen_error *err);

/* What the shared memory of one data set holds of inputs, into that of another with the same buffers: neither this process nor the worker makes
   it again. What a worker is making just now is left out. */
void dataset_copy_data(const struct kernel_spec *spec, const char *from, char *to);

/* Takes over nothing; copies the arguments. Computes the reference unless the shared results hold it already. */
int dataset_open(struct device *device, const struct dataset_request *request, struct dataset **out,
                 cugen_error *err);
/* Whether the request is for the same buffers with the same contents. */
bool dataset_has_buffers(const struct dataset *dataset, const struct dataset_request *request);
/* Makes it the dataset of such a request, which differs in the reference and the verify kernel alone. */
int dataset_change(struct device *device, struct dataset *dataset, const struct dataset_request *request,
                   cugen_error *err);
void dataset_close(struct device *device, struct dataset *dataset);
/* Where it was made apart: loads what judges the results. */
int dataset_load(struct device *device, struct dataset *dataset, cugen_error *err);

/* Says what runs until dataset_end: the name of a reference, a generator or a verify kernel. doing may be NULL. */
void dataset_begin(char *doing, const char *name);
void dataset_end(char *doing);

/* An input, also one changed in place, as it was given, into a buffer of its size. */
int dataset_write_input(struct device *device, const struct dataset *dataset, size_t i, const struct memory *to,
                        cugen_error *err);

/* Before a run of spec, a variant or the reference, on set 0. Poisons what it is to write, a second time whole numbers with another
   poison and not the scratch; restores what it changes in place, also inputs that it may overwrite. */
int dataset_prepare(struct device *device, struct dataset *dataset, const struct kernel_spec *spec, bool again,
                    cugen_error *err);
/* Whether a kernel may change what it is given: an inout, or an input that it may overwrite. */
bool dataset_changes(const struct dataset *dataset);
/* Keeps on the device what dataset_renew writes. Where there is no memory for it, that writes it from the host. */
int dataset_keep(struct device *device, struct dataset *dataset, cugen_error *err);
/* What a kernel may change of a set, as it was given; ordered like a launch. */
int dataset_renew(struct device *device, struct dataset *dataset, size_t set, cugen_error *err);
/* CUGEN_ERROR_WRONG when one of set 0 was written over; all are whole afterwards. */
int dataset_guards(struct device *device, struct dataset *dataset, cugen_error *err);
/* After a run of spec on set 0: guards, padding, results (by reference, verify kernel or both); the tolerances are spec's. *error as in verify_output.
   CUGEN_ERROR_WRONG; CUGEN_CAUSE_BOUNDS tells a write out of bounds from a wrong number. */
int dataset_verify(struct device *device, struct dataset *dataset, const struct kernel_spec *spec, double *error,
                   cugen_error *err);
/* What a run on set 0 left in its outputs: equal digests are equal bits, on whatever device. */
int dataset_outputs(struct device *device, struct dataset *dataset, uint64_t *digest, cugen_error *err);
/* After a run on set 0, right or not: CUGEN_ERROR_WRONG when an input is not what it was (see inputs.h for what is
   compared); every input is afterwards. */
int dataset_restore(struct device *device, struct dataset *dataset, cugen_error *err);

#endif
