/* What the command line asks of cugen besides the public cugen.h: the space of variants, checks, ceilings and occupancy,
   transfer rates, the whole cache, bundles of plain C. The rules of cugen.h hold here, too: errors, ownership, threads. */
#ifndef API_TOOLS_H
#define API_TOOLS_H

#include "base/results.h"
#include "cugen.h"

/* Makes text of unknown origin safe for a terminal or a page: control characters except line ends and tabs, and characters
   that change the direction of writing, become \u001b; bytes that are not UTF-8 become \x9b. Messages of errors are safe
   already; names, variants and origins in records are not. Returns the length of the whole text, of which `out` gets what
   `size` bytes hold, terminated (6 * length + 1 bytes hold all); 0 also if memory runs out. */
size_t api_clean_text(const char *text, size_t length, char *out, size_t size);

/* The name that `name` may be a slip of; NULL: none is near. */
const char *api_nearest(const char *name, const char *const *names, size_t count);

/* The configs that ship with cugen, such as "matmul.lua". Returns how many exist; fills at most count. The strings live as
   long as the program. */
size_t api_configs(cugen *lib, const char **out, size_t count);

/* Parses text; whether such a cache exists is not asked. NULL is the default, a file. */
cugen_cache_kind api_cache_parse(const char *text);

/* Of devices that are listed ("all"), those that can be tuned together: of one model, by what is in the list first. *out becomes the list
   of the group with that index, for options.device of a library of its own ("cuda:0,cuda:2"), or NULL behind the last group. It
   lives until the next call. A list that options.device would not take is CUGEN_ERROR_USAGE. */
int api_device_group(cugen *lib, const char *list, size_t index, const char **out, cugen_error *error);

/* The described devices that ship or lie in options.device_dir, oldest first: their names, "model:K40", for options.device.
   Returns how many exist; fills at most count. The strings live until the library is closed. */
size_t api_models(cugen *lib, const char **out, size_t count);
/* The same devices with their facts; "model:K40" is the id. */
size_t api_described_devices(cugen *lib, cugen_device_info *out, size_t count);

/* The best of these records: the one that a plan would take if there were no others. Only those that are right count; where none is,
   or records is NULL, the answer is count. */
size_t api_best_of(const cugen_record *const *records, size_t count);

/* ---- Tuning in detail -------------------------------------------------------------------------------------------- */

/* As api_kernel_tune, whose JSON has these values. */
int api_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options, cugen_tune_result *result,
                    cugen_error *error);

/* As many kernels as api_kernels_tune takes. */
enum { CUGEN_MOST_PROBLEMS = 1000 };

/* Tunes several kernels of one library within one budget, such as one config for several problems: they stay the caller's. None may be
   in use elsewhere meanwhile. Nothing is tuned if one of them cannot be. What is not tuned yet comes first. Each gets a share of half
   of the budget, then one of the rest: an equal one, or by options->weights, which are 0 or more. So each is tried with the best of all others. A right image whose sizes are launch parameters
   serves all from the cache. budget_seconds 0, without a count, is the default for each. budget_count is at least the number of kernels.

   results: count of them, in the order of kernels, or NULL. Errors are those of api_kernel_tune, and name the problem.
   CUGEN_ERROR_EMPTY: no variant serves a problem. CUGEN_ERROR_WRONG: some have no correct variant (in the budget); the others are tuned. An
   error in between ends all; what was measured is kept. */
int api_kernels_tune(cugen_kernel *const *kernels, size_t count, const cugen_tune_options *options,
                     cugen_tune_result *results, cugen_error *error);

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* The records of cugen_kernel_records, one by one. The strings live until the kernel is tuned again. */
size_t api_kernel_records(cugen_kernel *kernel);
int api_kernel_record(cugen_kernel *kernel, size_t index, cugen_record *out, cugen_error *error);

/* ---- Plans ----------------------------------------------------------------------------------- */

/* The record that the plan's variant was chosen by. A default, pinned or portfolio one has only variant, flops, bytes and
   predicted. */
const cugen_record *api_plan_record(const cugen_plan *plan);

/* ---- Importing ------------------------------------------------------------------------------------------------- */

/* What an import did with the records of a file. */
typedef struct cugen_cache_merged {
  size_t records;    /* in the file: the sum of the following */
  size_t added;      /* of variants that had no record */
  size_t better;     /* replace the record of their variant, which is kept as history */
  size_t worse;      /* kept as history themselves */
  size_t known;      /* were in the cache already */
  size_t portfolios; /* in the file; one replaces an earlier one of its kernel, class and device */
} cugen_cache_merged;

/* How far an import is; valid during the callback. */
typedef struct cugen_import_progress {
  size_t read, merged; /* records */
  size_t records;      /* in the file, by its own count; 0: it has none */
} cugen_import_progress;

/* Called from the importing thread; return nonzero to stop. */
typedef int (*cugen_import_callback)(const cugen_import_progress *progress, void *context);

/* As cugen_cache_import; progress may be NULL. */
int api_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                     cugen_cache_merged *out, cugen_error *error);

/* ---- A kernel in detail ---------------------------------------------------------------------------------------- */

/* The problem for a reader: defaults are left out, except numbers and element types. */
const char *api_kernel_problem_short(const cugen_kernel *kernel);
/* The values that a setting of the problem may take, the default first, blanks between them: "f32 f64 f16". "" if any value of the
   default's type is allowed, or nothing has that name. Valid until the next call. */
const char *api_kernel_problem_values(cugen_kernel *kernel, const char *name);
/* The config's problems { }, by index: "M=64,256 N=4096" means all combinations of these values. NULL: there are no more. */
const char *api_kernel_problem_set(const cugen_kernel *kernel, size_t index);
/* The config's policy, which selects a tuned problem for one that was not tuned: "exact", "nearest { distance = 1 }". */
const char *api_kernel_policy(const cugen_kernel *kernel);
/* What a config ranks variants by. */
typedef enum cugen_objective {
  CUGEN_OBJECTIVE_TIME = 0,
  CUGEN_OBJECTIVE_FLOPS,        /* the declared operations in a second */
  CUGEN_OBJECTIVE_BYTES,        /* the declared bytes in a second */
  CUGEN_OBJECTIVE_ENERGY,       /* joules of a run */
  CUGEN_OBJECTIVE_ENERGY_DELAY, /* energy times time */
  CUGEN_OBJECTIVE_EXPRESSION    /* of these; api_kernel_objective_text has it */
} cugen_objective;

/* What variants are ranked by; of NULL: time. */
cugen_objective api_kernel_objective(const cugen_kernel *kernel);
/* Its word in configs and JSON: "time", "flops", "bytes"; never NULL. */
const char *api_objective_name(int objective);
/* The objective as it was given, a word or an expression, such as "energy" or "flops / energy". */
const char *api_kernel_objective_text(const cugen_kernel *kernel);
/* Whether the objective depends on energy, so that records without it come last. */
int api_kernel_needs_energy(const cugen_kernel *kernel);

/* How its variants are timed: "burst" and so on, from cugen_options.measure or the config; NULL: its times are predicted. */
const char *api_kernel_measure(const cugen_kernel *kernel);

/* Replaces the problem's defaults by the config's small check problem; settings given at open stay. api_kernel_tune,
   api_kernels_tune and api_kernel_run take that problem themselves on the cpu device, which is slow, and api_kernel_check always. When
   they return, the kernel's problem is what it was before. So call this first to read the records of such a tune, or to open a
   plan for it. Doing it again changes nothing. On success everything handed out about the old problem is void. */
int api_kernel_use_check(cugen_kernel *kernel, cugen_error *error);
/* Whether the config has a check problem: a check { } of its own, or an implementation's. */
int api_kernel_has_check(const cugen_kernel *kernel);

/* From now on the kernel's records are predictions of the model (docs/model.md) for its device. They are kept apart from
   measurements: a look-up of one never finds the other. For a described device api_kernel_tune does this itself.
   CUGEN_ERROR_USAGE: the cpu device, or a GPU of which too little is known. */
int api_kernel_use_predictions(cugen_kernel *kernel, cugen_error *error);
/* Whether its records are predictions. */
int api_kernel_predicted(const cugen_kernel *kernel);
/* The key of its records, as in cugen_cache_set.device and .options; predictions have another. The strings live with the
   kernel. */
void api_kernel_key(const cugen_kernel *kernel, const char **device, const char **options);

/* The variant of a plan, and why. */
typedef struct cugen_choice {
  cugen_plan_choice how;
  const char *variant;   /* full text */
  const char *tuned_for; /* as in cugen_plan_info */
  const char *tuned_on;  /* likewise */
  int same_model;        /* that is of this GPU's model */
  double distance;
  int predicted;    /* the default is the model's choice, or ships by predictions */
  int by_portfolio; /* it is of a portfolio of predictions that is remembered, for other problems */
  int named;        /* the default is one that the config suggests (try) */
} cugen_choice;

/* What a plan for this kernel would take; nothing is compiled. distance is that of cugen_plan_options. The strings live until
   the next call on the kernel. */
int api_kernel_choose(cugen_kernel *kernel, double distance, cugen_choice *out, cugen_error *error);

/* ---- The space ------------------------------------------------------------------------------------------------- */

/* The sizes of the space. */
typedef struct cugen_space_info {
  uint64_t cartesian; /* combinations of all tunables, of all implementations */
  uint64_t valid;     /* those that satisfy every restriction */
  size_t implementations;
  size_t restrictions; /* entries of api_kernel_restriction */
} cugen_space_info;

/* One implementation's part of the space. */
typedef struct cugen_implementation_info {
  const char *name;
  const char *unavailable; /* NULL, or the requirement that this device does not meet */
  uint64_t cartesian, valid;
} cugen_implementation_info;

/* A restriction is tried as soon as its names are bound. removed counts the combinations that it was the first to rule out:
   cartesian = valid + the sum of removed. Limits, filters and heuristics are listed only if they removed something. */
typedef struct cugen_restriction_info {
  const char *implementation;
  const char *text;
  const char *file; /* of a filter "cugen_filter.where" and its like */
  int line;         /* of a limit that of the launch; of a filter 0 */
  uint64_t removed;
  cugen_restriction_kind kind;
} cugen_restriction_info;

/* From now on the kernel's space holds only what the filter admits: in counts, variants, records, checks, tuning and the best.
   Another filter, or NULL, shows the rest again; nothing remembered changes. The filter is copied. CUGEN_ERROR_USAGE, and
   nothing changes: an unknown name, or a bad pattern. If no variant is left, functions that need one give
   CUGEN_ERROR_EMPTY. */
int api_kernel_filter(cugen_kernel *kernel, const cugen_filter *filter, cugen_error *error);

/* The first call walks the space. index: below the count in cugen_space_info, else CUGEN_ERROR_USAGE. */
int api_kernel_space(cugen_kernel *kernel, cugen_space_info *out, cugen_error *error);
int api_kernel_implementation(cugen_kernel *kernel, size_t index, cugen_implementation_info *out, cugen_error *error);
int api_kernel_restriction(cugen_kernel *kernel, size_t index, cugen_restriction_info *out, cugen_error *error);
/* Why a tunable is told. Nowhere: no expression of the config, no argument and no template mentions
   it, so that each of its values is the same kernel. Misspelt: the config uses it, and no template
   mentions it, while a word is near there. Defined: it is no boolean, and templates ask only whether
   it is defined, which it is for each value. */
typedef enum cugen_unused_reason {
  CUGEN_UNUSED_NOWHERE = 0,
  CUGEN_UNUSED_MISSPELT,
  CUGEN_UNUSED_DEFINED
} cugen_unused_reason;

/* A tunable of two or more values that makes the same kernel several times, as far as texts tell. */
typedef struct cugen_unused_tunable {
  const char *name;
  const char *implementation; /* "": it is one of all implementations */
  const char *file;           /* that declares it */
  int line;
  size_t values;
  char nearest[64];        /* of the words in the template's #if, #ifdef and #ifndef; "": none is near */
  cugen_unused_reason why; /* it is told */
} cugen_unused_tunable;

/* Fills in at most `most`; *count is how many there are. The strings live as long as the kernel. */
int api_kernel_unused(cugen_kernel *kernel, cugen_unused_tunable *out, size_t most, size_t *count,
                      cugen_error *error);
/* The variant's text, such as "tiled tile=16 pad=1"; index < valid. */
int api_kernel_variant(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *error);

/* ---- Sources and launches -------------------------------------------------------------------------------------- */

/* The PTX that NVRTC makes of the variant (a text as for cugen_kernel_source) for the kernel's device, which need not be here.
   *ptx lives until the next call. CUGEN_ERROR_USAGE on the cpu device. */
int api_kernel_ptx(cugen_kernel *kernel, const char *variant, const char **ptx, cugen_error *error);

/* Of the cpu device, whose compiler takes more than NVRTC does: whether NVRTC takes the variant's
   source (a text as for cugen_kernel_source), by its front end alone. CUGEN_ERROR_COMPILE with NVRTC's
   words where it does not. Where there is no NVRTC, and on a GPU, nothing is compiled: CUGEN_OK. */
int api_kernel_accepts(cugen_kernel *kernel, const char *variant, cugen_error *error);

/* One launch of a variant, or several equal ones in a row. */
typedef struct cugen_launch_info {
  const char *entry;              /* the kernel as the source names it: "reduce", "reduce<4>" */
  const char *place;              /* in the template: "reduce.cu:12"; "": not known */
  int line;                       /* of the launch in the config */
  unsigned int grid[3], block[3]; /* blocks of a grid, threads of a block */
  int64_t shared_bytes;           /* dynamic shared memory of a block */
  int carveout;                   /* percent, as in the config; -1: the driver decides */
  int overlap;                    /* it may begin before the launch before it has ended */
  int cooperative;                /* all of its blocks run at once, so that they may wait for each other */
  int listed;                     /* it passes what the config's pass lists, else all arguments */
  const char *passes;             /* its parameters in order, with its own values: "source, ping, n=100" */
  size_t times;                   /* in a row; where a call makes more than 64 launches, in all */
} cugen_launch_info;

/* The launches that one call makes of a variant (a text as for cugen_kernel_source), in order, for the kernel's problem. *name
   (may be NULL) is the variant's full text. The list lives until the next call; the name until that or the next
   cugen_kernel_source. */
int api_kernel_launches(cugen_kernel *kernel, const char *variant, const cugen_launch_info **out, size_t *count,
                        const char **name, cugen_error *error);

/* Whether all is there that the variant (a text as for cugen_kernel_source) and its verification take: its source, reference or
   verify kernel, and what its inputs' data come from. Nothing is compiled. The error names what is missing. */
int api_kernel_complete(cugen_kernel *kernel, const char *variant, cugen_error *error);

/* ---- Running one variant ------------------------------------------------------------------------------------------ */

/* The search strategies by number, from 0 (the default): the name, and in *what (may be NULL) what it does. NULL: there are no
   more. */
const char *api_strategy(size_t index, const char **what);

/* This program is going to tune or run variants: GPUs are looked for by a worker process, with which the first of these goes on, and meanwhile compilers
   start. So CUDA is started once, and not in this process. Without it this process starts CUDA to describe a GPU. To be called before any
   device is asked for. threads: as in cugen_tune_options. */
void api_expect_tuning(cugen *lib, int threads);

/* From now on api_kernel_run calls it while it waits, in its thread: done is 0, planned 1, best NULL; the stage says whether the
   reference is still computed. Nonzero stops the run: CUGEN_ERROR_INTERRUPTED. NULL: none. */
void api_kernel_watch_run(cugen_kernel *kernel, cugen_progress_callback progress, void *context);
/* Verifies and times one variant (as in cugen_kernel_source) now, in an isolated worker; nothing is remembered. */
int api_kernel_run(cugen_kernel *kernel, const char *variant, double timeout, cugen_record *out, cugen_error *error);

/* What kernels on the cpu device printed in the last api_kernel_run (the first launch; all launches if the variant failed) or
   api_kernel_check (the first variant that printed, after its name). Up to 2,040 bytes, made safe for a terminal; "" if
   nothing. It lives until the next run or check. */
const char *api_kernel_printed(const cugen_kernel *kernel);

/* ---- Checking: what is wrong with a variant, without a GPU ----------------------------------------------------- */

/* One defect, in however many variants and runs it shows. */
typedef struct cugen_check_finding {
  cugen_finding_kind kind;
  const char *message; /* a sentence: which thread did what, and where the other thread was */
  const char *file;    /* of the template, as in the source's #line; "": not known */
  int line;
  const char *user_file; /* where an inlined function's code is called from: another file, or the kernel; "" */
  int user_line;
  const char *other_file; /* the other access or barrier; "" */
  int other_line;
  const char *array; /* of shared memory, or the buffer; "" */
  int shared;
  uint32_t block[3], thread[3];             /* of the access */
  uint32_t other_block[3], other_thread[3]; /* of the other access; zero if none */
  const char *variant, *problem;            /* where it was found first */
  size_t variants;                          /* that show it */
  uint64_t count;                           /* how often it happened, in all runs */
  size_t places;                            /* lines, or pairs of lines, of this cause; the first one is described */
  const char *also;                         /* the others, "k.cu:9, k.cu:12"; "" */
  int note;                                 /* no error: what --strict would count, or what is waived */
  const char *waived;                       /* the reason of the config's waive that it is a note by; "" */
} cugen_check_finding;

/* A waive of the config, and how many of the findings are notes by it. */
typedef struct cugen_check_waiver {
  const char *file;
  int line; /* of the config */
  cugen_finding_kind kind;
  const char *at, *reason;
  size_t findings;
} cugen_check_waiver;

/* The memory traffic of a variant with one array of shared memory, or one buffer of global memory, in one launch: on sizes that
   are whole tiles if it ran on such, else on the check problem. */
typedef struct cugen_check_traffic {
  const char *variant, *problem;
  int launch;
  const char *array;
  int shared, write;
  double requests; /* of a warp: its lanes' accesses at one program position */
  double bytes;
  double needed;     /* passes over the banks (shared), or sectors of 32 bytes (global) */
  double ideal;      /* the fewest possible for so many bytes */
  int launches;      /* of the variant: launch is 0 to launches - 1 */
  const char *entry; /* the kernel that it launches */
  double lines;      /* of 128 bytes, of which a request touches one or more sectors; shared memory: 0 */
  double touched;    /* bytes, of each request those that several lanes ask for once; shared memory: 0 */
  int elsewhere;     /* the problem has another type or layout than the check problem */
} cugen_check_traffic;

/* What was not checked. */
typedef struct cugen_check_skip {
  const char *what, *why; /* a variant or an implementation; what it needs that the cpu device lacks */
  int refused;            /* the compiler refused it, or the problem's data and reference were not made in time; 0: by
                             what the config says it is not for this device */
  size_t variants;        /* implementations, where what is one */
} cugen_check_skip;

/* One run: a variant on a problem. */
typedef struct cugen_check_ran {
  const char *variant, *problem;
} cugen_check_ran;

/* A setting of the check problem ("log2n=10") that keeps its value, though a check { } of the config names it, and why no other
   size is made of it. */
typedef struct cugen_check_kept {
  const char *setting, *why;
} cugen_check_kept;

/* A line of a template that accesses memory. */
typedef struct cugen_check_line {
  const char *file;
  int line;
} cugen_check_line;

/* How far a check is; valid during the callback. */
typedef struct cugen_check_progress {
  size_t done, planned; /* runs: of a variant on a problem */
  size_t findings;
} cugen_check_progress;

/* Called some ten times a second from the thread that checks; return nonzero to stop. */
typedef int (*cugen_check_callback)(const cugen_check_progress *progress, void *context);

/* What to check. */
typedef struct cugen_check_options {
  size_t size;
  const char *variant;           /* only this one; a text as for cugen_kernel_source */
  int all;                       /* every variant of the kernel's problem */
  int branches;                  /* few variants that cover every branch of the templates */
  size_t sample;                 /* this many, drawn at random */
  uint64_t seed;                 /* of the sample and of the input data; 0: 1 */
  int threads;                   /* runs at the same time; 0: as many as there are processors */
  double timeout;                /* seconds that one run may take, and the data and reference of one problem; 0: 60 */
  cugen_check_callback progress; /* NULL: none */
  void *context;                 /* for progress */
  int strict;                    /* notes are findings, too */
  int no_traffic;                /* findings alone: fewer compiles and runs */
} cugen_check_options;

#define CUGEN_CHECK_OPTIONS_INIT                                                                                     \
  { sizeof(cugen_check_options), NULL, 0, 0, 0, 0, 0, 0.0, NULL, NULL, 0, 0 }

/* What a check found. Everything in it lives until the kernel is checked again or closed. */
typedef struct cugen_check {
  const cugen_check_finding *findings; /* likely causes first, then by file and line; notes last */
  size_t finding_count, note_count;
  const cugen_check_traffic *traffic;
  size_t traffic_count;
  const cugen_check_skip *skips;
  size_t skip_count;
  const cugen_check_ran *ran;       /* in the order in which they ended */
  size_t variants, problems, runs;  /* that were checked */
  uint64_t variants_of;             /* there are for the check problem */
  size_t variants_elsewhere;        /* of variants: only other problems have them (a size, type, layout) */
  size_t runs_done, runs_planned;   /* done: also those that ended as a skip; fewer than planned: interrupted */
  const char *const *problem_texts; /* of the problems: the check problem first, then those made of it */
  const cugen_check_kept *kept;
  size_t kept_count;
  /* What was not seen. Lines of the templates that access memory, how many of them ran in any run, and those that did not; other
     memory that was used, in words. Lines are known on x86-64 and aarch64, with addr2line. */
  size_t lines, lines_reached;
  const cugen_check_line *unreached;
  const char *const *unwatched;
  size_t unwatched_count;
  int elsewhere; /* there are findings, all on other sizes, types or layouts than those of the config's check { } */
  int compared;  /* results were compared; 0: the config has reference "none" */
  int has_check; /* the config has a check { }; 0: what was checked is its own problem, and no other size */
  const cugen_check_waiver *waivers;
  size_t waiver_count, waived_count; /* of the config; findings that are notes by one of them */
} cugen_check;

/* Runs variants on the cpu device with every access to memory watched, in processes of their own, and compares the results with
   the reference. What was set at cugen_kernel_open stays. Which variants:
   - by default, for each implementation enough to show every value of every tunable, on the check problem and sizes around
     it. Some have every other value of what the problem has a list of (types, layouts);
   - with branches, enough that each line of the templates that a large sample contains, or lacks, is in one of them, or
     missing in one. They run on sizes, types and layouts of all kinds;
   - with variant, all or sample: those, on the check problem and the sizes around it.

   After an error *out has what was found before it:
   - CUGEN_ERROR_WRONG: there are findings. CUGEN_ERROR_INTERRUPTED: the callback asked to stop.
   - CUGEN_ERROR_COMPILE: no finding, but something in out->skips was `refused`. Other skips are no error.
   - CUGEN_ERROR_EMPTY: nothing was checked; out->skips and the message say why. CUGEN_ERROR_MISSING: no C++ compiler.
   - The status of what ended variants that could not be tried: a template that does not expand, data that cannot be made,
     an expression of the config that fails on its check problem. */
int api_kernel_check(cugen_kernel *kernel, const cugen_check_options *options, cugen_check *out, cugen_error *error);

/* ---- Explaining: ceilings and occupancy ------------------------------------------------------------------------ */

/* The rates that bound a kernel on its GPU; 0: not known. The cpu device has none. A peak is what all multiprocessors do in a clock,
   at the highest clock, and the memory's rate as described or by its clock and width. A data sheet's figure may count a lower clock. */
typedef struct cugen_ceilings {
  const char *dtype;                /* what the kernel computes in: the config's products ("bf16", "tf32"),
                                        else its first output's type */
  double flops, flops_peak;         /* FLOP/s of fused multiply-adds of that type, without tensor cores */
  double tensor_flops_peak;         /* of the tensor cores, dense, if the config says products; 0: none */
  double bandwidth, bandwidth_peak; /* bytes/s of device memory, read and written together */
  int64_t flops_at, bandwidth_at;   /* when they were measured; seconds since the epoch */
} cugen_ceilings;

/* The measured rates are the best remembered on that device of two shipped configs: peak_copy, and peak_fma with that dtype.
   api_kernel_tune measures them like any other. */
int api_kernel_ceilings(cugen_kernel *kernel, cugen_ceilings *out, cugen_error *error);
/* FLOP/s of the tensor cores of the kernel's device, dense, at its highest clock, for products of that type: a dtype, "tf32" or
   "fp8"; 0: none, or not known. */
double api_kernel_tensor_flops(const cugen_kernel *kernel, const char *type);

/* What a kernel uses of a multiprocessor. */
typedef struct cugen_resources {
  int registers;        /* a thread */
  int threads;          /* a block */
  int64_t shared_bytes; /* a block, static and dynamic */
  const char
      *dynamic_shared; /* NULL, or more: dynamic bytes a block, in the config's language, that may depend on `block`,
                                 its threads: "4 * block" */
  int has_carveout;    /* 0: the driver decides how L1 and shared memory share */
  int carveout;        /* else the part that shared memory should have, in percent */
} cugen_resources;

/* What a variant (a text as for cugen_kernel_source) takes, as compiled now for the kernel's device, which need not be here: of
   several launches the one whose block has the most registers. CUGEN_ERROR_USAGE on the cpu device. */
int api_kernel_resources(cugen_kernel *kernel, const char *variant, cugen_resources *out, cugen_error *error);

/* How many of its blocks a multiprocessor holds, by NVIDIA's occupancy calculator (cuda_occupancy.h). */
typedef struct cugen_occupancy {
  char device[128];     /* its name */
  char arch[16];        /* "sm_90a" */
  int blocks;           /* resident on one multiprocessor */
  int max_threads;      /* that one multiprocessor holds */
  double fraction;      /* of them, in use */
  const char *limiter;  /* "threads", "blocks", "registers", "shared memory"; "none": it fits nowhere */
  int warps;            /* of a block */
  int idle_lanes;       /* of them, in the last warp: a block that is no multiple of a warp */
  int64_t shared_bytes; /* of a block, with what dynamic_shared says */
  int best_threads;     /* the block size with the highest occupancy, the rest unchanged; 0: none fits */
  int64_t best_shared_bytes;
  double best_fraction; /* its occupancy */
} cugen_occupancy;

/* Occupancy on any known device, here or described. device: as in cugen_options; NULL: lib's own. CUGEN_ERROR_USAGE: no such
   device, the cpu device, or resources that no kernel can have. */
int api_device_occupancy(cugen *lib, const char *device, const cugen_resources *resources, cugen_occupancy *out,
                         cugen_error *error);

/* ---- Transfers: how fast data moves between host and device ---------------------------------------------------- */

/* One kind of host memory, one direction, one size. */
typedef struct cugen_transfer_row {
  const char *memory; /* "pageable" and so on, see cugen_transfer_options */
  const char
      *unavailable; /* NULL, or why the kind could not be measured; then the rest is 0, in one row for the kind */
  int to_host;      /* 0: from the host to the device */
  int64_t size;     /* as asked for, in bytes */
  int64_t bytes;    /* that one transfer moves: the size, or its whole rows */
  double alone;     /* seconds of one transfer, from its call to its end as the host sees it; median */
  double seconds;   /* of one among many in a row; for managed and prefetch the same as alone; median */
  double seconds_min, seconds_p20, seconds_p80;
  int samples;
} cugen_transfer_row;

/* How far measuring is; valid during the callback. */
typedef struct cugen_transfer_progress {
  size_t done, planned;           /* rows; kinds that are unavailable count as one */
  const cugen_transfer_row *last; /* the row just measured */
} cugen_transfer_progress;

/* Called from the thread that measures, after each row; return nonzero to stop. */
typedef int (*cugen_transfer_callback)(const cugen_transfer_progress *progress, void *context);

/* What to measure. The kinds of host memory, and what moves the data:
   - pageable: from malloc, copied by the driver through pinned memory of its own
   - registered: from malloc, page-locked afterwards (cuMemHostRegister, portable: for all contexts)
   - pinned: page-locked (cuMemHostAlloc, portable), read and written by the device's copy engine
   - combined: pinned and write-combined; it bypasses the processor's caches; reading it is slow
   - pitched: pinned, 2-D: packed rows of 255 floats to and from rows in pitched device memory, 1024 bytes apart where the
     driver aligns them to 512
   - pitched3d: the same in 3-D: packed slices of 15 rows to and from slices of 16 rows
   - default: pinned, and the driver finds the direction from the addresses (unified addressing, cudaMemcpyDefault)
   - mapped: zero-copy (cuMemHostAlloc, device map): a kernel reads, or writes, the host's memory in place
   - managed: a kernel, or the host, touches pages that are on the other side
   - prefetch: managed; the pages are prefetched */
typedef struct cugen_transfer_options {
  size_t size;
  const char *memory;   /* "pinned, mapped": only these; NULL: all */
  const int64_t *sizes; /* bytes, each 1 or more; NULL: 4 KiB to 1 GiB in powers of four */
  size_t size_count;
  double seconds;                   /* to spend on a row, about; 0: 0.1 */
  cugen_transfer_callback progress; /* NULL: none */
  void *context;                    /* for progress */
} cugen_transfer_options;

#define CUGEN_TRANSFER_OPTIONS_INIT                                                                                  \
  { sizeof(cugen_transfer_options), NULL, NULL, 0, 0.0, NULL, NULL }

/* What was measured. Everything in it lives until the next api_transfer_measure, or until the library is closed. */
typedef struct cugen_transfer {
  const cugen_device_info *device;
  const cugen_transfer_row *rows; /* by kind, then to the device and to the host, then by size */
  size_t count;
} cugen_transfer;

/* Measures on the GPU of options.device, by default the first one, in its primary context and the calling thread, and verifies
   that what was sent arrives. Takes as much memory on host and device as the largest size. Buffers are reused, so small ones
   come out of the processor's caches. CUGEN_ERROR_MISSING, CUGEN_ERROR_DEVICE: no GPU. CUGEN_ERROR_USAGE: an unknown kind, a
   bad size, or the cpu device. CUGEN_ERROR_WRONG: something else arrived. CUGEN_ERROR_INTERRUPTED: the callback asked to stop;
   *out has what was measured before. */
int api_transfer_measure(cugen *lib, const cugen_transfer_options *options, cugen_transfer *out, cugen_error *error);

/* ---- The cache: what is remembered, of every kernel ------------------------------------------------------------ */

/* Which records are meant; NULL or 0 means any. */
typedef struct cugen_cache_filter {
  size_t size;
  const char *config;  /* a kernel's name, or a config as for cugen_kernel_open, whose kernel is meant */
  const char *problem; /* "M=4096 dtype=f32": problems with these values */
  const char *device;  /* "cuda:0", "model:H200" (its predictions), or part of a device's text ("H200", "cpu") */
  int64_t before;      /* for api_cache_remove: measured before that; seconds since the epoch */
  int failed;          /* for api_cache_remove: only those that failed */
  const char *measure; /* "cold": what was timed so (cugen_options.measure); "served": by plans that explored */
} cugen_cache_filter;

#define CUGEN_CACHE_FILTER_INIT                                                                                      \
  { sizeof(cugen_cache_filter), NULL, NULL, NULL, 0, 0, NULL }

/* The records of one kernel for one problem on one device with one set of options. */
typedef struct cugen_cache_set {
  const char *config, *problem, *device, *options;
  const char *arch;    /* of options: "sm_90a", "cpu"; NULL: they are those of predictions */
  const char *measure; /* of options: how it was timed, "burst" or "served"; NULL: likewise */
  size_t records;      /* variants measured or failed */
  size_t failed;       /* of them */
  size_t history;      /* earlier records of the same variants */
  const char *best;    /* as api_best_of, of stale ones, too; the fastest without the config; "": none is right */
  double seconds;      /* its time */
  double flops, bytes; /* of the problem; 0: not declared */
  int64_t measured_at; /* the latest; seconds since the epoch */
} cugen_cache_set;

/* How much exists, or was removed. */
typedef struct cugen_cache_counts {
  size_t sets, records, history;
  size_t images; /* compiled kernels */
  int64_t image_bytes;
  size_t foreign_images; /* api_cache_verify: images not used, since another user, or an unknown one, compiled them */
  size_t portfolios;     /* few variants for many sizes */
} cugen_cache_counts;

/* *out lives until the next call. filter (may be NULL: all): its first three. A missing database is not created. */
int api_cache_list(cugen *lib, const cugen_cache_filter *filter, const cugen_cache_set **out, size_t *count,
                   cugen_error *error);

/* Removes the records and portfolios meant, and each image that no remaining record can want, in short transactions: other processes go on
   reading and storing. A failure may come after some are removed; *out counts them. If filter->config is a config and not a
   kernel's name, only records from that file are removed, and those of no known file (such as imported ones). The file need
   not exist any more. A kernel of that name in another file keeps its own. really 0: only counts. CUGEN_ERROR_IO: the cache
   is read-only. */
int api_cache_remove(cugen *lib, const cugen_cache_filter *filter, int really, cugen_cache_counts *out,
                     cugen_error *error);

/* Checks the file, the tables, every record and every image, and counts them. CUGEN_ERROR_CACHE: something is wrong; *wrong (may
   be NULL) then has a line for each defect, and lives until the next call. Without a defect it has a line for each foreign
   image, or is NULL. CUGEN_ERROR_MISSING: there is no database. */
int api_cache_verify(cugen *lib, cugen_cache_counts *out, const char **wrong, cugen_error *error);

/* How far an export is; valid during the callback. */
typedef struct cugen_export_progress {
  size_t written, records; /* records so far; in all */
  const char *text;        /* written since the last call: whole lines, without a terminating zero */
  size_t length;           /* its bytes */
  size_t left_out; /* records that are damaged and therefore not written: api_cache_verify says which, and why */
} cugen_export_progress;
/* Called for each piece of some 64 KB, from the exporting thread; it must not use lib. Return nonzero to stop. */
typedef int (*cugen_export_callback)(const cugen_export_progress *progress, void *context);

/* Writes wisdom, which api_cache_import reads: the records that the filter's first three mean (NULL: all), without history, and the
   portfolios, as text, one line each (docs/cache.md). The file at path is replaced only when the new one is complete, and stays if progress
   stops the export (CUGEN_ERROR_INTERRUPTED). path NULL: no file, progress takes the text. progress may be NULL. *records is how
   many were written. Memory does not grow with the records. */
int api_cache_export(cugen *lib, const cugen_cache_filter *filter, const char *path, cugen_export_callback progress,
                     void *context, size_t *records, cugen_error *error);

/* A record, and whether it belongs to the kernel as it is now. */
typedef struct cugen_stored_record {
  cugen_record record;
  int current;    /* its variant's kernel is still the one that was measured; if not superseded, a look-up takes it */
  int superseded; /* history: a later record of the variant has replaced it */
  int64_t measured_at; /* seconds since the epoch */
  int driver_version, nvrtc_version;
} cugen_stored_record;

/* All records in the cache for this kernel, problem, device and options, current or not: correct ones by time, then failed ones,
   then, with history, superseded ones, the latest first. *out lives until the next call. */
int api_kernel_stored(cugen_kernel *kernel, int history, const cugen_stored_record **out, size_t *count,
                      cugen_error *error);

/* How a wanted value compares with the remembered one. */
typedef enum cugen_why_state {
  CUGEN_WHY_SAME,
  CUGEN_WHY_DIFFERS,
  CUGEN_WHY_UNKNOWN /* the record does not say */
} cugen_why_state;

/* One thing that a look-up compares. */
typedef struct cugen_why_row {
  const char *field;          /* "device", "options", "M", "variant", "source", "launches", "arguments", ... */
  const char *wanted, *found; /* what the kernel has now, and what the record has */
  cugen_why_state state;
  int decides; /* 0: reported, but no look-up depends on it */
} cugen_why_row;

/* A record that the look-up found, or nearly found. */
typedef struct cugen_why_match {
  const char *variant;
  const char *verdict; /* why it is or is not taken, in a sentence */
  cugen_outcome outcome;
  int predicted; /* nothing was measured */
  double seconds;
  int64_t measured_at; /* seconds since the epoch */
  const cugen_why_row *rows;
  size_t row_count;
} cugen_why_match;

/* What a look-up found, and why. */
typedef struct cugen_why {
  int hit;                        /* the look-up takes the first match */
  const char *verdict;            /* a sentence or two */
  const char *advice;             /* what to do about a miss; "" */
  int tune;                       /* the advice is to tune this kernel */
  const cugen_why_match *matches; /* the record that is taken; after a miss up to three that are nearest */
  size_t match_count;
} cugen_why;

/* Explains what a look-up of this kernel finds, field by field. variant: the record of that one (a text as for
   cugen_kernel_source); NULL: the best. A miss is no error. Everything in *out lives until the next call. */
int api_kernel_why(cugen_kernel *kernel, const char *variant, cugen_why *out, cugen_error *error);

/* ---- Portfolios: few variants for many sizes --------------------------------------------------------------------- */

/* One variant of a portfolio. mean and worst: what its problems lose by it, as factors of their time (cost). stale and invalid are of
   api_kernel_portfolios. */
typedef struct cugen_portfolio_variant {
  const char *variant; /* full text */
  size_t serves;       /* of the problems that it was learnt from */
  double mean, worst;  /* geometric mean, largest; 0: not known */
  int stale;           /* its source is not the one that was measured: it serves nothing */
  int invalid;         /* it is no variant for the kernel's problem */
  const char *time;    /* an expression over sizes, in microseconds where the objective is time; NULL: it has none */
} cugen_portfolio_variant;

/* One problem that a portfolio was learnt from, and what serves it. */
typedef struct cugen_portfolio_problem {
  const char *problem;
  size_t variant;   /* index of variants; variant_count: none serves it */
  double seconds;   /* with that variant; 0: not known, as it was not measured there */
  const char *best; /* its own best variant */
  double best_seconds;
  double loss, held_out_loss; /* what it loses, as a factor; held out: were it not learnt from. 0: not known */
} cugen_portfolio_problem;

/* Few variants that serve all sizes of a kernel's problem, and a rule that says which serves which (docs/tuning.md). It is of a class:
   values of the problem that are no whole numbers are equal in all its problems. The rule is an expression over sizes, such as
   "select(M * N <= 4096, 0, least)", whose value is an index of variants; least is the variant whose time is least. Where that variant is
   not valid, the one of the least time that is serves, and without times the first. */
typedef struct cugen_portfolio {
  const char *config, *problem_class, *device, *options, *objective;
  const char *rule;
  const cugen_portfolio_variant *variants;
  size_t variant_count;
  size_t problems;                        /* that it was learnt from */
  double mean, worst;                     /* what they lose, as factors; 0: not known */
  double held_out_mean, held_out_worst;   /* what other sizes are to expect, by cross-validation */
  int64_t learnt_at;                      /* seconds since the epoch */
  const cugen_portfolio_problem *problem; /* api_kernels_learn: each of them; else NULL */
  size_t unserved;                        /* likewise: problems that no variant is remembered to be right for */
  /* What the rule names does not serve where its time is so many times another's; 0: it always does. */
  double doubted;
  /* Compiled kernels that the variants are: those of one differ in what is passed at launch, or in the grid. 0: not known. */
  size_t kernels;
  size_t missed;          /* problems that no variant of it serves: the losses leave them out */
  size_t held_out_missed; /* api_kernels_learn: problems that nothing learnt from the others serves; else 0 */
} cugen_portfolio;

/* How to learn. */
typedef struct cugen_learn_options {
  size_t size;
  size_t most;    /* kernels, 1 to 64; 0: 8 */
  int remembered; /* from all problems that are remembered on the device and agree with the first kernel's settings */
  int dry;        /* remember nothing */
} cugen_learn_options;

#define CUGEN_LEARN_OPTIONS_INIT                                                                                     \
  { sizeof(cugen_learn_options), 0, 0, 0 }

/* Learns a portfolio for each class of the kernels' problems from what is remembered of them, and remembers it in place of an earlier one.
   Nothing is measured and the device need not be here; cugen_tune_options.portfolio measures what it needs. The kernels are of one config
   and library. *out has an element for each class, but for those of which no correct record is current (api_kernel_unlearnt), and lives
   until the next call on the first kernel. Where that has a filter (api_kernel_filter), records of other variants are left out.
   CUGEN_ERROR_USAGE: no problem, or not one has a correct variant. */
int api_kernels_learn(cugen_kernel *const *kernels, size_t count, const cugen_learn_options *options,
                      const cugen_portfolio **out, size_t *portfolios, cugen_error *error);

/* The classes of which the last api_kernels_learn, whose first kernel this was, learnt nothing. Each has a line that says why: "NAME
   dtype=i32: its 2 correct records are stale". NULL: there is none. */
const char *api_kernel_unlearnt(const cugen_kernel *kernel);

/* The portfolios that a plan for the kernel asks, in that order: of its class, device and options. *out lives until the next call. */
int api_kernel_portfolios(cugen_kernel *kernel, const cugen_portfolio **out, size_t *count, cugen_error *error);

/* All that the filter's first three mean (NULL: all); its problem is compared with the class. *out lives until the next call. */
int api_cache_portfolios(cugen *lib, const cugen_cache_filter *filter, const cugen_portfolio **out, size_t *count,
                         cugen_error *error);

/* ---- Input: what a user names to be read ------------------------------------------------------------------------- */

/* A regular file, a pipe of the shell's, or "-", the standard input: by line or whole. A handle is
   for one thread at a time. */
typedef struct cugen_input cugen_input;

/* How much is read of it, and who may end a wait. */
typedef struct cugen_input_options {
  size_t size;
  size_t most;              /* bytes that are read; 0: any number */
  size_t most_line;         /* bytes of a line; 0: 1 MiB */
  cugen_stop_callback stop; /* asked before each read, and ten times a second in a wait */
  void *context;
} cugen_input_options;

#define CUGEN_INPUT_OPTIONS_INIT                                                                                     \
  { sizeof(cugen_input_options), 0, 0, NULL, NULL }

/* CUGEN_ERROR_MISSING: there is no such file. CUGEN_ERROR_IO: it cannot be read, is a folder, a
   device or a named pipe, or has too many bytes, which reading may find out, too. */
int api_input_open(const char *path, const cugen_input_options *options, cugen_input **out, cugen_error *error);
void api_input_close(cugen_input *input);
/* The next line, without its end and valid until the next call; *line NULL: there is none. *whole:
   0 where the input ended within it. */
int api_input_line(cugen_input *input, const char **line, size_t *length, int *whole, cugen_error *error);
/* All that is left, with a zero behind it, valid until the input is closed. */
int api_input_rest(cugen_input *input, const char **text, size_t *length, cugen_error *error);

/* ---- Output: a file that is whole or as it was -------------------------------------------------------------------- */

/* What is written beside the file and takes its name at the end. A device or a pipe, also behind a
   link (/dev/stdout), is written to as it is. Any other link is refused: a stranger may have put it
   there. */
typedef struct cugen_output cugen_output;

/* CUGEN_ERROR_IO: it cannot be written. */
int api_output_open(const char *path, cugen_output **out, cugen_error *error);
int api_output_add(cugen_output *output, const void *data, size_t length, cugen_error *error);
/* keep 0: the file stays as it was. Of NULL nothing is done. CUGEN_ERROR_IO: it could not be
   written, and is as it was. */
int api_output_close(cugen_output *output, int keep, cugen_error *error);

/* ---- Bundles: tuned variants as plain C ----------------------------------------------------------------------- */

/* What to export. */
typedef struct cugen_export_options {
  size_t size;
  const char *devices; /* "H200, sm_80": parts of remembered devices' names, or architectures; NULL: all remembered */
  const char *problems; /* "M=1024 N=1024; M=4096": only these; NULL: all remembered that agree with the settings */
  double distance;      /* as in cugen_plan_options: 0: the config's policy */
  int ptx;              /* also PTX, which the driver of other devices compiles */
  int force;            /* write into a folder that holds other files; they stay */
  int portfolio;        /* only the variants of portfolios and their rules: few kernels for all sizes */
  const char *variant;  /* only this one, measured or not: "tiled tile=16"; NULL: those that a plan would take */
} cugen_export_options;

#define CUGEN_EXPORT_OPTIONS_INIT                                                                                    \
  { sizeof(cugen_export_options), NULL, NULL, 0.0, 0, 0, 0, NULL }

/* What was exported. The strings live until the kernel is closed or exports again. */
typedef struct cugen_export_result {
  const char *name; /* prefix of the bundle's functions and files */
  size_t devices;   /* that it has code for, PTX included */
  size_t problems;  /* tuned ones, each device's counted */
  size_t variants;  /* each device's */
  size_t images;    /* cubins and PTX; equal ones are one */
  size_t compiled;  /* images compiled now; the rest came from the cache */
  size_t stale;     /* records that were not used, since their source has changed */
  int64_t image_bytes, source_bytes;
  const char *notes; /* lines: what was left out or replaced, and why; "" */
  size_t portfolios; /* each device's and class's */
} cugen_export_result;

/* Writes a bundle into the folder: NAME.h, NAME.c, README.md, CMakeLists.txt and an example. At run time it needs only the
   driver. It takes the variants that cugen_plan_open would take now. Equal input gives equal bytes. The folder is created (its parent
   must exist), or holds an earlier bundle of this kernel, which is replaced as a whole; anything else in it is
   CUGEN_ERROR_USAGE without force. Nothing is measured; images that the cache lacks are compiled, which needs no GPU. */
int api_kernel_export(cugen_kernel *kernel, const cugen_export_options *options, const char *folder,
                      cugen_export_result *result, cugen_error *error);

#endif
