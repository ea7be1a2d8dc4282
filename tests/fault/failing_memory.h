/* An allocator that fails when it is told to, in the one program that includes this: it takes
   malloc's place. Sanitizers bring their own; SANITIZED says so, and the program skips. */
#ifndef TESTS_FAULT_FAILING_MEMORY_H
#define TESTS_FAULT_FAILING_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sanitizers.h"

#if !SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* The n-th allocation from now fails (< 0: none), and with it all others where `for_good` is
   set. */
static struct {
  long left;
  bool for_good, failed;
  long held; /* blocks not given back */
} memory = {.left = -1};

static bool may_allocate(void) {
  if (memory.left < 0) return true;
  if (memory.left > 0) {
    memory.left--;
    return true;
  }
  memory.failed = true;
  if (!memory.for_good) memory.left = -1;
  return false;
}

/* Also for what the C library takes for itself (strdup, fopen). */
#define EVERYBODYS __attribute__((visibility("default")))

static void *held(void *block) {
  memory.held += block != NULL;
  return block;
}

EVERYBODYS void *malloc(size_t size) {
  return may_allocate() ? held(__libc_malloc(size)) : NULL;
}

EVERYBODYS void *calloc(size_t count, size_t size) {
  return may_allocate() ? held(__libc_calloc(count, size)) : NULL;
}

EVERYBODYS void *realloc(void *old, size_t size) {
  if (!may_allocate()) return NULL;
  return old ? __libc_realloc(old, size) : held(__libc_realloc(old, size));
}

EVERYBODYS void *aligned_alloc(size_t alignment, size_t size) {
  return may_allocate() ? held(__libc_memalign(alignment, size)) : NULL;
}

EVERYBODYS int posix_memalign(void **out, size_t alignment, size_t size) {
  void *block = aligned_alloc(alignment, size);
  if (block) *out = block;
  return block ? 0 : ENOMEM;
}

EVERYBODYS void free(void *block) {
  memory.held -= block != NULL;
  __libc_free(block);
}

#endif
#endif
