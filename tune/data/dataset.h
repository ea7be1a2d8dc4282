/* A dataset is what a variant runs on: the device buffers of one problem, filled from a seed or
   with the data of the config, and the reference's results. The coordinator (the tuning process)
   and the worker share memory that outlives the worker: a head that says which parts are ready, the
   data of each input that is not filled from the seed, in the layout of its buffer, and the
   reference's results of each output. */
#ifndef TUNE_DATA_DATASET_H
#define TUNE_DATA_DATASET_H

#include "data_kernels.h"
#include "runtime/plan.h"

enum { DATASET_MOST_SETS = 64, DATASET_DOING_BYTES = 512 };

struct dataset {
  int64_t id;
  struct kernel_spec spec; /* arguments, buffers_hash, and the flops by which samples are chosen */
  uint64_t seed;
  /* One memory for each argument (unused for scalars). All sets have the scratch of the first, as
     the launches of an application's call have the call's. */
  struct memory *sets[DATASET_MOST_SETS];
  size_t set_count;
  /* For each argument that a kernel may change, a copy on the device from which the argument is
     restored; empty if none was needed yet or the device has no room. */
  struct memory *kept;
  /* Digests of the inputs as they were filled, one for each argument, computed by the data kernels
     or the host. */
  uint64_t *digests;
  bool again; /* the last dataset_prepare was for a second launch */
  struct samples samples;
  char *shared; /* the shared memory; NULL: nothing is shared */
  size_t shared_bytes;
  bool has_reference;
  /* Place of the outputs' right results in the shared memory, which may lack them if `wanted` has
     them; NULL: the config gives none. */
  char *results;
  size_t results_bytes;
  /* NULL: the config has no verify kernel, or it is not loaded yet. */
  struct verifier *verifier;
  /* The request whose verify kernel dataset_load will load; NULL: none. */
  const struct dataset_request *late;
  /* Receives the name of the config's kernel that runs, such as "c.lua:5: the reference r.cu", for
     the process that outlives a crash; NULL: not needed. */
  char *doing;
  /* Pinned memory to which buffers are copied for comparing and digesting; allocated when first
     needed. */
  struct memory staging;
  /* The data kernels; NULL: the host fills, digests and compares. With data kernels, the device
     also holds the right results (`wanted`) and the samples (`sampled`), if it has room. */
  struct data_kernels *kernels;
  struct memory wanted, sampled;
};

/* A kernel of the config that makes or judges data: the reference, the verify kernel, or the
   generator of an argument. */
struct dataset_kernel {
  const char *name;               /* for messages: "c.lua:5: the reference r.cu"; of a verify
                                     kernel, the file name */
  const struct kernel_spec *spec; /* NULL: the config has no such kernel */
  const struct compiled *compiled;
  size_t argument; /* of a generator: the argument whose data it makes */
};

/* The parameters of dataset_open besides the device. */
struct dataset_request {
  int64_t id;
  const struct kernel_spec *spec; /* arguments, flops, buffers_hash */
  uint64_t seed;
  bool timed;    /* allocate as many buffer sets as dataset_sets_wanted, not one */
  char *doing;   /* as in struct dataset */
  bool answered; /* the coordinator has put the right results into the shared memory */
  /* The dataset borrows the verify kernel until dataset_change or dataset_close. */
  struct dataset_kernel reference, verify, *generators; /* generators in the order of arguments */
  size_t generator_count;
  /* Runs a step, which loads one of the kernels above, in another process that shares the buffers;
     NULL: steps run in this process. With `apart`, dataset_load loads the verify kernel, and the
     request must live until dataset_change or dataset_close. */
  int (*apart)(void *context, int (*step)(void *step_context, cugen_error *err), void *step_context,
               cugen_error *err);
  void *apart_context;
  int shared; /* descriptor of the shared memory, borrowed; -1: nothing is shared */
  /* The coordinator sends the images of the data kernels; the worker loads them into `kernels`,
     which outlives the dataset. kernels NULL: the host fills and compares. */
  bool has_kernels;
  const struct compiled *kernels_compiled[DATA_PARTS];
  struct data_kernels *kernels;
};

/* Returns the offset of the data of argument i in the shared memory. */
size_t dataset_data_offset(const struct kernel_spec *spec, size_t i);
/* Computes the size of the shared memory; 0: nothing is shared. */
int dataset_shared_size(const struct kernel_spec *spec, bool reference, uint64_t seed,
                        size_t *bytes, cugen_error *err);

/* Copies the inputs' data from the shared memory of one dataset to that of another dataset with
   equal buffers. Generated data that was not made yet is skipped. */
void dataset_copy_data(const struct kernel_spec *spec, const char *from, char *to);

/* Opens a dataset. Copies the arguments; the rest of the request stays the caller's. Runs the
   generators and the reference unless the shared memory holds their results already. */
int dataset_open(struct device *device, const struct dataset_request *request, struct dataset **out,
                 cugen_error *err);
/* Returns true if the request is for equal buffers with equal contents. */
bool dataset_has_buffers(const struct dataset *dataset, const struct dataset_request *request);
/* Changes the dataset to a request with equal buffers (dataset_has_buffers): the buffers stay, and
   the shared memory, the reference and the verify kernel are replaced. */
int dataset_change(struct device *device, struct dataset *dataset,
                   const struct dataset_request *request, cugen_error *err);
void dataset_close(struct device *device, struct dataset *dataset);
/* Loads the verify kernel in the process that is to run it, if the dataset was opened with
   `apart`. */
int dataset_load(struct device *device, struct dataset *dataset, cugen_error *err);

/* Writes the name of the reference, generator or verify kernel that runs from now until
   dataset_end. doing may be NULL. */
void dataset_begin(char *doing, const char *name);
void dataset_end(char *doing);

/* Writes the original contents of an input, or of an argument changed in place, into a buffer of
   the argument's size. */
int dataset_write_input(struct device *device, const struct dataset *dataset, size_t i,
                        const struct memory *to, cugen_error *err);

/* For each argument i changed in place, allocates before[i] with the original contents and appends
   &before[i].device to `extra`, the extra parameters of a reference or verify kernel. The caller
   frees `before`, also after an error. */
int dataset_give_before(struct device *device, const struct dataset *dataset, struct memory *before,
                        void **extra, size_t *extra_count, cugen_error *err);

/* Prepares set 0 for a run of spec, which is a variant or the reference. Fills the outputs and the
   scratch that spec uses with a poison byte (scratch that is kept zero becomes zero), and restores
   the arguments that a kernel changes in place or may overwrite. For a second launch (`again`),
   integer outputs get another poison, and the scratch does not change. */
int dataset_prepare(struct device *device, struct dataset *dataset, const struct kernel_spec *spec,
                    bool again, cugen_error *err);
/* Returns true if a kernel may change an argument: an inout, or an input that it may overwrite. */
bool dataset_changes(const struct dataset *dataset);
/* Keeps copies on the device from which dataset_renew restores. An argument for whose copy the
   device lacks memory is restored by dataset_write_input instead. */
int dataset_keep(struct device *device, struct dataset *dataset, cugen_error *err);
/* Restores all arguments of a set that a kernel may change. The copies are ordered like
   launches. */
int dataset_renew(struct device *device, struct dataset *dataset, size_t set, cugen_error *err);
/* Returns CUGEN_ERROR_WRONG if a guard zone around a buffer of set 0 was overwritten, and repairs
   the guards. */
int dataset_guards(struct device *device, struct dataset *dataset, cugen_error *err);
/* Judges a run of spec on set 0: guards, padding, results (by reference, verify kernel or both)
   with the tolerances of spec, and scratch that is kept zero. *error as in verify_output. On
   CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS tells a write out of bounds from a wrong number. */
int dataset_verify(struct device *device, struct dataset *dataset, const struct kernel_spec *spec,
                   double *error, cugen_error *err);
/* Digests the outputs that a run left in set 0. Outputs of equal bits have equal digests on every
   device. */
int dataset_outputs(struct device *device, struct dataset *dataset, uint64_t *digest,
                    cugen_error *err);
/* Call this after every run on set 0. Returns CUGEN_ERROR_WRONG if an input has changed, and
   restores the changed inputs. Without data kernels, only parts of large inputs are compared
   (inputs.h). */
int dataset_restore(struct device *device, struct dataset *dataset, cugen_error *err);

#endif
