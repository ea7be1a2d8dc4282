/* Each portfolio that ships is found for its classes on the GPU that it was measured on, and
   serves the problems at which its variants were measured: its body is read, its rule and times
   are expressions over the config's sizes, and one of its variants is the problem's. */
#include "api/api.h"
#include "api/kernel.h"
#include "api/machine.h"
#include "api/portfolio.h"
#include "gen/sources/sources.h"
#include "tests/testing.h"

enum { MOST_SETTINGS = 32 };

static void check(int status, const cugen_error *err, const char *what) {
  if (status) fail_msg("%s: %s", what, err->message);
}

static cugen_kernel *open_kernel(cugen *lib, const char *path, const char *name, char *words) {
  const char *settings[MOST_SETTINGS];
  cugen_kernel *kernel;
  cugen_error err;
  size_t count = 0;
  char *next = NULL;
  for (char *word = strtok_r(words, " ", &next); word && count < MOST_SETTINGS;
       word = strtok_r(NULL, " ", &next))
    settings[count++] = word;
  check(cugen_kernel_open(lib, name, settings, count, &kernel, &err), &err, path);
  return kernel;
}

static void is_found(cugen *lib, const char *path, enum portfolio_kind kind, const char *name,
                     char *class) {
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, path, name, class);
  FREED(portfolio_shipped) shipped;
  cugen_error err;
  bool found;
  check(portfolio_find_shipped(&kernel->lookup, kind, &shipped, &found, &err), &err, path);
  if (!found) fail_msg("%s is not found for its class %s", path, class);
}

static void serves(cugen *lib, const char *path, enum portfolio_kind kind, const char *name,
                   char *problem) {
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, path, name, problem);
  struct portfolio_answer answer;
  FREED(text) device = {0};
  struct failures *failures;
  cugen_error err;
  bool found;
  check(failures_open(&kernel->lookup, &failures, &err), &err, path);
  check(portfolio_serve_shipped(&kernel->lookup, kind, failures, &answer, &device, &found, &err),
        &err, path);
  if (!found)
    fail_msg("%s does not serve the problem %s ... of one of its variants", path, problem);
  kernel_spec_free(&answer.spec);
  failures_close(failures);
}

/* Sets *out to the text behind the word at the beginning of a line. Returns the beginning of the
   next line; NULL: there is none. */
static const char *find_line(const char *at, const char *word, char *out, size_t size) {
  const size_t begin = strlen(word);
  for (; at && *at; at = strchr(at, '\n') + 1) {
    if (strncmp(at, word, begin) != 0) continue;
    snprintf(out, size, "%.*s", (int)strcspn(at + begin, "\n"), at + begin);
    return strchr(at, '\n') + 1;
  }
  return NULL;
}

static cugen *open_library(const char *device) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  options.device = device;
  options.cache = "none";
  check(cugen_open(&options, &lib, &err), &err, device);
  return lib;
}

/* Opens the library for the described GPU that the file names, such as "NVIDIA H200 sm_90 132
   SMs", which may follow the word for a prediction. */
static cugen *open_for(const char *path, const char *device) {
  cugen_device_info all[64];
  cugen *lib = open_library("cpu"), *found = NULL;
  const size_t count = api_described_devices(lib, all, 64);
  for (size_t i = 0; i < count && !found; i++) {
    const size_t length = strlen(all[i].name);
    if (strncmp(device, all[i].name, length) == 0 && device[length] == ' ')
      found = open_library(all[i].id);
  }
  if (!found) fail_msg("%s: '%s' is no described GPU", path, device);
  cugen_close(lib);
  return found;
}

static void serves_all(const struct embedded_file *file) {
  static const char mark[] = "predicted ";
  char device[128], kernel[64], words[1024];
  assert_non_null(find_line(file->data, "device ", device, sizeof device));
  assert_non_null(find_line(file->data, "kernel ", kernel, sizeof kernel));
  const bool predicted = strncmp(device, mark, sizeof mark - 1) == 0;
  const enum portfolio_kind kind = predicted ? PORTFOLIO_PREDICTED : PORTFOLIO_MEASURED;
  CLOSED(cugen) *lib = open_for(file->path, device + (predicted ? sizeof mark - 1 : 0));
  const char *at;
  for (size_t i = 0; i < 2; i++)
    for (at = file->data; (at = find_line(at, i ? "mirror " : "class ", words, sizeof words));)
      is_found(lib, file->path, kind, kernel, words);
  at = file->data;
  while ((at = find_line(at, "at ", words, sizeof words)))
    serves(lib, file->path, kind, kernel, words);
}

TEST(all_that_ship_serve) {
  size_t files = 0;
  for (const struct embedded_file *file = embedded_files; file->path; file++) {
    if (strncmp(file->path, "configs/portfolios/", 19) != 0) continue;
    serves_all(file);
    files++;
  }
  assert_true(files > 10);
}

/* Opens matmul for the settings. *choice becomes what a plan takes if nothing is remembered; it
   lasts as long as the kernel. */
static void choose(cugen *lib, const char *settings, cugen_kernel **kernel, cugen_choice *choice) {
  char words[256];
  cugen_error err;
  snprintf(words, sizeof words, "%s", settings);
  *kernel = open_kernel(lib, settings, "matmul", words);
  check(api_kernel_choose(*kernel, 0, choice, &err), &err, settings);
}

/* Asserts which implementation a plan takes, and whether another class's portfolio names it. */
static void takes(cugen *lib, const char *settings, const char *implementation, bool other) {
  cugen_choice choice;
  CLOSED(cugen_kernel) *kernel;
  choose(lib, settings, &kernel, &choice);
  if (!variant_is_of(choice.variant, implementation) || other != (choice.tuned_on != NULL) ||
      other != choice.other_class)
    fail_msg("%s: '%s' of %s", settings, choice.variant,
             choice.tuned_on ? "what ships" : "the config");
}

/* Sets *rows and *columns to the extents of the tile of C that a plan takes. */
static void tile_of(cugen *lib, const char *settings, int *rows, int *columns) {
  cugen_choice choice;
  CLOSED(cugen_kernel) *kernel;
  choose(lib, settings, &kernel, &choice);
  const char *tile = strstr(choice.variant, "BM=");
  assert_non_null(tile);
  assert_int_equal(sscanf(tile, "BM=%d BN=%d", rows, columns), 2);
}

/* A product whose C is stored by columns takes what the transposed product takes. The tile is
   transposed, too, but wgmma's, which is of the transpose then. */
TEST(a_mirrored_class_is_served) {
  static const struct {
    const char *rows, *columns;
    bool exchanged;
  } pairs[] = {{"dtype=f32 M=4096 N=200 K=2048",
                "dtype=f32 layout_a=col layout_b=col layout_c=col M=200 N=4096 K=2048", true},
               {"dtype=bf16 layout_b=col M=4096 N=200 K=2048",
                "dtype=bf16 layout_b=col layout_c=col M=200 N=4096 K=2048", false}};
  CLOSED(cugen) *lib = open_library("model:H200");
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    int rows, columns, other_rows, other_columns;
    const bool exchanged = pairs[i].exchanged;
    tile_of(lib, pairs[i].rows, &rows, &columns);
    tile_of(lib, pairs[i].columns, &other_rows, &other_columns);
    assert_true(rows != columns);
    assert_int_equal(rows, exchanged ? other_columns : other_rows);
    assert_int_equal(columns, exchanged ? other_rows : other_columns);
  }
}

/* The portfolio of other layouts serves, but none of other types. */
TEST(the_nearest_class_serves) {
  CLOSED(cugen) *lib = open_library("model:H200");
  takes(lib, "dtype=f32 layout_a=col layout_c=col pitched=true M=1 N=16384 K=4096", "skinny", true);
  takes(lib, "dtype=f64 layout_c=col biased=true M=8 N=4096 K=4096", "skinny", true);
  takes(lib, "dtype=f32 layout_a=col biased=true M=512 N=512 K=512", "pipelined", true);
  takes(lib, "dtype=f32 M=16384 N=16384 K=16384", "pipelined", false); /* beyond its own limit */
  takes(lib, "dtype=e4m3 layout_a=col layout_b=row M=512 N=512 K=512", "tiled", false);
}
