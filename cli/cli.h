/* The command line: a table of commands over a table of options. Commands use cugen through cugen.h
   and the headers of api/. Results go to stdout, remarks and errors to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "api/cache.h"
#include "api/kernel.h"
#include "api/records.h"

/* The options. Columns: name, letter (0: none), argument (NULL: none; "[N]": optional), help
   text. */
#define CLI_OPTIONS(X)                                                                             \
  X(VARIANT, "variant", 0, "TEXT", "which variant: \"tiled BM=64\"; the rest is chosen")           \
  X(BEST, "best", 0, NULL, "the remembered best; an error if there is none")                       \
  X(OUTPUT, "output", 'o', "FILE", "write to this file; export: into this folder")                 \
  X(DEVICES, "devices", 0, "LIST", "devices by name or architecture: \"H200, sm_80\"")             \
  X(PROBLEMS, "problems", 0, "LIST", "problems: \"M=1024 N=1024; M=4096\" (default: all)")         \
  X(PROBLEM_FILE, "problems", 0, "FILE", "these problems, a line each: M=64 N=128; -: stdin")      \
  X(FROM, "from", 0, "FILE",                                                                       \
    "the problems that an application asked for: what CUGEN_CAPTURE wrote; -: stdin")              \
  X(DISTANCE, "distance", 0, "D",                                                                  \
    "serve problems this near, too (1: twice or half the size), whatever the policy")              \
  X(PREDICTED, "predicted", 0, NULL, "add what is predicted, where nothing is measured")           \
  X(PTX, "ptx", 0, NULL, "gen: print PTX; export: add PTX for unknown GPUs")                       \
  X(FORCE, "force", 0, NULL, "write into a folder that holds other files; they stay")              \
  X(LIST, "list", 0, "[N]", "print the valid variants, at most N of them")                         \
  X(BUDGET, "budget", 0, "LIMIT",                                                                  \
    "stop after a time (90s, 5m, 1h), variants (500) or none (default: 60s; cpu and model 30s)")   \
  X(PATIENCE, "patience", 0, "N", "stop after N variants that bring nothing, or none")             \
  X(STRATEGY, "strategy", 0, "STRATEGY", "which variants come first (default: surrogate)")         \
  X(OBJECTIVE, "objective", 0, "OBJECTIVE", "what is best: time, energy, \"flops / energy\", ...") \
  X(PREFER, "prefer", 0, "PREFERENCE",                                                             \
    "of variants that tie: simplest, registers, energy (default: simplest)")                       \
  X(SEED, "seed", 0, "N", "seed of strategy and input data (default: 1)")                          \
  X(FORMAT, "format", 0, "FORMAT", "wisdom, t4 or kernel_tuner (default: wisdom)")                 \
  X(KERNEL_TUNER, "kernel-tuner", 0, NULL,                                                         \
    "KERNEL is a tuning script in T1, as Kernel Tuner reads")                                      \
  X(MAP, "map", 0, "FILE", "for another autotuner's results: what their names mean")               \
  X(PORTFOLIO, "portfolio", 0, "N", "at most N kernels for all problems, and a rule")              \
  X(ONLY_PORTFOLIO, "portfolio", 0, NULL,                                                          \
    "the portfolio's variants and its rule alone: few kernels for all sizes")                      \
  X(BITWISE, "bitwise", 0, "TEXT",                                                                 \
    "the best of those that give the same bits as this variant: \"naive\", best")                  \
  X(BASELINE, "baseline", 0, "LIB:NAME",                                                           \
    "compare the best with your own function: ./libmine.so:product")                               \
  X(AGAIN, "again", 0, NULL, "measure again what is remembered")                                   \
  X(PATTERN, "variant", 0, "PATTERN", "only these variants: \"tiled tile=32\", \"tile=*\"")        \
  X(IMPLEMENTATION, "implementation", 0, "NAME",                                                   \
    "only these: \"tiled\", \"naive,tiled\" or \"wgmma*\"")                                        \
  X(WHERE, "where", 0, "EXPRESSION", "only variants that satisfy \"BM >= 64\"; repeatable")        \
  X(THREADS, "threads", 0, "N", "compile on N threads (default: one a processor)")                 \
  X(TIMEOUT, "timeout", 0, "TIME", "stop a variant that runs this long (default: 10s; check 60s)") \
  X(COMPILE_TIMEOUT, "compile-timeout", 0, "TIME",                                                 \
    "stop a compile that takes this long (default: 60s)")                                          \
  X(VERIFY, "verify", 0, "LIMIT",                                                                  \
    "time to verify the best predictions on the cpu device: 2m, none (default: 30s)")              \
  X(TOP, "top", 0, "N", "rows in the table of the best (default: 10)")                             \
  X(REGISTERS, "registers", 0, "N", "registers a thread")                                          \
  X(BLOCK, "block", 0, "N", "threads a block")                                                     \
  X(SHARED, "shared", 0, "BYTES",                                                                  \
    "shared memory a block; may depend on its threads: \"4 * block\"")                             \
  X(ARRAY, "array", 0, "NAME", "only this array")                                                  \
  X(ACCESS, "access", 0, "ACCESS",                                                                 \
    "row, col, ldmatrix, or each index: \"lane // 4, lane % 4\" (default: row and col)")           \
  X(BYTES, "bytes", 0, "N", "bytes of a lane's access: 1 to 16 (default: an element)")             \
  X(HISTORY, "history", 0, NULL, "also what later records have replaced")                          \
  X(TRACE, "trace", 0, NULL, "the best so far over the time spent tuning, instead")                \
  X(PROBLEM, "problem", 0, "TEXT", "only problems with these values: \"M=8192 dtype=f16\"")        \
  X(OLDER_THAN, "older-than", 0, "TIME", "only what was measured longer ago: 12h, 30d")            \
  X(FAILED, "failed", 0, NULL, "only what failed")                                                 \
  X(MEMORY, "memory", 0, "LIST", "kinds of memory: \"pinned, mapped\" (default: all)")             \
  X(SIZES, "sizes", 0, "LIST",                                                                     \
    "sizes: \"4KiB, 64MiB\" (default: 4 KiB to 1 GiB in powers of four)")                          \
  X(SAMPLE, "sample", 0, "N", "N variants drawn at random")                                        \
  X(BRANCHES, "branches", 0, NULL, "few variants that take every branch of the templates")         \
  X(STRICT, "strict", 0, NULL,                                                                     \
    "notes count as findings: races of threads that write the same value")                         \
  X(NO_TRAFFIC, "no-traffic", 0, NULL,                                                             \
    "findings alone, sooner: passes over banks and sectors are not counted")                       \
  X(EVERY, "all", 0, NULL, "also variants that heuristics leave out here")                         \
  X(ALL, "all", 0, NULL, "everything")                                                             \
  X(EXPLAIN_ALL, "all", 0, NULL, "also what is rarely needed")                                     \
  X(YES, "yes", 'y', NULL, "go ahead without asking")                                              \
  X(SET, "set", 's', "NAME=VALUE", "a value of the problem, such as M=8192; repeatable")           \
  X(DEVICE, "device", 'd', "ID",                                                                   \
    "cuda:0, cpu, model:H200 (default: the first GPU, else model:A100)")                           \
  X(ARCH, "arch", 0, "NAME", "generate for this architecture, such as sm_90a")                     \
  X(MEASURE, "measure", 0, "WAY", "how to time: burst, graph, sustained, cold (default: burst)")   \
  X(CACHE, "cache", 0, "FILE", "database: a file, postgresql://USER@HOST/DB, none")                \
  X(CONFIG_DIR, "config-dir", 0, "FOLDER", "look for configs here before the shipped ones")        \
  X(TEMPLATE_DIR, "template-dir", 0, "FOLDER", "look for templates here before anywhere else")     \
  X(DEVICE_DIR, "device-dir", 0, "FOLDER", "look for device descriptions here first")              \
  X(TOOLKIT, "toolkit", 0, "FOLDER", "the CUDA toolkit with NVRTC and its headers")                \
  X(NO_LIBRARY, "no-library", 0, NULL, "no kernels of libraries (cuBLASLt) as variants")           \
  X(COMPILER, "compiler", 0, "PROGRAM", "C++ compiler for the cpu device; check takes two")        \
  X(WIDE, "wide", 0, NULL, "tables with all columns and rows")                                     \
  X(JSON, "json", 0, NULL, "print one JSON object (docs/json.md)")                                 \
  X(QUIET, "quiet", 'q', NULL, "the result only: no progress, no remarks")                         \
  X(HELP, "help", 'h', NULL, "print this help")

enum cli_option {
#define X(id, name, letter, argument, what) OPTION_##id,
  CLI_OPTIONS(X)
#undef X
      OPTION_COUNT
};

struct cli_option_row {
  const char *name;
  char letter;
  const char *argument, *what;
};
extern const struct cli_option_row cli_options[OPTION_COUNT];

/* The model that is predicted for if there is no GPU, without --arch. */
#define CLI_USUAL_MODEL "model:A100"

struct cli;

enum cli_command_id {
#define COMMAND(id, name, ...) COMMAND_##id,
#include "command_rows.h"
#undef COMMAND
  COMMAND_COUNT
};

#define COMMAND(id, name, ...) int command_##name(struct cli *cli);
#include "command_rows.h"
#undef COMMAND

/* A command's row in command_rows.h. */
struct cli_command {
  const char *name; /* "tune", or with its group "cache ls" */
  /* Operand: "CONFIG", "[COMMAND]", several with "...", at most two as "[COMMAND]..."; NULL:
     none. */
  const char *operand;
  const char *summary; /* one line that follows the name */
  const char *details; /* text of its help; lines that begin with a blank are printed unchanged */
  /* Further text for `cugen help COMMAND --all` and the man page; NULL: none. */
  const char *more;
  const char *example;
  const char *device; /* meaning of --device if it differs from most commands'; else NULL */
  /* cugen_command does not give the command the device and measure of the caller's library
     (serve.c). */
  bool own_device;
  bool own_fallback; /* the command chooses itself what to do without a GPU (device_fallback.c) */
  bool prints_data;  /* the command prints a source, a picture or a page: lines are not wrapped */
  const enum cli_option *options; /* the command's own options, ended by OPTION_COUNT */
  bool common;                    /* the command takes the common options as well */
};
extern const struct cli_command cli_commands[COMMAND_COUNT + 1]; /* ended by a row of NULL name */
extern const enum cli_option cli_common[];                       /* ended by OPTION_COUNT */

/* One run of the program. */
struct cli {
  const struct cli_command *command;
  /* Value by option; NULL: not given; "": given, without argument. */
  const char *values[OPTION_COUNT];
  const char **settings; /* values of --set */
  size_t setting_count;
  /* If --compiler is given twice: the value before the last; else NULL. */
  const char *other_compiler;
  const char **wheres; /* values of --where */
  size_t where_count;
  const char *operand; /* first operand; NULL: not given */
  const char *second;  /* second operand; NULL: not given */
  char **operands;
  size_t operand_count;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_error error;
  char *model;    /* the model chosen in place of a missing GPU; NULL: none */
  char *fallback; /* why a model was chosen in place of a GPU; NULL: none was chosen */
  /* Width for the lines of the result; 0: no limit, and tables have all columns and rows. */
  int width;
  bool answered; /* the command's JSON object was printed */
  /* Array that collects JSON objects, one for each group of devices; NULL: JSON is printed. */
  json_t *answers;
  struct serve *serve; /* set if a program runs the command (serve.h); NULL: a user does */
  /* The group of devices that this run tunes; NULL: there is only one group. */
  struct tune_group *group;
  int threads; /* A group's share of the compile threads; 0: as --threads says. */
  char *lost;  /* lines already printed about failed devices; NULL: none */
  /* Bits that ranked variants must have; if they are not known, any right variant is ranked. */
  cugen_outputs outputs;
  char *self; /* path of this program; set when first needed */
};

/* ---- commands.c ----------------------------------------------------------------------------- */

/* Finds the command "name" or "name second" (second NULL: no second word). *words becomes the
   number of words in its name. */
const struct cli_command *commands_find(const char *name, const char *second, int *words);
/* Returns the command's name behind "group ", or NULL if the command is not of the group. */
const char *commands_in_group(const struct cli_command *command, const char *group);
/* Returns true if the command takes options other than --help. */
bool commands_take_options(const struct cli_command *command);
bool commands_take(const struct cli_command *command, enum cli_option option);
/* options: ended by OPTION_COUNT. */
bool commands_has(const enum cli_option *options, enum cli_option option);

/* ---- messages.c ----------------------------------------------------------------------------- */

/* Sets cli->error and returns its status. */
int cli_fail(struct cli *cli, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int cli_no_memory(struct cli *cli);
/* Sets the place in the user's file that caused the failure. Returns the error's status. */
int cli_place(struct cli *cli, const char *file, size_t line);
void cli_append(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints a remark and a line end on stderr, except with --quiet. */
void cli_remark(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the end of a command: if a signal interrupted it, prints the remark and returns the
   program's exit code; otherwise returns the status. */
int cli_conclude(const struct cli *cli, int status, const char *remark);
/* Takes over the object of --json, and prints it or adds it to cli->answers or to the answer of
   cli->serve. */
int cli_print_json(struct cli *cli, json_t *object);

/* ---- remarks.c ------------------------------------------------------------------------------ */

/* Remarks which tunables of cli->kernel nothing uses. */
void cli_remark_unused(const struct cli *cli);
/* If NVRTC is there and refuses the source of a variant that is right on the cpu device, remarks
   that with the beginning of NVRTC's message. */
void cli_remark_refused(struct cli *cli, const char *variant);
/* On the cpu device, calls cli_remark_refused for the first right remembered variant of each
   implementation. */
void cli_remark_all_refused(struct cli *cli);

/* ---- options.c ------------------------------------------------------------------------------ */

/* Kinds of values of operands and options' arguments that the shell can complete, and the kinds'
   words in help. */
#define CLI_KINDS(X)                                                                               \
  X(CONFIG, "CONFIG")                                                                              \
  X(COMMAND, "COMMAND")                                                                            \
  X(STRATEGY, "STRATEGY")                                                                          \
  X(OBJECTIVE, "OBJECTIVE")                                                                        \
  X(PREFERENCE, "PREFERENCE")                                                                      \
  X(SHELL, "SHELL")                                                                                \
  X(FILE, "FILE")                                                                                  \
  X(FOLDER, "FOLDER")                                                                              \
  X(PROGRAM, "PROGRAM")

enum cli_kind {
  KIND_OTHER,
#define X(id, word) KIND_##id,
  CLI_KINDS(X)
#undef X
      KIND_COUNT
};

/* An operand or an option's argument as help shows it: "CONFIG", "[N]", "[COMMAND]...",
   "FILE...". */
struct cli_word {
  const char *text; /* `length` characters, not terminated */
  size_t length;
  enum cli_kind kind;
  bool optional;
  int most; /* most operands: 0 or 1; with "..." INT_MAX, or 2 if they are optional */
};
struct cli_word options_word(const char *text); /* text NULL: no operand */

/* Sets cli from argv[1] on, the words behind the command's name. */
int options_parse(struct cli *cli, int argc, char **argv);
bool options_given(const struct cli *cli, enum cli_option option);
/* Reads the option's value as a number of at least `least`. *out is left as it is if the option or
   its optional value is not given. */
int options_count(struct cli *cli, enum cli_option option, size_t least, size_t *out);
/* Reads a time such as "90", "90s", "1.5m" or "2h" in seconds. */
int options_seconds(struct cli *cli, enum cli_option option, double *out);
/* Returns false if the text is no time. unit_required: the time must have a unit; otherwise the
   unit may be missing. */
bool options_read_seconds(const char *text, bool unit_required, double *out);

/* ---- option_names.c ------------------------------------------------------------------------- */

/* A message of the library, in which the name of an option in C, "cugen_options.toolkit", has
   become "--toolkit". */
struct message {
  char text[sizeof((cugen_error *)0)->message];
};
struct message message_own(const char *text);
/* Returns the option for a field of the library's options, such as "config_dir" for --config-dir;
   OPTION_COUNT: there is none. */
enum cli_option option_of_field(const char *field, size_t length);

/* ---- hint.c --------------------------------------------------------------------------------- */

struct hint {
  char text[sizeof((cugen_error *)0)->message];
};
/* Returns a command about the kernel of this run, ready for a shell, with the options of this run
   for problem, device, library, objective and variants that the command takes: "cugen run
   ./scale.lua --device cpu --set M=64". A command longer than a message is cut. */
struct hint hint(const struct cli *cli, const char *name);

/* The action of 'cugen tune' for this kernel on this device. */
enum cli_tuning { CLI_MEASURES, CLI_PREDICTS, CLI_REFUSES };
enum cli_tuning cli_tuning(const struct cli *cli);
/* Returns true with --arch on the cpu device, which has no architecture to measure for. */
bool cli_only_predicts(const struct cli *cli);
/* Returns *cli for use in a hint, with --device cpu if the cpu device was chosen because there is
   no GPU. */
struct cli cli_here(const struct cli *cli);
/* Returns *cli for use in a hint, with the device on which 'cugen tune' measures what is missing,
   or predicts if nothing can be measured. */
struct cli cli_to_tune(const struct cli *cli);

/* ---- library.c ------------------------------------------------------------------------------ */

/* Returns the options that were given, for a library. */
cugen_options cli_library_options(const struct cli *cli);
/* Opens cli->lib with all options. */
int cli_open(struct cli *cli);
/* The callback of a process_stop: returns whether a signal has asked to end. */
bool cli_is_stopped(void *context);
/* Opens the library only for its cache, for commands without a kernel. --device and --measure are
   ignored. */
int cli_open_cache(struct cli *cli);
/* Returns a filter for the records that CONFIG, --problem, --device, --measure and --failed
   mean. */
cugen_cache_filter cli_cache_filter(const struct cli *cli);
/* Hides connection strings, which other users could see in the process's arguments. */
void secrets_hide(int argc, char **argv);

/* Remarks what is wrong with the cache or the machine's clock, if anything. */
void cli_remark_cache(const struct cli *cli);
/* Prints where the results were stored, or why they were not; returns whether they were. */
bool cli_print_remembered(const struct cli *cli);
/* If the database does not exist, remarks that and returns true. */
bool cli_remark_no_cache(const struct cli *cli);

/* ---- output.c ------------------------------------------------------------------------------- */

/* Fails if --output names the cache's database or its -wal, -shm, -journal or -import file. */
int cli_check_output(struct cli *cli);
/* Writes the output of `write` to the file of --output, as file_write does; without --output, or
   for "-", to stdout. */
int cli_write(struct cli *cli, void (*write)(const void *context, FILE *out), const void *context);

/* A file that the build embeds into the program. */
struct cli_script {
  const char *path, *data;
  size_t length;
};
/* Completion scripts from cli/completion/; ended by a NULL path. */
extern const struct cli_script cli_scripts[];
extern const struct cli_script cli_pages[]; /* pages from cli/pages/; ended by a NULL path */

/* Finds a file of cli/pages, such as "report.html". */
const struct cli_script *cli_page(const char *name);

/* ---- device_fallback.c ---------------------------------------------------------------------- */

/* If there is no GPU and no device was asked for, opens the library anew for a model, which is set
   in cli->values. Does nothing for commands with own_fallback, if no model has the architecture of
   --arch, or if NVRTC is missing and there is a C++ compiler for the cpu device. */
int cli_fall_back(struct cli *cli);
/* Like cli_fall_back, for commands with own_fallback. Sets *used to true if a model was chosen. */
int cli_use_model(struct cli *cli, bool *used);
/* Returns a model of the architecture that --arch names, or without --arch the usual model;
   "model:FILE": no shipped model has the architecture. */
const char *cli_fallback_model(const struct cli *cli);

/* ---- kernel.c ------------------------------------------------------------------------------- */

/* If a setting is a list, appends to the library's message that only 'cugen tune' takes lists. */
void cli_explain_list(struct cli *cli);
/* Opens the library and the kernel, and applies the options' filter. */
int cli_open_kernel(struct cli *cli);
/* Applies the options' filter to cli->kernel. all: include variants that heuristics leave out. */
int cli_filter(struct cli *cli, bool all);
/* Returns true if --variant PATTERN, --implementation or --where is given. */
bool cli_narrows(const struct cli *cli);
cugen_device_kind cli_device(const struct cli *cli); /* kind of the kernel's device */
bool cli_on_cpu(const struct cli *cli);
/* Returns true if the cpu device was chosen because there is no GPU, and --arch is not given. */
bool cli_fell_back(const struct cli *cli);
/* Returns true if variants are ranked by a rate, GFLOP/s or GB/s. */
bool cli_ranks_by_rate(const cugen_kernel *kernel);
/* Returns true on the cpu device if the config has a check problem and --set is not given. */
bool cli_is_check(const struct cli *cli);
/* On the cpu device, opens the check problem in place of the config's own. */
int cli_use_check_on_cpu(struct cli *cli);
/* Returns the number of devices that --device lists; 1 unless --device has a list. */
size_t cli_device_count(const struct cli *cli);
/* Gets the kernel's stored records. If there are none, turns a model's kernel to predictions and
   gets these. */
int cli_stored(struct cli *cli, const cugen_stored_record **all, size_t *count);
/* Prints "NVIDIA H200 (cuda:0)". */
void cli_print_device(const struct cli *cli, FILE *out);
/* Prints the first lines of a result: kernel, problem and device; for the cpu device also that
   times are not a GPU's, and why the cpu device is used if it was not asked for. */
void cli_print_head(const struct cli *cli);
/* Returns the way of timing in words, "with cold caches"; NULL: the usual way "burst", or nothing
   was timed. */
const char *cli_way(const char *measure);
/* Prints a line about the way of timing, unless it is the usual one. */
void cli_print_way(const struct cli *cli);

/* ---- selection.c ---------------------------------------------------------------------------- */

/* Remarks which variant was chosen if none was named, unless it is the best for exactly this
   problem. */
void cli_remark_choice(const struct cli *cli, const cugen_choice *choice, size_t failed);
/* Returns the number of remembered variants of this problem if all of them failed; otherwise 0. */
size_t cli_failed(const struct cli *cli, const cugen_choice *choice);
/* Returns true if the choice for this problem on the model is a prediction. Opens a kernel for the
   model. */
bool cli_is_predicted(const struct cli *cli, const char *model);

/* ---- predict.c ------------------------------------------------------------------------------ */

/* Opens cli->lib and cli->kernel anew, with predictions as records that are made now for the model
   that --device names: of the variants that the options name, or of one variant of each
   implementation. Nothing is stored in the cache. */
int cli_predict(struct cli *cli);

/* ---- help.c --------------------------------------------------------------------------------- */

/* all: including environment variables and exit codes. */
void help_program(bool all, FILE *out);
/* all: including rarely needed options. */
void help_command(const struct cli_command *command, bool all, FILE *out);
/* Returns the help text of an option for that command. */
const char *help_option(const struct cli_command *command, enum cli_option option);
/* Prints the commands of a group such as "cache"; returns false if there is no such group. */
bool help_group(const char *name, FILE *out);
void help_man(FILE *out);
/* Sets the error for an unknown command, which suggests the nearest one. */
int help_unknown_command(struct cli *cli, const char *name, const char *second);

/* ---- complete.c ----------------------------------------------------------------------------- */

/* argv: "complete" and the words behind the program's name. */
int complete_words(struct cli *cli, int argc, char **argv);

#endif
