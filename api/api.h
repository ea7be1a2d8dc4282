/* What the files of api/ share. api/ implements the public header on top of gen, runtime and tune.

   The files of api/ by subject:
   - library, find_worker, command, results, json: the library's handle, and results;
   - gpus, models, devices, device_list, facts: a device, present or described;
   - lookup, predictions, judgement, failures, best: a config for one problem on one device
     (lookup.h);
   - portfolio and portfolio_*, shipped, learning: few variants for many problems (portfolio.h);
   - selection, other_gpu, choice, pinning: the variant of a plan; priors, beginning: the variants
     with which tuning begins;
   - kernel, filter, source, launches, layout, explain, records, why: questions to a kernel's
     handle;
   - tuning, tuning_set, verify, bitwise, check, plan, plan_for, exploring, capture: operations on a
     kernel;
   - cache, set_best, foreign, foreign_forms, transfer: operations without a kernel;
   - draft, draft_script: a first config for a kernel. */
#ifndef API_API_H
#define API_API_H

#include "explain.h"
#include "lookup.h"
#include "tune/tuner/tuner.h"

/* The variant that a plan uses, and the reason for the choice. */
struct selection {
  cugen_plan_choice how;
  uint64_t index;
  struct best_record best; /* the record of the variant, for CUGEN_PLAN_DEFAULT a prediction; only
                              the expansion if a portfolio or a saved choice named the variant;
                              empty if nothing is recorded */
  struct text problem;     /* the problem of the record */
  struct text other;       /* text of the other GPU from which the record or the shipped portfolio
                              comes; "" if it comes from this device */
  bool same_model;         /* the other GPU is of this GPU's model */
  bool predicted;          /* the default was chosen by the model: from remembered or from shipped
                              predictions */
  bool by_portfolio;       /* the default comes from a portfolio that was learnt from predictions
                              for other problems */
  bool other_class;        /* the default ships for other layouts or flags */
  bool named;              /* the default is one of the config's tries, or named by
                              cugen_plan_options.bitwise */
  struct text failed;      /* how this variant fails, if all variants are known to fail; otherwise
                              "" */
  double distance;         /* from the kernel's problem to `problem`: log2 of the largest ratio of a
                              size */
};

struct cugen_kernel {
  struct opened_config opened;
  struct problem problem; /* owned; the look-up borrows it */
  struct lookup lookup;
  bool on_check;   /* the problem is the config's check problem (api_kernel_use_check) */
  char **settings; /* settings given at open */
  size_t setting_count;
  cugen_filter *filter; /* a single allocation; the look-up borrows the filter */
  cugen_device_info device_info;
  struct text fallback, problem_short, problem_values, policy;
  cugen_progress_callback watch; /* progress callback of api_kernel_run; NULL: none */
  void *watch_context;
  struct text printed;        /* text printed by the kernels of the last run or check */
  struct text not_run;        /* the first variant that the cpu device could not run, and the
                                 reason */
  struct text unverified;     /* why the last tuning verified nothing, or too little */
  struct text unchecked;      /* what the last verification cannot show */
  struct device_list devices; /* the devices that tune the kernel together, the look-up's device
                                 first; empty: only that device */
  const char **device_ids;    /* ids of `devices` */
  struct text lost;           /* the devices that failed in the last tuning, with the reasons */
  struct text equal_to;       /* last tuning: the variant whose outputs others had to equal */
  cugen_outputs outputs;      /* last tuning: the outputs of that variant */
  struct text baseline;       /* last tuning: why the baseline could not be compared; or the name of
                                 a function (api_kernel_baseline) */
  struct text began;          /* last tuning: the variants with which it began */
  struct text variant_text, source, ptx;
  char layouts[KERNEL_MAX_ARGUMENTS][LAYOUT_WORD]; /* the layouts that cugen_kernel_argument gave */
  struct text json;             /* text that a function of results.c handed out */
  cugen_ceilings ceilings;      /* dtype NULL: not looked up yet */
  struct cache_record *records; /* the remembered records if records_loaded is set, else that of the
                                   last api_kernel_run */
  size_t record_count;
  bool records_loaded;
  cugen_record *published; /* the records for api_records; NULL: not asked for yet */
  /* last results of api_kernel_choose, api_kernel_stored and the like */
  struct kept choice, stored, why, check, launches, learnt, portfolios, space;
  struct kept seen; /* the plans of cugen_plan_for */
  unsigned tunings; /* how often this handle was tuned */
  /* text of the last export's result */
  struct text export_name, export_notes;
  int64_t tuned_at; /* when the last tuning began; 0: none, or it tried nothing. Older records are
                       "from the cache" */
};

/* ---- kernel.c ------------------------------------------------------------------------------- */
void api_forget_records(cugen_kernel *kernel);
/* Returns the remembered record with the variant and the hash of `record`; NULL: none. */
const struct cache_record *api_known_record(cugen_kernel *kernel,
                                            const struct cache_record *record);
/* Opens another kernel of the same config and device, for the problem of this text (problem_print).
   *out must be closed before `kernel`. */
int api_kernel_for_problem(cugen_kernel *kernel, const char *problem, cugen_kernel **out,
                           cugen_error *err);
/* Returns whether the problem has the values of the settings with which the kernel was opened.
   sizes false: settings of sizes do not count. */
bool api_agrees(const cugen_kernel *kernel, const struct problem *problem, bool sizes);
/* Sets the kernel's problem to the check problem if on_check, else to that of the settings. Returns
   `status` unless it is CUGEN_OK, else the status of setting the problem. */
int api_restore_problem(cugen_kernel *kernel, bool on_check, int status, cugen_error *err);
/* Gives the variant's text, which lives in variant_text until the next call. The space must be
   open; the index may be that of a variant that heuristics remove. */
int api_variant_text(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *err);
/* Evaluates the arguments with the shared tunables of a valid variant (0: the first), because only
   shared tunables can influence arguments. out has room for KERNEL_MAX_ARGUMENTS. */
int api_arguments(cugen_kernel *k, uint64_t index, struct kernel_argument *out, cugen_error *err);
/* Gives config_products of the first valid variant; NULL if no variant is valid, or the config
   declares no products. */
int api_products(cugen_kernel *k, const char **out, cugen_error *err);

/* ---- plan.c --------------------------------------------------------------------------------- */

/* Like cugen_plan_open, but *out may use the loaded image of one of `plans`, so it must be closed
   before them. */
int api_plan_open_among(cugen_kernel *kernel, const cugen_plan_options *options,
                        cugen_plan *const *plans, size_t count, cugen_plan **out, cugen_error *err);

/* ---- selection.c ---------------------------------------------------------------------------- */

/* Selects a variant. distance as in cugen_plan_options. by_portfolio: the portfolio precedes the
   policy. Free *out also after a failure. */
int api_select(struct lookup *lookup, double distance, bool by_portfolio, struct selection *out,
               cugen_error *err);
enum { API_MOST_CHOICES = 8 }; /* limit of the choices that are tried until one compiles */
/* Tells the look-up that the variant that it chose failed with this status. Returns whether
   choosing again may serve: without libraries in place of a library's kernel; or, unless `how` is
   CUGEN_PLAN_EXACT or CUGEN_PLAN_PINNED, another variant in place of one that does not compile. */
bool api_pass_over(struct lookup *lookup, cugen_plan_choice how, const char *variant, int status);
void api_selection_free(struct selection *selection);

/* ---- other_gpu.c ---------------------------------------------------------------------------- */

/* Selects the best variant for the look-up's problem on another GPU. *found: one of those variants
   is valid here and not among the failures. */
int api_select_other_gpu(struct lookup *lookup, struct failures *failures, struct selection *out,
                         bool *found, cugen_error *err);

/* ---- pinning.c ------------------------------------------------------------------------------ */

/* Writes the bytes of cugen_plan_save for a variant that was expanded. */
int api_write_choice(const struct lookup *lookup, const struct kernel_spec *spec, struct text *out,
                     cugen_error *err);
/* Selects the variant that the bytes name; out->best.spec is its expansion. Free *out also after a
   failure. */
int api_select_bytes(struct lookup *lookup, const void *bytes, size_t size, struct selection *out,
                     cugen_error *err);
/* Selects the variant that the library's pin file names; *found: the file has a choice for this
   problem. */
int api_select_pinned(struct lookup *lookup, struct selection *out, bool *found, cugen_error *err);

/* ---- source.c ------------------------------------------------------------------------------- */

/* Finds the index of a variant: NULL stands for the choice of a plan without pin, "best" for the
   best record; anything else is the variant's text. */
int api_find_variant(cugen_kernel *kernel, const char *variant, uint64_t *index, cugen_error *err);
/* Expands the variant and stores its text in variant_text. */
int api_expand_text(cugen_kernel *kernel, const char *variant, struct kernel_spec *out,
                    cugen_error *err);

/* ---- explain.c ------------------------------------------------------------------------------ */

/* Returns the fraction of the rate that the kernel's ceilings allow at this work; 0: unknown.
   *measured: the ceiling was measured; otherwise the ceiling is the device's peak. */
double api_roofline(cugen_kernel *kernel, double flops, double bytes, double seconds,
                    int *measured);

/* ---- records.c ------------------------------------------------------------------------------ */

/* Copies a record for the caller; the strings in *out are those of *from. */
void api_publish(cugen_kernel *kernel, const struct cache_record *from, cugen_record *out);

/* ---- tuning.c ------------------------------------------------------------------------------- */

/* Decides whether tuning measures or predicts. Fails if the device cannot measure what objective or
   options need. */
int api_tune_device(cugen_kernel *kernel, cugen_error *err);
/* Opens the space to tune (on the cpu device that of the check problem). Fails, for example, if the
   problem has a size that no variant can have. */
int api_prepare_tuning(cugen_kernel *kernel, cugen_error *err);
/* What the tuning of one problem gets from a run over several problems. */
struct api_part {
  const char *const *variants; /* the variants to try, if they are valid here; NULL: all variants */
  size_t count;
};
/* Like api_kernel_tune, with options that were checked. part NULL: the run has no other problem. */
int api_tune(cugen_kernel *kernel, const cugen_tune_options *options, const struct api_part *part,
             cugen_tune_result *result, cugen_error *err);

/* ---- verify.c ------------------------------------------------------------------------------- */

/* Verifies the fastest prediction; while the result is wrong, the next. The kernel's `unverified`
   describes an obstacle, which is not an error. CUGEN_ERROR_INTERRUPTED: the callback asked to
   stop. */
int api_verify_predictions(cugen_kernel *kernel, const cugen_tune_options *options,
                           cugen_tune_result *result, cugen_error *err);

#endif
