/* Prints the commands that messages advise, ready to be pasted into a shell, with the kernel,
   problem, device and cache of this run. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/machine.h"
#include "cli.h"

/* Prints a word bare if the shell takes it unchanged. Otherwise the word gets double quotes,
   because many messages put a whole command into single quotes. A word with $ ` \ " or !, which a
   shell does not take literally between double quotes, gets single quotes. */
static void print_word(const char *word, FILE *out) {
  static const char bare[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
  size_t length = strlen(word);
  if (length && strspn(word, bare) == length) {
    fputs(word, out);
  } else if (strcspn(word, "$`\\\"!") == length) {
    fprintf(out, "\"%s\"", word);
  } else {
    fputc('\'', out);
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    fputc('\'', out);
  }
}

/* Puts "./" in front of a name that looks like an option, "-x.lua". */
static void print_operand(const char *operand, FILE *out) {
  char *path = NULL;
  bool dash = operand[0] == '-' && operand[1];
  fputc(' ', out);
  if (dash && asprintf(&path, "./%s", operand) < 0) path = NULL;
  print_word(path ? path : operand, out);
  free(path);
}

static void print_option(enum cli_option option, const char *value, FILE *out) {
  fprintf(out, " --%s ", cli_options[option].name);
  print_word(value, out);
}

/* Returns the option's value for the hint. The password of a connection string is removed. Of a
   list of devices, commands other than tune get only the kernel's device. */
static const char *hint_value_of(const struct cli *cli, const struct cli_command *command,
                                 enum cli_option option, char **own) {
  const char *value = cli->values[option];
  if (option == OPTION_DEVICE && cli->kernel && command != &cli_commands[COMMAND_TUNE] &&
      device_parse(value).kind == CUGEN_DEVICE_LIST)
    return cugen_kernel_device(cli->kernel)->id;
  if (option != OPTION_CACHE || api_cache_parse(value) != CUGEN_CACHE_SERVER) return value;
  *own = strdup(api_where(cli->lib, API_PLACE_CACHE));
  return *own ? *own : "";
}

static void hint_print_options(const struct cli *cli, const struct cli_command *command,
                               const enum cli_option *options, FILE *out) {
  for (; *options != OPTION_COUNT; options++)
    if (cli->values[*options] && cli_options[*options].argument &&
        commands_take(command, *options)) {
      char *own = NULL;
      print_option(*options, hint_value_of(cli, command, *options, &own), out);
      free(own);
    }
}

struct hint hint(const struct cli *cli, const char *name) {
  static const enum cli_option filters[] = {OPTION_PATTERN,   OPTION_IMPLEMENTATION, OPTION_VARIANT,
                                            OPTION_OBJECTIVE, OPTION_MEASURE,        OPTION_PREFER,
                                            OPTION_COUNT};
  const struct cli_command *command = cli_commands;
  struct hint hint = {""};
  FILE *out = fmemopen(hint.text, sizeof hint.text, "w");
  if (!out) return hint;
  while (strcmp(command->name, name) != 0) command++;
  fprintf(out, "cugen %s", name);
  if (cli->operand && command->operand) print_operand(cli->operand, out);
  hint_print_options(cli, command, cli_common, out);
  for (size_t i = 0; i < cli->setting_count && commands_take(command, OPTION_SET); i++)
    print_option(OPTION_SET, cli->settings[i], out);
  hint_print_options(cli, command, filters, out);
  if (options_given(cli, OPTION_EVERY) && commands_take(command, OPTION_EVERY))
    fputs(" --all", out);
  for (size_t i = 0; i < cli->where_count && commands_take(command, OPTION_WHERE); i++)
    print_option(OPTION_WHERE, cli->wheres[i], out);
  fclose(out);
  hint.text[sizeof hint.text - 1] = '\0';
  return hint;
}

bool cli_only_predicts(const struct cli *cli) {
  return cli->values[OPTION_ARCH] && cli_on_cpu(cli);
}

struct cli cli_here(const struct cli *cli) {
  struct cli meant = *cli;
  if (cli_fell_back(cli)) meant.values[OPTION_DEVICE] = "cpu";
  return meant;
}

struct cli cli_to_tune(const struct cli *cli) {
  struct cli meant = cli_here(cli);
  if (cli_only_predicts(cli)) {
    meant.values[OPTION_DEVICE] = cli_fallback_model(cli);
    meant.values[OPTION_ARCH] = NULL;
  }
  return meant;
}

enum cli_tuning cli_tuning(const struct cli *cli) {
  if (cli_only_predicts(cli)) return CLI_PREDICTS;
  if (cli_device(cli) != CUGEN_DEVICE_MODEL && cli_device(cli) != CUGEN_DEVICE_NAMED)
    return CLI_MEASURES;
  return api_kernel_predictable(cli->kernel) ? CLI_PREDICTS : CLI_REFUSES;
}
