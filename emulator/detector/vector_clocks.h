/* Vector clocks: what each thread, block and sync of a cluster knows of all threads, used where
   barriers of some threads order them. A row is one clock: for each thread, and for the copy
   engine, the epoch up to which all its actions come before. */
#ifndef EMULATOR_DETECTOR_VECTOR_CLOCKS_H
#define EMULATOR_DETECTOR_VECTOR_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vector_clocks {
  uint32_t *words; /* NULL: not needed yet */
  size_t bytes, row_words;
};

/* Makes rows of zeros, with a number for each of `threads` threads and one for the copy engine.
   Returns false, and makes no row, if memory is out. */
bool vector_clocks_make(struct vector_clocks *clocks, size_t threads, size_t rows);
void vector_clocks_drop(struct vector_clocks *clocks);
/* Sets all to zero. */
void vector_clocks_clear(struct vector_clocks *clocks);

static inline uint32_t *vector_clocks_row(const struct vector_clocks *clocks, size_t row) {
  return clocks->words + row * clocks->row_words;
}

/* Adds the knowledge of row `from` to row `to`. */
void vector_clocks_join(const struct vector_clocks *clocks, size_t to, size_t from);

#endif
