/* What only a GPU's texture units can show: that they go on past an image's edges as the
   references do, with every address mode, over a buffer and over an array, also for images below
   the filter's size; and the driver's copies to and from __device__ variables. Skipped where
   there is no GPU. */
#include "api/tuning.h"
#include "tests/opening.h"

enum { SETTINGS = 5 };

static cugen *lib;

FIXTURE(open_library) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error error;
  options.device = "cuda:0";
  options.cache = "none";
  const char *why;
  if (cugen_open(&options, &lib, &error)) return print_error("%s\n", error.message), -1;
  cugen_devices(lib, NULL, 0, &why);
  if (!why) return 0;
  printf("skipped: %s\n", why);
  exit(77);
}

FIXTURE(close_library) {
  cugen_close(lib);
  return 0;
}

static void run_of(const char *config, const char *const *settings, const char *variant) {
  cugen_error error;
  cugen_record record;
  size_t count = 0;
  while (count < SETTINGS && settings[count]) count++;
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, config, settings, count);
  if (api_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s: %s", variant, error.message);
  if (record.outcome != CUGEN_OUTCOME_OK)
    fail_msg("%s, %s: %s", record.variant, cugen_kernel_problem(kernel), record.reason);
}

static void run(const char *const *settings, const char *variant) {
  run_of("filter", settings, variant);
}

TEST(test_textures) {
  static const char *const boundaries[] = {"boundary=clamp", "boundary=zero", "boundary=mirror",
                                           "boundary=wrap"};
  static const char *const variants[] = {"naive image_in=texture", "naive image_in=array",
                                         "tiled image_in=texture block_x=64 rows_per_thread=1",
                                         "tiled image_in=array weights_in=shared",
                                         "naive weights_in=symbol"};
  for (size_t b = 0; b < 4; b++)
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
      run((const char *const[SETTINGS]){boundaries[b], "rows=67", "cols=264", "size=7"},
          variants[v]);
      run((const char *const[SETTINGS]){boundaries[b], "rows=2", "cols=8", "size=15"}, variants[v]);
      run((const char *const[SETTINGS]){boundaries[b], "rows=67", "cols=272", "size=5",
                                        "dtype=f16"},
          variants[v]);
    }
}

/* An array takes any width and pitch; a texture over memory takes what the driver's pitched
   allocation gives. */
TEST(test_widths) {
  run((const char *const[SETTINGS]){"boundary=mirror", "rows=61", "cols=127"},
      "naive image_in=array");
  run((const char *const[SETTINGS]){"boundary=wrap", "rows=61", "cols=127", "pitched=true"},
      "naive image_in=texture");
  run((const char *const[SETTINGS]){"boundary=wrap", "rows=61", "cols=127", "pitched=true"},
      "naive image_in=array");
}

/* Each launch copies buffers into __device__ variables and back. */
TEST(test_symbols) {
  run_of("tests/configs/symbols.lua", (const char *const[SETTINGS]){NULL}, "right lie_in=symbol");
  run_of("tests/configs/symbols.lua", (const char *const[SETTINGS]){NULL}, "right lie_in=global");
  run_of("docs/examples/symbols/classes.lua", (const char *const[SETTINGS]){"n=100003"}, "atomic");
}

ALL_TESTS_WITH(open_library, close_library);
