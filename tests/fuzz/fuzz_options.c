/* Fuzz target: words, one on a line, as the command line of each command, and values of options
   as numbers and times. The program's main is linked under another name (tests/CMakeLists.txt). */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "fuzz.h"

enum { MOST = 24 };

static const struct cli_command *command_of(unsigned number) {
  size_t count = 0;
  while (cli_commands[count].name) count++;
  return &cli_commands[number % count];
}

static void check_values(struct cli *cli) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    size_t count = 1;
    double seconds = 1;
    enum cli_option option = (enum cli_option)i;
    if (!options_given(cli, option) || !cli_options[i].argument) continue;
    int status = options_count(cli, option, 1, &count);
    require(status ? cli->error.message[0] != '\0' : count >= 1);
    status = options_seconds(cli, option, &seconds);
    require(status ? cli->error.message[0] != '\0' : seconds > 0);
  }
}

/* The first byte chooses the command. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  struct cli cli = {.command = command_of(data[0])};
  char *words[MOST + 1] = {(char *)(uintptr_t)cli.command->name};
  int count = 1;
  char *text = strndup((const char *)data + 1, size - 1), *rest = text;
  require(text);
  for (char *word; count < MOST && (word = strsep(&rest, "\n"));) words[count++] = word;
  optind = 0; /* as at the start of the program */
  int status = options_parse(&cli, count, words);
  require(status == CUGEN_OK || (cli.error.status == status && cli.error.message[0]));
  require(cli.setting_count < MOST);
  if (!status) check_values(&cli);
  free(cli.settings);
  free(cli.wheres);
  free(text);
  return 0;
}
