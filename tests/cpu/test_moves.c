/* copy, access and transpose really run, on the cpu device, and move every byte to its place and
   no other: sizes of one element, primes, whole and ragged tiles; every size of an element;
   packed, pitched and batched; pointers that wide accesses may not start at; values that no
   arithmetic would leave alone. */
#include "kernels.h"
#include "tests/testing.h"

enum { SETTINGS = 8, VARIANTS = 12 };

/* Elements are moved, not computed. */
static void run_exactly(cugen_kernel *kernel, const char *variant) {
  assert_true(run_variant(kernel, variant) == 0.0);
}

struct family {
  const char *config;
  /* the first `all` problems are run with all variants, the others with every second one */
  size_t all;
  const char *variants[VARIANTS];
  const char *problems[16][SETTINGS];
};

/* Runs problems with every variant of their row, or in turn with a third of the variants, because
   each further type and pitch is another source to compile. */
static void run_family(cugen *lib, const struct family *family) {
  for (size_t p = 0; p < 16 && family->problems[p][0]; p++) {
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, family->config, family->problems[p], SETTINGS);
    for (size_t v = 0; v < VARIANTS && family->variants[v]; v++)
      if (p < family->all || (p + v) % 3 == 0) run_exactly(kernel, family->variants[v]);
  }
}

static const struct family copies = {
    "configs/copy.lua",
    1,
    {"element threads=256", "tile tile=32 rows_per_thread=4", "tile tile=64 rows_per_thread=8",
     "tile tile=32 rows_per_thread=1", "vector access=16 loads=4 threads=256 blocks_per_sm=0",
     "vector access=16 loads=4 blocks_per_sm=2", "vector access=16 loads=1 load_through=l2",
     "bulk piece=4096 stages=3 blocks_per_sm=1"},
    {{"width=1"},
     {"width=99991", "dtype=u8"}, /* a prime width */
     {"width=65536", "dtype=f64"},
     {"width=7", "height=3", "depth=5", "dtype=f16", "pitched=true"},
     {"width=1003", "height=77", "depth=3", "pitched=true"},
     {"width=1003", "height=77", "dtype=bf16", "pitch_x=1003", "pitch_y=1010"}},
};

static const struct family narrow_copies = {
    "configs/copy.lua",
    1,
    {"vector access=8 loads=1", "vector access=4 loads=4"},
    {{"width=40009"}, {"width=40009", "dtype=i16"}, {"width=333", "height=90", "pitched=true"}},
};

static const struct family accesses = {
    "configs/access.lua",
    0,
    {"elements", "elements threads=128 loads=4 load_through=l2 store_as=streaming"},
    {{"n=1"},
     {"n=10007", "load_offset=1"},
     {"n=10007", "load_offset=3", "load_stride=5", "dtype=f64"},
     {"n=10007", "store_offset=1", "store_stride=33", "dtype=u8"},
     {"n=1", "store_offset=5000"},
     {"n=16384", "scattered=true", "dtype=f16"},
     {"n=10007", "broadcast=true", "load_stride=3"},
     {"n=10007", "active_lanes=8", "load_offset=1", "store_offset=700"},
     {"n=10007", "active_lanes=4", "broadcast=true", "dtype=i64"}},
};

static const struct family rungs = {
    "configs/transpose.lua",
    1,
    {"coalesced_read block_x=32 block_y=8", "coalesced_write block_x=16 block_y=8",
     "coalesced_read_plain block_y=8", "coalesced_read_ldg", "coalesced_write_plain",
     "coalesced_write_ldg", "conflicts tile=32 rows_per_thread=4",
     "padded pad=1 tile=64 rows_per_thread=4", "swizzled tile=32 rows_per_thread=8",
     "padded rows_per_thread=1"},
    {{"rows=1", "cols=1"},
     {"rows=127", "cols=131"},
     {"rows=96", "cols=64", "batch=3", "dtype=u8"},
     {"rows=67", "cols=201", "dtype=f64", "pitched=true", "batch=2"}},
};

static const struct family wide = {
    "configs/transpose.lua",
    3,
    {"registers access=16 warps_across=1 warps_down=4",
     "vector access=16 tile_rows=128 tile_cols=128",
     "vector access=16 tile_rows=128 tile_cols=128 bank=pad",
     "vector access=16 tile_rows=128 tile_cols=128 down_first=false"},
    {{"rows=1", "cols=1009"},
     {"rows=384", "cols=256"},
     {"rows=260", "cols=388", "batch=2"},      /* whole packs, ragged tiles */
     {"rows=263", "cols=384"},                 /* only A's rows have whole packs */
     {"rows=384", "cols=263"},                 /* only B's rows have whole packs */
     {"rows=263", "cols=131", "pitched=true"}, /* aligned rows with ragged ends */
     {"rows=272", "cols=400", "dtype=u8"},
     {"rows=257", "cols=331", "dtype=i8"},
     {"rows=512", "cols=136", "dtype=f16"},
     {"rows=131", "cols=262", "dtype=bf16", "pitch_a=264", "pitch_b=136"}},
};

static const struct family long_elements = {
    "configs/transpose.lua",
    0,
    {"registers access=16 warps_across=2 warps_down=2", "registers access=8",
     "vector access=16 tile_rows=32 tile_cols=64 bank=xor",
     "vector access=8 tile_rows=32 tile_cols=32 bank=xor"},
    {{"rows=128", "cols=194", "dtype=f64"}, {"rows=129", "cols=67", "dtype=u64", "batch=2"}},
};

static void test_family(void **state, const struct family *family) {
  run_family(*state, family);
}

TEST(test_copy) {
  test_family(state, &copies);
  test_family(state, &narrow_copies);
}

TEST(test_access) {
  test_family(state, &accesses);
}

TEST(test_transpose) {
  test_family(state, &rungs);
  test_family(state, &wide);
  test_family(state, &long_elements);
}

/* ---- What an application binds -------------------------------------------------------------- */

/* Fills in bits of every kind: NaN with a payload, quiet and signalling, infinities, subnormal
   numbers. */
static void fill_bits(unsigned char *bytes, size_t count) {
  static const unsigned char special[] = {0x01, 0x00, 0xa0, 0x7f, 0x00, 0x00,
                                          0x80, 0xff, 0xff, 0xff, 0xff, 0xff};
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = i % 48 < sizeof special ? special[i % 48] : (unsigned char)(state >> 24);
  }
}

enum {
  COLUMNS = 388,
  ROWS = 264,
  ELEMENTS = ROWS * COLUMNS,
  ROOM = (ELEMENTS + 8) * 4,
  POISON = 0xa5
};

static const struct {
  struct choice choice;
  const char *settings[SETTINGS];
} plans[] = {
    {{"configs/copy.lua", "element", NULL}, {"width=388", "height=264"}},
    {{"configs/copy.lua", "tile", NULL}, {"width=388", "height=264"}},
    {{"configs/copy.lua", "vector", NULL}, {"width=388", "height=264"}},
    {{"configs/copy.lua", "vector", NULL},
     {"width=388", "height=264", "pitch_x=388", "pitch_y=388"}},
    {{"configs/copy.lua", "bulk", NULL}, {"width=388", "height=264"}},
    {{"configs/access.lua", "elements", NULL}, {"n=102432"}},
    {{"configs/transpose.lua", "coalesced_read", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "coalesced_write", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "coalesced_read_plain", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "coalesced_write_ldg", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "conflicts", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "padded", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "swizzled", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "registers", NULL}, {"rows=264", "cols=388"}},
    {{"configs/transpose.lua", "vector", NULL}, {"rows=264", "cols=388"}},
};

static uint32_t element_at(const unsigned char *bytes, size_t i) {
  uint32_t element;
  memcpy(&element, bytes + 4 * i, 4);
  return element;
}

static void check_moved(bool turned, const unsigned char *from, const unsigned char *to) {
  for (size_t r = 0; r < ROWS; r++)
    for (size_t c = 0; c < COLUMNS; c++)
      assert_int_equal(element_at(to, turned ? c * ROWS + r : r * COLUMNS + c),
                       element_at(from, r * COLUMNS + c));
}

/* Moves buffers that begin that many elements behind a multiple of 16 bytes. */
static void move_at(bool turned, cugen_plan *plan, size_t from_offset, size_t to_offset) {
  unsigned char *from = aligned_alloc(64, ROOM), *to = aligned_alloc(64, ROOM);
  assert_non_null(from);
  assert_non_null(to);
  fill_bits(from, ROOM);
  memset(to, POISON, ROOM);
  void *arguments[SETTINGS] = {from + 4 * from_offset, to + 4 * to_offset};
  launch_once(plan, arguments, cugen_plan_about(plan)->arguments);
  check_moved(turned, arguments[0], arguments[1]);
  for (size_t i = 0; i < 4 * to_offset; i++) assert_int_equal(to[i], POISON);
  for (size_t i = 4 * (to_offset + ELEMENTS); i < ROOM; i++) assert_int_equal(to[i], POISON);
  free(from);
  free(to);
}

TEST(test_any_pointer_any_bits) {
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    CLOSED(cugen_plan) *plan = open_choice(*state, &plans[i].choice, plans[i].settings, SETTINGS);
    bool turned = strstr(plans[i].choice.config, "transpose") != NULL;
    move_at(turned, plan, 0, 0);
    move_at(turned, plan, 1, 0);
    move_at(turned, plan, 0, 3);
    move_at(turned, plan, 2, 2);
  }
}

ALL_TESTS_WITH(open_library, close_library);
