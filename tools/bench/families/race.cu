#include "race.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cugen.h"
#include "peers.h"

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

static void print_row(const Case &c, const char *how, const Times &ours, const Times &theirs) {
  double work = c.flops > 0 ? c.flops * 1e-12 : c.bytes * 1e-9;
  std::string what = settings_text(c) + how;
  say("%-9s  %-44s  %-22s  %-30s  %8.2f  %-30s  %8.2f  %-7s  %6.3f  %s\n", c.family, what.c_str(), peer_names[c.peer],
      show_time(ours).c_str(), work / ours.median, show_time(theirs).c_str(), work / theirs.median,
      c.flops > 0 ? "TFLOP/s" : "GB/s", theirs.median / ours.median, device_state().c_str());
}

void print_columns() {
  say("%-9s  %-44s  %-22s  %-30s  %8s  %-30s  %8s  %-7s  %6s  %s\n", "family", "problem", "peer", "cugen", "rate",
      "peer", "rate", "", "ratio", "state");
}

static void compare(const Case &c, Ours &ours, Rival &rival, Stopwatch &watch) {
  if (!rival.result()) return;
  Buffer &got = ours.sets[0][ours.output];
  got.poison();
  CHECK(cudaDeviceSynchronize()); // the stream does not wait for the default one
  ours.launch(0, watch.stream);
  rival.run(0, watch.stream);
  CHECK(cudaStreamSynchronize(watch.stream));
  unsigned long long differing = count_differing(got, *rival.result(), ours.output_type().c_str(), c.tolerance);
  const std::string why = std::to_string(differing) + " results differ from " + peer_names[c.peer] + "'s";
  if (differing && !c.inexact_peer) throw why;
  if (differing) say("           %s\n", why.c_str());
}

static const double rest = 0.016; // seconds before a batch that is to run at full clocks

// Once more without the host's part in a launch: for short ones, and for bursts, whose first launch finds an idle GPU.
static void race_graphs(Program &program, const Case &c, Racer &a, Racer &b, Stopwatch &watch) {
  a.repeats = b.repeats = std::max(a.repeats, b.repeats);
  Racer first, second;
  first.run = as_graph(watch, a), second.run = as_graph(watch, b);
  if (!first.run || !second.run) {
    if (c.burst) program.ratios.pop_back(); // nothing stands for it in a mean of graphs
    return;
  }
  watch.race(first, second, program.rounds, c.burst ? rest : 0);
  for (auto *racer : {&first, &second})
    for (double &seconds : racer->times) seconds /= a.repeats;
  print_row(c, " as a graph", first.summary(), second.summary());
  if (c.burst) program.ratios.back().second = second.summary().median / first.summary().median;
}

// Under load the card runs at its power limit: both take turns without rests, after a while of it.
static void race_sustained(Program &program, const Case &c, Racer &a, Racer &b, Stopwatch &watch) {
  a.times.clear(), b.times.clear();
  watch.load(a, b, c.sustained);
  watch.race(a, b, program.rounds);
  print_row(c, " sustained", a.summary(), b.summary());
}

// Cases whose ratios belong together: products in 2-byte types, those of another type, those beside another peer.
static std::string group_of(const Case &c) {
  std::string type = c.settings[0] + std::strlen("dtype=");
  if (c.peer != CUBLASLT) return peer_names[c.peer];
  return type == "bf16" || type == "f16" ? "bf16 and f16" : type;
}

static std::unique_ptr<Rival> make_rival(Program &program, const Case &c, Ours &ours, Stopwatch &watch) {
  switch (c.peer) {
  case MEMCPY: return make_memcpy(c, ours);
  case OWN_COPY: return make_own_copy(program, c, ours);
  case GEAM: return make_geam(ours);
  case CUB: return make_cub(c, ours);
  case CUBLASLT:
  case LT_FUSED:
  case LT_AFTER: return make_lt(c, ours, watch);
  default: throw std::string("no peer");
  }
}

static void run_race(Program &program, const Case &c, Stopwatch &watch) {
  Ours ours(program, c.config, c.settings, c.lender, c.implementations);
  if (c.burst && ours.about().choice == CUGEN_PLAN_DEFAULT) throw std::string("nothing was tuned in its time");
  std::unique_ptr<Rival> rival = make_rival(program, c, ours, watch);
  compare(c, ours, *rival, watch);
  size_t at = 0;
  Racer a = ours.racer(), b;
  b.run = [&](cudaStream_t stream) { rival->run(at++ % ours.sets.size(), stream); };
  watch.race(a, b, program.rounds, c.burst ? rest : 0);
  Times mine = a.summary(), theirs = b.summary();
  print_row(c, "", mine, theirs);
  if (c.burst) program.ratios.emplace_back(group_of(c), theirs.median / mine.median);
  if (c.burst || std::min(mine.median, theirs.median) < 100e-6) race_graphs(program, c, a, b, watch);
  if (c.sustained > 0) race_sustained(program, c, a, b, watch);
  const cugen_plan_info &about = ours.about();
  std::string remark = rival->remark();
  static const char *const how[] = {"", " (tuned for another size)", " (not tuned)"};
  say("           %s%s%s%s%s\n", about.variant, how[about.choice], ours.tuning.c_str(),
      remark.empty() ? "" : "; peer: ", remark.c_str());
}

static double number(const std::string &json, const char *name) {
  return std::atof(field(json, name, json.find("\"record\": ")).c_str());
}

// Of the records, which begin with the fastest, the first whose variant has these words.
static std::string find_variant(const std::string &records, const std::string &wanted) {
  for (size_t at = records.find("\"variant\": "); at != std::string::npos; at = records.find("\"variant\": ", at + 1)) {
    const std::string variant = field(records, "variant", at);
    if ((variant + " ").find(wanted) != std::string::npos)
      return field(records, "outcome", at) == "ok" ? variant : "";
  }
  return "";
}

static std::string records_of(const Kernel &kernel) {
  cugen_error error;
  const char *json;
  fail_if(cugen_kernel_records(kernel.get(), &json, &error), error);
  return json;
}

static std::string measure_again(Program &program, const Case &c, const std::string &variant) {
  std::vector<const char *> words = {"run", c.config, "--variant", variant.c_str()};
  for (const char *setting : c.settings) words.insert(words.end(), {"--set", setting});
  cugen_error error;
  const char *json;
  fail_if(cugen_command(program.lib, words.data(), words.size(), &json, &error), error);
  return json;
}

// The best of each layout, measured once more one after the other, beside the first layout of the list.
static void run_layouts(Program &program, const Case &c) {
  static const struct {
    const char *name, *tunable;
  } layouts[] = {{"AoS", "group=1"},         {"AoSoA 4", "group=4"},   {"AoSoA 8", "group=8"},
                 {"AoSoA 16", "group=16"},   {"AoSoA 32", "group=32"}, {"AoSoA 64", "group=64"},
                 {"AoSoA 128", "group=128"}, {"SoA", "group=0"}};
  Kernel kernel = open_kernel(program, c.config, c.settings);
  double first = 0;
  tune(program, kernel, c.implementations);
  const std::string records = records_of(kernel);
  for (const auto &layout : layouts) {
    const std::string variant = find_variant(records, std::string(" ") + layout.tunable + " ");
    if (variant.empty()) continue;
    const std::string again = measure_again(program, c, variant);
    const double seconds = number(again, "seconds");
    if (first <= 0) first = seconds;
    say("%-9s  %-44s  %-22s  %-30s  %8.2f  %-30s  %8s  %-7s  %6.3f  %.0f MHz %.0f W\n           %s\n", c.family,
        settings_text(c).c_str(), layout.name,
        show_time({seconds, number(again, "seconds_min"), number(again, "seconds_p20"), number(again, "seconds_p80")})
            .c_str(),
        number(again, "bytes") * 1e-9 / seconds, "", "", "GB/s", first / seconds, number(again, "clock_mhz"),
        number(again, "power_watts"), variant.c_str());
  }
}

void run_case(Program &program, const Case &c, Stopwatch &watch) {
  if (program.left() < 2) {
    say("%-9s  %-44s  skipped: no time left\n", c.family, settings_text(c).c_str());
    return;
  }
  try {
    if (c.peer == LAYOUTS)
      run_layouts(program, c);
    else
      run_race(program, c, watch);
  } catch (const std::string &why) {
    say("%-9s  %-44s  skipped: %s\n", c.family, settings_text(c).c_str(), why.c_str());
  }
}

std::string rehearse_case(Program &program, const Case &c) {
  const Settings &settings = c.lender.empty() ? c.settings : c.lender;
  Kernel kernel = open_kernel(program, c.config, c.settings);
  if (!c.lender.empty()) kernel = open_kernel(program, c.config, settings);
  std::string tuning = tune(program, kernel, c.implementations);
  const std::string records = records_of(kernel);
  return settings_text(c) + tuning + (records == "[]" ? "" : "; " + field(records, "variant"));
}
