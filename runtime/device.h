/* Devices behind a table of functions (struct device_ops). Callers should look at capability bits
   instead of a device's name. The backends are cuda (cuda/device.c) and cpu (emulator/device.c,
   which compiles the same source with a C++ compiler).

   Threads: describe and compile may be called from several threads at once and need no open device.
   An open device belongs to one thread, except for alloc, free, copy, copy_2d, symbol, texture_*,
   tensor_make, parameters, prepare, unprepare, launch_on and timer_*, which several threads may
   call at once. After a sticky error of a GPU (illegal address, trap) the process is expected to
   end. */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include <stdatomic.h>

#include "base/cause.h"
#include "base/gpu.h"
#include "base/kernel.h"
#include "base/launch.h"
#include "base/system.h"
#include "watch.h"

struct device; /* made by open; the first member of the backend's own struct */

enum device_capability {
  DEVICE_EXECUTES_ON_GPU = 1, /* measured times are those of a GPU */
  DEVICE_OCCUPANCY = 2,       /* registers and occupancy are meaningful */
  DEVICE_CONCURRENT = 4,      /* launches are asynchronous */
  /* kernels run as code of this process and can access all its memory */
  DEVICE_IN_PROCESS = 8
};

/* ---- Compiling ------------------------------------------------------------------------------ */

struct compilers; /* see cuda/compilers.h */
struct toolkit;   /* see compile/toolkit.h */

/* How the message of a compile that ran into its time limit continues after the source's name. */
#define COMPILE_LATE "compiling was stopped after "

/* Limits of one compile. Memory and stack are limited only in a compiler's own process; a deeper
   stack accepts more deeply nested sources. */
enum {
  COMPILER_STACK_MB = 64,
  COMPILER_MEMORY_MB = 4096,
  COMPILER_IMAGE_MB = 64, /* of the image and of the PTX, each */
  COMPILER_SECONDS = 600  /* timeout in a compiler process for a request that sets none */
};

/* How many more sources with the same beginning the requesting thread expects to compile. */
enum compile_more { COMPILE_UNKNOWN, COMPILE_FEW, COMPILE_MANY };

struct compile_request {
  const struct toolkit *toolkit;
  /* the processes that NVRTC runs in; NULL: NVRTC runs in this process */
  struct compilers *compilers;
  const char *name; /* of the source, for messages */
  const char *source;
  const char *options;        /* kernel_spec.options; NULL: none */
  const char *arch;           /* "sm_90a"; the cpu device ignores the architecture */
  const char *const *entries; /* the wanted kernels by their names in the source; distinct */
  size_t entry_count;
  double timeout; /* seconds; 0: COMPILER_SECONDS in a compiler process, otherwise no limit */
  bool keep_ptx;  /* also return the PTX, in compiled.ptx */
  enum compile_more more;
  /* With `watched`: memory accesses stay where the source has them, whereas a GPU's compiler may
     move them. */
  bool at_source;
  /* For the cpu device: the kernel reports its accesses (watch.h); it runs on a device that was
     opened with a report. */
  bool watched;
  /* when stop.asked returns true, the compiler's process is killed and compile returns
     CUGEN_ERROR_INTERRUPTED; NVRTC in this process does not ask */
  struct process_stop stop;
};

struct kernel_resources {
  int registers;          /* per thread; 0: not known, as on the cpu device */
  int max_threads;        /* per block, by the launch bounds, else 1024; 0: not known */
  int64_t static_shared;  /* bytes per block, without the driver's reserved bytes */
  int64_t local_bytes;    /* per thread: stack frame, spills included */
  int64_t spill_bytes;    /* per thread: spill stores + loads, from the compile log */
  int64_t constant_bytes; /* the module's __constant__ data */
  /* The kernel waits for its grid, and traps unless its launch is cooperative. False also for an
     image from the cache, which does not say. */
  bool grid_sync;
};

/* Facts from the kernel's machine code; see model/sass.c. */
struct sass_facts {
  int instructions; /* 0: nothing is known of the machine code */
  int loads;        /* of global memory, static count in the program text */
  int in_flight;    /* most loads under way together before a result is waited for */
  int shared_quads; /* loads of shared memory of 16 bytes a lane */
  int shared_pairs; /* loads of shared memory of 8 bytes a lane */
};

struct compiled {
  /* cubin, PTX, a shared object for the cpu device, or the text of a call (base/library.h) */
  void *image;
  size_t image_length;
  struct hash image_hash;
  size_t entry_count;
  /* names of the entries in the image (lowered), in the request's order */
  char *entries[KERNEL_MAX_ENTRIES];
  struct kernel_resources resources[KERNEL_MAX_ENTRIES];
  struct sass_facts code[KERNEL_MAX_ENTRIES];
  char *log; /* the compiler's warnings; "": none */
  /* Of an image compiled with `watched`: the compiler moved accesses, so that a compile with
     at_source may lead to other findings. */
  bool moved;
  char *ptx; /* the PTX of the image if the request asked for PTX and NVRTC gave it; else NULL */
};

void compiled_free(struct compiled *compiled);
/* Returns false without memory; *to is empty then. */
bool compiled_copy(const struct compiled *from, struct compiled *to);

/* ---- Memory --------------------------------------------------------------------------------- */

struct memory {
  enum memory_kind kind;
  void *device; /* address for kernels */
  void *host;   /* address for the host; NULL for device memory of a GPU */
  size_t bytes;
  void *base; /* for the backend: the allocation to free */
  size_t base_bytes;
};

/* Guard zones before and behind a buffer, and the eight bytes that repeat in both zones,
   beginning at every address that is divisible by eight. */
struct memory_guards {
  void *before, *after;
  size_t before_bytes, after_bytes;
  uint64_t pattern;
};

/* ---- Textures ------------------------------------------------------------------------------- */

/* An argument that the kernel reads through the texture units. */
struct texture {
  unsigned long long object; /* the value that the kernel is passed */
  const struct kernel_argument *argument;
  void *buffer;
  /* For the backend: the array that the buffer is copied into; NULL: the texture reads the buffer
     itself. */
  void *array;
};

/* Extents of a texture in elements, x first (the contiguous dimension). Dimensions that the
   argument does not have are 1. */
struct texture_extent {
  int64_t width, height, depth;
  int64_t row, slice; /* elements from one row, and from one slice, to the next */
};

struct texture_extent texture_extent(const struct kernel_argument *argument);

/* ---- Tensor maps ---------------------------------------------------------------------------- */

/* The driver's CUtensorMap, which a kernel is passed by value and hands to the tensor memory
   accelerator. */
struct tensor_map {
  _Alignas(64) unsigned char bytes[128];
};

/* ---- Clocks --------------------------------------------------------------------------------- */

struct device_clock {
  int sm_mhz;        /* 0: not known */
  int power_watts;   /* 0: not known */
  char throttle[48]; /* what holds the clocks back, such as "power cap, thermal"; "": none known */
  bool at_power_cap;
};

/* ---- The table ------------------------------------------------------------------------------ */

struct device_description {
  char id[32]; /* "cuda:0" */
  char name[128];
  char uuid[48];
  char arch[16];
  /* Names the kind of device that a measurement belongs to: model, compute capability and number
     of SMs ("NVIDIA H200 sm_90 132 SMs"); for the cpu device the processor, the compiler and its
     flags. */
  char fingerprint[256];
  int driver_version;
  struct device_facts facts;
  struct gpu_rates rates; /* from a description of the GPU; all 0 without one */
};

/* Returns the target of a compiled image: `arch`, or for the cpu device the fingerprint. */
const char *device_target(const struct device_description *device, const char *arch);

struct device_options {
  const struct toolkit *toolkit;
  int ordinal;
  /* NULL, or memory that outlives a crash of this process and receives the description of the
     fault */
  struct fault *fault;
  /* The application's context to work in, which must outlive the device; NULL: the device's
     primary context. */
  void *context;
  /* For the cpu device: the process is an application's. Its signal handlers stay in place, and a
     trap is an error of the launch, not a crash. */
  bool embedded;
  /* NULL, or where kernels compiled with `watched` write their findings and counters. */
  struct watch_report *report;
  /* For the cpu device: called before the first kernel runs, when everything that the kernel
     needs is loaded; NULL: no call. */
  void (*before_launch)(void *context);
  void *before_context;
  /* NULL, or the key of seccomp_fork, for launches that are spread over processes of their own */
  const uint64_t *fork;
  /* NULL, or set to end a running kernel of the cpu device at its next wait or at the end of a
     block */
  const atomic_bool *stop;
};

struct loaded; /* a compiled image loaded on a device */
struct entry;  /* a kernel of a loaded image */
struct graph;  /* launches recorded for replay; defined by the backend */
struct timer;  /* measures launches on an application's streams; defined by the backend */

/* How many runs of a plan one call of device_ops.time with `held` may queue. A run may be several
   kernels, of which a CUDA stream queues about a thousand. */
enum { DEVICE_HELD = 256 };

#define DEVICE_NO_SYMBOL "there is no __constant__ or __device__ variable '%s'"

struct device_ops {
  const char *kind; /* "cuda", "cpu": the part of an id before ':' */
  unsigned capabilities;

  /* Returns the number of the backend's devices; 0: err says why. */
  int (*count)(const struct toolkit *toolkit, cugen_error *err);
  /* Describes a device without making a context. */
  int (*describe)(const struct toolkit *toolkit, int ordinal, struct device_description *out,
                  cugen_error *err);

  int (*compile)(const struct compile_request *request, struct compiled *out, cugen_error *err);

  int (*open)(const struct device_options *options, struct device **out, cugen_error *err);
  void (*close)(struct device *device);

  /* guard: put guards around the memory, so that memory_check (or a fault) detects writes out of
     bounds. The content is undefined. */
  int (*alloc)(struct device *device, enum memory_kind kind, size_t bytes, bool guard,
               struct memory *out, cugen_error *err);
  void (*free)(struct device *device, struct memory *memory);
  /* Allocates rows of `width` bytes, *pitch bytes apart; the backend chooses the pitch. */
  int (*alloc_pitched)(struct device *device, size_t width, size_t rows, size_t *pitch,
                       struct memory *out, cugen_error *err);
  /* CUGEN_ERROR_WRONG when the kernel wrote over a guard; the message has the byte offset. Also
     restores the guard. */
  int (*memory_check)(struct device *device, const struct memory *memory, cugen_error *err);
  /* Gets the guard zones that kernels can read; false: the memory has none. The function is NULL if
     the backend's guards are not readable memory. */
  bool (*guards)(const struct memory *memory, struct memory_guards *out);
  int (*upload)(struct device *device, void *to_device, const void *from_host, size_t bytes,
                cugen_error *err);
  int (*download)(struct device *device, void *to_host, const void *from_device, size_t bytes,
                  cugen_error *err);
  /* Copies between two places, in the order of launches and as asynchronous as a launch; stream:
     as for texture_update. */
  int (*copy)(struct device *device, void *to, const void *from, size_t bytes, void *const *stream,
              cugen_error *err);
  /* Copies rows of `width` bytes between packed or pitched places; either side may be host memory
     (the backend finds out). */
  int (*copy_2d)(struct device *device, void *to, size_t to_pitch, const void *from,
                 size_t from_pitch, size_t width, size_t rows, cugen_error *err);
  int (*fill)(struct device *device, void *to_device, unsigned char byte, size_t bytes,
              cugen_error *err);
  /* The size of the caches whose content survives from one launch to the next. */
  size_t (*cache_bytes)(const struct device *device);
  /* Writes to all cache lines of `memory`, so that a cache of at most half that size holds nothing
     else. Runs in the order of launches, and asynchronously where launches are asynchronous. */
  int (*flush)(struct device *device, const struct memory *memory, cugen_error *err);

  int (*load)(struct device *device, const struct compiled *compiled, struct loaded **out,
              cugen_error *err);
  void (*unload)(struct device *device, struct loaded *loaded);
  /* Finds the index-th entry of the compiled image and allows it to use dynamic_shared bytes, also
     more than 48 KB. CUGEN_ERROR_DEVICE: the device has less. `loaded` owns the entry. */
  int (*entry)(struct device *device, struct loaded *loaded, size_t index, int64_t dynamic_shared,
               struct entry **out, cugen_error *err);
  /* Sets an entry's preferred share of shared memory in the storage that L1 and shared memory
     share, in percent. NULL: the backend has no carveout. */
  int (*carve)(struct device *device, struct entry *entry, int percent, cugen_error *err);
  /* The address and size of a __constant__ or __device__ symbol; CUGEN_ERROR_CONFIG with
     DEVICE_NO_SYMBOL where the image has no such symbol. written: the caller will write the
     symbol; CUGEN_ERROR_USAGE on the cpu device if the symbol is const. */
  int (*symbol)(struct device *device, struct loaded *loaded, const char *name, bool written,
                void **address, size_t *bytes, cugen_error *err);
  /* Makes the texture of an argument, whose access is texture or array, over a buffer; argument
     and buffer are borrowed until texture_free. */
  int (*texture_make)(struct device *device, const struct kernel_argument *argument, void *buffer,
                      struct texture *out, cugen_error *err);
  void (*texture_free)(struct device *device, struct texture *texture);
  /* Copies the buffer into the texture's array, before a launch on the same stream; stream NULL:
     the device's own, as for launch. */
  int (*texture_update)(struct device *device, const struct texture *texture, void *const *stream,
                        cugen_error *err);
  /* Makes the tensor map of an argument, whose access is tensor, over a buffer: host work only,
     nothing has to be freed. NULL: the backend has no tensor maps. */
  int (*tensor_make)(struct device *device, const struct kernel_argument *argument, void *buffer,
                     struct tensor_map *out, cugen_error *err);

  /* The number of blocks with that many threads that fit on a multiprocessor, as the driver
     answers; 0: none, or not known. */
  int (*active_blocks)(struct device *device, struct entry *entry, int threads,
                       int64_t dynamic_shared);
  /* The number of the launch's clusters that run at once, as the driver answers; 0: the launch has
     no clusters, or the number is not known. NULL: the backend has no clusters. */
  int (*active_clusters)(struct device *device, struct entry *entry,
                         const struct kernel_launch *launch);

  /* Makes what a call of the entry needs beside its parameters, such as a library's workspace. The
     parameters are bound, and a launch finds *out behind the last parameter. before: *out of a call
     that the new call replaces, from which device memory may be taken; NULL: none. *out NULL:
     nothing is needed. prepare and unprepare are NULL if the backend never needs anything. */
  int (*prepare)(struct device *device, struct entry *entry, void *const *parameters, void *before,
                 void **out, cugen_error *err);
  void (*unprepare)(struct device *device, struct entry *entry, void *prepared);
  /* parameters[i] points at the value of the i-th kernel parameter. Asynchronous where
     DEVICE_CONCURRENT is set. */
  int (*launch)(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                void **parameters, cugen_error *err);
  /* Launches on an application's stream, from any thread. Not asynchronous on the cpu device,
     which has no streams. */
  int (*launch_on)(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                   void **parameters, void *stream, cugen_error *err);
  /* Calls run(context, stream) in the device's context, with the stream of `launch`; the stream is
     NULL where there are no streams. */
  int (*call)(struct device *device, int (*run)(void *context, void *stream, cugen_error *err),
              void *context, cugen_error *err);
  /* Times the launches of one thread between start and stop on an application's stream, without
     waiting: read returns false until they are done. start returns false where nothing can be
     timed, as on a stream under capture. A timer has one use at a time. NULL: the backend has no
     launch_on. */
  int (*timer_make)(struct device *device, struct timer **out, cugen_error *err);
  void (*timer_free)(struct device *device, struct timer *timer);
  bool (*timer_start)(struct device *device, struct timer *timer, void *stream);
  bool (*timer_stop)(struct device *device, struct timer *timer, void *stream);
  bool (*timer_read)(struct device *device, struct timer *timer, double *seconds);
  /* The calling thread's current context, for device_options.context; NULL when the thread has
     none. The function is NULL if the backend has no contexts. */
  int (*current_context)(const struct toolkit *toolkit, void **out, cugen_error *err);
  int (*sync)(struct device *device, cugen_error *err);
  /* Measures how long run(context) keeps the device busy, and waits for its end. held: run only
     queues launches, of at most DEVICE_HELD runs of a plan; a GPU starts them when all are queued,
     or after a time limit, so that a pause of this thread is not timed. */
  int (*time)(struct device *device, bool held, int (*run)(void *context, cugen_error *err),
              void *context, double *seconds, cugen_error *err);
  /* Records the launches of run(context) as a graph instead of running them. NULL, like the three
     functions below: the backend has no graphs. */
  int (*graph_make)(struct device *device, int (*run)(void *context, cugen_error *err),
                    void *context, struct graph **out, cugen_error *err);
  int (*graph_launch)(struct device *device, struct graph *graph, cugen_error *err);
  void (*graph_free)(struct device *device, struct graph *graph);
  /* CUGEN_ERROR_DEVICE when the installed driver has no graphs. Needs no open device. */
  int (*graphs)(const struct toolkit *toolkit, cugen_error *err);
  /* Tells an attached profiler that the launches to be profiled begin or end. NULL: the backend has
     no profiler. */
  void (*profile)(struct device *device, bool begin);
  /* Reads the present clocks and power. NULL: the backend cannot read them. */
  void (*clock)(struct device *device, struct device_clock *out);
  /* Joules that the device has taken since an arbitrary moment; NULL: the backend has no energy
     counters. energy_check fails with the reason if the counter cannot be read, and needs no
     context. */
  int (*energy)(struct device *device, double *joules, cugen_error *err);
  int (*energy_check)(const struct toolkit *toolkit, const struct device_description *device,
                      cugen_error *err);
  /* Empties the report (device_options.report) and names the buffers that the next launches work
     on. NULL: the backend has no reports. */
  int (*watch)(struct device *device, const struct watch_buffer *buffers, size_t count,
               cugen_error *err);
  /* Makes the next launches run their blocks from the last to the first. A launch that takes more
     than `seconds` of processor time ends with CUGEN_CAUSE_UNSUPPORTED, because its blocks may wait
     for blocks with lower indices. seconds 0 restores the usual order. An embedded device ignores
     the call. NULL: the backend cannot reverse blocks. */
  void (*reverse_blocks)(struct device *device, double seconds);
  /* The resources of the index-th kernel of an image, as far as the image has them; no device
     has to be open. */
  void (*needs)(const struct compiled *compiled, size_t index, struct kernel_needs *out);
  /* The number of parameters that the kernel takes; their sizes in bytes go into sizes[0 ..
     capacity). -1: not known. NULL: the backend never knows. */
  int (*parameters)(struct entry *entry, int *sizes, int capacity);
};

/* The declaration of a backend's function, and its initialiser in the table, by the member's
   name. */
#define DEVICE_DECLARE(backend, member)                                                            \
  __typeof__(*((const struct device_ops *)0)->member) backend##_##member;
#define DEVICE_MEMBER(backend, member) .member = backend##_##member

/* The first member of the struct that a backend's open returns. */
struct device {
  const struct device_ops *ops;
  struct device_description description;
};

#endif
