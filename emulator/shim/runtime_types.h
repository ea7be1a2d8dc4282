/* Part of cuda_shim.h: types of the runtime's interface that NVRTC knows, where unit.c defines
   CUGEN_RUNTIME_TYPES: for structs passed to a kernel that contain the host's fields. */
#ifdef CUGEN_RUNTIME_TYPES
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef unsigned long long cudaGraphConditionalHandle;
enum cudaError { cudaSuccess, cudaErrorInvalidValue, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
#endif
#ifdef CUGEN_LAUNCHES
template <class... Value> CUGEN_INLINE void cugen_ignored(const Value &...) {}
#endif
#ifdef CUGEN_VIRTUAL
extern "C" __attribute__((__visibility__("hidden"))) void __cxa_pure_virtual() {
  cugen_own_hooks->trap("a pure virtual function was called");
}
#endif
#ifdef CUGEN_MOVE /* NVRTC knows std::move and std::forward without a header */
#include <utility>
#endif
#ifdef CUGEN_NEW
#include <new>
void *operator new(size_t bytes) { return malloc(bytes); }
void *operator new[](size_t bytes) { return malloc(bytes); }
void operator delete(void *at) noexcept { free(at); }
void operator delete[](void *at) noexcept { free(at); }
void operator delete(void *at, size_t) noexcept { free(at); }
void operator delete[](void *at, size_t) noexcept { free(at); }
#endif
