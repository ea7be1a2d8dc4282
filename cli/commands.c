/* What every command is called, takes and does: parsing, help, completion and hints all read these tables. */
#include <string.h>

#include "cli.h"

const enum cli_option cli_common[] = {OPTION_SET,        OPTION_DEVICE,       OPTION_ARCH,       OPTION_CACHE,
                                      OPTION_CONFIG_DIR, OPTION_TEMPLATE_DIR, OPTION_DEVICE_DIR, OPTION_TOOLKIT,
                                      OPTION_COMPILER,   OPTION_JSON,         OPTION_QUIET,      OPTION_HELP,
                                      OPTION_COUNT};

static const enum cli_option tune_options[] = {
    OPTION_BUDGET,          OPTION_STRATEGY, OPTION_SEED,  OPTION_AGAIN,   OPTION_PATTERN,
    OPTION_IMPLEMENTATION,  OPTION_WHERE,    OPTION_EVERY, OPTION_THREADS, OPTION_TIMEOUT,
    OPTION_COMPILE_TIMEOUT, OPTION_VERIFY,   OPTION_TOP,   OPTION_COUNT};
static const enum cli_option gen_options[] = {OPTION_VARIANT, OPTION_BEST, OPTION_PTX, OPTION_OUTPUT, OPTION_COUNT};
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
static const enum cli_option roofline_options[] = {OPTION_PATTERN, OPTION_IMPLEMENTATION, OPTION_WHERE,
                                                   OPTION_OUTPUT,  OPTION_AGAIN,          OPTION_COUNT};
static const enum cli_option report_options[] = {
    OPTION_OUTPUT,       OPTION_TOP,        OPTION_SET,   OPTION_DEVICE, OPTION_CACHE, OPTION_CONFIG_DIR,
    OPTION_TEMPLATE_DIR, OPTION_DEVICE_DIR, OPTION_QUIET, OPTION_HELP,   OPTION_COUNT};
static const enum cli_option occupancy_options[] = {
    OPTION_VARIANT, OPTION_IMPLEMENTATION, OPTION_WHERE, OPTION_REGISTERS, OPTION_BLOCK, OPTION_SHARED, OPTION_COUNT};
static const enum cli_option devices_options[] = {OPTION_CACHE, OPTION_TOOLKIT, OPTION_COMPILER, OPTION_JSON,
                                                  OPTION_QUIET, OPTION_HELP,    OPTION_COUNT};
static const enum cli_option help_only[] = {OPTION_HELP, OPTION_COUNT};

const struct cli_command cli_commands[COMMAND_COUNT + 1] = {
    [COMMAND_TUNE] = {"tune", "CONFIG", "find the best variant on this device and remember it",
                      "Generates variants of the config's kernel, compiles them, proves each right against the\n"
                      "reference, times those that are, and remembers every result as it arrives. Ctrl-C loses\n"
                      "nothing; the same command again goes on where it stopped. Without a CUDA GPU, or with\n"
                      "--device model:NAME, variants are compiled for a described GPU and their times predicted;\n"
                      "the first of them is verified on the cpu device, and the next where it is wrong (--verify);\n"
                      "with --device cpu they run on the processor, with the config's check problem.",
                      tune_options, true},
    [COMMAND_RUN] = {"run", "CONFIG", "verify and time one variant: the remembered best",
                     "Verifies and times one variant now, in a process of its own; nothing is remembered.\n"
                     "Without --variant it is what an application's plan would use: the best remembered for this\n"
                     "problem, else for the one that the config's policy names, else the model's choice where\n"
                     "predictions are remembered, else the config's default.\n"
                     "The timed launches lie between cuProfilerStart and cuProfilerStop, for profilers:\n"
                     "ncu --profile-from-start off --target-processes all -c 1 cugen run CONFIG",
                     run_options, true},
    [COMMAND_CHECK] = {"check", "[CONFIG]", "find races, bad accesses and bank conflicts, without a GPU",
                       "Runs variants on the cpu device with every access to memory watched, and compares the\n"
                       "results: races, uninitialised reads, accesses out of bounds, divergent barriers, hangs,\n"
                       "each with the template's line, the block, the thread and the array; how far accesses are\n"
                       "from the fewest passes over the banks and sectors. Without --variant, --all, --branches or\n"
                       "--sample it takes variants that show every value of every tunable, on several sizes, types\n"
                       "and layouts; without CONFIG it checks all kernels that ship, by --branches. What has no\n"
                       "form on the cpu device is named and not checked. Exit code 11: something was found.",
                       check_options, true},
    [COMMAND_GEN] = {"gen", "CONFIG", "print the specialised source of a variant",
                     "Prints the expanded .cu of one variant, as it is given to the compiler; nvcc compiles it\n"
                     "as it stands. Without --variant it is what an application's plan would use: the best\n"
                     "remembered for this problem, else for the one that the config's policy names, else the\n"
                     "model's choice where predictions are remembered, else the config's default. --ptx prints\n"
                     "what NVRTC makes of it, for a GPU that need not be here.",
                     gen_options, true},
    [COMMAND_EXPORT] =
        {"export", "CONFIG", "write tuned variants as plain C that needs only the driver",
         "Writes a folder with a header, a source with the compiled variants in it, and how to build\n"
         "and use them: no compiler, toolkit or cugen at run time. It holds what is remembered of the\n"
         "config, for every device and problem, and the default variants for the rest; --set picks\n"
         "problems with these values. Nothing is measured, and no GPU is needed.",
         export_options, true},
    [COMMAND_SPACE] =
        {"space", "CONFIG", "how many variants there are, and which rule removes how many",
         "Counts all combinations of tunables, the valid ones, and for each restriction those that\n"
         "it was the first to rule out; so it does for what the device cannot launch, for what never was\n"
         "the fastest on such a device (heuristics), and for what the options leave out.\n"
         "'cugen gen CONFIG --variant TEXT' says which rule a variant breaks.",
         space_options, true},
    [COMMAND_SHOW] = {"show", "[CONFIG]", "the problem, the arguments in order, and how to call the kernel",
                      "Shows what the config describes for this problem and device: its policy, implementations,\n"
                      "arguments with type, shape, strides and bytes, and the launches of one variant: without\n"
                      "--variant, of what a plan would use. Without CONFIG: the configs that ship.",
                      show_options, true},
    [COMMAND_REPORT] =
        {"report", "CONFIG", "write what is remembered of a kernel as a page: roofline, implementations, parameters",
         "Writes one self-contained HTML page (-o report.html) for the problem that --set means: the\n"
         "roofline with every variant on it, the best of each implementation, what each parameter\n"
         "does to the time, the best variants with what they take, failures, and the machine. Of the\n"
         "devices that --device means it takes a GPU before the cpu device, what was measured before\n"
         "what is predicted, the latest. It is made from the cache: the device need not be here. Without\n"
         "a GPU, of a kernel of which nothing is remembered, a few variants are predicted on the spot.",
         report_options, false},
    [COMMAND_ROOFLINE] =
        {"roofline", "[CONFIG]", "what bounds every kernel on this device; with CONFIG, a picture",
         "Measures how fast device memory is copied and how fast multiply-adds run, each\n"
         "once: what is remembered is not measured again without --again. They are the two configs\n"
         "peak_copy and peak_fma; 'roofline' in every table is in percent of these from then on. With\n"
         "CONFIG nothing is measured: the roofline is drawn with all that is remembered of the kernel,\n"
         "in the terminal or as SVG (-o FILE.svg); which problem and device, as in 'cugen report'. Each\n"
         "variant lies at the operations for each byte that it requests of global memory. Where nothing\n"
         "is remembered, without a GPU or with --device model:NAME, one variant of each implementation,\n"
         "or the first that the options name, is predicted on the spot.",
         roofline_options, true},
    [COMMAND_OCCUPANCY] =
        {"occupancy", "[CONFIG]", "how many blocks a multiprocessor holds, here and on other devices",
         "Shows for a kernel with so many registers, threads and bytes of shared memory how many of its\n"
         "blocks a multiprocessor holds, what limits that, and which block size would hold most: on\n"
         "this machine's GPUs and on some that are not here, or on the --device given. With CONFIG it\n"
         "starts from what the remembered best variant (or --variant) takes; where nothing is\n"
         "remembered for a described GPU, one variant of each implementation is predicted on the spot.",
         occupancy_options, true},
    [COMMAND_DEVICES] = {"devices", NULL, "the devices of this machine, and what cugen found where",
                         "Lists the devices, then where the driver, NVRTC, the CUDA headers, the C++ compiler and\n"
                         "the cache were found or looked for.",
                         devices_options, false},
    [COMMAND_TRANSFER] = {"transfer", NULL, "how fast data moves between host and device, by kind of memory",
                          "Measures both directions for each kind of host memory. Needs a GPU; Ctrl-C prints what\n"
                          "was measured.\n"
                          "\n"
                          "  pageable    malloc; the driver copies through pinned memory of its own\n"
                          "  registered  malloc, page-locked afterwards: cuMemHostRegister, portable\n"
                          "  pinned      page-locked: cuMemHostAlloc, portable\n"
                          "  combined    page-locked and write-combined: slow to read for the host\n"
                          "  pitched     pinned, copied between packed and pitched rows (2-D)\n"
                          "  pitched3d   pinned, copied between packed and pitched slices (3-D)\n"
                          "  default     pinned, the direction found from the addresses: unified addressing\n"
                          "              (UVA), cudaMemcpyDefault\n"
                          "  mapped      zero-copy: cuMemHostAlloc, device map; a kernel reaches for it\n"
                          "  managed     cuMemAllocManaged: pages move when a kernel or the host touches them\n"
                          "  prefetch    managed, moved ahead of that by cuMemPrefetchAsync",
                          transfer_options, false},
    [COMMAND_CACHE_LS] =
        {"cache ls", "[CONFIG]", "what is remembered: a line for each kernel, problem and device",
         "Lists the sets of records in the cache, of every kernel or of the CONFIG's: how many, the\n"
         "best, when it was last measured. CONFIG is a kernel's name or a config; --device is an\n"
         "identifier such as cuda:0, or part of a device's text in the list.",
         cache_ls_options, false},
    [COMMAND_CACHE_SHOW] =
        {"cache show", "CONFIG", "every record of one kernel for this problem and device",
         "Shows all that is remembered of the kernel for this problem, device and options, also what\n"
         "a look-up does not take because the kernel has changed since (stale).",
         cache_show_options, true},
    [COMMAND_CACHE_WHY] =
        {"cache why", "CONFIG", "what a look-up finds, or why it finds nothing, field by field",
         "Explains a hit or a miss for this kernel, problem, device and options: the record that is\n"
         "taken, or the nearest ones and what keeps each of them from being taken.",
         cache_why_options, true},
    [COMMAND_CACHE_RM] =
        {"cache rm", "[CONFIG]", "remove records, and compiled kernels that nothing needs any more",
         "Removes the records that all the given options mean, with their history, and each compiled\n"
         "kernel that no remaining record can want. On a terminal it says what would go, and asks;\n"
         "otherwise --yes is needed. CONFIG is a kernel's name or a config: then records that were\n"
         "measured from another config file stay. --device is as in 'cugen cache ls'.",
         cache_rm_options, false},
    [COMMAND_CACHE_EXPORT] =
        {"cache export", "[CONFIG]", "write what is remembered as text, to be imported elsewhere",
         "Writes the records that the options mean as wisdom: one line of JSON each, which stands for\n"
         "itself (docs/cache.md). CONFIG and --device are as in 'cugen cache ls'.",
         cache_export_options, false},
    [COMMAND_CACHE_IMPORT] =
        {"cache import", "FILE", "merge what was exported elsewhere",
         "Merges a wisdom file into the cache, all of it or, when any line cannot be vouched for,\n"
         "nothing. Where both have a variant the better measurement is used from then on, and both\n"
         "are kept. FILE - is the standard input.",
         cache_verify_options, false},
    [COMMAND_CACHE_VERIFY] =
        {"cache verify", NULL, "check the whole cache: the file, every record, every compiled kernel",
         "Reads all of the database, and compares every compiled kernel with its checksum. Exit code\n"
         "9 when something is wrong, with a line for each thing.",
         cache_verify_options, false},
    [COMMAND_COMPLETION] =
        {"completion", "SHELL", "print a script for the shell, so that it completes commands, options and configs",
         "SHELL is bash, fish or zsh. An installed cugen needs it only where the shell does not look\n"
         "into the installation's share folder. For bash, in ~/.bashrc: eval \"$(cugen completion bash)\"",
         help_only, false},
    [COMMAND_VERSION] = {"version", NULL, "print the version", "", help_only, false},
    [COMMAND_HELP] = {"help", "[COMMAND]...", "print help, on a command when one is given", "", help_only, false},
};

const char *commands_in_group(const struct cli_command *command, const char *group) {
  size_t length = strlen(group);
  return strncmp(command->name, group, length) == 0 && command->name[length] == ' ' ? command->name + length + 1
                                                                                    : NULL;
}

bool commands_take_options(const struct cli_command *command) {
  return command->common || *command->options != OPTION_HELP;
}

const struct cli_command *commands_find(const char *name, const char *second, int *words) {
  for (const struct cli_command *command = cli_commands; command->name; command++) {
    const char *rest = second ? commands_in_group(command, name) : NULL;
    *words = rest ? 2 : 1;
    if (strcmp(rest ? rest : command->name, rest ? second : name) == 0) return command;
  }
  return NULL;
}
