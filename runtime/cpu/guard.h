/* Guarded memory of the cpu device, and what happens when a kernel leaves it: the process writes what went wrong where
   its parent can read it, and ends. */
#ifndef RUNTIME_CPU_GUARD_H
#define RUNTIME_CPU_GUARD_H

#include "runtime/device.h"
#include "shared_zone.h"

/* Memory whose end lies against an inaccessible page, and whose start is aligned to 16 bytes. The up to 15 bytes
   between are a canary.

   soft: where there is no fault handler, in an application's process. No page is inaccessible; zones on both sides are
   canaries, which tell of writes nearby and of nothing else. The same in all three. */
int guard_alloc(size_t bytes, bool soft, struct memory *out, cugen_error *err);
void guard_free(struct memory *memory, bool soft);
int guard_check(const struct memory *memory, bool soft, cugen_error *err);

/* Takes over SIGSEGV and its kind until guard_uninstall: one device a process, as handlers are process-wide. fault
   may be NULL: what went wrong then goes nowhere. */
int guard_install(struct fault *fault, cugen_error *err);
void guard_uninstall(void);
/* Faults around it are named as such. It stays where it is until guard_uninstall. */
void guard_shared(const struct shared_zone *zone);
/* What goes wrong from here on ends the process and says nothing. */
void guard_silence(void);

#endif
