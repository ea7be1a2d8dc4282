// The table: what is measured beside what.
#pragma once
#include <vector>

#include "ours.h"

enum Peer {
  MEMCPY,   // cudaMemcpyAsync of as many bytes as the case reads and writes
  OWN_COPY, // cugen's copy of as many bytes, tuned for them
  GEAM,     // cuBLAS, transposing
  CUB,      // its one-call reduction with the same accumulator
  CUBLASLT, // the best algorithm that its heuristics offer
  LT_FUSED, // the same with its own epilogue: a bias, then GELU
  LT_AFTER, // the same without, and a kernel that does this to C
  LAYOUTS,  // no peer: cugen's own best of each layout
  PEER_KINDS
};
extern const char *const peer_names[PEER_KINDS];

struct Case {
  const char *family, *config;
  Settings settings;
  Peer peer;
  // Seconds of tuning for the case if the time suffices; otherwise all cases get equal shares.
  double seconds;
  double bytes, flops; // of one run; the rate counts flops, or bytes if there are none
  // Tolerance of the comparison with the peer, relative to max(1, |wanted|); < 0: they may differ.
  double tolerance;
  std::vector<const char *> implementations = {}; // to tune; empty: all
  Settings lender = {}; // the problem that lends its best variant; empty: this one
  bool burst = false;   // batches after a rest, at full clocks, decide
  double sustained = 0; // seconds of load before they are raced once more without rests
  bool inexact_peer =
      false; // results that differ from the peer's are said, and it is raced all the same
};

std::vector<Case> all_cases();
std::vector<Case>
hopper_cases(); // the families "hopper", "fused", "odd" and "skinny", for compute capability 9.0 alone
std::vector<Case> drawn_cases(unsigned seed, int count); // the family "drawn"

// "name=value", kept until the program ends.
const char *set(const char *name, double value);
const char *set(const char *name, const char *value);
