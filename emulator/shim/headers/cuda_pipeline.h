/* <cuda_pipeline.h>: __pipeline_memcpy_async, __pipeline_commit and __pipeline_wait_prior. */
#ifndef CUGEN_CUDA_PIPELINE
#define CUGEN_CUDA_PIPELINE
#include <cugen_copies.h>
CUGEN_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                          size_t zeros = 0) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    cugen_own_hooks->trap("__pipeline_memcpy_async() copies 4, 8 or 16 bytes");
  cugen_copy_begin(to, from, bytes, bytes - zeros);
}
CUGEN_INLINE void __pipeline_commit() { cugen_copy_commit(); }
CUGEN_INLINE void __pipeline_wait_prior(size_t newest) { cugen_copy_wait((unsigned)newest); }
#endif
