/* What a stack keeps of the processor while it does not run, and going from one stack to another. */
#ifndef RUNTIME_CPU_CONTEXT_H
#define RUNTIME_CPU_CONTEXT_H

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

/* A stack on which program runs when control first reaches it; the caller's own, before control leaves it. */
void context_make(struct context *context, char *bottom, size_t bytes, void (*program)(void));
void context_adopt(struct context *context);
void context_drop(struct context *context);

/* Control comes back when somebody goes on from `from`. Before anything else there stands
   context_arrive. */
void context_switch(struct context *from, struct context *to);
/* First thing on a stack that control has reached from `left`; self is NULL when it is new. */
void context_arrive(struct context *left, struct context *self);

#endif
