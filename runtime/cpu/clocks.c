/* Vector clocks; see clocks.h. */
#include "clocks.h"

#include <sys/mman.h>

bool clocks_make(struct clocks *clocks, size_t threads, size_t rows) {
  clocks_drop(clocks);
  clocks->row_words = threads + 1;
  clocks->bytes = rows * clocks->row_words * sizeof *clocks->words;
  void *at = mmap(NULL, clocks->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  clocks->words = at == MAP_FAILED ? NULL : at;
  return clocks->words;
}

void clocks_drop(struct clocks *clocks) {
  if (clocks->words) munmap(clocks->words, clocks->bytes);
  clocks->words = NULL;
}

void clocks_clear(struct clocks *clocks) {
  if (clocks->words) madvise(clocks->words, clocks->bytes, MADV_DONTNEED);
}

void clocks_join(const struct clocks *clocks, size_t to, size_t from) {
  uint32_t *into = clocks_row(clocks, to);
  const uint32_t *what = clocks_row(clocks, from);
  for (size_t i = 0; i < clocks->row_words; i++) into[i] = what[i] > into[i] ? what[i] : into[i];
}
