/* cugen: CUDA kernels specialised from a Lua config and a .cu template. The library generates them, verifies them,
   tunes them and remembers the best for each device.

   An application reads this header from top to bottom: it opens the library, opens a kernel (a config for one problem),
   opens a plan (the variant to use), binds arguments, and launches. It may also tune, and take over results that were
   tuned elsewhere. cugen_tools.h has what tools need besides. Both headers need only the C library and compile as C11
   and C++17; CUDA handles are void pointers.

   Rules for every function:
   - Errors: a function that can fail returns CUGEN_OK (0) or a negative status, and describes the failure in *error
     unless error is NULL. After a failure *out is NULL and there is nothing to release.
   - Ownership: each handle from an _open or _bind function is released by its _close function; _close(NULL) does nothing.
     Strings belong to the handle that they came from and live until it is closed, unless stated otherwise.
   - NULL: pointers must not be NULL unless stated. Arrays may be NULL if their count is 0. A wrong NULL is
     CUGEN_ERROR_USAGE; a function without a status then returns 0, NULL or "".
   - Options: options and result may be NULL: all defaults, and no result wanted. Initialise options with their INIT
     macro, which sets their size; another size is CUGEN_ERROR_USAGE.
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

/* Of this header: major, minor and patch. */
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
  CUGEN_CAUSE_BUSY          /* the cache's server could not do it just now: trying again may work */
} cugen_cause;

/* Filled by the function that failed. The message has one or more lines, names the user's file and line if there is
   one, and says what to do. A message that is too long is cut. */
typedef struct cugen_error {
  int status;
  char message[4096];
  cugen_cause cause;
  char file
      [1024]; /* of the user's, where the cause is: a config, a template, what they include, a device; "" if there is none */
  int line; /* of that file, from 1; 0 if there is none */
} cugen_error;

/* "bad config" and the like; never NULL. */
const char *cugen_status_text(int status);

/* The version of the library, which a program that loads it at run time compares with CUGEN_VERSION. */
const char *cugen_version(void);

/* ---- The library --------------------------------------------------------------------------------------------- */

/* The opened library: its options, the devices, the cache. Everything else is opened from it. A described GPU is one that is not
   here: code is generated and times are predicted for it, but nothing runs on it (docs/model.md). */
typedef struct cugen cugen;

/* Asked at least ten times a second, in the caller's thread, while a space of variants is walked. Return nonzero to stop: the
   function fails with CUGEN_ERROR_INTERRUPTED, and the next one walks anew. */
typedef int (*cugen_stop_callback)(void *context);

/* How to open the library. Every pointer may be NULL, which means the stated default. The strings are copied. */
typedef struct cugen_options {
  size_t size;
  /* "cuda:0", "cpu", or a described GPU: "model:H200"; default: the first GPU, else "cpu". GPUs of one model can be listed, "cuda:0,cuda:2"
     or "all": tuning uses them all, everything else the first. */
  const char *device;
  const char *arch;         /* architecture to generate for, such as "sm_90a"; default: the device's own */
  const char *config_dir;   /* searched before the shipped configs; it and the other folders have to be there */
  const char *template_dir; /* searched before the config's own folder and the shipped templates */
  /* Database: a file, or a server's "postgresql://USER@HOST/DB"; default $CUGEN_CACHE, else $XDG_CACHE_HOME/cugen/cugen.db; "none":
     memory. */
  const char *cache;
  const char *toolkit;      /* folder with NVRTC and the CUDA headers; default: see cugen_where */
  const char *compiler;     /* C++ compiler for the cpu device; default $CUGEN_CXX, c++, g++, clang++ */
  const char *worker;       /* see cugen_worker_main; default $CUGEN_WORKER, else cugen-worker; "none" */
  const char *device_dir;   /* searched before the described devices that ship */
  cugen_stop_callback stop; /* NULL: none. Functions with a progress callback ask that one too */
  void *stop_context;       /* for stop */
  const char *objective;    /* what is best, such as "energy" (docs/tuning.md); default: the config's, else time */
  const char *prefer;       /* of variants that tie: "simplest" (default), "registers" or "energy", the fewest */
  const char *measure;      /* how variants are timed: "burst", "graph", "sustained", "cold" (docs/tuning.md); records
                               of two ways are kept apart. Default: what the config says, else "burst" */
  const char *pin;          /* file of choices (cugen_plan_save) for plans to take; default $CUGEN_PIN */
  const char
      *capture; /* file that gets a line for each plan opened, for 'cugen tune --from'; default $CUGEN_CAPTURE */
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
   worker), or every place searched. "capture: FILE" is there with options.capture, and says why lines are missing in it. "warning: ..." is added once the cache was found not to be writable, and "image key: ..." if
   compiled kernels are not kept, since the key that signs them may not be used. */
const char *cugen_where(cugen *lib);

/* A device of this machine. "" and 0 mean not known. */
typedef struct cugen_device_info {
  char id[32];        /* for options.device: "cuda:0", "cpu" */
  char name[128];     /* "NVIDIA H200" */
  char uuid[48];      /* "GPU-..." or "" */
  char arch[16];      /* "sm_90a" */
  int driver_version; /* CUDA version the driver supports, 13000 for 13.0; 0: no driver */
  int nvrtc_version;  /* likewise; 0: no NVRTC */
  int sm_count;
  int clock_khz; /* highest SM clock; 0: not applicable */
  int memory_clock_khz;
  int memory_bus_bits;
  int64_t memory_bytes;
  int64_t l2_bytes;
  int64_t shared_bytes_per_block; /* opt-in limit */
} cugen_device_info;

/* The devices of this machine, CUDA GPUs first, then "cpu". Returns how many exist; fills at most count. *why (may be
   NULL) is the reason if there is no CUDA GPU, else NULL. */
size_t cugen_devices(cugen *lib, cugen_device_info *out, size_t count, const char **why);

/* ---- Kernels: a config for one problem ----------------------------------------------------------------------- */

/* A config for one problem (sizes, types, flags) on the device of its library. */
typedef struct cugen_kernel cugen_kernel;

/* config: a path, or a name that is searched in memory, in the current folder, in config_dir and among the shipped
   configs ("matmul" and "matmul.lua" are the same). settings: count strings "name=value", such as "M=4096". */
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
  int absent;            /* the problem has no such argument: pass NULL. The other fields are those of a scalar */
  int overwrite;         /* input: the kernel may write to the buffer, which is then not const */
  const char *data;      /* test data: a fill ("uniform"), "values", "file" or "generator"; NULL: none */
  const char *data_from; /* the expression or file that defines it; NULL: a fill, a list, or a plan's argument */
  const char *access;    /* "global", "constant", "texture", "array", "symbol", "tensor": how the kernel reaches it */
} cugen_argument_info;

/* The number of arguments, and the one at index, in the config's order. CUGEN_ERROR_USAGE: no such index.
   CUGEN_ERROR_EMPTY: there is no valid variant, so shapes are not known. */
size_t cugen_kernel_arguments(const cugen_kernel *kernel);
int cugen_kernel_argument(const cugen_kernel *kernel, size_t index, cugen_argument_info *out, cugen_error *error);

/* ---- Records: what running a variant gave -------------------------------------------------------------------- */

/* How a variant ended. Only CUGEN_OUTCOME_OK has times. */
typedef enum cugen_outcome {
  CUGEN_OUTCOME_OK = 0,  /* correct, and timed */
  CUGEN_OUTCOME_COMPILE, /* the compiler refused it */
  CUGEN_OUTCOME_LAUNCH,  /* the device cannot launch it: too many threads or registers, too much shared memory */
  CUGEN_OUTCOME_WRONG,   /* the result differs from the reference by more than the tolerance, or verify refused it */
  CUGEN_OUTCOME_BOUNDS,  /* it read or wrote outside its buffers */
  CUGEN_OUTCOME_TRAP,    /* it trapped, or its process died */
  CUGEN_OUTCOME_TIMEOUT, /* it did not end within its time limit */
  CUGEN_OUTCOME_UNPREDICTED /* predictions only: the model has no time for it; nothing is wrong with it */
} cugen_outcome;

/* "wrong result" and the like; never NULL. */
const char *cugen_outcome_text(int outcome);

/* What bits a variant's outputs had. Of one problem equal digests of one seed are equal outputs, on any device. */
typedef struct cugen_outputs {
  int known;       /* 0: nothing of it is known, as of what failed or is older than cugen's format 12 */
  int varies;      /* they differ from launch to launch, so there is no digest */
  uint64_t seed;   /* of the input data */
  uint64_t digest; /* of all outputs */
} cugen_outputs;

/* The record of one variant. 0 and "" mean not known, unless stated otherwise. */
typedef struct cugen_record {
  const char *variant; /* full text, "tiled tile=16 pad=1" */
  const char *reason;  /* what went wrong; of a correct prediction what bounds it: "device memory" */
  cugen_outcome outcome;
  int samples;    /* timed batches behind the times */
  int from_cache; /* measured by an earlier run */
  double seconds; /* median time of one run of all launches */
  double seconds_min, seconds_p20, seconds_p80;
  double flops, bytes;   /* of the problem, from the config; 0: not declared */
  double roofline;       /* fraction of the attainable rate */
  int roofline_measured; /* the ceiling that bounds it was measured on the device; 0: it is the device's peak */
  double error;          /* largest error that verification found, in units of the tolerance */
  int registers;         /* a thread; of several launches the one whose block takes the most */
  int threads;           /* a block */
  int64_t shared_bytes;  /* a block, static and dynamic */
  int64_t dynamic_shared_bytes; /* a block, passed at launch */
  int64_t constant_bytes;       /* of the whole image's __constant__ variables */
  int64_t local_bytes;          /* a thread: stack frame, spills included */
  int64_t spill_bytes;          /* a thread: stores and loads of spilled registers */
  double occupancy;             /* theoretical, 0 to 1; 0: not applicable */
  const char *limiter;          /* of occupancy: "threads", "blocks", "registers", "shared memory" */
  int cluster_blocks;           /* blocks of the clusters that the kernel requires; 1: no clusters */
  int active_clusters;          /* that the device runs at once, by its driver's answer */
  int clock_mhz;                /* SM clock while measuring */
  int power_watts;              /* the whole board's, while measuring */
  const char *throttle;         /* what limited the clocks then, such as "power cap" */
  int predicted;                /* the times are the model's; nothing was measured */
  int verified; /* the result was compared with the reference, or passed the verify kernel; 0: OK says only that it ran */
  const char *unverified; /* why a record that is OK is not verified */
  int64_t measured_at;    /* or predicted; seconds since the epoch */
  double compile_seconds; /* time to compile; 0: the image was in the cache, or not known */
  double measure_seconds; /* time for all else: data, verifying, timing */
  double requested;   /* bytes of global memory that the variant's loads and stores ask for, whatever serves them */
  double cost;        /* what the config's objective minimises: seconds, or seconds for each unit of work */
  int64_t run_began;  /* the tuning run that made it: its start, in microseconds since the epoch; 0: not known */
  double run_seconds; /* from then until the record was made */
  uint64_t
      order; /* where its variant stands in the config's space; UINT64_MAX: it is not in it. What options.prefer asks for
                          comes before that */
  double energy;            /* joules of one run, by the board's own counter; 0: not measured */
  double energy_resolution; /* joules that this is uncertain by, since the counter moves in steps */
  int non_dominated;        /* no other record takes less of time or energy, and no more of the other */
  cugen_outputs outputs;    /* what bits it gave */
} cugen_record;

/* Costs within this factor of the least are a tie. Of those the variant that comes first in the config is the best. */
#define CUGEN_TIE 1.005

/* The best of these records: the one that a plan would take if there were no others. Only those that are right count; where none is,
   or records is NULL, the answer is count. */
size_t cugen_best(const cugen_record *const *records, size_t count);

/* ---- Plans: the variant to use, loaded ----------------------------------------------------------------------- */

/* One variant of a kernel, compiled for its device and loaded into a CUDA context. It never changes (but see CUGEN_PLAN_EXPLORE), and several threads may
   use it at once, but for closing. It needs its library, not its kernel. Close it before the library and the context.

   On the cpu device a plan runs in the calling thread, on host memory, to develop and test without a GPU. There are no
   contexts and no streams, and its launches run one at a time. The kernel is code of this process, without isolation. A trap
   or a deadlock is CUGEN_ERROR_DEVICE from the launch, and the plan stays usable. An access far out of bounds or an endless
   loop does what it does in any C program. */
typedef struct cugen_plan cugen_plan;

/* For cugen_plan_options.flags. */
enum {
  CUGEN_PLAN_TUNED_ONLY = 1, /* CUGEN_ERROR_USAGE rather than a variant that was never measured */
  CUGEN_PLAN_PRIMARY = 2,    /* the device's primary context, whatever is current; no effect on the cpu device */
  CUGEN_PLAN_BY_PORTFOLIO =
      4, /* what is not tuned is served by the kernel's portfolio, before what the policy says */
  CUGEN_PLAN_EXPLORE =
      8 /* few launches take other variants that are right here, to find the fastest; cugen_plan_explored */
};

/* Which variant, and where to load it. */
typedef struct cugen_plan_options {
  size_t size;
  unsigned flags;  /* CUGEN_PLAN_... */
  void *context;   /* a CUcontext of the kernel's device; NULL: the thread's current one, else the primary context */
  double distance; /* 0: the config's policy; > 0: nearest, up to this distance; < 0: this problem only */
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
  CUGEN_PLAN_DEFAULT, /* never measured here: what ships for this GPU or one of its compute capability; else the fastest by the
                         model, if predictions for this device and problem are remembered; else on a GPU the first valid one
                         that the config suggests (try); else the first valid one */
  CUGEN_PLAN_PINNED,    /* named by options.choice, or in the file of options.pin or $CUGEN_PIN */
  CUGEN_PLAN_PORTFOLIO, /* by a portfolio's rule: measured for other sizes */
  CUGEN_PLAN_OTHER_GPU /* the best remembered for this problem on another GPU, of the same model or compute capability */
} cugen_plan_choice;

/* A plan, and why it was chosen. Of a default, pinned or portfolio one tuned_for is NULL, measured_at and the versions are 0, and record has
   only variant, flops, bytes and predicted. */
typedef struct cugen_plan_info {
  const char *kernel, *problem;
  const char *variant; /* full text */
  cugen_plan_choice choice;
  const char *tuned_for; /* the problem that the record is of */
  const char *tuned_on;  /* the other GPU that it is of, or of which the portfolio that ships is; else NULL */
  double distance;       /* from this problem to that one */
  cugen_record record;   /* as it was measured, for tuned_for */
  int64_t measured_at;   /* seconds since the epoch */
  int driver_version;    /* when it was measured */
  int nvrtc_version;
  const char *source_hash; /* of the source without comments and spacing: equal hashes are the same code */
  int image_from_cache;    /* 0: it was compiled now */
  size_t launches;         /* kernels launched by one cugen_call_launch */
  size_t arguments;        /* that cugen_call_bind takes */
} cugen_plan_info;

/* Takes the choice that is pinned: options->choice, else that of the problem in the file of cugen_options.pin. Without one it takes
   the best variant remembered for the kernel's problem. Without that, the config's policy or options->distance decides:
   - exact: no other problem serves.
   - nearest: the nearest tuned problem serves. Each size may differ by a factor of at most 2^distance (distance is the
     largest |log2| of a ratio of sizes). Types, layouts, flags and sizes below 1 must be equal.
   - buckets: the problem with each size rounded up to its bucket's bound serves; sizes above the last bound take the last.
   - portfolio: the variant that the rule of the kernel's portfolio names, and where none serves, as nearest if it has a distance.
   The variant must be valid here, and measured with the source as it is now; else that problem's next best is taken.
   If nothing remembered on this GPU serves, what is remembered of this very problem on another one does (CUGEN_PLAN_OTHER_GPU): of the same
   model, else of the same compute capability, the nearest in multiprocessors and bandwidth. Else the plan is CUGEN_PLAN_DEFAULT. Neither is
   an error unless CUGEN_PLAN_TUNED_ONLY. Compiles the
   variant, or takes the image from the cache. CUGEN_ERROR_USAGE: the context is of another device, or one was given for the
   cpu device. With options.capture of the library it appends a line to that file; a plan is opened whether or not that can be done. */
int cugen_plan_open(cugen_kernel *kernel, const cugen_plan_options *options, cugen_plan **out, cugen_error *error);
void cugen_plan_close(cugen_plan *plan);
const cugen_plan_info *cugen_plan_about(const cugen_plan *plan);
/* The plan's choice as bytes, to be kept or sent, and opened elsewhere with cugen_plan_options.choice: every process then has the
   same variant. They belong to the plan. They are text: kernel, problem, variant, target, hashes of what it expands to, a checksum.
   Opening them gives CUGEN_ERROR_CACHE if they are damaged or of a newer cugen. It gives CUGEN_ERROR_USAGE if kernel, problem
   or architecture is another, the variant is not valid there, or it expands to another kernel. */
int cugen_plan_save(cugen_plan *plan, const void **bytes, size_t *size, cugen_error *error);
/* What a plan with CUGEN_PLAN_EXPLORE has found out. */
typedef struct cugen_plan_exploration {
  size_t variants;     /* that it chooses from; 1: only its own, so nothing is explored */
  uint64_t launches;   /* until it settled, or so far */
  uint64_t explored;   /* of them, by others than the one that served then */
  int settled;         /* nothing is explored any more */
  const char *variant; /* that serves now; lives as long as the plan */
} cugen_plan_exploration;

/* With CUGEN_PLAN_EXPLORE at most options->explore_share of a plan's launches take another variant in place of the plan's: one that is
   recorded as right for this very problem on this device, and whose image is in the cache. A launch waits for nobody, and nothing is
   compiled. The plan changes to another variant where that is shown to be faster, and settles after 168 such launches at most.
   Closing it remembers what served, for plans with this flag. Without such records it is a plan like any other (docs/embedding.md). */
int cugen_plan_explored(const cugen_plan *plan, cugen_plan_exploration *out, cugen_error *error);
/* As cugen_kernel_argument, for the plan's variant. */
int cugen_plan_argument(const cugen_plan *plan, size_t index, cugen_argument_info *out, cugen_error *error);

/* ---- Calls: arguments, and the launch ------------------------------------------------------------------------ */

/* A plan with its arguments. Close it before its plan. */
typedef struct cugen_call cugen_call;

/* arguments[i] is the plan's i-th argument, as cugen_plan_argument describes it:
   - Buffer: its device pointer (cpu device: a host pointer), aligned to its element's size; 512 bytes if it is read as a
     texture (access = "texture"); else CUGEN_ERROR_USAGE.
   - Scratch: a buffer, zeroed once if the config says fill = "zero". NULL: the call allocates its own, zeroed, if needed.
   - Scalar: a pointer to its value, copied now; NULL: the problem's value. A value that is compiled in cannot change, and
     the grid stays the problem's. Of dtype "struct": a pointer to cugen_argument_info.bytes bytes.
   - Constant: a pointer to its values, on host or device, copied now, which synchronises the context. A symbol
     belongs to the plan: the last bind counts for all its calls. Values that are read by address belong to the call.
   - Buffer in a __device__ symbol (access "symbol"): copied from the buffer before the launches if the kernel reads it, and to
     the buffer after them if it writes it. NULL: it stays in the symbol, see cugen_plan_write and cugen_plan_read.
   - Absent: NULL.
   Scratch and absent arguments at the end of the list may be left out of arguments and count. */
int cugen_call_bind(cugen_plan *plan, void *const *arguments, size_t count, cugen_call **out, cugen_error *error);
/* If the call owns scratch, textures or copies of constants, its launches must have ended. */
void cugen_call_close(cugen_call *call);
/* Binds other arguments, by the rules of cugen_call_bind; scratch that the call owns stays. Launches so far keep the arguments
   that they had; textures and constants make it wait for them. After a failure the call is as it was. */
int cugen_call_rebind(cugen_call *call, void *const *arguments, size_t count, cugen_error *error);

/* Launches on a CUstream (or cudaStream_t) of the plan's context; NULL: the default stream of the current context, which must
   be the plan's. Returns before the kernels end. It takes no lock, allocates nothing and looks nothing up: one cuLaunchKernel
   (or cuLaunchKernelEx) for each of the plan's launches, and first one cuMemcpy3DAsync for each input that is read through a
   CUDA array (access = "array"). A call with scratch or an array: one thread, one stream at a time; for more, bind more calls.
   A buffer in a symbol takes one cuMemcpyAsync each way; all calls of such a plan: one thread, one stream at a time.
   With CUGEN_PLAN_EXPLORE a few launches have an event on each side.
   On the cpu device stream must be NULL, else CUGEN_ERROR_USAGE, and the kernels have ended on return. */
int cugen_call_launch(const cugen_call *call, void *stream, cugen_error *error);

/* ---- Symbols: the __device__ and __constant__ variables of a plan ---------------------------------------------- */

/* Where the variable of that name lies, and its bytes, as cudaGetSymbolAddress and cudaGetSymbolSize say. Each out may be NULL. A
   variable in a namespace has its name in the image: "_ZN3app5countE"; a static one has none. It belongs to the plan: two
   plans of one kernel have a variable each. CUGEN_ERROR_USAGE: there is no such variable. */
int cugen_plan_symbol(const cugen_plan *plan, const char *name, void **address, size_t *bytes, cugen_error *error);

/* Copies into the variable, from offset on, as cudaMemcpyToSymbolAsync does: on stream, ordered like a launch and as
   asynchronous. from: host or device memory, which must stay as it is until the stream has come there. stream: as for
   cugen_call_launch. CUGEN_ERROR_USAGE: there is no such variable, or the bytes reach past its
   end, or it is const and on the cpu device. */
int cugen_plan_write(cugen_plan *plan, const char *name, size_t offset, const void *from, size_t bytes, void *stream,
                     cugen_error *error);
/* The other way, as cudaMemcpyFromSymbolAsync: wait for the stream before *to is read. */
int cugen_plan_read(cugen_plan *plan, const char *name, size_t offset, void *to, size_t bytes, void *stream,
                    cugen_error *error);

/* ---- Tuning -------------------------------------------------------------------------------------------------- */

/* What is going on. */
typedef enum cugen_stage {
  CUGEN_STAGE_SEARCH, /* variants are tried */
  CUGEN_STAGE_RACE,   /* the fastest are measured again, in turn */
  CUGEN_STAGE_VERIFY, /* predictions only: the best runs on the cpu device */
  CUGEN_STAGE_DATA    /* input data is made, and what the reference gives for it; variants wait for that */
} cugen_stage;

/* How far tuning is; valid during the callback. */
typedef struct cugen_progress {
  size_t done, failed, planned; /* variants; planned is what the budget allows, 0 if a time budget decides */
  uint64_t valid;               /* variants in the space */
  double elapsed, remaining;    /* seconds; remaining < 0: not known yet */
  const char *best;             /* variant text, or NULL */
  double best_seconds;
  const char *last;     /* the variant just finished, or NULL */
  double flops, bytes;  /* of the problem, from the config; 0: not declared, or not known yet */
  const char *problem;  /* that is being tuned; best, last and valid are of it, done, failed and planned of all */
  size_t problem_index; /* from 0, in the array of cugen_kernels_tune */
  size_t problems;      /* how many are tuned; 1: by cugen_kernel_tune */
  cugen_stage stage;    /* of the problem's tuning; after the search done and planned stay as they are */
  /* Of several devices those that failed and were left out so far: "cuda:3: why", a line each; or NULL. */
  const char *lost;
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
  double verify_seconds;  /* predictions: how long the fastest may be verified on the CPU; 0: 30; < 0: not at all */
  double compile_timeout; /* seconds one compile may take before it is stopped; 0: 60 */
  size_t portfolio; /* cugen_kernels_tune: half of the budget measures the best of each problem on all others, so that
                             cugen_kernels_learn finds so many variants for all; 0: no */
  const double *weights; /* cugen_kernels_tune: of each kernel, for its share of the budget; NULL: all are equal */
  const char *bitwise; /* a variant, or "best": only what gives the same bits is wanted (docs/tuning.md); NULL: all */
} cugen_tune_options;

#define CUGEN_TUNE_OPTIONS_INIT                                                                                      \
  { sizeof(cugen_tune_options), NULL, 1, 0.0, 0, 0.0, 0, 0, NULL, NULL, NULL, 0, NULL, 0.0, 0.0, 0, NULL, NULL }

/* What one cugen_kernel_tune did. */
typedef struct cugen_tune_result {
  uint64_t valid;         /* variants in the space */
  size_t remembered;      /* variants known before, and not tried again */
  size_t tried;           /* in this run */
  size_t failed;          /* in this run, for any reason */
  size_t unpredicted;     /* in this run: the model has no time for them; nothing is wrong with them */
  size_t leaders;         /* tried because something says they are good, such as other sizes or GPUs: see began */
  uint64_t left;          /* variants still untried */
  size_t compiled;        /* compiles; fewer than tried if sources were equal */
  double seconds;         /* wall time */
  double measuring;       /* seconds during which the device verified or measured */
  int interrupted;        /* the callback asked to stop */
  size_t verified;        /* predictions that ran on the cpu device in this run and were correct, */
  size_t refuted;         /* and wrong: they are remembered as failed */
  const char *unverified; /* predictions: why the fastest is not verified; NULL: it is. Lives until the next tune */
  size_t tied;            /* on a GPU: variants that the last race did not find slower than the fastest, */
  double tied_within;     /* and how far from it they are: 0.004 is 0.4 % */
  size_t alike;         /* variants that one error refused, all that there were: the run ended early. 0: it did not */
  size_t energies;      /* variants whose energy was measured, where the objective needs it */
  size_t power_capped;  /* measure "sustained": measurements at the board's power limit, */
  size_t steady;        /* with steady clocks and power below it, */
  size_t unsettled;     /* and with neither in the time that they had */
  size_t devices;       /* that shared the work, and did not fail; 1 unless options.device names several */
  const char *lost;     /* the others, as in cugen_progress. Lives until the next tune */
  const char *equal_to; /* with options.bitwise: that variant, in full; else NULL. Lives until the next tune */
  cugen_outputs outputs; /* and what it gives, as all that are wanted do; else not known */
  const char *began;     /* what led where: "5 that led for other sizes". NULL: no leaders. Lives as long */
} cugen_tune_result;

/* Tunes in isolated worker processes and remembers each measurement as it arrives; running it again resumes. A run with a
   budget ends early where one compile error refuses all variants (alike). Variants that
   lead for near problems, on other GPUs or by the model are tried first, except by "exhaustive", as long as results do not
   contradict them. Plans opened afterwards take the new best. On the cpu device it tunes the config's check problem where no setting says otherwise. For a described GPU it stores
   predictions instead of measurements, and verifies the fastest on the cpu device (docs/model.md).

   On a GPU a tenth of the budget, 4 s at most, is kept for a race of the fastest (docs/tuning.md). The budget is exceeded by
   at most a tenth, or a second if that is more. Two things may take longer: a variant that runs while none came out right, and
   with CUGEN_TUNE_IN_PROCESS any variant. A variant that crashes or never ends only fails. CUGEN_ERROR_WRONG: no variant was correct, or none was measured in the budget.
   CUGEN_ERROR_INTERRUPTED: the callback asked to stop. In both cases *result and the records are filled.
   CUGEN_ERROR_USAGE: the variant of options->bitwise is not valid, not right, or differs from itself.
   CUGEN_ERROR_MISSING: no worker program.

   CUGEN_TUNE_IN_PROCESS uses threads of this process instead, in options->cuda_context, else the current context, else the
   primary one. It has no isolation: on a GPU a variant that traps breaks the context and all that is in it. One that does
   not end within variant_timeout keeps its thread, and the library must stay loaded. Both are CUGEN_ERROR_DEVICE; the
   variant is remembered as failed, and tuning again goes on after it. On the cpu device a variant can do what the
   application can. docs/embedding.md has the table. */
int cugen_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options, cugen_tune_result *result,
                      cugen_error *error);

/* As many kernels as cugen_kernels_tune takes. */
enum { CUGEN_MOST_PROBLEMS = 1000 };

/* Tunes several kernels of one library within one budget, such as one config for several problems: they stay the caller's. None may be
   in use elsewhere meanwhile. Nothing is tuned if one of them cannot be. What is not tuned yet comes first. Each gets a share of half
   of the budget, then one of the rest: an equal one, or by options->weights, which are 0 or more. So each is tried with the best of all others. A right image whose sizes are launch parameters
   serves all from the cache. budget_seconds 0, without a count, is the default for each. budget_count is at least the number of kernels.

   results: count of them, in the order of kernels, or NULL. Errors are those of cugen_kernel_tune, and name the problem.
   CUGEN_ERROR_EMPTY: no variant serves a problem. CUGEN_ERROR_WRONG: some have no correct variant (in the budget); the others are tuned. An
   error in between ends all; what was measured is kept. */
int cugen_kernels_tune(cugen_kernel *const *kernels, size_t count, const cugen_tune_options *options,
                       cugen_tune_result *results, cugen_error *error);

/* What is remembered for this kernel on this device: correct variants by time, then failed ones. After a run with
   cugen_tune_options.bitwise the correct ones with other bits stand between. The strings live until the kernel is tuned again. */
size_t cugen_kernel_records(cugen_kernel *kernel);
int cugen_kernel_record(cugen_kernel *kernel, size_t index, cugen_record *out, cugen_error *error);

/* ---- Wisdom: records to ship --------------------------------------------------------------------------------- */

/* What an import did with the records of a file. */
typedef struct cugen_cache_merged {
  size_t records;    /* in the file: the sum of the following */
  size_t added;      /* of variants that had no record */
  size_t better;     /* replace the record of their variant, which is kept as history */
  size_t worse;      /* kept as history themselves */
  size_t known;      /* were in the cache already */
  size_t portfolios; /* in the file; one replaces an earlier one of its kernel, class and device */
} cugen_cache_merged;

/* How far an import is; valid during the callback. */
typedef struct cugen_import_progress {
  size_t read, merged; /* records */
  size_t records;      /* in the file, by its own count; 0: it has none */
} cugen_import_progress;
/* Called from the importing thread; return nonzero to stop. */
typedef int (*cugen_import_callback)(const cugen_import_progress *progress, void *context);

/* Merges a file of 'cugen cache export' (or cugen_cache_export, in cugen_tools.h) into the cache: all of it, or on a failure
   nothing. progress may be NULL; if it stops the import while the file is read, nothing is imported; if later, whoever opens
   the cache next completes it. Of two records of one kernel the one with a wrong result is kept (wrong, out of bounds, a
   trap), else the one seen to vary, else the fastest. Of two sources of one variant the one measured later is kept.
   CUGEN_ERROR_CACHE: a line is not valid; the message has file and line. CUGEN_ERROR_IO: the file cannot be read, or the cache not written.
   CUGEN_ERROR_MISSING: no such file. */
int cugen_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                       cugen_cache_merged *out, cugen_error *error);

/* ---- The worker program -------------------------------------------------------------------------------------- */

/* Isolated work (compiling, tuning, checking) runs in the program cugen-worker, which is installed with the library and found
   beside it; an application need do nothing. Library and worker must be of one build, else CUGEN_ERROR_MISSING. With
   options.worker "none" compiling is done in this process, which a source that crashes NVRTC ends, and tuning needs
   CUGEN_TUNE_IN_PROCESS.

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
