/* More than 2^31 elements: the families really run there, on memory of which nearly nothing is
   touched: rows or fields far apart, or zeros that no page is behind. Implementations that would
   need minutes for it, and filter, are held to the type of their offsets alone. */

#include <sys/mman.h>

#include "kernels.h"
#include "tests/testing.h"

enum { SETTINGS = 6, ARGUMENTS = 12 };

/* Returns zeros that no page stands behind; NULL: this machine has not enough addresses. */
static char *reserve(size_t bytes) {
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  /* gives a thousandth of the page faults if the machine has huge pages */
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

struct buffer {
  char *memory;
  size_t bytes;
};

static struct buffer reserve_argument(cugen_plan *plan, size_t index) {
  cugen_argument_info info;
  assert_int_equal(cugen_plan_argument(plan, index, &info, NULL), CUGEN_OK);
  struct buffer buffer = {NULL, (size_t)info.bytes};
  buffer.memory = reserve(buffer.bytes);
  if (!buffer.memory) {
    print_message("skipped: no room for %zu bytes of addresses\n", buffer.bytes);
    skip();
  }
  return buffer;
}

static void release(struct buffer buffer) {
  munmap(buffer.memory, buffer.bytes);
}

/* ---- Bytes that lie far apart --------------------------------------------------------------- */

enum { APART = 1100000000, ROWS = 3, COLS = 5 };

enum { COPY, ACCESS, TRANSPOSE };
static const struct {
  const char *config, *settings[SETTINGS];
} far_apart[] = {{"configs/copy.lua",
                  {"width=5", "height=3", "dtype=u8", "pitch_x=1100000000", "pitch_y=1100000000"}},
                 {"configs/access.lua",
                  {"n=3", "dtype=u8", "load_stride=1100000000", "store_stride=1100000000"}},
                 {"configs/transpose.lua",
                  {"rows=3", "cols=5", "dtype=u8", "pitch_a=1100000000", "pitch_b=1100000000"}}};
static const struct {
  int family;
  const char *implementation;
} moves[] = {{COPY, "element"},
             {COPY, "tile"},
             {COPY, "vector"},
             {COPY, "bulk"},
             {ACCESS, "elements"},
             {TRANSPOSE, "coalesced_read"},
             {TRANSPOSE, "coalesced_write"},
             {TRANSPOSE, "coalesced_write_plain"},
             {TRANSPOSE, "conflicts"},
             {TRANSPOSE, "padded"},
             {TRANSPOSE, "swizzled"},
             {TRANSPOSE, "registers"},
             {TRANSPOSE, "vector"}};

TEST(test_moves) {
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
    const int family = moves[i].family;
    const struct choice choice = {far_apart[family].config, moves[i].implementation, NULL};
    CLOSED(cugen_plan) *plan = open_choice(*state, &choice, far_apart[family].settings, SETTINGS);
    struct buffer x = reserve_argument(plan, 0), y = reserve_argument(plan, 1);
    size_t cols = family == ACCESS ? 1 : COLS;
    bool turned = family == TRANSPOSE;
    for (size_t r = 0; r < ROWS; r++)
      for (size_t c = 0; c < cols; c++) x.memory[r * APART + c] = (char)(1 + r * COLS + c);
    void *arguments[ARGUMENTS] = {x.memory, y.memory};
    launch_once(plan, arguments, cugen_plan_about(plan)->arguments);
    for (size_t r = 0; r < ROWS; r++)
      for (size_t c = 0; c < cols; c++) {
        int got = y.memory[turned ? c * APART + r : r * APART + c];
        if (got != (int)(1 + r * COLS + c))
          fail_msg("%s: [%zu][%zu] is %d", moves[i].implementation, r, c, got);
      }
    release(x);
    release(y);
  }
}

/* ---- Records that are long ------------------------------------------------------------------ */

TEST(test_particles) {
  static const char *const settings[] = {"n=130", "fields=16777216"};
  static const struct choice choices[] = {{"configs/particles.lua", "plain", "group = 1"},
                                          {"configs/particles.lua", "wide", "group = 1"},
                                          {"configs/particles.lua", "plain", "group = 4"},
                                          {"configs/particles.lua", "wide", "group = 4"}};
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    CLOSED(cugen_plan) *plan = open_choice(*state, &choices[i], settings, 2);
    struct buffer in = reserve_argument(plan, 0), out = reserve_argument(plan, 1);
    size_t lanes = choices[i].tunables[8] == '4' ? 4 : 1, last = 129;
    float *state_of = (float *)in.memory + (last / lanes << 24) * lanes + last % lanes;
    state_of[0] = 0.25f;
    /* the velocity along x, of a particle that has no weight in the force's direction */
    state_of[3 * lanes] = 1;
    void *arguments[] = {in.memory, out.memory, NULL, NULL};
    launch_once(plan, arguments, 4);
    float got = ((float *)out.memory)[last / lanes * 6 * lanes + last % lanes];
    if (got < 0.2599f || got > 0.2601f)
      fail_msg("%s %s: %g", choices[i].implementation, choices[i].tunables, (double)got);
    release(in);
    release(out);
  }
}

/* ---- Zeros with a few numbers among them ---------------------------------------------------- */

TEST(test_reduce) {
  enum { LINES = (1 << 19) + 1, LENGTH = 4096 };
  static const char *const settings[][4] = {{"rows=524289", "cols=4096", "axis=row", "dtype=i32"},
                                            {"rows=4096", "cols=524289", "axis=col", "dtype=i32"}};
  static const struct choice choices[] = {{"configs/reduce.lua", "rows", NULL},
                                          {"configs/reduce.lua", "columns", NULL}};
  static int64_t sums[LINES];
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    CLOSED(cugen_plan) *plan = open_choice(*state, &choices[i], settings[i], 4);
    struct buffer x = reserve_argument(plan, 0);
    int *numbers = (int *)x.memory;
    void *arguments[ARGUMENTS] = {numbers, sums};
    size_t last = (size_t)LINES * LENGTH - 1;
    numbers[0] = 1;
    numbers[last] = 20;
    numbers[last - (i ? LINES : 1)] = 300;
    launch_once(plan, arguments, cugen_plan_about(plan)->arguments);
    assert_true(sums[0] == 1 && sums[LINES - 1] == 320 && sums[LINES - 2] == 0);
    release(x);
  }
}

TEST(test_reader) {
  static const char *const settings[] = {"n=2147483653", "passes=1", "chunk=1073741824"};
  const struct choice choice = {"configs/reader.lua", "stream", NULL};
  float sums[3] = {-1, -1, -1};
  CLOSED(cugen_plan) *plan = open_choice(*state, &choice, settings, 3);
  struct buffer x = reserve_argument(plan, 0);
  void *arguments[] = {x.memory, sums, NULL, NULL};
  float *numbers = (float *)x.memory;
  numbers[((size_t)1 << 31) - 1] = 2;
  numbers[(size_t)1 << 31] = 4;
  numbers[((size_t)1 << 31) + 4] = 8;
  launch_once(plan, arguments, 4);
  assert_true(sums[0] == 0 && sums[1] == 2 && sums[2] == 12);
  release(x);
}

/* K rows with a pitch, 128 elements each, added up into one sum. The other implementations take
   minutes here. */
TEST(test_matmul) {
  static const char *const settings[] = {"M=1", "N=1", "K=16777217", "layout_a=col",
                                         "pitched=true"};
  static const struct choice choice = {"configs/matmul.lua", "naive", NULL};
  enum { PITCH = 128, K = 16777217 };
  CLOSED(cugen_plan) *plan = open_choice(*state, &choice, settings, 5);
  struct buffer a = reserve_argument(plan, 0), b = reserve_argument(plan, 1);
  float c[PITCH] = {0};
  void *arguments[ARGUMENTS] = {a.memory, b.memory, c};
  assert_true(a.bytes > (size_t)4 << 31 && b.bytes > (size_t)4 << 31);
  ((float *)a.memory)[0] = 2;
  ((float *)b.memory)[0] = 3;
  ((float *)a.memory)[(size_t)(K - 1) * PITCH] = 5;
  ((float *)b.memory)[(size_t)(K - 1) * PITCH] = 7;
  launch_once(plan, arguments, cugen_plan_about(plan)->arguments);
  assert_true(c[0] == 41);
  release(a);
  release(b);
}

/* ---- Offsets -------------------------------------------------------------------------------- */

TEST(test_offsets) {
  static const struct {
    const char *config, *variant, *settings[5];
  } rows[] = {
      {"filter", "naive", {"rows=65536", "cols=65536"}},
      {"filter", "tiled", {"rows=65536", "cols=65536"}},
      {"filter", "strips", {"rows=65536", "cols=65536"}},
      {"matmul", "tiled", {"M=65536", "N=65536", "scaled=true", "biased=true", "activation=relu"}},
      {"matmul",
       "pipelined",
       {"M=65536", "N=65536", "scaled=true", "biased=true", "activation=gelu"}},
      {"reduce", "global", {"rows=65536", "cols=65536", "axis=row"}},
      {"reduce", "static", {"rows=65536", "cols=65536", "axis=row"}},
      {"reduce", "dynamic", {"rows=65536", "cols=65536", "axis=row"}},
      {"reduce", "shuffle", {"rows=65536", "cols=65536", "axis=row"}},
      {"reduce", "vector", {"rows=65536", "cols=65536", "axis=row"}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *source, *name;
    CLOSED(cugen_kernel) *kernel = open_kernel(*state, rows[i].config, rows[i].settings, 5);
    WORKS(cugen_kernel_source(kernel, rows[i].variant, &source, &name, &err));
    if (!strstr(source, "using index_t = long long;"))
      fail_msg("%s %s", rows[i].config, rows[i].variant);
  }
}

ALL_TESTS_WITH(open_library, close_library);
