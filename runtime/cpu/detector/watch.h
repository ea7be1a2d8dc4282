/* Finds races and other misuse of memory in a kernel at work: who touched each word of shared and global memory, when, and
   whether anything orders it before the next who does. Fed by the accesses that a watched kernel reports (abi.h) and, as an
   observer, by the emulator. watch.c says how it works. */
#ifndef RUNTIME_CPU_DETECTOR_WATCH_H
#define RUNTIME_CPU_DETECTOR_WATCH_H

#include "runtime/cpu/observer.h"

struct watch;

/* report is borrowed; it is zeroed when watch_buffers is called. */
int watch_open(struct watch_report *report, const uint64_t *fork, struct watch **out, cugen_error *err);
void watch_close(struct watch *watch);

/* The hooks that a watched image is given. The watch's own. */
const struct cpu_watch *watch_hooks(const struct watch *watch);
/* As that it hears of a launch; NULL of NULL. */
struct observer *watch_observer(struct watch *watch);

/* What the launches that follow work on. Copied. */
int watch_buffers(struct watch *watch, const struct watch_buffer *buffers, size_t count, cugen_error *err);
/* Seconds that the report gives a launch; 0: no limit. */
double watch_limit(const struct watch *watch);

#endif
