#include "harness.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <memory>

void check(int status, const char *call) {
  if (!status) return;
  cudaGetLastError();
  throw std::string(call) + " gave " + std::to_string(status);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ---- What is printed ------------------------------------------------------------------------------------------------

static FILE *kept;

void say(const char *format, ...) {
  for (FILE *out : {stdout, kept}) {
    if (!out) continue;
    va_list args;
    va_start(args, format);
    std::vfprintf(out, format, args);
    va_end(args);
    std::fflush(out);
  }
}

bool keep_in(const char *file) {
  return (kept = std::fopen(file, "w")) != nullptr;
}

bool end_keeping() {
  return !kept || !std::fclose(kept);
}

// ---- Timing ---------------------------------------------------------------------------------------------------------

Times Racer::summary() const {
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  auto at = [&](double q) { return sorted[(size_t)std::lround(q * (double)(sorted.size() - 1))]; };
  return {at(0.5), sorted[0], at(0.2), at(0.8)};
}

Stopwatch::Stopwatch() {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
}

double Stopwatch::batch(const std::function<void(cudaStream_t)> &run, int repeats) {
  float milliseconds;
  CHECK(cudaEventRecord(begin, stream));
  for (int i = 0; i < repeats; i++) run(stream);
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  return milliseconds * 1e-3 / repeats;
}

void Stopwatch::prepare(Racer &racer) {
  batch(racer.run, 1);
  racer.repeats = (int)std::ceil(1.2e-3 / std::max(batch(racer.run, 1), 1e-6));
  if (racer.repeats > 1) racer.repeats = std::max(1, (int)std::ceil(1.2e-3 / batch(racer.run, racer.repeats)));
  batch(racer.run, racer.repeats);
}

void Stopwatch::race(Racer &a, Racer &b, int rounds, double rest) {
  prepare(a), prepare(b);
  for (int i = 0; i < rounds; i++) {
    for (Racer *racer : {&a, &b}) {
      if (rest > 0) usleep((unsigned)(rest * 1e6));
      racer->times.push_back(batch(racer->run, racer->repeats));
    }
  }
}

void Stopwatch::load(const Racer &a, const Racer &b, double seconds) {
  for (double end_at = now() + seconds; now() < end_at;) {
    batch(a.run, a.repeats);
    batch(b.run, b.repeats);
  }
}

std::function<void(cudaStream_t)> as_graph(const Stopwatch &watch, const Racer &racer) {
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

// ---- Clocks, power and temperature ----------------------------------------------------------------------------------

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
};

std::string device_state() {
  enum { SM_CLOCK = 1, GPU_SENSOR = 0 };
  static const Nvml nvml;
  unsigned mhz = 0, milliwatts = 0, celsius = 0;
  char text[64];
  if (!nvml.device || !nvml.clock || !nvml.power || !nvml.temperature) return "-";
  nvml.clock(nvml.device, SM_CLOCK, &mhz), nvml.power(nvml.device, &milliwatts);
  nvml.temperature(nvml.device, GPU_SENSOR, &celsius);
  std::snprintf(text, sizeof text, "%u MHz %u W %u C", mhz, milliwatts / 1000, celsius);
  return text;
}
