/* Finds the source line that is to blame for a refused launch. */

#include "base/source_place.h"
#include "tests/testing.h"

/* expected: "k.cu:12"; "": no line is found. */
static void check(const char *source, const char *entry, enum source_cause cause,
                  const char *expected) {
  FREED(text) found = {0};
  int line = 0;
  if (source_place(source, entry, cause, &found, &line)) text_addf(&found, ":%d", line);
  assert_string_equal(text_get(&found), expected);
}

static const char kernels[] =
    "#define BS 256\n"
    "#line 1 \"k.cu\"\n"
    "// __launch_bounds__(1) of a comment\n"
    "__constant__ float weights[4];\n"
    "__device__ void helper() {\n"
    "  __shared__ int of_another[3];\n"
    "}\n"
    "/* two\n"
    "   lines */ __global__ void __launch_bounds__(128) first(float *a);\n"
    "template <int n>\n"
    "__global__ void\n"
    "__cluster_dims__(n, 1, 1)\n"
    "__launch_bounds__(BS)\n"
    "second(float *a) {\n"
    "  extern __shared__ float dynamic[];\n"
    "  const char *no = \"__shared__\";\n"
    "  __shared__ float own[n];\n"
    "}\n"
    "#line 40 \"folder/other.cuh\"\n"
    "__global__ void third(float *a) {}\n";

TEST(attributes_and_arrays_of_a_kernel) {
  check(kernels, "first", SOURCE_BOUNDS, "k.cu:7");
  check(kernels, "second<4>", SOURCE_BOUNDS, "k.cu:11");
  check(kernels, "scope::second<4>", SOURCE_CLUSTER, "k.cu:10");
  check(kernels, "second<4>", SOURCE_SHARED, "k.cu:15");
  check(kernels, "third", SOURCE_SHARED, "k.cu:4"); /* the first candidate in the file */
  check(kernels, NULL, SOURCE_CONSTANT, "k.cu:2");
  check(kernels, "third", SOURCE_GRID_SYNC, "");
  check("__global__ void k() {}", "k", SOURCE_BOUNDS, "");
}

#define FILE_LINE "#line 1 \"g.cu\"\n"

TEST(barriers_of_a_grid) {
  check(
      FILE_LINE
      "namespace cg = cooperative_groups;\nvoid k() {\n  a.sync();\n  cg::this_grid().sync();\n}\n",
      "k", SOURCE_GRID_SYNC, "g.cu:4");
  check(FILE_LINE "auto g = cg::this_grid();\nint r = g.thread_rank();\nb.sync();\ng.sync();\n",
        "k", SOURCE_GRID_SYNC, "g.cu:4");
  check(FILE_LINE "cg::grid_group g = cg::this_grid();\nb.sync();\ncg::sync(g);\n", "k",
        SOURCE_GRID_SYNC, "g.cu:3");
  check(FILE_LINE "void wait(const cg::grid_group &g) {\n  b.sync();\n  g.barrier_wait(x);\n}\n",
        "k", SOURCE_GRID_SYNC, "g.cu:3");
  check(FILE_LINE "#define ALL cg::sync(cg::this_grid())\n", "k", SOURCE_GRID_SYNC, "g.cu:1");
  /* no line waits for the grid; this one comes nearest */
  check(FILE_LINE "\nint r = cg::this_grid().size();\n", "k", SOURCE_GRID_SYNC, "g.cu:2");
}
