/* What the compiler makes of each case of tests/golden/shipped.c for an H200, as cugen reads it:
   the counts in tests/golden/shipped.txt. They are those of the toolkit pinned in
   tools/toolkit.txt; under another one every case compiles, and no count is compared. With
   CUGEN_GOLDEN=write the table and the texts become what comes out. */
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/model/occupancy.h"
#include "tests/golden/shipped.h"
#include "tests/testing.h"

static const char head[] =
    "# What ships, a line a case of tests/golden/shipped.c; tests/golden/shipped.py writes it.\n"
    "# CASE HASH KERNEL=REGISTERS/SHARED/SPILLED/INSTRUCTIONS/BLOCKS...\n"
    "# HASH: of the normalised source. Of each kernel: a thread's registers; a block's shared "
    "memory, static and "
    "dynamic; a thread's\n"
    "# spilled bytes; machine instructions; blocks on a multiprocessor at a time. For an H200 "
    "(sm_90a), by the NVRTC "
    "of tools/toolkit.txt.\n"
    "# ?: written with another NVRTC.\n";

struct fixture {
  struct toolkit *toolkit;
  const struct nvrtc *nvrtc;
  struct device_description device;
  struct text table;
  bool pinned; /* the NVRTC is that of tools/toolkit.txt */
};

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

static size_t distinct_launches(const struct kernel_spec *spec, const struct kernel_launch **out) {
  size_t count = 0;
  for (size_t i = 0; i < spec->launch_count; i++) {
    size_t known = 0;
    while (known < count && strcmp(out[known]->entry, spec->launches[i].entry) != 0) known++;
    if (known == count) out[count++] = &spec->launches[i];
  }
  return count;
}

static void compile(const struct fixture *fixture, const struct kernel_spec *spec,
                    const char *options, const struct kernel_launch *const *launches, size_t count,
                    struct compiled *out) {
  const char *entries[KERNEL_MAX_ENTRIES];
  for (size_t i = 0; i < count; i++) entries[i] = launches[i]->entry;
  const struct compile_request request = {.toolkit = fixture->toolkit,
                                          .name = spec->variant,
                                          .source = spec->source,
                                          .options = options,
                                          .arch = fixture->device.arch,
                                          .entries = entries,
                                          .entry_count = count,
                                          .timeout = 120};
  WORKS(nvrtc_compile(fixture->nvrtc, &request, out, &err));
  assert_string_equal(out->log, "");
}

static void add_counts(const struct fixture *fixture, const struct kernel_launch *launch,
                       const struct compiled *compiled, size_t i, struct text *out) {
  const struct kernel_resources *resources = &compiled->resources[i];
  const int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
  struct occupancy occupancy;
  WORKS(occupancy_get(&fixture->device.facts, resources, threads, launch->shared_bytes, -1,
                      &occupancy, &err));
  text_addf(out, "%s%.*s=%d/%lld/%lld/%d/%d", out->length ? " " : "",
            (int)strcspn(launch->entry, "<"), launch->entry, resources->registers,
            (long long)(resources->static_shared + launch->shared_bytes),
            (long long)resources->spill_bytes, compiled->code[i].instructions, occupancy.blocks);
}

/* Compiles the case and appends its counts, as the table has them. */
static void count(const struct fixture *fixture, const struct kernel_spec *spec, struct text *out) {
  const struct kernel_launch *launches[KERNEL_MAX_ENTRIES] = {NULL};
  const size_t number = distinct_launches(spec, launches);
  FREED(compiled) compiled;
  compile(fixture, spec, spec->options, launches, number, &compiled);
  for (size_t i = 0; i < number; i++) add_counts(fixture, launches[i], &compiled, i, out);
}

/* ---- Which NVRTC it is ---------------------------------------------------------------------- */

/* Reads the version in tools/toolkit.txt as images have it: "V13.0.88". */
static void pinned_version(struct text *out) {
  static const char word[] = "nvidia-cuda-nvrtc==";
  FREED(text) pins = {0};
  WORKS(file_read("tools/toolkit.txt", &pins, &err));
  const char *at = strstr(text_get(&pins), word);
  assert_non_null(at);
  at += sizeof word - 1;
  text_addf(out, "V%.*s", (int)strcspn(at, " "), at);
}

/* Returns whether the image says that the pinned compiler made it. */
static bool is_pinned(const struct fixture *fixture) {
  const char *const entries[] = {"k"};
  const struct compile_request request = {.toolkit = fixture->toolkit,
                                          .name = "k.cu",
                                          .source = "__global__ void k() {}\n",
                                          .arch = fixture->device.arch,
                                          .entries = entries,
                                          .entry_count = 1};
  FREED(compiled) compiled;
  FREED(text) version = {0};
  pinned_version(&version);
  WORKS(nvrtc_compile(fixture->nvrtc, &request, &compiled, &err));
  const bool pinned =
      memmem(compiled.image, compiled.image_length, text_get(&version), version.length) != NULL;
  return pinned;
}

static int set_up(void **state) {
  static struct fixture fixture;
  cugen_error err;
  check(toolkit_open(&(struct toolkit_options){0}, &fixture.toolkit, &err), &err);
  int status = nvrtc_open(fixture.toolkit, &fixture.nvrtc, &err);
  if (status == CUGEN_ERROR_MISSING) {
    printf("skipped: %s\n", err.message);
    exit(77);
  }
  check(status, &err);
  check(file_read(SHIPPED_TABLE, &fixture.table, &err), &err);
  shipped_device("H200", &fixture.device);
  fixture.pinned = is_pinned(&fixture);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  text_free(&fixture->table);
  toolkit_close(fixture->toolkit);
  return 0;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* NVRTC does not always make the same machine code of the same source: of 300 compilations of
   matmul_blocked_single in two processes, three had other registers or another instruction or
   two. What changed the machine code never gives the old counts again, so other counts are
   believed when they come this often. */
enum { COMPILATIONS = 6 };

/* Sources that golden/expansions finds unchanged are compiled by the same NVRTC to the same code,
   so that of those one in so many shows that they are compiled with the same options. */
enum { ONE_IN = 4 };

static void compare(const struct fixture *fixture, size_t number) {
  const struct shipped_case *shipped = &shipped_cases[number];
  FREED(kernel_spec) spec;
  FREED(text) hash = {0}, want = {0}, got = {0};
  shipped_expand(shipped, &spec);
  if (!shipped_row(text_get(&fixture->table), shipped->name, &hash, &want))
    fail_msg("%s has no line in " SHIPPED_TABLE ": tests/golden/shipped.py write", shipped->name);
  bool same =
      fixture->pinned && number % ONE_IN != 0 && strcmp(text_get(&hash), spec.source_hash.hex) == 0;
  for (int i = 0; i < COMPILATIONS && !same; i++) {
    text_clear(&got);
    count(fixture, &spec, &got);
    same = strcmp(text_get(&want), text_get(&got)) == 0 || !fixture->pinned;
  }
  if (!same)
    fail_msg("%s (%s): the machine code is not what it was; "
             "kernel=registers/shared/spilled/instructions/blocks:\n"
             "  now                         %s\n  in " SHIPPED_TABLE " %s\n"
             "To see the source's difference: tests/golden/shipped.py difference %s\n"
             "If it is meant: tests/golden/shipped.py write",
             shipped->name, spec.variant, text_get(&got), text_get(&want), shipped->name);
}

static void test_machine_code(void **state) {
  const struct fixture *fixture = *state;
  for (size_t i = 0; i < shipped_count; i++) compare(fixture, i);
  if (fixture->pinned) return;
  print_message("skipped: the counts in " SHIPPED_TABLE " are of the NVRTC in tools/toolkit.txt\n");
  skip();
}

/* ---- Other generations ---------------------------------------------------------------------- */

/* Each case that the GPU has compiles without a warning, and its shared memory fits; the
   generations take turns. Optimisation, most of a compile's time, finds no more errors. */
static void test_generations(void **state) {
  static const char *const gpus[] = {"A100", "T4", "B200", "RTX4090"};
  enum { GPUS = sizeof gpus / sizeof *gpus, QUICK = 13000 };
  struct fixture other = *(struct fixture *)*state;
  const char *options = nvrtc_version(other.nvrtc) < QUICK ? NULL : "--Ofast-compile=max";
  size_t compiled_cases = 0;
  for (size_t i = 0; i < shipped_count; i++) {
    const struct kernel_launch *launches[KERNEL_MAX_ENTRIES];
    FREED(kernel_spec) spec;
    FREED(compiled) compiled;
    shipped_device(gpus[i % GPUS], &other.device);
    if (!shipped_expand_for(&shipped_cases[i], &other.device, &spec)) continue;
    const size_t count = distinct_launches(&spec, launches);
    compile(&other, &spec, options, launches, count, &compiled);
    for (size_t k = 0; k < count; k++)
      assert_in_range(compiled.resources[k].static_shared + launches[k]->shared_bytes, 0,
                      other.device.facts.shared_per_block_optin);
    compiled_cases++;
  }
  assert_true(compiled_cases > shipped_count / 2);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_text(const struct shipped_case *shipped, const struct kernel_spec *spec) {
  WORKS(file_write(formed("tests/golden/expected/%s.cu", shipped->name), spec->source,
                   strlen(spec->source), &err));
}

/* Counts that only the pinned NVRTC can give are kept if the source has not changed. */
static void add_row(const struct fixture *fixture, const struct shipped_case *shipped,
                    const struct kernel_spec *spec, struct text *out) {
  FREED(text) hash = {0}, counts = {0};
  if (fixture->pinned)
    count(fixture, spec, &counts);
  else if (!shipped_row(text_get(&fixture->table), shipped->name, &hash, &counts) ||
           strcmp(text_get(&hash), spec->source_hash.hex) != 0)
    text_clear(&counts);
  text_addf(out, "%-28s %s %s\n", shipped->name, spec->source_hash.hex,
            counts.length ? text_get(&counts) : "?");
}

static void test_write(void **state) {
  const struct fixture *fixture = *state;
  FREED(text) table = {0};
  text_add(&table, head);
  for (size_t i = 0; i < shipped_count; i++) {
    FREED(kernel_spec) spec;
    shipped_expand(&shipped_cases[i], &spec);
    if (shipped_cases[i].text) write_text(&shipped_cases[i], &spec);
    add_row(fixture, &shipped_cases[i], &spec, &table);
  }
  WORKS(file_write(SHIPPED_TABLE, text_get(&table), table.length, &err));
}

int main(void) {
  const struct CMUnitTest writing[] = {cmocka_unit_test(test_write)},
                          comparing[] = {cmocka_unit_test(test_machine_code),
                                         cmocka_unit_test(test_generations)};
  return shipped_is_writing() ? cmocka_run_group_tests(writing, set_up, tear_down)
                              : cmocka_run_group_tests(comparing, set_up, tear_down);
}
