/* The processor state that a suspended stack keeps, and switching from one stack to another. */
#ifndef EMULATOR_CONTEXT_H
#define EMULATOR_CONTEXT_H

#include <stddef.h>

#include "base/sanitizers.h"

#if ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#endif
#if THREAD_SANITIZED
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#define FIBERS_UCONTEXT 1
#include <ucontext.h>
#endif

struct context {
#ifdef FIBERS_UCONTEXT
  ucontext_t registers;
#else
  void *stack_pointer;
#endif
#if ADDRESS_SANITIZED
  void *fake_stack;
  const void *bottom;
  size_t bytes;
#endif
#if THREAD_SANITIZED
  void *fiber;
#endif
};

/* context_make: prepares a stack on which `program` runs at the first switch to it.
   context_adopt: prepares the context of the caller's own stack, before the first switch away
   from it. */
void context_make(struct context *context, char *bottom, size_t bytes, void (*program)(void));
void context_adopt(struct context *context);
/* Frees what context_make has made for a sanitizer. */
void context_drop(struct context *context);

/* Returns when another stack switches back to `from`. The code after a call must begin with
   context_arrive. */
void context_switch(struct context *from, struct context *to);
/* Must be called first on a stack after a switch from `left`; self is NULL on a new stack. */
void context_arrive(struct context *left, struct context *self);

#endif
