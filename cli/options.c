/* Reading the words after a command by the command's tables of options; see cli.h. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "print.h"

struct cli_word options_word(const char *text) {
  static const char *const words[KIND_COUNT] = {
#define X(id, word) [KIND_##id] = word,
      CLI_KINDS(X)
#undef X
  };
  if (!text) return (struct cli_word){.text = ""};
  const bool optional = *text == '[';
  struct cli_word word = {.text = text + optional, .optional = optional, .most = 1};
  word.length = strcspn(word.text, "].");
  for (enum cli_kind kind = KIND_OTHER + 1; kind < KIND_COUNT; kind++)
    if (strlen(words[kind]) == word.length && memcmp(words[kind], word.text, word.length) == 0)
      word.kind = kind;
  if (strcmp(word.text + word.length + optional, "...") == 0) word.most = optional ? 2 : INT_MAX;
  return word;
}

/* The two tables of getopt_long for a command, and the names of the command's options. */
struct tables {
  struct option longs[OPTION_COUNT + 1];
  char letters[2 * OPTION_COUNT + 3];
  const char *names[OPTION_COUNT];
  size_t count;
};

static void add_option_rows(struct tables *tables, const enum cli_option *options) {
  for (; *options != OPTION_COUNT; options++) {
    const struct cli_option_row *row = &cli_options[*options];
    int argument = !row->argument                         ? no_argument
                   : options_word(row->argument).optional ? optional_argument
                                                          : required_argument;
    tables->names[tables->count] = row->name;
    tables->longs[tables->count++] =
        (struct option){row->name, argument, NULL, 256 + (int)*options};
    size_t length = strlen(tables->letters);
    if (!row->letter) continue;
    tables->letters[length++] = row->letter;
    if (argument == required_argument) tables->letters[length] = ':';
  }
}

static enum cli_option option_of_code(int code) {
  if (code >= 256) return (enum cli_option)(code - 256);
  for (int i = 0; i < OPTION_COUNT; i++)
    if (cli_options[i].letter && cli_options[i].letter == code) return (enum cli_option)i;
  return OPTION_COUNT;
}

static int fail_unknown(struct cli *cli, const struct tables *tables, const char *word) {
  size_t length = strcspn(word, "=");
  char *name = strndup(word, length);
  const char *nearest = NULL;
  if (name && strncmp(name, "--", 2) == 0)
    nearest = text_nearest(name + 2, tables->names, tables->count);
  int status =
      cli_fail(cli, CUGEN_ERROR_USAGE, "%s has no option %s%s%s; 'cugen help %s --all' lists all",
               cli->command->name, name ? name : word, nearest ? ", the nearest is --" : "",
               nearest ? nearest : "", cli->command->name);
  free(name);
  return status;
}

/* Reports a word to which getopt_long returned '?' or ':': an unknown option, or a wrong use of a
   known one. */
static int fail_option(struct cli *cli, const struct tables *tables, int code, const char *word) {
  enum cli_option option = option_of_code(optopt);
  if (code == ':' && option != OPTION_COUNT)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--%s needs a value: --%s %s", cli_options[option].name,
                    cli_options[option].name, cli_options[option].argument);
  if (optopt >= 256)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--%s takes no value", cli_options[option].name);
  if (optopt) {
    const char letter[] = {'-', (char)optopt, '\0'};
    return fail_unknown(cli, tables, letter);
  }
  return fail_unknown(cli, tables, word);
}

/* Returns the comma in front of a second name, as in "=512,N=768", or NULL if there is none. */
static const char *second_name(const char *values) {
  const char *at = strchr(values + 1, '=');
  while (at && at > values && *at != ',') at--;
  return at && at > values ? at : NULL;
}

static int options_take(struct cli *cli, enum cli_option option, const char *value) {
  if (value && !value[strspn(value, " ")] && cli_options[option].argument &&
      !options_word(cli_options[option].argument).optional)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--%s has an empty value; write --%s %s",
                    cli_options[option].name, cli_options[option].name,
                    cli_options[option].argument);
  if (option != OPTION_SET) {
    const bool repeats =
        !cli_options[option].argument || option == OPTION_WHERE || option == OPTION_COMPILER;
    if (cli->values[option] && !repeats)
      return cli_fail(cli, CUGEN_ERROR_USAGE,
                      "--%s is given twice: give it once, with commas where it takes a list",
                      cli_options[option].name);
    if (option == OPTION_COMPILER) cli->other_compiler = cli->values[option];
    cli->values[option] = value ? value : "";
    if (option == OPTION_WHERE) cli->wheres[cli->where_count++] = value;
    return CUGEN_OK;
  }
  const char *equal = value ? strchr(value, '=') : NULL;
  if (!equal || equal == value)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--set %s: write --set NAME=VALUE, such as --set M=8192", value ? value : "");
  const char *comma = second_name(equal);
  if (comma)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--set %s: repeat --set for each name, as in --set %.*s --set %.*s", value,
                    (int)(comma - value), value, (int)strcspn(comma + 1, ","), comma + 1);
  cli->settings[cli->setting_count++] = value;
  return CUGEN_OK;
}

/* Returns true for "M=4096" of a command that has --set. */
static bool looks_set(const struct cli_command *command, const char *word) {
  const size_t name =
      strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  return commands_take(command, OPTION_SET) && name && word[name] == '=' && word[name + 1] &&
         !strpbrk(word, " \t\n");
}

static int take_operands(struct cli *cli, char **argv, int count) {
  const struct cli_command *command = cli->command;
  const char *wanted = command->operand;
  const struct cli_word word = options_word(wanted);
  const int most = word.most;
  if (count == 0 && most > 0 && !word.optional && !options_given(cli, OPTION_HELP))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "the %.*s is missing, as in 'cugen %s %s'; 'cugen help %s' says more",
                    (int)word.length, word.text, command->name, wanted, command->name);
  if (count > most && looks_set(command, argv[most]))
    return cli_fail(cli, CUGEN_ERROR_USAGE, "'%s' is one word too many; a size is set by --set %s",
                    argv[most], argv[most]);
  if (count > most)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "'%s' is one word too many; usage: cugen %s%s%s%s",
                    argv[most], command->name, wanted ? " " : "", wanted ? wanted : "",
                    commands_take_options(command) ? " [OPTION]..." : "");
  cli->operands = argv, cli->operand_count = (size_t)count;
  cli->operand = count ? argv[0] : NULL;
  cli->second = count > 1 ? argv[1] : NULL;
  return CUGEN_OK;
}

int options_parse(struct cli *cli, int argc, char **argv) {
  struct tables tables = {.letters = ":"};
  add_option_rows(&tables, cli->command->options);
  if (cli->command->common) add_option_rows(&tables, cli_common);
  cli->settings = calloc((size_t)argc + 1, sizeof *cli->settings);
  cli->wheres = calloc((size_t)argc + 1, sizeof *cli->wheres);
  if (!cli->settings || !cli->wheres) return cli_no_memory(cli);
  opterr = 0;
  for (;;) {
    int before = optind ? optind : 1;
    int code = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
    if (code == -1) break;
    if (code == '?' || code == ':')
      return fail_option(cli, &tables, code, argv[optind > before ? optind - 1 : before]);
    enum cli_option option = option_of_code(code);
    const char *argument = cli_options[option].argument, *value = optarg;
    /* getopt does not support an optional number as a word of its own, as in --list 5. */
    if (!value && argument && options_word(argument).optional && optind < argc &&
        isdigit((unsigned char)*argv[optind]))
      value = argv[optind++];
    int status = options_take(cli, option, value);
    if (status) return status;
  }
  return take_operands(cli, argv + optind, argc - optind);
}

bool options_given(const struct cli *cli, enum cli_option option) {
  return cli->values[option] != NULL;
}

static int fail_value(struct cli *cli, enum cli_option option, const char *want) {
  return cli_fail(cli, CUGEN_ERROR_USAGE, "--%s %s: %s", cli_options[option].name,
                  cli->values[option], want);
}

int options_count(struct cli *cli, enum cli_option option, size_t least, size_t *out) {
  const char *text = cli->values[option];
  if (!text || (!*text && options_word(cli_options[option].argument).optional)) return CUGEN_OK;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno || value > SIZE_MAX || value < least)
    return fail_value(
        cli, option, least ? "a whole number from 1 on is expected" : "a whole number is expected");
  *out = (size_t)value;
  return CUGEN_OK;
}

bool options_read_seconds(const char *text, bool unit_required, double *out) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  char *end;
  double value = strtod(text, &end);
  if (!isdigit((unsigned char)*text) || !(value > 0) || value > 1e9) return false;
  *out = value;
  if (!*end) return !unit_required;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(end, units[i].name) == 0) {
      *out = value * units[i].seconds;
      return true;
    }
  return false;
}

int options_seconds(struct cli *cli, enum cli_option option, double *out) {
  const char *text = cli->values[option];
  if (!text || options_read_seconds(text, false, out)) return CUGEN_OK;
  return fail_value(cli, option, "a time is expected, such as 10s, 500ms or 2m");
}
