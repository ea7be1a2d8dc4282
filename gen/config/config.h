/* A config: a Lua file read once into plain tables. Order in the file is the order everywhere; every declaration
   keeps its line. docs/config.md describes the language.

   Expressions see slots in this order: the device facts, the problem, the tunables shared by all implementations,
   the implementation's own tunables. Derived names are inlined where they are used. */
#ifndef GEN_CONFIG_CONFIG_H
#define GEN_CONFIG_CONFIG_H

#include "base/expr.h"
#include "base/facts.h"
#include "base/kernel.h"
#include "base/measure_way.h"
#include "base/objective.h"
#include "gen/sources/sources.h"

struct config_line { /* of the config, or of a file that it includes */
  const char *path;
  int number;
};

struct config_problem { /* problem "M" (4096)  or  problem "dtype" { "f32", "f64" } */
  const char *name;
  struct config_line line;
  bool listed;                /* only the values listed are allowed; else any of the default's type */
  const struct value *values; /* the first is the default */
  size_t value_count;
  struct value check; /* from check { ... }; VALUE_NIL: not overridden there */
};

struct config_tunable { /* tunable "tile" { 16, 32 } */
  const char *name;
  struct config_line line;
  const struct value *values;
  size_t value_count;
  bool used; /* an expression or an argument mentions it; a template may all the same */
};

struct config_derived { /* derive "threads" "tile * tile" */
  const char *name;
  struct config_line line;
  const struct expr *expr;
};

struct config_restriction { /* where "tile % vec == 0" */
  struct config_line line;
  const struct expr *expr; /* expr_text gives the text */
};

struct config_heuristic { /* heuristic "sm_90" "tile >= 32" */
  struct config_line line;
  int64_t capability; /* of the GPUs that it was measured on: 90 */
  const struct expr *expr;
};

struct config_requirement { /* requires "device.compute_capability >= 80" */
  struct config_line line;
  const struct expr *expr;
};

/* A word attribute is one of its known words or an expression that gives one. */
struct config_word {
  const char *word; /* NULL: expr */
  const struct expr *expr;
};

/* values, list, file or generator of an input: its data where that is not a fill. */
struct config_data {
  enum data_kind kind;
  /* DATA_VALUES: sees, besides device, problem and shared tunables, the slots from config_data_slot on, the element's number
     and its coordinates, and elements of arguments by their numbers. */
  const struct expr *values;
  const struct value *list; /* DATA_LIST: numbers, row-major */
  size_t list_count;
  const char *file;      /* DATA_FILE, DATA_GENERATOR: looked for as a template is */
  const char *generator; /* the kernel in it; NULL: the only one */
  uint32_t reads;        /* bit i: elements of argument i */
};

/* { "dt", dtype = "f32", value = "0.1" } of a struct that is passed by value. */
struct config_field {
  const char *name;
  const struct dtype *dtype;
  const struct expr *value;
  int offset;
};

struct config_waiver { /* waive "uninitialised read" { at = "sum += tail[i]", reason = "..." } */
  struct config_line line;
  cugen_finding_kind kind;
  const char *at, *reason; /* at: part of the line that the finding names */
};

struct config_argument { /* input, output, inout, scratch, scalar, constant */
  const char *name;
  cugen_argument_kind kind;
  struct config_line line;
  struct config_word dtype; /* scalars may say "index": index_t */
  const struct expr *shape[KERNEL_MAX_RANK];
  int rank;
  struct config_word layout; /* "row" (the last dimension is contiguous; default) or "col" (the first is) */
  const struct expr *pitch;  /* elements between neighbours in the next-to-contiguous dimension; NULL: packed */
  struct config_word fill, memory;
  struct config_data data;
  struct config_word access, address; /* inputs and constants; inputs */
  const struct expr *tolerance, *norm;
  const char *struct_name;           /* scalars: struct = "Params"; NULL: a number */
  const struct config_field *fields; /* of the struct, with C's natural alignment */
  int field_count, struct_bytes;
  const struct expr *value;     /* scalars; NULL: the problem size or tunable of the same name, */
  int slot;                     /* which is this */
  const struct expr *compiled;  /* specialize = true | "expression"; NULL: no. Scalars only */
  const struct expr *overwrite; /* inputs; NULL: no */
  const struct expr *when;      /* of which problems it is an argument; NULL: of all */
};

/* The slots of a formula's own names, far above all others. */
enum { FORMULA_PARAMETER = 1 << 20, FORMULA_SCALAR = 1 << 21, FORMULA_ELEMENT = 1 << 22, FORMULA_MOST = 16 };

struct formula_element { /* bias[n] */
  size_t argument;
  int indices[KERNEL_MAX_RANK]; /* parameters */
};

struct config_formula { /* formula "combine(a, b)" "a + b" */
  const char *name;
  struct config_line line;
  const char *parameters[FORMULA_MOST];
  size_t parameter_count;
  struct formula_element elements[FORMULA_MOST];
  size_t element_count;
  /* Sees device, problem and shared tunables as ever; FORMULA_PARAMETER + i, FORMULA_SCALAR + i for argument i,
     FORMULA_ELEMENT + i. */
  const struct expr *expr;
};

/* Text with expressions in it: "reduce<${tile // 2}>". */
struct config_spelling {
  const char *text; /* as written */
  const struct expr *const *parts;
  size_t part_count;
};

/* What of the compiler an `options` may set: name, kind, the flag that carries the value, the words or the largest number. */
#define COMPILE_OPTIONS(X)                                                                                           \
  X(fast_math, OPTION_FLAG, "--use_fast_math", "")                                                                   \
  X(fmad, OPTION_SWITCH, "--fmad=", "")                                                                              \
  X(ftz, OPTION_SWITCH, "--ftz=", "")                                                                                \
  X(prec_div, OPTION_SWITCH, "--prec-div=", "")                                                                      \
  X(prec_sqrt, OPTION_SWITCH, "--prec-sqrt=", "")                                                                    \
  X(restrict, OPTION_FLAG, "--restrict", "")                                                                         \
  X(vectorize, OPTION_FLAG, "--extra-device-vectorization", "")                                                      \
  X(maxrregcount, OPTION_COUNT, "--maxrregcount=", "255")                                                            \
  X(opt_level, OPTION_NUMBER, "--ptxas-options=-O", "3")                                                             \
  X(register_usage_level, OPTION_NUMBER, "--ptxas-options=--register-usage-level=", "10")                            \
  X(load_cache, OPTION_WORD, "--ptxas-options=-dlcm=", "ca cg cs lu cv")                                             \
  X(store_cache, OPTION_WORD, "--ptxas-options=-dscm=", "wb cg cs wt")                                               \
  X(std, OPTION_WORD, "--std=", "c++11 c++14 c++17 c++20")

enum compile_option {
#define X(name, kind, flag, range) COMPILE_##name,
  COMPILE_OPTIONS(X)
#undef X
      COMPILE_OPTION_COUNT
};

struct config_macro { /* define = { FAST = "mode == 'fast'" }: not there where it is false */
  const char *name;
  const struct expr *expr;
};

struct config_options { /* options { fast_math = true, maxrregcount = "regs" } */
  struct config_line line;
  struct config_word values[COMPILE_OPTION_COUNT]; /* neither word nor expr: not set */
  const struct config_spelling *defines;           /* "NAME" or "NAME=value" */
  size_t define_count;
  const struct config_macro *macros; /* NAME = "expression" */
  size_t macro_count;
  const char *flags; /* NVRTC's own, with a blank between them; NULL: none */
};

struct config_compile {                      /* options, include_dirs */
  const struct config_options *shared, *own; /* the kernel's, the implementation's; NULL: none */
  const char *const *folders;                /* of headers, relative to the config; the implementation's first */
  size_t folder_count;
  size_t own_folders; /* of these, those of its own include_dirs */
  struct config_line folders_line;
};

struct config_parameter {  /* "in"  or  "step % 2 == 0 and 'a' or 'b'"  or  { "n", value = "n // 2" } */
  const struct expr *expr; /* gives the argument's name; NULL: it is known */
  size_t argument;
  const struct expr *value; /* of a scalar, in this launch; NULL: the argument's */
};

/* grid, block, shared, carveout, overlap, cooperative, steps, pass, entry of an implementation, or one launch { ... } of
   several */
struct config_launch {
  struct config_spelling entry; /* text NULL: the only __global__ function of the expansion */
  struct config_line line;
  const struct expr *grid[3], *block[3]; /* NULL: 1 */
  const struct expr *shared;             /* NULL: 0 */
  const struct expr *carveout;           /* NULL: -1, the driver decides */
  const struct expr *overlap;            /* NULL: false */
  const struct expr *cooperative;        /* NULL: false */
  const struct expr *steps;              /* how often its loop makes it; NULL: once */
  bool inner;                            /* another launch stands before it in its loop */
  /* In all but steps: which round of the loop it is, and how many they are; the slots behind the tunables'. */
  int step_slot, steps_slot;
  const struct config_parameter *passed; /* NULL: every argument */
  size_t passed_count;
};

enum {
  CONFIG_MAX_LAUNCHES = 64,
  CONFIG_STEP_SLOTS = 2
}; /* launch { } in an implementation; slots of step and steps */

/* loop { steps "tmax", launch { ... }, launch { ... } }: so many rounds, each of these launches in order. A launch that stands in none is a
   loop of its own. */
struct config_loop {
  const struct expr *steps; /* NULL: one round */
  struct config_line line;
  size_t first, count; /* of the implementation's launches */
  bool stepped;        /* some expression of its launches sees which round it is */
};

struct config_tensor { /* tensor "A" { box = { "BM", 64 }, swizzle = 128 } */
  size_t argument;
  struct config_line line;
  const struct expr *box[KERNEL_MAX_RANK];
  const struct expr *swizzle; /* NULL: 0 */
  const struct expr *parts;   /* NULL: 1 */
  const struct expr *when;    /* NULL: always; where it is false the argument is a pointer */
};

struct config_implementation {
  const char *name;
  struct config_line line;
  const char *template_name;
  struct config_line template_line;
  const struct config_requirement *requirements;
  size_t requirement_count;
  /* Those shared by all implementations come first, so that slot first_tunable + i is tunables[i]. */
  const struct config_tunable *tunables;
  size_t tunable_count;
  const struct config_derived *derived; /* shared ones first */
  size_t derived_count;
  /* Its own scalars, which launches pass behind the arguments. Argument config->argument_count + i is own[i]. */
  const struct config_argument *own;
  size_t own_count;
  const struct config_restriction *restrictions; /* shared ones first */
  size_t restriction_count;
  const struct config_heuristic *heuristics;
  size_t heuristic_count;
  const char *const *tries; /* "tiled tile=32": what a search begins with, where it is a variant */
  size_t try_count;
  const struct value *check; /* a value or VALUE_NIL for each problem; NULL: the kernel's check { } alone */
  const struct config_tensor *tensors;
  size_t tensor_count;
  struct config_compile compile;
  const struct config_launch *launches;
  size_t launch_count;
  const struct config_loop *loops; /* in order; each launch stands in one */
  size_t loop_count;
  uint32_t facts; /* of the device, that its expressions mention: bit i is enum device_fact i */
};

/* What serves a problem that was not tuned: nothing, the best of the nearest one or of its bucket's, or a portfolio. */
enum policy_kind { POLICY_EXACT, POLICY_NEAREST, POLICY_BUCKETS, POLICY_PORTFOLIO };

struct policy_bucket { /* M = { 64, 256, 1024 } */
  size_t problem;      /* index */
  int64_t *bounds;     /* rising, from 1 up */
  size_t count;
};

struct config_policy { /* policy "nearest" { distance = 1 } */
  enum policy_kind kind;
  double
      distance; /* nearest: how far, see problem_distance; portfolio: the same where it does not serve, 0: not so */
  struct policy_bucket *buckets; /* buckets: in the order of the problems */
  size_t bucket_count;
};

struct config {
  const char *name; /* kernel "matmul" */
  const char *path; /* for messages */
  bool shipped;     /* it lies in the program, whatever lies on the disk at that path */
  const struct config_problem *problems;
  size_t problem_count;
  const struct config_tunable *shared_tunables;
  size_t shared_tunable_count;
  struct config_policy policy;
  const struct config_waiver *waivers;
  size_t waiver_count;
  const char *const *problem_sets; /* each problems { }: "M=64,256 N=4096", all combinations of these values */
  size_t problem_set_count;
  const struct config_argument *arguments;
  size_t argument_count;
  const struct config_formula *formulas;
  size_t formula_count;
  struct config_compile compile; /* the reference's */
  const struct config_implementation *implementations;
  size_t implementation_count;
  const char *reference;       /* template name; NULL: none (a config error unless reference "none" or verify) */
  const char *reference_entry; /* from "file.cu:kernel"; NULL: the only one */
  struct config_line reference_line;
  const char *verify, *verify_entry; /* the same of the kernel that judges results; NULL: none */
  struct config_line verify_line;
  const struct expr *flops, *bytes; /* NULL: not declared */
  const struct expr *products;      /* operands' type; NULL: the work is no products of matrices */
  struct config_line products_line;
  struct objective *objective; /* what variants are ranked by; NULL: time */
  struct config_line objective_line;
  enum measure_way measure;         /* how they are timed */
  uint32_t facts;                   /* of the device, that expressions outside of the implementations mention */
  int first_problem, first_tunable; /* slots */
  void *arena;
};

/* In place of the config's own objective. The message of a refusal begins with the objective. */
int config_set_objective(struct config *config, const char *text, cugen_error *err);
/* What is taken of variants that tie. */
int config_prefer(struct config *config, enum preference preference, cugen_error *err);
int config_open(const struct sources *sources, const char *name, struct config **out, cugen_error *err);
/* path is for messages and for what stands beside it: templates, files that it includes. */
int config_parse(const char *path, const char *content, size_t length, struct config **out, cugen_error *err);
void config_close(struct config *config);

/* ---- A problem: values for config->problems ---- */

struct problem {
  struct value *values; /* one each, strings owned by the config or by `strings` */
  size_t count;
  struct text strings;
};

/* The defaults, or with check the check { } values, and settings ("M=8192") over them. */
int problem_set(const struct config *config, const char *const *settings, size_t count, bool check,
                struct problem *out, cugen_error *err);
/* The check { } values over `base`, which keeps what check does not name (dtype, layouts). */
int problem_check(const struct config *config, const struct problem *base, struct problem *out, cugen_error *err);
/* Every size that has buckets rounded up to the next bound, above the last one to the last. */
int problem_bucket(const struct config *config, const struct problem *base, struct problem *out, cugen_error *err);
/* The bucket that a size is in: its upper bound. Sizes below 1 are in none and stay. */
int64_t policy_bound(const struct policy_bucket *bucket, int64_t size);
/* "exact", "nearest { distance = 1 }", "buckets { M = { 64, 256 } }" */
void policy_print(const struct config *config, struct text *out);
void problem_free(struct problem *problem);
/* Whether a value of problems is a size: a whole number that may be another at run time. All others, types, layouts and flags, make the
   class of a problem. */
bool config_is_size(const struct config *config, size_t problem);
/* "M=4096 N=4096 dtype=f32" */
void problem_print(const struct config *config, const struct problem *problem, struct text *out);
/* The same, a line each; a '?' in front: it has its default, and the check problem too, as if the config did not have this
   parameter. */
void problem_print_settings(const struct config *config, const struct problem *problem, struct text *out);
/* Both of the class alone: "dtype=f32". */
void problem_print_class(const struct config *config, const struct problem *problem, struct text *out,
                         struct text *settings);
/* The same for a reader: what has its default and is neither a number nor an element type is left out. */
void problem_print_short(const struct config *config, const struct problem *problem, struct text *out);
/* "on the check problem rows=5 cols=203: ", before what went wrong there. */
void problem_add_check(const struct config *config, const struct problem *check, struct text *out);

/* Whether anything says which results are right: a reference, a verify kernel. */
bool config_proves(const struct config *config);

/* How many variants the config names by try. */
size_t config_tries(const struct config *config);

/* ---- Slots ---- */

/* Without those of a launch's steps, two more. */
size_t config_slot_count(const struct config *config, const struct config_implementation *implementation);
/* Fills slots[0 .. first_tunable) from facts and problem; the caller owns slots. */
void config_slots(const struct config *config, const struct problem *problem, const struct device_facts *facts,
                  struct value *slots);

/* The first of the slots that the values of an input see and nothing else does: the element's number, then its
   coordinates. */
int config_data_slot(const struct config *config);

/* What the data of argument i depends on, besides its shape and type; arguments are those of config_arguments, the ones
   before i with their hashes. content: of its file; empty: there is none. */
void config_data_describe(const struct config *config, size_t i, const struct value *slots,
                          const struct kernel_argument *arguments, struct hash content, struct text *out);

/* The arguments with every attribute evaluated; slots also hold the shared tunables. out has
   config->argument_count entries; strings point into the config. A pitch smaller than a row, a shape below 1 or an
   extent past 2^62 bytes is an error with the argument's line. */
int config_arguments(const struct config *config, const struct value *slots, struct kernel_argument *out,
                     cugen_error *err);

/* Behind them, in the same array, the implementation's own scalars; slots also hold its tunables. */
int config_own(const struct config *config, const struct config_implementation *implementation,
               const struct value *slots, struct kernel_argument *arguments, cugen_error *err);

/* Whether there are such arguments: a size of 0 or one too large is reported before anything is computed of it. Where tunables are
   shared, arguments may depend on them, and nothing is said. */
int config_check_sizes(const struct config *config, const struct problem *problem, const struct device_facts *facts,
                       cugen_error *err);

/* Appends the text with its expressions' values: numbers as they are, booleans as 1 and 0, words as they are but dtypes as C++
   names them. */
int config_spell(const struct config_spelling *spelling, const struct value *slots, struct text *out,
                 cugen_error *err);

/* Sets reads[slot] for each slot that it depends on. */
void config_spelling_reads(const struct config_spelling *spelling, bool *reads);
bool config_spelling_sees(const struct config_spelling *spelling, int slot);
/* Likewise of a launch's entry. One that sees its steps reads what decides how many there are. */
void config_entry_reads(const struct config_launch *launch, bool *reads);

/* Appends the flags of the options, with blanks between them: the implementation's and, where that says nothing, the kernel's. Of the
   reference (slots then hold the shared tunables alone) only --std: what makes a kernel fast may make it less exact. */
int config_flags(const struct config *config, const struct config_compile *compile, bool reference,
                 const struct value *slots, struct text *out, cugen_error *err);
/* Appends their macros as `#define` lines, and to the flags those that compilers have to know before the source. */
int config_defines(const struct config_compile *compile, const struct value *slots, struct text *lines,
                   struct text *flags, cugen_error *err);
/* The same of both. */
void config_compile_reads(const struct config_compile *compile, bool *reads);

/* What the work multiplies matrices of: a dtype's name, "tf32" or "fp8", never freed; NULL: it is no
   such products. slots as above. */
int config_products(const struct config *config, const struct value *slots, const char **out, cugen_error *err);

/* Makes the arguments that the implementation wants as tensor maps such; slots also hold its tunables. A box or a buffer
   that no tensor map can have is an error with the tensor's line. */
int config_tensors(const struct config *config, const struct config_implementation *implementation,
                   const struct value *slots, struct kernel_argument *arguments, cugen_error *err);

/* How often its loop makes it: 0 to KERNEL_MAX_SEQUENCE. */
int config_steps(const struct config_launch *launch, const struct value *slots, int64_t *out, cugen_error *err);
/* Into out[0 .. launch->passed_count) what the launch passes; slots also hold its step. What is no parameter is an error with
   the launch's line. */
int config_pass(const struct config *config, const struct config_implementation *implementation,
                const struct config_launch *launch, const struct kernel_argument *arguments,
                const struct value *slots, struct kernel_parameter *out, cugen_error *err);

/* A scalar of dtype "index": it has index_t. */
bool config_is_index(const struct config_argument *argument);
/* Whether an argument of that kind may say that access. */
bool config_has_access(cugen_argument_kind kind, enum access_kind access);

/* Whether index_t, and so dtype "index", has 64 bits: an argument has more than some 2^31 elements, or a scalar
   of dtype "index" a value past that. */
bool config_wide_index(const struct config *config, const struct kernel_argument *arguments);

#endif
