/* The tuner: asks a strategy for variants, has them compiled ahead of need, lets a worker verify and time them, and
   remembers each answer as it comes. Compiling and measuring overlap. */
#ifndef TUNE_TUNER_H
#define TUNE_TUNER_H

#include "base/measure_way.h"
#include "gen/template/expand.h"
#include "runtime/compile/toolkit.h"
#include "runtime/store/cache.h"
#include "search/strategy.h"

enum { TUNE_LEADERS = 8, TUNE_MOST_DEVICES = 64 };

/* Variants that something says are good. */
struct tune_priors {
  const struct strategy_prior *all;
  size_t count;
  size_t tried[STRATEGY_SOURCES]; /* of each source in this run */
};

/* Everything that stays the same while one kernel is tuned. All borrowed. */
struct tune_target {
  const struct config *config;
  const struct problem *problem;
  const struct space *space;
  const struct space_filter *filter; /* that it was opened within; NULL: none */
  struct space_stop stop;            /* for the spaces of other problems, which a check opens */
  const struct sources *sources;
  const struct device_ops *ops;
  const struct device_description *device;
  const char *const
      *devices; /* the ids of several that are alike, device's first; they share the work. NULL: it is one */
  size_t device_count;
  struct text *unsupported; /* gets why the first variant that the cpu device cannot run cannot; NULL: nobody asks */
  struct text *lost;        /* gets a line for each of them that failed and was left out; NULL: nobody asks */
  const char *arch;
  const struct toolkit *toolkit;
  struct toolkit_options toolkit_options; /* for the worker */
  struct compilers *compilers;            /* as in compile_request; not used in_process */
  const char *worker, *worker_places;     /* as in worker_options */
  struct worker *_Atomic *looked;         /* as in worker_pool_options */
  bool in_process;                        /* a thread in its place, */
  void *cuda_context;                     /* which works there; NULL: the primary one */
  struct cache *cache;
  struct compiled_store *with_ptx; /* images of what is predicted, which several runs share */
  struct cache *images; /* of references, generators and verify kernels, which several runs share; NULL: none */
  struct cache_key key;
  int nvrtc_version;
  bool problem_is_check;    /* the problem is the check problem: verified once */
  enum measure_way measure; /* how variants are timed; predictions are not */
  bool predicted;           /* the device is not here: times come from the model, and nothing runs */
  /* Of predictions: seconds of the budget that are for what follows, and the variants that are known to be wrong, whatever is predicted of
     them: *out becomes the record that says how one failed, or NULL. NULL: none is known. */
  double kept;
  int (*find_failure)(void *context, const char *variant, const struct cache_record **out, cugen_error *err);
  void *failures;               /* its context */
  const cugen_outputs *outputs; /* only what gives these is wanted (cache_record_gave); NULL: whatever is right */
  const char *ran;              /* a variant that was measured for this run before, and counts as tried; NULL: none */
  const uint64_t *listed;       /* the variants that are to be tried, before all else; NULL: a search */
  size_t listed_count;
  struct tune_priors *priors; /* where a search begins; NULL: nothing is known */
};

/* Seconds for one problem where the options say nothing. gpu: variants are measured on one. */
double tune_default_budget(bool gpu);

/* As api_kernel_tune; *result is filled whatever comes back. */
int tune_run(const struct tune_target *target, const cugen_tune_options *options, cugen_tune_result *result,
             cugen_error *err);

#endif
