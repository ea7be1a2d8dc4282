/* Records a thread's own copies from global to shared memory (cp.async), in the groups that the
   thread waits for. The thread itself makes each copy when waiting for the copy's group, as late as
   a GPU may. PTX ISA, "Non-bulk copy". */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "base/array.h"

struct queued {
  struct cpu_copy copy;
  unsigned group;
};

struct queue {
  struct queued *copies;
  size_t first, count, room;
  unsigned groups; /* committed groups */
};

struct thread_copies {
  unsigned slots; /* 1 + the highest slot used since thread_copies_begin */
  struct queue queues[FIBERS_SLOTS];
};

int thread_copies_open(struct thread_copies **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? CUGEN_OK : error_memory(err);
}

void thread_copies_close(struct thread_copies *copies) {
  for (size_t i = 0; copies && i < FIBERS_SLOTS; i++) free(copies->queues[i].copies);
  free(copies);
}

void thread_copies_begin(struct thread_copies *copies) {
  for (struct queue *queue = copies->queues; queue < copies->queues + copies->slots; queue++)
    queue->first = queue->count = queue->groups = 0;
  copies->slots = 0;
}

static struct queue *own(void) {
  struct thread_copies *copies = fibers_async()->thread_copies;
  const unsigned slot = fibers_current()->slot;
  if (copies->slots <= slot) copies->slots = slot + 1;
  return &copies->queues[slot];
}

void thread_copies_add(const struct cpu_copy *copy) {
  struct queue *queue = own();
  fibers_async()->used = true;
  if (queue->first == queue->count) queue->first = queue->count = 0;
  struct queued *grown = array_reserve(queue->copies, &queue->room, queue->count, sizeof *grown);
  if (!grown) fibers_trap("no memory for a copy that is on its way");
  queue->copies = grown;
  queue->copies[queue->count++] = (struct queued){*copy, queue->groups};
}

void thread_copies_commit(void) {
  fibers_async()->used = true;
  own()->groups++;
}

int thread_copies_next(unsigned newest, struct cpu_copy *out) {
  struct queue *queue = own();
  if (queue->first == queue->count) return 0;
  const struct queued *oldest = &queue->copies[queue->first];
  if (newest != CPU_COPY_ALL && oldest->group + newest >= queue->groups) return 0;
  *out = oldest->copy;
  queue->first++;
  return 1;
}
