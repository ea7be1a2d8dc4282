/* Tables for people: every table that cugen prints. Columns are aligned, and fit the width of the terminal (cli->width):

   1. Columns that say the same in every row are said once below (TABLE_FOLD).
   2. Columns with a rank are left out, the highest first, until the rest has room. Those of TABLE_WRAP shrink first.
   3. What is left of the width goes to those of TABLE_WRAP; longer cells go on below, between words.

   What is left out is named in a line below the table. Without a width all is there, each row in one line. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "clean.h"
#include "cli.h"

enum { TABLE_RIGHT = 1, TABLE_WRAP = 2, TABLE_FOLD = 4 };

struct table_column {
  const char *header;
  int flags;
  int rank; /* 0: never left out */
};

struct table_cell;
struct table_layout;

struct table {
  int width;        /* cli's */
  enum style style; /* of the cells that follow */
  bool split;    /* columns that do not fit stand in another table below, which begins with the first column again */
  size_t merged; /* rows that stand for others say so; the line below the table names --wide */
  struct table_layout *columns;
  size_t column_count;
  struct table_cell *cells;
  size_t count, capacity;
  bool failed;
};

void table_open(struct table *table, const struct cli *cli, const struct table_column *columns, size_t count);
void table_cell(struct table *table, const char *text); /* the next cell, row by row */
/* A row that is one text, from the second column on. */
void table_line(struct table *table, const char *text);
/* Prints and frees; each line after indent. */
int table_close(struct table *table, int indent, FILE *out, cugen_error *error);

#endif
