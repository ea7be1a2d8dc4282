/* Passes over the banks, and sectors, of one request: emulator/detector/traffic.h. */

#include "emulator/abi.h"
#include "emulator/detector/traffic.h"
#include "tests/testing.h"

enum { BASE = 4096 };

/* Lane i is at BASE + i * step bytes. */
static void along(uintptr_t at[32], unsigned step) {
  for (unsigned i = 0; i < 32; i++) at[i] = BASE + (uintptr_t)i * step;
}

static void expect_banks(const uintptr_t at[32], unsigned lanes, unsigned bytes, unsigned needed,
                         unsigned ideal) {
  unsigned got_needed, got_ideal;
  warp_banks(at, lanes, bytes, false, &got_needed, &got_ideal);
  assert_int_equal(got_needed, needed);
  assert_int_equal(got_ideal, ideal);
}

static void expect_store(const uintptr_t at[32], unsigned bytes, unsigned needed, unsigned ideal) {
  unsigned got_needed, got_ideal;
  warp_banks(at, ~0u, bytes, true, &got_needed, &got_ideal);
  assert_int_equal(got_needed, needed);
  assert_int_equal(got_ideal, ideal);
}

/* lines: lines of 128 bytes; used: bytes that are used, each once. */
static void expect_touched(const uintptr_t at[32], unsigned lanes, unsigned bytes, unsigned sectors,
                           unsigned lines, unsigned used) {
  const struct warp_touched got = warp_sectors(at, lanes, bytes);
  assert_int_equal(got.sectors, sectors);
  assert_int_equal(got.lines, lines);
  assert_int_equal(got.bytes, used);
  assert_int_equal(got.sectors_ideal, (used + 31) / 32);
}

TEST(test_banks) {
  uintptr_t at[32];
  along(at, 4);
  expect_banks(at, ~0u, 4, 1, 1);
  along(at, 0); /* all lanes read one word */
  expect_banks(at, ~0u, 4, 1, 1);
  along(at, 8);
  expect_banks(at, ~0u, 4, 2, 1);
  expect_banks(at, ~0u, 8, 2, 2);
  expect_banks(at, 0xffffu, 8, 1, 1);
  along(at, 128); /* a column of a 32 x 32 tile */
  expect_banks(at, ~0u, 4, 32, 1);
  expect_banks(at, 0xffu, 4, 8, 1);
  along(at, 132); /* the same column with padding */
  expect_banks(at, ~0u, 4, 1, 1);
  along(at, 16);
  expect_banks(at, ~0u, 16, 4, 4);
  along(at, 128); /* rows of ldmatrix without a swizzle */
  expect_banks(at, ~0u, 16, 32, 4);
  along(at, 0); /* all lanes read the same 16 bytes: a pass for each half of the warp */
  expect_banks(at, ~0u, 16, 2, 2);
  expect_banks(at, ~0u, 8, 1, 1);
  for (unsigned i = 0; i < 32; i++) at[i] = BASE + (uintptr_t)(i / 2) * 16; /* lanes in pairs */
  expect_banks(at, ~0u, 16, 2, 2);
  /* the same 16 bytes for each quarter of the warp */
  for (unsigned i = 0; i < 32; i++) at[i] = BASE + (uintptr_t)(i % 8) * 16;
  expect_banks(at, ~0u, 16, 4, 4);
  along(at, 2); /* two lanes read each word */
  expect_banks(at, ~0u, 2, 1, 1);
  /* one half in pairs alone does not halve its passes */
  for (unsigned i = 0; i < 32; i++) at[i] = BASE + (uintptr_t)(i < 16 ? i / 2 : i) * 16;
  expect_banks(at, ~0u, 16, 4, 4);
}

/* Loads of 8 bytes are served for the whole warp, stores for each half of it: here each half's two
   conflicts are in banks of its own. Stores of 16 bytes are served by quarters, even of one address.
   Each is what an H200's counters said. */
TEST(test_stores) {
  uintptr_t at[32];
  for (unsigned i = 0; i < 32; i++)
    at[i] = BASE + (uintptr_t)(i / 16 * 64 + i % 2 * 8 + i / 2 % 8 * 256);
  expect_banks(at, ~0u, 8, 8, 2);
  expect_store(at, 8, 16, 2);
  along(at, 8);
  expect_store(at, 8, 2, 2);
  along(at, 0);
  expect_store(at, 4, 1, 1);
  expect_store(at, 8, 2, 2);
  expect_store(at, 16, 4, 4);
}

TEST(test_sectors) {
  uintptr_t at[32];
  along(at, 4);
  expect_touched(at, ~0u, 4, 4, 1, 128);
  expect_touched(at, 0xffu, 4, 1, 1, 32); /* one segment, then two */
  expect_touched(at, 0xffffu, 4, 2, 1, 64);
  for (int i = 0; i < 32; i++) at[i] += 4; /* shifted by one element */
  expect_touched(at, ~0u, 4, 5, 2, 128);
  along(at, 32);
  expect_touched(at, ~0u, 4, 32, 8, 128);
  along(at, 128); /* one word of each line */
  expect_touched(at, ~0u, 4, 32, 32, 128);
  along(at, 4096);
  expect_touched(at, ~0u, 4, 32, 32, 128);
  along(at, 16);
  expect_touched(at, ~0u, 16, 16, 4, 512);
  along(at, 0); /* all lanes read one word */
  expect_touched(at, ~0u, 4, 1, 1, 4);
  along(at, 12); /* every third element */
  expect_touched(at, ~0u, 4, 12, 3, 128);
  /* a pack that crosses the end of a sector, and one that crosses the end of a line */
  along(at, 48);
  expect_touched(at, 0x5u, 40, 4, 2, 80);
  expect_touched(at, 0, 4, 0, 0, 0);
}

/* Two of eight blocks are counted, and all their counts, also of barriers, are multiplied by
   four. */
TEST(test_counted_blocks_stand_for_all) {
  struct traffic *t;
  struct launch_counters out;
  assert_int_equal(traffic_open(&t, NULL), CUGEN_OK);
  traffic_begin(t, &out);
  struct traffic_site *site = traffic_site(t, 1, "x", CUGEN_MEMORY_GLOBAL, 4, 0);
  for (unsigned lane = 0; lane < 32; lane++) traffic_access(t, site, lane, BASE + 4 * lane);
  traffic_all_met(t, 32);
  out.blocks = 8, out.counted = 2, out.barriers = 3;
  traffic_end(t);
  assert_true(out.barriers == 12 && out.count == 1);
  assert_true(out.counters[0].requests == 4 && out.counters[0].bytes == 4 * 128);
  assert_true(out.counters[0].needed == 16 && out.counters[0].ideal == 16);
  assert_true(out.counters[0].lines == 4 && out.counters[0].touched == 4 * 128);
  traffic_close(t);
}

/* Reads of neighbouring shared memory by one lane are one request of 16 bytes; no other accesses
   are joined. */
TEST(test_reads_side_by_side) {
  static const struct {
    cugen_memory memory;
    unsigned kind;
    double requests;
  } cases[] = {{CUGEN_MEMORY_SHARED, 0, 1},
               {CUGEN_MEMORY_SHARED, CPU_WRITE, 4},
               {CUGEN_MEMORY_GLOBAL, 0, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct traffic *t;
    struct launch_counters out;
    assert_int_equal(traffic_open(&t, NULL), CUGEN_OK);
    traffic_begin(t, &out);
    struct traffic_site *site = traffic_site(t, 1, "x", cases[i].memory, 4, cases[i].kind);
    for (unsigned lane = 0; lane < 32; lane++)
      for (unsigned word = 0; word < 4; word++)
        traffic_access(t, site, lane, BASE + 16 * lane + 4 * word);
    traffic_all_met(t, 32);
    traffic_end(t);
    assert_true(out.counters[0].requests == cases[i].requests);
    assert_true(out.counters[0].bytes == 512);
    traffic_close(t);
  }
}

/* Constant memory serves one word after the other, to all lanes that ask for it. */
TEST(test_constant_words) {
  static const struct {
    unsigned stride, bytes, lanes, needed, ideal;
  } cases[] = {{0, 4, ~0u, 1, 1},
               {4, 4, ~0u, 32, 1},
               {1, 1, ~0u, 8, 1},
               {8, 8, ~0u, 64, 2},
               {4, 4, 0x5u, 2, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct traffic *t;
    struct launch_counters out;
    assert_int_equal(traffic_open(&t, NULL), CUGEN_OK);
    traffic_begin(t, &out);
    struct traffic_site *site = traffic_site(t, 1, "x", CUGEN_MEMORY_CONSTANT, cases[i].bytes, 0);
    for (unsigned lane = 0; lane < 32; lane++)
      if (cases[i].lanes >> lane & 1) traffic_access(t, site, lane, BASE + cases[i].stride * lane);
    traffic_all_met(t, 32);
    traffic_end(t);
    assert_true(out.counters[0].memory == CUGEN_MEMORY_CONSTANT && out.counters[0].requests == 1);
    assert_true(out.counters[0].needed == cases[i].needed);
    assert_true(out.counters[0].ideal == cases[i].ideal && out.counters[0].lines == 0);
    traffic_close(t);
  }
}

/* Passes of a lane beyond those that are kept are not counted, which the counters say; so do
   counters of another process for which there is no room. */
TEST(test_what_is_not_counted_is_told) {
  static const unsigned passes[] = {512, 513};
  for (size_t i = 0; i < 2; i++) {
    struct traffic *t;
    struct launch_counters out;
    assert_int_equal(traffic_open(&t, NULL), CUGEN_OK);
    traffic_begin(t, &out);
    struct traffic_site *site = traffic_site(t, 1, "x", CUGEN_MEMORY_GLOBAL, 4, 0);
    for (unsigned pass = 0; pass < passes[i]; pass++) traffic_access(t, site, 0, BASE);
    traffic_all_met(t, 32);
    traffic_end(t);
    assert_true(out.counters[0].requests == 512);
    assert_int_equal(out.incomplete, passes[i] > 512);
    traffic_close(t);
  }
  struct launch_counters all = {.count = WATCH_MOST_COUNTERS}, more = {.count = 1};
  for (size_t i = 0; i < all.count; i++) all.counters[i].array[0] = (char)('a' + i);
  traffic_add(&all, &more);
  assert_true(all.incomplete);
}
