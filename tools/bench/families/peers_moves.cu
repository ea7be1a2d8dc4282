// The peers of what moves data: cudaMemcpyAsync, cugen's own copy, cuBLAS geam.
#include <cublas_v2.h>

#include "peers.h"

struct Memcpy : Rival {
  std::vector<Buffer> from, to;
  bool comparable;
  Memcpy(Ours &ours, size_t bytes, bool compare) : comparable(compare) {
    for (size_t s = 0; s < ours.sets.size(); s++) {
      from.emplace_back(bytes), to.emplace_back(bytes);
      if (compare)
        CHECK(cudaMemcpy(from[s].at, ours.sets[s][ours.inputs[0]].at, bytes, cudaMemcpyDeviceToDevice));
      else
        from[s].fill("f32", (unsigned)s);
    }
  }
  void run(size_t s, cudaStream_t stream) override {
    CHECK(cudaMemcpyAsync(to[s].at, from[s].at, to[s].bytes, cudaMemcpyDeviceToDevice, stream));
  }
  const Buffer *result() const override {
    return comparable ? &to[0] : nullptr;
  }
};

std::unique_ptr<Rival> make_memcpy(const Case &c, Ours &ours) {
  return std::make_unique<Memcpy>(ours, (size_t)c.bytes / 2, c.tolerance >= 0);
}

struct OwnCopy : Rival {
  Ours copy;
  OwnCopy(Program &program, double bytes, size_t sets)
      : copy(program, "copy", {set("width", bytes / 4)}, {}, {"vector"}, sets) {}
  void run(size_t s, cudaStream_t stream) override {
    copy.launch(s % copy.calls.size(), stream);
  }
  std::string remark() const override {
    return copy.about().variant;
  }
};

std::unique_ptr<Rival> make_own_copy(Program &program, const Case &c, Ours &ours) {
  return std::make_unique<OwnCopy>(program, c.bytes / 2, ours.sets.size());
}

// By columns A is cols x rows, and what is wanted rows x cols.
struct Geam : Rival {
  Ours &ours;
  cublasHandle_t blas;
  std::vector<Buffer> to;
  int rows, cols;
  bool wide;
  explicit Geam(Ours &o) : ours(o), wide(ours.output_type() == "f64") {
    cugen_argument_info a = ours.input(0);
    rows = (int)a.shape[a.rank - 2], cols = (int)a.shape[a.rank - 1];
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back((size_t)a.bytes);
    CHECK(cublasCreate(&blas));
  }
  ~Geam() override {
    cublasDestroy(blas);
  }
  void run(size_t s, cudaStream_t stream) override {
    const void *a = ours.sets[s][ours.inputs[0]].at;
    void *b = to[s].at;
    CHECK(cublasSetStream(blas, stream));
    if (wide) {
      const double one = 1, zero = 0;
      CHECK(cublasDgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, (const double *)a, cols, &zero, (double *)b,
                        rows, (double *)b, rows));
    } else {
      const float one = 1, zero = 0;
      CHECK(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, (const float *)a, cols, &zero, (float *)b,
                        rows, (float *)b, rows));
    }
  }
  const Buffer *result() const override {
    return &to[0];
  }
};

std::unique_ptr<Rival> make_geam(Ours &ours) {
  return std::make_unique<Geam>(ours);
}
