/* Problems that are tuned together: where they are written, and the settings of each. */
#ifndef CLI_PROBLEM_SET_H
#define CLI_PROBLEM_SET_H

#include <stdint.h>

#include "cli.h"

struct problem_set {
  struct problem_settings {
    char **settings; /* "M=64" */
    size_t count;
    char *where;      /* "sizes.txt:3: " for messages; "" */
    const char *file; /* and as facts; NULL: no line of a file is one */
    size_t line;
    double weight; /* of a captured one */
  } * problems;
  size_t count, capacity;
  bool captured;  /* of --from: what the config does not have is left out */
  uint64_t taken; /* bit i: --set number i gave a problem a value; the first 64 */
};

/* Those of --problems, each with what --set says of other parameters; without it those of --set if one has a list. None: one problem
   is meant. */
int problem_set_read(struct cli *cli, struct problem_set *out);
/* Those of the config's problems { }, of cli->kernel; none: it has none. */
int problem_set_of_config(struct cli *cli, struct problem_set *out);
/* The one problem that --set means. */
int problem_set_of_one(struct cli *cli, struct problem_set *out);
/* "M=64,128 N=64": all combinations, with what --set says besides. where: for messages, "log:3: ". */
int problem_set_add(struct cli *cli, struct problem_set *set, const char *where, const char *text);
/* What --set says and no problem of the file takes, since each has a value of its own. */
void problem_set_remark_unused(const struct cli *cli, const struct problem_set *set, const char *path);
void problem_set_free(struct problem_set *set);

#endif
