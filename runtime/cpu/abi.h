/* What a kernel compiled for the cpu device and the program that runs it agree on. Plain C that also compiles as
   C++: it is put in front of cuda_shim.h in every translation unit, and included by fibers.c.

   A compiled kernel is a shared object that exports
     struct cpu_builtins cugen_builtins;            set by the scheduler before a CUDA thread runs or resumes
     const struct cpu_hooks *cugen_hooks;           set once after loading
     void cugen_entry_0(void **parameters), ...     run one CUDA thread of the N-th requested kernel
     int cugen_entry_0_takes(int *sizes, int capacity), ...  how many parameters it has, and their bytes
   and its __constant__ and __device__ variables under their own names.

   All CUDA threads of a launch run on one thread of the operating system, one block after the other, each block's
   threads as fibers that run uninterrupted until they synchronise. */
#ifndef CUGEN_CPU_ABI_H
#define CUGEN_CPU_ABI_H

struct cpu_dim3 {
  unsigned x, y, z;
};

struct cpu_builtins {
  struct cpu_dim3 thread, block, block_size, grid_size; /* threadIdx, blockIdx, blockDim, gridDim */
  unsigned linear;                                      /* x + y * block_size.x + z * block_size.x * block_size.y */
  void *dynamic_shared;
};

/* A texture object is the address of one. In elements; x runs along the contiguous dimension. */
enum cpu_address { CPU_ADDRESS_CLAMP, CPU_ADDRESS_BORDER, CPU_ADDRESS_WRAP, CPU_ADDRESS_MIRROR };

struct cpu_texture {
  const void *base;
  long long width, height, depth, row, slice;
  int address;    /* an enum cpu_address; the last two take coordinates from 0 to 1 */
  int half_float; /* elements are binary16, read as float */
};

enum cpu_barrier { CPU_BARRIER_PLAIN, CPU_BARRIER_COUNT, CPU_BARRIER_AND, CPU_BARRIER_OR };

struct cpu_hooks {
  /* Block-wide barrier: waits for every thread of the block that has not ended; gives the combined predicate. */
  int (*barrier)(int kind, int predicate);
  /* Warp-wide operation. The lane parks with a pointer to its arguments; when every live lane of mask has arrived
     with the same mask and combine, combine(slots, lanes) is called once for those lanes: slots[lane] is the lane's
     `mine`, null for lanes not in mask or ended. Then all go on. */
  void (*warp)(unsigned mask, void (*combine)(void **slots, unsigned lanes), void *mine);
  /* Lanes of the current warp that have not ended. */
  unsigned (*active_mask)(void);
  /* Ends the launch, in a worker the process, with "trap: what" and the block and thread as its fault text. Does not
     return. */
  void (*trap)(const char *what);
};

/* ---- A watched kernel: one that was compiled with CUGEN_WATCH reports what it does to memory ---- */

enum cpu_access {
  CPU_WRITE = 1,  /* else it reads */
  CPU_ATOMIC = 2, /* of the whole device */
  CPU_ASYNC = 4   /* part of a copy that goes on meanwhile */
};

/* Exported as `const struct cpu_watch *cugen_watch`, set once after loading. site: where in the program. */
struct cpu_watch {
  void (*access)(const void *at, unsigned long bytes, unsigned kind, const void *site);
  /* A copy to shared memory that was begun before is there now. */
  void (*arrived)(const void *at, unsigned long bytes, const void *site);
  /* An index of an array, outside the type that the source gives it: "'float [33]'". */
  void (*index)(const char *type, long long index, const void *site);
  void (*fence)(void); /* __threadfence() */
};

#endif
