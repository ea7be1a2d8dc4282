/* Several devices; see tune_devices.h. */
#include "tune_devices.h"

#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "stop.h"

/* ---- What is said of them ---- */

size_t cli_device_count(const struct cli *cli) {
  const char *list = cli->values[OPTION_DEVICE];
  size_t count = 1;
  if (!list || cugen_device_parse(list).kind != CUGEN_DEVICE_LIST) return 1;
  for (; *list; list++) count += *list == ',';
  return count;
}

void tune_devices_print_head(const struct cli *cli) {
  const size_t count = cli_device_count(cli);
  if (count > 1) printf("%s devices share the search: %s\n", print_count(count).text, cli->values[OPTION_DEVICE]);
}

/* Whether the line is among those that were said. */
static bool was_said(const struct cli *cli, const char *line, size_t length) {
  const char *at = cli->lost;
  for (; at && *at; at += strcspn(at, "\n") + 1)
    if (strncmp(at, line, length + 1) == 0) return true;
  return false;
}

static void keep_said(struct cli *cli, const char *line, size_t length) {
  const size_t before = cli->lost ? strlen(cli->lost) : 0;
  char *more = realloc(cli->lost, before + length + 1);
  if (!more) return; /* it is said again */
  memcpy(more + before, line, length);
  more[before + length] = '\0';
  cli->lost = more;
}

/* "cuda:3: why" */
static void say(const struct cli *cli, const char *line, size_t length) {
  size_t device = 0;
  while (device < length && strncmp(line + device, ": ", 2) != 0) device++;
  const size_t why = device + 2 <= length ? device + 2 : length;
  cli_remark(cli, "%.*s failed and is left out, the others go on: %.*s", (int)device, line, (int)(length - why),
             line + why);
}

void tune_devices_say_lost(struct cli *cli, struct progress *progress, const char *lost) {
  for (size_t length; lost && *lost; lost += length + 1) {
    length = strcspn(lost, "\n");
    if (!lost[length]) break;
    if (was_said(cli, lost, length)) continue;
    progress_close(progress);
    say(cli, lost, length);
    keep_said(cli, lost, length + 1);
  }
}

/* ---- Groups ---- */

enum { MOST_GROUPS = 64 };

struct groups {
  char *lists[MOST_GROUPS];
  size_t count;
};

static int read_groups(struct cli *cli, const char *list, struct groups *out) {
  const char *group;
  int status = cli_open(cli);
  while (!status && out->count < MOST_GROUPS) {
    status = cugen_device_group(cli->lib, list, out->count, &group, &cli->error);
    if (status || !group) break;
    out->lists[out->count] = strdup(group);
    if (!out->lists[out->count++]) status = cli_fail(cli, CUGEN_ERROR_MEMORY, "out of memory");
  }
  cugen_close(cli->lib);
  cli->lib = NULL;
  return status;
}

static void close_group(struct cli *cli) {
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  cli->kernel = NULL;
  cli->lib = NULL;
}

/* The first failure is the command's; where there are several groups it says whose it is. */
static void keep_failure(struct cli *cli, const char *list, cugen_error *first) {
  cugen_error own = cli->error;
  if (first->status) {
    cli_remark(cli, "%s: %s", list, own.message);
    return;
  }
  cli_fail(cli, own.status, "%s: %s", list, own.message);
  memcpy(own.message, cli->error.message, sizeof own.message);
  *first = own;
}

/* Each group reads the problems anew. */
static int check_stdin(struct cli *cli) {
  static const enum cli_option files[] = {OPTION_PROBLEM_FILE, OPTION_FROM};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (cli->values[files[i]] && strcmp(cli->values[files[i]], "-") == 0)
      return cli_fail(cli, CUGEN_ERROR_USAGE,
                      "--%s - is read once, and the devices are of several models with a search each: give a file",
                      cli_options[files[i]].name);
  return CUGEN_OK;
}

static int tune_groups(struct cli *cli, const struct groups *groups, cugen_tune_options *options, size_t top,
                       int (*tune)(struct cli *cli, cugen_tune_options *options, size_t top)) {
  const bool text = !cli->answers && !options_given(cli, OPTION_QUIET);
  cugen_error first = {0};
  int status = check_stdin(cli);
  if (status) return status;
  for (size_t i = 0; i < groups->count && status != CUGEN_ERROR_INTERRUPTED; i++) {
    cugen_tune_options own = *options;
    if (i) close_group(cli);
    if (i && text) putchar('\n');
    cli->values[OPTION_DEVICE] = groups->lists[i];
    status = tune(cli, &own, top);
    if (status) keep_failure(cli, groups->lists[i], &first);
  }
  if (first.status) cli->error = first;
  return status == CUGEN_ERROR_INTERRUPTED ? status : first.status;
}

/* One object, of all groups. */
static int print_answers(struct cli *cli, int status) {
  cugen_error failed = cli->error;
  json_t *object = json_object(), *answers = cli->answers;
  cli->answers = NULL;
  if (json_array_size(answers) == 0) {
    json_decref(answers);
    json_decref(object);
    return status;
  }
  json_object_set_new(object, "groups", answers);
  const int printed = cli_print_json(cli, object);
  if (!printed) cli->error = failed;
  return printed ? printed : status;
}

int tune_devices(struct cli *cli, cugen_tune_options *options, size_t top,
                 int (*tune)(struct cli *cli, cugen_tune_options *options, size_t top)) {
  const char *named = cli->values[OPTION_DEVICE], *list = named ? named : getenv("CUGEN_DEVICE");
  struct groups groups = {.count = 0};
  if (!list || cugen_device_parse(list).kind != CUGEN_DEVICE_LIST) return tune(cli, options, top);
  int status = read_groups(cli, list, &groups);
  if (!status && groups.count == 1) {
    cli->values[OPTION_DEVICE] = groups.lists[0];
    status = tune(cli, options, top);
  } else if (!status) {
    if (options_given(cli, OPTION_JSON)) cli->answers = json_array();
    status = tune_groups(cli, &groups, options, top, tune);
    if (cli->answers) status = print_answers(cli, status);
  }
  close_group(cli); /* which may have hints with the names below */
  cli->values[OPTION_DEVICE] = named;
  for (size_t i = 0; i < groups.count; i++) free(groups.lists[i]);
  return status;
}
