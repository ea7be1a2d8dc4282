/* Counts the load of a warp's accesses on the banks of shared memory, the sectors of global memory
   and the words of constant memory. Accesses are grouped into requests by their place in the
   program and by how often the lane has come there since its warp's lanes last met. */
#ifndef EMULATOR_DETECTOR_TRAFFIC_H
#define EMULATOR_DETECTOR_TRAFFIC_H

#include "base/error.h"
#include "base/warp.h"
#include "runtime/watch.h"

struct traffic;
struct traffic_site;

int traffic_open(struct traffic **out, cugen_error *err);
void traffic_close(struct traffic *traffic);

/* Begins a launch, whose counters go into *out. */
void traffic_begin(struct traffic *traffic, struct launch_counters *out);
/* Returns the site for a place in the program that reads or writes (kind: of enum cpu_access) so
   many bytes of an array. array: its name, the same pointer each time. NULL: there is no room, and
   the counters are incomplete. */
struct traffic_site *traffic_site(struct traffic *traffic, uint32_t site, const char *array,
                                  cugen_memory memory, unsigned bytes, unsigned kind);
/* Counts an access of `thread` at the site; does nothing if site is NULL. Without room for the
   access, the counters become incomplete. */
void traffic_access(struct traffic *traffic, struct traffic_site *site, unsigned thread,
                    uintptr_t at);
/* The lanes of a warp have met, or its block has ended. */
void traffic_met(struct traffic *traffic, unsigned warp);
/* The lanes of each warp of a block of so many threads have met. */
void traffic_all_met(struct traffic *traffic, unsigned threads);
/* From here on counts go to `to`, a copy of the present counters, and begin at zero. */
void traffic_move(struct traffic *traffic, struct launch_counters *to);
/* Adds the counters of another process. */
void traffic_add(struct launch_counters *to, const struct launch_counters *more);
/* Scales the counters to the whole grid. */
void traffic_end(struct traffic *traffic);

#endif
