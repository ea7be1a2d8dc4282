/* The launches of an expansion; see expansion.h. */
#include "expansion.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "gen/config/evaluate.h"
#include "gen/space/limits.h"

enum { REFERENCE_THREADS = 256 };

static int list_kernels(const struct expansion *x, const struct config_launch *launch) {
  struct text what = {0};
  const struct kernel_names *kernels = &x->kernels;
  text_addf(&what, "template '%s' has ", x->template_name);
  if (kernels->count == 0)
    text_add(&what, "no __global__ function to launch");
  else
    text_addf(&what, "%zu __global__ functions (", kernels->count);
  for (size_t i = 0; i < kernels->count && i < KERNELS_LISTED; i++)
    text_addf(&what, "%s%.*s", i ? ", " : "", (int)kernels->list[i].length, kernels->list[i].at);
  if (kernels->count)
    text_addf(&what, "): say which one with %s",
              x->reference ? "\"file.cu:name\"" : "entry \"name\"");
  int status =
      what.failed ? error_memory(x->err) : config_fail(x->err, launch->line, "%s", text_get(&what));
  text_free(&what);
  return status;
}

static int only_kernel(const struct expansion *x, const struct config_launch *launch,
                       struct text *out) {
  const struct kernel_name *kernel = &x->kernels.list[0];
  if (x->kernels.count != 1) return list_kernels(x, launch);
  if (kernel->templated)
    return config_fail(
        x->err, launch->line,
        "'%.*s' in template '%s' is a C++ template: say which one is launched with %s%.*s<...>\"",
        (int)kernel->length, kernel->at, x->template_name, x->reference ? "\"file.cu:" : "entry \"",
        (int)kernel->length, kernel->at);
  text_add_n(out, kernel->at, kernel->length);
  return CUGEN_OK;
}

/* Checks that the source has the kernel of a launch. Kernels that macros define are not seen, so
   the name is not checked if the source shows no kernel at all, or more than are listed. */
static int named_kernel(const struct expansion *x, const struct config_launch *launch,
                        const char *text) {
  const struct kernel_names *kernels = &x->kernels;
  if (kernels->count == 0 || kernels->count > KERNELS_LISTED || kernel_names_find(kernels, text))
    return CUGEN_OK;
  list_kernels(x, launch);
  return error_append(x->err, "; '%s' is none of them", text);
}

static int launch_prefix(const struct expansion *x, const struct config_launch *launch,
                         const char *what, int status) {
  if (status) config_prefix(x->err, launch->line, "%s", what);
  return status;
}

/* Evaluates a number of the launch, if the config declares one. */
static int launch_int(const struct expansion *x, const struct config_launch *launch,
                      const struct expr *expr, const char *what, int64_t *out) {
  return expr ? launch_prefix(x, launch, what, expr_eval_int(expr, x->slots, out, x->err))
              : CUGEN_OK;
}

static int launch_bool(const struct expansion *x, const struct config_launch *launch,
                       const struct expr *expr, const char *what, bool *out) {
  return expr ? launch_prefix(x, launch, what, expr_eval_bool(expr, x->slots, out, x->err))
              : CUGEN_OK;
}

static int evaluate_dimension(struct expansion *x, const struct config_launch *launch,
                              const struct expr *expr, const struct dimension_limit *limit,
                              uint32_t *out) {
  int64_t value = 1;
  int status = launch_int(x, launch, expr, limit->name, &value);
  if (status) return status;
  if (value < 1 || value > limit->most)
    return config_fail(x->err, launch->line,
                       "%s is %" PRId64 " (from \"%s\"): it must be 1 to %" PRId64, limit->name,
                       value, expr ? expr_text(expr) : "", limit->most);
  *out = (uint32_t)value;
  return CUGEN_OK;
}

static int evaluate_sizes(struct expansion *x, const struct config_launch *launch,
                          struct kernel_launch *out) {
  int status = CUGEN_OK;
  for (int i = 0; i < 3 && !status; i++)
    status = evaluate_dimension(x, launch, launch->grid[i], &launch_grid_limits[i], &out->grid[i]);
  for (int i = 0; i < 3 && !status; i++)
    status =
        evaluate_dimension(x, launch, launch->block[i], &launch_block_limits[i], &out->block[i]);
  if (status) return status;
  int64_t threads = (int64_t)out->block[0] * out->block[1] * out->block[2],
          most = x->facts->max_threads_per_block;
  if (most > 0 && threads > most)
    return config_fail(x->err, launch->line,
                       "a block of %" PRId64
                       " threads (%u x %u x %u): the device takes at most %" PRId64,
                       threads, out->block[0], out->block[1], out->block[2], most);
  return CUGEN_OK;
}

static int evaluate_shared(struct expansion *x, const struct config_launch *launch, int64_t *out) {
  *out = 0;
  int status = launch_int(x, launch, launch->shared, "shared", out);
  if (status) return status;
  if (*out < 0 || *out > INT32_MAX)
    return config_fail(x->err, launch->line,
                       "shared is %" PRId64 " bytes: it must be 0 to 2^31 - 1", *out);
  return CUGEN_OK;
}

/* CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT belongs to the kernel, so all launches of a
   kernel must have the same value. */
static int check_carveout(const struct expansion *x, const struct config_launch *launch,
                          struct kernel_entry *entry, const struct kernel_launch *out) {
  if (entry->launched &&
      (entry->has_carveout != out->has_carveout || entry->carveout != out->carveout))
    return config_fail(x->err, launch->line, "launches of kernel '%s' have different carveouts",
                       text_get(&entry->name));
  entry->launched = true, entry->has_carveout = out->has_carveout, entry->carveout = out->carveout;
  return CUGEN_OK;
}

static int evaluate_carveout(struct expansion *x, const struct config_launch *launch,
                             struct kernel_entry *entry, struct kernel_launch *out) {
  int64_t percent = -1;
  int status = launch_int(x, launch, launch->carveout, "carveout", &percent);
  if (status) return status;
  if (percent < -1 || percent > 100)
    return config_fail(x->err, launch->line,
                       "carveout is %" PRId64
                       ": it must be 0 to 100 percent, or -1 for the driver's choice",
                       percent);
  out->has_carveout = percent >= 0;
  out->carveout = percent < 0 ? 0 : (int)percent;
  return check_carveout(x, launch, entry, out);
}

/* Programmatic dependent launch lets a kernel begin early, so the kernel itself must wait before it
   touches data of the kernel before. */
static int evaluate_overlap(struct expansion *x, const struct config_launch *launch,
                            struct kernel_launch *out) {
  int status = launch_bool(x, launch, launch->overlap, "overlap", &out->overlap);
  if (status || !out->overlap || strstr(text_get(&x->expander->source), "griddepcontrol.wait"))
    return status;
  return config_fail(
      x->err, launch->line,
      "overlap: the kernel does not wait for the launch before it (griddepcontrol.wait)");
}

/* Adds a string to the strings of the spec and returns its offset, because the strings may still
   move. */
size_t expansion_store_string(struct kernel_spec *spec, const char *string) {
  size_t at = spec->strings.length;
  text_add_n(&spec->strings, string, strlen(string) + 1);
  return at;
}

/* Stores the kernel's name and its place, such as "matmul.cu:12"; the place is empty if the kernel
   is not listed. The entry gets the offsets of both. */
static int store_entry(struct expansion *x, struct kernel_entry *entry) {
  if (entry->stored) return CUGEN_OK;
  const char *body = text_get(&x->expander->body);
  const struct kernel_name *kernel = kernel_names_find(&x->kernels, text_get(&entry->name));
  struct text place = {0};
  if (kernel) {
    int line;
    source_locate(body, (size_t)(kernel->at - body), &place, &line);
    text_addf(&place, ":%d", line);
  }
  int status = place.failed ? error_memory(x->err) : CUGEN_OK;
  if (!status) entry->name_at = expansion_store_string(x->out, text_get(&entry->name));
  if (!status) entry->place_at = expansion_store_string(x->out, text_get(&place));
  entry->stored = !status;
  text_free(&place);
  return status;
}

static int evaluate_launch(struct expansion *x, const struct config_launch *launch,
                           struct kernel_entry *entry, struct kernel_launch *out) {
  int status = entry->stored        ? CUGEN_OK
               : entry->name.length ? named_kernel(x, launch, text_get(&entry->name))
                                    : only_kernel(x, launch, &entry->name);
  if (!status && entry->name.failed) status = error_memory(x->err);
  if (!status) status = store_entry(x, entry);
  out->entry = (const char *)(uintptr_t)entry->name_at;
  out->place = (const char *)(uintptr_t)entry->place_at;
  if (!status) status = evaluate_sizes(x, launch, out);
  if (!status) status = evaluate_shared(x, launch, &out->shared_bytes);
  if (!status) status = evaluate_carveout(x, launch, entry, out);
  if (!status) status = evaluate_overlap(x, launch, out);
  if (status) return status;
  return launch_bool(x, launch, launch->cooperative, "cooperative", &out->cooperative);
}

/* Passes every argument that is a parameter, then the implementation's own scalars. */
static void pass_all(const struct expansion *x, struct kernel_launch *out) {
  struct kernel_parameter *to = x->out->parameters + out->first_parameter;
  out->all = true;
  for (size_t i = 0; i < x->argument_count + x->own_count; i++)
    if (kernel_argument_passed(&x->arguments[i]))
      to[out->parameter_count++] = (struct kernel_parameter){
          i, i < x->argument_count ? (struct value){.type = VALUE_NIL} : x->arguments[i].value};
}

static int evaluate_pass(struct expansion *x, const struct config_launch *launch,
                         struct kernel_launch *out) {
  struct kernel_spec *spec = x->out;
  int status = CUGEN_OK;
  out->listed = launch->passed || x->own_count;
  out->first_parameter = spec->parameter_count;
  out->parameter_count = launch->passed_count;
  if (launch->passed)
    status = config_pass(x->config, x->variant->implementation, launch, x->arguments, x->slots,
                         spec->parameters + out->first_parameter, x->err);
  else if (out->listed)
    pass_all(x, out);
  spec->parameter_count += out->parameter_count;
  return status;
}

/* ---- Equal launches ------------------------------------------------------------------------- */

static bool same_parameters(const struct kernel_spec *spec, const struct kernel_launch *a,
                            const struct kernel_launch *b) {
  if (a->parameter_count != b->parameter_count) return false;
  for (size_t i = 0; i < a->parameter_count; i++) {
    const struct kernel_parameter *p = &spec->parameters[a->first_parameter + i],
                                  *q = &spec->parameters[b->first_parameter + i];
    if (p->argument != q->argument || p->value.type != q->value.type) return false;
    if (p->value.type != VALUE_NIL && !value_equal(p->value, q->value)) return false;
  }
  return true;
}

/* Returns whether two launches are equal. The strings of a launch are still offsets, and equal
   offsets mean equal strings. */
static bool same_launch(const struct kernel_spec *spec, const struct kernel_launch *a,
                        const struct kernel_launch *b) {
  return a->entry == b->entry && a->line == b->line && a->listed == b->listed && a->all == b->all &&
         memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0 && a->shared_bytes == b->shared_bytes &&
         a->has_carveout == b->has_carveout && a->carveout == b->carveout &&
         a->overlap == b->overlap && a->cooperative == b->cooperative &&
         same_parameters(spec, a, b);
}

/* number of recent launches among which an equal launch is searched */
enum { LOOKED_BACK = 64 };

/* Adds the launch that was evaluated last to the sequence of the call. The launch itself is kept
   only if none of the recent launches equals it. */
static void add_to_sequence(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  const size_t last = spec->launch_count, first = last > LOOKED_BACK ? last - LOOKED_BACK : 0;
  size_t at = last;
  for (size_t i = last; i-- > first && at == last;)
    if (same_launch(spec, &spec->launches[i], &spec->launches[last])) at = i;
  if (at == last)
    spec->launch_count++;
  else
    spec->parameter_count = spec->launches[last].first_parameter;
  spec->sequence[spec->sequence_count++] = (uint32_t)at;
}

static int launches_reserve(struct expansion *x, const struct config_launch *launch) {
  struct kernel_spec *spec = x->out;
  if (spec->launch_count == KERNEL_MAX_LAUNCHES)
    return config_fail(x->err, launch->line,
                       "more than %d launches differ in what they pass or in their grid: at most "
                       "so many are possible. "
                       "Launches that are the same in each step count once",
                       KERNEL_MAX_LAUNCHES);
  void *const launches =
      array_reserve(spec->launches, &x->launch_room, spec->launch_count, sizeof *spec->launches);
  if (launches) spec->launches = launches;
  if (!launches) return error_memory(x->err);
  while (x->parameter_room <= spec->parameter_count + KERNEL_MAX_ARGUMENTS) {
    void *const parameters = array_reserve(spec->parameters, &x->parameter_room, x->parameter_room,
                                           sizeof *spec->parameters);
    if (!parameters) return error_memory(x->err);
    spec->parameters = parameters;
  }
  return CUGEN_OK;
}

static int evaluate_step(struct expansion *x, const struct config_launch *launch, size_t step,
                         size_t steps) {
  struct kernel_entry *entry;
  int status = launches_reserve(x, launch);
  if (status) return status;
  struct kernel_launch *out = &x->out->launches[x->out->launch_count];
  *out = (struct kernel_launch){.line = launch->line.number};
  expansion_set_step(x, launch, step, steps);
  status = expansion_find_entry(x, launch, &entry);
  if (!status) status = evaluate_launch(x, launch, entry, out);
  if (!status) status = evaluate_pass(x, launch, out);
  if (!status) add_to_sequence(x);
  return status;
}

/* Evaluates the rounds of a loop. If no launch depends on the step, all rounds are equal to the
   first. */
static int evaluate_loop(struct expansion *x, const struct config_loop *loop, size_t steps) {
  struct kernel_spec *spec = x->out;
  const struct config_launch *launches = &x->variant->implementation->launches[loop->first];
  const size_t evaluated = loop->stepped || !steps ? steps : 1;
  int status = CUGEN_OK;
  for (size_t step = 0; step < evaluated && !status; step++)
    for (size_t i = 0; i < loop->count && !status; i++)
      status = evaluate_step(x, &launches[i], step, steps);
  for (size_t i = evaluated * loop->count; i < steps * loop->count && !status; i++) {
    spec->sequence[spec->sequence_count] = spec->sequence[spec->sequence_count - loop->count];
    spec->sequence_count++;
  }
  return status;
}

int expansion_evaluate_launches(struct expansion *x) {
  const struct config_implementation *implementation = x->variant->implementation;
  int status = CUGEN_OK;
  for (size_t i = 0; i < implementation->loop_count && !status; i++)
    status = evaluate_loop(x, &implementation->loops[i], x->steps[i]);
  return status;
}

int expansion_reference_launch(struct expansion *x) {
  struct config_launch launch = {.line = x->template_line};
  int64_t count = x->samples ? x->samples : expansion_output_elements(x);
  int64_t blocks = (count - 1) / REFERENCE_THREADS + 1;
  if (count < 0 || blocks > INT32_MAX)
    return config_fail(x->err, launch.line, "%s",
                       x->verifies ? "the verify kernel has too many elements for one launch"
                       : x->generates >= 0
                           ? "the generator has too many elements for one launch"
                           : "the reference has too many elements for one launch: sample them");
  int status = evaluate_launch(x, &launch, &x->entries[0], &x->out->launches[0]);
  x->out->launches[0].grid[0] = (uint32_t)blocks;
  x->out->launches[0].block[0] = REFERENCE_THREADS;
  x->out->launch_count = 1;
  return status;
}
