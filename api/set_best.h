/* The best of the sets in a listing of the cache. */
#ifndef API_SET_BEST_H
#define API_SET_BEST_H

#include "library.h"

/* The configs of sets; begins with only lib. */
struct set_best {
  cugen *lib;
  struct source_config **configs;
  size_t count;
};

/* Puts the best record in place of the fastest one, where the set's config still has such a problem. */
int set_best_find(struct set_best *s, struct cache_space *space, cugen_error *err);
void set_best_close(struct set_best *s);

#endif
