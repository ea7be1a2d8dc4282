/* Completes words in a shell, from the tables of commands and options. The shells' scripts in
   cli/completion/ call 'cugen complete WORD...', with the word at the cursor last. Each line
   printed is a candidate: the whole word, a tab, a description. ":files", ":files .lua", ":folders"
   and ":programs" leave the completion to the shell. Errors are not printed. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/machine.h"
#include "api/tuning.h"
#include "base/key.h"
#include "cli.h"

struct completion {
  struct cli *cli;
  const char *word; /* the word at the cursor */
  size_t value;     /* offset of the value in a word "--option=value" */
};

/* Fixed words among the values of options. */
static const struct {
  enum cli_option option;
  const char *words[20];
} fixed_words[] = {
    {OPTION_DEVICE, {"cpu", "cuda:0"}},
    {OPTION_BUDGET, {"none"}},
    {OPTION_PATIENCE, {"none"}},
    {OPTION_CACHE, {"none"}},
    {OPTION_FORMAT, {"wisdom", "t4", "kernel_tuner"}},
    {OPTION_MEASURE, {"burst", "graph", "sustained", "cold"}},
    {OPTION_MEMORY,
     {"pageable", "registered", "pinned", "combined", "pitched", "pitched3d", "default", "mapped",
      "managed", "prefetch"}},
    {OPTION_ARCH,
     {"sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a",
      "sm_103", "sm_103a", "sm_110", "sm_110a", "sm_120", "sm_120a", "sm_121", "sm_121a"}},
};

static void offer_n(const struct completion *c, const char *text, size_t length, const char *end,
                    const char *what) {
  const char *typed = c->word + c->value;
  size_t typed_length = strlen(typed);
  if (typed_length > length || strncmp(text, typed, typed_length) != 0) return;
  printf("%.*s%.*s%s\t%s\n", (int)c->value, c->word, (int)length, text, end, what);
}

static void offer(const struct completion *c, const char *text, const char *what) {
  offer_n(c, text, strlen(text), "", what);
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* Offers the first words of all commands, or the second words of a group's commands. */
static void offer_commands(const struct completion *c, const char *group) {
  const char *before = "";
  for (const struct cli_command *command = cli_commands; command->name; command++) {
    const char *name = group ? commands_in_group(command, group) : command->name;
    if (!name) continue;
    size_t length = strcspn(name, " ");
    /* The command before has offered the group. */
    if (strncmp(before, name, length + 1) == 0) continue;
    before = name;
    offer_n(c, name, length, "", name[length] ? "several commands" : command->summary);
  }
}

/* ---- Completion from a config --------------------------------------------------------------- */

/* Opens the library without a driver and without a cache. */
static bool complete_open_library(const struct completion *c) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  struct cli *cli = c->cli;
  options.device = "cpu";
  options.cache = "none";
  options.config_dir = cli->values[OPTION_CONFIG_DIR];
  options.template_dir = cli->values[OPTION_TEMPLATE_DIR];
  options.device_dir = cli->values[OPTION_DEVICE_DIR];
  return cugen_open(&options, &cli->lib, NULL) == CUGEN_OK;
}

static cugen_kernel *complete_open_kernel(const struct completion *c) {
  struct cli *cli = c->cli;
  if (!cli->operand || !complete_open_library(c)) return NULL;
  cugen_kernel_open(cli->lib, cli->operand, NULL, 0, &cli->kernel, NULL);
  return cli->kernel;
}

/* Offers the names of the problem's parameters as "M=", described by their default values, or
   behind "M=" the values that the config lists. */
static void offer_problem(const struct completion *c) {
  cugen_kernel *kernel = complete_open_kernel(c);
  size_t typed = strcspn(c->word + c->value, "=");
  if (c->word[c->value + typed]) {
    char name[64];
    struct completion behind = *c;
    snprintf(name, sizeof name, "%.*s", (int)typed, c->word + c->value);
    behind.value += typed + 1;
    const char *values = api_kernel_problem_values(kernel, name);
    for (struct setting value; setting_next(&values, &value);)
      offer_n(&behind, value.text, value.length, "", "");
    return;
  }
  const char *at = kernel ? cugen_kernel_problem(kernel) : "";
  for (struct setting setting; setting_next(&at, &setting);) {
    char what[128];
    size_t length;
    const char *value = setting_value(&setting, &length);
    snprintf(what, sizeof what, "default: %.*s", (int)length, value);
    offer_n(c, setting.text, setting.name, "=", what);
  }
}

static void offer_implementations(const struct completion *c) {
  cugen_kernel *kernel = complete_open_kernel(c);
  cugen_space_info space;
  if (!kernel || api_kernel_space(kernel, &space, NULL)) return;
  for (size_t i = 0; i < space.implementations; i++) {
    const char *needs = space.implementation[i].unavailable;
    offer(c, space.implementation[i].name, needs ? needs : "implementation");
  }
}

/* ---- Values --------------------------------------------------------------------------------- */

static void offer_configs(const struct completion *c) {
  enum { MOST = 256 };
  const char *names[MOST];
  if (!complete_open_library(c)) return;
  size_t count = api_configs(c->cli->lib, names, MOST);
  for (size_t i = 0; i < count && i < MOST; i++)
    offer_n(c, names[i], strcspn(names[i], "."), "", "shipped config");
  puts(":files .lua");
}

static void offer_described(const struct completion *c) {
  enum { MOST = 64 };
  cugen_device_info devices[MOST];
  if (!complete_open_library(c)) return;
  size_t count = api_described_devices(c->cli->lib, devices, MOST);
  for (size_t i = 0; i < count && i < MOST; i++) offer(c, devices[i].id, devices[i].name);
}

static void offer_strategies(const struct completion *c) {
  const char *name, *what;
  for (size_t i = 0; (name = api_strategy(i, &what)); i++) offer(c, name, what);
}

static void offer_objectives(const struct completion *c) {
  for (int i = OBJECTIVE_TIME; i < OBJECTIVE_EXPRESSION; i++)
    offer(c, objective_names[i], "objective");
}

static void offer_preferences(const struct completion *c) {
  offer(c, "simplest", "first in the config");
  offer(c, "registers", "fewest registers");
  offer(c, "energy", "fewest joules");
}

static void offer_further_commands(const struct completion *c) {
  offer_commands(c, c->cli->operand);
}

/* The shells for which cugen has a script. */
static const struct {
  const char *name, *path;
} shells[] = {{"bash", "cli/completion/cugen.bash"},
              {"fish", "cli/completion/cugen.fish"},
              {"zsh", "cli/completion/_cugen"}};

static void offer_shells(const struct completion *c) {
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) offer(c, shells[i].name, "shell");
}

/* Offers values by the kind of an operand or an option's argument. */
static void offer_kind(const struct completion *c, enum cli_kind kind) {
  static void (*const offers[KIND_COUNT])(const struct completion *c) = {
      [KIND_CONFIG] = offer_configs,         [KIND_COMMAND] = offer_further_commands,
      [KIND_STRATEGY] = offer_strategies,    [KIND_OBJECTIVE] = offer_objectives,
      [KIND_PREFERENCE] = offer_preferences, [KIND_SHELL] = offer_shells};
  static const char *const left_to_shell[KIND_COUNT] = {
      [KIND_FILE] = ":files", [KIND_FOLDER] = ":folders", [KIND_PROGRAM] = ":programs"};
  if (offers[kind]) offers[kind](c);
  if (left_to_shell[kind]) puts(left_to_shell[kind]);
}

static void offer_value(const struct completion *c, enum cli_option option) {
  for (size_t i = 0; i < sizeof fixed_words / sizeof *fixed_words; i++)
    if (fixed_words[i].option == option)
      for (const char *const *word = fixed_words[i].words; *word; word++) offer(c, *word, "");
  if (option == OPTION_DEVICE && c->cli->command == &cli_commands[COMMAND_TUNE])
    offer(c, "all", "all GPUs of this machine");
  if (option == OPTION_SET)
    offer_problem(c);
  else if (option == OPTION_DEVICE)
    offer_described(c);
  else if (option == OPTION_IMPLEMENTATION || option == OPTION_VARIANT || option == OPTION_PATTERN)
    offer_implementations(c);
  else
    offer_kind(c, options_word(cli_options[option].argument).kind);
}

/* ---- Options -------------------------------------------------------------------------------- */

static void offer_options(const struct completion *c, const enum cli_option *options) {
  for (; *options != OPTION_COUNT; options++) {
    char text[64];
    snprintf(text, sizeof text, "--%s", cli_options[*options].name);
    offer(c, text, help_option(c->cli->command, *options));
  }
}

static bool means(enum cli_option option, const char *word, size_t length) {
  const struct cli_option_row *row = &cli_options[option];
  if (length == 2 && word[1] == row->letter) return true;
  return length == strlen(row->name) + 2 && strncmp(word + 2, row->name, length - 2) == 0;
}

/* Returns the command's option that the beginning of the word names and that needs a value; else
   OPTION_COUNT. */
static enum cli_option option_with_value(const struct cli_command *command, const char *word,
                                         size_t length) {
  const enum cli_option *const lists[] = {command->options, command->common ? cli_common : NULL};
  if (word[0] != '-' || length < 2) return OPTION_COUNT;
  for (size_t i = 0; i < 2; i++)
    for (const enum cli_option *option = lists[i]; option && *option != OPTION_COUNT; option++)
      if (cli_options[*option].argument && !options_word(cli_options[*option].argument).optional &&
          means(*option, word, length))
        return *option;
  return OPTION_COUNT;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* Completes words[count - 1]; words[0] is the first word behind the command. */
static void complete_command(struct completion *c, int count, char **words) {
  const struct cli_command *command = c->cli->command;
  const struct cli_word operand = options_word(command->operand);
  const char *before = count > 1 ? words[count - 2] : "";
  size_t equal = strcspn(c->word, "=");
  enum cli_option dangling = option_with_value(command, before, strlen(before)), option = dangling;
  if (option == OPTION_COUNT && strncmp(c->word, "--", 2) == 0 && c->word[equal]) {
    option = option_with_value(command, c->word, equal);
    c->value = equal + 1;
  }
  /* The words before the last one name the config; words[-1] is the command's name. */
  options_parse(c->cli, count - (dangling != OPTION_COUNT), words - 1);
  if (option != OPTION_COUNT) {
    offer_value(c, option);
  } else if (*c->word == '-') {
    offer_options(c, command->options);
    if (command->common) offer_options(c, cli_common);
  } else if ((int)c->cli->operand_count < operand.most) {
    offer_kind(c, operand.kind);
  }
}

int complete_words(struct cli *cli, int argc, char **argv) {
  struct completion c = {.cli = cli, .word = argc > 1 ? argv[argc - 1] : ""};
  int words, count = argc - 1; /* words behind 'complete' */
  if (count <= 1) {
    offer_commands(&c, NULL);
    return CUGEN_OK;
  }
  cli->command = commands_find(argv[1], count > 2 ? argv[2] : NULL, &words);
  if (cli->command)
    complete_command(&c, count - words, argv + 1 + words);
  else if (count == 2)
    offer_commands(&c, argv[1]);
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  return CUGEN_OK;
}

/* ---- The shells' scripts -------------------------------------------------------------------- */

int command_completion(struct cli *cli) {
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
    if (strcmp(shells[i].name, cli->operand) != 0) continue;
    const struct cli_script *script = cli_scripts;
    while (strcmp(script->path, shells[i].path) != 0) script++;
    fwrite(script->data, 1, script->length, stdout);
    return CUGEN_OK;
  }
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "there is no completion for '%s': there is for bash, fish and zsh", cli->operand);
}
