/* cugen check: what is wrong with a kernel's variants, found by watching them run on the cpu device. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "print.h"
#include "progress.h"
#include "stop.h"

static int read_options(struct cli *cli, cugen_check_options *options) {
  size_t seed = 1, threads = 0;
  int status = options_count(cli, OPTION_SEED, 0, &seed);
  if (!status) status = options_count(cli, OPTION_THREADS, 1, &threads);
  if (!status) status = options_count(cli, OPTION_SAMPLE, 1, &options->sample);
  if (!status) status = options_seconds(cli, OPTION_TIMEOUT, &options->timeout);
  options->variant = cli->values[OPTION_VARIANT];
  options->all = options_given(cli, OPTION_ALL);
  options->seed = seed;
  options->threads = threads < 4096 ? (int)threads : 4096;
  if (!status && (options->variant != NULL) + options->all + (options->sample > 0) > 1)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "one of --variant, --all and --sample is expected, not several");
  return status;
}

static int on_progress(const cugen_check_progress *state, void *context) {
  const cugen_progress line = {
      .done = state->done, .planned = state->planned, .failed = state->findings, .remaining = -1};
  progress_draw(context, &line);
  return stop_asked();
}

/* ---- As text ---- */

static void print_finding(const cugen_check_finding *f) {
  if (f->line) printf("%s:%d: ", f->file, f->line);
  printf("%s: %s\n", f->kind, f->message);
  if (f->user_line) printf("    used at %s:%d\n", f->user_file, f->user_line);
  printf("    %s; %s", f->variant, f->problem);
  if (f->variants > 1) printf("; %s variants show it", print_count(f->variants).text);
  putchar('\n');
}

static double ratio(const cugen_check_traffic *t) {
  return t->ideal > 0 ? t->needed / t->ideal : 1;
}

static bool same_row(const cugen_check_traffic *a, const cugen_check_traffic *b) {
  const size_t length = strcspn(a->variant, " ");
  return strncmp(a->variant, b->variant, length) == 0 && strcspn(b->variant, " ") == length &&
         strcmp(a->array, b->array) == 0 && a->shared == b->shared && a->write == b->write && a->launch == b->launch;
}

/* The least and the most of an implementation's variants, for one array. */
static void print_row(const cugen_check *check, size_t first) {
  const cugen_check_traffic *t = &check->traffic[first];
  double least = ratio(t), most = least, request = t->requests > 0 ? t->needed / t->requests : 0;
  for (size_t i = 0; i < check->traffic_count; i++) {
    if (!same_row(t, &check->traffic[i])) continue;
    if (i < first) return; /* it stands above */
    const double r = ratio(&check->traffic[i]);
    if (r < least) least = r;
    if (r > most) most = r;
  }
  const int name = (int)strcspn(t->variant, " ");
  printf("  %-14.*s %-22s %-6s %8.2f", name, t->variant, t->array, t->write ? "writes" : "reads", least);
  if (most > least + 0.005)
    printf(" to %.2f", most);
  else
    printf("   %.1f %s a request", request, t->shared ? "passes" : "sectors");
  putchar('\n');
}

static void print_traffic(const cugen_check *check) {
  for (int shared = 1; shared >= 0; shared--) {
    bool headed = false;
    for (size_t i = 0; i < check->traffic_count; i++) {
      if (check->traffic[i].shared != shared) continue;
      if (!headed)
        puts(shared ? "\nShared memory, passes over the banks as times the fewest:"
                    : "\nGlobal memory, sectors of 32 bytes as times the fewest:");
      headed = true;
      print_row(check, i);
    }
  }
}

static void print_skips(const cugen_check *check) {
  for (size_t i = 0; i < check->skip_count; i++) {
    const cugen_check_skip *s = &check->skips[i];
    printf("not checked: %s", s->what);
    if (s->variants > 1) printf(" and %s more", print_count(s->variants - 1).text);
    printf(": %s\n", s->why);
  }
}

static void print_several(size_t number, const char *what, const char *end) {
  printf("%s %s%s%s", print_count(number).text, what, number == 1 ? "" : "s", end);
}

static void print_result(struct cli *cli, const cugen_check *check, double seconds) {
  const bool quiet = options_given(cli, OPTION_QUIET);
  if (!quiet) {
    printf("%s: %s of ", cugen_kernel_name(cli->kernel), print_count(check->variants).text);
    print_several(check->variants_of, "variant", ", ");
    print_several(check->problems, "problem", ", ");
    print_several(check->runs, "run", ", watched on the cpu device\n");
  }
  for (size_t i = 0; i < check->finding_count; i++) print_finding(&check->findings[i]);
  print_skips(check);
  if (quiet) return;
  print_traffic(check);
  if (!check->finding_count && check->runs) printf("\nNothing found, in %s.\n", print_seconds(seconds).text);
}

/* ---- As JSON ---- */

static json_t *dim_json(const uint32_t at[3]) {
  json_t *array = json_array();
  for (int i = 0; i < 3; i++) json_array_append_new(array, json_integer(at[i]));
  return array;
}

static json_t *finding_json(const cugen_check_finding *f) {
  json_t *object = json_object();
  json_object_set_new(object, "kind", json_string(f->kind));
  json_object_set_new(object, "message", json_text(f->message));
  json_object_set_new(object, "file", json_optional_string(f->file));
  json_object_set_new(object, "line", f->line ? json_integer(f->line) : json_null());
  json_object_set_new(object, "user_file", json_optional_string(f->user_file));
  json_object_set_new(object, "user_line", f->user_line ? json_integer(f->user_line) : json_null());
  json_object_set_new(object, "other_file", json_optional_string(f->other_file));
  json_object_set_new(object, "other_line", f->other_line ? json_integer(f->other_line) : json_null());
  json_object_set_new(object, "array", json_optional_string(f->array));
  json_object_set_new(object, "shared", json_boolean(f->shared));
  json_object_set_new(object, "block", dim_json(f->block));
  json_object_set_new(object, "thread", dim_json(f->thread));
  json_object_set_new(object, "other_block", dim_json(f->other_block));
  json_object_set_new(object, "other_thread", dim_json(f->other_thread));
  json_object_set_new(object, "variant", json_string(f->variant));
  json_object_set_new(object, "problem", json_string(f->problem));
  json_object_set_new(object, "variants", json_integer((json_int_t)f->variants));
  return object;
}

static json_t *traffic_json(const cugen_check_traffic *t) {
  json_t *object = json_object();
  json_object_set_new(object, "variant", json_string(t->variant));
  json_object_set_new(object, "problem", json_string(t->problem));
  json_object_set_new(object, "launch", json_integer(t->launch));
  json_object_set_new(object, "array", json_optional_string(t->array));
  json_object_set_new(object, "memory", json_string(t->shared ? "shared" : "global"));
  json_object_set_new(object, "access", json_string(t->write ? "write" : "read"));
  json_object_set_new(object, "requests", json_number(t->requests));
  json_object_set_new(object, "bytes", json_number(t->bytes));
  json_object_set_new(object, "needed", json_number(t->needed));
  json_object_set_new(object, "ideal", json_number(t->ideal));
  return object;
}

static json_t *skip_json(const cugen_check_skip *s) {
  json_t *object = json_object();
  json_object_set_new(object, "what", json_string(s->what));
  json_object_set_new(object, "why", json_text(s->why));
  json_object_set_new(object, "variants", json_integer((json_int_t)s->variants));
  return object;
}

static int print_json(struct cli *cli, const cugen_check *check, double seconds, bool interrupted) {
  json_t *object = json_object(), *findings = json_array(), *traffic = json_array(), *skips = json_array();
  for (size_t i = 0; i < check->finding_count; i++)
    json_array_append_new(findings, finding_json(&check->findings[i]));
  for (size_t i = 0; i < check->traffic_count; i++) json_array_append_new(traffic, traffic_json(&check->traffic[i]));
  for (size_t i = 0; i < check->skip_count; i++) json_array_append_new(skips, skip_json(&check->skips[i]));
  json_object_set_new(object, "kernel", json_string(cugen_kernel_name(cli->kernel)));
  json_object_set_new(object, "problem", json_string(cugen_kernel_problem(cli->kernel)));
  json_object_set_new(object, "variants", json_integer((json_int_t)check->variants));
  json_object_set_new(object, "variants_of", json_integer((json_int_t)check->variants_of));
  json_object_set_new(object, "problems", json_integer((json_int_t)check->problems));
  json_object_set_new(object, "runs", json_integer((json_int_t)check->runs));
  json_object_set_new(object, "seconds", json_number(seconds));
  json_object_set_new(object, "interrupted", json_boolean(interrupted));
  json_object_set_new(object, "findings", findings);
  json_object_set_new(object, "not_checked", skips);
  json_object_set_new(object, "traffic", traffic);
  return cli_print_json(cli, object);
}

/* ---- The command ---- */

static int report(struct cli *cli, int status, const cugen_check *check, double seconds) {
  const bool json = options_given(cli, OPTION_JSON), interrupted = status == CUGEN_ERROR_INTERRUPTED;
  const cugen_error found = cli->error;
  int printed = CUGEN_OK;
  if (json)
    printed = print_json(cli, check, seconds, interrupted);
  else
    print_result(cli, check, seconds);
  cli->error = found;
  if (printed) return printed;
  if (interrupted && stop_asked()) {
    cli_remark(cli, "interrupted");
    return stop_exit_code();
  }
  if (status || check->runs) return status;
  return cli_fail(cli, CUGEN_ERROR_EMPTY, "nothing was checked");
}

int command_check(struct cli *cli) {
  cugen_check_options options = CUGEN_CHECK_OPTIONS_INIT;
  cugen_check check;
  struct progress progress;
  int status = read_options(cli, &options);
  if (!status && !cli->values[OPTION_DEVICE]) cli->values[OPTION_DEVICE] = "cpu";
  if (!status) status = cli_open_kernel(cli);
  if (status) return status;
  progress_open(&progress, options_given(cli, OPTION_QUIET));
  options.progress = on_progress;
  options.context = &progress;
  stop_catch();
  const double begin = progress_now();
  status = cugen_kernel_check(cli->kernel, &options, &check, &cli->error);
  progress_close(&progress);
  if (status && status != CUGEN_ERROR_WRONG && status != CUGEN_ERROR_INTERRUPTED) return status;
  return report(cli, status, &check, progress_now() - begin);
}
