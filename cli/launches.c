/* The launches of a variant; see launches.h. */
#include "launches.h"

#include <string.h>

#include "print.h"
#include "table.h"

enum { LINE = 1023, COLUMNS = 6 };

int launches_find(struct cli *cli, const char *variant, struct launches *out) {
  return api_kernel_launches(cli->kernel, variant, &out->list, &out->count, &out->variant,
                             &cli->error);
}

/* Prints a grid or block as "8 x 4", without trailing sizes of 1. */
static struct shown print_dimensions(const unsigned int size[3]) {
  return size[2] > 1   ? print_format("%u x %u x %u", size[0], size[1], size[2])
         : size[1] > 1 ? print_format("%u x %u", size[0], size[1])
                       : print_format("%u", size[0]);
}

const char *launches_line(const struct launches *launches, char *text, size_t size) {
  const cugen_launch_info *launch = launches->list;
  if (launches->count != 1 || launch->times > 1) return NULL;
  if (!launch->block[0]) /* a library's kernel */
    return snprintf(text, size, "%s, passes %s", launch->entry, launch->passes), text;
  const bool listed = launch->listed, shared = launch->shared_bytes > 0;
  snprintf(text, size, "grid %s, block %s%s%s%s%s%s", print_dimensions(launch->grid).text,
           print_dimensions(launch->block).text, shared ? ", " : "",
           shared ? print_bytes(launch->shared_bytes).text : "", shared ? " dynamic shared" : "",
           listed ? ", passes " : "", listed ? launch->passes : "");
  return text;
}

int launches_print(struct cli *cli, const struct launches *launches, const char *lead, FILE *out) {
  struct table_column columns[COLUMNS] = {
      {"launch", TABLE_WRAP, 0}, {"grid", TABLE_RIGHT, 0}, {"block", TABLE_RIGHT, 0}};
  size_t count = 3;
  bool shared = false, times = false, passes = false;
  char line[LINE + 1];
  if (launches_line(launches, line, sizeof line))
    return fprintf(out, "%s%s\n", lead, line), CUGEN_OK;
  for (size_t i = 0; i < launches->count; i++) {
    const cugen_launch_info *launch = &launches->list[i];
    shared |= launch->shared_bytes > 0;
    times |= launch->times > 1;
    passes |= launch->listed;
  }
  if (shared) columns[count++] = (struct table_column){"shared", TABLE_RIGHT, 0};
  if (times) columns[count++] = (struct table_column){"times", TABLE_RIGHT, 0};
  if (passes) columns[count++] = (struct table_column){"passes", TABLE_WRAP, 0};
  struct table table;
  table_open(&table, cli, columns, count);
  for (size_t i = 0; i < launches->count; i++) {
    const cugen_launch_info *launch = &launches->list[i];
    table_cell(&table, launch->entry);
    table_cell(&table, print_dimensions(launch->grid).text);
    table_cell(&table, print_dimensions(launch->block).text);
    if (shared) table_cell(&table, print_bytes(launch->shared_bytes).text);
    if (times) table_cell(&table, print_count(launch->times).text);
    if (passes) table_cell(&table, launch->listed ? launch->passes : "all arguments");
  }
  return table_close(&table, 2, out, &cli->error);
}

static json_t *passes_json(const char *passes) {
  json_t *array = json_array();
  while (*passes) {
    size_t length = strcspn(passes, ",");
    json_array_append_new(array, json_stringn(passes, length));
    passes += length;
    passes += strspn(passes, ", ");
  }
  return array;
}

static json_t *launch_json(const void *item) {
  const cugen_launch_info *launch = item;
  return JSON_NEW(MEMBER(string, launch, entry), MEMBER(optional_string, launch, place),
                  MEMBER(integer, launch, line), {"grid", json_size(launch->grid)},
                  {"block", json_size(launch->block)},
                  {"dynamic_shared_bytes", json_integer(launch->shared_bytes)},
                  {"carveout", launch->carveout < 0 ? json_null() : json_integer(launch->carveout)},
                  MEMBER(boolean, launch, overlap), MEMBER(boolean, launch, cooperative),
                  {"passes", passes_json(launch->passes)}, MEMBER(count, launch, times));
}

json_t *launches_json(const struct launches *launches) {
  return launches->variant ? JSON_LIST(launches->list, launches->count, launch_json) : json_null();
}
