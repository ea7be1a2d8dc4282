/* The command line: a table of commands, each in a file of its own, over a table of options. It knows cugen only
   through cugen.h and api/tools.h. Results go to stdout, everything else to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "api/tools.h"

/* name, letter (0: none), argument (NULL: none; "[N]": may be left out), what it does. Parsing, --help and the man
   page all come from this one table. */
#define CLI_OPTIONS(X)                                                                                               \
  X(VARIANT, "variant", 0, "TEXT", "which variant: \"tiled BM=64\"; the rest is chosen")                             \
  X(BEST, "best", 0, NULL, "the remembered best; an error if there is none")                                         \
  X(OUTPUT, "output", 'o', "FILE", "write to this file; export: into this folder")                                   \
  X(DEVICES, "devices", 0, "LIST", "devices by name or architecture: \"H200, sm_80\"")                               \
  X(PROBLEMS, "problems", 0, "LIST", "problems: \"M=1024 N=1024; M=4096\" (default: all)")                           \
  X(PROBLEM_FILE, "problems", 0, "FILE", "these problems, a line each: M=64 N=128; -: stdin")                        \
  X(FROM, "from", 0, "FILE", "the problems that an application asked for: what CUGEN_CAPTURE wrote; -: stdin")       \
  X(DISTANCE, "distance", 0, "D", "serve problems this near, too (1: twice or half the size), whatever the policy")  \
  X(PTX, "ptx", 0, NULL, "gen: print PTX; export: add PTX for unknown GPUs")                                         \
  X(FORCE, "force", 0, NULL, "write into a folder that holds other files; they stay")                                \
  X(LIST, "list", 0, "[N]", "print the valid variants, at most N of them")                                           \
  X(BUDGET, "budget", 0, "LIMIT",                                                                                    \
    "stop after a time (90s, 5m, 1h), variants (500) or none (default: 60s; cpu and model 30s)")                     \
  X(STRATEGY, "strategy", 0, "STRATEGY", "which variants come first (default: surrogate)")                           \
  X(OBJECTIVE, "objective", 0, "OBJECTIVE", "what is best: time, energy, \"flops / energy\", ...")                   \
  X(PREFER, "prefer", 0, "PREFERENCE", "of variants that tie: simplest, registers, energy (default: simplest)")      \
  X(SEED, "seed", 0, "N", "seed of strategy and input data (default: 1)")                                            \
  X(FORMAT, "format", 0, "FORMAT", "wisdom, t4 or kernel_tuner (default: wisdom)")                                   \
  X(PORTFOLIO, "portfolio", 0, "N", "at most N kernels for all problems, and a rule")                                \
  X(ONLY_PORTFOLIO, "portfolio", 0, NULL, "the portfolio's variants and its rule alone: few kernels for all sizes")  \
  X(BITWISE, "bitwise", 0, "TEXT", "the best of those that give the same bits as this variant: \"naive\", best")     \
  X(AGAIN, "again", 0, NULL, "measure again what is remembered")                                                     \
  X(PATTERN, "variant", 0, "PATTERN", "only these variants: \"tiled tile=32\", \"tile=*\"")                          \
  X(IMPLEMENTATION, "implementation", 0, "NAME", "only these: \"tiled\", \"naive,tiled\" or \"wgmma*\"")             \
  X(WHERE, "where", 0, "EXPRESSION", "only variants that satisfy \"BM >= 64\"; repeatable")                          \
  X(THREADS, "threads", 0, "N", "compile on N threads (default: one a processor)")                                   \
  X(TIMEOUT, "timeout", 0, "TIME", "stop a variant that runs this long (default: 10s; check 60s)")                   \
  X(COMPILE_TIMEOUT, "compile-timeout", 0, "TIME", "stop a compile that takes this long (default: 60s)")             \
  X(VERIFY, "verify", 0, "LIMIT", "time to verify the best predictions on the cpu device: 2m, none (default: 30s)")  \
  X(TOP, "top", 0, "N", "rows in the table of the best (default: 10)")                                               \
  X(REGISTERS, "registers", 0, "N", "registers a thread")                                                            \
  X(BLOCK, "block", 0, "N", "threads a block")                                                                       \
  X(SHARED, "shared", 0, "BYTES", "shared memory a block; may depend on its threads: \"4 * block\"")                 \
  X(HISTORY, "history", 0, NULL, "also what later records have replaced")                                            \
  X(TRACE, "trace", 0, NULL, "the best so far over the time spent tuning, instead")                                  \
  X(PROBLEM, "problem", 0, "TEXT", "only problems with these values: \"M=8192 dtype=f16\"")                          \
  X(OLDER_THAN, "older-than", 0, "TIME", "only what was measured longer ago: 12h, 30d")                              \
  X(FAILED, "failed", 0, NULL, "only what failed")                                                                   \
  X(MEMORY, "memory", 0, "LIST", "kinds of memory: \"pinned, mapped\" (default: all)")                               \
  X(SIZES, "sizes", 0, "LIST", "sizes: \"4KiB, 64MiB\" (default: 4 KiB to 1 GiB in powers of four)")                 \
  X(SAMPLE, "sample", 0, "N", "N variants drawn at random")                                                          \
  X(BRANCHES, "branches", 0, NULL, "few variants that take every branch of the templates")                           \
  X(STRICT, "strict", 0, NULL, "notes count as findings: races of threads that write the same value")                \
  X(NO_TRAFFIC, "no-traffic", 0, NULL, "findings alone, sooner: passes over banks and sectors are not counted")      \
  X(EVERY, "all", 0, NULL, "also variants that heuristics leave out here")                                           \
  X(ALL, "all", 0, NULL, "everything")                                                                               \
  X(EXPLAIN_ALL, "all", 0, NULL, "also what is rarely needed")                                                       \
  X(YES, "yes", 'y', NULL, "go ahead without asking")                                                                \
  X(SET, "set", 's', "NAME=VALUE", "a value of the problem, such as M=8192; repeatable")                             \
  X(DEVICE, "device", 'd', "ID", "cuda:0, cpu, model:H200 (default: the first GPU, else model:A100)")                \
  X(ARCH, "arch", 0, "NAME", "generate for this architecture, such as sm_90a")                                       \
  X(MEASURE, "measure", 0, "WAY", "how to time: burst, graph, sustained, cold (default: burst)")                     \
  X(CACHE, "cache", 0, "FILE", "database: a file, postgresql://USER@HOST/DB, none")                                  \
  X(CONFIG_DIR, "config-dir", 0, "FOLDER", "look for configs here before the shipped ones")                          \
  X(TEMPLATE_DIR, "template-dir", 0, "FOLDER", "look for templates here before anywhere else")                       \
  X(DEVICE_DIR, "device-dir", 0, "FOLDER", "look for device descriptions here first")                                \
  X(TOOLKIT, "toolkit", 0, "FOLDER", "the CUDA toolkit with NVRTC and its headers")                                  \
  X(COMPILER, "compiler", 0, "PROGRAM", "C++ compiler for the cpu device; check takes two")                          \
  X(WIDE, "wide", 0, NULL, "tables with all columns and rows")                                                       \
  X(JSON, "json", 0, NULL, "print one JSON object (docs/json.md)")                                                   \
  X(QUIET, "quiet", 'q', NULL, "the result only: no progress, no remarks")                                           \
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

/* The GPU that is predicted for where there is none: the data centres' most common one. */
#define CLI_USUAL_MODEL "model:A100"

struct cli;

/* Every command, in the order of help; the function of each is in a file of its own. */
#define CLI_COMMANDS(X)                                                                                              \
  X(TUNE, tune)                                                                                                      \
  X(RUN, run)                                                                                                        \
  X(CHECK, check)                                                                                                    \
  X(GEN, gen)                                                                                                        \
  X(EXPORT, export)                                                                                                  \
  X(SPACE, space)                                                                                                    \
  X(SHOW, show)                                                                                                      \
  X(REPORT, report)                                                                                                  \
  X(ROOFLINE, roofline)                                                                                              \
  X(OCCUPANCY, occupancy)                                                                                            \
  X(DEVICES, devices)                                                                                                \
  X(TRANSFER, transfer)                                                                                              \
  X(CACHE_LS, cache_ls)                                                                                              \
  X(CACHE_SHOW, cache_show)                                                                                          \
  X(CACHE_WHY, cache_why)                                                                                            \
  X(CACHE_RM, cache_rm)                                                                                              \
  X(CACHE_EXPORT, cache_export)                                                                                      \
  X(CACHE_IMPORT, cache_import)                                                                                      \
  X(CACHE_VERIFY, cache_verify)                                                                                      \
  X(COMPLETION, completion)                                                                                          \
  X(VERSION, version)                                                                                                \
  X(HELP, help)

enum cli_command_id {
#define X(id, name) COMMAND_##id,
  CLI_COMMANDS(X)
#undef X
      COMMAND_COUNT
};

#define X(id, name) int command_##name(struct cli *cli);
CLI_COMMANDS(X)
#undef X

/* What commands.c says of one. */
struct cli_command {
  const char *name;    /* "tune", or with its group "cache ls" */
  const char *operand; /* "CONFIG", "[COMMAND]", or NULL: takes none; with "...": several, "[COMMAND]..." two */
  const char *summary; /* one line, after the name */
  const char *details; /* what it does, in its help; lines that begin with a blank stay as they are */
  const char *more;    /* the rest, in `cugen help COMMAND --all` and the man page; NULL: nothing */
  const char *example; /* a command line */
  const enum cli_option *options; /* its own, ended by OPTION_COUNT */
  bool common;                    /* takes the common options too */
};
extern const struct cli_command cli_commands[COMMAND_COUNT + 1]; /* ended by a NULL name */
extern const enum cli_option cli_common[];                       /* ended by OPTION_COUNT */

/* One run of the program. */
struct cli {
  const struct cli_command *command;
  const char *values[OPTION_COUNT]; /* NULL: not given; "" for an option without argument */
  const char **settings;            /* the values of --set */
  size_t setting_count;
  const char *other_compiler; /* of --compiler given twice, the one before the last; NULL: it was not */
  const char **wheres;        /* the values of --where */
  size_t where_count;
  const char *operand; /* NULL: not given */
  const char *second;  /* likewise, where there are two */
  char **operands;     /* all of them */
  size_t operand_count;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_error error;
  char *model;     /* the described GPU that was chosen for one that is not here; NULL: none was */
  char *fallback;  /* why a described GPU stands in for one that is not here; NULL: none does */
  int width;       /* in which the lines of the result are to fit; 0: no limit, tables have all columns and rows */
  bool answered;   /* its JSON is printed */
  json_t *answers; /* where JSON goes instead: each of several groups of devices has an object; NULL: it is printed */
  struct serve *serve;      /* a program runs the command (serve.h); NULL: a user does */
  struct tune_group *group; /* of devices, one of several that are tuned side by side; NULL: it is alone */
  int threads;              /* to compile on, where a group has a share of them; 0: as --threads says */
  char *lost;               /* what was said of devices that failed, a line each; NULL: nothing */
  cugen_outputs outputs;    /* of all that are ranked; not known: whatever is right is */
  char *self;               /* this program's file, once it was asked for */
};

/* ---- commands.c ---- */

/* The command "name", or "name second" (NULL: no second word); *words is how many words its name has. */
const struct cli_command *commands_find(const char *name, const char *second, int *words);
/* What follows "group " in the command's name; NULL: it is not of that group. */
const char *commands_in_group(const struct cli_command *command, const char *group);
/* Others than --help. */
bool commands_take_options(const struct cli_command *command);
bool commands_take(const struct cli_command *command, enum cli_option option);

/* ---- messages.c ---- */

/* Sets cli->error and returns its status. */
int cli_fail(struct cli *cli, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Where in a file of the user's the cause of the failure is. Returns its status. */
int cli_place(struct cli *cli, const char *file, size_t line);
/* More of the message. */
void cli_append(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A remark on stderr, with a line end; nothing under --quiet. */
/* Says on stderr which tunables of cli->kernel nothing uses. */
void cli_remark_unused(const struct cli *cli);
/* Says on stderr that NVRTC refuses a variant that is right on the cpu device, with NVRTC's words; nothing of other devices. */
void cli_remark_refused(struct cli *cli, const char *variant);
/* The same of the first right variant of each implementation that is remembered. */
void cli_remark_all_refused(struct cli *cli);
void cli_remark(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the object of --json and releases it; a failure without one gets its own at the end. */
int cli_print_json(struct cli *cli, json_t *object);

/* ---- options.c ---- */

/* What an operand or an option's argument names, where the shell can offer some; the word that help has for it. */
#define CLI_KINDS(X)                                                                                                 \
  X(CONFIG, "CONFIG")                                                                                                \
  X(COMMAND, "COMMAND")                                                                                              \
  X(STRATEGY, "STRATEGY")                                                                                            \
  X(OBJECTIVE, "OBJECTIVE")                                                                                          \
  X(PREFERENCE, "PREFERENCE")                                                                                        \
  X(SHELL, "SHELL")                                                                                                  \
  X(FILE, "FILE")                                                                                                    \
  X(FOLDER, "FOLDER")                                                                                                \
  X(PROGRAM, "PROGRAM")

enum cli_kind {
  KIND_OTHER,
#define X(id, word) KIND_##id,
  CLI_KINDS(X)
#undef X
      KIND_COUNT
};

/* An operand or an option's argument as help has it: "CONFIG", "[N]", "[COMMAND]...", "FILE...". */
struct cli_word {
  const char *text; /* `length` characters of it */
  size_t length;
  enum cli_kind kind;
  bool optional;
  int most; /* how many are taken: 0: none, 1, with "..." INT_MAX, or 2 where they are optional */
};
struct cli_word options_word(const char *text); /* NULL: none */

/* Fills cli from the words after the command's name. */
int options_parse(struct cli *cli, int argc, char **argv);
bool options_given(const struct cli *cli, enum cli_option option);
/* The option's value as a number of at least `least`; what is not given leaves *out alone. */
int options_count(struct cli *cli, enum cli_option option, size_t least, size_t *out);
/* "90", "90s", "1.5m", "2h" in seconds. */
int options_seconds(struct cli *cli, enum cli_option option, double *out);
/* False when text is not a time with a unit (unit required) or without (else); see options_seconds. */
bool options_read_seconds(const char *text, bool unit_required, double *out);

/* ---- hint.c ---- */

/* "cugen run ./scale.lua --device cpu --set M=64": the command of that name about what this run is about, ready for a shell,
   with those options of this run that the command takes. For another problem or device: a changed copy of *cli. */
void hint_print(const struct cli *cli, const char *name, FILE *out);
char *hint_text(const struct cli *cli, const char *name); /* to be freed; NULL: out of memory */
/* `meant` is *cli or a changed copy; the text goes behind cli's message. */
void hint_append(struct cli *cli, const struct cli *meant, const char *name);

/* ---- library.c ---- */

/* With all options; cli->lib is closed at the end of the run. */
int cli_open(struct cli *cli);
/* A cugen_stop_callback: whether a signal has asked to end. */
int cli_ask_stop(void *context);
/* The whole of a command's work with no kernel: cugen opened for the cache alone, whatever --device says. */
int cli_open_cache(struct cli *cli);
/* Moves connection strings out of the words that other users see. Each is held until the program ends. */
void secrets_hide(int argc, char **argv);

/* The value of the line "name: value" of cugen_where; length 0: there is none. */
const char *cli_where(const struct cli *cli, const char *name, int *length);
/* What the library's cache is. */
cugen_cache_kind cli_cache_kind(const struct cli *cli);
/* Says when what is measured cannot be remembered. */
void cli_remark_cache(const struct cli *cli);
/* Says where results were kept, or why they were not; returns whether. */
bool cli_print_remembered(const struct cli *cli);
/* Says it when there is no database where one was looked for: a reading command makes none. */
bool cli_remark_no_cache(const struct cli *cli);

/* ---- output.c ---- */

/* --output must not name the cache, or what lies beside it. */
int cli_check_output(struct cli *cli);
/* Writes to --output what `write` prints, complete or not at all, else to stdout. */
int cli_write(struct cli *cli, void (*write)(const void *context, FILE *out), const void *context);

/* A file that is part of the program; made by the build. */
struct cli_script {
  const char *path, *data;
  size_t length;
};
extern const struct cli_script cli_scripts[]; /* the shells', from cli/completion/; ended by a NULL path */
extern const struct cli_script cli_pages[];   /* likewise, from cli/pages/ */

/* A file of cli/pages, "report.html". */
const struct cli_script *cli_page(const char *name);

/* ---- device_fallback.c ---- */

/* What --device means where it is not given: the first GPU. Without one what has to run (run, check) means the cpu device;
   report and roofline CONFIG what is remembered; all else a described GPU, which is then in cli->values. */
int cli_fall_back(struct cli *cli);
/* The same for a command with a rule of its own, once that finds nothing: a described GPU where none is here and none was named,
   *used; else all stays as it is. */
int cli_use_model(struct cli *cli, bool *used);
/* The described GPU that is used for one of --arch, without it the usual one; "model:FILE": no shipped one has that. */
const char *cli_fallback_model(const struct cli *cli);

/* ---- kernel.c ---- */

/* Behind the library's message: a setting that it refused is a list. */
void cli_explain_list(struct cli *cli);
int cli_open_kernel(struct cli *cli); /* and what comes before, of its space what the options want */
/* Of cli->kernel, which was opened anew, likewise; all: with what heuristics leave out. */
int cli_filter(struct cli *cli, bool all);
/* Reads what is remembered of the kernel, so that a cache that cannot be used is found before anything is done. */
int cli_load_records(struct cli *cli);
cugen_device_kind cli_device(const struct cli *cli); /* of the kernel */
bool cli_on_cpu(const struct cli *cli);
/* No GPU is here and none was asked for: 'cugen tune' alone would predict for another one. */
bool cli_fell_back(const struct cli *cli);
/* On the cpu device with nothing of the check problem set otherwise. */
/* Whether variants are ranked by a rate, GFLOP/s or GB/s. */
bool cli_ranks_by_rate(const cugen_kernel *kernel);
bool cli_is_check(const struct cli *cli);
/* The cpu device executes, it is not fast: what runs there runs on the check problem. */
int cli_use_check_on_cpu(struct cli *cli);
/* How many devices --device names, which share the work of tuning; 1 unless it is a list. */
size_t cli_device_count(const struct cli *cli);
/* What is remembered of cli->kernel; of a described GPU that nothing was measured on, what was predicted. */
int cli_stored(struct cli *cli, const cugen_stored_record **all, size_t *count);
/* "NVIDIA H200 (cuda:0)" */
void cli_print_device(const struct cli *cli, FILE *out);
/* The first lines of a result that was measured: kernel, problem and device; on the cpu device also what its times
   are worth, and why it is the cpu device. */
void cli_print_head(const struct cli *cli);
/* How times are measured, in words: "with cold caches"; NULL: in the usual way, "burst", or not at all. */
const char *cli_way(const char *measure);
/* A line about it, unless it is the usual one. */
void cli_print_way(const struct cli *cli);

/* ---- predict.c ---- */

/* cli->lib and cli->kernel become ones in which the kernel's records are predictions made now, of the described GPU that
   --device names: of the variants that the options name, without any of one of each implementation. Nothing is remembered. */
int cli_predict(struct cli *cli);

/* ---- advice.c ---- */

/* What 'cugen tune' would do for this kernel on this device. */
enum cli_tuning { CLI_MEASURES, CLI_PREDICTS, CLI_REFUSES };
enum cli_tuning cli_tuning(const struct cli *cli);
/* Whether predictions of this problem are remembered for that model. */
bool cli_is_predicted(const struct cli *cli, const char *model);
/* --arch on the cpu device, which has none: nothing measured can be of it. */
bool cli_only_predicts(const struct cli *cli);
/* *cli with --device cpu where the cpu device was meant because no GPU is here: other commands would mean a described GPU. For
   a hint. */
struct cli cli_here(const struct cli *cli);
/* *cli with the device with which 'cugen tune' measures here where a measurement is missing, or predicts where nothing can be
   measured: for a hint. */
struct cli cli_to_tune(const struct cli *cli);

/* ---- selection.c ---- */

/* Says what was chosen where no variant was named, unless it is the best of this very problem. */
void cli_remark_choice(const struct cli *cli, const cugen_choice *choice, size_t failed);
/* How many variants are remembered for this problem, when none of them is chosen since all failed. */
size_t cli_failed(const struct cli *cli, const cugen_choice *choice);

/* ---- help.c ---- */

/* all: with environment variables and exit codes. */
void help_program(bool all, FILE *out);
/* all: with the options that are rarely needed. */
void help_command(const struct cli_command *command, bool all, FILE *out);
/* What the option does for that command. */
const char *help_option(const struct cli_command *command, enum cli_option option);
/* The commands of a group such as "cache"; false: there is no such group. */
bool help_group(const char *name, FILE *out);
void help_man(FILE *out);
/* Sets the error for an unknown command, with the nearest. */
int help_unknown_command(struct cli *cli, const char *name, const char *second);

/* ---- complete.c ---- */

/* argv: "complete", then the words behind the program's name. */
int complete_words(struct cli *cli, int argc, char **argv);

#endif
