/* The last look at a source before a compiler has it. */
#ifndef BASE_INCLUDES_H
#define BASE_INCLUDES_H

#include "error.h"

/* Whether each thing that some compiler might take for an #include, #import or #embed names a header of the toolkit's or the
   system's folders: relative, without "..", nothing hidden, and written out. It does not know comments, literals and language
   versions, since what a source hides in them (a trigraph, a splice with a blank) another lexer finds. CUGEN_ERROR_COMPILE. */
int includes_check(const char *source, cugen_error *err);

#endif
