/* Devices behind one table of functions; callers look at capability bits, never at a name. Two rows: cuda
   (cuda/device.c) and cpu (cpu/device.c, which compiles the same source with the system's C++ compiler).

   Threads: describe and compile may be called from any thread at once and need no open device. An open device
   belongs to one thread, but for alloc, free, copy_2d, symbol, texture_*, tensor_make, parameters and launch_on, which may be called from
   several at once. A GPU that failed with a sticky error (illegal address, trap) stays failed; its process is
   expected to end. */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include <stdatomic.h>

#include "base/cause.h"
#include "base/gpu.h"
#include "base/kernel.h"
#include "base/launch.h"
#include "base/system.h"
#include "watch.h"

struct device; /* made by open; the row's own data follows */

enum device_capability {
  DEVICE_EXECUTES_ON_GPU = 1, /* its times are a GPU's */
  DEVICE_OCCUPANCY = 2,       /* registers and occupancy mean something */
  DEVICE_CONCURRENT = 4,      /* launches are asynchronous */
  DEVICE_IN_PROCESS = 8       /* kernels are code of this process, and share all it has */
};

/* ---- Compiling ---- */

struct compilers; /* see cuda/compilers.h */
struct toolkit;   /* see compile/toolkit.h */

/* How the reason of a compile that did not end in its time goes on behind the source's name. */
#define COMPILE_LATE "compiling was stopped after "

/* What one compile may use. Beyond the memory NVRTC fails or ends; a stack that is deeper lets through more of what nests. */
enum {
  COMPILER_STACK_MB = 64,
  COMPILER_MEMORY_MB = 4096,
  COMPILER_IMAGE_MB = 64, /* of what it makes, each of image and PTX */
  COMPILER_SECONDS = 600  /* where the request has no limit */
};

/* How many more sources that begin alike its thread will compile, as far as who asks knows: enough to be worth a preparation. */
enum compile_more { COMPILE_UNKNOWN, COMPILE_FEW, COMPILE_MANY };

struct compile_request {
  const struct toolkit *toolkit;
  struct compilers *compilers; /* for NVRTC: runs there; NULL: in this process */
  const char *name;            /* of the source in messages */
  const char *source;
  const char *options;        /* kernel_spec's; NULL: none */
  const char *arch;           /* "sm_90a"; ignored by the cpu device */
  const char *const *entries; /* kernels wanted, as named in the source; distinct */
  size_t entry_count;
  double timeout; /* seconds; 0: none */
  bool keep_ptx;  /* compiled.ptx is wanted, too */
  enum compile_more more;
  bool at_source; /* of a watched one: accesses stay where the source has them; a GPU's compiler may move them */
  bool watched;   /* for the cpu device: reports what it does, see watch.h; runs on a device opened with a report */
  struct process_stop stop; /* likewise: the compiler is killed, CUGEN_ERROR_INTERRUPTED */
};

struct kernel_resources {
  int registers;          /* a thread; 0 on the cpu device */
  int max_threads;        /* a block, from launch bounds */
  int64_t static_shared;  /* bytes a block, without what the driver reserves */
  int64_t local_bytes;    /* a thread: stack frame, spills included */
  int64_t spill_bytes;    /* a thread: spill stores + loads, from the compile log */
  int64_t constant_bytes; /* module's __constant__ data */
  bool grid_sync; /* it ends the context unless its launch is cooperative; of an image from the cache: false */
};

/* What its machine code says; see model/sass.h. */
struct sass_facts {
  int instructions; /* 0: nothing is known */
  int loads;        /* of global memory, in the text of the program */
  int in_flight;    /* of them, under way together at most before a result is waited for */
  int shared_quads; /* loads of shared memory that bring a lane 16 bytes, */
  int shared_pairs; /* and 8 */
};

struct compiled {
  void *image; /* cubin, or a shared object for the cpu device */
  size_t image_length;
  struct hash image_hash;
  size_t entry_count;
  char *entries[KERNEL_MAX_ENTRIES]; /* names in the image (lowered), as requested */
  struct kernel_resources resources[KERNEL_MAX_ENTRIES];
  struct sass_facts code[KERNEL_MAX_ENTRIES];
  char *log;  /* compiler's warnings; "" */
  bool moved; /* of a watched one: compiled at_source, it would say of accesses what this does not */
  char *ptx;  /* what the image was made of, where it was asked for; else NULL */
};

void compiled_free(struct compiled *compiled);
/* false: no memory, and *to is empty. */
bool compiled_copy(const struct compiled *from, struct compiled *to);

/* ---- Memory ---- */

struct memory {
  enum memory_kind kind;
  void *device; /* address for kernels */
  void *host;   /* address for the host, NULL for device memory of a GPU */
  size_t bytes;
  void *base; /* the row's own: what to free */
  size_t base_bytes;
};

/* Two zones beside guarded memory, and the eight bytes that repeat in them from every address on that eight divides. */
struct memory_guards {
  void *before, *after;
  size_t before_bytes, after_bytes;
  uint64_t pattern;
};

/* ---- Textures ---- */

/* What a kernel reads through the texture units. */
struct texture {
  unsigned long long object; /* what the kernel is passed */
  const struct kernel_argument *argument;
  void *buffer;
  void *array; /* the row's own: what the buffer is copied into; NULL: the buffer itself is read */
};

/* In elements, x first: along the contiguous dimension. Those that the argument does not have are 1. */
struct texture_extent {
  int64_t width, height, depth;
  int64_t row, slice; /* from one row, one slice to the next */
};

struct texture_extent texture_extent(const struct kernel_argument *argument);

/* ---- Tensor maps ---- */

/* What a kernel hands to the tensor memory accelerator, passed by value: the driver's CUtensorMap. */
struct tensor_map {
  _Alignas(64) unsigned char bytes[128];
};

/* ---- Clocks ---- */

struct device_clock {
  int sm_mhz;        /* 0: not known */
  int power_watts;   /* 0: not known */
  char throttle[48]; /* what holds the clocks back, such as "power cap, thermal"; "" */
  bool at_power_cap;
};

/* ---- The table ---- */

struct device_description {
  char id[32]; /* "cuda:0" */
  char name[128];
  char uuid[48];
  char arch[16];
  /* Names the kind of device a measurement belongs to: model, compute capability, SM count ("NVIDIA H200 sm_90
     132 SMs"); for the cpu device processor, compiler and flags. */
  char fingerprint[256];
  int driver_version;
  struct device_facts facts;
  struct gpu_rates rates; /* of a described device; else all 0 */
};

/* What an image is made for: the architecture, on the cpu device this very processor and compiler. */
const char *device_target(const struct device_description *device, const char *arch);

struct device_options {
  const struct toolkit *toolkit;
  int ordinal;
  struct fault *fault; /* NULL, or memory that outlives a crash: what went wrong is written there */
  /* A context of the application's to work in, which must outlive the device; NULL: the row's own. */
  void *context;
  /* The process is an application's: it keeps its signal handlers, and a trap is an error of the launch. */
  bool embedded;
  /* NULL, or what watched kernels bring to light on the cpu device is written there. */
  struct watch_report *report;
  /* For the cpu device. Called before the first kernel runs, when what it needs is loaded; NULL: nothing is. */
  void (*before_launch)(void *context);
  void *before_context;
  const uint64_t *fork; /* NULL, or the key of seccomp_fork, for launches that use processes of their own */
  const atomic_bool
      *stop; /* NULL, or set to end what runs on the cpu device, where it comes to wait or to a block's end */
};

struct loaded; /* a compiled image on a device */
struct entry;  /* one of its kernels */
struct graph;  /* launches to be replayed; the row's own */
struct timer;  /* of launches on an application's streams; the row's own */

#define DEVICE_NO_SYMBOL "there is no __constant__ or __device__ variable '%s'"

struct device_ops {
  const char *kind; /* "cuda", "cpu": what stands before ':' in an id */
  unsigned capabilities;

  /* How many there are; 0 with err set says why there are none. */
  int (*count)(const struct toolkit *toolkit, cugen_error *err);
  /* Without making a context. */
  int (*describe)(const struct toolkit *toolkit, int ordinal, struct device_description *out, cugen_error *err);

  int (*compile)(const struct compile_request *request, struct compiled *out, cugen_error *err);

  int (*open)(const struct device_options *options, struct device **out, cugen_error *err);
  void (*close)(struct device *device);

  /* guard: put guards around the memory that memory_check (or a fault) will see violated. Content is undefined. */
  int (*alloc)(struct device *device, enum memory_kind kind, size_t bytes, bool guard, struct memory *out,
               cugen_error *err);
  void (*free)(struct device *device, struct memory *memory);
  /* Pitched memory as the driver makes it: rows of width bytes, *pitch bytes apart. */
  int (*alloc_pitched)(struct device *device, size_t width, size_t rows, size_t *pitch, struct memory *out,
                       cugen_error *err);
  /* CUGEN_ERROR_WRONG when a guard was written over; the message says at which byte offset. It is whole again afterwards. */
  int (*memory_check)(struct device *device, const struct memory *memory, cugen_error *err);
  /* Where the guards are that kernels can read; false: the memory has none. NULL in a row whose guards are no memory. */
  bool (*guards)(const struct memory *memory, struct memory_guards *out);
  int (*upload)(struct device *device, void *to_device, const void *from_host, size_t bytes, cugen_error *err);
  int (*download)(struct device *device, void *to_host, const void *from_device, size_t bytes, cugen_error *err);
  /* Between two places, ordered like a launch and as asynchronous; stream: as for texture_update. */
  int (*copy)(struct device *device, void *to, const void *from, size_t bytes, void *const *stream, cugen_error *err);
  /* Rows of width bytes between packed or pitched places; either side may be host (the row finds out). */
  int (*copy_2d)(struct device *device, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t rows, cugen_error *err);
  int (*fill)(struct device *device, void *to_device, unsigned char byte, size_t bytes, cugen_error *err);
  /* How much of what kernels use stays in caches from one launch to the next. */
  size_t (*cache_bytes)(const struct device *device);
  /* Writes all of it, so that caches which hold no more than half of it hold nothing else. Ordered like a launch and as
     asynchronous. */
  int (*flush)(struct device *device, const struct memory *memory, cugen_error *err);

  int (*load)(struct device *device, const struct compiled *compiled, struct loaded **out, cugen_error *err);
  void (*unload)(struct device *device, struct loaded *loaded);
  /* The index-th entry of the compiled image, allowed dynamic_shared bytes (past 48 KB too). CUGEN_ERROR_DEVICE
     when the device cannot give that. Owned by loaded. */
  int (*entry)(struct device *device, struct loaded *loaded, size_t index, int64_t dynamic_shared, struct entry **out,
               cugen_error *err);
  /* Which part of what L1 and shared memory share an entry prefers as shared memory, in percent. NULL: no such thing. */
  int (*carve)(struct device *device, struct entry *entry, int percent, cugen_error *err);
  /* A __constant__ or __device__ symbol; CUGEN_ERROR_CONFIG and DEVICE_NO_SYMBOL where there is none. written: it is to be
     written; CUGEN_ERROR_USAGE where the device cannot, since it is const. */
  int (*symbol)(struct device *device, struct loaded *loaded, const char *name, bool written, void **address,
                size_t *bytes, cugen_error *err);
  /* argument, whose access is texture or array, over a buffer; both are borrowed until texture_free. */
  int (*texture_make)(struct device *device, const struct kernel_argument *argument, void *buffer,
                      struct texture *out, cugen_error *err);
  void (*texture_free)(struct device *device, struct texture *texture);
  /* The buffer into the array, before a launch on the same stream; stream NULL: the device's own, as for launch. */
  int (*texture_update)(struct device *device, const struct texture *texture, void *const *stream, cugen_error *err);
  /* argument, whose access is tensor, over a buffer: host work only, nothing to give back. NULL: no such thing. */
  int (*tensor_make)(struct device *device, const struct kernel_argument *argument, void *buffer,
                     struct tensor_map *out, cugen_error *err);

  /* Blocks of that many threads that fit on one multiprocessor, by the driver's own answer; 0: not applicable. */
  int (*active_blocks)(struct device *device, struct entry *entry, int threads, int64_t dynamic_shared);
  /* Clusters of the launch that run at once, by the driver's own answer; 0: it has none, or that is not known. NULL in a
     row without clusters. */
  int (*active_clusters)(struct device *device, struct entry *entry, const struct kernel_launch *launch);

  /* parameters[i] points at the i-th kernel parameter's value. Asynchronous where DEVICE_CONCURRENT. */
  int (*launch)(struct device *device, struct entry *entry, const struct kernel_launch *launch, void **parameters,
                cugen_error *err);
  /* The same on a stream of the application's, from any thread; not asynchronous on the cpu device, which has none. */
  int (*launch_on)(struct device *device, struct entry *entry, const struct kernel_launch *launch, void **parameters,
                   void *stream, cugen_error *err);
  /* The time of what one thread launches between start and stop on a stream of the application's. Nobody waits: read says false until it is
     over. start says false where nothing can be timed, as on a stream that is captured. One use at a time. NULL in a row without launch_on. */
  int (*timer_make)(struct device *device, struct timer **out, cugen_error *err);
  void (*timer_free)(struct device *device, struct timer *timer);
  bool (*timer_start)(struct device *device, struct timer *timer, void *stream);
  bool (*timer_stop)(struct device *device, struct timer *timer, void *stream);
  bool (*timer_read)(struct device *device, struct timer *timer, double *seconds);
  /* The calling thread's current context, for device_options.context; NULL when it has none. NULL in a row without
     contexts. */
  int (*current_context)(const struct toolkit *toolkit, void **out, cugen_error *err);
  int (*sync)(struct device *device, cugen_error *err);
  /* Time that run(context) keeps the device busy, and waits for it. */
  int (*time)(struct device *device, int (*run)(void *context, cugen_error *err), void *context, double *seconds,
              cugen_error *err);
  /* What run(context) launches becomes a graph instead of being run. NULL, as the three below, in a row without graphs. */
  int (*graph_make)(struct device *device, int (*run)(void *context, cugen_error *err), void *context,
                    struct graph **out, cugen_error *err);
  int (*graph_launch)(struct device *device, struct graph *graph, cugen_error *err);
  void (*graph_free)(struct device *device, struct graph *graph);
  /* CUGEN_ERROR_DEVICE when the driver that was found has none. Needs no open device. */
  int (*graphs)(const struct toolkit *toolkit, cugen_error *err);
  /* Tells a profiler, where one is attached, that the launches which it is to look at begin, or end. NULL in a row that none
     looks at. */
  void (*profile)(struct device *device, bool begin);
  /* What the clocks do now. NULL in a row that never knows. */
  void (*clock)(struct device *device, struct device_clock *out);
  /* Joules that it has taken since some moment; NULL in a row that never knows. energy_check: whether it will, asked where there is no
     context; the message is the reason. */
  int (*energy)(struct device *device, double *joules, cugen_error *err);
  int (*energy_check)(const struct toolkit *toolkit, const struct device_description *device, cugen_error *err);
  /* Empties the report and names the memory that the watched launches after it work on. NULL in a row without them. */
  int (*watch)(struct device *device, const struct watch_buffer *buffers, size_t count, cugen_error *err);
  /* The blocks of the launches that follow run from the last one to the first. A launch that takes more processor time than that, since
     its blocks may wait for those in front of them, ends with CUGEN_CAUSE_UNSUPPORTED. seconds 0: they run in the usual order
     again. NULL in a row that cannot do that. */
  void (*reverse_blocks)(struct device *device, double seconds);
  /* What the index-th kernel of an image takes, as far as the image says it; no device has to be open. */
  void (*needs)(const struct compiled *compiled, size_t index, struct kernel_needs *out);
  /* How many parameters the kernel takes, and into sizes[0 .. capacity) their bytes; -1: not known. NULL in a row
     that never knows. */
  int (*parameters)(struct entry *entry, int *sizes, int capacity);
};

/* What open gives begins with this. */
struct device {
  const struct device_ops *ops;
  struct device_description description;
};

#endif
