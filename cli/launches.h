/* Prints the launches of a variant: a single launch in one line, several as a table. */
#ifndef CLI_LAUNCHES_H
#define CLI_LAUNCHES_H

#include "api/source.h"
#include "cli.h"

struct launches {
  const cugen_launch_info *list;
  size_t count;
  const char *variant; /* full text of the variant */
};

/* Finds the launches of a variant of cli->kernel; variant as in cugen_kernel_source. The list is
   valid until the next launches_find, the variant's text also only until cugen_kernel_source. */
int launches_find(struct cli *cli, const char *variant, struct launches *out);
/* Returns "grid 8, block 128", cut to `size`; NULL: a call does not make exactly one launch. */
const char *launches_line(const struct launches *launches, char *text, size_t size);
/* Prints the launches. lead: text in front of the single line; a table is indented by two
   blanks. */
int launches_print(struct cli *cli, const struct launches *launches, const char *lead, FILE *out);
/* Returns JSON null if there is no variant. */
json_t *launches_json(const struct launches *launches);

#endif
