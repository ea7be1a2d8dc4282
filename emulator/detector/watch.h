/* Finds races and other misuse of memory in a running kernel: records who touched each word of
   shared and global memory, when, and whether that access is ordered before the next. watch.c
   explains the method. */
#ifndef EMULATOR_DETECTOR_WATCH_H
#define EMULATOR_DETECTOR_WATCH_H

#include "emulator/observer.h"

struct watch;

/* report is borrowed; watch_buffers clears the report except what the parent sets before a run.
   fork: as in device_options. */
int watch_open(struct watch_report *report, const uint64_t *fork, struct watch **out,
               cugen_error *err);
void watch_close(struct watch *watch);

/* The hooks that a watched image is given; owned by the watch. */
const struct cpu_watch *watch_hooks(const struct watch *watch);
/* The watch as the observer of launches; owned by the watch. */
const struct observer *watch_observer(const struct watch *watch);

/* Sets the buffers of the next launches, copying the list, and clears the report. */
int watch_buffers(struct watch *watch, const struct watch_buffer *buffers, size_t count,
                  cugen_error *err);
/* Returns the seconds that the report gives a launch; 0: no limit. */
double watch_limit(const struct watch *watch);

#endif
