/* The variants that no other variant beats in both time and energy. */
#ifndef CLI_FRONT_H
#define CLI_FRONT_H

#include "cli.h"

/* Prints them as a table, the fastest first; prints nothing if no energy is known. */
int front_print(struct cli *cli);

#endif
