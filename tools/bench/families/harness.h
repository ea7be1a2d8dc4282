// What every case needs: errors, output, the stopwatch of things that take turns, and the state of
// the device.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <vector>

#define CHECK(call) check((int)(call), #call)
void check(int status, const char *call); // throws a std::string unless status is 0

double now(); // seconds

// To stdout and into the file that keep_in opened.
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
bool keep_in(const char *file);
bool end_keeping();

struct Times {
  double median, least, p20, p80;
};

// What takes turns: a thing that runs on a stream, and the batch that it is timed by.
struct Racer {
  std::function<void(cudaStream_t)> run;
  int repeats = 1;
  std::vector<double> times;
  Times summary() const;
};

struct Stopwatch {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  Stopwatch();
  // The seconds of one of `repeats` runs between two events.
  double batch(const std::function<void(cudaStream_t)> &run, int repeats);
  // Finds the repeats that make a batch of a millisecond and more, and warms up.
  void prepare(Racer &racer);
  void race(Racer &a, Racer &b, int rounds,
            double rest = 0); // A B A B, each after so many seconds of rest
  void load(const Racer &a, const Racer &b, double seconds); // both in turns, untimed
};

// Makes a graph of `repeats` runs, so that the host's part of a short launch does not count.
// Empty: the run cannot be captured.
std::function<void(cudaStream_t)> as_graph(const Stopwatch &watch, const Racer &racer);

// "1980 MHz 312 W 41 C" by NVML; "-" where it is not.
std::string device_state();
