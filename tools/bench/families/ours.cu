#include "ours.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

void fail_if(int status, const cugen_error &error) {
  if (status) throw std::string(error.message, std::strcspn(error.message, "\n"));
}

Kernel open_kernel(const Program &program, const char *config, const Settings &settings) {
  cugen_error error;
  cugen_kernel *kernel;
  fail_if(cugen_kernel_open(program.lib, config, settings.data(), settings.size(), &kernel, &error), error);
  return Kernel(kernel);
}

std::string field(const std::string &json, const std::string &name, size_t at) {
  const std::string mark = "\"" + name + "\": ";
  const size_t found = json.find(mark, at);
  if (found == std::string::npos) return "";
  const size_t begin = found + mark.size() + (json[found + mark.size()] == '"');
  return json.substr(begin, json.find_first_of("\",}", begin) - begin);
}

std::string tune(Program &program, const Kernel &kernel, const std::vector<const char *> &implementations) {
  std::vector<const char *> chosen = implementations;
  std::string name = std::string(cugen_kernel_name(kernel.get())) + " " + cugen_kernel_problem(kernel.get()), text;
  if (chosen.empty()) chosen.push_back(nullptr);
  double seconds = std::min(program.budget, program.share) / (double)chosen.size();
  if (program.tuned.count(name) || seconds < 0.5) return program.tuned[name];
  for (const char *implementation : chosen) {
    cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
    const char *result = nullptr; // JSON
    cugen_error error;
    options.budget_seconds = program.count ? -1 : seconds;
    options.budget_count = program.count;
    options.implementation = implementation;
    int status = cugen_kernel_tune(kernel.get(), &options, &result, &error);
    if (status != CUGEN_ERROR_EMPTY || chosen.size() == 1) fail_if(status, error); // one of several may not apply
    if (result)
      text += "; tried " + field(result, "tried") + " of " + field(result, "valid") + ", " + field(result, "failed") +
              " failed, in " + field(result, "seconds").substr(0, 5) + " s";
  }
  return program.tuned[name] = text;
}

Ours::Ours(Program &program, const char *config, const Settings &settings, const Settings &lender,
           const std::vector<const char *> &implementations, size_t most_sets)
    : kernel(open_kernel(program, config, settings)) {
  if (lender.empty())
    tuning = tune(program, kernel, implementations);
  else
    tuning = tune(program, open_kernel(program, config, lender), implementations);
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_error error;
  cugen_plan *opened;
  options.flags = CUGEN_PLAN_PRIMARY;
  if (!lender.empty()) options.distance = 3.5;
  fail_if(cugen_plan_open(kernel.get(), &options, &opened, &error), error);
  plan.reset(opened);
  make_sets(program, most_sets);
  for (auto &set : sets) bind(set);
}

cugen_argument_info Ours::argument(size_t i) const {
  cugen_argument_info info;
  cugen_error error;
  fail_if(cugen_plan_argument(plan.get(), i, &info, &error), error);
  return info;
}

void Ours::make_sets(const Program &program, size_t most) {
  size_t bytes = 0;
  for (size_t i = 0; i < about().arguments; i++) {
    cugen_argument_info info = argument(i);
    if (info.kind == CUGEN_ARGUMENT_INPUT) inputs.push_back(i);
    if (info.kind == CUGEN_ARGUMENT_OUTPUT) output = i;
    if (info.kind <= CUGEN_ARGUMENT_INOUT) bytes += (size_t)info.bytes;
    constants.emplace_back(info.kind == CUGEN_ARGUMENT_CONSTANT ? info.bytes / 4 : 0, 0.04f); // all are f32
  }
  size_t wanted = std::min<size_t>(most, 2 * program.l2 / std::max<size_t>(bytes, 1) + 1);
  for (size_t s = 0; s < wanted; s++) add_set((unsigned)s);
  CHECK(cudaDeviceSynchronize());
}

void Ours::add_set(unsigned seed) {
  sets.emplace_back();
  for (size_t i = 0; i < about().arguments; i++) {
    cugen_argument_info info = argument(i);
    bool buffer = info.kind <= CUGEN_ARGUMENT_INOUT;
    if (sets.size() == 1) scratch.push_back(info.kind == CUGEN_ARGUMENT_SCRATCH ? Buffer((size_t)info.bytes) : Buffer());
    sets.back().push_back(buffer ? Buffer((size_t)info.bytes) : Buffer());
    if (buffer && info.kind != CUGEN_ARGUMENT_OUTPUT)
      sets.back()[i].fill(info.dtype, 97 * seed + (unsigned)i);
    else if (buffer)
      sets.back()[i].poison();
  }
}

void Ours::bind(std::vector<Buffer> &set) {
  std::vector<void *> arguments;
  cugen_call *call;
  cugen_error error;
  for (size_t i = 0; i < set.size(); i++)
    arguments.push_back(!constants[i].empty() ? (void *)constants[i].data() : scratch[i].at ? scratch[i].at : set[i].at);
  fail_if(cugen_call_bind(plan.get(), arguments.data(), arguments.size(), &call, &error), error);
  calls.emplace_back(call);
}

void Ours::launch(size_t set, cudaStream_t stream) const {
  cugen_error error;
  fail_if(cugen_call_launch(calls[set].get(), stream, &error), error);
}

Racer Ours::racer() {
  Racer racer;
  racer.run = [this](cudaStream_t stream) { launch(at++ % calls.size(), stream); };
  return racer;
}
