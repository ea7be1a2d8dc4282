/* The device facts that a config can use: the names behind `device.` in expressions and templates.
   All are integers. */
#ifndef BASE_FACTS_H
#define BASE_FACTS_H

#include <stdint.h>

/* Columns: name, meaning. */
#define DEVICE_FACTS(X)                                                                            \
  X(compute_capability, "10 * major + minor: 90 for 9.0")                                          \
  X(architecture_specific,                                                                         \
    "1 when the 'a' architecture may be targeted (wgmma, setmaxnreg on 90)")                       \
  X(sm_count, "multiprocessors")                                                                   \
  X(warp_size, "threads a warp")                                                                   \
  X(max_threads_per_block, "threads a block")                                                      \
  X(max_threads_per_sm, "threads a multiprocessor")                                                \
  X(max_blocks_per_sm, "blocks a multiprocessor")                                                  \
  X(registers_per_block, "32-bit registers a block may use")                                       \
  X(registers_per_sm, "32-bit registers a multiprocessor has")                                     \
  X(shared_per_block, "bytes of shared memory a block gets without asking: 48 KB")                 \
  X(shared_per_block_optin, "bytes of shared memory a block may ask for")                          \
  X(shared_per_sm, "bytes of shared memory a multiprocessor has")                                  \
  X(shared_reserved_per_block,                                                                     \
    "bytes of a multiprocessor's shared memory that the driver takes for each block")              \
  X(constant_bytes, "bytes of constant memory")                                                    \
  X(l2_bytes, "bytes of level 2 cache")                                                            \
  X(memory_bytes, "bytes of device memory")                                                        \
  X(memory_clock_khz, "memory clock")                                                              \
  X(memory_bus_bits, "memory bus width")                                                           \
  X(clock_khz, "highest SM clock")                                                                 \
  X(pitch_alignment, "bytes to which cuMemAllocPitch rounds a row")                                \
  X(is_gpu, "1 on a GPU, 0 on the cpu device")

/* The libraries whose kernels can be variants; see library.h. */
#define LIBRARIES(X) X(cublasLt)
enum library_id {
#define X(name) LIBRARY_##name,
  LIBRARIES(X)
#undef X
      LIBRARY_COUNT
};

/* Why a library cannot be used; the cpu device and described GPUs have the first value. */
enum library_lack { LIBRARY_LACKS_GPU, LIBRARY_LEFT_OUT, LIBRARY_NOT_INSTALLED };

struct device_facts {
#define X(name, what) int64_t name;
  DEVICE_FACTS(X)
#undef X
  /* For each library, a number that tells its build on this machine from other builds; 0: the
     library cannot be opened for this GPU, or is not to be used. Expressions do not see these
     numbers. */
  uint64_t libraries[LIBRARY_COUNT];
  enum library_lack lack; /* of each library with the number 0 */
};

enum device_fact {
#define X(name, what) DEVICE_FACT_##name,
  DEVICE_FACTS(X)
#undef X
      DEVICE_FACT_COUNT
};

/* The names with their prefix, such as "device.sm_count", in the order of the enum. */
extern const char *const device_fact_names[DEVICE_FACT_COUNT];
int64_t device_fact_get(const struct device_facts *facts, enum device_fact fact);

#endif
