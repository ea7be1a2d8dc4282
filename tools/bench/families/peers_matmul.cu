// cuBLASLt: the algorithms that its heuristics offer, tried on the same data, and the best of them raced.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "peers.h"

// By the config's names of types.
static const struct LtType {
  const char *dtype;
  cudaDataType operand, result;
  cublasComputeType_t compute;
} lt_types[] = {
    {"f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    {"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    {"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {"e4m3", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    {"i8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
};

static bool has(const Case &c, const char *wanted) {
  for (const char *setting : c.settings)
    if (!std::strcmp(setting, wanted)) return true;
  return false;
}

static const LtType &lt_type(const Case &c) {
  for (const char *setting : c.settings)
    for (const LtType &type : lt_types)
      if (std::string("dtype=") + type.dtype == setting) return type;
  return lt_types[0];
}

// What cuBLASLt's epilogue does, in a launch of its own: eight elements of a row at a time.
template <typename T>
__global__ void __launch_bounds__(256) bias_gelu(T *c, const T *bias, size_t packs, int columns) {
  const size_t pack = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (pack >= packs) return;
  uint4 own = reinterpret_cast<uint4 *>(c)[pack];
  const uint4 add = reinterpret_cast<const uint4 *>(bias)[pack % (columns / 8)];
  T *const at = reinterpret_cast<T *>(&own);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float x = static_cast<float>(at[i]) + static_cast<float>(reinterpret_cast<const T *>(&add)[i]);
    at[i] = static_cast<T>(__fdividef(x, 1 + __expf(-1.5957691f * (x + 0.044715f * x * x * x))));
  }
  reinterpret_cast<uint4 *>(c)[pack] = own;
}

struct BestOfLt : Rival {
  Ours &ours;
  const LtType &type;
  bool wide, whole, swapped; // scaled by f64, by i32; computes the transpose
  Peer peer;
  int columns; // of C
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  std::vector<Buffer> to;
  Buffer workspace{32u << 20};
  cublasLtMatmulHeuristicResult_t found[200]; // more than its heuristics return
  int offered = 0, best = -1;

  BestOfLt(const Case &of, Ours &o, Stopwatch &watch)
      : ours(o), type(lt_type(of)), wide(type.operand == CUDA_R_64F),
        whole(type.operand == CUDA_R_8I), swapped(!has(of, "layout_c=col")), peer(of.peer) {
    cugen_argument_info left = ours.input(0), out = ours.argument(ours.output);
    uint64_t m = out.shape[out.rank - 2], n = out.shape[out.rank - 1], k = left.shape[left.rank - 1];
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back((size_t)out.bytes);
    columns = (int)n;
    CHECK(cublasLtCreate(&lt));
    CHECK(cublasLtMatmulDescCreate(&desc, type.compute, wide ? CUDA_R_64F : whole ? CUDA_R_32I : CUDA_R_32F));
    // Row-major C = A B is column-major C' = B' A'.
    const bool col_a = has(of, "layout_a=col"), col_b = has(of, "layout_b=col");
    if (swapped) {
      make_layout(&a, CUBLASLT_MATMUL_DESC_TRANSA, n, k, col_b);
      make_layout(&b, CUBLASLT_MATMUL_DESC_TRANSB, k, m, col_a);
      CHECK(cublasLtMatrixLayoutCreate(&c, type.result, n, m, (int64_t)n));
    } else {
      make_layout(&a, CUBLASLT_MATMUL_DESC_TRANSA, m, k, !col_a);
      make_layout(&b, CUBLASLT_MATMUL_DESC_TRANSB, k, n, !col_b);
      CHECK(cublasLtMatrixLayoutCreate(&c, type.result, m, n, (int64_t)m));
    }
    const int8_t fast = 1; // sums as the tensor cores make them
    if (type.operand == CUDA_R_8F_E4M3)
      CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    if (peer == LT_FUSED) {
      CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
      set_bias(0);
    }
    ask();
    choose(watch);
  }
  // The description has its address.
  void set_bias(size_t s) {
    const void *bias = ours.sets[s][ours.inputs[2]].at;
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  }
  void run_after(size_t s, cudaStream_t stream) {
    const size_t packs = to[s].bytes / 16;
    const unsigned blocks = (unsigned)((packs + 255) / 256);
    void *c = to[s].at;
    const void *bias = ours.sets[s][ours.inputs[2]].at;
    if (type.result == CUDA_R_16F)
      bias_gelu<<<blocks, 256, 0, stream>>>((__half *)c, (const __half *)bias, packs, columns);
    else
      bias_gelu<<<blocks, 256, 0, stream>>>((__nv_bfloat16 *)c, (const __nv_bfloat16 *)bias, packs, columns);
    CHECK(cudaGetLastError());
  }
  ~BestOfLt() override {
    cublasLtMatrixLayoutDestroy(a), cublasLtMatrixLayoutDestroy(b), cublasLtMatrixLayoutDestroy(c);
    cublasLtMatmulDescDestroy(desc);
    cublasLtDestroy(lt);
  }
  // rows x columns by columns, or stored as the transpose of that.
  void make_layout(cublasLtMatrixLayout_t *out, cublasLtMatmulDescAttributes_t which, uint64_t rows, uint64_t columns,
                   bool transposed) {
    cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    CHECK(cublasLtMatmulDescSetAttribute(desc, which, &operation, sizeof operation));
    if (transposed) std::swap(rows, columns);
    CHECK(cublasLtMatrixLayoutCreate(out, type.operand, rows, columns, (int64_t)rows));
  }
  void ask() {
    cublasLtMatmulPreference_t preference;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace.bytes,
                                               sizeof workspace.bytes));
    CHECK(cublasLtMatmulAlgoGetHeuristic(lt, desc, a, b, c, c, preference, 200, found, &offered));
    cublasLtMatmulPreferenceDestroy(preference);
  }
  void choose(Stopwatch &watch) {
    double least = 0;
    size_t at = 0;
    for (int i = 0; i < offered; i++) {
      if (found[i].state != CUBLAS_STATUS_SUCCESS) continue;
      Racer racer;
      racer.run = [&](cudaStream_t stream) { run_with(i, at++ % to.size(), stream); };
      watch.prepare(racer);
      Racer whole; // without the host's part, which is the same for all of them
      whole.run = as_graph(watch, racer);
      double seconds = INFINITY;
      for (int again = 0; again < 3; again++)
        seconds = std::min(seconds, whole.run ? watch.batch(whole.run, 1) / racer.repeats
                                              : watch.batch(racer.run, racer.repeats));
      if (best < 0 || seconds < least) best = i, least = seconds;
    }
    if (best < 0) throw std::string("cuBLASLt offers no algorithm");
  }
  void run_with(int algorithm, size_t s, cudaStream_t stream) {
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const int one_whole = 1; // 0 has the same bits in i32 and f32
    const void *one = wide ? (const void *)&one64 : whole ? (const void *)&one_whole : &one32;
    const void *zero = wide ? (const void *)&zero64 : &zero32;
    const void *left = ours.sets[s][ours.inputs[swapped]].at, *right = ours.sets[s][ours.inputs[!swapped]].at;
    void *out = to[s].at;
    if (peer == LT_FUSED) set_bias(s);
    CHECK(cublasLtMatmul(lt, desc, one, left, a, right, b, zero, out, c, out, c, &found[algorithm].algo, workspace.at,
                         workspace.bytes, stream));
    if (peer == LT_AFTER) run_after(s, stream);
  }
  void run(size_t s, cudaStream_t stream) override {
    run_with(best, s, stream);
  }
  const Buffer *result() const override {
    return &to[0];
  }
  int config(cublasLtMatmulAlgoConfigAttributes_t which) const {
    int value = 0;
    size_t written;
    CHECK(cublasLtMatmulAlgoConfigGetAttribute(&found[best].algo, which, &value, sizeof value, &written));
    return value;
  }
  std::string remark() const override {
    return "algorithm " + std::to_string(config(CUBLASLT_ALGO_CONFIG_ID)) + " tile " +
           std::to_string(config(CUBLASLT_ALGO_CONFIG_TILE_ID)) + " split " +
           std::to_string(config(CUBLASLT_ALGO_CONFIG_SPLITK_NUM)) + ", number " + std::to_string(best + 1) + " of " +
           std::to_string(offered) + " that the heuristics gave for 32 MiB; uses " +
           std::to_string(found[best].workspaceSize) + " bytes";
  }
};

std::unique_ptr<Rival> make_lt(const Case &c, Ours &ours, Stopwatch &watch) {
  return std::make_unique<BestOfLt>(c, ours, watch);
}
