/* The memory that one access of a warp touches; see warp.h. */
#include "warp.h"

#include <stdbool.h>
#include <stdlib.h>

enum { WARP = WARP_LANES, BANKS = 32, SECTOR = 32, LINE = 128 };

/* The largest number of distinct words in one bank. */
static unsigned warp_worst_bank(const uintptr_t at[WARP], unsigned lanes, unsigned bytes) {
  uintptr_t words[BANKS][WARP];
  unsigned counts[BANKS] = {0}, worst = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uintptr_t first = at[__builtin_ctz(lanes)] / 4,
                    last = (at[__builtin_ctz(lanes)] + bytes - 1) / 4;
    for (uintptr_t word = first; word <= last; word++) {
      const unsigned bank = (unsigned)(word % BANKS);
      unsigned known = 0;
      while (known < counts[bank] && words[bank][known] != word) known++;
      if (known == counts[bank] && known < WARP) words[bank][counts[bank]++] = word;
      if (counts[bank] > worst) worst = counts[bank];
    }
  }
  return worst;
}

/* Whether each lane reads the same as its neighbour at that distance; inactive lanes match any. */
static bool warp_in_pairs(const uintptr_t at[WARP], unsigned lanes, unsigned distance) {
  for (unsigned left = lanes; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ distance;
    if (lanes >> other & 1 && at[lane] != at[other]) return false;
  }
  return true;
}

/* 32 lanes of 4 bytes, 16 of 8 or 8 of 16 are served together if no bank has to give two words.
   For 8 and 16 bytes, twice as many lanes are served where neighbours (or next but one) read the
   same. Measured on an H200: docs/check.md. */
void warp_banks(const uintptr_t at[WARP], unsigned lanes, unsigned bytes, unsigned *needed,
                unsigned *ideal) {
  const unsigned group = bytes <= 8 ? 32u : 16u;
  *needed = *ideal = 0;
  for (unsigned first = 0; first < WARP; first += group) {
    const unsigned part = lanes & (bytes <= 8 ? ~0u : 0xffffu << first);
    const unsigned half = bytes <= 8 ? 0xffffu : 0xffu << first;
    if (bytes <= 4 || warp_in_pairs(at, part, 1) || warp_in_pairs(at, part, 2)) {
      *needed += warp_worst_bank(at, part, bytes);
      *ideal += part != 0;
    } else {
      *needed += warp_worst_bank(at, part & half, bytes) + warp_worst_bank(at, part & ~half, bytes);
      *ideal += (part & half ? 1u : 0u) + (part & ~half ? 1u : 0u);
    }
  }
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
