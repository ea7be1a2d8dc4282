/* Tables that fit a terminal; see table.h. */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "print.h"
#include "terminal.h"

enum {
  GAP = 2, /* blanks between columns */
  /* A wrapped column should have room for its longest cell in LINES lines, and COMFORT columns. */
  LINES = 2,
  COMFORT = 24
};

struct table_cell {
  char *text; /* NULL: the cell is covered by a line of text */
  enum style style;
  bool line;
};

/* States of a column. FOLDED: printed once below the table. PRINTED: shown in an earlier part of a
   split table. */
enum state { SHOWN, FOLDED, LEFT_OUT, PRINTED };

struct table_layout {
  char *header;
  int flags, rank;
  enum state state;
  /* Widths: of the widest cell; of the longest word, or natural without TABLE_WRAP; as printed. */
  size_t natural, least, width;
  /* The cell of the row that is being printed: the text that remains, and its style. */
  const char *rest;
  enum style style;
};

/* ---- Filling -------------------------------------------------------------------------------- */

/* Returns a copy that is safe to print (print_clean), with blanks for line ends and tabs, which
   would break the row. */
static char *copy_clean(const char *text) {
  char *copy = print_clean(text, strlen(text));
  for (char *at = copy; at && (at = strpbrk(at, "\n\t"));) *at = ' ';
  return copy;
}

void table_open(struct table *table, const struct cli *cli, const struct table_column *columns,
                size_t count) {
  *table = (struct table){.width = cli->width, .column_count = count};
  table->columns = calloc(count, sizeof *table->columns);
  table->failed = !table->columns;
  for (size_t i = 0; i < count && !table->failed; i++) {
    table->columns[i] = (struct table_layout){.header = copy_clean(columns[i].header),
                                              .flags = columns[i].flags,
                                              .rank = columns[i].rank};
    table->failed = !table->columns[i].header;
  }
}

static void table_add(struct table *table, char *text, bool line) {
  if (ARRAY_ROOM(table->cells, table->count))
    table->cells[table->count++] = (struct table_cell){text, table->style, line};
  else
    table->failed = true, free(text);
}

void table_cell(struct table *table, const char *text) {
  char *copy = copy_clean(text);
  table->failed = table->failed || !copy;
  table_add(table, copy, false);
}

void table_cellf(struct table *table, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  table->failed |= text.failed;
  table_cell(table, text_get(&text));
  text_free(&text);
}

void table_line(struct table *table, const char *text) {
  char *copy = copy_clean(text);
  table->failed = table->failed || !copy;
  table_add(table, copy, true);
  for (size_t i = 1; i < table->column_count; i++) table_add(table, NULL, false);
}

/* ---- Widths --------------------------------------------------------------------------------- */

static size_t longest_word(const char *text) {
  size_t most = 0;
  for (size_t length; *text; text += length, text += strspn(text, " ")) {
    length = strcspn(text, " ");
    const size_t columns = terminal_columns(text, length);
    if (columns > most) most = columns;
  }
  return most;
}

static void measure_text(struct table_layout *column, const char *text) {
  const size_t natural = terminal_columns(text, strlen(text)),
               least = column->flags & TABLE_WRAP ? longest_word(text) : natural;
  if (natural > column->natural) column->natural = natural;
  if (least > column->least) column->least = least;
}

static bool is_line(const struct table *table, size_t cell) {
  return table->cells[cell - cell % table->column_count].line;
}

/* Returns the width that a column should have before other columns are left out. */
static size_t wanted(const struct table_layout *column) {
  const size_t lines = (column->natural + LINES - 1) / LINES,
               least = lines > COMFORT ? lines : COMFORT;
  if (!(column->flags & TABLE_WRAP) || column->natural < least) return column->natural;
  return column->least > least ? column->least : least;
}

static size_t sum(const struct table *table, size_t (*of)(const struct table_layout *column)) {
  size_t all = 0;
  for (size_t i = 0; i < table->column_count; i++)
    if (table->columns[i].state == SHOWN) all += of(&table->columns[i]) + (all ? GAP : 0);
  return all;
}

static size_t natural_of(const struct table_layout *column) {
  return column->natural;
}

static size_t table_width_of(const struct table_layout *column) {
  return column->width;
}

/* ---- What is shown -------------------------------------------------------------------------- */

/* Returns the cell that all rows have in that column. NULL: cells differ, or there are fewer than
   two rows. */
static const char *common_cell(const struct table *table, size_t column) {
  const char *common = NULL;
  size_t rows = 0;
  for (size_t i = column; i < table->count; i += table->column_count) {
    if (is_line(table, i)) continue;
    if (common && strcmp(common, table->cells[i].text) != 0) return NULL;
    common = table->cells[i].text;
    rows++;
  }
  return rows > 1 ? common : NULL;
}

static bool leave_one_out(struct table *table) {
  struct table_layout *last = NULL;
  for (size_t i = 0; i < table->column_count; i++) {
    struct table_layout *column = &table->columns[i];
    if (column->state == SHOWN && column->rank && (!last || column->rank >= last->rank))
      last = column;
  }
  if (last) last->state = LEFT_OUT;
  return last != NULL;
}

/* Gives the columns one more character each in turn, while there is room. */
static void table_share(struct table *table, size_t room) {
  size_t used;
  for (size_t i = 0; i < table->column_count; i++)
    table->columns[i].width = table->columns[i].least;
  used = sum(table, table_width_of);
  for (bool more = true; more && used < room;) {
    more = false;
    for (size_t i = 0; i < table->column_count && used < room; i++) {
      struct table_layout *column = &table->columns[i];
      if (column->state != SHOWN || column->width == column->natural) continue;
      column->width++, used++;
      more = true;
    }
  }
}

/* Measures the columns, chooses those that are shown, and gives them their widths. */
static void table_fit(struct table *table, size_t room) {
  for (size_t c = 0; c < table->column_count; c++) {
    struct table_layout *column = &table->columns[c];
    measure_text(column, column->header);
    for (size_t i = c; i < table->count; i += table->column_count)
      if (!is_line(table, i)) measure_text(column, table->cells[i].text);
  }
  if (sum(table, natural_of) > room && !table->split) {
    for (size_t i = 0; i < table->column_count; i++)
      if (table->columns[i].flags & TABLE_FOLD && common_cell(table, i))
        table->columns[i].state = FOLDED;
    while (sum(table, wanted) > room && leave_one_out(table)) continue;
  }
  table_share(table, room);
}

/* ---- Printing ------------------------------------------------------------------------------- */

/* Returns how much of the text fits on a line of that width: whole words, at least one. */
static size_t line_length(const char *text, size_t width) {
  size_t length = strcspn(text, " ");
  for (size_t end = length; text[end];) {
    const size_t next = end + strspn(text + end, " ");
    end = next + strcspn(text + next, " ");
    if (terminal_columns(text, end) > width) break;
    length = end;
  }
  return length;
}

/* Only stdout has colours. */
static void set_style(enum style style, FILE *out) {
  if (out == stdout) clean_style(style);
}

/* Prints one line of a row, and moves each cell's `rest` behind it. Spaces are printed only before
   text, so that no line ends in blanks. Returns true if text remains. */
static bool table_print_line(const struct table *table, int indent, FILE *out) {
  int spaces = indent;
  bool more = false;
  for (size_t i = 0; i < table->column_count; i++) {
    struct table_layout *column = &table->columns[i];
    if (column->state != SHOWN) continue;
    const size_t length = line_length(column->rest, column->width),
                 columns = terminal_columns(column->rest, length);
    const int padding = columns < column->width ? (int)(column->width - columns) : 0;
    if (column->flags & TABLE_RIGHT) spaces += padding;
    if (length) {
      fprintf(out, "%*s", spaces, "");
      if (column->style != STYLE_PLAIN) set_style(column->style, out);
      fprintf(out, "%.*s", (int)length, column->rest);
      if (column->style != STYLE_PLAIN) set_style(STYLE_PLAIN, out);
      spaces = 0;
    }
    spaces += column->flags & TABLE_RIGHT ? GAP : padding + GAP;
    column->rest += length;
    column->rest += strspn(column->rest, " ");
    more |= *column->rest != '\0';
  }
  fputc('\n', out);
  return more;
}

static void table_print_rows(const struct table *table, int indent, FILE *out) {
  const int second = indent + (int)table->columns[0].width + GAP;
  bool headed = false;
  for (size_t c = 0; c < table->column_count; c++) {
    struct table_layout *column = &table->columns[c];
    column->rest = column->header;
    column->style = STYLE_PLAIN;
    headed |= *column->header && column->state == SHOWN;
  }
  while (headed && table_print_line(table, indent, out)) continue;
  for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count) {
    const struct table_cell *cells = &table->cells[i];
    if (cells[0].line) {
      fprintf(out, "%*s%s\n", second, "", cells[0].text);
      continue;
    }
    for (size_t c = 0; c < table->column_count; c++) {
      table->columns[c].rest = cells[c].text;
      table->columns[c].style = cells[c].style;
    }
    while (table_print_line(table, indent, out)) continue;
  }
}

/* Prints "In all rows: verified no, spills 0 B." */
static void print_folded(const struct table *table, int indent, FILE *out) {
  const char *before = "In all rows: ";
  for (size_t i = 0; i < table->column_count; i++) {
    const struct table_layout *column = &table->columns[i];
    const char *common = column->state == FOLDED ? common_cell(table, i) : NULL;
    if (!common) continue;
    if (*before == 'I') fprintf(out, "%*s", indent, "");
    fprintf(out, "%s%s %s", before, column->header, *common ? common : "-");
    before = ", ";
  }
  if (*before == ',') fputs(".\n", out);
}

/* Prints "--wide adds: registers; shared; the merged rows". */
static void print_left_out(const struct table *table, int indent, FILE *out) {
  const char *before = "--wide adds: ";
  const bool any = table->merged > 0;
  size_t count = 0;
  for (size_t i = 0; i < table->column_count; i++) count += table->columns[i].state == LEFT_OUT;
  if (!count && !any) return;
  fprintf(out, "%*s", indent, "");
  set_style(STYLE_NOTE, out);
  for (size_t i = 0; i < table->column_count; i++) {
    if (table->columns[i].state != LEFT_OUT) continue;
    fprintf(out, "%s%s", before, table->columns[i].header);
    before = "; ";
  }
  fprintf(out, "%s%s", any ? before : "", any ? "the merged rows" : "");
  set_style(STYLE_PLAIN, out);
  fputc('\n', out);
}

/* Prints the columns that do not fit as further tables below. Each table has the first column and
   as many others as fit, at least one. */
static void print_split(struct table *table, int indent, size_t room, FILE *out) {
  for (bool more = true; more;) {
    size_t used = table->columns[0].natural, taken = 0;
    for (size_t i = 1; i < table->column_count; i++) {
      struct table_layout *column = &table->columns[i];
      if (column->state == PRINTED) continue;
      used += GAP + column->natural;
      column->state = taken && used > room ? LEFT_OUT : SHOWN;
      taken += column->state == SHOWN;
    }
    table_share(table, room);
    table_print_rows(table, indent, out);
    more = false;
    for (size_t i = 1; i < table->column_count; i++) {
      more |= table->columns[i].state == LEFT_OUT;
      if (table->columns[i].state == SHOWN) table->columns[i].state = PRINTED;
    }
    if (more) fputc('\n', out);
  }
}

int table_close(struct table *table, int indent, FILE *out, cugen_error *error) {
  const size_t width = table->width ? (size_t)table->width : SIZE_MAX / 2,
               room = width > (size_t)indent ? width - (size_t)indent : 0;
  const bool good = !table->failed;
  if (good) table_fit(table, room);
  if (good && table->split && sum(table, natural_of) > room) {
    print_split(table, indent, room, out);
  } else if (good) {
    table_print_rows(table, indent, out);
    print_folded(table, indent, out);
    print_left_out(table, indent, out);
  }
  for (size_t i = 0; i < table->count; i++) free(table->cells[i].text);
  for (size_t i = 0; table->columns && i < table->column_count; i++) free(table->columns[i].header);
  free(table->columns);
  free(table->cells);
  if (good) return CUGEN_OK;
  *error = (cugen_error){.status = CUGEN_ERROR_MEMORY, .message = "out of memory"};
  return CUGEN_ERROR_MEMORY;
}
