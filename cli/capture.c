/* cugen tune --from FILE: reads the problems that applications captured.

   A line is a JSON object that begins with "cugen_capture" and describes one plan that was opened
   or closed. Lines of one problem are added up. A line that is incomplete was cut by a full disk or
   a crash, and the next line follows it without a line end; cut lines are counted and skipped, and
   so are lines of other kernels. A line that cugen did not write is an error.

   The weight of a problem is its launches (or its opened plans, if they are more) times the time of
   one launch. A problem whose time is not known gets the mean of the known times, or 1 s if none is
   known. */
#include "problem_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/tuning.h"
#include "base/array.h"
#include "base/input.h"
#include "print.h"

enum { VERSION = 1, MOST_LINE = 1 << 16, MOST_PROBLEMS = 1 << 20 };

static const size_t MOST_BYTES = (size_t)4 << 30;

static const char mark[] = "{\"cugen_capture\":";

struct captured {
  const char *problem; /* points to the key in `problems` */
  double opens, launches, seconds, weight;
  size_t line; /* last line of the problem */
};

struct reading {
  struct cli *cli;
  const char *path;
  size_t number;    /* number of the line being read */
  json_t *problems; /* index into `all` by problem text */
  struct captured *all;
  size_t count, cut, others; /* cut: lines that are not whole; others: lines of other kernels */
  double served[7];          /* opened plans, by plan_words */
};

static const char *const plan_words[7] = {"exact",   "near",   "portfolio", "other_gpu",
                                          "default", "pinned", "none"};

static int capture_fail_at(const struct reading *reading, const char *why) {
  cli_fail(reading->cli, CUGEN_ERROR_USAGE, "%s:%zu: %s", reading->path, reading->number, why);
  return cli_place(reading->cli, reading->path, reading->number);
}

/* ---- One line ------------------------------------------------------------------------------- */

/* Returns NULL if there is no memory. */
static struct captured *capture_find(struct reading *reading, const char *problem) {
  const json_t *known = json_object_get(reading->problems, problem);
  if (known) return &reading->all[json_integer_value(known)];
  if (!ARRAY_ROOM(reading->all, reading->count)) return NULL;
  if (json_object_set_new(reading->problems, problem, json_integer((json_int_t)reading->count)))
    return NULL;
  reading->all[reading->count] = (struct captured){0};
  return &reading->all[reading->count++];
}

static int capture_add_object(struct reading *reading, json_t *object) {
  const char *kernel, *problem, *plan;
  json_int_t version = 0, opens, launches;
  double seconds;
  if (json_unpack(object, "{s:I}", "cugen_capture", &version) || version != VERSION)
    return capture_fail_at(reading, "the line's version is not 1: a newer cugen wrote it");
  if (json_unpack(object, "{s:s, s:s, s:s, s:F, s:I, s:I}", "kernel", &kernel, "problem", &problem,
                  "plan", &plan, "seconds", &seconds, "opens", &opens, "launches", &launches) ||
      opens < 0 || launches < 0 || !(seconds >= 0 && seconds < 1e6))
    return capture_fail_at(
        reading, "a field is missing or has a wrong value; CUGEN_CAPTURE writes such lines");
  if (strcmp(kernel, cugen_kernel_name(reading->cli->kernel)) != 0)
    return reading->others++, CUGEN_OK;
  if (reading->count == MOST_PROBLEMS)
    return capture_fail_at(reading, "more than a million problems: not all can be weighed");
  struct captured *one = capture_find(reading, problem);
  if (!one) return cli_no_memory(reading->cli);
  one->opens += (double)opens;
  one->launches += (double)launches;
  if (seconds > 0) one->seconds = seconds;
  one->line = reading->number;
  for (size_t i = 0; i < sizeof plan_words / sizeof *plan_words; i++)
    if (strcmp(plan, plan_words[i]) == 0) reading->served[i] += (double)opens;
  return CUGEN_OK;
}

/* Returns true if the text begins with `mark`, ignoring spaces, or is a beginning of `mark`. */
static bool begins_as_one(const char *text, size_t length) {
  const char *wanted = mark;
  for (size_t i = 0; i < length && *wanted; i++)
    if (text[i] != ' ' && text[i] != *wanted++) return false;
  return true;
}

/* Returns the last `mark` in the text, where the last of several joined lines begins; NULL: there
   is none. */
static const char *last_mark(const char *text, size_t length) {
  const size_t size = strlen(mark);
  const char *last = NULL, *end = text + length;
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), mark, size)); at += size)
    last = at;
  return last;
}

/* Adds a line. cugen writes a line together with its end in one call, so a cut line is joined with
   the next line, or is the last line of the file. */
static int capture_add_line(struct reading *reading, const char *text, size_t length, bool ended) {
  json_error_t why;
  while (length && strchr(" \t\r", text[length - 1])) length--;
  if (!length) return CUGEN_OK;
  if (!begins_as_one(text, length))
    return capture_fail_at(
        reading,
        "this is no line that CUGEN_CAPTURE wrote; --problems reads lines such as M=64 N=128");
  const char *last = last_mark(text, length);
  if (last && last > text) reading->cut++, length -= (size_t)(last - text), text = last;
  json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
  if (!object && !ended) return reading->cut++, CUGEN_OK;
  if (!object)
    return capture_fail_at(reading,
                           "this is no line that CUGEN_CAPTURE wrote: it is no JSON object");
  const int status = capture_add_object(reading, object);
  json_decref(object);
  return status;
}

static int capture_read_lines(struct reading *reading) {
  const struct input_limits limits = {
      .most = MOST_BYTES, .most_line = MOST_LINE, .stop = {cli_is_stopped, NULL}};
  struct input input;
  cugen_error *error = &reading->cli->error;
  int status = input_open(&input, reading->path, &limits, error);
  if (status) return status;
  reading->path = input.name;
  while (!status) {
    const char *line;
    size_t length;
    reading->number++;
    status = input_line(&input, &line, &length, error);
    if (status || !line) break;
    status = length > MOST_LINE
                 ? error_set(error, CUGEN_ERROR_IO, "%s has a line of more than %d bytes",
                             reading->path, MOST_LINE)
                 : capture_add_line(reading, line, length, !input_line_is_open(&input));
  }
  input_close(&input);
  return status;
}

/* ---- The whole capture ---------------------------------------------------------------------- */

static int capture_compare(const void *a, const void *b) {
  const struct captured *left = a, *right = b;
  if (left->weight != right->weight) return left->weight < right->weight ? 1 : -1;
  return left->line < right->line ? -1 : left->line > right->line;
}

/* Returns the mean of the known times; 1 if none is known. */
static double usual_seconds(const struct reading *reading) {
  double sum = 0;
  size_t known = 0;
  for (size_t i = 0; i < reading->count; i++) {
    if (!(reading->all[i].seconds > 0)) continue;
    sum += reading->all[i].seconds;
    known++;
  }
  return known ? sum / (double)known : 1;
}

static void weigh(struct reading *reading) {
  const double usual = usual_seconds(reading);
  const char *problem;
  json_t *index;
  json_object_foreach(reading->problems, problem, index) reading->all[json_integer_value(index)]
      .problem = problem;
  for (size_t i = 0; i < reading->count; i++) {
    struct captured *one = &reading->all[i];
    one->weight = fmax(one->opens, one->launches) * (one->seconds > 0 ? one->seconds : usual);
  }
  qsort(reading->all, reading->count, sizeof *reading->all, capture_compare);
}

static void capture_remark(const struct reading *reading) {
  const struct cli *cli = reading->cli;
  char served[160] = "";
  double opens = 0, launches = 0;
  for (size_t i = 0; i < reading->count; i++)
    opens += reading->all[i].opens, launches += reading->all[i].launches;
  for (size_t i = 0; i < sizeof plan_words / sizeof *plan_words; i++)
    if (reading->served[i] > 0)
      snprintf(served + strlen(served), sizeof served - strlen(served), "%s%.0f %s",
               *served ? ", " : "", reading->served[i], plan_words[i]);
  cli_remark(cli, "%s: %zu problem%s of %s; plans opened: %.0f (%s), launches: %.0f", reading->path,
             reading->count, reading->count == 1 ? "" : "s", cugen_kernel_name(cli->kernel), opens,
             served, launches);
  if (reading->others)
    cli_remark(cli, "%s: lines of other configs: %zu", reading->path, reading->others);
  if (reading->cut)
    cli_remark(cli, "%s: lines that are not whole, left out: %zu", reading->path, reading->cut);
}

static int capture_add_problem(const struct reading *reading, const struct captured *one,
                               struct problem_set *out) {
  const size_t before = out->count;
  char *where;
  if (asprintf(&where, "%s:%zu: %s: ", reading->path, one->line, one->problem) < 0)
    return cli_no_memory(reading->cli);
  const int status = problem_set_add(reading->cli, out, where, one->problem);
  free(where);
  for (size_t i = before; i < out->count; i++) out->problems[i].weight = one->weight;
  return status;
}

static int capture_conclude(struct reading *reading, struct problem_set *out) {
  struct cli *cli = reading->cli;
  const size_t most = CUGEN_MOST_PROBLEMS, count = reading->count < most ? reading->count : most;
  if (!reading->count)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "%s: no problem of %s is in it (lines of other configs: %zu)", reading->path,
                    cugen_kernel_name(cli->kernel), reading->others);
  capture_remark(reading);
  out->captured = true;
  weigh(reading);
  if (count < reading->count)
    cli_remark(cli, "%s: the %zu heaviest problems are tuned", reading->path, count);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = capture_add_problem(reading, &reading->all[i], out);
  if (!status) problem_set_remark_unused(cli, out, reading->path);
  return status;
}

int capture_read(struct cli *cli, struct problem_set *out) {
  struct reading reading = {
      .cli = cli, .path = cli->values[OPTION_FROM], .problems = json_object()};
  int status = reading.problems ? capture_read_lines(&reading) : cli_no_memory(cli);
  if (!status) status = capture_conclude(&reading, out);
  json_decref(reading.problems);
  free(reading.all);
  return status;
}
