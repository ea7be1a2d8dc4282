/* filter and particles on the cpu device: every boundary, size and type is compared with the
   references. Plans are used for what no fill shows: NaN, buffers without the alignment that
   wide loads need, an image that changes between launches. */

#include <math.h>

#include "kernels.h"
#include "tests/opening.h"

/* ---- Against the references ----------------------------------------------------------------- */

enum { SETTINGS = 6 };

struct row {
  const char *settings[SETTINGS], *variants[4];
};

static void run_rows(cugen *lib, const char *config, const struct row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, config, rows[i].settings, SETTINGS);
    for (size_t v = 0; v < 4 && rows[i].variants[v]; v++) run_variant(kernel, rows[i].variants[v]);
  }
}

/* Sizes that tiles and strips divide and do not divide, aligned and unaligned rows, images
   smaller than the filter, images of one element. */
TEST(test_filter) {
  static const struct row rows[] = {
      {{"rows=67", "cols=264", "boundary=clamp"},
       {"naive weights_in=global image_in=texture", "tiled weights_in=shared image_in=array",
        "strips weights_in=shared", NULL}},
      {{"rows=67", "cols=264", "boundary=zero", "size=3"},
       {"naive image_in=array", "tiled image_in=texture block_x=64",
        "strips vec=2 strip=8 unrolled=false ahead=true", "strips weights_in=global"}},
      {{"rows=61", "cols=127", "boundary=mirror", "size=7", "pitched=true"},
       {"naive image_in=texture", "tiled weights_in=global",
        "strips vec=1 strip=4 unrolled=false ahead=true", NULL}},
      {{"rows=61", "cols=127", "boundary=wrap", "size=15"},
       {"naive image_in=array", "strips vec=4 strip=32 unrolled=false", NULL}},
      {{"rows=2", "cols=3", "boundary=mirror", "size=15"},
       {"naive", "naive image_in=array", "tiled", "strips vec=4 strip=4 unrolled=false"}},
      {{"rows=3", "cols=2", "boundary=wrap", "size=9"},
       {"naive", "naive image_in=array", "strips vec=2 strip=4 unrolled=false", NULL}},
      {{"rows=1", "cols=1", "boundary=zero", "size=5"},
       {"naive image_in=array", "tiled", "strips", NULL}},
      {{"rows=1", "cols=1031", "boundary=clamp", "size=11"},
       {"strips unrolled=false strip=4", NULL}},
      {{"rows=1031", "cols=1", "boundary=clamp", "size=13"},
       {"tiled", "strips unrolled=false strip=64", NULL}},
      {{"rows=97", "cols=272", "dtype=f16", "size=7"},
       {"naive image_in=texture", "tiled", "strips vec=8 strip=16 unrolled=false resident=0",
        "strips vec=2"}},
      {{"rows=97", "cols=101", "dtype=f64", "size=9", "boundary=zero", "pitched=true"},
       {"naive", "tiled weights_in=global", "strips vec=2 strip=4 unrolled=false", NULL}},
  };
  run_rows(*state, "filter", rows, sizeof rows / sizeof *rows);
}

TEST(test_particles) {
  static const struct row rows[] = {
      {{"n=1004"}, {"plain group=1 per_thread=2", "wide group=64 vec=2", NULL}},
      {{"n=997", "dtype=f64"}, {"wide group=1", "plain group=32 per_thread=8", NULL}},
      {{"n=1"}, {"plain group=0", "wide group=128", NULL}},
      {{"n=515", "fields=7"}, {"wide group=8 vec=4", "plain group=0 per_thread=4", NULL}},
  };
  run_rows(*state, "particles", rows, sizeof rows / sizeof *rows);
}

/* ---- Through plans -------------------------------------------------------------------------- */

enum { ROWS = 70, COLS = 96, SIZE = 5, REACH = SIZE / 2, MOST = ROWS * COLS + 8 };

static const char *const settings[SETTINGS] = {"rows=70", "cols=96", "size=5", "boundary=zero"};

struct picture {
  _Alignas(512) float image[MOST], result[MOST];
  float weights[SIZE * SIZE];
};

static void fill(struct picture *p) {
  for (int i = 0; i < MOST; i++) p->image[i] = (float)(i * 37 % 101);
  for (int i = 0; i < SIZE * SIZE; i++) p->weights[i] = (float)(i % 7 - 3);
  memset(p->result, 0xff, sizeof p->result);
}

/* Returns the wanted result; all numbers are whole, so that it is exact. */
static float wanted(const struct picture *p, const float *image, int row, int col) {
  float sum = 0;
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      int r = row + i - REACH, c = col + j - REACH;
      if (r >= 0 && r < ROWS && c >= 0 && c < COLS)
        sum += p->weights[i * SIZE + j] * image[r * COLS + c];
    }
  return sum;
}

static cugen_call *bind(cugen_plan *plan, struct picture *p, float *image, float *result) {
  void *arguments[] = {image, p->weights, result, NULL, NULL};
  cugen_call *call = call_of(plan, arguments, 5);
  return call;
}

static void launch(const cugen_call *call) {
  WORKS(cugen_call_launch(call, NULL, &err));
}

static void expect_picture(const struct picture *p, const float *image, const float *result,
                           const char *what) {
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLS; c++)
      if (result[r * COLS + c] != wanted(p, image, r, c))
        fail_msg("%s: result[%d][%d] is %g, should be %g", what, r, c, (double)result[r * COLS + c],
                 (double)wanted(p, image, r, c));
}

static const struct choice plans[] = {
    {"configs/filter.lua", "naive", "weights_in = 'constant', image_in = 'global'"},
    {"configs/filter.lua", "naive", "weights_in = 'global', image_in = 'texture'"},
    {"configs/filter.lua", "tiled", "weights_in = 'shared', image_in = 'array'"},
    {"configs/filter.lua", "strips", "weights_in = 'constant', image_in = 'global'"},
    {"configs/filter.lua", "strips", "weights_in = 'shared', image_in = 'global'"},
    {"configs/filter.lua", "naive", "weights_in = 'global', image_in = 'array'"},
    {"configs/filter.lua", "tiled", "weights_in = 'symbol', image_in = 'global'"},
};

enum { PLANS = sizeof plans / sizeof *plans };

/* A NaN in the image reaches the results whose filter covers it, and no others. */
TEST(test_nan_stays_in_the_footprint) {
  static struct picture p;
  for (size_t i = 0; i < PLANS; i++) {
    CLOSED(cugen_plan) *plan = open_choice(*state, &plans[i], settings, SETTINGS);
    fill(&p);
    p.image[33 * COLS + 40] = NAN;
    p.image[0] = INFINITY;
    CLOSED(cugen_call) *call = bind(plan, &p, p.image, p.result);
    launch(call);
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c < COLS; c++) {
        bool nan = abs(r - 33) <= REACH && abs(c - 40) <= REACH, corner = r <= REACH && c <= REACH;
        float got = p.result[r * COLS + c];
        if (corner ? isfinite(got) : nan ? !isnan(got) : got != wanted(&p, p.image, r, c))
          fail_msg("%s: result[%d][%d] is %g", plans[i].implementation, r, c, (double)got);
      }
  }
}

/* An address at which no wide load may begin: elements are loaded one by one, with the same
   results. */
TEST(test_unaligned) {
  static struct picture p;
  for (size_t i = 0; i < PLANS; i++)
    for (int shift = 0; shift < 4; shift++) {
      CLOSED(cugen_plan) *plan = open_choice(*state, &plans[i], settings, SETTINGS);
      fill(&p);
      float *image = p.image + shift, *result = p.result + (shift ^ 1);
      CLOSED(cugen_call) *call = bind(plan, &p, image, result);
      launch(call);
      expect_picture(&p, image, result, plans[i].implementation);
      assert_true(isnan(result[ROWS * COLS]));
      if (result > p.result) assert_true(isnan(result[-1]));
    }
}

/* Every launch sees the image as it is at that time, also through an array. The weights are
   those at bind, wherever the kernel reads them from. */
TEST(test_what_changes_between_launches) {
  static struct picture p;
  for (size_t i = 0; i < PLANS; i++) {
    CLOSED(cugen_plan) *plan = open_choice(*state, &plans[i], settings, SETTINGS);
    fill(&p);
    CLOSED(cugen_call) *call = bind(plan, &p, p.image, p.result);
    struct picture *bound = malloc(sizeof *bound);
    assert_non_null(bound);
    memcpy(bound, &p, sizeof p);
    memset(p.weights, 0, sizeof p.weights);
    launch(call);
    expect_picture(bound, p.image, p.result, plans[i].tunables);
    for (int k = 0; k < MOST; k++) p.image[k] = (float)(k * 53 % 89);
    launch(call);
    expect_picture(bound, p.image, p.result, plans[i].tunables);
    free(bound);
  }
}

/* ---- Particles ------------------------------------------------------------------------------ */

enum { FIELDS = 16, COUNT = 200 };

static cugen_plan *open_particles(cugen *lib, const char *tunables, const char *layout) {
  static const char *const sizes[SETTINGS] = {"n=200"};
  const struct choice choice = {"configs/particles.lua", strstr(tunables, "vec") ? "wide" : "plain",
                                tunables};
  cugen_argument_info info;
  cugen_plan *plan = open_choice(lib, &choice, sizes, SETTINGS);
  assert_int_equal(cugen_plan_argument(plan, 0, &info, NULL), CUGEN_OK);
  assert_string_equal(info.layout, layout);
  assert_int_equal(info.shape[0], COUNT);
  assert_int_equal(info.shape[1], FIELDS);
  return plan;
}

/* Returns the place of field f of particle p, in groups of `lanes` particles. */
static int64_t place(int64_t lanes, int64_t fields, int64_t p, int64_t f) {
  return (p / lanes * fields + f) * lanes + p % lanes;
}

static float number(int64_t p, int64_t f) {
  return (float)((p * 31 + f * 17) % 64) / 64;
}

/* An application arranges its particles by the plan's layout. All layouts move the particles
   alike, from any address. */
TEST(test_layouts_agree) {
  static const struct {
    const char *tunables, *layout;
    int64_t lanes;
  } layouts[] = {{"group = 1", "row", 1},
                 {"group = 0", "col", 200},
                 {"group = 32", "row/32x16:col", 32},
                 {"group = 1, vec = 4", "row", 1},
                 {"group = 0, vec = 4", "col", 200},
                 {"group = 32, vec = 4", "row/32x16:col", 32}};
  static _Alignas(64) float in[FIELDS * 256], out[6 * 256], first[COUNT][6];
  for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
    const int64_t lanes = layouts[i / 2].lanes, shift = (int64_t)(i % 2);
    CLOSED(cugen_plan) *plan =
        open_particles(*state, layouts[i / 2].tunables, layouts[i / 2].layout);
    memset(in, 0, sizeof in);
    float *from = in + shift, *to = out + shift;
    for (int64_t p = 0; p < COUNT; p++)
      for (int64_t f = 0; f < FIELDS; f++) from[place(lanes, FIELDS, p, f)] = number(p, f);
    void *arguments[] = {from, to, NULL, NULL};
    launch_once(plan, arguments, 4);
    for (int64_t p = 0; p < COUNT; p++)
      for (int64_t f = 0; f < 6; f++) {
        float got = to[place(lanes, 6, p, f)];
        if (i == 0) first[p][f] = got;
        if (!(fabsf(got - first[p][f]) <= 1e-6f))
          fail_msg("%s: number %d of particle %d is %g, not %g", layouts[i / 2].tunables, (int)f,
                   (int)p, (double)got, (double)first[p][f]);
      }
  }
  /* A particle inside the box that touches no wall: v = 0 + dt * (w * -drag * v - g), computed
     by hand. */
  float x = number(1, 0), v = number(1, 3), w = number(1, 6);
  float pull = (x > 0.5f ? 0.5f : x) - x, faster = v + 0.01f * (w * (8 * pull - 0.25f * v));
  assert_true(fabsf(first[1][3] - faster) < 1e-6f);
  assert_true(fabsf(first[1][0] - (x + 0.01f * faster)) < 1e-6f);
}

ALL_TESTS_WITH(open_library, close_library);
