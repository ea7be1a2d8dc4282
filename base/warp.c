/* The memory that one access of a warp touches; see warp.h. */
#include "warp.h"

#include <stdlib.h>

enum { WARP = WARP_LANES, WORD = 4, BANKS = 32, SECTOR = 32, LINE = 128 };

/* Counts the distinct words of 4 bytes that the lanes access. *worst becomes the largest number of
   words in one bank. A lane's access of at most 16 bytes has no two words in the same of 32 banks,
   so each bank gets at most WARP words. With banks = 1, all words are in one bank. */
static unsigned warp_count_words(const uintptr_t at[WARP], unsigned lanes, unsigned bytes,
                                 unsigned banks, unsigned *worst) {
  uintptr_t words[BANKS * WARP];
  unsigned counts[BANKS] = {0}, distinct = 0;
  *worst = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uintptr_t first = at[__builtin_ctz(lanes)] / WORD,
                    last = (at[__builtin_ctz(lanes)] + bytes - 1) / WORD;
    for (uintptr_t word = first; word <= last; word++) {
      const unsigned bank = (unsigned)(word & (banks - 1));
      uintptr_t *in_bank = &words[bank * WARP];
      unsigned known = 0;
      while (known < counts[bank] && in_bank[known] != word) known++;
      if (known == counts[bank]) in_bank[counts[bank]++] = word, distinct++;
      if (counts[bank] > *worst) *worst = counts[bank];
    }
  }
  return distinct;
}

/* Returns whether each active lane has the same address as the lane `lane ^ distance` if that lane
   is active. */
static bool warp_in_pairs(const uintptr_t at[WARP], unsigned lanes, unsigned distance) {
  for (unsigned left = lanes; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ distance;
    if (lanes >> other & 1 && at[lane] != at[other]) return false;
  }
  return true;
}

/* Returns how many lanes are served together, as the counters of an H200 show:
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
  for (unsigned first = 0; first < WARP; first += together) {
    unsigned worst;
    const unsigned served = lanes & (~0u >> (WARP - together)) << first;
    *ideal += (warp_count_words(at, served, bytes, BANKS, &worst) + BANKS - 1) / BANKS;
    *needed += worst;
  }
}

void warp_words(const uintptr_t at[WARP], unsigned lanes, unsigned bytes, unsigned *needed,
                unsigned *ideal) {
  warp_count_words(at, lanes, bytes, 1, needed);
  *ideal = (bytes + WORD - 1) / WORD;
}

static int warp_by_value(const void *a, const void *b) {
  const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return (x > y) - (x < y);
}

/* Returns how many pieces of `size` bytes the range [from, to) touches, without the piece of byte
   end - 1, which was counted before (end 0: none was). */
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
