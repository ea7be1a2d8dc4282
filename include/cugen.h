/* cugen: CUDA kernels specialised from a Lua config and a .cu template. The library generates them, verifies them,
   tunes them and remembers the best for each device.

   An application opens the library, a kernel (a config for one problem) and a plan (the variant to use), binds
   arguments, and launches. It may also tune, and take over results that were tuned elsewhere. Whatever else the command
   line can do, cugen_command does. The header needs only the C library and compiles as C11 and C++17; CUDA handles are
   void pointers. Rules for every function:

   - Errors: a function that can fail returns CUGEN_OK (0) or a negative status, and describes the failure in *error
     unless error is NULL. After a failure *out is NULL and there is nothing to release.
   - Ownership: each handle from an _open or _bind function is released by its _close function; _close(NULL) does
     nothing. Strings belong to the handle that they came from and live until it is closed, unless stated otherwise.
   - NULL: pointers must not be NULL unless stated. Arrays may be NULL if their count is 0. A wrong NULL is
     CUGEN_ERROR_USAGE; a function without a status then returns 0, NULL or "".
   - Options: options and result may be NULL: all defaults, and no result wanted. Initialise options with their INIT
     macro, which sets their size; another size is CUGEN_ERROR_USAGE.
   - JSON: results with many fields are JSON texts; docs/json.md describes each field. They belong to the handle that made
     them and live until that handle makes the next one.
   - Threads: use a handle from any thread, but from one at a time. Different handles are independent. A plan may be
     used by several threads at once.
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

/* Of this header. */
#define CUGEN_VERSION "0.1.0"

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* What functions return. The values never change. The command line's exit code is the status without its sign. */
typedef enum cugen_status {
  CUGEN_OK = 0,
  CUGEN_ERROR_INTERNAL = -1,    /* a defect of cugen itself */
  CUGEN_ERROR_USAGE = -2,       /* a wrong option, setting or argument */
  CUGEN_ERROR_CONFIG = -3,      /* a config does not load or is inconsistent */
  CUGEN_ERROR_TEMPLATE = -4,    /* a template does not expand */
  CUGEN_ERROR_EMPTY = -5,       /* no variant satisfies the restrictions */
  CUGEN_ERROR_COMPILE = -6,     /* the compiler refused an expanded source */
  CUGEN_ERROR_DEVICE = -7,      /* the device or its driver failed */
  CUGEN_ERROR_MISSING = -8,     /* a driver, NVRTC, a compiler or a file was not found */
  CUGEN_ERROR_CACHE = -9,       /* the cache, or wisdom, is corrupt, foreign, or newer than this cugen */
  CUGEN_ERROR_IO = -10,         /* reading or writing failed: permissions, full disk */
  CUGEN_ERROR_WRONG = -11,      /* a wrong result, a finding of a check, or no variant was correct (in the budget) */
  CUGEN_ERROR_MEMORY = -12,     /* out of memory, on the host or the device */
  CUGEN_ERROR_INTERRUPTED = -13 /* stopped on request; measurements are kept; exit code 130 (Ctrl-C) or 143 */
} cugen_status;

/* What a status does not tell and a program may want to know. Most errors have none. */
typedef enum cugen_cause {
  CUGEN_CAUSE_NONE = 0,
  CUGEN_CAUSE_BOUNDS,       /* a kernel accessed memory outside its buffers */
  CUGEN_CAUSE_INPUT,        /* a kernel wrote to an input */
  CUGEN_CAUSE_TRAP,         /* a kernel ended itself, or the processor ended it */
  CUGEN_CAUSE_MASK,         /* a kernel's warp operation has a mask without the calling lane */
  CUGEN_CAUSE_RESOURCES,    /* the device cannot launch the kernel */
  CUGEN_CAUSE_KERNEL_TIME,  /* the driver ended a kernel that took too long */
  CUGEN_CAUSE_COMPILE_TIME, /* a compile was stopped at its time limit */
  CUGEN_CAUSE_ASSEMBLY,     /* the compiler does not know an instruction in inline assembly */
  CUGEN_CAUSE_DEVICE_LOST,  /* the device is gone, whatever ran on it */
  CUGEN_CAUSE_BUSY,         /* the cache's server could not do it just now: trying again may work */
  CUGEN_CAUSE_GRID_SYNC,    /* a kernel waits for its whole grid in a launch that is not cooperative */
  CUGEN_CAUSE_UNSUPPORTED   /* a GPU may launch the kernel; the cpu device cannot */
} cugen_cause;

/* Filled by the function that failed. The message has one or more lines, names the user's file and line if there is
   one, and says what to do. A message that is too long is cut. */
typedef struct cugen_error {
  int status;
  char message[4096];
  cugen_cause cause;
  char file[1024]; /* of the user's, where the cause is: a config, a template, an include, a device; "": none */
  int line;        /* of that file, from 1; 0: none */
} cugen_error;

/* "bad config" and the like; never NULL. */
const char *cugen_status_text(int status);
/* The version of the library, which a program that loads it at run time compares with CUGEN_VERSION. */
const char *cugen_version(void);

/* ---- The library --------------------------------------------------------------------------------------------- */

/* The opened library: its options, the devices, the cache. Everything else is opened from it. */
typedef struct cugen cugen;

/* Asked at least ten times a second, in the caller's thread, while a space of variants is walked or
   a database server is waited for. Return nonzero to stop: the function fails with
   CUGEN_ERROR_INTERRUPTED, and the next one walks anew. */
typedef int (*cugen_stop_callback)(void *context);

/* How to open the library. Every pointer may be NULL, which means the stated default. The strings are copied. */
typedef struct cugen_options {
  size_t size;
  /* "cuda:0", "cpu", or a described GPU, "model:H200", for which code is generated and times are predicted (docs/model.md).
     Of a list of one model, "cuda:0,cuda:2" or "all", all but tuning use the first. Default: the first GPU, else "cpu". */
  const char *device;
  const char *arch;         /* architecture to generate for, such as "sm_90a"; default: the device's own */
  const char *config_dir;   /* searched before the shipped configs; it and the other folders have to exist */
  const char *template_dir; /* searched before the config's own folder and the shipped templates */
  const char *cache;        /* file or "postgresql://USER@HOST/DB"; default $CUGEN_CACHE, else
                               $XDG_CACHE_HOME/cugen/cugen.db; "none": memory */
  const char *toolkit;      /* folder with NVRTC and the CUDA headers; default: see cugen_where */
  const char *compiler;     /* C++ compiler for the cpu device; default $CUGEN_CXX, c++, g++, clang++ */
  const char *worker;       /* see cugen_worker_main; default $CUGEN_WORKER, else cugen-worker; "none" */
  const char *device_dir;   /* searched before the described devices that ship */
  cugen_stop_callback stop; /* NULL: none. Functions with a progress callback ask that one too */
  void *stop_context;       /* for stop */
  const char *objective;    /* what is best, such as "energy" (docs/tuning.md); default: the config's, else time */
  const char *prefer;       /* of variants that tie: "simplest" (default), "registers" or "energy", the fewest */
  const char *measure;      /* how variants are timed: "burst", "graph", "sustained", "cold" (docs/tuning.md); records
                               of two ways are kept apart. Default: the config's, else "burst" */
  const char *pin;          /* file of choices (cugen_plan_save) for plans to take; default $CUGEN_PIN */
  const char *capture;      /* file that gets a line for each plan opened; default $CUGEN_CAPTURE */
} cugen_options;

#define CUGEN_OPTIONS_INIT                                                                                           \
  {                                                                                                                  \
    sizeof(cugen_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
        NULL                                                                                                         \
  }

/* Reads the environment; nothing reads it later. A missing driver or an unusable cache is reported by the function that
   needs it. Close everything opened from lib before lib. */
int cugen_open(const cugen_options *options, cugen **out, cugen_error *error);
void cugen_close(cugen *lib);

/* Holds a file in memory (a config, template or include), so that an application can ship it inside itself. The name is
   relative, without "..": "scale.lua", "kernels/scale.cu". Memory is searched before any folder, for files that a file in
   memory mentions too; a config named with a leading / or ./ is always on disk. The text is copied; NULL with length 0 is
   an empty file. The same name again replaces it for kernels opened later. CUGEN_ERROR_USAGE: not a valid name. */
int cugen_add_file(cugen *lib, const char *name, const char *text, size_t length, cugen_error *error);

/* For a bug report: lines of "name: value" that say what was found where (driver, NVRTC, headers, compiler, cache,
   worker), or every place searched. "capture": with options.capture, and why lines are missing in it. "warning": the cache
   was found not to be writable. "clock": this machine's is wrong, so that records
   have no time. "image key": compiled kernels are not kept, since the key that signs them cannot be used. */
const char *cugen_where(cugen *lib);

/* A device of this machine. "" and 0 mean not known. */
typedef struct cugen_device_info {
  char id[32];                       /* for options.device: "cuda:0", "cpu" */
  char name[128];                    /* "NVIDIA H200" */
  char uuid[48];                     /* "GPU-..." or "" */
  char arch[16];                     /* "sm_90a" */
  int driver_version, nvrtc_version; /* of CUDA, 13000 for 13.0; 0: there is none */
  int sm_count;
  int clock_khz, memory_clock_khz, memory_bus_bits; /* the highest clocks, the bus's width; 0: not applicable */
  int64_t memory_bytes, l2_bytes;
  int64_t shared_bytes_per_block; /* opt-in limit */
} cugen_device_info;

/* The devices of this machine, CUDA GPUs first, then "cpu". Returns how many exist; fills at most count. *why (may be
   NULL) is the reason if there is no CUDA GPU, else NULL. */
size_t cugen_devices(cugen *lib, cugen_device_info *out, size_t count, const char **why);

/* ---- Kernels: a config for one problem ----------------------------------------------------------------------- */

/* A config for one problem (sizes, types, flags) on the device of its library. */
typedef struct cugen_kernel cugen_kernel;

/* config: a path, or a name that is searched in memory, in the current folder, in config_dir and among the shipped
   configs ("matmul" and "matmul.lua" are the same). settings: count strings "name=value", such as "M=4096", a name once. */
int cugen_kernel_open(cugen *lib, const char *config, const char *const *settings, size_t count, cugen_kernel **out,
                      cugen_error *error);
void cugen_kernel_close(cugen_kernel *kernel);

/* The config's name for it: "matmul". */
const char *cugen_kernel_name(const cugen_kernel *kernel);
/* "M=4096 N=4096 K=4096 dtype=f32", in the config's order. */
const char *cugen_kernel_problem(const cugen_kernel *kernel);
/* The device it is for: options.device, or the default. */
const cugen_device_info *cugen_kernel_device(const cugen_kernel *kernel);
/* NULL, or why the default is the cpu device. */
const char *cugen_kernel_fallback(const cugen_kernel *kernel);

/* What the kernel does with an argument. */
typedef enum cugen_argument_kind {
  CUGEN_ARGUMENT_INPUT,   /* a buffer that is read */
  CUGEN_ARGUMENT_OUTPUT,  /* a buffer that is written completely */
  CUGEN_ARGUMENT_INOUT,   /* a buffer that is read and written */
  CUGEN_ARGUMENT_SCRATCH, /* a buffer for the kernel's own use; cugen can allocate it */
  CUGEN_ARGUMENT_SCALAR,  /* a number, passed by value */
  CUGEN_ARGUMENT_CONSTANT /* values that are read, copied at bind: a symbol, or by address */
} cugen_argument_kind;

/* The largest number of dimensions of a buffer. */
#define CUGEN_MAX_RANK 4

/* An argument, for the kernel's problem. */
typedef struct cugen_argument_info {
  const char *name;
  cugen_argument_kind kind;
  const char *dtype;              /* "f32"; "struct": a struct that is passed by value */
  int rank;                       /* 0 for a scalar */
  int64_t shape[CUGEN_MAX_RANK];  /* elements, logical order */
  int64_t stride[CUGEN_MAX_RANK]; /* elements, from layout and pitch */
  const char *layout;             /* "row" or "col" */
  int64_t bytes;                  /* whole buffer, pitch included; 0: scratch that the variant does not use */
  const char *memory;             /* "device", "pinned", "mapped", "managed", "registered" */
  int compiled_in;                /* scalar: its value is part of the source and is not passed */
  int absent;                     /* the problem has no such argument: pass NULL. The rest is that of a scalar */
  int overwrite;                  /* input: the kernel may write to the buffer, which is then not const */
  const char *data;               /* test data: a fill ("uniform"), "values", "file", "generator"; NULL: none */
  const char *data_from;          /* its expression or file; NULL: a fill, a list, or a plan's argument */
  const char *access; /* how it is reached: "global", "constant", "texture", "array", "symbol", "tensor" */
  int is_size;        /* scalar: it passes a size of the problem; with a larger value the kernel leaves its buffers */
  int64_t size;       /* that size; else 0 */
} cugen_argument_info;

/* The number of arguments, and the one at index, in the config's order. CUGEN_ERROR_USAGE: no such index.
   CUGEN_ERROR_EMPTY: there is no valid variant, so shapes are not known. */
size_t cugen_kernel_arguments(const cugen_kernel *kernel);
int cugen_kernel_argument(const cugen_kernel *kernel, size_t index, cugen_argument_info *out, cugen_error *error);

/* ---- Plans: the variant to use, loaded ----------------------------------------------------------------------- */

/* One variant of a kernel, compiled for its device and loaded into a CUDA context. Only with CUGEN_PLAN_EXPLORE does it change.
   Several threads may use it at once, but for closing. It needs its library and context, closed after it, not its kernel.

   On the cpu device a plan runs in the calling thread, on host memory, one launch at a time, without contexts and streams.
   The kernel is code of this process, without isolation. A trap or a deadlock is CUGEN_ERROR_DEVICE from the launch, and
   the plan stays usable. An access far out of bounds or an endless loop does what it does in any C program. */
typedef struct cugen_plan cugen_plan;

/* For cugen_plan_options.flags. */
enum {
  CUGEN_PLAN_TUNED_ONLY = 1,   /* CUGEN_ERROR_USAGE rather than a variant that was never measured */
  CUGEN_PLAN_PRIMARY = 2,      /* the device's primary context, whatever is current; no effect on the cpu device */
  CUGEN_PLAN_BY_PORTFOLIO = 4, /* the kernel's portfolio, before the policy, serves what is not tuned */
  CUGEN_PLAN_EXPLORE = 8       /* a few launches take other right variants, to find the fastest */
};

/* Which variant, and where to load it. */
typedef struct cugen_plan_options {
  size_t size;
  unsigned flags;       /* CUGEN_PLAN_... */
  void *context;        /* a CUcontext of the kernel's device; NULL: the thread's current one, else the primary one */
  double distance;      /* 0: the config's policy; > 0: nearest, up to this distance; < 0: this problem only */
  const void *choice;   /* of cugen_plan_save: this variant, whatever is remembered; NULL: it is chosen */
  size_t choice_size;   /* its bytes */
  const char *bitwise;  /* a variant: only what is recorded to give the same bits, before what is pinned; NULL: any */
  double explore_share; /* of launches, with CUGEN_PLAN_EXPLORE: up to 0.5; 0: 0.05 */
} cugen_plan_options;

#define CUGEN_PLAN_OPTIONS_INIT                                                                                      \
  { sizeof(cugen_plan_options), 0, NULL, 0.0, NULL, 0, NULL, 0.0 }

/* Where a plan's variant comes from. */
typedef enum cugen_plan_choice {
  CUGEN_PLAN_EXACT, /* the best remembered for this problem */
  CUGEN_PLAN_NEAR,  /* the best remembered for the problem that the policy selects: the nearest, or its bucket's */
  CUGEN_PLAN_DEFAULT, /* never measured here. What ships for such GPUs, else the fastest by remembered predictions, else what
                           ships by predictions, else on a GPU what the config suggests (try), else the first valid one */
  CUGEN_PLAN_PINNED,    /* named by options.choice, or in the file of options.pin or $CUGEN_PIN */
  CUGEN_PLAN_PORTFOLIO, /* by a portfolio's rule: measured for other sizes */
  CUGEN_PLAN_OTHER_GPU /* the best remembered for this problem on another GPU, of the same model or compute capability */
} cugen_plan_choice;

/* A plan, and why it was chosen. Of a default, pinned or portfolio one tuned_for is NULL; seconds, measured_at and the
   versions are 0. */
typedef struct cugen_plan_info {
  const char *kernel, *problem;
  const char *variant; /* full text */
  cugen_plan_choice choice;
  const char *tuned_for;             /* the problem that the record is of */
  const char *tuned_on;              /* another GPU that it, or the portfolio that ships, is of; else NULL */
  double distance;                   /* from this problem to that one */
  double seconds;                    /* median time of one run of all launches, as it was measured for tuned_for */
  double flops, bytes;               /* of the problem, from the config; 0: not declared */
  int predicted;                     /* no GPU measured the variant: the model chose it */
  int64_t measured_at;               /* seconds since the epoch */
  int driver_version, nvrtc_version; /* when it was measured */
  const char *source_hash;           /* of the source without comments and spacing: equal hashes are the same code */
  int image_from_cache;              /* 0: it was compiled now */
  size_t launches;                   /* kernels launched by one cugen_call_launch */
  size_t arguments;                  /* that cugen_call_bind takes */
} cugen_plan_info;

/* Takes the choice that is pinned (options->choice, else the problem's in the file of cugen_options.pin), else the best
   variant remembered for the kernel's problem. Without either, the config's policy or options->distance decides:
   - exact: no other problem serves.
   - nearest: the nearest tuned problem serves. Each size may differ by a factor of at most 2^distance (distance is the
     largest |log2| of a ratio of sizes). Types, layouts, flags and sizes below 1 must be equal.
   - buckets: the problem with each size rounded up to its bucket's bound serves; sizes above the last bound take it.
   - portfolio: the variant that the portfolio's rule names, and where none serves, as nearest if it has a distance.
   The variant must be valid here, and measured with the source as it is now; else that problem's next best is taken. Then
   come records of this very problem on another GPU (CUGEN_PLAN_OTHER_GPU): of the same model, else of the same compute
   capability, the nearest in multiprocessors and bandwidth. The last is CUGEN_PLAN_DEFAULT. Neither is an error unless
   CUGEN_PLAN_TUNED_ONLY. None of these, a pinned choice aside, is a variant that is recorded to fail here with its source
   as it is now: for this problem, and on the cpu device for the check problem with these types and layouts. CUGEN_ERROR_WRONG:
   all of them are recorded so.
   The variant is compiled, or its image taken from the cache. CUGEN_ERROR_USAGE: the context is of
   another device, or one was given for the cpu device. A line that cannot be appended to options.capture is no error.

   With CUGEN_PLAN_EXPLORE at most options->explore_share of the launches take another variant: one that is recorded as right
   for this very problem on this device, with its image in the cache. Nothing waits or compiles. The plan changes to a
   variant that is shown to be faster, and settles after 168 such launches at most (cugen_plan_explored).
   Closing it remembers what served, for plans with this flag. Without such records it is a plan like any other. */
int cugen_plan_open(cugen_kernel *kernel, const cugen_plan_options *options, cugen_plan **out, cugen_error *error);
void cugen_plan_close(cugen_plan *plan);
const cugen_plan_info *cugen_plan_about(const cugen_plan *plan);
/* As cugen_kernel_argument, for the plan's variant. */
int cugen_plan_argument(const cugen_plan *plan, size_t index, cugen_argument_info *out, cugen_error *error);

/* The plan's choice as bytes, to be kept or sent, and opened elsewhere with cugen_plan_options.choice, for the same variant.
   They are text and belong to the plan. Opening them gives CUGEN_ERROR_CACHE if they are damaged or of a newer cugen. It gives
   CUGEN_ERROR_USAGE if kernel, problem or architecture is another, or the variant is not valid or another kernel there. */
int cugen_plan_save(cugen_plan *plan, const void **bytes, size_t *size, cugen_error *error);

/* What a plan with CUGEN_PLAN_EXPLORE has found out. */
typedef struct cugen_plan_exploration {
  size_t variants;     /* that the plan chooses from; 1: only its own, so nothing is explored */
  uint64_t launches;   /* until the plan settled, or so far */
  uint64_t explored;   /* of these launches: by others than the variant that served then */
  int settled;         /* nothing is explored any more */
  const char *variant; /* that serves now; lives as long as the plan */
} cugen_plan_exploration;

/* How far the plan's exploration is. For a plan without CUGEN_PLAN_EXPLORE: its variant alone. */
int cugen_plan_explored(const cugen_plan *plan, cugen_plan_exploration *out, cugen_error *error);

/* ---- Calls: arguments, and the launch ------------------------------------------------------------------------ */

/* A plan with its arguments. Close it before its plan. */
typedef struct cugen_call cugen_call;

/* arguments[i] is the plan's i-th argument, as cugen_plan_argument describes it:
   - Buffer: its device (cpu device: host) pointer, aligned to its element's size, a texture to 512 bytes; else CUGEN_ERROR_USAGE.
   - Scratch: a buffer, zeroed once if the config says fill = "zero". NULL: the call allocates its own, zeroed, if needed.
   - Scalar: a pointer to its value, copied now; NULL: the problem's value. A value that is compiled in cannot change. Buffers and
     grid stay the problem's: of a size (is_size) only a smaller value is safe, where the kernel can do with it, since a larger
     one overruns the buffers unchecked. For other sizes open another kernel. Of dtype "struct": a pointer to cugen_argument_info.bytes bytes.
   - Constant: a pointer to its values, on host or device, copied now, which synchronises the context. A symbol
     belongs to the plan: the last bind counts for all its calls. Values that are read by address belong to the call.
   - Buffer in a __device__ symbol (access "symbol"): copied from the buffer before the launches if the kernel reads it, and to
     the buffer after them if it writes it. NULL: it stays in the symbol, see cugen_plan_write and cugen_plan_read.
   - Absent: NULL.
   Scratch and absent arguments at the end of the list may be left out of arguments and count. */
int cugen_call_bind(cugen_plan *plan, void *const *arguments, size_t count, cugen_call **out, cugen_error *error);
/* If the call owns scratch, textures or copies of constants, its launches must have ended. */
void cugen_call_close(cugen_call *call);
/* Binds other arguments, by the rules of cugen_call_bind; scratch that the call owns stays. Earlier launches keep theirs;
   textures and constants make it wait for those. After a failure the call is as it was. */
int cugen_call_rebind(cugen_call *call, void *const *arguments, size_t count, cugen_error *error);

/* Launches on a CUstream (or cudaStream_t) of the plan's context; NULL: the default stream of the current context, which
   must be the plan's. Returns before the kernels end. It takes no lock, allocates nothing and looks nothing up: one
   cuLaunchKernel (or cuLaunchKernelEx) for each of the plan's launches. Besides them: for each input with access "array"
   one cuMemcpy3DAsync first; for a buffer in a symbol one cuMemcpyAsync each way; with CUGEN_PLAN_EXPLORE events around a
   few launches. A call with scratch or an array: one thread, one stream at a time; for more, bind more calls. A plan with a
   buffer in a symbol: one thread, one stream at a time for all its calls. On the cpu device stream must be NULL, else
   CUGEN_ERROR_USAGE, and the kernels have ended on return. */
int cugen_call_launch(const cugen_call *call, void *stream, cugen_error *error);

/* ---- Symbols: the __device__ and __constant__ variables of a plan ---------------------------------------------- */

/* Where the variable of that name lies, and its bytes, as cudaGetSymbolAddress and cudaGetSymbolSize say. Each out may be
   NULL. A variable in a namespace has its name in the image: "_ZN3app5countE"; a static one has none. It belongs to the
   plan: two plans of one kernel have a variable each. CUGEN_ERROR_USAGE: there is no such variable. */
int cugen_plan_symbol(const cugen_plan *plan, const char *name, void **address, size_t *bytes, cugen_error *error);

/* Copies into the variable, from offset on, as cudaMemcpyToSymbolAsync does: on stream (as for cugen_call_launch), ordered
   like a launch and as asynchronous. from: host or device memory, which must stay as it is until the stream has come there.
   CUGEN_ERROR_USAGE: no such variable, the bytes reach past its end, or it is const and on the cpu device. */
int cugen_plan_write(cugen_plan *plan, const char *name, size_t offset, const void *from, size_t bytes, void *stream,
                     cugen_error *error);
/* The other way, as cudaMemcpyFromSymbolAsync: wait for the stream before *to is read. */
int cugen_plan_read(cugen_plan *plan, const char *name, size_t offset, void *to, size_t bytes, void *stream,
                    cugen_error *error);

/* ---- Tuning -------------------------------------------------------------------------------------------------- */

/* What tuning is doing. */
typedef enum cugen_stage {
  CUGEN_STAGE_SEARCH, /* variants are tried */
  CUGEN_STAGE_RACE,   /* the fastest are measured again, in turn */
  CUGEN_STAGE_VERIFY, /* predictions only: the best runs on the cpu device */
  CUGEN_STAGE_DATA    /* input data is made, and what the reference gives for it; variants wait for that */
} cugen_stage;

/* How far tuning is; valid during the callback. */
typedef struct cugen_progress {
  size_t done, failed,
      planned;               /* variants of all problems; planned: as many as the budget allows, 0: a time decides */
  uint64_t valid;            /* variants in the space of `problem` */
  double elapsed, remaining; /* seconds; remaining < 0: not known yet */
  const char *best;          /* variant of `problem`, or NULL */
  double best_seconds;
  const char *last;     /* variant of `problem` that was tried last, or NULL */
  double flops, bytes;  /* of the problem, from the config; 0: not declared, or not known yet */
  const char *problem;  /* the problem that is being tuned */
  size_t problem_index; /* from 0, in the array of cugen_kernels_tune */
  size_t problems;      /* how many are tuned; 1: by cugen_kernel_tune */
  cugen_stage stage;    /* of the problem's tuning; after the search done and planned stay as they are */
  const char *lost;     /* devices that failed and are left out: "cuda:3: why", a line each; or NULL */
} cugen_progress;

/* Called from the tuning thread; return nonzero to stop. */
typedef int (*cugen_progress_callback)(const cugen_progress *progress, void *context);

/* For cugen_tune_options.flags. */
enum {
  CUGEN_TUNE_IN_PROCESS = 1 /* start no processes but the C++ compiler; see cugen_kernel_tune for what that costs */
};

/* How to tune. */
typedef struct cugen_tune_options {
  size_t size;
  const char *strategy;             /* "surrogate", or another of docs/tuning.md; NULL: it */
  uint64_t seed;                    /* of the strategy and of the input data */
  double budget_seconds;            /* 0: 60 on a GPU, 30 on the cpu device and for predictions; < 0: no limit */
  size_t budget_count;              /* variants to try at most; 0: no limit */
  double variant_timeout;           /* seconds one variant may run before it is killed; 0: 10 */
  int threads;                      /* compile threads; 0: one a processor */
  int again;                        /* measure again what is remembered */
  const char *implementation;       /* only this one, or these: "wgmma,naive*"; NULL: all */
  cugen_progress_callback progress; /* NULL: none */
  void *context;                    /* for progress */
  unsigned flags;                   /* CUGEN_TUNE_... */
  void *cuda_context;               /* with CUGEN_TUNE_IN_PROCESS: as cugen_plan_options.context */
  double verify_seconds;            /* predictions: to verify the fastest on the CPU; 0: 30; < 0: it is not */
  double compile_timeout;           /* seconds one compile may take before it is stopped; 0: 60 */
  size_t portfolio;                 /* cugen_kernels_tune: half of the budget measures the best of each problem on all
                                       others, so that cugen_kernels_learn finds so many variants for all; 0: no */
  const double *weights;            /* cugen_kernels_tune: each kernel's share of the budget; NULL: equal ones */
  const char *bitwise; /* a variant, or "best": only what gives the same bits (docs/tuning.md); NULL: all */
} cugen_tune_options;

#define CUGEN_TUNE_OPTIONS_INIT                                                                                      \
  { sizeof(cugen_tune_options), NULL, 1, 0.0, 0, 0.0, 0, 0, NULL, NULL, NULL, 0, NULL, 0.0, 0.0, 0, NULL, NULL }

/* Tunes in isolated worker processes and remembers each measurement as it arrives; running it again resumes. Variants that
   lead for near problems, on other GPUs or by the model are tried first, except by "exhaustive", as long as results do not
   contradict them. Plans opened afterwards take the new best. *result (result may be NULL) becomes JSON: "problem", what the
   "run" did in numbers, and the "records" of the problem: correct variants by time, then failed ones.
   On the cpu device it tunes the config's check problem where no setting says otherwise. When it returns, the kernel's problem
   is the caller's own. For a described GPU it stores
   predictions instead of measurements, and verifies the fastest on the cpu device (docs/model.md).

   On a GPU a tenth of the budget, 4 s at most, is kept for a race of the fastest. The budget is exceeded by at most a tenth,
   or a second if that is more. A variant that runs while none came out right, or any with CUGEN_TUNE_IN_PROCESS, may take
   longer. A run with a budget ends early where one compile error refuses all variants. A variant that crashes or never ends
   only fails. CUGEN_ERROR_WRONG: no variant was correct, or none was measured in the budget. CUGEN_ERROR_INTERRUPTED: the
   callback asked to stop. In both cases *result and the records are filled. CUGEN_ERROR_USAGE: the variant of
   options->bitwise is not valid, not right, or differs from itself. CUGEN_ERROR_MISSING: no worker program.

   CUGEN_TUNE_IN_PROCESS uses threads of this process instead, in options->cuda_context, else the current context, else the
   primary one. It has no isolation: on a GPU a variant that traps breaks the context and all that is in it. One that does
   not end within variant_timeout keeps its thread, and the library must stay loaded. Both are CUGEN_ERROR_DEVICE; the variant
   is remembered as failed: tune again to go on. On the cpu device it can do what the application can (docs/embedding.md). */
int cugen_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options, const char **result,
                      cugen_error *error);

/* Tunes several kernels of one library within one budget, such as one config for several problems. None may be in use elsewhere
   meanwhile. Nothing is tuned if one of them cannot be. The kernels that were not tuned yet come first. Each gets a share of
   half of the budget, then one of the rest: an equal one, or by options->weights, which are 0 or more. budget_seconds 0, without
   a count, is the default for each; budget_count is at least the number of kernels. At most 1000 kernels. *result (NULL: not
   wanted) becomes a JSON array of what cugen_kernel_tune gives, in the order of kernels; it belongs to the first kernel.

   Errors are those of cugen_kernel_tune, and name the problem. CUGEN_ERROR_EMPTY: no variant serves a problem.
   CUGEN_ERROR_WRONG: some have no correct variant (in the budget); the others are tuned. An error in between ends all; what was
   measured is kept. */
int cugen_kernels_tune(cugen_kernel *const *kernels, size_t count, const cugen_tune_options *options,
                       const char **result, cugen_error *error);

/* What is remembered for this kernel on this device, as a JSON array: correct variants by time, then failed ones. After a run
   with cugen_tune_options.bitwise the correct ones with other bits stand between. */
int cugen_kernel_records(cugen_kernel *kernel, const char **out, cugen_error *error);

/* The expanded .cu of a variant. variant: "tiled tile=16 pad=1" (omitted names take their first valid value), an implementation's
   name alone, "best" (the best that is remembered for this very problem; an error without one), or NULL: what a plan would use.
   *name (may be NULL) is the variant's full text. Both live until the next call. */
int cugen_kernel_source(cugen_kernel *kernel, const char *variant, const char **source, const char **name,
                        cugen_error *error);

/* ---- Wisdom: records to ship --------------------------------------------------------------------------------- */

/* Merges a file of 'cugen cache export' into the cache: all of it, or on a failure nothing. The library's stop callback is asked;
   if it stops the import while the file is read, nothing is imported; if later, whoever opens the cache next completes it. Of two
   records of one kernel a wrong one is kept (wrong, out of bounds, a trap), else the one seen to vary, else the fastest. Of two
   sources of one variant the one measured later is kept. *result (NULL: not wanted) becomes JSON that counts the records.
   CUGEN_ERROR_CACHE: a line is not valid. CUGEN_ERROR_IO: the file cannot be read, or the cache not written.
   CUGEN_ERROR_MISSING: no such file. */
int cugen_cache_import(cugen *lib, const char *path, const char **result, cugen_error *error);

/* ---- Commands ------------------------------------------------------------------------------------------------ */

/* Runs a command of the command line and gives its JSON: words {"check", "matmul.lua", "--set", "M=64"}, without "cugen" and
   "--json". Every command that takes --json can be run (docs/json.md); its options that are not given are those that lib was
   opened with. It runs in a process of its own, whose program is that of options.worker (see below), so that nothing it does
   harms this one. It therefore sees neither files of cugen_add_file nor a cache in memory. The library's stop callback is
   asked; a stop is the command's Ctrl-C.
   *json is also set where the command failed after it had a result, such as a check with findings (CUGEN_ERROR_WRONG); else NULL.
   CUGEN_ERROR_USAGE: no such command, or it has no JSON. CUGEN_ERROR_MISSING: there is no worker program. */
int cugen_command(cugen *lib, const char *const *words, size_t count, const char **json, cugen_error *error);

/* ---- The worker program -------------------------------------------------------------------------------------- */

/* Isolated work (compiling, tuning, checking) runs in the program cugen-worker, which is installed with the library and found
   beside it. Library and worker must be of one build, else CUGEN_ERROR_MISSING. With options.worker "none" this process
   compiles, which a source that crashes NVRTC ends, and tuning needs CUGEN_TUNE_IN_PROCESS.

   An application that cannot ship cugen-worker can be its own: set options.worker to its file, and begin main with
   if (argc > 1 && strcmp(argv[1], "worker") == 0) return cugen_worker_main(argc, argv); It uses file descriptor 3. */
int cugen_worker_main(int argc, char **argv);

/* Where this header is, kept in the program: a statically linked one finds the installation's worker by it. */
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
