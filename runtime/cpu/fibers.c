/* The scheduler of the cpu device; see fibers.h. A fiber is a stack that runs CUDA threads one after the other: a
   thread that never waits leaves its fiber to the next thread, so that a kernel without barriers needs one stack and
   no switch. A thread that waits keeps its fiber, and control goes straight to the next thread that can run.

   Who runs next is decided in one order, so that every run of a kernel is the same run: the lowest thread that can go
   on, else the lowest that has not begun, else a copy that is on its way arrives, else the next block. The blocks of a
   cluster run together; their static shared memory changes places when control goes from one to another. */
#include "fibers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "waits.h"

#if defined(__SANITIZE_ADDRESS__)
#define FIBERS_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FIBERS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBERS_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FIBERS_TSAN 1
#endif
#endif

#ifdef FIBERS_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef FIBERS_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#define FIBERS_UCONTEXT 1
#include <ucontext.h>
#endif

enum {
  WARP = 32,
  MAX_THREADS = WAIT_BLOCK_THREADS,
  MAX_BLOCKS = WAIT_CLUSTER,
  MAX_SLOTS = WAIT_SLOTS,
  MAX_WARPS = MAX_SLOTS / WARP,
  READY_BITS = 64,
  STACK_BYTES = 128 * 1024,
  FAULT_BYTES = 512,
  /* Stacks at equal distances share the sets of the L1 cache. Their tops are moved apart by an odd number of cache
     lines, which passes through all 64 lines of a 4 KB way before it repeats. */
  COLOUR_STEP = 9 * 64,
  COLOUR_BYTES = 4096
};

/* ---- Contexts: what a stack keeps of the processor while it does not run ---- */

struct context {
#ifdef FIBERS_UCONTEXT
  ucontext_t registers;
#else
  void *stack_pointer;
#endif
#ifdef FIBERS_ASAN
  void *fake_stack;
  const void *bottom;
  size_t bytes;
#endif
#ifdef FIBERS_TSAN
  void *fiber;
#endif
};

#ifndef FIBERS_UCONTEXT
/* Saves the registers that a call preserves on the current stack, its pointer in *from, and goes on from to. */
void cugen_switch_stack(void **from, void *to) __attribute__((visibility("hidden")));

#define FUNCTION(body)                                                                                               \
  __asm__(".pushsection .text\n.p2align 4\n.globl cugen_switch_stack\n.hidden cugen_switch_stack\n"                  \
          ".type cugen_switch_stack,%function\ncugen_switch_stack:\n" body                                           \
          ".size cugen_switch_stack, .-cugen_switch_stack\n.popsection\n")
#endif

#if defined(__x86_64__)
/* Fibers mostly switch at the same place, so that the return stack of the processor guesses right: every call is
   answered by a return, if on another stack. */
FUNCTION("  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
         "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
         "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
         "  ret\n");
/* A new stack: six registers, where to go, and a return address that ends backtraces. */
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

static void context_make(struct context *context, char *bottom, size_t bytes, void (*program)(void)) {
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
#ifdef FIBERS_ASAN
  __asan_unpoison_memory_region(bottom, bytes); /* of frames that were given up with an earlier mapping */
  context->bottom = bottom;
  context->bytes = bytes;
#endif
#ifdef FIBERS_TSAN
  if (!context->fiber) context->fiber = __tsan_create_fiber(0);
#endif
}

/* The caller's own stack, before control leaves it. */
static void context_adopt(struct context *context) {
  memset(context, 0, sizeof *context);
#ifdef FIBERS_TSAN
  context->fiber = __tsan_get_current_fiber();
#endif
}

static void context_drop(struct context *context) {
#ifdef FIBERS_TSAN
  if (context->fiber) __tsan_destroy_fiber(context->fiber);
#endif
  (void)context;
}

/* ---- State ---- */

struct fiber {
  struct context context;
  bool made;
};

/* What a thread that waits left behind. */
struct parked {
  struct fiber *fiber;
  const void *site; /* in the kernel */
  unsigned mask;    /* of its warp operation */
  void (*combine)(void **slots, unsigned mask);
  void *mine;
  int barrier;   /* its number in the source, or 0 */
  unsigned next; /* at the same gate: slot + 1 */
  describe_wait *describe;
  const void *object;
};

/* Bits are lanes. A live lane that is in neither set runs, waits at the barrier, or has not begun. */
struct warp {
  unsigned live;    /* has not ended */
  unsigned ready;   /* waited and can go on */
  unsigned waiting; /* waits at a warp operation */
};

/* One of the cluster's. */
struct block {
  struct cpu_dim3 at;
  unsigned live;
  unsigned arrived, agreed;           /* at the barrier that is filling up; of these, with a true predicate */
  unsigned released, released_agreed; /* the same of the barrier that was passed last */
};

struct fibers {
  char *stacks; /* MAX_SLOTS times a guard page and a stack */
  size_t guard, stride;
  unsigned usable; /* stacks that may be written */
  struct fiber fibers[MAX_SLOTS];
  struct fiber *idle[MAX_SLOTS]; /* without a thread; the last one is taken first */
  unsigned idle_count;
  struct cpu_dim3 positions[MAX_THREADS]; /* threadIdx by linear number, for positions_of */
  struct cpu_dim3 positions_of;

  /* One launch. */
  const struct fiber_launch *launch;
  struct context caller, *active;
#ifdef FIBERS_ASAN
  struct context *left;
#endif
  struct async *async;
  char *kept; /* static shared memory of the blocks of a cluster that do not run */
  size_t kept_bytes;

  /* One block, or a cluster of them. */
  struct crowd crowd;
  unsigned unstarted, slots, live; /* slots: of all blocks */
  struct block blocks[MAX_BLOCKS];
  struct cpu_dim3 cluster;                      /* blocks of a cluster */
  uint64_t ready_warps[MAX_WARPS / READY_BITS]; /* those with a ready lane */
  struct warp warps[MAX_WARPS];
  struct parked parked[MAX_SLOTS];
  char fault[FAULT_BYTES]; /* why the launch was given up; "" */
};

/* A kernel reaches its scheduler through hooks that carry no context, and so does a signal handler. */
static _Thread_local struct fibers *running;
static _Atomic(void (*)(const char *)) fault_handler;

/* ---- Fault texts: written by hand, since a signal handler may do nothing else ---- */

struct note {
  char *at, *end; /* the final NUL goes to *at, which never passes *end */
};

static void note_text(struct note *note, const char *string) {
  while (*string && note->at < note->end) *note->at++ = *string++;
  *note->at = '\0';
}

static void note_number(struct note *note, unsigned number, unsigned base, int digits) {
  char backwards[16], character[2] = "";
  int count = 0;
  for (; number || count < digits; number /= base) backwards[count++] = "0123456789abcdef"[number % base];
  while (count > 0) {
    character[0] = backwards[--count];
    note_text(note, character);
  }
}

static void note_position(struct note *note, const char *what, struct cpu_dim3 at) {
  const unsigned numbers[3] = {at.x, at.y, at.z};
  note_text(note, what);
  for (int i = 0; i < 3; ++i) {
    note_text(note, i ? "," : " (");
    note_number(note, numbers[i], 10, 1);
  }
  note_text(note, ")");
}

static void note_lanes(struct note *note, unsigned lanes) {
  note_text(note, "0x");
  note_number(note, lanes, 16, 8);
}

static void switch_to(struct fibers *all, struct context *to);

/* Without a handler the launch is given up: its caller goes on and nobody comes back to these stacks. */
static _Noreturn void fault(const char *text) {
  void (*handler)(const char *) = atomic_load(&fault_handler);
  if (handler) handler(text);
  if (running) {
    struct note note = {running->fault, running->fault + FAULT_BYTES - 1};
    note_text(&note, text);
    switch_to(running, &running->caller);
  }
  abort();
}

void fibers_where(char *out, size_t size) {
  if (!size) return;
  struct note note = {out, out + size - 1};
  *out = '\0';
  if (!running) return;
  note_position(&note, "block", running->launch->builtins->block);
  note_position(&note, " thread", running->launch->builtins->thread);
}

static void watch_waiting(const struct fibers *all, const void *site) {
  for (unsigned thread = 0; thread < all->unstarted; ++thread) {
    const struct warp *warp = &all->warps[thread / WARP];
    if (thread == all->crowd.slot || !((warp->live & ~warp->ready) >> thread % WARP & 1)) continue;
    watch_event(all->launch->watch, WATCH_HANG, site, all->crowd.slot, all->parked[thread].site, thread, "");
  }
}

const char *fibers_hang(const void *program_counter) {
  const struct fibers *all = running;
  if (!all || !all->launch->watch) return "";
  const void *site = watch_standing(all->launch->watch, program_counter);
  watch_event(all->launch->watch, WATCH_HANG, site, all->crowd.slot, NULL, 0, "");
  watch_waiting(all, site);
  return "the time is up";
}

void fibers_stray(const void *program_counter, const void *address, bool write) {
  const struct fibers *all = running;
  if (all && all->launch->watch) watch_stray(all->launch->watch, program_counter, address, write);
}

void fibers_misplaced(const void *program_counter) {
  const struct fibers *all = running;
  if (all && all->launch->watch) watch_misplaced(all->launch->watch, program_counter);
}

void fibers_ended(const void *program_counter, const char *what) {
  const struct fibers *all = running;
  if (!all || !all->launch->watch) return;
  watch_event(all->launch->watch, WATCH_TRAP, watch_standing(all->launch->watch, program_counter), all->crowd.slot,
              NULL, 0, what);
}

void fibers_on_fault(void (*handler)(const char *text)) {
  atomic_store(&fault_handler, handler);
}

_Noreturn void fibers_give_up(const char *what) {
  char text[FAULT_BYTES], where[128];
  struct note note = {text, text + sizeof text - 1};
  fibers_where(where, sizeof where);
  note_text(&note, "trap: ");
  note_text(&note, what);
  note_text(&note, " in ");
  note_text(&note, where);
  fault(text);
}

static _Noreturn void hook_trap(const char *what) {
  fibers_ended(__builtin_return_address(0), what);
  fibers_give_up(what);
}

static bool is_live(const struct fibers *all, unsigned slot) {
  return all->warps[slot / WARP].live >> slot % WARP & 1;
}

static bool waits_in_warp(const struct fibers *all, unsigned slot) {
  return all->warps[slot / WARP].waiting >> slot % WARP & 1;
}

static bool waits_at_gate(const struct fibers *all, unsigned slot) {
  return is_live(all, slot) && all->parked[slot].describe;
}

/* The first thread of which `waits` is true; slots: there is none. */
static unsigned first_waiting(const struct fibers *all, bool (*waits)(const struct fibers *, unsigned)) {
  unsigned slot = 0;
  while (slot < all->slots && !waits(all, slot)) ++slot;
  return slot;
}

static void note_warp_operation(const struct fibers *all, unsigned slot, struct note *note) {
  const struct warp *warp = &all->warps[slot / WARP];
  const unsigned mask = all->parked[slot].mask;
  const unsigned missing = mask & warp->live & ~warp->waiting;
  note_text(note, " waits at a warp operation with mask ");
  note_lanes(note, mask);
  if (missing) {
    note_text(note, ", and lanes ");
    note_lanes(note, missing);
    note_text(note, " of its warp never come");
  } else {
    note_text(note, ", and the other lanes of its warp wait at another operation or with another mask");
  }
}

/* Where a thread waits. */
static void note_waiting(const struct fibers *all, unsigned slot, struct note *note) {
  const struct block *block = &all->blocks[slot / all->crowd.padded];
  char text[WATCH_TEXT] = "";
  note_position(note, "deadlock: in block", block->at);
  note_position(note, " thread", all->positions[slot % all->crowd.padded]);
  if (waits_in_warp(all, slot)) {
    note_warp_operation(all, slot, note);
  } else if (waits_at_gate(all, slot)) {
    all->parked[slot].describe(all->parked[slot].object, text, sizeof text);
    note_text(note, " waits ");
    note_text(note, text);
  }
  note_text(note, "; ");
  note_number(note, block->arrived, 10, 1);
  note_text(note, " of the block's ");
  note_number(note, block->live, 10, 1);
  note_text(note, " live threads wait at a barrier");
}

static void watch_deadlock(const struct fibers *all, unsigned slot) {
  char text[FAULT_BYTES];
  struct note note = {text, text + sizeof text - 1};
  note_waiting(all, slot, &note);
  watch_event(all->launch->watch, WATCH_DEADLOCK, all->parked[slot].site, slot, NULL, 0, text);
}

/* Some thread waits for other than its block's barrier: a block whose live threads have all come to that passes it. */
static _Noreturn void deadlock(const struct fibers *all) {
  const unsigned in_warp = first_waiting(all, waits_in_warp), at_gate = first_waiting(all, waits_at_gate);
  char text[FAULT_BYTES];
  struct note note = {text, text + sizeof text - 1};
  note_waiting(all, in_warp < all->slots ? in_warp : at_gate, &note);
  if (all->launch->watch) {
    if (in_warp < all->slots) watch_deadlock(all, in_warp);
    for (unsigned slot = at_gate; slot < all->slots; ++slot)
      if (is_live(all, slot)) watch_deadlock(all, slot);
  }
  fault(text);
}

/* ---- Switching ---- */

/* First thing on a stack that control has come to; self is NULL when it is new. */
static void arrive(struct fibers *all, struct context *self) {
#ifdef FIBERS_ASAN
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(self ? self->fake_stack : NULL, &bottom, &bytes);
  all->left->bottom = bottom;
  all->left->bytes = bytes;
#endif
  (void)all, (void)self;
}

static void switch_to(struct fibers *all, struct context *to) {
  struct context *from = all->active;
  all->active = to;
#ifdef FIBERS_ASAN
  all->left = from;
  __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->bytes);
#endif
#ifdef FIBERS_TSAN
  __tsan_switch_to_fiber(to->fiber, 0);
#endif
#ifdef FIBERS_UCONTEXT
  swapcontext(&from->registers, &to->registers);
#else
  cugen_switch_stack(&from->stack_pointer, to->stack_pointer);
#endif
  arrive(all, from);
}

/* Puts the static shared memory of one block of the cluster in the place of another's. */
static void exchange_statics(struct fibers *all, unsigned from, unsigned to) {
  const struct fiber_launch *launch = all->launch;
  char *old = all->kept + from * launch->static_bytes, *new = all->kept + to * launch->static_bytes;
  for (size_t i = 0; i < launch->static_count; ++i) {
    const size_t bytes = launch->statics[i].end - launch->statics[i].start;
    void *at = (void *)launch->statics[i].start;
    memcpy(old, at, bytes);
    memcpy(at, new, bytes);
    old += bytes;
    new += bytes;
  }
}

static void enter_block(struct fibers *all, unsigned rank) {
  struct cpu_builtins *builtins = all->launch->builtins;
  exchange_statics(all, all->crowd.rank, rank);
  all->crowd.rank = rank;
  builtins->block = all->blocks[rank].at;
  builtins->cluster_rank = rank;
  builtins->dynamic_shared = (char *)all->launch->dynamic_shared + rank * all->launch->dynamic_room;
}

static void set_current(struct fibers *all, unsigned slot) {
  struct cpu_builtins *builtins = all->launch->builtins;
  unsigned thread = slot;
  if (all->crowd.blocks > 1) {
    const unsigned rank = slot / all->crowd.padded;
    if (rank != all->crowd.rank) enter_block(all, rank);
    thread -= rank * all->crowd.padded;
  }
  builtins->thread = all->positions[thread];
  builtins->linear = thread;
  all->crowd.slot = slot;
}

static void mark_ready(struct fibers *all, unsigned warp, unsigned lanes) {
  all->warps[warp].ready |= lanes;
  if (lanes) all->ready_warps[warp / READY_BITS] |= UINT64_C(1) << warp % READY_BITS;
}

static void unmark_ready(struct fibers *all, unsigned slot) {
  const unsigned warp = slot / WARP;
  all->warps[warp].ready &= ~(1u << slot % WARP);
  if (!all->warps[warp].ready) all->ready_warps[warp / READY_BITS] &= ~(UINT64_C(1) << warp % READY_BITS);
}

static bool any_ready(const struct fibers *all) {
  if (all->crowd.blocks == 1) return all->ready_warps[0];
  uint64_t any = 0;
  for (unsigned i = 0; i < MAX_WARPS / READY_BITS; ++i) any |= all->ready_warps[i];
  return any;
}

/* Precondition: a thread is ready. */
static struct fiber *resume_ready(struct fibers *all) {
  unsigned word = 0;
  while (!all->ready_warps[word]) ++word;
  const unsigned warp = word * READY_BITS + (unsigned)__builtin_ctzll(all->ready_warps[word]);
  const unsigned thread = warp * WARP + (unsigned)__builtin_ctz(all->warps[warp].ready);
  unmark_ready(all, thread);
  set_current(all, thread);
  return all->parked[thread].fiber;
}

static void start_next(struct fibers *all, struct fiber *on) {
  const unsigned slot = all->unstarted++;
  if (all->unstarted % all->crowd.padded == all->crowd.threads)
    all->unstarted += all->crowd.padded - all->crowd.threads;
  all->parked[slot].fiber = on;
  set_current(all, slot);
}

static void fiber_main(void);

/* A stack for each thread that waits: there are as many as threads in the largest block so far. */
static struct fiber *take_idle(struct fibers *all) {
  struct fiber *fiber = all->idle[--all->idle_count];
  if (fiber->made) return fiber;
  const size_t index = (size_t)(fiber - all->fibers);
  const size_t colour = index * COLOUR_STEP % COLOUR_BYTES;
  context_make(&fiber->context, all->stacks + index * all->stride + all->guard, STACK_BYTES - colour, fiber_main);
  fiber->made = true;
  return fiber;
}

static void stop_if_asked(const struct fibers *all) {
  const atomic_bool *stop = all->launch->stop;
  if (stop && atomic_load_explicit(stop, memory_order_relaxed)) fault("stopped");
}

/* Nobody can go on: as late as that copies arrive which go on by themselves, one after the other. */
static void await_copies(struct fibers *all) {
  while (!any_ready(all) && async_step(all->async)) continue;
}

/* The current thread waits; comes back when it was made ready. */
static void park(struct fibers *all) {
  struct fiber *next;
  stop_if_asked(all);
  if (!any_ready(all) && all->unstarted >= all->slots) await_copies(all);
  if (any_ready(all)) {
    next = resume_ready(all);
  } else if (all->unstarted < all->slots) {
    next = take_idle(all);
    start_next(all, next);
  } else {
    deadlock(all);
  }
  if (&next->context != all->active) switch_to(all, &next->context);
}

/* ---- Barriers and warp operations ---- */

static void note_count(struct note *note, unsigned count, const char *what, unsigned of) {
  note_number(note, count, 10, 1);
  note_text(note, what);
  note_number(note, of, 10, 1);
}

/* Tells the watch of threads at another place than the first, and of those that will never come. */
static void watch_arrivals(const struct fibers *all, unsigned rank) {
  struct watch *watch = all->launch->watch;
  const struct block *block = &all->blocks[rank];
  const unsigned begin = rank * all->crowd.padded, end = begin + all->crowd.threads;
  unsigned first = MAX_SLOTS;
  for (unsigned thread = begin; thread < end; ++thread) {
    if (!is_live(all, thread)) continue;
    if (first == MAX_SLOTS) first = thread;
    const struct parked *other = &all->parked[thread], *here = &all->parked[first];
    const char *apart = other->barrier == here->barrier ? "" : "another barrier";
    if (other->site != here->site) watch_event(watch, WATCH_DIVERGED, here->site, first, other->site, thread, apart);
  }
  if (block->live < all->crowd.threads && first < MAX_SLOTS) {
    char text[WATCH_TEXT];
    struct note note = {text, text + sizeof text - 1};
    note_count(&note, all->crowd.threads - block->live, " of the block's ", all->crowd.threads);
    note_text(&note, " threads have ended and never come to this barrier");
    watch_event(watch, WATCH_EXITED, all->parked[first].site, first, NULL, 0, text);
  }
  watch_barrier(watch, rank);
}

static void release_barrier(struct fibers *all, unsigned rank) {
  struct block *block = &all->blocks[rank];
  if (all->launch->watch) watch_arrivals(all, rank);
  block->released = block->arrived;
  block->released_agreed = block->agreed;
  block->arrived = block->agreed = 0;
  const unsigned first = rank * all->crowd.padded / WARP, warps = all->crowd.padded / WARP;
  for (unsigned warp = first; warp < first + warps; ++warp) mark_ready(all, warp, all->warps[warp].live);
}

/* Safe to ask after a wait: the next barrier is passed only when every live thread has come to it. */
static int barrier_result(const struct block *block, int kind) {
  switch (kind) {
  case CPU_BARRIER_COUNT: return (int)block->released_agreed;
  case CPU_BARRIER_AND: return block->released_agreed == block->released;
  case CPU_BARRIER_OR: return block->released_agreed != 0;
  default: return 0;
  }
}

static int hook_barrier(int kind, int predicate) {
  struct fibers *all = running;
  struct block *block = &all->blocks[all->crowd.rank];
  struct parked *self = &all->parked[all->crowd.slot];
  self->site = __builtin_return_address(0);
  self->barrier = kind / CPU_BARRIER_KINDS;
  block->agreed += predicate != 0;
  if (++block->arrived == block->live) {
    release_barrier(all, all->crowd.rank);
    unmark_ready(all, all->crowd.slot);
  } else {
    park(all);
  }
  return barrier_result(block, kind % CPU_BARRIER_KINDS);
}

/* Whether every lane of the set waits at this very operation; collects their arguments. */
static bool gather(const struct parked *lanes, unsigned set, const struct parked *operation, void **slots) {
  for (; set; set &= set - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(set);
    if (lanes[lane].mask != operation->mask || lanes[lane].combine != operation->combine) return false;
    slots[lane] = lanes[lane].mine;
  }
  return true;
}

/* The mask of the operation at which a thread waits names lanes that are not there. */
static void watch_mask(const struct fibers *all, unsigned thread) {
  const struct parked *operation = &all->parked[thread];
  const unsigned absent = operation->mask & ~all->warps[thread / WARP].live;
  char text[WATCH_TEXT];
  struct note note = {text, text + sizeof text - 1};
  note_text(&note, "mask ");
  note_lanes(&note, operation->mask);
  note_text(&note, " names lanes ");
  note_lanes(&note, absent);
  note_text(&note, ", which have ended or are not in the block");
  watch_event(all->launch->watch, WATCH_MASK, operation->site, thread, NULL, 0, text);
}

static _Noreturn void refuse_mask(const struct fibers *all, unsigned thread) {
  static const char what[] = "a warp operation whose mask does not name the calling lane";
  if (all->launch->watch)
    watch_event(all->launch->watch, WATCH_MASK, all->parked[thread].site, thread, NULL, 0, what);
  fibers_give_up(what);
}

/* Performs the operation at which a thread waits, when all that it names have come. Lanes that have ended without coming are no
   harm to a __syncwarp(). */
static bool try_warp(struct fibers *all, unsigned thread) {
  const struct parked *operation = &all->parked[thread];
  struct warp *warp = &all->warps[thread / WARP];
  const unsigned wanted = operation->mask & warp->live;
  if (wanted & ~warp->waiting) return false;
  void *slots[WARP] = {NULL};
  if (!gather(&all->parked[thread / WARP * WARP], wanted, operation, slots)) return false;
  operation->combine(slots, wanted);
  if (all->launch->watch && operation->mine && wanted != operation->mask) watch_mask(all, thread);
  if (all->launch->watch)
    watch_warp(all->launch->watch, thread / WARP, wanted, wanted == warp->live, !operation->mine);
  warp->waiting &= ~wanted;
  mark_ready(all, thread / WARP, wanted);
  return true;
}

static void hook_warp(unsigned mask, void (*combine)(void **slots, unsigned mask), void *mine) {
  struct fibers *all = running;
  const unsigned thread = all->crowd.slot, lane = 1u << thread % WARP;
  struct parked *self = &all->parked[thread];
  self->site = __builtin_return_address(0);
  self->mask = mask;
  if (!(mask & lane)) refuse_mask(all, thread);
  if (all->launch->watch && mine && mask & ~all->warps[thread / WARP].live) watch_mask(all, thread);
  self->combine = combine;
  self->mine = mine;
  all->warps[thread / WARP].waiting |= lane;
  if (try_warp(all, thread)) {
    unmark_ready(all, thread);
  } else {
    park(all);
  }
}

static unsigned hook_active_mask(void) {
  return running->warps[running->crowd.slot / WARP].live;
}

const struct cpu_hooks *fibers_hooks(void) {
  static const struct cpu_hooks hooks = {hook_barrier, hook_warp, hook_active_mask, hook_trap, &async_hooks};
  return &hooks;
}

/* ---- For operations in files of their own ---- */

const struct crowd *fibers_crowd(void) {
  return &running->crowd;
}

const struct fiber_launch *fibers_launch(void) {
  return running->launch;
}

struct async *fibers_async(void) {
  return running->async;
}

unsigned fibers_live(unsigned rank) {
  return running->blocks[rank].live;
}

unsigned fibers_live_all(void) {
  return running->live;
}

void *fibers_static(unsigned rank, uintptr_t at) {
  const struct fiber_launch *launch = running->launch;
  char *kept = running->kept + rank * launch->static_bytes;
  for (size_t i = 0; i < launch->static_count && rank != running->crowd.rank; ++i) {
    const struct static_array *array = &launch->statics[i];
    if (at >= array->start && at < array->end) return kept + (at - array->start);
    kept += array->end - array->start;
  }
  return (void *)at;
}

_Noreturn void fibers_trap(const char *what) {
  hook_trap(what);
}

void fibers_pause(struct gate *gate, const void *site, describe_wait *describe, const void *object) {
  struct fibers *all = running;
  struct parked *self = &all->parked[all->crowd.slot];
  self->site = site;
  self->describe = describe;
  self->object = object;
  self->next = gate->first;
  gate->first = all->crowd.slot + 1;
  park(all);
}

void fibers_open_gate(struct gate *gate) {
  struct fibers *all = running;
  while (gate->first) {
    const unsigned slot = gate->first - 1;
    gate->first = all->parked[slot].next;
    all->parked[slot].describe = NULL;
    mark_ready(all, slot / WARP, 1u << slot % WARP);
  }
}

/* ---- Threads, blocks, the grid ---- */

/* An ended thread counts as arrived wherever others wait for it. */
static void thread_ended(struct fibers *all) {
  struct warp *warp = &all->warps[all->crowd.slot / WARP];
  struct block *block = &all->blocks[all->crowd.rank];
  warp->live &= ~(1u << all->crowd.slot % WARP);
  all->live--;
  block->live--;
  if (block->live && block->arrived == block->live) release_barrier(all, all->crowd.rank);
  async_ended(all->async);
  for (unsigned left = warp->waiting; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left);
    if (warp->waiting >> lane & 1) try_warp(all, all->crowd.slot / WARP * WARP + lane);
  }
}

static void start_threads(struct fibers *all, unsigned rank) {
  const unsigned whole = all->crowd.threads / WARP, rest = all->crowd.threads % WARP;
  struct warp *warps = &all->warps[rank * all->crowd.padded / WARP];
  for (unsigned warp = 0; warp < whole; ++warp) warps[warp].live = ~0u;
  if (rest) warps[whole].live = (1u << rest) - 1;
}

/* A block, or the cluster that begins with it. */
static void start_block(struct fibers *all) {
  const struct fiber_launch *launch = all->launch;
  const struct cpu_dim3 origin = launch->builtins->block;
  if (all->crowd.blocks > 1) enter_block(all, 0);
  all->live = all->crowd.blocks * all->crowd.threads;
  all->unstarted = 0;
  for (unsigned rank = 0; rank < all->crowd.blocks; ++rank) {
    const unsigned wide = all->cluster.x, high = all->cluster.y;
    all->blocks[rank] =
        (struct block){.live = all->crowd.threads,
                       .at = {origin.x + rank % wide, origin.y + rank / wide % high, origin.z + rank / wide / high}};
    start_threads(all, rank);
  }
  launch->builtins->block = origin;
  if (launch->watch) watch_block_begins(launch->watch);
  async_begin(all->async);
}

static bool step_block(struct fibers *all) {
  struct cpu_dim3 *block = &all->launch->builtins->block;
  const struct cpu_dim3 *grid = &all->launch->grid, *cluster = &all->cluster;
  if (all->crowd.blocks > 1) *block = all->blocks[0].at;
  if ((block->x += cluster->x) < grid->x) return true;
  block->x = 0;
  if ((block->y += cluster->y) < grid->y) return true;
  block->y = 0;
  return (block->z += cluster->z) < grid->z;
}

static bool next_block(struct fibers *all) {
  if (!all->launch->watch) return step_block(all);
  const struct cpu_dim3 *grid = &all->launch->grid, *cluster = &all->cluster;
  const unsigned wide = grid->x / cluster->x, high = grid->y / cluster->y;
  const uint64_t next = watch_next(all->launch->watch), row = next / wide;
  if (next == WATCH_HUNG) fault("the time is up");
  all->launch->builtins->block = (struct cpu_dim3){
      (unsigned)(next % wide) * cluster->x, (unsigned)(row % high) * cluster->y, (unsigned)(row / high) * cluster->z};
  return row / high < grid->z / cluster->z;
}

/* After a thread ended on this fiber: comes back when the fiber has another thread to run. */
static void find_work(struct fibers *all, struct fiber *self) {
  struct context *next = &all->caller;
  if (!any_ready(all) && all->unstarted >= all->slots && all->live) await_copies(all);
  if (!all->live) async_end(all->async);
  if (any_ready(all)) {
    next = &resume_ready(all)->context;
  } else if (all->unstarted < all->slots) {
    start_next(all, self);
    return;
  } else if (all->live) {
    deadlock(all);
  } else if (next_block(all)) {
    stop_if_asked(all);
    start_block(all);
    start_next(all, self);
    return;
  }
  all->idle[all->idle_count++] = self;
  switch_to(all, next);
}

static void fiber_main(void) {
  struct fibers *all = running;
  struct fiber *self = all->parked[all->crowd.slot].fiber;
  arrive(all, NULL);
  for (;;) {
    all->launch->entry(all->launch->parameters);
    thread_ended(all);
    find_work(all, self);
  }
}

/* ---- Opening, launching ---- */

int fibers_open(struct fibers **out, cugen_error *err) {
  *out = NULL;
  struct fibers *all = calloc(1, sizeof *all);
  if (!all) return error_memory(err);
  all->guard = (size_t)sysconf(_SC_PAGESIZE);
  all->stride = all->guard + STACK_BYTES;
  all->stacks = mmap(NULL, MAX_SLOTS * all->stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all->stacks == MAP_FAILED) all->stacks = NULL;
  int status = all->stacks ? async_open(&all->async, err) : error_memory(err);
  if (status)
    fibers_close(all);
  else
    *out = all;
  return status;
}

void fibers_close(struct fibers *fibers) {
  if (!fibers) return;
  for (unsigned i = 0; i < fibers->usable; ++i) context_drop(&fibers->fibers[i].context);
  if (fibers->stacks) munmap(fibers->stacks, MAX_SLOTS * fibers->stride);
  async_close(fibers->async);
  free(fibers->kept);
  free(fibers);
}

int fibers_owns_guard(const void *address) {
  if (!running) return 0;
  const uintptr_t offset = (uintptr_t)address - (uintptr_t)running->stacks;
  return offset < MAX_SLOTS * running->stride && offset % running->stride < running->guard;
}

static int prepare_stacks(struct fibers *all, cugen_error *err) {
  while (all->usable < all->crowd.blocks * all->crowd.threads) {
    char *stack = all->stacks + all->usable * all->stride + all->guard;
    if (mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE)) return error_memory(err);
    all->idle[all->idle_count++] = &all->fibers[all->usable++];
  }
  return CUGEN_OK;
}

static void prepare_positions(struct fibers *all, struct cpu_dim3 block) {
  if (!memcmp(&all->positions_of, &block, sizeof block)) return;
  struct cpu_dim3 at = {0, 0, 0};
  for (unsigned i = 0; i < all->crowd.threads; ++i) {
    all->positions[i] = at;
    if (++at.x < block.x) continue;
    at.x = 0;
    if (++at.y < block.y) continue;
    at.y = 0;
    ++at.z;
  }
  all->positions_of = block;
}

static int check_shape(const struct fiber_launch *launch, cugen_error *err) {
  const struct cpu_dim3 *grid = &launch->grid, *block = &launch->block;
  const bool empty = !grid->x || !grid->y || !grid->z || !block->x || !block->y || !block->z;
  const bool wide = block->x > MAX_THREADS || block->y > MAX_THREADS || block->z > MAX_THREADS;
  if (!empty && !wide && (uint64_t)block->x * block->y * block->z <= MAX_THREADS) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "cannot launch a grid of %ux%ux%u blocks of %ux%ux%u threads: every number must be at least 1, "
                   "and a block may have %d threads",
                   grid->x, grid->y, grid->z, block->x, block->y, block->z, MAX_THREADS);
}

static int check_cluster(const struct fiber_launch *launch, const struct cpu_dim3 *cluster, cugen_error *err) {
  const struct cpu_dim3 *grid = &launch->grid;
  const bool whole = grid->x % cluster->x == 0 && grid->y % cluster->y == 0 && grid->z % cluster->z == 0;
  if (whole && (uint64_t)cluster->x * cluster->y * cluster->z <= MAX_BLOCKS) return CUGEN_OK;
  return error_set(
      err, CUGEN_ERROR_DEVICE,
      "cannot launch a grid of %ux%ux%u blocks in clusters of %ux%ux%u: the grid must be whole clusters, "
      "and a cluster may have %d blocks",
      grid->x, grid->y, grid->z, cluster->x, cluster->y, cluster->z, MAX_BLOCKS);
}

/* After a launch that was given up: every stack is as good as new. */
static int clear_up(struct fibers *all, cugen_error *err) {
  all->idle_count = 0;
  for (unsigned i = 0; i < all->usable; ++i) {
    context_drop(&all->fibers[i].context);
    all->fibers[i] = (struct fiber){.made = false};
    all->idle[all->idle_count++] = &all->fibers[i];
  }
  memset(all->warps, 0, sizeof all->warps);
  memset(all->ready_warps, 0, sizeof all->ready_warps);
  for (size_t i = 0; i < MAX_SLOTS; ++i) all->parked[i].describe = NULL;
  return error_set(err, CUGEN_ERROR_DEVICE, "%s", all->fault);
}

static int begin_watch(const struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const struct watch_launch watched = {.image = launch->image,
                                       .builtins = launch->builtins,
                                       .grid = launch->grid,
                                       .block = launch->block,
                                       .stacks = (uintptr_t)all->stacks,
                                       .stack_bytes = MAX_SLOTS * all->stride,
                                       .dynamic = (uintptr_t)launch->dynamic_shared,
                                       .dynamic_bytes = launch->dynamic_bytes,
                                       .dynamic_room = launch->dynamic_room,
                                       .blocks = all->crowd.blocks,
                                       .padded = all->crowd.padded,
                                       .cluster = all->cluster};
  return launch->watch ? watch_begin(launch->watch, &watched, err) : CUGEN_OK;
}

static void run_grid(struct fibers *all, const struct fiber_launch *launch) {
  *launch->builtins = (struct cpu_builtins){
      .block_size = launch->block, .grid_size = launch->grid, .dynamic_shared = launch->dynamic_shared};
  all->launch = launch;
  all->crowd.rank = 0;
  context_adopt(&all->caller);
  all->active = &all->caller;
  running = all;
  all->fault[0] = '\0';
  start_block(all);
  struct fiber *first = take_idle(all);
  start_next(all, first);
  switch_to(all, &first->context);
  running = NULL;
}

/* Static shared memory of all blocks of a cluster begins as it is now. */
static int prepare_cluster(struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const size_t bytes = all->crowd.blocks * launch->static_bytes;
  if (all->crowd.blocks == 1 || bytes <= all->kept_bytes) return CUGEN_OK;
  free(all->kept);
  all->kept = calloc(bytes, 1);
  all->kept_bytes = all->kept ? bytes : 0;
  return all->kept ? CUGEN_OK : error_memory(err);
}

static int prepare_shape(struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const struct cpu_dim3 *asked = &launch->cluster;
  const struct cpu_dim3 cluster = {asked->x ? asked->x : 1, asked->y ? asked->y : 1, asked->z ? asked->z : 1};
  int status = check_shape(launch, err);
  if (!status) status = check_cluster(launch, &cluster, err);
  if (status) return status;
  struct crowd *crowd = &all->crowd;
  all->cluster = cluster;
  crowd->blocks = cluster.x * cluster.y * cluster.z;
  crowd->threads = launch->block.x * launch->block.y * launch->block.z;
  crowd->padded = (crowd->threads + WARP - 1) / WARP * WARP;
  all->slots = (crowd->blocks - 1) * crowd->padded + crowd->threads;
  return prepare_cluster(all, launch, err);
}

int fibers_run(struct fibers *fibers, const struct fiber_launch *launch, cugen_error *err) {
  int status = prepare_shape(fibers, launch, err);
  if (status) return status;
  status = prepare_stacks(fibers, err);
  if (status) return status;
  prepare_positions(fibers, launch->block);
  status = begin_watch(fibers, launch, err);
  if (status) return status;
  run_grid(fibers, launch);
  if (launch->watch) watch_end(launch->watch);
  return fibers->fault[0] ? clear_up(fibers, err) : CUGEN_OK;
}
