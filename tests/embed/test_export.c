/* Exported bundles: they compile without warnings, choose what the live runtime chooses, run
   over the fake driver and are the same bytes each time; wrong input is refused. Images come
   from the cache, except matmul's, which NVRTC compiles; no driver is needed. */
#include <signal.h>
#include <sys/resource.h>

#include "api/export/bundle.h"
#include "api/export/export.h"
#include "base/hash.h"
#include "base/system.h"
#include "tests/testing.h"

static const char config[] = "tests/configs/export.lua",
                  device[] = "NVIDIA Pretended sm_90 132 SMs";
static cugen *lib;
static cugen_kernel *base;
static struct export_device target;
static struct text folder;         /* the folder of this test */
static cugen_export_result result; /* of the last export */

/* ---- Records and images, planted ------------------------------------------------------------ */

static void set_problem(const char *const *settings, size_t count, struct problem *out) {
  WORKS(problem_set(base->opened.config, settings, count, false, out, &err));
  WORKS(lookup_set_problem(&target.lookup, out, &err));
  WORKS(lookup_space(&target.lookup, &err));
}

static void expand(uint64_t index, struct kernel_spec *spec) {
  WORKS(lookup_expand(&target.lookup, index, spec, &err));
}

/* Stores an image of a variant of the problem that is set. Different sources get different
   images. */
static void keep_image(uint64_t index) {
  struct cache *cache;
  const struct lookup *l = &target.lookup;
  char name[] = "rows", empty[] = "";
  FREED(kernel_spec) spec;
  FREED(text) key = {0};
  assert_int_equal(api_cache(lib, &cache, NULL), CUGEN_OK);
  expand(index, &spec);
  struct compiled image = {.image = spec.source_hash.hex,
                           .image_length = 33,
                           .entry_count = 1,
                           .entries = {name},
                           .log = empty};
  assert_int_equal(
      cache_image_key(&spec, l->arch, text_get(&l->options), l->nvrtc_version, &key, NULL), 0);
  assert_int_equal(cache_image_store(cache, text_get(&key), &image, NULL), CUGEN_OK);
}

static void keep_record(const char *variant, double seconds, bool stale) {
  struct cache *cache;
  FREED(kernel_spec) spec;
  uint64_t index;
  WORKS(space_find(target.lookup.space, variant, &index, &err));
  expand(index, &spec);
  struct cache_record record = {.variant = spec.variant,
                                .hash = stale ? hash_bytes("other", 5) : spec.hash,
                                .reason = (char *)(uintptr_t) "",
                                .seconds = seconds,
                                .samples = 3};
  const struct cache_key key = lookup_key(&target.lookup);
  assert_int_equal(api_cache(lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(cache_store(cache, &key, &record, NULL), CUGEN_OK);
}

/* Stores images of all variants, and a record of one unless it is NULL. */
static void remember(const char *const *settings, size_t count, const char *variant, double seconds,
                     bool stale) {
  FREED(problem) problem;
  set_problem(settings, count, &problem);
  for (uint64_t i = 0; i < space_valid(target.lookup.space); i++) keep_image(i);
  if (variant) keep_record(variant, seconds, stale);
}

#define REMEMBER(variant, seconds, ...)                                                            \
  remember((const char *const[]){__VA_ARGS__},                                                     \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), variant, seconds, false)

static void plant(void) {
  REMEMBER("wide vec=4 threads=128", 1.0, "M=500", "N=1000");
  REMEMBER("wide vec=1 threads=64", 1.2, "M=500", "N=1000");
  REMEMBER("plain vec=1 threads=256", 1.5, "M=500", "N=1000");
  REMEMBER("wide vec=2 threads=256", 2.0, "M=2000", "N=1000");
  REMEMBER("wide vec=4 threads=64", 2.004, "M=2000", "N=1000");
  REMEMBER("wide vec=1 threads=256", 3.0, "M=2000", "N=1000");
  REMEMBER("plain vec=1 threads=128", 1.0, "M=2000", "N=4001");
  REMEMBER("wide vec=2 threads=64", 0.5, "M=100", "N=64", "dtype=f64");
  REMEMBER("plain vec=1 threads=256", 0.7, "M=100", "N=64", "dtype=f64");
  REMEMBER("wide vec=4 threads=256", 1.0, "M=700", "N=700", "specialize=true");
  REMEMBER(NULL, 0, "M=131", "N=67");
  REMEMBER(NULL, 0, "M=131", "N=67", "dtype=f64");
  REMEMBER(NULL, 0, "M=131", "N=67", "specialize=true");
  REMEMBER(NULL, 0, "M=1000", "N=1024", "dtype=f64");
  REMEMBER(NULL, 0, "M=1000", "N=1024", "specialize=true");
  REMEMBER(NULL, 0, "M=1000");
}

/* ---- Set-up --------------------------------------------------------------------------------- */

/* A text in the config, and its replacement. */
struct change {
  const char *from, *to;
};

static void apply(struct text *file, const struct change *change) {
  struct text changed = {0};
  const char *from = text_get(file), *at = strstr(from, change->from);
  if (!at) fail_msg("no %s", change->from);
  text_add_n(&changed, from, (size_t)(at - from));
  text_addf(&changed, "%s%s", change->to, at + strlen(change->from));
  text_free(file);
  *file = changed;
}

/* A template that reads a name which depends on the divisors of a size: each value of the name
   is another code. */
static const struct change no_change[] = {{NULL, NULL}},
                           by_width[] = {{"__constant__",
                                          "__device__ int room[${width}];\n__constant__"},
                                         {NULL, NULL}},
                           *shaping = no_change;

/* Adds the config or template with changes, in memory. */
static int add_changed(const char *path, const struct change *changes, cugen_error *err) {
  FREED(text) file = {0};
  int status = file_read(path, &file, err);
  for (; !status && changes->from; changes++) apply(&file, changes);
  if (!status) status = cugen_add_file(lib, path, text_get(&file), file.length, err);
  return status;
}

static int open_config(const char *path, const char *templates, const struct change *changes) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  options.device = "cpu", options.cache = "none", options.template_dir = templates;
  int status = cugen_open(&options, &lib, &err);
  if (!status && changes) status = add_changed(config, changes, &err);
  if (!status && changes) status = add_changed("tests/configs/export.cu", shaping, &err);
  if (!status) status = cugen_kernel_open(lib, path, NULL, 0, &base, &err);
  if (!status) status = lookup_expander(&base->lookup, &err);
  if (!status) status = export_open_device(&base->lookup, device, NULL, NULL, NULL, &target, &err);
  if (!status) status = folder_temporary(&folder, &err);
  if (status) fprintf(stderr, "%s\n", err.message);
  return status;
}

static int open_with(const struct change *changes) {
  int status = open_config(config, "tests/configs", changes);
  if (!status) plant();
  return status;
}

FIXTURE(set_up) {
  return open_with(NULL);
}

/* A set-up with changes of the config. */
#define WITH_CHANGES(name, ...)                                                                    \
  FIXTURE(name) {                                                                                  \
    return open_with((const struct change[]){__VA_ARGS__, {NULL, NULL}});                          \
  }

WITH_CHANGES(set_up_buckets,
             {"policy \"nearest\" { distance = 1 }",
              "policy \"buckets\" { M = { 100, 500, 2000 }, N = { 64, 1000, 4001 } }"})

WITH_CHANGES(set_up_portfolio,
             {"policy \"nearest\" { distance = 1 }", "policy \"portfolio\" { distance = 0.5 }"})

FIXTURE(set_up_classes) {
  shaping = by_width;
  int status = open_config(
      config, "tests/configs",
      (const struct change[]){
          {"policy \"nearest\" { distance = 1 }", "policy \"portfolio\" { distance = 0.5 }"},
          {"  reference \"none\",\n",
           "  reference \"none\",\n  derive \"width\" \"select(N % 16 == 0, 16, N % 4 == 0, 4, "
           "1) * select(M % 2 == 0, 2, 1)\",\n"},
          {NULL, NULL}});
  shaping = no_change;
  return status;
}

/* x is read through a texture or not, the factors by their address. */
WITH_CHANGES(
    set_up_access,
    {"  input \"x\" { dtype = \"dtype\", shape = { \"M\", \"N\" }, overwrite = \"specialize\" }",
     "  tunable \"x_in\" { \"global\", \"array\" }, where \"x_in == 'global' or dtype == "
     "'f32'\",\n"
     "  input \"x\" { dtype = \"dtype\", shape = { \"M\", \"N\" }, access = \"x_in\" }"},
    {"shape = { \"4\" } }", "shape = { \"4\" }, access = \"global\" }"})

/* Scratch that may be twice as large as the arguments. */
WITH_CHANGES(set_up_room,
             {"  scratch \"partial\" { dtype = \"dtype\", shape = { \"ceil_div(M, 4)\", \"2\" } }",
              "  tunable \"room\" { 1, 2 },\n"
              "  scratch \"partial\" { dtype = \"dtype\", shape = { \"M * room\", \"N\" } }"})

/* The factors are in a __device__ variable, which is read and written. */
WITH_CHANGES(set_up_symbol,
             {"constant \"factors\" { dtype = \"f64\", shape = { \"4\" } }",
              "inout \"factors\" { dtype = \"f64\", shape = { \"4\" }, access = \"symbol\" }"})

/* Addresses in a struct and in a variable. */
WITH_CHANGES(
    set_up_struct,
    {"shape = { \"M\", \"N\" }, tolerance",
     "shape = { \"M\", \"N\" }, layout = \"row+8\", tolerance"},
    {"constant \"factors\" { dtype = \"f64\", shape = { \"4\" } }",
     "input \"factors\" { dtype = \"f64\", shape = { \"4\" }, access = \"pointer\" }"},
    {"scalar \"scale\" { dtype = \"f32\", value = \"1.0 / N\" }",
     "scalar \"p\" { struct = \"P\", fields = { { \"scale\", dtype = \"f32\", value = \"1.0 / "
     "N\" "
     "}, { \"y\", buffer = \"y\" }, { \"pitch\", dtype = \"i64\", pitch = \"y\" }, { "
     "\"partial\", buffer = \"partial\" } } }"})

/* Every kind of layout: a view by strides, tiles and a pad, another order and a pad, a swizzle. */
WITH_CHANGES(
    set_up_layouts,
    {"  input \"x\" { dtype = \"dtype\", shape = { \"M\", \"N\" }, overwrite = \"specialize\" }",
     "  input \"x\" { dtype = \"dtype\", shape = { \"M\", \"N\" }, strides = { \"2 * N + 3\", "
     "\"2\" "
     "} }"},
    {"shape = { \"M\", \"N\" }, tolerance",
     "shape = { \"M\", \"N\" }, layout = \"row/32x8/4x8:col+2\", tolerance"},
    {"  scratch \"partial\" { dtype = \"dtype\", shape = { \"ceil_div(M, 4)\", \"2\" } }",
     "  input \"partial\" { dtype = \"i8\", shape = { \"M\", 3, \"ceil_div(N, 4)\" }, layout = "
     "\"102+5\" },\n"
     "  input \"other\" { dtype = \"f32\", shape = { \"M\", \"N\" }, layout = \"col^2,2,3\" }"})

WITH_CHANGES(
    set_up_textures_only,
    {"dtype = \"dtype\", shape = { \"M\", \"N\" }, overwrite = \"specialize\" }",
     "dtype = \"dtype\", shape = { \"M\", \"N\" }, access = \"dtype == 'f32' and 'array' or "
     "'global'\" }"})

/* x is read through a tensor map in two parts, and launches overlap. */
WITH_CHANGES(
    set_up_tensor,
    {"  implementation \"plain\" {",
     "  implementation \"mapped\" {\n"
     "    requires \"dtype == 'f32' and not specialize\",\n"
     "    template \"export_mapped.cu\",\n"
     "    tunable \"box\" { 32, 16 }, try { box = 16 },\n"
     "    where \"N % 4 == 0 and M % 2 == 0\",\n"
     "    tensor \"x\" { box = { \"8\", \"box\" }, swizzle = \"4 * box\", parts = \"2\" },\n"
     "    grid { \"ceil_div(M, 8)\" }, block { 128 }, overlap \"true\",\n"
     "  },\n"
     "  implementation \"plain\" {"})

/* As many launches as are needed to reduce M rows to one, each with its own parameters. */
WITH_CHANGES(set_up_steps, {"  implementation \"plain\" {",
                            "  implementation \"stepped\" {\n"
                            "    requires \"dtype == 'f32' and not specialize\",\n"
                            "    template \"export_mapped.cu\",\n"
                            "    tunable \"width\" { 8, 16 }, where \"M > width\",\n"
                            "    steps \"ceil_log(M, width)\", grid { \"ceil_div(M, "
                            "pow(width, step + 1))\" }, block { \"32 * (step + "
                            "1)\" },\n"
                            "    pass { \"step == 0 and 'x' or 'partial'\", \"step == "
                            "steps - 1 and 'y' or 'partial'\",\n"
                            "           { \"M\", value = \"ceil_div(M, pow(width, "
                            "step))\" }, { \"scale\", value = \"1.0 / (N + step)\" "
                            "}, \"N\" },\n"
                            "  },\n"
                            "  implementation \"plain\" {"})

/* The shipped matmul, with tensor maps, clusters and launches that overlap. */
FIXTURE(set_up_matmul) {
  return open_config("matmul", NULL, NULL);
}

FIXTURE(tear_down) {
  folder_remove(text_get(&folder));
  text_free(&folder);
  export_device_free(&target);
  cugen_kernel_close(base);
  cugen_close(lib);
  return 0;
}

static const char *in_folder(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", text_get(&folder), name);
  return path;
}

static void export_to(const char *name, const char *problems) {
  cugen_export_options options = {0};
  options.problems = problems;
  WORKS(api_kernel_export(base, &options, in_folder(name), &result, &err));
}

/* Runs a shell command with FOLDER and FAKE in its environment; its output is shown if it fails. */
static void run(const char *command) {
  const char *argv[] = {"/bin/sh", "-c", command, NULL};
  FREED(text) output = {0};
  int code = 1;
  setenv("FOLDER", text_get(&folder), 1);
  assert_int_equal(process_run(argv, 600, &output, &code, NULL), CUGEN_OK);
  if (code) fail_msg("%s\n%s", command, text_get(&output));
}

static bool has(const char *program) {
  FREED(text) path = {0};
  bool found = path_find_program(program, &path);
  return found;
}

/* Runs a program of tests/embed/bundle, built with the bundle and flags, over the fake driver. */
static void run_with_bundle(const char *program, const char *flags, const char *redirected) {
  if (!has("cc")) skip();
  const char *command =
      formed("cc -std=c11 %s -I$FOLDER/b -Itests/fault tests/embed/bundle/%s.c $FOLDER/b/rows.c "
             "-ldl -o $FOLDER/%s && LD_LIBRARY_PATH=$CUGEN_TEST_FAKE_CUDA $FOLDER/%s %s",
             flags, program, program, program, redirected);
  run(command);
}

/* Expects of each size in `in` ("M N dtype specialize", a line each) what picks.c prints. */
static void expect_picks(const char *in, int columns, const char *want) {
  const char *command =
      formed("got=$(printf '%s' | $FOLDER/picks | cut -d'|' -f1-%d | tr '\\n' ','); "
             "test \"$got\" = '%s' || { echo \"$got\"; false; }",
             in, columns, want);
  run_with_bundle("picks", "", "</dev/null");
  run(command);
}

#define STRICT "-std=c11 -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror "

/* Exports everything; the bundle compiles without warnings, with notes only where meant. */
static void export_clean(void) {
  if (!has("cc")) skip();
  export_to("b", NULL);
  assert_string_equal(result.notes, "");
  run("cd $FOLDER/b && cc " STRICT "-c rows.c && rm rows.o");
  if (has("clang")) run("cd $FOLDER/b && clang " STRICT "-fsyntax-only rows.c");
}

/* ---- Tests ---------------------------------------------------------------------------------- */

TEST_WITH(test_builds, set_up, tear_down) {
  if (!has("cc")) skip();
  export_to("b", NULL);
  assert_int_equal(result.devices, 1);
  assert_int_equal(result.problems, 5);
  run("cd $FOLDER/b && cc " STRICT "-c rows.c && cc " STRICT "example.c rows.c -ldl -o example");
  if (has("clang")) run("cd $FOLDER/b && clang " STRICT "-fsyntax-only rows.c");
  if (has("c++"))
    run("cd $FOLDER/b && echo '#include \"rows.h\"' > h.cpp && c++ -std=c++17 -Wall -Wextra "
        "-Wpedantic -Werror -c "
        "h.cpp && rm h.cpp h.o");
  run("cd $FOLDER/b && test -z \"$(nm -D --undefined-only example | grep -viE "
      "'GLIBC|_ITM|__gmon|cxa_finalize')\"");
  run("cd $FOLDER/b && test -z \"$(readelf -d example | grep NEEDED | grep -vE "
      "'libc\\.so|libdl\\.so|ld-linux')\"");
  run("rm -r $FOLDER/b");
}

/* Adds the live runtime's choice, in the format of tests/embed/bundle/picks.c. */
static void expect_choice(const char *const settings[4], struct text *out) {
  static const char *const names[] = {"exact", "near", "default", "pinned", "portfolio"};
  FREED(problem) problem;
  struct selection selection;
  FREED(text) variant_text = {0};
  set_problem(settings, 4, &problem);
  WORKS(api_select(&target.lookup, 0, false, &selection, &err));
  const struct variant variant = lookup_variant(&target.lookup, selection.index);
  variant_print(&variant, &variant_text);
  text_addf(out, "%s|%s|%s|%.9f\n", names[selection.how], text_get(&variant_text),
            selection.how == CUGEN_PLAN_DEFAULT || selection.how == CUGEN_PLAN_PORTFOLIO
                ? ""
                : text_get(&selection.problem),
            selection.distance);
  api_selection_free(&selection);
}

static void add_case(long long m, long long n, bool f64, bool special, struct text *in,
                     struct text *want) {
  char sizes[2][32];
  const char *settings[4] = {sizes[0], sizes[1], f64 ? "dtype=f64" : "dtype=f32",
                             special ? "specialize=true" : "specialize=false"};
  snprintf(sizes[0], sizeof sizes[0], "M=%lld", m);
  snprintf(sizes[1], sizeof sizes[1], "N=%lld", n);
  text_addf(in, "%lld %lld %s %d\n", m, n, f64 ? "f64" : "f32", special);
  expect_choice(settings, want);
}

/* Each of the texts was chosen by some case, so that the cases are worth something. */
static void expect_found(const struct text *want, const char *const *found) {
  for (; *found; found++)
    if (!strstr(text_get(want), *found)) fail_msg("no %s", *found);
}

/* The bundle must answer all cases as the live runtime does. */
static void compare_picks(const struct text *in, const struct text *want) {
  FREED(text) got = {0};
  assert_int_equal(file_write(in_folder("in"), text_get(in), in->length, NULL), CUGEN_OK);
  run_with_bundle("picks", "", "<$FOLDER/in >$FOLDER/got");
  assert_int_equal(file_read(in_folder("got"), &got, NULL), CUGEN_OK);
  assert_string_equal(text_get(&got), text_get(want));
}

TEST_WITH(test_picks, set_up, tear_down) {
  FREED(text) in = {0}, want = {0};
  uint64_t seed = 5;
  export_to("b", NULL);
  add_case(500, 1000, false, false, &in, &want);
  add_case(2000, 1000, false, false, &in, &want);
  add_case(100, 64, true, false, &in, &want);
  add_case(700, 700, false, true, &in, &want);
  add_case(1000, 1000, false, false, &in, &want); /* equally far from both */
  for (int i = 0; i < 300; i++) {
    long long m = 40 + (long long)(random_next(&seed) % 4000),
              n = 40 + (long long)(random_next(&seed) % 6000);
    add_case(m, n, i % 5 == 0, false, &in, &want);
  }
  /* few of these sizes fit the variant */
  for (long long n = 990; n < 1010; n++) add_case(60 + n % 7 * 40, n, false, false, &in, &want);
  compare_picks(&in, &want);
  expect_found(&want, (const char *const[]){"near|plain", "near|wide vec=1", "default|", NULL});
  /* offsets of 32 bits do not reach all of 2.16e9 elements */
  expect_picks("46000 46000 f32 0\\n47000 46000 f32 0\\n", 1, "default,refused,");
}

/* Two tuned problems are as far by the size that differs most; the other size tells the nearer. */
TEST_WITH(test_picks_by_all_sizes, set_up, tear_down) {
  FREED(text) in = {0}, want = {0};
  REMEMBER("wide vec=4 threads=64", 1.0, "M=400", "N=400");
  REMEMBER("wide vec=2 threads=64", 1.0, "M=400", "N=200");
  export_to("b", NULL);
  add_case(200, 200, false, false, &in, &want);
  compare_picks(&in, &want);
  expect_found(&want, (const char *const[]){"near|wide vec=2 threads=64|M=400 N=200", NULL});
}

/* A variant whose scratch needs offsets of 64 bits stays in the bundle, beside a faster variant
   that needs them only for larger problems. */
TEST_WITH(test_picks_wide, set_up_room, tear_down) {
  REMEMBER("wide room=1 vec=4 threads=128", 1.0, "M=40000", "N=40000");
  REMEMBER("wide room=2 vec=4 threads=128", 1.5, "M=40000", "N=40000");
  export_to("b", NULL);
  expect_picks("40000 40000 f32 0\\n50000 50000 f32 0\\n", 2,
               "exact|wide room=1 vec=4 threads=128,near|wide room=2 vec=4 threads=128,");
}

/* Stores a portfolio of the look-up's class, of variants at M=500 N=1000. A variant whose text
   begins with '!' is stale. times: one for each variant; NULL: none has a time. */
static void keep_timed(const char *dtype, const char *rule, const char *const *variants,
                       const char *const *times, size_t count) {
  const char *settings[] = {"M=500", "N=1000", dtype};
  struct cache *cache;
  FREED(problem) problem;
  FREED(text) class = {0}, body = {0}, at = {0};
  set_problem(settings, 3, &problem);
  problem_print_class(base->opened.config, &problem, &class);
  problem_print(base->opened.config, &problem, &at);
  text_addf(&body, "rule %s\nproblems 9\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\n", rule);
  for (size_t i = 0; i < count; i++) {
    const bool stale = *variants[i] == '!';
    FREED(kernel_spec) spec;
    uint64_t index;
    assert_int_equal(space_find(target.lookup.space, variants[i] + stale, &index, NULL), CUGEN_OK);
    keep_image(index);
    expand(index, &spec);
    text_addf(&body, "variant 3 %s %s\n", stale ? hash_bytes("other", 5).hex : spec.source_hash.hex,
              variants[i] + stale);
    if (times && times[i]) text_addf(&body, "time %s\n", times[i]);
    text_addf(&body, "at %s\n", text_get(&at));
  }
  const struct cache_key key = lookup_key(&target.lookup);
  char time_name[] = "time";
  const struct cache_portfolio kept = {.device = (char *)(uintptr_t)key.device,
                                       .config = (char *)(uintptr_t)key.config,
                                       .class = (char *)(uintptr_t)text_get(&class),
                                       .options = (char *)(uintptr_t)key.options,
                                       .origin =
                                           /* as if it was learnt on this machine */
                                       (char *)(uintptr_t)text_get(&base->opened.origin),
                                       .objective = time_name,
                                       .body = (char *)(uintptr_t)text_get(&body),
                                       .learnt_at = 1700000000};
  assert_int_equal(api_cache(lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(cache_portfolios_store(cache, &kept, 1, NULL), CUGEN_OK);
}

static void keep_portfolio(const char *dtype, const char *rule, const char *const *variants,
                           size_t count) {
  keep_timed(dtype, rule, variants, NULL, count);
}

static void plant_portfolios(void) {
  static const char *const single[] = {"wide vec=4 threads=128", "plain vec=1 threads=256",
                                       "wide vec=1 threads=64"},
                           *const twice[] = {"!plain vec=1 threads=128", "wide vec=2 threads=64"};
  keep_portfolio("dtype=f32", "select(M * N <= 500000, 1, N % 8 ~= 0, 2, M > 2000, 7, 0)", single,
                 3);
  keep_portfolio("dtype=f64", "0", twice, 2);
}

static void add_random_cases(int count, struct text *in, struct text *want) {
  uint64_t seed = 5;
  for (int i = 0; i < count; i++) {
    long long m = 40 + (long long)(random_next(&seed) % 4000),
              n = 40 + (long long)(random_next(&seed) % 6000);
    add_case(m, n, i % 5 == 0, false, in, want);
  }
}

/* A distance in the options replaces the config's policy. */
static void expect_near(const char *const settings[3]) {
  FREED(problem) problem;
  struct selection selection;
  set_problem(settings, 3, &problem);
  WORKS(api_select(&target.lookup, 1, false, &selection, &err));
  assert_int_equal(selection.how, CUGEN_PLAN_NEAR);
  api_selection_free(&selection);
}

TEST_WITH(test_picks_portfolio, set_up_portfolio, tear_down) {
  FREED(text) in = {0}, want = {0};
  plant_portfolios();
  expect_near((const char *const[]){"M=500", "N=1001", "dtype=f32"});
  export_to("b", NULL);
  assert_int_equal(result.portfolios, 2);
  run("grep -q '^Failing that it takes what the rule of a portfolio below picks, then what ' "
      "$FOLDER/b/README.md");
  assert_non_null(
      strstr(result.notes,
             "'plain vec=1 threads=128' of the portfolio is left out: its source has changed"));
  add_case(500, 1000, false, false, &in, &want);
  add_case(500, 1001, false, false, &in, &want);
  add_case(700, 700, false, true, &in, &want);
  add_random_cases(400, &in, &want);
  compare_picks(&in, &want);
  expect_found(&want, (const char *const[]){
                          "exact|wide vec=4 threads=128|M=500", "portfolio|wide vec=4 threads=128",
                          "portfolio|plain vec=1 threads=256", "portfolio|wide vec=1 threads=64",
                          "portfolio|wide vec=2 threads=64", "default|", NULL});
}

/* A rule by times: vec=4 is not valid for ragged sizes, one time cannot be computed for large
   ones, and one variant has no time. The bundle takes what a plan takes. */
TEST_WITH(test_picks_least, set_up_portfolio, tear_down) {
  static const char *const variants[] = {"wide vec=4 threads=128", "plain vec=1 threads=256",
                                         "wide vec=1 threads=64", "wide vec=2 threads=64"};
  static const char *const times[] = {
      "0.5 + 0.0001 * ceil_div(M, 64) * ceil_div(N, 32)",
      "(0.25 + 0.001 * ceil_div(ceil_div(M, 16) * ceil_div(N, 128), 132) * N) * select(N % 8 ~= 0, "
      "0.75, 1.0)",
      "0.6 + 0.0000001 * max(M / 132.0, 1.0) * N + 0 // (N // 4000 - 1)", NULL};
  FREED(text) in = {0}, want = {0};
  keep_timed("dtype=f32", "select(M * N <= 90000, 3, least)", variants, times, 4);
  export_to("b", NULL);
  assert_int_equal(result.portfolios, 1);
  add_random_cases(400, &in, &want);
  compare_picks(&in, &want);
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    const char *found = formed("portfolio|%s", variants[i]);
    if (!strstr(text_get(&want), found)) fail_msg("no %s", found);
  }
}

/* A bundle leaves out a portfolio whose rule is a constant but no whole number. */
TEST_WITH(test_rule_of_no_number, set_up_portfolio, tear_down) {
  static const char *const one[] = {"plain vec=1 threads=256"}, *const rules[] = {"1.5", "true"};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    keep_portfolio("dtype=f32", rules[i], one, 1);
    export_to("b", NULL);
    assert_int_equal(result.portfolios, 0);
  }
}

/* Six classes of sizes; the portfolio was measured in one of them. */
TEST_WITH(test_picks_classes, set_up_classes, tear_down) {
  static const char *const one[] = {"plain vec=1 threads=256"};
  cugen_export_options options = {0};
  FREED(text) in = {0}, want = {0};
  for (int m = 500; m < 502; m++)
    for (int n = 1000; n < 1009; n++) {
      char sizes[2][32];
      snprintf(sizes[0], sizeof sizes[0], "M=%d", m);
      snprintf(sizes[1], sizeof sizes[1], "N=%d", n);
      REMEMBER(NULL, 0, sizes[0], sizes[1]);
    }
  /* records make the GPU known to the export */
  REMEMBER("plain vec=1 threads=256", 1.0, "M=9", "N=9", "dtype=f64");
  keep_portfolio("dtype=f32", "0", one, 1);
  options.portfolio = 1;
  WORKS(api_kernel_export(base, &options, in_folder("b"), &result, &err));
  assert_int_equal(result.variants, 6);
  for (int m = 500; m < 504; m++)
    for (int n = 990; n < 1020; n++) add_case(m, n, false, false, &in, &want);
  compare_picks(&in, &want);
  assert_null(strstr(text_get(&want), "default"));
}

/* The bundle has the portfolio's variants alone, which also serve tuned problems. */
TEST_WITH(test_only_portfolio, set_up, tear_down) {
  cugen_export_options options = {0};
  if (!has("cc")) skip();
  options.portfolio = 1;
  FAILS(api_kernel_export(base, &options, in_folder("b"), &result, &err), CUGEN_ERROR_USAGE,
        "no portfolio of rows is remembered");
  plant_portfolios();
  WORKS(api_kernel_export(base, &options, in_folder("b"), &result, &err));
  assert_int_equal(result.variants, 4);
  assert_int_equal(result.problems, 0);
  run("cd $FOLDER/b && cc " STRICT "-c rows.c");
  expect_picks("500 1000 f32 0\\n2000 1000 f32 0\\n9 9 f32 1\\n", 2,
               "portfolio|plain vec=1 threads=256,portfolio|wide vec=4 threads=128,refused,");
  options.problems = "M=500 N=1000";
  FAILS(api_kernel_export(base, &options, in_folder("b"), &result, &err), CUGEN_ERROR_USAGE);
}

TEST_WITH(test_picks_buckets, set_up_buckets, tear_down) {
  static const long long edges[] = {1,   63,  64,   65,   99,   100,  101, 499,
                                    500, 501, 1000, 1001, 2000, 2001, 9000};
  enum { EDGES = sizeof edges / sizeof *edges };
  FREED(text) in = {0}, want = {0};
  export_to("b", NULL);
  for (size_t m = 0; m < EDGES; m++)
    for (size_t n = 0; n < EDGES; n++)
      add_case(edges[m], edges[n], (m + n) % 3 == 0, false, &in, &want);
  compare_picks(&in, &want);
  expect_found(&want, (const char *const[]){"exact|wide vec=4 threads=64|M=2000 N=1000",
                                            "near|wide vec=1 threads=64|M=500 N=1000",
                                            "near|plain vec=1 threads=128|M=2000 N=4001",
                                            "default|", NULL});
}

/* A variant with compiled-in sizes serves its own problem only. */
TEST_WITH(test_compiled_in, set_up, tear_down) {
  export_to("b", "M=700 N=700 specialize=true");
  expect_picks("700 700 f32 1\\n701 700 f32 1\\n700 700 f64 1\\n", 1, "exact,refused,refused,");
}

TEST_WITH(test_driver, set_up, tear_down) {
  export_to("b", NULL);
  run_with_bundle("drive", "", "");
}

/* A shared library of the bundle has a function for TVM-FFI. */
TEST_WITH(test_tvm_ffi, set_up, tear_down) {
  if (!has("cc")) skip();
  export_to("b", NULL);
  run("cc " STRICT "-shared -fPIC $FOLDER/b/rows.c -ldl -o $FOLDER/b/rows.so && "
      "cc -std=c11 -rdynamic -Itests/fault tests/embed/bundle/tvm_ffi.c -ldl -o $FOLDER/tvm_ffi && "
      "LD_LIBRARY_PATH=$CUGEN_TEST_FAKE_CUDA $FOLDER/tvm_ffi $FOLDER/b/rows.so");
  run("grep -q 'rows(x, y, factors)' $FOLDER/b/README.md $FOLDER/b/rows.h");
  export_to("b", NULL); /* the library is one of the bundle's files */
}

/* A bundle whose capture file cannot be written works as without one. */
TEST_WITH(test_captures, set_up, tear_down) {
  if (!has("cc")) skip();
  export_to("b", NULL);
  run("cc -std=c11 -I$FOLDER/b -Itests/fault tests/embed/bundle/drive.c $FOLDER/b/rows.c -ldl "
      "-o $FOLDER/drive && export LD_LIBRARY_PATH=$CUGEN_TEST_FAKE_CUDA && rm -f $FOLDER/captured "
      "&& "
      "CUGEN_CAPTURE=$FOLDER/captured $FOLDER/drive && CUGEN_CAPTURE=/nowhere/captured "
      "$FOLDER/drive && "
      "CUGEN_CAPTURE=$FOLDER $FOLDER/drive");
  run("python3 -c 'import json, sys; lines = [json.loads(line) for line in open(sys.argv[1])]; "
      "print(lines[0]); "
      "assert lines[0] == dict(cugen_capture=1, kernel=\"rows\", problem=\"M=500 N=1000 dtype=f32 "
      "specialize=false\", "
      "device=\"NVIDIA Pretended\", plan=\"exact\", variant=\"wide vec=4 threads=128\", seconds=1, "
      "opens=1, "
      "launches=0); "
      "assert all(line[\"kernel\"] == \"rows\" and line[\"opens\"] == 1 for line in lines)' "
      "$FOLDER/captured");
}

/* The bundle says which inputs its kernel may write to: those with `overwrite` in the config. */
TEST_WITH(test_overwritten, set_up, tear_down) {
  export_to("b", "M=700 N=700 specialize=true");
  run_with_bundle("drive", "-DOVERWRITES", "");
  run("grep -q 'the kernel may write to: x' $FOLDER/b/rows.h && grep -q 'may write to: x' "
      "$FOLDER/b/README.md");
}

/* Variants that read textures are left out with a note; a constant that is read by its address
   is a parameter. */
TEST_WITH(test_access, set_up_access, tear_down) {
  if (!has("cc")) skip();
  REMEMBER("wide x_in=array vec=4 threads=128", 0.1, "M=500", "N=1000");
  export_to("b", NULL);
  assert_non_null(strstr(
      result.notes, "M=500 N=1000 dtype=f32 specialize=false: wide x_in=array vec=4 threads=128 is "
                    "left out: it reads 'x' as a texture, which a bundle cannot"));
  run("cd $FOLDER/b && cc " STRICT "-c rows.c && rm rows.o");
  run_with_bundle("drive", "-DBY_ADDRESS", "");
}

/* Each launch copies the buffer to the variable and back. The variable is not a parameter, and
   the application can find it. */
TEST_WITH(test_symbol, set_up_symbol, tear_down) {
  export_clean();
  run_with_bundle("drive", "-DBY_SYMBOL", "");
}

/* A struct's numbers follow the sizes, its addresses the arguments. */
TEST_WITH(test_struct, set_up_struct, tear_down) {
  export_clean();
  run_with_bundle("drive", "-DBY_STRUCT", "");
}

/* The map is of the given buffer, and made once, at bind; the launch may begin early. */
TEST_WITH(test_tensor, set_up_tensor, tear_down) {
  REMEMBER("mapped box=32", 0.1, "M=500", "N=1000");
  export_clean();
  run_with_bundle("drive", "-DBY_MAP", "");
}

/* The plan's strides and bytes are those of the live runtime. */
TEST_WITH(test_layouts, set_up_layouts, tear_down) {
  static const int sizes[][2] = {{500, 1000}, {131, 67}, {1024, 512}};
  FREED(text) in = {0}, want = {0}, got = {0};
  export_clean();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char text[2][32];
    const char *settings[2] = {text[0], text[1]};
    FREED(kernel_spec) spec;
    FREED(problem) problem;
    snprintf(text[0], sizeof text[0], "M=%d", sizes[i][0]);
    snprintf(text[1], sizeof text[1], "N=%d", sizes[i][1]);
    text_addf(&in, "%d %d\n", sizes[i][0], sizes[i][1]);
    set_problem(settings, 2, &problem);
    expand(0, &spec);
    for (size_t k = 0; k < spec.argument_count; k++) {
      const struct kernel_argument *a = &spec.arguments[k];
      if (!a->rank) continue;
      text_addf(&want, "%s:", a->name);
      for (int d = 0; d < a->rank; d++) text_addf(&want, " %lld", (long long)a->stride[d]);
      text_addf(&want, ", %lld bytes\n", (long long)kernel_argument_bytes(a));
    }
  }
  assert_int_equal(file_write(in_folder("in"), text_get(&in), in.length, NULL), CUGEN_OK);
  run_with_bundle("layouts", "", "<$FOLDER/in >$FOLDER/got || { cat $FOLDER/got; false; }");
  assert_int_equal(file_read(in_folder("got"), &got, NULL), CUGEN_OK);
  assert_string_equal(text_get(&got), text_get(&want));
}

/* Sizes whose rows no tensor map can describe use another variant, and far sizes the config's
   first one, as at run time. */
TEST_WITH(test_tensor_picks, set_up_tensor, tear_down) {
  FREED(text) in = {0}, want = {0};
  REMEMBER("mapped box=32", 0.1, "M=500", "N=1000");
  export_to("b", NULL);
  for (long long n = 900; n < 1010; n++) add_case(500 + n % 3, n, false, false, &in, &want);
  for (long long n = 5000; n < 5010; n++) add_case(9000 + n % 3, n, false, false, &in, &want);
  compare_picks(&in, &want);
  expect_found(&want, (const char *const[]){"near|mapped box=32", "near|wide vec=1", NULL});
  /* the text as the config has it */
  expect_found(&want, (const char *const[]){"default|mapped box=16", "default|wide vec=1", NULL});
}

/* Every launch gets its own parameters, at tuned sizes and at others with as many launches. */
TEST_WITH(test_steps, set_up_steps, tear_down) {
  FREED(text) in = {0}, want = {0};
  REMEMBER("stepped width=8", 0.1, "M=500", "N=1000");
  export_clean();
  run_with_bundle("drive", "-DBY_STEPS", "");
  for (long long m = 260; m <= 512; m += 28) add_case(m, 900, false, false, &in, &want);
  compare_picks(&in, &want);
  assert_non_null(strstr(text_get(&want), "near|stepped width=8"));
}

TEST_WITH(test_matmul, set_up_matmul, tear_down) {
  static const char *const settings[] = {"M=4096", "N=4096", "K=4096", "dtype=bf16",
                                         "layout_b=col"};
  cugen_export_options options = {0};
  struct problem problem;
  uint64_t index;
  if (!has("cc")) skip();
  options.problems = "M=4096 N=4096 K=4096 dtype=bf16 layout_b=col", options.variant = "wgmma";
  set_problem(settings, 5, &problem);
  WORKS(space_find(target.lookup.space, "wgmma", &index, &err));
  keep_image(index);
  keep_record("wgmma", 1e-4, false);
  problem_free(&problem);
  WORKS(api_kernel_export(base, &options, in_folder("b"), &result, &err));
  assert_string_equal(result.notes, "");
  run("cd $FOLDER/b && cc " STRICT
      "-c matmul.c && grep -q '  tensor(s, 128, 1, (const long long' matmul.c");
}

TEST_WITH(test_same_bytes, set_up, tear_down) {
  export_to("a", NULL);
  export_to("b", NULL);
  run("diff -r $FOLDER/a $FOLDER/b");
  export_to("b", "M=500 N=1000"); /* an earlier bundle is replaced */
  assert_int_equal(result.problems, 1);
  run("! diff -r $FOLDER/a $FOLDER/b > /dev/null && test $(ls $FOLDER | wc -l) = 2");
}

TEST_WITH(test_stale, set_up, tear_down) {
  remember((const char *const[]){"M=500", "N=1000"}, 2, "wide vec=4 threads=64", 0.1, true);
  export_to("b", NULL);
  assert_int_equal(result.stale, 1);
  assert_non_null(strstr(result.notes, "1 record not used"));
}

/* Records from before the config had "specialize" are found together with later ones, and named
   as problems are named now. */
TEST_WITH(test_parameter, set_up, tear_down) {
  struct cache *cache;
  struct kernel_spec spec;
  struct problem problem;
  const uint64_t specialize = 8; /* the bit of the fourth parameter */
  export_to("a", NULL);
  const cugen_export_result before = result;
  for (int i = 0; i < 2; i++) {
    set_problem((const char *const[]){"M=300", i ? "N=1000" : "N=1200"}, 2, &problem);
    for (uint64_t v = 0; v < space_valid(target.lookup.space); v++) keep_image(v);
    expand(0, &spec);
    struct cache_record record = {
        .variant = spec.variant, .reason = (char *)(uintptr_t) "", .seconds = 1, .samples = 3};
    cache_record_take_hashes(&record, &spec);
    record.proof_hash = kernel_spec_proof_without(&spec, specialize, false),
    record.hash = record.proof_hash;
    struct cache_key key = lookup_key(&target.lookup);
    assert_int_equal(api_cache(lib, &cache, NULL), CUGEN_OK);
    key.problem = i ? "M=300 N=1000 dtype=f32" : "M=300 N=1200 dtype=f32";
    assert_int_equal(cache_store(cache, &key, &record, NULL), CUGEN_OK);
    kernel_spec_free(&spec);
    /* a later record of the same problem */
    if (i) keep_record("wide vec=4 threads=128", 0.5, false);
    problem_free(&problem);
  }
  export_to("b", NULL);
  assert_int_equal(result.problems, before.problems + 2);
  assert_int_equal(result.stale, 0);
  run("grep -q 'M=300 N=1200 dtype=f32 specialize=false' $FOLDER/b/README.md");
}

static void refuse(const char *name, const char *devices, const char *problems, int status,
                   const char *message) {
  cugen_export_options options = {0};
  options.devices = devices, options.problems = problems;
  FAILS(api_kernel_export(base, &options, in_folder(name), &result, &err), status, message);
}

TEST_WITH(test_refusals, set_up, tear_down) {
  refuse("none/b", NULL, NULL, CUGEN_ERROR_IO, "is not there");
  assert_int_equal(file_write(in_folder("file"), "x", 1, NULL), CUGEN_OK);
  refuse("file", NULL, NULL, CUGEN_ERROR_USAGE, "is a file");
  refuse("b", "NVIDIA Pretende sm_90 132 SMs", NULL, CUGEN_ERROR_USAGE,
         "the nearest is 'NVIDIA Pretended sm_90 132 SMs'");
  refuse("b", "sm_12", NULL, CUGEN_ERROR_USAGE, "'sm_12' is no architecture");
  refuse("b", NULL, "M=1000 dtyp=f32", CUGEN_ERROR_USAGE, "dtype");
  refuse("b", NULL, "M=12x", CUGEN_ERROR_USAGE, "a whole number was expected");
  refuse("b", NULL, ";", CUGEN_ERROR_USAGE, "a problem is missing");
  run("test $(ls $FOLDER) = file");
  run("mkdir $FOLDER/full && echo x > $FOLDER/full/notes");
  refuse("full", NULL, NULL, CUGEN_ERROR_USAGE, "holds other things, such as 'notes'");
  cugen_export_options force = {0};
  force.force = 1;
  assert_int_equal(api_kernel_export(base, &force, in_folder("full"), &result, NULL), CUGEN_OK);
  run("test -f $FOLDER/full/notes -a -f $FOLDER/full/rows.c");
}

TEST_WITH(test_textures_only, set_up_textures_only, tear_down) {
  refuse("b", NULL, NULL, CUGEN_ERROR_USAGE,
         "serves problems that were not tuned; it reads 'x' as a texture, which a bundle cannot: "
         "put access \"global\"");
  run("test -z \"$(ls $FOLDER)\"");
}

/* If the disk is full, nothing is left behind, and an earlier bundle stays as it was. */
TEST_WITH(test_full_disk, set_up, tear_down) {
  struct rlimit limit, small;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  small = limit, small.rlim_cur = 10000;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  refuse("b", NULL, NULL, CUGEN_ERROR_IO, "rows.c");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  run("test -z \"$(ls $FOLDER)\"");
  export_to("b", NULL);
  run("cp -r $FOLDER/b $FOLDER/before");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  refuse("b", NULL, NULL, CUGEN_ERROR_IO, "rows.c");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  run("diff -r $FOLDER/b $FOLDER/before");
}

/* The remains of a killed export are removed by an export to the same place an hour later; those
   of a living process stay. */
TEST_WITH(test_left_over, set_up, tear_down) {
  run("sh -c 'echo $$' >$FOLDER/dead");
  run("cd $FOLDER; mkdir b.$(cat dead)-abcdef b.$PPID-abcdef c.$(cat dead)-abcdef; echo x >b.$(cat "
      "dead)-abcdef/rows.h;"
      "touch -d '2 hours ago' *-abcdef");
  export_to("b", NULL);
  run("cd $FOLDER; test $(ls -d b.* | wc -l) = 1 -a -d b.$PPID-abcdef -a -d c.$(cat dead)-abcdef");
}
