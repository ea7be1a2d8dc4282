/* Functions for the command line beyond the public cugen.h: the space of variants, checks, ceilings
   and occupancy, transfer rates, the whole cache, bundles of plain C. The rules at the head of
   cugen.h hold for errors, ownership and threads. */
#ifndef API_TOOLS_H
#define API_TOOLS_H

#include "base/results.h"
#include "cugen.h"

/* Makes text of unknown origin safe for a terminal or a page: control characters except line ends
   and tabs, and characters that change the direction of writing, become \u001b; bytes that are not
   UTF-8 become \x9b. Error messages are safe already; names, variants and origins in records are
   not. Returns the length of the whole safe text; `out` gets as much of it as fits into `size`
   bytes, terminated (6 * length + 1 bytes always suffice). Returns 0 also if memory runs out. */
size_t api_clean_text(const char *text, size_t length, char *out, size_t size);

/* Returns the name of which `name` may be a misspelling; NULL: none is near. */
const char *api_nearest(const char *name, const char *const *names, size_t count);

/* The configs that ship with cugen, such as "matmul.lua". Returns how many exist; fills at most
   count. The strings live as long as the program. */
size_t api_configs(cugen *lib, const char **out, size_t count);

/* The lines of cugen_where, in their order. */
enum api_place {
  API_PLACE_DRIVER,
  API_PLACE_NVRTC,
  API_PLACE_NVRTC_VERSION,
  API_PLACE_HEADERS,
  API_PLACE_COMPILER,
  API_PLACE_CACHE,
  API_PLACE_WARNING,   /* why the cache cannot be written */
  API_PLACE_CLOCK,     /* what is wrong with this machine's clock */
  API_PLACE_IMAGE_KEY, /* why images are not kept */
  API_PLACE_CAPTURE,
  API_PLACE_WORKER,
  API_PLACES
};
/* Returns what cugen_where says in that line; "": the line is left out. Valid until the next call
   of either function. */
const char *api_where(cugen *lib, enum api_place place);

/* Parses the text of options.cache. Whether such a cache exists is not checked. NULL is the
   default, a file. */
cugen_cache_kind api_cache_parse(const char *text);

/* Splits listed devices ("all") into groups that can be tuned together, because they are of one
   model. The groups have the order of their first devices. *out becomes the list of the group with
   that index, for options.device of a separate library ("cuda:0,cuda:2"), or NULL behind the last
   group. It lives until the next call. A list that options.device would refuse is
   CUGEN_ERROR_USAGE. */
int api_device_group(cugen *lib, const char *list, size_t index, const char **out,
                     cugen_error *error);

/* Lists the described devices, shipped or in options.device_dir, oldest first, by their names for
   options.device, such as "model:K40". Returns how many exist; fills at most count. The strings
   live until the library is closed. */
size_t api_models(cugen *lib, const char **out, size_t count);
/* Lists the described devices with their facts; the id is "model:K40". */
size_t api_described_devices(cugen *lib, cugen_device_info *out, size_t count);

/* Returns the index of the best of these records: the one that a plan would take if there were no
   others. Only correct records count; returns count if there is none, or if records is NULL. */
size_t api_best_of(const cugen_record *const *records, size_t count);

/* ---- Tuning in detail ----------------------------------------------------------------------- */

/* Tunes like cugen_kernel_tune, and returns the values that are in its JSON. */
int api_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options,
                    cugen_tune_result *result, cugen_error *error);

/* The largest number of kernels for api_kernels_tune. */
enum { CUGEN_MOST_PROBLEMS = 1000 };

/* Tunes several kernels of one library within one budget, such as one config for several problems.
   The kernels stay the caller's and must not be used elsewhere meanwhile. Nothing is tuned if one
   of the kernels cannot be. Kernels that were not tuned yet come first. Each kernel gets a share of
   half of the budget, and then one of the rest: equal shares, or shares by options->weights, which
   are 0 or more. So each kernel is tried with the best variants of all others. A correct image
   whose sizes are launch parameters serves all kernels from the cache. budget_seconds 0, without a
   count, is the default for each kernel. budget_count is at least the number of kernels. results:
   `count` results in the order of kernels, or NULL.

   Errors are those of api_kernel_tune, and name the problem. CUGEN_ERROR_EMPTY: no variant serves a
   problem. CUGEN_ERROR_WRONG: some kernels have no correct variant (in the budget); the others are
   tuned. Any other error ends the run; the measurements before it are kept. */
int api_kernels_tune(cugen_kernel *const *kernels, size_t count, const cugen_tune_options *options,
                     cugen_tune_result *results, cugen_error *error);

/* ---- Records -------------------------------------------------------------------------------- */

/* The records of cugen_kernel_records one by one. The strings live until the kernel is tuned
   again. */
size_t api_kernel_records(cugen_kernel *kernel);
int api_kernel_record(cugen_kernel *kernel, size_t index, cugen_record *out, cugen_error *error);

/* ---- Plans ---------------------------------------------------------------------------------- */

/* The record by which the plan's variant was chosen. A default, pinned or portfolio choice sets
   only variant, flops, bytes and predicted. */
const cugen_record *api_plan_record(const cugen_plan *plan);

/* ---- Importing ------------------------------------------------------------------------------ */

/* The counts of an import. */
typedef struct cugen_cache_merged {
  size_t records;    /* records in the file: the sum of the next four */
  size_t added;      /* records of variants that had none */
  size_t better;     /* records that replaced the record of their variant, which is kept as
                        history */
  size_t worse;      /* records that are kept as history themselves */
  size_t known;      /* records that the cache had already */
  size_t portfolios; /* portfolios in the file; each replaces an earlier one of its kernel, class
                        and device */
} cugen_cache_merged;

/* The progress of an import; valid during the callback. */
typedef struct cugen_import_progress {
  size_t read, merged; /* records read and merged so far */
  size_t records;      /* records in the file, as it says itself; 0: it does not say */
} cugen_import_progress;

/* Called from the importing thread; return nonzero to stop. */
typedef int (*cugen_import_callback)(const cugen_import_progress *progress, void *context);

/* Imports like cugen_cache_import; progress may be NULL. */
int api_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                     cugen_cache_merged *out, cugen_error *error);

/* ---- A kernel in detail --------------------------------------------------------------------- */

/* The problem for a reader: defaults are left out unless they are numbers or element types. */
const char *api_kernel_problem_short(const cugen_kernel *kernel);
/* The values that a setting of the problem may have, separated by blanks, the default first: "f32
   f64 f16". "" if any value of the default's type is allowed, or no parameter has that name. Valid
   until the next call. */
const char *api_kernel_problem_values(cugen_kernel *kernel, const char *name);
/* The config's problems { } by index: "M=64,256 N=4096" means all combinations of the values. NULL:
   there are no more. */
const char *api_kernel_problem_set(const cugen_kernel *kernel, size_t index);
/* The config's policy, which selects the tuned problem that serves a problem that was not tuned:
   "exact", "nearest { distance = 1 }". */
const char *api_kernel_policy(const cugen_kernel *kernel);
/* Returns whether the policy is to use the portfolio that was learnt. */
int api_kernel_takes_portfolio(const cugen_kernel *kernel);
/* What a config ranks variants by. */
typedef enum cugen_objective {
  CUGEN_OBJECTIVE_TIME = 0,
  CUGEN_OBJECTIVE_FLOPS,        /* declared operations per second */
  CUGEN_OBJECTIVE_BYTES,        /* declared bytes per second */
  CUGEN_OBJECTIVE_ENERGY,       /* joules per run */
  CUGEN_OBJECTIVE_ENERGY_DELAY, /* energy multiplied by time */
  CUGEN_OBJECTIVE_EXPRESSION    /* an expression of the others; api_kernel_objective_text returns
                                   it */
} cugen_objective;

/* The objective by which variants are ranked; for NULL: time. */
cugen_objective api_kernel_objective(const cugen_kernel *kernel);
/* The word for an objective in configs and JSON: "time", "flops", "bytes"; never NULL. */
const char *api_objective_name(int objective);
/* The objective as the user gave it, a word or an expression, such as "energy" or "flops /
   energy". */
const char *api_kernel_objective_text(const cugen_kernel *kernel);
/* Returns whether the objective depends on energy, so that records without an energy come last. */
int api_kernel_needs_energy(const cugen_kernel *kernel);

/* How the kernel's variants are timed: "burst" and so on, from cugen_options.measure or the config;
   NULL: the times are predicted. */
const char *api_kernel_measure(const cugen_kernel *kernel);

/* Replaces the problem's defaults by the values of the config's small check problem; settings given
   at open stay. On the cpu device, which is slow, api_kernel_tune, api_kernels_tune and
   api_kernel_run use that problem themselves, and api_kernel_check always does; when they return,
   the kernel's problem is the one from before. So call this function first to read the records of
   such a tune, or to open a plan for it. A second call changes nothing. After success everything
   handed out about the old problem is invalid. */
int api_kernel_use_check(cugen_kernel *kernel, cugen_error *error);
/* Returns whether the config, or one of its implementations, has a check { }. */
int api_kernel_has_check(const cugen_kernel *kernel);

/* Makes the kernel's records predictions of the model (docs/model.md) for its device from now on.
   Predictions are kept apart from measurements: a look-up of one kind never finds the other. For a
   described device api_kernel_tune calls this function itself. CUGEN_ERROR_USAGE: the device is the
   cpu device, or a GPU of which too little is known. */
int api_kernel_use_predictions(cugen_kernel *kernel, cugen_error *error);
/* Returns whether api_kernel_use_predictions would succeed. */
int api_kernel_predictable(cugen_kernel *kernel);
/* Returns whether the kernel's records are predictions. */
int api_kernel_predicted(const cugen_kernel *kernel);
/* The key of the kernel's records, as in cugen_cache_set.device and .options; predictions have
   another key. The strings live as long as the kernel. */
void api_kernel_key(const cugen_kernel *kernel, const char **device, const char **options);

/* The variant that a plan would use, and the reason. */
typedef struct cugen_choice {
  cugen_plan_choice how;
  const char *variant;   /* full text of the variant */
  const char *tuned_for; /* as in cugen_plan_info */
  const char *tuned_on;  /* as in cugen_plan_info */
  int same_model;        /* tuned_on is a GPU of this GPU's model */
  double distance;
  int predicted;    /* the default was chosen by the model, or from a portfolio that ships and was
                       predicted */
  int by_portfolio; /* the default is from a remembered portfolio that was learnt from predictions
                       of other problems */
  int named;        /* the default is a `try` of the config */
} cugen_choice;

/* Chooses the variant that a plan for this kernel would take; nothing is compiled. distance is that
   of cugen_plan_options. The strings live until the next call on the kernel. */
int api_kernel_choose(cugen_kernel *kernel, double distance, cugen_choice *out, cugen_error *error);

/* ---- The space ------------------------------------------------------------------------------ */

/* The sizes of the space. */
typedef struct cugen_space_info {
  uint64_t cartesian; /* combinations of all tunables, over all implementations */
  uint64_t valid;     /* combinations that satisfy every restriction */
  size_t implementations;
  size_t restrictions; /* number of entries of api_kernel_restriction */
} cugen_space_info;

/* One implementation's part of the space. */
typedef struct cugen_implementation_info {
  const char *name;
  const char *unavailable; /* the requirement that this device does not meet; NULL: it meets all */
  uint64_t cartesian, valid;
} cugen_implementation_info;

/* A restriction of the space. It is tried as soon as its names are bound. removed counts the
   combinations that this restriction was the first to remove: cartesian = valid + the sum of all
   removed. Limits, filters and heuristics are listed only if they removed something. */
typedef struct cugen_restriction_info {
  const char *implementation;
  const char *text;
  const char *file; /* of a filter, the name of the member: "cugen_filter.where" */
  int line;         /* of a limit, the line of the launch; of a filter, 0 */
  uint64_t removed;
  cugen_restriction_kind kind;
} cugen_restriction_info;

/* Restricts the kernel's space to what the filter admits: in counts, variants, records, checks,
   tuning and the best. Another filter, or NULL, shows the rest again; nothing remembered is
   changed. The filter is copied. CUGEN_ERROR_USAGE: an unknown name or a bad pattern; the old
   filter stays. If no variant is left, functions that need one fail with CUGEN_ERROR_EMPTY. */
int api_kernel_filter(cugen_kernel *kernel, const cugen_filter *filter, cugen_error *error);

/* The first call walks the space. index: below the count in cugen_space_info, else
   CUGEN_ERROR_USAGE. */
int api_kernel_space(cugen_kernel *kernel, cugen_space_info *out, cugen_error *error);
int api_kernel_implementation(cugen_kernel *kernel, size_t index, cugen_implementation_info *out,
                              cugen_error *error);
int api_kernel_restriction(cugen_kernel *kernel, size_t index, cugen_restriction_info *out,
                           cugen_error *error);
/* Why a tunable is reported. NOWHERE: no expression of the config, no argument and no template
   mentions the tunable, so its values all give the same kernel. MISSPELT: the config uses the
   tunable and no template mentions it, but a template's condition has a near word. DEFINED: the
   tunable is not a boolean, and templates only ask whether it is defined, which is true for every
   value. */
typedef enum cugen_unused_reason {
  CUGEN_UNUSED_NOWHERE = 0,
  CUGEN_UNUSED_MISSPELT,
  CUGEN_UNUSED_DEFINED
} cugen_unused_reason;

/* A tunable with two or more values that gives the same kernel several times, as far as the texts
   show. */
typedef struct cugen_unused_tunable {
  const char *name;
  const char *implementation; /* "": the tunable is shared by all implementations */
  const char *file;           /* file that declares the tunable */
  int line;
  size_t values;
  char nearest[64];        /* the nearest word in an #if, #ifdef or #ifndef of the template; "":
                              none is near */
  cugen_unused_reason why; /* why the tunable is reported */
} cugen_unused_tunable;

/* Lists unused tunables. Fills in at most `most`; *count is the number of all. The strings live as
   long as the kernel. */
int api_kernel_unused(cugen_kernel *kernel, cugen_unused_tunable *out, size_t most, size_t *count,
                      cugen_error *error);
/* The text of a variant, such as "tiled tile=16 pad=1"; index must be below valid. */
int api_kernel_variant(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *error);

/* ---- Sources and launches ------------------------------------------------------------------- */

/* Compiles the variant (a text as for cugen_kernel_source) to PTX for the kernel's device, which
   need not be present. *ptx lives until the next call. CUGEN_ERROR_USAGE on the cpu device. */
int api_kernel_ptx(cugen_kernel *kernel, const char *variant, const char **ptx, cugen_error *error);

/* Checks for the cpu device, whose compiler accepts more than NVRTC does, that the front end of
   NVRTC accepts the variant's source (a text as for cugen_kernel_source). CUGEN_ERROR_COMPILE, with
   NVRTC's message, if it does not. If there is no NVRTC, and on a GPU, nothing is compiled and
   CUGEN_OK returned. */
int api_kernel_accepts(cugen_kernel *kernel, const char *variant, cugen_error *error);

/* One launch of a variant, or several equal ones in a row. */
typedef struct cugen_launch_info {
  const char *entry;              /* name of the kernel in the source: "reduce", "reduce<4>" */
  const char *place;              /* place in the template: "reduce.cu:12"; "": unknown */
  int line;                       /* line of the launch in the config */
  unsigned int grid[3], block[3]; /* blocks of a grid, threads of a block */
  int64_t shared_bytes;           /* dynamic shared memory of a block */
  int carveout;                   /* preferred shared memory in percent, as in the config; -1: the
                                     driver decides */
  int overlap;                    /* may begin before the launch before it has ended */
  int cooperative;                /* all blocks run at once, so that they may wait for each other */
  int listed;                     /* passes what the config's pass lists, else all arguments */
  const char *passes;             /* the parameters in order, with values of this launch: "source,
                                     ping, n=100" */
  size_t times;                   /* number of equal launches in a row; in total, if a call makes
                                     more than 64 launches */
} cugen_launch_info;

/* Lists the launches that one call of a variant (a text as for cugen_kernel_source) makes, in
   order, for the kernel's problem. *name (may be NULL) becomes the full text of the variant. The
   list lives until the next call; the name until that or the next cugen_kernel_source. */
int api_kernel_launches(cugen_kernel *kernel, const char *variant, const cugen_launch_info **out,
                        size_t *count, const char **name, cugen_error *error);

/* Checks that everything exists that the variant (a text as for cugen_kernel_source) and its
   verification need: source, reference or verify kernel, and the files of the inputs' data. Nothing
   is compiled. The error names what is missing. */
int api_kernel_complete(cugen_kernel *kernel, const char *variant, cugen_error *error);

/* ---- Running one variant -------------------------------------------------------------------- */

/* The search strategies by number, from 0 (the default): returns the name, and sets *what (may be
   NULL) to a description. NULL: there are no more. */
const char *api_strategy(size_t index, const char **what);

/* Announces that this program will tune or run variants. A worker process then looks for the GPUs,
   and the first tuning or run continues with this worker; meanwhile compilers start. So CUDA is
   started only once, and not in this process; without this call this process starts CUDA to
   describe a GPU. Call it before anything asks for a device. threads: as in cugen_tune_options. */
void api_expect_tuning(cugen *lib, int threads);

/* Sets a callback that api_kernel_run calls in its thread while it waits. done is 0, planned 1 and
   best NULL; the stage tells whether the reference is still computed. A nonzero result stops the
   run with CUGEN_ERROR_INTERRUPTED. NULL: no callback. */
void api_kernel_watch_run(cugen_kernel *kernel, cugen_progress_callback progress, void *context);
/* Verifies and times one variant (as in cugen_kernel_source) now, in an isolated worker; no record
   is kept. */
int api_kernel_run(cugen_kernel *kernel, const char *variant, double timeout, cugen_record *out,
                   cugen_error *error);

/* The text that kernels on the cpu device printed in the last api_kernel_run (the first launch; all
   launches if the variant failed) or api_kernel_check (the first variant that printed, after its
   name). At most 2,040 bytes, made safe for a terminal; "" if nothing was printed. It lives until
   the next run or check. */
const char *api_kernel_printed(const cugen_kernel *kernel);

/* ---- Checking variants for defects, without a GPU ------------------------------------------- */

/* A defect, which may show in several variants and runs. */
typedef struct cugen_check_finding {
  cugen_finding_kind kind;
  const char *message; /* a sentence: what a thread did, and where the other thread was */
  const char *file;    /* file of the template, from the source's #line; "": unknown */
  int line;
  const char *user_file; /* place of the call, if the code is in an inlined function: in another
                            file, or in the kernel; "" */
  int user_line;
  const char *other_file; /* place of the other access or barrier; "" */
  int other_line;
  const char *array; /* name of the array of shared memory, or of the buffer; "" */
  int shared;
  uint32_t block[3], thread[3];             /* block and thread of the access */
  uint32_t other_block[3], other_thread[3]; /* block and thread of the other access; zero if there
                                               is none */
  const char *variant, *problem;            /* the variant and problem in which the defect was found
                                               first */
  size_t variants;                          /* number of variants that show the defect */
  uint64_t count;                           /* number of occurrences in all runs */
  size_t places;                            /* lines, or pairs of lines, with this cause; `file`
                                               and `line` are of the first */
  const char *also;                         /* the other lines, "k.cu:9, k.cu:12"; "" */
  int note;                                 /* not an error: a defect that counts only with
                                               --strict, or that is waived */
  const char *waived;                       /* reason of the config's waive that makes it a note;
                                               "" */
} cugen_check_finding;

/* A waive of the config, and the number of findings that it makes notes. */
typedef struct cugen_check_waiver {
  const char *file;
  int line; /* line in the config */
  cugen_finding_kind kind;
  const char *at, *reason;
  size_t findings;
} cugen_check_waiver;

/* The memory traffic of a variant with one array of shared memory, or one buffer of global memory,
   in one launch. It is measured at sizes that are whole tiles if the variant ran at such sizes,
   else on the check problem. */
typedef struct cugen_check_traffic {
  const char *variant, *problem;
  int launch;
  const char *array;
  int shared, write;
  double requests; /* requests of warps; a request is the accesses of a warp's lanes at one place of
                      the program */
  double bytes;
  double needed;     /* passes over the banks (shared memory), or sectors of 32 bytes (global
                        memory) */
  double ideal;      /* the smallest possible `needed` for the number of bytes */
  int launches;      /* number of the variant's launches; `launch` is below it */
  const char *entry; /* the kernel of the launch */
  double lines;      /* cache lines of 128 bytes touched by requests; 0 for shared memory */
  double touched;    /* bytes of the requests, in which bytes that several lanes request count once;
                        0 for shared memory */
  int elsewhere;     /* the problem's types or layouts differ from the check problem's */
} cugen_check_traffic;

/* A variant or implementation that was not checked. */
typedef struct cugen_check_skip {
  const char *what, *why; /* what: the variant or implementation; why: the feature that the cpu
                             device lacks, or another reason */
  /* the compiler refused the variant, or the problem's data and reference were not made in time; 0:
     the config says that the variant is not for this device */
  int refused;
  size_t variants; /* number of variants, if `what` is an implementation */
} cugen_check_skip;

/* One run: a variant on a problem. */
typedef struct cugen_check_ran {
  const char *variant, *problem;
} cugen_check_ran;

/* A setting of the check problem ("log2n=10") that a check { } of the config names, but that no
   other size is derived from, and the reason. */
typedef struct cugen_check_kept {
  const char *setting, *why;
} cugen_check_kept;

/* A line of a template that accesses memory. */
typedef struct cugen_check_line {
  const char *file;
  int line;
} cugen_check_line;

/* The progress of a check; valid during the callback. */
typedef struct cugen_check_progress {
  size_t done, planned; /* runs of a variant on a problem */
  size_t findings;
} cugen_check_progress;

/* Called about ten times a second from the thread that checks; return nonzero to stop. */
typedef int (*cugen_check_callback)(const cugen_check_progress *progress, void *context);

/* What a check covers. */
typedef struct cugen_check_options {
  const char *variant;           /* check only this variant; a text as for cugen_kernel_source */
  int all;                       /* check every variant of the kernel's problem */
  int branches;                  /* check few variants that together cover every branch of the
                                    templates */
  size_t sample;                 /* check this many variants, drawn at random */
  uint64_t seed;                 /* seed of the sample and of the input data; 0: 1 */
  int threads;                   /* number of simultaneous runs; 0: the number of processors */
  double timeout;                /* seconds for one run, and for making the data and reference of
                                    one problem; 0: 60 */
  cugen_check_callback progress; /* NULL: none */
  void *context;                 /* passed to progress */
  int strict;                    /* count notes as findings */
  int no_traffic;                /* look for findings only, which takes fewer compiles and runs */
} cugen_check_options;

/* The results of a check. Everything lives until the kernel is checked again or closed. */
typedef struct cugen_check {
  const cugen_check_finding *findings; /* likely causes first, then by file and line; notes come
                                          last */
  size_t finding_count, note_count;
  const cugen_check_traffic *traffic;
  size_t traffic_count;
  const cugen_check_skip *skips;
  size_t skip_count;
  const cugen_check_ran *ran;       /* in the order in which the runs ended */
  size_t variants, problems, runs;  /* numbers of variants, problems and runs that were checked */
  uint64_t variants_of;             /* number of variants for the check problem */
  size_t variants_elsewhere;        /* variants among them that only other problems have (with
                                       another size, type or layout) */
  size_t runs_done, runs_planned;   /* runs_done includes runs that ended as a skip; it is smaller
                                       than runs_planned if the check was interrupted */
  const char *const *problem_texts; /* the problems: the check problem first, then those derived
                                       from it */
  const cugen_check_kept *kept;
  size_t kept_count;
  /* The coverage: the lines of the templates that access memory, the number of them that ran, and
     those that did not run; and other memory that was used, in words. Lines are known on x86-64 and
     aarch64, with addr2line. */
  size_t lines, lines_reached;
  const cugen_check_line *unreached;
  const char *const *unwatched;
  size_t unwatched_count;
  /* there are findings, all on other sizes, types or layouts than those of the config's check {
     } */
  int elsewhere;
  int compared; /* results were compared; 0: the config has reference "none" */
  /* the config has a check { }; 0: what was checked is its own problem, and no other size */
  int has_check;
  const cugen_check_waiver *waivers;
  size_t waiver_count, waived_count; /* waivers of the config, and findings that are notes because
                                        of one */
} cugen_check;

/* Runs variants on the cpu device, in processes of their own, watches every access to memory, and
   compares the results with the reference. Settings given at cugen_kernel_open stay. The variants
   are:
   - by default: for each implementation, enough variants to have every value of every tunable, on
     the check problem and sizes around it. Some of them run with each further listed value of the
     problem (types, layouts);
   - with branches: enough variants that each line of the templates is in one of them and missing in
     one, as far as this is so in a large sample. They run on sizes, types and layouts of all kinds;
   - with variant, all or sample: those variants, on the check problem and the sizes around it.

   After an error *out has the findings before it:
   - CUGEN_ERROR_WRONG: there are findings. CUGEN_ERROR_INTERRUPTED: the callback asked to stop.
   - CUGEN_ERROR_COMPILE: there is no finding, but an entry of out->skips was `refused`. Other skips
     are not errors.
   - CUGEN_ERROR_EMPTY: nothing was checked; out->skips and the message have the reasons.
     CUGEN_ERROR_MISSING: there is no C++ compiler.
   - Any other status: the reason that variants could not be tried, such as a template that does not
     expand, data that cannot be made, or an expression of the config that fails on its check
     problem. */
int api_kernel_check(cugen_kernel *kernel, const cugen_check_options *options, cugen_check *out,
                     cugen_error *error);

/* ---- Explaining: ceilings and occupancy ----------------------------------------------------- */

/* The rates that limit a kernel on its GPU; 0: unknown. The cpu device has none. A peak is the rate
   of all multiprocessors at the highest clock, and for memory the described rate, or the rate by
   its clock and width. A data sheet's figure may assume a lower clock. */
typedef struct cugen_ceilings {
  const char *dtype;                /* the type in which the kernel computes: that of the config's
                                       products ("bf16", "tf32"), else that of its first output */
  double flops, flops_peak;         /* FLOP/s of fused multiply-adds of this type, without tensor
                                       cores */
  double tensor_flops_peak;         /* dense FLOP/s of the tensor cores, if the config declares
                                       products; 0: none */
  double bandwidth, bandwidth_peak; /* bytes/s of device memory, reads and writes together */
  int64_t flops_at, bandwidth_at;   /* time of the measurements; seconds since the epoch */
} cugen_ceilings;

/* Looks up the ceilings. The measured rates are the best records on that device of two shipped
   configs, peak_copy, and peak_fma with this dtype. api_kernel_tune measures these configs like any
   other. */
int api_kernel_ceilings(cugen_kernel *kernel, cugen_ceilings *out, cugen_error *error);
/* Returns the dense FLOP/s of the tensor cores of the kernel's device, at its highest clock, for
   products of that type: a dtype, "tf32" or "fp8"; 0: none, or unknown. */
double api_kernel_tensor_flops(const cugen_kernel *kernel, const char *type);

/* The resources of a multiprocessor that a kernel uses. */
typedef struct cugen_resources {
  int registers;        /* per thread */
  int threads;          /* per block */
  int64_t shared_bytes; /* per block, static and dynamic */
  /* NULL, or further dynamic bytes per block, as an expression in the config's language that may
     depend on `block`, the threads of a block: "4 * block" */
  const char *dynamic_shared;
  int has_carveout; /* 0: the driver divides the storage between L1 and shared memory */
  int carveout;     /* preferred share of shared memory, in percent, if has_carveout is set */
} cugen_resources;

/* Compiles a variant (a text as for cugen_kernel_source) for the kernel's device, which need not be
   present, and returns its resources: of several launches, those of the launch whose block has the
   most registers. CUGEN_ERROR_USAGE on the cpu device. */
int api_kernel_resources(cugen_kernel *kernel, const char *variant, cugen_resources *out,
                         cugen_error *error);

/* The number of a kernel's blocks that a multiprocessor holds, by NVIDIA's occupancy calculator
   (cuda_occupancy.h). */
typedef struct cugen_occupancy {
  char device[128];     /* name of the device */
  char arch[16];        /* "sm_90a" */
  int blocks;           /* resident blocks per multiprocessor */
  int max_threads;      /* threads that a multiprocessor can hold */
  double fraction;      /* fraction of them that is in use */
  const char *limiter;  /* "threads", "blocks", "registers", "shared memory"; "none": not even one
                           block fits */
  int warps;            /* warps per block */
  int idle_lanes;       /* idle lanes in the last warp of a block, if its threads are not a multiple
                           of a warp */
  int64_t shared_bytes; /* per block, including dynamic_shared */
  int best_threads;     /* the block size with the highest occupancy, with the other resources
                           unchanged; 0: none fits */
  int64_t best_shared_bytes;
  double best_fraction; /* occupancy with best_threads */
} cugen_occupancy;

/* Computes the occupancy on any known device, present or described. device: as in cugen_options;
   NULL: lib's own. CUGEN_ERROR_USAGE: no such device, the cpu device, or resources that no kernel
   can have. */
int api_device_occupancy(cugen *lib, const char *device, const cugen_resources *resources,
                         cugen_occupancy *out, cugen_error *error);

/* ---- Transfers: how fast data moves between host and device --------------------------------- */

/* A measurement for one kind of host memory, one direction and one size. */
typedef struct cugen_transfer_row {
  const char *memory;      /* "pageable" and so on, see cugen_transfer_options */
  const char *unavailable; /* why the kind could not be measured; the other members are then 0, in a
                              single row for the kind. NULL: it was measured */
  int to_host;             /* 0: from the host to the device */
  int64_t size;            /* requested size in bytes */
  int64_t bytes;           /* bytes moved by one transfer: the size, or its whole rows */
  double alone;            /* median seconds of a single transfer, from the call to the end that the
                              host sees */
  double seconds;          /* median seconds of one of many transfers in a row; for managed and
                              prefetch equal to alone */
  double seconds_min, seconds_p20, seconds_p80;
  int samples;
} cugen_transfer_row;

/* The progress of measuring; valid during the callback. */
typedef struct cugen_transfer_progress {
  size_t done, planned;           /* rows; a kind that is unavailable counts as one */
  const cugen_transfer_row *last; /* the row that was measured last */
} cugen_transfer_progress;

/* Called from the thread that measures, after each row; return nonzero to stop. */
typedef int (*cugen_transfer_callback)(const cugen_transfer_progress *progress, void *context);

/* What to measure. The kinds of host memory, and how the data is moved:
   - pageable: from malloc; the driver copies through its own pinned memory
   - registered: from malloc, page-locked afterwards (cuMemHostRegister, portable: for all contexts)
   - pinned: page-locked (cuMemHostAlloc, portable); the device's copy engine reads and writes it
   - combined: pinned and write-combined; it bypasses the processor's caches, so reading it is slow
   - pitched: pinned, 2-D: packed rows of 255 floats to and from rows in pitched device memory, 1024
     bytes apart where the driver aligns them to 512
   - pitched3d: pinned, 3-D: packed slices of 15 rows to and from slices of 16 rows
   - default: pinned; the driver finds the direction from the addresses (unified addressing,
     cudaMemcpyDefault)
   - mapped: zero-copy (cuMemHostAlloc, device map): a kernel reads or writes the host's memory in
     place
   - managed: a kernel or the host touches pages that are on the other side
   - prefetch: managed; the pages are prefetched */
typedef struct cugen_transfer_options {
  const char *memory;   /* the kinds to measure, such as "pinned, mapped"; NULL: all */
  const int64_t *sizes; /* sizes in bytes, each at least 1; NULL: 4 KiB to 1 GiB in powers of
                           four */
  size_t size_count;
  double seconds;                   /* approximate time for a row; 0: 0.1 */
  cugen_transfer_callback progress; /* NULL: none */
  void *context;                    /* passed to progress */
} cugen_transfer_options;

/* The measurements. Everything lives until the next api_transfer_measure, or until the library is
   closed. */
typedef struct cugen_transfer {
  const cugen_device_info *device;
  const cugen_transfer_row *rows; /* by kind, then by direction (to the device first), then by
                                     size */
  size_t count;
} cugen_transfer;

/* Measures on the GPU of options.device, by default the first one, in its primary context and the
   calling thread, and verifies that the data arrives. Needs as much memory on host and device as
   the largest size. Buffers are reused, so small ones come out of the processor's caches.
   CUGEN_ERROR_MISSING, CUGEN_ERROR_DEVICE: no GPU. CUGEN_ERROR_USAGE: an unknown kind, a bad size,
   or the cpu device. CUGEN_ERROR_WRONG: other data arrived. CUGEN_ERROR_INTERRUPTED: the callback
   asked to stop; out has the measurements before that. */
int api_transfer_measure(cugen *lib, const cugen_transfer_options *options, cugen_transfer *out,
                         cugen_error *error);

/* ---- The cache: the records of all kernels -------------------------------------------------- */

/* Selects records; NULL or 0 in a member selects all. */
typedef struct cugen_cache_filter {
  const char *config;  /* name of a kernel, or a config as for cugen_kernel_open, which stands for
                          its kernel */
  const char *problem; /* "M=4096 dtype=f32": problems with these values */
  const char *device;  /* "cuda:0", "model:H200" (its predictions), or a part of devices' texts
                          ("H200", "cpu") */
  int64_t before;      /* for api_cache_remove: only records measured before this time; seconds
                          since the epoch */
  int failed;          /* for api_cache_remove: only failures */
  const char *measure; /* how the records were timed, such as "cold" (cugen_options.measure);
                          "served": by plans that explored */
} cugen_cache_filter;

/* The records of one kernel for one problem on one device with one set of options. */
typedef struct cugen_cache_set {
  const char *config, *problem, *device, *options;
  const char *arch;    /* from the options: "sm_90a", "cpu"; NULL: the records are predictions */
  const char *measure; /* from the options: how the records were timed, "burst" or "served"; NULL:
                          they are predictions */
  size_t records;      /* variants with a record, measured or failed */
  size_t failed;       /* failed ones among the records */
  size_t history;      /* earlier records of the same variants */
  const char *best;    /* the variant that api_best_of finds, including stale records; the fastest
                          if the config is missing; "": none is correct */
  double seconds;      /* time of the best */
  double flops, bytes; /* declared work of the problem; 0: not declared */
  int64_t measured_at; /* time of the latest record; seconds since the epoch */
} cugen_cache_set;

/* The numbers of objects that exist or were removed. */
typedef struct cugen_cache_counts {
  size_t sets, records, history;
  size_t images; /* compiled kernels */
  int64_t image_bytes;
  size_t foreign_images; /* api_cache_verify: images that are not used, because another user or an
                            unknown one compiled them */
  size_t portfolios;     /* stored portfolios */
} cugen_cache_counts;

/* Lists the sets. *out lives until the next call. filter (may be NULL: all): only its first three
   members are used. A missing database is not created. */
int api_cache_list(cugen *lib, const cugen_cache_filter *filter, const cugen_cache_set **out,
                   size_t *count, cugen_error *error);

/* Removes the selected records and portfolios, and each image that no remaining record can use, in
   short transactions, so that other processes go on reading and storing. If it fails, some may
   already be removed; *out counts them. If filter->config is a config and not the name of a kernel,
   only records from that file and from unknown files (such as imported ones) are removed; the file
   need no longer exist. A kernel of the same name in another file keeps its records. really 0: only
   counts. CUGEN_ERROR_IO: the cache is read-only. */
int api_cache_remove(cugen *lib, const cugen_cache_filter *filter, int really,
                     cugen_cache_counts *out, cugen_error *error);

/* Checks the file, the tables, every record and every image, and counts them. CUGEN_ERROR_CACHE:
   there are defects; *wrong (may be NULL) has a line for each and lives until the next call.
   Without a defect *wrong has a line for each foreign image, or is NULL. CUGEN_ERROR_MISSING: there
   is no database. */
int api_cache_verify(cugen *lib, cugen_cache_counts *out, const char **wrong, cugen_error *error);

/* The progress of an export; valid during the callback. */
typedef struct cugen_export_progress {
  size_t written, records; /* records written so far, and the number of all */
  const char *text;        /* the text since the last call: whole lines, without a terminating
                              zero */
  size_t length;           /* its length in bytes */
  size_t left_out;         /* damaged records, which are not written; api_cache_verify describes
                              them */
} cugen_export_progress;
/* Called for each piece of about 64 KB, from the exporting thread; it must not use lib. Return
   nonzero to stop. */
typedef int (*cugen_export_callback)(const cugen_export_progress *progress, void *context);

/* Writes wisdom, which api_cache_import reads: the records that the filter's first three members
   select (NULL: all), without history, and the portfolios, as text with one line each
   (docs/cache.md). The file at path is replaced only when the new one is complete, and is unchanged
   if progress stops the export (CUGEN_ERROR_INTERRUPTED). path NULL: no file, progress takes the
   text. progress may be NULL. *records is the number of written records. The memory used does not
   grow with the number of records. */
int api_cache_export(cugen *lib, const cugen_cache_filter *filter, const char *path,
                     cugen_export_callback progress, void *context, size_t *records,
                     cugen_error *error);

/* A record, and whether it is still valid for the kernel. */
typedef struct cugen_stored_record {
  cugen_record record;
  int current;         /* the variant still expands to the kernel that was measured; a look-up uses
                          the record unless it is superseded */
  int superseded;      /* the record is history: a later record of the variant has replaced it */
  int64_t measured_at; /* seconds since the epoch */
  int driver_version, nvrtc_version;
} cugen_stored_record;

/* Lists all records in the cache for this kernel, problem, device and options, whether current or
   not: correct ones by time, then failed ones, then, with history, superseded ones, the latest
   first. *out lives until the next call. */
int api_kernel_stored(cugen_kernel *kernel, int history, const cugen_stored_record **out,
                      size_t *count, cugen_error *error);

/* The result of comparing a wanted value with the recorded one. */
typedef enum cugen_why_state {
  CUGEN_WHY_SAME,
  CUGEN_WHY_DIFFERS,
  CUGEN_WHY_UNKNOWN /* the record does not have the value */
} cugen_why_state;

/* A value that a look-up compares. */
typedef struct cugen_why_row {
  const char *field;          /* "device", "options", "M", "variant", "source", "launches",
                                 "arguments", ... */
  const char *wanted, *found; /* the value of the kernel now, and the value in the record */
  cugen_why_state state;
  int decides; /* 0: shown only, because no look-up depends on it */
} cugen_why_row;

/* A record that the look-up found or nearly found. */
typedef struct cugen_why_match {
  const char *variant;
  const char *verdict; /* a sentence that says why the record is used or not */
  cugen_outcome outcome;
  int predicted; /* the record is a prediction */
  double seconds;
  int64_t measured_at; /* seconds since the epoch */
  const cugen_why_row *rows;
  size_t row_count;
} cugen_why_match;

/* What a look-up found, and why. */
typedef struct cugen_why {
  int hit;                        /* the look-up uses the first match */
  const char *verdict;            /* a sentence or two */
  const char *advice;             /* what to do after a miss; "" */
  int tune;                       /* the advice is to tune this kernel */
  const cugen_why_match *matches; /* the record that is used; after a miss up to three of the
                                     nearest records */
  size_t match_count;
} cugen_why;

/* Explains, value by value, what a look-up of this kernel finds. variant: explain the record of
   this variant (a text as for cugen_kernel_source); NULL: the best. A miss is not an error.
   Everything in *out lives until the next call. */
int api_kernel_why(cugen_kernel *kernel, const char *variant, cugen_why *out, cugen_error *error);

/* ---- Portfolios: few variants for many sizes ------------------------------------------------ */

/* A variant of a portfolio. mean and worst: the loss of the problems that it serves, as a factor of
   their time (cost). stale and invalid are set by api_kernel_portfolios. */
typedef struct cugen_portfolio_variant {
  const char *variant; /* full text of the variant */
  size_t serves;       /* number of problems, among those learnt from, that it serves */
  double mean, worst;  /* geometric mean and largest loss; 0: unknown */
  int stale;           /* its source is not the measured one, so it does not serve */
  int invalid;         /* it is not a valid variant for the kernel's problem */
  const char *time;    /* its time as an expression over sizes, in microseconds if the objective is
                          time; NULL: none */
} cugen_portfolio_variant;

/* A problem from which a portfolio was learnt, and the variant that serves it. */
typedef struct cugen_portfolio_problem {
  const char *problem;
  size_t variant;   /* index into variants; variant_count: no variant serves it */
  double seconds;   /* time with that variant; 0: unknown, because it was not measured for this
                       problem */
  const char *best; /* the best variant of this problem */
  double best_seconds;
  double loss, held_out_loss; /* the loss as a factor; held out: if the portfolio were learnt
                                 without this problem. 0: unknown */
} cugen_portfolio_problem;

/* A portfolio: few variants that serve all sizes of a kernel's problem, and a rule that says which
   variant serves which size (docs/tuning.md). A portfolio is for one class: all its problems agree
   in the values that are not whole numbers. The rule is an expression over sizes, such as "select(M
   * N <= 4096, 0, least)", whose value is an index into variants; least is the variant with the
   smallest time. If that variant is not valid, the valid variant with the smallest time serves;
   without times, the first valid one. */
typedef struct cugen_portfolio {
  const char *config, *problem_class, *device, *options, *objective;
  const char *rule;
  const cugen_portfolio_variant *variants;
  size_t variant_count;
  size_t problems;                        /* number of problems from which it was learnt */
  double mean, worst;                     /* their mean and largest loss, as factors; 0: unknown */
  double held_out_mean, held_out_worst;   /* the losses to expect for other sizes, by cross-
                                             validation */
  int64_t learnt_at;                      /* seconds since the epoch */
  const cugen_portfolio_problem *problem; /* api_kernels_learn: the problems; else NULL */
  size_t unserved;                        /* api_kernels_learn: problems for which no correct
                                             variant is remembered; else 0 */
  /* The variant that the rule names does not serve if its time is this many times another
     variant's; 0: it always serves. */
  double doubted;
  /* Number of compiled kernels among the variants: variants of one kernel differ in launch
     parameters or in the grid. 0: unknown. */
  size_t kernels;
  size_t missed;          /* problems that none of its variants serves; the losses leave them out */
  size_t held_out_missed; /* api_kernels_learn: problems that a portfolio learnt from the others
                             would not serve; else 0 */
} cugen_portfolio;

/* How to learn a portfolio. */
typedef struct cugen_learn_options {
  size_t most;    /* largest number of kernels, 1 to 64; 0: 8 */
  int remembered; /* learn from all problems that have records on the device and agree with the
                     first kernel's settings */
  int dry;        /* do not store the portfolio */
} cugen_learn_options;

/* Learns a portfolio for each class of the kernels' problems from their records, and stores it in
   place of an earlier one. Nothing is measured, and the device need not be present;
   cugen_tune_options.portfolio makes the measurements that learning needs. The kernels are of one
   config and library. *out has an element for each class, except classes without a current correct
   record (api_kernel_unlearnt), and lives until the next call on the first kernel. If the first
   kernel has a filter (api_kernel_filter), records of other variants are left out.
   CUGEN_ERROR_USAGE: there is no problem, or none has a correct variant. */
int api_kernels_learn(cugen_kernel *const *kernels, size_t count,
                      const cugen_learn_options *options, const cugen_portfolio **out,
                      size_t *portfolios, cugen_error *error);

/* The classes for which the last api_kernels_learn, with this kernel as its first, learnt no
   portfolio, by index, each with the reason: "NAME dtype=i32: its 2 correct records are stale".
   NULL: there are no more. */
const char *api_kernel_unlearnt(const cugen_kernel *kernel, size_t index);

/* Lists the portfolios that a plan for the kernel would use, in that order: those of its class,
   device and options. *out lives until the next call. */
int api_kernel_portfolios(cugen_kernel *kernel, const cugen_portfolio **out, size_t *count,
                          cugen_error *error);

/* Lists all portfolios that the filter's first three members select (NULL: all); its problem is
   compared with the class. *out lives until the next call. */
int api_cache_portfolios(cugen *lib, const cugen_cache_filter *filter, const cugen_portfolio **out,
                         size_t *count, cugen_error *error);

/* ---- Input: reading what the user names ----------------------------------------------------- */

/* An input: a regular file, a shell's pipe, or "-", the standard input. It is read by line or
   whole. Only one thread at a time may use a handle. */
typedef struct cugen_input cugen_input;

/* Limits of reading, and who may end a wait. */
typedef struct cugen_input_options {
  size_t most;              /* limit of the whole input in bytes; 0: no limit */
  size_t most_line;         /* limit of a line in bytes; 0: 1 MiB */
  cugen_stop_callback stop; /* called before each read, and ten times a second during a wait */
  void *context;
} cugen_input_options;

/* CUGEN_ERROR_MISSING: the file does not exist. CUGEN_ERROR_IO: it cannot be read, is a folder, a
   device or a named pipe, or has too many bytes, which may show only while reading. */
int api_input_open(const char *path, const cugen_input_options *options, cugen_input **out,
                   cugen_error *error);
void api_input_close(cugen_input *input);
/* Reads the next line, without its end; it is valid until the next call. *line is NULL at the end.
   *whole is 0 if the input ended within the line. */
int api_input_line(cugen_input *input, const char **line, size_t *length, int *whole,
                   cugen_error *error);
/* Reads all that is left, followed by a zero; it is valid until the input is closed. */
int api_input_rest(cugen_input *input, const char **text, size_t *length, cugen_error *error);

/* ---- Output: a file that is complete or unchanged ------------------------------------------- */

/* An output is written to a new file, which gets the final name at the end. A device or a pipe,
   also behind a link (/dev/stdout), is written to directly. Any other link is refused, because a
   stranger may have put it there. */
typedef struct cugen_output cugen_output;

/* CUGEN_ERROR_IO: the file cannot be written. */
int api_output_open(const char *path, cugen_output **out, cugen_error *error);
int api_output_add(cugen_output *output, const void *data, size_t length, cugen_error *error);
/* keep 0: the file is not changed. Does nothing for NULL. CUGEN_ERROR_IO: the file could not be
   written, and is unchanged. */
int api_output_close(cugen_output *output, int keep, cugen_error *error);

/* ---- Bundles: tuned variants as plain C ----------------------------------------------------- */

/* What to export. */
typedef struct cugen_export_options {
  const char *devices;  /* "H200, sm_80": parts of remembered devices' texts, or architectures;
                           NULL: all remembered devices */
  const char *problems; /* "M=1024 N=1024; M=4096": the problems; NULL: all remembered ones that
                           agree with the settings */
  double distance;      /* as in cugen_plan_options; 0: the config's policy */
  int ptx;              /* include PTX, which the drivers of other devices compile */
  int force;            /* write into a folder that has other files, which are kept */
  int portfolio;        /* only the variants and rules of portfolios: few kernels for all sizes */
  const char *variant;  /* only this variant, measured or not: "tiled tile=16"; NULL: the variants
                           that a plan would take */
} cugen_export_options;

/* The contents of an export. The strings live until the kernel is closed or exports again. */
typedef struct cugen_export_result {
  const char *name; /* prefix of the bundle's functions and files */
  size_t devices;   /* devices that it has code for, PTX included */
  size_t problems;  /* tuned problems, summed over the devices */
  size_t variants;  /* variants, summed over the devices */
  size_t images;    /* cubins and PTX; equal images count once */
  size_t compiled;  /* images that were compiled now; the others came from the cache */
  size_t stale;     /* records that were not used, because their source has changed */
  int64_t image_bytes, source_bytes;
  const char *notes; /* a line for each thing that was left out or replaced, with the reason; "" */
  size_t portfolios; /* portfolios, summed over devices and classes */
} cugen_export_result;

/* Writes a bundle into the folder: NAME.h, NAME.c, README.md, CMakeLists.txt and an example. The
   bundle needs only the driver at run time. It contains the variants that cugen_plan_open would
   take now. Equal input gives equal bytes. The folder is created (its parent must exist), or has an
   earlier bundle of this kernel, which is replaced as a whole; other files in it are
   CUGEN_ERROR_USAGE without force. Nothing is measured; images that the cache lacks are compiled,
   which needs no GPU. */
int api_kernel_export(cugen_kernel *kernel, const cugen_export_options *options, const char *folder,
                      cugen_export_result *result, cugen_error *error);

#endif
