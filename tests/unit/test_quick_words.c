/* The short path for an access to a word gives the same as the full one: random accesses,
   barriers, fences, blocks and launches leave the same shadow memory and findings on either
   path. Also tests what the full path says of parts of words, of blocks and of processes. */

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "emulator/detector/quick_words.h"
#include "emulator/detector/speculation.h"
#include "tests/testing.h"

enum { WORDS = 6, THREADS = 64, EVENTS = 100000, FRESH = 200, SITES = 5 };

/* One of two watches, which see the same accesses. */
struct side {
  struct watch_report *report;
  struct watch *watch;
  struct cpu_builtins builtins;
  struct region region;
  bool quick;
  uint64_t settled, plain;
};

static char memory[WORDS * WATCH_WORD] __attribute__((aligned(16)));

static void begin_launch(struct watch *w) {
  hb_launch(&w->hb, 1, THREADS);
  ra_launch(w->ra);
  flags_launch(w);
}

static void begin_block(struct watch *w, uint64_t block) {
  w->block = block;
  hb_block(&w->hb, block);
  ra_block(w->ra);
  flags_block(w);
}

static void open_side(struct side *s, bool quick, const struct region *region) {
  *s = (struct side){.report = calloc(1, sizeof *s->report), .region = *region, .quick = quick};
  assert_non_null(s->report);
  WORKS(watch_open(s->report, NULL, &s->watch, &err));
  WORKS(shadow_make(&s->region, &err));
  s->watch->launch = (struct observed_launch){.builtins = &s->builtins,
                                              .grid = {8, 1, 1},
                                              .block = {THREADS, 1, 1},
                                              .blocks = 1,
                                              .padded = THREADS,
                                              .cluster = {1, 1, 1}};
  s->watch->hb.epoch = 1;
  begin_launch(s->watch);
  begin_block(s->watch, 0);
}

/* Clears the shadow memory: a word keeps rare states, and the short path does not take such a
   word. */
static void renew(struct side *s) {
  const struct region before = s->region;
  shadow_drop(&s->region);
  s->region = before;
  s->region.bytes = NULL;
  WORKS(shadow_make(&s->region, &err));
}

static void close_side(struct side *s) {
  shadow_drop(&s->region);
  watch_close(s->watch);
  free(s->report);
}

static bool settle(struct side *s, const struct access *a) {
  const size_t word = (a->at - s->region.start) / WATCH_WORD;
  const struct last_access now = {.epoch = s->watch->hb.epoch,
                                  .site = a->site,
                                  .thread = (uint16_t)a->thread,
                                  .bytes = WATCH_WHOLE_WORD,
                                  .kind = (uint8_t)a->kind};
  struct cell *cell = &s->region.cells[word];
  struct read_cell *reads = &s->region.reads[word];
  s->plain++;
  const bool settled =
      a->kind ? quick_write(s->watch, cell, reads, &now, s->region.shared)
              : quick_read(s->watch, cell, reads, &now, s->region.shared, s->region.unwritten);
  s->settled += settled;
  return settled;
}

static void access_word(struct side *s, struct access a) {
  a.watch = s->watch;
  a.region = &s->region;
  s->builtins.linear = a.thread;
  if (s->watch->overwriting.finding) finding_compare(s->watch);
  const bool plain = a.bytes == WATCH_WORD && a.kind <= CPU_WRITE;
  if (!s->quick || !plain || !settle(s, &a)) shadow_visit(&a);
}

/* Mostly plain accesses to words, sometimes to a part of a word; and volatile and atomic
   accesses to the first word. */
static struct access random_access(uint64_t *state) {
  static const unsigned kinds[] = {CPU_VOLATILE, CPU_VOLATILE | CPU_WRITE, CPU_ATOMIC | CPU_WRITE};
  const uint64_t r = random_next(state), word = (r >> 8) % WORDS;
  const bool rare = word == 0 && r % 8 == 0, part = r % 8 == 1;
  const unsigned bytes = part ? 1 + (r >> 60) % 2 : WATCH_WORD;
  return (struct access){.at =
                             (uintptr_t)memory + word * WATCH_WORD + (part ? (r >> 58) % 2 * 2 : 0),
                         .bytes = bytes,
                         .kind = rare ? kinds[(r >> 20) % 3] : (r >> 20) % 2 * CPU_WRITE,
                         .thread = (unsigned)((r >> 32) % ((r >> 40) % 4 ? 3 : THREADS)),
                         .site = (uint32_t)(1 + (r >> 50) % SITES),
                         .own = true};
}

static void order(struct watch *w, uint64_t r) {
  const unsigned thread = (unsigned)(r >> 32) % THREADS;
  switch (r % 8) {
  case 0: begin_launch(w), begin_block(w, 0); break;
  case 1: begin_block(w, w->block + 1); break;
  case 2: hb_lanes(&w->hb, thread / HB_WARP, ~0u, true); break;
  case 3: ra_fence(w->ra, thread, r >> 60 & 1); break;
  default: hb_barrier(&w->hb, 0), ra_barrier(w->ra, 0); break;
  }
}

static void assert_same(const struct side *a, const struct side *b) {
  assert_memory_equal(a->region.cells, b->region.cells, WORDS * sizeof *a->region.cells);
  assert_memory_equal(a->region.reads, b->region.reads, WORDS * sizeof *a->region.reads);
  assert_memory_equal(a->region.rare, b->region.rare, WORDS * sizeof *a->region.rare);
  assert_memory_equal(a->watch->written, b->watch->written, THREADS * sizeof *a->watch->written);
  assert_int_equal(a->report->finding_count, b->report->finding_count);
}

static void compare(const struct region *region, uint64_t seed) {
  struct side sides[2];
  uint64_t state = seed;
  for (int i = 0; i < 2; i++) open_side(&sides[i], i, region);
  for (int event = 0; event < EVENTS; event++) {
    for (int i = 0; i < 2 && event % FRESH == 0; i++) renew(&sides[i]);
    const uint64_t r = random_next(&state);
    const struct access a = random_access(&state);
    for (int i = 0; i < 2; i++)
      if (r % 6)
        access_word(&sides[i], a);
      else
        order(sides[i].watch, r >> 4);
    assert_same(&sides[0], &sides[1]);
  }
  assert_memory_equal(sides[0].report->findings, sides[1].report->findings,
                      sizeof sides[0].report->findings);
  assert_true(sides[0].report->finding_count > 0);
  assert_true(sides[1].settled > sides[1].plain / 20); /* both paths were taken */
  assert_true(sides[1].settled < sides[1].plain);
  for (int i = 0; i < 2; i++) close_side(&sides[i]);
}

TEST(test_same) {
  const uintptr_t start = (uintptr_t)memory, end = start + sizeof memory;
  const struct region regions[] = {{.start = start, .end = end, .shared = true, .unwritten = true},
                                   {.start = start, .end = end, .unwritten = true},
                                   {.start = start, .end = end}};
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
    for (uint64_t seed = 1; seed <= 2; seed++) compare(&regions[i], 10 * i + seed);
}

/* Parts of one word are separate: two threads that write different halves do not race; writing a
   common byte does. */
TEST(test_parts_of_a_word) {
  const uintptr_t start = (uintptr_t)memory;
  const struct region region = {.start = start, .end = start + sizeof memory, .shared = true};
  static const struct {
    unsigned thread, at, bytes, findings;
  } writes[] = {{0, 4, 2, 0}, {40, 6, 2, 0}, {50, 3, 1, 0}, {50, 8, 1, 0}, {50, 5, 1, 1}};
  struct side side;
  open_side(&side, false, &region);
  for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
    access_word(&side, (struct access){.at = start + writes[i].at,
                                       .bytes = writes[i].bytes,
                                       .kind = CPU_WRITE,
                                       .thread = writes[i].thread,
                                       .site = (uint32_t)i + 1});
    assert_int_equal(side.report->finding_count, writes[i].findings);
  }
  close_side(&side);
}

/* What an earlier block wrote to shared memory counts as unwritten in the next block, byte by
   byte. */
TEST(test_a_block_begins_unwritten) {
  const uintptr_t start = (uintptr_t)memory;
  const struct region region = {
      .start = start, .end = start + sizeof memory, .shared = true, .unwritten = true};
  static const struct {
    unsigned block, at, bytes, kind, findings;
  } accesses[] = {{0, 4, 4, CPU_WRITE, 0},
                  {0, 5, 1, 0, 0},
                  {1, 4, 1, CPU_WRITE, 0},
                  {1, 4, 1, 0, 0},
                  {1, 5, 1, 0, 1}};
  struct side side;
  open_side(&side, false, &region);
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
    if (side.watch->block != accesses[i].block) begin_block(side.watch, accesses[i].block);
    access_word(&side, (struct access){.at = start + accesses[i].at,
                                       .bytes = accesses[i].bytes,
                                       .kind = accesses[i].kind,
                                       .site = (uint32_t)i + 1});
    assert_int_equal(side.report->finding_count, accesses[i].findings);
  }
  assert_int_equal(side.report->findings[0].kind, CUGEN_FINDING_UNINITIALISED);
  close_side(&side);
}

/* After hb_follow to an earlier epoch a thread still knows the later one. */
TEST(test_follow) {
  struct happens_before *hb = calloc(1, sizeof *hb);
  assert_non_null(hb);
  hb_launch(hb, 1, THREADS);
  hb_block(hb, 0);
  const struct event then = {.epoch = hb->epoch + 5, .thread = 1};
  hb_follow(hb, 40, 1, then.epoch);
  hb_follow(hb, 40, 1, then.epoch - 2);
  assert_true(hb_by_clocks(hb, &then, 40));
  assert_false(hb_by_clocks(hb, &(const struct event){then.epoch + 1, 1, false}, 40));
  assert_false(hb_by_clocks(hb, &then, 41));
  hb_close(hb);
  free(hb);
}

/* A fence.proxy.async of an earlier run, whose epochs were higher, counts for no later run. */
TEST(test_a_run_begins_without_fences) {
  const uintptr_t start = (uintptr_t)memory;
  const struct region region = {.start = start, .end = start + sizeof memory, .shared = true};
  struct access access = {.at = start, .bytes = WATCH_WORD, .kind = CPU_WRITE, .site = 1};
  struct side side;
  open_side(&side, false, &region);
  for (int i = 0; i < 100; i++) hb_barrier(&side.watch->hb, 0);
  watch_observer(side.watch)->ops->proxy_fence(side.watch, 0);
  WORKS(watch_buffers(side.watch, NULL, 0, &err));
  renew(&side);
  begin_launch(side.watch);
  begin_block(side.watch, 0);
  access_word(&side, access);
  hb_barrier(&side.watch->hb, 0);
  access.kind = OBSERVED_PROXY;
  access_word(&side, access);
  assert_int_equal(side.report->finding_count, 1);
  assert_int_equal(side.report->findings[0].kind, CUGEN_FINDING_MISSING_FENCE);
  close_side(&side);
}

/* ---- Blocks in two processes ---------------------------------------------------------------- */

enum { MOST_CLAIMS = 3 };

struct claim {
  uint64_t block;
  size_t at, bytes; /* bytes 0: there is none */
  bool write;
};

/* Two blocks claim memory in turn, each in a process of its own, and write where they claim. */
static enum speculation_outcome claim_all(const struct claim claims[MOST_CLAIMS], char *bytes,
                                          atomic_int *turn) {
  const struct speculation_memory area = {bytes, 16};
  const struct speculation_range range = {.first = 0, .end = 2, .step = 1};
  struct speculation *s;
  atomic_store(turn, 0);
  memset(bytes, 0, 16);
  const enum speculation_outcome outcome = speculation_run(&area, 1, 2, &range, &s);
  if (outcome == SPECULATION_CHILD) {
    const uint64_t block = speculation_next(s);
    for (int i = 0; i < MOST_CLAIMS && claims[i].bytes; i++) {
      const struct claim *own = &claims[i];
      if (own->block != block) continue;
      while (atomic_load(turn) != i) sched_yield();
      if (own->write) memset(bytes + own->at, 1, own->bytes);
      speculation_claim(s, 0, own->at, own->bytes, own->write);
      atomic_fetch_add(turn, 1);
    }
    speculation_end(s);
  }
  for (size_t i = 0; i < 16; i++) {
    const bool written = outcome == SPECULATION_DONE && speculation_written(s, 0, i);
    assert_int_equal(bytes[i] != 0, written);
  }
  speculation_close(s);
  return outcome;
}

/* If one block touches what another one wrote, the work of both is dropped; the last claim
   decides. */
TEST(test_claims) {
  static const struct {
    struct claim claims[MOST_CLAIMS];
    enum speculation_outcome outcome;
  } cases[] = {
      {{{0, 4, 4, false}, {1, 4, 4, false}}, SPECULATION_DONE},
      {{{0, 4, 4, true}, {1, 4, 4, false}}, SPECULATION_NONE},
      {{{0, 4, 4, false}, {1, 4, 4, true}}, SPECULATION_NONE},
      {{{0, 4, 4, true}, {1, 4, 4, true}}, SPECULATION_NONE},
      {{{0, 4, 4, true}, {1, 8, 4, false}}, SPECULATION_DONE},
      {{{0, 4, 1, true}, {1, 5, 1, true}}, SPECULATION_DONE},
      {{{0, 4, 1, true}, {1, 4, 1, false}}, SPECULATION_NONE},
      {{{0, 4, 1, true}, {1, 2, 8, false}}, SPECULATION_NONE},
      {{{0, 2, 8, false}, {1, 4, 1, true}}, SPECULATION_NONE},
      {{{0, 4, 4, false}, {0, 4, 4, true}, {1, 4, 4, false}}, SPECULATION_NONE},
      {{{0, 4, 4, true}, {0, 4, 4, false}, {1, 4, 4, false}}, SPECULATION_NONE},
      {{{0, 4, 4, false}, {1, 4, 4, false}, {0, 4, 4, true}}, SPECULATION_NONE},
      {{{0, 4, 4, false}, {0, 4, 4, true}, {0, 4, 4, false}}, SPECULATION_DONE},
  };
  char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(shared != MAP_FAILED);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (claim_all(cases[i].claims, shared, (atomic_int *)(void *)(shared + 64)) != cases[i].outcome)
      fail_msg("case %zu", i);
  munmap(shared, 4096);
}
