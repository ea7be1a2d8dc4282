// cugen's side of a case: the kernel is tuned within its share of the time, and its best variant is
// bound to buffer sets.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cugen.h"
#include "harness.h"
#include "memory.h"

struct Program {
  cugen *lib = nullptr;
  double budget = 1e9; // seconds of tuning that a case may have at most
  size_t count = 0;    // variants that a case may try; 0: as the time allows
  double limit = 240;  // seconds in all
  double share = 0;    // seconds of tuning that the case in turn has
  double started = now();
  int rounds = 15;
  size_t l2 = 0;
  std::vector<std::pair<std::string, double>>
      ratios; // of the cases that burst, one each, and what they go together with
  std::map<std::string, std::string> tuned; // problems, in this run, and what tuning them was
  double left() const {
    return limit - (now() - started);
  }
};

typedef std::vector<const char *> Settings; // "M=4096"

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

void fail_if(int status, const cugen_error &error);
Kernel open_kernel(const Program &program, const char *config, const Settings &settings);

// Returns the text or number of the first field of that name behind `at` in cugen's JSON; "": there
// is none.
std::string field(const std::string &json, const std::string &name, size_t at = 0);

// Tunes each problem once: each of the implementations (empty: all together) for its part of the
// share. Returns how many variants were tried, in words.
std::string tune(Program &program, const Kernel &kernel,
                 const std::vector<const char *> &implementations);

struct Ours {
  Kernel kernel;
  std::unique_ptr<cugen_plan, Closer> plan;
  std::vector<std::vector<Buffer>> sets; // of one buffer each argument; empty for scalars
  std::vector<Buffer> scratch;           // of all sets, as the peer has one workspace; else empty
  std::vector<std::vector<float>> constants;
  std::vector<std::unique_ptr<cugen_call, Closer>> calls;
  std::vector<size_t> inputs;
  size_t output = 0, at = 0;
  std::string tuning; // how many variants were tried, of how many; empty: none

  // lender: the problem that lends its best variant; empty: the settings' own.
  Ours(Program &program, const char *config, const Settings &settings, const Settings &lender,
       const std::vector<const char *> &implementations, size_t most_sets = 64);
  const cugen_plan_info &about() const {
    return *cugen_plan_about(plan.get());
  }
  cugen_argument_info argument(size_t i) const;
  cugen_argument_info input(size_t i) const {
    return argument(inputs[i]);
  }
  std::string output_type() const {
    return argument(output).dtype;
  }
  void launch(size_t set, cudaStream_t stream) const;
  Racer racer();

private:
  void make_sets(const Program &program, size_t most);
  void add_set(unsigned seed);
  void bind(std::vector<Buffer> &set);
};
