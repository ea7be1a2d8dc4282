// The peer of configs/matmul.lua: cuBLASLt at its best. Tries every algorithm its heuristics offer on random data in
// [-1, 1), over buffer sets that exceed twice the L2, and prints the fastest as one line of
//   cuBLASLt f32 4096x4096x4096: 2.684 ms  51.2 TFLOP/s  (17 algorithms, best is number 3)
// Build: nvcc -O2 -arch=native bench/cublas_matmul.cu -lcublasLt -o cublas_matmul
// Run:   ./cublas_matmul M N K [f32|f64]
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                   \
  do {                                                                                                                \
    int status_ = (int)(call);                                                                                        \
    if (status_) {                                                                                                    \
      std::fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, status_);                                \
      std::exit(1);                                                                                                   \
    }                                                                                                                 \
  } while (0)

template <class T> __global__ void fill(T *to, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
    unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull + seed; // SplitMix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    to[i] = (T)((long long)((z ^ (z >> 31)) >> 40) * 0x1p-23 - 1.0);
  }
}

struct Set {
  void *a, *b, *c;
};

// Median seconds of one product over batches of at least a millisecond.
template <class Run> double median_seconds(Run run, int batches) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  auto time = [&](int repeats) {
    float ms;
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < repeats; i++) run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1e-3 / repeats;
  };
  time(1);
  int repeats = std::max(1, (int)(1e-3 / time(1)) + 1);
  std::vector<double> times;
  for (int i = 0; i < batches; i++) times.push_back(time(repeats));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T> int bench(long m, long n, long k, cudaDataType type, cublasComputeType_t compute, const char *name) {
  size_t bytes = sizeof(T) * (size_t)(m * k + k * n + m * n);
  int device = 0, l2 = 0;
  CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
  size_t count = std::min<size_t>(16, 2 * (size_t)l2 / bytes + 1), at = 0;
  std::vector<Set> sets(count);
  for (auto &s : sets) {
    CHECK(cudaMalloc(&s.a, sizeof(T) * m * k));
    CHECK(cudaMalloc(&s.b, sizeof(T) * k * n));
    CHECK(cudaMalloc(&s.c, sizeof(T) * m * n));
    fill<<<1024, 256>>>((T *)s.a, m * k, 1);
    fill<<<1024, 256>>>((T *)s.b, k * n, 2);
  }
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, lc;
  cublasLtMatmulPreference_t preference;
  size_t workspace_bytes = 64u << 20;
  void *workspace;
  CHECK(cudaMalloc(&workspace, workspace_bytes));
  CHECK(cublasLtCreate(&lt));
  CHECK(cublasLtMatmulDescCreate(&desc, compute, type));
  // Row-major C = A B is column-major C' = B' A'.
  CHECK(cublasLtMatrixLayoutCreate(&la, type, n, k, n));
  CHECK(cublasLtMatrixLayoutCreate(&lb, type, k, m, k));
  CHECK(cublasLtMatrixLayoutCreate(&lc, type, n, m, n));
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof workspace_bytes));
  cublasLtMatmulHeuristicResult_t found[64];
  int offered = 0, best = -1;
  CHECK(cublasLtMatmulAlgoGetHeuristic(lt, desc, la, lb, lc, lc, preference, 64, found, &offered));
  T one = 1, zero = 0;
  double best_seconds = 0;
  auto time_algorithm = [&](int i, int batches) {
    return median_seconds(
        [&] {
          Set &s = sets[at++ % count];
          CHECK(cublasLtMatmul(lt, desc, &one, s.b, la, s.a, lb, &zero, s.c, lc, s.c, lc, &found[i].algo, workspace,
                               workspace_bytes, 0));
        },
        batches);
  };
  for (int i = 0; i < offered; i++) {
    if (found[i].state != CUBLAS_STATUS_SUCCESS) continue;
    double seconds = time_algorithm(i, 3);
    if (best < 0 || seconds < best_seconds) best = i, best_seconds = seconds;
  }
  if (best < 0) return std::fprintf(stderr, "cuBLASLt offers no algorithm\n"), 1;
  best_seconds = time_algorithm(best, 21);
  std::printf("cuBLASLt %s %ldx%ldx%ld: %.3f ms  %.2f TFLOP/s  (%d algorithms, best is number %d)\n", name, m, n, k,
              best_seconds * 1e3, 2e-12 * m * n * k / best_seconds, offered, best);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4) return std::fprintf(stderr, "use: %s M N K [f32|f64]\n", argv[0]), 2;
  long m = std::atol(argv[1]), n = std::atol(argv[2]), k = std::atol(argv[3]);
  if (argc > 4 && !std::strcmp(argv[4], "f64")) return bench<double>(m, n, k, CUDA_R_64F, CUBLAS_COMPUTE_64F, "f64");
  return bench<float>(m, n, k, CUDA_R_32F, CUBLAS_COMPUTE_32F, "f32");
}
