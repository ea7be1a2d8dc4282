/* What a launch needs, and whether a device gives it: one verdict with one text, whoever asks: a space, an expansion, tuning on any
   device, a check, a plan, an export. The limits are those of CUDA C++ Programming Guide, "Technical Specifications per Compute
   Capability", and of what ptxas 13.0 takes. */
#ifndef BASE_LAUNCH_H
#define BASE_LAUNCH_H

#include "facts.h"
#include "kernel.h"

struct dimension_limit {
  const char *name; /* "grid y" */
  int64_t most;
};
extern const struct dimension_limit launch_grid_limits[3], launch_block_limits[3];

/* The most bytes of shared memory that a block of the device may have; static: of arrays whose size is compiled in. The cpu device has
   as much as the GPU that has most, since kernels of any GPU are to run there. */
int64_t launch_shared_limit(const struct device_facts *facts);
int64_t launch_static_limit(const struct device_facts *facts);

enum { LAUNCH_MOST_SHARED = 227 << 10 }; /* of any GPU: sm_90, sm_100, sm_103, sm_110 */

/* Blocks of a cluster that every device with clusters takes; up to LAUNCH_CLUSTER_MOST some do, if they are asked to. */
enum { LAUNCH_CLUSTER_PORTABLE = 8, LAUNCH_CLUSTER_MOST = 16 };

/* What a compiled kernel takes. 0, false: nothing, or it is not known; then it sets no limit. */
struct kernel_needs {
  int registers;   /* a thread */
  int max_threads; /* a block, by __launch_bounds__ */
  int cluster[3];  /* blocks, by __cluster_dims__ */
  bool grid_sync;  /* it ends the context unless the launch is cooperative */
  int64_t static_shared, constant_bytes;
};

/* resident: blocks of the launch that a multiprocessor holds at a time; -1: not known. CUGEN_ERROR_CONFIG with
   CUGEN_CAUSE_RESOURCES where the device cannot launch it, with the user's line of what it is refused for: in the spec's source, if
   that is there. */
int launch_check(const struct device_facts *facts, const struct kernel_spec *spec, size_t launch,
                 const struct kernel_needs *needs, int resident, cugen_error *err);

/* The text alone, of a kernel that was seen to wait for its whole grid in a launch that is not cooperative. */
#define LAUNCH_GRID_SYNC                                                                                             \
  "waits for its whole grid (grid.sync()), which takes a cooperative launch: write 'cooperative \"true\"' beside "   \
  "its grid"

/* Of a variant whose run has shown that: as launch_check, with that line. Always CUGEN_ERROR_CONFIG, or no memory. */
int launch_refuse_grid_sync(const struct kernel_spec *spec, cugen_error *err);

/* Before anything is compiled: what the arguments alone say. */
int launch_check_constants(const struct device_facts *facts, const struct kernel_spec *spec, cugen_error *err);

#endif
