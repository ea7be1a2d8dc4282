/* Contexts; see context.h. */
#include "context.h"

#include <stdint.h>
#include <string.h>

#ifndef FIBERS_UCONTEXT
/* Saves the registers that a call preserves on the current stack and the stack pointer in *from,
   and continues on `to`. */
void cugen_switch_stack(void **from, void *to) __attribute__((visibility("hidden")));

#define FUNCTION(body)                                                                             \
  __asm__(                                                                                         \
      ".pushsection .text\n.p2align 4\n.globl cugen_switch_stack\n.hidden cugen_switch_stack\n"    \
      ".type cugen_switch_stack,%function\ncugen_switch_stack:\n" body                             \
      ".size cugen_switch_stack, .-cugen_switch_stack\n.popsection\n")
#endif

#if defined(__x86_64__)
/* Fibers mostly switch at the same place, so that the processor's return stack predicts
   correctly. */
FUNCTION("  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
         "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
         "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
         "  ret\n");
/* The frame of a new stack: six registers, the address to run, and a return address that ends
   backtraces. */
enum { FRAME_WORDS = 8, FRAME_PROGRAM = 6 };
#elif defined(__aarch64__)
FUNCTION("  sub sp, sp, #160\n"
         "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
         "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
         "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
         "  stp d14, d15, [sp, #144]\n"
         "  mov x2, sp\n  str x2, [x0]\n  mov sp, x1\n"
         "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
         "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
         "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
         "  ldp d14, d15, [sp, #144]\n"
         "  add sp, sp, #160\n  ret\n");
enum { FRAME_WORDS = 20, FRAME_PROGRAM = 11 };
#endif

void context_make(struct context *context, char *bottom, size_t bytes, void (*program)(void)) {
#ifdef FIBERS_UCONTEXT
  getcontext(&context->registers);
  context->registers.uc_stack.ss_sp = bottom;
  context->registers.uc_stack.ss_size = bytes;
  context->registers.uc_link = NULL;
  makecontext(&context->registers, program, 0);
#else
  uintptr_t *frame = (uintptr_t *)(void *)(bottom + bytes) - FRAME_WORDS;
  memset(frame, 0, FRAME_WORDS * sizeof *frame);
  frame[FRAME_PROGRAM] = (uintptr_t)program;
  context->stack_pointer = frame;
#endif
#if ADDRESS_SANITIZED
  /* frames that were abandoned in an earlier mapping may have poisoned the stack */
  __asan_unpoison_memory_region(bottom, bytes);
  context->bottom = bottom;
  context->bytes = bytes;
#endif
#if THREAD_SANITIZED
  if (!context->fiber) context->fiber = __tsan_create_fiber(0);
#endif
}

void context_adopt(struct context *context) {
  memset(context, 0, sizeof *context);
#if THREAD_SANITIZED
  context->fiber = __tsan_get_current_fiber();
#endif
}

void context_drop(struct context *context) {
#if THREAD_SANITIZED
  if (context->fiber) __tsan_destroy_fiber(context->fiber);
#endif
  (void)context;
}

void context_arrive(struct context *left, struct context *self) {
#if ADDRESS_SANITIZED
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(self ? self->fake_stack : NULL, &bottom, &bytes);
  left->bottom = bottom;
  left->bytes = bytes;
#endif
  (void)left, (void)self;
}

void context_switch(struct context *from, struct context *to) {
#if ADDRESS_SANITIZED
  __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->bytes);
#endif
#if THREAD_SANITIZED
  __tsan_switch_to_fiber(to->fiber, 0);
#endif
#ifdef FIBERS_UCONTEXT
  swapcontext(&from->registers, &to->registers);
#else
  cugen_switch_stack(&from->stack_pointer, to->stack_pointer);
#endif
}
