/* Theoretical occupancy; see occupancy.h. */
#include "occupancy.h"

#include <cuda_occupancy.h>

/* cuda_occupancy.h counts in int and size_t. */
static cudaOccDeviceProp device_properties(const struct device_facts *facts) {
  return (cudaOccDeviceProp){
      .computeMajor = (int)(facts->compute_capability / 10),
      .computeMinor = (int)(facts->compute_capability % 10),
      .maxThreadsPerBlock = (int)facts->max_threads_per_block,
      .maxThreadsPerMultiprocessor = (int)facts->max_threads_per_sm,
      .regsPerBlock = (int)facts->registers_per_block,
      .regsPerMultiprocessor = (int)facts->registers_per_sm,
      .warpSize = (int)facts->warp_size,
      .sharedMemPerBlock = (size_t)facts->shared_per_block,
      .sharedMemPerMultiprocessor = (size_t)facts->shared_per_sm,
      .numSms = (int)facts->sm_count,
      .sharedMemPerBlockOptin = (size_t)facts->shared_per_block_optin,
      .reservedSharedMemPerBlock = (size_t)facts->shared_reserved_per_block,
  };
}

/* Several limits often coincide; the limit that a user can change most easily is named first. */
static const struct {
  unsigned bit;
  const char *name;
} limiters[] = {{OCC_LIMIT_SHARED_MEMORY, "shared memory"},
                {OCC_LIMIT_REGISTERS, "registers"},
                {OCC_LIMIT_BLOCKS, "blocks"},
                {OCC_LIMIT_BARRIERS, "blocks"},
                {OCC_LIMIT_WARPS, "threads"}};

/* When every thread of the multiprocessor is in use, threads are the limit. */
static const char *limiter_of(const cudaOccResult *result, double fraction) {
  if (result->activeBlocksPerMultiprocessor == 0) return "none";
  if (fraction >= 1) return "threads";
  for (size_t i = 0; i < sizeof limiters / sizeof *limiters; i++)
    if (result->limitingFactors & limiters[i].bit) return limiters[i].name;
  return "threads";
}

static int model_occupancy_refuse(const struct device_facts *facts, cudaOccError error,
                                  cugen_error *err) {
  if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "the occupancy of compute capability %d.%d is not known",
                     (int)(facts->compute_capability / 10), (int)(facts->compute_capability % 10));
  return error_set(err, CUGEN_ERROR_USAGE, "no occupancy: the device's description is incomplete");
}

int occupancy_get(const struct device_facts *facts, const struct kernel_resources *resources,
                  int threads, int64_t dynamic_shared, int carveout, struct occupancy *out,
                  cugen_error *err) {
  *out = (struct occupancy){.limiter = "none"};
  if (threads < 1 || dynamic_shared < 0 || dynamic_shared > INT_MAX)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "no occupancy for a block of %d threads and %lld dynamic shared bytes",
                     threads, (long long)dynamic_shared);
  cudaOccDeviceProp properties = device_properties(facts);
  /* If a block needs more shared memory than the default, the kernel is assumed to be allowed that
     much, as the cuda device allows it. */
  const bool asks = resources->static_shared + dynamic_shared > facts->shared_per_block;
  const cudaOccFuncAttributes attributes = {
      .maxThreadsPerBlock = resources->max_threads > 0 ? resources->max_threads : INT_MAX,
      .numRegs = resources->registers,
      .sharedSizeBytes = (size_t)resources->static_shared,
      .partitionedGCConfig = PARTITIONED_GC_OFF,
      .shmemLimitConfig = asks ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT,
      .maxDynamicSharedSizeBytes = (size_t)dynamic_shared,
      .numBlockBarriers = 1,
  };
  cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = carveout};
  cudaOccResult result = {0};
  cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, threads, (size_t)dynamic_shared);
  if (error != CUDA_OCC_SUCCESS) return model_occupancy_refuse(facts, error, err);
  /* the calculator ignores launch bounds */
  if (threads > attributes.maxThreadsPerBlock) return CUGEN_OK;
  int warps = (threads + properties.warpSize - 1) / properties.warpSize;
  out->blocks = result.activeBlocksPerMultiprocessor;
  out->fraction =
      (double)out->blocks * warps * properties.warpSize / properties.maxThreadsPerMultiprocessor;
  out->limiter = limiter_of(&result, out->fraction);
  return CUGEN_OK;
}

int occupancy_resident(const struct device_facts *facts, const struct kernel_resources *resources,
                       const struct kernel_launch *launch) {
  const int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
  struct occupancy occupancy;
  cugen_error ignored;
  if (!launch->cooperative) return -1;
  const int status =
      occupancy_get(facts, resources, threads, launch->shared_bytes,
                    launch->has_carveout ? launch->carveout : -1, &occupancy, &ignored);
  return status ? -1 : occupancy.blocks;
}

/* Replaces cudaOccMaxPotentialOccupancyBlockSizeVariableSMem, whose callback has no context
   argument in C. */
int occupancy_best_block(const struct device_facts *facts, const struct kernel_resources *resources,
                         int carveout, occupancy_shared *shared, void *context, int *threads,
                         cugen_error *err) {
  const int warp = (int)facts->warp_size;
  int limit = (int)facts->max_threads_per_block, most = 0;
  *threads = 0;
  if (resources->max_threads > 0 && resources->max_threads < limit) limit = resources->max_threads;
  if (warp < 1 || limit < 1)
    return model_occupancy_refuse(facts, CUDA_OCC_ERROR_INVALID_INPUT, err);
  for (int aligned = (limit + warp - 1) / warp * warp;
       aligned > 0 && most < facts->max_threads_per_sm; aligned -= warp) {
    const int size = aligned < limit ? aligned : limit;
    struct occupancy occupancy;
    int64_t bytes = 0;
    /* shared memory is not defined for this block size */
    if (shared(context, size, &bytes, NULL)) continue;
    int status = occupancy_get(facts, resources, size, bytes, carveout, &occupancy, err);
    if (status) return status;
    if (size * occupancy.blocks > most) most = size * occupancy.blocks, *threads = size;
  }
  return CUGEN_OK;
}
