// layout_counts CASES: makes each access of CASES once, in a launch of its own, for a profiler to count. A case is a line of
// tools/bench/layout_counts.py: g, s or m (global memory, shared memory, ldmatrix; G and S store), the bytes of a lane, and 32 offsets in
// bytes, -1 for a lane that takes no part.
#include <cstdio>
#include <cuda_runtime.h>

struct offsets {
  int at[32];
};

template <typename T> __global__ void load_global(const char *from, offsets o, char *sink) {
  const int at = o.at[threadIdx.x];
  if (at < 0) return;
  const T some = *reinterpret_cast<const volatile T *>(from + at);
  if (reinterpret_cast<const char *>(&some)[0] == 77) *sink = 1;
}

template <typename T> __global__ void load_shared(const char *, offsets o, char *sink) {
  extern __shared__ __align__(1024) char memory[];
  const int at = o.at[threadIdx.x];
  if (at < 0) return;
  const T some = *reinterpret_cast<const volatile T *>(memory + at);
  if (reinterpret_cast<const char *>(&some)[0] == 77) *sink = 1;
}

struct alignas(16) quad {
  unsigned at[4];
};

template <> __global__ void load_global<quad>(const char *from, offsets o, char *sink) {
  const int at = o.at[threadIdx.x];
  if (at < 0) return;
  unsigned a, b, c, d;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from + at));
  if ((a ^ b ^ c ^ d) == 77) *sink = 1;
}

template <> __global__ void load_shared<quad>(const char *, offsets o, char *sink) {
  extern __shared__ __align__(1024) char memory[];
  const int at = o.at[threadIdx.x];
  if (at < 0) return;
  unsigned a, b, c, d;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(memory + at))));
  if ((a ^ b ^ c ^ d) == 77) *sink = 1;
}

template <typename T> __global__ void store_shared(const char *, offsets o, char *) {
  extern __shared__ __align__(1024) char memory[];
  const int at = o.at[threadIdx.x];
  if (at >= 0) *reinterpret_cast<volatile T *>(memory + at) = T(threadIdx.x);
}

template <> __global__ void store_shared<quad>(const char *, offsets o, char *) {
  extern __shared__ __align__(1024) char memory[];
  const int at = o.at[threadIdx.x];
  if (at < 0) return;
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(memory + at))), "r"(threadIdx.x));
}

template <typename T> __global__ void store_global(const char *, offsets o, char *to) {
  const int at = o.at[threadIdx.x];
  if (at >= 0) *reinterpret_cast<volatile T *>(to + at) = T(threadIdx.x);
}

template <> __global__ void store_global<quad>(const char *, offsets o, char *to) {
  const int at = o.at[threadIdx.x];
  if (at < 0) return;
  asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(to + at), "r"(threadIdx.x));
}

__global__ void load_matrices(const char *, offsets o, char *sink) {
  extern __shared__ __align__(1024) char memory[];
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(memory + o.at[threadIdx.x]))));
  if ((a ^ b ^ c ^ d) == 77) *sink = 1;
}

using kernel = void (*)(const char *, offsets, char *);
#define WIDTHS(name) {name<char>, name<short>, name<int>, name<double>, name<quad>}

struct form {
  char letter;
  bool shared;
  kernel widths[5]; // 1, 2, 4, 8, 16 bytes
};

static const form forms[] = {{'g', false, WIDTHS(load_global)},
                             {'G', false, WIDTHS(store_global)},
                             {'s', true, WIDTHS(load_shared)},
                             {'S', true, WIDTHS(store_shared)},
                             {'m', true, {0, 0, 0, 0, load_matrices}}};

int main(int argc, char **argv) {
  const int shared = 200 * 1024;
  for (const form &f : forms)
    for (kernel one : f.widths)
      if (f.shared && one) cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  FILE *in = argc == 2 ? fopen(argv[1], "r") : nullptr;
  char *from, *to, letter;
  int bytes;
  if (!in || cudaMalloc(&from, 1 << 28) || cudaMalloc(&to, 1 << 28)) return 1;
  while (fscanf(in, " %c %d", &letter, &bytes) == 2) {
    offsets o;
    for (int &at : o.at)
      if (fscanf(in, "%d", &at) != 1) return 1;
    for (const form &f : forms)
      if (f.letter == letter) f.widths[__builtin_ctz(bytes)]<<<1, 32, f.shared ? shared : 0>>>(from, o, to);
    if (cudaDeviceSynchronize()) return puts(cudaGetErrorString(cudaGetLastError())), 1;
  }
}
