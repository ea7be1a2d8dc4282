/* The problems that an application asked for: what CUGEN_CAPTURE wrote. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "problem_set.h"

/* Those of --from that are of cli->kernel's config, the heaviest first, each with its weight. */
int capture_read(struct cli *cli, struct problem_set *out);

#endif
