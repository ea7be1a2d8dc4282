/* Runs a grid of CUDA threads as fibers on one thread of the operating system: blocks (or clusters of blocks) in turn,
   their threads switched by hand where they wait for each other. */
#ifndef RUNTIME_CPU_FIBERS_H
#define RUNTIME_CPU_FIBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "base/cause.h"
#include "base/error.h"
#include "observer.h"

enum {
  FIBERS_LANES = 32,     /* of a warp */
  FIBERS_THREADS = 1024, /* of a block: CUDA C++ Programming Guide, technical specifications per compute capability */
  FIBERS_BLOCKS = 8,     /* of a cluster: its portable size */
  FIBERS_SLOTS = FIBERS_THREADS * FIBERS_BLOCKS
};

struct fibers; /* stacks, kept between launches */

int fibers_open(struct fibers **out, cugen_error *err);
void fibers_close(struct fibers *fibers);

struct static_array { /* of shared memory, in the loaded object */
  uintptr_t start, end;
};

struct fiber_launch {
  void (*entry)(void **parameters);
  void **parameters;
  struct cpu_builtins *builtins; /* the shared object's */
  struct cpu_dim3 grid, block;
  struct cpu_dim3 cluster; /* blocks of a cluster; all zero: one */
  /* dynamic_room for each block of a cluster, reused for every one. */
  void *dynamic_shared;
  /* Of clusters: each block has its own. */
  const struct static_array *statics;
  size_t static_count, static_bytes; /* bytes: of all together */
  /* NULL, or set to end the launch with a fault where a thread waits and at a block's end: a loop without either goes
     on. */
  const atomic_bool *stop;
  /* NULL: nobody watches. Else the kernel reports its accesses, and image is where it lies. */
  struct observer *observer;
  const struct observed_image *image;
  size_t dynamic_bytes, dynamic_room; /* of dynamic_shared: asked for, there */
  bool cooperative;                   /* all blocks of the grid run together: they are one cluster */
  bool overlap;                       /* on a GPU it may begin before the launch in front of it has ended */
  bool reversed;                      /* blocks run from the last one to the first */
};

/* A trap and a deadlock go to fibers_on_fault's handler. Without one they end the launch: CUGEN_ERROR_DEVICE with the
   fault; what the kernel has written stays. */
int fibers_run(struct fibers *fibers, const struct fiber_launch *launch, cugen_error *err);

/* The hooks that a loaded object is given. */
const struct cpu_hooks *fibers_hooks(void);

/* "block (3,0,0) thread (17,0,0)" of what runs now, for fault texts; async-signal-safe: writes at most size bytes
   with the final NUL. Empty when no kernel runs. */
void fibers_where(char *out, size_t size);
/* Called, when set, with a fault by trap and deadlock; must end the process. Process-wide, as signal handlers
   are; NULL: none. */
void fibers_on_fault(void (*fault)(cugen_cause cause, const char *text));
/* The time of a watched kernel is up. True: it goes on to its next access, which has a line in the source; a program counter may
   be anywhere. There the positions of all threads go into the report, and the launch ends. False: this was called before, or no
   watched kernel runs. Async-signal-safe. */
bool fibers_time_is_up(void);
/* The positions go into the report now, of a kernel that makes no access. site: a return address, as in all that follow. Returns a
   fault text; "": no watched kernel runs. Async-signal-safe. */
const char *fibers_hang(const void *site);
/* The thread that runs has looked at a flag many times: the block's others go on, and come to write it. */
void fibers_let_others_run(void);
/* For the report, if the kernel is a watched one: it accessed memory that nobody has; the processor refused an access for its
   address; it ended itself. Async-signal-safe. */
void fibers_stray(const void *site, const void *address, bool write);
void fibers_misaligned(const void *site);
void fibers_ended(const void *site, const char *what);
/* For an observer. Ends the launch with "what in block ... thread ...". */
_Noreturn void fibers_give_up(cugen_cause cause, const char *what);
/* Likewise when the time is up: the positions of all threads go into the report first. */
_Noreturn void fibers_end_hang(const void *site);
/* For the handler of a timer: gives a launch in reverse order up with CUGEN_CAUSE_UNSUPPORTED, and does not return. Returns where no
   such launch runs, or `at`, where the processor is, lies outside of the kernel's image: what runs there may hold a lock. */
void fibers_leave_reversed(const void *at);
/* The guard page of a fiber's stack: a fault there is a stack overflow. */
int fibers_owns_guard(const void *address);

#endif
