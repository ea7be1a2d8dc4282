/* Walking a kernel's PTX: what the warps of one block execute, counted, without data. Integers, addresses and control flow are
   followed exactly for the real launch; loads give zero, floats are not followed. Which registers hold what is not known is
   followed, too: of a branch on them both sides are counted, addresses made of them are spread over their buffer, and a loop whose
   trip count they decide is refused. So sectors, bank conflicts and trip counts are those of the machine. A second result is how long a warp takes
   alone: instructions of a basic block start when their operands are ready, as a scheduling compiler arranges it. */
#ifndef RUNTIME_MODEL_PTX_WALK_H
#define RUNTIME_MODEL_PTX_WALK_H

#include <stdatomic.h>

#include "ptx.h"

/* Of a multiprocessor; cycles. */
struct ptx_machine {
  double
      pipe[PTX_PIPE_COUNT]; /* the multiprocessor's cycles for one warp's instruction; PTX_PIPE_NONE: to issue it */
  double latency[PTX_PIPE_COUNT]; /* of a result; PTX_PIPE_NONE: of a branch */
  double latency_shared, latency_l1, latency_l2, latency_memory, latency_barrier, latency_cluster;
  double cluster_bytes; /* a cycle, of other blocks' shared memory */
  /* Of the tensor cores, operations a cycle by the type of the operands; 0: they do not do it, or it is not known. */
  double tensor_flops, tensor_f64_flops, tensor_tf32_flops, tensor_fp8_flops, tensor_i8_flops;
  double tensor_sync_share;  /* what mma.sync attains; wgmma and f64 attain all */
  double tensor_small_share; /* what f64 products of 8 x 8 x 4 attain */
};

/* A parameter that is a struct; 0 bytes: it is a number. */
struct ptx_struct {
  const unsigned char *data;
  int bytes;
};

/* Memory that the caller passes: where its addresses begin is PTX_BUFFER_SHIFT's. */
struct ptx_buffer {
  const char *name;
  int64_t bytes;
};

struct ptx_launch {
  uint32_t grid[3], block[3];
  uint32_t at[3];            /* the block that is walked */
  int64_t shared_bytes;      /* dynamic */
  const int64_t *parameters; /* values; addresses of buffers are the caller's to make up, apart from each other */
  int parameter_count;
  const struct ptx_buffer *buffers;
  int buffer_count;
  const struct ptx_struct *structs; /* one for each parameter; NULL: none is a struct */
  const double *boxes;              /* likewise, of tensor maps the bytes that a copy moves; NULL: there are none */
  int64_t l1_bytes;                 /* for one block */
  int registers;                    /* a thread: what bounds the loads in flight, */
  int in_flight;                    /* as does what ptxas made of them, see sass.h; 0: not known */
  int shared_quads, shared_pairs;   /* loads of 16 and 8 bytes of shared memory that the machine code has */
  int texel_bytes;                  /* of an element of its textures; 0: not known */
  const atomic_bool *stop;          /* NULL, or set to end the walk */
  double until;                     /* when it ends, by clock_seconds; 0: never */
};

/* Scenarios of latency: what misses in L1 comes from L2, or from memory. */
enum { PTX_FROM_L2, PTX_FROM_MEMORY, PTX_SCENARIOS };

/* What a block asks of device memory, each byte once; bytes. */
struct ptx_footprint {
  double fetched; /* pieces of 64 bytes of which something is loaded */
  double written; /* sectors of which something is stored, */
  double part;    /* pieces that have such a sector which is not stored whole, */
  double covered; /* and what is stored */
};

/* Of a whole block. Wavefronts are passes of 128 bytes through the memory pipe. */
struct ptx_counts {
  double instructions;         /* by warps */
  double pipe[PTX_PIPE_COUNT]; /* the multiprocessor's cycles in each pipe; PTX_PIPE_NONE: of issuing */
  double shared_wavefronts, shared_ideal;
  double global_wavefronts, store_wavefronts;            /* of lines; of them the stores' */
  double global_requests, global_sectors, ideal_sectors; /* of 32 bytes, asked for; needed if all bytes were used */
  double load_sectors, store_sectors;                    /* that go to L2 */
  double requested; /* bytes of global memory that lanes and copies ask for, each time anew */
  double unknown;   /* accesses that ask for nobody knows how many */
  double pages;     /* of 1 KiB of device memory that the block touches */
  double atomics;   /* sectors that the level 2 cache has to do with for atomic operations, beyond those of a store */
  double
      crowded; /* passes of atomic operations over the one line of memory that most go to, if other blocks come after this one */
  double exchange; /* cycles of reading other blocks' shared memory, if all of it were theirs */
  struct ptx_footprint footprint;
  double barriers;
  double code;                 /* instructions of the program */
  double alone[PTX_SCENARIOS]; /* cycles of a block that has the multiprocessor for itself */
  double path[PTX_SCENARIOS];  /* of its slowest warp, if that were the only one */
};

/* The instructions that warps of a block execute, of its first and its last one, at most `most` of each: what tells blocks that
   have nothing to do from the others. launch->at names the block. */
int ptx_steps(const struct ptx_kernel *kernel, const struct ptx_machine *machine, const struct ptx_launch *launch,
              long most, long *steps, cugen_error *err);

/* CUGEN_ERROR_COMPILE: it cannot be followed (calls, trip counts that depend on data), does not end, or has products whose rate is not known. */
int ptx_walk(const struct ptx_kernel *kernel, const struct ptx_machine *machine, const struct ptx_launch *launch,
             struct ptx_counts *out, cugen_error *err);

#endif
