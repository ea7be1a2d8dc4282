/* An allocator in the place of malloc that fails on request, for the one program that includes
   this file. Sanitizers have an allocator of their own; SANITIZED says so, and the program
   skips. */
#ifndef TESTS_FAULT_FAILING_MEMORY_H
#define TESTS_FAULT_FAILING_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sanitizers.h"

/* Allocation n from now fails (< 0: none), and with `for_good` all later ones, too. */
static struct {
  long left;
  bool for_good, failed;
  long held; /* blocks that were not freed */
} heap = {.left = -1};

#if !SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static bool may_allocate(void) {
  if (heap.left < 0) return true;
  if (heap.left > 0) {
    heap.left--;
    return true;
  }
  heap.failed = true;
  if (!heap.for_good) heap.left = -1;
  return false;
}

/* Visible to the C library, which allocates by it, too (strdup, fopen). */
#define EVERYBODYS __attribute__((visibility("default")))

static void *held(void *block) {
  heap.held += block != NULL;
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
  heap.held -= block != NULL;
  __libc_free(block);
}

#endif
#endif
