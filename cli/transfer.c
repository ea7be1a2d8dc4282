/* cugen transfer: measures how fast data moves between host and device, by the kind of memory. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/transfer.h"
#include "cli.h"
#include "print.h"
#include "progress.h"
#include "stop.h"
#include "table.h"

enum { MOST_SIZES = 64, MOST_KINDS = 16 };

/* In bytes. The rate dominates the time of larger transfers, so their latency is not shown. */
static const int64_t most_alone = 64 << 10;

/* ---- Options -------------------------------------------------------------------------------- */

/* Reads a size such as "64", "4K", "4KiB" or "16 MiB", and moves *at behind the size. */
static bool read_bytes(const char **at, int64_t *out) {
  static const char units[] = "KMG";
  char *end;
  if (!isdigit((unsigned char)**at)) return false;
  double value = strtod(*at, &end);
  end += strspn(end, " ");
  const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
  if (unit) {
    value *= (double)((int64_t)1 << 10 * (1 + (unit - units)));
    end += 1 + (end[1] == 'i');
  }
  end += *end == 'B';
  *at = end;
  *out = value < 1e18 ? (int64_t)value : 0;
  return *out >= 1 && (!*end || *end == ',' || *end == ' ');
}

static int read_sizes_option(struct cli *cli, int64_t *sizes, size_t *count) {
  const char *text = cli->values[OPTION_SIZES];
  for (const char *at = text ? text : ""; *(at += strspn(at, ", "));) {
    if (*count == MOST_SIZES)
      return cli_fail(cli, CUGEN_ERROR_USAGE, "--sizes: %d at most", MOST_SIZES);
    if (!read_bytes(&at, &sizes[(*count)++]))
      return cli_fail(cli, CUGEN_ERROR_USAGE,
                      "--sizes %s: sizes are expected, such as \"4KiB, 16MiB, 1GiB\"", text);
  }
  if (text && !*count)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--sizes: sizes are expected, such as \"4KiB, 16MiB, 1GiB\"");
  return CUGEN_OK;
}

static int transfer_on_progress(const cugen_transfer_progress *state, void *context) {
  cugen_progress shown = {.done = state->done, .planned = state->planned, .remaining = -1};
  progress_draw(context, &shown);
  return stop_asked();
}

/* ---- As text: a table for each direction, a row for each size, a column for each kind ------- */

struct view {
  const cugen_transfer *result;
  const char *kinds[MOST_KINDS];
  size_t kind_count;
  int64_t sizes[MOST_SIZES];
  size_t size_count;
};

static void note_kind(struct view *view, const char *kind) {
  for (size_t i = 0; i < view->kind_count; i++)
    if (strcmp(view->kinds[i], kind) == 0) return;
  if (view->kind_count < MOST_KINDS) view->kinds[view->kind_count++] = kind;
}

static void note_size(struct view *view, int64_t size) {
  for (size_t i = 0; i < view->size_count; i++)
    if (view->sizes[i] == size) return;
  if (view->size_count < MOST_SIZES) view->sizes[view->size_count++] = size;
}

static const cugen_transfer_row *transfer_find(const struct view *view, const char *kind,
                                               int to_host, int64_t size) {
  for (size_t i = 0; i < view->result->count; i++) {
    const cugen_transfer_row *row = &view->result->rows[i];
    if (strcmp(row->memory, kind) == 0 && row->to_host == to_host && row->size == size) return row;
  }
  return NULL;
}

/* Prints a table; columns that do not fit the terminal follow as another table. */
static int transfer_print_table(struct cli *cli, const struct view *view, int to_host, bool alone) {
  struct table_column columns[MOST_KINDS + 1] = {{"size", TABLE_RIGHT, 0}};
  struct table table;
  printf("\n%s, %s\n", to_host ? "To the host" : "To the device",
         alone ? "median of one transfer alone, until the host sees its end"
               : "GB/s by the median time, one transfer after the other");
  for (size_t i = 0; i < view->kind_count; i++)
    columns[i + 1] = (struct table_column){view->kinds[i], TABLE_RIGHT, 0};
  table_open(&table, cli, columns, view->kind_count + 1);
  table.split = true;
  for (size_t i = 0; i < view->size_count; i++) {
    if (alone && view->sizes[i] > most_alone) continue;
    table_cell(&table, print_bytes(view->sizes[i]).text);
    for (size_t k = 0; k < view->kind_count; k++) {
      const cugen_transfer_row *row = transfer_find(view, view->kinds[k], to_host, view->sizes[i]);
      if (!row || !(row->seconds > 0))
        table_cell(&table, "-");
      else if (alone)
        table_cell(&table, print_seconds(row->alone).text);
      else
        table_cell(&table, print_rate(0, (double)row->bytes, row->seconds).text);
    }
  }
  return table_close(&table, 0, stdout, &cli->error);
}

static int transfer_print_text(struct cli *cli, const cugen_transfer *result) {
  struct view view = {.result = result};
  int status = CUGEN_OK;
  for (size_t i = 0; i < result->count; i++) {
    if (result->rows[i].unavailable) continue;
    note_kind(&view, result->rows[i].memory);
    note_size(&view, result->rows[i].size);
  }
  if (!options_given(cli, OPTION_QUIET))
    printf("%s (%s)\n", result->device->name, result->device->id);
  for (int to_host = 0; to_host < 2 && !status && view.size_count; to_host++)
    status = transfer_print_table(cli, &view, to_host, false);
  bool alone = false;
  for (size_t i = 0; i < view.size_count; i++) alone |= view.sizes[i] <= most_alone;
  for (int to_host = 0; to_host < 2 && !status && alone; to_host++)
    status = transfer_print_table(cli, &view, to_host, true);
  for (size_t i = 0; i < result->count && !status; i++)
    if (result->rows[i].unavailable)
      printf("\n%s was not measured: %s\n", result->rows[i].memory, result->rows[i].unavailable);
  return status;
}

/* ---- As JSON -------------------------------------------------------------------------------- */

static json_t *row_json(const void *item) {
  const cugen_transfer_row *row = item;
  json_t *object = JSON_NEW(MEMBER(string, row, memory), MEMBER(optional_string, row, unavailable));
  if (row->unavailable) return object;
  return JSON_ADD(object, {"to", json_string(row->to_host ? "host" : "device")},
                  MEMBER(integer, row, size), MEMBER(integer, row, bytes),
                  MEMBER(number, row, alone), MEMBER(number, row, seconds),
                  MEMBER(number, row, seconds_min), MEMBER(number, row, seconds_p20),
                  MEMBER(number, row, seconds_p80), MEMBER(integer, row, samples),
                  {"bytes_per_second", json_number((double)row->bytes / row->seconds)});
}

/* ---- The command ---------------------------------------------------------------------------- */

int command_transfer(struct cli *cli) {
  struct progress progress;
  cugen_transfer_options options = {.progress = transfer_on_progress, .context = &progress};
  cugen_transfer result;
  int64_t sizes[MOST_SIZES];
  int status = read_sizes_option(cli, sizes, &options.size_count);
  if (!status) status = cli_open(cli);
  if (status) return status;
  options.memory = cli->values[OPTION_MEMORY];
  options.sizes = sizes;
  progress_open(&progress, options_given(cli, OPTION_QUIET));
  stop_catch();
  status = api_transfer_measure(cli->lib, &options, &result, &cli->error);
  progress_close(&progress);
  const bool interrupted = status == CUGEN_ERROR_INTERRUPTED;
  if (status && !interrupted) return status;
  const int printed =
      options_given(cli, OPTION_JSON)
          ? cli_print_json(cli,
                           JSON_NEW({"device", json_device(result.device)},
                                    {"interrupted", json_boolean(interrupted)},
                                    {"transfers", JSON_LIST(result.rows, result.count, row_json)}))
          : transfer_print_text(cli, &result);
  return printed ? printed : cli_conclude(cli, status, "interrupted");
}
