/* Functions of expressions that count the accesses of declared arrays: conflicts('As', 'col'). See
   build.h. */
#include <stdlib.h>
#include <string.h>

#include "base/access.h"
#include "build.h"
#include "evaluate.h"

enum function { FUNCTION_conflicts, FUNCTION_least_pad, FUNCTION_sectors };

static const char *const function_names[] = {"conflicts", "least_pad", "sectors", NULL};

/* The cost of one call, in simple operations: counting the conflicts or sectors of 32 lanes takes
   about 1 us. least_pad counts conflicts for one padding after the other. */
enum { COUNT_COST = 2000, PAD_COST = 20000 };
/* The most that a call may cost, together with the expressions that it evaluates and the calls in
   them. */
enum { MOST_COST = 1000000 };

/* One call in an expression: the function, and the array that the call is about. The arena owns the
   struct. */
struct question {
  struct expr_call call;
  enum function function;
  const struct config_shared *shared;     /* NULL: the call is about the argument */
  const struct config_argument *argument; /* NULL: the call is about the shared array */
  const struct config *config;
  struct access access;
  const struct expr *bytes; /* bytes that each lane accesses; NULL: an element, 16 for ldmatrix */
};

/* ---- Evaluating ----------------------------------------------------------------------------- */

/* Sets *out to the access's sectors, or to its passes divided by the fewest possible; 0 where the
   layout does not keep a lane's bytes together. */
static int ask_count(const struct question *q, const struct access_array *array, int64_t bytes,
                     int64_t *out, cugen_error *err) {
  struct access_count count;
  int status = access_count(&q->access, array, bytes, &count, err);
  if (status) return status;
  *out = count.apart >= 0                  ? 0
         : q->function == FUNCTION_sectors ? count.needed
         : count.needed <= count.least     ? 1
                                           : (count.needed + count.least - 1) / count.least;
  return CUGEN_OK;
}

static int ask_least_pad(const struct question *q, const struct access_array *array, int64_t bytes,
                         int64_t *out, cugen_error *err) {
  struct access_count count;
  struct layout row;
  int status = layout_read("row", array->rank, &row, err);
  if (!status) status = access_least_pad(&q->access, array, &row, bytes, out, &count, err);
  if (!status && count.apart >= 0)
    status =
        error_set(err, CUGEN_ERROR_CONFIG, "no padding aligns the %d bytes of lane %d's access",
                  count.bytes, count.apart);
  return status;
}

static int ask_shared(const struct question *q, const struct value *slots, int64_t bytes,
                      int64_t *out, cugen_error *err) {
  struct layout_array array;
  int status =
      config_shared_array(q->shared, slots, q->function != FUNCTION_least_pad, &array, err);
  if (status) return status;
  struct access_array accessed = {
      .map = &array.map, .shared = true, .rank = array.rank, .element_bytes = array.dtype->bytes};
  memcpy(accessed.shape, array.shape, sizeof accessed.shape);
  return q->function == FUNCTION_least_pad ? ask_least_pad(q, &accessed, bytes, out, err)
                                           : ask_count(q, &accessed, bytes, out, err);
}

static int ask_argument(const struct question *q, const struct value *slots, int64_t bytes,
                        int64_t *out, cugen_error *err) {
  struct kernel_argument argument;
  int status = config_argument_lies(q->config, q->argument, slots, &argument, err);
  if (status || argument.absent) return *out = 0, status;
  const struct layout_map map = kernel_argument_map(&argument);
  struct access_array accessed = {
      .map = &map, .rank = argument.rank, .element_bytes = argument.dtype->bytes};
  memcpy(accessed.shape, argument.shape, sizeof accessed.shape);
  return ask_count(q, &accessed, bytes, out, err);
}

static int question_evaluate(const void *context, const struct value *slots, struct value *out,
                             cugen_error *err) {
  const struct question *q = context;
  int64_t bytes = 0, value = 0;
  int status = q->bytes ? expr_eval_int(q->bytes, slots, &bytes, err) : CUGEN_OK;
  if (!status && q->bytes && bytes < 1)
    status = error_set(err, CUGEN_ERROR_CONFIG, "an access of %lld bytes: a lane has 1 to 16",
                       (long long)bytes);
  if (!status)
    status = q->shared ? ask_shared(q, slots, bytes, &value, err)
                       : ask_argument(q, slots, bytes, &value, err);
  *out = value_int(value);
  if (!status) return CUGEN_OK;
  error_prefix(err, "%s", q->call.text);
  if (status == CUGEN_ERROR_USAGE) status = CUGEN_ERROR_CONFIG;
  if (err) err->status = status;
  return status;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool find_shared(const struct build *build, const char *name, struct question *q,
                        struct text *why) {
  const struct config_implementation *implementation = build->implementation;
  for (size_t i = 0; i < implementation->shared_count && !q->shared; i++)
    if (strcmp(implementation->shared[i].name, name) == 0) q->shared = &implementation->shared[i];
  if (!q->shared) {
    if (config_find_argument(build->config, name))
      return text_addf(why, "\"%s\" is an argument: sectors asks about those", name), false;
    text_addf(why, "no shared array \"%.64s\" is declared", name);
    if (implementation->shared_count) text_add(why, " so far; there are");
    for (size_t i = 0; i < implementation->shared_count; i++)
      text_addf(why, "%s %s", i ? "," : "", implementation->shared[i].name);
    if (!implementation->shared_count && !implementation->launch_count)
      text_add(why, ": derived names are read before the shared arrays, which may use them");
    return false;
  }
  const bool own = build->declaring == q->shared;
  if (!own || (q->function == FUNCTION_least_pad && build->declaring_layout)) return true;
  text_addf(why,
            "this asks about \"%s\" within its own declaration, where least_pad can stand in "
            "the layout",
            name);
  return false;
}

static bool find_argument(const struct build *build, const char *name, struct question *q,
                          struct text *why) {
  const struct config *config = build->config;
  q->argument = config_find_argument(config, name);
  if (q->argument && q->argument->rank) return true;
  if (q->argument) return text_addf(why, "\"%s\" is a scalar", name), false;
  for (size_t i = 0; i < build->implementation->shared_count; i++)
    if (strcmp(build->implementation->shared[i].name, name) == 0)
      return text_addf(why, "\"%s\" is a shared array: conflicts asks about those", name), false;
  text_addf(why, "no argument \"%.64s\" is declared; there are", name);
  for (size_t i = 0, n = 0; i < config->argument_count; i++)
    if (config->arguments[i].rank)
      text_addf(why, "%s %s", n++ ? "," : "", config->arguments[i].name);
  return false;
}

/* Returns the string if the expression is a constant string; else NULL. */
static const char *constant_word(const struct expr *expr) {
  struct value value;
  return expr_constant(expr, &value) && value.type == VALUE_STRING ? value.string : NULL;
}

static bool question_read(struct build *build, struct question *q, struct expr *const *arguments,
                          size_t count, struct text *why) {
  const char *name = count > 0 ? constant_word(arguments[0]) : NULL,
             *access = count > 1 ? constant_word(arguments[1]) : NULL;
  const bool argument = q->function == FUNCTION_sectors;
  cugen_error err = {0};
  if (!build->implementation) {
    text_add(why, "arrays are asked about in expressions of an implementation");
    return false;
  }
  if (!name || !access || count > 3) {
    text_addf(why,
              "%s needs %s and an access in quotes, and may have the bytes of a lane: "
              "%s('%s', 'col', 16)",
              function_names[q->function], argument ? "an argument" : "a shared array",
              function_names[q->function], argument ? "A" : "As");
    return false;
  }
  if (!(argument ? find_argument : find_shared)(build, name, q, why)) return false;
  const int rank = argument ? q->argument->rank : q->shared->rank;
  if (access_read(access, name, rank, &q->access, &err)) return text_add(why, err.message), false;
  q->bytes = count > 2 ? arguments[2] : NULL;
  return true;
}

/* Lists the slots that the value of the call depends on. */
static bool question_note_slots(struct build *build, struct question *q, struct text *why) {
  const size_t most = config_slot_count(build->config, build->implementation) + CONFIG_STEP_SLOTS;
  bool reads[EXPR_CALL_SLOTS] = {false};
  if (most > EXPR_CALL_SLOTS) return text_add(why, "the config has too many names for this"), false;
  if (q->argument) config_argument_reads(q->argument, reads);
  if (q->shared) config_shared_array_reads(q->shared, q->function != FUNCTION_least_pad, reads);
  config_expr_reads(q->bytes, reads);
  return list_reads(build, reads, &q->call);
}

static const struct expr_call *no_room(const struct build *build, struct text *why) {
  if (arena_full(build->arena))
    text_add(why, "the config asks about arrays too often");
  else
    why->failed = true;
  return NULL;
}

static const struct expr_call *function_call(void *context, const char *name, const char *text,
                                             struct expr *const *arguments, size_t count,
                                             struct text *why) {
  struct build *build = context;
  struct question *q = arena_array(build->arena, 1, sizeof *q);
  bool kept = q != NULL;
  for (size_t i = 0; i < count; i++) kept &= arena_keep(build->arena, arguments[i]);
  if (!kept) return no_room(build, why);
  q->config = build->config;
  while (strcmp(function_names[q->function], name) != 0) q->function++;
  if (!question_read(build, q, arguments, count, why) || !question_note_slots(build, q, why))
    return why->failed |= !why->length, NULL;
  q->call.text = arena_string(build->arena, text, strlen(text));
  q->call.evaluate = question_evaluate;
  q->call.context = q;
  q->call.cost = q->function == FUNCTION_least_pad ? PAD_COST : COUNT_COST;
  if (q->shared) q->call.cost += shared_array_cost(q->shared);
  if (q->bytes) q->call.cost += expr_cost(q->bytes);
  if (q->call.cost > MOST_COST)
    return text_add(why, "this asks about arrays that ask about others too often"), NULL;
  return q->call.text && arena_charge(build->arena, q->call.cost) ? &q->call : no_room(build, why);
}

const struct expr_functions config_functions = {function_names, function_call};
