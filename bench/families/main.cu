// Every family beside its peers, in one process and on the same random data: cugen's best kernel and the library's take
// turns, A B A B, in batches of at least a millisecond between two events, over buffer sets that exceed twice the L2. Each
// line says the median of both with the middle of the samples, and their ratio; before it is timed a result is compared
// with the peer's. What is not remembered yet is tuned first, through cugen's API, and the time for that shared out among
// the cases. cases.cu has the table, run_families.sh beside this folder builds and runs it.
//
//   families --limit 240 -o table.txt             everything in four minutes
//   families --only copy,reduce --limit 60        of these families
//   families --budget 0                           with what the cache remembers
#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "peers.h"
#include "race.h"

static void print_head(const Program &program) {
  cudaDeviceProp device;
  int driver, current;
  char date[32];
  time_t moment = time(nullptr);
  CHECK(cudaGetDevice(&current));
  CHECK(cudaGetDeviceProperties(&device, current));
  CHECK(cudaDriverGetVersion(&driver));
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&moment));
  say("%s, CUDA driver %d.%d, cuBLAS %zu, CUB %d, cugen %s, %s; %s\n", device.name, driver / 1000, driver % 1000 / 10,
      cublasLtGetVersion(), cub_version(), CUGEN_VERSION, date, device_state().c_str());
  say("Random data in [-1, 1), buffers beyond twice the L2 (%zu MiB), %d batches of 1 ms or more each, A B A B; "
      "tuning "
      "and all in %.0f s.\nTimes: median (least, 20%%..80%%). Ratio: the peer's median over cugen's; above 1 cugen "
      "is "
      "faster. Clock, power and temperature right after.\n\n",
      program.l2 >> 20, program.rounds, program.limit);
  print_columns();
}

// Each case has some seconds of its own beside tuning; the rest is shared out by what the cases should have.
static void run_all(Program &program, const std::vector<Case> &cases, Stopwatch &watch) {
  const double own = 2;
  double wished = 0;
  for (const Case &c : cases) wished += c.seconds;
  for (size_t i = 0; i < cases.size(); i++) {
    double rest = program.left() - own * (double)(cases.size() - i);
    program.share = std::max(0.0, rest) * cases[i].seconds / wished;
    wished -= cases[i].seconds;
    run_case(program, cases[i], watch);
  }
}

static void print_ratios(const std::vector<double> &ratios) {
  double sum = 0;
  if (ratios.empty()) return;
  for (double ratio : ratios) sum += std::log(ratio);
  say("\nBursts, those under 100 us as a graph: geometric mean of %zu ratios %.3f, least %.3f\n", ratios.size(),
      std::exp(sum / (double)ratios.size()), *std::min_element(ratios.begin(), ratios.end()));
}

static int run(Program &program, cugen_options &options, const std::vector<Case> &cases) {
  cugen_error error;
  int l2;
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
  program.l2 = (size_t)l2;
  options.device = "cuda:0";
  fail_if(cugen_open(&options, &program.lib, &error), error);
  Stopwatch watch;
  print_head(program);
  run_all(program, cases, watch);
  print_ratios(program.ratios);
  say("\n%.0f s in all; %s\n", now() - program.started, device_state().c_str());
  cugen_close(program.lib);
  return 0;
}

static int usage(const char *program) {
  std::fprintf(
      stderr,
      "use: %s [--only FAMILY,...] [--limit SECONDS] [--budget SECONDS] [--rounds N] [--cache FILE] [-o FILE]\n"
      "families: copy transpose reduce matmul tensor hopper fused filter particles (tensor: products in bf16, f16, tf32; "
      "fused: with a bias and GELU; "
      "hopper: those of "
      "compute capability 9.0, only when asked for); "
      "--limit: of all; --budget: of tuning a case at\n"
      "most, 0 for what the cache remembers\n",
      program);
  return 2;
}

// The cases of the families in a list "copy,reduce".
static std::vector<Case> cases_of(const char *list) {
  std::vector<Case> cases = all_cases(), more = hopper_cases(), chosen;
  cases.insert(cases.end(), more.begin(), more.end());
  std::string within = std::string(",") + list + ",";
  for (const Case &c : cases)
    if (within.find(std::string(",") + c.family + ",") != std::string::npos) chosen.push_back(c);
  return chosen;
}

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "worker")) return cugen_worker_main(argc, argv);
  Program program;
  cugen_options options = CUGEN_OPTIONS_INIT;
  std::vector<Case> cases = all_cases();
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    std::string name = argv[i];
    if (!value) return usage(argv[0]);
    if (name == "--only")
      cases = cases_of(value);
    else if (name == "--budget")
      program.budget = std::atof(value);
    else if (name == "--limit")
      program.limit = std::atof(value);
    else if (name == "--rounds")
      program.rounds = std::max(3, std::atoi(value));
    else if (name == "--cache")
      options.cache = value;
    else if (name != "-o")
      return usage(argv[0]);
    else if (!keep_in(value))
      return std::perror(value), 1;
  }
  int status = 1;
  try {
    status = run(program, options, cases);
  } catch (const std::string &why) {
    std::fprintf(stderr, "families: %s\n", why.c_str());
  }
  return end_keeping() ? status : (std::perror("families"), 1);
}
