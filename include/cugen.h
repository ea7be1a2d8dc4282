/* cugen: specialised CUDA kernels from a Lua config and a .cu template; generated, proved right, tuned and
   remembered per device. This is the only public header. It needs nothing but the C library and also compiles
   as C++17; CUDA handles appear as void pointers.

   Habits that hold for every function here:
   - A function that can fail returns CUGEN_OK (0) or a negative status, and describes the failure in *error
     when error is not NULL. A function that fails leaves *out = NULL and owes you nothing.
   - Every handle from an _open function is given back with its _close function; _close(NULL) does nothing.
   - Pointers are not NULL unless it is said that they may be; arrays may be where their count is 0. One that is NULL all
     the same is CUGEN_ERROR_USAGE, with its name; a function that gives no status then gives 0, NULL or "".
   - options and result may be NULL: all defaults, and nobody wants to know. Options begin with their size, which their INIT
     macro sets; another size is CUGEN_ERROR_USAGE.
   - Strings handed out belong to the handle they came from and live until it is closed, unless stated otherwise.
   - Handles may be used from any thread, one thread at a time each; different handles are independent.
   - The library never prints, never exits and keeps no global state. */
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

/* ---- Status ------------------------------------------------------------------------------------------------ */

/* What functions return. The values are pinned. The command line's exit code is the status without its sign; a
   command that a signal has stopped has the signal's. */
typedef enum cugen_status {
  CUGEN_OK = 0,
  CUGEN_ERROR_INTERNAL = -1, /* a defect of cugen itself */
  CUGEN_ERROR_USAGE = -2,    /* a wrong option, setting or argument */
  CUGEN_ERROR_CONFIG = -3,   /* a config does not load or does not make sense */
  CUGEN_ERROR_TEMPLATE = -4, /* a template does not expand */
  CUGEN_ERROR_EMPTY = -5,    /* no variant satisfies the restrictions */
  CUGEN_ERROR_COMPILE = -6,  /* the compiler refused an expanded source */
  CUGEN_ERROR_DEVICE = -7,   /* the device or its driver failed */
  CUGEN_ERROR_MISSING = -8,  /* a driver, NVRTC, a compiler or a file is not there */
  CUGEN_ERROR_CACHE = -9,    /* the cache, or wisdom, is corrupt, foreign, or newer than this cugen */
  CUGEN_ERROR_IO = -10,      /* reading or writing failed: permissions, full disk */
  CUGEN_ERROR_WRONG = -11,   /* a wrong result, a finding of a check, or no variant came out right (in the budget) */
  CUGEN_ERROR_MEMORY = -12,  /* out of memory, on the host or the device */
  CUGEN_ERROR_INTERRUPTED = -13 /* stopped on request, everything measured is kept; exit code 130 (Ctrl-C) or 143 */
} cugen_status;

/* Filled by the function that failed. The message is one or more lines, names the user's file and line where
   there is one, and says what to do; too long a message is cut. */
typedef struct cugen_error {
  int status;
  char message[4096];
} cugen_error;

/* "bad configuration" and the like; never NULL. */
const char *cugen_status_text(int status);

/* A stranger's text for a terminal or a page: control characters but line ends and tabs, and those that turn the direction of
   writing, as \u001b; bytes that are no UTF-8 as \x9b. Messages of errors are so already; names, variants and origins in
   records are not. Returns the length of the whole, of which `out` gets what `size` bytes hold with a NUL behind
   (6 * length + 1 hold all); 0 also when memory runs out. */
size_t cugen_clean_text(const char *text, size_t length, char *out, size_t size);

/* ---- The library -------------------------------------------------------------------------------------------- */

/* The library, opened: its options, the devices, the cache. Everything else is opened from one. */
typedef struct cugen cugen;

/* Not 0 asks to stop: the function in progress fails with CUGEN_ERROR_INTERRUPTED. */
typedef int (*cugen_stop_callback)(void *context);

/* Every pointer may be NULL: the default is stated beside it. The strings are copied. */
typedef struct cugen_options {
  size_t size;              /* sizeof(cugen_options), set by CUGEN_OPTIONS_INIT */
  const char *device;       /* "cuda:0", "cpu"; default: the first CUDA GPU, else the cpu device. One that is not
                               here can be looked at, and nothing can run on it: "model:H200", "model:./mygpu.lua", or
                               a device's text in the cache, such as "NVIDIA H200 sm_90 132 SMs" */
  const char *arch;         /* architecture to generate for, such as "sm_90a"; default: the device's own */
  const char *config_dir;   /* looked in before the shipped configs */
  const char *template_dir; /* looked in before the config's own folder and the shipped templates */
  const char *cache;        /* database file; default $CUGEN_CACHE, else $XDG_CACHE_HOME/cugen/cugen.db; "none" */
  const char *toolkit;      /* folder with NVRTC and the CUDA headers; default: see cugen_where */
  const char *compiler;     /* C++ compiler for the cpu device; default $CUGEN_CXX, c++, g++, clang++ */
  const char *worker; /* program started for isolated work: NVRTC, and what tuning runs; default $CUGEN_WORKER, else
                               the cugen-worker that is installed with the library, see cugen_worker_main; "none": no
                               process is started for these. NVRTC then runs in this process, which a source that makes
                               it crash ends with it */
  const char *device_dir;   /* looked in before the described devices that ship */
  cugen_stop_callback stop; /* NULL, or asked while a space is walked: at least ten times a second, by the thread that
                               called; a later call walks anew. Tuning, checks, imports and measurements of transfers ask
                               their own callback besides */
  void *stop_context;       /* for stop */
} cugen_options;

#define CUGEN_OPTIONS_INIT                                                                                           \
  { sizeof(cugen_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* options may be NULL: all defaults. What the environment says is read here, and nowhere later; a missing driver or
   a cache that cannot be used shows in the function that needs it. CUGEN_ERROR_USAGE: options->size is not this
   header's. Everything opened with the library is closed before it. */
int cugen_open(const cugen_options *options, cugen **out, cugen_error *error);
void cugen_close(cugen *lib);

/* What was found where, as lines of "name: value" (driver, NVRTC, headers, compiler, cache); for what was not found,
   the value is every place looked at. A line "warning: ..." when the cache has been used and cannot be written, and
   "image key: ..." when the key of compiled kernels may not be used, so that none is kept. */
const char *cugen_where(cugen *lib);

/* A file held in memory: a config, a template or an include, so that an application can ship them inside itself. It is
   found by that name before any folder is looked in; a config named with a leading / or ./ is always on the disk. What
   a file in memory mentions is looked for in memory beside it, then in memory by the name alone, then in template_dir
   and among the shipped templates. The name is relative, without "..": "scale.lua", "kernels/scale.cu"; messages call
   the file by it. The text is copied; NULL with length 0 is an empty file. The same name again replaces it for the
   kernels opened later; those already open keep what they had. Like any call on lib, from one thread at a time.
   CUGEN_ERROR_USAGE: not a name. */
int cugen_add_file(cugen *lib, const char *name, const char *text, size_t length, cugen_error *error);

/* The configs that ship with cugen, such as "matmul.lua". Returns how many there are; fills at most count. The strings
   live as long as the program. */
size_t cugen_configs(cugen *lib, const char **out, size_t count);

/* ---- Devices ------------------------------------------------------------------------------------------------ */

/* A device of this machine, in the words of its driver. "" and 0 stand for what is not known. */
typedef struct cugen_device_info {
  char id[32];        /* what options.device takes: "cuda:0", "cpu" */
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

/* What a text says of a device: an id, or the text under which a device is remembered (cugen_cache_set.device). */
typedef enum cugen_device_kind {
  CUGEN_DEVICE_NAMED = 0, /* a GPU's text, or part of a device's: "NVIDIA H200 sm_90 132 SMs", "H200" */
  CUGEN_DEVICE_CPU,       /* "cpu", and a processor's text */
  CUGEN_DEVICE_CUDA,      /* "cuda:0", "cuda": a GPU of this machine */
  CUGEN_DEVICE_MODEL      /* "model:H200": a description */
} cugen_device_kind;

/* A device's name, taken apart. */
typedef struct cugen_device_name {
  cugen_device_kind kind;
  int predicted;    /* the text is that of a device's predictions */
  const char *name; /* what follows: "0", "H200", "NVIDIA H200 sm_90 132 SMs"; part of the text */
} cugen_device_name;

/* text (may be NULL: "") is looked at alone: whether there is such a device is another question. */
cugen_device_name cugen_device_parse(const char *text);

/* The devices of this machine, CUDA GPUs first, then "cpu". Returns how many there are; fills at most count.
   When there is no CUDA GPU, *why (when not NULL) says why, else it is NULL. */
size_t cugen_devices(cugen *lib, cugen_device_info *out, size_t count, const char **why);

/* ---- Transfers: how fast data moves between host and device ----------------------------------------------------- */

/* One kind of the host's memory, one direction, one size. */
typedef struct cugen_transfer_row {
  const char *memory; /* "pageable" and so on, see cugen_transfer_options */
  const char
      *unavailable; /* NULL, or why the kind could not be measured; then the rest is 0, in one row for the kind */
  int to_host;      /* 0: from the host to the device */
  int64_t size;     /* as it was asked for, in bytes */
  int64_t bytes;    /* that one transfer moves: the size, or in whole rows as many as it has */
  double alone;     /* seconds of one transfer, from its call to its end as the host sees it; median */
  double seconds;   /* of one among many in a row; for managed and prefetch the same as alone; median */
  double seconds_min, seconds_p20, seconds_p80;
  int samples;
} cugen_transfer_row;

/* How far measuring has got; for the length of the callback. */
typedef struct cugen_transfer_progress {
  size_t done, planned;           /* rows; kinds that are unavailable count as one */
  const cugen_transfer_row *last; /* the row just measured */
} cugen_transfer_progress;

/* Called from the thread that measures, after each row; return nonzero to stop. */
typedef int (*cugen_transfer_callback)(const cugen_transfer_progress *progress, void *context);

/* What to measure. The kinds of the host's memory, and what moves the data:
   - pageable: from malloc, copied by the driver through pinned memory of its own
   - pinned: page-locked, read and written by the device's copy engine
   - combined: pinned and write-combined; it goes past the processor's caches, which read it slowly
   - pitched: pinned, 2-D: packed rows of 255 floats to and from rows in pitched device memory, 1024 bytes apart where the
     driver aligns them to 512
   - pitched3d: the same in 3-D: packed slices of 15 rows to and from slices of 16 rows
   - mapped: zero-copy: a kernel reads, or writes, the host's memory in place
   - managed: a kernel, or the host, touches pages that are on the other side
   - prefetch: managed; the pages are sent for ahead of that */
typedef struct cugen_transfer_options {
  size_t size;
  const char *memory;   /* "pinned, mapped": only these; NULL: all */
  const int64_t *sizes; /* bytes, each 1 or more; NULL: 4 KiB to 1 GiB in powers of four */
  size_t size_count;
  double seconds;                   /* to spend on a row, about; 0: 0.1 */
  cugen_transfer_callback progress; /* NULL: none */
  void *context;                    /* for progress */
} cugen_transfer_options;

#define CUGEN_TRANSFER_OPTIONS_INIT                                                                                  \
  { sizeof(cugen_transfer_options), NULL, NULL, 0, 0.0, NULL, NULL }

/* What was measured. Everything in it lives until the next cugen_transfer_measure, and the library is closed. */
typedef struct cugen_transfer {
  const cugen_device_info *device;
  const cugen_transfer_row *rows; /* by kind, then to the device and to the host, then by size */
  size_t count;
} cugen_transfer;

/* Measures on the GPU of options.device, the first one by default, in its primary context and the calling thread, and
   proves that what was sent arrives. Takes as much memory on the host and on the device as the largest size. Buffers are
   used again and again, so small ones come out of the processor's caches. CUGEN_ERROR_MISSING, CUGEN_ERROR_DEVICE: there
   is no GPU. CUGEN_ERROR_USAGE: options->size, a kind or a size that is none, or the cpu device. CUGEN_ERROR_MEMORY: not
   so much memory. CUGEN_ERROR_WRONG: something else arrived. CUGEN_ERROR_INTERRUPTED: the callback asked to stop; *out has
   what was measured before. */
int cugen_transfer_measure(cugen *lib, const cugen_transfer_options *options, cugen_transfer *out,
                           cugen_error *error);

/* ---- Kernels: a config for one problem on one device ---------------------------------------------------------- */

/* One config's kernel, for one problem on the device of its cugen. */
typedef struct cugen_kernel cugen_kernel;

/* config: a path, or a bare name looked for among the files in memory, then beside the caller, in config_dir and among
   the shipped ones ("matmul" and "matmul.lua" are the same). settings: count strings "name=value" for the problem. */
int cugen_kernel_open(cugen *lib, const char *config, const char *const *settings, size_t count, cugen_kernel **out,
                      cugen_error *error);
void cugen_kernel_close(cugen_kernel *kernel);

/* The name that the config gives it: "matmul". */
const char *cugen_kernel_name(const cugen_kernel *kernel);
/* "M=4096 N=4096 K=4096 dtype=f32", in the config's order. */
const char *cugen_kernel_problem(const cugen_kernel *kernel);
/* The same for a reader: what has its default and is neither a number nor an element type is left out. */
const char *cugen_kernel_problem_short(const cugen_kernel *kernel);
/* Which tuned problem serves one that was not tuned, as the config says it: "exact", "nearest { distance = 1 }". */
const char *cugen_kernel_policy(const cugen_kernel *kernel);
/* What the config ranks variants by: "time", or the declared work in a second: "flops", "bytes". */
const char *cugen_kernel_objective(const cugen_kernel *kernel);
/* The device it is for: options.device, or the default that was found. */
const cugen_device_info *cugen_kernel_device(const cugen_kernel *kernel);
/* NULL, or why options.device's default fell back to the cpu device. */
const char *cugen_kernel_fallback(const cugen_kernel *kernel);

/* Replaces the problem's defaults by the config's small check problem; settings given at open stay. The cpu device
   executes, it is not fast: cugen_kernel_tune and cugen_kernel_run do this by themselves there. Doing it again
   changes nothing; on success everything handed out about the old problem is void. */
int cugen_kernel_use_check(cugen_kernel *kernel, cugen_error *error);

/* From now on the kernel's records are predictions of the model for its device, which docs/model.md describes. They are kept
   apart from measurements: no look-up of the one finds the other. On a device that is only described cugen_kernel_tune
   does this by itself: it compiles, predicts in place of measuring, and remembers the predictions. CUGEN_ERROR_USAGE: the
   cpu device, or a GPU of which too little is known. */
int cugen_kernel_use_predictions(cugen_kernel *kernel, cugen_error *error);
/* Whether its records are predictions. */
int cugen_kernel_predicted(const cugen_kernel *kernel);
/* What its records are kept under, as cugen_cache_set.device and .options have it. The strings live with the kernel; those of
   predictions are others. */
void cugen_kernel_key(const cugen_kernel *kernel, const char **device, const char **options);

/* What the kernel does with an argument. */
typedef enum cugen_argument_kind {
  CUGEN_ARGUMENT_INPUT,   /* a buffer that is read */
  CUGEN_ARGUMENT_OUTPUT,  /* a buffer that is written, all of it */
  CUGEN_ARGUMENT_INOUT,   /* a buffer that is read and written */
  CUGEN_ARGUMENT_SCRATCH, /* a buffer for the kernel's own use; cugen allocates it */
  CUGEN_ARGUMENT_SCALAR,  /* a number, passed by value */
  CUGEN_ARGUMENT_CONSTANT /* values that the kernel reads, those at bind: a __constant__ symbol or by address */
} cugen_argument_kind;

/* Dimensions of a buffer, at most. */
#define CUGEN_MAX_RANK 4

/* An argument, for the kernel's problem. */
typedef struct cugen_argument_info {
  const char *name;
  cugen_argument_kind kind;
  const char *dtype;              /* "f32"; "struct": a scalar that is one, passed by value */
  int rank;                       /* 0 for a scalar */
  int64_t shape[CUGEN_MAX_RANK];  /* elements, logical order */
  int64_t stride[CUGEN_MAX_RANK]; /* elements, from layout and pitch */
  const char *layout;             /* "row" or "col" */
  int64_t bytes;                  /* whole buffer, pitch included; of scratch 0: the variant uses none of it */
  const char *memory;             /* "device", "pinned", "mapped", "managed" */
  int compiled_in;                /* scalar: its value is part of the source, it is not passed */
  int absent;                     /* the problem has no such argument: pass NULL. It reads as a scalar then */
  int overwrite;                  /* input: the kernel may write to the buffer, which is not const then */
  const char *data;      /* test data: a fill ("uniform"), "values", "file" or "generator"; NULL: it has none */
  const char *data_from; /* the expression or file that says it; NULL: a fill, a list, or a plan's argument */
} cugen_argument_info;

/* How many arguments there are, and the one at index, in the config's order. CUGEN_ERROR_USAGE: there is none at
   index. CUGEN_ERROR_EMPTY: without a valid variant, shapes are not known. */
size_t cugen_kernel_arguments(const cugen_kernel *kernel);
int cugen_kernel_argument(const cugen_kernel *kernel, size_t index, cugen_argument_info *out, cugen_error *error);

/* ---- The space ---------------------------------------------------------------------------------------------- */

/* The space in numbers. */
typedef struct cugen_space_info {
  uint64_t cartesian; /* combinations of all tunables, all implementations added up */
  uint64_t valid;     /* those that satisfy every restriction */
  size_t implementations;
  size_t restrictions; /* entries of cugen_kernel_restriction */
} cugen_space_info;

/* One implementation's part of the space. */
typedef struct cugen_implementation_info {
  const char *name;
  const char *unavailable; /* NULL, or the requirement that this device does not meet */
  uint64_t cartesian, valid;
} cugen_implementation_info;

/* What removes combinations. */
typedef enum cugen_restriction_kind {
  CUGEN_RESTRICTION_WHERE = 0, /* a where of the config */
  CUGEN_RESTRICTION_LIMIT,     /* no device, or not this one, launches it: text is such as "block y: 1 to 1024" */
  CUGEN_RESTRICTION_FILTER     /* it was not asked for, see cugen_kernel_filter */
} cugen_restriction_kind;

/* A restriction is tried as soon as its names are bound; removed counts the combinations it was the first to
   rule out, so that cartesian = valid + the sum of removed. Limits and filters are listed
   only where they removed something. */
typedef struct cugen_restriction_info {
  const char *implementation;
  const char *text;
  const char *file; /* of a filter the option: "--where" */
  int line;         /* of a limit that of the launch; of a filter 0 */
  uint64_t removed;
  cugen_restriction_kind kind;
} cugen_restriction_info;

/* Which variants are wanted. An implementation without a tunable that is named here has none of them. */
typedef struct cugen_filter {
  size_t size;              /* sizeof(cugen_filter) */
  const char *const *where; /* expressions in the config's language, such as "BM >= 64": all must hold */
  size_t where_count;
  const char *variant; /* "tiled tile=32", with "*" for any text: an implementation, values, or both; NULL: any */
  const char *implementation; /* only this one, or these: "wgmma,naive*"; NULL: all */
} cugen_filter;

#define CUGEN_FILTER_INIT                                                                                            \
  { sizeof(cugen_filter), NULL, 0, NULL, NULL }

/* From now on the kernel's space is what the filter admits: counts, variants, records, what a check draws from, what is tuned,
   and the best. What is remembered is not changed, and another filter or NULL shows the rest again. The filter is copied.
   CUGEN_ERROR_USAGE, and everything is as before: an unknown name, a pattern that means nothing. Without a variant left, what
   needs one is CUGEN_ERROR_EMPTY. */
int cugen_kernel_filter(cugen_kernel *kernel, const cugen_filter *filter, cugen_error *error);

/* The first call walks the space. index: below the count in cugen_space_info, else CUGEN_ERROR_USAGE. */
int cugen_kernel_space(cugen_kernel *kernel, cugen_space_info *out, cugen_error *error);
int cugen_kernel_implementation(cugen_kernel *kernel, size_t index, cugen_implementation_info *out,
                                cugen_error *error);
int cugen_kernel_restriction(cugen_kernel *kernel, size_t index, cugen_restriction_info *out, cugen_error *error);
/* The variant's text, such as "tiled tile=16 pad=1"; index < valid. */
int cugen_kernel_variant(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *error);

/* ---- Checking: what is wrong with a variant, without a GPU --------------------------------------------------------- */

/* One thing that was found, in however many variants and runs. */
typedef struct cugen_check_finding {
  /* "race", "race between blocks", "copy in flight", "sums in flight", "missing fence", "asynchronous misuse",
     "uninitialised read", "out of bounds", "index out of bounds", "misaligned access", "write to an input",
     "barrier divergence", "barrier after exit", "absent lanes", "deadlock", "hang", "wrong result", "trap" */
  const char *kind;
  const char *message; /* a sentence: who did what to what, where the other thread was */
  const char *file;    /* of the template, as the source's #line calls it; "": not known */
  int line;
  const char *user_file; /* where a template's included code is used, "" */
  int user_line;
  const char *other_file; /* the other access or barrier; "" */
  int other_line;
  const char *array; /* of shared memory, or the buffer; "" */
  int shared;
  uint32_t block[3], thread[3];             /* that did it */
  uint32_t other_block[3], other_thread[3]; /* the other; zero when there is none */
  const char *variant, *problem;            /* where it was found first */
  size_t variants;                          /* that show it */
} cugen_check_finding;

/* What a variant asks of the memory system with one array of shared memory, or one buffer of global memory, in one launch,
   on sizes that are whole tiles if it ran on such, else on the check problem. */
typedef struct cugen_check_traffic {
  const char *variant, *problem;
  int launch;
  const char *array;
  int shared, write;
  double requests; /* of a warp: its lanes' accesses at one place of the program */
  double bytes;
  double needed;     /* passes over the banks (shared), or sectors of 32 bytes (global) */
  double ideal;      /* the fewest that so many bytes can do with */
  int launches;      /* of the variant: launch is 0 to launches - 1 */
  const char *entry; /* the kernel that it launches */
} cugen_check_traffic;

/* What was not checked. */
typedef struct cugen_check_skip {
  const char *what, *why; /* a variant or an implementation; what it needs that the cpu device has not */
  int refused;            /* the compiler refused it, or the problem's data and reference were not made in time; 0: by
                             what the config says it is not for this device */
  size_t variants;        /* implementations, where what is one */
} cugen_check_skip;

/* One run: a variant on a problem. */
typedef struct cugen_check_ran {
  const char *variant, *problem;
} cugen_check_ran;

/* A setting of the check problem ("log2n=10") that stays as it is, though a check { } of the config names it, and why no
   other size is made of it. */
typedef struct cugen_check_kept {
  const char *setting, *why;
} cugen_check_kept;

/* How far a check has got; for the length of the callback. */
typedef struct cugen_check_progress {
  size_t done, planned; /* runs: of a variant on a problem */
  size_t findings;
} cugen_check_progress;

/* Called some ten times a second from the thread that checks; return nonzero to stop. */
typedef int (*cugen_check_callback)(const cugen_check_progress *progress, void *context);

/* What to check. */
typedef struct cugen_check_options {
  size_t size;
  const char *variant;           /* only this one; a text as for cugen_kernel_source */
  int all;                       /* every variant of the kernel's problem */
  int branches;                  /* so few that every branch of the templates is in one of them */
  size_t sample;                 /* so many of them, drawn at random */
  uint64_t seed;                 /* of the sample and of the input data; 0: 1 */
  int threads;                   /* runs at the same time; 0: as many as there are processors */
  double timeout;                /* seconds that one run may take, and the data and reference of one problem; 0: 60 */
  cugen_check_callback progress; /* NULL: none */
  void *context;                 /* for progress */
} cugen_check_options;

#define CUGEN_CHECK_OPTIONS_INIT                                                                                     \
  { sizeof(cugen_check_options), NULL, 0, 0, 0, 0, 0, 0.0, NULL, NULL }

/* What a check found. Everything in it lives until the kernel is checked again or closed. */
typedef struct cugen_check {
  const cugen_check_finding *findings; /* by file and line */
  size_t finding_count;
  const cugen_check_traffic *traffic;
  size_t traffic_count;
  const cugen_check_skip *skips;
  size_t skip_count;
  const cugen_check_ran *ran;       /* in the order in which they ended */
  size_t variants, problems, runs;  /* that were checked */
  uint64_t variants_of;             /* there are for the check problem */
  size_t variants_elsewhere;        /* of variants: only other problems have them (a size, type, layout) */
  size_t runs_done, runs_planned;   /* done: also those that ended as a skip; fewer than planned: interrupted */
  const char *const *problem_texts; /* of the problems: the check problem first, then those made of it */
  const cugen_check_kept *kept;
  size_t kept_count;
  int has_check; /* the config has a check { }; 0: what was checked is its own problem, and no other size */
} cugen_check;

/* Runs variants on the cpu device with every access to memory watched, in processes of their own, and compares the
   results with the reference. By default: of every implementation as many variants as show every value of every tunable, on
   the check problem and on sizes around it, and some with every other value of what the problem has a list of (types,
   layouts). With branches: the variants that it takes for every line of the templates that one of a large sample has to be
   in one of them, and every line that one lacks to be missing in one, on sizes, types and layouts of all kinds. With
   variant, all or sample: those, on the check problem and the sizes around it. What was set at cugen_kernel_open stays.

   CUGEN_ERROR_WRONG: there are findings. CUGEN_ERROR_INTERRUPTED: the callback asked to stop; *out has what was found until
   then. CUGEN_ERROR_COMPILE: nothing was found, but something in out->skips was `refused`. CUGEN_ERROR_MISSING: there
   is no C++ compiler. The status of what ended them: variants could not be tried, since their template does not expand or their data
   cannot be made.
   After another error *out has what was found before it.
   CUGEN_ERROR_EMPTY: nothing was checked; out->skips says why, and the message. What else is in out->skips was not checked,
   which is no error. */
int cugen_kernel_check(cugen_kernel *kernel, const cugen_check_options *options, cugen_check *out,
                       cugen_error *error);

/* ---- Sources ------------------------------------------------------------------------------------------------ */

/* variant: "tiled tile=16 pad=1" (names left out take their first valid value), an implementation's name alone,
   "best" (the one remembered for this very problem; an error when there is none), or NULL: what a plan would use.
   *source is the expanded .cu, *name (may be NULL) the variant's full text; both live until the next call. */
int cugen_kernel_source(cugen_kernel *kernel, const char *variant, const char **source, const char **name,
                        cugen_error *error);

/* One launch of a variant, or several alike that follow each other. */
typedef struct cugen_launch_info {
  const char *entry;              /* the kernel as the source names it: "reduce", "reduce<4>" */
  const char *place;              /* where the template has it: "reduce.cu:12"; "": not known */
  int line;                       /* of the launch in the config */
  unsigned int grid[3], block[3]; /* blocks of a grid, threads of a block */
  int64_t shared_bytes;           /* dynamic shared memory of a block */
  int carveout;                   /* percent, as in the config; -1: the driver decides */
  int overlap;                    /* it may begin before what stands in front of it has ended */
  int listed;                     /* it passes what the config's pass lists, else all arguments */
  const char *passes;             /* its parameters in order: "source, ping, n=100", with values of its own */
  size_t times;                   /* so often in a row */
} cugen_launch_info;

/* The launches that one call makes of a variant (a text as for cugen_kernel_source), in order, for the kernel's problem. *name (may
   be NULL) is the variant's full text. The list lives until the next call, the name until that or cugen_kernel_source. */
int cugen_kernel_launches(cugen_kernel *kernel, const char *variant, const cugen_launch_info **out, size_t *count,
                          const char **name, cugen_error *error);

/* ---- Records: what running a variant gave ---------------------------------------------------------------------- */

/* How a variant ended. Only CUGEN_OUTCOME_OK has times. */
typedef enum cugen_outcome {
  CUGEN_OUTCOME_OK = 0,     /* right, and timed */
  CUGEN_OUTCOME_COMPILE,    /* the compiler refused it */
  CUGEN_OUTCOME_LAUNCH,     /* the device cannot launch it: too many threads, registers, too much shared memory */
  CUGEN_OUTCOME_WRONG,      /* the result differs from the reference by more than the tolerance, or verify says so */
  CUGEN_OUTCOME_BOUNDS,     /* it wrote or read outside its buffers */
  CUGEN_OUTCOME_TRAP,       /* it trapped, or the process died */
  CUGEN_OUTCOME_TIMEOUT,    /* it did not end within its time limit */
  CUGEN_OUTCOME_UNPREDICTED /* the model has no time for it: nothing is wrong with the variant. Of predictions alone */
} cugen_outcome;

/* "wrong result" and the like, and the word that JSON has for it ("wrong"); never NULL. */
const char *cugen_outcome_text(int outcome);
const char *cugen_outcome_name(int outcome);

/* What running one variant gave. */
typedef struct cugen_record {
  const char *variant; /* full text */
  const char *reason;  /* "" or what went wrong; of a prediction that is right what bounds it: "device memory" */
  cugen_outcome outcome;
  int samples;    /* timed batches behind the figures */
  int from_cache; /* measured by an earlier run */
  double seconds; /* median time of one run of the plan */
  double seconds_min, seconds_p20, seconds_p80;
  double flops, bytes;   /* of the problem, from the config; 0: not declared */
  double roofline;       /* fraction of the attainable rate; 0: not known (no ceilings for this device) */
  int roofline_measured; /* the ceiling that bounds it was measured on the device; 0: it is of the data sheet */
  double error;          /* largest error seen by verification, in units of the tolerance */
  int registers;         /* a thread; of several launches the one whose block takes the most */
  int threads;           /* a block */
  int64_t shared_bytes;  /* a block, static and dynamic */
  int64_t dynamic_shared_bytes; /* of them: given at launch */
  int64_t constant_bytes;       /* of the whole image's __constant__ variables */
  int64_t local_bytes;          /* a thread: stack frame, spills included */
  int64_t spill_bytes;          /* a thread: stores and loads of spilled registers */
  double occupancy;             /* theoretical, 0 to 1; 0: not applicable */
  const char *limiter;          /* what limits occupancy: "threads", "blocks", "registers", "shared memory", "" */
  int cluster_blocks;           /* of the clusters that the kernel demands; 1: it has none; 0: not known */
  int active_clusters;          /* that the device runs at once, by its driver's own answer; 0: none, or not known */
  int clock_mhz;                /* SM clock while measuring; 0: not known */
  int power_watts;              /* the whole board's, while measuring; 0: not known */
  const char *throttle;         /* what held the clocks back then, such as "power cap"; "" */
  int predicted; /* nothing was measured: the times are the model's, see cugen_kernel_use_predictions */
  int verified; /* the result was compared with the reference's or judged by the config's verify kernel; 0: it did not
                   run, or the config has reference "none": then OK says only that it ran */
  const char *unverified; /* why an OK one is not; "": it is */
  int64_t measured_at;    /* or predicted; seconds since the epoch */
  double compile_seconds; /* what compiling took; 0: nothing (the image was there), or not known */
  double
      measure_seconds; /* what all else took that was done for this variant: data, verifying, timing; 0: not known */
  double cost; /* what the config's objective ranks by, the least first: seconds, or seconds for each unit of work */
} cugen_record;

/* ---- Tuning ------------------------------------------------------------------------------------------------- */

/* How far tuning has got; for the length of the callback. */
typedef struct cugen_progress {
  size_t done, failed, planned; /* variants; planned is what the budget allows, 0 when a time budget decides */
  uint64_t valid;               /* variants in the space */
  double elapsed, remaining;    /* seconds; remaining < 0: not known yet */
  const char *best;             /* variant text, or NULL */
  double best_seconds;
  const char *last;    /* the variant just finished, or NULL */
  double flops, bytes; /* of the problem, from the config; 0: not declared, or not known yet */
} cugen_progress;

/* Called from the tuning thread; return nonzero to stop cleanly. */
typedef int (*cugen_progress_callback)(const cugen_progress *progress, void *context);

/* For cugen_tune_options.flags. */
enum {
  CUGEN_TUNE_IN_PROCESS = 1 /* threads of this process do the work of worker processes, see cugen_kernel_tune */
};

/* How to tune. */
typedef struct cugen_tune_options {
  size_t size;                      /* sizeof(cugen_tune_options) */
  const char *strategy;             /* one that cugen_strategy names; NULL: the first of them, "local" */
  uint64_t seed;                    /* of the strategy and of the input data */
  double budget_seconds;            /* 0: 60 on a GPU, 30 on the cpu device and for predictions; < 0: none */
  size_t budget_count;              /* variants to try at most; 0: no limit */
  double variant_timeout;           /* seconds one variant may run before it is killed; 0: 10 */
  int threads;                      /* compile threads; 0: one a processor */
  int again;                        /* measure again what is remembered */
  const char *implementation;       /* only this one, or these: "wgmma,naive*"; NULL: all */
  cugen_progress_callback progress; /* NULL: none */
  void *context;                    /* for progress */
  unsigned flags;                   /* CUGEN_TUNE_... */
  void *cuda_context;               /* with CUGEN_TUNE_IN_PROCESS: as cugen_plan_options.context */
  double
      verify_seconds; /* of predictions: how long the first may be verified, see cugen_kernel_tune; 0: 30; < 0: not at all */
  double compile_timeout; /* seconds one compile may take before it is stopped; 0: 60 */
} cugen_tune_options;

#define CUGEN_TUNE_OPTIONS_INIT                                                                                      \
  { sizeof(cugen_tune_options), NULL, 1, 0.0, 0, 0.0, 0, 0, NULL, NULL, NULL, 0, NULL, 0.0, 0.0 }

/* What a run of cugen_kernel_tune did. */
typedef struct cugen_tune_result {
  uint64_t valid;     /* variants in the space */
  size_t remembered;  /* of them known before this run, and not tried again */
  size_t tried;       /* in this run */
  size_t failed;      /* in this run, for whatever reason */
  size_t unpredicted; /* in this run: the model has no time for them, nothing is wrong with them */
  size_t leaders;     /* taken first because they lead what is remembered of near problems */
  uint64_t left;      /* variants still untried */
  size_t compiled;    /* compiles; fewer than tried when sources were equal */
  double seconds;     /* wall time */
  double measuring;   /* seconds of it during which the device verified or measured */
  int interrupted;    /* the callback asked to stop */
  size_t verified;    /* of predictions: ran on the cpu device in this run and came out right, */
  size_t refuted;     /* and wrong: they are remembered as failed */
  const char
      *unverified; /* of predictions: why the first is not verified; NULL: it is. It lives until the kernel is tuned
                             again or closed */
} cugen_tune_result;

/* The search strategies by number, from 0 (the default) on: a name, and in *what (NULL allowed) what it does. NULL: there are
   no more. */
const char *cugen_strategy(size_t index, const char **what);

/* Tunes in an isolated worker process and remembers every measurement as it arrives. Running it again resumes. But for
   "exhaustive" it begins with the variants that lead what is remembered of this kernel for other sizes on the same
   device, the nearest first.
   The budget ends with what is under way: no compile is begun that would take longer than it, by those before. It is
   exceeded by at most one variant, and on a GPU the final rounds of the fastest four: compilers are killed, but for NVRTC in
   this process (cugen_options.worker = "none"), which ends its compile.
   A template that does not expand, or an input or reference that cannot be made, fails the variants that have it. It is an error
   when all have.
   CUGEN_ERROR_WRONG: not one variant came out right, or none was measured in the budget. CUGEN_ERROR_INTERRUPTED: the callback asked to stop. In both
   cases *result and the records are filled.

   On a GPU that is only described it predicts, then verifies the prediction that leads: the variant is run in a worker on the
   cpu device, with the config's check problem and the source and launches that are the GPU's. One that comes out wrong is
   remembered as failed, and the next leads and is verified, until one is right or verify_seconds are over. What came out right
   is remembered, too. result->unverified says why the first is not verified: there is no reference, C++ compiler or worker
   program, it needs what the cpu device has not, time was over, or CUGEN_TUNE_IN_PROCESS: then nothing runs. None of these
   is an error, and everything predicted is kept.

   With CUGEN_TUNE_IN_PROCESS no process is started but the C++ compiler: NVRTC runs in this process, and a thread verifies and measures, on a GPU in options->cuda_context,
   else in the context current here, else in the primary one, beside whatever else runs there and disturbs the times.
   No signal handler is installed. Nothing can end a variant from outside here, so the call ends with
   CUGEN_ERROR_DEVICE, which names the variant, when one
   - breaks the GPU's context by a trap or a bad address: everything in that context is lost, as after a kernel of
     the application's own;
   - does not end in variant_timeout: its thread is left to itself until it does, and the library must stay loaded.
   That variant is remembered as failed, everything before it is kept, and tuning again goes on behind it. On the cpu
   device traps, deadlocks and writes just outside a buffer fail the variant only, and so does one that takes too long
   but comes to a barrier or a block's end; an access far outside ends the process.

   There is no jail in this process: on the cpu device a variant, a reference, a generator or a verify kernel can do whatever the
   application can. A worker process has one (docs/design.md). */
int cugen_kernel_tune(cugen_kernel *kernel, const cugen_tune_options *options, cugen_tune_result *result,
                      cugen_error *error);

/* What is remembered for this kernel on this device: the right ones by time, then the failed ones. */
size_t cugen_kernel_records(cugen_kernel *kernel);
int cugen_kernel_record(cugen_kernel *kernel, size_t index, cugen_record *out, cugen_error *error);

/* Verifies and times one variant (as in cugen_kernel_source) now, in an isolated worker; nothing is remembered. */
int cugen_kernel_run(cugen_kernel *kernel, const char *variant, double timeout, cugen_record *out,
                     cugen_error *error);

/* What kernels of the cpu device printed in the last cugen_kernel_run (in the first launch, or in all where the variant failed), or
   cugen_kernel_check (its first variant that printed, behind its name): up to 2,040 bytes, with control and bidirectional characters escaped; "" when nothing. It lives until the next one. */
const char *cugen_kernel_printed(const cugen_kernel *kernel);

/* ---- Explaining: ceilings and occupancy --------------------------------------------------------------------------- */

/* What bounds a kernel on its device: rates measured there and of its data sheet; 0: not known. Those of a processor
   are not a GPU's: the cpu device has none. */
typedef struct cugen_ceilings {
  const char *dtype;                 /* what the kernel computes in: what the config's products says ("bf16", "tf32"),
                                        else its first output's type */
  double flops, flops_sheet;         /* FLOP/s of fused multiply-adds of that type, without tensor cores */
  double tensor_flops_sheet;         /* of the tensor cores, dense, where the config says products; 0: they do none */
  double bandwidth, bandwidth_sheet; /* bytes/s of device memory, read and written together */
  int64_t flops_at, bandwidth_at;    /* when they were measured; seconds since the epoch */
} cugen_ceilings;

/* The measured ones are the best that is remembered, on that device, of two configs that ship: peak_copy, and peak_fma
   with that dtype. They are measured like any other, by cugen_kernel_tune. */
int cugen_kernel_ceilings(cugen_kernel *kernel, cugen_ceilings *out, cugen_error *error);
/* FLOP/s of the tensor cores of the kernel's device, dense and at its highest clock, for products of that type: a dtype,
   "tf32" or "fp8"; 0: they do none, or it is not known. */
double cugen_kernel_tensor_flops(const cugen_kernel *kernel, const char *type);

/* What a kernel takes of a multiprocessor. */
typedef struct cugen_resources {
  int registers;        /* a thread */
  int threads;          /* a block */
  int64_t shared_bytes; /* a block, static and dynamic */
} cugen_resources;

/* How many of its blocks a multiprocessor holds, as NVIDIA's occupancy calculator (cuda_occupancy.h) has it. */
typedef struct cugen_occupancy {
  char device[128];     /* its name */
  char arch[16];        /* "sm_90a" */
  int blocks;           /* resident on one multiprocessor */
  int max_threads;      /* that one multiprocessor holds */
  double fraction;      /* of them, in use */
  const char *limiter;  /* "threads", "blocks", "registers", "shared memory"; "none": it fits nowhere */
  int best_threads;     /* the block size with the highest occupancy, the rest unchanged; 0: none fits */
  double best_fraction; /* which is this */
} cugen_occupancy;

/* Occupancy on any device that is known, here or not. device: as in cugen_options; NULL: lib's own. CUGEN_ERROR_USAGE: no
   such device, the cpu device, or resources that no kernel has. */
int cugen_device_occupancy(cugen *lib, const char *device, const cugen_resources *resources, cugen_occupancy *out,
                           cugen_error *error);

/* The names of the described devices that ship, "model:K40" and so on from the oldest, as options.device takes them. Returns
   how many there are; fills at most count. The strings live until the library is closed. */
size_t cugen_models(cugen *lib, const char **out, size_t count);
/* The same as devices: what their descriptions say, "model:K40" as the id. */
size_t cugen_described(cugen *lib, cugen_device_info *out, size_t count);

/* ---- The cache: what is remembered, of every kernel ------------------------------------------------------------- */

/* Which records are meant; what is NULL or 0 does not matter. */
typedef struct cugen_cache_filter {
  size_t size;
  const char *config;  /* a kernel's name, or a config as for cugen_kernel_open, whose kernel is meant */
  const char *problem; /* "M=4096 dtype=f32": problems with these values */
  const char *device;  /* "cuda:0", or part of a device's text in the cache, such as "H200" or "cpu" */
  int64_t before;      /* measured before that; seconds since the epoch */
  int failed;          /* only those that failed */
} cugen_cache_filter;

#define CUGEN_CACHE_FILTER_INIT                                                                                      \
  { sizeof(cugen_cache_filter), NULL, NULL, NULL, 0, 0 }

/* The records of one kernel for one problem on one device with one set of options. */
typedef struct cugen_cache_set {
  const char *config, *problem, *device, *options;
  size_t records;      /* variants measured or failed */
  size_t failed;       /* of them */
  size_t history;      /* earlier records of the same variants */
  const char *best;    /* the fastest variant, whether or not the config still has it; "": none was right */
  double seconds;      /* its time */
  double flops, bytes; /* of the problem; 0: not declared */
  int64_t measured_at; /* the latest; seconds since the epoch */
} cugen_cache_set;

/* How much there is, or was removed. */
typedef struct cugen_cache_counts {
  size_t sets, records, history;
  size_t images; /* compiled kernels */
  int64_t image_bytes;
  size_t
      foreign_images; /* of them, told by cugen_cache_verify: compiled by another user, or by nobody known. They are not used */
} cugen_cache_counts;

/* *out lives until the next call. filter (may be NULL): its first three. Where there is no database, none is made. */
int cugen_cache_list(cugen *lib, const cugen_cache_filter *filter, const cugen_cache_set **out, size_t *count,
                     cugen_error *error);

/* Removes the records meant, and each image that no remaining record can want. It does so in short transactions, so that whoever
   reads or stores meanwhile is not disturbed; on a failure some may be removed, and *out counts them. Of a config (not a kernel's name)
   these are the ones measured from that file, which need not exist any more, and those of no known file, such as imported ones: another
   file's kernel of that name keeps its own. really 0: only counts what would go. CUGEN_ERROR_IO: the cache can only be read. */
int cugen_cache_remove(cugen *lib, const cugen_cache_filter *filter, int really, cugen_cache_counts *out,
                       cugen_error *error);

/* Checks the file, the tables, every record and every image, and counts them. CUGEN_ERROR_CACHE: something is wrong;
   *wrong (may be NULL) then has a line for each thing, and lives until the next call; where nothing is, a line for each foreign
   image, or NULL. CUGEN_ERROR_MISSING: there is no database. */
int cugen_cache_verify(cugen *lib, cugen_cache_counts *out, const char **wrong, cugen_error *error);

/* How far an export is. */
typedef struct cugen_export_progress {
  size_t written, records; /* records so far; in all */
  const char *text;        /* what was written since the last call: whole lines, not ended by a zero */
  size_t length;           /* its bytes */
} cugen_export_progress;
/* Called with each piece, some 64 KB, from the exporting thread; it may not use the library's handle. Not 0: stop. */
typedef int (*cugen_export_callback)(const cugen_export_progress *progress, void *context);

/* Wisdom: records as text, a line each, to be carried to another cache; docs/cache.md describes the format. Writes
   what the filter's first three mean (NULL: all), without history, to a file that is replaced when the new one is whole; path NULL:
   none, progress takes the text. progress may be NULL; asked to stop, it is CUGEN_ERROR_INTERRUPTED, and the file is as it was. Memory
   does not grow with the records. */
int cugen_cache_export(cugen *lib, const cugen_cache_filter *filter, const char *path, cugen_export_callback progress,
                       void *context, size_t *records, cugen_error *error);

/* What a merge did with the records of a file. */
typedef struct cugen_cache_merged {
  size_t records; /* in the file: the sum of the following */
  size_t added;   /* of variants that had no record */
  size_t better;  /* now taken instead of the record that was there, which is kept as history */
  size_t worse;   /* kept as history themselves */
  size_t known;   /* were there already */
} cugen_cache_merged;

/* How far an import is. */
typedef struct cugen_import_progress {
  size_t read, merged; /* records */
  size_t records;      /* in the file, as it says itself; 0: it does not say */
} cugen_import_progress;
/* Called in between, from the importing thread. Not 0: stop. */
typedef int (*cugen_import_callback)(const cugen_import_progress *progress, void *context);

/* Merges a wisdom file into the cache: all of it, or on any failure nothing. progress may be NULL; asked to stop, it is
   CUGEN_ERROR_INTERRUPTED: while the file is read nothing is imported, later the next who opens the cache merges the rest. CUGEN_ERROR_CACHE: something in it cannot
   be vouched for; the message names file and line. CUGEN_ERROR_IO: the cache can only be read, or the file cannot; CUGEN_ERROR_MISSING: there is no such file. Of
   two records of one kernel one that was seen to go wrong is taken (a wrong result, out of bounds, a trap), else the
   fastest right one; of two kernels with one variant's name the one measured later. */
int cugen_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                       cugen_cache_merged *out, cugen_error *error);

/* A record, and how it stands to the kernel as it is now. */
typedef struct cugen_stored_record {
  cugen_record record;
  int current;         /* a look-up takes it: its variant still is the kernel that was measured */
  int superseded;      /* history: a later record of the variant has replaced it */
  int64_t measured_at; /* seconds since the epoch */
  int driver_version, nvrtc_version;
} cugen_stored_record;

/* All that the cache holds for this kernel, problem, device and options, current or not; the right ones by time, then
   the failed ones, then, with history, the superseded ones, the latest first. *out lives until the next call. */
int cugen_kernel_stored(cugen_kernel *kernel, int history, const cugen_stored_record **out, size_t *count,
                        cugen_error *error);

/* How what is wanted compares with what is remembered. */
typedef enum cugen_why_state {
  CUGEN_WHY_SAME,
  CUGEN_WHY_DIFFERS,
  CUGEN_WHY_UNKNOWN /* the record does not say */
} cugen_why_state;

/* One thing that a look-up compares. */
typedef struct cugen_why_row {
  const char *field;          /* "device", "options", "M", "variant", "source", "launches", "arguments", ... */
  const char *wanted, *found; /* what the kernel has now, and what the record has */
  cugen_why_state state;
  int decides; /* 0: it is told, but no look-up depends on it */
} cugen_why_row;

/* A record that the look-up found, or might have. */
typedef struct cugen_why_match {
  const char *variant;
  const char *verdict; /* what it is to the look-up, in a sentence */
  cugen_outcome outcome;
  double seconds;
  int64_t measured_at; /* seconds since the epoch */
  const cugen_why_row *rows;
  size_t row_count;
} cugen_why_match;

/* What a look-up found, and why. */
typedef struct cugen_why {
  int hit;                        /* the first match is what a look-up takes */
  const char *verdict;            /* a sentence or two */
  const char *advice;             /* what to do about a miss; "" */
  const cugen_why_match *matches; /* the record that is taken; of a miss the nearest ones, three at most */
  size_t match_count;
} cugen_why;

/* Explains what a look-up of this kernel finds, field by field. variant: the record of that one (a text as for
   cugen_kernel_source); NULL: the best. A miss is no error. Everything in *out lives until the next call. */
int cugen_kernel_why(cugen_kernel *kernel, const char *variant, cugen_why *out, cugen_error *error);

/* ---- Plans and calls: launching from an application ------------------------------------------------------------ */

/* A plan is one variant of a kernel, compiled for its device and loaded into a CUDA context. It never changes, and
   alone among the handles it may be used from several threads at once. It needs its cugen, but not its kernel, and is
   closed before either the context or the cugen goes. A call is a plan with its arguments, and is closed first.

   On the cpu device a plan runs in the calling thread, on host memory, for any problem. It is there to develop and
   test without a GPU. It has no contexts and no streams; the launches of a plan run one at a time. A trap or a
   deadlock is CUGEN_ERROR_DEVICE from the launch, after which the plan is as good as before; an access out of bounds
   or a loop without end does what it does in any C program. */
typedef struct cugen_plan cugen_plan;
typedef struct cugen_call cugen_call;

/* For cugen_plan_options.flags. */
enum {
  CUGEN_PLAN_TUNED_ONLY = 1, /* CUGEN_ERROR_USAGE rather than a variant that was never measured */
  CUGEN_PLAN_PRIMARY = 2     /* the device's primary context, whatever is current; on the cpu device nothing */
};

/* Which plan, and where it is loaded. */
typedef struct cugen_plan_options {
  size_t size;
  unsigned flags;  /* CUGEN_PLAN_... */
  void *context;   /* a CUcontext of the kernel's device; NULL: the calling thread's current one, else the primary */
  double distance; /* 0: the config's policy; > 0: nearest, up to this distance, instead; < 0: this problem only */
} cugen_plan_options;

#define CUGEN_PLAN_OPTIONS_INIT                                                                                      \
  { sizeof(cugen_plan_options), 0, NULL, 0.0 }

/* Where a plan's variant comes from. */
typedef enum cugen_plan_choice {
  CUGEN_PLAN_EXACT, /* the best remembered for this problem */
  CUGEN_PLAN_NEAR,  /* the best remembered for the problem that the policy names: the nearest, or its bucket's */
  CUGEN_PLAN_DEFAULT /* nothing remembered serves: the model's choice, where predictions for this device and problem are
                        remembered, else on a GPU the first valid one of those that the config names as good (try), else its
                        first valid variant; never measured */
} cugen_plan_choice;

/* What a plan is, and why. */
typedef struct cugen_plan_info {
  const char *kernel, *problem;
  const char *variant; /* full text */
  cugen_plan_choice choice;
  const char *tuned_for; /* the problem that the record is of; NULL: default */
  double distance;       /* from this problem to that one */
  cugen_record record;   /* as it was measured, for tuned_for; default: only variant, flops, bytes and predicted */
  int64_t measured_at;   /* seconds since the epoch, with which driver and NVRTC; default: 0 */
  int driver_version;
  int nvrtc_version;
  const char *source_hash; /* of the source without comments and spacing: equal hashes are the same code */
  int image_from_cache;    /* 0: it was compiled now */
  size_t launches;         /* kernels launched by one cugen_call_launch */
  size_t arguments;        /* that cugen_call_bind takes */
} cugen_plan_info;

/* Takes the best variant remembered for the kernel's problem. Failing that, of another problem, by the config's policy
   or options->distance:
   - exact: of none.
   - nearest: of the nearest tuned problem. All sizes may differ, each by a factor of 2^distance at most (the distance is
     the largest |log2| of a ratio of sizes; 1 allows twice or half), everything else (types, layouts, flags, sizes
     below 1) is equal.
   - buckets: of the problem with each size that has buckets rounded up to the next bound, above the last to the last.
   It must be a valid variant here, and its record of the source as it is now, else that problem's next best is taken.
   Failing all that, the default (CUGEN_PLAN_DEFAULT): untuned use is no error but with CUGEN_PLAN_TUNED_ONLY. Compiles
   it, or takes the image from the cache, where it is kept. CUGEN_ERROR_USAGE: the context is of another device, or one
   was given and the kernel is for the cpu device.
   On the cpu device the kernel is code of this process, without a jail: it can do whatever the application can. */
int cugen_plan_open(cugen_kernel *kernel, const cugen_plan_options *options, cugen_plan **out, cugen_error *error);
void cugen_plan_close(cugen_plan *plan);
const cugen_plan_info *cugen_plan_about(const cugen_plan *plan);
/* As cugen_kernel_argument, with the plan's own variant. */
int cugen_plan_argument(const cugen_plan *plan, size_t index, cugen_argument_info *out, cugen_error *error);

/* What cugen_kernel_choose chose, and why. */
typedef struct cugen_choice {
  cugen_plan_choice how;
  const char *variant;   /* full text */
  const char *tuned_for; /* as in cugen_plan_info */
  double distance;
  int predicted; /* the default is the model's choice */
  int named;     /* the default is one that the config names as good (try) */
} cugen_choice;

/* What a plan for this kernel would take, and why; nothing is compiled. distance is that of cugen_plan_options. The strings live until the next call on the
   kernel. */
int cugen_kernel_choose(cugen_kernel *kernel, double distance, cugen_choice *out, cugen_error *error);

/* arguments[i] is the plan's i-th argument, in the order and the sizes of cugen_plan_argument:
   - a buffer: its device pointer, on the cpu device the host's, at a multiple of its element's size, else
     CUGEN_ERROR_USAGE. Scratch may be NULL: the call then owns memory of its own, zeroed, if the variant uses any. Scratch
     that ends the list, and what the problem has not (absent, which takes NULL only), may also be left out of arguments and
     count. What is given must be zeroed once where the config says fill = "zero".
     One that is read as a texture (access = "texture") must lie at a multiple of 512 bytes, else CUGEN_ERROR_USAGE.
   - a scalar: a pointer to its value, of the type that the argument's dtype names, copied now; NULL: the problem's
     value. The grid stays the problem's. One that is compiled in takes no other value. Of a struct (dtype "struct") a
     pointer to its bytes, as many as cugen_argument_info says.
   - a constant: a pointer to its values, on either side, copied now. In a __constant__ symbol they belong to the plan: the
     last bind counts for all of its calls. Read by address they are the call's. The context is synchronised. */
int cugen_call_bind(cugen_plan *plan, void *const *arguments, size_t count, cugen_call **out, cugen_error *error);
/* What was launched must have ended when a call that owns scratch, textures or copies of constants is closed. */
void cugen_call_close(cugen_call *call);
/* Launches on a CUstream (or cudaStream_t) of the plan's context; NULL is the default stream of the current context,
   which must then be the plan's. Returns before the kernels end. One cuLaunchKernel (or cuLaunchKernelEx) a planned launch, before them
   one cuMemcpy3DAsync for each input that is read through a CUDA array (access = "array"): no lock, allocation or look-up.
   One call at a time on one stream at a time when it has scratch or an array; for more, bind more.
   On the cpu device stream must be NULL, else CUGEN_ERROR_USAGE; it returns when the kernels have ended. */
int cugen_call_launch(const cugen_call *call, void *stream, cugen_error *error);

/* ---- Shipping: tuned variants as plain C --------------------------------------------------------------------------- */

/* What to export. */
typedef struct cugen_export_options {
  size_t size;
  const char *devices; /* "H200, sm_80": parts of remembered devices' names, or architectures; NULL: all remembered */
  const char *problems; /* "M=1024 N=1024; M=4096": only these; NULL: all remembered that agree with the settings */
  double distance;      /* as in cugen_plan_options: 0: the config's policy */
  int ptx;              /* code for devices that it was not made for, too: PTX, which their driver compiles */
  int force;            /* write into a folder that holds other things; they stay */
} cugen_export_options;

#define CUGEN_EXPORT_OPTIONS_INIT                                                                                    \
  { sizeof(cugen_export_options), NULL, NULL, 0.0, 0, 0 }

/* What was exported. The strings live until the kernel is closed or exports again. */
typedef struct cugen_export_result {
  const char *name; /* prefix of the bundle's functions, and its files' name; as notes the kernel's */
  size_t devices;   /* that it has code for, PTX included */
  size_t problems;  /* tuned ones, each device's counted */
  size_t variants;  /* each device's */
  size_t images;    /* cubins and PTX; equal ones are one */
  size_t compiled;  /* of them now; the rest came from the cache */
  size_t stale;     /* records that were not used: their source has changed since */
  int64_t image_bytes, source_bytes;
  const char *notes; /* lines: what was left out or replaced, and why; "" */
} cugen_export_result;

/* Writes a bundle into the folder, which needs nothing but the driver at run time: NAME.h, NAME.c, README.md,
   CMakeLists.txt and an example. It chooses the variants that cugen_plan_open would with what is remembered now. Same
   input, same bytes. The folder is made (its parent is there), or holds an earlier bundle of this kernel, which is
   replaced as a whole; anything else in it is CUGEN_ERROR_USAGE without force. Nothing is measured; what the cache has no
   image of is compiled, which needs no GPU. */
int cugen_kernel_export(cugen_kernel *kernel, const cugen_export_options *options, const char *folder,
                        cugen_export_result *result, cugen_error *error);

/* ---- Isolated work ------------------------------------------------------------------------------------------- */

/* What is tuned, run or checked is started in a process of its own: "PROGRAM worker". PROGRAM is options.worker, $CUGEN_WORKER,
   or cugen-worker, which is installed with the library and found beside it, so that an application need do nothing. The running
   program is never started again unless it is named. Where there is none, or it is of another build, the function that needs it
   gives CUGEN_ERROR_MISSING, with the places looked at.

   An application that cannot bring cugen-worker along may be its own worker: options.worker names its file, and its main returns
   what this gives, before anything else, when argv[1] is "worker". It serves its parent over file descriptor 3. */
int cugen_worker_main(int argc, char **argv);

/* Where this header lies, kept in the program: a statically linked one finds the installation's worker by it. */
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
