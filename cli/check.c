/* cugen check: finds errors in a kernel's variants by watching them run on the cpu device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/check.h"
#include "api/kernel.h"
#include "api/machine.h"
#include "api/tuning.h"
#include "base/key.h"
#include "cli.h"
#include "print.h"
#include "progress.h"
#include "stop.h"
#include "table.h"

static int check_read_options(struct cli *cli, cugen_check_options *options) {
  size_t seed = 1, threads = 0;
  int status = options_count(cli, OPTION_SEED, 0, &seed);
  if (!status) status = options_count(cli, OPTION_THREADS, 1, &threads);
  if (!status) status = options_count(cli, OPTION_SAMPLE, 1, &options->sample);
  if (!status) status = options_seconds(cli, OPTION_TIMEOUT, &options->timeout);
  options->variant = cli->values[OPTION_VARIANT];
  options->all = options_given(cli, OPTION_ALL);
  options->branches = options_given(cli, OPTION_BRANCHES) || !cli->operand;
  options->strict = options_given(cli, OPTION_STRICT);
  options->no_traffic = options_given(cli, OPTION_NO_TRAFFIC) ||
                        (options_given(cli, OPTION_QUIET) && !options_given(cli, OPTION_JSON));
  options->seed = seed;
  options->threads = threads < 4096 ? (int)threads : 4096;
  if (status) return status;
  if (!cli->operand && (options->variant || options->all || options->sample || cli->setting_count))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--variant, --all, --sample and --set need a CONFIG, such as: cugen check "
                    "matmul --all. Without one, all shipped kernels are checked, by --branches");
  if ((options->variant != NULL) + options->all + options->branches + (options->sample > 0) > 1)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "one of --variant, --all, --branches and --sample is expected, not several");
  return CUGEN_OK;
}

static int check_on_progress(const cugen_check_progress *state, void *context) {
  const cugen_progress line = {
      .done = state->done, .planned = state->planned, .failed = state->findings, .remaining = -1};
  progress_draw(context, &line);
  return stop_asked();
}

/* ---- Checking with two compilers ------------------------------------------------------------ */

/* The check by the first compiler, and a second library and kernel for the second compiler. */
struct views {
  cugen_check check; /* the first compiler's check; later with the findings and skips of both
                        compilers */
  struct cli second;
  cugen_check_finding *findings;
  cugen_check_skip *skips;
  /* by[i]: the only compiler that shows finding i; NULL: both do. by is NULL if there is one
     compiler. */
  const char **by;
};

static void views_close(struct views *v) {
  cugen_kernel_close(v->second.kernel);
  cugen_close(v->second.lib);
  free(v->findings);
  free(v->skips);
  free((void *)v->by);
}

static bool check_same_line(const char *file, int line, const char *other, int other_line) {
  return line == other_line && strcmp(file, other) == 0;
}

/* Returns true for equal findings. The two accesses of a race may be described in either order. */
static bool is_same_finding(const cugen_check_finding *a, const cugen_check_finding *b) {
  if (a->kind != b->kind) return false;
  const bool straight = check_same_line(a->file, a->line, b->file, b->line) &&
                        check_same_line(a->other_file, a->other_line, b->other_file, b->other_line);
  return straight || (a->line && a->other_line &&
                      check_same_line(a->file, a->line, b->other_file, b->other_line) &&
                      check_same_line(a->other_file, a->other_line, b->file, b->line));
}

static bool has_finding(const cugen_check *check, const cugen_check_finding *f) {
  for (size_t i = 0; i < check->finding_count; i++)
    if (is_same_finding(&check->findings[i], f)) return true;
  return false;
}

static bool has_skip(const cugen_check *check, const cugen_check_skip *skip) {
  for (size_t i = 0; i < check->skip_count; i++)
    if (strcmp(check->skips[i].why, skip->why) == 0) return true;
  return false;
}

static void join_finding(struct views *v, const cugen_check_finding *f, const char *by) {
  v->by[v->check.finding_count] = by;
  v->findings[v->check.finding_count++] = *f;
  v->check.note_count += f->note != 0;
  v->check.waived_count += *f->waived != '\0';
}

static int join_views(struct cli *cli, struct views *v, const cugen_check *second) {
  const cugen_check first = v->check;
  v->findings = calloc(first.finding_count + second->finding_count + 1, sizeof *v->findings);
  v->by = calloc(first.finding_count + second->finding_count + 1, sizeof *v->by);
  v->skips = calloc(first.skip_count + second->skip_count + 1, sizeof *v->skips);
  if (!v->findings || !v->by || !v->skips) return cli_no_memory(cli);
  v->check.finding_count = v->check.note_count = v->check.waived_count = v->check.skip_count = 0;
  for (size_t i = 0; i < first.finding_count; i++)
    join_finding(v, &first.findings[i],
                 has_finding(second, &first.findings[i]) ? NULL : cli->values[OPTION_COMPILER]);
  for (size_t i = 0; i < second->finding_count; i++)
    if (!has_finding(&first, &second->findings[i]))
      join_finding(v, &second->findings[i], v->second.values[OPTION_COMPILER]);
  for (size_t i = 0; i < first.skip_count; i++) v->skips[v->check.skip_count++] = first.skips[i];
  for (size_t i = 0; i < second->skip_count; i++)
    if (!has_skip(&first, &second->skips[i])) v->skips[v->check.skip_count++] = second->skips[i];
  v->check.findings = v->findings;
  v->check.skips = v->skips;
  return CUGEN_OK;
}

/* Returns the status of both checks: CUGEN_ERROR_INTERRUPTED if either was interrupted, else an
   error if either compiler shows findings, else the error of either check. */
static int conclude_views(struct cli *cli, const struct views *v, int status, int second_status) {
  const size_t findings = v->check.finding_count - v->check.note_count;
  if (status == CUGEN_ERROR_INTERRUPTED || second_status == CUGEN_ERROR_INTERRUPTED)
    return CUGEN_ERROR_INTERRUPTED;
  if (findings)
    return cli_fail(cli, CUGEN_ERROR_WRONG, "%zu finding%s by two compilers", findings,
                    findings == 1 ? "" : "s");
  if (!status && second_status) cli->error = v->second.error;
  return status ? status : second_status;
}

static int check_second(struct cli *cli, const cugen_check_options *options, struct views *v,
                        int status) {
  cugen_check second = {0};
  v->second = *cli;
  v->second.lib = NULL;
  v->second.kernel = NULL;
  v->second.values[OPTION_COMPILER] = cli->other_compiler;
  int second_status = cli_open_kernel(&v->second);
  if (second_status) {
    cli->error = v->second.error;
    return second_status;
  }
  second_status = api_kernel_check(v->second.kernel, options, &second, &v->second.error);
  const int joined = join_views(cli, v, &second);
  return joined ? joined : conclude_views(cli, v, status, second_status);
}

/* Checks with the last compiler that was named, and then with the compiler named before it. */
static int check_views(struct cli *cli, const cugen_check_options *options, struct views *v) {
  int status = api_kernel_check(cli->kernel, options, &v->check, &cli->error);
  return cli->other_compiler && cli->operand && status != CUGEN_ERROR_INTERRUPTED
             ? check_second(cli, options, v, status)
             : status;
}

/* ---- As text -------------------------------------------------------------------------------- */

static void print_finding(const cugen_check_finding *f, const char *by) {
  if (f->line) printf("%s:%d: ", f->file, f->line);
  clean_style(f->note ? STYLE_PLAIN : STYLE_BAD);
  printf("%s%s", *f->waived ? "waived: " : f->note ? "note: " : "", finding_name((int)f->kind));
  clean_style(STYLE_PLAIN);
  printf(": %s\n", f->message);
  if (f->user_line) printf("    used at %s:%d\n", f->user_file, f->user_line);
  printf("    %s%s%s", f->variant, *f->problem ? "; " : "", f->problem);
  if (f->count > 1) printf("; %s times", print_count(f->count).text);
  if (f->variants > 1) printf(", in %s variants", print_count(f->variants).text);
  if (by) printf("; with %s alone", by);
  putchar('\n');
  if (f->also)
    printf("    and at %s more place%s: %s\n", print_count(f->places - 1).text,
           f->places > 2 ? "s" : "", f->also);
  if (*f->waived) printf("    %s\n", f->waived);
}

#define TRAFFIC_COLUMNS                                                                            \
  {"implementation", TABLE_WRAP, 0}, {"array", TABLE_WRAP, 0}, {"", 0, 0}, {                       \
    "times", TABLE_RIGHT, 0                                                                        \
  }
static const struct table_column passes[] = {TRAFFIC_COLUMNS, {"passes a request", TABLE_RIGHT, 1}};
static const struct table_column words[] = {TRAFFIC_COLUMNS, {"words a request", TABLE_RIGHT, 1}};
static const struct table_column sectors[] = {TRAFFIC_COLUMNS,
                                              {"sectors", TABLE_RIGHT, 1},
                                              {"used", TABLE_RIGHT, 2},
                                              {"lines", TABLE_RIGHT, 3},
                                              {"used", TABLE_RIGHT, 4}};

static const struct memory {
  const char *name, *heading;
  const struct table_column *columns;
  size_t column_count;
} memories[CUGEN_MEMORY_COUNT] = {
    [CUGEN_MEMORY_GLOBAL] =
        {"global",
         "Global memory, sectors of 32 bytes as times the fewest; sectors and lines of 128\n"
         "bytes that a request touches, and how much of them it uses:",
         sectors, sizeof sectors / sizeof *sectors},
    [CUGEN_MEMORY_SHARED] = {"shared", "Shared memory, passes over the banks as times the fewest:",
                             passes, sizeof passes / sizeof *passes},
    [CUGEN_MEMORY_CONSTANT] =
        {"constant", "Constant memory, words that lanes ask for, served one after the other:",
         words, sizeof words / sizeof *words},
};

static double check_ratio(const cugen_check_traffic *t) {
  return t->ideal > 0 ? t->needed / t->ideal : 1;
}

static bool same_row(const cugen_check_traffic *a, const cugen_check_traffic *b) {
  return variant_same_implementation(a->variant, b->variant) && strcmp(a->array, b->array) == 0 &&
         strcmp(a->entry, b->entry) == 0 && a->memory == b->memory && a->write == b->write &&
         a->launch == b->launch;
}

/* Figures of a row: the sectors (in other memories passes or words) and lines of a request, and the
   percentage of the bytes of sectors or lines that the request uses. */
static double needed_of(const cugen_check_traffic *t) {
  return t->requests > 0 ? t->needed / t->requests : 0;
}

static double check_lines_of(const cugen_check_traffic *t) {
  return t->requests > 0 ? t->lines / t->requests : 0;
}

static double sectors_used(const cugen_check_traffic *t) {
  return t->needed > 0 ? 100 * t->touched / (t->needed * 32) : 100;
}

static double lines_used(const cugen_check_traffic *t) {
  return t->lines > 0 ? 100 * t->touched / (t->lines * 128) : 100;
}

/* Returns true if the row is shown. Rows of other types and layouts are shown only for
   implementations that have no other rows. */
static bool is_shown(const cugen_check *check, const cugen_check_traffic *t) {
  bool here = false;
  for (size_t i = 0; i < check->traffic_count && t->elsewhere && !here; i++) {
    const cugen_check_traffic *other = &check->traffic[i];
    here = !other->elsewhere && variant_same_implementation(other->variant, t->variant);
  }
  return !here;
}

/* Adds a figure over the variants of an implementation: "1.00", or "1.00 to 2.50". */
static void add_figure(const cugen_check *check, struct table *table, size_t first,
                       double (*figure)(const cugen_check_traffic *t), int decimals,
                       const char *unit) {
  const cugen_check_traffic *t = &check->traffic[first];
  double least = figure(t), most = least;
  for (size_t i = first + 1; i < check->traffic_count; i++) {
    if (!same_row(t, &check->traffic[i]) || !is_shown(check, &check->traffic[i])) continue;
    least = fmin(least, figure(&check->traffic[i]));
    most = fmax(most, figure(&check->traffic[i]));
  }
  const struct shown low = print_format("%.*f", decimals, least),
                     high = print_format("%.*f", decimals, most);
  const bool same = strcmp(low.text, high.text) == 0;
  table_cellf(table, "%s%s%s%s", low.text, same ? "" : " to ", same ? "" : high.text, unit);
}

static void check_add_row(const cugen_check *check, struct table *table, size_t i) {
  const cugen_check_traffic *t = &check->traffic[i];
  /* Equal loads or stores share a row. */
  for (size_t earlier = 0; earlier < i; earlier++)
    if (same_row(t, &check->traffic[earlier]) && is_shown(check, &check->traffic[earlier])) return;
  table_cellf(table, "%.*s", VARIANT_IMPLEMENTATION(t->variant));
  if (t->launches > 1) /* "2 sweep: x" is x in the second launch */
    table_cellf(table, "%d %s: %s", t->launch + 1, t->entry, t->array);
  else
    table_cell(table, t->array);
  table_cell(table, t->write ? "writes" : "reads");
  add_figure(check, table, i, check_ratio, 2, "");
  add_figure(check, table, i, needed_of, 1, "");
  if (t->memory != CUGEN_MEMORY_GLOBAL) return;
  add_figure(check, table, i, sectors_used, 1, "%");
  add_figure(check, table, i, check_lines_of, 1, "");
  add_figure(check, table, i, lines_used, 1, "%");
}

static int print_memory(struct cli *cli, const cugen_check *check, cugen_memory memory) {
  const struct memory *m = &memories[memory];
  struct table table;
  size_t rows = 0;
  for (size_t i = 0; i < check->traffic_count; i++)
    rows += check->traffic[i].memory == memory && is_shown(check, &check->traffic[i]);
  if (!rows) return CUGEN_OK;
  printf("\n%s\n", m->heading);
  table_open(&table, cli, m->columns, m->column_count);
  for (size_t i = 0; i < check->traffic_count; i++)
    if (check->traffic[i].memory == memory && is_shown(check, &check->traffic[i]))
      check_add_row(check, &table, i);
  return table_close(&table, 2, stdout, &cli->error);
}

/* Prints the waivers without a finding. Prints none if options narrow the check, because the
   findings may be of variants or problems that are left out. */
static void print_idle_waivers(const struct cli *cli, const cugen_check *check) {
  if (cli->setting_count || cli->where_count || options_given(cli, OPTION_VARIANT) ||
      options_given(cli, OPTION_IMPLEMENTATION) || options_given(cli, OPTION_SAMPLE))
    return;
  for (size_t i = 0; i < check->waiver_count; i++) {
    const cugen_check_waiver *w = &check->waivers[i];
    if (w->findings) continue;
    printf("%s:%d: waive \"%s\" waives nothing: there was no such finding in a line with '%s'. "
           "Remove it, or correct what it quotes\n",
           w->file, w->line, finding_name((int)w->kind), w->at);
  }
}

/* Prints the check problem and how the other problems differ: "  on n=100; n=192; n=13". */
static void print_problems(const struct cli *cli, const cugen_check *check) {
  enum { MOST = 16 };
  if (!check->problems) return;
  printf("  on %s", *check->problem_texts[0] ? check->problem_texts[0]
                                             : "the problem, which has no parameters");
  for (size_t i = 1; i < check->problems && i < MOST; i++) {
    const char *problem = check->problem_texts[i], *before = "; ";
    for (struct setting setting; setting_next(&problem, &setting);) {
      if (settings_have(check->problem_texts[0], &setting)) continue;
      printf("%s%.*s", before, (int)setting.length, setting.text);
      before = " ";
    }
  }
  if (check->problems > MOST) printf("; and %s more", print_count(check->problems - MOST).text);
  puts(check->has_check || cli->setting_count || !*check->problem_texts[0]
           ? ""
           : "\n  the config has no check { ... } sizes: this is the whole problem, and no other "
             "size is checked");
  for (size_t i = 0; i < check->kept_count; i++)
    printf("  %s stays: %s\n", check->kept[i].setting, check->kept[i].why);
}

/* Prints what the check has not covered. */
static void print_unseen(const struct cli *cli, const cugen_check *check) {
  enum { FEW = 6 };
  const bool wide = options_given(cli, OPTION_WIDE);
  const size_t left =
      check->variants_of > check->variants ? (size_t)(check->variants_of - check->variants) : 0;
  if (!check->runs) return;
  putchar('\n');
  if (check->lines) {
    const size_t unreached = check->lines - check->lines_reached, most = wide ? unreached : FEW;
    printf("Lines that access memory: %s of %s ran%s", print_count(check->lines_reached).text,
           print_count(check->lines).text, unreached ? "; not " : "");
    for (size_t i = 0; i < unreached && i < most; i++) { /* by file: "k.cu:5, 9" */
      const cugen_check_line *line = &check->unreached[i];
      const bool same = i && strcmp(line->file, check->unreached[i - 1].file) == 0;
      printf("%s%s%s%d", i ? ", " : "", same ? "" : line->file, same ? "" : ":", line->line);
    }
    if (unreached > most) printf(" and %s more", print_count(unreached - most).text);
    puts(".");
  }
  for (size_t i = 0; i < check->unwatched_count; i++)
    printf("Not watched: %s.\n", check->unwatched[i]);
  if (!check->compared)
    puts("Not compared: the config has reference \"none\", so a wrong result is no finding.");
  if (left)
    printf("%s of the check problem did not run%s.\n", print_many(left, "variant").text,
           options_given(cli, OPTION_ALL) ? "" : "; --all runs all");
}

static void print_skips(const cugen_check *check) {
  for (size_t i = 0; i < check->skip_count; i++) {
    const cugen_check_skip *s = &check->skips[i];
    printf("not checked: %s", s->what);
    if (s->variants > 1) printf(" and %s more", print_count(s->variants - 1).text);
    printf(": %s\n", s->why);
  }
}

/* Prints that the check did not run to its end, or that nothing was found apart from notes and
   waived findings. */
static void print_end(const cugen_check *check, double seconds, bool interrupted, bool quiet) {
  if (interrupted || check->runs_done < check->runs_planned) {
    printf("\n%s after %s of %s%s.\n", interrupted ? "Interrupted" : "Ended",
           print_count(check->runs_done).text, print_many(check->runs_planned, "run").text,
           check->finding_count || !check->runs ? "" : "; nothing found in those");
  } else if (!quiet && check->finding_count == check->note_count && check->runs) {
    fputs("Nothing found, ", stdout);
    if (check->waived_count) printf("%s waived, ", print_count(check->waived_count).text);
    printf("in %s.\n", print_seconds(seconds).text);
  }
}

static int check_print_result(struct cli *cli, const struct views *views, double seconds,
                              bool interrupted) {
  const cugen_check *check = &views->check;
  const bool quiet = options_given(cli, OPTION_QUIET);
  if (!quiet) {
    printf("%s: %s of %s", cugen_kernel_name(cli->kernel),
           print_count(check->variants - check->variants_elsewhere).text,
           print_many(check->variants_of, "variant").text);
    if (check->variants_elsewhere)
      printf(" and %s that only other problems have", print_count(check->variants_elsewhere).text);
    printf(", %s, %s, watched on the cpu device\n", print_many(check->problems, "problem").text,
           print_many(check->runs, "run").text);
    print_problems(cli, check);
  }
  for (size_t i = 0; i < check->finding_count; i++)
    print_finding(&check->findings[i], views->by ? views->by[i] : NULL);
  print_skips(check);
  if (!interrupted) print_idle_waivers(cli, check);
  print_printed(api_kernel_printed(cli->kernel), "");
  int status = quiet ? CUGEN_OK : print_memory(cli, check, CUGEN_MEMORY_SHARED);
  if (!status && !quiet) status = print_memory(cli, check, CUGEN_MEMORY_CONSTANT);
  if (!status && !quiet) status = print_memory(cli, check, CUGEN_MEMORY_GLOBAL);
  if (!quiet) print_unseen(cli, check);
  if (!quiet && check->elsewhere)
    printf("Nothing was found with %s. A kernel that is for some sizes alone says so: requires \"n "
           "%% 32 == 0\".\n",
           check->problem_texts[0]);
  print_end(check, seconds, interrupted, quiet);
  return status;
}

/* ---- As JSON -------------------------------------------------------------------------------- */

static json_t *finding_json(const cugen_check_finding *f, const char *by) {
  return JSON_NEW(
      {"kind", json_string(finding_name((int)f->kind))}, MEMBER(text, f, message),
      MEMBER(optional_string, f, file), MEMBER(known_integer, f, line),
      MEMBER(optional_string, f, user_file), MEMBER(known_integer, f, user_line),
      MEMBER(optional_string, f, other_file), MEMBER(known_integer, f, other_line),
      MEMBER(optional_string, f, array), MEMBER(boolean, f, shared), {"block", json_size(f->block)},
      {"thread", json_size(f->thread)}, {"other_block", json_size(f->other_block)},
      {"other_thread", json_size(f->other_thread)}, MEMBER(string, f, variant),
      MEMBER(string, f, problem), MEMBER(count, f, variants), MEMBER(count, f, count),
      MEMBER(count, f, places), MEMBER(optional_string, f, also), MEMBER(boolean, f, note),
      MEMBER(optional_string, f, waived), {"compiler", json_optional_string(by)});
}

static json_t *traffic_json(const void *item) {
  const cugen_check_traffic *t = item;
  return JSON_NEW(
      MEMBER(string, t, variant), MEMBER(string, t, problem), MEMBER(integer, t, launch),
      MEMBER(integer, t, launches), MEMBER(string, t, entry), MEMBER(optional_string, t, array),
      {"memory", json_string(memories[t->memory].name)},
      {"access", json_string(t->write ? "write" : "read")}, MEMBER(number, t, requests),
      MEMBER(number, t, bytes), MEMBER(number, t, needed), MEMBER(number, t, ideal),
      MEMBER(number, t, lines), MEMBER(number, t, touched), MEMBER(boolean, t, elsewhere));
}

static json_t *skip_json(const void *item) {
  const cugen_check_skip *s = item;
  return JSON_NEW(MEMBER(string, s, what), MEMBER(text, s, why), MEMBER(boolean, s, refused),
                  MEMBER(count, s, variants));
}

static json_t *ran_json(const void *item) {
  const cugen_check_ran *r = item;
  return JSON_NEW(MEMBER(string, r, variant), MEMBER(string, r, problem));
}

static json_t *line_json(const void *item) {
  const cugen_check_line *l = item;
  return JSON_NEW(MEMBER(string, l, file), MEMBER(integer, l, line));
}

static json_t *waiver_json(const void *item) {
  const cugen_check_waiver *w = item;
  return JSON_NEW(MEMBER(string, w, file), MEMBER(integer, w, line),
                  {"kind", json_string(finding_name((int)w->kind))}, MEMBER(text, w, at),
                  MEMBER(text, w, reason), MEMBER(count, w, findings));
}

static json_t *kept_json(const void *item) {
  const cugen_check_kept *k = item;
  return JSON_NEW(MEMBER(string, k, setting), MEMBER(text, k, why));
}

static json_t *check_result_json(const struct cli *cli, const struct views *views, double seconds,
                                 bool interrupted) {
  const cugen_check *check = &views->check;
  const size_t unreached = check->lines - check->lines_reached;
  json_t *findings = json_array();
  for (size_t i = 0; i < check->finding_count; i++)
    json_array_append_new(findings,
                          finding_json(&check->findings[i], views->by ? views->by[i] : NULL));
  return JSON_NEW(
      {"kernel", json_string(cugen_kernel_name(cli->kernel))},
      {"problem", json_string(cugen_kernel_problem(cli->kernel))}, MEMBER(count, check, variants),
      MEMBER(count, check, variants_of), MEMBER(count, check, variants_elsewhere),
      MEMBER(count, check, problems), MEMBER(count, check, runs), MEMBER(count, check, runs_done),
      MEMBER(count, check, runs_planned),
      {"checked_on", json_strings((const char *const *)check->problem_texts, check->problems)},
      {"check_sizes", json_boolean(check->has_check)}, MEMBER(boolean, check, compared),
      {"kept", JSON_LIST(check->kept, check->kept_count, kept_json)}, MEMBER(count, check, lines),
      MEMBER(count, check, lines_reached),
      {"unreached", JSON_LIST(check->unreached, unreached, line_json)},
      {"not_watched", json_strings((const char *const *)check->unwatched, check->unwatched_count)},
      {"waived", json_count(check->waived_count)},
      {"waivers", JSON_LIST(check->waivers, check->waiver_count, waiver_json)},
      {"seconds", json_number(seconds)}, {"interrupted", json_boolean(interrupted)},
      {"findings", findings},
      {"not_checked", JSON_LIST(check->skips, check->skip_count, skip_json)},
      {"traffic", JSON_LIST(check->traffic, check->traffic_count, traffic_json)},
      {"ran", JSON_LIST(check->ran, check->runs, ran_json)},
      {"printed", json_optional_string(api_kernel_printed(cli->kernel))});
}

/* ---- The command ---------------------------------------------------------------------------- */

static int check_show(struct cli *cli, const struct views *views, double seconds, int status,
                      json_t **json) {
  const cugen_check *check = &views->check;
  const bool interrupted = status == CUGEN_ERROR_INTERRUPTED;
  const bool told = status == CUGEN_ERROR_WRONG || interrupted || check->skip_count || check->runs;
  if (status && !told) return status;
  if (json)
    *json = check_result_json(cli, views, seconds, interrupted);
  else if (check_print_result(cli, views, seconds, interrupted))
    return cli->error.status;

  size_t refused = 0;
  for (size_t i = 0; i < check->skip_count; i++) refused += check->skips[i].refused != 0;
  const bool nothing =
      status && !interrupted && !check->runs && (status == CUGEN_ERROR_EMPTY || refused);
  /* The reasons were printed above. */
  return nothing && !json ? cli_fail(cli, status, "nothing was checked") : status;
}

/* Remarks for one variant of each implementation if NVRTC refuses the variant. */
static void remark_refused(struct cli *cli) {
  cugen_space_info space;
  cugen_error ignored;
  if (api_kernel_space(cli->kernel, &space, &ignored)) return;
  for (size_t i = 0; i < space.implementations; i++)
    if (space.implementation[i].valid) cli_remark_refused(cli, space.implementation[i].name);
}

/* Ends the command with the status of the check. json: printed; NULL: nothing to print. */
static int check_finish(struct cli *cli, json_t *json, int status) {
  const cugen_error found = cli->error; /* printing may overwrite the error */
  const int printed = json ? cli_print_json(cli, json) : CUGEN_OK;
  if (printed) return printed;
  cli->error = found;
  return cli_conclude(cli, status, "interrupted");
}

/* Checks the open kernel. json: receives the result; NULL: the result is printed. Fails if there is
   a finding that is no note. */
static int check_kernel(struct cli *cli, cugen_check_options *options, json_t **json) {
  struct views views = {.by = NULL};
  struct progress progress = {0};
  progress_open(&progress, options_given(cli, OPTION_QUIET));
  options->progress = check_on_progress;
  options->context = &progress;
  const double begin = progress_now();
  /* The check problem becomes the kernel's problem, which check_show prints. */
  int status = api_kernel_use_check(cli->kernel, &cli->error);
  if (!status) status = check_views(cli, options, &views);
  const double seconds = progress_now() - begin;
  progress_close(&progress);
  options->context = NULL;
  if (!status) remark_refused(cli);
  status = check_show(cli, &views, seconds, status, json);
  views_close(&views);
  return status;
}

static int check_config(struct cli *cli, cugen_check_options *options) {
  json_t *json = NULL;
  int status = cli_open_kernel(cli);
  if (status) return status;
  cli_remark_unused(cli);
  stop_catch();
  status = check_kernel(cli, options, options_given(cli, OPTION_JSON) ? &json : NULL);
  return check_finish(cli, json, status);
}

/* Checks each shipped config. Goes on after findings and after configs that cannot be checked (code
   that does not compile, an empty space, a lost device); any other error ends the check. */
static int check_each(struct cli *cli, cugen_check_options *options, json_t *all) {
  enum { MOST_CONFIGS = 64 };
  const char *names[MOST_CONFIGS];
  const double begin = progress_now();
  int worst = CUGEN_OK;
  size_t found = 0, count = api_configs(cli->lib, names, MOST_CONFIGS);
  if (count > MOST_CONFIGS) count = MOST_CONFIGS;
  for (size_t i = 0; i < count; i++) {
    json_t *json = NULL;
    int status = cugen_kernel_open(cli->lib, names[i], NULL, 0, &cli->kernel, &cli->error);
    if (!status) status = check_kernel(cli, options, all ? &json : NULL);
    if (json) json_array_append_new(all, json);
    const bool goes_on = status == CUGEN_ERROR_WRONG || status == CUGEN_ERROR_COMPILE ||
                         status == CUGEN_ERROR_EMPTY || status == CUGEN_ERROR_DEVICE;
    if (status && !goes_on) return status;
    found += status == CUGEN_ERROR_WRONG;
    if (status && worst != CUGEN_ERROR_WRONG) worst = status;
    cugen_kernel_close(cli->kernel);
    cli->kernel = NULL;
    if (!all && i + 1 < count && !options_given(cli, OPTION_QUIET)) putchar('\n');
  }
  if (!all && !options_given(cli, OPTION_QUIET))
    printf("\nChecked %zu kernels in %s; findings in %zu.\n", count,
           print_seconds(progress_now() - begin).text, found);
  if (found)
    return cli_fail(cli, CUGEN_ERROR_WRONG, "findings in %zu of %zu kernels", found, count);
  return worst ? cli_fail(cli, worst, "nothing found, but not everything could be checked")
               : CUGEN_OK;
}

static int check_shipped(struct cli *cli, cugen_check_options *options) {
  int status = cli_open(cli);
  if (status) return status;
  stop_catch();
  if (!options_given(cli, OPTION_JSON))
    return check_finish(cli, NULL, check_each(cli, options, NULL));
  json_t *all = json_array();
  status = check_each(cli, options, all);
  return check_finish(cli, JSON_NEW({"kernels", all}), status);
}

int command_check(struct cli *cli) {
  cugen_check_options options = {0};
  int status = check_read_options(cli, &options);
  if (status) return status;
  const char *device = cli->values[OPTION_DEVICE];
  if (device && strcmp(device, "cpu") != 0)
    return cli_fail(
        cli, CUGEN_ERROR_USAGE,
        "--device %s: a check runs on the cpu device, for any GPU's kernel: leave out --device",
        device);
  if (!cli->operand && (cli->where_count || options_given(cli, OPTION_IMPLEMENTATION)))
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--%s needs a CONFIG",
                    cli->where_count ? "where" : "implementation");
  cli->values[OPTION_DEVICE] = "cpu";
  return cli->operand ? check_config(cli, &options) : check_shipped(cli, &options);
}
