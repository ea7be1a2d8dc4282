/* Finds the problem whose arguments are the arrays that an application has: the parameters that no
   setting fixes follow from the arrays' types, shapes and strides.

   Listed words and flags that decide where the given arguments lie (types, layouts, pitched) are
   tried in all combinations, the defaults first. In each combination the sizes are solved: a size
   on which alone an extent depends follows from that extent; of sizes that appear together
   (batch * M) the size declared last keeps its value. The first combination under which all arrays
   lie as given is the problem. */
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"

/* The most combinations that are tried. */
enum { MOST_COMBINATIONS = 1 << 16 };

/* The properties of an array that are compared, in this order. */
enum fit_part { FIT_ABSENT, FIT_DTYPE, FIT_SHAPE, FIT_STRIDE, FIT_PARTS };

struct fit {
  const struct config *config;
  const cugen_array *arrays;
  size_t count;
  struct value *slots, *base; /* base: the slots to begin with */
  const bool *fixed;          /* for each problem parameter: a setting gives its value */
  bool *solved; /* for each problem parameter: its value is known in this combination */
  bool *tried;  /* for each problem parameter: its listed values are tried */
  bool *reads;  /* for each slot; room for config_argument_reads */
  /* Of the combination that matched best: how many comparisons held before one failed, and the
     message about the failed comparison. */
  size_t furthest;
  cugen_error why;
};

/* ---- One expression ------------------------------------------------------------------------- */

static bool fit_reads_tunable(const struct fit *f, const struct expr *expr) {
  size_t count;
  const int *slots = expr_slots(expr, &count);
  return count && slots[count - 1] >= f->config->first_tunable;
}

/* Evaluates the expression with another value of a size. */
static bool fit_value(struct fit *f, const struct expr *expr, size_t size, int64_t value,
                      int64_t *out) {
  cugen_error ignored;
  struct value *slot = &f->slots[(size_t)f->config->first_problem + size], kept = *slot;
  *slot = value_int(value);
  const int status = expr_eval_int(expr, f->slots, out, &ignored);
  *slot = kept;
  return !status;
}

/* Returns whether one other value of the size changes the value of the expression; a select(...)
   may hide the size. */
static bool fit_depends(struct fit *f, const struct expr *expr, size_t size) {
  int64_t here, there;
  const int64_t now = f->slots[(size_t)f->config->first_problem + size].integer,
                other = now < INT64_MAX / 4 ? 2 * now + 1 : 1;
  return expr_sees(expr, f->config->first_problem + (int)size) &&
         fit_value(f, expr, size, now, &here) && fit_value(f, expr, size, other, &there) &&
         here != there;
}

/* Returns whether the expression gives `want` for the size x, and not for x - 1 or x + 1. */
static bool fit_is_solution(struct fit *f, const struct expr *expr, size_t size, int64_t x,
                            int64_t want) {
  int64_t at, below, above;
  if (x < 0 || x >= INT64_MAX / 4 || !fit_value(f, expr, size, x, &at) || at != want) return false;
  return (!fit_value(f, expr, size, x - 1, &below) || below != want) &&
         (!fit_value(f, expr, size, x + 1, &above) || above != want);
}

/* Solves the expression for the size, if the expression is the size itself or linear in it. */
static bool fit_solve(struct fit *f, const struct expr *expr, size_t size, int64_t want) {
  int64_t x = want, one, two;
  if (!fit_is_solution(f, expr, size, x, want)) {
    if (!fit_value(f, expr, size, 1, &one) || !fit_value(f, expr, size, 2, &two)) return false;
    int64_t slope, rest;
    if (__builtin_sub_overflow(two, one, &slope) || !slope) return false;
    if (__builtin_sub_overflow(want, one, &rest) || rest % slope) return false;
    x = 1 + rest / slope;
    if (!fit_is_solution(f, expr, size, x, want)) return false;
  }
  f->slots[(size_t)f->config->first_problem + size] = value_int(x);
  f->solved[size] = true;
  return true;
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* How extents are used, in this order. */
enum fit_step {
  FIT_ALONE, /* solve the only size that an extent depends on */
  FIT_KEEP,  /* if an extent depends on several sizes, the size declared last keeps its value */
  FIT_REST   /* solve the only size of an extent that is still unknown */
};

/* Returns whether a size was solved. */
static bool fit_dimension(struct fit *f, const struct expr *expr, int64_t want,
                          enum fit_step step) {
  size_t all = 0, unknown = 0, which = 0, last = 0;
  if (fit_reads_tunable(f, expr)) return false;
  for (size_t i = 0; i < f->config->problem_count; i++) {
    if (!config_is_size(f->config, i) || !fit_depends(f, expr, i)) continue;
    all++;
    last = i;
    if (!f->solved[i]) unknown++, which = i;
  }
  if (step == FIT_KEEP && all > 1) f->solved[last] = true;
  return step != FIT_KEEP && unknown == 1 && (step == FIT_REST || all == 1) &&
         fit_solve(f, expr, which, want);
}

static bool fit_pass(struct fit *f, enum fit_step step) {
  bool found = false;
  for (size_t i = 0; i < f->count; i++) {
    const struct config_argument *argument = &f->config->arguments[i];
    const int rank = f->arrays[i].rank;
    for (int d = 0; (rank == argument->rank || (rank && step == FIT_KEEP)) && d < argument->rank;
         d++)
      found = fit_dimension(f, argument->shape[d], f->arrays[i].shape[d], step) || found;
  }
  return found;
}

static void fit_sizes(struct fit *f) {
  memcpy(f->solved, f->fixed, f->config->problem_count * sizeof *f->solved);
  fit_pass(f, FIT_ALONE);
  fit_pass(f, FIT_KEEP);
  while (fit_pass(f, FIT_REST)) continue;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Returns whether this property of the array is that of the argument. A dimension of one element
   may have any stride. The array may also be the whole buffer of the argument, pads included, as
   one dimension. */
static bool fit_same(const cugen_array *given, const struct kernel_argument *wanted,
                     enum fit_part part) {
  if (part == FIT_ABSENT) return !wanted->absent;
  if (part == FIT_DTYPE) return !given->dtype || strcmp(given->dtype, wanted->dtype->name) == 0;
  const bool whole = given->rank == 1 && given->shape[0] == wanted->elements &&
                     (given->stride[0] == 1 || given->shape[0] == 1);
  if (whole) return true;
  if (wanted->map.count || given->rank != wanted->rank) return false;
  for (int d = 0; d < wanted->rank; d++) {
    if (part == FIT_SHAPE && given->shape[d] != wanted->shape[d]) return false;
    if (part == FIT_STRIDE && wanted->shape[d] > 1 && given->stride[d] != wanted->stride[d])
      return false;
  }
  return true;
}

static void fit_print(int rank, const int64_t *values, struct text *out) {
  text_add(out, "(");
  for (int d = 0; d < rank; d++) text_addf(out, "%s%lld", d ? ", " : "", (long long)values[d]);
  text_add(out, rank == 1 ? ",)" : ")");
}

/* Returns whether the argument's shape depends on a size that was not solved. */
static bool fit_is_open(struct fit *f, const struct config_argument *argument) {
  for (size_t i = 0; i < f->config->problem_count; i++)
    for (int d = 0; d < argument->rank; d++)
      if (config_is_size(f->config, i) && !f->solved[i] && fit_depends(f, argument->shape[d], i))
        return true;
  return false;
}

static void fit_say(const cugen_array *given, const struct kernel_argument *wanted,
                    enum fit_part part, bool open, cugen_error *err) {
  struct text is = {0}, should = {0};
  const bool shape = part == FIT_SHAPE;
  fit_print(given->rank, shape ? given->shape : given->stride, &is);
  fit_print(wanted->rank, shape ? wanted->shape : wanted->stride, &should);
  if (part == FIT_ABSENT)
    error_set(err, CUGEN_ERROR_USAGE, "argument '%s' is none of this problem's: leave it out",
              wanted->name);
  else if (part == FIT_DTYPE)
    error_set(err, CUGEN_ERROR_USAGE, "argument '%s': its elements are %s, should be %s",
              wanted->name, given->dtype, wanted->dtype->name);
  else if (shape && open && given->rank != wanted->rank)
    error_set(err, CUGEN_ERROR_USAGE, "argument '%s': its shape is %s, should have %d dimension%s",
              wanted->name, text_get(&is), wanted->rank, wanted->rank == 1 ? "" : "s");
  else if (wanted->map.count)
    error_set(err, CUGEN_ERROR_USAGE,
              "argument '%s': its layout is %s, which no strides describe: pass the buffer as it "
              "lies in memory, an array of one dimension of %lld elements",
              wanted->name, wanted->layout, (long long)wanted->elements);
  else
    error_set(err, CUGEN_ERROR_USAGE, "argument '%s': its %s %s%s, should be %s%s", wanted->name,
              shape ? "shape is" : "strides are", text_get(&is), shape ? "" : " elements",
              text_get(&should),
              shape ? " by the settings and the other arguments"
                    : ", and no layout or pitch of the config is what they say");
  text_free(&is);
  text_free(&should);
}

/* Tries each stride of the array as the value of a size that no dimension shows, such as a pitch.
   Returns true, and keeps that value, if the argument then lies as the array does. */
static bool fit_pitch(struct fit *f, size_t index, struct kernel_argument *wanted) {
  const struct config_argument *argument = &f->config->arguments[index];
  const cugen_array *given = &f->arrays[index];
  cugen_error ignored;
  memset(f->reads, 0, (config_slot_count(f->config, NULL) + 1) * sizeof *f->reads);
  config_argument_reads(argument, f->reads);
  for (size_t i = 0; i < f->config->problem_count; i++) {
    struct value *slot = &f->slots[(size_t)f->config->first_problem + i], kept = *slot;
    if (f->solved[i] || !config_is_size(f->config, i) || !f->reads[slot - f->slots]) continue;
    for (int d = 0; d < given->rank; d++) {
      *slot = value_int(given->stride[d]);
      if (!config_argument_lies(f->config, argument, f->slots, wanted, &ignored) &&
          fit_same(given, wanted, FIT_SHAPE) && fit_same(given, wanted, FIT_STRIDE))
        return f->solved[i] = true;
    }
    *slot = kept;
  }
  return false;
}

/* Returns whether the argument's type, shape or strides depend on a tunable, and so on the plan's
   variant. */
static bool fit_is_loose(struct fit *f, const struct config_argument *argument) {
  const size_t slots = config_slot_count(f->config, NULL);
  memset(f->reads, 0, (slots + 1) * sizeof *f->reads);
  config_argument_reads(argument, f->reads);
  for (size_t i = (size_t)f->config->first_tunable; i < slots; i++)
    if (f->reads[i]) return true;
  return false;
}

/* Compares all arrays with their arguments, in the order of enum fit_part. Keeps the message of a
   failure if more comparisons held than in any combination before. */
static bool fit_matches(struct fit *f) {
  struct kernel_argument wanted;
  cugen_error err;
  size_t done = 0;
  for (int part = 0; part < FIT_PARTS; part++)
    for (size_t i = 0; i < f->count; i++, done++) {
      const struct config_argument *argument = &f->config->arguments[i];
      const cugen_array *given = &f->arrays[i];
      if (!given->rank || (part >= FIT_SHAPE && fit_is_loose(f, argument))) continue;
      const int status = config_argument_lies(f->config, argument, f->slots, &wanted, &err);
      if (!status && (fit_same(given, &wanted, (enum fit_part)part) ||
                      (part == FIT_STRIDE && fit_pitch(f, i, &wanted))))
        continue;
      if (!status && part == FIT_STRIDE)
        config_argument_lies(f->config, argument, f->slots, &wanted, &err);
      if (!status) fit_say(given, &wanted, (enum fit_part)part, fit_is_open(f, argument), &err);
      if (!f->why.status || done > f->furthest) f->why = err, f->furthest = done;
      return false;
    }
  return true;
}

/* ---- Combinations --------------------------------------------------------------------------- */

/* Lists the words and flags on which the given arguments depend, and counts their combinations. */
static uint64_t fit_count(struct fit *f) {
  uint64_t count = 1;
  memset(f->reads, 0, (config_slot_count(f->config, NULL) + 1) * sizeof *f->reads);
  for (size_t i = 0; i < f->count; i++)
    if (f->arrays[i].rank) config_argument_reads(&f->config->arguments[i], f->reads);
  for (size_t i = 0; i < f->config->problem_count; i++) {
    const struct config_problem *p = &f->config->problems[i];
    f->tried[i] = !f->fixed[i] && p->listed && !config_is_size(f->config, i) &&
                  f->reads[(size_t)f->config->first_problem + i];
    if (f->tried[i] && count <= MOST_COMBINATIONS) count *= p->value_count;
  }
  return count;
}

/* Sets the slots to a combination; the parameter declared last changes first. */
static void fit_combine(struct fit *f, uint64_t number) {
  memcpy(f->slots, f->base, (config_slot_count(f->config, NULL) + 1) * sizeof *f->slots);
  for (size_t i = f->config->problem_count; i-- > 0;) {
    const struct config_problem *p = &f->config->problems[i];
    if (!f->tried[i]) continue;
    f->slots[(size_t)f->config->first_problem + i] = p->values[number % p->value_count];
    number /= p->value_count;
  }
}

static int fit_search(struct fit *f, struct text *out, cugen_error *err) {
  const uint64_t count = fit_count(f);
  if (count > MOST_COMBINATIONS)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "kernel \"%s\": the arrays could be of more than %d combinations of its "
                     "parameters: set some of them when the kernel is opened",
                     f->config->name, MOST_COMBINATIONS);
  for (uint64_t i = 0; i < count; i++) {
    fit_combine(f, i);
    fit_sizes(f);
    if (!fit_matches(f)) continue;
    const struct problem found = {.values = f->slots + f->config->first_problem,
                                  .count = f->config->problem_count};
    problem_print(f->config, &found, out);
    return out->failed ? error_memory(err) : CUGEN_OK;
  }
  return error_copy(err, &f->why);
}

int problem_fit(const struct config *config, const struct problem *base, const bool *fixed,
                const struct device_facts *facts, const cugen_array *arrays, size_t count,
                struct text *out, cugen_error *err) {
  const size_t slots = config_slot_count(config, NULL) + 1, problems = config->problem_count + 1;
  struct fit f = {.config = config,
                  .arrays = arrays,
                  .count = count,
                  .fixed = fixed,
                  .slots = calloc(slots, sizeof *f.slots),
                  .base = calloc(slots, sizeof *f.base),
                  .reads = calloc(slots, sizeof *f.reads),
                  .solved = calloc(problems, sizeof *f.solved),
                  .tried = calloc(problems, sizeof *f.tried)};
  int status = CUGEN_OK;
  if (!f.slots || !f.base || !f.reads || !f.solved || !f.tried) {
    status = error_memory(err);
  } else {
    config_slots(config, base, facts, f.base);
    for (size_t i = 0; i < config->shared_tunable_count; i++)
      f.base[(size_t)config->first_tunable + i] = config->shared_tunables[i].values[0];
    status = fit_search(&f, out, err);
  }
  free(f.slots);
  free(f.base);
  free(f.reads);
  free(f.solved);
  free(f.tried);
  return status;
}
