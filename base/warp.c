/* The memory that one access of a warp touches; see warp.h. */
#include "warp.h"

#include <stdlib.h>

enum { WARP = WARP_LANES, BANKS = 32, SECTOR = 32, LINE = 128 };

/* Adds the passes of lanes that are served together: the largest number of distinct words in one
   bank, and at least as many as hold all distinct words. */
static void warp_add_banks(const uintptr_t at[WARP], unsigned lanes, unsigned bytes,
                           unsigned *needed, unsigned *ideal) {
  uintptr_t words[BANKS][WARP];
  unsigned counts[BANKS] = {0}, worst = 0, distinct = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uintptr_t first = at[__builtin_ctz(lanes)] / 4,
                    last = (at[__builtin_ctz(lanes)] + bytes - 1) / 4;
    for (uintptr_t word = first; word <= last; word++) {
      const unsigned bank = (unsigned)(word % BANKS);
      unsigned known = 0;
      while (known < counts[bank] && words[bank][known] != word) known++;
      if (known == counts[bank] && known < WARP) words[bank][counts[bank]++] = word, distinct++;
      if (counts[bank] > worst) worst = counts[bank];
    }
  }
  *needed += worst;
  *ideal += (distinct + BANKS - 1) / BANKS;
}

/* Whether each lane reads the same as its neighbour at that distance; inactive lanes match any. */
static bool warp_in_pairs(const uintptr_t at[WARP], unsigned lanes, unsigned distance) {
  for (unsigned left = lanes; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ distance;
    if (lanes >> other & 1 && at[lane] != at[other]) return false;
  }
  return true;
}

/* How many lanes are served together, by an H200's counters:
   tools/bench/results/2026-11-29-h200-layout-counts.txt. */
static unsigned warp_together(const uintptr_t at[WARP], unsigned lanes, unsigned bytes,
                              bool store) {
  if (store) return bytes <= 4 ? 32 : 128 / bytes;
  if (bytes <= 8) return 32;
  return warp_in_pairs(at, lanes, 1) || warp_in_pairs(at, lanes, 2) ? 16 : 8;
}

void warp_banks(const uintptr_t at[WARP], unsigned lanes, unsigned bytes, bool store,
                unsigned *needed, unsigned *ideal) {
  const unsigned together = warp_together(at, lanes, bytes, store);
  *needed = *ideal = 0;
  for (unsigned first = 0; first < WARP; first += together)
    warp_add_banks(at, lanes & (~0u >> (WARP - together)) << first, bytes, needed, ideal);
}

void warp_words(const uintptr_t at[WARP], unsigned lanes, unsigned bytes, unsigned *needed,
                unsigned *ideal) {
  enum { WORD = 4, MOST = 16 / WORD };
  uintptr_t words[WARP * (MOST + 1)];
  unsigned count = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uintptr_t first = at[__builtin_ctz(lanes)] / WORD,
                    last = (at[__builtin_ctz(lanes)] + bytes - 1) / WORD;
    for (uintptr_t word = first; word <= last; word++) {
      unsigned known = 0;
      while (known < count && words[known] != word) known++;
      if (known == count) words[count++] = word;
    }
  }
  *needed = count;
  *ideal = (bytes + WORD - 1) / WORD;
}

static int warp_by_value(const void *a, const void *b) {
  const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return (x > y) - (x < y);
}

/* The number of pieces of so many bytes between two addresses, without the piece that ends at
   `end`, which was counted before. */
static unsigned warp_pieces(uintptr_t from, uintptr_t to, uintptr_t end, unsigned size) {
  const unsigned count = (unsigned)((to - 1) / size - from / size) + 1;
  return end && (end - 1) / size == from / size ? count - 1 : count;
}

struct warp_touched warp_sectors(const uintptr_t at[WARP], unsigned lanes, unsigned bytes) {
  uintptr_t sorted[WARP], end = 0;
  unsigned count = 0;
  bool ascend = true; /* addresses mostly ascend */
  struct warp_touched out = {0};
  for (; lanes; lanes &= lanes - 1, count++) {
    sorted[count] = at[__builtin_ctz(lanes)];
    ascend &= !count || sorted[count - 1] <= sorted[count];
  }
  if (!ascend) qsort(sorted, count, sizeof *sorted, warp_by_value);
  for (unsigned i = 0; i < count; i++) {
    const uintptr_t from = sorted[i] > end ? sorted[i] : end, to = sorted[i] + bytes;
    if (to <= from) continue;
    out.bytes += (unsigned)(to - from);
    out.sectors += warp_pieces(from, to, end, SECTOR);
    out.lines += warp_pieces(from, to, end, LINE);
    end = to;
  }
  out.sectors_ideal = (out.bytes + SECTOR - 1) / SECTOR;
  return out;
}
