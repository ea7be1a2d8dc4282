// cugen from C++17: handles that close themselves, errors as exceptions, a kernel tuned briefly in this process and then
// launched. On the first GPU, without one or with CUGEN_DEVICE=cpu on the cpu device.
// Built by cugen's own build as build/examples/embed_cpp; by hand: c++ -std=c++17 embed_cpp.cpp -lcugen -ldl
#include <cstdint>
#include <cugen.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.h"

// ---- cugen ----

struct Closer {
  void operator()(cugen *handle) const {
    cugen_close(handle);
  }
  void operator()(cugen_kernel *handle) const {
    cugen_kernel_close(handle);
  }
  void operator()(cugen_plan *handle) const {
    cugen_plan_close(handle);
  }
  void operator()(cugen_call *handle) const {
    cugen_call_close(handle);
  }
};
template <class Handle> using Owned = std::unique_ptr<Handle, Closer>;

// Calls open(arguments..., &handle, &error).
template <class Handle, class Function, class... Arguments>
static Owned<Handle> open(Function function, Arguments... arguments) {
  Handle *handle = nullptr;
  cugen_error error;
  if (function(arguments..., &handle, &error)) throw std::runtime_error(error.message);
  return Owned<Handle>(handle);
}

class Kernel {
public:
  Kernel(cugen *lib, const char *config, const std::vector<std::string> &settings) {
    std::vector<const char *> texts;
    for (const auto &setting : settings) texts.push_back(setting.c_str());
    kernel = open<cugen_kernel>(cugen_kernel_open, lib, config, texts.data(), texts.size());
  }

  const cugen_device_info &device() const {
    return *cugen_kernel_device(kernel.get());
  }

  // Measurements are remembered: the next plan, in any process, is for the best variant.
  void tune(std::size_t variants) {
    cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
    cugen_error error;
    options.flags = CUGEN_TUNE_IN_PROCESS;
    options.budget_count = variants; // or budget_seconds
    if (cugen_kernel_tune(kernel.get(), &options, nullptr, &error)) throw std::runtime_error(error.message);
  }

  Owned<cugen_plan> plan() const {
    return open<cugen_plan>(cugen_plan_open, kernel.get(), static_cast<const cugen_plan_options *>(nullptr));
  }

private:
  Owned<cugen_kernel> kernel;
};

static void launch(const cugen_call *call, void *stream) {
  cugen_error error;
  if (cugen_call_launch(call, stream, &error)) throw std::runtime_error(error.message);
}

// ---- The device's memory ----

struct Device {
  device handle;
  explicit Device(const char *id) : handle(device_open(id)) {}
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device() {
    device_close(&handle);
  }
};

class Buffer {
public:
  Buffer(const device &there, std::size_t count) : where(there), bytes(count * sizeof(float)) {
    memory = device_alloc(&where, bytes);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() {
    device_free(&where, memory);
  }

  void *address() const {
    return memory;
  }
  void upload(const std::vector<float> &from, CUstream stream) {
    device_upload(&where, memory, from.data(), bytes, stream);
  }
  void download(std::vector<float> &to, CUstream stream) const {
    device_download(&where, to.data(), memory, bytes, stream);
    device_wait(&where, stream);
  }

private:
  const device &where;
  std::size_t bytes;
  void *memory;
};

// ---- Multiplying ----

static int run() {
  const std::size_t m = 64, n = 48, k = 40;
  const auto lib = open<cugen>(cugen_open, static_cast<const cugen_options *>(nullptr));
  Kernel kernel(lib.get(), "matmul", {"M=64", "N=48", "K=40"});
  const Device opened(kernel.device().id);
  const device &where = opened.handle;
  const CUstream stream = device_stream(&where);

  kernel.tune(4);
  const auto plan = kernel.plan();
  printf("on %s: %s\n", kernel.device().name, cugen_plan_about(plan.get())->variant);

  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (std::size_t i = 0; i < a.size(); i++) a[i] = static_cast<float>(i % 5) - 2;
  for (std::size_t i = 0; i < b.size(); i++) b[i] = static_cast<float>(i % 7) - 3;
  Buffer da(where, a.size()), db(where, b.size()), dc(where, c.size());
  da.upload(a, stream);
  db.upload(b, stream);
  void *arguments[] = {da.address(), db.address(), dc.address(), nullptr, nullptr, nullptr};
  const auto call = open<cugen_call>(cugen_call_bind, plan.get(), arguments, std::size_t{6});
  launch(call.get(), stream);
  dc.download(c, stream);

  int wrong = 0;
  for (std::size_t i = 0; i < m; i++)
    for (std::size_t j = 0; j < n; j++) {
      float sum = 0;
      for (std::size_t l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
      wrong += sum != c[i * n + j];
    }
  printf("%d wrong elements\n", wrong);
  device_end_stream(&where, stream);
  return wrong;
}

int main() {
  try {
    return run() ? 1 : 0;
  } catch (const std::exception &problem) {
    fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
