/* Dynamic shared memory of the blocks that run together, surrounded by inaccessible memory:
   an access outside faults, unless `soft` puts canaries between. The bytes that alignment leaves up
   to the nearest page have a known content that is compared after a launch. */
#ifndef EMULATOR_SHARED_ZONE_H
#define EMULATOR_SHARED_ZONE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum {
  SHARED_ROOM = 64 << 20, /* distance from one block's memory to the next one's */
  SHARED_ZONE_NEAR = 16,  /* alignment of the start that CUDA guarantees */
  /* alignment in clusters and for sources that mention alignment: the most that instructions
     need */
  SHARED_ZONE_FAR = 1024
};

struct shared_zone {
  char *base;      /* of the reserved address space */
  size_t reserved; /* bytes of that space */
  unsigned blocks;
  size_t bytes, alignment; /* of each block's memory */
  /* for an application's process: the nearest 16 KiB on both sides are canaries */
  bool soft;
  /* of the first block's memory; other blocks' memory follows at distances of SHARED_ROOM */
  char *start;
};

/* Lays the memory out; keeps a present layout of the same sizes that has enough blocks. */
int shared_zone_prepare(struct shared_zone *zone, unsigned blocks, size_t bytes, size_t alignment,
                        cugen_error *err);
/* Returns CUGEN_ERROR_WRONG, with CUGEN_CAUSE_BOUNDS, if the kernel wrote around the memory. */
int shared_zone_check(const struct shared_zone *zone, cugen_error *err);
void shared_zone_free(struct shared_zone *zone);
/* For an address outside of the blocks' memory: gets its distance to the start or the end of the
   memory of the block in whose room it lies. Returns false if the address is in no block's room.
   Async-signal-safe. */
bool shared_zone_find(const struct shared_zone *zone, const void *address, bool *before,
                      size_t *distance);

/* The hint after "... of dynamic shared memory". */
#define SHARED_ZONE_HINT ", whose size 'shared' of the implementation sets in the config"

#endif
