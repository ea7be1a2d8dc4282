/* Vector clocks: what each thread of a cluster knows of all others, where barriers of some threads order them. A row has a
   word for each thread, up to which time all that it did comes before, and one for the copy engine. */
#ifndef RUNTIME_CPU_CLOCKS_H
#define RUNTIME_CPU_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clocks {
  uint32_t *words; /* NULL: none are needed */
  size_t bytes, row_words;
};

/* Rows of zeros. False: no memory, and no rows. */
bool clocks_make(struct clocks *clocks, size_t threads, size_t rows);
void clocks_drop(struct clocks *clocks);
/* All zero again. */
void clocks_clear(struct clocks *clocks);

static inline uint32_t *clocks_row(const struct clocks *clocks, size_t row) {
  return clocks->words + row * clocks->row_words;
}

/* What `from` knows `to` knows, too. */
void clocks_join(const struct clocks *clocks, size_t to, size_t from);

#endif
