/* The annotations of the config language for editors (configs/editor/cugen.lua) say what the
   tables of gen/ and the messages made from them say: every declaration with its places and
   example, every attribute, every word, every function of the sandbox, and nothing else. Where
   this fails, the file is mended by hand. */

#include <ctype.h>
#include <lauxlib.h>
#include <lua.h>

#include "base/system.h"
#include "gen/config/config.h"
#include "gen/config/declarations.h"
#include "gen/sandbox/sandbox.h"
#include "tests/testing.h"

static const char path[] = "configs/editor/cugen.lua";
static struct text annotations;

FIXTURE(read_annotations) {
  cugen_error err;
  return file_read(path, &annotations, &err);
}

FIXTURE(forget_annotations) {
  text_free(&annotations);
  return 0;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Appends "prefix" "name" for the functions in the table on top of the stack, in rising order,
   one on a line. */
static void add_functions(lua_State *L, const char *prefix, struct text *out) {
  enum { MOST = 128 };
  const char *names[MOST];
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_type(L, -1) != LUA_TFUNCTION) continue;
    assert_in_range(count, 0, MOST - 1);
    size_t at = count++;
    const char *name = lua_tostring(L, -2);
    for (; at && strcmp(names[at - 1], name) > 0; at--) names[at] = names[at - 1];
    names[at] = name;
  }
  for (size_t i = 0; i < count; i++) text_addf(out, "%s%s\n", prefix, names[i]);
}

/* Appends the functions of the globals and of the two libraries; the sandbox's are behind a
   read-only table. */
static void add_all_functions(lua_State *L, struct text *out) {
  static const char *const lua_libraries[] = {"math", "table"};
  lua_pushglobaltable(L);
  add_functions(L, "", out);
  lua_pop(L, 1);
  for (size_t i = 0; i < 2; i++) {
    lua_getglobal(L, lua_libraries[i]);
    assert_int_equal(lua_type(L, -1), LUA_TTABLE);
    if (luaL_getmetafield(L, -1, "__index") == LUA_TNIL) lua_pushvalue(L, -1);
    text_addf(out, "%s:\n", lua_libraries[i]);
    add_functions(L, "  ", out);
    lua_settop(L, 0);
  }
}

TEST(test_functions) {
  FREED(text) have = {0}, want = {0};
  CLOSED(sandbox) *sandbox;
  lua_State *L = luaL_newstate();
  if (luaL_dofile(L, path)) fail_msg("%s", lua_tostring(L, -1));
  add_all_functions(L, &have);
  assert_int_equal(sandbox_open(0, 0, &sandbox, NULL), CUGEN_OK);
  lua_State *inside = sandbox_state(sandbox);
  for (int i = 0; i < KEYWORD_COUNT; i++) {
    lua_pushcfunction(inside, declarations_open); /* any function will do */
    lua_setglobal(inside, config_keywords[i].name);
  }
  add_all_functions(inside, &want);
  assert_string_equal(text_get(&have), text_get(&want));
  lua_close(L);
}

/* ---- Declarations --------------------------------------------------------------------------- */

static void expect_text(const char *from, const char *to, const char *want) {
  const char *found = strstr(from, want);
  if (!found || found > to) fail_msg("%s does not have, where it should: %s", path, want);
}

TEST(test_places) {
  static const struct {
    enum place place;
    const char *class;
  } places[] = {{PLACE_FILE, "file"},
                {PLACE_KERNEL, "kernel"},
                {PLACE_IMPLEMENTATION, "implementation"},
                {PLACE_LAUNCH, "launch"},
                {PLACE_LOOP, "loop"}}; /* in the order of their bits */
  const char *all = text_get(&annotations);
  for (int i = 0; i < KEYWORD_COUNT; i++) {
    FREED(text) want = {0};
    text_addf(&want, "\n---@class cugen.%s:", config_keywords[i].name);
    const char *separator = " ";
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
      if (!(config_keywords[i].places & places[p].place)) continue;
      text_addf(&want, "%scugen.in_%s", separator, places[p].class);
      separator = ", ";
    }
    text_add(&want, "\n");
    expect_text(all, all + annotations.length, text_get(&want));
  }
}

/* Examples are in the comment above the function. */
TEST(test_examples) {
  for (int i = 0; i < KEYWORD_COUNT; i++) {
    FREED(text) example = {0};
    const char *function = formed("\nfunction %s(", config_keywords[i].name);
    text_addf(&example, "\n---%s\n", config_keywords[i].example);
    const char *end = strstr(text_get(&annotations), function), *begin = end;
    assert_non_null(end);
    while (strncmp(begin, "\n\n", 2) != 0) begin--;
    expect_text(begin, end, text_get(&example));
  }
}

/* ---- Attributes and words, as the messages about wrong ones list them ----------------------- */

/* Lists the words between `begin` and `end` in the error that the declaration causes. */
static void list_in_error(const char *declaration, const char *begin, const char *end,
                          struct text *out) {
  FREED(text) config = {0};
  struct config *opened;
  cugen_error err;
  text_addf(&config,
            "kernel \"k\" { problem \"M\" (1), output \"C\" { dtype = \"f32\", shape = { 1 } }, "
            "%s, reference \"none\","
            " implementation \"i\" { template \"t.cu\", grid { 1 }, block { 1 } } }",
            declaration);
  assert_int_equal(config_parse("c.lua", text_get(&config), config.length, &opened, &err),
                   CUGEN_ERROR_CONFIG);
  const char *from = strstr(err.message, begin);
  if (!from) fail_msg("%s: %s", declaration, err.message);
  from += strlen(begin);
  const char *to = *end ? strstr(from, end) : from + strlen(from);
  assert_non_null(to);
  text_add_n(out, from, (size_t)(to - from));
}

/* Lists the names at the beginning of the lines that follow the heading, as "a, b, c". Names of the
   class from which a class of the heading inherits come first. */
static void list_annotated(const char *heading, const char *begin, struct text *out) {
  const char *line = strstr(text_get(&annotations), heading);
  if (!line) fail_msg("%s has no %s", path, heading);
  line += strlen(heading);
  if (*line == ':') {
    const size_t length = strcspn(line + 2, "\n");
    list_annotated(formed("\n---@class %.*s", (int)length, line + 2), begin, out);
    line += 2 + length;
  }
  line += *line == '\n';
  for (; strncmp(line, begin, strlen(begin)) == 0; line += strcspn(line, "\n") + 1) {
    const char *name = line + strlen(begin);
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_' || name[length] == '+')
      length++;
    if (out->length) text_add(out, ", ");
    text_add_n(out, name, length);
  }
}

static void compare_lists(struct text *have, struct text *want) {
  assert_true(want->length > 0);
  assert_string_equal(text_get(have), text_get(want));
  text_free(have);
  text_free(want);
}

TEST(test_attributes) {
  static const char *const kinds[] = {"input", "output", "inout", "scratch", "constant", "scalar"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct text have = {0}, want = {0};
    const char *declaration = formed("%s \"A\" { zzzzzzzzzzzz = 1 }", kinds[i]);
    const char *heading = formed("\n---@class cugen.%s_attributes", kinds[i]);
    list_in_error(declaration, "attributes are ", "", &want);
    list_annotated(heading, "---@field ", &have);
    compare_lists(&have, &want);
  }
}

TEST(test_options) {
  struct text have = {0}, want = {0};
  list_in_error("options { zzzzzzzzzzzz = 1 }", "options are ", "", &want);
  list_annotated("\n---@class cugen.options_attributes\n", "---@field ", &have);
  compare_lists(&have, &want);
}

TEST(test_words) {
  static const struct {
    const char *alias, *declaration;
  } words[] = {{"dtype", "input \"A\" { dtype = \"zzzzzzzz\" }"},
               {"scalar_dtype", "scalar \"M\" { dtype = \"zzzzzzzz\" }"},
               {"layout", "input \"A\" { layout = \"zzzzzzzz\" }"},
               {"fill", "input \"A\" { fill = \"zzzzzzzz\" }"},
               {"access", "input \"A\" { access = \"zzzzzzzz\" }"},
               {"result_access", "output \"A\" { access = \"zzzzzzzz\" }"},
               {"constant_access", "constant \"A\" { access = \"zzzzzzzz\" }"},
               {"address", "input \"A\" { address = \"zzzzzzzz\" }"},
               {"memory", "input \"A\" { memory = \"zzzzzzzz\" }"},
               {"load_cache", "options { load_cache = \"zzzzzzzz\" }"},
               {"store_cache", "options { store_cache = \"zzzzzzzz\" }"},
               {"std", "options { std = \"zzzzzzzz\" }"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    struct text have = {0}, want = {0};
    const char *heading = formed("\n---@alias cugen.%s\n", words[i].alias);
    list_in_error(words[i].declaration, "neither one of ", " nor", &want);
    list_annotated(heading, "---| \"", &have);
    compare_lists(&have, &want);
  }
}

TEST(test_library) {
  const struct library *library = &libraries[LIBRARY_cublasLt];
  struct text have = {0}, want = {0};
  for (size_t i = 0; i < library->field_count; i++)
    text_addf(&want, "%s%s", i ? ", " : "", library->fields[i].name);
  list_annotated("\n---@class cugen.library_fields\n", "---@field ", &have);
  compare_lists(&have, &want);
}

TEST(test_launch) {
  struct text have = {0}, want = {0};
  for (int i = 0; i < KEYWORD_COUNT; i++)
    if (i != KEYWORD_include && config_keywords[i].places & PLACE_LAUNCH)
      text_addf(&want, "%s%s", want.length ? ", " : "", config_keywords[i].name);
  list_annotated("\n---@class cugen.launch_attributes\n", "---@field ", &have);
  compare_lists(&have, &want);
}

TEST(test_policies) {
  FREED(text) want = {0};
  list_in_error("policy \"zzzzzzzz\"", "is none of ", "", &want);
  for (const char *at = text_get(&want); *at; at += strspn(at, ", ")) {
    size_t length = strcspn(at, ",");
    expect_text(text_get(&annotations), text_get(&annotations) + annotations.length,
                formed("\n---@overload fun(name: \"%.*s\"): ", (int)length, at));
    at += length;
  }
}

ALL_TESTS_WITH(read_annotations, forget_annotations);
