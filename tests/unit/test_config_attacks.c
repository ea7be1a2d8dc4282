/* Nothing in a config can hang or crash the program that reads it. */

#include <time.h>

#include "base/text.h"
#include "configs.h"
#include "tests/testing.h"

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect_attack(const char *text, const char *want) {
  struct config *config;
  cugen_error err;
  double start = cpu_seconds();
  assert_int_equal(config_parse("c.lua", text, strlen(text), &config, &err), CUGEN_ERROR_CONFIG);
  double took = cpu_seconds() - start;
  if (!strstr(err.message, want)) fail_msg("%.300s\n got: %s\nwant: %s", text, err.message, want);
  if (took > 5) fail_msg("%.300s took %g s", text, took);
}

TEST(attacks_end) {
  expect_attack("\nwhile true do end", "c.lua:2: gave up after");
  expect_attack("\nlocal s = 'x' while true do s = s .. s end",
                "c.lua:2: gave up: it takes more than 64 MiB");
  expect_attack("\nwhile true do problem \"M\" (1) end", "c.lua:2: gave up");
  expect_attack("\nlocal d = launch {} while true do d = launch { d } end", "c.lua:2: gave up");
  expect_attack("local d = launch {} for i = 1, 1e5 do d = launch { d } end kernel \"k\" { d }",
                "c.lua:1: ");
  expect_attack("local t = {} local i = implementation \"i\" (t) t[1] = i kernel \"k\" { i }",
                "c.lua:1: ");
  expect_attack("local t = {} kernel \"k\" (t) for i = 1, 1e5 do t[i] = 1 end",
                "c.lua:1: kernel \"k\" has more than 512");
  expect_attack("local t = {} for i = 1, 1e5 do t[i] = i end kernel \"k\" { tunable \"t\" (t) }",
                "c.lua:1: tunable \"t\" has more than 4096 values");
}

/* Large values that are used many times. */
TEST(amplification_is_bounded) {
  expect_attack("local v, t = {}, {} for i = 1, 4096 do v[i] = (i * 7919) % 8192 end\n"
                "for i = 1, 512 do t[i] = tunable('t' .. i)(v) end kernel \"k\" (t)",
                "the config is too large");
  expect_attack("local t, k = {}, {} for i = 1, 509 do t[i] = tunable('t' .. i) { 1 } end\n"
                "t[510] = template \"t\" t[511] = grid { 1 } t[512] = block { 1 }\n"
                "for i = 1, 509 do k[i] = implementation('i' .. i)(t) end\n"
                "k[510] = output \"C\" { dtype = \"f32\", shape = { 1 } } k[511] = reference "
                "\"none\" kernel \"k\" (k)",
                "the config is too large");
  struct text text = {0};
  text_add(&text, "local s = 'N' for i = 1, 12 do s = s .. '+N' end\nlocal w = {}\n"
                  "for i = 1, 500 do w[i] = where(s .. '>' .. i) end local k = { problem \"N\" "
                  "(1), reference \"none\",\n"
                  "output \"C\" { dtype = \"f32\", shape = { 1 } } }\n"
                  "w[501] = template \"t\" w[502] = grid { 1 } w[503] = block { 1 }\n"
                  "for i = 4, 512 do k[i] = implementation('i' .. i)(w) end kernel \"k\" (k)");
  expect_attack(text_get(&text), "the config is too large");
  text_free(&text);
  /* Derived names that contain each other. */
  expect_attack("local k = { derive \"d0\" \"1 + device.warp_size\" }\n"
                "for i = 1, 100 do k[i + 1] = derive('d' .. i)('d' .. i - 1 .. '+ d' .. i - 1) end "
                "kernel \"k\" (k)",
                "the expression is too large");
  expect_attack(
      "local s = '1' for i = 1, 14 do s = s .. '+' .. s end kernel \"k\" { derive \"d\" (s) }",
      "derive \"d\" is longer than 8192 characters");
}

/* Calls that evaluate calls: their work doubles with each, and so it does with each array. */
TEST(questions_are_bounded) {
  static const char *const before =
      "local function rep(s, n) local r = '' for i = 1, n do r = r .. s end return r end\n"
      "local t = { template 't', tunable 'a' { 1, 2 }, derive 'd0' '4 * a', grid { 1 }, block { 1 "
      "} }\n";
  static const char *const after =
      "\nkernel 'k' { output 'y' { dtype = 'f32', shape = { 64, 4 } }, reference 'none',\n"
      "implementation 'i' (t) }";
  static const struct {
    const char *parts, *want;
  } rows[] = {
      {"for i = 1, 60 do local d = 'd' .. i - 1\n"
       "t[i + 5] = derive('d' .. i)('sectors(\"y\", \"row\", ' .. d .. ' + ' .. d .. ')') end",
       "this asks about arrays that ask about others too often"},
      {"for i = 1, 15 do local pad = rep('conflicts(\"S' .. i - 1 .. '\", \"col\") + ', 40)\n"
       "t[i + 5] = shared('S' .. i) { dtype = 'f32', shape = { 'a', 8 },\n"
       "layout = 'row+${' .. (i > 1 and pad or '') .. '1}' } end",
       "this asks about arrays that ask about others too often"},
      {"local rule = rep('sectors(\"y\", \"row\") + ', 300) .. '1 > 0'\n"
       "for i = 1, 400 do t[i + 5] = where(rule) end",
       "the config asks about arrays too often"},
      {"t[6] = where(rep('sectors(\"y\", \"row\", ', 300) .. '1' .. rep(')', 300))",
       "nested too deeply"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    expect_attack(formed("%s%s%s", before, rows[i].parts, after), rows[i].want);
  }
}
