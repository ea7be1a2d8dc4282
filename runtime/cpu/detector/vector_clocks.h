/* Vector clocks: what each thread, block and sync of a cluster knows of all threads, where barriers of some threads order them. A
   row is one of them: for each thread the epoch up to which all that it did comes before, and one for the copy engine. */
#ifndef RUNTIME_CPU_DETECTOR_VECTOR_CLOCKS_H
#define RUNTIME_CPU_DETECTOR_VECTOR_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vector_clocks {
  uint32_t *words; /* NULL: none are needed */
  size_t bytes, row_words;
};

/* Rows of zeros. False: no memory, and no rows. */
bool vector_clocks_make(struct vector_clocks *clocks, size_t threads, size_t rows);
void vector_clocks_drop(struct vector_clocks *clocks);
/* All zero again. */
void vector_clocks_clear(struct vector_clocks *clocks);

static inline uint32_t *vector_clocks_row(const struct vector_clocks *clocks, size_t row) {
  return clocks->words + row * clocks->row_words;
}

/* What `from` knows `to` knows, too. */
void vector_clocks_join(const struct vector_clocks *clocks, size_t to, size_t from);

#endif
