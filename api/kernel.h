/* What a kernel's config says, the variant that a plan would take, and the space. */
#ifndef API_KERNEL_H
#define API_KERNEL_H

#include "base/objective.h"
#include "base/results.h"

/* The first sentence of the comment with which the config begins; "": there is none. */
const char *api_kernel_summary(const cugen_kernel *kernel);
/* The problem for a reader: defaults are left out unless they are numbers or element types. */
const char *api_kernel_problem_short(const cugen_kernel *kernel);
/* The values that a setting of the problem may have, separated by blanks, the default first: "f32
   f64 f16". "" if any value of the default's type is allowed, or no parameter has that name. The
   text lives until the next call of this function. */
const char *api_kernel_problem_values(cugen_kernel *kernel, const char *name);
/* The config's problems { } by index: "M=64,256 N=4096" means all combinations of the values. NULL:
   there are no more. */
const char *api_kernel_problem_set(const cugen_kernel *kernel, size_t index);
/* The config's policy: what serves a problem that was not tuned, such as "exact", "nearest {
   distance = 1 }". */
const char *api_kernel_policy(const cugen_kernel *kernel);
/* Returns whether the policy is to use the portfolio that was learnt. */
int api_kernel_takes_portfolio(const cugen_kernel *kernel);
/* The kind of objective by which variants are ranked; time for a NULL kernel. */
enum objective_kind api_kernel_objective(const cugen_kernel *kernel);
/* The objective as the options or the config give it, a word or an expression, such as "energy" or
   "flops / energy". */
const char *api_kernel_objective_text(const cugen_kernel *kernel);
/* Returns whether the objective depends on energy. */
int api_kernel_needs_energy(const cugen_kernel *kernel);

/* How the kernel's variants are timed: "burst" and so on, from cugen_options.measure or the config;
   NULL: the times are predicted. */
const char *api_kernel_measure(const cugen_kernel *kernel);

/* Replaces the problem's defaults by the values of the config's small check problem; settings given
   at open stay. On the cpu device api_kernel_tune, api_kernels_tune and api_kernel_run use the
   check problem themselves, and then set the problem from before. So call this function first to
   read the records of such a tune, or to open a plan for the check problem. A second call changes
   nothing. After success everything handed out about the old problem is invalid. */
int api_kernel_use_check(cugen_kernel *kernel, cugen_error *error);
/* Returns whether the config, or one of its implementations, has a check { }. */
int api_kernel_has_check(const cugen_kernel *kernel);

/* Makes the kernel's records predictions of the model (docs/model.md) for its device from now on. A
   look-up finds either predictions or measurements. For a described device api_kernel_tune calls
   this function itself. CUGEN_ERROR_USAGE: for example, too little is known of the device. */
int api_kernel_use_predictions(cugen_kernel *kernel, cugen_error *error);
/* Returns whether api_kernel_use_predictions would succeed. */
int api_kernel_predictable(cugen_kernel *kernel);
/* Returns whether the kernel's records are predictions. */
int api_kernel_predicted(const cugen_kernel *kernel);
/* The key of the kernel's records, as in cugen_cache_set.device and .options. The strings live as
   long as the kernel. */
void api_kernel_key(const cugen_kernel *kernel, const char **device, const char **options);

/* The variant that a plan would take, and the reason. */
typedef struct cugen_choice {
  cugen_plan_choice how;
  const char *variant;   /* full text of the variant */
  const char *tuned_for; /* as in cugen_plan_info */
  const char *tuned_on;  /* as in cugen_plan_info */
  int same_model;        /* tuned_on is a GPU of this GPU's model */
  double distance;       /* as in cugen_plan_info */
  int predicted;         /* the default was chosen by the model: from remembered or from shipped
                            predictions */
  int by_portfolio; /* the default is from a remembered portfolio that was learnt from predictions
                       of other problems */
  int other_class;  /* the default is from a portfolio that ships for other layouts or flags */
  int named;        /* the default is a `try` of the config */
} cugen_choice;

/* Chooses the variant that a plan without pin would take; nothing is compiled. distance is that of
   cugen_plan_options. The strings live until the next call on the kernel. */
int api_kernel_choose(cugen_kernel *kernel, double distance, cugen_choice *out, cugen_error *error);

/* ---- The space ------------------------------------------------------------------------------- */

/* One implementation's part of the space. */
typedef struct cugen_implementation_info {
  const char *name;
  const char *unavailable; /* the requirement that this device does not meet; NULL: none */
  uint64_t cartesian, valid;
} cugen_implementation_info;

/* A restriction of the space. A restriction is evaluated as soon as the names in it have values.
   removed counts the combinations that the restriction was the first to remove: cartesian = valid +
   the sum of all removed, unless the implementation is unavailable. Limits, filters and heuristics
   are listed only if they removed something. */
typedef struct cugen_restriction_info {
  const char *implementation;
  const char *text;
  const char *file; /* of a filter, the option: "--where" */
  int line;         /* of a limit, the line of the launch; of a filter, 0 */
  uint64_t removed;
  cugen_restriction_kind kind;
} cugen_restriction_info;

typedef struct cugen_space_info {
  uint64_t cartesian; /* combinations of all tunables, over all implementations */
  uint64_t valid;     /* combinations that satisfy every restriction */
  const cugen_implementation_info *implementation;
  size_t implementations;
  const cugen_restriction_info *restriction;
  size_t restrictions;
} cugen_space_info;

/* Restricts the kernel's space to what the filter admits, until the next call; NULL: no filter.
   Nothing remembered is changed. The filter is copied. CUGEN_ERROR_USAGE: an unknown name or a bad
   pattern; the old filter stays. If no variant is left, functions that need one fail with
   CUGEN_ERROR_EMPTY. */
int api_kernel_filter(cugen_kernel *kernel, const cugen_filter *filter, cugen_error *error);

/* Walks the space, unless that was done. The lists in *out live until the next call, or until the
   problem or the filter changes. */
int api_kernel_space(cugen_kernel *kernel, cugen_space_info *out, cugen_error *error);
/* Lists unused tunables. Fills in at most `most`; *count is the number of all. The strings live as
   long as the kernel. */
int api_kernel_unused(cugen_kernel *kernel, cugen_unused_tunable *out, size_t most, size_t *count,
                      cugen_error *error);
/* The text of a variant, such as "tiled tile=16 pad=1"; index must be below valid. */
int api_kernel_variant(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *error);

#endif
