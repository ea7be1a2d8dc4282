/* What the handles of the public headers are made of. The only place that joins gen, runtime and tune.

   The files of api/, from below to above; none uses one behind it:
   - kept, find_worker, library: the library's handle, and what functions hand out;
   - models, predictions, devices, facts: a device that is here or described, and what is known of it;
   - lookup, problem_text, judgement, failures, best: a config for one problem on one device, and which of its records still say something (lookup.h);
   - portfolio, portfolio_data, portfolio_out: few variants for many problems (portfolio.h);
   - kernel, filter, selection, choice, pinning, source, launches, explain, records: the kernel's handle, and which variant a plan takes;
   - verify, bitwise, exploring, tuning, learning, tuning_set, check, why, plan: what is done with it. cache and transfer need the library only. */
#ifndef API_API_H
#define API_API_H

#include "lookup.h"
#include "tune/tuner.h"

/* Which variant a plan uses, and why. */
struct selection {
  cugen_plan_choice how;
  uint64_t index;
  struct best_record best; /* of a measurement, where `how` is CUGEN_PLAN_DEFAULT of a prediction */
  struct text problem;     /* the one that the record is of */
  struct text other;       /* the GPU that it is of, where that is another one; "": it is not */
  bool same_model;         /* it is of this GPU's model */
  bool predicted;          /* the default is by the model: by what is remembered, or by what ships */
  bool by_portfolio;       /* that is of a portfolio of predictions, for other problems */
  bool named;              /* the default is one of the config's tries */
  struct text failed;      /* every variant is known to fail, this one so; "": not every one is */
  double distance;
};

struct cugen_kernel {
  struct opened_config opened;
  struct problem problem; /* the look-up's */
  struct lookup lookup;
  bool on_check;
  char **settings;
  size_t setting_count;
  struct space_filter *filter; /* one block; the look-up's */
  cugen_device_info device_info;
  struct text fallback, problem_short, problem_values, policy;
  cugen_progress_callback watch; /* of api_kernel_run; NULL: none */
  void *watch_context;
  struct text printed;        /* by the kernels of the last run or check */
  struct text not_run;        /* the first variant that the cpu device could not run, and why */
  struct text unverified;     /* why the last run verified nothing, or not all that it was to */
  struct text unchecked;      /* what its verifying cannot show */
  struct device_list devices; /* that it is tuned on together, the look-up's first; none: on that alone */
  const char **device_ids;    /* of these */
  struct text lost;           /* which of them failed in the last run, and why */
  struct text equal_to;       /* of the last run: the variant that others were to equal, */
  cugen_outputs outputs;      /* and what it gives */
  struct text began;          /* with which variants it began */
  struct text variant_text, source, ptx;
  struct text json;             /* what a function of results.c handed out */
  cugen_ceilings ceilings;      /* dtype NULL: not yet looked up */
  struct cache_record *records; /* what is remembered, loaded when first asked for */
  size_t record_count;
  bool records_loaded;
  struct kept choice, stored, why, check, launches, learnt, portfolios; /* what their functions handed out */
  struct text export_name, export_notes;                                /* and an export */
  int64_t tuned_at; /* when this handle last began to tune; 0: never. Records since then are its own */
};

/* ---- kernel.c ---- */
void api_forget_records(cugen_kernel *kernel);
/* What measures on the check problem ends with it: the caller's own problem, or what it was, is the kernel's again. Returns the status, or
   if that is CUGEN_OK why the problem cannot be restored. */
int api_restore_problem(cugen_kernel *kernel, bool on_check, int status, cugen_error *err);
/* Prints the variant into variant_text. The space is open; the index may be of one that heuristics leave out. */
int api_print_variant(cugen_kernel *kernel, uint64_t index, struct variant *variant, cugen_error *err);
/* Its text, which lives until the next variant is asked for. */
int api_variant_text(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *err);
/* With the shared tunables of a valid variant (0: the first): they alone can shape arguments. out: KERNEL_MAX_ARGUMENTS. */
int api_arguments(cugen_kernel *k, uint64_t index, struct kernel_argument *out, cugen_error *err);
/* config_products of the first valid variant; NULL where there is none. */
int api_products(cugen_kernel *k, const char **out, cugen_error *err);
void api_describe_argument(const struct kernel_argument *argument, cugen_argument_info *out);

/* ---- selection.c ---- */

/* distance as in cugen_plan_options. by_portfolio: the portfolio comes before the policy. *out is to be freed whatever comes back. */
int api_select(struct lookup *lookup, double distance, bool by_portfolio, struct selection *out, cugen_error *err);
/* ---- other_gpu.c ---- */

/* The best of the look-up's problem on another GPU, if one is found that serves and is none of the failures. */
int api_select_other_gpu(struct lookup *lookup, struct failures *failures, struct selection *out, bool *found,
                         cugen_error *err);

void api_selection_free(struct selection *selection);

/* ---- pinning.c ---- */

/* cugen_plan_save's bytes, of a variant as it was expanded. */
int api_write_choice(const struct lookup *lookup, const struct kernel_spec *spec, struct text *out, cugen_error *err);
/* What the bytes say, for this look-up; out->best.spec is its expansion. To be freed whatever comes back. */
int api_select_bytes(struct lookup *lookup, const void *bytes, size_t size, struct selection *out, cugen_error *err);
/* The same of the library's file; *found: there is one for this problem. */
int api_select_pinned(struct lookup *lookup, struct selection *out, bool *found, cugen_error *err);

/* ---- source.c ---- */

/* The variant's index: NULL: as a plan chooses; "best"; or a variant's text. */
int api_find_variant(cugen_kernel *kernel, const char *variant, uint64_t *index, cugen_error *err);
/* Expands that variant and leaves its text in variant_text. */
int api_expand_text(cugen_kernel *kernel, const char *variant, struct kernel_spec *out, cugen_error *err);

/* ---- explain.c ---- */

/* Looks them up when they are first needed; never NULL. */
const cugen_ceilings *api_ceilings(cugen_kernel *kernel);
double api_roofline(cugen_kernel *kernel, double flops, double bytes, double seconds, int *measured);

/* ---- records.c ---- */

/* The strings in *out are those of *from. */
void api_publish(cugen_kernel *kernel, const struct cache_record *from, cugen_record *out);

/* ---- tuning.c ---- */

int api_check_tune_options(const cugen_tune_options *options, cugen_error *err);
/* What is to be tuned there: measurements or predictions. */
int api_tune_device(cugen_kernel *kernel, cugen_error *err);
/* Opens the space that is tuned, of the check problem on the cpu device, and refuses what no variant can serve. */
int api_prepare_tuning(cugen_kernel *kernel, cugen_error *err);
/* As api_kernel_tune, of options that were checked. listed: only these variants are tried, in that order, those that are none here
   aside; NULL: all. */
struct api_listed {
  const char *const *variants;
  size_t count;
};
int api_tune(cugen_kernel *kernel, const cugen_tune_options *options, const struct api_listed *listed,
             cugen_tune_result *result, cugen_error *err);

/* ---- verify.c ---- */

/* Verifies the fastest prediction, and the next where it is wrong. What keeps it from doing so is no error: the kernel's
   unverified says it. CUGEN_ERROR_INTERRUPTED: the callback asked to stop. */
int api_verify_predictions(cugen_kernel *kernel, const cugen_tune_options *options, cugen_tune_result *result,
                           cugen_error *err);

#endif
