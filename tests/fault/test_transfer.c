/* Transfers over the fake driver and the fake NVRTC: what is measured; that a transfer that
   loses bytes is found; that whichever call fails is reported and nothing is left behind. */

#include <cuda.h>
#include <dlfcn.h>

#include "api/transfer.h"
#include "find_fake.h"
#include "tests/opening.h"

/* The kernel transfer_copy(to, from, bytes). */
static void run_copier(const struct fake_launch *launch) {
  void *to, *from;
  long long bytes;
  memcpy(&to, launch->parameters[0], sizeof to);
  memcpy(&from, launch->parameters[1], sizeof from);
  memcpy(&bytes, launch->parameters[2], sizeof bytes);
  assert_int_equal(launch->block[0], 256);
  memcpy(to, from, (size_t)bytes);
}

/* Copies all but the last byte. */
static void lose_a_byte(const struct fake_launch *launch) {
  long long bytes;
  memcpy(&bytes, launch->parameters[2], sizeof bytes);
  bytes--;
  void *parameters[] = {launch->parameters[0], launch->parameters[1], &bytes};
  struct fake_launch shorter = *launch;
  shorter.parameters = parameters;
  run_copier(&shorter);
}

static void reset(void (*run)(const struct fake_launch *)) {
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = run};
}

static void assert_nothing_left(void) {
  assert_int_equal(fake->memory, 0);
  assert_int_equal(fake->registered, 0);
  assert_int_equal(fake->contexts, 0);
  assert_int_equal(fake->current, 0);
  assert_int_equal(fake->streams, 0);
  assert_int_equal(fake->images, 0);
}

static cugen *open_library(const char *toolkit) {
  return OPEN_LIBRARY(.cache = "none",
                      .toolkit = toolkit ? toolkit : getenv("CUGEN_TEST_FAKE_TOOLKIT"));
}

static const int64_t sizes[] = {4096, 3, 64000};
enum {
  SIZES = 3,
  KINDS = 10,
  BY_KERNEL = 3,
  COPIED = 2 * SIZES * (KINDS - BY_KERNEL),
  ROWS = 2 * SIZES * KINDS
};

static cugen_transfer_options small(void) {
  cugen_transfer_options options = {0};
  options.sizes = sizes;
  options.size_count = SIZES;
  options.seconds = 1e-6;
  return options;
}

/* ---- What is measured ----------------------------------------------------------------------- */

TEST(all_kinds) {
  static const char *const names[] = {"pageable",  "registered", "pinned", "combined", "pitched",
                                      "pitched3d", "default",    "mapped", "managed",  "prefetch"};
  cugen_transfer_options options = small();
  cugen_transfer result;
  reset(run_copier);
  cugen *lib = open_library(NULL);
  WORKS(api_transfer_measure(lib, &options, &result, &err));
  assert_int_equal(result.count, ROWS);
  assert_true(fake->fetched[0] && fake->fetched[1]);
  assert_string_equal(result.device->id, "cuda:0");
  for (size_t i = 0; i < ROWS; i++) {
    const cugen_transfer_row *row = &result.rows[i];
    assert_string_equal(row->memory, names[i / (2 * SIZES)]);
    assert_int_equal(row->to_host, i / SIZES % 2);
    assert_int_equal(row->size, sizes[i % SIZES]);
    /* 2-D copies move whole rows of 255 floats, 3-D copies whole slices of 15 rows. */
    bool rows = strcmp(row->memory, "pitched") == 0, slices = strcmp(row->memory, "pitched3d") == 0;
    int64_t unit = row->size < 1020 || (!rows && !slices) ? 1
                   : slices && row->size > 15300          ? 15300
                                                          : 1020;
    assert_int_equal(row->bytes, row->size / unit * unit);
    assert_null(row->unavailable);
    assert_true(row->seconds > 0 && row->alone > 0 && row->samples >= 3);
    assert_true(row->seconds_min <= row->seconds_p20 && row->seconds_p20 <= row->seconds &&
                row->seconds <= row->seconds_p80);
  }
  cugen_close(lib);
  assert_nothing_left();
}

TEST(lost_bytes) {
  static const struct {
    const char *memory, *message;
  } cases[] = {
      {"mapped", "mapped memory: what arrived at the device is not what was sent (4096 bytes)"},
      {"managed", "managed memory: what arrived at the device is not what was sent (4096 bytes)"},
      {"prefetch",
       "prefetch memory: what arrived at the device is not what was sent (4096 bytes)"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cugen_transfer_options options = small();
    cugen_transfer result;
    reset(lose_a_byte);
    cugen *lib = open_library(NULL);
    options.memory = cases[i].memory;
    FAILS_WITH(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_WRONG,
               cases[i].message);
    assert_null(result.rows);
    cugen_close(lib);
    assert_nothing_left();
  }
}

/* Moves nothing. */
static void lose_all(const struct fake_launch *launch) {
  (void)launch;
}

/* Of a large transfer the beginning is compared. */
TEST(large_transfers) {
  static const int64_t large = (16 << 20) + 5000;
  cugen_transfer_options options = small();
  cugen_transfer result;
  options.sizes = &large, options.size_count = 1;
  reset(run_copier);
  cugen *lib = open_library(NULL);
  WORKS(api_transfer_measure(lib, &options, &result, &err));
  assert_int_equal(result.count, 2 * KINDS);
  cugen_close(lib);
  assert_nothing_left();
  reset(lose_all);
  lib = open_library(NULL);
  options.memory = "mapped";
  FAILS_WITH(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_WRONG,
             "mapped memory: what arrived at the device is not what was sent (16782216 bytes)");
  cugen_close(lib);
  assert_nothing_left();
}

/* ---- Failures ------------------------------------------------------------------------------- */

/* Each of the first calls fails in turn, then ever fewer of the many that are timed. */
TEST(every_call_fails) {
  static const int codes[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_LAUNCH_FAILED};
  size_t failed = 0;
  for (long at = 1;; at += 1 + at / 16) {
    cugen_transfer_options options = small();
    cugen_transfer result;
    cugen_error error = {0};
    int code = codes[at % 2],
        most = code == CUDA_ERROR_OUT_OF_MEMORY ? CUGEN_ERROR_MEMORY : CUGEN_ERROR_DEVICE;
    options.size_count = 1;
    reset(run_copier);
    fake->fail_at = at;
    fake->fail_with = code;
    cugen *lib = open_library(NULL);
    int status = api_transfer_measure(lib, &options, &result, &error);
    const char *call = fake->failed_call ? fake->failed_call : "none";
    if (status && status != most) fail_msg("call %ld, %s: %d: %s", at, call, status, error.message);
    if (status && !strstr(error.message, call))
      fail_msg("call %ld, %s: %s", at, call, error.message);
    cugen_close(lib);
    assert_nothing_left();
    failed += status != CUGEN_OK;
    if (!fake->failed_call) break;
  }
  assert_true(failed > 60);
}

struct stop_after {
  size_t rows, seen;
};

static int count_down(const cugen_transfer_progress *progress, void *context) {
  struct stop_after *after = context;
  assert_int_equal(progress->done, ++after->seen);
  assert_int_equal(progress->planned, ROWS);
  assert_non_null(progress->last);
  return after->seen == after->rows;
}

TEST(stopped) {
  struct stop_after after = {.rows = 5};
  cugen_transfer_options options = small();
  cugen_transfer result;
  reset(run_copier);
  cugen *lib = open_library(NULL);
  options.progress = count_down;
  options.context = &after;
  FAILS(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_INTERRUPTED);
  assert_int_equal(result.count, 5);
  assert_int_equal(after.seen, 5);
  cugen_close(lib);
  assert_nothing_left();
}

/* Without NVRTC the kinds that need no kernel are measured, and the others say why not. */
TEST(without_nvrtc) {
  cugen_transfer_options options = small();
  cugen_transfer result;
  reset(run_copier);
  cugen *lib = open_library("/usr/share");
  WORKS(api_transfer_measure(lib, &options, &result, &err));
  assert_int_equal(result.count, COPIED + BY_KERNEL);
  for (size_t i = COPIED; i < result.count; i++) {
    assert_non_null(strstr(result.rows[i].unavailable, "/usr/share"));
    assert_true(result.rows[i].seconds <= 0);
  }
  cugen_close(lib);
  assert_nothing_left();
}

TEST(refused) {
  static const int64_t nothing[] = {0}, many[65] = {1};
  cugen_transfer_options options = small();
  cugen_transfer result;
  reset(run_copier);
  cugen *lib = open_library(NULL);
  options.memory = "pinned,maped";
  FAILS(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_USAGE, "nearest 'mapped'");
  options = small();
  options.sizes = nothing;
  options.size_count = 1;
  FAILS(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_USAGE);
  options.sizes = many;
  options.size_count = 65;
  FAILS(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_USAGE);
  fake->devices = 0;
  cugen_close(lib);
  lib = open_library(NULL);
  options = small();
  FAILS(api_transfer_measure(lib, &options, &result, &err), CUGEN_ERROR_DEVICE, "sees no GPU");
  cugen_close(lib);
  assert_nothing_left();
}

ALL_TESTS_WITH(find_fake, NULL);
