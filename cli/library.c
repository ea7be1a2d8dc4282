/* Opens the library with the command's options, and prints remarks about its cache. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/machine.h"
#include "cli.h"
#include "stop.h"

cugen_options cli_library_options(const struct cli *cli) {
  const char *const *values = cli->values;
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = values[OPTION_DEVICE];
  options.arch = values[OPTION_ARCH];
  options.measure = values[OPTION_MEASURE];
  options.cache = values[OPTION_CACHE];
  options.config_dir = values[OPTION_CONFIG_DIR];
  options.template_dir = values[OPTION_TEMPLATE_DIR];
  options.device_dir = values[OPTION_DEVICE_DIR];
  options.toolkit = values[OPTION_TOOLKIT];
  options.compiler = values[OPTION_COMPILER];
  options.no_library = values[OPTION_NO_LIBRARY] != NULL;
  options.objective = values[OPTION_OBJECTIVE];
  options.prefer = values[OPTION_PREFER];
  return options;
}

int cli_open_cache(struct cli *cli) {
  cugen_options options = cli_library_options(cli);
  options.device = options.measure = NULL; /* here --device and --measure select records */
  return cugen_open(&options, &cli->lib, &cli->error);
}

cugen_cache_filter cli_cache_filter(const struct cli *cli) {
  return (cugen_cache_filter){.config = cli->operand,
                              .problem = cli->values[OPTION_PROBLEM],
                              .device = cli->values[OPTION_DEVICE],
                              .measure = cli->values[OPTION_MEASURE],
                              .failed = options_given(cli, OPTION_FAILED)};
}

/* Only commands that call stop_catch catch signals; a signal ends all other commands at once. */
bool cli_is_stopped(void *context) {
  (void)context;
  return stop_asked();
}

static int is_stopped_for_library(void *context) {
  return cli_is_stopped(context);
}

/* Returns a device group's share of the compile threads, or the number in --threads; 0: neither is
   given. A bad number also yields 0, and is refused later. */
static int expected_threads(const struct cli *cli) {
  const char *text = cli->values[OPTION_THREADS];
  if (cli->threads) return cli->threads;
  const long threads = text ? strtol(text, NULL, 10) : 0;
  return threads > 0 && threads < INT_MAX ? (int)threads : 0;
}

int cli_open(struct cli *cli) {
  cugen_options options = cli_library_options(cli);
  const char *worker = getenv("CUGEN_WORKER");
  if (!worker || !*worker) { /* this program is the worker */
    if (!cli->self) cli->self = realpath("/proc/self/exe", NULL);
    options.worker = cli->self;
  }
  options.stop = is_stopped_for_library;
  const bool tunes = cli->command == &cli_commands[COMMAND_TUNE];
  /* Signals are caught from now on, before there is anything to remove at the end, such as a
     compiler's folder. */
  if (tunes) stop_catch();
  int status = cugen_open(&options, &cli->lib, &cli->error);
  if (!status && (tunes || cli->command == &cli_commands[COMMAND_RUN]))
    api_expect_tuning(cli->lib, expected_threads(cli));
  return status;
}

void cli_remark_cache(const struct cli *cli) {
  static const enum api_place warnings[] = {API_PLACE_WARNING, API_PLACE_CLOCK,
                                            API_PLACE_IMAGE_KEY};
  for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++) {
    const char *warning = api_where(cli->lib, warnings[i]);
    if (*warning) cli_remark(cli, "%s", warning);
  }
}

bool cli_print_remembered(const struct cli *cli) {
  const char *named = cli->values[OPTION_CACHE];
  const bool warned = *api_where(cli->lib, API_PLACE_WARNING) != '\0';
  const bool remembered =
      !warned && api_cache_parse(api_where(cli->lib, API_PLACE_CACHE)) != CUGEN_CACHE_MEMORY;
  if (remembered)
    printf("Remembered in %s.\n", api_where(cli->lib, API_PLACE_CACHE));
  else
    puts(named && api_cache_parse(named) == CUGEN_CACHE_MEMORY
             ? "Nothing was stored (--cache none)."
             : "Nothing was stored: no cache can be written.");
  return remembered;
}

bool cli_remark_no_cache(const struct cli *cli) {
  const char *name = api_where(cli->lib, API_PLACE_CACHE);
  const bool missing = api_cache_parse(name) == CUGEN_CACHE_FILE && access(name, F_OK) != 0;
  if (missing) cli_remark(cli, "%s: there is no database there, so nothing is remembered", name);
  return missing;
}

/* Other users see the words of a command line (ps). So a connection string with a user is copied,
   and only its scheme is left in place. Without memory for the copy the string stays. */
void secrets_hide(int argc, char **argv) {
  static const char mark[] = "://";
  for (int i = 1; i < argc; i++) {
    char *secret = strstr(argv[i], mark);
    char *copy = secret && strchr(secret, '@') ? strdup(argv[i]) : NULL;
    if (!copy) continue;
    secret += sizeof mark - 1;
    memset(secret, 'x', strlen(secret));
    argv[i] = copy;
  }
}
