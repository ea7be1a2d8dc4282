// CUB's reduction in one call, with cugen's accumulators: floats for the 2-byte types, 64 bits for integers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>

#include <cstring>

#include "peers.h"

template <class Wide> struct Plus {
  template <class A, class B> __device__ Wide operator()(A a, B b) const {
    return (Wide)a + (Wide)b;
  }
};

// As CUB is called twice, the first time to be asked for its temporary storage: one call, of either.
template <class T, class Wide> struct Reduction {
  static void call(const std::string &op, void *temporary, size_t &bytes, const void *from, void *to, long long n,
                   cudaStream_t stream) {
    auto *x = (const T *)from;
    auto *y = (Wide *)to;
    if constexpr (std::is_same_v<T, Wide>) {
      if (op == "min") return CHECK(cub::DeviceReduce::Min(temporary, bytes, x, y, n, stream));
      if (op == "max") return CHECK(cub::DeviceReduce::Max(temporary, bytes, x, y, n, stream));
      if (op == "sum") return CHECK(cub::DeviceReduce::Sum(temporary, bytes, x, y, n, stream));
    } else if (op == "sum")
      return CHECK(cub::DeviceReduce::Reduce(temporary, bytes, x, y, n, Plus<Wide>(), Wide(0), stream));
    throw "no peer for " + op;
  }
};

struct Cub : Rival {
  typedef void (*Call)(const std::string &, void *, size_t &, const void *, void *, long long, cudaStream_t);
  Ours &ours;
  std::vector<Buffer> to;
  Buffer temporary;
  std::string op = "sum";
  long long count;
  Call call;

  Cub(const Case &c, Ours &o) : ours(o) {
    cugen_argument_info in = ours.input(0);
    size_t bytes = 0;
    for (const char *setting : c.settings)
      if (!std::strncmp(setting, "op=", 3)) op = setting + 3;
    count = in.bytes / (long long)type_bytes(in.dtype);
    call = call_for(in.dtype);
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back(type_bytes(ours.output_type().c_str()));
    call(op, nullptr, bytes, nullptr, nullptr, count, nullptr);
    temporary = Buffer(bytes);
  }
  static Call call_for(const std::string &dtype) {
    if (dtype == "f32") return Reduction<float, float>::call;
    if (dtype == "f64") return Reduction<double, double>::call;
    if (dtype == "f16") return Reduction<__half, float>::call;
    if (dtype == "bf16") return Reduction<__nv_bfloat16, float>::call;
    if (dtype == "i32") return Reduction<int, long long>::call;
    throw "no peer for " + dtype;
  }
  void run(size_t s, cudaStream_t stream) override {
    size_t bytes = temporary.bytes;
    call(op, temporary.at, bytes, ours.sets[s][ours.inputs[0]].at, to[s].at, count, stream);
  }
  const Buffer *result() const override {
    return &to[0];
  }
};

std::unique_ptr<Rival> make_cub(const Case &c, Ours &ours) {
  return std::make_unique<Cub>(c, ours);
}

int cub_version() {
  return CUB_VERSION;
}
