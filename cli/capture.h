/* Reads the problems that CUGEN_CAPTURE wrote for an application. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "problem_set.h"

/* Reads the problems of --from that belong to cli->kernel's config, with their weights, the
   heaviest first. */
int capture_read(struct cli *cli, struct problem_set *out);

#endif
