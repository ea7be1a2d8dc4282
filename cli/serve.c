/* Runs a command that a program asked for by cugen_command. The JSON of the command becomes a part
   of one object, and nothing else is printed. An option that the command takes and was not given is
   that of the program's library, except device and measure of a command with own_device. */
#include "serve.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int serve_begin(struct cli *cli) {
  const struct serve *serve = cli->serve;
  if (!commands_take(cli->command, OPTION_JSON))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "'cugen %s' has no option --json, so that cugen_command cannot run it",
                    cli->command->name);
  cli->values[OPTION_JSON] = cli->values[OPTION_QUIET] = "";
  for (size_t i = 0; i < serve->count; i++) {
    const char *value = serve->defaults[i] + strcspn(serve->defaults[i], "=");
    const enum cli_option option =
        option_of_field(serve->defaults[i], (size_t)(value - serve->defaults[i]));
    const bool own =
        cli->command->own_device && (option == OPTION_DEVICE || option == OPTION_MEASURE);
    if (*value && option != OPTION_COUNT && commands_take(cli->command, option) && !own &&
        !cli->values[option])
      cli->values[option] = value + 1;
  }
  return CUGEN_OK;
}

int serve_open(struct serve *serve, int *argc, char ***argv) {
  char **words = *argv + 2;
  int count = *argc - 2, defaults = 0;
  if (count < 1 || strcmp(words[0], CUGEN_VERSION) != 0) return CUGEN_ERROR_USAGE;
  words++, count--;
  while (defaults < count && strcmp(words[defaults], "--") != 0) defaults++;
  if (defaults == count) return CUGEN_ERROR_USAGE;
  *serve = (struct serve){.defaults = words, .count = (size_t)defaults};
  serve->answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const bool good = serve->answer >= 0 && null >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
                    dup2(null, STDERR_FILENO) >= 0;
  if (null >= 0) close(null);
  *argv = words + defaults, *argc = count - defaults; /* "--" stands for the program's name */
  return good ? CUGEN_OK : CUGEN_ERROR_IO;
}

int serve_close(struct cli *cli, int status) {
  const cugen_error *error = &cli->error;
  const struct message message =
      message_own(*error->message ? error->message : cugen_status_text(status));
  FILE *out = fdopen(cli->serve->answer, "w");
  json_t *answer =
      JSON_NEW({"status", json_integer(status < 0 ? status : CUGEN_OK)},
               {"message", json_text(message.text)}, {"cause", json_integer((int)error->cause)},
               {"file", json_text(error->line ? error->file : "")}, MEMBER(integer, error, line),
               {"json", cli->serve->result ? cli->serve->result : json_null()});
  const bool good = out && json_dumpf(answer, out, JSON_REAL_PRECISION(17)) == 0;
  json_decref(answer);
  return out && fclose(out) == 0 && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
