/* Help for the terminal and as a man page, both printed from the tables of commands and options. */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "print.h"

struct item {
  const char *name, *what;
};

static const struct item exit_codes[] = {
    {"0", "done"},
    {"1", "a defect of cugen itself"},
    {"2", "a wrong option, setting or argument"},
    {"3", "the config does not load or does not make sense"},
    {"4", "a template does not expand"},
    {"5", "no variant satisfies the restrictions"},
    {"6", "the compiler refused a source"},
    {"7", "the device or its driver failed"},
    {"8", "a driver, NVRTC, a compiler or a file is missing"},
    {"9", "the cache, or a wisdom file, is damaged, not cugen's, or newer than this cugen"},
    {"10", "reading or writing failed: permissions, full disk"},
    {"11", "a wrong result, a finding of check, or no variant came out right (in the budget)"},
    {"12", "out of memory, on the host or the device"},
    {"130", "interrupted by Ctrl-C (143: by SIGTERM); everything measured is kept"},
    {NULL, NULL},
};

static const struct item environment[] = {
    {"CUGEN_DEVICE", "the device when --device is not given"},
    {"CUGEN_CACHE", "the database when --cache is not given"},
    {"CUGEN_TOOLKIT", "the CUDA toolkit when --toolkit is not given"},
    {"CUGEN_CXX", "C++ compiler for the cpu device when --compiler is not given"},
    {"CUGEN_WORKER", "the program started to verify and time in isolation (default: cugen itself)"},
    {"CUDA_HOME, CUDA_PATH", "where toolkits say they are; looked at after CUGEN_TOOLKIT"},
    {"XDG_CACHE_HOME", "folder of caches (default: ~/.cache)"},
    {"TMPDIR", "folder for temporary files (default: /tmp)"},
    {NULL, NULL},
};

static const struct item files[] = {
    {"~/.cache/cugen/cugen.db", "what is remembered: an SQLite database; beside it, while it is open, -wal and -shm"},
    {"/tmp/cugen-UUID.lock", "held while a variant is verified and measured on the GPU of that UUID"},
    {"PREFIX/share/cugen", "the shipped configs and templates, and annotations for editors of configs (lua)"},
    {"PREFIX/share/doc/cugen/docs",
     "the documents: config.md and template.md describe the languages, cache.md the database, json.md what --json\n"
     "prints, embedding.md and reference.md the use from C"},
    {"PREFIX/libexec/cugen/cugen-worker", "what an application's libcugen starts to verify and time in isolation"},
    {"PREFIX/lib/cugen/toolkit", "NVRTC and the CUDA headers when no toolkit is installed"},
    {NULL, NULL},
};

static const struct item examples[] = {
    {"cugen tune matmul", "Finds the best matrix product for the default problem on this machine's GPU."},
    {"cugen tune matmul --set M=8192 --set dtype=f64 --budget 5m",
     "For another problem, for five minutes; the same command again goes on from there."},
    {"cugen run matmul --set M=8192 --set dtype=f64", "Verifies and times what was found."},
    {"cugen gen matmul --variant \"tiled tile=16\" -o tiled.cu", "Writes the source of one variant."},
    {"cugen space ./mine.lua --list 20", "Counts the variants of a config of one's own, and lists the first 20."},
    {"cugen tune ./mine.lua --device cpu --strategy exhaustive --budget none",
     "Proves all of its variants right or wrong without a GPU; exit code 11: not one is right."},
    {"cugen cache rm --older-than 30d --yes", "Forgets what was measured more than 30 days ago."},
    {NULL, NULL},
};

/* What --device is to commands that take others, or have another default, than most. */
static const struct item devices[] = {
    {"tune", "cuda:0, cpu, model:H200 (default: the first GPU, else model:A100, predicted)"},
    {"run", "cuda:0, cpu (default: the first GPU, else cpu)"},
    {"check", "cpu: what is checked runs there"},
    {"report", "cuda:0, cpu, model:H200, part of a device's name (default: all)"},
    {"roofline", "cuda:0, cpu, model:H200 (default: the first GPU, else cpu; with CONFIG: as for report)"},
    {"occupancy", "cuda:0, model:H200 (default: this machine's GPUs and all that are described)"},
    {"transfer", "cuda:0 (default: the first GPU)"},
    {"cache ls", "cuda:0, cpu, part of a device's text (default: all)"},
    {"cache rm", "cuda:0, cpu, part of a device's text (default: all)"},
    {"cache export", "cuda:0, cpu, part of a device's text (default: all)"},
    {NULL, NULL},
};

static const char *own_device(const struct cli_command *command) {
  const struct item *item = devices;
  while (item->name && strcmp(item->name, command->name) != 0) item++;
  return item->what;
}

const char *help_option(const struct cli_command *command, enum cli_option option) {
  const char *own = option == OPTION_DEVICE && command ? own_device(command) : NULL;
  return own ? own : cli_options[option].what;
}

/* ---- For the terminal ---- */

static void print_commands(const char *group, FILE *out) {
  for (const struct cli_command *command = cli_commands; command->name; command++) {
    if (group && !commands_in_group(command, group)) continue;
    char text[32];
    snprintf(text, sizeof text, "%s%s%s", command->name, command->operand ? " " : "",
             command->operand ? command->operand : "");
    fprintf(out, "  %-28s %s\n", text, command->summary);
  }
}

static void print_items(const struct item *items, FILE *out) {
  for (; items->name; items++) fprintf(out, "  %-28s %s\n", items->name, items->what);
}

/* "-o, --output FILE" */
static void option_text(enum cli_option option, char *text, size_t size) {
  const struct cli_option_row *row = &cli_options[option];
  const char letter[] = {'-', row->letter, ',', ' ', '\0'};
  snprintf(text, size, "%s--%s%s%s", row->letter ? letter : "    ", row->name, row->argument ? " " : "",
           row->argument ? row->argument : "");
}

static void print_options(const char *title, const struct cli_command *command, const enum cli_option *options,
                          FILE *out) {
  char text[64];
  if (*options != OPTION_COUNT) fprintf(out, "\n%s:\n", title);
  for (; *options != OPTION_COUNT; options++) {
    option_text(*options, text, sizeof text);
    fprintf(out, "  %-28s %s\n", text, help_option(command, *options));
  }
}

static void print_strategies(FILE *out) {
  const char *name, *what;
  fputs("\nStrategies:\n", out);
  for (size_t i = 0; (name = cugen_strategy(i, &what)); i++) fprintf(out, "  %-28s %s\n", name, what);
}

static bool has_option(const enum cli_option *options, enum cli_option wanted) {
  while (*options != OPTION_COUNT && *options != wanted) options++;
  return *options == wanted;
}

void help_command(const struct cli_command *command, FILE *out) {
  const char *operand = command->operand;
  fprintf(out, "Usage: cugen %s%s%s%s\n", command->name, operand ? " " : "", operand ? operand : "",
          commands_take_options(command) ? " [OPTION]..." : "");
  if (*command->details) fprintf(out, "\n%s\n", command->details);
  if (operand && strcmp(operand, "CONFIG") == 0)
    fprintf(out, "\nCONFIG is a file, or a bare name looked for here, then in --config-dir, then among those\n"
                 "that ship: matmul and matmul.lua are the same.\n");
  print_options("Options", command, command->options, out);
  if (has_option(command->options, OPTION_STRATEGY)) print_strategies(out);
  if (command->common) print_options("Common options", command, cli_common, out);
}

void help_all(FILE *out) {
  fprintf(out,
          "cugen %s: specialised CUDA kernels from a Lua config and a .cu template; generated, proved\n"
          "right, tuned, and remembered per device.\n\nUsage: cugen COMMAND [OPTION]...\n\nCommands:\n",
          CUGEN_VERSION);
  print_commands(NULL, out);
  fprintf(out, "\nEnvironment:\n");
  print_items(environment, out);
  fprintf(out, "\nExit codes:\n");
  print_items(exit_codes, out);
  fprintf(out, "\n'cugen help COMMAND' prints a command's options. For a start: cugen tune matmul\n");
}

/* ---- Commands by name ---- */

static bool is_group(const char *name) {
  for (const struct cli_command *command = cli_commands; command->name; command++)
    if (commands_in_group(command, name)) return true;
  return false;
}

bool help_group(const char *name, FILE *out) {
  if (!is_group(name)) return false;
  fprintf(out, "Usage: cugen %s COMMAND [OPTION]...\n\nCommands:\n", name);
  print_commands(name, out);
  fprintf(out, "\n'cugen help %s COMMAND' prints a command's options.\n", name);
  return true;
}

int help_unknown_command(struct cli *cli, const char *name, const char *second) {
  if (is_group(name) && !second)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "cugen %s: a command is missing; 'cugen help %s' lists them", name, name);
  if (name[0] == '-')
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "options follow the command: cugen COMMAND ... %s; 'cugen help' lists all", name);
  enum { MOST = 64 };
  const char *names[MOST], *nearest;
  char whole[80];
  size_t count = 0;
  snprintf(whole, sizeof whole, "%.32s%s%.32s", name, is_group(name) ? " " : "", is_group(name) ? second : "");
  for (; cli_commands[count].name && count < MOST; count++) names[count] = cli_commands[count].name;
  nearest = cugen_nearest(whole, names, count);
  return cli_fail(cli, CUGEN_ERROR_USAGE, "there is no command '%s'%s%s%s; 'cugen help' lists all", whole,
                  nearest ? ", the nearest is '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

int command_help(struct cli *cli) {
  if (!cli->operand) {
    help_all(stdout);
    return CUGEN_OK;
  }
  int words;
  const struct cli_command *command = commands_find(cli->operand, cli->second, &words);
  if (!command && !cli->second && help_group(cli->operand, stdout)) return CUGEN_OK;
  if (!command || (cli->second && words == 1)) return help_unknown_command(cli, cli->operand, cli->second);
  help_command(command, stdout);
  return CUGEN_OK;
}

int command_version(struct cli *cli) {
  (void)cli;
  printf("cugen %s\n", CUGEN_VERSION);
  return CUGEN_OK;
}

/* ---- As a man page ---- */

/* Text for roff: what may be typed stays as it is (a bare - or ' becomes another character), and no line is taken for a
   request. */
static void man_text(const char *text, FILE *out) {
  static const struct {
    char plain;
    const char *roff;
  } escapes[] = {{'-', "\\-"}, {'\\', "\\e"}, {'\'', "\\(aq"}, {'"', "\\(dq"}, {'~', "\\(ti"}};
  for (const char *at = text; *at; at++) {
    size_t i = 0;
    while (i < sizeof escapes / sizeof *escapes && escapes[i].plain != *at) i++;
    if (i < sizeof escapes / sizeof *escapes)
      fputs(escapes[i].roff, out);
    else if (*at == '.' && (at == text || at[-1] == '\n'))
      fputs("\\&.", out);
    else
      fputc(*at, out);
  }
}

static void man_items(const char *title, const struct item *items, FILE *out) {
  fprintf(out, ".SH %s\n", title);
  for (; items->name; items++) {
    fputs(".TP\n.B ", out);
    man_text(items->name, out);
    fputc('\n', out);
    man_text(items->what, out);
    fputc('\n', out);
  }
}

static void man_options(const struct cli_command *command, const enum cli_option *options, FILE *out) {
  for (; *options != OPTION_COUNT; options++) {
    const struct cli_option_row *row = &cli_options[*options];
    fputs(".TP\n\\fB", out);
    if (row->letter) fprintf(out, "\\-%c\\fR, \\fB", row->letter);
    fputs("\\-\\-", out);
    man_text(row->name, out);
    fprintf(out, "\\fR%s%s%s\n", row->argument ? " \\fI" : "", row->argument ? row->argument : "",
            row->argument ? "\\fR" : "");
    man_text(help_option(command, *options), out);
    fputc('\n', out);
  }
}

static void man_strategies(FILE *out) {
  const char *name, *what;
  fputs(".PP\nStrategies:\n", out);
  for (size_t i = 0; (name = cugen_strategy(i, &what)); i++) {
    fprintf(out, ".TP\n.B %s\n", name);
    man_text(what, out);
    fputc('\n', out);
  }
}

static void man_command(const struct cli_command *command, FILE *out) {
  static const enum cli_option own[] = {OPTION_DEVICE, OPTION_COUNT};
  fprintf(out, ".SS cugen %s%s%s%s\n", command->name, command->operand ? " " : "",
          command->operand ? command->operand : "", commands_take_options(command) ? " [OPTION]..." : "");
  man_text(*command->details ? command->details : command->summary, out);
  fputc('\n', out);
  man_options(command, command->options, out);
  if (has_option(command->options, OPTION_STRATEGY)) man_strategies(out);
  if (command->common && own_device(command)) man_options(command, own, out);
}

void help_man(FILE *out) {
  fprintf(out,
          ".\\\" Made by 'cugen man'; do not edit.\n.TH CUGEN 1 \"\" \"cugen %s\"\n.SH NAME\n"
          "cugen \\- specialised CUDA kernels, generated, proved right, tuned and remembered\n"
          ".SH SYNOPSIS\n.B cugen\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n"
          "cugen turns a CUDA kernel template and a Lua config into kernels specialised for one problem on one GPU:\n"
          "it expands the template, compiles the result at run time with NVRTC, proves it right, times it, and\n"
          "remembers the best variant per device. Results go to stdout, progress and remarks to stderr.\n"
          ".PP\n\\fICONFIG\\fR is a file, or a bare name looked for in the current folder, then in\n"
          "\\fB\\-\\-config\\-dir\\fR, then among the configs that ship: matmul and matmul.lua are the same.\n"
          ".SH COMMANDS\n",
          CUGEN_VERSION);
  for (const struct cli_command *command = cli_commands; command->name; command++) man_command(command, out);
  fprintf(out, ".SH COMMON OPTIONS\nOf every command whose own list does not end with \\-\\-help.\n");
  man_options(NULL, cli_common, out);
  man_items("ENVIRONMENT", environment, out);
  man_items("FILES", files, out);
  man_items("EXIT STATUS", exit_codes, out);
  man_items("EXAMPLES", examples, out);
  fprintf(out, ".SH SEE ALSO\n.BR nvcc (1),\n.BR ncu (1)\n");
}
