/* Shared arrays that an implementation declares: shared "As" { ... }. Read with the config,
   evaluated for each variant. See build.h and config.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

/* ---- Reading -------------------------------------------------------------------------------- */

static int shared_read_dtype(struct build *build, struct config_shared *out, const char *what) {
  return read_word(build, out->line, what, dtype_names, &out->dtype);
}

static int shared_read_shape(struct build *build, struct config_shared *out, const char *what) {
  return read_exprs(build, out->line, what, KERNEL_MAX_RANK, out->shape, &out->rank);
}

static int shared_read_layout(struct build *build, struct config_shared *out, const char *what) {
  build->declaring_layout = true;
  int status = read_layout(build, out->line, what, out->rank, &out->layout);
  build->declaring_layout = false;
  if (status) return status;
  for (size_t i = 0; i < out->layout.word_count; i++)
    if (out->layout.words[i].text[0] == '$')
      return build_fail(
          build, out->line,
          "%s: '%s' begins with an expression: the order of dimensions is written out, "
          "as in \"row+${pad}\"",
          what, out->layout.words[i].text);
  if (!out->layout.open && out->layout.word_count) return CUGEN_OK;
  return build_fail(build, out->line,
                    "%s %s: it is a word such as \"row\", \"row+8\" or \"row/32x8\", or an "
                    "expression that gives one of several",
                    what, out->layout.open ? "can be any text" : "gives no text");
}

static int shared_read_stages(struct build *build, struct config_shared *out, const char *what) {
  return read_expr(build, out->line, what, &out->stages);
}

static int shared_read_align(struct build *build, struct config_shared *out, const char *what) {
  return read_expr(build, out->line, what, &out->align);
}

static int shared_read_dynamic(struct build *build, struct config_shared *out, const char *what) {
  return read_expr(build, out->line, what, &out->dynamic);
}

/* The attributes in the order in which they are read, because a layout needs the shape. */
static const struct {
  const char *name;
  bool needed;
  int (*read)(struct build *build, struct config_shared *out, const char *what);
} shared_attributes[] = {
    {"dtype", true, shared_read_dtype},    {"shape", true, shared_read_shape},
    {"layout", false, shared_read_layout}, {"stages", false, shared_read_stages},
    {"align", false, shared_read_align},   {"dynamic", false, shared_read_dynamic},
};
enum { SHARED_ATTRIBUTES = sizeof shared_attributes / sizeof *shared_attributes };

static int shared_check_keys(struct build *build, int table, const struct config_shared *array) {
  const char *known[SHARED_ATTRIBUTES];
  for (int i = 0; i < SHARED_ATTRIBUTES; i++) known[i] = shared_attributes[i].name;
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, array->line, "shared \"%s\" needs its attributes in braces: %s",
                      array->name, config_keywords[KEYWORD_shared].example);
  const char *odd = unknown_key(build, table, known, SHARED_ATTRIBUTES);
  if (!odd) return CUGEN_OK;
  return refuse_name(build, array->line, odd, known, SHARED_ATTRIBUTES,
                     "unknown attribute '%s' of shared \"%s\": it has dtype, shape, layout, "
                     "stages, align and dynamic",
                     odd, array->name);
}

static int shared_read_attributes(struct build *build, struct config_shared *out) {
  const int table = lua_gettop(build->L);
  int status = shared_check_keys(build, table, out);
  for (int i = 0; i < SHARED_ATTRIBUTES && !status; i++) {
    struct text what = {0};
    text_addf(&what, "%s of shared \"%s\"", shared_attributes[i].name, out->name);
    if (push_field(build, table, shared_attributes[i].name)) {
      status = shared_attributes[i].read(build, out, text_get(&what));
      lua_pop(build->L, 1);
    } else if (shared_attributes[i].needed) {
      status = build_fail(build, out->line, "shared \"%s\" has no %s: %s", out->name,
                          shared_attributes[i].name, config_keywords[KEYWORD_shared].example);
    }
    text_free(&what);
  }
  return status;
}

static bool shared_belongs(const struct config_shared *array, int launch) {
  return array->launch < 0 || array->launch == launch;
}

/* Appends to the expression of the bytes so far those of one array more, which begins at its
   alignment. */
static void shared_add_size(const struct config_shared *array, struct text *total) {
  struct text element = {0}, align = {0}, bytes = {0}, sum = {0};
  if (array->dtype.word)
    text_addf(&element, "sizeof('%s')", array->dtype.word);
  else
    text_addf(&element, "sizeof(%s)", expr_text(array->dtype.expr));
  if (array->align)
    text_addf(&align, "(%s)", expr_text(array->align));
  else
    layout_align_text(&array->layout, &align);
  layout_size_text(&array->layout, array->rank, array->shape, text_get(&element), &bytes);
  if (total->length) text_addf(&sum, "round_up(%s, %s) + ", text_get(total), text_get(&align));
  if (array->stages) text_addf(&sum, "(%s) * ", expr_text(array->stages));
  text_addf(&sum, "round_up(%s, %s)", text_get(&bytes), text_get(&align));
  const bool failed = total->failed;
  text_restart(total);
  text_add(total, text_get(&sum));
  total->failed |= failed | element.failed | align.failed | bytes.failed | sum.failed;
  text_free(&element);
  text_free(&align);
  text_free(&bytes);
  text_free(&sum);
}

/* Names that the types of shared arrays use themselves. */
static bool shared_is_own_name(const char *name) {
  static const char *const own[] = {"data", "at", "as", "T",     "i",          "j",
                                    "k",    "l",  "o",  "stage", "descriptor", "shared_memory"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strcmp(own[i], name) == 0) return true;
  return false;
}

static int shared_read_array(struct build *build, const struct item *item, int launch,
                             const struct config_implementation *implementation,
                             struct config_shared *out) {
  *out = (struct config_shared){.line = item->declaration->line, .launch = launch};
  if (shared_is_own_name(item->name))
    return build_fail(
        build, out->line,
        "'%s' cannot name a shared array: what is generated for it has that name; take "
        "another one, such as 'my_%s'",
        item->name, item->name);
  out->name = arena_string(build->arena, item->name, strlen(item->name));
  if (!out->name) return build_memory(build);
  for (const struct config_shared *other = implementation->shared; other < out; other++)
    if (strcmp(other->name, out->name) == 0)
      return build_fail(build, out->line, "shared \"%s\" stands at %s already", out->name,
                        build_line(build, out->line, other->line));
  build->declaring = out;
  int status = shared_read_attributes(build, out);
  build->declaring = NULL;
  return status ? status
                : scope_add(build, &(struct scope_name){.name = out->name,
                                                        .role = ROLE_SHARED,
                                                        .line = out->line,
                                                        .slot = -1});
}

int read_shared_arrays(struct build *build, const struct list *list, int launch,
                       struct config_implementation *out) {
  int status = CUGEN_OK;
  if (!out->shared) out->shared = arena_array(build->arena, CONFIG_MAX_SHARED, sizeof *out->shared);
  if (!out->shared) return build_memory(build);
  for (size_t i = 0; i < list->count && !status; i++) {
    const struct item *item = &list->items[i];
    if (item->declaration->keyword->id != KEYWORD_shared || !item->name) continue;
    if (out->shared_count == CONFIG_MAX_SHARED)
      return build_fail(build, item->declaration->line, "more than %d shared arrays",
                        CONFIG_MAX_SHARED);
    list_push(build, list, item);
    /* the array belongs to the arena; only readers of the config see it as constant */
    status = shared_read_array(build, item, launch, out,
                               (struct config_shared *)out->shared + out->shared_count++);
    lua_pop(build->L, 1);
  }
  return status;
}

/* Adds the bytes of the arrays that the launch has (-1: of those of all launches), and the
   condition under which they lie in dynamic shared memory. */
static void shared_describe_launch(const struct config_implementation *implementation, int launch,
                                   struct text *total, struct text *dynamic) {
  struct text asked = {0};
  for (size_t i = 0; i < implementation->shared_count; i++) {
    const struct config_shared *array = &implementation->shared[i];
    if (!shared_belongs(array, launch)) continue;
    shared_add_size(array, total);
    if (array->dynamic) text_addf(&asked, " or (%s)", expr_text(array->dynamic));
  }
  if (total->length)
    text_addf(dynamic, "((%s) > %d%s)", text_get(total), SHARED_STATIC_MOST, text_get(&asked));
  dynamic->failed |= asked.failed;
  text_free(&asked);
}

/* Makes the expression for a launch's bytes of dynamic shared memory. If the launch's arrays are
   dynamic, it has the bytes of all of them. Otherwise, if another launch makes the arrays that all
   launches share dynamic (`any`), it has the bytes of the shared ones (`common`). */
static int shared_read_bytes(struct build *build,
                             const struct config_implementation *implementation, int launch,
                             const struct text *any, const struct text *common) {
  struct config_launch *out = (struct config_launch *)&implementation->launches[launch];
  struct text total = {0}, dynamic = {0}, bytes = {0};
  const struct config_shared *first = implementation->shared;
  for (size_t i = implementation->shared_count; i-- > 0;)
    if (shared_belongs(&implementation->shared[i], launch)) first = &implementation->shared[i];
  shared_describe_launch(implementation, launch, &total, &dynamic);
  int status = CUGEN_OK;
  if (total.length) {
    text_addf(&bytes, "select(%s, %s", text_get(&dynamic), text_get(&total));
    if (common->length) text_addf(&bytes, ", %s, %s", text_get(any), text_get(common));
    text_add(&bytes, ", 0)");
    if (out->shared)
      status = build_fail(build, first->line,
                          "shared \"%s\" is an array, and its launch has bytes of shared memory as "
                          "well: declare all arrays, or none",
                          first->name);
    else if (total.failed || dynamic.failed || bytes.failed)
      status = build_memory(build);
    else
      status = read_expr_text(build, first->line, "shared", text_get(&bytes), &out->shared);
  }
  text_free(&total);
  text_free(&dynamic);
  text_free(&bytes);
  return status;
}

int read_shared_bytes(struct build *build, const struct config_implementation *implementation) {
  struct text any = {0}, common = {0}, ignored = {0};
  int status = CUGEN_OK;
  if (!implementation->shared_count) return CUGEN_OK;
  shared_describe_launch(implementation, -1, &common, &ignored);
  for (size_t k = 0; k < implementation->launch_count; k++) {
    struct text total = {0};
    if (any.length) text_add(&any, " or ");
    shared_describe_launch(implementation, (int)k, &total, &any);
    any.failed |= total.failed;
    text_free(&total);
  }
  if (any.failed || common.failed || ignored.failed) status = build_memory(build);
  for (size_t k = 0; k < implementation->launch_count && !status; k++)
    status = shared_read_bytes(build, implementation, (int)k, &any, &common);
  text_free(&any);
  text_free(&common);
  text_free(&ignored);
  return status;
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
  return error_set_at(e->err, CUGEN_ERROR_CONFIG, e->declared->line.path, e->declared->line.number,
                      "shared \"%s\": %s %lld: it must be %s", e->declared->name, what,
                      (long long)value, rule);
}

static int shared_prefix(const struct shared_evaluation *e, int status, const char *what) {
  if (status)
    error_prefix_at(e->err, e->declared->line.path, e->declared->line.number, "%s of shared \"%s\"",
                    what, e->declared->name);
  return status;
}

static int shared_evaluate_number(const struct shared_evaluation *e, const struct expr *expr,
                                  const char *what, int64_t *out) {
  int status = expr ? expr_eval_int(expr, e->slots, out, e->err) : CUGEN_OK;
  if (status) return shared_prefix(e, status, what);
  if (*out >= 1 && *out <= INT32_MAX) return CUGEN_OK;
  return shared_fail(e, what, *out, "1 or more, and below 2^31");
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
  status =
      error_set_at(e->err, CUGEN_ERROR_CONFIG, e->declared->line.path, e->declared->line.number,
                   "dtype of shared \"%s\" is %s, which is none: there are f32, f16, i32 and the "
                   "others of docs/config.md",
                   e->declared->name, text_get(&text));
  text_free(&text);
  return status;
}

static int shared_evaluate_shape(const struct shared_evaluation *e) {
  int status = CUGEN_OK;
  for (int i = 0; i < e->declared->rank && !status; i++)
    status = shared_evaluate_number(e, e->declared->shape[i], "extent", &e->out->shape[i]);
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
  *out = (struct layout_array){.name = array->name,
                               .file = array->line.path,
                               .line = array->line.number,
                               .rank = array->rank,
                               .staged = array->stages,
                               .stages = 1};
  int status = shared_evaluate_dtype(&e);
  if (!status) status = shared_evaluate_shape(&e);
  return status || !layout ? status : shared_evaluate_layout(&e);
}

static int shared_evaluate_array(const struct shared_evaluation *e, int64_t *total) {
  struct layout_array *out = e->out;
  int status = config_shared_array(e->declared, e->slots, true, out, e->err);
  out->align = out->layout.bytes ? 8 * out->layout.bytes : 16;
  if (!status) status = shared_evaluate_number(e, e->declared->stages, "stages", &out->stages);
  if (!status) status = shared_evaluate_number(e, e->declared->align, "align", &out->align);
  if (status) return status;
  const int64_t bytes = out->dtype->bytes, align = out->align;
  if (align & (align - 1) || align < bytes || align > 1024)
    return shared_fail(e, "align", align,
                       "a power of two, at least an element's bytes and at most 1024");
  const int64_t one = (out->map.size * bytes + align - 1) / align * align;
  out->stage_stride = one / bytes;
  out->offset = (*total + align - 1) / align * align;
  if (__builtin_mul_overflow(one, out->stages, total) ||
      __builtin_add_overflow(*total, out->offset, total) || *total > INT32_MAX)
    return shared_fail(e, "the bytes of one of its stages are", one,
                       "less, since all arrays of a block have at most 2^31");
  return CUGEN_OK;
}

/* Evaluates the arrays of one launch, or with -1 those of all launches, behind *total bytes. */
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

int config_shared_arrays(const struct config_implementation *implementation,
                         const struct value *slots, struct layout_array *out, cugen_error *err) {
  int64_t all = 0;
  bool all_dynamic = false;
  int status = shared_evaluate_group(implementation, -1, slots, out, &all, &all_dynamic, err);
  for (size_t k = 0; k < implementation->launch_count && !status; k++) {
    int64_t total = all;
    bool dynamic = all_dynamic;
    status = shared_evaluate_group(implementation, (int)k, slots, out, &total, &dynamic, err);
    for (size_t i = 0; i < implementation->shared_count && !status; i++)
      if (shared_belongs(&implementation->shared[i], (int)k)) out[i].dynamic |= dynamic;
  }
  return status;
}

void config_shared_array_reads(const struct config_shared *array, bool layout, bool *reads) {
  note_reads(array->dtype.expr, reads);
  for (int d = 0; d < array->rank; d++) note_reads(array->shape[d], reads);
  if (layout) config_layout_reads(&array->layout, reads);
}

void config_shared_reads(const struct config_implementation *implementation,
                         const struct config_shared *array, bool *reads) {
  for (size_t i = 0; i < implementation->shared_count; i++) {
    const struct config_shared *other = &implementation->shared[i];
    if (array->launch >= 0 && !shared_belongs(other, array->launch)) continue;
    config_shared_array_reads(other, true, reads);
    note_reads(other->stages, reads);
    note_reads(other->align, reads);
    note_reads(other->dynamic, reads);
  }
}
