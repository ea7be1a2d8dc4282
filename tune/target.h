/* What a tuning run of one kernel works on: its config, problem, device, compiler and cache. */
#ifndef TUNE_TARGET_H
#define TUNE_TARGET_H

#include "base/measure_way.h"
#include "gen/template/expand.h"
#include "runtime/compile/toolkit.h"
#include "runtime/store/cache.h"
#include "search/strategy.h"

enum { TUNE_LEADERS = 8, TUNE_MOST_DEVICES = 64 };

/* Variants that some source, such as records of another size, says are good. */
struct tune_priors {
  const struct strategy_prior *all;
  size_t count;
  size_t tried[STRATEGY_SOURCES]; /* by source: number of its priors that were tried in this run */
};

/* A function of the user's own (cugen_baseline) that the best variant is compared with. */
struct tune_baseline {
  bool several;     /* several problems are tuned: an error that the function returns only leaves
                       out one problem's comparison */
  const char *path; /* absolute path of the function's library */
  const char *function;
  struct text *reason; /* receives why there is no comparison */
};

/* The inputs of a tuning run of one kernel. All pointers are borrowed. */
struct tune_target {
  const struct config *config;
  const struct problem *problem;
  const struct space *space;
  const cugen_filter *filter; /* filter with which the space was opened; NULL: no filter */
  /* When to stop opening the space of another problem, such as the check problem. */
  struct space_stop stop;
  const struct sources *sources;
  const struct device_ops *ops;
  const struct device_description *device;
  /* The ids of several equal devices that share the work, beginning with the id of `device`.
     device_count 0: only `device`. */
  const char *const *devices;
  size_t device_count;
  /* Receives the reason why the cpu device cannot run a variant, for the first such variant; NULL:
     not reported. */
  struct text *unsupported;
  /* Receives a line for each device that failed and was left out; NULL: not reported. */
  struct text *lost;
  const char *arch;
  const struct toolkit *toolkit;
  struct toolkit_options toolkit_options; /* for the worker */
  struct compilers *compilers;            /* as in compile_request; not used with in_process */
  const char *worker, *worker_places;     /* as in worker_options */
  struct worker *_Atomic *looked;         /* as in worker_pool_options */
  bool in_process;                        /* run the worker as a thread of this process */
  /* With in_process: the CUDA context of the worker's thread; NULL: the primary context. */
  void *cuda_context;
  struct cache *cache;
  struct kept_images *with_ptx; /* images of predicted variants, shared by several runs */
  /* Cache for the images of kernels that make or judge data, shared by several runs; NULL: none. */
  struct cache *images;
  struct cache_key key;
  int nvrtc_version;
  /* The problem stands for the check problem, so that variants run on no other problem before
     it. */
  bool problem_is_check;
  enum measure_way measure; /* how variants are timed; unused for predictions */
  /* Times come from the model, and no variant is launched. */
  bool predicted;
  /* For predictions: `kept` is the part of the budget in seconds that is reserved for what follows
     the predictions. find_failure looks for a record that shows that the variant is wrong, whatever
     the model predicts; it sets *out to the record or to NULL. find_failure NULL: no variant is
     known to be wrong. */
  double kept;
  int (*find_failure)(void *context, const char *variant, const struct cache_record **out,
                      cugen_error *err);
  void *failures; /* context of find_failure */
  /* Only variants with these output bits are wanted (cache_record_gave); NULL: any right
     variant. */
  const cugen_outputs *outputs;
  /* A variant that was measured for this run before the run began, and counts as tried; NULL:
     none. */
  const char *ran;
  const struct tune_baseline *baseline; /* NULL: none */
  /* The variants to try first, after remembered ones; NULL: libraries' kernels are tried first. */
  const uint64_t *listed;
  size_t listed_count;
  struct tune_priors *priors; /* where the search begins; NULL: no priors */
};

#endif
