/* Whether anything uses a tunable: one that nothing does makes the same kernel several times. And whether a template means one by another
   name, or asks only whether it is defined, which it is for each of its values. */
#ifndef GEN_TEMPLATE_MENTIONS_H
#define GEN_TEMPLATE_MENTIONS_H

#include "gen/config/config.h"
#include "gen/sources/sources.h"

enum { MENTIONS_WORD = 64 };

enum { MENTIONS_NOWHERE, MENTIONS_MISSPELT, MENTIONS_DEFINED };

struct unused_tunable {
  int why; /* MENTIONS_MISSPELT: the config uses it, and no template does. MENTIONS_DEFINED: #ifdef and the like alone ask for it */
  const struct config_implementation *implementation; /* NULL: of all */
  const struct config_tunable *tunable;
  char nearest
      [MENTIONS_WORD]; /* of the words in the templates' #if, #ifdef and #ifndef that no name of the config is; "": none */
};

/* Tunables of two or more values that make the same kernel several times. Those that no expression of the config, no argument and no template mentions, nor a file that one
   includes; those that no template mentions while a word is near in one's #if; and those that are no booleans, of which templates ask
   only whether they are defined. Fills in at most `most`, *count is how many there are. Where a file cannot be read, or it is not written out which one is
   included, every name counts as used. CUGEN_ERROR_MEMORY. */
int mentions_unused(const struct sources *sources, const struct config *config, struct unused_tunable *out,
                    size_t most, size_t *count, cugen_error *err);

#endif
