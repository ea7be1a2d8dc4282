/* cugen cache export, import: carries records from one cache to another as text. */
#include <string.h>
#include <unistd.h>

#include "api/cache.h"
#include "cli.h"
#include "print.h"
#include "progress.h"
#include "stop.h"
#include "t4.h"

/* ---- export --------------------------------------------------------------------------------- */

struct exporting {
  struct cli *cli;
  const char *path; /* NULL: written to `out` or `t4` */
  FILE *out;
  struct t4 *t4; /* NULL: written as wisdom */
  struct progress progress;
  size_t records, left_out;
  int status;
};

/* Returns the state of a progress line; the time left is what the rest takes at the same pace. */
static cugen_progress wisdom_progress(const struct progress *progress, size_t done, size_t all) {
  const double elapsed = progress_now() - progress->begin;
  const bool known = done > 0 && all > done;
  return (cugen_progress){.done = done,
                          .planned = all,
                          .elapsed = elapsed,
                          .remaining = known ? elapsed / (double)done * (double)(all - done) : -1};
}

static int on_export(const cugen_export_progress *state, void *context) {
  struct exporting *exporting = context;
  const cugen_progress shown =
      wisdom_progress(&exporting->progress, state->written, state->records);
  if (exporting->t4)
    t4_add(exporting->t4, state->text, state->length);
  else if (exporting->out)
    fwrite(state->text, 1, state->length, exporting->out);
  exporting->left_out = state->left_out;
  progress_draw(&exporting->progress, &shown);
  return stop_asked() || (exporting->out && ferror(exporting->out));
}

static void export(struct exporting *exporting) {
  struct cli *cli = exporting->cli;
  const cugen_cache_filter filter = cli_cache_filter(cli);
  exporting->status = api_cache_export(cli->lib, &filter, exporting->path, on_export, exporting,
                                       &exporting->records, &cli->error);
}

static void export_to_stream(const void *context, FILE *out) {
  struct exporting *exporting = *(struct exporting *const *)context;
  exporting->out = out;
  export(exporting);
}

/* Exports, with a progress bar unless --quiet is given or the text goes to the terminal. */
static int export_to(struct exporting *exporting, bool to_stdout) {
  struct cli *cli = exporting->cli;
  int status = CUGEN_OK;
  progress_open(&exporting->progress,
                options_given(cli, OPTION_QUIET) || (to_stdout && isatty(STDOUT_FILENO)));
  stop_catch();
  if (to_stdout)
    status = cli_write(cli, export_to_stream, &exporting);
  else
    export(exporting);
  progress_close(&exporting->progress);
  /* A write error stops the export, too, but is reported as a write error. */
  const bool stopped = exporting->status == CUGEN_ERROR_INTERRUPTED && stop_asked();
  if (!status || stopped) status = exporting->status;
  return cli_conclude(cli, status, cli->error.message);
}

static void dump(const void *context, FILE *out) {
  json_dumpf(context, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  fputc('\n', out);
}

/* Returns the file of a format that needs all records at once; NULL: cli->error says why. */
typedef json_t *(*whole_format)(const struct t4 *t4, struct cli *cli);

static int export_whole(struct exporting *exporting, whole_format format) {
  struct cli *cli = exporting->cli;
  struct t4 t4;
  t4_open(&t4);
  exporting->t4 = &t4;
  int status = export_to(exporting, false);
  json_t *whole = status ? NULL : format(&t4, cli);
  exporting->records = json_array_size(t4.results); /* without what T4 leaves out */
  if (whole)
    status = cli_write(cli, dump, whole);
  else if (!status)
    status = cli->error.status;
  json_decref(whole);
  t4_close(&t4);
  return status;
}

/* Reads --format. *whole becomes NULL if the format is wisdom. */
static int wisdom_read_format(struct cli *cli, whole_format *whole) {
  static const struct {
    const char *name;
    whole_format whole;
  } formats[] = {{"wisdom", NULL}, {"t4", t4_whole}, {"kernel_tuner", t4_as_cache}};
  const char *format = cli->values[OPTION_FORMAT];
  *whole = NULL;
  if (!format) return CUGEN_OK;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    *whole = formats[i].whole;
    if (strcmp(formats[i].name, format) == 0) return CUGEN_OK;
  }
  return cli_fail(cli, CUGEN_ERROR_USAGE, "--format %s: there are wisdom, t4 and kernel_tuner",
                  format);
}

int command_cache_export(struct cli *cli) {
  const char *path = cli->values[OPTION_OUTPUT];
  const bool to_stdout = !path || strcmp(path, "-") == 0, json = options_given(cli, OPTION_JSON);
  struct exporting exporting = {.cli = cli};
  whole_format whole;
  int status = wisdom_read_format(cli, &whole);
  if (!status && json && to_stdout)
    status =
        cli_fail(cli, CUGEN_ERROR_USAGE,
                 "--json: the records go to stdout already; write them to a file: --output FILE");
  if (!status) status = cli_open_cache(cli);
  if (!status) status = cli_check_output(cli);
  exporting.path = to_stdout || whole ? NULL : path;
  if (!status) status = whole ? export_whole(&exporting, whole) : export_to(&exporting, to_stdout);
  if (status) return status;
  cli_remark(cli, "%s%s%s", print_many(exporting.records, "record").text, to_stdout ? "" : " in ",
             to_stdout ? "" : path);
  if (exporting.left_out)
    cli_remark(cli, "%s damaged record%s left out: 'cugen cache verify' says which, and why",
               print_count(exporting.left_out).text, exporting.left_out == 1 ? " is" : "s are");
  else if (!exporting.records)
    cli_remark_no_cache(cli);
  if (!json) return CUGEN_OK;
  return cli_print_json(cli, JSON_NEW({"file", json_text(path)},
                                      {"records", json_count(exporting.records)},
                                      {"left_out", json_count(exporting.left_out)}));
}

/* ---- import --------------------------------------------------------------------------------- */

/* Shows progress: a record that is read but not merged counts half. */
static int on_import(const cugen_import_progress *state, void *progress) {
  cugen_progress shown = wisdom_progress(progress, state->read + state->merged, 2 * state->records);
  shown.done /= 2;
  shown.planned /= 2;
  progress_draw(progress, &shown);
  return stop_asked();
}

static int import_wisdom(struct cli *cli, const char *path, cugen_cache_merged *merged) {
  struct progress progress;
  progress_open(&progress, options_given(cli, OPTION_QUIET));
  stop_catch();
  int status = api_cache_import(cli->lib, path, on_import, &progress, merged, &cli->error);
  progress_close(&progress);
  return cli_conclude(cli, status, cli->error.message);
}

static int import_foreign(struct cli *cli) {
  api_suggested suggested;
  int status =
      api_cache_suggest(cli->lib, cli->operand, cli->values[OPTION_MAP], &suggested, &cli->error);
  if (status) return status;
  const size_t kept = suggested.merged.records;
  if (options_given(cli, OPTION_JSON))
    return cli_print_json(cli, JSON_NEW({"results", json_count(suggested.results)},
                                        {"suggested", json_count(kept)},
                                        {"slower", json_count(suggested.slower)},
                                        {"unmatched", json_count(suggested.unmatched)},
                                        {"left_out", json_count(suggested.left_out)}));
  if (options_given(cli, OPTION_QUIET)) return CUGEN_OK;
  printf("%s: ", print_many(suggested.results, "result").text);
  printf("%s for 'cugen tune', ", print_many(kept, "suggestion").text);
  printf("%s slower than those, ", print_count(suggested.slower).text);
  printf("%s no variants of the config, ", print_count(suggested.unmatched).text);
  printf("%s failed or not meant.\n", print_count(suggested.left_out).text);
  return CUGEN_OK;
}

int command_cache_import(struct cli *cli) {
  cugen_cache_merged merged;
  int status = cli_open_cache(cli);
  if (!status && options_given(cli, OPTION_MAP)) return import_foreign(cli);
  if (!status) status = import_wisdom(cli, cli->operand, &merged);
  if (status) return status;
  if (options_given(cli, OPTION_JSON)) return cli_print_json(cli, json_merged(&merged));
  if (options_given(cli, OPTION_QUIET)) return CUGEN_OK;
  printf("%s: ", print_many(merged.records, "record").text);
  printf("%s added, ", print_count(merged.added).text);
  printf("%s better than what was here, ", print_count(merged.better).text);
  printf("%s worse and kept as history, ", print_count(merged.worse).text);
  printf("%s known already.\n", print_count(merged.known).text);
  if (merged.portfolios) printf("%s.\n", print_many(merged.portfolios, "portfolio").text);
  return CUGEN_OK;
}
