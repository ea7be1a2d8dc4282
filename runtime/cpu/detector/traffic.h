/* Counts what the accesses of a warp ask of the banks of shared memory and of the sectors of global memory. The lanes run
   one after the other here: what belongs together is found by place in the program, and by how often the lane has come
   there since its warp last met. */
#ifndef RUNTIME_CPU_DETECTOR_TRAFFIC_H
#define RUNTIME_CPU_DETECTOR_TRAFFIC_H

#include "base/error.h"
#include "runtime/watch.h"

struct traffic;
struct traffic_site;

int traffic_open(struct traffic **out, cugen_error *err);
void traffic_close(struct traffic *traffic);

/* Begins a launch, whose figures go into *out. */
void traffic_begin(struct traffic *traffic, struct launch_counters *out);
/* A place in the program, of this launch, that reads or writes (kind: of enum cpu_access) so many bytes of an array. array: its
   name, the same pointer each time. NULL: there is no room for it, and the figures are incomplete. */
struct traffic_site *traffic_site(struct traffic *traffic, uint32_t site, const char *array, bool shared,
                                  unsigned bytes, unsigned kind);
/* An access of `thread` there; of NULL: none. */
void traffic_access(struct traffic *traffic, struct traffic_site *site, unsigned thread, uintptr_t at);
/* The lanes of a warp have met, or its block has ended. */
void traffic_met(struct traffic *traffic, unsigned warp);
/* The same of all warps of a block of so many threads. */
void traffic_all_met(struct traffic *traffic, unsigned threads);
/* From here on the figures, beginning with none, go there, which is a copy of where they went. */
void traffic_move(struct traffic *traffic, struct launch_counters *to);
/* Adds what another process has counted. */
void traffic_add(struct launch_counters *to, const struct launch_counters *more);
/* Scales what was counted to the whole grid. */
void traffic_end(struct traffic *traffic);

/* Passes that the banks need for these accesses, `bytes` each (1 to 16), of the lanes in a mask, and the fewest that so
   many accesses can do with. */
void traffic_banks(const uintptr_t at[32], unsigned lanes, unsigned bytes, unsigned *needed, unsigned *ideal);
/* What they touch of global memory. */
struct traffic_touched {
  unsigned sectors, lines;       /* of 32 and of 128 bytes */
  unsigned bytes, sectors_ideal; /* each byte once; the fewest sectors that hold so many */
};
struct traffic_touched traffic_sectors(const uintptr_t at[32], unsigned lanes, unsigned bytes);

#endif
