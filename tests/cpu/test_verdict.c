/* Whether a variant is right does not depend on how one comes to it: tuned among others, run
   alone, checked. Configs are drawn whose references, fills, shapes, tolerances and scalars
   depend on shared tunables. One implementation of each is right; the other computes with one
   combination's factor whatever the tunables are, so that by construction it is known where it
   is wrong. */
#include <unistd.h>

#include "api/check.h"
#include "api/records.h"
#include "api/tuning.h"
#include "base/hash.h"
#include "kernels.h"
#include "tests/opening.h"

/* How the reference gets the factor. */
enum path { SOURCE, DERIVED, SCALAR, SPECIALIZED, FORMULA, SUBSTITUTED, PATH_COUNT };

struct drawn {
  enum path path;
  int most;    /* s is 1 to most, u is 0 or 1 */
  int a, b, c; /* the factor is c + a * s + b * u */
  int s, u;    /* the values of s and u at which the factor is planted */
  bool fills, shapes;
  bool loose; /* where s is 2, the tolerance is so large that some wrong factors pass */
};

static const double loose_tolerance = 0.617, tolerance = 1e-5;

static int draw_below(uint64_t *state, int count) {
  return (int)(random_next(state) >> 33) % count;
}

static struct drawn draw(uint64_t *state, int i) {
  struct drawn d = {.path = (enum path)(i % PATH_COUNT), .most = i % 3 ? 2 : 3};
  d.a = 1 + draw_below(state, 2), d.b = draw_below(state, 2), d.c = draw_below(state, 3);
  d.s = 1 + draw_below(state, d.most), d.u = draw_below(state, 2);
  d.fills = draw_below(state, 2), d.shapes = draw_below(state, 2), d.loose = draw_below(state, 2);
  return d;
}

static int factor_of(const struct drawn *d, int s, int u) {
  return d->c + d->a * s + d->b * u;
}

/* Returns whether a variant of the planted implementation is wrong: every result is off by this
   fraction of itself, and by 1 at least. */
static bool is_wrong(const struct drawn *d, int s, int u) {
  int right = factor_of(d, s, u), planted = factor_of(d, d->s, d->u);
  return abs(planted - right) > right * (d->loose && s == 2 ? loose_tolerance : tolerance);
}

/* ---- The config and its templates ----------------------------------------------------------- */

static void add_factor(const struct drawn *d, struct text *out) {
  text_addf(out, "%d + %d * s + %d * u", d->c, d->a, d->b);
}

/* Adds (x + 2) times the factor, written in the way that `path` says. */
static void add_result(const struct drawn *d, const char *x, struct text *out) {
  FREED(text) factor = {0};
  add_factor(d, &factor);
  const char *const k = text_get(&factor);
  switch (d->path) {
  case SOURCE: text_addf(out, "(%s + 2) * (%s)", x, k); break;
  case FORMULA: text_addf(out, "${scale(\"%s + 2\")}", x); break;
  case SUBSTITUTED: text_addf(out, "(%s + 2) * ${%s}", x, k); break;
  default: text_addf(out, "(%s + 2) * k", x);
  }
}

static void add_path(const struct drawn *d, struct text *out) {
  static const char *const forms[PATH_COUNT] = {
      [DERIVED] = "  derive 'k' '%s',\n",
      [SCALAR] = "  scalar 'k' { dtype = 'i32', value = '%s' },\n",
      [SPECIALIZED] = "  scalar 'k' { dtype = 'f32', value = '%s', specialize = true },\n",
      [FORMULA] = "  formula 'scale(v)' 'v * (%s)',\n"};
  FREED(text) factor = {0};
  const char *form = forms[d->path];
  if (!form) return;
  add_factor(d, &factor);
  const char *place = strstr(form, "%s");
  text_add_n(out, form, (size_t)(place - form));
  text_add(out, text_get(&factor));
  text_add(out, place + 2);
}

static void add_config(cugen *lib, const struct drawn *d) {
  FREED(text) out = {0};
  text_add(&out, "kernel 'drawn' {\n  problem 'n' (301),\n  tunable 's' { 1");
  for (int s = 2; s <= d->most; s++) text_addf(&out, ", %d", s);
  text_add(&out, " }, tunable 'u' { 0, 1 },\n");
  text_addf(&out, "  input 'x' { dtype = 'f32', shape = { 'n' }, fill = \"%s\" },\n",
            d->fills ? "s == 1 and 'ones' or u == 1 and 'index' or 'uniform'" : "'uniform'");
  text_addf(&out, "  output 'y' { dtype = 'f32', shape = { '%s' }, tolerance = ",
            d->shapes ? "n + 5 * u" : "n");
  text_addf(&out, d->loose ? "'s == 2 and %g or %g' },\n" : "%g },\n",
            d->loose ? loose_tolerance : tolerance, tolerance);
  text_add(&out, "  scalar 'n' { dtype = 'i32' },\n");
  add_path(d, &out);
  text_add(&out, "  reference 'reference.cu',\n");
  for (int i = 0; i < 2; i++)
    text_addf(&out,
              "  implementation '%s' { template '%s.cu', grid { 'ceil_div(n + 5 * u, 128)' }, "
              "block { 128 } },\n",
              i ? "planted" : "right", i ? "planted" : "right");
  text_add(&out, "}\n");
  add_text(lib, "drawn.lua", &out);
}

static void add_kernel(cugen *lib, const struct drawn *d, const char *name, bool planted) {
  FREED(text) out = {0};
  text_add(&out,
           "__global__ void drawn(${params}) {\n  const int i = blockIdx.x * 128 + threadIdx.x;\n");
  text_addf(&out, "  if (i >= %s) return;\n  const float v = x[i < n ? i : n - 1];\n  y[i] = ",
            d->shapes ? "n + 5 * u" : "n");
  if (planted)
    text_addf(&out, "(v + 2) * %d", factor_of(d, d->s, d->u));
  else
    add_result(d, "v", &out);
  text_add(&out, ";\n}\n");
  add_text(lib, name, &out);
}

static void add_reference(cugen *lib, const struct drawn *d) {
  FREED(text) out = {0};
  text_add(
      &out,
      "__global__ void reference(${params}) {\n"
      "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n  if (t >= sample_count) return;\n"
      "  const long long e = samples ? samples[t] : t;\n  const double v = x[e < n ? e : n - 1];\n "
      " y[t] = ");
  add_result(d, "v", &out);
  text_add(&out, ";\n}\n");
  add_text(lib, "reference.cu", &out);
}

/* ---- The library, with a cache of its own --------------------------------------------------- */

struct bench {
  char cache[64];
  cugen *lib;
  cugen_kernel *kernel;
};

static void bench_open(struct bench *b, const struct drawn *d) {
  strcpy(b->cache, "/tmp/cugen-test-verdict-XXXXXX");
  int file = mkstemp(b->cache);
  assert_true(file >= 0);
  close(file);
  b->lib = OPEN_LIBRARY(.device = "cpu", .cache = b->cache, .worker = getenv("CUGEN_WORKER"));
  add_config(b->lib, d);
  add_kernel(b->lib, d, "right.cu", false);
  add_kernel(b->lib, d, "planted.cu", true);
  add_reference(b->lib, d);
  b->kernel = open_kernel(b->lib, "drawn.lua", NULL, 0);
}

static void bench_close(struct bench *b) {
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  cugen_kernel_close(b->kernel);
  cugen_close(b->lib);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char path[96];
    snprintf(path, sizeof path, "%s%s", b->cache, endings[i]);
    unlink(path);
  }
}

/* ---- Verdicts ------------------------------------------------------------------------------- */

static bool truth(const struct drawn *d, const char *variant) {
  char name[16];
  int s, u;
  assert_int_equal(sscanf(variant, "%15s s=%d u=%d", name, &s, &u), 3);
  return strcmp(name, "right") == 0 || !is_wrong(d, s, u);
}

static void hold(const struct drawn *d, const cugen_record *record, const char *how) {
  cugen_outcome want = truth(d, record->variant) ? CUGEN_OUTCOME_OK : CUGEN_OUTCOME_WRONG;
  if (record->outcome != want)
    fail_msg("path %d, factor %d + %d s + %d u, planted at %d %d, fills %d, shapes %d, loose %d: "
             "%s %s: %s: %s",
             (int)d->path, d->c, d->a, d->b, d->s, d->u, d->fills, d->shapes, d->loose, how,
             record->variant, outcome_text((int)record->outcome), record->reason);
}

static void tuned(struct bench *b, const struct drawn *d) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  options.strategy = "exhaustive";
  options.budget_seconds = -1;
  options.variant_timeout = 60;
  WORKS(api_kernel_tune(b->kernel, &options, &result, &err));
  size_t count = record_count(b->kernel);
  assert_int_equal(count, 4 * d->most);
  for (size_t i = 0; i < count; i++) {
    cugen_record record;
    record = record_at(b->kernel, i);
    hold(d, &record, "tuned");
  }
}

static void ran_alone(struct bench *b, const struct drawn *d, const char *variant) {
  cugen_record record;
  cugen_error error = {0};
  if (api_kernel_run(b->kernel, variant, 60, &record, &error))
    fail_msg("%s: %s", variant, error.message);
  hold(d, &record, "run");
}

static size_t found_wrong(struct bench *b, const char *variant) {
  cugen_check_options options = {0};
  cugen_check check;
  cugen_error error = {0};
  size_t wrong = 0;
  options.variant = variant;
  options.all = !variant;
  options.threads = 1;
  int status = api_kernel_check(b->kernel, &options, &check, &error);
  if (status && status != CUGEN_ERROR_WRONG) fail_msg("%s", error.message);
  for (size_t i = 0; i < check.finding_count; i++) {
    assert_int_equal(check.findings[i].kind, CUGEN_FINDING_WRONG);
    wrong += check.findings[i].variants;
  }
  return wrong;
}

TEST(every_way_gives_one_verdict) {
  enum { CONFIGS = PATH_COUNT };
  uint64_t seed = 20;
  size_t wrong_in_all = 0;
  for (int i = 0; i < CONFIGS; i++) {
    struct drawn d = draw(&seed, i);
    struct bench b;
    size_t wrong = 0;
    char alone[64];
    bench_open(&b, &d);
    tuned(&b, &d);
    for (int v = 0; v < 4 * d.most; v++) {
      snprintf(alone, sizeof alone, "%s s=%d u=%d", v % 2 ? "planted" : "right", 1 + v / 4,
               v / 2 % 2);
      ran_alone(&b, &d, alone);
      wrong += !truth(&d, alone);
    }
    assert_int_equal(found_wrong(&b, NULL), wrong);
    snprintf(alone, sizeof alone, "planted s=%d u=%d", 1 + draw_below(&seed, d.most),
             draw_below(&seed, 2));
    assert_int_equal(found_wrong(&b, alone), !truth(&d, alone));
    bench_close(&b);
    wrong_in_all += wrong;
  }
  assert_true(wrong_in_all > CONFIGS); /* some wrong variants were drawn */
}
