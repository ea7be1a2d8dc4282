/* cugen, the program: finds the command, reads its options, runs it, reports its failure once, here. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clean.h"
#include "cli.h"
#include "print.h"
#include "stop.h"

const enum cli_option cli_common[] = {OPTION_SET,        OPTION_DEVICE,       OPTION_ARCH,       OPTION_CACHE,
                                      OPTION_CONFIG_DIR, OPTION_TEMPLATE_DIR, OPTION_DEVICE_DIR, OPTION_TOOLKIT,
                                      OPTION_COMPILER,   OPTION_JSON,         OPTION_QUIET,      OPTION_HELP,
                                      OPTION_COUNT};

static const enum cli_option tune_options[] = {
    OPTION_BUDGET,          OPTION_STRATEGY, OPTION_SEED,  OPTION_AGAIN,   OPTION_PATTERN,
    OPTION_IMPLEMENTATION,  OPTION_WHERE,    OPTION_EVERY, OPTION_THREADS, OPTION_TIMEOUT,
    OPTION_COMPILE_TIMEOUT, OPTION_VERIFY,   OPTION_TOP,   OPTION_COUNT};
static const enum cli_option gen_options[] = {OPTION_VARIANT, OPTION_BEST, OPTION_OUTPUT, OPTION_COUNT};
static const enum cli_option export_options[] = {OPTION_OUTPUT, OPTION_DEVICES, OPTION_PROBLEMS, OPTION_DISTANCE,
                                                 OPTION_PTX,    OPTION_FORCE,   OPTION_COUNT};
static const enum cli_option show_options[] = {OPTION_VARIANT, OPTION_COUNT};
static const enum cli_option run_options[] = {OPTION_VARIANT, OPTION_TIMEOUT, OPTION_COUNT};
static const enum cli_option check_options[] = {OPTION_VARIANT,  OPTION_IMPLEMENTATION, OPTION_WHERE, OPTION_ALL,
                                                OPTION_BRANCHES, OPTION_SAMPLE,         OPTION_SEED,  OPTION_THREADS,
                                                OPTION_TIMEOUT,  OPTION_COUNT};
static const enum cli_option space_options[] = {OPTION_PATTERN, OPTION_IMPLEMENTATION, OPTION_WHERE,
                                                OPTION_EVERY,   OPTION_LIST,           OPTION_COUNT};
static const enum cli_option cache_show_options[] = {OPTION_HISTORY, OPTION_COUNT};
static const enum cli_option cache_why_options[] = {OPTION_VARIANT, OPTION_COUNT};
static const enum cli_option cache_ls_options[] = {OPTION_PROBLEM, OPTION_DEVICE, OPTION_CACHE, OPTION_CONFIG_DIR,
                                                   OPTION_JSON,    OPTION_QUIET,  OPTION_HELP,  OPTION_COUNT};
static const enum cli_option cache_rm_options[] = {
    OPTION_PROBLEM, OPTION_DEVICE,     OPTION_OLDER_THAN, OPTION_FAILED, OPTION_ALL,  OPTION_YES,
    OPTION_CACHE,   OPTION_CONFIG_DIR, OPTION_JSON,       OPTION_QUIET,  OPTION_HELP, OPTION_COUNT};
static const enum cli_option cache_export_options[] = {OPTION_OUTPUT, OPTION_PROBLEM,    OPTION_DEVICE,
                                                       OPTION_CACHE,  OPTION_CONFIG_DIR, OPTION_QUIET,
                                                       OPTION_HELP,   OPTION_COUNT};
static const enum cli_option cache_verify_options[] = {OPTION_CACHE, OPTION_JSON, OPTION_QUIET, OPTION_HELP,
                                                       OPTION_COUNT};
static const enum cli_option transfer_options[] = {OPTION_MEMORY, OPTION_SIZES, OPTION_DEVICE, OPTION_TOOLKIT,
                                                   OPTION_JSON,   OPTION_QUIET, OPTION_HELP,   OPTION_COUNT};
static const enum cli_option roofline_options[] = {OPTION_OUTPUT, OPTION_AGAIN, OPTION_COUNT};
static const enum cli_option report_options[] = {
    OPTION_OUTPUT,       OPTION_TOP,        OPTION_SET,   OPTION_DEVICE, OPTION_CACHE, OPTION_CONFIG_DIR,
    OPTION_TEMPLATE_DIR, OPTION_DEVICE_DIR, OPTION_QUIET, OPTION_HELP,   OPTION_COUNT};
static const enum cli_option occupancy_options[] = {
    OPTION_VARIANT, OPTION_IMPLEMENTATION, OPTION_WHERE, OPTION_REGISTERS, OPTION_BLOCK, OPTION_SHARED, OPTION_COUNT};
static const enum cli_option devices_options[] = {OPTION_CACHE, OPTION_TOOLKIT, OPTION_COMPILER, OPTION_JSON,
                                                  OPTION_QUIET, OPTION_HELP,    OPTION_COUNT};
static const enum cli_option help_only[] = {OPTION_HELP, OPTION_COUNT};

const struct cli_command cli_commands[] = {
    {"tune", "CONFIG", "find the best variant on this device and remember it",
     "Generates variants of the config's kernel, compiles them, proves each right against the\n"
     "reference, times those that are, and remembers every result as it arrives. Ctrl-C loses\n"
     "nothing; the same command again goes on where it stopped. Without a CUDA GPU, or with\n"
     "--device model:NAME, variants are compiled for a described GPU and their times predicted;\n"
     "the first of them is verified on the cpu device, and the next where it is wrong (--verify);\n"
     "with --device cpu they run on the processor, with the config's check problem.",
     tune_options, true, command_tune},
    {"run", "CONFIG", "verify and time one variant: the remembered best",
     "Verifies and times one variant now, in a process of its own; nothing is remembered.\n"
     "Without --variant it is what an application's plan would use: the best remembered for this\n"
     "problem, else for the one that the config's policy names, else the model's choice where\n"
     "predictions are remembered, else the config's default.",
     run_options, true, command_run},
    {"check", "[CONFIG]", "find races, bad accesses and bank conflicts, without a GPU",
     "Runs variants on the cpu device with every access to memory watched, and compares the\n"
     "results: races, uninitialised reads, accesses out of bounds, divergent barriers, hangs,\n"
     "each with the template's line, the block, the thread and the array; how far accesses are\n"
     "from the fewest passes over the banks and sectors. Without --variant, --all, --branches or\n"
     "--sample it takes variants that show every value of every tunable, on several sizes, types\n"
     "and layouts; without CONFIG it checks all kernels that ship, by --branches. What has no\n"
     "form on the cpu device is named and not checked. Exit code 11: something was found.",
     check_options, true, command_check},
    {"gen", "CONFIG", "print the specialised source of a variant",
     "Prints the expanded .cu of one variant, as it is given to the compiler; nvcc compiles it\n"
     "as it stands. Without --variant it is what an application's plan would use: the best\n"
     "remembered for this problem, else for the one that the config's policy names, else the\n"
     "model's choice where predictions are remembered, else the config's default.",
     gen_options, true, command_gen},
    {"export", "CONFIG", "write tuned variants as plain C that needs only the driver",
     "Writes a folder with a header, a source with the compiled variants in it, and how to build\n"
     "and use them: no compiler, toolkit or cugen at run time. It holds what is remembered of the\n"
     "config, for every device and problem, and the default variants for the rest; --set picks\n"
     "problems with these values. Nothing is measured, and no GPU is needed.",
     export_options, true, command_export},
    {"space", "CONFIG", "how many variants there are, and which rule removes how many",
     "Counts all combinations of tunables, the valid ones, and for each restriction those that\n"
     "it was the first to rule out; so it does for what the device cannot launch, for what never was\n"
     "the fastest on such a device (heuristics), and for what the options leave out.\n"
     "'cugen gen CONFIG --variant TEXT' says which rule a variant breaks.",
     space_options, true, command_space},
    {"show", "[CONFIG]", "the problem, the arguments in order, and how to call the kernel",
     "Shows what the config describes for this problem and device: its policy, implementations,\n"
     "arguments with type, shape, strides and bytes, and the launches of one variant: without\n"
     "--variant, of what a plan would use. Without CONFIG: the configs that ship.",
     show_options, true, command_show},
    {"report", "CONFIG", "write what is remembered of a kernel as a page: roofline, implementations, parameters",
     "Writes one self-contained HTML page (-o report.html) for the problem that --set means: the\n"
     "roofline with every variant on it, the best of each implementation, what each parameter\n"
     "does to the time, the best variants with what they take, failures, and the machine. Of the\n"
     "devices that --device means it takes a GPU before the cpu device, what was measured before\n"
     "what is predicted, the latest. It is made from the cache alone: the device need not be here.",
     report_options, false, command_report},
    {"roofline", "[CONFIG]", "what bounds every kernel on this device; with CONFIG, a picture",
     "Measures how fast device memory is copied and how fast f32 and f64 multiply-adds run, each\n"
     "once: what is remembered is not measured again without --again. They are the two configs\n"
     "peak_copy and peak_fma; 'roofline' in every table is in percent of these from then on. With\n"
     "CONFIG nothing is measured: the roofline is drawn with all that is remembered of the kernel,\n"
     "in the terminal or as SVG (-o FILE.svg); which problem and device, as in 'cugen report'.",
     roofline_options, true, command_roofline},
    {"occupancy", "[CONFIG]", "how many blocks a multiprocessor holds, here and on other devices",
     "Shows for a kernel with so many registers, threads and bytes of shared memory how many of its\n"
     "blocks a multiprocessor holds, what limits that, and which block size would hold most: on\n"
     "this machine's GPUs and on some that are not here, or on the --device given. With CONFIG it\n"
     "starts from what the remembered best variant (or --variant) takes.",
     occupancy_options, true, command_occupancy},
    {"devices", NULL, "the devices of this machine, and what cugen found where",
     "Lists the devices, then where the driver, NVRTC, the CUDA headers, the C++ compiler and\n"
     "the cache were found or looked for.",
     devices_options, false, command_devices},
    {"transfer", NULL, "how fast data moves between host and device, by kind of memory",
     "Measures both directions from and to pageable memory (malloc), pinned, pinned and\n"
     "write-combined, 2-D and 3-D copies between packed and pitched rows, mapped memory that a\n"
     "kernel reaches (zero-copy), managed memory that moves when it is touched, and managed\n"
     "memory that is sent for ahead of that. Needs a GPU; Ctrl-C prints what was measured.",
     transfer_options, false, command_transfer},
    {"cache ls", "[CONFIG]", "what is remembered: a line for each kernel, problem and device",
     "Lists the sets of records in the cache, of every kernel or of the CONFIG's: how many, the\n"
     "best, when it was last measured. CONFIG is a kernel's name or a config; --device is an\n"
     "identifier such as cuda:0, or part of a device's text in the list.",
     cache_ls_options, false, command_cache_ls},
    {"cache show", "CONFIG", "every record of one kernel for this problem and device",
     "Shows all that is remembered of the kernel for this problem, device and options, also what\n"
     "a look-up does not take because the kernel has changed since (stale).",
     cache_show_options, true, command_cache_show},
    {"cache why", "CONFIG", "what a look-up finds, or why it finds nothing, field by field",
     "Explains a hit or a miss for this kernel, problem, device and options: the record that is\n"
     "taken, or the nearest ones and what keeps each of them from being taken.",
     cache_why_options, true, command_cache_why},
    {"cache rm", "[CONFIG]", "remove records, and compiled kernels that nothing needs any more",
     "Removes the records that all the given options mean, with their history, and each compiled\n"
     "kernel that no remaining record can want. On a terminal it says what would go, and asks;\n"
     "otherwise --yes is needed. CONFIG is a kernel's name or a config: then records that were\n"
     "measured from another config file stay. --device is as in 'cugen cache ls'.",
     cache_rm_options, false, command_cache_rm},
    {"cache export", "[CONFIG]", "write what is remembered as text, to be imported elsewhere",
     "Writes the records that the options mean as wisdom: one line of JSON each, which stands for\n"
     "itself (docs/cache.md). CONFIG and --device are as in 'cugen cache ls'.",
     cache_export_options, false, command_cache_export},
    {"cache import", "FILE", "merge what was exported elsewhere",
     "Merges a wisdom file into the cache, all of it or, when any line cannot be vouched for,\n"
     "nothing. Where both have a variant the better measurement is used from then on, and both\n"
     "are kept. FILE - is the standard input.",
     cache_verify_options, false, command_cache_import},
    {"cache verify", NULL, "check the whole cache: the file, every record, every compiled kernel",
     "Reads all of the database, and compares every compiled kernel with its checksum. Exit code\n"
     "9 when something is wrong, with a line for each thing.",
     cache_verify_options, false, command_cache_verify},
    {"completion", "SHELL", "print a script for the shell, so that it completes commands, options and configs",
     "SHELL is bash, fish or zsh. An installed cugen needs it only where the shell does not look\n"
     "into the installation's share folder. For bash, in ~/.bashrc: eval \"$(cugen completion bash)\"",
     help_only, false, command_completion},
    {"version", NULL, "print the version", "", help_only, false, command_version},
    {"help", "[COMMAND]...", "print help, on a command when one is given", "", help_only, false, command_help},
    {0},
};

/* ---- What commands share ---- */

int cli_fail(struct cli *cli, int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(cli->error.message, sizeof cli->error.message, format, args);
  va_end(args);
  return cli->error.status = status;
}

void cli_append(struct cli *cli, const char *format, ...) {
  size_t length = strlen(cli->error.message);
  va_list args;
  va_start(args, format);
  vsnprintf(cli->error.message + length, sizeof cli->error.message - length, format, args);
  va_end(args);
}

void cli_remark(const struct cli *cli, const char *format, ...) {
  if (options_given(cli, OPTION_QUIET)) return;
  va_list args;
  va_start(args, format);
  fputs("cugen: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

int cli_open_cache(struct cli *cli) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.cache = cli->values[OPTION_CACHE];
  options.config_dir = cli->values[OPTION_CONFIG_DIR];
  return cugen_open(&options, &cli->lib, &cli->error);
}

/* This program serves as its own worker; what the environment names goes first. */
static const char *own_worker(struct cli *cli) {
  const char *named = getenv("CUGEN_WORKER");
  if (named && *named) return NULL;
  if (!cli->self) cli->self = realpath("/proc/self/exe", NULL);
  return cli->self;
}

/* Only where the signals are caught: a command that has nothing to keep is ended by them, at once. */
static int ask_stop(void *context) {
  (void)context;
  return stop_asked();
}

int cli_open(struct cli *cli) {
  const char *const *values = cli->values;
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = values[OPTION_DEVICE];
  options.arch = values[OPTION_ARCH];
  options.cache = values[OPTION_CACHE];
  options.config_dir = values[OPTION_CONFIG_DIR];
  options.template_dir = values[OPTION_TEMPLATE_DIR];
  options.device_dir = values[OPTION_DEVICE_DIR];
  options.toolkit = values[OPTION_TOOLKIT];
  options.compiler = values[OPTION_COMPILER];
  options.worker = own_worker(cli);
  options.stop = ask_stop;
  return cugen_open(&options, &cli->lib, &cli->error);
}

int cli_filter(struct cli *cli, bool all) {
  cugen_filter filter = CUGEN_FILTER_INIT;
  filter.where = cli->wheres;
  filter.where_count = cli->where_count;
  filter.variant = cli->values[OPTION_PATTERN];
  filter.implementation = cli->values[OPTION_IMPLEMENTATION];
  filter.all = all;
  bool any = filter.where_count || filter.variant || filter.implementation || filter.all;
  return cugen_kernel_filter(cli->kernel, any ? &filter : NULL, &cli->error);
}

int cli_open_kernel(struct cli *cli) {
  int status = cli_open(cli);
  if (!status) status = cli_fall_back(cli);
  if (!status)
    status = cugen_kernel_open(cli->lib, cli->operand, cli->settings, cli->setting_count, &cli->kernel, &cli->error);
  return status ? status : cli_filter(cli, options_given(cli, OPTION_EVERY));
}

int cli_load_records(struct cli *cli) {
  cugen_record record;
  if (cugen_kernel_records(cli->kernel)) return CUGEN_OK;
  int status = cugen_kernel_record(cli->kernel, 0, &record, &cli->error);
  return status == CUGEN_ERROR_USAGE ? CUGEN_OK : status; /* usage: there is no record 0, since there are none */
}

cugen_device_kind cli_device(const struct cli *cli) {
  return cugen_device_parse(cugen_kernel_device(cli->kernel)->id).kind;
}

bool cli_on_cpu(const struct cli *cli) {
  return cli_device(cli) == CUGEN_DEVICE_CPU;
}

bool cli_is_check(const struct cli *cli) {
  return cli_on_cpu(cli) && !cli->setting_count;
}

int cli_use_check_on_cpu(struct cli *cli) {
  return cli_on_cpu(cli) ? cugen_kernel_use_check(cli->kernel, &cli->error) : CUGEN_OK;
}

int cli_stored(struct cli *cli, const cugen_stored_record **all, size_t *count) {
  bool history = options_given(cli, OPTION_HISTORY);
  cugen_error ignored;
  int status = cugen_kernel_stored(cli->kernel, history, all, count, &cli->error);
  if (status || *count || cugen_kernel_use_predictions(cli->kernel, &ignored)) return status;
  return cugen_kernel_stored(cli->kernel, history, all, count, &cli->error);
}

void cli_print_device(const struct cli *cli, FILE *out) {
  const cugen_device_info *device = cugen_kernel_device(cli->kernel);
  fprintf(out, "%s (%s)", device->name, *device->id ? device->id : "not here");
}

void cli_print_head(const struct cli *cli) {
  const char *why = cugen_kernel_fallback(cli->kernel);
  const cugen_device_info *device = cugen_kernel_device(cli->kernel);
  printf("%s %s on ", cugen_kernel_name(cli->kernel), cugen_kernel_problem_short(cli->kernel));
  if (cli_on_cpu(cli))
    printf("the cpu device (%s), with the config's check problem%s; times are the CPU's own, not a GPU's\n",
           device->name, cli->setting_count ? " where --set says nothing else" : "");
  else
    printf("%s (%s)%s\n", device->name, *device->id ? device->id : "not here",
           cugen_kernel_predicted(cli->kernel) ? ": predicted, not measured; not verified but where it is said" : "");
  if (why) printf("No CUDA GPU: %s\n", why);
}

const char *cli_where(const struct cli *cli, const char *name, int *length) {
  size_t prefix = strlen(name);
  const char *line = cugen_where(cli->lib);
  while (*line && (strncmp(line, name, prefix) != 0 || strncmp(line + prefix, ": ", 2) != 0)) {
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  if (*line) line += prefix + 2;
  *length = (int)strcspn(line, "\n");
  return line;
}

const struct cli_script *cli_page(const char *name) {
  const struct cli_script *page = cli_pages;
  while (page->path && strcmp(strrchr(page->path, '/') + 1, name) != 0) page++;
  return page;
}

/* A pipe, a device, a link such as /dev/stdout: what must not be replaced by a file. */
static bool is_special(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* 0 or an errno. */
static int write_stream(FILE *file, void (*write)(const void *context, FILE *out), const void *context) {
  if (!file) return errno;
  errno = 0;
  write(context, file);
  int code = ferror(file) ? (errno ? errno : EIO) : 0;
  if (fclose(file) != 0 && !code) code = errno;
  return code;
}

/* Into a file beside, which then takes the place of the old one. */
static int replace_file(const char *path, void (*write)(const void *context, FILE *out), const void *context) {
  char *beside;
  if (asprintf(&beside, "%s.%ld.new", path, (long)getpid()) < 0) return ENOMEM;
  int code = write_stream(fopen(beside, "wx"), write, context);
  if (!code && rename(beside, path) != 0) code = errno;
  if (code && code != EEXIST) unlink(beside);
  free(beside);
  return code;
}

static int write_file(struct cli *cli, const char *path, void (*write)(const void *context, FILE *out),
                      const void *context) {
  int code = is_special(path) ? write_stream(fopen(path, "w"), write, context) : replace_file(path, write, context);
  return code ? cli_fail(cli, CUGEN_ERROR_IO, "%s: cannot write: %s", path, strerror(code)) : CUGEN_OK;
}

static bool is_same_file(const char *path, const char *base, int length, const char *suffix) {
  struct stat one, other;
  char *name;
  if (asprintf(&name, "%.*s%s", length, base, suffix) < 0) return false;
  const bool same = strcmp(path, name) == 0 || (stat(path, &one) == 0 && stat(name, &other) == 0 &&
                                                one.st_dev == other.st_dev && one.st_ino == other.st_ino);
  free(name);
  return same;
}

int cli_check_output(struct cli *cli) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-import"};
  const char *path = cli->values[OPTION_OUTPUT], *cache = cli->values[OPTION_CACHE];
  if (!cache) cache = getenv("CUGEN_CACHE");
  int length = cache ? (int)strlen(cache) : 0;
  if (cli->lib) cache = cli_where(cli, "cache", &length);
  for (size_t i = 0; path && length && i < sizeof suffixes / sizeof *suffixes; i++)
    if (is_same_file(path, cache, length, suffixes[i]))
      return cli_fail(cli, CUGEN_ERROR_USAGE, "--output %s: that is the cache, and writing would destroy it", path);
  return CUGEN_OK;
}

int cli_write(struct cli *cli, void (*write)(const void *context, FILE *out), const void *context) {
  const char *path = cli->values[OPTION_OUTPUT];
  const int refused = cli_check_output(cli);
  if (refused) return refused;
  if (path && strcmp(path, "-") != 0) return write_file(cli, path, write, context);
  if (isatty(STDOUT_FILENO)) return write(context, stdout), CUGEN_OK;
  fflush(stdout);
  int copy = dup(STDOUT_FILENO), code = write_stream(copy < 0 ? NULL : fdopen(copy, "w"), write, context);
  return code ? cli_fail(cli, CUGEN_ERROR_IO, "cannot write to stdout") : CUGEN_OK;
}

void cli_remark_cache(const struct cli *cli) {
  int length;
  const char *warning = cli_where(cli, "warning", &length);
  if (length) cli_remark(cli, "%.*s", length, warning);
  warning = cli_where(cli, "image key", &length);
  if (length) cli_remark(cli, "%.*s", length, warning);
}

bool cli_remark_no_cache(const struct cli *cli) {
  int length;
  const char *path = cli_where(cli, "cache", &length);
  char *name = strndup(path, (size_t)length);
  bool missing = name && strcmp(name, "none") != 0 && access(name, F_OK) != 0;
  if (missing) cli_remark(cli, "%s: there is no database there, so nothing is remembered", name);
  free(name);
  return missing;
}

int cli_print_json(struct cli *cli, json_t *object) {
  cli->answered = true;
  return json_print(object, stdout, &cli->error);
}

bool cli_fell_back(const struct cli *cli) {
  return cugen_kernel_fallback(cli->kernel) && !cli->values[OPTION_ARCH];
}

/* ---- The program ---- */

static int run_command(struct cli *cli, int argc, char **argv) {
  int status = options_parse(cli, argc, argv);
  if (status) return status;
  if (options_given(cli, OPTION_HELP)) {
    help_command(cli->command, stdout);
    return CUGEN_OK;
  }
  status = cli->command->run(cli);
  if (!status && cli->fallback && strcmp(cli->command->name, "tune") != 0) /* which says it in its first line */
    cli_remark(cli, "no GPU is here: this is about %s; --device names another, or cpu", cli->model);
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  free(cli->fallback);
  free(cli->model);
  return status;
}

static int run(struct cli *cli, int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "worker") == 0) return cugen_worker_main(argc - 1, argv + 1); /* started by cugen, not by people */
  clean_streams();
  if (strcmp(word, "man") == 0) return help_man(stdout), CUGEN_OK; /* docs/cugen.1 is made with it */
  if (strcmp(word, "complete") == 0) return complete_words(cli, argc - 1, argv + 1); /* for the shells' scripts */
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
  if (strcmp(word, "--version") == 0) word = "version";
  if (!*word) {
    help_all(stderr);
    return cli_fail(cli, CUGEN_ERROR_USAGE, "a command is missing");
  }
  int words;
  const char *second = argc > 2 ? argv[2] : NULL;
  cli->command = help_find_command(word, second, &words);
  if (cli->command) return run_command(cli, argc - words, argv + words);
  if (second && (strcmp(second, "--help") == 0 || strcmp(second, "-h") == 0) && help_group(word, stdout))
    return CUGEN_OK;
  return help_unknown_command(cli, word, second);
}

static bool asks_for_json(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--json") == 0) return true;
  return false;
}

/* Whoever reads JSON gets some, whatever fails. A positive status is no failure of cugen's. */
static void answer_failure(struct cli *cli, int status) {
  const char *message = *cli->error.message ? cli->error.message : cugen_status_text(status);
  json_t *error = json_object(), *object = json_object();
  json_object_set_new(error, "status", json_integer(status));
  json_object_set_new(error, "text", json_string(cugen_status_text(status)));
  json_object_set_new(error, "message", json_text(message));
  json_object_set_new(object, "error", error);
  cugen_error ignored;
  json_print(object, stdout, &ignored);
}

/* A full disk or a closed pipe behind stdout shows at the latest here. */
static int close_stdout(struct cli *cli, int status) {
  /* Not fclose: NVRTC's C++ library keeps the pointer and flushes it when the process ends. */
  bool failed = ferror(stdout) || fflush(stdout);
  if (close(STDOUT_FILENO) == 0 && !failed) return status;
  return status ? status : cli_fail(cli, CUGEN_ERROR_IO, "cannot write to stdout");
}

int main(int argc, char **argv) {
  struct cli cli = {0};
  signal(SIGCHLD,
         SIG_DFL); /* who started this may have ignored it, which is inherited: no process would tell how it ended */
  int status = run(&cli, argc, argv);
  if (status < 0 && !cli.answered && asks_for_json(argc, argv)) answer_failure(&cli, status);
  status = close_stdout(&cli, status);
  /* A positive status is a signal's exit code (tune.c) or the worker's own: it has no message. */
  if (status < 0 && *cli.error.message)
    fprintf(stderr, "cugen: %s\n", cli.error.message);
  else if (status < 0)
    fprintf(stderr, "cugen: %s\n", cugen_status_text(status));
  free(cli.settings);
  free(cli.self);
  free(cli.wheres);
  return status < 0 ? -status : status;
}
