/* Checks whether a device can make a launch. The limits are those of the CUDA C++ Programming
   Guide, "Technical Specifications per Compute Capability", and those that ptxas 13.0 enforces. */
#ifndef BASE_LAUNCH_H
#define BASE_LAUNCH_H

#include "facts.h"
#include "kernel.h"

struct dimension_limit {
  const char *name; /* "grid y" */
  int64_t most;
};
extern const struct dimension_limit launch_grid_limits[3], launch_block_limits[3];

/* Returns the largest number of bytes of shared memory of a block, static and dynamic together. */
int64_t launch_shared_limit(const struct device_facts *facts);

/* the limit of the largest GPUs: sm_90, sm_100, sm_103, sm_110 */
enum { LAUNCH_MOST_SHARED = 227 << 10 };

/* Blocks of a cluster: every device with clusters takes LAUNCH_CLUSTER_PORTABLE; some take up to
   LAUNCH_CLUSTER_MOST if the kernel asks for it. */
enum { LAUNCH_CLUSTER_PORTABLE = 8, LAUNCH_CLUSTER_MOST = 16 };

/* The resources that a compiled kernel needs. 0 and false mean none or unknown, and set no
   limit. */
struct kernel_needs {
  int registers;   /* per thread */
  int max_threads; /* per block, from __launch_bounds__ or a required block size; without these
                      1024 in a cubin and 0 on the cpu device */
  int cluster[3];  /* blocks of a cluster, from __cluster_dims__ */
  bool grid_sync;  /* the kernel waits for its whole grid; in a launch that is not cooperative, the
                      wait ends the CUDA context */
  int64_t static_shared, constant_bytes;
};

/* Checks one launch of a compiled kernel. resident: the number of the kernel's blocks that a
   multiprocessor holds at a time; -1 if unknown. If the device cannot make the launch, fails with
   CUGEN_ERROR_CONFIG and CUGEN_CAUSE_RESOURCES; the message begins with the line of the cause in
   the spec's source, or with the kernel's place, if either is known. */
int launch_check(const struct device_facts *facts, const struct kernel_spec *spec, size_t launch,
                 const struct kernel_needs *needs, int resident, cugen_error *err);

/* The message for a kernel that waited for its whole grid in a launch that is not cooperative. */
#define LAUNCH_GRID_SYNC                                                                           \
  "waits for its whole grid (grid.sync()), which takes a cooperative launch: write 'cooperative "  \
  "\"true\"' beside "                                                                              \
  "its grid"

/* Fails like launch_check for a variant that waited for its whole grid when it ran. Always returns
   CUGEN_ERROR_CONFIG or CUGEN_ERROR_MEMORY. */
int launch_refuse_grid_sync(const struct kernel_spec *spec, cugen_error *err);

/* Checks the total bytes of the spec's __constant__ arguments, which needs no compiled kernel.
   Fails like launch_check, but the message begins with the argument's line in the config. */
int launch_check_constants(const struct device_facts *facts, const struct kernel_spec *spec,
                           cugen_error *err);

#endif
