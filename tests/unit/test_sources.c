/* Where configs and templates are found, in which order, and the message if they are not. */

#include <unistd.h>

#include "base/system.h"
#include "gen/config/config.h"
#include "gen/sources/sources.h"
#include "tests/testing.h"

/* A new folder with these files, each of which contains its own name; it is the working folder
   while a test runs. */
struct place {
  struct text folder;
  char before[4096];
};

static int enter_place(void **state) {
  static const char *const files[] = {
      "mine.lua",       "both",          "both.lua",     "bare",
      "conf/other.lua", "conf/mine.lua", "conf/t.cu",    "tmpl/t.cu",
      "tmpl/only.cu",   "near/k.lua",    "near/t.cu",    "near/lib/a.cuh",
      "near/lib/b.cuh", "outside.cu",    "matmul/x.lua", "near/near.cu"};
  static struct place place;
  assert_non_null(getcwd(place.before, sizeof place.before));
  assert_int_equal(folder_temporary(&place.folder, NULL), CUGEN_OK);
  assert_int_equal(chdir(text_get(&place.folder)), 0);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    FREED(text) folder = {0};
    path_folder(files[i], &folder);
    assert_int_equal(folder_make(text_get(&folder), NULL), CUGEN_OK);
    assert_int_equal(file_write(files[i], files[i], strlen(files[i]), NULL), CUGEN_OK);
  }
  *state = &place;
  return 0;
}

static int leave_place(void **state) {
  struct place *place = *state;
  assert_int_equal(chdir(place->before), 0);
  folder_remove(text_get(&place->folder));
  text_free(&place->folder);
  return 0;
}

static const struct sources plain = {NULL, NULL, NULL}, folders = {"conf", "tmpl", NULL};

/* whether the config that was found last is a shipped one */
static bool shipped;

static void expect_config(const struct sources *sources, const char *name, const char *want) {
  FREED(text) path = {0}, content = {0};
  WORKS(sources_config(sources, name, &path, &content, &shipped, &err));
  assert_string_equal(text_get(&path), want);
  assert_true(content.length > 0);
  if (strncmp(want, "configs/", 8) != 0) assert_string_equal(text_get(&content), want);
}

static void expect_template(const struct sources *sources, const char *name, const char *from,
                            const char *want) {
  FREED(text) path = {0}, content = {0};
  WORKS(sources_template(sources, name, from, from, &path, &content, &err));
  assert_string_equal(text_get(&path), want);
  if (strncmp(want, "templates/", 10) != 0) assert_string_equal(text_get(&content), want);
}

static void expect_missing(const char *name, const char *from, const char *want) {
  FREED(text) path = {0}, content = {0};
  cugen_error err;
  int status = from ? sources_template(&folders, name, from, from, &path, &content, &err)
                    : sources_config(&folders, name, &path, &content, &shipped, &err);
  assert_int_equal(status, CUGEN_ERROR_MISSING);
  if (strncmp(err.message, want, strlen(want)) != 0)
    fail_msg(" got: %s\nwant: %s", err.message, want);
}

TEST_WITH(configs_are_found, enter_place, leave_place) {
  expect_config(&plain, "mine", "mine.lua");
  expect_config(&plain, "mine.lua", "mine.lua");
  expect_config(&plain, "near/k", "near/k.lua");
  expect_config(&plain, "both", "both.lua");
  expect_config(&plain, "bare", "bare");
  expect_config(&folders, "mine", "mine.lua");
  expect_config(&folders, "other", "conf/other.lua");
  expect_config(&plain, "matmul", "configs/matmul.lua");
  expect_config(&plain, "configs/matmul.lua", "configs/matmul.lua");
}

TEST_WITH(missing_configs_say_where, enter_place, leave_place) {
  expect_missing(
      "matmull", NULL,
      "no config 'matmull': looked for matmull.lua, matmull, conf/matmull.lua, conf/matmull, "
      "configs/matmull.lua (shipped) (nearest 'matmul')");
  expect_missing("/none.lua", NULL, "no config '/none.lua': looked for /none.lua; shipped are: ");
  struct config *config;
  FAILS(config_open(&plain, "nothing_like_it", &config, &err), CUGEN_ERROR_MISSING);
  assert_null(config);
}

TEST_WITH(templates_are_found, enter_place, leave_place) {
  expect_template(&plain, "t.cu", "near/k.lua", "near/t.cu");
  expect_template(&plain, "outside.cu", "mine.lua", "outside.cu");
  expect_template(&folders, "t.cu", "near/k.lua", "tmpl/t.cu");
  expect_template(&folders, "only.cu", "near/k.lua", "tmpl/only.cu");
  expect_template(&plain, "b.cuh", "near/lib/a.cuh", "near/lib/b.cuh");
  expect_template(&plain, "lib/a.cuh", "near/t.cu", "near/lib/a.cuh");
  expect_template(&plain, "matmul_naive.cu", "configs/matmul.lua", "templates/matmul_naive.cu");
  expect_template(&plain, "matmul_naive.cu", "mine.lua", "templates/matmul_naive.cu");
}

TEST_WITH(templates_stay_inside, enter_place, leave_place) {
  expect_missing("../outside.cu", "near/k.lua", "template '../outside.cu' is outside");
  expect_missing("lib/../../outside.cu", "near/k.lua",
                 "template 'lib/../../outside.cu' is outside");
  expect_missing("lib/..", "near/k.lua", "template 'lib/..' is outside");
  expect_missing("/dev/zero", "near/k.lua", "template '/dev/zero' is outside");
  expect_missing("", "near/k.lua", "template '' is outside");
  expect_missing("lib", "near/k.lua",
                 "no template 'lib': looked for tmpl/lib, near/lib, templates/lib (shipped)");
  expect_missing(
      "matmul_naiv.cu", "near/k.lua",
      "no template 'matmul_naiv.cu': looked for tmpl/matmul_naiv.cu, near/matmul_naiv.cu, "
      "templates/matmul_naiv.cu (shipped) (nearest 'matmul_naive.cu')");
}

/* ---- Files in memory ------------------------------------------------------------------------ */

/* Adds a file in memory that contains its own name. */
static void add(struct sources *sources, const char *name, const char *held) {
  struct source_file *files = (struct source_file *)(uintptr_t)sources->files;
  assert_int_equal(sources_add(&files, name, held, strlen(held), NULL), CUGEN_OK);
  sources->files = files;
}

TEST_WITH(memory_comes_first, enter_place, leave_place) {
  struct sources sources = {"conf", "tmpl", NULL};
  add(&sources, "mine.lua", "mine.lua");
  add(&sources, "./app//k.lua", "app/k.lua");
  add(&sources, "app/t.cu", "app/t.cu");
  add(&sources, "app/lib/a.cuh", "app/lib/a.cuh");
  add(&sources, "top.cu", "top.cu");
  add(&sources, "matmul_naive.cu", "matmul_naive.cu");
  expect_config(&sources, "mine", "mine.lua");
  expect_config(&sources, "app/k", "app/k.lua");
  expect_config(&sources, "both", "both.lua");
  expect_config(&sources, "matmul", "configs/matmul.lua");
  expect_template(&sources, "t.cu", "app/k.lua", "app/t.cu");
  expect_template(&sources, "./lib/a.cuh", "app/t.cu", "app/lib/a.cuh");
  expect_template(&sources, "top.cu", "app/k.lua", "top.cu");
  expect_template(&sources, "top.cu", "near/k.lua", "top.cu");
  expect_template(&sources, "t.cu", "near/k.lua", "tmpl/t.cu");
  expect_template(&sources, "only.cu", "app/k.lua", "tmpl/only.cu");
  expect_template(&sources, "matmul_naive.cu", "configs/matmul.lua", "matmul_naive.cu");
  expect_template(&sources, "matmul_tiled.cu", "app/k.lua", "templates/matmul_tiled.cu");
  /* A file in memory does not see the folder of its name on the disk. */
  add(&sources, "near/m.lua", "near/m.lua");
  struct text path = {0}, content = {0};
  FAILS_WITH(
      sources_template(&sources, "near.cu", "near/m.lua", "near/m.lua", &path, &content, &err),
      CUGEN_ERROR_MISSING,
      "no template 'near.cu': looked for near.cu (in memory), "
      "tmpl/near.cu, templates/near.cu (shipped)");
  text_free(&path);
  text_free(&content);
  sources_forget((struct source_file *)(uintptr_t)sources.files);
}

/* "./" names the file on the disk. A list that was taken earlier keeps the earlier contents. */
TEST_WITH(memory_is_replaced, enter_place, leave_place) {
  struct sources sources = {NULL, NULL, NULL};
  struct text path = {0}, content = {0};
  add(&sources, "mine.lua", "old");
  struct sources before = sources;
  add(&sources, "mine.lua", "new");
  assert_int_equal(sources_config(&sources, "mine", &path, &content, &shipped, NULL), CUGEN_OK);
  assert_int_equal(sources_config(&before, "mine", &path, &content, &shipped, NULL), CUGEN_OK);
  assert_int_equal(sources_config(&sources, "./mine.lua", &path, &content, &shipped, NULL),
                   CUGEN_OK);
  assert_string_equal(text_get(&content), "newoldmine.lua");
  cugen_error err;
  assert_int_equal(sources_config(&sources, "min", &path, &content, &shipped, &err),
                   CUGEN_ERROR_MISSING);
  assert_non_null(
      strstr(err.message, "looked for min.lua (in memory), min (in memory), min.lua, min,"));
  assert_non_null(strstr(err.message, "(nearest 'mine.lua')"));
  assert_int_equal(sources_config(&sources, "qqqqqq", &path, &content, &shipped, &err),
                   CUGEN_ERROR_MISSING);
  assert_non_null(strstr(err.message, "; in memory are: mine"));
  assert_null(strstr(err.message, "mine, mine"));
  text_free(&path);
  text_free(&content);
  sources_forget((struct source_file *)(uintptr_t)sources.files);
}

TEST(names_in_memory_stay_inside) {
  static const char *const bad[] = {"", "/a", "..", "a/..", "../a", "a/../b", "a/", ".", "./"};
  struct source_file *files = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    FAILS(sources_add(&files, bad[i], "", 0, &err), CUGEN_ERROR_USAGE,
          "cannot name a file in memory");
    assert_null(files);
  }
}

TEST(shipped_configs_are_listed) {
  const char *names[2] = {NULL, NULL};
  size_t count = sources_configs(names, 1);
  assert_true(count >= 1);
  assert_non_null(strstr(names[0], ".lua"));
  assert_null(names[1]);
}

/* Every shipped config loads. */
TEST_WITH(shipped_configs_load, enter_place, leave_place) {
  const char *names[64];
  size_t count = sources_configs(names, 64);
  for (size_t i = 0; i < count && i < 64; i++) {
    CLOSED(config) *config;
    WORKS(config_open(&plain, names[i], &config, &err));
  }
}
