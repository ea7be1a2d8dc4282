/* The launches of a variant: one line where there is one, else a table. */
#ifndef CLI_LAUNCHES_H
#define CLI_LAUNCHES_H

#include "cli.h"

struct launches {
  const cugen_launch_info *list;
  size_t count;
  const char *variant; /* its full text */
};

/* Of cli->kernel; variant as in cugen_kernel_source. Both live as api_kernel_launches says. */
int launches_find(struct cli *cli, const char *variant, struct launches *out);
/* "grid 8, block 128", cut to the size; NULL: there are several. */
const char *launches_line(const struct launches *launches, char *text, size_t size);
/* lead: in front of the one line; a table is indented by two blanks. No line has more than 80 columns but for long names. */
int launches_print(struct cli *cli, const struct launches *launches, const char *lead, FILE *out);
/* null without a variant. */
json_t *launches_json(const struct launches *launches);

#endif
