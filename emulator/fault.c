/* The running scheduler, and faults, which end the process or the launch with a text; see
   scheduler.h. */
#include <stdlib.h>

#include "fault_text.h"
#include "scheduler.h"

_Thread_local struct fibers *fibers_running;
static _Atomic(void (*)(cugen_cause, const char *)) fault_handler;

/* Without a handler the launch is given up: control returns to its caller and never again to the
   stacks of its threads. */
_Noreturn void fibers_fault(cugen_cause cause, const char *text) {
  void (*handler)(cugen_cause, const char *) = atomic_load(&fault_handler);
  if (handler) handler(cause, text);
  if (fibers_running) {
    struct fault *fault = &fibers_running->fault;
    struct fault_text line = {fault->text, fault->text + sizeof fault->text - 1};
    fault->cause = cause;
    fault_text_add(&line, text);
    fibers_switch_to(fibers_running, &fibers_running->caller);
  }
  abort();
}

void fibers_leave_reversed(const void *at) {
  struct fibers *all = fibers_running;
  if (!all || !all->launch->reversed || all->active == &all->caller) return;
  const struct observed_image *image = all->launch->image;
  if ((uintptr_t)at - image->base >= image->length) return;
  struct fault_text line = {all->fault.text, all->fault.text + sizeof all->fault.text - 1};
  all->fault.cause = CUGEN_CAUSE_UNSUPPORTED;
  fault_text_add(&line, "the time of a launch in reverse order is up");
  fibers_switch_to(all, &all->caller);
}

void fibers_on_fault(void (*handler)(cugen_cause cause, const char *text)) {
  atomic_store(&fault_handler, handler);
}
