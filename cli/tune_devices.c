/* Tunes on several devices; see tune_devices.h. */
#include "tune_devices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/machine.h"
#include "base/device_name.h"
#include "base/error.h"
#include "print.h"
#include "stop.h"
#include "table.h"

/* ---- Remarks about devices ------------------------------------------------------------------ */

size_t cli_device_count(const struct cli *cli) {
  const char *list = cli->values[OPTION_DEVICE];
  size_t count = 1;
  if (!list || device_parse(list).kind != CUGEN_DEVICE_LIST) return 1;
  for (; *list; list++) count += *list == ',';
  return count;
}

void tune_devices_print_head(const struct cli *cli) {
  const size_t count = cli_device_count(cli);
  if (count > 1)
    printf("%s devices share the search: %s\n", print_count(count).text,
           cli->values[OPTION_DEVICE]);
}

/* Returns true if this line was printed before. */
static bool was_said(const struct cli *cli, const char *line, size_t length) {
  const char *at = cli->lost;
  for (; at && *at; at += strcspn(at, "\n") + 1)
    if (strncmp(at, line, length + 1) == 0) return true;
  return false;
}

static void keep_said(struct cli *cli, const char *line, size_t length) {
  const size_t before = cli->lost ? strlen(cli->lost) : 0;
  char *more = realloc(cli->lost, before + length + 1);
  if (!more) return; /* without memory the line is printed again */
  memcpy(more + before, line, length);
  more[before + length] = '\0';
  cli->lost = more;
}

void tune_devices_say_lost(struct cli *cli, struct progress *progress, const char *lost) {
  for (size_t length; lost && *lost; lost += length + 1) {
    length = strcspn(lost, "\n");
    if (!lost[length]) break;
    if (was_said(cli, lost, length)) continue;
    /* The line is "cuda:3: why". */
    size_t device = 0;
    while (device < length && strncmp(lost + device, ": ", 2) != 0) device++;
    const size_t why = device + 2 <= length ? device + 2 : length;
    progress_pause(progress);
    cli_remark(cli, "%.*s failed and is left out, the others go on: %.*s", (int)device, lost,
               (int)(length - why), lost + why);
    progress_go_on(progress);
    keep_said(cli, lost, length + 1);
  }
}

/* ---- Groups --------------------------------------------------------------------------------- */

enum { MOST_GROUPS = 64 };

typedef int tune_function(struct cli *cli, cugen_tune_options *options, size_t top);

/* Devices that share a search, and the state of that search. */
struct tune_group {
  struct groups *all;
  size_t index;
  char *list;
  struct cli cli;
  cugen_tune_options options;
  pthread_t thread;
  bool begun; /* the thread was started */
  int status;
  cugen_record best;
  char *variant; /* copy of the best record's variant; NULL: no best */
};

struct groups {
  struct tune_group each[MOST_GROUPS];
  size_t count, top;
  size_t failed; /* the number of groups whose answer is a failure */
  tune_function *tune;
  struct progress_board board;
  pthread_mutex_t lock;
  pthread_cond_t next;
  size_t turn;  /* groups up to this index may print */
  bool in_turn; /* no two groups are tuned at the same time */
  bool spaced;  /* an empty line separates the groups' results */
  bool named;   /* a group's devices are printed before its results */
};

/* Returns the number of processors of the cpu device, which is the last device; 1 without
   memory. */
static int count_processors(struct cli *cli) {
  const size_t count = cugen_devices(cli->lib, NULL, 0, NULL);
  cugen_device_info *devices = calloc(count, sizeof *devices);
  const int found = devices && cugen_devices(cli->lib, devices, count, NULL) == count
                        ? devices[count - 1].sm_count
                        : 1;
  free(devices);
  return found;
}

/* Reads the groups, and divides the compile threads (0: one for each processor) among groups that
   are tuned at the same time. */
static int read_groups(struct cli *cli, const char *list, int threads, struct groups *out) {
  const char *list_of_group;
  int status = cli_open(cli);
  while (!status && out->count < MOST_GROUPS) {
    struct tune_group *group = &out->each[out->count];
    status = api_device_group(cli->lib, list, out->count, &list_of_group, &cli->error);
    if (status || !list_of_group) break;
    *group = (struct tune_group){.all = out, .index = out->count, .list = strdup(list_of_group)};
    if (!group->list) return cli_no_memory(cli);
    /* Only a list of present GPUs begins with "cuda:". */
    out->in_turn |= strncmp(group->list, DEVICE_NAME_CUDA ":", sizeof DEVICE_NAME_CUDA) != 0;
    out->count++;
  }
  if (!status && out->count > 1 && !out->in_turn && !threads) threads = count_processors(cli);
  for (size_t i = 0; i < out->count && !out->in_turn; i++) {
    const int share = threads / (int)out->count;
    out->each[i].cli.threads = share ? share : 1;
  }
  cugen_close(cli->lib);
  cli->lib = NULL;
  return status;
}

static void close_cli(struct cli *cli) {
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  cli->kernel = NULL;
  cli->lib = NULL;
}

/* ---- Side by side --------------------------------------------------------------------------- */

void tune_devices_take_turn(struct cli *cli) {
  struct tune_group *group = cli->group;
  if (!group) return;
  struct groups *all = group->all;
  pthread_mutex_lock(&all->lock);
  while (all->turn < group->index) pthread_cond_wait(&all->next, &all->lock);
  pthread_mutex_unlock(&all->lock);
  progress_board_silence(&all->board, true);
  if (group->index && all->spaced) putchar('\n');
  if (all->named) printf("%s\n", group->list);
}

void tune_devices_open_progress(const struct cli *cli, struct progress *progress) {
  if (cli->group)
    progress_open_part(progress, &cli->group->all->board, cli->group->index);
  else
    progress_open(progress, options_given(cli, OPTION_QUIET));
}

static void *tune_devices_run_group(void *context) {
  struct tune_group *group = context;
  struct progress part;
  group->status = group->all->tune(&group->cli, &group->options, group->all->top);
  progress_open_part(&part, &group->all->board, group->index);
  progress_close(&part); /* ends the progress of a group that failed before it opened one */
  return NULL;
}

static void start_group(struct tune_group *group, const struct cli *cli,
                        const cugen_tune_options *options) {
  const int threads = group->cli.threads;
  group->cli = *cli;
  group->cli.group = group;
  group->cli.threads = threads;
  group->cli.values[OPTION_DEVICE] = group->list;
  group->cli.self = group->cli.lost = NULL;
  if (cli->answers) group->cli.answers = json_array();
  group->options = *options;
  if (threads) group->options.threads = threads;
  group->begun = !group->all->in_turn &&
                 pthread_create(&group->thread, NULL, tune_devices_run_group, group) == 0;
}

/* Adds the group's answer, or its failure, to the answers of all groups. */
static void keep_answer(struct cli *cli, struct tune_group *group) {
  json_t *answers = group->cli.answers;
  if (group->status && group->status != CUGEN_ERROR_INTERRUPTED && !json_array_size(answers)) {
    json_array_append_new(answers, JSON_ADD(json_failure(&group->cli.error, group->status),
                                            {"device", JSON_NEW({"id", json_text(group->list)})}));
    group->all->failed++;
  }
  json_array_extend(cli->answers, answers);
}

/* Lets the group print and waits for its thread. A group without a thread is tuned now, unless a
   signal asked to stop. */
static int tune_devices_end_group(struct tune_group *group, struct cli *cli) {
  struct groups *all = group->all;
  pthread_mutex_lock(&all->lock);
  all->turn = group->index;
  pthread_cond_broadcast(&all->next);
  pthread_mutex_unlock(&all->lock);
  if (group->begun)
    pthread_join(group->thread, NULL);
  else if (stop_asked())
    group->status = CUGEN_ERROR_INTERRUPTED;
  else
    tune_devices_run_group(group);
  fflush(stdout);
  progress_board_silence(&all->board, false);
  if (cli->answers) keep_answer(cli, group);
  json_decref(group->cli.answers);
  close_cli(&group->cli);
  free(group->cli.self);
  free(group->cli.lost);
  return group->status;
}

void tune_devices_keep_best(struct cli *cli) {
  struct tune_group *group = cli->group;
  size_t count = 0;
  const cugen_record *all = group ? api_records(cli->kernel, &count) : NULL;
  if (!count) return;
  group->best = all[0];
  group->variant = strdup(group->best.variant);
}

/* Prints the best of each group, unless no group has one. */
static int tune_devices_print_best(struct cli *cli, const struct groups *groups) {
  static const struct table_column columns[] = {
      {"device", 0, 0}, {"time", TABLE_RIGHT, 0}, {"", 0, 0}, {"best variant", TABLE_WRAP, 0}};
  struct table table;
  bool any = false;
  for (size_t i = 0; i < groups->count; i++) any |= groups->each[i].variant != NULL;
  if (!any) return CUGEN_OK;
  putchar('\n');
  table_open(&table, cli, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < groups->count; i++) {
    const struct tune_group *group = &groups->each[i];
    table_cell(&table, group->list);
    table_cell(&table, group->variant ? print_seconds(group->best.seconds).text : "-");
    table_cell(&table, !group->variant ? "" : group->best.predicted ? "predicted" : "measured");
    table_cell(&table, group->variant ? group->variant : "none");
  }
  return table_close(&table, 0, stdout, &cli->error);
}

/* Refuses problems from stdin, because each group reads the problems again. */
static int check_stdin(struct cli *cli) {
  static const enum cli_option files[] = {OPTION_PROBLEM_FILE, OPTION_FROM};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (cli->values[files[i]] && strcmp(cli->values[files[i]], "-") == 0)
      return cli_fail(cli, CUGEN_ERROR_USAGE,
                      "--%s - is read once, and the devices are of several models with a search "
                      "each: give a file",
                      cli_options[files[i]].name);
  return CUGEN_OK;
}

static int tune_groups(struct cli *cli, struct groups *groups, const cugen_tune_options *options) {
  const char *names[MOST_GROUPS];
  const struct tune_group *first = NULL;
  int status = check_stdin(cli), worst = CUGEN_OK;
  for (size_t i = 0; i < groups->count; i++) names[i] = groups->each[i].list;
  if (!status &&
      !progress_board_open(&groups->board, names, groups->count, options_given(cli, OPTION_QUIET)))
    status = cli_no_memory(cli);
  if (status) return status;
  groups->spaced = !cli->answers;
  groups->named = !cli->answers && options_given(cli, OPTION_QUIET);
  for (size_t i = 0; i < groups->count; i++) start_group(&groups->each[i], cli, options);
  for (size_t i = 0; i < groups->count; i++) {
    const struct tune_group *group = &groups->each[i];
    const char *message = group->cli.error.message;
    status = tune_devices_end_group(&groups->each[i], cli);
    if (status == CUGEN_ERROR_INTERRUPTED)
      worst = status;
    else if (status && !first)
      first = group;
    else if (status && strcmp(message, first->cli.error.message) != 0)
      cli_remark(cli, "%s: %s", group->list, message);
  }
  progress_board_close(&groups->board);
  status = tune_devices_print_best(cli, groups);
  if (status) return status;
  if (!first) return worst;
  cli->error = first->cli.error;
  error_prefix(&cli->error, "%s", first->list);
  /* The command ends as interrupted, so that the failure becomes a remark. */
  if (worst) cli_remark(cli, "%s", cli->error.message);
  return worst ? worst : cli->error.status;
}

/* Prints one object with the answers of all groups. If all are failures, prints nothing, because
   main prints the first failure. */
static int print_answers(struct cli *cli, size_t failures, int status) {
  cugen_error failed = cli->error;
  json_t *answers = cli->answers;
  cli->answers = NULL;
  if (json_array_size(answers) == failures) {
    json_decref(answers);
    return status;
  }
  const int printed = cli_print_json(cli, JSON_NEW({"groups", answers}));
  if (!printed) cli->error = failed;
  return printed ? printed : status;
}

int tune_devices(struct cli *cli, cugen_tune_options *options, size_t top, tune_function *tune) {
  const char *named = cli->values[OPTION_DEVICE], *list = named ? named : getenv("CUGEN_DEVICE");
  if (!list || device_parse(list).kind != CUGEN_DEVICE_LIST) return tune(cli, options, top);
  struct groups *groups = calloc(1, sizeof *groups);
  if (!groups) return cli_no_memory(cli);
  *groups = (struct groups){.tune = tune,
                            .top = top,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .next = PTHREAD_COND_INITIALIZER};
  int status = read_groups(cli, list, options->threads, groups);
  if (!status && groups->count == 1) {
    cli->values[OPTION_DEVICE] = groups->each[0].list;
    status = tune(cli, options, top);
  } else if (!status) {
    if (options_given(cli, OPTION_JSON)) cli->answers = json_array();
    status = tune_groups(cli, groups, options);
    if (cli->answers) status = print_answers(cli, groups->failed, status);
  }
  close_cli(cli); /* before the lists that cli->values may point to are freed */
  cli->values[OPTION_DEVICE] = named;
  for (size_t i = 0; i < groups->count; i++)
    free(groups->each[i].list), free(groups->each[i].variant);
  free(groups);
  return status;
}
