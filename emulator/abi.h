/* The interface between a kernel compiled for the cpu device and the program that runs the kernel.
   Plain C that also compiles as C++, because kernels and the emulator both contain this file.

   A compiled kernel is a shared object that exports
     struct cpu_builtins cugen_builtins;            set by the scheduler before a CUDA thread
                                                    runs or resumes
     const struct cpu_hooks *cugen_hooks;           set once after loading
     void cugen_entry_0(void **parameters), ...     run one CUDA thread of the N-th kernel
     int cugen_entry_0_takes(int *sizes, int capacity), ...  number and sizes of its parameters
     const unsigned cugen_entry_0_cluster[3];       for a kernel with __cluster_dims__
     const unsigned cugen_entry_0_bounds[3];        for a kernel with __launch_bounds__
     const char cugen_cooperative;                  for a source whose blocks may wait for each
                                                    other
     const char cugen_aligned;                      for a source that mentions alignment: dynamic
                                                    shared memory may need a large one
   and its __constant__ and __device__ variables under their own names.

   In a process, all CUDA threads of a launch run on one thread of the operating system, as fibers
   that run uninterrupted until they wait. Blocks (or clusters of blocks) run one after the other,
   but all together in a cooperative launch of a source with cugen_cooperative. */
#ifndef EMULATOR_ABI_H
#define EMULATOR_ABI_H

struct cpu_dim3 {
  unsigned x, y, z;
};

struct cpu_builtins {
  struct cpu_dim3 thread, block, block_size, grid_size; /* threadIdx, blockIdx, blockDim, gridDim */
  /* thread.x + thread.y * block_size.x + thread.z * block_size.x * block_size.y */
  unsigned linear;
  void *dynamic_shared;
  unsigned cluster_rank;        /* rank of the block in its cluster */
  struct cpu_dim3 cluster_size; /* blocks of a cluster */
  unsigned cooperative;         /* the launch is cooperative, and the grid's blocks run together */
};

/* A texture object is the address of a cpu_texture. Sizes are in elements; x is the contiguous
   dimension. */
enum cpu_address { CPU_ADDRESS_CLAMP, CPU_ADDRESS_BORDER, CPU_ADDRESS_WRAP, CPU_ADDRESS_MIRROR };

struct cpu_texture {
  const void *base;
  long long width, height, depth;
  long long row, slice; /* from the start of a row, or of a slice, to that of the next */
  int address;          /* enum cpu_address; with WRAP and MIRROR coordinates are normalised */
  int half_float;       /* elements are binary16, read as float */
};

/* A tensor map of the cpu device; the first dimension is the contiguous one. */
enum { CPU_TENSOR_RANK = 5 };

struct cpu_tensor {
  const void *base;
  long long stride[CPU_TENSOR_RANK]; /* bytes from one element to the next in each dimension */
  unsigned shape[CPU_TENSOR_RANK];
  unsigned short box[CPU_TENSOR_RANK];
  unsigned char rank, element, swizzle; /* element: bytes of an element; swizzle: bytes, or 0 */
};

/* ---- Asynchronous operations (compute capability 9.0). Addresses are those of
   __cvta_generic_to_shared: below 2^18 an offset in dynamic shared memory, from 2^23 on an address
   of static shared memory. The bits from 24 on are 1 + the rank of the block in the cluster; 0: the
   thread's own block ---- */

enum cpu_fence { CPU_FENCE_PROXY, CPU_FENCE_MBARRIER_INIT, CPU_FENCE_LAUNCH };
enum cpu_cluster { CPU_CLUSTER_ARRIVE = 1, CPU_CLUSTER_WAIT = 2 };

enum { CPU_COPY_ALL = 0x7fffffff }; /* for copy_next */

/* A thread's own copy (cp.async) to shared memory. Bytes past from_bytes become zero. */
struct cpu_copy {
  void *to;
  const void *from;
  unsigned bytes, from_bytes;
};

enum { CPU_PTX_OPERANDS = 160 }; /* of one `asm` at most; a wgmma has up to 132 */

/* An operand of an `asm`: the address of an output's variable, or the bits of an input's value. */
struct cpu_ptx_operand {
  unsigned long long bits;
  unsigned bytes;
  int output;
};

/* One `asm` of the source. */
struct cpu_ptx_place {
  void *program;     /* the parsed text, set at the first execution; null before */
  const char *where; /* "k.cu:12: " */
};

struct cpu_watch;

struct cpu_async {
  unsigned (*address)(const void *at);
  void *(*pointer)(unsigned address); /* may be in another block of the cluster */
  unsigned (*map)(unsigned address, unsigned rank);
  void (*fence)(int kind);
  void (*cluster_barrier)(int what);
  void (*named_barrier)(unsigned number, unsigned threads, int wait);
  void (*mbarrier_init)(unsigned address, unsigned arrivals);
  void (*mbarrier_arrive)(unsigned address, unsigned expected_bytes);
  void (*mbarrier_wait)(unsigned address, unsigned parity);
  void (*bulk_load)(unsigned to, const void *from, unsigned bytes, unsigned barrier);
  void (*bulk_store)(void *to, unsigned from, unsigned bytes);
  void (*bulk_commit)(void);
  /* Finishes bulk stores of the thread until at most `newest` groups are in flight. */
  void (*bulk_wait)(unsigned newest);
  unsigned (*mbarrier_phase)(unsigned address); /* the number of completed phases */
  void (*mbarrier_expect)(unsigned address, unsigned bytes);
  /* A thread's own copies. copy_next removes the oldest copy whose group is not among the `newest`
     groups and returns 1; copy_next returns 0 if there is no such copy. With CPU_COPY_ALL, copies
     that were not committed count, too. */
  void (*copy_begin)(const struct cpu_copy *copy);
  void (*copy_commit)(void);
  int (*copy_next)(unsigned newest, struct cpu_copy *out);
  /* Inline PTX. watch: null when the kernel is not watched; site: an address in the kernel. */
  void (*ptx)(struct cpu_ptx_place *place, const char *text, const struct cpu_ptx_operand *operands,
              unsigned count, const struct cpu_watch *watch, const void *site);
};

enum cpu_barrier {
  CPU_BARRIER_PLAIN,
  CPU_BARRIER_COUNT,
  CPU_BARRIER_AND,
  CPU_BARRIER_OR,
  CPU_BARRIER_KINDS
};

struct cpu_hooks {
  /* Block-wide barrier: waits for every thread of the block that has not ended; returns the
     combined predicate. kind: of enum cpu_barrier, plus CPU_BARRIER_KINDS times the barrier's
     number in the source (0: none). */
  int (*barrier)(int kind, int predicate);
  /* Warp-wide operation. The lane parks with a pointer to its arguments; when every live lane of
     mask has arrived with the same mask and combine, combine(slots, lanes) is called once for
     those lanes: slots[lane] is the lane's `mine`, null for lanes not in mask or ended. Then all
     go on. Returns, in an observed launch, the lanes that have arrived; else mask. */
  unsigned (*warp)(unsigned mask, void (*combine)(void **slots, unsigned lanes), void *mine);
  /* Lanes of the current warp that have not ended. */
  unsigned (*active_mask)(void);
  /* Ends the launch (in a worker, the process) with "trap: what" and the block and thread as its
     fault text. Does not return. */
  void (*trap)(const char *what);
  const struct cpu_async *async;
  /* Returns the lanes of the warp that have converged here: those that wait at this place when no
     thread can run. */
  unsigned (*converged)(void);
  /* Ends the launch, which would have to be cooperative. Does not return. */
  void (*needs_grid)(void);
};

/* ---- A watched kernel, compiled with CUGEN_WATCH, reports its accesses to memory ------------ */

/* The values 8 and 16 are those of enum observed_kind (observer.h). */
enum cpu_access {
  CPU_WRITE = 1,      /* otherwise the access is a read */
  CPU_ATOMIC = 2,     /* of device scope, unless CPU_BLOCK is set */
  CPU_ASYNC = 4,      /* part of an asynchronous copy or product */
  CPU_PACKED = 32,    /* bytes, or a type without an alignment, at any address */
  CPU_VOLATILE = 64,  /* bypasses caches; with CPU_ATOMIC: an atomic load or store */
  CPU_REPLACES = 128, /* an atomic operation that ignores the old value, such as an exchange */
  CPU_BLOCK = 256     /* an atomic operation of block scope; not atomic for other blocks */
};

/* Arguments of the functions that -fsanitize=alignment and -fsanitize=bounds call: compiler-rt,
   lib/ubsan/ubsan_handlers.h and ubsan_value.h. */
struct cpu_ubsan_type {
  unsigned short kind, info; /* for an integer: 1 if signed, plus twice the logarithm of its bits */
  char name[1];
};
struct cpu_ubsan_line {
  const char *file;
  unsigned line, column;
};
struct cpu_ubsan_mismatch {
  struct cpu_ubsan_line line;
  const struct cpu_ubsan_type *type;
  unsigned char log_multiple, use; /* use: 1 for a write */
};
struct cpu_ubsan_bounds {
  struct cpu_ubsan_line line;
  const struct cpu_ubsan_type *array, *index;
};

enum { CPU_WATCH_SIZES = 5 };

/* Exported as `const struct cpu_watch *cugen_watch`, set once after loading. site: the place in
   the program; null: the return address. The calls that the compiler inserts reach the members up
   to `write` through shim/watch.h, which knows their offsets as numbers. */
struct cpu_watch {
  void (*access)(const void *at, unsigned long bytes, unsigned kind, const void *site);
  /* enter: a function that is not inlined begins, with its return address; leave: it ends. */
  void (*enter)(const void *caller);
  void (*leave)(void);
  /* memmove and memset of any length, with their accesses. */
  void *(*copied)(void *to, const void *from, unsigned long bytes, const void *site);
  void *(*filled)(void *to, int byte, unsigned long bytes, const void *site);
  /* mismatched: called for an address that is not a multiple of its type's alignment; outside: for
     an index outside of the array's type in the source. */
  void (*mismatched)(const struct cpu_ubsan_mismatch *what, const void *at, const void *site);
  void (*outside)(const struct cpu_ubsan_bounds *bounds, unsigned long index, const void *site);
  /* Plain accesses of 1, 2, 4, 8 and 16 bytes; the return address is the site. self: this table. */
  void (*read[CPU_WATCH_SIZES])(const void *at, const struct cpu_watch *self);
  void (*write[CPU_WATCH_SIZES])(const void *at, const struct cpu_watch *self);
  /* Called when the data of an earlier asynchronous copy to shared memory have arrived. */
  void (*arrived)(const void *at, unsigned long bytes, const void *site);
  void (*fence)(int device); /* __threadfence(); device 0: __threadfence_block() */
  /* Called for an address that is not the multiple that `type`, such as "'float4'" or "inline PTX",
     needs. */
  void (*misaligned)(const char *type, const void *at, unsigned long multiple, unsigned kind,
                     const void *site);
  /* Called when an operation reads a lane that its mask does not name, or that has ended. */
  void (*lane)(unsigned mask, unsigned lane);
  /* The host's memmove and memset, because the kernel's functions of these names report. */
  void *(*move)(void *to, const void *from, unsigned long bytes);
  void *(*fill)(void *to, int byte, unsigned long bytes);
};

#endif
