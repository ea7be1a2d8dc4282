/* What stands for CUDA's runtime in a program that has no GPU: memory is the host's, and a launch is written down, not made. A program's
   host code is compiled with this file in front (tools/bench/check-corpora rewrites its launches) and linked with CUDA's headers alone.
   At its end it leaves `launches.json` and the buffers' bytes in the folder that RECORD names. */
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

/* Named by host code that shares functions with a device's, and never called. */
static const uint3 threadIdx = {}, blockIdx = {};
static const dim3 blockDim, gridDim;
template <class T, class U> static T atomicAdd(T *at, U value) { return *at += value; }

#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
}

enum { RECORD_MOST = 8, RECORD_WAIT = 10 };

struct record_buffer {
  size_t bytes;
  int number;
  bool written, used, before; /* before: it was written when a launch first used it */
};
struct record_state {
  std::map<const char *, record_buffer> buffers;
  std::vector<std::string> launches;
  int buffer_count = 0;
};
inline record_state &record_all() {
  static record_state *all = new record_state;
  return *all;
}

static std::map<const char *, record_buffer>::iterator record_find(const void *at) {
  auto &all = record_all().buffers;
  auto it = all.upper_bound((const char *)at);
  if (it == all.begin()) return all.end();
  --it;
  return (const char *)at < it->first + it->second.bytes ? it : all.end();
}

static cudaError_t record_alloc(void **out, size_t bytes) {
  void *at = nullptr;
  if (bytes > (size_t)1 << 30 || posix_memalign(&at, 256, bytes + 256)) return cudaErrorMemoryAllocation;
  memset(at, 0, bytes + 256);
  record_all().buffers[(const char *)at] = {bytes, record_all().buffer_count++, false, false, false};
  *out = at;
  return cudaSuccess;
}

static void record_write(const void *at) {
  auto it = record_find(at);
  if (it != record_all().buffers.end()) it->second.written = true;
}

static void record_end() {
  record_state &all = record_all();
  const char *folder = getenv("RECORD");
  if (!folder || chdir(folder)) _exit(3);
  std::ofstream out("launches.json");
  out << "{\"launches\": [";
  for (size_t i = 0; i < all.launches.size(); i++) out << (i ? ",\n" : "\n") << all.launches[i];
  out << "],\n\"buffers\": [";
  bool first = true;
  for (auto &b : all.buffers) {
    const std::string name = "b" + std::to_string(b.second.number) + ".bin";
    bool zero = true;
    for (size_t i = 0; i < b.second.bytes && zero; i++) zero = !b.first[i];
    if (!zero) std::ofstream(name, std::ios::binary).write(b.first, (std::streamsize)b.second.bytes);
    out << (first ? "\n" : ",\n") << "{\"number\": " << b.second.number << ", \"bytes\": " << b.second.bytes
        << ", \"written\": " << (b.second.before ? "true" : "false") << ", \"zero\": " << (zero ? "true" : "false") << "}";
    first = false;
  }
  out << "]}\n";
  out.close();
  _exit(0);
}
static void record_signal(int) { record_end(); }
static struct record_begin {
  record_begin() {
    for (int s : {SIGALRM, SIGSEGV, SIGFPE, SIGABRT, SIGBUS}) signal(s, record_signal);
    alarm(RECORD_WAIT);
    atexit(record_end);
  }
} record_begin_now;

/* Words of a value that lead into a buffer are written as [number, offset]. */
template <class T> static std::string record_value(const T &value) {
  std::ostringstream out;
  unsigned char bytes[(sizeof(T) + 7) / 8 * 8] = {};
  memcpy(bytes, &value, sizeof value);
  out << "{\"bytes\": " << sizeof(T) << ", \"words\": [";
  for (size_t i = 0; i < sizeof bytes; i += 8) {
    unsigned long long word;
    memcpy(&word, bytes + i, 8);
    auto it = sizeof(T) - i >= 8 ? record_find((const void *)word) : record_all().buffers.end();
    if (i) out << ", ";
    if (it != record_all().buffers.end() && !it->second.used) it->second.used = true, it->second.before = it->second.written;
    if (it == record_all().buffers.end())
      out << word;
    else
      out << "[" << it->second.number << ", " << (const char *)word - it->first << "]";
  }
  out << "]}";
  return out.str();
}

struct record_shape {
  dim3 grid, block;
  size_t shared;
  record_shape(dim3 g, dim3 b, size_t s = 0, cudaStream_t = 0) : grid(g), block(b), shared(s) {}
};

template <class... P> struct record_call {
  const char *name;
  record_shape shape;
  void operator()(P... values) const {
    const std::string all[] = {"", record_value(values)...};
    std::ostringstream out;
    const dim3 &g = shape.grid, &b = shape.block;
    out << "{\"kernel\": \"" << name << "\", \"grid\": [" << g.x << "," << g.y << "," << g.z << "], \"block\": [" << b.x << ","
        << b.y << "," << b.z << "], \"shared\": " << shape.shared << ", \"arguments\": [";
    for (size_t i = 1; i < sizeof all / sizeof *all; i++) out << (i > 1 ? ", " : "") << all[i];
    out << "]}";
    record_all().launches.push_back(out.str());
    if (record_all().launches.size() >= RECORD_MOST) record_end();
  }
};
template <class... P> static record_call<P...> record_launch(const char *name, record_shape shape, void (*)(P...)) {
  return {name, shape};
}

/* ---- CUDA's runtime, as far as programs use it ---- */

extern "C" {
cudaError_t cudaMalloc(void **p, size_t n) { return record_alloc(p, n); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned) { cudaError_t e = record_alloc(p, n); record_write(*p); return e; }
/* Of the host's, which a kernel may be given: what it holds was written. */
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned) { cudaError_t e = record_alloc(p, n); record_write(*p); return e; }
cudaError_t cudaMallocHost(void **p, size_t n) { return cudaHostAlloc(p, n, 0); }
cudaError_t cudaHostGetDevicePointer(void **d, void *h, unsigned) { *d = h; return cudaSuccess; }
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t) { return record_alloc(p, n); }
cudaError_t cudaFree(void *) { return cudaSuccess; }
cudaError_t cudaFreeAsync(void *, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaFreeHost(void *) { return cudaSuccess; }
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind) { memmove(to, from, n); record_write(to); return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind k, cudaStream_t) { return cudaMemcpy(to, from, n, k); }
cudaError_t cudaMemset(void *to, int v, size_t n) { memset(to, v, n); record_write(to); return cudaSuccess; }
cudaError_t cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t) { return cudaMemset(to, v, n); }
cudaError_t cudaMemcpyToSymbol(const void *to, const void *from, size_t n, size_t o, cudaMemcpyKind) { memcpy((char *)to + o, from, n); return cudaSuccess; }
cudaError_t cudaMemcpyFromSymbol(void *to, const void *from, size_t n, size_t o, cudaMemcpyKind) { memcpy(to, (const char *)from + o, n); return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "no error"; }
const char *cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *d) { *d = 0; return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *n) { *n = 1; return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
  memset(p, 0, sizeof *p);
  strcpy(p->name, "none");
  p->major = 8, p->multiProcessorCount = 4, p->maxThreadsPerMultiProcessor = 2048, p->warpSize = 32, p->maxThreadsPerBlock = 1024;
  p->sharedMemPerBlock = 48 << 10, p->totalGlobalMem = (size_t)1 << 30, p->maxGridSize[0] = p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64, p->managedMemory = p->concurrentManagedAccess = p->canMapHostMemory = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr, int) { *v = 4; return cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t *s) { *s = 0; return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { *s = 0; return cudaSuccess; }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int) { *s = 0; return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0, *greatest = -1; return cudaSuccess; }
cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaLaunchAttributeID, const cudaLaunchAttributeValue *) { return cudaSuccess; }
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = 0; return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { *e = 0; return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *t, cudaEvent_t, cudaEvent_t) { *t = 1; return cudaSuccess; }
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
/* Their own types are those of a header that the program may or may not have: here only the symbols count. */
int record_cublas_create() asm("cublasCreate_v2");
int record_cublas_destroy() asm("cublasDestroy_v2");
int record_cublas_product() asm("cublasGemmEx");
int record_cublas_create() { return 0; }
int record_cublas_destroy() { return 0; }
int record_cublas_product() { return 0; }
}
template <class... P> static cudaError_t cudaFuncSetAttribute(void (*)(P...), cudaFuncAttribute, int) { return cudaSuccess; }
template <class... P> static cudaError_t cudaFuncSetCacheConfig(void (*)(P...), cudaFuncCache) { return cudaSuccess; }
template <class T> static cudaError_t record_to_symbol(const T &to, const void *from, size_t n, size_t o = 0, cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = 0) {
  memcpy((char *)&to + o, from, n);
  return cudaSuccess;
}
#define cudaMemcpyToSymbol record_to_symbol
#define cudaMemcpyToSymbolAsync record_to_symbol
