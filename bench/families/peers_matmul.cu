// cuBLASLt: the algorithms that its heuristics offer, tried on the same data, and the best of them raced.
#include <cublasLt.h>

#include <algorithm>

#include "peers.h"

// By the config's names of types.
static const struct LtType {
  const char *dtype;
  cudaDataType operand;
  cublasComputeType_t compute;
} lt_types[] = {
    {"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"f64", CUDA_R_64F, CUBLAS_COMPUTE_64F},
    {"f16", CUDA_R_16F, CUBLAS_COMPUTE_32F},
    {"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
};

static const LtType &lt_type(const Case &c) {
  for (const char *setting : c.settings)
    for (const LtType &type : lt_types)
      if (std::string("dtype=") + type.dtype == setting) return type;
  return lt_types[0];
}

struct BestOfLt : Rival {
  Ours &ours;
  const LtType &type;
  bool wide;
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  std::vector<Buffer> to;
  Buffer workspace{64u << 20};
  cublasLtMatmulHeuristicResult_t found[64];
  int offered = 0, best = -1;

  BestOfLt(const Case &of, Ours &o, Stopwatch &watch) : ours(o), type(lt_type(of)), wide(type.operand == CUDA_R_64F) {
    cugen_argument_info left = ours.input(0), out = ours.argument(ours.output);
    uint64_t m = out.shape[out.rank - 2], n = out.shape[out.rank - 1], k = left.shape[left.rank - 1];
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back((size_t)out.bytes);
    CHECK(cublasLtCreate(&lt));
    CHECK(cublasLtMatmulDescCreate(&desc, type.compute, wide ? CUDA_R_64F : CUDA_R_32F));
    // Row-major C = A B is column-major C' = B' A'.
    CHECK(cublasLtMatrixLayoutCreate(&a, type.operand, n, k, n));
    CHECK(cublasLtMatrixLayoutCreate(&b, type.operand, k, m, k));
    CHECK(cublasLtMatrixLayoutCreate(&c, type.operand, n, m, n));
    ask();
    choose(watch);
  }
  ~BestOfLt() override {
    cublasLtMatrixLayoutDestroy(a), cublasLtMatrixLayoutDestroy(b), cublasLtMatrixLayoutDestroy(c);
    cublasLtMatmulDescDestroy(desc);
    cublasLtDestroy(lt);
  }
  void ask() {
    cublasLtMatmulPreference_t preference;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace.bytes,
                                               sizeof workspace.bytes));
    CHECK(cublasLtMatmulAlgoGetHeuristic(lt, desc, a, b, c, c, preference, 64, found, &offered));
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
      double seconds = std::min(watch.batch(racer.run, racer.repeats), watch.batch(racer.run, racer.repeats));
      if (best < 0 || seconds < least) best = i, least = seconds;
    }
    if (best < 0) throw std::string("cuBLASLt offers no algorithm");
  }
  void run_with(int algorithm, size_t s, cudaStream_t stream) {
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const void *one = wide ? (const void *)&one64 : &one32, *zero = wide ? (const void *)&zero64 : &zero32;
    void *out = to[s].at;
    CHECK(cublasLtMatmul(lt, desc, one, ours.sets[s][ours.inputs[1]].at, a, ours.sets[s][ours.inputs[0]].at, b, zero,
                         out, c, out, c, &found[algorithm].algo, workspace.at, workspace.bytes, stream));
  }
  void run(size_t s, cudaStream_t stream) override {
    run_with(best, s, stream);
  }
  const Buffer *result() const override {
    return &to[0];
  }
  std::string remark() const override {
    return "number " + std::to_string(best + 1) + " of " + std::to_string(offered) + " algorithms";
  }
};

std::unique_ptr<Rival> make_lt(const Case &c, Ours &ours, Stopwatch &watch) {
  return std::make_unique<BestOfLt>(c, ours, watch);
}
