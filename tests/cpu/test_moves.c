/* copy, access and transpose really run, on the cpu device, and move every byte to its place and no other: sizes of one
   element, primes, whole and ragged tiles; every size of an element; packed, pitched and batched; pointers that wide
   accesses may not start at; values that no arithmetic would leave alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cugen.h"

enum { SETTINGS = 8, VARIANTS = 10 };

static int set_up(void **state) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error error = {0};
  cugen *lib;
  options.device = "cpu";
  options.cache = "none";
  if (cugen_open(&options, &lib, &error)) fail_msg("%s", error.message);
  *state = lib;
  return 0;
}

static int tear_down(void **state) {
  cugen_close(*state);
  return 0;
}

static cugen_kernel *open_kernel(cugen *lib, const char *config, const char *const *settings) {
  cugen_error error = {0};
  cugen_kernel *kernel;
  size_t count = 0;
  while (count < SETTINGS && settings[count]) count++;
  if (cugen_kernel_open(lib, config, settings, count, &kernel, &error)) fail_msg("%s", error.message);
  return kernel;
}

static void run_variant(cugen_kernel *kernel, const char *variant) {
  cugen_error error = {0};
  cugen_record record;
  if (cugen_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s, %s: %s", variant, cugen_kernel_problem(kernel), error.message);
  if (record.outcome != CUGEN_OUTCOME_OK)
    fail_msg("%s, %s: %s: %s", record.variant, cugen_kernel_problem(kernel), cugen_outcome_text((int)record.outcome),
             record.reason);
  assert_true(record.error == 0.0);
}

struct family {
  const char *config;
  const char *variants[VARIANTS];
  const char *problems[16][SETTINGS];
};

/* Each problem with every variant of its row. */
static void run_family(cugen *lib, const struct family *family) {
  for (size_t p = 0; p < 16 && family->problems[p][0]; p++) {
    cugen_kernel *kernel = open_kernel(lib, family->config, family->problems[p]);
    for (size_t v = 0; v < VARIANTS && family->variants[v]; v++) run_variant(kernel, family->variants[v]);
    cugen_kernel_close(kernel);
  }
}

static const struct family copies = {
    "configs/copy.lua",
    {"element threads=256", "vector access=16 loads=4 threads=256 blocks_per_sm=0",
     "vector access=16 loads=4 blocks_per_sm=2", "vector access=16 loads=2 load_through=streaming store_as=streaming",
     "bulk piece=4096 stages=3 blocks_per_sm=1"},
    {{"width=1"},
     {"width=99991", "dtype=u8"}, /* a prime */
     {"width=65536", "dtype=f64"},
     {"width=7", "height=3", "depth=5", "dtype=f16", "pitched=true"},
     {"width=1003", "height=77", "depth=3", "pitched=true"},
     {"width=1003", "height=77", "dtype=bf16", "pitch_x=1003", "pitch_y=1010"}},
};

static const struct family narrow_copies = {
    "configs/copy.lua",
    {"vector access=8 loads=1", "vector access=4 loads=4"},
    {{"width=40009"}, {"width=40009", "dtype=i16"}, {"width=333", "height=90", "pitched=true"}},
};

static const struct family accesses = {
    "configs/access.lua",
    {"elements", "elements threads=128 loads=4 load_through=l2 store_as=streaming"},
    {{"n=1"},
     {"n=10007", "load_offset=1"},
     {"n=10007", "load_offset=3", "load_stride=5", "dtype=f64"},
     {"n=10007", "store_offset=1", "store_stride=33", "dtype=u8"},
     {"n=1", "store_offset=5000"},
     {"n=16384", "scattered=true", "dtype=f16"}},
};

static const struct family rungs = {
    "configs/transpose.lua",
    {"coalesced_read block_x=32 block_y=8", "coalesced_write block_x=16 block_y=8",
     "conflicts tile=32 rows_per_thread=4", "padded pad=1 tile=64 rows_per_thread=4",
     "swizzled tile=32 rows_per_thread=8"},
    {{"rows=1", "cols=1"},
     {"rows=127", "cols=131"},
     {"rows=96", "cols=64", "batch=3", "dtype=u8"},
     {"rows=67", "cols=201", "dtype=f64", "pitched=true", "batch=2"}},
};

static const struct family wide = {
    "configs/transpose.lua",
    {"registers access=16 warps_across=1 warps_down=4", "vector access=16 tile_rows=128 tile_cols=128",
     "vector access=16 tile_rows=128 tile_cols=128 bank=pad",
     "vector access=16 tile_rows=128 tile_cols=128 down_first=false"},
    {{"rows=1", "cols=1009"},
     {"rows=384", "cols=256"},
     {"rows=260", "cols=388", "batch=2"},      /* whole packs, ragged tiles */
     {"rows=263", "cols=384"},                 /* packs in A's rows alone */
     {"rows=384", "cols=263"},                 /* packs in B's rows alone */
     {"rows=263", "cols=131", "pitched=true"}, /* aligned rows with ragged ends */
     {"rows=272", "cols=400", "dtype=u8"},
     {"rows=257", "cols=331", "dtype=i8"},
     {"rows=512", "cols=136", "dtype=f16"},
     {"rows=131", "cols=262", "dtype=bf16", "pitch_a=264", "pitch_b=136"}},
};

static const struct family long_elements = {
    "configs/transpose.lua",
    {"registers access=16 warps_across=2 warps_down=2", "registers access=8",
     "vector access=16 tile_rows=32 tile_cols=64 bank=xor", "vector access=8 tile_rows=32 tile_cols=32 bank=xor"},
    {{"rows=128", "cols=194", "dtype=f64"}, {"rows=129", "cols=67", "dtype=u64", "batch=2"}},
};

static void test_family(void **state, const struct family *family) {
  run_family(*state, family);
}

static void test_copy(void **state) {
  test_family(state, &copies);
  test_family(state, &narrow_copies);
}

static void test_access(void **state) {
  test_family(state, &accesses);
}

static void test_transpose(void **state) {
  test_family(state, &rungs);
  test_family(state, &wide);
  test_family(state, &long_elements);
}

/* ---- What an application binds ---- */

/* A config with implementations left out, so that a plan's choice is the next one. */
struct choice {
  const char *config;
  const char *left_out[8];
  const char *chosen; /* how the variant begins */
  const char *settings[SETTINGS];
};

static char *read_text(const char *path) {
  enum { MOST = 1 << 16, SPARE = 1024 };
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, MOST);
  if (!file || !text) abort();
  assert_true(fread(text, 1, MOST - SPARE, file) > 0);
  fclose(file);
  return text;
}

/* A line becomes a comment; an implementation, named up to its brace, gets a requirement that nothing meets. */
static void leave_out(char *text, const char *what) {
  char *at = strstr(text, what);
  if (!at) {
    fail_msg("no %s", what);
    return;
  }
  bool whole = what[strlen(what) - 1] == '{';
  const char *put = whole ? " requires \"false\"," : "-- ";
  if (whole) at += strlen(what);
  memmove(at + strlen(put), at, strlen(at) + 1);
  memcpy(at, put, strlen(put));
}

static cugen_plan *open_choice(cugen *lib, const struct choice *choice, cugen_kernel **kernel) {
  cugen_error error = {0};
  cugen_plan *plan;
  char *text = read_text(choice->config);
  for (size_t i = 0; i < 8 && choice->left_out[i]; i++) leave_out(text, choice->left_out[i]);
  if (cugen_add_file(lib, "chosen.lua", text, strlen(text), &error)) fail_msg("%s", error.message);
  free(text);
  *kernel = open_kernel(lib, "chosen.lua", choice->settings);
  if (cugen_plan_open(*kernel, NULL, &plan, &error)) fail_msg("%s", error.message);
  assert_memory_equal(cugen_plan_about(plan)->variant, choice->chosen, strlen(choice->chosen));
  return plan;
}

/* Bits of every kind: NaN with a payload, quiet or signalling, infinities, subnormal numbers. */
static void fill_bits(unsigned char *bytes, size_t count) {
  static const unsigned char special[] = {0x01, 0x00, 0xa0, 0x7f, 0x00, 0x00, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff};
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = i % 48 < sizeof special ? special[i % 48] : (unsigned char)(state >> 24);
  }
}

enum { COLUMNS = 388, ROWS = 264, ELEMENTS = ROWS * COLUMNS, ROOM = (ELEMENTS + 8) * 4, POISON = 0xa5 };

static const struct choice choices[] = {
    {"configs/copy.lua", {NULL}, "element", {"width=388", "height=264"}},
    {"configs/copy.lua", {"implementation \"element\" {"}, "vector", {"width=388", "height=264"}},
    {"configs/copy.lua",
     {"implementation \"element\" {"},
     "vector",
     {"width=388", "height=264", "pitch_x=388", "pitch_y=388"}},
    {"configs/copy.lua",
     {"implementation \"element\" {", "implementation \"vector\" {"},
     "bulk",
     {"width=388", "height=264"}},
    {"configs/transpose.lua", {NULL}, "coalesced_read", {"rows=264", "cols=388"}},
    {"configs/transpose.lua", {"naive(\"coal", "naive(\"coalesced_w"}, "conflicts", {"rows=264", "cols=388"}},
    {"configs/transpose.lua",
     {"naive(\"coal", "naive(\"coalesced_w", "tiled(\"c", "tiled(\"p", "tiled(\"s"},
     "registers",
     {"rows=264", "cols=388"}},
    {"configs/transpose.lua",
     {"naive(\"coal", "naive(\"coalesced_w", "tiled(\"c", "tiled(\"p", "tiled(\"s", "implementation \"registers\" {"},
     "vector",
     {"rows=264", "cols=388"}},
};

static uint32_t element_at(const unsigned char *bytes, size_t i) {
  uint32_t element;
  memcpy(&element, bytes + 4 * i, 4);
  return element;
}

static void check_moved(const struct choice *choice, const unsigned char *from, const unsigned char *to) {
  bool turned = strstr(choice->config, "transpose") != NULL;
  for (size_t r = 0; r < ROWS; r++)
    for (size_t c = 0; c < COLUMNS; c++)
      assert_int_equal(element_at(to, turned ? c * ROWS + r : r * COLUMNS + c), element_at(from, r * COLUMNS + c));
}

/* Buffers that begin so many elements behind a multiple of 16 bytes. */
static void move_at(const struct choice *choice, cugen_plan *plan, size_t from_offset, size_t to_offset) {
  cugen_error error = {0};
  cugen_call *call;
  unsigned char *from = aligned_alloc(64, ROOM), *to = aligned_alloc(64, ROOM);
  assert_non_null(from);
  assert_non_null(to);
  fill_bits(from, ROOM);
  memset(to, POISON, ROOM);
  void *x = from + 4 * from_offset, *y = to + 4 * to_offset;
  int32_t sizes[] = {COLUMNS, ROWS, 1}, sides[] = {ROWS, COLUMNS, 1};
  int32_t *values = strstr(choice->config, "transpose") ? sides : sizes;
  void *arguments[] = {x, y, &values[0], &values[1], &values[2]};
  if (cugen_call_bind(plan, arguments, 5, &call, &error)) fail_msg("%s", error.message);
  if (cugen_call_launch(call, NULL, &error)) fail_msg("%s", error.message);
  cugen_call_close(call);
  check_moved(choice, x, y);
  for (size_t i = 0; i < 4 * to_offset; i++) assert_int_equal(to[i], POISON);
  for (size_t i = 4 * (to_offset + ELEMENTS); i < ROOM; i++) assert_int_equal(to[i], POISON);
  free(from);
  free(to);
}

static void test_any_pointer_any_bits(void **state) {
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    cugen_kernel *kernel;
    cugen_plan *plan = open_choice(*state, &choices[i], &kernel);
    move_at(&choices[i], plan, 0, 0);
    move_at(&choices[i], plan, 1, 0);
    move_at(&choices[i], plan, 0, 3);
    move_at(&choices[i], plan, 2, 2);
    cugen_plan_close(plan);
    cugen_kernel_close(kernel);
  }
}

/* ---- What is refused ---- */

static void test_refused(void **state) {
  static const struct {
    const char *config, *setting, *message;
  } rows[] = {
      {"configs/copy.lua", "width=0", "shape of \"x\" has the extent 0 (width): it must be 1 or more"},
      {"configs/copy.lua", "height=-1", "it must be 1 or more"},
      {"configs/copy.lua", "pitch_x=30010", "pitch of \"x\""},
      {"configs/copy.lua", "dtype=f8", "dtype is one of"},
      {"configs/transpose.lua", "rows=0", "it must be 1 or more"},
      {"configs/transpose.lua", "pitch_b=267", "pitch of \"B\""},
      {"configs/transpose.lua", "batch=0", "it must be 1 or more"},
      {"configs/access.lua", "n=0", "it must be 1 or more"},
      {"configs/access.lua", "load_stride=0", "pitch of \"x\""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cugen_error error = {0};
    cugen_kernel *kernel = NULL;
    cugen_record record = {.reason = ""};
    int status = cugen_kernel_open(*state, rows[i].config, &rows[i].setting, 1, &kernel, &error);
    if (!status) status = cugen_kernel_run(kernel, NULL, 60, &record, &error);
    if (!status) assert_int_equal(record.outcome, CUGEN_OUTCOME_LAUNCH);
    const char *said = status ? error.message : record.reason;
    if (!strstr(said, rows[i].message)) fail_msg("%s: %s", rows[i].setting, said);
    cugen_kernel_close(kernel);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copy),      cmocka_unit_test(test_access),
      cmocka_unit_test(test_transpose), cmocka_unit_test(test_any_pointer_any_bits),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
