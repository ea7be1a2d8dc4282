/* The limits of a launch; see limits.h. */
#include "limits.h"

#include <inttypes.h>

/* The limits of one launch in one of its steps, while they are collected. */
struct list {
  const struct config_launch *launch;
  const struct value *slots;
  int step;
  struct launch_limit *out;
  struct text *what;
  size_t count;
};

/* Adds a limit and returns the text to describe it in; NULL if the previous step has an equal
   limit. name: such as "grid y". */
static struct text *limits_add(struct list *list, const char *name, struct launch_limit limit) {
  bool stepped = false;
  for (size_t i = 0; i < limit.count; i++)
    stepped |= expr_sees(limit.factors[i], list->launch->step_slot);
  if (list->step && !stepped) return NULL;
  limit.launch = list->launch;
  limit.step = list->step;
  struct text *what = &list->what[list->count];
  list->out[list->count++] = limit;
  text_add(what, name);
  if (stepped) text_addf(what, " in step %d", list->step);
  return what;
}

static void add_dimensions(struct list *list, const struct expr *const exprs[3],
                           const struct dimension_limit *limits) {
  for (int i = 0; i < 3; i++) {
    if (!exprs[i]) continue;
    struct text *what =
        limits_add(list, limits[i].name,
                   (struct launch_limit){
                       .factors = {exprs[i]}, .count = 1, .least = 1, .most = limits[i].most});
    if (what) text_addf(what, ": 1 to %" PRId64, limits[i].most);
  }
}

static int64_t fact(const struct list *list, enum device_fact which) {
  return list->slots[which].type == VALUE_INT ? list->slots[which].integer : 0;
}

static void add_threads(struct list *list) {
  struct launch_limit limit = {.least = INT64_MIN,
                               .most = fact(list, DEVICE_FACT_max_threads_per_block)};
  for (int i = 0; i < 3; i++)
    if (list->launch->block[i]) limit.factors[limit.count++] = list->launch->block[i];
  struct text *what = limit.count && limit.most > 0 ? limits_add(list, "block", limit) : NULL;
  if (what)
    text_addf(what, ": at most %" PRId64 " threads (device.max_threads_per_block)", limit.most);
}

static void limits_add_shared(struct list *list) {
  const struct device_facts facts = {.is_gpu = fact(list, DEVICE_FACT_is_gpu),
                                     .shared_per_block_optin =
                                         fact(list, DEVICE_FACT_shared_per_block_optin)};
  const bool known = list->slots[DEVICE_FACT_is_gpu].type == VALUE_INT;
  const int64_t most = known ? launch_shared_limit(&facts) : 0;
  if (!list->launch->shared || most <= 0) return;
  const char *arrays = list->launch->shared_arrays;
  struct text *what = limits_add(
      list, arrays ? arrays : "shared",
      (struct launch_limit){.factors = {list->launch->shared}, .count = 1, .most = most});
  if (what)
    text_addf(what, ": at most %" PRId64 " bytes%s", most,
              facts.is_gpu ? " (device.shared_per_block_optin)" : "");
}

static void add_steps(struct list *list) {
  struct launch_limit limit = {
      .factors = {list->launch->steps}, .count = 1, .most = KERNEL_MAX_SEQUENCE};
  struct text *what =
      limit.factors[0] && !list->launch->inner ? limits_add(list, "steps", limit) : NULL;
  if (what) text_addf(what, ": 0 to %d", KERNEL_MAX_SEQUENCE);
  if (what) list->out[list->count - 1].launch = NULL; /* the limit applies whatever the step */
}

size_t launch_limits(const struct config_launch *launch, int step, const struct value *slots,
                     struct launch_limit *out, struct text *what) {
  struct list list = {.launch = launch, .slots = slots, .step = step, .out = out, .what = what};
  add_threads(&list); /* added first, because rules of equal depth are tried in this order */
  add_dimensions(&list, launch->block, launch_block_limits);
  add_dimensions(&list, launch->grid, launch_grid_limits);
  limits_add_shared(&list);
  add_steps(&list);
  return list.count;
}

bool launch_count_limit(const struct config_implementation *implementation,
                        struct launch_limit *out, struct text *what) {
  int64_t fixed = 0;
  *out = (struct launch_limit){.sum = true};
  for (size_t i = 0; i < implementation->launch_count; i++)
    if (implementation->launches[i].steps)
      out->factors[out->count++] = implementation->launches[i].steps;
    else
      fixed++;
  out->least = 1 - fixed;
  out->most = KERNEL_MAX_SEQUENCE - fixed;
  if (out->count) text_addf(what, "launches: 1 to %d in all", KERNEL_MAX_SEQUENCE);
  return out->count > 0;
}

/* Sets the slots for the limit's step and for the number of steps. Returns false if the launch has
   no such step, or if its steps cannot be evaluated; true if the limit is not about a step. */
static bool enter_step(const struct launch_limit *limit, struct value *slots) {
  int64_t steps = 1;
  if (!limit->launch || !limit->launch->steps) return true;
  if (expr_eval_int(limit->steps, slots, &steps, NULL) || limit->step >= steps) return false;
  slots[limit->launch->step_slot] = value_int(limit->step);
  slots[limit->launch->steps_slot] = value_int(steps);
  return true;
}

bool launch_limit_total(const struct launch_limit *limit, struct value *slots, int64_t *total) {
  int64_t factor;
  *total = limit->sum ? 0 : 1;
  if (!enter_step(limit, slots)) return false;
  for (size_t i = 0; i < limit->count; i++) {
    if (expr_eval_int(limit->factors[i], slots, &factor, NULL)) return false;
    bool overflow = limit->sum ? __builtin_add_overflow(*total, factor, total)
                               : __builtin_mul_overflow(*total, factor, total);
    if (overflow) return *total = INT64_MAX, true;
  }
  return true;
}

bool launch_limit_holds(const struct launch_limit *limit, struct value *slots) {
  int64_t total;
  return !launch_limit_total(limit, slots, &total) ||
         (total >= limit->least && total <= limit->most);
}
