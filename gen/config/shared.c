/* Shared arrays that an implementation declares: shared "As" { ... }. Read with the config,
   evaluated for each variant. See build.h and evaluate.h. */
#include <lua.h>
#include <stddef.h>
#include <string.h>

#include "build.h"
#include "evaluate.h"
#include "names.h"

/* ---- Reading -------------------------------------------------------------------------------- */

static void shared_read_dtype(struct build *build, void *object, const char *what) {
  ((struct config_shared *)object)->dtype = read_word(build, what, dtype_names);
}

static void shared_read_shape(struct build *build, void *object, const char *what) {
  struct config_shared *out = object;
  out->rank = read_exprs(build, what, KERNEL_MAX_RANK, out->shape);
}

static void shared_read_layout(struct build *build, void *object, const char *what) {
  struct config_shared *out = object;
  build->declaring_layout = true;
  out->layout = read_layout(build, what, out->rank);
  build->declaring_layout = false;
  for (size_t i = 0; i < out->layout.word_count; i++)
    if (out->layout.words[i].text[0] == '$')
      build_fail(
          build,
          "%s: '%s' begins with an expression: the order of dimensions is written out, as in "
          "\"row+${pad}\"",
          what, out->layout.words[i].text);
  if (out->layout.open || !out->layout.word_count)
    build_fail(
        build,
        "%s %s: it is a word such as \"row\", \"row+8\" or \"row/32x8\", or an expression that "
        "gives one of several",
        what, out->layout.open ? "can be any text" : "gives no text");
}

/* The attributes in the order in which they are read, because a layout needs the shape. The first
   SHARED_REQUIRED must be given. */
#define READ(read)        0, read, 0, NULL, 0
#define EXPRESSION(field) 0, NULL, offsetof(struct config_shared, field), NULL, 0
static const struct attribute shared_attributes[] = {
    {"dtype", READ(shared_read_dtype)},   {"shape", READ(shared_read_shape)},
    {"layout", READ(shared_read_layout)}, {"stages", EXPRESSION(stages)},
    {"align", EXPRESSION(align)},         {"dynamic", EXPRESSION(dynamic)},
};
#undef READ
#undef EXPRESSION
enum {
  SHARED_REQUIRED = 2,
  SHARED_ATTRIBUTES = sizeof shared_attributes / sizeof *shared_attributes
};

static bool shared_belongs(const struct config_shared *array, int launch) {
  return array->launch < 0 || array->launch == launch;
}

/* The names in the source that is generated for a shared array (gen/template/shared.c). */
static const char generated_names[] = "data at as T i j k l o stage descriptor shared_memory";

static void shared_read_array(struct build *build, const struct item *item, void *context) {
  struct config_shared *out = context;
  const char *name = item->name;
  if (names_listed(generated_names, name))
    build_fail(build,
               "'%s' cannot name a shared array: what is generated for it has that name; take "
               "another one, such as 'my_%s'",
               name, name);
  for (const struct config_shared *other = build->implementation->shared; other < out; other++)
    if (strcmp(other->name, name) == 0)
      build_fail(build, "shared \"%s\" stands at %s already", name, build_line(build, other->line));
  out->name = build_copy(build, name, strlen(name));
  out->line = build->line;
  build->declaring = out;

  const char *known[SHARED_ATTRIBUTES], *example = config_keywords[KEYWORD_shared].example;
  const char *owner = build_text(build, "shared \"%s\"", name);
  const int table = lua_gettop(build->L);
  for (int i = 0; i < SHARED_ATTRIBUTES; i++) known[i] = shared_attributes[i].name;
  refuse_odd_table(build, "attribute", owner, example, known, SHARED_ATTRIBUTES);
  for (int i = 0; i < SHARED_REQUIRED; i++)
    if (!has_field(build, table, known[i]))
      build_fail(build, "%s has no %s: %s", owner, known[i], example);
  read_attributes(build, shared_attributes, SHARED_ATTRIBUTES, owner, out);
  build->declaring = NULL;
  scope_add(build, (struct scope_name){.name = out->name, .role = ROLE_SHARED, .slot = -1});
}

void read_shared_arrays(struct build *build, const struct list *list, int launch) {
  struct config_implementation *out = build->implementation;
  if (!out->shared) out->shared = build_array(build, CONFIG_MAX_SHARED, sizeof *out->shared);
  for (const struct item *item = list->items; item < list->items + list->count; item++) {
    if (item->declaration->keyword->id != KEYWORD_shared || !item->name) continue;
    if (out->shared_count == CONFIG_MAX_SHARED)
      build_fail_at(build, item->declaration->line, "more than %d shared arrays",
                    CONFIG_MAX_SHARED);
    /* only readers of the config see the array as constant */
    struct config_shared *array = (struct config_shared *)out->shared + out->shared_count++;
    array->launch = launch;
    read_item(build, list, item, shared_read_array, array);
  }
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

struct shared_evaluation {
  const struct config_shared *declared;
  const struct value *slots;
  struct layout_array *out;
  cugen_error *err;
};

static int shared_fail(const struct shared_evaluation *e, const char *what, int64_t value,
                       const char *rule) {
  return config_fail(e->err, e->declared->line, "shared \"%s\": %s %lld: it must be %s",
                     e->declared->name, what, (long long)value, rule);
}

static int shared_prefix(const struct shared_evaluation *e, int status, const char *what) {
  if (status)
    config_prefix(e->err, e->declared->line, "%s of shared \"%s\"", what, e->declared->name);
  return status;
}

static int shared_evaluate_number(const struct shared_evaluation *e, const struct expr *expr,
                                  const char *what, int64_t most, int64_t *out) {
  int status = expr ? expr_eval_int(expr, e->slots, out, e->err) : CUGEN_OK;
  if (status) return shared_prefix(e, status, what);
  if (*out >= 1 && *out <= most) return CUGEN_OK;
  return shared_fail(e, what, *out,
                     most == INT32_MAX ? "1 or more, and below 2^31" : "1 or more, and below 2^62");
}

static int shared_evaluate_dtype(const struct shared_evaluation *e) {
  struct value value = value_string(e->declared->dtype.word);
  int status = e->declared->dtype.word
                   ? CUGEN_OK
                   : expr_eval(e->declared->dtype.expr, e->slots, &value, e->err);
  if (status) return shared_prefix(e, status, "dtype");
  e->out->dtype = value.type == VALUE_STRING ? dtype_find(value.string) : NULL;
  if (e->out->dtype) return CUGEN_OK;
  struct text text = {0};
  value_print(value, &text);
  status = config_fail(
      e->err, e->declared->line,
      "dtype of shared \"%s\" is %s, which is no dtype: there are f32, f16, i32 and the "
      "others of docs/config.md",
      e->declared->name, text_get(&text));
  text_free(&text);
  return status;
}

static int shared_evaluate_shape(const struct shared_evaluation *e) {
  int status = CUGEN_OK;
  for (int i = 0; i < e->declared->rank && !status; i++)
    status = shared_evaluate_number(e, e->declared->shape[i], "extent", INT64_MAX / 2,
                                    &e->out->shape[i]);
  return status;
}

static int shared_evaluate_layout(const struct shared_evaluation *e) {
  int status = config_layout_read(&e->declared->layout, e->slots, e->declared->rank,
                                  &e->out->layout, e->err);
  if (!status)
    status =
        layout_of_shape(&e->out->layout, e->out->shape, e->out->dtype->bytes, &e->out->map, e->err);
  return shared_prefix(e, status, "layout");
}

int config_shared_array(const struct config_shared *array, const struct value *slots, bool layout,
                        struct layout_array *out, cugen_error *err) {
  const struct shared_evaluation e = {array, slots, out, err};
  out->name = array->name;
  out->file = array->line.path;
  out->line = array->line.number;
  out->rank = array->rank;
  out->staged = array->stages != NULL;
  out->stages = 1;
  out->dynamic = false;
  int status = shared_evaluate_dtype(&e);
  if (!status) status = shared_evaluate_shape(&e);
  return status || !layout ? status : shared_evaluate_layout(&e);
}

/* Totals are capped at this number of bytes, so that no sum overflows. */
static const int64_t SHARED_MOST = (int64_t)1 << 56;

static int shared_evaluate_array(const struct shared_evaluation *e, int64_t *total) {
  struct layout_array *out = e->out;
  int status = config_shared_array(e->declared, e->slots, true, out, e->err);
  if (status) return status;
  out->align = out->layout.bytes ? 8 * out->layout.bytes : 16;
  status = shared_evaluate_number(e, e->declared->stages, "stages", INT32_MAX, &out->stages);
  if (!status)
    status = shared_evaluate_number(e, e->declared->align, "align", INT32_MAX, &out->align);
  if (status) return status;
  const int64_t bytes = out->dtype->bytes, align = out->align;
  if (align & (align - 1) || align < bytes || align > 1024)
    return shared_fail(e, "align", align,
                       "a power of two, at least an element's bytes and at most 1024");
  const int64_t size = out->map.size < SHARED_MOST ? out->map.size : SHARED_MOST,
                one = (size * bytes + align - 1) / align * align;
  out->stage_stride = one / bytes;
  out->offset = (*total + align - 1) / align * align;
  if (__builtin_mul_overflow(one, out->stages, total) || *total > SHARED_MOST - out->offset)
    *total = SHARED_MOST;
  else
    *total += out->offset;
  return CUGEN_OK;
}

/* Evaluates the arrays of one launch, or with -1 those of all launches, and places them behind
   *total bytes. Adds their bytes to *total, and sets *dynamic if the arrays so far must be
   dynamic. */
static int shared_evaluate_group(const struct config_implementation *implementation, int launch,
                                 const struct value *slots, struct layout_array *out,
                                 int64_t *total, bool *dynamic, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < implementation->shared_count && !status; i++) {
    const struct shared_evaluation e = {&implementation->shared[i], slots, &out[i], err};
    bool asked = false;
    if (e.declared->launch != launch) continue;
    status = shared_evaluate_array(&e, total);
    if (!status && e.declared->dynamic)
      status =
          shared_prefix(&e, expr_eval_bool(e.declared->dynamic, slots, &asked, err), "dynamic");
    *dynamic |= asked;
  }
  *dynamic |= *total > SHARED_STATIC_MOST;
  return status;
}

/* Appends the names of the arrays that the launch has: "shared arrays As, Bs". Returns the first
   array, or NULL. */
static const struct config_shared *
shared_name_arrays(const struct config_implementation *implementation, int launch,
                   struct text *out) {
  const struct config_shared *first = NULL;
  for (size_t i = 0; i < implementation->shared_count; i++) {
    const struct config_shared *array = &implementation->shared[i];
    if (!shared_belongs(array, launch)) continue;
    text_addf(out, "%s%s", first ? ", " : "shared arrays ", array->name);
    if (!first) first = array;
  }
  return first;
}

static int shared_refuse_total(const struct config_implementation *implementation, int launch,
                               int64_t total, cugen_error *err) {
  struct text names = {0};
  const struct config_shared *first = shared_name_arrays(implementation, launch, &names);
  int status =
      config_fail(err, first->line, "%s have %s%lld bytes: a launch has less than 2^31",
                  text_get(&names), total < SHARED_MOST ? "" : "more than ", (long long)total);
  text_free(&names);
  return status;
}

int config_shared_arrays(const struct config_implementation *implementation,
                         const struct value *slots, struct layout_array *out, cugen_error *err) {
  int64_t all = 0;
  bool all_dynamic = false;
  int status = shared_evaluate_group(implementation, -1, slots, out, &all, &all_dynamic, err);
  for (size_t k = 0; k < implementation->launch_count && !status; k++) {
    int64_t total = all;
    bool dynamic = all_dynamic;
    status = shared_evaluate_group(implementation, (int)k, slots, out, &total, &dynamic, err);
    if (!status && total > INT32_MAX)
      return shared_refuse_total(implementation, (int)k, total, err);
    for (size_t i = 0; i < implementation->shared_count && !status; i++)
      if (shared_belongs(&implementation->shared[i], (int)k)) out[i].dynamic |= dynamic;
  }
  return status;
}

void config_shared_array_reads(const struct config_shared *array, bool layout, bool *reads) {
  config_expr_reads(array->dtype.expr, reads);
  for (int d = 0; d < array->rank; d++) config_expr_reads(array->shape[d], reads);
  if (layout) config_layout_reads(&array->layout, reads);
}

void config_shared_reads(const struct config_implementation *implementation, int launch,
                         bool *reads) {
  bool common = false;
  for (size_t i = 0; i < implementation->shared_count; i++)
    common |= implementation->shared[i].launch < 0;
  for (size_t i = 0; i < implementation->shared_count; i++) {
    const struct config_shared *array = &implementation->shared[i];
    if (!common && array->launch != launch) continue;
    config_shared_array_reads(array, true, reads);
    config_expr_reads(array->stages, reads);
    config_expr_reads(array->align, reads);
    config_expr_reads(array->dynamic, reads);
  }
}

/* ---- The bytes of a launch ------------------------------------------------------------------ */

/* Sets *out to a launch's bytes of dynamic shared memory: those of all of its arrays if they are
   dynamic; else, if another launch makes the arrays of all launches dynamic, the bytes of these
   arrays; else 0. */
static int shared_bytes(const struct config_implementation *implementation, size_t launch,
                        const struct value *slots, int64_t *out, cugen_error *err) {
  struct layout_array arrays[CONFIG_MAX_SHARED];
  int64_t all = 0;
  bool all_dynamic = false, others = false;
  int status = shared_evaluate_group(implementation, -1, slots, arrays, &all, &all_dynamic, err);
  for (size_t i = 0; i < implementation->launch_count && !status; i++) {
    const size_t k = (launch + i) % implementation->launch_count; /* the launch itself first */
    bool dynamic = all_dynamic;
    *out = all;
    status = shared_evaluate_group(implementation, (int)k, slots, arrays, out, &dynamic, err);
    if (dynamic && i == 0) return status;
    others |= dynamic;
    if (others || !all) break; /* without arrays of all launches the other launches do not matter */
  }
  *out = others ? all : 0;
  return status;
}

/* A call in an expression that gives a launch's bytes of dynamic shared memory. The arena owns the
   struct. */
struct shared_size {
  struct expr_call call;
  const struct config_implementation *implementation;
  size_t launch;
};

static int shared_size_evaluate(const void *context, const struct value *slots, struct value *out,
                                cugen_error *err) {
  const struct shared_size *size = context;
  int64_t bytes = 0;
  int status = shared_bytes(size->implementation, size->launch, slots, &bytes, err);
  *out = value_int(bytes);
  return status;
}

static size_t shared_expr_cost(const struct expr *expr) {
  return expr ? expr_cost(expr) : 0;
}

size_t shared_array_cost(const struct config_shared *array) {
  enum { ARRAY_COST = 30 };
  size_t cost = ARRAY_COST + shared_expr_cost(array->dtype.expr) +
                shared_expr_cost(array->layout.choice) + shared_expr_cost(array->stages) +
                shared_expr_cost(array->align) + shared_expr_cost(array->dynamic);
  for (int d = 0; d < array->rank; d++) cost += shared_expr_cost(array->shape[d]);
  for (size_t i = 0; i < array->layout.word_count; i++)
    for (size_t k = 0; k < array->layout.words[i].part_count; k++)
      cost += shared_expr_cost(array->layout.words[i].parts[k]);
  return cost;
}

static void shared_read_size(struct build *build, size_t launch, const char *names,
                             const bool *reads) {
  const struct config_implementation *implementation = build->implementation;
  struct shared_size *size = build_array(build, 1, sizeof *size);
  struct expr *expr;
  *size = (struct shared_size){.call = {.text = names, .evaluate = shared_size_evaluate},
                               .implementation = implementation,
                               .launch = launch};
  size->call.context = size;
  for (size_t i = 0; i < implementation->shared_count; i++)
    size->call.cost += shared_array_cost(&implementation->shared[i]);
  if (!arena_charge(build->arena, size->call.cost) || !list_reads(build, reads, &size->call) ||
      expr_of_call(&size->call, &expr, &build->error))
    build_memory(build);
  /* only readers of the config see the array as constant */
  struct config_launch *out = (struct config_launch *)implementation->launches + launch;
  out->shared = keep_expr(build, expr, "");
  out->shared_arrays = names;
}

void read_shared_bytes(struct build *build) {
  const struct config_implementation *implementation = build->implementation;
  if (!implementation->shared_count) return;
  if (config_slot_count(build->config, implementation) > EXPR_CALL_SLOTS)
    build_fail_at(build, implementation->shared->line,
                  "shared arrays are for configs of at most %d names", EXPR_CALL_SLOTS);
  for (size_t k = 0; k < implementation->launch_count; k++) {
    bool reads[EXPR_CALL_SLOTS] = {false};
    struct text names = {0};
    config_shared_reads(implementation, (int)k, reads);
    const struct config_shared *first = shared_name_arrays(implementation, (int)k, &names);
    const char *arrays = build_take(build, &names);
    if (first && implementation->launches[k].shared)
      build_fail_at(build, first->line,
                    "shared \"%s\" is an array, and its launch has bytes of shared memory as well: "
                    "declare all arrays, or none",
                    first->name);
    if (first) shared_read_size(build, k, arrays, reads);
  }
}
