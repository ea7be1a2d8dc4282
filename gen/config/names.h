/* Which names and words a config may use; private to gen/config*.c. */
#ifndef GEN_CONFIG_NAMES_H
#define GEN_CONFIG_NAMES_H

#include "base/text.h"

/* Why a name cannot be a macro or parameter in CUDA text ("it is a C++ keyword"); NULL: it can.
   in_expressions: expressions use it too, so that it can't be one of their functions. */
const char *names_refused(const char *name, bool in_expressions);
bool names_identifier(const char *name);

/* Why a string cannot be a value of a problem or tunable ("it has a space in it"); NULL: it can. Values stand
   unquoted in a variant's text and on the command line. */
const char *names_refused_word(const char *word);

/* For the tests: the tables of reserved names, which must be sorted. False: there is no such group. */
bool names_reserved(size_t group, const char *const **names, size_t *count);

#endif
