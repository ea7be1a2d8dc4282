/* What a kernel compiled for the cpu device and the program that runs it agree on. Plain C that also compiles as
   C++: it is put in front of cuda_shim.h in every translation unit, and included by fibers.c.

   A compiled kernel is a shared object that exports
     struct cpu_builtins cugen_builtins;            set by the scheduler before a CUDA thread runs or resumes
     const struct cpu_hooks *cugen_hooks;           set once after loading
     void cugen_entry_0(void **parameters), ...     run one CUDA thread of the N-th requested kernel
     int cugen_entry_0_takes(int *sizes, int capacity), ...  how many parameters it has, and their bytes
     const unsigned cugen_entry_0_cluster[3];       blocks of a cluster, of a kernel with __cluster_dims__
     const char cugen_cooperative                   of a source whose blocks may wait for each other
     const char cugen_aligned                       of a source that speaks of alignment
   and its __constant__ and __device__ variables under their own names.

   All CUDA threads of a launch run on one thread of the operating system, one block (or cluster of blocks) after the
   other, each one's threads as fibers that run uninterrupted until they synchronise. */
#ifndef RUNTIME_CPU_ABI_H
#define RUNTIME_CPU_ABI_H

struct cpu_dim3 {
  unsigned x, y, z;
};

struct cpu_builtins {
  struct cpu_dim3 thread, block, block_size, grid_size; /* threadIdx, blockIdx, blockDim, gridDim */
  unsigned linear;                                      /* x + y * block_size.x + z * block_size.x * block_size.y */
  void *dynamic_shared;
  unsigned cluster_rank;        /* of the block in its cluster */
  struct cpu_dim3 cluster_size; /* blocks of a cluster */
  unsigned cooperative;         /* the launch is, and the grid's blocks run together */
};

/* A texture object is the address of one. In elements; x runs along the contiguous dimension. */
enum cpu_address { CPU_ADDRESS_CLAMP, CPU_ADDRESS_BORDER, CPU_ADDRESS_WRAP, CPU_ADDRESS_MIRROR };

struct cpu_texture {
  const void *base;
  long long width, height, depth, row, slice;
  int address;    /* an enum cpu_address; the last two take coordinates from 0 to 1 */
  int half_float; /* elements are binary16, read as float */
};

/* A tensor map as the cpu device makes it; the contiguous dimension is the first. */
enum { CPU_TENSOR_RANK = 5 };

struct cpu_tensor {
  const void *base;
  long long stride[CPU_TENSOR_RANK]; /* bytes from one to the next */
  unsigned shape[CPU_TENSOR_RANK];
  unsigned short box[CPU_TENSOR_RANK];
  unsigned char rank, element, swizzle; /* bytes of an element; bytes of the swizzle, or 0 */
};

/* ---- Asynchronous operations (compute capability 9.0). Addresses are those of __cvta_generic_to_shared: in the low
   18 bits a place in dynamic shared memory, from bit 24 on the block of the cluster ---- */

enum cpu_fence { CPU_FENCE_PROXY, CPU_FENCE_MBARRIER_INIT, CPU_FENCE_LAUNCH };
enum cpu_cluster { CPU_CLUSTER_ARRIVE = 1, CPU_CLUSTER_WAIT = 2 };
enum cpu_number { CPU_F16, CPU_BF16, CPU_TF32, CPU_E4M3, CPU_E5M2, CPU_S8, CPU_U8 };
enum cpu_wgmma { CPU_WGMMA_ADD = 1, CPU_WGMMA_X_ACROSS = 2, CPU_WGMMA_Y_ACROSS = 4 };

enum { CPU_COPY_ALL = 0x7fffffff };

/* A copy of a thread's own (cp.async): to shared memory. Bytes past from_bytes become zero. */
struct cpu_copy {
  void *to;
  const void *from;
  unsigned bytes, from_bytes;
};

/* Of an `asm`: where its value lies. */
struct cpu_ptx_operand {
  void *at;
  unsigned bytes;
  int output; /* it may be written */
};

/* One `asm` of the source. */
struct cpu_ptx_place {
  void *program;     /* what its text was read as; null at first */
  const char *where; /* "k.cu:12: " */
};

struct cpu_watch;

struct cpu_async {
  unsigned (*address)(const void *at);
  void *(*pointer)(unsigned address); /* also in another block of the cluster */
  unsigned (*map)(unsigned address, unsigned rank);
  void (*fence)(int kind);
  void (*cluster_barrier)(int what);
  void (*named_barrier)(unsigned number, unsigned threads, int wait);
  void (*mbarrier_init)(unsigned address, unsigned arrivals);
  void (*mbarrier_arrive)(unsigned address, unsigned expected_bytes);
  void (*mbarrier_wait)(unsigned address, unsigned parity);
  /* blocks: a mask, as of multicast; 0: the own one. */
  void (*tensor_load)(unsigned to, const void *map, unsigned barrier, const int *at, unsigned blocks);
  void (*tensor_store)(const void *map, unsigned from, const int *at);
  void (*bulk_load)(unsigned to, const void *from, unsigned bytes, unsigned barrier);
  void (*bulk_store)(void *to, unsigned from, unsigned bytes);
  void (*bulk_commit)(void);
  void (*bulk_wait)(unsigned newest); /* until at most so many groups of the thread are on their way */
  void (*wgmma_fence)(void);
  /* sums: N / 2 of 4 bytes; X and Y: descriptors of tiles in shared memory; flags: enum cpu_wgmma. */
  void (*wgmma)(int number, int n, void *sums, unsigned long long x, unsigned long long y, int flags);
  void (*wgmma_commit)(void);
  void (*wgmma_wait)(unsigned newest);
  unsigned (*mbarrier_phase)(unsigned address); /* how many are complete */
  void (*mbarrier_expect)(unsigned address, unsigned bytes);
  /* Copies of the thread's own. next: takes out the oldest one whose group is not among the newest (CPU_COPY_ALL: also if it was
     not committed); 0: there is none. */
  void (*copy_begin)(const struct cpu_copy *copy);
  void (*copy_commit)(void);
  int (*copy_next)(unsigned newest, struct cpu_copy *out);
  /* Inline PTX. watch: null when the kernel is not watched. */
  void (*ptx)(struct cpu_ptx_place *place, const char *text, const struct cpu_ptx_operand *operands, unsigned count,
              const struct cpu_watch *watch);
};

enum cpu_barrier { CPU_BARRIER_PLAIN, CPU_BARRIER_COUNT, CPU_BARRIER_AND, CPU_BARRIER_OR, CPU_BARRIER_KINDS };

struct cpu_hooks {
  /* Block-wide barrier: waits for every thread of the block that has not ended; gives the combined predicate. kind: of
     enum cpu_barrier, plus CPU_BARRIER_KINDS times the number that the barrier has in the source, or 0. */
  int (*barrier)(int kind, int predicate);
  /* Warp-wide operation. The lane parks with a pointer to its arguments; when every live lane of mask has arrived
     with the same mask and combine, combine(slots, lanes) is called once for those lanes: slots[lane] is the lane's
     `mine`, null for lanes not in mask or ended. Then all go on. Gives the lanes that came, if the kernel is watched. */
  unsigned (*warp)(unsigned mask, void (*combine)(void **slots, unsigned lanes), void *mine);
  /* Lanes of the current warp that have not ended. */
  unsigned (*active_mask)(void);
  /* Ends the launch, in a worker the process, with "trap: what" and the block and thread as its fault text. Does not
     return. */
  void (*trap)(const char *what);
  const struct cpu_async *async;
  /* The lanes of the warp that are here together: all that reach this place before any other thread can go on. */
  unsigned (*converged)(void);
  /* Ends the launch, which would have to be a cooperative one. Does not return. */
  void (*needs_grid)(void);
};

/* ---- A watched kernel: one that was compiled with CUGEN_WATCH reports what it does to memory ---- */

enum cpu_access {
  CPU_WRITE = 1,      /* else it reads */
  CPU_ATOMIC = 2,     /* of the whole device */
  CPU_ASYNC = 4,      /* part of a copy that goes on meanwhile */
  CPU_PACKED = 32,    /* of bytes, or of a type that may lie anywhere: no multiple is needed */
  CPU_VOLATILE = 64,  /* looks past caches; with CPU_ATOMIC: an atomic load or store */
  CPU_REPLACES = 128, /* an atomic operation that makes nothing of what was there: an exchange */
  CPU_BLOCK = 256     /* an atomic operation of the block's scope: to other blocks it is none */
};

/* What -fsanitize=alignment and -fsanitize=bounds hand over: compiler-rt, lib/ubsan/ubsan_handlers.h and ubsan_value.h. */
struct cpu_ubsan_type {
  unsigned short kind, info; /* of an integer: 1 when signed, plus twice the logarithm of its bits */
  char name[1];
};
struct cpu_ubsan_line {
  const char *file;
  unsigned line, column;
};
struct cpu_ubsan_mismatch {
  struct cpu_ubsan_line line;
  const struct cpu_ubsan_type *type;
  unsigned char log_multiple, use; /* use: 1 when it writes */
};
struct cpu_ubsan_bounds {
  struct cpu_ubsan_line line;
  const struct cpu_ubsan_type *array, *index;
};

enum { CPU_WATCH_SIZES = 5 };

/* Exported as `const struct cpu_watch *cugen_watch`, set once after loading. site: where in the program. The compiler's calls come
   to all as far as `write` by shim/watch.h, which has their places as numbers. */
struct cpu_watch {
  void (*access)(const void *at, unsigned long bytes, unsigned kind, const void *site);
  /* A function that is not inlined begins, and where it returns to; and ends. */
  void (*enter)(const void *caller);
  void (*leave)(void);
  /* memmove and memset of any length, and what they access. */
  void *(*copied)(void *to, const void *from, unsigned long bytes, const void *site);
  void *(*filled)(void *to, int byte, unsigned long bytes, const void *site);
  /* A place that is no multiple of what its type needs; an index of an array, outside the type that the source gives it. */
  void (*mismatched)(const struct cpu_ubsan_mismatch *what, const void *at, const void *site);
  void (*outside)(const struct cpu_ubsan_bounds *bounds, unsigned long index, const void *site);
  /* Plain accesses of 1, 2, 4, 8 and 16 bytes, which most are; from where they return to. self: this table. */
  void (*read[CPU_WATCH_SIZES])(const void *at, const struct cpu_watch *self);
  void (*write[CPU_WATCH_SIZES])(const void *at, const struct cpu_watch *self);
  /* A copy to shared memory that was begun before is there now. */
  void (*arrived)(const void *at, unsigned long bytes, const void *site);
  void (*fence)(int device); /* __threadfence(); device 0: __threadfence_block() */
  /* A place that is no multiple of what its type, "'float4'", needs. */
  void (*misaligned)(const char *type, const void *at, unsigned long multiple, unsigned kind, const void *site);
  /* An operation that reads a lane which its mask does not name, or which has ended. */
  void (*lane)(unsigned mask, unsigned lane);
  /* memmove and memset of the host, whose names in the kernel are those of functions that report. */
  void *(*move)(void *to, const void *from, unsigned long bytes);
  void *(*fill)(void *to, int byte, unsigned long bytes);
};

#endif
