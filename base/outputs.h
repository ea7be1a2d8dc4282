/* The bits of a variant's outputs as text, as stores and JSON have it: "SEED DIGEST", "SEED
   varies", or "" if unknown. outputs_text prints the text, outputs_equal compares. */
#ifndef BASE_OUTPUTS_H
#define BASE_OUTPUTS_H

#include <stdbool.h>

#include "error.h"

enum { OUTPUTS_TEXT = 40 }; /* enough for a seed, a blank and 16 digits */

/* Returns false if the text is not valid; *out is then unknown outputs. */
bool outputs_parse(const char *text, cugen_outputs *out);

#endif
