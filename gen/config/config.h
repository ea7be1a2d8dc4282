/* A config: a Lua file, read once into plain tables. docs/config.md describes the language.
   Expressions see slots in this order: the device facts, the problem, the tunables shared by all
   implementations, the implementation's own tunables. Derived names are inlined where they are
   used. */
#ifndef GEN_CONFIG_CONFIG_H
#define GEN_CONFIG_CONFIG_H

#include "base/expr.h"
#include "base/facts.h"
#include "base/kernel.h"
#include "base/key.h"
#include "base/layout.h"
#include "base/library.h"
#include "base/objective.h"
#include "gen/sources/sources.h"

struct config_line { /* A line of the config, or of a file that it includes. */
  const char *path;  /* owned by the config */
  int number;
};

/* Fails with CUGEN_ERROR_CONFIG at a struct config_line: config_fail(err, line, format, ...). */
#define config_fail(err, at, ...)                                                                  \
  error_set_at(err, CUGEN_ERROR_CONFIG, (at).path, (at).number, __VA_ARGS__)
/* Puts "path:line: context: " in front of the message: config_prefix(err, line, format, ...). */
#define config_prefix(err, at, ...) error_prefix_at(err, (at).path, (at).number, __VA_ARGS__)

struct config_problem { /* A parameter: problem "M" (4096)  or  problem "dtype" { "f32", "f64" } */
  const char *name;
  struct config_line line;
  bool listed;                /* only the listed values are allowed; otherwise any value of the
                                 default's type */
  const struct value *values; /* the first value is the default */
  size_t value_count;
  struct value check; /* value in check { ... }; VALUE_NIL if check does not name the parameter */
};

struct config_tunable { /* tunable "tile" { 16, 32 } */
  const char *name;
  struct config_line line;
  const struct value *values;
  size_t value_count;
  bool used; /* an expression or an argument mentions the tunable; not set in an implementation's
                copies of shared tunables */
};

struct config_derived { /* derive "threads" "tile * tile" */
  const char *name;
  struct config_line line;
  const struct expr *expr;
};

struct config_restriction { /* where "tile % vec == 0" */
  struct config_line line;
  const struct expr *expr; /* the text is expr_text(expr) */
};

struct config_heuristic { /* heuristic "sm_90" "tile >= 32" */
  struct config_line line;
  int64_t capability; /* compute capability of the GPUs on which the heuristic was measured: 90 */
  const struct expr *expr;
};

struct config_work { /* flops "2 * M * N * K" */
  struct config_line line;
  const struct expr *expr; /* NULL: not declared */
};
struct config_requirement { /* requires "device.compute_capability >= 80" */
  struct config_line line;
  const struct expr *expr;
  const char *text; /* for messages: the expression's text, or "library cublasLt" */
};

/* An attribute or option: one of its known words, or an expression that gives the value. Both
   members are NULL if the attribute or option is absent. */
struct config_word {
  const char *word;
  const struct expr *expr;
};

/* The data of an input, inout or constant, if not a fill; or the right result of an output or
   inout. */
struct config_data {
  enum data_kind kind;
  /* DATA_VALUES: the expression sees the device, the problem, the shared tunables, the slots from
     config_data_slot on (the element's number and its coordinates), and elements of arguments by
     the arguments' numbers. */
  const struct expr *values;
  const struct value *list; /* DATA_LIST: numbers in row-major order */
  size_t list_count;
  const char *file;      /* DATA_FILE, DATA_GENERATOR: searched like a template */
  const char *generator; /* name of the generator kernel in the file; NULL: the only kernel */
  uint32_t reads;        /* bit i: the expression or generator may read elements of argument i */
};

/* A field of a struct that is passed by value: { "dt", dtype = "f32", value = "0.1" },
   { "stride", dtype = "i32", pitch = "A" } or { "elements", buffer = "A" }. */
struct config_field {
  const char *name;
  const struct dtype *dtype; /* NULL: the field is the address of the buffer */
  const struct expr *value;  /* NULL: the field is the buffer's address or pitch */
  size_t buffer;             /* number of the argument */
  int offset;
};

struct config_waiver { /* waive "uninitialised read" { at = "sum += tail[i]", reason = "..." } */
  struct config_line line;
  cugen_finding_kind kind;
  const char *at, *reason; /* at: part of the source line that the finding names */
};

/* Text that contains expressions: "reduce<${tile // 2}>". */
struct config_spelling {
  const char *text; /* as written in the config */
  const struct expr *const *parts;
  size_t part_count;
};

/* A layout (docs/layouts.md): one word, or an expression that gives one of several. */
struct config_layout {
  const struct expr *choice;           /* NULL: words[0] is the layout; without words, "row" */
  const struct config_spelling *words; /* the possible values of `choice`, such as "row+${pad}" */
  size_t word_count;
  bool open; /* the expression may give other words, too */
};

struct config_argument { /* An input, output, inout, scratch, scalar or constant. */
  const char *name;
  cugen_argument_kind kind;
  struct config_line line;
  struct config_word dtype; /* a scalar may have "index", which stands for index_t */
  const struct expr *shape[KERNEL_MAX_RANK];
  int rank;
  struct config_layout layout;
  const struct expr *pitch; /* elements between neighbours in the dimension next to the
                               contiguous one; NULL: not declared */
  const struct expr *strides[KERNEL_MAX_RANK]; /* in elements, in place of layout and pitch; NULL:
                                                  layout and pitch give the strides */
  struct config_word fill, memory;
  struct config_data data;
  struct config_word access, address; /* access: of buffers; address: of inputs */
  const struct expr *tolerance, *norm;
  const char *struct_name;           /* scalars: struct = "Params"; NULL if the scalar is a
                                        number */
  const struct config_field *fields; /* fields of the struct, with C's natural alignment */
  int field_count, struct_bytes;
  const struct expr *value;     /* scalars without a struct: the value; NULL: the value in `slot` */
  int slot;                     /* scalars without a struct or `value`: the slot of the problem
                                   parameter or tunable with the argument's name */
  const struct expr *compiled;  /* scalars: specialize = true | "expression"; NULL: not compiled
                                   in */
  const struct expr *overwrite; /* inputs: whether the kernel may write to the input; NULL: no */
  const struct expr *when;      /* condition for problems that have the argument; NULL: all problems
                                   have it */
};

/* Where the slots of a formula's own names begin, above all other slots. FORMULA_MOST: the most
   parameters of a formula, and the most elements that it reads. */
enum {
  FORMULA_PARAMETER = 1 << 20,
  FORMULA_SCALAR = 1 << 21,
  FORMULA_ELEMENT = 1 << 22,
  FORMULA_MOST = 16
};

struct formula_element { /* An element of an argument in a formula: bias[n]. */
  size_t argument;
  int indices[KERNEL_MAX_RANK]; /* numbers of the parameters that index the argument */
};

struct config_formula { /* formula "combine(a, b)" "a + b" */
  const char *name;
  struct config_line line;
  const char *parameters[FORMULA_MOST];
  size_t parameter_count;
  struct formula_element elements[FORMULA_MOST];
  size_t element_count;
  /* The expression sees the device, the problem and the shared tunables in their usual slots,
     parameter i as FORMULA_PARAMETER + i, argument i as FORMULA_SCALAR + i, and element i as
     FORMULA_ELEMENT + i. */
  const struct expr *expr;
};

/* The compiler options that `options` may set. Columns: name, kind, the flag that carries the
   value, and the allowed words or the largest number. */
#define COMPILE_OPTIONS(X)                                                                         \
  X(fast_math, OPTION_FLAG, "--use_fast_math", "")                                                 \
  X(fmad, OPTION_SWITCH, "--fmad=", "")                                                            \
  X(ftz, OPTION_SWITCH, "--ftz=", "")                                                              \
  X(prec_div, OPTION_SWITCH, "--prec-div=", "")                                                    \
  X(prec_sqrt, OPTION_SWITCH, "--prec-sqrt=", "")                                                  \
  X(restrict, OPTION_FLAG, "--restrict", "")                                                       \
  X(vectorize, OPTION_FLAG, "--extra-device-vectorization", "")                                    \
  X(maxrregcount, OPTION_COUNT, "--maxrregcount=", "255")                                          \
  X(opt_level, OPTION_NUMBER, "--ptxas-options=-O", "3")                                           \
  X(register_usage_level, OPTION_NUMBER, "--ptxas-options=--register-usage-level=", "10")          \
  X(load_cache, OPTION_WORD, "--ptxas-options=-dlcm=", "ca cg cs lu cv")                           \
  X(store_cache, OPTION_WORD, "--ptxas-options=-dscm=", "wb cg cs wt")                             \
  X(std, OPTION_WORD, "--std=", "c++11 c++14 c++17 c++20")

enum compile_option {
#define X(name, kind, flag, range) COMPILE_##name,
  COMPILE_OPTIONS(X)
#undef X
      COMPILE_OPTION_COUNT
};

struct config_macro { /* define = { FAST = "mode == 'fast'" }: a macro, which is not defined if the
                         expression is false. */
  const char *name;
  const struct expr *expr;
};

struct config_options { /* options { fast_math = true, maxrregcount = "regs" } */
  struct config_line line;
  struct config_word values[COMPILE_OPTION_COUNT]; /* an option is unset if it has neither a word
                                                      nor an expression */
  const struct config_spelling *defines;           /* macros as text: "NAME" or "NAME=value" */
  size_t define_count;
  const struct config_macro *macros; /* macros with a value: NAME = "expression" */
  size_t macro_count;
  const char *flags; /* other flags of NVRTC, separated by blanks; NULL: none */
};

struct config_compile {                      /* The options and include_dirs of a kernel or
                                                implementation. */
  const struct config_options *shared, *own; /* options of the kernel and of the implementation;
                                                NULL: none */
  const char *const *folders;                /* folders of headers, as the config names them; those
                                                of the implementation come first */
  size_t folder_count;
  size_t own_folders; /* how many of the folders belong to the declaration's own include_dirs */
  struct config_line folders_line;
};

struct config_parameter {  /* A passed parameter: "in" or "step % 2 == 0 and 'a' or 'b'" or { "n",
                              value = "n // 2" }. */
  const struct expr *expr; /* gives the name of the argument; NULL: the argument is known */
  size_t argument;
  const struct expr *value; /* value of a scalar in this launch; NULL: the argument's own value */
};

/* grid, block, shared, carveout, overlap, cooperative, steps, pass and entry of an implementation
   with a single launch, or of one launch { ... } of several. */
struct config_launch {
  struct config_spelling entry; /* text NULL: the only __global__ function of the expanded source */
  struct config_line line;
  const struct expr *grid[3], *block[3]; /* NULL: 1 */
  const struct expr *shared;             /* bytes of dynamic shared memory; NULL: 0 */
  const char *shared_arrays; /* the arrays whose bytes `shared` gives: "shared arrays As, Bs"; NULL:
                                none */
  const struct expr *carveout;    /* NULL: -1, for which the driver decides */
  const struct expr *overlap;     /* NULL: false */
  const struct expr *cooperative; /* NULL: false */
  const struct expr *steps;       /* number of rounds of the launch's loop; NULL: one */
  bool inner;                     /* the launch is not the first of its loop */
  /* Slots, behind those of the tunables, of the current round of the loop and of the number of
     rounds. All expressions of the launch but `steps` see them. */
  int step_slot, steps_slot;
  const struct config_parameter *passed; /* NULL: every argument is passed */
  size_t passed_count;
};

/* CONFIG_MAX_LAUNCHES: the most launch { } blocks of an implementation. CONFIG_STEP_SLOTS: the
   number of slots of `step` and `steps`. */
enum { CONFIG_MAX_LAUNCHES = 64, CONFIG_STEP_SLOTS = 2 };

/* loop { steps "tmax", launch { ... }, launch { ... } }: runs its launches in order, `steps`
   times. A launch outside of any loop is a loop of its own. */
struct config_loop {
  const struct expr *steps; /* number of rounds; NULL: one */
  struct config_line line;
  size_t first, count; /* the launches [first, first + count) of the implementation */
  bool stepped;        /* an expression of the loop's launches depends on the round */
};

struct config_tensor { /* tensor "A" { into = "As" }, or { box = { "BM", 64 }, swizzle = 128 } */
  size_t argument;
  struct config_line line;
  const struct config_shared *into; /* the shared array that gives box and swizzle; NULL: none */
  const struct expr *shared_by; /* number of blocks that load a tile of `into` together, a box each;
                                   NULL: 1 */
  const struct expr *box[KERNEL_MAX_RANK];
  const struct expr *swizzle; /* NULL: 0 */
  const struct expr *parts;   /* equal parts along the outermost dimension; NULL: 1 */
  const struct expr *when;    /* condition for the tensor map; NULL: true */
};

enum { CONFIG_MAX_SHARED = 16 }; /* shared arrays of an implementation */

struct config_shared { /* shared "As" { dtype = "f16", shape = { "BM", "BK" }, layout = "row+8" } */
  const char *name;
  int launch; /* the launch that declares the array; -1: the implementation, for all launches */
  struct config_line line;
  struct config_word dtype;
  int rank;
  const struct expr *shape[KERNEL_MAX_RANK];
  struct config_layout layout;
  const struct expr *stages;  /* number of stages; NULL: the array has no index for a stage */
  const struct expr *align;   /* NULL: as the layout needs it, 16 bytes at least */
  const struct expr *dynamic; /* if true, all arrays of the launch lie in dynamic shared memory,
                                 however small they are; NULL: false */
};

struct config_library { /* library "cublasLt" { a = "A", b = "B", c = "C", batch = "batch" } */
  enum library_id id;
  /* This requirement has no expression: it is unmet where the library cannot be used. */
  struct config_requirement requirement;
  struct {
    bool given;
    size_t argument;         /* of the kernel, for a buffer or scalar */
    const struct expr *expr; /* gives the number or word */
  } fields[LIBRARY_MOST_FIELDS];
};

struct config_implementation {
  const char *name;
  struct config_line line;
  const char *template_name; /* NULL: `library` is set */
  struct config_line template_line;
  /* The library whose kernel the implementation is. Such an implementation has no launches, because
     its one launch follows from the call. NULL: the implementation has a template. */
  const struct config_library *library;
  const struct config_requirement *requirements;
  size_t requirement_count;
  /* The tunables shared by all implementations come first. tunables[i] has slot first_tunable +
     i. */
  const struct config_tunable *tunables;
  size_t tunable_count;
  const struct config_derived *derived; /* shared derived names come first */
  size_t derived_count;
  /* The implementation's own scalars, which launches pass behind the arguments. Argument
     config->argument_count + i is own[i]. */
  const struct config_argument *own;
  size_t own_count;
  const struct config_restriction *restrictions; /* shared restrictions come first */
  size_t restriction_count;
  const struct config_heuristic *heuristics;
  size_t heuristic_count;
  const char *const *tries; /* "tiled tile=32": variants that a search begins with, if they are
                               valid */
  size_t try_count;
  const struct value *check; /* a value or VALUE_NIL for each problem parameter; NULL: only the
                                kernel's check { } applies */
  const struct config_tensor *tensors;
  size_t tensor_count;
  const struct config_shared *shared; /* first the arrays that every launch has (launch -1) */
  size_t shared_count;
  struct config_compile compile;
  const struct config_launch *launches;
  size_t launch_count;
  const struct config_loop *loops; /* in order; each launch is in exactly one loop */
  size_t loop_count;
  uint32_t facts; /* device facts that the expressions of the implementation use: bit i is enum
                     device_fact i */
};

/* Which variant serves a problem that was not tuned: none, the best of the nearest tuned problem,
   the best of the problem's bucket, or the choice of a portfolio. */
enum policy_kind { POLICY_EXACT, POLICY_NEAREST, POLICY_BUCKETS, POLICY_PORTFOLIO };

struct policy_bucket { /* M = { 64, 256, 1024 }: bounds for a size. */
  size_t problem;      /* index of the problem parameter */
  int64_t *bounds;     /* ascending, at least 1 */
  size_t count;
};

struct config_policy { /* policy "nearest" { distance = 1 } */
  enum policy_kind kind;
  /* nearest: the largest |log2| of a ratio of sizes at which a tuned problem's best serves.
     portfolio: likewise, where the portfolio does not serve; 0: no other problem's best does. */
  double distance;
  struct policy_bucket *buckets; /* buckets: in the order of the problem parameters */
  size_t bucket_count;
};

struct config {
  const char *name; /* kernel "matmul" */
  const char *path; /* for messages, and to find the files beside it */
  bool shipped;     /* the config is part of the program, whatever file exists at that path */
  const struct config_problem *problems;
  size_t problem_count;
  const struct config_tunable *shared_tunables;
  size_t shared_tunable_count;
  struct config_policy policy;
  const struct config_waiver *waivers;
  size_t waiver_count;
  const char *const *problem_sets; /* each problems { } as text, "M=64,256 N=4096", which means all
                                      combinations of the values */
  size_t problem_set_count;
  const struct config_argument *arguments;
  size_t argument_count;
  const struct config_formula *formulas;
  size_t formula_count;
  struct config_compile compile; /* how the reference, verify kernel and generators are compiled */
  const struct config_implementation *implementations;
  size_t implementation_count;
  const char *summary; /* first sentence of the comment that the file begins with */
  const char
      *reference; /* file of the reference; NULL: reference is "none" or has answers, or there
                            is only a verify */
  const struct config_data *answers; /* reference { y = "2 * x[i0]" }: an element for each argument,
                                        the right result of an output or inout; NULL: none */
  const char *reference_entry;       /* kernel in the file, from "file.cu:kernel"; NULL: the only
                                  kernel */
  struct config_line reference_line;
  const char *verify, *verify_entry; /* verify: file of the kernel that judges results; NULL: none.
                                        verify_entry: like reference_entry */
  struct config_line verify_line;
  struct config_work flops, bytes;
  struct config_work products; /* the type of the operands if the work is products of matrices */
  struct objective *objective; /* what variants are ranked by; NULL: time */
  struct config_line objective_line;
  enum measure_way measure;         /* how variants are timed */
  uint32_t facts;                   /* device facts used by expressions outside of
                                       implementations */
  int first_problem, first_tunable; /* first slots of the problem and of the tunables */
  void *arena; /* a struct arena, which owns all but the objective, also this struct */
};

/* Replaces the config's own objective. On failure the message quotes the objective first. */
int config_set_objective(struct config *config, const char *text, cugen_error *err);
/* Sets which of the variants that tie is preferred. */
int config_prefer(struct config *config, enum preference preference, cugen_error *err);
/* Opens a config by its name; see sources_config. The caller closes it with config_close. */
int config_open(const struct sources *sources, const char *name, struct config **out,
                cugen_error *err);
/* Parses a config. path is used in messages and to find the files beside it: templates, and files
   that the config includes. */
int config_parse(const char *path, const char *content, size_t length, struct config **out,
                 cugen_error *err);
void config_close(struct config *config);
/* Returns whether the variant of this text, "cublaslt algorithm=0", is a library's kernel. */
bool config_calls_library(const struct config *config, const char *variant);

/* Return the problem parameter or the argument of that name; NULL: there is none. */
const struct config_problem *config_find_problem(const struct config *config, const char *name);
const struct config_argument *config_find_argument(const struct config *config, const char *name);

/* Returns whether the config has a reference: a kernel, or expressions or files of the results. */
bool config_has_results(const struct config *config);
/* Returns whether results can be checked: the config has a reference or a verify kernel. */
bool config_proves(const struct config *config);

/* Returns the number of variants that `try` declarations name. */
size_t config_tries(const struct config *config);
/* Returns whether the parameter is a size: a whole number that may differ at run time. The other
   parameters make up the class of a problem. */
bool config_is_size(const struct config *config, size_t problem);
/* Return whether arguments of the kind have data before a launch, and whether they have results
   after it. */
static inline bool config_has_data(cugen_argument_kind kind) {
  return kind == CUGEN_ARGUMENT_INPUT || kind == CUGEN_ARGUMENT_INOUT ||
         kind == CUGEN_ARGUMENT_CONSTANT;
}
static inline bool config_has_result(cugen_argument_kind kind) {
  return kind == CUGEN_ARGUMENT_OUTPUT || kind == CUGEN_ARGUMENT_INOUT;
}

/* Returns whether the argument is a scalar of dtype "index", whose type is index_t. */
bool config_is_index(const struct config_argument *argument);
/* Returns whether an argument of that kind may have that access. */
bool config_has_access(cugen_argument_kind kind, enum access_kind access);
/* Returns the smallest bound that is not below the size, or the last bound. Sizes below 1 have no
   bucket and are returned unchanged. */
int64_t policy_bound(const struct policy_bucket *bucket, int64_t size);
/* Prints the policy: "exact", "nearest { distance = 1 }", "buckets { M = { 64, 256 } }". */
void policy_print(const struct config *config, struct text *out);

#endif
