/* Tables for people. Columns are aligned, and fit the width of the terminal (cli->width):

   1. If the table is too wide, columns with TABLE_FOLD that are equal in every row are printed
     once, below the table.
   2. Columns with a rank are left out, the highest rank first, until the rest has room. Columns
     with TABLE_WRAP shrink before that.
   3. The remaining width goes to the columns with TABLE_WRAP; longer cells are continued on further
     lines, broken between words.

   A line below the table names what is left out. Without a width, nothing is left out and each row
   is one line. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "clean.h"
#include "cli.h"

enum { TABLE_RIGHT = 1, TABLE_WRAP = 2, TABLE_FOLD = 4 };

struct table_column {
  const char *header;
  int flags;
  int rank; /* the highest is left out first where room is short; 0: never left out */
};

struct table_cell;
struct table_layout;

struct table {
  int width;        /* cli->width */
  enum style style; /* style of the cells that follow */
  /* Columns that do not fit are printed as another table below, which repeats the first column. */
  bool split;
  /* Number of records merged into other rows; if above 0, the line below the table names --wide. */
  size_t merged;
  struct table_layout *columns;
  size_t column_count;
  struct table_cell *cells;
  size_t count;
  bool failed;
};

void table_open(struct table *table, const struct cli *cli, const struct table_column *columns,
                size_t count);
void table_cell(struct table *table, const char *text); /* adds the next cell, row by row */
void table_cellf(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a row that is one text, from the second column on. */
void table_line(struct table *table, const char *text);
/* Prints the table, with `indent` blanks before each line, and frees it. */
int table_close(struct table *table, int indent, FILE *out, cugen_error *error);

#endif
