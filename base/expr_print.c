/* Printing of expressions: as text for messages, and as C. Each node becomes a fragment of text,
   made from the fragments of its operands. */
#include "expr_program.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *lua, *c, *checked;
  bool boolean;
} patterns[OP_COUNT] = {
#define X(name, operands, lua, c, checked, boolean) {lua, c, checked, boolean},
    EXPR_OPS(X)
#undef X
};

/* gelu(x) = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (Hendrycks, Gimpel: Gaussian Error
   Linear Units), with (1 + tanh y) / 2 = 1 / (1 + exp(-2 y)). Floats use CUDA's fast functions.
   Doubles use a function that is not inlined, because the compiler takes seconds for exp of doubles
   in an unrolled loop. */
#define GELU(of_float)                                                                             \
  "([](auto __x) { if constexpr (sizeof(__x) == 4) { " of_float                                    \
  " } else { return [](auto __v) __attribute__((noinline)) { return __v / (1 + exp(__v * "         \
  "(-1.5957691216057308 - "                                                                        \
  "0.07135481627260025 * __v * __v))); }(__x); } }(%a))"

/* Patterns of formulas that differ from those of C. min and max of a number and NaN are NaN,
   whichever operand is NaN. */
static const char *const formula_patterns[OP_COUNT] = {
    [OP_ABS] = "([](auto __x) { return __x <= 0 ? 0 - __x : __x; }(%a))",
    [OP_SQRT] = "sqrt(%a)",
    [OP_F32] = "__t((float)(%a))",
    [OP_SIN] = "sin(%a)",
    [OP_COS] = "cos(%a)",
    [OP_FLOOR] = "floor(%a)",
    [OP_CEIL] = "ceil(%a)",
    [OP_EXP] = "exp(%a)",
    [OP_LOG] = "log(%a)",
    [OP_TANH] = "tanh(%a)",
    [OP_ERF] = "erf(%a)",
    [OP_GELU] = GELU("const auto __y = __x * (-1.5957691f - 0.07135482f * __x * __x); "
                     "return decltype(__x)(__fdividef(__x, 1 + __expf(__y)));"),
    [OP_FAST_GELU] =
        GELU("const auto __y = __x * (0.7978846f + 0.03567741f * __x * __x), __h = __x / 2; "
             "return decltype(__x)(__h * __tanhf(__y) + __h);"),
    [OP_RELU] = "([](auto __x) { return __x < 0 ? decltype(__x)(0) : __x; }(%a))",
    [OP_MIN] = "([](auto __x, auto __y) { return __x < __y || __x != __x ? __x : __y; }(%a, %b))",
    [OP_MAX] = "([](auto __x, auto __y) { return __x > __y || __x != __x ? __x : __y; }(%a, %b))",
};

/* ---- Quoting -------------------------------------------------------------------------------- */

void expr_quote(const char *text, size_t column, struct text *out) {
  enum { SHOWN = 160, BEFORE = 100 };
  size_t length = strlen(text), from = 0;
  if (length > SHOWN && column > BEFORE) from = column - BEFORE;
  size_t to = length - from > SHOWN ? from + SHOWN : length;
  text_add(out, from > 0 ? "\"..." : "\"");
  for (size_t i = from; i < to; i++) {
    const unsigned char byte = (unsigned char)text[i];
    if (byte < 0x20 || byte == 0x7f)
      text_addf(out, "\\x%02x", (unsigned)byte);
    else
      text_add_char(out, text[i]);
  }
  text_add(out, to < length ? "...\"" : "\"");
}

static void print_value(struct value value, struct text *out) {
  if (value.type == VALUE_STRING)
    expr_quote(value.string, 0, out);
  else
    value_print(value, out);
}

/* ---- Patterns ------------------------------------------------------------------------------- */

/* In C the types of the operands decide how `and` and `or` are printed: Lua's "c and a or b"
   becomes "c ? a : b". */
enum fragment_kind { FRAGMENT_NUMBER, FRAGMENT_REAL, FRAGMENT_BOOLEAN, FRAGMENT_GUARDED };

/* A part of the printed expression. FRAGMENT_GUARDED: the value is `text` if `guard` holds, else
   false. */
struct fragment {
  struct text text, guard;
  enum fragment_kind kind;
  bool composite; /* needs parentheses where a pattern has %A or %B */
  bool real;      /* FRAGMENT_GUARDED: whether the text is a real number */
};

static void fragment_free(struct fragment *fragment) {
  text_free(&fragment->text);
  text_free(&fragment->guard);
}

static void expr_print_add_operand(const struct text *text, bool parentheses, struct text *out) {
  out->failed |= text->failed;
  if (parentheses) text_add_char(out, '(');
  text_add_n(out, text_get(text), text->length);
  if (parentheses) text_add_char(out, ')');
}

/* Inserts the operands into a pattern of EXPR_OPS. */
static struct text expr_print_fill(const char *pattern, const struct fragment *left,
                                   const struct fragment *right) {
  struct text out = {0};
  for (const char *p = pattern; *p; p++) {
    if (*p != '%')
      text_add_char(&out, *p);
    else if (*++p == '%')
      text_add_char(&out, '%');
    else {
      const struct fragment *operand = *p == 'a' || *p == 'A' ? left : right;
      expr_print_add_operand(&operand->text, (*p == 'A' || *p == 'B') && operand->composite, &out);
    }
  }
  return out;
}

void expr_print_values(enum expr_op op, const struct value *left, const struct value *right,
                       struct text *out) {
  struct fragment a = {0}, b = {0};
  print_value(*left, &a.text);
  if (op >= OP_FIRST_BINARY) print_value(*right, &b.text);
  struct text filled = op == OP_PUSH ? a.text : expr_print_fill(patterns[op].lua, &a, &b);
  text_add_n(out, text_get(&filled), filled.length);
  if (op != OP_PUSH) text_free(&filled);
  fragment_free(&a);
  fragment_free(&b);
}

/* ---- Making fragments ----------------------------------------------------------------------- */

struct printer {
  const struct expr *expr;
  bool c;                /* prints C; otherwise the text that a user would write */
  bool checked, formula; /* prints the C of expr_print_checked, of expr_print_formula */
  const char *(*slot_name)(void *context, int slot);
  void *context;
  const char *refusal;   /* why the expression cannot be printed as C; NULL if it can */
  struct fragment *made; /* the fragment of each node; empty once it is part of another fragment */
};

static bool expr_print_refuse(struct printer *printer, const char *why) {
  if (!printer->refusal) printer->refusal = why;
  return false;
}

static const char *expr_print_name_of(const struct printer *printer, int slot) {
  if (printer->slot_name) return printer->slot_name(printer->context, slot);
  for (size_t i = 0; i < printer->expr->name_count; i++)
    if (printer->expr->names[i].slot == slot) return printer->expr->names[i].name;
  return "?";
}

/* Casts a literal to the formula's type, because 0.5 would make the arithmetic on floats double. */
static void in_type(struct fragment *fragment) {
  struct text text = expr_print_fill("__t(%a)", fragment, NULL);
  text_free(&fragment->text);
  *fragment = (struct fragment){.text = text, .kind = FRAGMENT_NUMBER};
}

static void constant_fragment(struct printer *printer, struct value value, struct fragment *out) {
  const bool negative = (value.type == VALUE_INT && value.integer < 0) ||
                        (value.type == VALUE_FLOAT && value.real < 0);
  out->composite = printer->c && negative;
  if (!printer->c) {
    print_value(value, &out->text);
  } else if (value.type == VALUE_STRING || value.type == VALUE_NIL) {
    expr_print_refuse(printer, value.type == VALUE_NIL ? "nil has no place in it"
                                                       : "strings have no place in it");
  } else if (value.type == VALUE_BOOL) {
    out->kind = FRAGMENT_BOOLEAN;
    text_add(&out->text, value.boolean ? "1" : "0");
  } else {
    out->kind = value.type == VALUE_FLOAT ? FRAGMENT_REAL : FRAGMENT_NUMBER;
    /* C has no literal for the smallest integer */
    const bool smallest = value.type == VALUE_INT && value.integer == INT64_MIN;
    if (smallest)
      text_add(&out->text, "-9223372036854775807LL - 1");
    else
      value_print(value, &out->text);
    /* with LL, a product of two constants does not overflow an int */
    if (value.type == VALUE_INT && !smallest) text_add(&out->text, "LL");
    if (printer->formula) in_type(out);
  }
}

static bool is_numeric(const struct fragment *fragment) {
  return fragment->kind == FRAGMENT_NUMBER || fragment->kind == FRAGMENT_REAL;
}

static const char *formula_pattern(enum expr_op op) {
  bool whole = op == OP_FLOOR_DIVIDE || op == OP_MODULO || op == OP_CEIL_DIV || op == OP_ROUND_UP ||
               op == OP_IS_POW2 || op == OP_LOG2;
  return formula_patterns[op] ? formula_patterns[op] : whole ? NULL : patterns[op].c;
}

static bool gives_real(enum expr_op op) {
  return op == OP_SQRT || op == OP_F32;
}

static bool gives_whole(enum expr_op op) {
  return op == OP_FLOOR || op == OP_CEIL;
}

/* Checks that C's operation on operands of these kinds does what Lua's does. */
static bool check_kinds(struct printer *printer, enum expr_op op, const struct fragment *a,
                        const struct fragment *b) {
  const char *pattern = printer->formula   ? formula_pattern(op)
                        : printer->checked ? patterns[op].checked
                                           : patterns[op].c;
  if (!pattern)
    return expr_print_refuse(printer, printer->formula
                                          ? "this operation works on whole numbers known before"
                                          : "this function works on what is known before");
  bool boolean = a->kind == FRAGMENT_BOOLEAN && b->kind == FRAGMENT_BOOLEAN;
  if (op == OP_NOT || ((op == OP_EQUAL || op == OP_DIFFER) && boolean))
    return boolean || expr_print_refuse(printer, "not works on conditions there");
  if (!is_numeric(a) || !is_numeric(b))
    return expr_print_refuse(printer, "a number may be a condition");
  bool whole = op == OP_FLOOR_DIVIDE || op == OP_MODULO || op == OP_CEIL_DIV || op == OP_ROUND_UP ||
               op == OP_POW || op == OP_CEIL_LOG || op == OP_IS_POW2 || op == OP_LOG2;
  bool real = a->kind == FRAGMENT_REAL || b->kind == FRAGMENT_REAL;
  return !(whole && real) ||
         expr_print_refuse(printer, "this operation works on whole numbers there");
}

static void to_double(struct fragment *fragment) {
  if (fragment->kind != FRAGMENT_NUMBER) return;
  struct text text = expr_print_fill("(double)%A", fragment, NULL);
  text_free(&fragment->text);
  fragment->text = text;
  fragment->kind = FRAGMENT_REAL;
  fragment->composite = true;
}

/* Returns the pattern of checked C. Whole numbers are computed by functions that notice an
   overflow; if one operand has a fraction, both operands become doubles. */
static const char *checked_pattern(enum expr_op op, bool real, struct fragment *left,
                                   struct fragment *right) {
  if (!real || gives_real(op) || gives_whole(op)) return patterns[op].checked;
  to_double(left);
  if (left != right) to_double(right);
  return patterns[op].c;
}

static void expr_print_operate(struct printer *printer, enum expr_op op, struct fragment *left,
                               struct fragment *right, struct fragment *out) {
  enum { LONGEST = 1 << 16 };
  if (printer->c && !check_kinds(printer, op, left, right)) return;
  bool real = left->kind == FRAGMENT_REAL || right->kind == FRAGMENT_REAL;
  const char *pattern = printer->c ? patterns[op].c : patterns[op].lua;
  if (printer->c && !printer->formula && gives_whole(op) && left->kind == FRAGMENT_NUMBER) {
    *out = *left; /* an operand that is a whole number already stays as it is */
    *left = (struct fragment){0};
    return;
  }
  if (printer->checked) pattern = checked_pattern(op, real, left, right);
  if (printer->formula) pattern = formula_pattern(op);
  out->text = expr_print_fill(pattern, left, right);
  real = (real && (printer->formula || !gives_whole(op))) || gives_real(op);
  out->kind = patterns[op].boolean ? FRAGMENT_BOOLEAN : real ? FRAGMENT_REAL : FRAGMENT_NUMBER;
  /* Lua's form of the operation is a call, which needs no parentheses around it */
  const bool call = op >= OP_CEIL_DIV || (op > OP_NEGATE && op < OP_ADD);
  out->composite = printer->checked ? strchr("%!-", pattern[0]) != NULL : printer->c || !call;
  /* C patterns that mention an operand twice double the text at each level */
  if (out->text.length > LONGEST) expr_print_refuse(printer, "it gets too long");
}

/* Sets *out to "A ? B : C". */
static void add_choice(const struct fragment *condition, const struct fragment *a,
                       const struct fragment *b, struct text *out) {
  struct text choices = expr_print_fill("%A : %B", a, b);
  *out = expr_print_fill("%A ? ", condition, NULL);
  expr_print_add_operand(&choices, false, out);
  text_free(&choices);
}

/* Prints a select. In C the choices must be two numbers or two conditions; in checked C two numbers
   must be of one kind. */
static void print_select(struct printer *printer, const struct fragment *condition,
                         const struct fragment *a, const struct fragment *b, struct fragment *out) {
  const bool numbers = is_numeric(a) && is_numeric(b);
  if (!printer->c) {
    struct text choices = expr_print_fill("%a, %b)", a, b);
    out->text = expr_print_fill("select(%a, ", condition, NULL);
    expr_print_add_operand(&choices, false, &out->text);
    text_free(&choices);
    return;
  }
  if (condition->kind != FRAGMENT_BOOLEAN ||
      (!numbers && (a->kind != FRAGMENT_BOOLEAN || b->kind != a->kind)))
    expr_print_refuse(printer, "a number may be a condition");
  if (printer->checked && a->kind != b->kind) expr_print_refuse(printer, "it may be whole or not");
  add_choice(condition, a, b, &out->text);
  out->kind = a->kind == FRAGMENT_REAL ? a->kind : b->kind;
  out->composite = true;
}

/* Returns a view of the fragment's condition: the guard of a guarded value, else the text. */
static struct fragment *as_guard(struct fragment *view, const struct fragment *of) {
  *view = (struct fragment){.text = of->kind == FRAGMENT_GUARDED ? of->guard : of->text,
                            .composite = true};
  return view;
}

/* Prints `left and right` as C, by the kinds of the operands. A number counts as true, as in
   Lua. */
static void print_and_c(struct fragment *left, struct fragment *right, struct fragment *out) {
  struct fragment a, b;
  *out = (struct fragment){.composite = true, .kind = right->kind};
  if (is_numeric(left)) { /* a number is always true, so the result is the right operand */
    *out = *right;
    *right = (struct fragment){0};
  } else if (right->kind == FRAGMENT_BOOLEAN) {
    out->text = expr_print_fill("%A && %B", as_guard(&a, left), right);
  } else {
    out->kind = FRAGMENT_GUARDED;
    out->guard = right->kind == FRAGMENT_GUARDED
                     ? expr_print_fill("%A && %B", as_guard(&a, left), as_guard(&b, right))
                     : expr_print_fill("%a", as_guard(&a, left), NULL);
    out->composite = right->composite;
    out->real = right->real || right->kind == FRAGMENT_REAL;
    expr_print_add_operand(&right->text, false, &out->text);
  }
}

static void print_or_c(struct printer *printer, struct fragment *left, struct fragment *right,
                       struct fragment *out) {
  struct fragment a, b;
  *out = (struct fragment){.composite = true, .kind = right->kind};
  if (is_numeric(left)) { /* a number is always true, so the result is the left operand */
    *out = *left;
    *left = (struct fragment){0};
  } else if (left->kind == FRAGMENT_BOOLEAN && right->kind == FRAGMENT_BOOLEAN) {
    out->text = expr_print_fill("%A || %B", left, right);
  } else if (left->kind == FRAGMENT_GUARDED && right->kind != FRAGMENT_BOOLEAN) {
    add_choice(as_guard(&a, left), left, right, &out->text);
    out->real = right->real || right->kind == FRAGMENT_REAL;
    if (printer->checked && left->real != out->real)
      expr_print_refuse(printer, "it may be whole or not");
    if (right->kind == FRAGMENT_GUARDED)
      out->guard = expr_print_fill("%A || %B", as_guard(&a, left), as_guard(&b, right));
  } else {
    expr_print_refuse(printer, "a number may be a condition");
  }
}

static void print_element(struct printer *printer, const struct node *node, struct fragment *out) {
  text_addf(&out->text, "%s[",
            expr_print_name_of(printer, EXPR_BUFFER_NAME + element_buffer(node->operand)));
  for (int i = 0; i < node_operands(node); i++) {
    if (i) text_add(&out->text, ", ");
    expr_print_add_operand(&printer->made[node->at[i]].text, false, &out->text);
  }
  text_add_char(&out->text, ']');
  out->kind = FRAGMENT_REAL;
  if (printer->c) expr_print_refuse(printer, "elements have no place in it");
}

/* Makes the fragment of a node from the operands' fragments, and frees the operands' fragments. */
static void print_node(struct printer *printer, size_t i) {
  const struct node *node = &printer->expr->nodes[i];
  struct fragment *out = &printer->made[i], *a = &printer->made[node->at[0]],
                  *b = &printer->made[node->at[node_operands(node) > 1]];
  switch (node->op) {
  case OP_PUSH:
    if (node->place == OPERAND_CONSTANT)
      constant_fragment(printer, printer->expr->constants[node->operand], out);
    else
      text_add(&out->text, expr_print_name_of(printer, node->operand));
    break;
  case OP_CALL:
    text_add(&out->text, printer->expr->calls[node->operand].call->text);
    if (printer->c)
      expr_print_refuse(printer, "what it asks about arrays is known to the config only");
    break;
  case OP_ELEMENT: print_element(printer, node, out); break;
  case OP_SELECT: print_select(printer, a, b, &printer->made[node->at[2]], out); break;
  case OP_AND:
  case OP_OR:
    if (!printer->c)
      *out = (struct fragment){.text = expr_print_fill(patterns[node->op].lua, a, b),
                               .composite = true};
    else if (node->op == OP_AND)
      print_and_c(a, b, out);
    else
      print_or_c(printer, a, b, out);
    break;
  default: expr_print_operate(printer, node->op, a, b, out); break;
  }
  for (int k = 0; k < node_operands(node); k++) fragment_free(&printer->made[node->at[k]]);
}

/* Makes the fragments of a node and of all nodes below it. Returns the node's fragment, or an empty
   fragment if memory is out. */
static const struct fragment *print_until(struct printer *printer, size_t last) {
  static const struct fragment nothing = {.text = {.failed = true}};
  size_t first = last;
  while (node_operands(&printer->expr->nodes[first]))
    first = (size_t)printer->expr->nodes[first].at[0];
  printer->made = calloc(last + 1, sizeof *printer->made);
  for (size_t i = first; i <= last && printer->made && !printer->refusal; i++)
    print_node(printer, i);
  return printer->made ? &printer->made[last] : &nothing;
}

static void print_end(struct printer *printer, size_t last) {
  for (size_t i = 0; printer->made && i <= last; i++) fragment_free(&printer->made[i]);
  free(printer->made);
}

void expr_print_node(const struct expr *expr, size_t node, struct text *out) {
  struct printer printer = {.expr = expr};
  const struct fragment *made = print_until(&printer, node);
  text_add_n(out, text_get(&made->text), made->text.length);
  print_end(&printer, node);
}

/* Prints the whole expression. *kind becomes the kind of the result. */
static int print_c(struct printer *printer, struct text *out, enum fragment_kind *kind,
                   cugen_error *err) {
  const size_t last = printer->expr->node_count - 1;
  const struct fragment *made = print_until(printer, last);
  int status = CUGEN_OK;
  *kind = made->kind;
  if (!printer->refusal && made->kind == FRAGMENT_GUARDED)
    expr_print_refuse(printer, "a number may be a condition");
  if (!printer->refusal && printer->formula && made->kind == FRAGMENT_BOOLEAN)
    expr_print_refuse(printer, "it is a condition, not a number");
  if (!printer->refusal) {
    expr_print_add_operand(&made->text, false, out);
    if (out->failed) status = error_memory(err);
  } else {
    struct text quoted = {0};
    expr_quote(printer->expr->text, 0, &quoted);
    status = error_set(err, CUGEN_ERROR_CONFIG, "%s cannot be written as C: %s", text_get(&quoted),
                       printer->refusal);
    text_free(&quoted);
  }
  print_end(printer, last);
  return status;
}

int expr_print_c(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                 void *context, struct text *out, cugen_error *err) {
  enum fragment_kind kind;
  return print_c(
      &(struct printer){.expr = expr, .c = true, .slot_name = slot_name, .context = context}, out,
      &kind, err);
}

int expr_print_formula(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                       void *context, struct text *out, cugen_error *err) {
  enum fragment_kind kind;
  return print_c(
      &(struct printer){
          .expr = expr, .c = true, .formula = true, .slot_name = slot_name, .context = context},
      out, &kind, err);
}

int expr_print_checked(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                       void *context, struct text *out, enum expr_kind *kind, cugen_error *err) {
  enum fragment_kind is;
  int status = print_c(
      &(struct printer){
          .expr = expr, .c = true, .checked = true, .slot_name = slot_name, .context = context},
      out, &is, err);
  *kind = is == FRAGMENT_BOOLEAN ? EXPR_BOOLEAN : is == FRAGMENT_REAL ? EXPR_REAL : EXPR_WHOLE;
  return status;
}
