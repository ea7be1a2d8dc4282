/* The variants that no other beats in both time and energy. */
#ifndef CLI_FRONT_H
#define CLI_FRONT_H

#include "cli.h"

/* As a table, the fastest first; nothing where no energy is known. */
int front_print(struct cli *cli);

#endif
