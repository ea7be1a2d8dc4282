/* Vector clocks; see vector_clocks.h. */
#include "vector_clocks.h"

#include <sys/mman.h>

bool vector_clocks_make(struct vector_clocks *clocks, size_t threads, size_t rows) {
  vector_clocks_drop(clocks);
  clocks->row_words = threads + 1;
  clocks->bytes = rows * clocks->row_words * sizeof *clocks->words;
  void *at = mmap(NULL, clocks->bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  clocks->words = at == MAP_FAILED ? NULL : at;
  return clocks->words;
}

void vector_clocks_drop(struct vector_clocks *clocks) {
  if (clocks->words) munmap(clocks->words, clocks->bytes);
  clocks->words = NULL;
}

void vector_clocks_clear(struct vector_clocks *clocks) {
  if (clocks->words) madvise(clocks->words, clocks->bytes, MADV_DONTNEED);
}

void vector_clocks_join(const struct vector_clocks *clocks, size_t to, size_t from) {
  uint32_t *into = vector_clocks_row(clocks, to);
  const uint32_t *what = vector_clocks_row(clocks, from);
  for (size_t i = 0; i < clocks->row_words; i++) into[i] = what[i] > into[i] ? what[i] : into[i];
}
