/* An allocator for LD_PRELOAD, of which allocation number $FAIL_ALLOCATION fails, counted from 0.
   Programs that the process starts have the usual one. */
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static long left = -1;

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("FAIL_ALLOCATION");
  unsetenv("LD_PRELOAD");
  left = number ? atol(number) : -1;
}

static int may_allocate(void) {
  return left < 0 || left-- > 0;
}

void *malloc(size_t size) {
  return may_allocate() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size) {
  return may_allocate() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *old, size_t size) {
  return may_allocate() ? __libc_realloc(old, size) : NULL;
}
