// Every family beside its peers, in one process and on the same random data: cugen's best kernel and the library's take
// turns, A B A B, in batches of at least a millisecond between two events, over buffer sets that exceed twice the L2. Each
// line says the median of both with the middle of the samples, and their ratio; before it is timed a result is compared
// with the peer's. What is not remembered yet is tuned first, through cugen's API, and the time for that shared out among
// the cases. cases.cu has the table, run_families.sh beside this folder builds and runs it.
//
//   families --limit 240 -o table.txt             everything in four minutes
//   families --only copy,reduce --limit 60        of these families
//   families --budget 0                           with what the cache remembers
//   families --device model:H200 --budget 2       no GPU: are the problems there, and do the first two variants compile?
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
  say("Random data in [-1, 1), up to 64 sets of buffers of twice the L2 (%zu MiB) together, one scratch for all, %d batches of 1 ms or more each, A B A B; "
      "tuning "
      "and all in %.0f s.\nTimes: median (least, 20%%..80%%). Ratio: the peer's median over cugen's; above 1 cugen "
      "is "
      "faster. Clock, power and temperature right after.\n\n",
      program.l2 >> 20, program.rounds, program.limit);
  print_columns();
}

// Seconds that a case takes beside tuning: filling, choosing the peer's algorithm, both races, and those under load.
static double beside_tuning(const Case &c) {
  return 2.2 + (c.sustained > 0 ? c.sustained + 1 : 0);
}

// What is left is shared out by what the cases should have.
static void run_all(Program &program, const std::vector<Case> &cases, Stopwatch &watch) {
  double wished = 0, own = 0;
  for (const Case &c : cases) wished += c.seconds, own += beside_tuning(c);
  for (const Case &c : cases) {
    program.share = wished > 0 ? std::max(0.0, program.left() - own) * c.seconds / wished : 0;
    wished -= c.seconds, own -= beside_tuning(c);
    run_case(program, c, watch);
  }
}

static void print_group(const Program &program, const std::string &group) {
  double sum = 0, least = INFINITY;
  int count = 0;
  for (const auto &[of, ratio] : program.ratios) {
    if (of != group) continue;
    sum += std::log(ratio), least = std::min(least, ratio), count++;
  }
  say("%s: geometric mean of %d ratios %.3f, least %.3f\n", group.c_str(), count, std::exp(sum / count), least);
}

static void print_ratios(const Program &program) {
  std::vector<std::string> groups;
  for (const auto &[group, ratio] : program.ratios)
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  if (!groups.empty()) say("\nBursts, each as a graph\n");
  for (const std::string &group : groups) print_group(program, group);
}

// Without the GPU: every case's kernel is opened for a described one, and the first --budget variants are compiled as tuning
// would compile them.
static int rehearse(Program &program, const cugen_options &options, const std::vector<Case> &cases) {
  cugen_error error;
  int refused = 0;
  fail_if(cugen_open(&options, &program.lib, &error), error);
  program.count = program.budget < 1000 ? (size_t)program.budget : 1;
  program.share = program.budget = 1;
  for (const Case &c : cases) {
    std::string what;
    try {
      what = rehearse_case(program, c);
    } catch (const std::string &why) {
      what = "refused: " + why, refused++;
    }
    say("%-9s  %-12s  %s\n", c.family, peer_names[c.peer], what.c_str());
  }
  say("%zu cases, %d refused\n", cases.size(), refused);
  cugen_close(program.lib);
  return refused > 0;
}

static int run(Program &program, cugen_options &options, const std::vector<Case> &cases) {
  cugen_error error;
  int l2;
  if (options.device) return rehearse(program, options, cases);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
  program.l2 = (size_t)l2;
  options.device = "cuda:0";
  fail_if(cugen_open(&options, &program.lib, &error), error);
  Stopwatch watch;
  print_head(program);
  run_all(program, cases, watch);
  print_ratios(program);
  say("\n%.0f s in all; %s\n", now() - program.started, device_state().c_str());
  cugen_close(program.lib);
  return 0;
}

static int usage(const char *program) {
  std::fprintf(
      stderr,
      "use: %s [--only FAMILY,...] [--seed N] [--implementation LIST] [--problem SETTING,...] [--limit SECONDS] [--budget SECONDS] [--rounds N] [--cache FILE] "
      "[--measure WAY] [--device model:GPU] [-o FILE]\n"
      "families: copy transpose reduce matmul tensor hopper fused odd skinny drawn filter particles (tensor: products in bf16, f16, "
      "tf32; "
      "fused: with a bias and GELU; "
      "odd: of sizes that no 16 bytes divide; skinny: with one small dimension; drawn: 40 by --seed; "
      "hopper: those of "
      "compute capability 9.0, only when asked for); "
      "--limit: of all; --budget: of tuning a case at\n"
      "most, 0 for what the cache remembers; --measure: as in cugen tune, graph for drawn; --device: rehearses for a described GPU, nothing is timed\n",
      program);
  return 2;
}

// The cases of the families in a list "copy,reduce".
static std::vector<Case> cases_of(const char *list, unsigned seed) {
  std::vector<Case> cases = all_cases(), more = hopper_cases(), drawn = drawn_cases(seed, 40), chosen;
  cases.insert(cases.end(), more.begin(), more.end());
  cases.insert(cases.end(), drawn.begin(), drawn.end());
  std::string within = std::string(",") + list + ",";
  for (const Case &c : cases)
    if (within.find(std::string(",") + c.family + ",") != std::string::npos) chosen.push_back(c);
  return chosen;
}

// Whether the case has one of the settings in a list "dtype=f32,M=1"; an empty list takes all.
static bool matches(const Case &c, const char *list) {
  const std::string within = std::string(",") + list + ",";
  for (const char *setting : c.settings)
    if (within.find(std::string(",") + setting + ",") != std::string::npos) return true;
  return !*list;
}

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "worker")) return cugen_worker_main(argc, argv);
  Program program;
  cugen_options options = CUGEN_OPTIONS_INIT;
  const char *only = nullptr, *implementation = nullptr, *problem = "";
  unsigned seed = 1;
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    std::string name = argv[i];
    if (!value) return usage(argv[0]);
    if (name == "--only")
      only = value;
    else if (name == "--implementation")
      implementation = value;
    else if (name == "--problem")
      problem = value;
    else if (name == "--seed")
      seed = (unsigned)std::atoi(value);
    else if (name == "--budget")
      program.budget = std::atof(value);
    else if (name == "--limit")
      program.limit = std::atof(value);
    else if (name == "--rounds")
      program.rounds = std::max(3, std::atoi(value));
    else if (name == "--cache")
      options.cache = value;
    else if (name == "--measure")
      options.measure = value;
    else if (name == "--device")
      options.device = value;
    else if (name != "-o")
      return usage(argv[0]);
    else if (!keep_in(value))
      return std::perror(value), 1;
  }
  int status = 1;
  try {
    std::vector<Case> cases = only ? cases_of(only, seed) : all_cases();
    cases.erase(std::remove_if(cases.begin(), cases.end(), [&](const Case &c) { return !matches(c, problem); }), cases.end());
    if (implementation)
      for (Case &c : cases) c.implementations = {implementation};
    status = run(program, options, cases);
  } catch (const std::string &why) {
    std::fprintf(stderr, "families: %s\n", why.c_str());
  }
  return end_keeping() ? status : (std::perror("families"), 1);
}
