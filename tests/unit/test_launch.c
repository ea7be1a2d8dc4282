/* The verdict on a launch: each limit just met and just exceeded; the text; the source line that
   is to blame. */

#include <string.h>

#include "base/launch.h"
#include "runtime/model/described.h"
#include "tests/testing.h"

static const char source[] = "#line 1 \"k.cu\"\n"
                             "__constant__ float weights[9];\n"
                             "__global__ void\n"
                             "__cluster_dims__(4, 1, 1)\n"
                             "__launch_bounds__(256)\n"
                             "k(float *y) {\n"
                             "  __shared__ float s[9];\n"
                             "  cg::this_grid().sync();\n"
                             "}\n";

struct row {
  const char *device; /* "sm_90a"; NULL: the cpu device */
  uint32_t grid, block;
  int64_t shared;
  bool cooperative;
  int resident; /* -1: not known */
  struct kernel_needs needs;
  const char *refusal; /* NULL: the kernel can be launched */
};

static const struct row rows[] = {
    {"sm_90a", 4, 256, 0, false, -1, {.max_threads = 256}, NULL},
    {"sm_90a",
     4,
     257,
     0,
     false,
     -1,
     {.max_threads = 256},
     "k.cu:4: __launch_bounds__ compiles kernel 'k' for blocks of at most 256 threads, and the "
     "launch has blocks of "
     "257"},
    {NULL, 4, 257, 0, false, -1, {.max_threads = 256}, "k.cu:4: __launch_bounds__"},
    {"sm_80", 4, 1024, 0, false, -1, {.registers = 64}, NULL},
    {"sm_80",
     4,
     1024,
     0,
     false,
     -1,
     {.registers = 65},
     "k.cu:5: kernel 'k' takes 65 registers a thread, so that a block of 1024 threads needs 73728"},
    {NULL, 4, 1024, 0, false, -1, {.registers = 65}, NULL}, /* the cpu device has no such limit */
    {"sm_80", 4, 896, 0, false, -1, {.registers = 72}, NULL},
    /* that block has 29 warps */
    {"sm_80", 4, 897, 0, false, -1, {.registers = 72}, "a block of 897 threads needs 66816"},
    /* The limit of static shared memory is the one of ptxas. */
    {"sm_90a", 4, 64, 0, false, -1, {.static_shared = 232448}, NULL},
    {"sm_90a",
     4,
     64,
     0,
     false,
     -1,
     {.static_shared = 232449},
     "k.cu:6: kernel 'k' has 232449 bytes of static shared memory, a block may have 232448"},
    {"sm_90", 4, 64, 0, false, -1, {.static_shared = 49152}, NULL},
    {"sm_90",
     4,
     64,
     0,
     false,
     -1,
     {.static_shared = 49153},
     "k.cu:6: kernel 'k' has 49153 bytes of static shared memory, a block may have 49152"},
    {"sm_80", 4, 64, 0, false, -1, {.static_shared = 49153}, "a block may have 49152"},
    {"sm_120a", 4, 64, 0, false, -1, {.static_shared = 65536}, NULL},
    {"sm_120a", 4, 64, 0, false, -1, {.static_shared = 131072}, "a block may have 101376"},
    /* kernels for any GPU run on the cpu device */
    {NULL, 4, 64, 0, false, -1, {.static_shared = 65536}, NULL},
    {"sm_80", 4, 64, 166912 - 400, false, -1, {.static_shared = 400}, NULL},
    {"sm_80",
     4,
     64,
     166912 - 399,
     false,
     -1,
     {.static_shared = 400},
     "k.cu:6: kernel 'k' needs 166913 bytes of shared memory a block (400 static, 166513 dynamic), "
     "the device gives "
     "at most 166912"},
    {"sm_80", 4, 64, 166913, false, -1, {0}, "k.cu:5: kernel 'k' needs 166913 bytes"},
    {"sm_90a", 4, 64, 0, false, -1, {.constant_bytes = 65536}, NULL},
    {"sm_90a",
     4,
     64,
     0,
     false,
     -1,
     {.constant_bytes = 65540},
     "k.cu:1: the source's __constant__ variables have 65540 bytes, a source may have 65536"},
    {NULL, 4, 64, 0, false, -1, {.constant_bytes = 65540}, "k.cu:1: the source's __constant__"},
    /* Clusters. */
    {"sm_90a", 48, 64, 0, false, -1, {.cluster = {16, 1, 1}}, NULL},
    {"sm_90a",
     17,
     64,
     0,
     false,
     -1,
     {.cluster = {17, 1, 1}},
     "k.cu:3: kernel 'k' has clusters of 17x1x1 blocks; a cluster has at most 16"},
    {"sm_120", 16, 64, 0, false, -1, {.cluster = {16, 1, 1}}, "a cluster has at most 8"},
    {"sm_90a",
     24,
     64,
     0,
     false,
     -1,
     {.cluster = {5, 1, 1}},
     "k.cu:3: kernel 'k': a grid of 24x1x1 blocks is not made of whole clusters of 5x1x1: round "
     "grid x up to a "
     "multiple of 5"},
    {NULL, 24, 64, 0, false, -1, {.cluster = {5, 1, 1}}, "k.cu:3: kernel 'k': a grid of 24x1x1"},
    {"sm_90a", 24, 64, 0, false, -1, {.cluster = {4, 2, 1}}, "round grid y up to a multiple of 2"},
    {"sm_90a", 24, 64, 0, false, -1, {.cluster = {4, 1, 2}}, "round grid z up to a multiple of 2"},
    /* Cooperative launches on 10 multiprocessors. */
    {"sm_90a", 40, 64, 0, true, 4, {.grid_sync = true}, NULL},
    {"sm_90a",
     41,
     64,
     0,
     true,
     4,
     {.grid_sync = true},
     "k.cu:5: kernel 'k': the 41 blocks of a cooperative launch must all be there at once, and the "
     "device holds 40 "
     "of them: 10 multiprocessors with 4 each"},
    {"sm_90a", 41, 64, 0, false, 4, {0}, NULL},
    {"sm_90a", 41, 64, 0, true, -1, {0}, NULL},
    {"sm_90a",
     1,
     64,
     0,
     false,
     -1,
     {.grid_sync = true},
     "k.cu:7: kernel 'k' waits for its whole grid (grid.sync()), which takes a cooperative launch: "
     "write "
     "'cooperative \"true\"' beside its grid"},
    {"sm_90a",
     1,
     64,
     0,
     false,
     0,
     {.registers = 40},
     "k.cu:5: kernel 'k': a block of 64 threads, 40 registers a thread and 0 bytes of shared "
     "memory does not fit on "
     "a multiprocessor"},
};

static struct device_facts facts_of(const char *device) {
  struct device_description description;
  if (!device)
    return (struct device_facts){.compute_capability = 80,
                                 .sm_count = 10,
                                 .constant_bytes = 65536,
                                 .max_threads_per_block = 1024,
                                 .shared_per_block = 49152,
                                 .shared_per_block_optin = 101376,
                                 .registers_per_block = 65536};
  assert_true(described_device(device, &description));
  description.facts.sm_count = 10;
  return description.facts;
}

TEST(each_limit) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct row *r = &rows[i];
    const struct device_facts facts = facts_of(r->device);
    char text[sizeof source];
    memcpy(text, source, sizeof source);
    struct kernel_launch launch = {.entry = "k",
                                   .place = "k.cu:5",
                                   .grid = {r->grid, 1, 1},
                                   .block = {r->block, 1, 1},
                                   .shared_bytes = r->shared,
                                   .cooperative = r->cooperative};
    const struct kernel_spec spec = {.source = text, .launches = &launch, .launch_count = 1};
    cugen_error err = {0};
    const int status = launch_check(&facts, &spec, 0, &r->needs, r->resident, &err);
    if ((status != CUGEN_OK) != (r->refusal != NULL))
      fail_msg("row %zu: %d: %s", i, status, err.message);
    if (r->refusal && !strstr(err.message, r->refusal))
      fail_msg("row %zu: no '%s' in: %s", i, r->refusal, err.message);
    if (!r->refusal) continue;
    assert_int_equal(status, CUGEN_ERROR_CONFIG);
    assert_int_equal(err.cause, CUGEN_CAUSE_RESOURCES);
    assert_string_equal(err.file, "k.cu");
  }
}

/* A worker has no source, so the kernel's own line is named. */
TEST(without_a_source) {
  const struct device_facts facts = facts_of("sm_90a");
  struct kernel_launch launch = {
      .entry = "k", .place = "k.cu:5", .grid = {24, 1, 1}, .block = {64, 1, 1}};
  const struct kernel_spec spec = {.launches = &launch, .launch_count = 1};
  const struct kernel_needs needs = {.cluster = {5, 1, 1}};
  cugen_error err = {0};
  assert_int_equal(launch_check(&facts, &spec, 0, &needs, -1, &err), CUGEN_ERROR_CONFIG);
  assert_int_equal(err.line, 5);
  launch.place = "";
  assert_int_equal(launch_check(&facts, &spec, 0, &needs, -1, &err), CUGEN_ERROR_CONFIG);
  assert_int_equal(err.line, 0);
}

TEST(constants_of_a_config) {
  const struct device_facts facts = facts_of("sm_90a");
  struct kernel_argument arguments[] = {{.name = "x",
                                         .kind = CUGEN_ARGUMENT_INPUT,
                                         .dtype = dtype_find("f32"),
                                         .rank = 1,
                                         .elements = 100000},
                                        {.name = "w",
                                         .file = "k.lua",
                                         .line = 4,
                                         .kind = CUGEN_ARGUMENT_CONSTANT,
                                         .access = ACCESS_CONSTANT,
                                         .dtype = dtype_find("f32"),
                                         .rank = 1,
                                         .elements = 16000},
                                        {.name = "v",
                                         .file = "k.lua",
                                         .line = 5,
                                         .kind = CUGEN_ARGUMENT_CONSTANT,
                                         .access = ACCESS_CONSTANT,
                                         .dtype = dtype_find("f32"),
                                         .rank = 1,
                                         .elements = 384}};
  const struct kernel_spec spec = {.arguments = arguments, .argument_count = 3};
  WORKS(launch_check_constants(&facts, &spec, &err));
  arguments[2].elements = 385;
  FAILS(launch_check_constants(&facts, &spec, &err), CUGEN_ERROR_CONFIG,
        "k.lua:4: constant 'w' has 64000 bytes, the config's constants 65540; "
        "__constant__ variables have at most 65536");
  arguments[1].access = ACCESS_GLOBAL;
  WORKS(launch_check_constants(&facts, &spec, &err));
}
