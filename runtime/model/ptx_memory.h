/* The cost of a warp's access: sectors, passes, bank conflicts, and hits in L1; see ptx_walk.h. */
#ifndef RUNTIME_MODEL_PTX_MEMORY_H
#define RUNTIME_MODEL_PTX_MEMORY_H

#include "ptx_value.h"

struct ptx_access {
  int sectors;    /* distinct sectors of 32 bytes */
  int ideal;      /* the fewest sectors, or for shared memory wavefronts, that hold the bytes */
  int misses;     /* sectors that L1 does not serve */
  int wavefronts; /* passes of at most 128 bytes */
};

/* 64 bytes of device memory, the least that an H200's L2 fetches: ncu's dram__sectors_read counts a
   sector that is loaded alone as two. `loaded`: something in the piece was loaded; `written`: a
   bit for each stored byte. */
struct ptx_piece {
  uint64_t number, written;
  bool used, loaded;
};

/* A model of L1: a sector stays until about as many other sectors have come as L1 holds. Also notes
   the pieces and pages (rows of DRAM) that were touched. */
struct ptx_memory {
  struct ptx_line *lines;
  int64_t capacity, arrived; /* sectors */
  uint64_t *pages;           /* a hash table of touched pages */
  int64_t page_count;
  struct ptx_piece *pieces;       /* a hash table of touched pieces */
  struct ptx_footprint footprint; /* of the pieces that were dropped from the table */
};

int ptx_memory_open(int64_t l1_bytes, struct ptx_memory *out, cugen_error *err);
void ptx_memory_close(struct ptx_memory *memory);

/* Notes the pages and pieces of `bytes` bytes that are loaded or stored. */
void ptx_touch(struct ptx_memory *memory, uint64_t address, int64_t bytes, bool load);
struct ptx_footprint ptx_footprint_of(const struct ptx_memory *memory);
/* Computes the cost of an access to global memory. through_l1: sectors in L1 are hits. */
void ptx_global_access(struct ptx_memory *memory, const struct ptx_lanes *lanes, bool load,
                       bool through_l1, struct ptx_access *out);
/* An instruction's last access to shared memory, kept because loops repeat an access at another
   address. */
struct ptx_pattern {
  uint32_t mask, bank;
  uint32_t distance[PTX_LANES]; /* of each lane's address from the first lane's */
  struct ptx_access access;     /* wavefronts 0: no access yet */
};

/* ptx_atomic_passes returns the passes that the level 2 cache makes for an atomic operation: over
   each sector as many as lanes use the sector's most used address. ptx_most_alike returns the
   number of lanes that use the most used address of all. */
int ptx_atomic_passes(const struct ptx_lanes *lanes);
int ptx_most_alike(const struct ptx_lanes *lanes);
/* Returns the number of distinct words of 4 bytes, at least 1. */
int ptx_distinct_words(const struct ptx_lanes *lanes);

/* Computes the cost of an access to shared memory with 32 banks of 4 bytes. A warp's lanes of 8
   bytes are served in two halves, lanes of 16 bytes in four quarters; two parts are served together
   where each lane has the address of its neighbour, or of its next neighbour but one, as observed
   on an H200. Lanes that read one word share the read. */
void ptx_shared_access(struct ptx_pattern *pattern, const struct ptx_lanes *lanes,
                       struct ptx_access *out);

#endif
