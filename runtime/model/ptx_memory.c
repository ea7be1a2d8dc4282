/* The cost of one access: coalescing and bank conflicts; see ptx_memory.h. */
#include "ptx_memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  LINES = 1 << 16,
  PAGES = 1 << 14,
  PIECES = 1 << 15,
  BANKS = 32,
  SECTOR = 32,
  PIECE = 64,
  PASS = 128,
  MOST_SECTORS = 4 * PTX_LANES,
  PAGE = 1024 /* bytes in a row of HBM3's pseudo channel: JEDEC JESD238 */
};

struct ptx_line {
  uint64_t sector;
  int64_t arrived; /* 0: the slot is empty */
};

int ptx_memory_open(int64_t l1_bytes, struct ptx_memory *out, cugen_error *err) {
  *out = (struct ptx_memory){.capacity = l1_bytes / SECTOR};
  out->lines = calloc(LINES, sizeof *out->lines);
  out->pages = calloc(PAGES, sizeof *out->pages);
  out->pieces = calloc(PIECES, sizeof *out->pieces);
  return out->lines && out->pages && out->pieces ? CUGEN_OK : error_memory(err);
}

void ptx_memory_close(struct ptx_memory *memory) {
  free(memory->lines);
  free(memory->pages);
  free(memory->pieces);
  memory->lines = NULL;
  memory->pages = NULL;
  memory->pieces = NULL;
}

/* 0 marks an empty slot, since no buffer has page 0. When two pages share a slot, the older page is
   dropped, and counted again if touched again. */
static void touch_page(struct ptx_memory *m, uint64_t page) {
  uint64_t *place = &m->pages[(page ^ page >> 14) % PAGES];
  m->page_count += *place != page;
  *place = page;
}

static void add_piece(const struct ptx_piece *piece, struct ptx_footprint *to) {
  const uint64_t halves[] = {piece->written & UINT32_MAX, piece->written >> SECTOR};
  if (piece->used && piece->loaded) to->fetched += PIECE;
  bool part = false;
  for (int i = 0; i < 2; i++) {
    to->written += halves[i] ? SECTOR : 0;
    part |= halves[i] && halves[i] != UINT32_MAX;
  }
  if (part) to->part += PIECE;
  to->covered += __builtin_popcountll(piece->written);
}

/* When two pieces share a slot, the older piece goes to the footprint, and is counted again if
   touched again. */
static struct ptx_piece *find_piece(struct ptx_memory *m, uint64_t number) {
  struct ptx_piece *piece = &m->pieces[(number ^ number >> 15) % PIECES];
  if (!piece->used || piece->number != number) {
    add_piece(piece, &m->footprint);
    *piece = (struct ptx_piece){.number = number, .used = true};
  }
  return piece;
}

static void touch_pieces(struct ptx_memory *m, uint64_t address, uint64_t bytes, bool load) {
  for (uint64_t end = address + bytes; address < end;) {
    uint64_t at = address % PIECE, count = end - address < PIECE - at ? end - address : PIECE - at;
    struct ptx_piece *piece = find_piece(m, address / PIECE);
    if (load)
      piece->loaded = true;
    else
      piece->written |= (count == PIECE ? UINT64_MAX : (UINT64_C(1) << count) - 1) << at;
    address += count;
  }
}

struct ptx_footprint ptx_footprint_of(const struct ptx_memory *memory) {
  struct ptx_footprint out = memory->footprint;
  for (size_t i = 0; i < PIECES; i++) add_piece(&memory->pieces[i], &out);
  return out;
}

void ptx_touch(struct ptx_memory *memory, uint64_t address, int64_t bytes, bool load) {
  if (bytes > 0) touch_pieces(memory, address, (uint64_t)bytes, load);
  for (uint64_t page = address / PAGE; bytes > 0 && page <= (address + (uint64_t)bytes - 1) / PAGE;
       page++)
    touch_page(memory, page);
}

/* Returns whether the sector is in L1; afterwards the sector is there. */
static bool ptx_memory_look_up(struct ptx_memory *m, uint64_t sector) {
  struct ptx_line *line = &m->lines[(sector ^ sector >> 16) % LINES];
  bool hit = line->arrived && line->sector == sector && m->arrived - line->arrived < m->capacity;
  if (!hit) *line = (struct ptx_line){sector, ++m->arrived};
  return hit;
}

/* Adds the value unless the list has it or is full; returns the new count. Searches from the end,
   where a match is most likely. */
static int add_distinct(uint64_t *all, int count, uint64_t value) {
  for (int i = count; i > 0; i--)
    if (all[i - 1] == value) return count;
  if (count < MOST_SECTORS) all[count++] = value;
  return count;
}

static int at_least_one(int count) {
  return count > 0 ? count : 1;
}

void ptx_global_access(struct ptx_memory *memory, const struct ptx_lanes *lanes, bool load,
                       bool through_l1, struct ptx_access *out) {
  uint64_t sectors[MOST_SECTORS] = {0}, passes[MOST_SECTORS];
  int pass_count = 0, bytes = 0;
  *out = (struct ptx_access){0};
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
    uint64_t address = lanes->address[__builtin_ctz(rest)],
             end = address + (uint64_t)lanes->bytes - 1;
    for (uint64_t s = address / SECTOR; s <= end / SECTOR; s++)
      out->sectors = add_distinct(sectors, out->sectors, s);
    for (uint64_t p = address / PASS; p <= end / PASS; p++)
      pass_count = add_distinct(passes, pass_count, p);
    bytes += lanes->bytes;
    if (!load) touch_pieces(memory, address, (uint64_t)lanes->bytes, false);
  }
  for (int i = 0; i < out->sectors; i++) {
    bool misses = !through_l1 || !ptx_memory_look_up(memory, sectors[i]);
    out->misses += misses;
    if (load && misses) touch_pieces(memory, sectors[i] * SECTOR, SECTOR, true);
  }
  for (int i = 0; i < pass_count; i++) touch_page(memory, passes[i] / (PAGE / PASS));
  out->ideal = at_least_one((bytes + SECTOR - 1) / SECTOR);
  if (out->ideal > out->sectors) out->ideal = out->sectors; /* several lanes read the same bytes */
  out->wavefronts = at_least_one(pass_count);
}

int ptx_most_alike(const struct ptx_lanes *lanes) {
  int most = 0;
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
    const uint64_t address = lanes->address[__builtin_ctz(rest)];
    int alike = 0;
    for (uint32_t other = lanes->mask; other; other &= other - 1)
      alike += lanes->address[__builtin_ctz(other)] == address;
    if (alike > most) most = alike;
  }
  return most;
}

int ptx_atomic_passes(const struct ptx_lanes *lanes) {
  int passes = 0;
  for (uint32_t rest = lanes->mask; rest;) {
    struct ptx_lanes sector = {.mask = 0};
    const uint64_t number = lanes->address[__builtin_ctz(rest)] / SECTOR;
    for (uint32_t lane = rest; lane; lane &= lane - 1)
      if (lanes->address[__builtin_ctz(lane)] / SECTOR == number) sector.mask |= lane & -lane;
    memcpy(sector.address, lanes->address, sizeof sector.address);
    passes += ptx_most_alike(&sector);
    rest &= ~sector.mask;
  }
  return passes;
}

int ptx_distinct_words(const struct ptx_lanes *lanes) {
  uint64_t words[MOST_SECTORS];
  int count = 0;
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
    const uint64_t address = lanes->address[__builtin_ctz(rest)],
                   end = address + (uint64_t)lanes->bytes - 1;
    for (uint64_t word = address / 4; word <= end / 4; word++)
      count = add_distinct(words, count, word);
  }
  return at_least_one(count);
}

/* Returns the largest number of distinct words in one bank. */
static int conflicts(const struct ptx_lanes *lanes, uint32_t mask) {
  uint64_t words[BANKS][PTX_LANES];
  int count[BANKS] = {0}, most = 0;
  for (; mask; mask &= mask - 1) {
    uint64_t address = lanes->address[__builtin_ctz(mask)] & 0xffffffffu;
    for (uint64_t word = address / 4; word <= (address + (uint64_t)lanes->bytes - 1) / 4; word++) {
      int bank = (int)(word % BANKS);
      count[bank] = add_distinct(words[bank], count[bank], word);
      if (count[bank] > most) most = count[bank];
    }
  }
  return most;
}

/* Returns whether each lane's address equals that of its neighbour at the distance; inactive lanes
   match any address. */
static bool ptx_memory_in_pairs(const struct ptx_lanes *lanes, uint32_t mask, int distance) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest), other = lane ^ distance;
    if (mask >> other & 1 && lanes->address[lane] != lanes->address[other]) return false;
  }
  return true;
}

static void count_part(const struct ptx_lanes *lanes, uint32_t part, struct ptx_access *out) {
  if (!part) return;
  out->wavefronts += conflicts(lanes, part);
  out->ideal++;
}

static void count_conflicts(const struct ptx_lanes *lanes, struct ptx_access *out) {
  int group = lanes->bytes >= 16 ? PTX_LANES / 2 : PTX_LANES;
  *out = (struct ptx_access){0};
  for (int first = 0; first < PTX_LANES; first += group) {
    uint32_t part = lanes->mask & (group == PTX_LANES ? UINT32_MAX : ((1u << group) - 1) << first);
    uint32_t half = ((1u << group / 2) - 1) << first;
    bool whole = lanes->bytes < 8 || ptx_memory_in_pairs(lanes, part, 1) ||
                 ptx_memory_in_pairs(lanes, part, 2);
    count_part(lanes, whole ? part : part & half, out);
    if (!whole) count_part(lanes, part & ~half, out);
  }
  out->wavefronts = at_least_one(out->wavefronts);
  out->ideal = at_least_one(out->ideal);
}

/* Returns whether the access is the pattern moved by whole rows of banks. Afterwards the pattern is
   that of the access. */
static bool recognise(struct ptx_pattern *pattern, const struct ptx_lanes *lanes) {
  uint64_t first = lanes->mask ? lanes->address[__builtin_ctz(lanes->mask)] : 0;
  bool same =
      pattern->access.wavefronts && pattern->mask == lanes->mask && pattern->bank == first % PASS;
  for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    uint32_t distance = (uint32_t)(lanes->address[lane] - first);
    same &= pattern->distance[lane] == distance;
    pattern->distance[lane] = distance;
  }
  pattern->mask = lanes->mask;
  pattern->bank = first % PASS;
  return same;
}

void ptx_shared_access(struct ptx_pattern *pattern, const struct ptx_lanes *lanes,
                       struct ptx_access *out) {
  if (!recognise(pattern, lanes)) count_conflicts(lanes, &pattern->access);
  *out = pattern->access;
}
