/* Arguments with layouts by chance. The config gives the word; the test's own definition walks over
   the memory: tile by tile, each element one place further, a pad behind each innermost tile or
   line. The fill, the digest, the comparison and the check of the padding must agree with it. */
#include "base/hash.h"
#include "configs.h"
#include "gen/config/evaluate.h"
#include "tests/testing.h"
#include "tune/data/elements.h"
#include "tune/data/verify.h"

enum { SEED = 7, MOST = 1 << 16, GAP = -1 };

static uint64_t random_state = 20;

static int64_t draw(int64_t below) {
  return (int64_t)(random_next(&random_state) % (uint64_t)below);
}

/* ---- The definition ------------------------------------------------------------------------- */

/* For each place in memory, the flat index of the element there, or GAP. */
struct memory_walk {
  struct layout layout;
  int64_t shape[KERNEL_MAX_RANK], flat[MOST], length;
};

static void put(struct memory_walk *w, int64_t flat) {
  assert_in_range(w->length, 0, MOST - 1);
  w->flat[w->length++] = flat;
}

static void walk_part(struct memory_walk *w, int level, int depth, const int64_t *origin);

/* Walks over the part of a level that begins at `origin`. Places beyond the shape are gaps. */
static void enter(struct memory_walk *w, int level, const int64_t *origin) {
  const struct layout *l = &w->layout;
  int64_t flat = 0;
  if (level <= l->tiles) {
    walk_part(w, level, 0, origin);
    if (level == l->tiles && l->tiles)
      for (int64_t i = 0; i < l->pad; i++) put(w, GAP);
    return;
  }
  for (int d = 0; d < l->rank && flat != GAP; d++)
    flat = origin[d] < w->shape[d] ? flat * w->shape[d] + origin[d] : GAP;
  put(w, flat);
}

static void walk_part(struct memory_walk *w, int level, int depth, const int64_t *origin) {
  const struct layout *l = &w->layout;
  if (depth == l->rank) {
    enter(w, level + 1, origin);
    return;
  }
  const int d = l->order[level][depth];
  const int64_t step = level < l->tiles ? l->tile[level][d] : 1,
                whole = level ? l->tile[level - 1][d] : w->shape[d];
  int64_t at[KERNEL_MAX_RANK];
  memcpy(at, origin, sizeof at);
  for (int64_t i = 0; i < whole; i += step) {
    at[d] = origin[d] + i;
    walk_part(w, level, depth + 1, at);
  }
  if (!l->tiles && depth == l->rank - 1)
    for (int64_t i = 0; i < l->pad; i++) put(w, GAP);
}

/* Swizzles: inverts bit `base + k` of an offset if bit `base + k + shift` is set. */
static void swizzle(struct memory_walk *w) {
  const struct layout *l = &w->layout;
  struct memory_walk *before = malloc(sizeof *before);
  assert_non_null(before);
  while (w->length % ((int64_t)1 << (l->base + l->bits))) put(w, GAP);
  *before = *w;
  for (int64_t i = 0; i < w->length; i++) {
    int64_t to = i;
    for (int k = 0; k < l->bits; k++)
      if (i >> (l->base + k + l->shift) & 1) to ^= (int64_t)1 << (l->base + k);
    w->flat[to] = before->flat[i];
  }
  free(before);
}

/* ---- By chance ------------------------------------------------------------------------------ */

static void draw_order(int rank, int *order) {
  for (int i = 0; i < rank; i++) {
    const int other = (int)draw(i + 1);
    order[i] = order[other], order[other] = i;
  }
}

static void draw_layout(struct layout *out) {
  *out = (struct layout){.rank = 1 + (int)draw(4), .tiles = (int)draw(LAYOUT_TILES + 1)};
  for (int level = 0; level <= out->tiles; level++) draw_order(out->rank, out->order[level]);
  for (int i = 0; i < out->rank; i++) {
    int64_t extent = 1;
    for (int level = out->tiles - 1; level >= 0; level--)
      out->tile[level][i] = extent *= 1 + draw(3);
  }
  if (draw(2)) out->pad = 1 + draw(4);
  if (draw(2))
    out->bits = 1 + (int)draw(2), out->base = (int)draw(2), out->shift = 2 + (int)draw(2);
}

static int evaluate(const char *declaration, struct kernel_argument *out, cugen_error *err) {
  const struct device_facts facts = {.warp_size = 32};
  struct kernel_argument all[KERNEL_MAX_ARGUMENTS];
  CLOSED(config) *c = parse_body(declaration);
  FREED(problem) problem;
  struct value *slots = calloc(config_slot_count(c, NULL) + 1, sizeof *slots);
  assert_non_null(slots);
  if (problem_set(c, NULL, 0, false, &problem, err)) fail_msg("%s", err->message);
  config_slots(c, &problem, &facts, slots);
  const int status = config_arguments(c, slots, all, err);
  *out = all[0];
  out->name = "A"; /* the name must outlive the config */
  free(slots);
  return status;
}

/* Returns false if the swizzle goes beyond a line. */
static bool declare(const struct memory_walk *w, struct kernel_argument *out) {
  FREED(text) body = {0}, word = {0};
  cugen_error err;
  layout_print(&w->layout, &word);
  text_addf(&body, "output \"A\" { dtype = \"i32\", layout = \"%s\", shape = { ", text_get(&word));
  for (int i = 0; i < w->layout.rank; i++) text_addf(&body, "%d, ", (int)w->shape[i]);
  text_add(&body, "} },");
  const int status = evaluate(text_get(&body), out, &err);
  if (status && !strstr(err.message, "exchanges elements within")) fail_msg("%s", err.message);
  if (!status) assert_string_equal(out->layout, text_get(&word));
  return !status;
}

/* ---- The properties ------------------------------------------------------------------------- */

static void expect_fill(const struct memory_walk *w, struct kernel_argument *a, int32_t *memory) {
  struct kernel_argument packed = *a;
  a->fill = packed.fill = FILL_INDEX;
  element_fill(a, SEED, 0, memory);
  for (int64_t i = 0; i < w->length; i++) assert_int_equal(memory[i], w->flat[i]);
  int32_t *plain = calloc((size_t)w->length, sizeof *plain);
  assert_non_null(plain);
  int64_t count = element_count(a), stride = 1;
  packed.map.count = 0;
  for (int i = a->rank - 1; i >= 0; stride *= a->shape[i--]) packed.stride[i] = stride;
  packed.elements = count;
  element_fill(&packed, SEED, 0, plain);
  assert_true(element_digest(a, memory) == element_digest(&packed, plain));
  free(plain);
}

static void expect_comparison(const struct memory_walk *w, const struct kernel_argument *a,
                              int32_t *memory) {
  const int64_t count = element_count(a), place = draw(w->length);
  const struct samples all = {0};
  int64_t *want = malloc((size_t)count * sizeof *want);
  double error = 0;
  cugen_error err;
  assert_non_null(want);
  for (int64_t i = 0; i < count; i++) want[i] = i;
  assert_int_equal(verify_padding(a, memory, 0xff, &err), CUGEN_OK);
  assert_int_equal(verify_output(a, memory, want, &all, &error, &err), CUGEN_OK);
  memory[place] ^= 1 << 20;
  const bool gap = w->flat[place] == GAP;
  assert_int_equal(verify_padding(a, memory, 0xff, &err), gap ? CUGEN_ERROR_WRONG : CUGEN_OK);
  assert_int_equal(verify_output(a, memory, want, &all, &error, &err),
                   gap ? CUGEN_OK : CUGEN_ERROR_WRONG);
  free(want);
}

static void expect_layout(const struct memory_walk *w, struct kernel_argument *a) {
  assert_int_equal(a->elements, w->length);
  int32_t *memory = malloc((size_t)w->length * sizeof *memory);
  assert_non_null(memory);
  expect_fill(w, a, memory);
  expect_comparison(w, a, memory);
  free(memory);
}

TEST(layouts_agree_with_their_definition) {
  struct memory_walk *w = malloc(sizeof *w);
  const int64_t origin[KERNEL_MAX_RANK] = {0};
  int done = 0, refused = 0;
  assert_non_null(w);
  while (done < 300) {
    struct kernel_argument a = {0};
    w->length = 0;
    draw_layout(&w->layout);
    for (int i = 0; i < w->layout.rank; i++) w->shape[i] = 1 + draw(9);
    if (!declare(w, &a)) {
      refused++;
      continue;
    }
    enter(w, 0, origin);
    if (w->layout.bits) swizzle(w);
    expect_layout(w, &a);
    done++;
  }
  assert_in_range(refused, 1, done);
  free(w);
}

/* ---- Identity ------------------------------------------------------------------------------- */

/* Records keep their keys: the text for layouts that existed before must not change. */
TEST(descriptions_tell_layouts_apart) {
  static const struct {
    const char *attributes, *text;
  } cases[] = {
      {"layout = 'row'", "argument 0 f32 device 192 16 1"},
      {"layout = 'col'", "argument 0 f32 device 192 1 12"},
      {"pitch = 20", "argument 0 f32 device 240 20 1 shape 12 16"},
      {"layout = 'row+4'", "argument 0 f32 device 240 20 1 shape 12 16"},
      {"strides = { 20, 1 }", "argument 0 f32 device 236 20 1 shape 12 16"},
      {"layout = 'row/4x4'", "argument 0 f32 device 192 layout row/4x4 of 12 16"},
      {"layout = 'row/4x4:col'", "argument 0 f32 device 192 layout row/4x4:col of 12 16"},
      {"layout = 'row^2,2,2'", "argument 0 f32 device 192 layout row^2,2,2 of 12 16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) text = {0};
    struct kernel_argument a;
    const char *body =
        formed("input 'A' { dtype = 'f32', shape = { 12, 16 }, %s },", cases[i].attributes);
    WORKS(evaluate(body, &a, &err));
    kernel_argument_describe(&a, ARGUMENT_STORAGE | ARGUMENT_SHAPE, &text);
    assert_string_equal(text_get(&text), cases[i].text);
  }
}
