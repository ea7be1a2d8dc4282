/* Configs: declarations are read as written. */
#include "base/system.h"
#include "configs.h"
#include "gen/config/declarations.h"
#include "gen/config/evaluate.h"
#include "tests/testing.h"

static const struct device_facts facts = {
    .warp_size = 32, .max_threads_per_block = 1024, .pitch_alignment = 512};

static const char transpose[] =
    "kernel \"transpose\" {\n"
    "  problem \"rows\"  (8192),\n"
    "  problem \"cols\"  (8192),\n"
    "  problem \"dtype\" { \"f32\", \"f64\", \"f16\" },\n"
    "  check   { rows = 96, cols = 200 },\n"
    "\n"
    "  input  \"A\" { dtype = \"dtype\", shape = { \"rows\", \"cols\" } },\n"
    "  output \"B\" { dtype = \"dtype\", shape = { \"cols\", \"rows\" }, tolerance = \"0\" },\n"
    "\n"
    "  reference \"naive_f64.cu:transpose\",\n"
    "  bytes     \"2 * rows * cols * sizeof(dtype)\",\n"
    "\n"
    "  implementation \"naive\" {\n"
    "    template \"transpose_naive.cu\",\n"
    "    tunable \"block_x\" { 16, 32 },\n"
    "    tunable \"block_y\" { 8, 16, 32 },\n"
    "    grid  { \"ceil_div(cols, block_x)\", \"ceil_div(rows, block_y)\" },\n"
    "    block { \"block_x\", \"block_y\" },\n"
    "  },\n"
    "\n"
    "  implementation \"tiled\" {\n"
    "    template \"transpose_tiled.cu\",\n"
    "    tunable \"tile\"            { 32, 64, 128 },\n"
    "    tunable \"rows_per_thread\" { 1, 4, 8 },\n"
    "    tunable \"vec\"             { 1, 2, 4 },\n"
    "    tunable \"swizzle\"         { \"none\", \"pad\", \"xor\" },\n"
    "    derive  \"threads_x\"       \"tile // vec\",\n"
    "    derive  \"threads_y\"       \"tile // rows_per_thread\",\n"
    "    where   \"threads_x * threads_y <= device.max_threads_per_block\",\n"
    "    where   \"cols % vec == 0 and rows % vec == 0\",\n"
    "    grid  { \"ceil_div(cols, tile)\", \"ceil_div(rows, tile)\" },\n"
    "    block { \"threads_x\", \"threads_y\" },\n"
    "  },\n"
    "}\n";

TEST(reads_the_design_example) {
  CLOSED(config) *c = parse(transpose);
  assert_string_equal(c->name, "transpose");
  assert_string_equal(c->path, "c.lua");
  assert_int_equal(c->problem_count, 3);
  assert_string_equal(c->problems[1].name, "cols");
  assert_int_equal(c->problems[1].line.number, 3);
  assert_false(c->problems[1].listed);
  assert_true(c->problems[2].listed);
  assert_int_equal(c->problems[2].value_count, 3);
  assert_string_equal(c->problems[2].values[2].string, "f16");
  assert_int_equal(c->problems[0].check.integer, 96);
  assert_int_equal(c->problems[2].check.type, VALUE_NIL);
  assert_int_equal(c->first_problem, DEVICE_FACT_COUNT);
  assert_int_equal(c->first_tunable, DEVICE_FACT_COUNT + 3);
  assert_int_equal(c->argument_count, 2);
  assert_int_equal(c->arguments[1].kind, CUGEN_ARGUMENT_OUTPUT);
  assert_int_equal(c->arguments[1].line.number, 8);
  assert_null(c->arguments[0].dtype.word);
  assert_non_null(c->arguments[1].tolerance);
  assert_string_equal(c->reference, "naive_f64.cu");
  assert_string_equal(c->reference_entry, "transpose");
  assert_int_equal(c->reference_line.number, 10);
  assert_null(c->flops.expr);
  assert_null(c->objective);
  assert_string_equal(expr_text(c->bytes.expr), "2 * rows * cols * sizeof(dtype)");
  const struct config_implementation *tiled = &c->implementations[1];
  assert_int_equal(c->implementation_count, 2);
  assert_int_equal(tiled->line.number, 21);
  assert_string_equal(tiled->template_name, "transpose_tiled.cu");
  assert_int_equal(tiled->template_line.number, 22);
  assert_int_equal(tiled->tunable_count, 4);
  assert_int_equal(tiled->tunables[3].line.number, 26);
  assert_string_equal(tiled->tunables[3].values[1].string, "pad");
  assert_int_equal(tiled->derived_count, 2);
  assert_int_equal(tiled->derived[1].line.number, 28);
  assert_int_equal(tiled->restriction_count, 2);
  assert_int_equal(tiled->restrictions[0].line.number, 29);
  assert_int_equal(tiled->launch_count, 1);
  assert_int_equal(tiled->launches[0].line.number, 31);
  assert_non_null(tiled->launches[0].grid[1]);
  assert_null(tiled->launches[0].grid[2]);
  assert_null(tiled->launches[0].entry.text);
}

TEST(shared_parts_come_first) {
  CLOSED(config) *c = parse_body(
      "problem \"N\" (64), where \"a < N\", tunable \"a\" { 1, 2 }, derive \"d\" \"a + 1\",\n"
      "implementation \"i\" { template \"t.cu\", tunable \"b\" { true, \"x\", 7 },\n"
      "  derive \"e\" \"d + a\", where \"e < 9\", requires \"device.warp_size == N // 2\",\n"
      "  grid { \"e\" }, block { 32 }, shared \"4 * d\", entry \"main_kernel\" },\n"
      "implementation \"j\" { template \"t.cu\", tunable \"b\" { 3 }, grid { 1 }, block { 1 } }");
  const struct config_implementation *i = &c->implementations[0], *j = &c->implementations[1];
  assert_int_equal(c->shared_tunable_count, 1);
  assert_int_equal(i->tunable_count, 2);
  assert_string_equal(i->tunables[0].name, "a");
  assert_string_equal(i->tunables[1].name, "b");
  assert_int_equal(i->tunables[1].values[0].type, VALUE_BOOL);
  assert_int_equal(i->derived_count, 2);
  assert_string_equal(i->derived[0].name, "d");
  assert_int_equal(i->restriction_count, 2);
  assert_int_equal(i->requirement_count, 1);
  assert_string_equal(i->launches[0].entry.text, "main_kernel");
  assert_int_equal(j->derived_count, 1);
  assert_int_equal(j->restriction_count, 1);
  assert_int_equal(config_slot_count(c, i), (size_t)c->first_tunable + 2);
  struct value slots[DEVICE_FACT_COUNT + 3];
  FREED(problem) problem;
  assert_int_equal(problem_set(c, NULL, 0, false, &problem, NULL), CUGEN_OK);
  config_slots(c, &problem, &facts, slots);
  slots[c->first_tunable] = value_int(5);
  slots[c->first_tunable + 1] = value_int(3);
  int64_t got;
  assert_int_equal(expr_eval_int(i->launches[0].grid[0], slots, &got, NULL), CUGEN_OK);
  assert_int_equal(got, 11);
  assert_int_equal(expr_eval_int(i->launches[0].shared, slots, &got, NULL), CUGEN_OK);
  assert_int_equal(got, 24);
  bool met;
  assert_int_equal(expr_eval_bool(i->requirements[0].expr, slots, &met, NULL), CUGEN_OK);
  assert_true(met);
}

TEST(several_launches) {
  CLOSED(config) *c = parse_body(
      "implementation \"i\" { template \"t.cu\",\n"
      "launch { entry = \"one\", grid = { 4, 5, 6 }, block = { 64 }, shared = \"3 * 4\" },\n"
      "launch { entry \"two<32>\", grid { 7 }, block { 128 } } }");
  const struct config_implementation *i = &c->implementations[0];
  assert_int_equal(i->launch_count, 2);
  assert_string_equal(i->launches[0].entry.text, "one");
  assert_int_equal(i->launches[0].line.number, 3);
  assert_non_null(i->launches[0].grid[2]);
  assert_non_null(i->launches[0].shared);
  assert_string_equal(i->launches[1].entry.text, "two<32>");
  assert_int_equal(i->launches[1].line.number, 4);
  assert_null(i->launches[1].shared);
}

TEST(lists_of_parameters) {
  CLOSED(config) *c = parse_body(
      "scalar \"a\" { dtype = \"i32\", value = 1 },\n"
      "implementation \"i\" { template \"t.cu\", tunable \"w\" { 1 },\n"
      "launch { steps = \"w\", pass = { \"a\", { \"a\", value = \"step\" }, \"step == 0 and 'a' or "
      "'b'\" },\n"
      "  grid { \"steps\" }, block { 1 } }, launch { grid { 1 }, block { 1 }, pass {} } }");
  const struct config_launch *l = c->implementations[0].launches;
  assert_non_null(l[0].steps);
  assert_int_equal(l[0].passed_count, 3);
  assert_null(l[0].passed[0].value);
  assert_null(l[0].passed[1].expr);
  assert_non_null(l[0].passed[1].value);
  assert_non_null(l[0].passed[2].expr);
  assert_null(l[1].steps);
  assert_non_null(l[1].passed);
  assert_int_equal(l[1].passed_count, 0);
}

TEST(lua_helps) {
  CLOSED(config) *c =
      parse("local sizes = {}\n"
            "for i = 3, 6 do sizes[#sizes + 1] = 2 ^ i // 1 | 0 end\n"
            "local function square(name, side)\n"
            "  return implementation(name) { template \"t.cu\", tunable \"t\" (sizes),\n"
            "    grid { side }, block { \"t\" } }\n"
            "end\n"
            "kernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 8 } }, reference \"none\",\n"
            "  square(\"a\", 1), square(\"b\", \"t * 2\") }\n");
  assert_int_equal(c->implementation_count, 2);
  assert_int_equal(c->implementations[1].tunables[0].value_count, 4);
  assert_int_equal(c->implementations[1].tunables[0].values[3].integer, 64);
  assert_null(c->reference);
  assert_int_equal(c->reference_line.number, 7);
}

/* Some editors put a byte order mark in front of a file. */
TEST(a_mark_in_front_is_skipped) {
  static const char text[] =
      "\xef\xbb\xbfkernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 8 } "
      "}, reference \"none\",\n"
      "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } } }";
  struct source_file *files = NULL;
  struct config *c;
  assert_int_equal(sources_add(&files, "k.lua", text, strlen(text), NULL), CUGEN_OK);
  assert_int_equal(config_open(&(struct sources){.files = files}, "k.lua", &c, NULL), CUGEN_OK);
  config_close(c);
  sources_forget(files);
}

/* The first example of docs/config.md loads. */
TEST(the_manual_is_right) {
  FREED(text) manual = {0}, example = {0};
  assert_int_equal(file_read("docs/config.md", &manual, NULL), CUGEN_OK);
  const char *begin = strstr(text_get(&manual), "```lua\n");
  assert_non_null(begin);
  begin += strlen("```lua\n");
  const char *end = strstr(begin, "```");
  assert_non_null(end);
  text_add_n(&example, begin, (size_t)(end - begin));
  struct config *c = parse(text_get(&example));
  assert_string_equal(c->name, "transpose");
  assert_int_equal(c->argument_count, 4);
  config_close(c);
  /* The page mentions every declaration and device fact. */
  for (int i = 0; i < KEYWORD_COUNT; i++)
    assert_non_null(strstr(text_get(&manual), config_keywords[i].name));
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    assert_non_null(strstr(text_get(&manual), strchr(device_fact_names[i], '.') + 1));
}
