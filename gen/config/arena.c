/* Memory of a config; see arena.h. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST_BYTES = 64 << 20,
  /* What arena_keep charges for an expression. The largest takes about a hundred KiB. */
  EXPRESSION_BYTES = 16 << 10
};

struct block {
  struct block *next;
  max_align_t data[];
};

struct kept {
  struct kept *next;
  struct expr *expr;
};

struct arena {
  struct block *blocks;
  struct kept *exprs;
  size_t used;
  bool full;
};

struct arena *arena_open(void) {
  return calloc(1, sizeof(struct arena));
}

void arena_close(struct arena *arena) {
  if (!arena) return;
  for (struct kept *kept = arena->exprs; kept; kept = kept->next) expr_free(kept->expr);
  while (arena->blocks) {
    struct block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
  free(arena);
}

bool arena_charge(struct arena *arena, size_t bytes) {
  if (bytes > MOST_BYTES - arena->used) {
    arena->full = true;
    return false;
  }
  arena->used += bytes;
  return true;
}

bool arena_full(const struct arena *arena) {
  return arena->full;
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
  if (count && size > MOST_BYTES / count) {
    arena->full = true;
    return NULL;
  }
  size_t bytes = sizeof(struct block) + count * size + 1;
  if (!arena_charge(arena, bytes)) return NULL;
  struct block *block = calloc(1, bytes);
  if (!block) return NULL;
  block->next = arena->blocks;
  arena->blocks = block;
  return block->data;
}

char *arena_string(struct arena *arena, const char *string, size_t length) {
  char *copy = arena_array(arena, length + 1, 1);
  if (copy) memcpy(copy, string, length);
  return copy;
}

bool arena_keep(struct arena *arena, struct expr *expr) {
  struct kept *kept =
      arena_charge(arena, EXPRESSION_BYTES) ? arena_array(arena, 1, sizeof *kept) : NULL;
  if (!kept) {
    expr_free(expr);
    return false;
  }
  *kept = (struct kept){arena->exprs, expr};
  arena->exprs = kept;
  return true;
}
