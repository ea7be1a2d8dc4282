/* What bits a variant's outputs had, as text: "SEED DIGEST", "SEED varies", "" where it is not known. A store and JSON have it so.
   outputs_text prints it, outputs_equal compares. */
#ifndef BASE_OUTPUTS_H
#define BASE_OUTPUTS_H

#include <stdbool.h>

#include "error.h"

enum { OUTPUTS_TEXT = 40 }; /* a seed, a blank, 16 digits */

/* False: it is no such text, and *out is not known. */
bool outputs_parse(const char *text, cugen_outputs *out);

#endif
