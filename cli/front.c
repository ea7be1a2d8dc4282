/* The variants that trade time for energy; see front.h. */
#include "front.h"

#include <stdlib.h>

#include "api/records.h"
#include "quantities.h"
#include "table.h"

static int front_by_seconds(const void *a, const void *b) {
  const cugen_record *x = a, *y = b;
  return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int front_print_rows(struct cli *cli, const cugen_record *records, size_t count) {
  static const struct table_column columns[] = {{"time", TABLE_RIGHT, 0},
                                                {"energy", TABLE_RIGHT, 0},
                                                {"energy / time", TABLE_RIGHT, 0},
                                                {"variant", TABLE_WRAP, 0}};
  static const enum quantity shown[] = {QUANTITY_TIME, QUANTITY_ENERGY, QUANTITY_POWER};
  struct table table;
  puts("\nNo other variant beats these in both time and energy:");
  table_open(&table, cli, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < count; i++) {
    for (size_t c = 0; c < sizeof shown / sizeof *shown; c++)
      table_cell(&table, quantities[shown[c]].show(&records[i]).text);
    table_cell(&table, records[i].variant);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

int front_print(struct cli *cli) {
  size_t all, count = 0;
  const cugen_record *records = api_records(cli->kernel, &all);
  cugen_record *front = calloc(all + 1, sizeof *front);
  if (!front) return cli_fail(cli, CUGEN_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < all; i++)
    if (records[i].non_dominated) front[count++] = records[i];
  qsort(front, count, sizeof *front, front_by_seconds);
  int status = count ? front_print_rows(cli, front, count) : CUGEN_OK;
  free(front);
  return status;
}
