/* The check of a source's includes. */
#ifndef BASE_INCLUDES_H
#define BASE_INCLUDES_H

#include "error.h"

/* Checks that everything that some compiler might take for an #include, #import or #embed names a
   header by a relative path that is written out, without ".." and hidden names. The check does not
   exclude comments, literals or language versions, because a source can hide a directive in them
   (by a trigraph, or a splice with a blank) that another lexer sees. Fails with CUGEN_ERROR_COMPILE
   or CUGEN_ERROR_MEMORY. */
int includes_check(const char *source, cugen_error *err);

#endif
