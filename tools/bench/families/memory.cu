#include "memory.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstring>
#include <string>

#include "harness.h"

// SplitMix64; fractions in [-1, 1).
static __device__ double fraction(size_t i, unsigned seed) {
  unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 40) * 0x1p-23 - 1.0;
}

template <class T> __device__ T from_fraction(double f) {
  return (T)(float)f;
}
template <> __device__ double from_fraction<double>(double f) {
  return f;
}
template <> __device__ int from_fraction<int>(double f) {
  return (int)floor(1000 * f);
}
template <> __device__ unsigned char from_fraction<unsigned char>(double f) {
  return (unsigned char)(128 * (f + 1));
}

template <class T> __global__ void fill_kernel(T *to, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    to[i] = from_fraction<T>(fraction(i, seed));
}

template <class T> __device__ double wide(T value) {
  return (double)value;
}
template <> __device__ double wide(__half value) {
  return __half2float(value);
}
template <> __device__ double wide(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <> __device__ double wide(__nv_fp8_e4m3 value) {
  return (float)value;
}

template <class T>
__global__ void compare_kernel(const T *got, const T *wanted, size_t count, double tolerance,
                               unsigned long long *differing) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
    double difference = fabs(wide(got[i]) - wide(wanted[i]));
    if (!(difference <= tolerance * fmax(1.0, fabs(wide(wanted[i]))))) atomicAdd(differing, 1ull);
  }
}

// Calls f with a null pointer to the type of that name.
template <class F> static auto with_type(const char *dtype, F f) {
  std::string name = dtype;
  if (name == "f32") return f((float *)nullptr);
  if (name == "f64") return f((double *)nullptr);
  if (name == "f16") return f((__half *)nullptr);
  if (name == "bf16") return f((__nv_bfloat16 *)nullptr);
  if (name == "e4m3") return f((__nv_fp8_e4m3 *)nullptr);
  if (name == "i32") return f((int *)nullptr);
  if (name == "i64") return f((long long *)nullptr);
  if (name == "u8" || name == "i8") return f((unsigned char *)nullptr);
  throw "no data of type " + name;
}

size_t type_bytes(const char *dtype) {
  return with_type(dtype, [](auto *type) { return sizeof *type; });
}

Buffer::Buffer(size_t n) : bytes(n) {
  CHECK(cudaMalloc(&at, n ? n : 1));
}

Buffer::~Buffer() {
  cudaFree(at);
}

void Buffer::fill(const char *dtype, unsigned seed) {
  with_type(dtype, [&](auto *type) { fill_kernel<<<1024, 256>>>((decltype(type))at, bytes / sizeof *type, seed); });
  CHECK(cudaGetLastError());
}

void Buffer::poison() {
  CHECK(cudaMemset(at, 0xff, bytes));
}

unsigned long long count_differing(const Buffer &got, const Buffer &wanted, const char *dtype, double tolerance) {
  Buffer counter(sizeof(unsigned long long));
  unsigned long long differing = 0;
  auto *to = (unsigned long long *)counter.at;
  CHECK(cudaMemset(to, 0, counter.bytes));
  with_type(dtype, [&](auto *type) {
    using T = decltype(type);
    compare_kernel<<<1024, 256>>>((T)got.at, (T)wanted.at, wanted.bytes / sizeof *type, tolerance, to);
  });
  CHECK(cudaMemcpy(&differing, to, counter.bytes, cudaMemcpyDeviceToHost));
  return differing;
}
