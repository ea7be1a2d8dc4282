/* Guarded memory of the cpu device, and the handler of its faults: the process writes a
   description where its parent can read it, and ends. */
#ifndef EMULATOR_GUARD_H
#define EMULATOR_GUARD_H

#include "runtime/device.h"
#include "shared_zone.h"

/* Allocates memory that starts at a multiple of 16 bytes and ends less than 16 bytes in front of an
   inaccessible page. The other bytes of its pages are canaries.

   soft: for an application's process, which has no fault handler. Zones of canaries replace the
   inaccessible pages, and detect only writes nearby. All three functions must get the same
   `soft`. */
int guard_alloc(size_t bytes, bool soft, struct memory *out, cugen_error *err);
void guard_free(struct memory *memory, bool soft);
int guard_check(const struct memory *memory, bool soft, cugen_error *err);

/* Takes over SIGSEGV and similar signals until guard_uninstall: one device a process, because
   handlers are process-wide. fault NULL: faults are not described. */
int guard_install(struct fault *fault, cugen_error *err);
void guard_uninstall(void);
/* Faults around this memory are described as shared memory. The zone must stay in place until
   guard_uninstall. */
void guard_shared(const struct shared_zone *zone);
/* From here on a fault ends the process without a description. */
void guard_silence(void);

#endif
