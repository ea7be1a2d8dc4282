// Every family beside its peers, in one process and on the same random data: cugen's best kernel and the library's take
// turns, A B A B, in batches of at least a millisecond between two events, over buffer sets that exceed twice the L2. Each
// line says the median of both with the middle of the samples, and their ratio; before it is timed a result is compared
// with the peer's. What is not remembered yet is tuned first, through cugen's API, within the budget.
//
//   nvcc -O2 -std=c++17 -arch=native -Iinclude bench/families.cu -Lbuild -lcugen -lcublas -lcublasLt -o families
//   ./families --budget 20 --limit 600 -o table.txt            everything, 20 s of tuning a case, ten minutes in all
//   ./families --only matmul,reduce --budget 0                 with what the cache remembers
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cugen.h"

#define CHECK(call)                                                                                                  \
  do {                                                                                                               \
    int status_ = (int)(call);                                                                                       \
    if (status_) {                                                                                                   \
      cudaGetLastError();                                                                                            \
      throw std::string(#call) + " gave " + std::to_string(status_);                                                 \
    }                                                                                                                \
  } while (0)

// ---- The cases ---------------------------------------------------------------------------------------------------

enum Peer {
  MEMCPY,   // cudaMemcpyAsync of as many bytes as the case reads and writes
  OWN_COPY, // cugen's copy of as many bytes
  GEAM,     // cublasSgeam, transposing
  CUB_SUM,
  CUBLASLT, // the best algorithm that its heuristics offer
  LAYOUTS   // no peer: cugen's own best of each layout
};
static const char *const peer_names[] = {"cudaMemcpyAsync",        "cugen's copy", "cublasSgeam",
                                         "cub::DeviceReduce::Sum", "cuBLASLt",     "layouts"};

struct Case {
  const char *family, *config;
  std::vector<const char *> settings;
  Peer peer;
  double bytes, flops; // of one run; what the rate counts is flops, else bytes
  double
      tolerance; // of the comparison with the peer, relative to max(1, |wanted|); < 0: their results differ by nature
  std::vector<const char *> tuned = {}; // the problem that lends its best variant; empty: this one
};

static std::vector<std::string> kept; // settings made up below

static const char *set(const char *name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%s=%.0f", name, value);
  kept.push_back(text);
  return kept.back().c_str();
}

// Proving and filling the largest problems takes longer than timing their variants: a smaller one lends its best.
static Case copy(double mib) {
  double n = mib * (1 << 18);
  Case c = {"copy", "copy", {set("width", n)}, MEMCPY, 8 * n, 0, 0};
  if (mib > 1024) c.tuned = {set("width", 1 << 28)};
  return c;
}

static Case transpose(double n, Peer peer) {
  Case c = {"transpose", "transpose", {set("rows", n), set("cols", n)}, peer, 8 * n * n, 0, peer == GEAM ? 0.0 : -1};
  if (n > 10000) c.tuned = {set("rows", 8192), set("cols", 8192)};
  return c;
}

static Case sum(double n) {
  Case c = {"reduce", "reduce", {set("cols", n)}, CUB_SUM, 4 * n, 0, 5.7e-6 * std::sqrt(n)};
  if (n > 1 << 28) c.tuned = {set("cols", 1 << 28)};
  return c;
}

static Case matmul(const char *dtype, double m, double n, double k) {
  double size = std::strcmp(dtype, "dtype=f64") ? 4 : 8;
  Case c = {"matmul",
            "matmul",
            {dtype, set("M", m), set("N", n), set("K", k)},
            CUBLASLT,
            size * (m * k + k * n + m * n),
            2 * m * n * k,
            size == 4 ? 2e-7 * k : 4e-16 * k};
  if (m > 8000) c.tuned = {dtype, set("M", 4096), set("N", 4096), set("K", 4096)};
  return c;
}

static Case filter(Peer peer) {
  return {"filter", "filter", {"rows=8192", "cols=8192", "size=5"}, peer, 8.0 * 8192 * 8192, 0, -1};
}

static std::vector<Case> all_cases() {
  kept.reserve(1000); // strings stay where they are
  const char *f32 = "dtype=f32", *f64 = "dtype=f64";
  std::vector<Case> cases = {copy(64), copy(256), copy(1024), copy(4096)};
  for (double n : {1024.0, 4096.0, 8192.0, 10000.0, 16384.0}) cases.push_back(transpose(n, GEAM));
  for (double n : {8192.0, 10000.0, 16384.0}) cases.push_back(transpose(n, OWN_COPY));
  for (double n : {1048576.0, 16777216.0, 1e8, 1073741824.0}) cases.push_back(sum(n));
  for (const char *dtype : {f32, f64}) {
    for (double n : {1024.0, 2048.0, 4096.0, 8192.0}) cases.push_back(matmul(dtype, n, n, n));
    cases.push_back(matmul(dtype, 4095, 4097, 4099));
    cases.push_back(matmul(dtype, 4800, 3200, 6400));
  }
  cases.push_back(filter(OWN_COPY));
  cases.push_back(filter(MEMCPY));
  cases.push_back({"particles", "particles", {"n=16777216"}, LAYOUTS, 0, 0, -1});
  return cases;
}

// ---- What is printed, to stdout and into a file ---------------------------------------------------------------------

static FILE *copy_to;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  for (FILE *out : {stdout, copy_to}) {
    if (!out) continue;
    va_list args;
    va_start(args, format);
    std::vfprintf(out, format, args);
    va_end(args);
    std::fflush(out);
  }
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ---- Clocks, power and temperature, by NVML where it is ---------------------------------------------------------------

struct Nvml {
  typedef void *Device;
  int (*clock)(Device, int, unsigned *) = nullptr;
  int (*power)(Device, unsigned *) = nullptr;
  int (*temperature)(Device, int, unsigned *) = nullptr;
  Device device = nullptr;

  Nvml() {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) return;
    auto init = (int (*)())dlsym(library, "nvmlInit_v2");
    auto find = (int (*)(const char *, Device *))dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    char bus[32];
    int current;
    CHECK(cudaGetDevice(&current));
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, current));
    if (!init || !find || init() || find(bus, &device)) return;
    clock = (int (*)(Device, int, unsigned *))dlsym(library, "nvmlDeviceGetClockInfo");
    power = (int (*)(Device, unsigned *))dlsym(library, "nvmlDeviceGetPowerUsage");
    temperature = (int (*)(Device, int, unsigned *))dlsym(library, "nvmlDeviceGetTemperature");
  }

  // "1980 MHz 312 W 41 C"
  std::string state() const {
    enum { SM_CLOCK = 1, GPU_SENSOR = 0 };
    unsigned mhz = 0, milliwatts = 0, celsius = 0;
    char text[64];
    if (!device || !clock || !power || !temperature) return "-";
    clock(device, SM_CLOCK, &mhz), power(device, &milliwatts), temperature(device, GPU_SENSOR, &celsius);
    std::snprintf(text, sizeof text, "%u MHz %u W %u C", mhz, milliwatts / 1000, celsius);
    return text;
  }
};

// ---- Memory: random data, and are two results equal? --------------------------------------------------------------------

// SplitMix64; fractions in [-1, 1).
template <class T> __global__ void fill_kernel(T *to, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
    unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    to[i] = (T)((long long)((z ^ (z >> 31)) >> 40) * 0x1p-23 - 1.0);
  }
}

template <class T>
__global__ void compare_kernel(const T *got, const T *wanted, size_t count, double tolerance,
                               unsigned long long *differing) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
    double difference = fabs((double)got[i] - (double)wanted[i]);
    if (!(difference <= tolerance * fmax(1.0, fabs((double)wanted[i]))))
      atomicAdd(differing, 1ull); // NaN never passes
  }
}

struct Buffer {
  void *at = nullptr;
  size_t bytes = 0;
  Buffer() = default;
  explicit Buffer(size_t n) : bytes(n) {
    CHECK(cudaMalloc(&at, n ? n : 1));
  }
  Buffer(Buffer &&other) noexcept {
    std::swap(at, other.at), std::swap(bytes, other.bytes);
  }
  Buffer &operator=(Buffer &&other) noexcept {
    return std::swap(at, other.at), std::swap(bytes, other.bytes), *this;
  }
  ~Buffer() {
    cudaFree(at);
  }
  void fill(bool wide, unsigned seed) {
    if (wide)
      fill_kernel<<<1024, 256>>>((double *)at, bytes / 8, seed);
    else
      fill_kernel<<<1024, 256>>>((float *)at, bytes / 4, seed);
    CHECK(cudaGetLastError());
  }
  void poison() {
    CHECK(cudaMemset(at, 0xff, bytes));
  }
};

static unsigned long long count_differing(const Buffer &got, const Buffer &wanted, bool wide, double tolerance) {
  Buffer counter(8);
  unsigned long long differing = 0;
  auto *to = (unsigned long long *)counter.at;
  CHECK(cudaMemset(to, 0, 8));
  if (wide)
    compare_kernel<<<1024, 256>>>((double *)got.at, (double *)wanted.at, wanted.bytes / 8, tolerance, to);
  else
    compare_kernel<<<1024, 256>>>((float *)got.at, (float *)wanted.at, wanted.bytes / 4, tolerance, to);
  CHECK(cudaMemcpy(&differing, to, 8, cudaMemcpyDeviceToHost));
  return differing;
}

// ---- Timing ---------------------------------------------------------------------------------------------------------------

struct Times {
  double median, least, p20, p80;
};

static Times summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  auto at = [&](double q) { return times[(size_t)std::lround(q * (times.size() - 1))]; };
  return {at(0.5), times[0], at(0.2), at(0.8)};
}

// What takes turns: a thing that runs on a stream, and the batch that it is timed by.
struct Racer {
  std::function<void(cudaStream_t)> run;
  int repeats = 1;
  std::vector<double> times;
};

struct Stopwatch {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  Stopwatch() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  double batch(const std::function<void(cudaStream_t)> &run, int repeats) {
    float milliseconds;
    CHECK(cudaEventRecord(begin, stream));
    for (int i = 0; i < repeats; i++) run(stream);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1e-3 / repeats;
  }
  // The second of two runs says how many make a millisecond and more.
  void prepare(Racer &racer) {
    batch(racer.run, 1);
    racer.repeats = (int)std::ceil(1.2e-3 / std::max(batch(racer.run, 1), 1e-6));
    if (racer.repeats > 1) racer.repeats = std::max(1, (int)std::ceil(1.2e-3 / batch(racer.run, racer.repeats)));
    batch(racer.run, racer.repeats);
  }
  void race(Racer &a, Racer &b, int rounds) {
    prepare(a), prepare(b);
    for (int i = 0; i < rounds; i++) {
      a.times.push_back(batch(a.run, a.repeats));
      b.times.push_back(batch(b.run, b.repeats));
    }
  }
};

// As a graph of `repeats` runs, so that the host's part in a short launch does not count. Empty: it cannot be captured.
static std::function<void(cudaStream_t)> as_graph(const Stopwatch &watch, const Racer &racer) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  CHECK(cudaStreamBeginCapture(watch.stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < racer.repeats; i++) racer.run(watch.stream);
  if (cudaStreamEndCapture(watch.stream, &graph) || cudaGraphInstantiate(&made, graph, 0)) return {};
  std::shared_ptr<void> owner(made, [graph](void *exec) {
    cudaGraphExecDestroy((cudaGraphExec_t)exec);
    cudaGraphDestroy(graph);
  });
  return [owner](cudaStream_t stream) { CHECK(cudaGraphLaunch((cudaGraphExec_t)owner.get(), stream)); };
}

// ---- cugen's side ------------------------------------------------------------------------------------------------------

struct Program {
  cugen *lib = nullptr;
  double budget = 20, limit = 1e9, started = now();
  int rounds = 15;
  size_t l2 = 0;
  std::set<std::string> tuned; // in this run
  std::vector<std::string> only;
  double left() const {
    return limit - (now() - started);
  }
};

static void fail_if(int status, const cugen_error &error) {
  if (status) throw std::string(error.message, std::strcspn(error.message, "\n"));
}

struct Closer {
  void operator()(cugen_kernel *kernel) {
    cugen_kernel_close(kernel);
  }
  void operator()(cugen_plan *plan) {
    cugen_plan_close(plan);
  }
  void operator()(cugen_call *call) {
    cugen_call_close(call);
  }
};
using Kernel = std::unique_ptr<cugen_kernel, Closer>;

static Kernel open_kernel(const Program &program, const char *config, const std::vector<const char *> &settings) {
  cugen_error error;
  cugen_kernel *kernel;
  fail_if(cugen_kernel_open(program.lib, config, settings.data(), settings.size(), &kernel, &error), error);
  return Kernel(kernel);
}

static void tune(Program &program, const Kernel &kernel) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_error error;
  std::string name = std::string(cugen_kernel_name(kernel.get())) + " " + cugen_kernel_problem(kernel.get());
  options.budget_seconds = std::min(program.budget, program.left() / 2);
  if (options.budget_seconds < 1 || !program.tuned.insert(name).second) return;
  cugen_tune_result result;
  fail_if(cugen_kernel_tune(kernel.get(), &options, &result, &error), error);
}

// A kernel with its plan, and calls bound to buffer sets.
struct Ours {
  Kernel kernel;
  std::unique_ptr<cugen_plan, Closer> plan;
  std::vector<std::vector<Buffer>> sets; // of one buffer each argument; empty for scalars
  std::vector<std::vector<float>> constants;
  std::vector<std::unique_ptr<cugen_call, Closer>> calls;
  std::vector<size_t> inputs;
  size_t output = 0, at = 0;
  bool wide = false;

  Ours(Program &program, const char *config, const std::vector<const char *> &settings,
       const std::vector<const char *> &tuned_settings, size_t most_sets)
      : kernel(open_kernel(program, config, settings)) {
    if (tuned_settings.empty())
      tune(program, kernel);
    else
      tune(program, open_kernel(program, config, tuned_settings));
    cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
    cugen_error error;
    cugen_plan *opened;
    options.flags = CUGEN_PLAN_PRIMARY;
    if (!tuned_settings.empty()) options.distance = 2.5;
    fail_if(cugen_plan_open(kernel.get(), &options, &opened, &error), error);
    plan.reset(opened);
    make_sets(program, most_sets);
    for (auto &set : sets) bind(set);
  }

  const cugen_plan_info &about() const {
    return *cugen_plan_about(plan.get());
  }

  cugen_argument_info argument(size_t i) const {
    cugen_argument_info info;
    cugen_error error;
    fail_if(cugen_plan_argument(plan.get(), i, &info, &error), error);
    return info;
  }

  void make_sets(const Program &program, size_t most) {
    size_t bytes = 0;
    for (size_t i = 0; i < about().arguments; i++) {
      cugen_argument_info info = argument(i);
      if (info.kind == CUGEN_ARGUMENT_INPUT) inputs.push_back(i);
      if (info.kind == CUGEN_ARGUMENT_OUTPUT) output = i, wide = !std::strcmp(info.dtype, "f64");
      if (info.kind <= CUGEN_ARGUMENT_INOUT) bytes += (size_t)info.bytes;
      constants.emplace_back(info.kind == CUGEN_ARGUMENT_CONSTANT ? info.bytes / 4 : 0, 0.04f); // all are f32
    }
    size_t wanted = std::min<size_t>({64, most, 2 * program.l2 / std::max<size_t>(bytes, 1) + 1});
    for (size_t s = 0; s < wanted; s++) add_set((unsigned)s);
    CHECK(cudaDeviceSynchronize());
  }

  void add_set(unsigned seed) {
    sets.emplace_back();
    for (size_t i = 0; i < about().arguments; i++) {
      cugen_argument_info info = argument(i);
      bool buffer = info.kind <= CUGEN_ARGUMENT_INOUT;
      sets.back().push_back(buffer ? Buffer((size_t)info.bytes) : Buffer());
      if (buffer && info.kind != CUGEN_ARGUMENT_OUTPUT)
        sets.back()[i].fill(!std::strcmp(info.dtype, "f64"), 97 * seed + (unsigned)i);
      else if (buffer)
        sets.back()[i].poison();
    }
  }

  void bind(std::vector<Buffer> &set) {
    std::vector<void *> arguments;
    cugen_call *call;
    cugen_error error;
    for (size_t i = 0; i < set.size(); i++)
      arguments.push_back(constants[i].empty() ? set[i].at : (void *)constants[i].data());
    fail_if(cugen_call_bind(plan.get(), arguments.data(), arguments.size(), &call, &error), error);
    calls.emplace_back(call);
  }

  void launch(size_t set, cudaStream_t stream) const {
    cugen_error error;
    fail_if(cugen_call_launch(calls[set].get(), stream, &error), error);
  }

  Racer racer() {
    Racer racer;
    racer.run = [this](cudaStream_t stream) { launch(at++ % calls.size(), stream); };
    return racer;
  }
};

// ---- The peers: each runs on the inputs of one of our sets, into an output of its own ---------------------------------------

struct Rival {
  virtual ~Rival() = default;
  virtual void run(size_t set, cudaStream_t stream) = 0;
  virtual const Buffer *result() const {
    return nullptr;
  } // of set 0, when it is to be compared
  virtual std::string remark() const {
    return "";
  }
};

struct Memcpy : Rival {
  std::vector<Buffer> from, to;
  bool comparable;
  Memcpy(Ours &ours, size_t bytes, bool compare) : comparable(compare) {
    for (size_t s = 0; s < ours.sets.size(); s++) {
      from.emplace_back(bytes), to.emplace_back(bytes);
      if (compare)
        CHECK(cudaMemcpy(from[s].at, ours.sets[s][ours.inputs[0]].at, bytes, cudaMemcpyDeviceToDevice));
      else
        from[s].fill(false, (unsigned)s);
    }
  }
  void run(size_t s, cudaStream_t stream) override {
    CHECK(cudaMemcpyAsync(to[s].at, from[s].at, to[s].bytes, cudaMemcpyDeviceToDevice, stream));
  }
  const Buffer *result() const override {
    return comparable ? &to[0] : nullptr;
  }
};

struct OwnCopy : Rival {
  Ours copy;
  OwnCopy(Program &program, double bytes, size_t sets)
      : copy(program, "copy", {set("width", bytes / 4)}, {set("width", 1 << 26)}, sets) {}
  void run(size_t s, cudaStream_t stream) override {
    copy.launch(s % copy.calls.size(), stream);
  }
  std::string remark() const override {
    return copy.about().variant;
  }
};

struct Geam : Rival {
  Ours &ours;
  cublasHandle_t blas;
  std::vector<Buffer> to;
  int rows, cols;
  explicit Geam(Ours &o) : ours(o) {
    cugen_argument_info a = ours.argument(ours.inputs[0]);
    rows = (int)a.shape[a.rank - 2], cols = (int)a.shape[a.rank - 1];
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back((size_t)a.bytes);
    CHECK(cublasCreate(&blas));
  }
  ~Geam() override {
    cublasDestroy(blas);
  }
  // By columns A is cols x rows, and what is wanted rows x cols.
  void run(size_t s, cudaStream_t stream) override {
    const float one = 1, zero = 0;
    auto *a = (const float *)ours.sets[s][ours.inputs[0]].at;
    auto *b = (float *)to[s].at;
    CHECK(cublasSetStream(blas, stream));
    CHECK(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, a, cols, &zero, b, rows, b, rows));
  }
  const Buffer *result() const override {
    return &to[0];
  }
};

struct CubSum : Rival {
  Ours &ours;
  std::vector<Buffer> to;
  Buffer temporary;
  long long count;
  explicit CubSum(Ours &o) : ours(o) {
    size_t bytes = 0;
    count = ours.argument(ours.inputs[0]).bytes / 4;
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back(4);
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, (const float *)nullptr, (float *)nullptr, count));
    temporary = Buffer(bytes);
  }
  void run(size_t s, cudaStream_t stream) override {
    auto *from = (const float *)ours.sets[s][ours.inputs[0]].at;
    size_t bytes = temporary.bytes;
    CHECK(cub::DeviceReduce::Sum(temporary.at, bytes, from, (float *)to[s].at, count, stream));
  }
  const Buffer *result() const override {
    return &to[0];
  }
};

struct BestOfLt : Rival {
  Ours &ours;
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  std::vector<Buffer> to;
  Buffer workspace{64u << 20};
  cublasLtMatmulHeuristicResult_t found[64];
  int offered = 0, best = -1;

  BestOfLt(Ours &o, Stopwatch &watch) : ours(o) {
    cugen_argument_info left = ours.argument(ours.inputs[0]), out = ours.argument(ours.output);
    uint64_t m = out.shape[out.rank - 2], n = out.shape[out.rank - 1], k = left.shape[left.rank - 1];
    cudaDataType type = ours.wide ? CUDA_R_64F : CUDA_R_32F;
    for (size_t s = 0; s < ours.sets.size(); s++) to.emplace_back((size_t)out.bytes);
    CHECK(cublasLtCreate(&lt));
    CHECK(cublasLtMatmulDescCreate(&desc, ours.wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, type));
    // Row-major C = A B is column-major C' = B' A'.
    CHECK(cublasLtMatrixLayoutCreate(&a, type, n, k, n));
    CHECK(cublasLtMatrixLayoutCreate(&b, type, k, m, k));
    CHECK(cublasLtMatrixLayoutCreate(&c, type, n, m, n));
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
    const void *one = ours.wide ? (const void *)&one64 : &one32, *zero = ours.wide ? (const void *)&zero64 : &zero32;
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

static std::unique_ptr<Rival> make_rival(Program &program, const Case &c, Ours &ours, Stopwatch &watch) {
  size_t half = (size_t)c.bytes / 2;
  switch (c.peer) {
  case MEMCPY: return std::make_unique<Memcpy>(ours, half, c.tolerance >= 0);
  case OWN_COPY: return std::make_unique<OwnCopy>(program, c.bytes / 2, ours.sets.size());
  case GEAM: return std::make_unique<Geam>(ours);
  case CUB_SUM: return std::make_unique<CubSum>(ours);
  case CUBLASLT: return std::make_unique<BestOfLt>(ours, watch);
  default: return nullptr;
  }
}

// ---- A case --------------------------------------------------------------------------------------------------------------

static std::string settings_text(const Case &c) {
  std::string text;
  for (const char *setting : c.settings) text += std::string(text.empty() ? "" : " ") + setting;
  return text;
}

static std::string show_time(const Times &t) {
  double scale = t.median < 1e-3 ? 1e6 : 1e3;
  char text[96];
  std::snprintf(text, sizeof text, "%.2f %s (%.2f, %.2f..%.2f)", t.median * scale, scale > 1e3 ? "us" : "ms",
                t.least * scale, t.p20 * scale, t.p80 * scale);
  return text;
}

static void print_row(const Case &c, const char *how, const Times &ours, const Times &theirs,
                      const std::string &state) {
  double work = c.flops > 0 ? c.flops * 1e-12 : c.bytes * 1e-9;
  std::string what = settings_text(c) + how;
  say("%-9s  %-44s  %-22s  %-30s  %8.2f  %-30s  %8.2f  %-7s  %6.3f  %s\n", c.family, what.c_str(), peer_names[c.peer],
      show_time(ours).c_str(), work / ours.median, show_time(theirs).c_str(), work / theirs.median,
      c.flops > 0 ? "TFLOP/s" : "GB/s", theirs.median / ours.median, state.c_str());
}

static void compare(const Case &c, Ours &ours, Rival &rival, Stopwatch &watch) {
  if (!rival.result()) return;
  Buffer &got = ours.sets[0][ours.output];
  got.poison();
  CHECK(cudaDeviceSynchronize()); // the stream does not wait for the default one
  ours.launch(0, watch.stream);
  rival.run(0, watch.stream);
  CHECK(cudaStreamSynchronize(watch.stream));
  unsigned long long differing = count_differing(got, *rival.result(), ours.wide, c.tolerance);
  if (differing) throw std::to_string(differing) + " results differ from " + peer_names[c.peer] + "'s";
}

// Short ones once more without the host's part in a launch.
static void race_graphs(Program &program, const Case &c, Racer &a, Racer &b, Stopwatch &watch, const Nvml &nvml) {
  a.repeats = b.repeats = std::max(a.repeats, b.repeats);
  Racer first, second;
  first.run = as_graph(watch, a), second.run = as_graph(watch, b);
  if (!first.run || !second.run) return;
  watch.race(first, second, program.rounds);
  for (auto *racer : {&first, &second})
    for (double &seconds : racer->times) seconds /= a.repeats;
  print_row(c, " as a graph", summarise(first.times), summarise(second.times), nvml.state());
}

static void run_race(Program &program, const Case &c, Stopwatch &watch, const Nvml &nvml) {
  Ours ours(program, c.config, c.settings, c.tuned, 64);
  std::unique_ptr<Rival> rival = make_rival(program, c, ours, watch);
  compare(c, ours, *rival, watch);
  size_t at = 0;
  Racer a = ours.racer(), b;
  b.run = [&](cudaStream_t stream) { rival->run(at++ % ours.sets.size(), stream); };
  watch.race(a, b, program.rounds);
  Times mine = summarise(a.times), theirs = summarise(b.times);
  print_row(c, "", mine, theirs, nvml.state());
  if (std::min(mine.median, theirs.median) < 100e-6) race_graphs(program, c, a, b, watch, nvml);
  const cugen_plan_info &about = ours.about();
  std::string remark = rival->remark();
  say("           %s%s%s%s\n", about.variant, about.choice == CUGEN_PLAN_DEFAULT ? " (not tuned)" : "",
      remark.empty() ? "" : "; peer: ", remark.c_str());
}

// The best of each layout, measured once more one after the other, beside the first layout of the list.
static void run_layouts(Program &program, const Case &c) {
  static const struct {
    const char *name, *tunable;
  } layouts[] = {{"AoS", "group=1"},         {"AoSoA 4", "group=4"},   {"AoSoA 8", "group=8"},
                 {"AoSoA 16", "group=16"},   {"AoSoA 32", "group=32"}, {"AoSoA 64", "group=64"},
                 {"AoSoA 128", "group=128"}, {"SoA", "group=0"}};
  Kernel kernel = open_kernel(program, c.config, c.settings);
  cugen_error error;
  double first = 0;
  tune(program, kernel);
  for (const auto &layout : layouts) {
    std::string wanted = std::string(" ") + layout.tunable + " ";
    for (size_t i = 0; i < cugen_kernel_records(kernel.get()); i++) {
      cugen_record record, again;
      fail_if(cugen_kernel_record(kernel.get(), i, &record, &error), error);
      if (record.outcome != CUGEN_OUTCOME_OK ||
          !std::strstr((record.variant + std::string(" ")).c_str(), wanted.c_str()))
        continue;
      std::string variant = record.variant;
      fail_if(cugen_kernel_run(kernel.get(), variant.c_str(), 0, &again, &error), error);
      if (first <= 0) first = again.seconds;
      say("%-9s  %-44s  %-22s  %-30s  %8.2f  %-30s  %8s  %-7s  %6.3f  %d MHz %d W\n           %s\n", c.family,
          settings_text(c).c_str(), layout.name,
          show_time({again.seconds, again.seconds_min, again.seconds_p20, again.seconds_p80}).c_str(),
          again.bytes * 1e-9 / again.seconds, "", "", "GB/s", first / again.seconds, again.clock_mhz,
          again.power_watts, variant.c_str());
      break;
    }
  }
}

static void run_case(Program &program, const Case &c, Stopwatch &watch, const Nvml &nvml) {
  if (program.left() < 2) {
    say("%-9s  %-44s  skipped: no time left\n", c.family, settings_text(c).c_str());
    return;
  }
  try {
    if (c.peer == LAYOUTS)
      run_layouts(program, c);
    else
      run_race(program, c, watch, nvml);
  } catch (const std::string &why) {
    say("%-9s  %-44s  skipped: %s\n", c.family, settings_text(c).c_str(), why.c_str());
  }
}

// ---- The program ------------------------------------------------------------------------------------------------------------

static void print_head(const Program &program, const Nvml &nvml) {
  cudaDeviceProp device;
  int driver, current;
  char date[32];
  time_t moment = time(nullptr);
  CHECK(cudaGetDevice(&current));
  CHECK(cudaGetDeviceProperties(&device, current));
  CHECK(cudaDriverGetVersion(&driver));
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&moment));
  say("%s, CUDA driver %d.%d, cuBLAS %zu, CUB %d, cugen %s, %s; %s\n", device.name, driver / 1000, driver % 1000 / 10,
      cublasLtGetVersion(), CUB_VERSION, CUGEN_VERSION, date, nvml.state().c_str());
  say("Random data in [-1, 1), buffers beyond twice the L2 (%zu MiB), %d batches of 1 ms or more each, A B A B; at "
      "most "
      "%g s of tuning a case.\nTimes: median (least, 20%%..80%%). Ratio: the peer's median over cugen's; above 1 "
      "cugen is "
      "faster. Clock, power and temperature right after.\n\n",
      program.l2 >> 20, program.rounds, program.budget);
  say("%-9s  %-44s  %-22s  %-30s  %8s  %-30s  %8s  %-7s  %6s  %s\n", "family", "problem", "peer", "cugen", "rate",
      "peer", "rate", "", "ratio", "state");
}

static bool wanted(const Program &program, const char *family) {
  return program.only.empty() || std::find(program.only.begin(), program.only.end(), family) != program.only.end();
}

static void split(const char *list, std::vector<std::string> &out) {
  for (const char *at = list; *at; at += *at == ',') {
    size_t length = std::strcspn(at, ",");
    out.emplace_back(at, length);
    at += length;
  }
}

static int usage(const char *program) {
  std::fprintf(
      stderr,
      "use: %s [--only FAMILY,...] [--budget SECONDS] [--limit SECONDS] [--rounds N] [--cache FILE] [-o FILE]\n"
      "families: copy transpose reduce matmul filter particles; --budget 0: what the cache remembers\n",
      program);
  return 2;
}

static int run(Program &program, cugen_options &options) {
  cugen_error error;
  int l2;
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
  program.l2 = (size_t)l2;
  options.device = "cuda:0";
  fail_if(cugen_open(&options, &program.lib, &error), error);
  {
    Nvml nvml;
    Stopwatch watch;
    print_head(program, nvml);
    for (const Case &c : all_cases())
      if (wanted(program, c.family)) run_case(program, c, watch, nvml);
    say("\n%.0f s in all; %s\n", now() - program.started, nvml.state().c_str());
  }
  cugen_close(program.lib);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "worker")) return cugen_worker_main(argc, argv);
  Program program;
  cugen_options options = CUGEN_OPTIONS_INIT;
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    std::string name = argv[i];
    if (!value) return usage(argv[0]);
    if (name == "--only")
      split(value, program.only);
    else if (name == "--budget")
      program.budget = std::atof(value);
    else if (name == "--limit")
      program.limit = std::atof(value);
    else if (name == "--rounds")
      program.rounds = std::max(3, std::atoi(value));
    else if (name == "--cache")
      options.cache = value;
    else if (name == "-o")
      copy_to = std::fopen(value, "w");
    else
      return usage(argv[0]);
    if (name == "-o" && !copy_to) return std::perror(value), 1;
  }
  int status = 1;
  try {
    status = run(program, options);
  } catch (const std::string &why) {
    std::fprintf(stderr, "families: %s\n", why.c_str());
  }
  if (copy_to && std::fclose(copy_to)) status = (std::perror("families"), 1);
  return status;
}
