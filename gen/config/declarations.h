/* The Lua side of a config: each declaration is a Lua call, which notes its line and returns an
   object that the config can only pass on. The objects are read afterwards (build.h). Private to
   the folder. */
#ifndef GEN_CONFIG_DECLARATIONS_H
#define GEN_CONFIG_DECLARATIONS_H

#include <lua.h>
#include <stdbool.h>

#include "include_files.h"

enum place {
  PLACE_FILE = 1,
  PLACE_KERNEL = 2,
  PLACE_IMPLEMENTATION = 4,
  PLACE_LAUNCH = 8,
  PLACE_LOOP = 16
};

/* What follows a keyword. PLAIN: a value. NAMED: a name and a value. NAMED_ALONE: a name, and a
   value only if the name needs one. EITHER: a value, or a name and a value. */
enum naming { PLAIN, NAMED, NAMED_ALONE, EITHER };

/* Columns: the keyword; what follows it; whether it may stand more than once in a list (of EITHER:
   in the form without a name); the places where it may stand; an example for messages. */
#define CONFIG_KEYWORDS(X)                                                                         \
  X(include, PLAIN, true,                                                                          \
    PLACE_FILE | PLACE_KERNEL | PLACE_IMPLEMENTATION | PLACE_LAUNCH | PLACE_LOOP,                  \
    "include \"matmul/tiled.lua\"")                                                                \
  X(kernel, NAMED, false, PLACE_FILE, "kernel \"matmul\" { ... }")                                 \
  X(problem, NAMED, true, PLACE_KERNEL, "problem \"M\" (4096)")                                    \
  X(problems, PLAIN, true, PLACE_KERNEL, "problems { M = { 64, 256 }, N = 4096 }")                 \
  X(check, PLAIN, false, PLACE_KERNEL | PLACE_IMPLEMENTATION, "check { M = 96 }")                  \
  X(waive, NAMED, true, PLACE_KERNEL,                                                              \
    "waive \"uninitialised read\" { at = \"sum += tail[i]\", reason = \"the sums of the tail are " \
    "dropped\" }")                                                                                 \
  X(policy, NAMED_ALONE, false, PLACE_KERNEL, "policy \"nearest\" { distance = 1 }")               \
  X(input, NAMED, true, PLACE_KERNEL, "input \"A\" { dtype = \"f32\", shape = { \"M\", \"N\" } }") \
  X(output, NAMED, true, PLACE_KERNEL,                                                             \
    "output \"C\" { dtype = \"f32\", shape = { \"M\", \"N\" } }")                                  \
  X(inout, NAMED, true, PLACE_KERNEL, "inout \"C\" { dtype = \"f32\", shape = { \"M\", \"N\" } }") \
  X(scratch, NAMED, true, PLACE_KERNEL,                                                            \
    "scratch \"partials\" { dtype = \"f32\", shape = { \"blocks\" } }")                            \
  X(scalar, NAMED, true, PLACE_KERNEL | PLACE_IMPLEMENTATION, "scalar \"M\" {}")                   \
  X(constant, NAMED, true, PLACE_KERNEL,                                                           \
    "constant \"weights\" { dtype = \"f32\", shape = { 9 } }")                                     \
  X(formula, NAMED, true, PLACE_KERNEL, "formula \"combine(a, b)\" \"a + b\"")                     \
  X(reference, PLAIN, false, PLACE_KERNEL, "reference \"matmul_reference.cu\"")                    \
  X(verify, PLAIN, false, PLACE_KERNEL, "verify \"sort_verify.cu\"")                               \
  X(flops, PLAIN, false, PLACE_KERNEL, "flops \"2 * M * N * K\"")                                  \
  X(products, PLAIN, false, PLACE_KERNEL, "products \"dtype\"")                                    \
  X(bytes, PLAIN, false, PLACE_KERNEL, "bytes \"2 * M * N * sizeof(dtype)\"")                      \
  X(objective, PLAIN, false, PLACE_KERNEL, "objective \"flops\"")                                  \
  X(measure, PLAIN, false, PLACE_KERNEL, "measure \"graph\"")                                      \
  X(implementation, NAMED, true, PLACE_KERNEL, "implementation \"tiled\" { ... }")                 \
  X(tunable, NAMED, true, PLACE_KERNEL | PLACE_IMPLEMENTATION, "tunable \"tile\" { 16, 32 }")      \
  X(derive, NAMED, true, PLACE_KERNEL | PLACE_IMPLEMENTATION,                                      \
    "derive \"threads\" \"tile * tile\"")                                                          \
  X(where, PLAIN, true, PLACE_KERNEL | PLACE_IMPLEMENTATION, "where \"tile % vec == 0\"")          \
  X(heuristic, NAMED, true, PLACE_IMPLEMENTATION, "heuristic \"sm_90\" \"tile >= 32\"")            \
  X(requires, PLAIN, true, PLACE_IMPLEMENTATION, "requires \"device.compute_capability >= 80\"")   \
  X(try, PLAIN, true, PLACE_IMPLEMENTATION, "try { tile = 32 }")                                   \
  X(options, PLAIN, false, PLACE_KERNEL | PLACE_IMPLEMENTATION,                                    \
    "options { fast_math = true, maxrregcount = 64 }")                                             \
  X(include_dirs, PLAIN, false, PLACE_KERNEL | PLACE_IMPLEMENTATION,                               \
    "include_dirs { \"include\" }")                                                                \
  X(template, PLAIN, false, PLACE_IMPLEMENTATION, "template \"matmul_tiled.cu\"")                  \
  X(library, NAMED, false, PLACE_IMPLEMENTATION,                                                   \
    "library \"cublasLt\" { a = \"A\", b = \"B\", c = \"C\" }")                                    \
  X(tensor, NAMED, true, PLACE_IMPLEMENTATION, "tensor \"A\" { into = \"As\" }")                   \
  X(loop, PLAIN, true, PLACE_IMPLEMENTATION,                                                       \
    "loop { steps \"tmax\", launch { ... }, launch { ... } }")                                     \
  X(launch, PLAIN, true, PLACE_IMPLEMENTATION | PLACE_LOOP,                                        \
    "launch { entry = \"pass_1\", grid = { \"M\" }, block = { 256 } }")                            \
  X(grid, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH, "grid { \"ceil_div(N, tile)\" }")     \
  X(block, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH, "block { \"tile\", \"tile\" }")      \
  X(shared, EITHER, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH,                                    \
    "shared \"As\" { dtype = \"f32\", shape = { \"BM\", \"BK\" } }")                               \
  X(carveout, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH, "carveout \"50\"")                \
  X(overlap, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH, "overlap \"true\"")                \
  X(cooperative, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH, "cooperative \"true\"")        \
  X(steps, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH | PLACE_LOOP,                         \
    "steps \"ceil_log(N, 2 * threads)\"")                                                          \
  X(pass, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH,                                       \
    "pass { \"x\", \"y\", { \"n\", value = 32 } }")                                                \
  X(entry, PLAIN, false, PLACE_IMPLEMENTATION | PLACE_LAUNCH, "entry \"matmul\"")

enum keyword_id {
#define X(name, naming, repeats, places, example) KEYWORD_##name,
  CONFIG_KEYWORDS(X)
#undef X
      KEYWORD_COUNT
};

struct keyword {
  const char *name;
  enum keyword_id id;
  enum naming naming;
  bool repeats;
  unsigned places;
  const char *example;
};

extern const struct keyword config_keywords[KEYWORD_COUNT];

/* A full userdata, whose user values are the name and the value of the declaration. */
struct declaration {
  const struct keyword *keyword;
  struct config_line line;
  bool complete; /* the declaration has a value, or needs none */
  bool valued;   /* the declaration has a value */
  bool nested;   /* the declaration stands in a list; set only for includes and in included files */
  bool attached; /* the declaration is an include, the kernel, or part of the kernel */
};

/* A C function for Lua that makes the globals of the sandbox the config's language, except for
   include, which include.c adds. */
int declarations_open(lua_State *L);

/* Returns the declaration at the index; NULL: the value there is none. */
struct declaration *declarations_at(lua_State *L, int index);
/* Pushes the list of all declarations in the order of their calls. Allocates nothing. */
void declarations_push(lua_State *L);
size_t declarations_count(lua_State *L);
/* Clears the stack and pushes a declaration that stands for an include. The value of the include is
   the list of the declarations made after the first `before`, except declarations within another of
   these declarations. */
void declarations_group(lua_State *L, size_t before);
/* Push the name (nil if there is none) or the value of the declaration at the index. Allocate
   nothing. */
void declarations_push_name(lua_State *L, int index);
void declarations_push_value(lua_State *L, int index);

#endif
