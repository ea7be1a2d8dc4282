#include "cases.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <random>

const char *const peer_names[PEER_KINDS] = {"cudaMemcpyAsync", "cugen's copy",    "cuBLAS geam",       "CUB",
                                            "cuBLASLt",        "cuBLASLt, fused", "cuBLASLt + kernel", "layouts"};

static const char *keep(const std::string &text) {
  static std::deque<std::string> kept; // strings stay where they are
  kept.push_back(text);
  return kept.back().c_str();
}

const char *set(const char *name, double value) {
  return keep(std::string(name) + "=" + std::to_string((long long)value));
}

const char *set(const char *name, const char *value) {
  return keep(std::string(name) + "=" + value);
}

// Proving and filling the largest problems takes longer than timing their variants: a smaller one lends its best.
static Case copy(double mib) {
  double n = mib * (1 << 18);
  Case c = {"copy", "copy", {set("width", n)}, MEMCPY, 4, 8 * n, 0, 0, {"vector"}};
  if (mib > 1024) c.lender = {set("width", 1 << 28)};
  return c;
}

static Case transpose(double n, Peer peer, const char *dtype = "f32") {
  double bytes = 2 * n * n * (double)type_bytes(dtype);
  Case c = {"transpose", "transpose", {set("rows", n), set("cols", n)}, peer, 6, bytes, 0, 0, {"vector"}};
  if (n <= 1024) c.implementations.push_back("registers");
  if (std::strcmp(dtype, "f32")) c.settings.push_back(set("dtype", dtype));
  if (peer != GEAM) c.tolerance = -1;
  return c;
}

static Case reduce(double n, const char *dtype = "f32", const char *op = "sum") {
  Case c = {"reduce", "reduce", {set("cols", n)}, CUB, 5, n * (double)type_bytes(dtype), 0, 0, {"vector", "onepass"}};
  if (std::strcmp(dtype, "f32")) c.settings.push_back(set("dtype", dtype));
  if (std::strcmp(op, "sum"))
    c.settings.push_back(set("op", op));
  else if (std::strcmp(dtype, "i32"))
    c.tolerance = (std::strcmp(dtype, "f64") ? 5.7e-6 : 1.1e-14) * std::sqrt(n);
  if (n > 1 << 28) c.lender = {set("cols", 1 << 28), set("dtype", dtype), set("op", op)};
  return c;
}

// Of random products of numbers in [-1, 1): sums are some sqrt(k) / 3 large, and what is stored of them is rounded.
static const struct Product {
  const char *dtype, *bytes_as;
  double a_term, rounded; // tolerance: a_term * k + rounded
} products[] = {
    {"f32", "f32", 2e-7, 0},       {"f64", "f64", 4e-16, 0}, {"bf16", "bf16", 2e-7, 0x1p-7},
    {"f16", "f16", 2e-7, 0x1p-10}, {"tf32", "f32", 0, 0.1},  {"e4m3", "e4m3", 4e-4, 0.1},
    {"i8", "u8", 0, 0},
};

static Case matmul(const char *family, const Product &p, double m, double n, double k) {
  double size = (double)type_bytes(p.bytes_as), bytes = size * (m * k + k * n + m * n);
  Settings settings = {set("dtype", p.dtype), set("M", m), set("N", n), set("K", k)};
  Case c = {family, "matmul", settings, CUBLASLT, 12, bytes, 2 * m * n * k, p.a_term * k + p.rounded};
  if (m > 8000) c.lender = {settings[0], set("M", 4096), set("N", 4096), set("K", 4096)};
  return c;
}

// On Hopper's tensor cores, B by rows or by columns.
static Case hopper(const Product &p, const char *layout_b, double m, double n, double k, double sustained = 0) {
  Case c = matmul("hopper", p, m, n, k);
  c.settings.push_back(set("layout_b", layout_b));
  c.lender = {};
  c.implementations = {"wgmma,wgmma_stream"};
  c.burst = true;
  c.sustained = sustained;
  return c;
}

// With a bias for each column and GELU in the same pass. One problem has both peers, and is tuned for the first.
static Case fused(const Product &p, Peer peer, double m, double n, double k) {
  Case c = hopper(p, "col", m, n, k);
  c.family = "fused";
  c.peer = peer;
  c.tolerance += 0.002; // tanh may be the fast one
  if (peer == LT_AFTER) {
    c.seconds = 0;
    c.tolerance += p.rounded; // it rounds the product, too
  }
  c.settings.push_back("biased=true");
  c.settings.push_back("activation=gelu");
  return c;
}

static void add_sizes(std::vector<Case> &cases, const Product &p, double sustained) {
  static const struct {
    double m, n, k;
  } sizes[] = {{1024, 1024, 1024},    {2048, 2048, 2048}, {4096, 4096, 4096},  {8192, 8192, 8192},
               {16384, 16384, 16384}, {4096, 2112, 7168}, {4096, 24576, 1536}, {4096, 7168, 16384},
               {512, 512, 32768},     {128, 4096, 7168},  {64, 7168, 2048},    {16, 4096, 4096}};
  for (const char *layout_b : {"row", "col"})
    for (const auto &s : sizes)
      cases.push_back(hopper(p, layout_b, s.m, s.n, s.k, s.m * s.n * s.k > 6e10 ? sustained : 0));
}

// Rows of no whole 16 bytes: of all, of B and C, of A alone; and the words of a vocabulary.
static void add_odd_sizes(std::vector<Case> &cases, const Product &bf16, const Product &e4m3) {
  static const struct {
    double m, n, k;
  } sizes[] = {{4095, 4095, 4095}, {4096, 4095, 4096}, {4096, 4096, 4095}, {4494, 6645, 6645}, {8192, 50257, 1024},
               {1001, 1003, 1005}, {457, 8191, 511},   {601, 603, 605},    {300, 301, 4001},   {3457, 67, 3072}};
  for (const char *layout_b : {"row", "col"})
    for (const auto &s : sizes) cases.push_back(hopper(bf16, layout_b, s.m, s.n, s.k));
  for (double n : {4095.0, 1001.0}) cases.push_back(hopper(e4m3, "col", n, n, n));
  for (size_t i = cases.size() - 22; i < cases.size(); ++i) {
    cases[i].family = "odd";
    cases[i].implementations = {"wgmma,wgmma_stream,mma"};
  }
}

// A product of any shape and layouts, "row" or "col" each.
static Case drawn(const char *family, const Product &p, const double (&mnk)[3], const char *const (&layouts)[3]) {
  static const char *const names[] = {"layout_a", "layout_b", "layout_c"};
  Case c = matmul(family, p, mnk[0], mnk[1], mnk[2]);
  for (int i = 0; i < 3; i++)
    if (!std::strcmp(layouts[i], "col")) c.settings.push_back(set(names[i], "col"));
  c.lender = {};
  c.burst = true;
  c.seconds = 6;
  c.inexact_peer = true;
  return c;
}

// Products with one small dimension, or few tiles: B by rows or by columns, A and C by rows.
static std::vector<Case> skinny_cases() {
  static const struct {
    int product;
    double mnk[3];
    const char *layout_b;
  } table[] = {
      {4, {92, 1428, 12388}, "row"}, {4, {56, 1428, 8248}, "row"},   {4, {2812, 592, 796}, "row"},
      {0, {1, 16384, 4096}, "col"},  {0, {11956, 18, 11707}, "col"}, {0, {103, 546, 3510}, "col"},
      {0, {138, 2602, 6450}, "row"}, {0, {11667, 62, 1084}, "col"},  {1, {497, 467, 481}, "col"},
      {1, {224, 5129, 1029}, "row"}, {2, {8888, 8, 5408}, "row"},    {2, {6000, 80, 4208}, "row"},
      {2, {3848, 40, 5160}, "row"},  {2, {240, 1760, 2472}, "col"},  {2, {1896, 16, 5384}, "col"},
      {2, {1, 14336, 4096}, "col"},  {3, {88, 4760, 1224}, "col"},   {3, {5952, 232, 6528}, "col"},
      {5, {10944, 400, 240}, "col"}, {2, {1, 4096, 4096}, "col"},    {2, {16, 4096, 4096}, "col"},
      {5, {1, 8192, 8192}, "col"},   {6, {1, 8192, 8192}, "col"},    {3, {1, 8192, 8192}, "row"},
      {0, {16, 4096, 4096}, "row"},  {0, {1, 8192, 8192}, "row"},
  };
  std::vector<Case> cases;
  for (const auto &row : table) cases.push_back(drawn("skinny", products[row.product], row.mnk, {"row", row.layout_b, "row"}));
  return cases;
}

// `count` products by a seed: M, N and K log-uniform from 1 to 16384, every type and layout. Where cuBLASLt has a type only with lines along
// k and of whole 16 bytes, so are they here; products that the reference would take long for are drawn again.
std::vector<Case> drawn_cases(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<Case> cases;
  while ((int)cases.size() < count) {
    const Product &p = products[random() % 7];
    const bool bytes = !std::strcmp(p.dtype, "e4m3") || !std::strcmp(p.dtype, "i8");
    double mnk[3];
    for (double &size : mnk) {
      size = std::floor(std::exp2(14.0 * random() / std::mt19937::max()));
      if (bytes) size = 16 * std::ceil(size / 16);
    }
    const char *layouts[3];
    for (const char *&layout : layouts) layout = random() % 2 ? "row" : "col";
    if (bytes) layouts[0] = "row", layouts[1] = "col";
    if (mnk[0] * mnk[1] * mnk[2] < 0x1p36) cases.push_back(drawn("drawn", p, mnk, layouts));
  }
  return cases;
}

// What a run that ends early should have comes first.
std::vector<Case> hopper_cases() {
  const Product &f64 = products[1], &bf16 = products[2], &f16 = products[3], &tf32 = products[4], &e4m3 = products[5];
  const double loaded = 3;
  std::vector<Case> cases;
  add_sizes(cases, bf16, loaded);
  for (double n : {4096.0, 8192.0}) {
    cases.push_back(hopper(e4m3, "col", n, n, n, loaded));
    cases.push_back(hopper(tf32, "col", n, n, n, loaded));
  }
  cases.push_back(hopper(e4m3, "col", 128, 4096, 7168));
  cases.push_back(hopper(f64, "row", 4096, 4096, 4096, loaded));
  cases.back().implementations = {"mma"};
  static const struct {
    double m, n, k;
  } layers[] = {{4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 16384, 4096}, {4096, 24576, 1536}};
  for (const auto &s : layers)
    for (Peer peer : {LT_FUSED, LT_AFTER}) cases.push_back(fused(bf16, peer, s.m, s.n, s.k));
  for (Peer peer : {LT_FUSED, LT_AFTER}) cases.push_back(fused(f16, peer, 4096, 4096, 4096));
  add_sizes(cases, f16, 0);
  add_odd_sizes(cases, bf16, e4m3);
  for (const Case &c : skinny_cases()) cases.push_back(c);
  return cases;
}

static Case filter(double size, Peer peer) {
  return {"filter", "filter",  {"rows=8192", "cols=8192", set("size", size)}, peer, 6, 8.0 * 8192 * 8192, 0,
          -1,       {"strips"}};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = {copy(64), copy(256), copy(1024), copy(4096)};
  for (double n : {1024.0, 4096.0, 8192.0, 10000.0, 16384.0}) cases.push_back(transpose(n, GEAM));
  for (double n : {8192.0, 10000.0, 16384.0}) cases.push_back(transpose(n, OWN_COPY));
  for (const char *dtype : {"f64", "f16", "u8"}) {
    if (!std::strcmp(dtype, "f64")) cases.push_back(transpose(8192, GEAM, dtype));
    cases.push_back(transpose(8192, OWN_COPY, dtype));
  }
  for (double n : {1048576.0, 16777216.0, 1e8, 1073741824.0}) cases.push_back(reduce(n));
  for (const char *dtype : {"f64", "f16", "bf16", "i32"}) cases.push_back(reduce(1e8, dtype));
  for (const char *op : {"min", "max"}) cases.push_back(reduce(1e8, "f32", op));
  cases.push_back(reduce(2200000001.0, "f16")); // past 2^31 elements, and odd
  for (const Product *p : {&products[0], &products[1]}) {
    for (double n : {1024.0, 2048.0, 4096.0, 8192.0}) cases.push_back(matmul("matmul", *p, n, n, n));
    cases.push_back(matmul("matmul", *p, 4095, 4097, 4099));
    cases.push_back(matmul("matmul", *p, 4800, 3200, 6400));
  }
  cases.push_back(matmul("matmul", products[0], 512, 512, 32768)); // few tiles
  for (const Product *p : {&products[2], &products[3], &products[4]})
    for (double n : {1024.0, 4096.0, 8192.0}) cases.push_back(matmul("tensor", *p, n, n, n));
  for (double size : {3.0, 5.0, 9.0, 15.0}) cases.push_back(filter(size, MEMCPY));
  cases.push_back(filter(5, OWN_COPY));
  cases.push_back({"particles", "particles", {"n=16777216"}, LAYOUTS, 4, 0, 0, -1});
  return cases;
}
