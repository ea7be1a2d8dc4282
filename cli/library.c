/* Opens the library with the command's options, and reads what cugen_where says. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "stop.h"

int cli_open_cache(struct cli *cli) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.cache = cli->values[OPTION_CACHE];
  options.config_dir = cli->values[OPTION_CONFIG_DIR];
  options.device_dir = cli->values[OPTION_DEVICE_DIR];
  return cugen_open(&options, &cli->lib, &cli->error);
}

/* Names this program as the worker, unless the environment names one. */
static const char *own_worker(struct cli *cli) {
  const char *named = getenv("CUGEN_WORKER");
  if (named && *named) return NULL;
  if (!cli->self) cli->self = realpath("/proc/self/exe", NULL);
  return cli->self;
}

/* Signals are caught only in commands that have something to store; they end all other commands at
   once. */
int cli_ask_stop(void *context) {
  (void)context;
  return stop_asked();
}

/* Returns the number of threads that --threads names; a text that is no number is refused later. */
static int expected_threads(const struct cli *cli) {
  const char *text = cli->values[OPTION_THREADS];
  if (cli->threads) return cli->threads;
  const long threads = text ? strtol(text, NULL, 10) : 0;
  return threads > 0 && threads < INT_MAX ? (int)threads : 0;
}

static bool runs_variants(const struct cli *cli) {
  return cli->command == &cli_commands[COMMAND_TUNE] || cli->command == &cli_commands[COMMAND_RUN];
}

int cli_open(struct cli *cli) {
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
  options.worker = own_worker(cli);
  options.objective = values[OPTION_OBJECTIVE];
  options.prefer = values[OPTION_PREFER];
  options.stop = cli_ask_stop;
  /* Caught before there is anything to tidy up, such as a compiler's folder. */
  if (cli->command == &cli_commands[COMMAND_TUNE]) stop_catch();
  int status = cugen_open(&options, &cli->lib, &cli->error);
  if (!status && runs_variants(cli)) api_expect_tuning(cli->lib, expected_threads(cli));
  return status;
}

const char *cli_where(const struct cli *cli, const char *name, int *length) {
  size_t prefix = strlen(name);
  const char *line = cugen_where(cli->lib);
  while (*line && (strncmp(line, name, prefix) != 0 || strncmp(line + prefix, ": ", 2) != 0)) {
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  if (*line) line += prefix + 2;
  *length = (int)strcspn(line, "\n");
  return line;
}

void cli_remark_cache(const struct cli *cli) {
  int length;
  const char *warning = cli_where(cli, "warning", &length);
  if (length) cli_remark(cli, "%.*s", length, warning);
  warning = cli_where(cli, "clock", &length);
  if (length) cli_remark(cli, "%.*s", length, warning);
  warning = cli_where(cli, "image key", &length);
  if (length) cli_remark(cli, "%.*s", length, warning);
}

/* The caller frees it; NULL: out of memory. */
static char *library_cache_name(const struct cli *cli) {
  int length;
  const char *name = cli_where(cli, "cache", &length);
  return strndup(name, (size_t)length);
}

cugen_cache_kind cli_cache_kind(const struct cli *cli) {
  char *name = library_cache_name(cli);
  const cugen_cache_kind kind = api_cache_parse(name);
  free(name);
  return kind;
}

bool cli_print_remembered(const struct cli *cli) {
  int length, warning;
  const char *cache = cli_where(cli, "cache", &length), *named = cli->values[OPTION_CACHE];
  cli_where(cli, "warning", &warning);
  const bool remembered = !warning && cli_cache_kind(cli) != CUGEN_CACHE_MEMORY;
  if (remembered)
    printf("Remembered in %.*s.\n", length, cache);
  else
    puts(named && api_cache_parse(named) == CUGEN_CACHE_MEMORY
             ? "Nothing was stored (--cache none)."
             : "Nothing was stored: no cache can be written.");
  return remembered;
}

bool cli_remark_no_cache(const struct cli *cli) {
  char *name = library_cache_name(cli);
  bool missing = name && api_cache_parse(name) == CUGEN_CACHE_FILE && access(name, F_OK) != 0;
  if (missing) cli_remark(cli, "%s: there is no database there, so nothing is remembered", name);
  free(name);
  return missing;
}
