/* The arrays of a variant for `cugen report`. */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include "cli.h"

/* Describes the variant's shared arrays, and its arguments that do not lie by rows, as JSON objects
   like those of `cugen layout --json`, each with a member "corner" in place of "offsets": for the
   first lines of the array and the first elements of each, the bank of shared memory, or the sector
   of global memory. */
int layout_pictures(struct cli *cli, const char *variant, json_t **out);

#endif
