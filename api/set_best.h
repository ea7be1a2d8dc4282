/* The best variants of the sets in a listing of the cache. */
#ifndef API_SET_BEST_H
#define API_SET_BEST_H

#include "library.h"

/* The configs that were opened; initially only lib is set. */
struct set_best {
  cugen *lib;
  struct source_config **configs;
  size_t count;
};

/* Replaces the fastest record of the set by the best one, if the set's config still has the set's
   problem. */
int set_best_find(struct set_best *s, struct cache_space *space, cugen_error *err);
void set_best_close(struct set_best *s);

#endif
