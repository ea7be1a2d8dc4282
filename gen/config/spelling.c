/* Text with expressions in it, such as an `entry`: parsed with the config, printed for each
   variant. See build.h. */
#include <string.h>

#include "build.h"
#include "evaluate.h"

/* Returns the next `${` at or behind `at`, and sets *close to the first `}` behind the `${`. NULL:
   there is none. */
static const char *spelling_next_part(const char *at, const char **close) {
  const char *open = strstr(at, "${");
  *close = open ? strchr(open, '}') : NULL;
  return open;
}

struct config_spelling read_spelled(struct build *build, const char *what, const char *text) {
  const char *close;
  size_t count = 0;
  for (const char *at = text; (at = spelling_next_part(at, &close)); at += 2) count++;
  const struct expr **parts = build_array(build, count, sizeof *parts);
  if (!arena_charge(build->arena, 64 * count)) build_memory(build);
  count = 0;
  for (const char *at = text; (at = spelling_next_part(at, &close)); at += 2) {
    struct expr *expr;
    if (!close) build_fail(build, "%s: `${` without its `}`", what);
    const char *source = build_copy(build, at + 2, (size_t)(close - at) - 2);
    build_check(build, scope_parse(build, source, &expr), what);
    parts[count++] = keep_expr(build, expr, source);
  }
  return (struct config_spelling){text, parts, count};
}

struct config_spelling read_spelling(struct build *build, const char *what) {
  return read_spelled(build, what, read_string(build, what));
}

int config_spell(const struct config_spelling *spelling, const struct value *slots,
                 struct text *out, cugen_error *err) {
  const char *at = spelling->text, *open, *close;
  for (size_t i = 0; (open = spelling_next_part(at, &close)) && i < spelling->part_count;
       i++, at = close + 1) {
    struct value value;
    text_add_n(out, at, (size_t)(open - at));
    int status = expr_eval(spelling->parts[i], slots, &value, err);
    if (status) return status;
    const struct dtype *dtype = value.type == VALUE_STRING ? dtype_find(value.string) : NULL;
    if (dtype)
      text_add(out, dtype->cuda_name);
    else if (value.type == VALUE_BOOL)
      text_add_char(out, value.boolean ? '1' : '0');
    else
      value_print(value, out);
  }
  text_add(out, at);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

void config_expr_reads(const struct expr *expr, bool *reads) {
  size_t count = 0;
  const int *slots = expr ? expr_slots(expr, &count) : NULL;
  for (size_t k = 0; k < count; k++) reads[slots[k]] = true;
}

bool list_reads(struct build *build, const bool *reads, struct expr_call *call) {
  size_t count = 0;
  for (int i = 0; i < EXPR_CALL_SLOTS; i++) count += reads[i];
  int *slots = arena_array(build->arena, count, sizeof *slots);
  if (!slots) return false;
  call->slots = slots;
  for (int i = 0; i < EXPR_CALL_SLOTS; i++)
    if (reads[i]) slots[call->count++] = i;
  return true;
}

void config_spelling_reads(const struct config_spelling *spelling, bool *reads) {
  for (size_t i = 0; i < spelling->part_count; i++) config_expr_reads(spelling->parts[i], reads);
}

bool config_spelling_sees(const struct config_spelling *spelling, int slot) {
  for (size_t i = 0; i < spelling->part_count; i++)
    if (expr_sees(spelling->parts[i], slot)) return true;
  return false;
}

void config_entry_reads(const struct config_launch *launch, bool *reads) {
  config_spelling_reads(&launch->entry, reads);
  const bool stepped = config_spelling_sees(&launch->entry, launch->step_slot) ||
                       config_spelling_sees(&launch->entry, launch->steps_slot);
  if (stepped && launch->steps) config_expr_reads(launch->steps, reads);
}
