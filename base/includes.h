/* The check of a source's includes. */
#ifndef BASE_INCLUDES_H
#define BASE_INCLUDES_H

#include "error.h"

/* Checks that everything that some compiler might take for an #include, #import or #embed names a
   header by a relative path that is written out, without ".." and hidden names. What stands in
   comments and literals is checked, too, because by a trigraph or a splice with a blank one lexer
   may see a directive where another sees a comment. Fails with CUGEN_ERROR_COMPILE or
   CUGEN_ERROR_MEMORY. */
int includes_check(const char *source, cugen_error *err);

#endif
