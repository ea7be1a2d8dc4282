/* The verdict on a launch: each limit just met and just exceeded; the text; the source line that
   is to blame. */
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
  int resident; /* blocks on a multiprocessor, NOT_KNOWN or NONE */
  struct kernel_needs needs;
  const char *refusal; /* NULL: the kernel can be launched */
};

/* NONE: no block fits on a multiprocessor. */
enum { NOT_KNOWN, NONE = -1 };
#define LAUNCH(on, blocks, threads, said, ...)                                                     \
  { .device = on, .grid = blocks, .block = threads, .refusal = said, __VA_ARGS__ }

static const struct row rows[] = {
    LAUNCH("sm_90a", 4, 256, NULL, .needs.max_threads = 256),
    LAUNCH("sm_90a", 4, 257,
           "k.cu:4: __launch_bounds__ compiles kernel 'k' for blocks of at most 256 threads, and "
           "the launch has blocks of 257",
           .needs.max_threads = 256),
    LAUNCH(NULL, 4, 257, "k.cu:4: __launch_bounds__", .needs.max_threads = 256),
    LAUNCH("sm_80", 4, 1024, NULL, .needs.registers = 64),
    LAUNCH("sm_80", 4, 1024,
           "k.cu:5: kernel 'k' takes 65 registers a thread, so that a block of 1024 threads needs "
           "73728",
           .needs.registers = 65),
    /* the cpu device has no such limit */
    LAUNCH(NULL, 4, 1024, NULL, .needs.registers = 65),
    LAUNCH("sm_80", 4, 896, NULL, .needs.registers = 72),
    /* that block has 29 warps */
    LAUNCH("sm_80", 4, 897, "a block of 897 threads needs 66816", .needs.registers = 72),
    /* The limit of static shared memory is the one of ptxas. */
    LAUNCH("sm_90a", 4, 64, NULL, .needs.static_shared = 232448),
    LAUNCH("sm_90a", 4, 64,
           "k.cu:6: kernel 'k' has 232449 bytes of static shared memory, a block may have 232448",
           .needs.static_shared = 232449),
    LAUNCH("sm_90", 4, 64, NULL, .needs.static_shared = 49152),
    LAUNCH("sm_90", 4, 64,
           "k.cu:6: kernel 'k' has 49153 bytes of static shared memory, a block may have 49152",
           .needs.static_shared = 49153),
    LAUNCH("sm_80", 4, 64, "a block may have 49152", .needs.static_shared = 49153),
    LAUNCH("sm_120a", 4, 64, NULL, .needs.static_shared = 65536),
    LAUNCH("sm_120a", 4, 64, "a block may have 101376", .needs.static_shared = 131072),
    /* kernels for any GPU run on the cpu device */
    LAUNCH(NULL, 4, 64, NULL, .needs.static_shared = 65536),
    LAUNCH("sm_80", 4, 64, NULL, .needs.static_shared = 400, .shared = 166912 - 400),
    LAUNCH("sm_80", 4, 64,
           "k.cu:6: kernel 'k' needs 166913 bytes of shared memory a block (400 static, 166513 "
           "dynamic), the device gives at most 166912",
           .needs.static_shared = 400, .shared = 166912 - 399),
    LAUNCH("sm_80", 4, 64, "k.cu:5: kernel 'k' needs 166913 bytes", .shared = 166913),
    LAUNCH("sm_90a", 4, 64, NULL, .needs.constant_bytes = 65536),
    LAUNCH("sm_90a", 4, 64,
           "k.cu:1: the source's __constant__ variables have 65540 bytes, a source may have 65536",
           .needs.constant_bytes = 65540),
    LAUNCH(NULL, 4, 64, "k.cu:1: the source's __constant__", .needs.constant_bytes = 65540),
    /* Clusters. */
    LAUNCH("sm_90a", 48, 64, NULL, .needs.cluster = {16, 1, 1}),
    LAUNCH("sm_90a", 17, 64,
           "k.cu:3: kernel 'k' has clusters of 17x1x1 blocks; a cluster has at most 16",
           .needs.cluster = {17, 1, 1}),
    LAUNCH("sm_120", 16, 64, "a cluster has at most 8", .needs.cluster = {16, 1, 1}),
    LAUNCH("sm_90a", 24, 64,
           "k.cu:3: kernel 'k': a grid of 24x1x1 blocks is not made of whole clusters of 5x1x1: "
           "round grid x up to a multiple of 5",
           .needs.cluster = {5, 1, 1}),
    LAUNCH(NULL, 24, 64, "k.cu:3: kernel 'k': a grid of 24x1x1", .needs.cluster = {5, 1, 1}),
    LAUNCH("sm_90a", 24, 64, "round grid y up to a multiple of 2", .needs.cluster = {4, 2, 1}),
    LAUNCH("sm_90a", 24, 64, "round grid z up to a multiple of 2", .needs.cluster = {4, 1, 2}),
    /* Cooperative launches on 10 multiprocessors. */
    LAUNCH("sm_90a", 40, 64, NULL, .needs.grid_sync = true, .cooperative = true, .resident = 4),
    LAUNCH("sm_90a", 41, 64,
           "k.cu:5: kernel 'k': the 41 blocks of a cooperative launch must all be there at once, "
           "and the device holds 40 of them: 10 multiprocessors with 4 each",
           .needs.grid_sync = true, .cooperative = true, .resident = 4),
    LAUNCH("sm_90a", 41, 64, NULL, .resident = 4),
    LAUNCH("sm_90a", 41, 64, NULL, .cooperative = true),
    LAUNCH("sm_90a", 1, 64,
           "k.cu:7: kernel 'k' waits for its whole grid (grid.sync()), which takes a cooperative "
           "launch: write 'cooperative \"true\"' beside its grid",
           .needs.grid_sync = true),
    LAUNCH("sm_90a", 1, 64,
           "k.cu:5: kernel 'k': a block of 64 threads, 40 registers a thread and 0 bytes of shared "
           "memory does not fit on a multiprocessor",
           .needs.registers = 40, .resident = NONE),
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
    const int resident = r->resident == NOT_KNOWN ? -1 : r->resident == NONE ? 0 : r->resident;
    cugen_error err = {0};
    const int status = launch_check(&facts, &spec, 0, &r->needs, resident, &err);
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
