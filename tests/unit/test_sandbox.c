/* The sandbox: what it offers and refuses; nothing inside outlives its limits. */

#include <locale.h>
#include <lua.h>
#include <time.h>

#include "base/expr.h"
#include "base/text.h"
#include "gen/sandbox/sandbox.h"
#include "tests/testing.h"

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs the code. If its only result is a string, copies it to `result`. */
static int run_in(struct sandbox *sandbox, const char *code, char *result, size_t size,
                  cugen_error *err) {
  int status = sandbox_load(sandbox, "test.lua", code, strlen(code), 0, CUGEN_ERROR_CONFIG, err);
  if (!status) status = sandbox_call(sandbox, 0, 1, CUGEN_ERROR_CONFIG, err);
  if (status) return status;
  lua_State *L = sandbox_state(sandbox);
  if (result)
    snprintf(result, size, "%s",
             lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "not a string");
  lua_pop(L, 1);
  return CUGEN_OK;
}

/* memory: limit of the sandbox in bytes; 0: the usual one. */
static int run(size_t memory, const char *code, char *result, size_t size, cugen_error *err) {
  CLOSED(sandbox) *sandbox;
  assert_int_equal(sandbox_open(memory, 0, &sandbox, err), CUGEN_OK);
  int status = run_in(sandbox, code, result, size, err);
  assert_int_equal(lua_gettop(sandbox_state(sandbox)), 0);
  return status;
}

static void expect(const char *code, const char *want) {
  char got[256];
  cugen_error err;
  if (run(0, code, got, sizeof got, &err)) fail_msg("%s: %s", code, err.message);
  assert_string_equal(got, want);
}

/* Expects an error whose message begins with `begin`, within a second of work (a little more
   with sanitizers). */
static void expect_error_in(size_t memory, const char *code, const char *begin) {
  cugen_error err;
  double start = cpu_seconds();
  if (run(memory, code, NULL, 0, &err) != CUGEN_ERROR_CONFIG) fail_msg("no error: %.200s", code);
  double took = cpu_seconds() - start;
  if (strncmp(err.message, begin, strlen(begin)) != 0)
    fail_msg("%.200s\n got: %s\nwant: %s", code, err.message, begin);
  if (took > 1.3) fail_msg("%.200s took %g s", code, took);
}

static void expect_error(const char *code, const char *begin) {
  expect_error_in(0, code, begin);
}

TEST(offers_pure_functions) {
  expect("local s = '' for i, v in ipairs{3, 4} do s = s .. i .. v .. ' ' end return s", "13 24 ");
  expect("return tostring(1) .. tostring(nil) .. tostring(true) .. tostring(0.5) .. tostring('x')",
         "1niltrue0.5x");
  expect("return select(2, 'a', 'b') .. select('#', 1, nil) .. type({}) .. tonumber('0x10') .. "
         "tonumber('11', 2)",
         "b2table163");
  expect("return math.floor(2.5) .. math.ceil(2.5) .. math.max(1, 9) .. math.min(4, 5) .. "
         "math.abs(-6) .. "
         "math.tointeger(7.0) .. math.type(1) .. math.fmod(9, 5)",
         "239467integer4");
  expect("local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) table.remove(t) return "
         "table.concat(t, ',')",
         "0,1,2");
  expect("return table.concat({table.unpack({1, 2, 3}, 2)}, ' ')", "2 3");
}

TEST(offers_nothing_else) {
  static const char *const names[] = {
      "string",  "load",         "loadstring", "loadfile",     "dofile",    "require",
      "package", "os",           "io",         "debug",        "coroutine", "utf8",
      "print",   "setmetatable", "pcall",      "getmetatable", "xpcall",    "rawget",
      "rawset",  "rawequal",     "rawlen",     "next",         "warn",      "collectgarbage",
      "_G",      "_VERSION"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    expect(formed("return type(%s)", names[i]), "nil");
  }
  expect(
      "return type(math.random) .. type(math.randomseed) .. type(table.move) .. type(table.pack)",
      "nilnilnilnil");
  expect("local n = 0 for k in pairs(_ENV) do n = n + 1 end return '' .. n", "10");
  expect_error("return ('x'):rep(10)", "test.lua:1: attempt to index a string value");
  expect_error("return ('x').y", "test.lua:1: attempt to index a string value");
  expect_error("\nreturn '10' + 1", "test.lua:2: attempt to perform arithmetic on a string value");
}

TEST(pairs_is_in_order) {
  expect("local s = '' for k, v in pairs{b = 1, a = 2, [3] = 3, [1] = 4, [1.5] = 5, [true] = 6, "
         "[false] = 7} do "
         "s = s .. tostring(k) .. v .. ' ' end return s",
         "14 1.55 33 a2 b1 false7 true6 ");
  expect("local s, t = '', {1, 2, 3} for k in pairs(t) do s = s .. k t[k + 1] = nil end return s",
         "13");
  expect("local s = '' for k in pairs{} do s = s .. k end return s", "");
  expect_error("for k in pairs{[{}] = 1} do end",
               "test.lua:1: pairs cannot put keys of type table in order");
  expect_error("for k in pairs(nil) do end", "test.lua:1: bad argument #1 to");
}

TEST(sort_is_stable) {
  expect("local t = {5, 3, 9, 1, 4, 4, 8} table.sort(t) return table.concat(t)", "1344589");
  expect("local t = {'b', 'a', 'C'} table.sort(t) return table.concat(t)", "Cab");
  expect("local t = {} for i = 1, 100 do t[i] = {i % 3, i} end table.sort(t, function(a, b) return "
         "a[1] < b[1] end) "
         "local s = '' for i = 1, 5 do s = s .. t[i][2] .. ' ' end return s",
         "3 6 9 12 15 ");
  expect("local t = {1, 2, 3} table.sort(t, function() return true end) return '' .. #t", "3");
  expect_error("table.sort{1, 'x'}", "test.lua:1: attempt to compare ");
  expect_error("table.sort({1, 2}, 5)", "test.lua:1: bad argument #2 to");
}

TEST(leaks_no_address) {
  expect_error("return tostring({})",
               "test.lua:1: bad argument #1 to 'tostring' (a number, string");
  expect_error("return tostring(tostring)", "test.lua:1: bad argument #1 to 'tostring'");
  expect_error("error({})", "test.lua:1: error with a value of type table instead of a message");
  expect_error("return {} .. ''", "test.lua:1: attempt to concatenate a table value");
}

TEST(errors_name_file_and_line) {
  expect_error("x = = 1", "test.lua:1: unexpected symbol near '='");
  expect_error("\n\nerror('mine')", "test.lua:3: mine");
  expect_error("\n\nerror('mine', 0)", "test.lua:3: mine");
  expect_error("\nerror()", "test.lua:2: error with a value of type nil");
  expect_error("\nassert(false)", "test.lua:2: assertion failed!");
  expect_error("local x\nx()", "test.lua:2: attempt to call a nil value");
  expect_error("error('\\27[2J', 0)", "test.lua:1: \\u001b[2J");
}

TEST(long_paths_stay_whole) {
  CLOSED(sandbox) *sandbox;
  cugen_error err;
  FREED(text) name = {0}, want = {0};
  for (int i = 0; i < 20; i++) text_add(&name, "a_folder/");
  text_add(&name, "x.lua");
  assert_int_equal(sandbox_open(0, 0, &sandbox, &err), CUGEN_OK);
  static const char *const codes[] = {"\nerror('mine')", "\nx = = 1", "\nerror({})"};
  for (size_t i = 0; i < 3; i++) {
    int status = sandbox_load(sandbox, text_get(&name), codes[i], strlen(codes[i]), 0,
                              CUGEN_ERROR_CONFIG, &err);
    if (!status) status = sandbox_call(sandbox, 0, 0, CUGEN_ERROR_CONFIG, &err);
    assert_int_equal(status, CUGEN_ERROR_CONFIG);
    text_clear(&want);
    text_addf(&want, "%s:2: ", text_get(&name));
    assert_memory_equal(err.message, text_get(&want), want.length);
  }
}

TEST(endless_loops_end) {
  /* after so many instructions or, on a slow machine, seconds */
  const char *gave_up = "test.lua:2: gave up after";
  expect_error("\nwhile true do end", gave_up);
  expect_error("\nlocal function f() return f() end f()", gave_up);
  expect_error("\n::again:: goto again", gave_up);
  expect_error("\nfor i = 1, math.max(9e15) do end", gave_up);
  expect_error("\ntable.sort({1, 2, 3}, function() while true do end end)", gave_up);
  expect_error("\nlocal t = {} for i = 1, 1e5 do t[i] = '' end while true do table.concat(t) end",
               "test.lua:2: gave up after");
  expect_error("\nlocal t = {} for i = 1, 1e5 do t[i] = 1 end while true do table.insert(t, 1, 1) "
               "table.remove(t, 1) end",
               gave_up);
  expect_error("\nlocal t = {} for i = 1, 1e5 do t[i] = i end while true do table.sort(t) end",
               "test.lua:2: gave up");
  expect_error("\nlocal t = {} for i = 1, 1e5 do t[i] = i end while true do for k in pairs(t) do "
               "break end end",
               "test.lua:2: gave up");
  expect_error("\nlocal t = {} for i = 1, 1e5 do t[i] = i end while true do select('#', "
               "table.unpack(t)) end",
               "test.lua:2: gave up");
  expect_error("\nlocal t = {} for i = 1, 9e4 do t[i] = i end local function f(...) while true do "
               "select('#', ...) end end "
               "f(table.unpack(t))",
               "test.lua:2: gave up");
  expect_error("\nlocal t = {} for i = 1, 9e4 do t[i] = i end local function f(...) while true do "
               "local u = {...} end end "
               "f(table.unpack(t))",
               "test.lua:2: gave up");
  expect_error("\nlocal a = 'x' for i = 1, 19 do a = a .. a end local b = a .. 'y' a = a .. 'y' "
               "while true do local c = a == b end",
               "test.lua:2: gave up");
  expect_error("\nlocal a = 'x' for i = 1, 19 do a = a .. a end local b = a .. 'z' a = a .. 'y' "
               "while true do local c = a < b end",
               "test.lua:2: gave up");
  expect_error("\nlocal a = '1' for i = 1, 19 do a = a .. a end while true do local c = {[a .. "
               "'x'] = 1} end",
               "test.lua:2: gave up");
  expect_error("\nlocal t = {} for i = 1, 6e4 do t['k' .. i] = i end for i = 1, 6e4 do t['k' .. i] "
               "= nil end "
               "while true do pairs(t) end",
               "test.lua:2: gave up");
}

/* Takes the memory of a sandbox that has 8 MiB, which a slow machine, too, hands out long before the
   time is over. */
static void expect_bomb(const char *code) {
  expect_error_in(8 << 20, code, "test.lua:2: gave up: it takes more than 8 MiB of memory");
}

TEST(memory_bombs_end) {
  /* a string that is too long comes before the memory's end */
  expect_error("\nlocal s = 'x' while true do s = s .. s end",
               "test.lua:2: gave up: it takes more than 64 MiB of memory");
  expect_bomb("\nlocal s = 'x' for i = 1, 19 do s = s .. s end local t = {} while true do t[#t + "
              "1] = s .. #t end");
  expect_bomb("\nlocal t = {} while true do t[#t + 1] = t end");
  expect_bomb("\nlocal t = {} while true do t = {t, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
              "14, 15, 16, 17, 18, 19} end");
  expect_bomb("\nlocal t = {} while true do t = {t} end");
  expect_bomb("\nlocal t = {} while true do t[{}] = 1 end");
  expect_bomb("\nlocal t = {} while true do table.insert(t, {}) end");
  expect_bomb("\nlocal function f() local x = f() return x end f()");
  /* Copies all arguments at each step: stopped by the memory or, on a slow machine, by the time. */
  expect_error("\nlocal function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, ...) end f()",
               "test.lua:2: gave up");
  expect_bomb("\nlocal s = 'x' for i = 1, 18 do s = s .. s end table.concat({s, s, s, s, s, s, s, "
              "s}, s)");
  /* Fills the memory to its limit, then makes garbage at every step. */
  expect_error_in(8 << 20,
                  "\nlocal t = {} for i = 1, 7 do t[i] = {} for k = 1, 65536 do t[i][k] = 0 end "
                  "end\nlocal u = {} while true do u[#u % 100 + 1] = {{}, {}} end",
                  "test.lua:3: gave up");
}

TEST(wild_arguments_are_refused) {
  expect_error("\ntable.unpack({}, 1, 9007199254740992)",
               "test.lua:2: a range of more than a million elements");
  expect_error("\ntable.unpack({}, math.tointeger(-9e15), 9007199254740992)",
               "test.lua:2: a range");
  expect_error("\ntable.concat({}, '', 1, 9007199254740992)",
               "test.lua:2: a range of more than a million");
  expect_error("\ntable.unpack({}, 1, 999999)", "test.lua:2: ");
  expect_error("\nlocal s = '1' for i = 1, 10 do s = s .. s end tonumber(s, 2)",
               "test.lua:2: bad argument #1");
  expect_error("\nlocal s = '1' for i = 1, 10 do s = s .. s end math.max(s)",
               "test.lua:2: bad argument #1");
  expect_error("\nmath.floor = nil", "test.lua:2: math cannot be changed");
  expect_error("\ntable.insert(math, 1)", "test.lua:2: math cannot be changed");
  expect_error("\nmath.fmod(1, 0)", "test.lua:2: bad argument #2 to 'fmod' (zero)");
  expect_error("\nlocal x = 1 // 0", "test.lua:2: attempt to ");
}

TEST(deep_nesting_ends) {
  static const char *const opening[] = {"(",     "{",   "- ", "not ", "function() return ",
                                        "1 .. ", "2 ^ "};
  for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
    FREED(text) code = {0};
    text_add(&code, "return ");
    for (int k = 0; k < 100000; k++) text_add(&code, opening[i]);
    assert_false(code.failed);
    expect_error(text_get(&code), "test.lua:1: ");
  }
  expect_error("\nlocal function f(t) table.sort({1, 2}, f) end f()", "test.lua:2: ");
}

/* Lists the names of all functions in the table on top of the stack, which is popped, and in its
   read-only tables. */
static void list_functions(lua_State *L, const char *prefix, struct text *out) {
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const char *name = lua_tostring(L, -2);
    if (lua_isfunction(L, -1)) text_addf(out, "%s%s ", prefix, name);
    if (!lua_istable(L, -1) || !lua_getmetatable(L, -1)) continue;
    const char *inner = formed("%s%s.", prefix, name);
    lua_getfield(L, -1, "__index");
    list_functions(L, inner, out);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The functions are listed at run time, so that a function added later is tested, too. Each is
   called with every one, and with every two, of the worst arguments. A call may do anything but
   outlive the limits. */
TEST(every_function_takes_the_worst) {
  static const char code[] =
      "local long = 'x' for i = 1, 18 do long = long .. long end\n"
      "local cycle = {} cycle[1], cycle.t = cycle, cycle\n"
      "local holes = {[1] = 1, [9007199254740992] = 2, [math.tointeger(-9e15)] = 3}\n"
      "local big = {} for i = 1, 50000 do big[i] = i end\n"
      "local worst = {false, true, 0, -1, 1e308, -1e308, 0 / 0, 1 / 0, -1 / 0, "
      "9223372036854775807,\n"
      "  math.tointeger(-2^63), '', '\\0', '\\27LuaT', long, {}, cycle, holes, big, function(...) "
      "return ... end,\n"
      "  function() error({}) end, select, math}\n"
      "worst[#worst + 1] = 0.5\n"
      "local a, b = %d, %d\n"
      "local f = %s\n"
      "if b > 0 then f(worst[a], worst[b]) elseif a > 0 then f(worst[a]) else f() end";
  enum { WORST = 24 };
  CLOSED(sandbox) *sandbox;
  cugen_error err;
  FREED(text) names = {0};
  assert_int_equal(sandbox_open(0, 0, &sandbox, &err), CUGEN_OK);
  lua_State *L = sandbox_state(sandbox);
  lua_pushglobaltable(L);
  list_functions(L, "", &names);
  int functions = 0;
  for (char *rest = names.data, *name; (name = strtok_r(rest, " ", &rest)); functions++)
    for (int a = 0; a <= WORST; a++)
      for (int b = a % 6; b <= (a ? WORST : 0); b += 6) {
        const char *text = formed(code, a, b, name);
        double start = cpu_seconds();
        int status = run_in(sandbox, text, NULL, 0, &err);
        if (cpu_seconds() - start > 1.3) fail_msg("%s with %d, %d took long", name, a, b);
        if (status && (status != CUGEN_ERROR_CONFIG || strncmp(err.message, "test.lua:", 9) != 0))
          fail_msg("%s with %d, %d: %d: %s", name, a, b, status, err.message);
      }
  assert_true(functions >= 8 + 13);
}

/* 32767 labels are the slowest known input of the parser, which compares each label with all
   before it. */
TEST(slow_parsing_ends) {
  FREED(text) code = {0};
  for (int function = 0; function < 40; function++) {
    text_add(&code, "do local function f()\n");
    for (int i = 0; i < 32000; i++) text_addf(&code, "::a%d:: x = 1 ", i);
    text_add(&code, "end end\n");
  }
  assert_false(code.failed);
  expect_error(text_get(&code), "test.lua:1: gave up after 0.75 s of work");
}

TEST(bytecode_is_refused) {
  expect_error("\x1bLuaT", "test.lua:1: attempt to load a binary chunk");
}

TEST(a_sandbox_lives_on_after_giving_up) {
  CLOSED(sandbox) *sandbox;
  char got[32];
  WORKS(sandbox_open(1 << 20, 100000, &sandbox, &err));
  for (int i = 0; i < 3; i++) {
    FAILS_WITH(run_in(sandbox, "while true do end", NULL, 0, &err), CUGEN_ERROR_CONFIG,
               "test.lua:1: gave up after 100000 instructions: an endless loop?");
    FAILS(run_in(sandbox, "local t = {} while true do t = {t} end", NULL, 0, &err),
          CUGEN_ERROR_CONFIG, "test.lua:1: gave up: it takes more than 1 MiB");
    WORKS(run_in(sandbox, "return 'fine'", got, sizeof got, &err));
    assert_string_equal(got, "fine");
  }
}

TEST(environments_are_separate) {
  CLOSED(sandbox) *sandbox;
  WORKS(sandbox_open(0, 0, &sandbox, &err));
  lua_State *L = sandbox_state(sandbox);
  const char *code = "assert(x == nil) x = math.floor(1.5) assert(x == 1)";
  for (int i = 0; i < 2; i++) {
    sandbox_push_environment(L);
    WORKS(sandbox_load(sandbox, "e.lua", code, strlen(code), -1, CUGEN_ERROR_TEMPLATE, &err));
    WORKS(sandbox_call(sandbox, 0, 0, CUGEN_ERROR_TEMPLATE, &err));
    assert_int_equal(lua_gettop(L), 1);
    assert_int_equal(lua_getfield(L, 1, "x"), LUA_TNUMBER);
    lua_settop(L, 0);
  }
}

static void expect_expression(const char *source, double value) {
  CLOSED(expr) *expr;
  double found;
  WORKS(expr_parse(source, NULL, &expr, &err));
  WORKS(expr_eval_float(expr, NULL, &found, &err));
  assert_true(found == value);
}

TEST(numbers_ignore_the_locale) {
  static const char *const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "de_DE.utf8"};
  bool set = false;
  for (size_t i = 0; i < 4 && !set; i++) set = setlocale(LC_ALL, locales[i]) != NULL;
  if (!set) {
    print_message("skipped: no locale with a decimal comma is installed\n");
    skip();
  }
  expect("return 0.5 .. ''", "0.5");
  expect_expression("0x.8 + 1.5", 2.0);
  expect_expression(".5e1", 5.0);
  setlocale(LC_ALL, "C");
}
