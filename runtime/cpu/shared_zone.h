/* Dynamic shared memory of the blocks that run together, between memory that nobody may touch: what leaves it faults. What
   alignment leaves over, up to the nearest page, has a known content that is compared after a launch. */
#ifndef RUNTIME_CPU_SHARED_ZONE_H
#define RUNTIME_CPU_SHARED_ZONE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum {
  SHARED_ROOM = 64 << 20, /* from one block's memory to the next one's */
  SHARED_ZONE_NEAR = 16,  /* what CUDA promises of its start */
  SHARED_ZONE_FAR = 1024  /* what a source gets that speaks of alignment: the most that an instruction needs */
};

struct shared_zone {
  char *base;      /* of what is reserved */
  size_t reserved; /* bytes */
  unsigned blocks;
  size_t bytes, alignment; /* of each block */
  bool soft;   /* in an application's process: a zone on both sides is compared, and none is inaccessible */
  char *start; /* of the first block's; the others' follow at distances of SHARED_ROOM */
};

/* Lays the memory out; keeps what is there when nothing has changed. */
int shared_zone_prepare(struct shared_zone *zone, unsigned blocks, size_t bytes, size_t alignment, cugen_error *err);
/* CUGEN_CAUSE_BOUNDS when something was written around it. */
int shared_zone_check(struct shared_zone *zone, cugen_error *err);
void shared_zone_free(struct shared_zone *zone);
/* Where an address lies that is not in a block's memory but belongs to it. Async-signal-safe; false: it is none of these. */
bool shared_zone_find(const struct shared_zone *zone, const void *address, bool *before, size_t *distance);

/* Behind "... of dynamic shared memory": the way out. */
#define SHARED_ZONE_HINT ", whose size 'shared' of the implementation sets in the config"

#endif
