/* Memory owned by a config, which is freed all at once together with the config's expressions. The
   arena has a limit, so that a small config cannot use unlimited memory. */
#ifndef GEN_CONFIG_ARENA_H
#define GEN_CONFIG_ARENA_H

#include <stddef.h>

#include "base/expr.h"

struct arena;

struct arena *arena_open(void);
void arena_close(struct arena *arena);

/* Allocates a zeroed array. Returns NULL if memory or the arena's limit is exhausted. A count of 0
   gives a valid pointer. */
void *arena_array(struct arena *arena, size_t count, size_t size);
char *arena_string(struct arena *arena, const char *string, size_t length);
/* Makes the arena own the expression. On failure frees the expression and returns false. */
bool arena_keep(struct arena *arena, struct expr *expr);
/* Counts work against the limit without allocating memory. Returns false if the limit is
   exceeded. */
bool arena_charge(struct arena *arena, size_t bytes);
/* Returns whether the limit has refused a request so far; other failures are a lack of memory. */
bool arena_full(const struct arena *arena);

#endif
