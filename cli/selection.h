/* Remarks about the variant that a command chose because none was named. */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "api/kernel.h"
#include "cli.h"

/* Remarks which variant was chosen if none was named, unless it is the best for exactly this
   problem. */
void cli_remark_choice(const struct cli *cli, const cugen_choice *choice, size_t failed);
/* Returns the number of remembered variants of this problem if all of them failed; otherwise 0. */
size_t cli_failed(const struct cli *cli, const cugen_choice *choice);
/* Returns true if the choice for this problem on the model is a prediction. Opens a kernel for the
   model. */
bool cli_is_predicted(const struct cli *cli, const char *model);

#endif
