/* Problems of other sizes; see sizes.h. */
#include "sizes.h"
#include "gen/config/evaluate.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sizes derived from the base problem's -------------------------------------------------- */

/* SHAPE_WHOLE: whole tiles. SHAPE_SMALL: about an eighth of the size. SHAPE_LARGER: an odd size,
   not below the base problem's. */
enum shape { SHAPE_WHOLE, SHAPE_SMALL, SHAPE_LARGER, SHAPE_COUNT };
_Static_assert((int)SHAPE_COUNT == (int)SIZES_PLAIN, "sizes_plain makes one problem a shape");
enum { TILE = 64, LARGE = 1 << 12 };

static int64_t shaped(enum shape shape, int64_t size) {
  int64_t tile = TILE;
  while (tile > size) tile /= 2;
  switch (shape) {
  case SHAPE_WHOLE: return (size + tile - 1) / tile * tile + tile;
  case SHAPE_SMALL: return (size / 8) | 1;
  case SHAPE_LARGER: return size < LARGE ? (2 * size + 3) | 1 : size | 1;
  default: return size;
  }
}

/* A size that comes from an implementation's own check { } may have to be a multiple of a power of
   two and may be large, so the small size is rounded up to that multiple, and the odd size is only
   slightly larger. */
static int64_t sizes_shape_of(const struct sizes *s, enum shape shape, int64_t size) {
  int64_t multiple = 1;
  if (!s->owner || shape == SHAPE_WHOLE) return shaped(shape, size);
  if (shape == SHAPE_LARGER) return (size + 3) | 1;
  while (multiple < TILE && size % (2 * multiple) == 0) multiple *= 2;
  return (shaped(shape, size) + multiple - 1) / multiple * multiple;
}

/* ---- How large a problem is ----------------------------------------------------------------- */

/* Returns the threads of a launch in the first of its steps; below 0: an extent has no value. */
static double launch_threads(const struct config_launch *launch, struct value *slots) {
  double threads = 1;
  cugen_error ignored;
  if (launch->steps)
    slots[launch->step_slot] = value_int(0), slots[launch->steps_slot] = value_int(1);
  for (int i = 0; i < 3; i++) {
    const struct expr *extents[] = {launch->grid[i], launch->block[i]};
    for (int e = 0; e < 2; e++) {
      struct value value = value_int(1);
      if (extents[e] && expr_eval(extents[e], slots, &value, &ignored)) return -1;
      threads *= value.type == VALUE_INT && value.integer > 0 ? (double)value.integer : 1;
    }
  }
  return threads;
}

/* Returns NULL when out of memory. The caller frees the slots. */
static struct value *slots_of(const struct sizes *s, const struct problem *problem,
                              const struct variant *variant) {
  struct value *slots =
      calloc(config_slot_count(s->config, variant->implementation) + 3, sizeof *slots);
  if (!slots) return NULL;
  config_slots(s->config, problem, s->facts, slots);
  memcpy(slots + s->config->first_tunable, variant->values,
         variant->implementation->tunable_count * sizeof *slots);
  return slots;
}

struct work {     /* the work of a variant on a problem */
  double extent;  /* bytes of all buffers and threads of all launches; below 0: the problem is not
                     valid */
  double written; /* elements of all outputs */
  double flops;   /* floating point operations; 0: unknown */
};

static struct work sizes_find_work(const struct sizes *s, const struct problem *problem,
                                   const struct variant *variant) {
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  struct work work = {.extent = -1};
  cugen_error ignored;
  struct value *slots = slots_of(s, problem, variant);
  if (!slots) return work;
  if (!config_arguments(s->config, slots, arguments, &ignored)) work.extent = 0;
  for (size_t i = 0; i < s->config->argument_count && work.extent >= 0; i++) {
    if (arguments[i].rank) work.extent += (double)kernel_argument_bytes(&arguments[i]);
    if (config_has_result(arguments[i].kind)) work.written += (double)arguments[i].elements;
  }
  if (s->config->flops.expr && expr_eval_float(s->config->flops.expr, slots, &work.flops, &ignored))
    work.flops = 0;
  for (size_t i = 0; i < variant->implementation->launch_count && work.extent >= 0; i++) {
    const double threads = launch_threads(&variant->implementation->launches[i], slots);
    work.extent = threads < 0 ? -1 : work.extent + threads;
  }
  free(slots);
  return work;
}

static double sizes_extent_of(const struct sizes *s, const struct problem *problem,
                              const struct variant *variant) {
  return sizes_find_work(s, problem, variant).extent;
}

/* ---- Which parameters are sizes ------------------------------------------------------------- */

static bool is_whole_number(const struct value *value) {
  return value && value->type == VALUE_INT;
}

/* Returns whether the parameter can be a size: its values are not listed, a check { } gives it a
   whole number, and the base problem a whole number above 3. */
static bool is_candidate(const struct sizes *s, size_t i) {
  const struct config_problem *p = &s->config->problems[i];
  const struct value *own = s->owner ? &s->owner->check[i] : NULL;
  return (is_whole_number(&p->check) || is_whole_number(own)) && !p->listed &&
         is_whole_number(&s->base->values[i]) && s->base->values[i].integer > 3;
}

/* Measures how the variant's extent (data and threads) grows with parameter i. An extent that grows
   by more than twice the third power of the parameter's growth is more than a size explains.
   changed: room for the values of a problem. */
static void find_growth(struct sizes *s, const struct variant *variant, size_t i,
                        struct value *changed) {
  struct size_growth *growth = &s->growth[i];
  const int64_t size = s->base->values[i].integer;
  const double before = sizes_extent_of(s, s->base, variant);
  memcpy(changed, s->base->values, s->base->count * sizeof *changed);
  for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
    const int64_t other = sizes_shape_of(s, shape, size);
    changed[i] = value_int(other);
    const struct problem problem = {.values = changed, .count = s->base->count};
    const double factor = other > size ? (double)other / (double)size : 1;
    const double after = sizes_extent_of(s, &problem, variant);
    if (before <= 0 || after < 0) continue;
    growth->known = true;
    growth->changes |= after < before || after > before;
    if (after > 2 * factor * factor * factor * before && after > growth->most * before) {
      growth->most = after / before;
      growth->at = other;
    }
  }
}

/* Raises s->most to the extent of the problem of SHAPE_LARGER, and at least to LITTLE, an extent
   that takes almost no time. */
static void find_most(struct sizes *s, const struct variant *variant, struct value *changed) {
  enum { LITTLE = 1 << 20 };
  const struct problem problem = {.values = changed, .count = s->base->count};
  for (size_t i = 0; i < s->base->count; i++)
    changed[i] = s->vary[i] ? value_int(sizes_shape_of(s, SHAPE_LARGER, s->base->values[i].integer))
                            : s->base->values[i];
  const double extent = sizes_extent_of(s, &problem, variant);
  if (s->most < LITTLE) s->most = LITTLE;
  if (extent > s->most) s->most = extent;
}

/* Decides which parameters are sizes, from the first variant of each implementation. */
static void find_sizes(struct sizes *s, const struct space *space, const bool *fixed,
                       struct value *values, struct value *changed) {
  size_t count;
  const struct space_implementation *all = space_implementations(space, &count);
  struct variant variant;
  for (size_t i = 0; i < s->base->count; i++) {
    if ((fixed && fixed[i]) || !is_candidate(s, i)) continue;
    for (size_t n = 0; n < count; n++) {
      if (!all[n].valid) continue;
      space_variant(space, all[n].first, &variant, values);
      find_growth(s, &variant, i, changed);
    }
    const struct size_growth *growth = &s->growth[i];
    s->vary[i] = !growth->known || (growth->changes && growth->most <= 0);
  }
  for (size_t n = 0; n < count; n++) {
    if (!all[n].valid) continue;
    space_variant(space, all[n].first, &variant, values);
    find_most(s, &variant, changed);
  }
}

int sizes_open(const struct config *config, const struct device_facts *facts,
               const struct problem *base, const struct problem *own, const struct space *space,
               const struct config_implementation *owner, const bool *fixed, struct sizes *out,
               cugen_error *err) {
  *out = (struct sizes){.config = config, .facts = facts, .base = base, .own = own, .owner = owner};
  struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
  struct value *changed = calloc(base->count + 1, sizeof *changed);
  out->vary = calloc(base->count + 1, sizeof *out->vary);
  out->growth = calloc(base->count + 1, sizeof *out->growth);
  const bool room = values && changed && out->vary && out->growth;
  if (room) find_sizes(out, space, fixed, values, changed);
  free(values);
  free(changed);
  if (room) return CUGEN_OK;
  sizes_close(out);
  return error_memory(err);
}

void sizes_close(struct sizes *s) {
  free(s->vary);
  free(s->growth);
  *s = (struct sizes){0};
}

/* ---- The tiles of a variant ----------------------------------------------------------------- */

enum { MOST_TILES = 3, LARGEST_TILE = 1 << 12 };

struct tiles { /* the tiles of one size */
  int64_t of[MOST_TILES];
  size_t count;
};

static void add_tile(struct tiles *tiles, int64_t tile) {
  if (tile < 2 || tile > LARGEST_TILE || tiles->count == MOST_TILES) return;
  for (size_t i = 0; i < tiles->count; i++)
    if (tiles->of[i] == tile) return;
  tiles->of[tiles->count++] = tile;
}

/* Returns the extent of the grid for a size; below 0 if the grid has none, as `n / 32` for 33. */
static int64_t extent_at(const struct expr *grid, struct value *slots, int slot, int64_t size) {
  int64_t extent;
  cugen_error ignored;
  slots[slot] = value_int(size);
  return expr_eval_int(grid, slots, &extent, &ignored) ? -1 : extent;
}

/* Returns the number of elements of the size that the first block covers: for ceil_div(n, 48) the
   extent is 1 up to n = 48, for n / 48 it begins at n = 48. Returns 0 if the extent does not depend
   on the size within the range of tiles. */
static int64_t tile_of(const struct expr *grid, struct value *slots, int slot) {
  const int64_t least = extent_at(grid, slots, slot, 1);
  int64_t low = 1, high = 2; /* the extent at low is `least` */
  if (least < 0) {
    while (high <= LARGEST_TILE && extent_at(grid, slots, slot, high) < 0) high++;
    return high <= LARGEST_TILE ? high : 0;
  }
  while (high <= LARGEST_TILE + 1 && extent_at(grid, slots, slot, high) == least)
    low = high, high *= 2;
  if (extent_at(grid, slots, slot, high) == least) return 0;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    *(extent_at(grid, slots, slot, middle) == least ? &low : &high) = middle;
  }
  return low;
}

/* slots: those of the variant on the base problem; only the slot of size i is restored. */
static void find_tiles(const struct sizes *s, const struct variant *variant, size_t i,
                       struct value *slots, struct tiles *out) {
  const struct config_implementation *implementation = variant->implementation;
  const int slot = s->config->first_problem + (int)i;
  *out = (struct tiles){.count = 0};
  for (size_t l = 0; l < implementation->launch_count; l++) {
    const struct config_launch *launch = &implementation->launches[l];
    if (launch->steps)
      slots[launch->step_slot] = value_int(0), slots[launch->steps_slot] = value_int(1);
    for (int d = 0; d < 3; d++)
      if (expr_sees(launch->grid[d], slot)) add_tile(out, tile_of(launch->grid[d], slots, slot));
  }
  slots[slot] = s->base->values[i];
  if (out->count) return;
  for (size_t t = 0; t < implementation->tunable_count; t++)
    if (is_whole_number(&variant->values[t])) add_tile(out, variant->values[t].integer);
  for (size_t l = 0; l < implementation->launch_count; l++)
    if (implementation->launches[l].block[0])
      add_tile(out, extent_at(implementation->launches[l].block[0], slots, slot,
                              s->base->values[i].integer));
}

/* ---- Problems ------------------------------------------------------------------------------- */

static bool sizes_same_values(const struct value *a, const struct value *b, size_t count) {
  size_t i = 0;
  while (i < count && value_equal(a[i], b[i])) i++;
  return i == count;
}

/* Keeps the problem behind the last one of the list, unless it equals the base problem or a problem
   of the list. */
static void keep_new(const struct sizes *s, struct size_list *list) {
  const size_t count = s->base->count;
  const struct value *made = list->values + list->count * count;
  bool known = sizes_same_values(made, s->base->values, count);
  for (size_t j = 0; j < list->count && !known; j++)
    known = sizes_same_values(made, list->values + j * count, count);
  list->count += !known;
}

/* Allocates room for `most` problems and one more. */
static int begin_list(const struct sizes *s, size_t most, struct size_list *out, cugen_error *err) {
  *out =
      (struct size_list){.values = calloc((most + 1) * (s->base->count + 1), sizeof *out->values)};
  return out->values ? CUGEN_OK : error_memory(err);
}

int sizes_plain(const struct sizes *s, struct size_list *out, cugen_error *err) {
  const int status = begin_list(s, SIZES_PLAIN, out, err);
  for (enum shape shape = 0; shape < SHAPE_COUNT && !status; shape++) {
    struct value *made = out->values + out->count * s->base->count;
    for (size_t i = 0; i < s->base->count; i++)
      made[i] = s->vary[i] ? value_int(sizes_shape_of(s, shape, s->base->values[i].integer))
                           : s->base->values[i];
    keep_new(s, out);
  }
  return status;
}

/* The edges of a tile of t elements: tiles * t + more. The first is the tile itself. */
static const struct { int64_t tiles, more; } edges[] = {{1, 0}, {1, -1}, {1, 1}, {2, 1}, {0, 1}};
enum { EDGES = sizeof edges / sizeof *edges };

/* In problem `number` 0 each size is a tile; in the other problems the j-th size is j edges further
   than the first. A size without a tile is unchanged. If a size has several tiles, the problems
   alternate between these. */
static void make_around(const struct sizes *s, const struct tiles *tiles, size_t number,
                        struct value *made) {
  size_t turn = 0;
  for (size_t i = 0; i < s->base->count; i++) {
    made[i] = s->base->values[i];
    if (!s->vary[i] || !tiles[i].count) continue;
    const size_t edge = number ? (number - 1 + turn++) % EDGES : 0;
    const int64_t tile = tiles[i].of[number % tiles[i].count];
    made[i] = value_int(edges[edge].tiles * tile + edges[edge].more);
  }
}

/* Estimates the nanoseconds that a checked run of the variant and the reference take on the problem
   `made`, in which parameter `which` has its value of the user's problem; below 0 if there is no
   such problem. The reference may sum over the parameter for each output. If neither data nor
   threads nor operations depend on the parameter, the parameter may be a number of rounds. */
static double own_time(const struct sizes *s, const struct variant *variant, size_t which,
                       struct value *made) {
  const struct problem problem = {.values = made, .count = s->base->count};
  const struct value own = s->own->values[which], base = s->base->values[which];
  made[which] = base;
  const struct work before = sizes_find_work(s, &problem, variant);
  made[which] = own;
  const struct work work = sizes_find_work(s, &problem, variant);
  if (work.extent < 0) return -1;
  const double own_size = own.type == VALUE_INT ? (double)own.integer : 1;
  const double least = base.type == VALUE_INT && base.integer > 1 ? (double)base.integer : 1;
  const bool depends = work.extent != before.extent || work.flops != before.flops;
  const double rounds = depends || own_size < least ? 1 : own_size / least;
  return rounds * (8 * work.extent + 16 * work.flops) + 2 * work.written * own_size;
}

/* Adds a problem in which parameter `which` has its value of the user's problem, and each other
   size is a tile; or small (SHAPE_SMALL), if the problem with tiles takes too long or is not valid.
   Adds no problem if small sizes do not help. */
static void sizes_add_own(const struct sizes *s, const struct variant *variant,
                          const struct tiles *tiles, size_t which, struct size_list *list) {
  static const double most = 1e9;
  struct value *made = list->values + list->count * s->base->count;
  for (int small = 0; small < 2; small++) {
    make_around(s, tiles, 0, made);
    for (size_t i = 0; i < s->base->count && small; i++)
      if (s->vary[i])
        made[i] = value_int(sizes_shape_of(s, SHAPE_SMALL, s->base->values[i].integer));
    const double time = own_time(s, variant, which, made);
    if (time < 0 || time > most) continue;
    keep_new(s, list);
    return;
  }
}

int sizes_around(const struct sizes *s, const struct variant *variant, struct size_list *out,
                 cugen_error *err) {
  int status = begin_list(s, SIZES_AROUND + s->base->count, out, err);
  struct value *slots = slots_of(s, s->base, variant);
  struct tiles *tiles = calloc(s->base->count + 1, sizeof *tiles);
  if (!status && !(slots && tiles)) status = error_memory(err);
  for (size_t i = 0; i < s->base->count && !status; i++)
    if (s->vary[i]) find_tiles(s, variant, i, slots, &tiles[i]);
  for (size_t number = 0; number < SIZES_AROUND && !status; number++) {
    struct value *made = out->values + out->count * s->base->count;
    make_around(s, tiles, number, made);
    const struct problem problem = {.values = made, .count = s->base->count};
    const double extent = sizes_extent_of(s, &problem, variant);
    if (extent >= 0 && extent <= s->most) keep_new(s, out);
  }
  for (size_t i = 0; i < s->base->count && s->own && !status; i++)
    if (!s->config->problems[i].listed && !value_equal(s->own->values[i], s->base->values[i]))
      sizes_add_own(s, variant, tiles, i, out);
  free(slots);
  free(tiles);
  return status;
}
