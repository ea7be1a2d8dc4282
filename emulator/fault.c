/* The running scheduler, and faults, which end the process or the launch with a text; see
   scheduler.h and fault_text.h. */
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

/* ---- Texts ---------------------------------------------------------------------------------- */

void fault_text_add(struct fault_text *line, const char *string) {
  while (*string && line->at < line->end) *line->at++ = *string++;
  *line->at = '\0';
}

void fault_text_number(struct fault_text *line, unsigned long long number, unsigned base,
                       int digits) {
  char backwards[24], character[2] = "";
  int count = 0;
  for (; number || count < digits; number /= base)
    backwards[count++] = "0123456789abcdef"[number % base];
  while (count > 0) {
    character[0] = backwards[--count];
    fault_text_add(line, character);
  }
}

void fault_text_position(struct fault_text *line, const char *what, struct cpu_dim3 at) {
  const unsigned numbers[3] = {at.x, at.y, at.z};
  fault_text_add(line, what);
  for (int i = 0; i < 3; ++i) {
    fault_text_add(line, i ? "," : " (");
    fault_text_number(line, numbers[i], 10, 1);
  }
  fault_text_add(line, ")");
}

void fault_text_lanes(struct fault_text *line, unsigned lanes) {
  fault_text_add(line, "0x");
  fault_text_number(line, lanes, 16, 8);
}

void fault_text_count(struct fault_text *line, unsigned count, const char *what, unsigned of) {
  fault_text_number(line, count, 10, 1);
  fault_text_add(line, what);
  fault_text_number(line, of, 10, 1);
}
