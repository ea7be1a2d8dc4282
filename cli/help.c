/* Prints help for the terminal and as a man page, both from the tables of commands and options. */
#include <string.h>

#include "api/tuning.h"
#include "base/text.h"
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
    {"9", "the cache or a wisdom file is damaged, not cugen's, or newer than this cugen"},
    {"10", "reading or writing failed: permissions, full disk"},
    {"11", "a wrong result, a finding of check, or no variant came out right (in the budget)"},
    {"12", "out of memory, on the host or the device"},
    {"130", "interrupted by Ctrl-C (143: by SIGTERM); everything measured is kept"},
    {NULL, NULL},
};

static const struct item environment[] = {
    {"CUGEN_DEVICE", "the device when --device is not given"},
    {"CUGEN_CACHE", "the database when --cache is not given"},
    {"SLURM_LOCALID", "which GPU a task of a Slurm job takes when no device is named"},
    {"CUGEN_TOOLKIT", "the CUDA toolkit when --toolkit is not given"},
    {"CUGEN_CXX", "C++ compiler for the cpu device when --compiler is not given"},
    {"CUGEN_WORKER", "the program that verifies and times in isolation (default: cugen itself)"},
    {"CUGEN_PIN", "a file of pinned choices, which an application's plans take"},
    {"CUGEN_CAPTURE", "a file in which an application's plans are noted, for tune --from"},
    {"CUDA_HOME, CUDA_PATH", "folder of the CUDA toolkit, after CUGEN_TOOLKIT"},
    {"XDG_CACHE_HOME", "folder of caches (default: ~/.cache)"},
    {"TMPDIR", "folder for temporary files (default: /tmp)"},
    {NULL, NULL},
};

static const struct item files[] = {
    {"~/.cache/cugen/cugen.db",
     "what is remembered: an SQLite database; beside it, while it is open, -wal and -shm"},
    {"/tmp/cugen-UUID.lock",
     "held while a variant is verified and measured on the GPU of that UUID"},
    {"PREFIX/share/cugen",
     "the shipped configs and templates, and annotations for editors of configs (lua)"},
    {"PREFIX/share/doc/cugen/docs", "the documents: config.md and template.md describe the "
                                    "languages, cache.md the database, json.md what --json\n"
                                    "prints, embedding.md and reference.md the use from C"},
    {"PREFIX/libexec/cugen/cugen-worker",
     "what an application's libcugen starts to verify and time in isolation"},
    {"PREFIX/lib/cugen/toolkit", "NVRTC and the CUDA headers when no toolkit is installed"},
    {NULL, NULL},
};

static const struct item examples[] = {
    {"cugen tune matmul",
     "Finds the best matrix product for the default problem on this machine's GPU."},
    {"cugen tune matmul --set M=8192 --set dtype=f64 --budget 5m",
     "For another problem, for five minutes; the same command again goes on from there."},
    {"cugen run matmul --set M=8192 --set dtype=f64", "Verifies and times what was found."},
    {"cugen gen matmul --variant \"tiled tile=16\" -o tiled.cu",
     "Writes the source of one variant."},
    {"cugen space ./mine.lua --list 20",
     "Counts the variants of a config of one's own, and lists the first 20."},
    {"cugen tune ./mine.lua --device cpu --strategy exhaustive --budget none",
     "Proves all of its variants right or wrong without a GPU; exit code 11: not one is right."},
    {"cugen cache rm --older-than 30d --yes", "Forgets what was measured more than 30 days ago."},
    {NULL, NULL},
};

const char *help_option(const struct cli_command *command, enum cli_option option) {
  return option == OPTION_DEVICE && command && command->device ? command->device
                                                               : cli_options[option].what;
}

/* ---- For the terminal, 80 columns wide: what is often needed fits one screen ---------------- */

/* The width, and columns at which descriptions begin. */
enum { COLUMNS = 80, OF_COMMANDS = 22, OF_GROUPS = 26, OF_OPTIONS = 29 };

/* Options that `help COMMAND` prints only with --all. */
static const enum cli_option rare[] = {
    OPTION_FROM,       OPTION_BITWISE,         OPTION_BASELINE,   OPTION_OBJECTIVE,
    OPTION_PREFER,     OPTION_STRATEGY,        OPTION_SEED,       OPTION_THREADS,
    OPTION_TIMEOUT,    OPTION_COMPILE_TIMEOUT, OPTION_MEASURE,    OPTION_VERIFY,
    OPTION_ARCH,       OPTION_CACHE,           OPTION_CONFIG_DIR, OPTION_TEMPLATE_DIR,
    OPTION_DEVICE_DIR, OPTION_TOOLKIT,         OPTION_NO_LIBRARY, OPTION_COMPILER,
    OPTION_COUNT};

/* Prints a line's words in lines of 80 columns, indented from the second line on. A line that
   begins with a blank is printed unchanged. */
static void wrap_line(const char *line, size_t length, size_t indent, FILE *out) {
  const char *const end = line + length;
  size_t column = indent;
  while (line < end) {
    const size_t word = *line == ' ' ? length : strcspn(line, " \n");
    if (column > indent && column + 1 + word > COLUMNS)
      fprintf(out, "\n%*s", (int)(column = indent), "");
    else if (column > indent)
      fputc(' ', out), column++;
    fwrite(line, 1, word, out);
    column += word;
    line += word + 1;
  }
  fputc('\n', out);
}

static void print_wrapped(const char *text, size_t indent, FILE *out) {
  for (size_t length;; text += length + 1) {
    wrap_line(text, length = strcspn(text, "\n"), indent, out);
    if (!text[length]) return;
  }
}

static void print_paragraph(const char *text, FILE *out) {
  fputc('\n', out);
  print_wrapped(text, 0, out);
}

/* Prints a name and its text in two columns. */
static void help_print_row(const char *name, size_t second, const char *text, FILE *out) {
  fprintf(out, "  %-*s ", (int)second - 3, name);
  print_wrapped(text, second, out);
}

static void print_command(const struct cli_command *command, size_t second, FILE *out) {
  char text[32];
  const char *operand = command->operand;
  snprintf(text, sizeof text, "%s%s%s", command->name, operand ? " " : "", operand ? operand : "");
  help_print_row(text, second, command->summary, out);
}

static void print_items(const char *title, const struct item *items, FILE *out) {
  fprintf(out, "\n%s:\n", title);
  for (; items->name; items++) help_print_row(items->name, OF_OPTIONS, items->what, out);
}

static void help_print_options(const struct cli_command *command, const enum cli_option *options,
                               bool all, FILE *out) {
  for (; *options != OPTION_COUNT; options++) {
    const struct cli_option_row *row = &cli_options[*options];
    const char letter[] = {'-', row->letter, ',', ' ', '\0'};
    char text[64]; /* "-o, --output FILE" */
    if (!all && commands_has(rare, *options)) continue;
    snprintf(text, sizeof text, "%s--%s%s%s", row->letter ? letter : "    ", row->name,
             row->argument ? " " : "", row->argument ? row->argument : "");
    help_print_row(text, OF_OPTIONS, help_option(command, *options), out);
  }
}

/* Adds the names of all options, or of the rare ones: "--seed, --threads". */
static void name_options(const enum cli_option *options, bool all, char *text, size_t size) {
  for (; *options != OPTION_COUNT; options++) {
    size_t length = strlen(text);
    if (all || commands_has(rare, *options))
      snprintf(text + length, size - length, "%s--%s", length ? ", " : "",
               cli_options[*options].name);
  }
}

static void print_rare(const struct cli_command *command, FILE *out) {
  char names[256] = "", text[320];
  name_options(command->options, false, names, sizeof names);
  if (!*names && !command->more) return;
  snprintf(text, sizeof text, "More: cugen help %s --all%s%s", command->name,
           *names ? " explains " : "", names);
  print_paragraph(text, out);
}

void help_command(const struct cli_command *command, bool all, FILE *out) {
  static const enum cli_option device[] = {OPTION_DEVICE, OPTION_COUNT};
  const char *operand = command->operand;
  fprintf(out, "Usage: cugen %s%s%s%s\n", command->name, operand ? " " : "", operand ? operand : "",
          commands_take_options(command) ? " [OPTION]..." : "");
  if (*command->details) print_paragraph(command->details, out);
  if (all && command->more) print_paragraph(command->more, out);
  if (all && options_word(operand).kind == KIND_CONFIG)
    print_paragraph(
        "CONFIG is a file, or a bare name: cugen looks for it here, then in --config-dir, then "
        "among the configs that ship. matmul and matmul.lua are the same.",
        out);
  fprintf(out, "\nExample: %s\n\nOptions:\n", command->example);
  help_print_options(command, command->options, all, out);
  if (command->common && (all || command->device))
    help_print_options(command, all ? cli_common : device, all, out);
  if (command->common && !all) {
    char names[256] = "", text[320];
    name_options(cli_common, true, names, sizeof names);
    snprintf(text, sizeof text, "Common options, which cugen help --all explains: %s", names);
    print_paragraph(text, out);
  }
  if (all && commands_has(command->options, OPTION_STRATEGY)) {
    const char *name, *what;
    fputs("\nStrategies:\n", out);
    for (size_t i = 0; (name = api_strategy(i, &what)); i++)
      help_print_row(name, OF_OPTIONS, what, out);
  }
  if (!all) print_rare(command, out);
}

void help_program(bool all, FILE *out) {
  fputs("cugen " CUGEN_VERSION ": CUDA kernels generated, verified and tuned for one GPU\n"
        "Usage: cugen COMMAND [OPTION]...\nCommands:\n",
        out);
  bool grouped = false; /* the commands of the group "cache" share a row */
  for (const struct cli_command *command = cli_commands; command->name; command++) {
    if (!strchr(command->name, ' '))
      print_command(command, OF_COMMANDS, out);
    else if (!grouped)
      help_print_row("cache COMMAND", OF_COMMANDS,
                     "list, explain, check, move and remove what is remembered", out);
    grouped = strchr(command->name, ' ');
  }
  if (all) fputs("\nOptions of most commands:\n", out);
  if (all) help_print_options(NULL, cli_common, all, out);
  if (all) print_items("Environment", environment, out);
  if (all) print_items("Exit codes", exit_codes, out);
  fputs("\nCONFIG is a file, or one that ships ('cugen show'). Example: cugen tune matmul\n"
        "More: cugen help COMMAND; options, environment, exit codes: cugen help --all\n",
        out);
}

/* ---- Commands by name ----------------------------------------------------------------------- */

static bool help_is_group(const char *name) {
  for (const struct cli_command *command = cli_commands; command->name; command++)
    if (commands_in_group(command, name)) return true;
  return false;
}

bool help_group(const char *name, FILE *out) {
  if (!help_is_group(name)) return false;
  fprintf(out, "Usage: cugen %s COMMAND [OPTION]...\n\nCommands:\n", name);
  for (const struct cli_command *command = cli_commands; command->name; command++)
    if (commands_in_group(command, name)) print_command(command, OF_GROUPS, out);
  fprintf(out, "\nMore: cugen help %s COMMAND\n", name);
  return true;
}

int help_unknown_command(struct cli *cli, const char *name, const char *second) {
  if (help_is_group(name) && !second)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "cugen %s: a command is missing; 'cugen help %s' lists them", name, name);
  if (name[0] == '-')
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "options follow the command: cugen COMMAND ... %s; 'cugen help' lists all",
                    name);
  enum { MOST = 64 };
  const char *names[MOST], *nearest;
  char whole[80];
  size_t count = 0;
  snprintf(whole, sizeof whole, "%.32s%s%.32s", name, help_is_group(name) ? " " : "",
           help_is_group(name) ? second : "");
  for (; cli_commands[count].name && count < MOST; count++) names[count] = cli_commands[count].name;
  nearest = text_nearest(whole, names, count);
  return cli_fail(cli, CUGEN_ERROR_USAGE, "there is no command '%s'%s%s%s; 'cugen help' lists all",
                  whole, nearest ? ", the nearest is '" : "", nearest ? nearest : "",
                  nearest ? "'" : "");
}

int command_help(struct cli *cli) {
  const bool all = options_given(cli, OPTION_EXPLAIN_ALL);
  if (!cli->operand) {
    help_program(all, stdout);
    return CUGEN_OK;
  }
  int words;
  const struct cli_command *command = commands_find(cli->operand, cli->second, &words);
  if (!command && !cli->second && help_group(cli->operand, stdout)) return CUGEN_OK;
  if (!command) return help_unknown_command(cli, cli->operand, cli->second);
  if (cli->second && words == 1)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "'%s' is one word too many: cugen help %s", cli->second,
                    cli->operand);
  help_command(command, all, stdout);
  return CUGEN_OK;
}

int command_version(struct cli *cli) {
  (void)cli;
  printf("cugen %s\n", CUGEN_VERSION);
  return CUGEN_OK;
}

/* ---- As a man page -------------------------------------------------------------------------- */

/* Prints text for roff. Text that may be typed is kept as it is (a bare - or ' would become another
   character), and no line becomes a request. */
static void man_text(const char *text, FILE *out) {
  static const struct {
    char plain;
    const char *roff;
  } escapes[] = {{'-', "\\-"}, {'\\', "\\e"}, {'\'', "\\(aq"}, {'"', "\\(dq"}, {'~', "\\(ti"}};
  bool begins = true; /* a line */
  for (const char *at = text; *at; at++) {
    size_t i = 0;
    while (i < sizeof escapes / sizeof *escapes && escapes[i].plain != *at) i++;
    /* Sentences begin on a new line, as roff wants. */
    const bool ends = *at == '\n' || (*at == ' ' && at > text && at[-1] == '.');
    if (i < sizeof escapes / sizeof *escapes)
      fputs(escapes[i].roff, out);
    else if (*at == '.' && begins)
      fputs("\\&.", out);
    else
      fputc(ends ? '\n' : *at, out);
    begins = ends;
  }
}

static void man_line(const char *text, FILE *out) {
  man_text(text, out);
  fputc('\n', out);
}

static void man_item(const char *name, const char *what, FILE *out) {
  fputs(".TP\n.B ", out);
  man_line(name, out);
  man_line(what, out);
}

static void man_items(const char *title, const struct item *items, FILE *out) {
  fprintf(out, ".SH %s\n", title);
  for (; items->name; items++) man_item(items->name, items->what, out);
}

static void man_options(const struct cli_command *command, const enum cli_option *options,
                        FILE *out) {
  for (; *options != OPTION_COUNT; options++) {
    const struct cli_option_row *row = &cli_options[*options];
    fputs(".TP\n\\fB", out);
    if (row->letter) fprintf(out, "\\-%c\\fR, \\fB", row->letter);
    fputs("\\-\\-", out);
    man_text(row->name, out);
    fprintf(out, "\\fR%s%s%s\n", row->argument ? " \\fI" : "", row->argument ? row->argument : "",
            row->argument ? "\\fR" : "");
    man_line(help_option(command, *options), out);
  }
}

static void man_command(const struct cli_command *command, FILE *out) {
  static const enum cli_option own[] = {OPTION_DEVICE, OPTION_COUNT};
  fprintf(out, ".SS cugen %s%s%s%s\n", command->name, command->operand ? " " : "",
          command->operand ? command->operand : "",
          commands_take_options(command) ? " [OPTION]..." : "");
  man_line(*command->details ? command->details : command->summary, out);
  if (command->more) {
    fputs(".PP\n", out);
    man_line(command->more, out);
  }
  fputs(".PP\nExample:\n.B ", out);
  man_line(command->example, out);
  man_options(command, command->options, out);
  if (commands_has(command->options, OPTION_STRATEGY)) {
    const char *name, *what;
    fputs(".PP\nStrategies:\n", out);
    for (size_t i = 0; (name = api_strategy(i, &what)); i++) man_item(name, what, out);
  }
  if (command->common && command->device) man_options(command, own, out);
}

void help_man(FILE *out) {
  fprintf(
      out,
      ".\\\" Made by 'cugen man'; do not edit.\n.TH CUGEN 1 \"\" \"cugen %s\"\n.SH NAME\n"
      "cugen \\- specialised CUDA kernels, generated, proved right, tuned and remembered\n"
      ".SH SYNOPSIS\n.B cugen\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n"
      "cugen turns a CUDA kernel template and a Lua config into kernels specialised for one "
      "problem on one GPU:\n"
      "it expands the template, compiles the result at run time with NVRTC, proves it right, times "
      "it, and\n"
      "remembers the best variant per device. Results go to stdout, progress and remarks to "
      "stderr.\n"
      ".PP\n\\fICONFIG\\fR is a file, or a bare name looked for in the current folder, then in\n"
      "\\fB\\-\\-config\\-dir\\fR, then among the configs that ship: matmul and matmul.lua are the "
      "same.\n"
      ".SH COMMANDS\n",
      CUGEN_VERSION);
  for (const struct cli_command *command = cli_commands; command->name; command++)
    man_command(command, out);
  fprintf(out,
          ".SH COMMON OPTIONS\nOf every command whose own list does not end with \\-\\-help.\n");
  man_options(NULL, cli_common, out);
  man_items("ENVIRONMENT", environment, out);
  man_items("FILES", files, out);
  man_items("EXIT STATUS", exit_codes, out);
  man_items("EXAMPLES", examples, out);
  fprintf(out, ".SH SEE ALSO\n.BR nvcc (1),\n.BR ncu (1)\n");
}
