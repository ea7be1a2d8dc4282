/* Values about devices, variants and findings that several parts of cugen use. */
#ifndef BASE_RESULTS_H
#define BASE_RESULTS_H

#include <stdbool.h>

#include "cugen.h"
#include "hash.h"

/* The kinds of a device's name, which is an id or the text in records (cugen_cache_set.device). */
typedef enum cugen_device_kind {
  CUGEN_DEVICE_NAMED = 0, /* the text of a GPU, or a part of it: "NVIDIA H200 sm_90 132 SMs",
                             "H200" */
  CUGEN_DEVICE_CPU,       /* "cpu", or the text of a processor */
  CUGEN_DEVICE_CUDA,      /* "cuda:0", "cuda": a GPU of this machine */
  CUGEN_DEVICE_MODEL,     /* "model:H200": a described GPU */
  CUGEN_DEVICE_LIST       /* "cuda:0,cuda:2", "cpu,cpu", "all": several devices */
} cugen_device_kind;

typedef struct cugen_device_name {
  cugen_device_kind kind;
  int predicted;    /* the text names a device's predictions */
  const char *name; /* the rest: "0", "H200", "NVIDIA H200 sm_90 132 SMs"; points into the text */
} cugen_device_name;

/* Parses the text (NULL is like ""). Whether such a device exists is not checked. */
cugen_device_name device_parse(const char *text);

/* The kinds of caches that options.cache can name. */
typedef enum cugen_cache_kind {
  CUGEN_CACHE_FILE = 0, /* a database file on this machine */
  CUGEN_CACHE_MEMORY,   /* "none" */
  CUGEN_CACHE_SERVER    /* "postgresql://..." */
} cugen_cache_kind;

/* The records of one kernel for one problem on one device with one set of options. The strings
   belong to the struct. */
typedef struct cache_space {
  int64_t id;
  char *config, *problem, *device, *options;
  char *best;                   /* the fastest right variant; "": none. api_cache_list: the variant
                                   that api_best_of finds, including stale records */
  double seconds, flops, bytes; /* of the best; flops and bytes 0: not declared */
  char *origin;                 /* config file of the best record; "": not known */
  size_t records;               /* variants with a record */
  size_t failed;                /* failed ones among the records */
  size_t history;               /* superseded records of the same variants */
  int64_t measured_at;          /* time of the latest record; seconds since the epoch */
  /* From the options, set by api_cache_list: "sm_90a", "cpu", or "" for baselines, predictions and
     suggestions; and how the records were timed, "burst", "served" or "baseline", or NULL for
     predictions and suggestions. */
  char arch[32];
  const char *measure;
} cugen_cache_set;

/* The numbers of objects that exist or were removed. */
typedef struct cugen_cache_counts {
  size_t sets, records, history;
  size_t images; /* compiled kernels */
  int64_t image_bytes;
  size_t foreign_images; /* cache_verify: images that are not used, because no key that is used here
                            sealed them */
  size_t portfolios;
} cugen_cache_counts;

/* The progress of an export; valid during the callback. */
typedef struct cugen_export_progress {
  size_t written, records; /* records written so far, and the number of all */
  const char *text;        /* the text since the last call: whole lines, without a terminating
                              zero */
  size_t length;           /* bytes of `text` */
  size_t left_out;         /* damaged records, which are not written; cache_verify describes
                              them */
} cugen_export_progress;
/* Called for each piece of the text, from the exporting thread. The callback must not use the
   cache; it returns nonzero to stop. */
typedef int (*cugen_export_callback)(const cugen_export_progress *progress, void *context);

typedef struct cugen_cache_merged {
  size_t records;    /* records in the file: the sum of the next four */
  size_t added;      /* records of variants that had none */
  size_t better;     /* records that replaced the record of their variant, which is kept as
                        history */
  size_t worse;      /* records that become history, because the variant has a better record */
  size_t known;      /* records that the cache had already */
  size_t portfolios; /* portfolios in the file */
} cugen_cache_merged;

/* The progress of an import; valid during the callback. */
typedef struct cugen_import_progress {
  size_t read, merged; /* records read and merged so far */
  size_t records;      /* records in the file by its own count; 0: it has no count */
} cugen_import_progress;

/* Called from the importing thread; returns nonzero to stop. */
typedef int (*cugen_import_callback)(const cugen_import_progress *progress, void *context);

/* How a variant ended. Only CUGEN_OUTCOME_OK comes with times. */
typedef enum cugen_outcome {
  CUGEN_OUTCOME_OK = 0,     /* no failure was found; a record has a time, measured or predicted */
  CUGEN_OUTCOME_COMPILE,    /* the variant does not compile, or not in time */
  CUGEN_OUTCOME_LAUNCH,     /* the device cannot launch the variant, for example because of its
                               threads, registers or shared memory */
  CUGEN_OUTCOME_WRONG,      /* the result differs from the reference by more than the tolerance, the
                               verify kernel refused it, or an input was written to */
  CUGEN_OUTCOME_BOUNDS,     /* the variant read or wrote outside its buffers */
  CUGEN_OUTCOME_TRAP,       /* the variant trapped, or its process died */
  CUGEN_OUTCOME_TIMEOUT,    /* the variant did not end within its time limit */
  CUGEN_OUTCOME_UNPREDICTED /* predictions only: the model cannot predict a time */
} cugen_outcome;

/* The text for an outcome, such as "wrong result"; never NULL. */
const char *outcome_text(int outcome);

/* The word for an outcome in JSON, such as "wrong"; never NULL. */
const char *outcome_name(int outcome);

/* The bits of a variant's outputs. For one problem, equal digests of one seed mean equal outputs,
   on any device. */
typedef struct cugen_outputs {
  int known;       /* 0: the outputs are unknown, for example because the variant failed */
  int varies;      /* the outputs differ between launches, so there is no digest */
  uint64_t seed;   /* seed of the input data */
  uint64_t digest; /* digest of all outputs */
} cugen_outputs;

enum { OUTPUTS_TEXT = 40 }; /* room for a seed, a blank, 16 digits and the NUL */
/* Prints the outputs as JSON, stores and wisdom files have them: "SEED DIGEST", "SEED varies", or
   "" if unknown. Returns the length of the whole text; `out` gets as much of it as fits into `size`
   bytes, terminated. */
size_t outputs_text(const cugen_outputs *outputs, char *out, size_t size);
/* Parses a text of outputs_text. Returns false, with unknown outputs in *out, if the text is not
   valid. */
bool outputs_parse(const char *text, cugen_outputs *out);
/* Returns whether both outputs are known, do not vary, and have the same seed and bits. NULL counts
   as unknown. */
int outputs_equal(const cugen_outputs *a, const cugen_outputs *b);

/* The record of one variant: for each field when JSON shows it (api/json.c), its C type, its name,
   its name in JSON ("": not shown), and its meaning. 0 and "" mean not known, unless stated
   otherwise. The struct, its JSON and the attributes in Python are made from this table. A new
   field is one row here, and the line that fills it in api/records.c. */
#define RECORD_FIELDS(X)                                                                           \
  X(TEXT, const char *, variant, "variant", "full text, \"tiled tile=16 pad=1\"")                  \
  X(OUTCOME, cugen_outcome, outcome, "outcome", "how the variant ended")                           \
  X(OPTIONAL, const char *, reason, "reason",                                                      \
    "what went wrong; of a correct prediction what bounds it: \"device memory\"")                  \
  X(FLAG, int, from_cache, "from_cache", "an earlier run measured the variant")                    \
  X(FLAG, int, predicted, "predicted", "the times are the model's; nothing was measured")          \
  X(FLAG, int, verified, "verified",                                                               \
    "the result was compared with the reference, or passed the verify kernel")                     \
  X(OPTIONAL, const char *, unverified, "unverified", "why an OK record is not verified")          \
  X(OPTIONAL, const char *, verified_on, "verified_on",                                            \
    "sizes on which a verified prediction ran")                                                    \
  X(COUNT, int, samples, "samples", "timed batches behind the times")                              \
  X(TIMED, double, seconds, "seconds", "median time of one run of all launches")                   \
  X(TIMED, double, seconds_min, "seconds_min", "shortest time")                                    \
  X(TIMED, double, seconds_p20, "seconds_p20", "20th percentile of the times")                     \
  X(TIMED, double, seconds_p80, "seconds_p80", "80th percentile of the times")                     \
  X(KNOWN, double, flops, "flops", "operations of the problem, from the config; 0: not declared")  \
  X(KNOWN, double, bytes, "bytes",                                                                 \
    "bytes that the problem moves, from the config; 0: not declared")                              \
  X(RATIO, double, roofline, "roofline", "fraction of the attainable rate")                        \
  X(NONE, int, roofline_measured, "",                                                              \
    "the ceiling was measured on the device; 0: it is the device's peak")                          \
  X(VERIFIED, double, error, "error",                                                              \
    "largest error that verification found, in units of the tolerance")                            \
  X(ID, int, threads, "threads", "threads of a block")                                             \
  X(ID, int, registers, "registers",                                                               \
    "registers of a thread; of several launches the one whose block takes the most")               \
  X(RESOURCE, int64_t, shared_bytes, "shared_bytes",                                               \
    "shared memory of a block, static and dynamic")                                                \
  X(RESOURCE, int64_t, dynamic_shared_bytes, "dynamic_shared_bytes",                               \
    "shared memory of a block that is passed at launch")                                           \
  X(RESOURCE, int64_t, constant_bytes, "constant_bytes",                                           \
    "__constant__ variables of the whole image")                                                   \
  X(RESOURCE, int64_t, local_bytes, "local_bytes", "stack frame of a thread, spills included")     \
  X(KNOWN, double, requested, "requested_bytes",                                                   \
    "bytes of global memory that the variant's loads and stores ask for")                          \
  X(RESOURCE, int64_t, spill_bytes, "spill_bytes",                                                 \
    "stores and loads of a thread's spilled registers")                                            \
  X(KNOWN, double, occupancy, "occupancy", "theoretical, 0 to 1; 0: not applicable")               \
  X(OPTIONAL, const char *, limiter, "limiter",                                                    \
    "what limits the occupancy: \"threads\", \"registers\", \"shared memory\", ...")               \
  X(ID, int, cluster_blocks, "cluster_blocks",                                                     \
    "blocks of the clusters that the kernel requires; 1: no clusters")                             \
  X(ID, int, active_clusters, "active_clusters",                                                   \
    "clusters that the device runs at once, by its driver's answer")                               \
  X(KNOWN, double, energy, "energy_joules",                                                        \
    "energy of one run, by the board's own counter; 0: not measured")                              \
  X(KNOWN, double, energy_resolution, "energy_resolution",                                         \
    "joules by which the energy is uncertain: the counter moves in steps")                         \
  X(ENERGY, int, non_dominated, "non_dominated",                                                   \
    "no other record takes less of time or energy, and no more of the other")                      \
  X(OUTPUTS, cugen_outputs, outputs, "outputs", "what bits the outputs have")                      \
  X(ID, int, clock_mhz, "clock_mhz", "clock of the multiprocessors while measuring")               \
  X(ID, int, power_watts, "power_watts", "power of the whole board while measuring")               \
  X(TEXT, const char *, throttle, "throttle",                                                      \
    "what limited the clocks then, such as \"power cap\"")                                         \
  X(NUMBER, double, compile_seconds, "compile_seconds",                                            \
    "time to compile; 0: the image was in the cache, or not known")                                \
  X(NUMBER, double, measure_seconds, "measure_seconds",                                            \
    "time for all else: data, verifying, timing")                                                  \
  X(ID, int64_t, measured_at, "measured_at",                                                       \
    "when it was measured or predicted; seconds since the epoch")                                  \
  X(ID, int64_t, run_began, "run_began",                                                           \
    "start of the tuning run that made the record; microseconds since the epoch")                  \
  X(RUN, double, run_seconds, "run_seconds",                                                       \
    "from the start of that run until the record was made")                                        \
  X(NONE, double, cost, "",                                                                        \
    "what the objective minimises: seconds, or seconds for each unit of work")                     \
  X(NONE, uint64_t, order, "",                                                                     \
    "where the variant stands in the config's space; UINT64_MAX: it is not in it")

typedef struct cugen_record {
#define X(show, type, name, json, what) type name;
  RECORD_FIELDS(X)
#undef X
} cugen_record;

/* Costs within this factor of the smallest cost tie. The objective's preference decides between
   tied variants; by default the first in the config is the best. */
#define CUGEN_TIE 1.005

/* How the best variant compares with the user's own function. */
typedef struct cugen_baseline_result {
  const char *function; /* the function as it was given; NULL: there was no comparison */
  cugen_outcome outcome;
  const char *reason; /* why the comparison failed; NULL: it did not fail, or was not made */
  double seconds, best_seconds; /* medians of the function and of the best variant, timed in turn */
  double ratio; /* cost of the function over that of the best variant; 0: not compared */
} cugen_baseline_result;

/* What one api_kernel_tune did. Columns: how JSON shows the field, its C type, its name, its
   meaning. The strings live until the kernel is tuned again or closed. */
#define TUNE_RESULT_FIELDS(X)                                                                      \
  X(COUNT, uint64_t, valid, "variants in the space")                                               \
  X(COUNT, size_t, remembered, "variants known before, and not tried again")                       \
  X(COUNT, size_t, tried, "variants tried in this run")                                            \
  X(COUNT, size_t, failed, "variants that failed in this run, for any reason")                     \
  X(COUNT, size_t, unpredicted,                                                                    \
    "variants that the model has no time for; nothing is wrong with them")                         \
  X(COUNT, size_t, unsupported,                                                                    \
    "variants that the cpu device cannot run, but a GPU may; they are not remembered")             \
  X(OPTIONAL, const char *, not_run, "the first unsupported variant and why; NULL: there is none") \
  X(COUNT, size_t, leaders,                                                                        \
    "variants tried because they lead elsewhere, such as for other sizes or GPUs")                 \
  X(OPTIONAL, const char *, began,                                                                 \
    "what the leaders led: \"5 that led for other sizes\"; NULL: no leaders")                      \
  X(COUNT, uint64_t, left, "variants still untried")                                               \
  X(COUNT, size_t, compiled, "compiles; fewer than tried if sources were equal")                   \
  X(NUMBER, double, seconds, "wall time")                                                          \
  X(NUMBER, double, measuring, "seconds during which the device verified or measured")             \
  X(COUNT, size_t, verified,                                                                       \
    "predictions that ran on the cpu device in this run and were correct")                         \
  X(COUNT, size_t, refuted, "predictions that ran and were wrong: they are remembered as failed")  \
  X(OPTIONAL, const char *, unverified,                                                            \
    "predictions: why the fastest is not verified; NULL: it is")                                   \
  X(OPTIONAL, const char *, unchecked,                                                             \
    "what a check cannot show of the fastest, verified prediction; NULL: nothing")                 \
  X(COUNT, size_t, tied,                                                                           \
    "on a GPU: variants that the last race did not find slower than the fastest")                  \
  X(COUNT, size_t, energies, "variants whose energy was measured, where the objective needs it")   \
  X(NUMBER, double, tied_within, "how far the tied variants are from the fastest: 0.004 is 0.4 %") \
  X(COUNT, size_t, alike,                                                                          \
    "variants, all that there were, that one compile error refused; 0: none did")                  \
  X(COUNT, size_t, settled,                                                                        \
    "variants in a row that were no better than the best before them, which ended the run; 0: it " \
    "ended otherwise")                                                                             \
  X(NUMBER, double, gain,                                                                          \
    "what as many variants again would gain, an estimate where the run settled: 0.02 is 2 %")      \
  X(COUNT, size_t, power_capped, "measure \"sustained\": measurements at the board's power limit") \
  X(COUNT, size_t, steady, "measure \"sustained\": with steady clocks, below the power limit")     \
  X(COUNT, size_t, unsettled, "measure \"sustained\": with neither in their time")                 \
  X(COUNT, size_t, devices, "devices that shared the work and did not fail")                       \
  X(OPTIONAL, const char *, lost, "devices that failed, as in cugen_progress; NULL: none")         \
  X(OPTIONAL, const char *, equal_to, "with options.bitwise: that variant, in full; else NULL")    \
  X(OUTPUTS, cugen_outputs, outputs, "with options.bitwise: what the wanted variants give")        \
  X(BASELINE, cugen_baseline_result, baseline, "with options.baseline: how the best compares")     \
  X(FLAG, int, interrupted, "the callback asked to stop")

typedef struct cugen_tune_result {
#define X(show, type, name, what) type name;
  TUNE_RESULT_FIELDS(X)
#undef X
} cugen_tune_result;

/* The rates that limit a kernel on its GPU; 0: unknown. The cpu device has none. `flops` and
   `bandwidth` are measured. A peak is the rate of all multiprocessors at the highest clock, and for
   memory the described rate, or the rate by the memory's clock and width. */
typedef struct ceilings {
  const char *dtype;                /* the type in which the kernel computes: that of the config's
                                       products ("bf16", "tf32"), else that of its first output */
  double flops, flops_peak;         /* FLOP/s of fused multiply-adds, without tensor cores */
  double tensor_flops_peak;         /* dense FLOP/s of the tensor cores, if the config declares
                                       products; otherwise 0 */
  double bandwidth, bandwidth_peak; /* bytes/s of device memory, reads and writes together */
  int64_t flops_at, bandwidth_at;   /* time of the measurements; seconds since the epoch */
} cugen_ceilings;

/* A measurement of transfers for one kind of host memory, one direction and one size. */
typedef struct cugen_transfer_row {
  const char *memory;      /* "pageable" and so on, see cugen_transfer_options */
  const char *unavailable; /* why the kind could not be measured; the members below are then 0, in a
                              single row for the kind. NULL: it was measured */
  int to_host;             /* 0: from the host to the device */
  int64_t size;            /* requested size in bytes */
  int64_t bytes;           /* bytes moved by one transfer: the size, or its whole rows */
  double alone;            /* median seconds of a single transfer, from the call to the end that the
                              host sees */
  double seconds;          /* median seconds of one of many transfers in a row; for managed and
                              prefetch equal to alone */
  double seconds_min, seconds_p20, seconds_p80;
  int samples;
} cugen_transfer_row;

/* A variant of a portfolio. mean and worst: the loss of the problems that the variant serves, as a
   factor of their time (cost). api_kernel_portfolios sets stale and invalid. */
typedef struct portfolio_body_variant {
  char *variant;      /* full text of the variant */
  int64_t serves;     /* number of the learnt problems that the variant serves */
  char *problem;      /* a problem that the variant serves; `source` is for this problem */
  struct hash source; /* hash of the variant's source and own scalars on `problem` */
  double mean, worst; /* geometric mean and largest loss; 0: unknown */
  int stale;          /* the variant's source has changed since the variant was measured */
  int invalid;        /* the variant is not valid for the kernel's problem */
  char *time;         /* the variant's time as an expression over sizes, in microseconds if the
                         objective is time; NULL: none */
} cugen_portfolio_variant;

/* The kinds of restrictions, which remove combinations from the space. */
typedef enum cugen_restriction_kind {
  CUGEN_RESTRICTION_WHERE = 0, /* a `where` of the config */
  CUGEN_RESTRICTION_LIMIT,     /* a limit of this device or of all devices; the text is such as
                                  "block y: 1 to 1024" */
  CUGEN_RESTRICTION_FILTER,    /* the caller's filter, see api_kernel_filter */
  CUGEN_RESTRICTION_HEURISTIC  /* a heuristic of the config */
} cugen_restriction_kind;

/* Why a tunable is reported. NOWHERE: no expression of the config, no argument and no template
   mentions the tunable, so its values all give the same kernel. MISSPELT: the config uses the
   tunable and no template mentions it, but a template's condition has a near word. DEFINED: the
   tunable is not a boolean, and templates only ask whether it is defined, which is true for every
   value. */
typedef enum cugen_unused_reason {
  CUGEN_UNUSED_NOWHERE,
  CUGEN_UNUSED_MISSPELT,
  CUGEN_UNUSED_DEFINED
} cugen_unused_reason;

/* A tunable with two or more values that gives the same kernel several times, as far as the texts
   show. */
typedef struct cugen_unused_tunable {
  const char *name;
  const char *file; /* file that declares the tunable */
  int line;
  size_t values;
  char nearest[64]; /* the word in a preprocessor condition, such as #ifdef, that is nearest to the
                       name; "": none is near */
  cugen_unused_reason why;
} cugen_unused_tunable;

/* Which variants are wanted. An implementation that lacks a tunable named here has no wanted
   variants. */
typedef struct cugen_filter {
  const char *const *where; /* expressions in the config's language, such as "BM >= 64"; all must
                               hold */
  size_t where_count;
  const char *variant;        /* "tiled tile=32": an implementation, values, or both; "*" stands for
                                 any text; NULL: any variant */
  const char *implementation; /* implementations, such as "wgmma,naive*"; NULL: all */
  int all;                    /* include the variants that the config's heuristics leave out of the
                                 space on this device */
} cugen_filter;

typedef enum cugen_finding_kind {
  CUGEN_FINDING_RACE,           /* two threads of a block access memory, at least one writes, and
                                   nothing orders them */
  CUGEN_FINDING_BLOCK_RACE,     /* like CUGEN_FINDING_RACE, for threads of two blocks */
  CUGEN_FINDING_COPY_IN_FLIGHT, /* an access to memory that an asynchronous copy is still writing or
                                   reading */
  CUGEN_FINDING_UNINITIALISED,  /* a read of memory that was never written */
  CUGEN_FINDING_OUT_OF_BOUNDS,  /* an access outside a buffer or an array */
  CUGEN_FINDING_MISALIGNED,     /* an address that is not a multiple of what the access needs */
  CUGEN_FINDING_INDEX,          /* an index outside the dimension with which its array is
                                   declared */
  CUGEN_FINDING_INPUT_WRITE,
  CUGEN_FINDING_DIVERGENCE,    /* threads of a block wait at different barriers */
  CUGEN_FINDING_EXITED,        /* a barrier that some threads never reach, because they have
                                   ended */
  CUGEN_FINDING_ABSENT_LANES,  /* a mask with lanes that have ended or never existed */
  CUGEN_FINDING_DEADLOCK,      /* threads that wait for each other */
  CUGEN_FINDING_HANG,          /* the kernel does not end; the finding names where a thread was */
  CUGEN_FINDING_MISSING_FENCE, /* a fence or griddepcontrol.wait is missing: between threads and
                                   asynchronous copies or products, behind a flag or an mbarrier's
                                   initialisation, or before a launch's memory is read */
  CUGEN_FINDING_ACCUMULATORS,  /* a use of registers that a product is still adding to */
  CUGEN_FINDING_ASYNC_MISUSE,  /* a wrong use of a barrier or an asynchronous copy */
  CUGEN_FINDING_TRAP,          /* the kernel ended itself, or the processor ended it */
  CUGEN_FINDING_WRONG,
  CUGEN_FINDING_SAME_VALUE,     /* a race of threads that write the same value: a note, unless the
                                   check is strict */
  CUGEN_FINDING_CONSTANT_WRITE, /* a write to a __constant__ variable */
  CUGEN_FINDING_SHARED_LIMIT,   /* more static shared memory than a block may have */
  CUGEN_FINDING_LAUNCH          /* a launch that no GPU, or not the GPU that is checked for, can
                                   make */
} cugen_finding_kind;

/* Memories whose traffic is counted: in sectors, in passes over the banks, and in words. */
typedef enum cugen_memory {
  CUGEN_MEMORY_GLOBAL,
  CUGEN_MEMORY_SHARED,
  CUGEN_MEMORY_CONSTANT,
  CUGEN_MEMORY_COUNT
} cugen_memory;

/* The name of a kind of findings in text and JSON, such as "race" or "race between blocks"; never
   NULL. */
const char *finding_name(int kind);

#endif
