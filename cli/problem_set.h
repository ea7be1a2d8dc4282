/* The problems that are tuned together: where they are written, and their settings. */
#ifndef CLI_PROBLEM_SET_H
#define CLI_PROBLEM_SET_H

#include <stdint.h>

#include "cli.h"

struct problem_set {
  struct problem_settings {
    char **settings; /* "M=64" */
    size_t count;
    char *where;      /* "sizes.txt:3: " for messages, or "" */
    const char *file; /* the file and line of `where`; file NULL: not known */
    size_t line;
    double weight; /* weight of a captured problem */
  } * problems;
  size_t count;
  /* The problems are those of --from. */
  bool captured;
  uint64_t taken; /* bit i: cli->settings[i] was used by some problem; only the first 64 */
};

/* Reads the problems of --problems, each with the values of --set for other parameters. Without
   --problems, reads --set if it has a list. An empty set means a single problem. */
int problem_set_read(struct cli *cli, struct problem_set *out);
/* Reads the problems of the config's problems { }; an empty set: the config has none. */
int problem_set_of_config(struct cli *cli, struct problem_set *out);
/* Adds all combinations of a line such as "M=64,128 N=64", with the values of --set for other
   parameters; of the line "", those of --set. where: prefix for messages, "log:3: ". */
int problem_set_add(struct cli *cli, struct problem_set *set, const char *where, const char *text);
/* Remarks which values of --set no problem of the file used, because each problem has its own
   value. */
void problem_set_remark_unused(const struct cli *cli, const struct problem_set *set,
                               const char *path);
void problem_set_free(struct problem_set *set);

/* ---- capture.c ------------------------------------------------------------------------------ */

/* Reads those problems of --from, a file that CUGEN_CAPTURE wrote, that belong to cli->kernel's
   config, with their weights, the heaviest first. */
int capture_read(struct cli *cli, struct problem_set *out);

#endif
