/* Walking a kernel's PTX: counting what the warps of one block execute, without data. Integers,
   addresses and control flow that follow from the launch alone are exact. A load from memory gives
   a stand-in, a number that follows from the address, and floats are not followed. The walk also
   tracks which registers hold unknown values: at a branch on an unknown value the code of both
   sides is counted unless it fails, unknown addresses are spread over their buffer, and a loop with
   an unknown trip count is refused. A second result is how long a warp takes alone: an instruction
   of a basic block starts when its operands are ready, as if a compiler had scheduled it. */
#ifndef RUNTIME_MODEL_PTX_WALK_H
#define RUNTIME_MODEL_PTX_WALK_H

#include <stdatomic.h>

#include "base/kernel.h"
#include "ptx.h"

/* Speeds of a multiprocessor, in cycles. */
struct ptx_machine {
  /* cycles of the multiprocessor for one warp's instruction; PTX_PIPE_NONE: to issue the
     instruction */
  double pipe[PTX_PIPE_COUNT];
  double latency[PTX_PIPE_COUNT]; /* cycles until a result is ready */
  double latency_shared, latency_l1, latency_l2, latency_memory, latency_barrier, latency_cluster;
  double cluster_bytes; /* bytes a cycle from other blocks' shared memory */
  /* Operations a cycle of the tensor cores, by the type of the operands; 0: not supported or not
     known. */
  double tensor_flops, tensor_f64_flops, tensor_tf32_flops, tensor_fp8_flops, tensor_i8_flops;
  /* the fraction of the rate that mma.sync reaches with types other than f64 */
  double tensor_sync_share;
  double tensor_small_share; /* the fraction that f64 products of 8 x 8 x 4 reach */
};

/* A parameter that is a struct; 0 bytes: the parameter is no struct. */
struct ptx_struct {
  unsigned char data[KERNEL_STRUCT_BYTES];
  int bytes;
};

/* A buffer that the caller passes. */
struct ptx_buffer {
  const char *name;
  int64_t bytes;
};

struct ptx_launch {
  uint32_t grid[3], block[3];
  uint32_t at[3];       /* the position of the walked block */
  int64_t shared_bytes; /* dynamic shared memory of a block */
  /* values of the parameters; PTX_BUFFER_SHIFT defines the addresses of buffers */
  const int64_t *parameters;
  int parameter_count;
  const struct ptx_buffer *buffers;
  int buffer_count;
  const struct ptx_struct *structs; /* one for each parameter; NULL: no parameter is a struct */
  /* by parameter: the bytes that a copy by this tensor map moves, 0: it is none; NULL: no maps */
  const double *boxes;
  int64_t l1_bytes; /* L1 that one block has */
  int registers;    /* registers of a thread, which limit the loads in flight */
  /* most global loads in flight in the machine code, a further limit; 0: not known */
  int in_flight;
  /* loads of 16 and of 8 bytes from shared memory in the machine code */
  int shared_quads, shared_pairs;
  int texel_bytes;         /* bytes of a texture element; 0: not known */
  const atomic_bool *stop; /* NULL, or set to end the walk */
  double until;            /* when the walk gives up, by clock_seconds; 0: never */
};

/* The two latencies of an L1 miss: the data come from L2, or from memory. */
enum { PTX_FROM_L2, PTX_FROM_MEMORY, PTX_SCENARIOS };

/* The bytes of device memory that a block uses, each counted about once. */
struct ptx_footprint {
  double fetched; /* in 64-byte pieces of which something is loaded */
  double written; /* in sectors of which something is stored */
  double part;    /* in 64-byte pieces with a sector that is stored in part */
  double covered; /* that are stored */
};

/* Counts of a whole block. Wavefronts are passes of 128 bytes through the memory pipe. */
struct ptx_counts {
  double instructions; /* machine instructions that warps execute */
  /* cycles of the multiprocessor in each pipe; PTX_PIPE_NONE: issue cycles */
  double pipe[PTX_PIPE_COUNT];
  double shared_wavefronts, shared_ideal;
  /* passes of accesses to global memory; passes of stores and atomics to global or local memory */
  double global_wavefronts, store_wavefronts;
  /* requests; sectors of 32 bytes that are requested; sectors if all bytes of each were used */
  double global_requests, global_sectors, ideal_sectors;
  double load_sectors, store_sectors; /* sectors that go to L2 */
  /* bytes of global memory that lanes and copies request, counted at each request */
  double requested;
  double unknown; /* accesses of unknown size */
  double pages;   /* pages of 1 KiB of device memory that the block touches */
  /* sectors that the level 2 cache processes for atomic operations, beyond those of a store */
  double atomics;
  /* passes of atomic operations over the most used line of memory, if the other blocks use that
     line too */
  double crowded;
  double exchange; /* cycles of reading PTX_DISTANT memory, if all of it lay in other blocks */
  struct ptx_footprint footprint;
  double barriers;
  double code;                 /* PTX instructions of the kernel */
  double alone[PTX_SCENARIOS]; /* cycles of a block that is alone on the multiprocessor */
  double path[PTX_SCENARIOS];  /* cycles of the block's slowest warp alone */
};

/* Sets *steps to the number of instructions that the first and the last warp of the block
   launch->at execute together, at most `most` each. A single warp is both, and counts twice. */
int ptx_steps(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
              const struct ptx_launch *launch, long most, long *steps, cugen_error *err);

/* CUGEN_ERROR_COMPILE: the kernel cannot be followed (for example because a trip count depends on
   data), does not end, or has matrix products whose rate is not known. CUGEN_ERROR_INTERRUPTED:
   stopped by launch->stop or launch->until. */
int ptx_walk(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
             const struct ptx_launch *launch, struct ptx_counts *out, cugen_error *err);

#endif
