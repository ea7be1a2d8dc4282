/* include "file.lua": its effect, where files are found, and which line an error names. */

#include <unistd.h>

#include "base/system.h"
#include "gen/config/config.h"
#include "tests/testing.h"

/* ---- Files in memory ------------------------------------------------------------------------ */

struct held {
  struct sources sources;
};

static void add(struct held *held, const char *name, const char *text) {
  struct source_file *files = (struct source_file *)(uintptr_t)held->sources.files;
  assert_int_equal(sources_add(&files, name, text, strlen(text), NULL), CUGEN_OK);
  held->sources.files = files;
}

/* Adds c.lua: a kernel around the declarations, which begin on line 3. */
static void add_kernel(struct held *held, const char *declarations) {
  const char *text =
      formed("kernel \"k\" {\n"
             "  problem \"N\" (1024), output \"C\" { dtype = \"f32\", shape = { \"N\" } }, "
             "reference \"none\",\n"
             "%s\n}\n",
             declarations);
  add(held, "c.lua", text);
}

static void forget(struct held *held) {
  sources_forget((struct source_file *)(uintptr_t)held->sources.files);
}

static struct config *open_held(struct held *held) {
  struct config *config;
  WORKS(config_open(&held->sources, "c", &config, &err));
  return config;
}

static void expect_refused(struct held *held, const char *want) {
  struct config *config;
  cugen_error err;
  if (config_open(&held->sources, "c", &config, &err) == CUGEN_OK)
    fail_msg("no error, but wanted: %s", want);
  assert_null(config);
  assert_int_equal(err.status, CUGEN_ERROR_CONFIG);
  if (strncmp(err.message, want, strlen(want)) != 0)
    fail_msg("got: %s\nwant: %s", err.message, want);
  /* the place is the mistake's line, not the line of the include */
  if (strncmp(want, "x.lua:", 6) == 0) {
    assert_string_equal(err.file, "x.lua");
    assert_int_equal(err.line, atoi(want + 6));
  }
  assert_int_equal(config_open(&held->sources, "c", &config, NULL), CUGEN_ERROR_CONFIG);
  forget(held);
}

/* Expects the error of one file x.lua with this text, which the kernel includes on line 3. */
static void expect_mistake(const char *text, const char *want) {
  struct held held = {{NULL, NULL, NULL}};
  add(&held, "x.lua", text);
  add_kernel(&held, "  include \"x.lua\",");
  expect_refused(&held, want);
}

static void expect_line(struct config_line line, const char *path, int number) {
  assert_string_equal(line.path, path);
  assert_int_equal(line.number, number);
}

static const char grid_and_block[] = "grid { \"ceil_div(N, tile)\" }\nblock { 64 }\n";

/* ---- What it means -------------------------------------------------------------------------- */

TEST(takes_the_place_of_the_include) {
  struct held held = {{NULL, NULL, NULL}};
  add(&held, "parts/all.lua",
      "-- two implementations and a shared tunable\n"
      "tunable \"tile\" { 64 }\n"
      "include \"one.lua\"\n"
      "implementation \"two\" {\n"
      "  template \"t.cu\", include \"rules.lua\", tunable \"after\" { 1 },\n"
      "}\n");
  add(&held, "parts/one.lua",
      "local values = { 1, 2 }\n"
      "implementation \"one\" { template \"t.cu\", tunable \"vec\" (values),\n"
      "  launch { include \"launch.lua\" }, launch { include \"launch.lua\", entry = \"second\" } "
      "}\n");
  add(&held, "parts/rules.lua",
      "\xef\xbb\xbfwhere \"tile == 64\"\n"
      "derive \"middle\" \"tile // 2\"\n"
      "include \"launch.lua\"\n");
  add(&held, "parts/launch.lua", grid_and_block);
  add_kernel(&held,
             "  tunable \"first\" { 5 },\n  include \"parts/all.lua\",\n  tunable \"last\" { 6 },");
  struct config *c = open_held(&held);
  assert_int_equal(c->shared_tunable_count, 3);
  assert_string_equal(c->shared_tunables[0].name, "first");
  assert_string_equal(c->shared_tunables[1].name, "tile");
  assert_string_equal(c->shared_tunables[2].name, "last");
  expect_line(c->shared_tunables[0].line, "c.lua", 3);
  expect_line(c->shared_tunables[1].line, "parts/all.lua", 2);
  expect_line(c->shared_tunables[2].line, "c.lua", 5);
  assert_int_equal(c->implementation_count, 2);
  const struct config_implementation *one = &c->implementations[0], *two = &c->implementations[1];
  assert_string_equal(one->name, "one");
  expect_line(one->line, "parts/one.lua", 2);
  assert_int_equal(one->launch_count, 2);
  assert_string_equal(one->launches[1].entry.text, "second");
  assert_string_equal(two->name, "two");
  expect_line(two->line, "parts/all.lua", 4);
  assert_int_equal(two->tunable_count, 4);
  assert_string_equal(two->tunables[3].name, "after");
  expect_line(two->restrictions[0].line, "parts/rules.lua", 1);
  assert_string_equal(two->derived[0].name, "middle");
  expect_line(two->launches[0].line, "parts/launch.lua", 1);
  assert_string_equal(c->path, "c.lua");
  config_close(c);
  forget(&held);
}

TEST(each_include_runs_anew) {
  struct held held = {{NULL, NULL, NULL}};
  add(&held, "common.lua",
      "tunable \"tile\" { 64, 128 }\nwhere \"tile <= most\"\ngrid { 1 }\nblock { 64 }\n");
  add_kernel(&held, "  implementation \"a\" { template \"t.cu\", derive \"most\" \"64\", include "
                    "\"common.lua\" },\n"
                    "  implementation \"b\" { template \"t.cu\", derive \"most\" \"128\", include "
                    "\"common.lua\" },");
  struct config *c = open_held(&held);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(c->implementations[i].tunable_count, 1);
    assert_string_equal(c->implementations[i].derived[0].name, "most");
    expect_line(c->implementations[i].restrictions[0].line, "common.lua", 2);
  }
  config_close(c);
  forget(&held);
}

/* The whole kernel may be in another file; one that is returned as a value has commas. */
TEST(anything_may_be_included) {
  struct held held = {{NULL, NULL, NULL}};
  add(&held, "c.lua", "include \"kernel.lua\"\n");
  add(&held, "kernel.lua",
      "kernel \"k\" { problem \"N\" (8), output \"C\" { dtype = \"f32\", shape = { \"N\" } }, "
      "reference \"none\",\n"
      "  implementation \"i\" { template \"t.cu\", include \"rest.lua\" } }\n");
  add(&held, "rest.lua", "return grid { 1 }, block { 32 }\n");
  struct config *c = open_held(&held);
  assert_int_equal(c->implementations[0].launch_count, 1);
  config_close(c);
  forget(&held);
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

TEST(mistakes_name_the_included_line) {
  expect_mistake("\ntunable \"t\" { 4, 4 }\n", "x.lua:2: tunable \"t\" has the value 4 twice");
  expect_mistake("\nwhere \"N >\"\n", "x.lua:2: where: expected a value, found the end");
  expect_mistake("problm \"M\" (4)\n", "x.lua:1: unknown declaration 'problm' (nearest 'problem')");
  expect_mistake("tunable \"a\" { 1 }\ntunable \"b\" {\n",
                 "x.lua:3: unexpected symbol near <eof>: the '{' of line 2 is not closed");
  expect_mistake("tunable \"a\" { 1 },\ntunable \"b\" { 2 }\n",
                 "x.lua:1: syntax error near ','; no comma stands between the declarations of an "
                 "included file");
  expect_mistake("\nimplementation \"i\" {\n  grid { 1 },\n}\n",
                 "x.lua:2: implementation \"i\" has no template");
  expect_mistake("implementation \"i\" { template \"t.cu\" grid { 1 } }\n",
                 "x.lua:1: '}' expected near 'grid'");
  expect_mistake("problem \"M\"\n",
                 "x.lua:1: problem has a name but no value: problem \"M\" (4096)");
  expect_mistake("\ntemplate \"t.cu\"\n",
                 "x.lua:2: template stands in an implementation, not in a kernel");
  expect_mistake("problem \"N\" (4)\n",
                 "x.lua:1: the name 'N' is taken by the problem at line 2 of c.lua");
  expect_mistake("problem \"M\" (4)\nproblem \"M\" (4)\n",
                 "x.lua:2: the name 'M' is taken by the problem at line 1");
  expect_mistake("error(\"no\")\n", "x.lua:1: no");
  expect_mistake("\nwhile true do end\n", "x.lua:2: gave up after 50 million instructions");
  expect_mistake(
      "kernel \"other\" {}\n",
      "x.lua:1: a second kernel: one file describes one, and the first is at line 1 of c.lua");
}

/* The variables of a file are its own, and an include must stand in a list. */
TEST(files_are_apart) {
  struct held held = {{NULL, NULL, NULL}};
  add(&held, "x.lua", "width = 4\n");
  add_kernel(&held, "  include \"x.lua\",\n  tunable \"w\" { width },");
  expect_refused(&held, "c.lua:4: unknown name 'width'");
  held.sources.files = NULL;
  add(&held, "x.lua", "\nwhere \"N > 1\"\n");
  add(&held, "c.lua", "local rules = include \"x.lua\"\nkernel \"k\" {}\n");
  expect_refused(&held, "x.lua:2: where stands outside of the kernel's braces");
}

TEST(bad_includes) {
  static const struct {
    const char *declaration, *want;
  } cases[] = {
      {"include (4)", "c.lua:3: include takes the name of a file: include \"matmul/tiled.lua\""},
      {"include \"a\\0b\"", "c.lua:3: include takes the name of a file"},
      {"include \"none.lua\"", "c.lua:3: include: no file 'none.lua': looked for none.lua (in "
                               "memory), configs/none.lua (shipped)"},
      {"include \"../x.lua\"",
       "c.lua:3: include: '../x.lua' is outside: a file is named relative to the one that "
       "includes it, without '..' or a hidden name"},
      {"include \"/etc/passwd\"", "c.lua:3: include: '/etc/passwd' is outside"},
      {"include \".hidden/x.lua\"", "c.lua:3: include: '.hidden/x.lua' is outside"},
      {"include \"\"", "c.lua:3: include: '' is outside"},
      {"include \"c.lua\"", "c.lua:3: include: a file cannot include itself: c.lua includes c.lua"},
      {"tunable \"t\" { include \"x.lua\" }",
       "c.lua:3: tunable \"t\" has a value of type declaration"},
      {"include { \"x.lua\" }", "c.lua:3: include takes the name of a file"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct held held = {{NULL, NULL, NULL}};
    add(&held, "x.lua", "");
    add(&held, "other.lua", "");
    add_kernel(&held, cases[i].declaration);
    expect_refused(&held, cases[i].want);
  }
}

TEST(circles_end) {
  struct held held = {{NULL, NULL, NULL}};
  add(&held, "parts/b.lua", "\ninclude \"a.lua\"\n");
  add(&held, "parts/a.lua", "include \"leaf.lua\"\ninclude \"b.lua\"\n");
  add(&held, "parts/leaf.lua", "");
  add_kernel(&held, "  include \"parts/leaf.lua\", include \"parts/b.lua\",");
  expect_refused(
      &held,
      "parts/a.lua:2: include: a file cannot include itself: parts/b.lua includes parts/a.lua "
      "includes parts/b.lua");
}

TEST(depth_and_number_end) {
  struct held held = {{NULL, NULL, NULL}};
  for (int i = 1; i <= 8; i++) {
    char name[32], text[64];
    snprintf(name, sizeof name, "%d.lua", i);
    snprintf(text, sizeof text, "include \"%d.lua\"\n", i + 1);
    add(&held, name, i < 8 ? text : "");
  }
  add_kernel(
      &held,
      "  include \"1.lua\", implementation \"i\" { template \"t.cu\", grid { 1 }, block { 1 } }");
  config_close(open_held(&held));
  add(&held, "8.lua", "include \"9.lua\"\n");
  expect_refused(&held, "8.lua:1: includes are nested more than 8 deep");
  held.sources.files = NULL;
  add(&held, "x.lua", "");
  add(&held, "c.lua", "for i = 1, 129 do include \"x.lua\" end\n");
  expect_refused(&held, "c.lua:1: there are more than 128 includes");
  FREED(text) long_comment = {0};
  text_add(&long_comment, "--");
  while (long_comment.length < 1 << 20) text_add(&long_comment, "----------------");
  held.sources.files = NULL;
  add(&held, "x.lua", text_get(&long_comment));
  add(&held, "c.lua", "for i = 1, 8 do include \"x.lua\" end\n");
  expect_refused(
      &held, "c.lua:1: include: the files that a config includes are larger than 4 MiB together");
}

/* ---- On the disk ---------------------------------------------------------------------------- */

struct place {
  struct text folder;
  char before[4096];
};

static void write_file(const char *path, const char *text) {
  FREED(text) folder = {0};
  path_folder(path, &folder);
  assert_int_equal(folder_make(text_get(&folder), NULL), CUGEN_OK);
  assert_int_equal(file_write(path, text, strlen(text), NULL), CUGEN_OK);
}

static int enter_place(void **state) {
  static struct place place;
  assert_non_null(getcwd(place.before, sizeof place.before));
  assert_int_equal(folder_temporary(&place.folder, NULL), CUGEN_OK);
  assert_int_equal(chdir(text_get(&place.folder)), 0);
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

static void expect_file(const char *name, const char *from, bool shipped, const char *want) {
  const struct sources plain = {NULL, NULL, NULL};
  const struct include_wanted wanted = {name, from, "tree/c.lua", shipped};
  FREED(text) path = {0}, content = {0};
  bool ships;
  cugen_error err;
  int status = sources_include(&plain, &wanted, &path, &content, &ships, &err);
  const char *got = status ? err.message : text_get(&path);
  if (strncmp(got, want, strlen(want)) != 0) fail_msg("got: %s\nwant: %s", got, want);
}

TEST_WITH(files_of_the_tree_are_found, enter_place, leave_place) {
  write_file("tree/a.lua", "a");
  write_file("tree/lib/b.lua", "b");
  write_file("tree/lib/c.lua", "c");
  write_file("secret/s.lua", "s");
  assert_int_equal(symlink("../secret/s.lua", "tree/link.lua"), 0);
  assert_int_equal(symlink("a.lua", "tree/inner.lua"), 0);
  expect_file("a.lua", "tree/c.lua", false, "tree/a.lua");
  expect_file("lib/b.lua", "tree/c.lua", false, "tree/lib/b.lua");
  expect_file("c.lua", "tree/lib/b.lua", false, "tree/lib/c.lua");
  expect_file("inner.lua", "tree/c.lua", false, "tree/inner.lua");
  expect_file("link.lua", "tree/c.lua", false,
              "tree/link.lua leads out of the config's folder by a link");
  expect_file("a.lua", "tree/lib/b.lua", false,
              "no file 'a.lua': looked for tree/lib/a.lua, configs/a.lua (shipped)");
}

/* A shipped config includes shipped files, whatever is in the working folder; a copy of a
   shipped config takes files that it lacks from there. */
TEST_WITH(shipped_files_include_shipped_files, enter_place, leave_place) {
  write_file("configs/copy.lua", "not this one");
  write_file("tree/c.lua", "");
  expect_file("copy.lua", "configs/matmul.lua", true, "configs/copy.lua");
  const struct sources plain = {NULL, NULL, NULL};
  const struct include_wanted wanted = {"copy.lua", "configs/matmul.lua", "configs/matmul.lua",
                                        true};
  struct text path = {0}, content = {0};
  bool ships;
  assert_int_equal(sources_include(&plain, &wanted, &path, &content, &ships, NULL), CUGEN_OK);
  assert_true(ships);
  assert_non_null(strstr(text_get(&content), "kernel \"copy\""));
  text_free(&path);
  text_free(&content);
  expect_file("copy.lua", "tree/c.lua", false, "configs/copy.lua");
}
