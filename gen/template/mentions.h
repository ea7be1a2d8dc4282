/* Whether anything uses a tunable: one that nothing does makes the same kernel several times. */
#ifndef GEN_TEMPLATE_MENTIONS_H
#define GEN_TEMPLATE_MENTIONS_H

#include "gen/config/config.h"
#include "gen/sources/sources.h"

enum { MENTIONS_WORD = 64 };

struct unused_tunable {
  const struct config_implementation *implementation; /* NULL: of all */
  const struct config_tunable *tunable;
  char nearest
      [MENTIONS_WORD]; /* of the words in the templates' #if, #ifdef and #ifndef that no name of the config is; "": none */
};

/* Tunables of two or more values that no expression of the config, no argument and no template mentions, nor a file that one
   includes. Fills in at most `most`, *count is how many there are. Where a file cannot be read, or it is not written out which one is
   included, every name counts as used. CUGEN_ERROR_MEMORY. */
int mentions_unused(const struct sources *sources, const struct config *config, struct unused_tunable *out,
                    size_t most, size_t *count, cugen_error *err);

#endif
