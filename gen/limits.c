/* The limits of a launch; see limits.h. */
#include "limits.h"

#include <inttypes.h>

const struct dimension_limit grid_limits[3] = {{"grid x", INT32_MAX}, {"grid y", 65535}, {"grid z", 65535}};
const struct dimension_limit block_limits[3] = {{"block x", 1024}, {"block y", 1024}, {"block z", 64}};

struct list {
  struct launch_limit *out;
  struct text *what;
  size_t count;
};

static struct text *add(struct list *list, struct launch_limit limit) {
  list->out[list->count] = limit;
  return &list->what[list->count++];
}

static void add_dimensions(struct list *list, const struct expr *const exprs[3],
                           const struct dimension_limit *limits) {
  for (int i = 0; i < 3; i++)
    if (exprs[i])
      text_addf(add(list, (struct launch_limit){{exprs[i]}, 1, 1, limits[i].most, NULL}), "%s: 1 to %" PRId64,
                limits[i].name, limits[i].most);
}

static int64_t fact(const struct value *slots, enum device_fact which) {
  return slots[which].type == VALUE_INT ? slots[which].integer : 0;
}

static void add_threads(struct list *list, const struct config_launch *launch, const struct value *slots) {
  struct launch_limit limit = {.least = INT64_MIN, .most = fact(slots, DEVICE_FACT_max_threads_per_block)};
  for (int i = 0; i < 3; i++)
    if (launch->block[i]) limit.factors[limit.count++] = launch->block[i];
  if (limit.count && limit.most > 0)
    text_addf(add(list, limit), "block: at most %" PRId64 " threads (device.max_threads_per_block)", limit.most);
}

static void add_shared(struct list *list, const struct config_launch *launch, const struct value *slots) {
  /* The cpu device states a size for configs that ask, and runs larger ones: kernels of any GPU are to run there. */
  int64_t most = fact(slots, DEVICE_FACT_is_gpu) ? fact(slots, DEVICE_FACT_shared_per_block_optin) : 0;
  if (launch->shared && most > 0)
    text_addf(add(list, (struct launch_limit){{launch->shared}, 1, 0, most, NULL}),
              "shared: at most %" PRId64 " bytes (device.shared_per_block_optin)", most);
}

size_t launch_limits(const struct config_launch *launch, const struct value *slots, struct launch_limit *out,
                     struct text *what) {
  struct list list = {out, what, 0};
  add_threads(&list, launch, slots); /* the first that is exceeded is what an error names */
  add_dimensions(&list, launch->block, block_limits);
  add_dimensions(&list, launch->grid, grid_limits);
  add_shared(&list, launch, slots);
  for (size_t i = 0; i < list.count; i++) list.out[i].steps = launch->steps;
  if (launch->steps)
    text_addf(add(&list, (struct launch_limit){{launch->steps}, 1, 0, KERNEL_MAX_LAUNCHES, NULL}), "steps: 0 to %d",
              KERNEL_MAX_LAUNCHES);
  return list.count;
}

bool launch_limit_holds(const struct launch_limit *limit, const struct value *slots) {
  int64_t product = 1, factor, steps;
  if (limit->steps && !expr_eval_int(limit->steps, slots, &steps, NULL) && steps == 0) return true;
  for (size_t i = 0; i < limit->count; i++) {
    if (expr_eval_int(limit->factors[i], slots, &factor, NULL)) return true;
    if (__builtin_mul_overflow(product, factor, &product)) return false;
  }
  return product >= limit->least && product <= limit->most;
}
