/* The table of commands, and the options that most of them take. */
#include <string.h>

#include "cli.h"

const enum cli_option cli_common[] = {
    OPTION_SET,          OPTION_DEVICE,     OPTION_ARCH,    OPTION_CACHE,      OPTION_CONFIG_DIR,
    OPTION_TEMPLATE_DIR, OPTION_DEVICE_DIR, OPTION_TOOLKIT, OPTION_NO_LIBRARY, OPTION_COMPILER,
    OPTION_JSON,         OPTION_QUIET,      OPTION_HELP,    OPTION_COUNT};

const struct cli_command cli_commands[COMMAND_COUNT + 1] = {
#define COMMAND(id, function, ...) [COMMAND_##id] = {__VA_ARGS__},
#include "command_rows.h"
#undef COMMAND
};

const char *commands_in_group(const struct cli_command *command, const char *group) {
  size_t length = strlen(group);
  return strncmp(command->name, group, length) == 0 && command->name[length] == ' '
             ? command->name + length + 1
             : NULL;
}

bool commands_take_options(const struct cli_command *command) {
  return command->common || *command->options != OPTION_HELP;
}

bool commands_has(const enum cli_option *options, enum cli_option option) {
  while (*options != OPTION_COUNT && *options != option) options++;
  return *options == option;
}

bool commands_take(const struct cli_command *command, enum cli_option option) {
  return commands_has(command->options, option) ||
         (command->common && commands_has(cli_common, option));
}

const struct cli_command *commands_find(const char *name, const char *second, int *words) {
  for (const struct cli_command *command = cli_commands; command->name; command++) {
    const char *rest = second ? commands_in_group(command, name) : NULL;
    *words = rest ? 2 : 1;
    if (strcmp(rest ? rest : command->name, rest ? second : name) == 0) return command;
  }
  return NULL;
}
