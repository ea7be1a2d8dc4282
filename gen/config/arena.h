/* What a config owns: memory given back all at once, and expressions with it. It is bounded, so that a small config
   that mentions one large list a thousand times cannot become a large one. */
#ifndef GEN_CONFIG_ARENA_H
#define GEN_CONFIG_ARENA_H

#include <stddef.h>

#include "base/expr.h"

struct arena;

struct arena *arena_open(void);
void arena_close(struct arena *arena);

/* Zeroed; NULL when memory or the bound is exhausted. count 0 gives a valid pointer. */
void *arena_array(struct arena *arena, size_t count, size_t size);
char *arena_string(struct arena *arena, const char *string, size_t length);
/* The arena owns the expression from now on, also when this fails. */
bool arena_keep(struct arena *arena, struct expr *expr);
/* Counts work against the bound without taking memory. */
bool arena_charge(struct arena *arena, size_t bytes);
/* NULL was for the bound's sake, not for want of memory. */
bool arena_full(const struct arena *arena);

#endif
