/* cugen, the program: how a command line becomes a call.

   1. The first word, or the first two ("cache ls"), name a row of cli_commands (commands.c).
   Not in that table are "worker", by which the library starts this program, "man" and "complete";
   --help and --version stand for help and version. "worker command" comes from cugen_command, and
   runs a command for a program (serve.c).
   2. options_parse fills a struct cli from the rest, by the row's list of options. Every option
   is in one table (CLI_OPTIONS).
   3. The command's function runs. It opens what the command needs with cli_open or
      cli_open_kernel, and prints the result on stdout. The function never prints its failure:
      cli_fail fills cli->error, and the function returns the status.
   4. run_command closes the kernel and the library. run_for_user prints the failure once on stderr
      (with --json also as an object on stdout), and returns the status without its sign.

   Invariants: results go to stdout, remarks and errors to stderr. Whoever asked for JSON gets one
   object, also of a failure. A full disk behind stdout is a failure. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clean.h"
#include "cli.h"
#include "print.h"
#include "serve.h"
#include "stop.h"
#include "terminal.h"

/* Functions by cli_command_id, in the order of cli_commands. */
static int (*const functions[COMMAND_COUNT])(struct cli *cli) = {
#define COMMAND(id, name, ...) [COMMAND_##id] = command_##name,
#include "command_rows.h"
#undef COMMAND
};

static int run_command(struct cli *cli, int argc, char **argv) {
  int status = options_parse(cli, argc, argv);
  if (!status && cli->serve) status = serve_begin(cli);
  if (status) return status;
  if (options_given(cli, OPTION_HELP)) {
    help_command(cli->command, false, stdout);
    return CUGEN_OK;
  }
  const bool tunes = cli->command == &cli_commands[COMMAND_TUNE];
  const char *device = cli->values[OPTION_DEVICE];
  if (!tunes && device && device_parse(device).kind == CUGEN_DEVICE_LIST)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--device %s: 'cugen %s' takes one device; 'cugen tune' takes several", device,
                    cli->command->name);
  /* Lines are broken if the result is for people. Sources, pictures and JSON are not. */
  const bool file = options_given(cli, OPTION_OUTPUT) &&
                    cli->command != &cli_commands[COMMAND_EXPORT]; /* its -o is a folder */
  const bool unbroken = cli->command->prints_data || file || options_given(cli, OPTION_JSON) ||
                        options_given(cli, OPTION_WIDE);
  const int width = unbroken ? 0 : terminal_width();
  cli->width = commands_take(cli->command, OPTION_WIDE) ? width : 0;
  clean_wrap(width);
  status = functions[cli->command - cli_commands](cli);
  if (!status && json_lost_memory()) status = cli_no_memory(cli);
  /* cugen tune names the model in its first line. */
  if (!status && cli->fallback && !tunes)
    cli_remark(cli, "no GPU is here: using %s; --device names another, or cpu", cli->model);
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  free(cli->fallback);
  free(cli->model);
  return status;
}

static int main_run(struct cli *cli, int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "worker") == 0) return cugen_worker_main(argc - 1, argv + 1);
  clean_streams();
  json_watch_memory();
  /* The build makes docs/cugen.1 with this. */
  if (strcmp(word, "man") == 0) return help_man(stdout), CUGEN_OK;
  if (strcmp(word, "complete") == 0) return complete_words(cli, argc - 1, argv + 1);
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
  if (strcmp(word, "--version") == 0) word = "version";
  if (!*word) {
    help_program(false, stderr);
    return cli_fail(cli, CUGEN_ERROR_USAGE, "a command is missing");
  }
  int words;
  const char *second = argc > 2 ? argv[2] : NULL;
  cli->command = commands_find(word, second, &words);
  if (cli->command) return run_command(cli, argc - words, argv + words);
  if (second && (strcmp(second, "--help") == 0 || strcmp(second, "-h") == 0) &&
      help_group(word, stdout))
    return CUGEN_OK;
  return help_unknown_command(cli, word, second);
}

static bool asks_for_json(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--json") == 0) return true;
  return false;
}

/* Runs a command for cugen_command, and answers with one object unless the call is malformed. */
static int run_for_program(struct cli *cli, int argc, char **argv) {
  struct serve serve;
  if (serve_open(&serve, &argc, &argv)) return EXIT_FAILURE;
  cli->serve = &serve;
  return serve_close(cli, main_run(cli, argc, argv));
}

static int run_for_user(struct cli *cli, int argc, char **argv) {
  int status = main_run(cli, argc, argv);
  if (status < 0 && !cli->answered && asks_for_json(argc, argv)) {
    cugen_error ignored;
    json_print(json_failure(&cli->error, status), stdout, &ignored);
  }
  if (status == CUGEN_ERROR_INTERRUPTED && stop_asked()) {
    if (*cli->error.message) fprintf(stderr, "cugen: %s\n", message_own(cli->error.message).text);
    status = stop_exit_code();
  }
  /* A full disk or a closed pipe behind stdout is a failure. The descriptor is closed, not the
     stream, because NVRTC's C++ library flushes the stream when the process ends. */
  const bool lost = !clean_wrap(0) || ferror(stdout) || fflush(stdout);
  if ((close(STDOUT_FILENO) != 0 || lost) && !status)
    status = cli_fail(cli, CUGEN_ERROR_IO, "cannot write to stdout");
  /* A positive status is a signal's exit code (stop.h) or the worker's own, and has no message. */
  if (status < 0 && *cli->error.message)
    fprintf(stderr, "cugen: %s\n", message_own(cli->error.message).text);
  else if (status < 0)
    fprintf(stderr, "cugen: %s\n", cugen_status_text(status));
  return status < 0 ? -status : status;
}

int main(int argc, char **argv) {
  struct cli cli = {0};
  /* The parent may have ignored SIGCHLD, which is inherited; no process would then report how it
     ended. */
  signal(SIGCHLD, SIG_DFL);
  secrets_hide(argc, argv);
  const bool serves = argc > 2 && strcmp(argv[1], "worker") == 0 && strcmp(argv[2], "command") == 0;
  const int code =
      serves ? run_for_program(&cli, argc - 1, argv + 1) : run_for_user(&cli, argc, argv);
  free(cli.settings);
  free(cli.self);
  free(cli.lost);
  free(cli.wheres);
  return code;
}
