/* Which names and words a config may use. */
#ifndef GEN_CONFIG_NAMES_H
#define GEN_CONFIG_NAMES_H

#include "base/text.h"

/* Returns why a name cannot be a macro or parameter in CUDA text ("it is a C++ keyword"); NULL: it
   can. in_expressions: the name is also used in expressions, so it must not be one of their
   functions. */
const char *names_refused(const char *name, bool in_expressions);
bool names_identifier(const char *name);

/* Returns why a string cannot be a value of a problem parameter or tunable ("it has a space in
   it"); NULL: it can. Values are written without quotes in the text of a variant and on the command
   line. */
const char *names_refused_word(const char *word);

/* Returns whether the word is in `words`, a list separated by blanks. */
bool names_listed(const char *words, const char *word);

#endif
