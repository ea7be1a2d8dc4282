/* Every mistake in a config is one message with its own line. */
#include "base/dtype.h"
#include "base/text.h"
#include "configs.h"
#include "gen/config/declarations.h"
#include "gen/config/names.h"
#include "tests/testing.h"

/* Expects the error of an implementation that contains `parts`, which begin on line 2. */
static void expect_parts_error(const char *parts, const char *want) {
  FREED(text) body = {0};
  text_addf(&body, "problem \"N\" (64), implementation \"i\" { %s }", parts);
  assert_false(body.failed);
  expect_body_error(text_get(&body), want);
}

TEST(lua_errors) {
  expect_error("", "c.lua:1: no kernel is declared: kernel \"matmul\" { ... }");
  expect_error("kernel \"k\" {\n  problem \"M\" (1)\n  problem \"N\" (1)\n}",
               "c.lua:3: '}' expected (to close '{' at line 1) near 'problem'; is a comma missing "
               "before it?");
  expect_error("kernel \"k\" {\n  x = = 2\n}", "c.lua:2: unexpected symbol near '='");
  expect_error("\nerror('no')", "c.lua:2: no");
  expect_error("\nlocal x = nil + 1", "c.lua:2: attempt to perform arithmetic on a nil value");
  expect_error("\x1bLua", "c.lua:1: attempt to load a binary chunk");
}

TEST(names_not_known) {
  expect_error("kernel \"k\" {\n  problm \"M\" (1)\n}",
               "c.lua:2: unknown declaration 'problm' (nearest 'problem')");
  expect_error("\nkernle \"k\" {}", "c.lua:2: unknown declaration 'kernle' (nearest 'kernel')");
  expect_body_error(
      "input \"A\" { dtype = f32, shape = { 1 } },",
      "c.lua:2: unknown name 'f32'; sizes, tunables and words stand in quotes: \"f32\"");
  expect_error("\nprint('x')", "c.lua:2: unknown name 'print'");
  expect_error("\nos.exit()", "c.lua:2: unknown name 'os'");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, patch = 3 },",
                    "c.lua:3: unknown attribute 'patch' of input \"A\" (nearest 'pitch')");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, colour = 3 },",
                    "c.lua:3: unknown attribute 'colour' of input \"A\"; attributes are dtype, "
                    "shape, layout, pitch");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, 3 },",
                    "c.lua:3: a value without 'name ='");
  expect_body_error("problem \"M\" (1),\ninput \"A\" { dtype = \"f23\", shape = { \"M\" } },",
                    "c.lua:3: dtype of \"A\" is 'f23', which is neither one of f64, f32,");
  struct text all = {0};
  text_add(&all, "c.lua:3: dtype of \"A\" is 'typ', which is neither one of ");
  for (const char *const *name = dtype_names; *name; name++)
    text_addf(&all, "%s%s", name == dtype_names ? "" : ", ", *name);
  text_add(&all, " nor a name with such a value (nearest 'type')");
  expect_body_error(
      "problem \"type\" { \"f32\" },\ninput \"A\" { dtype = \"typ\", shape = { 1 } },",
      text_get(&all));
  text_free(&all);
  expect_body_error("input \"A\" { dtype = \"f32\",\nshape = { \"rows\" } },",
                    "c.lua:2: shape of \"A\": unknown name \"rows\"");
  expect_body_error("problem \"rows\" (3), input \"A\" { dtype = \"f32\", shape = { \"rowz\" } },",
                    "c.lua:2: shape of \"A\": unknown name \"rowz\"; did you mean \"rows\"?");
  expect_parts_error(
      "template \"t\", tunable \"a\" { 1 },\nwhere \"b > 1\", grid { 1 }, block { 1 }",
      "c.lua:3: where: unknown name \"b\"");
  expect_parts_error(
      "template \"t\", tunable \"mode\" { \"fast\", \"slow\" }, derive \"m\" \"mode\",\n"
      "where \"m ~= 'fastt'\", grid { 1 }, block { 1 }",
      "c.lua:3: where: in \"m ~= 'fastt'\": mode ~= \"fastt\" compares what is never equal: mode "
      "is "
      "never \"fastt\", but \"fast\", \"slow\" (nearest \"fast\")");
  expect_parts_error(
      "template \"t\", tunable \"a\" { 1, 2 },\nwhere \"not a == 1\", grid { 1 }, block { 1 }",
      "c.lua:3: where: in \"not a == 1\": a is a number (1, 2), and \"not\" needs true or false; "
      "\"not\" "
      "comes before a comparison: write not (a == b), or a ~= b");
  expect_parts_error("template \"t\",\nwhere \"device.sm_count == '132'\", grid { 1 }, block { 1 }",
                     "c.lua:3: where: in \"device.sm_count == '132'\": device.sm_count == \"132\" "
                     "compares what is never "
                     "equal: device.sm_count is a number, the right side is a word");
  expect_parts_error(
      "template \"t\",\nwhere \"device.sm_cout > 1\", grid { 1 }, block { 1 }",
      "c.lua:3: where: unknown name \"device.sm_cout\"; did you mean \"device.sm_count\"?");
  expect_parts_error("template \"t\",\ngrid { \"ceil_dv(N, 2)\" }, block { 1 }",
                     "c.lua:3: grid: unknown function \"ceil_dv\"; did you mean \"ceil_div\"?");
}

TEST(derived_names_follow_their_declaration) {
  expect_parts_error(
      "template \"t\", derive \"e\" \"d + 1\",\nderive \"d\" \"N\", grid { 1 }, block { 1 }",
      "c.lua:2: derive \"e\": unknown name \"d\"");
  expect_parts_error("template \"t\",\nderive \"d\" \"d + 1\", grid { 1 }, block { 1 }",
                     "c.lua:3: derive \"d\": unknown name \"d\"");
  /* An implementation does not see the tunables of the one before. */
  expect_body_error(
      "implementation \"a\" { template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 } },\n"
      "implementation \"b\" { template \"t\", grid { \"x\" }, block { 1 } },",
      "c.lua:3: grid: unknown name \"x\"");
}

TEST(names_that_break_cuda) {
  static const char *const names[] = {
      "int",       "threadIdx",    "warpSize", "min",      "printf",  "float4",     "__half",
      "NULL",      "INFINITY",     "end",      "ceil_div", "index_t", "params",     "samples",
      "device",    "half",         "sinf",     "sqrt",     "_Bool",   "cudaMalloc", "double4_32a",
      "atomicAdd", "sample_count", "template", "nil",      "assert",  "i_",         "l_"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *body = formed("\nproblem \"%s\" (1),", names[i]);
    expect_body_error(body, formed("c.lua:3: '%s' cannot be a name: ", names[i]));
  }
  static const char *const allowed[] = {"texSource", "texels",   "tex_source", "atomicMass",
                                        "atomic",    "surfArea", "surfX",      "cudaMask",
                                        "cuX",       "cuBlock",  "CU_SIZE",    "CUDA_TILE"};
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    assert_null(names_refused(allowed[i], true));
  static const char *const refused[] = {
      "tex2D",    "tex1Dfetch",          "surf2Dread",   "atomicCAS_system",
      "cuCmulf",  "cudaTextureObject_t", "CUDART_INF_F", "CUtensorMap",
      "atomicAdd"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_string_equal(names_refused(refused[i], true), "it is a name of CUDA");
  expect_body_error("\nproblem \"int\" (1),",
                    "c.lua:3: 'int' cannot be a name: it is a C++ keyword");
  expect_body_error("\ntunable \"blockDim\" { 1 },",
                    "c.lua:3: 'blockDim' cannot be a name: it is a name of CUDA");
  expect_body_error("\nderive \"pow\" \"1\",",
                    "c.lua:3: 'pow' cannot be a name: it is a mathematical function");
  expect_body_error(
      "\ninput \"in\" { dtype = \"f32\", shape = { 1 } },",
      "c.lua:3: 'in' cannot be a name: it is a Lua keyword; take another one, such as 'my_in'");
  expect_body_error("\nproblem \"__x\" (1),", "c.lua:3: '__x' cannot be a name: names with two "
                                              "leading underscores are the compiler's; take "
                                              "another one, such as 'my_x'");
  expect_body_error("\ninput \"class\" { dtype = \"f32\", shape = { 1 } },",
                    "c.lua:3: 'class' cannot be");
  expect_body_error("\nproblem \"2x\" (1),", "c.lua:3: '2x' cannot be a name: names have letters");
  expect_body_error("\nproblem \"a b\" (1),", "c.lua:3: 'a b' cannot be a name");
  expect_body_error("\nproblem \"\" (1),", "c.lua:3: '' cannot be a name");
  expect_body_error("\nproblem \"gr\xc3\xb6\xc3\x9f"
                    "e\" (1),",
                    "c.lua:3: 'gr");
  /* These look like mistakes and are none; a scalar may have the name of a function that only
     expressions know. */
  config_close(parse_body(
      "problem \"float5\" (1), tunable \"BM\" { 1 }, problem \"cuda_x\" (1), problem \"printed\" "
      "(2),\n"
      "derive \"half_way\" \"1\", scalar \"eps\" { dtype = \"f32\", value = \"1e-5\" },"));
}

TEST(names_that_are_taken) {
  expect_body_error("problem \"M\" (1),\nproblem \"M\" (2),",
                    "c.lua:3: the name 'M' is taken by the problem at line 2");
  expect_body_error("problem \"M\" (1),\ntunable \"M\" { 2 },",
                    "c.lua:3: the name 'M' is taken by the problem at line 2");
  expect_body_error("tunable \"M\" { 1 },\nderive \"M\" \"2\",",
                    "c.lua:3: the name 'M' is taken by the tunable at line 2");
  expect_body_error("problem \"A\" (1),\ninput \"A\" { dtype = \"f32\", shape = { 1 } },",
                    "c.lua:3: the name 'A' is taken by the problem at line 2");
  expect_body_error("problem \"M\" (1), scalar \"M\" {},\nscalar \"M\" {},",
                    "c.lua:3: the name 'M' is taken by the argument");
  expect_body_error("problem \"M\" (1),\nscalar \"M\" { value = \"3\" },",
                    "c.lua:3: the name 'M' is taken by the problem");
  expect_body_error(
      "problem \"A_t\" (1),\ninput \"A\" { dtype = \"f32\", shape = { 1 } },",
      "c.lua:2: the name 'A_t' is taken: templates get it from the argument 'A' at line 3");
  expect_body_error("tunable \"C_stride3\" { 1 }, ", "c.lua:2: the name 'C_stride3' is taken");
  expect_body_error("implementation \"i\" { template \"t\", grid { 1 }, block { 1 },\nderive "
                    "\"C_pitch\" \"1\" },",
                    "c.lua:3: the name 'C_pitch' is taken");
  expect_parts_error("template \"t\",\ntunable \"N\" { 2 }, grid { 1 }, block { 1 }",
                     "c.lua:3: the name 'N' is taken by the problem at line 2");
  expect_body_error("implementation \"i\" { template \"t\", grid { 1 }, block { 1 } },\n"
                    "implementation \"i\" { template \"t\", grid { 1 }, block { 1 } },",
                    "c.lua:3: the name 'i' is taken by the implementation at line 2");
  config_close(parse_body("problem \"M\" (1), tunable \"T\" { 3 }, scalar \"M\" {}, scalar \"T\" { "
                          "specialize = true },"));
}

TEST(misplaced_declarations) {
  expect_body_error("\ntemplate \"t.cu\",",
                    "c.lua:3: template stands in an implementation, not in a kernel");
  expect_body_error("\ngrid { 1 },", "c.lua:3: grid stands in a launch, not in a kernel");
  expect_body_error("\nrequires \"1 == 1\",", "c.lua:3: requires stands in an implementation");
  expect_parts_error("template \"t\",\nproblem \"x\" (1), grid { 1 }, block { 1 }",
                     "c.lua:3: problem stands in a kernel, not in an implementation");
  expect_error("kernel \"k\" {\n kernel \"l\" {} }", "c.lua:2: a second kernel");
  expect_error("kernel \"k\" {}\nkernel \"l\" {}",
               "c.lua:2: a second kernel: one file describes one");
  expect_error("kernel \"k\" {}\ntunable \"x\" { 1 }",
               "c.lua:2: tunable stands outside of the kernel's braces");
  expect_error("kernel \"k\" {}\ntunable \"x\"",
               "c.lua:2: tunable has a name but no value: tunable \"tile\" { 16, 32 }");
  expect_error("local t = tunable \"x\"\nkernel \"k\" {}",
               "c.lua:1: tunable has a name but no value: tunable \"tile\"");
  expect_body_error("\nproblem \"M\",",
                    "c.lua:3: problem has a name but no value: problem \"M\" (4096)");
  expect_body_error("\n42,",
                    "c.lua:1: number 1 in kernel \"k\" is a number: declarations are calls");
  expect_body_error("name = 3,", "c.lua:1: kernel \"k\" has a field 'name = ...'");
  expect_body_error("nil, problem \"M\" (1),", "c.lua:1: kernel \"k\" has nil in its list");
  expect_body_error("check { },\ncheck { },",
                    "c.lua:3: check stands here twice: it is at line 2 already");
  expect_parts_error("template \"t\", grid { 1 },\ngrid { 1 }, block { 1 }",
                     "c.lua:3: grid stands here twice");
  expect_error("\nkernel \"k\" (3)",
               "c.lua:2: kernel \"k\" needs a list of declarations in braces, not a number");
  expect_error("\nkernel \"a b\" {}", "c.lua:2: 'a b' cannot name a kernel");
  expect_error("\nkernel \"\" {}", "c.lua:2: '' cannot name a kernel");
  expect_parts_error("template \"t\", grid { 1 }, block { 1 } },\nimplementation \"a-b\" { ",
                     "c.lua:3: 'a-b' cannot name an implementation");
}

TEST(wrong_calls) {
  expect_body_error("\nproblem (4096),",
                    "c.lua:3: problem takes a name first: problem \"M\" (4096)");
  expect_body_error("\nproblem \"M\" (1, 2),",
                    "c.lua:3: problem takes one value, a list stands in braces");
  expect_body_error("\nproblem \"M\" (nil),", "c.lua:3: problem has the value nil");
  expect_body_error("\nproblem \"M\" (1) (2),",
                    "c.lua:3: problem has its value already; is a comma missing, or the word in "
                    "front of the next one?");
  expect_body_error("\ncheck (nil),", "c.lua:3: check has the value nil");
  expect_body_error("\nwhere(\"1\", \"2\"),", "c.lua:3: where takes one value");
  expect_error("\nlocal p = problem \"M\" (1)\nlocal q = p.line",
               "c.lua:3: attempt to index a userdata value");
}

TEST(missing_pieces) {
  expect_error(
      "\nkernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 1 } }, reference \"none\" }",
      "c.lua:2: kernel \"k\" has no implementation: implementation \"tiled\" { ... }");
  expect_error("\nkernel \"k\" { reference \"none\", implementation \"i\" { template \"t\", grid { "
               "1 }, block { 1 } } }",
               "c.lua:2: kernel \"k\" has no output");
  expect_error(
      "\nkernel \"k\" { output \"C\" { dtype = \"f32\", shape = { 1 } },\n"
      "implementation \"i\" { template \"t\", grid { 1 }, block { 1 } } }",
      "c.lua:2: kernel \"k\" has no reference: reference \"matmul_reference.cu\" computes the "
      "right result, "
      "verify \"sort_verify.cu\" judges where many results are right. With reference \"none\"");
  expect_parts_error("grid { 1 }, block { 1 }",
                     "c.lua:2: implementation \"i\" has no template: template");
  expect_parts_error("template \"t\", block { 1 }",
                     "c.lua:2: implementation \"i\" has no grid: grid {");
  expect_parts_error("template \"t\",\ngrid { 1 }",
                     "c.lua:3: implementation \"i\" has no block: block {");
  expect_parts_error("template \"t\",\nlaunch { entry \"x\", block { 1 } }",
                     "c.lua:3: launch has no grid");
  expect_body_error("\ninput \"A\" { shape = { 1 } },", "c.lua:3: input \"A\" has no dtype");
  expect_body_error("\ninput \"A\" { dtype = \"f32\" },", "c.lua:3: input \"A\" has no shape");
  expect_body_error("\nscalar \"alpha\" { dtype = \"f32\" },",
                    "c.lua:3: scalar \"alpha\" has no value");
  expect_parts_error(
      "template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 } },\nscalar \"x\" { ",
      "c.lua:3: scalar \"x\" has no value");
  expect_parts_error("template \"t\", grid { 1 }, block { 1 },\nscalar \"way\" { dtype = \"i32\" }",
                     "c.lua:3: scalar \"way\" has no value");
  expect_parts_error(
      "template \"t\", grid { 1 }, block { 1 },\nscalar \"k\" { value = 1, specialize = true }",
      "c.lua:3: scalar \"k\" of an implementation has a dtype and a value, no specialize");
  expect_parts_error(
      "template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 },\nscalar \"x\" { value = 2 }",
      "c.lua:3: the name 'x' is taken by the tunable at line 2: a scalar without a value passes "
      "it");
  expect_parts_error(
      "template \"t\", derive \"x\" \"1\", grid { 1 }, block { 1 },\nscalar \"x\" {}",
      "c.lua:3: scalar \"x\" has no value, and x is a derived name: take another name, with value "
      "=");
  expect_parts_error(
      "template \"t\", grid { 1 }, block { 1 },\nscalar \"p\" { struct = \"P\", fields = {} }",
      "c.lua:3: scalar \"p\" of an implementation has a dtype and a value, no struct");
  expect_body_error(
      "problem \"rows\" (1),\ncheck { row = 3 },",
      "c.lua:3: check names 'row', which is no problem of this kernel (nearest 'rows')");
}

TEST(wrong_values) {
  expect_body_error("\ntunable \"t\" { 1.5 },",
                    "c.lua:3: tunable \"t\" has the value 1.5: tunables are whole numbers");
  expect_body_error("\ntunable \"t\" { 4, 8, 4 },", "c.lua:3: tunable \"t\" has the value 4 twice");
  expect_body_error("\ntunable \"t\" { \"a\", \"b\", \"a\" },",
                    "c.lua:3: tunable \"t\" has the value a twice");
  expect_body_error("\ntunable \"t\" { },", "c.lua:3: tunable \"t\" has an empty list of values");
  expect_body_error("\ntunable \"t\" { 1, nil, 2 },", "c.lua:3: tunable \"t\" has nil or a field");
  expect_body_error("\ntunable \"t\" { 1, x = 2 },", "c.lua:3: tunable \"t\" has nil or a field");
  expect_body_error("\ntunable \"t\" (4),",
                    "c.lua:3: tunable \"t\" needs its values in braces: { 16, 32 }");
  expect_body_error("\ntunable \"t\" { {} },", "c.lua:3: tunable \"t\" has a value of type table");
  expect_body_error("\ntunable \"t\" { function() end },",
                    "c.lua:3: tunable \"t\" has a value of type function");
  expect_body_error("\ntunable \"t\" { \"a b\" },",
                    "c.lua:3: tunable \"t\" cannot be the string 'a b': it has a space");
  expect_body_error("\ntunable \"t\" { \"16\" },",
                    "c.lua:3: tunable \"t\" cannot be the string '16': write it without");
  expect_body_error("\ntunable \"t\" { \"true\" },",
                    "c.lua:3: tunable \"t\" cannot be the string 'true'");
  expect_body_error("\ntunable \"t\" { \"a\\0b\" },",
                    "c.lua:3: tunable \"t\" cannot be the string 'a': it has a NUL");
  expect_body_error("\nproblem \"M\" { 1, \"x\" },",
                    "c.lua:3: problem \"M\" mixes types of values");
  expect_body_error("\nproblem \"M\" (0/0),",
                    "c.lua:3: problem \"M\" has a value that is no finite number");
  expect_body_error("problem \"M\" (1),\ncheck { M = \"x\" },",
                    "c.lua:3: check gives problem \"M\" the value x");
  expect_body_error(
      "problem \"M\" { 1, 2 },\ncheck { M = 3 },",
      "c.lua:3: check gives problem \"M\" the value 3, which is not in its list at line 2");
  expect_body_error("problem \"M\" (1),\ncheck \"M\",",
                    "c.lua:3: check needs its values in braces");
  config_close(
      parse_body("tunable \"t\" { \"nan\", 1, true, \"16x16\" }, problem \"alpha\" (0.5),"));
}

TEST(wrong_expressions) {
  expect_body_error(
      "\nflops (function() return 1 end),",
      "c.lua:3: flops is a function: an expression is a string such as \"ceil_div(N, tile)\"");
  expect_body_error("\nflops \"2 *\",", "c.lua:3: flops: expected a value, found the end");
  expect_body_error("\nflops \"2 \\0 3\",", "c.lua:3: flops: ");
  expect_body_error("\nbytes { 1 },", "c.lua:3: bytes is a table");
  expect_body_error("flops \"2\",\nobjective \"flop\",",
                    "c.lua:3: objective \"flop\": unknown name");
  expect_body_error("measure \"warm\",",
                    "c.lua:2: measure 'warm' is none of burst, graph, sustained, cold");
  expect_body_error(
      "measure \"could\",",
      "c.lua:2: measure 'could' is none of burst, graph, sustained, cold (nearest 'cold')");
  expect_body_error("measure { \"cold\" },", "c.lua:2: measure ");
  expect_body_error("measure \"cold\",\nmeasure \"cold\",", "c.lua:3: ");
  expect_body_error("flops \"2\",\nobjective { \"flops\" },", "c.lua:3: objective ");
  expect_body_error(
      "bytes \"2\",\nobjective \"flops\",",
      "c.lua:3: objective \"flops\" needs the work that it ranks by: flops \"2 * M * N * K\"");
  expect_body_error("flops \"2\",\nobjective \"bytes\",",
                    "c.lua:3: objective \"bytes\" needs the work");
  expect_parts_error("template \"t\",\ngrid { }, block { 1 }",
                     "c.lua:3: grid is a list of 1 to 3 expressions");
  expect_parts_error("template \"t\",\ngrid { 1, 2, 3, 4 }, block { 1 }",
                     "c.lua:3: grid is a list of 1 to 3");
  expect_parts_error("template \"t\",\ngrid \"N\", block { 1 }",
                     "c.lua:3: grid is a list of 1 to 3");
  expect_parts_error("template \"t\",\ngrid { x = 1 }, block { 1 }",
                     "c.lua:3: grid is a list of 1 to 3");
  expect_parts_error(
      "template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 },\nrequires \"x == 1\"",
      "c.lua:3: requires speaks of the device and the problem");
  expect_parts_error(
      "template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 },\ntry { xx = 1 }",
      "c.lua:3: try names 'xx', which is no tunable of this implementation (nearest 'x')");
  expect_parts_error(
      "template \"t\",\ntunable \"x\" { 1 }, grid { 1 }, block { 1 },\ntry { x = 2 }",
      "c.lua:4: try has x=2, which is not in the list of tunable \"x\" at line 3");
  expect_parts_error("template \"t\", tunable \"x\" { 1 }, grid { 1 }, block { 1 },\ntry (1)",
                     "c.lua:3: try needs its values in braces");
  expect_parts_error("template (3),\ngrid { 1 }, block { 1 }",
                     "c.lua:2: template must be a string in quotes, not number");
  expect_body_error("\nreference \":x\",", "c.lua:3: reference ':x' is no \"file.cu\"");
  expect_body_error("\nverify \"x.cu:\",",
                    "c.lua:3: verify 'x.cu:' is no \"file.cu\" or \"file.cu:kernel\"");
  expect_body_error("\nverify \"\",", "c.lua:3: verify must be a string in quotes, not empty");
  expect_body_error("\nverify (3),", "c.lua:3: verify must be a string in quotes, not number");
  expect_body_error("\nverify \"none\",", "c.lua:3: verify \"none\" is no file: leave verify out");
  expect_body_error("verify \"x.cu\",\nverify \"x.cu\",", "c.lua:3: ");
}

TEST(wrong_launches) {
  expect_parts_error("template \"t\", launch { grid { 1 }, block { 1 } },\nblock { 1 }",
                     "c.lua:3: block stands beside launch { ... }");
  expect_parts_error("template \"t\",\nlaunch { grid { 1 }, grid = { 1 }, block { 1 } }",
                     "c.lua:3: launch has grid twice");
  expect_parts_error("template \"t\",\ngrid { 1 }, block { 1 }, pass { \"C\", \"q\" }",
                     "c.lua:3: pass names 'q', which is no argument of this kernel");
  expect_parts_error(
      "template \"t\", tunable \"g\" { 1, 2 },\ngrid { 1 }, block { 1 }, pass { \"C\", \"g\" }",
      "c.lua:3: pass names 'g', which is a number and no argument: declare scalar \"g\" { dtype = "
      "... } in "
      "the implementation");
  expect_parts_error("template \"t\",\ngrid { 1 }, block { 1 }, pass { \"N\" }",
                     "c.lua:3: pass names 'N', which is a number and no argument: declare scalar "
                     "\"N\" { dtype = ... } in "
                     "the implementation");
  expect_parts_error("template \"t\",\ngrid { 1 }, block { 1 }, pass \"C\"",
                     "c.lua:3: pass is a list");
  expect_parts_error(
      "template \"t\",\ngrid { 1 }, block { 1 }, pass { { \"C\", worth = 3 } }",
      "c.lua:3: pass: a scalar with its own value in this launch is written { \"n\", value =");
  expect_parts_error("template \"t\",\ngrid { \"step\" }, block { 1 }",
                     "c.lua:3: grid: unknown name \"step\"");
  expect_parts_error("template \"t\",\ngrid { 1 }, block { 1 }, steps \"step\"",
                     "c.lua:3: steps: unknown name");
  expect_parts_error("template \"t\", derive \"step\" \"1\",\ngrid { 1 }, block { 1 }, steps \"2\"",
                     "c.lua:3: the name 'step' is taken by the derive at line 2");
  expect_parts_error("template \"t\",\nlaunch { grd = { 1 }, block { 1 } }",
                     "c.lua:3: launch has no 'grd': it has grid, block, shared, carveout, overlap, "
                     "cooperative, steps, "
                     "pass and entry "
                     "(nearest 'grid')");
}

TEST(wrong_options) {
  static const struct {
    const char *parts, *want;
  } cases[] = {
      {"options { fastmath = true }", "c.lua:2: unknown option 'fastmath' (nearest 'fast_math')"},
      {"options { true }", "c.lua:2: a value without 'name ='; options are fast_math, fmad, ftz,"},
      {"options \"-O3\"", "c.lua:2: options stand in braces: options { fast_math = true"},
      {"options { std = \"c++71\" }", "c.lua:2: option std"},
      {"options { maxrregcount = \"regz\" }",
       "c.lua:2: option maxrregcount: unknown name \"regz\""},
      {"options { define = \"A\" }", "c.lua:2: option define is a list of 1 to 64 macros"},
      {"options { define = { \"A B\" } }",
       "c.lua:2: define 'A B' is no \"NAME\" or \"NAME=value\""},
      {"options { define = { \"A=\\n#include </x>\" } }",
       "c.lua:2: define 'A=\n#include </x>' is no"},
      {"options { define = { \"N=4\" } }", "c.lua:2: define 'N': the name is taken at line 2"},
      {"options { define = { \"A=${q}\" } }", "c.lua:2: define: unknown name \"q\""},
      {"options { define = { 4 } }", "c.lua:2: define must be a string in quotes"},
      {"options { define = { } }", "c.lua:2: option define is a list of 1 to 64 macros"},
      {"options { define = { N = \"1\" } }", "c.lua:2: define 'N': the name is taken at line 2"},
      {"options { define = { FAST = \"q == 1\" } }", "c.lua:2: define FAST: unknown name \"q\""},
      {"options { define = { [\"A B\"] = true } }", "c.lua:2: define 'A B' is no \"NAME\""},
      {"options { flags = \"--device-int128\" }",
       "c.lua:2: option flags is a list of 1 to 64 flags of NVRTC"},
      {"options { flags = { \"--device-int182\" } }",
       "c.lua:2: unknown flag '--device-int182' (nearest '--device-int128')"},
      {"options { flags = { \"--device-int128 -G\" } }",
       "c.lua:2: flag '--device-int128 -G' has a blank"},
      {"options { flags = { \"--device-int128=1\" } }",
       "c.lua:2: flag '--device-int128=1' takes no value"},
      {"options { flags = { \"--diag-suppress\" } }",
       "c.lua:2: flag '--diag-suppress' takes a value: FLAG=value"},
      {"options { flags = { \"--ptxas-options=-v\" } }",
       "c.lua:2: flag '--ptxas-options=-v' is refused: cugen reads what ptxas prints; opt_level"},
      {"options { flags = { \"-arch=sm_90\" } }",
       "c.lua:2: flag '-arch=sm_90' is refused: cugen compiles for"},
      {"options { flags = { \"--extended-lambda\" } }",
       "c.lua:2: flag '--extended-lambda' is refused: NVRTC has no"},
      {"options { flags = { \"--use_fast_math\" } }",
       "c.lua:2: flag '--use_fast_math' has an option of its own: fast_math = ..."},
      {"options { flags = { \"--foo\" } }",
       "c.lua:2: unknown flag '--foo'; flags are --device-int128, "},
      {"include_dirs { \"/usr/include\" }",
       "c.lua:2: include_dirs names '/usr/include': a folder is named relative"},
      {"include_dirs { \"a/../..\" }", "c.lua:2: include_dirs names 'a/../..'"},
      {"include_dirs { \"a\\nb\" }",
       "c.lua:2: include_dirs: the name of a folder has a control character, number 10"},
      {"include_dirs \"inc\"", "c.lua:2: include_dirs is a list of 1 to 64 folders"},
      {"entry \"k<${n\"", "c.lua:2: entry: `${` without its `}`"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) parts = {0};
    text_addf(&parts, "template \"t\", grid { 1 }, block { 1 },\n%s", cases[i].parts);
    FREED(text) want = {0};
    text_add(&want, cases[i].want);
    want.data[6] = '3';
    expect_parts_error(text_get(&parts), text_get(&want));
  }
}

TEST(wrong_tensors) {
  static const char rest[] = ", template \"t\", grid { 1 }, block { 1 }";
  static const struct {
    const char *tensor, *want;
  } cases[] = {
      {"tensor \"B\" { box = { 8 } }",
       "c.lua:2: tensor names 'B', which is no argument of this kernel"},
      {"tensor \"s\" { box = { 8 } }",
       "c.lua:2: tensor \"s\": a scalar has no tensor map, only buffers have"},
      {"tensor \"A\" { swizzle = 128 }",
       "c.lua:2: tensor \"A\" has neither `into` nor a box: tensor \"A\" { into = "},
      {"tensor \"A\" { into = 3 }", "c.lua:2: into of tensor \"A\" must be a string"},
      {"tensor \"A\" { into = \"As\" }",
       "c.lua:2: tensor \"A\" goes into 'As', which is no shared array of this implementation"},
      {"shared \"As\" { dtype = \"f32\", shape = { 8, 8 } }, tensor \"A\" { into = \"At\" }",
       "c.lua:2: tensor \"A\" goes into 'At', which is no shared array of this implementation "
       "(nearest 'As')"},
      {"shared \"As\" { dtype = \"f32\", shape = { 8, 8 } }, "
       "tensor \"A\" { into = \"As\", box = { 8, 8 } }",
       "c.lua:2: tensor \"A\": its box follows from shared \"As\": leave it out"},
      {"tensor \"A\" { box = { 8 } }",
       "c.lua:2: tensor \"A\" has a box of 1 dimensions, the argument has 2"},
      {"tensor \"A\" { box = { 8, 8 }, fill = 0 }",
       "c.lua:2: unknown attribute 'fill' of tensor \"A\""},
      {"tensor \"A\" { box = { 8, 8 }, swizle = 32 }",
       "c.lua:2: unknown attribute 'swizle' of tensor \"A\" (nearest 'swizzle')"},
      {"tensor \"A\" (8)", "c.lua:2: tensor \"A\" needs its attributes in braces"},
      {"tensor \"A\" { box = { 8, 8 } },\ntensor \"A\" { box = { 8, 8 } }",
       "c.lua:3: tensor \"A\" stands at line 2 already"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *content =
        formed("kernel \"k\" { output \"A\" { dtype = \"f32\", shape = { 8, 8 } }, scalar \"s\" { "
               "value = 1 },\n"
               "implementation \"i\" { %s%s }, reference \"none\" }",
               cases[i].tensor, rest);
    expect_error(content, cases[i].want);
  }
}

/* Fields of a struct that are not numbers. */
TEST(wrong_fields) {
  static const struct {
    const char *fields, *want;
  } cases[] = {
      {"{ \"x\", buffer = \"AA\" }", "c.lua:3: field 1 of \"s\": 'AA' is no input, output, inout "
                                     "or scratch that is declared before "
                                     "the struct (nearest 'A')"},
      {"{ \"x\", buffer = \"C\" }", "c.lua:3: field 1 of \"s\": 'C' is no input, output, inout or "
                                    "scratch that is declared before"},
      {"{ \"x\", buffer = \"K\" }", "c.lua:3: field 1 of \"s\": 'K' is no input, output"},
      {"{ \"x\", buffer = \"A\" }, { \"y\", buffer = \"A\" }",
       "c.lua:3: field 2 of \"s\" is the address of \"A\", which is in field 'x' of \"s\" already"},
      {"{ \"n\", dtype = \"i32\", pitch = \"P\" }",
       "c.lua:3: field 1 of \"s\" is the pitch of \"P\", which has one dimension"},
      {"{ \"x\", buffer = \"A\", dtype = \"f32\" }",
       "c.lua:3: field 1 of \"s\" is a number, { \"dt\", dtype = \"f32\", value = \"0.1\" }, the "
       "pitch "
       "of a buffer, { \"stride\", dtype = \"i32\", pitch = \"A\" }, or its address, { "
       "\"elements\", "
       "buffer = \"A\" }"},
      {"{ \"x\", pitch = \"A\", dtype = \"i32\", value = 3 }",
       "c.lua:3: field 1 of \"s\" is a number"},
      {"{ \"x\", buffer = \"A\", pitch = \"A\" }", "c.lua:3: field 1 of \"s\" is a number"},
      {"{ \"x\", pitch = \"A\" }", "c.lua:3: field 1 of \"s\" has no dtype"},
      {"{ \"x\" }",
       "c.lua:3: field 1 of \"s\" has no dtype: { \"dt\", dtype = \"f32\", value = \"0.1\" }; the "
       "address of a buffer is { \"x\", buffer = \"x\" }"},
      {"{ \"x\", address = \"A\" }", "c.lua:3: field 1 of \"s\" has an unknown 'address'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *body =
        formed("input \"A\" { dtype = \"f32\", shape = { 8, 8 } }, input \"P\" { dtype = \"f32\", "
               "shape = { 8 } }, constant \"K\" { dtype = \"f32\", shape = { 8 } "
               "},\nscalar \"s\" { struct = \"S\", fields = { %s } },",
               cases[i].fields);
    expect_body_error(body, cases[i].want);
  }
}

TEST(wrong_attributes) {
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1 }, tolerance = 0 },",
                    "c.lua:3: input \"A\" cannot have 'tolerance'");
  expect_body_error("\nscratch \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"symbol\" },",
                    "c.lua:3: access of \"A\" is 'symbol', which is neither one of global, pointer "
                    "nor");
  expect_body_error(
      "\noutput \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"texture\" },",
      "c.lua:3: access of \"A\" is 'texture', which is neither one of global, symbol, pointer nor");
  expect_body_error("\nconstant \"A\" { dtype = \"f32\", shape = { 1, 1 }, access = \"texture\" },",
                    "c.lua:3: access of \"A\" is 'texture', which is neither one of global, "
                    "constant, symbol nor");
  expect_body_error("\nscalar \"s\" { value = 1, shape = { 1 } },",
                    "c.lua:3: scalar \"s\" cannot have 'shape'");
  expect_body_error("\ninput \"A\" { dtype = \"index\", shape = { 1 } },",
                    "c.lua:3: dtype of \"A\" is 'index'");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 1, 2, 3, 4, 5 } },",
                    "c.lua:3: shape of \"A\" is a list of 1 to 4 expressions");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = \"8\" },",
                    "c.lua:3: shape of \"A\" is a list");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, pitch = 8 },",
                    "c.lua:3: pitch of \"A\" needs a shape of two dimensions");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8, 8 }, layout = \"row/8\" },",
                    "c.lua:3: layout of \"A\": layout 'row/8': an extent for each dimension, as in "
                    "4x8, was expected at ''");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8, 8 }, layout = \"row+${\" },",
                    "c.lua:3: layout of \"A\": `${` without its `}`");
  expect_body_error(
      "\ninput \"A\" { dtype = \"f32\", shape = { 8, 8 }, layout = \"col\", strides = { 1, 8 } },",
      "c.lua:3: strides of \"A\" are in place of a layout: give one of them");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8, 8 }, strides = { 1 } },",
                    "c.lua:3: strides of \"A\" are 1, and the shape has 2 dimensions");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, layout = \"cow\" },",
                    "c.lua:3: layout of \"A\" is 'cow', which is neither one of row, col nor a "
                    "name with such a value "
                    "(nearest 'row')");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, memory = \"pined\" },",
                    "c.lua:3: memory of \"A\"");
  expect_body_error("\ninput \"A\" { dtype = \"f32\", shape = { 8 }, fill = 3 },",
                    "c.lua:3: fill of \"A\" must be a string");
  expect_body_error("\ninput \"A\" (3),", "c.lua:3: input \"A\" needs its attributes in braces");
}

/* What failed keeps its name, and its line is no other mistake's. */
TEST(mistakes_behind_mistakes) {
  expect_parts_error("\ntemplate \"t\", tunable \"a b\" { 1 }, derive \"c d\" \"1\",\n"
                     "pass { \"N > 1 and 'x' or 'y'\" }, grid { 1 }, block { 1 }",
                     "c.lua:3: 'a b' cannot be a name: ");
  expect_error(
      "\nkernel \"k\" {\n problem \"N\" (1),\n output \"y\" { dtype = \"f32\", shape = { 1 } "
      "},\n reference \"none\" }",
      "c.lua:2: kernel \"k\" has no implementation: ");
  expect_body_error(
      "output \"y\" { dtype = \"f32\", shape = { 1 } },\n"
      "scalar \"s\" { struct = \"s_t\", fields = { { \"y\", buffer = \"y\" }, { \"y\", dtype = "
      "\"i32\", value = 1 } } },\nscalar \"t\" { struct = \"t_t\", fields = { { \"y\", buffer = "
      "\"y\" } } },",
      "c.lua:3: field 2 of \"s\": there are two fields 'y'\n"
      "c.lua:4: field 1 of \"t\" is the address of \"y\", which is in field 'y' of \"s\" already");
}
