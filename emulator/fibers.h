/* Runs a grid of CUDA threads as fibers on one thread of the operating system: blocks (or clusters)
   run one after the other, and their threads are switched where they wait. */
#ifndef EMULATOR_FIBERS_H
#define EMULATOR_FIBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "base/cause.h"
#include "base/error.h"
#include "observer.h"

enum {
  FIBERS_LANES = 32, /* lanes of a warp */
  /* threads of a block: CUDA C++ Programming Guide, technical specifications per compute
     capability */
  FIBERS_THREADS = 1024,
  FIBERS_BLOCKS = 8, /* most blocks of a cluster: the portable cluster size */
  FIBERS_SLOTS = FIBERS_THREADS * FIBERS_BLOCKS
};

struct fibers; /* the stacks, which are kept between launches */

int fibers_open(struct fibers **out, cugen_error *err);
void fibers_close(struct fibers *fibers);

struct static_array { /* an array of static shared memory in the loaded object */
  uintptr_t start, end;
};

struct fiber_launch {
  void (*entry)(void **parameters);
  void **parameters;
  struct cpu_builtins *builtins; /* a variable of the loaded object */
  struct cpu_dim3 grid, block;
  struct cpu_dim3 cluster; /* blocks of a cluster; 0 counts as 1 */
  /* dynamic_room bytes for each block of a cluster; the next cluster reuses them. */
  void *dynamic_shared;
  /* For clusters: the static shared memory that each block has its own copy of. */
  const struct static_array *statics;
  size_t static_count, static_bytes; /* bytes: of all arrays together */
  /* NULL, or set to end the launch with a fault at a thread's next wait or at a block's end; a
     loop without either continues. */
  const atomic_bool *stop;
  /* NULL: the launch is not observed; otherwise the kernel reports its accesses */
  const struct observer *observer;
  /* where the kernel is loaded; may be NULL without an observer, unless `reversed` */
  const struct observed_image *image;
  size_t dynamic_bytes, dynamic_room; /* of dynamic_shared: requested, and present */
  bool cooperative;                   /* all blocks of the grid run together, as one cluster */
  /* on a GPU the launch may begin before the one in front has ended */
  bool overlap;
  bool reversed; /* blocks run from the last one to the first */
};

/* Runs a launch. A trap or a deadlock calls the handler of fibers_on_fault. Without a handler, the
   launch ends with CUGEN_ERROR_DEVICE and the fault's text; the kernel's writes stay. */
int fibers_run(struct fibers *fibers, const struct fiber_launch *launch, cugen_error *err);

/* The hooks that a loaded object is given. */
const struct cpu_hooks *fibers_hooks(void);

/* Writes "block (3,0,0) thread (17,0,0)" of the running thread for fault texts, at most size
   bytes with the final NUL; empty when no kernel runs. Async-signal-safe. */
void fibers_where(char *out, size_t size);
/* Sets the function that a trap or deadlock calls; it must end the process. Process-wide, like
   signal handlers; NULL: none. */
void fibers_on_fault(void (*fault)(cugen_cause cause, const char *text));
/* Makes a watched kernel, whose time is up, end at its next access by fibers_end_hang. Returns
   false if this was called before, or if no watched kernel runs. Async-signal-safe. */
bool fibers_time_is_up(void);
/* Writes the positions of the running and the waiting threads to the report at once, for a kernel
   that makes no access. site: a return address, like all sites below. Returns a fault text; "": no
   watched kernel runs. Async-signal-safe. */
const char *fibers_hang(const void *site);
/* Lets other threads run before the current thread continues, which has polled a flag many
   times. */
void fibers_let_others_run(void);
/* Report to the observer, if the kernel is watched: an access to memory that nobody owns; an
   address that the processor refused for its alignment; a trap. Async-signal-safe. */
void fibers_stray(const void *site, const void *address, bool write);
void fibers_misaligned(const void *site);
void fibers_ended(const void *site, const char *what);
/* Ends the launch, as a trap does, with "what in block ... thread ...". */
_Noreturn void fibers_give_up(cugen_cause cause, const char *what);
/* For an observer: ends the launch because its time is up, after writing the positions that
   fibers_hang writes. */
_Noreturn void fibers_end_hang(const void *site);
/* For a timer's handler: gives up a launch in reverse order with CUGEN_CAUSE_UNSUPPORTED and
   does not return. Returns if no such launch runs, or if `at`, the program counter, is outside
   of the kernel's image, because that code may hold a lock. */
void fibers_leave_reversed(const void *at);
/* Whether the address is in the guard page of a fiber's stack: a fault there is a stack
   overflow. */
int fibers_owns_guard(const void *address);

#endif
