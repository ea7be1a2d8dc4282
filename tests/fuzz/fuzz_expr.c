/* Fuzz target: any bytes as an expression. An expression that parses must evaluate to the same
   value with any of its slots bound, and must print as C without harm. */
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "fuzz.h"

enum { SLOTS = 5 };
static const char *const slot_names[SLOTS] = {"a", "b", "x", "t", "device.n"};

static struct expr_symbol find(void *context, const char *name) {
  for (int i = 0; i < SLOTS; i++)
    if (strcmp(slot_names[i], name) == 0)
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = i};
  if (strcmp(name, "d") == 0 && context)
    return (struct expr_symbol){.kind = SYMBOL_EXPR, .expr = context};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static const char *const *names(void *context, size_t *count) {
  (void)context;
  *count = SLOTS;
  return slot_names;
}

static const char *slot_c(void *context, int slot) {
  (void)context;
  return slot_names[slot];
}

static bool same(struct value a, struct value b) {
  return a.type == b.type &&
         (value_equal(a, b) || (a.type == VALUE_FLOAT && a.real != a.real && b.real != b.real));
}

static void check_binding(const struct expr *expr, const struct value *slots, size_t set) {
  bool known[SLOTS];
  for (int i = 0; i < SLOTS; i++) known[i] = (set >> i & 1) != 0;
  struct expr *bound;
  if (expr_bind(expr, slots, known, SLOTS, &bound, NULL)) abort();
  struct value want, got;
  cugen_error err = {0};
  int status = expr_eval(expr, slots, &want, &err);
  if (expr_eval(bound, slots, &got, NULL) != status) abort();
  if (status == CUGEN_OK && !same(want, got)) abort();
  if (status != CUGEN_OK && !err.message[0]) abort();
  expr_free(bound);
}

static void check(const struct expr *expr) {
  const struct value slots[SLOTS] = {value_int(7), value_int(-2), value_float(0.5),
                                     value_string("f32"), value_int(INT64_MAX)};
  /* Binds two of the 32 sets of slots, chosen by the text so that all sets are used, and the set
     of all slots. */
  size_t turn = strlen(expr_text(expr));
  check_binding(expr, slots, turn % (1u << SLOTS));
  check_binding(expr, slots, turn * 11 % (1u << SLOTS));
  check_binding(expr, slots, (1u << SLOTS) - 1);
  struct text c = {0};
  cugen_error err = {0};
  expr_print_c(expr, slot_c, NULL, &c, &err);
  text_free(&c);
}

static bool element(void *context, const char *name, const char *const *indices, size_t count,
                    int *slot, struct text *why) {
  (void)context;
  *slot = (int)count;
  for (size_t i = 0; i < count; i++)
    if (strcmp(indices[i], "a") != 0) text_addf(why, "%s[%s]", name, indices[i]);
  return why->length == 0;
}

/* Takes the same bytes as the body of a formula. */
static void check_formula(const char *body, const struct expr_scope *scope) {
  struct expr *expr;
  cugen_error err = {0};
  if (expr_parse_with(body, scope, &(struct expr_extras){.element = element}, &expr, &err)) {
    if (!err.message[0]) abort();
    return;
  }
  check(expr);
  struct text text = {0};
  if (expr_print_formula(expr, slot_c, NULL, &text, &err) == CUGEN_OK && !text.length) abort();
  text_free(&text);
  expr_free(expr);
}

/* The bytes up to the first NUL are the expression of a derived name; the rest is an expression
   that may use the name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  struct expr_scope scope = {find, names, NULL};
  struct expr *derived, *expr;
  cugen_error err;
  expr_parse(text, &scope, &derived, &err);
  size_t length = strlen(text);
  scope.context = derived;
  if (length < size && expr_parse(text + length + 1, &scope, &expr, &err) == CUGEN_OK) {
    check(expr);
    expr_free(expr);
  }
  if (derived) check(derived);
  check_formula(text, &scope);
  expr_free(derived);
  free(text);
  return 0;
}
