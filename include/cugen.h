/* cugen: CUDA kernels specialised from a Lua config and a .cu template. The library generates
   kernels, verifies them, tunes them, and remembers the best variants for each device.

   An application opens the library, a kernel (a config for one problem) and a plan (the variant to
   use), binds arguments, and launches. cugen_command runs commands of the command line. The
   header needs only the C library and compiles as C11 and C++17; CUDA handles are void pointers.
   Rules for every function:
   - Errors: a function that can fail returns CUGEN_OK (0) or a negative status, and describes the
     failure in *error unless error is NULL. After a failure a handle or string in *out is NULL and
     there is nothing to release.
   - Ownership: each handle from an _open or _bind function is released by its _close function;
     _close(NULL) does nothing. Strings belong to the handle from which they came and live until it
     is closed, unless stated otherwise.
   - NULL: pointers must not be NULL unless stated otherwise. Arrays may be NULL if their count is
     0. A wrong NULL is CUGEN_ERROR_USAGE; a function without a status then returns 0, NULL or "".
   - Options: options and result may be NULL, for all defaults and for no result. Initialise options
     with their INIT macro, which sets their size; another size is CUGEN_ERROR_USAGE.
   - JSON: results with many fields are JSON texts (docs/json.md). A JSON text belongs to the handle
     that made it, and lives until that handle makes the next one.
   - Threads: a handle may be used from any thread, but only from one at a time. Different handles
     are independent. A plan may be used, and a call launched, by several threads at once.
   - The library never prints, never exits, installs no signal handler and keeps no global state. */
#ifndef CUGEN_H
#define CUGEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* everything else in the library is hidden */
#endif

/* The version of this header. */
#define CUGEN_VERSION "0.1.0"

/* ---- Errors --------------------------------------------------------------------------------- */

/* The status that functions return. The values never change. The exit code of the command line is
   the status without its sign, unless stated otherwise. */
typedef enum cugen_status {
  CUGEN_OK = 0,
  CUGEN_ERROR_INTERNAL = -1,    /* a defect of cugen itself */
  CUGEN_ERROR_USAGE = -2,       /* a wrong option, setting or argument */
  CUGEN_ERROR_CONFIG = -3,      /* a config does not load or is inconsistent */
  CUGEN_ERROR_TEMPLATE = -4,    /* a template does not expand */
  CUGEN_ERROR_EMPTY = -5,       /* no variant satisfies the restrictions */
  CUGEN_ERROR_COMPILE = -6,     /* the compiler refused an expanded source */
  CUGEN_ERROR_DEVICE = -7,      /* the device or its driver failed */
  CUGEN_ERROR_MISSING = -8,     /* a driver, NVRTC, compiler, worker or file was not found */
  CUGEN_ERROR_CACHE = -9,       /* the cache or a wisdom file is corrupt, foreign, or newer than
                                   this cugen */
  CUGEN_ERROR_IO = -10,         /* reading or writing failed: permissions, full disk */
  CUGEN_ERROR_WRONG = -11,      /* a wrong result, a finding of a check, or no variant was correct
                                   (in the budget) */
  CUGEN_ERROR_MEMORY = -12,     /* out of memory, on the host or the device */
  CUGEN_ERROR_INTERRUPTED = -13 /* stopped on request; measurements are kept; exit code 130 (Ctrl-C)
                                   or 143 */
} cugen_status;

/* The cause of an error, more precise than its status. Most errors have none. */
typedef enum cugen_cause {
  CUGEN_CAUSE_NONE = 0,
  CUGEN_CAUSE_BOUNDS,       /* a kernel accessed memory outside its buffers, or misaligned */
  CUGEN_CAUSE_INPUT,        /* a kernel wrote to an input */
  CUGEN_CAUSE_TRAP,         /* a kernel ended itself, or the processor ended it */
  CUGEN_CAUSE_MASK,         /* a kernel's warp operation has a mask without the calling lane */
  CUGEN_CAUSE_RESOURCES,    /* the device cannot launch the kernel */
  CUGEN_CAUSE_KERNEL_TIME,  /* the driver ended a kernel that took too long */
  CUGEN_CAUSE_COMPILE_TIME, /* a compile was stopped at its time limit */
  CUGEN_CAUSE_ASSEMBLY,     /* the compiler does not know an instruction in inline assembly */
  CUGEN_CAUSE_DEVICE_LOST,  /* the device is gone; no kernel's fault */
  CUGEN_CAUSE_BUSY,         /* the cache's server could not answer just now: trying again may
                               work */
  CUGEN_CAUSE_GRID_SYNC,    /* a kernel waits for its whole grid in a launch that is not
                               cooperative */
  CUGEN_CAUSE_UNSUPPORTED   /* a GPU may launch the kernel; the cpu device cannot */
} cugen_cause;

/* Filled in by the function that failed. The message names the user's file and line if there is
   one, may have several lines, and is cut where it is too long. */
typedef struct cugen_error {
  int status;
  char message[4096];
  cugen_cause cause;
  char file[1024]; /* the user's file with the cause: a config, template, include or device; "":
                      none */
  int line;        /* line in that file, from 1; 0: none */
} cugen_error;

/* A short text for the status, such as "bad config"; never NULL. */
const char *cugen_status_text(int status);
/* The version of the library. A program that loads the library at run time compares it with
   CUGEN_VERSION. */
const char *cugen_version(void);

/* ---- The library ---------------------------------------------------------------------------- */

/* The opened library: its options, the devices, the cache. All other handles are opened from it. */
typedef struct cugen cugen;

/* Called at least ten times a second, in the caller's thread, while a function walks a space of
   variants, imports records, or waits for a database server or a command. Return nonzero to stop:
   the function then fails with CUGEN_ERROR_INTERRUPTED. */
typedef int (*cugen_stop_callback)(void *context);

/* How to open the library. Every pointer may be NULL, which means the stated default. The strings
   are copied. */
typedef struct cugen_options {
  size_t size;
  /* "cuda:0", "cpu", or "model:H200", a described GPU for which code is generated and times are
     predicted (docs/model.md). Tuning uses all devices of a list, "cuda:0,cuda:2" or "all", which
     must be of one model; other functions use the list's first, and other commands refuse a list.
     Default: $CUGEN_DEVICE, else a GPU, else "cpu". */
  const char *device;
  const char *arch;         /* architecture to generate for, such as "sm_90a"; default: the device's
                               own */
  const char *config_dir;   /* searched before the shipped configs. A named folder must exist */
  const char *template_dir; /* searched before the config's own folder and the shipped templates */
  const char *cache;        /* file or "postgresql://USER@HOST/DB"; default $CUGEN_CACHE, else
                               cugen/cugen.db in $XDG_CACHE_HOME or ~/.cache; "none": memory */
  const char *toolkit;      /* folder with NVRTC and the CUDA headers; default $CUGEN_TOOLKIT, else
                               the usual places */
  const char *compiler;     /* C++ compiler for the cpu device; default $CUGEN_CXX, c++, g++,
                               clang++ */
  const char *worker;       /* worker program, see cugen_worker_main; "none": no worker; default
                               $CUGEN_WORKER, else cugen-worker */
  const char *device_dir;   /* searched before the shipped descriptions of devices */
  cugen_stop_callback stop; /* stop callback; NULL: none. While tuning measures, only
                               cugen_tune_options.progress can stop it */
  void *stop_context;       /* passed to stop */
  const char *objective;    /* what variants are ranked by, such as "energy" (docs/tuning.md);
                               default: the config's, else time */
  const char *prefer;       /* which variants win a tie: "simplest" (default), or those with the
                               fewest "registers" or the least "energy" */
  /* how variants are timed: "burst", "graph", "sustained", "cold" (docs/tuning.md). Records of
     different measures are kept apart. Default: the config's, else "burst" */
  const char *measure;
  const char *pin;     /* file with choices (cugen_plan_save) that plans take; default $CUGEN_PIN */
  const char *capture; /* file to which lines on plans are appended; default $CUGEN_CAPTURE */
  int no_library;      /* 1: no variant is a kernel of a library such as cuBLASLt */
} cugen_options;

#define CUGEN_OPTIONS_INIT                                                                         \
  {                                                                                                \
    sizeof(cugen_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
        NULL, NULL, NULL, NULL, 0                                                                  \
  }

/* Opens the library. Options in the environment are read now and never later; TMPDIR, PATH,
   XDG_STATE_HOME and HOME also when a file or program is needed. A missing driver or unusable cache
   is reported by the function that needs it. Close lib after everything that was opened from it. */
int cugen_open(const cugen_options *options, cugen **out, cugen_error *error);
void cugen_close(cugen *lib);

/* Holds a file in memory (a config, template or include), so that an application can ship the file
   inside itself. The name is relative, without "..": "scale.lua", "kernels/scale.cu". Memory is
   searched before any folder; a config whose name begins with / or ./ is always on disk. The text
   is copied; NULL with length 0 is an empty file. Adding a name again replaces the file for kernels
   opened later. CUGEN_ERROR_USAGE: the name or length is not valid. */
int cugen_add_file(cugen *lib, const char *name, const char *text, size_t length,
                   cugen_error *error);

/* Describes the installation for a bug report: lines "name: value" with what was found where
   (driver, NVRTC, headers, compiler, cublasLt, cache, worker), or the places searched, and what
   keeps the cache, its compiled kernels, the file of options.capture or the times of records from
   being written. The text lives until the next call. */
const char *cugen_where(cugen *lib);

/* A device. "" and 0 mean unknown. */
typedef struct cugen_device_info {
  char id[32];                       /* id for options.device: "cuda:0", "cpu" */
  char name[128];                    /* "NVIDIA H200" */
  char uuid[48];                     /* "GPU-..." or "" */
  char arch[16];                     /* "sm_90a" */
  int driver_version, nvrtc_version; /* CUDA versions, 13000 for 13.0; 0: there is none */
  int sm_count;
  int clock_khz, memory_clock_khz, memory_bus_bits; /* highest clocks, and width of the memory bus;
                                                       0: not applicable */
  int64_t memory_bytes, l2_bytes;
  int64_t shared_bytes_per_block; /* with opt-in */
} cugen_device_info;

/* Lists the devices of this machine, first CUDA GPUs, then "cpu". Returns how many exist; fills at
   most count. *why (may be NULL) becomes the reason that there is no CUDA GPU, until the next call;
   NULL if there is one. */
size_t cugen_devices(cugen *lib, cugen_device_info *out, size_t count, const char **why);

/* ---- Kernels: a config for one problem ------------------------------------------------------ */

/* A config for one problem (sizes, types, flags) on the device of the library. */
typedef struct cugen_kernel cugen_kernel;

/* Opens a kernel. config: a path, or a name that is searched in memory, in the current folder, in
   config_dir and among the shipped configs ("matmul" and "matmul.lua" are equivalent). settings:
   count strings "name=value", such as "M=4096"; a name may be set only once. */
int cugen_kernel_open(cugen *lib, const char *config, const char *const *settings, size_t count,
                      cugen_kernel **out, cugen_error *error);
void cugen_kernel_close(cugen_kernel *kernel);

/* The kernel's name in the config: "matmul". */
const char *cugen_kernel_name(const cugen_kernel *kernel);
/* The problem, in the config's order: "M=4096 N=4096 K=4096 dtype=f32". */
const char *cugen_kernel_problem(const cugen_kernel *kernel);
/* The kernel's device. */
const cugen_device_info *cugen_kernel_device(const cugen_kernel *kernel);
/* Why the cpu device is the default; NULL if a GPU is, or a device was named. */
const char *cugen_kernel_fallback(const cugen_kernel *kernel);

/* What the kernel does with an argument. */
typedef enum cugen_argument_kind {
  CUGEN_ARGUMENT_INPUT,   /* a buffer that is read */
  CUGEN_ARGUMENT_OUTPUT,  /* a buffer that is written completely */
  CUGEN_ARGUMENT_INOUT,   /* a buffer that is read and written */
  CUGEN_ARGUMENT_SCRATCH, /* a buffer for the kernel's own use; cugen can allocate it */
  CUGEN_ARGUMENT_SCALAR,  /* a number, passed by value */
  CUGEN_ARGUMENT_CONSTANT /* values that the kernel reads, copied at bind: a symbol, or passed by
                             address */
} cugen_argument_kind;

/* The largest number of dimensions of a buffer. */
#define CUGEN_MAX_RANK 4

/* An argument of the kernel for its problem. */
typedef struct cugen_argument_info {
  const char *name;
  cugen_argument_kind kind;
  const char *dtype;              /* "f32"; "struct": a struct that is passed by value */
  int rank;                       /* 0 for a scalar */
  int64_t shape[CUGEN_MAX_RANK];  /* elements, logical order */
  int64_t stride[CUGEN_MAX_RANK]; /* in elements; 0s with tiles or a swizzle */
  const char *layout;             /* "row", "col", "row/32x8:col", ... in its shortest form;
                                     "strides" where the config gives the strides */
  int64_t bytes;                  /* size of the whole argument, pitch included; 0: absent, or
                                     scratch that the variant does not use */
  const char *memory;             /* "device", "pinned", "mapped", "managed", "registered" */
  int compiled_in;                /* scalar: its value is part of the source and is not passed */
  int absent;                     /* the problem has no such argument: pass NULL. The other members
                                     are those of a scalar */
  int overwrite;                  /* input: the kernel may write to the buffer, so it is not
                                     const */
  const char *data;               /* source of the test data: a fill ("uniform"), "values", "file",
                                     "generator"; NULL: none */
  const char *data_from;          /* the expression or file of data; NULL: neither, or in a plan */
  const char *access;             /* how the kernel reaches the argument: "global", "constant",
                                     "texture", "array", "symbol", "pointer", "tensor", "field" */
  int is_size;                    /* scalar: passes a size of the problem; with a larger value the
                                     kernel exceeds its buffers */
  int64_t size;                   /* value of that size; otherwise 0 */
} cugen_argument_info;

/* The number of arguments, and the argument at index, in the config's order. CUGEN_ERROR_USAGE: no
   such index. CUGEN_ERROR_EMPTY: there is no valid variant, so the shapes are unknown. */
size_t cugen_kernel_arguments(const cugen_kernel *kernel);
int cugen_kernel_argument(const cugen_kernel *kernel, size_t index, cugen_argument_info *out,
                          cugen_error *error);

/* ---- Plans: the variant to use, loaded ------------------------------------------------------ */

/* One variant of a kernel, compiled for its device and loaded into a CUDA context. The variant
   changes only with CUGEN_PLAN_EXPLORE. Several threads may use a plan at once, except to close it.
   The plan needs its library and its context, which must be closed after it; its kernel may be
   closed before, unless the plan is that of cugen_plan_for.

   On the cpu device a plan runs in the calling thread, on host memory, one launch at a time,
   without contexts, streams and isolation. A trap or a deadlock is CUGEN_ERROR_DEVICE from the
   launch, and the plan stays usable; a wild access or an endless loop harms this process. */
typedef struct cugen_plan cugen_plan;

/* For cugen_plan_options.flags. */
enum {
  CUGEN_PLAN_TUNED_ONLY = 1,   /* fail with CUGEN_ERROR_USAGE instead of choosing
                                  CUGEN_PLAN_DEFAULT or CUGEN_PLAN_OTHER_GPU */
  CUGEN_PLAN_PRIMARY = 2,      /* use the device's primary context, whatever is current; no effect
                                  on the cpu device */
  CUGEN_PLAN_BY_PORTFOLIO = 4, /* a problem that is not tuned uses the kernel's portfolio before the
                                  policy */
  CUGEN_PLAN_EXPLORE = 8       /* a few launches use other correct variants, to find the fastest */
};

/* Which variant to use, and where to load it. */
typedef struct cugen_plan_options {
  size_t size;
  unsigned flags;       /* CUGEN_PLAN_... flags */
  void *context;        /* a CUcontext of the kernel's device; NULL: the thread's current context,
                           else the primary context */
  double distance;      /* 0: the config's policy; > 0: nearest, up to this distance; < 0: this
                           problem only */
  const void *choice;   /* from cugen_plan_save: use this variant, whatever is remembered; NULL:
                           choose one */
  size_t choice_size;   /* bytes of choice */
  const char *bitwise;  /* a variant: use only variants recorded to give the same bits; precedes
                           pinned choices; NULL: any */
  double explore_share; /* share of launches for CUGEN_PLAN_EXPLORE, at most 0.5; 0: 0.05 */
} cugen_plan_options;

#define CUGEN_PLAN_OPTIONS_INIT                                                                    \
  { sizeof(cugen_plan_options), 0, NULL, 0.0, NULL, 0, NULL, 0.0 }

/* The origin of a plan's variant. */
typedef enum cugen_plan_choice {
  CUGEN_PLAN_EXACT, /* the best remembered for this problem */
  CUGEN_PLAN_NEAR,  /* the best remembered for the problem that the policy selects: the nearest, or
                       its bucket's */
  /* nothing measured here serves: a variant that cugen ships or the model puts first, else on a GPU
     the config's suggestion (try), else the first valid variant */
  CUGEN_PLAN_DEFAULT,
  CUGEN_PLAN_PINNED,    /* the choice in options.choice, or in the file of options.pin or
                           $CUGEN_PIN */
  CUGEN_PLAN_PORTFOLIO, /* named by a portfolio's rule: measured for other sizes */
  CUGEN_PLAN_OTHER_GPU  /* the best remembered for this problem on another GPU, of the same model or
                           compute capability */
} cugen_plan_choice;

/* A plan, and the reason for its variant. For a default, pinned or portfolio choice tuned_for is
   NULL, and seconds, measured_at and the versions are 0. */
typedef struct cugen_plan_info {
  const char *kernel, *problem;
  const char *variant;
  cugen_plan_choice choice;
  const char *tuned_for; /* the problem of the record */
  const char *tuned_on;  /* the other GPU of the record, or of the shipped portfolio;
                                        otherwise NULL */
  double distance;       /* from this problem to tuned_for */
  double seconds;        /* median time of one run of all launches, measured for
                                        tuned_for */
  double flops, bytes;   /* declared work of tuned_for, or if that is NULL of the problem;
                                        0: not declared */
  int predicted;         /* the variant was not measured on a GPU: the model chose it */
  int64_t measured_at;   /* seconds since the epoch */
  int driver_version, nvrtc_version; /* CUDA versions of the measurement */
  const char *source_hash;           /* hash of the source without comments and spacing: equal
                                        hashes mean the same code */
  int image_from_cache;              /* 0: the image was compiled now */
  size_t launches;                   /* kernels launched by one cugen_call_launch */
  size_t arguments;                  /* number of arguments of cugen_call_bind */
} cugen_plan_info;

/* Opens a plan, by options->bitwise or the pinned choice (options->choice, else the problem's
   choice in the file of cugen_options.pin), which must be valid, else with the best variant
   remembered for the kernel's problem, else as the config's policy (docs/config.md) or
   options->distance decides.

   A remembered variant must be valid for this problem and measured with the present source;
   otherwise the next best variant of that problem is taken. If there is none, records of this very
   problem on another GPU serve (CUGEN_PLAN_OTHER_GPU; not if options->distance < 0), at last
   CUGEN_PLAN_DEFAULT (docs/embedding.md); both are errors with CUGEN_PLAN_TUNED_ONLY. Unless it is
   pinned, a variant is not taken if its present source is recorded to fail on this device: for this
   problem, and on the cpu device for the check problem with these types and layouts.
   CUGEN_ERROR_WRONG: all variants are recorded to fail.

   The variant is compiled, or its image is taken from the cache. CUGEN_ERROR_USAGE: the context
   belongs to another device, or a context was given for the cpu device. A line that cannot be
   appended to options.capture is not an error.

   With CUGEN_PLAN_EXPLORE a CUGEN_PLAN_EXACT plan uses other variants in at most
   options->explore_share of its launches, and changes to one that proves faster
   (docs/embedding.md). Exploration never waits and never compiles. */
int cugen_plan_open(cugen_kernel *kernel, const cugen_plan_options *options, cugen_plan **out,
                    cugen_error *error);
void cugen_plan_close(cugen_plan *plan);
const cugen_plan_info *cugen_plan_about(const cugen_plan *plan);
/* Describes an argument like cugen_kernel_argument, for the plan's variant. */
int cugen_plan_argument(const cugen_plan *plan, size_t index, cugen_argument_info *out,
                        cugen_error *error);

/* An array as an application has it. */
typedef struct cugen_array {
  const char *dtype;             /* "bf16"; NULL: the type that the kernel expects */
  int rank;                      /* 0: no array is given: a scalar, scratch, or an output to come */
  int64_t shape[CUGEN_MAX_RANK]; /* elements */
  int64_t stride[CUGEN_MAX_RANK]; /* in elements */
} cugen_array;

/* Finds the plan for arrays, so that one kernel serves all sizes: arrays[i] is the kernel's i-th
   argument; arguments behind them are not given. A setting of cugen_kernel_open holds. Every other
   parameter of the problem follows from the arrays: sizes from shapes, types from dtypes, layouts
   and pitches from strides. A parameter that arrays do not show keeps the kernel's value, and so
   does, of several sizes in one extent (batch * M), the one declared last: set it. An array whose
   layout depends on the variant is not compared: see cugen_plan_argument.

   Arrays like earlier arrays get the same plan, in less than a microsecond. Others open a plan as
   cugen_plan_open does with these options, which may compile and never tunes; give the same options
   in each call. The plans belong to the kernel, which closes them when it is closed; plans of one
   variant may share its loaded image and its variables. After cugen_kernel_tune on this kernel all
   arrays are new, and the earlier plans stay open. CUGEN_ERROR_USAGE: no problem of the config has
   such arrays. */
int cugen_plan_for(cugen_kernel *kernel, const cugen_array *arrays, size_t count,
                   const cugen_plan_options *options, cugen_plan **out, cugen_error *error);

/* Gives the plan's choice as bytes, for cugen_plan_options.choice elsewhere, which then takes the
   same variant. The bytes are text and belong to the plan. Opening a plan with the bytes fails with
   CUGEN_ERROR_CACHE if they are damaged or of a newer cugen, and with CUGEN_ERROR_USAGE if the
   kernel, problem, architecture or source differs, or the variant is not valid. */
int cugen_plan_save(cugen_plan *plan, const void **bytes, size_t *size, cugen_error *error);

/* The results of a plan with CUGEN_PLAN_EXPLORE. */
typedef struct cugen_plan_exploration {
  size_t variants;     /* number of variants to choose from; 1: nothing is explored */
  uint64_t launches;   /* launches until the plan settled, or so far */
  uint64_t explored;   /* how many of `launches` used another variant than that which served then */
  int settled;         /* the plan explores no further */
  const char *variant; /* the variant that serves now; lives as long as the plan */
} cugen_plan_exploration;

/* The progress of the plan's exploration. Without CUGEN_PLAN_EXPLORE it has only the plan's
   variant. */
int cugen_plan_explored(const cugen_plan *plan, cugen_plan_exploration *out, cugen_error *error);

/* ---- Calls: arguments, and the launch ------------------------------------------------------- */

/* A plan with its arguments. Close it before its plan. */
typedef struct cugen_call cugen_call;

/* Binds arguments. arguments[i] is the plan's i-th argument, as cugen_plan_argument describes it:
   - Buffer: its device pointer (cpu device: host pointer), aligned to the size of an element, for
     access "tensor" to 16 bytes, for "texture" to 512; otherwise CUGEN_ERROR_USAGE.
   - Scratch: a buffer, zeroed once if the config says fill = "zero". NULL: the call allocates its
     own, zeroed if needed.
   - Scalar: a pointer to its value, copied now; NULL: the problem's value. A value that is compiled
     in cannot change. Buffers and grid stay those of the problem, so a larger value of a size
     (is_size) overruns the buffers unchecked. For dtype "struct": a pointer to
     cugen_argument_info.bytes bytes, in which the addresses of other arguments are set.
   - Constant: a pointer to its values, on host or device, copied now, which synchronises the
     context. A symbol belongs to the plan, so the last bind applies to all its calls. Values that
     are passed by address belong to the call.
   - Buffer in a __device__ symbol (access "symbol"): copied from the buffer before the launches if
     the kernel reads it, and to the buffer after them if the kernel writes it. Access "pointer":
     the launches set the symbol to the buffer's address. NULL: the symbol stays as it is, see
     cugen_plan_write and cugen_plan_read.
   - Absent: NULL.

   Scratch and absent arguments at the end of the list may be left out of arguments and count. */
int cugen_call_bind(cugen_plan *plan, void *const *arguments, size_t count, cugen_call **out,
                    cugen_error *error);
/* Closes a call. If the call owns scratch, textures or copies of constants, its launches must have
   ended. */
void cugen_call_close(cugen_call *call);
/* Binds other arguments by the rules of cugen_call_bind; scratch that the call owns is kept.
   Earlier launches keep their arguments; with textures or constants the function waits for those
   launches. After a failure the call is unchanged. */
int cugen_call_rebind(cugen_call *call, void *const *arguments, size_t count, cugen_error *error);

/* Launches on a CUstream (or cudaStream_t) of the plan's context; NULL: the default stream of the
   current context, which must be the plan's. Returns before the kernels end. The function takes no
   lock, allocates nothing and looks nothing up. A call with scratch or access "array" may be used
   by one thread and on one stream at a time; bind more calls for more. If a plan has a buffer or
   its address in a symbol, all its calls together are so limited. On the cpu device launches take a
   lock, the kernels have ended on return, and stream must be NULL, else CUGEN_ERROR_USAGE. */
int cugen_call_launch(const cugen_call *call, void *stream, cugen_error *error);

/* ---- Symbols: the __device__ and __constant__ variables of a plan --------------------------- */

/* Finds the variable of that name: its address and its bytes, like cudaGetSymbolAddress and
   cudaGetSymbolSize. address and bytes may be NULL. A variable in a namespace has its mangled name:
   "_ZN3app5countE"; a static variable has none. The variable belongs to the plan: two plans of one
   kernel have a variable each. CUGEN_ERROR_USAGE: there is no such variable. */
int cugen_plan_symbol(const cugen_plan *plan, const char *name, void **address, size_t *bytes,
                      cugen_error *error);

/* Copies into the variable, beginning at offset, like cudaMemcpyToSymbolAsync: on stream (as for
   cugen_call_launch), ordered and asynchronous like a launch. from: host or device memory,
   which must not change until the stream has made the copy. CUGEN_ERROR_USAGE: there is no such
   variable, the bytes reach past its end, or the variable is const and on the cpu device. */
int cugen_plan_write(cugen_plan *plan, const char *name, size_t offset, const void *from,
                     size_t bytes, void *stream, cugen_error *error);
/* Copies out of the variable, like cudaMemcpyFromSymbolAsync: wait for the stream before reading
   *to. */
int cugen_plan_read(cugen_plan *plan, const char *name, size_t offset, void *to, size_t bytes,
                    void *stream, cugen_error *error);

/* ---- Tuning --------------------------------------------------------------------------------- */

/* The stage of tuning. */
typedef enum cugen_stage {
  CUGEN_STAGE_SEARCH, /* variants are tried */
  CUGEN_STAGE_RACE,   /* the fastest variants are measured again, in turn */
  CUGEN_STAGE_VERIFY, /* predictions only: the best variant runs on the cpu device */
  CUGEN_STAGE_DATA    /* input data and the reference's results are computed; variants wait for
                         them */
} cugen_stage;

/* The progress of tuning; valid during the callback. */
typedef struct cugen_progress {
  size_t done, failed, planned; /* counts of variants over all problems; planned: as many as the
                                   budget allows, 0: the budget is a time */
  uint64_t valid;               /* variants in the space of `problem` */
  double elapsed, remaining;    /* seconds; remaining < 0: unknown */
  const char *best;             /* the best variant of `problem`, or NULL */
  double best_seconds;
  const char *last;     /* the variant of `problem` that was tried last, or NULL */
  double flops, bytes;  /* declared work of the problem, from the config; 0: not declared, or
                           unknown yet */
  const char *problem;  /* the problem that is being tuned */
  size_t problem_index; /* index of `problem`, from 0, in the array of cugen_kernels_tune */
  size_t problems;      /* number of problems being tuned; 1 for cugen_kernel_tune */
  cugen_stage stage;    /* stage of the problem's tuning; done does not change after the search */
  const char *lost;     /* devices that failed and are no longer used: "cuda:3: why", one per line;
                           or NULL */
} cugen_progress;

/* Called again and again during tuning, in the thread that called cugen_kernel_tune or
   cugen_kernels_tune. Return nonzero to stop. */
typedef int (*cugen_progress_callback)(const cugen_progress *progress, void *context);

/* For cugen_tune_options.flags. */
enum {
  CUGEN_TUNE_IN_PROCESS = 1 /* start no process but the C++ compiler; see cugen_kernel_tune for the
                               consequences */
};

/* A function of your own that does the kernel's work, to compare the best variant with
   (docs/tuning.md). arguments are those of cugen_call_bind, all of them, with values for scalars;
   about[i] describes arguments[i]. The function launches on stream (a cudaStream_t; NULL on the cpu
   device, where pointers are the host's) without waiting, and returns 0, or a code of a failure. In
   C++ declare it extern "C". */
typedef int (*cugen_baseline)(void *const *arguments, const cugen_argument_info *const *about,
                              void *stream);

/* How to tune. */
typedef struct cugen_tune_options {
  size_t size;
  const char *strategy;       /* "surrogate" or another strategy of docs/tuning.md; NULL:
                                       "surrogate" */
  uint64_t seed;              /* seed of the strategy and of the input data */
  double budget_seconds;      /* 0: 60 on a GPU, 30 on the cpu device and for predictions, none
                                       with budget_count; < 0: no limit */
  size_t budget_count;        /* variants to try at most; 0: no limit */
  double variant_timeout;     /* seconds one variant may run before it is killed; 0: 10 */
  int threads;                /* compile threads; 0: one per processor */
  int again;                  /* measure remembered variants again */
  const char *implementation; /* implementations to tune, such as "wgmma,naive*"; NULL: all */
  cugen_progress_callback progress; /* NULL: none */
  void *context;                    /* passed to progress */
  unsigned flags;                   /* CUGEN_TUNE_... flags */
  void *cuda_context;               /* with CUGEN_TUNE_IN_PROCESS: as cugen_plan_options.context */
  double verify_seconds;            /* predictions: seconds for verifying the fastest on the CPU; 0:
                                       30; < 0: no verification */
  double compile_timeout;           /* seconds one compile may take before it is stopped; 0: 60 */
  /* cugen_kernels_tune: spend half of the budget on measuring the best of each problem on all
     others, so that a portfolio of this many kernels can be learnt: cugen_command with "tune",
     "--portfolio", "8", "--budget", "0" (docs/portfolios.md); 0: do not */
  size_t portfolio;
  const double *weights; /* cugen_kernels_tune: each kernel's share of the budget; NULL: equal
                            shares */
  const char *bitwise;   /* a variant, or "best": tune only variants that give the same bits
                            (docs/tuning.md); NULL: all */
  int patience;          /* end after so many variants in a row that are not 0.5 % better than the
                            best before them; 0: none, but 24 on the cpu device and for predictions
                            if cugen_kernel_tune has no budget; < 0: none */
  const char *baseline; /* "./libmine.so:function", a cugen_baseline in a shared library: verify it,
                            and time it in turn with the best variant; NULL: none */
} cugen_tune_options;

#define CUGEN_TUNE_OPTIONS_INIT                                                                    \
  {                                                                                                \
    sizeof(cugen_tune_options), NULL, 1, 0.0, 0, 0.0, 0, 0, NULL, NULL, NULL, 0, NULL, 0.0, 0.0,   \
        0, NULL, NULL, 0, NULL                                                                     \
  }

/* Tunes in isolated worker processes and remembers each measurement as it arrives; calling it again
   resumes (docs/tuning.md). Plans opened afterwards take the new best. *result becomes JSON:
   "problem", the figures of the "run", and the "records" of the problem: correct variants, best
   first, then failed ones.

   On the cpu device the config's check problem is tuned, except for parameters that settings set.
   For a described GPU predictions are stored instead of measurements, and the fastest is verified
   on the cpu device (docs/model.md).

   The budget is exceeded by at most a tenth, or by a second if that is more. The excess may be
   larger if a variant runs while none was correct yet, or with CUGEN_TUNE_IN_PROCESS. A run with a
   budget ends early if one compile error refuses all variants. CUGEN_ERROR_WRONG: no variant was
   correct, or none was measured in the budget. CUGEN_ERROR_INTERRUPTED: the callback asked to stop.
   In both cases *result is filled in and measurements are kept. CUGEN_ERROR_USAGE: the variant of
   options->bitwise is not valid, not correct, or its launches differ. CUGEN_ERROR_MISSING: there is
   no worker program.

   CUGEN_TUNE_IN_PROCESS uses threads of this process instead, in options->cuda_context, else the
   current context, else the primary one. This gives no isolation: on a GPU a variant that traps
   breaks the context and everything in it. A variant that does not end within variant_timeout keeps
   its thread, and the library must stay loaded. Both are CUGEN_ERROR_DEVICE, and the variant is
   remembered as failed; call again to go on. On the cpu device a variant can do whatever the
   application can. */
int cugen_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options, const char **result,
                      cugen_error *error);

/* Tunes several kernels of one library within one budget, such as one config for several problems.
   The kernels must not be used elsewhere meanwhile. Nothing is tuned if one of the kernels cannot
   be. Each kernel gets an equal share of the budget, or one by options->weights, which are 0 or
   more (docs/tuning.md). budget_seconds 0, without a count, is the default for each kernel;
   budget_count is at least the number of kernels. At most 1000 kernels. *result becomes a JSON
   array with the results of cugen_kernel_tune, in the order of kernels; it belongs to the first
   kernel.

   Errors are those of cugen_kernel_tune, and name the problem. CUGEN_ERROR_EMPTY: no variant serves
   a problem. CUGEN_ERROR_WRONG: some kernels have no correct variant (in the budget); the others
   are tuned. After any other error the measurements before it are kept. */
int cugen_kernels_tune(cugen_kernel *const *kernels, size_t count,
                       const cugen_tune_options *options, const char **result, cugen_error *error);

/* The records of this kernel on this device, as a JSON array: correct variants, best first, then
   failed ones. After a run with cugen_tune_options.bitwise, correct variants with other bits stand
   between these. */
int cugen_kernel_records(cugen_kernel *kernel, const char **out, cugen_error *error);

/* Expands a variant to its .cu source. variant: "tiled tile=16 pad=1" (omitted tunables have their
   first valid value); the name of an implementation alone; "best" (the best measured for this
   very problem; an error if there is none); or NULL for the variant that a plan without pin would
   use. *name (may be NULL) becomes the variant's full text. Both strings live until the kernel is
   used again. */
int cugen_kernel_source(cugen_kernel *kernel, const char *variant, const char **source,
                        const char **name, cugen_error *error);

/* ---- Wisdom: records to ship ---------------------------------------------------------------- */

/* Merges a file of 'cugen cache export' into the cache: all of it, or nothing after a failure. If
   the library's stop callback stops the import while the file is read, nothing is imported; if
   later, a server imports nothing, and the next program that opens a cache file completes the
   import. docs/cache.md says which of two records of a variant is used. *result becomes JSON with
   the numbers of records. CUGEN_ERROR_CACHE: a line is not valid. CUGEN_ERROR_MISSING: there is no
   such file. CUGEN_ERROR_IO: the file cannot be read, or the cache not written. */
int cugen_cache_import(cugen *lib, const char *path, const char **result, cugen_error *error);

/* ---- Commands ------------------------------------------------------------------------------- */

/* Runs a command of the command line and returns its JSON. words: {"check", "matmul.lua", "--set",
   "M=64"}, without "cugen" and "--json". Every command that takes --json can be run (docs/json.md);
   options that are not given are those with which lib was opened. The command runs in a process of
   its own, whose program is that of options.worker (see below), and sees neither files of
   cugen_add_file nor a cache in memory. If the library's stop callback ends the process,
   CUGEN_ERROR_INTERRUPTED comes back, and measurements are kept. *json is also set if the command
   failed after it had a result, such as a check with findings (CUGEN_ERROR_WRONG); otherwise a
   failure sets *json to NULL. CUGEN_ERROR_USAGE: there is no such command, or it has no JSON.
   CUGEN_ERROR_MISSING: there is no worker program. */
int cugen_command(cugen *lib, const char *const *words, size_t count, const char **json,
                  cugen_error *error);

/* ---- The worker program --------------------------------------------------------------------- */

/* The worker program. Isolated work (compiling, tuning, checking) runs in the program cugen-worker,
   which is installed with the library and found beside it. Library and worker must be of one build,
   otherwise functions fail with CUGEN_ERROR_MISSING. With options.worker "none" this process
   compiles, so that a source that crashes NVRTC ends the process, and tuning needs
   CUGEN_TUNE_IN_PROCESS.

   An application that cannot ship cugen-worker can itself be the worker: set options.worker to the
   application's file, and begin main with
   if (argc > 1 && strcmp(argv[1], "worker") == 0) return cugen_worker_main(argc, argv);
   The worker uses file descriptor 3. */
int cugen_worker_main(int argc, char **argv);

/* The path of this header, stored in the program, by which a statically linked program finds the
   worker of the installation. */
#if defined(__GNUC__) && !defined(CUGEN_INSIDE)
extern const char cugen_header_file[] __attribute__((weak, visibility("hidden")));
const char cugen_header_file[] = __FILE__;
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
