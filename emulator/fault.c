/* The running scheduler, and faults, which end the process or the launch with a text; see
   scheduler.h. */
#include <stdlib.h>

#include "fault_text.h"
#include "scheduler.h"

_Thread_local struct fibers *fibers_running;
static _Atomic(void (*)(cugen_cause, const char *)) fault_handler;

/* Gives the launch up: control returns to its caller and never again to the stacks of its
   threads. */
static void give_up(struct fibers *all, cugen_cause cause, const char *text) {
  struct fault_text line = {all->fault.text, all->fault.text + sizeof all->fault.text - 1};
  all->fault.cause = cause;
  fault_text_add(&line, text);
  fibers_switch_to(all, &all->caller);
}

_Noreturn void fibers_fault(cugen_cause cause, const char *text) {
  void (*handler)(cugen_cause, const char *) = atomic_load(&fault_handler);
  if (handler) handler(cause, text);
  if (fibers_running) give_up(fibers_running, cause, text);
  abort();
}

void fibers_leave_reversed(const void *at) {
  struct fibers *all = fibers_running;
  if (!all || !all->launch->reversed || all->active == &all->caller) return;
  const struct observed_image *image = all->launch->image;
  if ((uintptr_t)at - image->base >= image->length) return;
  give_up(all, CUGEN_CAUSE_UNSUPPORTED, "the time of a launch in reverse order is up");
}

void fibers_on_fault(void (*handler)(cugen_cause cause, const char *text)) {
  atomic_store(&fault_handler, handler);
}
