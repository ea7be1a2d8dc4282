/* What bits a variant's outputs had, as text: "SEED DIGEST", "SEED varies", "" where it is not known. A store and JSON have it so.
   cugen_outputs_text prints it. */
#ifndef BASE_OUTPUTS_H
#define BASE_OUTPUTS_H

#include <stdbool.h>

#include "error.h"

enum { OUTPUTS_TEXT = 40 }; /* a seed, a blank, 16 digits */

/* False: it is no such text, and *out is not known. */
bool outputs_parse(const char *text, cugen_outputs *out);
/* Whether both are known, do not vary, and are the same bits of the same data. */
bool outputs_equal(const cugen_outputs *a, const cugen_outputs *b);

#endif
