/* What an access of a warp costs: sectors, passes, bank conflicts, and what L1 has; see ptx_walk.h. */
#ifndef RUNTIME_MODEL_PTX_MEMORY_H
#define RUNTIME_MODEL_PTX_MEMORY_H

#include "ptx_value.h"

struct ptx_access {
  int sectors;    /* of 32 bytes, distinct */
  int ideal;      /* as few as hold so many bytes; of shared memory wavefronts */
  int misses;     /* sectors that L1 does not have */
  int wavefronts; /* passes of at most 128 bytes */
};

/* 64 bytes of device memory, the least that an H200's L2 fetches from it: a sector that is loaded alone was counted as two by ncu's
   dram__sectors_read. Whether some were loaded, and which were stored, a bit each. */
struct ptx_piece {
  uint64_t number, written;
  bool used, loaded;
};

/* L1: a sector is there until about as many others have come as it holds. And the pages of device memory that were
   touched: a row of DRAM bits that has to be opened holds about one. */
struct ptx_memory {
  struct ptx_line *lines;
  int64_t capacity, arrived; /* sectors */
  uint64_t *pages;           /* a hash table */
  int64_t page_count;
  struct ptx_piece *pieces;       /* the same */
  struct ptx_footprint footprint; /* of those that were forgotten */
};

int ptx_memory_open(int64_t l1_bytes, struct ptx_memory *out, cugen_error *err);
void ptx_memory_close(struct ptx_memory *memory);

/* Notes the pages and pieces of so many bytes that are loaded or stored. */
void ptx_touch(struct ptx_memory *memory, uint64_t address, int64_t bytes, bool load);
struct ptx_footprint ptx_footprint_of(const struct ptx_memory *memory);
void ptx_global_access(struct ptx_memory *memory, const struct ptx_lanes *lanes, bool load, bool through_l1,
                       struct ptx_access *out);
/* What an instruction asked for last: loops ask for the same again, elsewhere. */
struct ptx_pattern {
  uint32_t mask, bank;
  uint32_t distance[PTX_LANES]; /* from the first lane */
  struct ptx_access access;     /* wavefronts 0: nothing yet */
};

/* Of an atomic operation on global memory: the level 2 cache does one pass over a sector for each lane that asks for the word that most
   lanes ask for. Of shared memory the most lanes that ask for one word. */
int ptx_atomic_passes(const struct ptx_lanes *lanes);
int ptx_most_alike(const struct ptx_lanes *lanes);
/* Words of 4 bytes. */
int ptx_distinct_words(const struct ptx_lanes *lanes);

/* 32 banks of 4 bytes. Lanes of 8 bytes go in two halves, of 16 in four quarters, and two of these together where neighbours
   (or next but one) ask for the same, as an H200 was seen to do it: docs/check.md. Lanes that read one word share it. */
void ptx_shared_access(struct ptx_pattern *pattern, const struct ptx_lanes *lanes, struct ptx_access *out);

#endif
