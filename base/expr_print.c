/* Printing of expressions: as text for messages, and as C. The program is run on fragments of text
   instead of values. */
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
   Linear Units), with (1 + tanh y) / 2 = 1 / (1 + exp(-2 y)). Floats use the fast functions.
   Doubles use a separate function, because the compiler takes seconds for exp of doubles in an
   unrolled loop. */
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

static void quote_char(char c, struct text *out) {
  unsigned char byte = (unsigned char)c;
  if (byte < 0x20 || byte == 0x7f)
    text_addf(out, "\\x%02x", (unsigned)byte);
  else
    text_add_char(out, c);
}

void expr_quote(const char *text, size_t column, struct text *out) {
  enum { SHOWN = 160, BEFORE = 100 };
  size_t length = strlen(text), from = 0;
  if (length > SHOWN && column > BEFORE) from = column - BEFORE;
  size_t to = length - from > SHOWN ? from + SHOWN : length;
  text_add(out, from > 0 ? "\"..." : "\"");
  for (size_t i = from; i < to; i++) quote_char(text[i], out);
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
  bool composite;
  bool real; /* FRAGMENT_GUARDED: whether the text is a real number */
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

/* ---- Running a program on text -------------------------------------------------------------- */

struct printer {
  const struct expr *expr;
  bool c, checked, formula;
  const char *(*slot_name)(void *context, int slot);
  void *context;
  const char *refusal; /* why the expression cannot be printed as C; NULL if it can */
  /* The left operand of an open `and` stays on the stack, and so do the condition and the first
     choice of an open select. At most one fragment exists per level, plus two per open jump. */
  struct fragment stack[3 * EXPR_MAX_STACK + 1];
  int top;
  struct {
    size_t target;
    enum expr_op op;
  } jumps[EXPR_MAX_STACK];
  int open;
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

/* Casts a literal to the formula's type, because a literal such as 0.5 would be a double and make
   the arithmetic on floats double. */
static void in_type(struct fragment *fragment) {
  struct text text = expr_print_fill("__t(%a)", fragment, NULL);
  text_free(&fragment->text);
  *fragment = (struct fragment){.text = text, .kind = FRAGMENT_NUMBER};
}

static bool constant_fragment(struct printer *printer, struct value value, struct fragment *out) {
  bool negative = (value.type == VALUE_INT && value.integer < 0) ||
                  (value.type == VALUE_FLOAT && value.real < 0);
  out->composite = printer->c && negative;
  if (!printer->c) {
    print_value(value, &out->text);
    return true;
  }
  if (value.type == VALUE_STRING) return expr_print_refuse(printer, "strings have no place in it");
  if (value.type == VALUE_NIL) return expr_print_refuse(printer, "nil has no place in it");
  if (value.type == VALUE_BOOL) {
    out->kind = FRAGMENT_BOOLEAN;
    text_add(&out->text, value.boolean ? "1" : "0");
    return true;
  }
  out->kind = value.type == VALUE_FLOAT ? FRAGMENT_REAL : FRAGMENT_NUMBER;
  /* C has no literal for the smallest integer */
  if (value.type == VALUE_INT && value.integer == INT64_MIN)
    text_add(&out->text, "-9223372036854775807LL - 1");
  else
    value_print(value, &out->text);
  /* LL, so that a product of two constants does not overflow an int */
  if (value.type == VALUE_INT && value.integer != INT64_MIN) text_add(&out->text, "LL");
  if (printer->formula) in_type(out);
  return true;
}

static bool expr_print_push(struct printer *printer, const struct instruction *instruction) {
  struct fragment *out = &printer->stack[printer->top++];
  *out = (struct fragment){.kind = FRAGMENT_NUMBER};
  if (instruction->place == OPERAND_CONSTANT)
    return constant_fragment(printer, printer->expr->constants[instruction->operand], out);
  text_add(&out->text, expr_print_name_of(printer, instruction->operand));
  return true;
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
   overflow; if one operand has a fraction, both become doubles. */
static const char *checked_pattern(enum expr_op op, bool real, struct fragment *left,
                                   struct fragment *right) {
  if (!real || gives_real(op) || gives_whole(op)) return patterns[op].checked;
  to_double(left);
  if (left != right) to_double(right);
  return patterns[op].c;
}

static void expr_print_operate(struct printer *printer, enum expr_op op) {
  enum { LONGEST = 1 << 16 };
  struct fragment *right = &printer->stack[printer->top - 1],
                  *left = op >= OP_FIRST_BINARY ? right - 1 : right;
  if (printer->c && !check_kinds(printer, op, left, right)) return;
  /* an operand that is a whole number already stays as it is */
  if (printer->c && !printer->formula && gives_whole(op) && left->kind == FRAGMENT_NUMBER) return;
  bool real = left->kind == FRAGMENT_REAL || right->kind == FRAGMENT_REAL;
  const char *pattern = printer->c ? patterns[op].c : patterns[op].lua;
  if (printer->checked) pattern = checked_pattern(op, real, left, right);
  if (printer->formula) pattern = formula_pattern(op);
  struct fragment result = {.text = expr_print_fill(pattern, left, right)};
  real = (real && (printer->formula || !gives_whole(op))) || gives_real(op);
  result.kind = patterns[op].boolean ? FRAGMENT_BOOLEAN : real ? FRAGMENT_REAL : FRAGMENT_NUMBER;
  /* Lua's form of the operation is a call, which needs no parentheses around it */
  bool call = op >= OP_CEIL_DIV || (op > OP_NEGATE && op < OP_ADD);
  result.composite = printer->checked ? strchr("%!-", pattern[0]) != NULL : printer->c || !call;
  fragment_free(right);
  if (left != right) fragment_free(left);
  *left = result;
  printer->top = (int)(left - printer->stack) + 1;
  /* C patterns that mention an operand twice double the text at each level */
  if (result.text.length > LONGEST) expr_print_refuse(printer, "it gets too long");
}

/* Prints c ? a : b; both choices must be of one kind. */
static void choose_c(struct printer *printer, const struct fragment *condition,
                     struct fragment *result) {
  const struct fragment *a = condition + 1, *b = condition + 2;
  bool numbers = is_numeric(a) && is_numeric(b);
  if (condition->kind != FRAGMENT_BOOLEAN ||
      (!numbers && (a->kind != FRAGMENT_BOOLEAN || b->kind != a->kind)))
    expr_print_refuse(printer, "a number may be a condition");
  if (printer->checked && a->kind != b->kind) expr_print_refuse(printer, "it may be whole or not");
  struct text choices = expr_print_fill("%A : %B", a, b);
  result->text = expr_print_fill("%A ? ", condition, NULL);
  expr_print_add_operand(&choices, false, &result->text);
  text_free(&choices);
  result->kind = a->kind == FRAGMENT_REAL ? a->kind : b->kind;
  result->composite = true;
}

/* Replaces the condition and the two choices on top of the stack by the select. */
static void join_select(struct printer *printer) {
  struct fragment *condition = &printer->stack[printer->top - 3],
                  result = {.kind = FRAGMENT_NUMBER};
  if (printer->c) {
    choose_c(printer, condition, &result);
  } else {
    struct text choices = expr_print_fill("%a, %b)", condition + 1, condition + 2);
    result.text = expr_print_fill("select(%a, ", condition, NULL);
    expr_print_add_operand(&choices, false, &result.text);
    text_free(&choices);
  }
  for (int i = 0; i < 3; i++) fragment_free(&condition[i]);
  *condition = result;
  printer->top -= 2;
}

/* Replaces the two topmost fragments by the result. */
static void join_result(struct printer *printer, struct fragment result) {
  fragment_free(&printer->stack[--printer->top]);
  fragment_free(&printer->stack[printer->top - 1]);
  printer->stack[printer->top - 1] = result;
}

static struct fragment *as_guard(struct fragment *view, const struct fragment *of) {
  *view = (struct fragment){.text = of->kind == FRAGMENT_GUARDED ? of->guard : of->text,
                            .composite = true};
  return view;
}

/* Joins `left and right` by the kinds of the operands. A number counts as true, as in Lua. */
static void join_and_c(struct printer *printer, struct fragment *left, struct fragment *right) {
  struct fragment a, b, result = {.composite = true, .kind = right->kind};
  if (is_numeric(left)) { /* a number is always true, so the result is the right operand */
    result = *right;
    *right = (struct fragment){0};
  } else if (right->kind == FRAGMENT_BOOLEAN) {
    result.text = expr_print_fill("%A && %B", as_guard(&a, left), right);
  } else {
    result.kind = FRAGMENT_GUARDED;
    result.guard = right->kind == FRAGMENT_GUARDED
                       ? expr_print_fill("%A && %B", as_guard(&a, left), as_guard(&b, right))
                       : expr_print_fill("%a", as_guard(&a, left), NULL);
    result.composite = right->composite;
    result.real = right->real || right->kind == FRAGMENT_REAL;
    expr_print_add_operand(&right->text, false, &result.text);
  }
  join_result(printer, result);
}

static void join_or_c(struct printer *printer, struct fragment *left, struct fragment *right) {
  struct fragment a, b, result = {.composite = true, .kind = right->kind};
  if (is_numeric(left)) { /* a number is always true, so the result is the left operand */
    result = *left;
    *left = (struct fragment){0};
  } else if (left->kind == FRAGMENT_BOOLEAN && right->kind == FRAGMENT_BOOLEAN) {
    result.text = expr_print_fill("%A || %B", left, right);
  } else if (left->kind == FRAGMENT_GUARDED && right->kind != FRAGMENT_BOOLEAN) {
    struct text condition = expr_print_fill("%A ? ", as_guard(&a, left), NULL);
    struct text choice = expr_print_fill("%A : %B", left, right);
    result.text = condition;
    text_add_n(&result.text, text_get(&choice), choice.length);
    text_free(&choice);
    bool real = right->real || right->kind == FRAGMENT_REAL;
    if (printer->checked && left->real != real)
      expr_print_refuse(printer, "it may be whole or not");
    result.real = real;
    if (right->kind == FRAGMENT_GUARDED)
      result.guard = expr_print_fill("%A || %B", as_guard(&a, left), as_guard(&b, right));
  } else {
    expr_print_refuse(printer, "a number may be a condition");
  }
  join_result(printer, result);
}

static void expr_print_join(struct printer *printer, enum expr_op op) {
  struct fragment *right = &printer->stack[printer->top - 1], *left = right - 1;
  if (!printer->c) {
    struct fragment result = {.text = expr_print_fill(patterns[op].lua, left, right),
                              .composite = true};
    join_result(printer, result);
  } else if (op == OP_AND) {
    join_and_c(printer, left, right);
  } else {
    join_or_c(printer, left, right);
  }
}

/* Prints an element of a buffer, whose indices are the topmost fragments. */
static void print_element(struct printer *printer, int32_t operand) {
  int rank = element_rank(operand);
  struct fragment *first = &printer->stack[printer->top - rank];
  struct fragment result = {.kind = FRAGMENT_REAL};
  text_addf(&result.text, "%s[",
            expr_print_name_of(printer, EXPR_BUFFER_NAME + element_buffer(operand)));
  for (int i = 0; i < rank; i++) {
    if (i) text_add(&result.text, ", ");
    expr_print_add_operand(&first[i].text, false, &result.text);
    fragment_free(&first[i]);
  }
  text_add_char(&result.text, ']');
  *first = result;
  printer->top -= rank - 1;
  if (printer->c) expr_print_refuse(printer, "elements have no place in it");
}

static void print_call(struct printer *printer, int32_t operand) {
  struct fragment *out = &printer->stack[printer->top++];
  *out = (struct fragment){.kind = FRAGMENT_NUMBER};
  text_add(&out->text, printer->expr->calls[operand].call->text);
  if (printer->c)
    expr_print_refuse(printer, "what it asks about arrays is known to the config only");
}

static void expr_print_close_jumps(struct printer *printer, size_t at) {
  while (printer->open > 0 && printer->jumps[printer->open - 1].target == at && !printer->refusal) {
    enum expr_op op = printer->jumps[--printer->open].op;
    if (op == OP_SELECT)
      join_select(printer);
    else
      expr_print_join(printer, op);
  }
}

/* Notes an open jump. A select's first choice ends where the jump of its ELSE leads to. */
static void expr_print_open_jump(struct printer *printer, const struct instruction *instruction,
                                 size_t at) {
  const size_t target = at + 1 + (size_t)instruction->operand;
  if (instruction->op == OP_ELSE) {
    printer->jumps[printer->open - 1].target = target;
    return;
  }
  printer->jumps[printer->open].op = instruction->op;
  printer->jumps[printer->open++].target = instruction->op == OP_SELECT ? SIZE_MAX : target;
}

static void expr_print_step(struct printer *printer, size_t at) {
  const struct instruction *instruction = &printer->expr->code[at];
  if (instruction->place == OPERAND_JUMP) {
    expr_print_open_jump(printer, instruction, at);
    return;
  }
  if (instruction->op == OP_ELEMENT) {
    print_element(printer, instruction->operand);
    return;
  }
  if (instruction->op == OP_CALL) {
    print_call(printer, instruction->operand);
    return;
  }
  if (instruction->place != OPERAND_STACK && !expr_print_push(printer, instruction)) return;
  if (instruction->op != OP_PUSH) expr_print_operate(printer, instruction->op);
}

/* Prints the program's instructions before `end`; the result of the last one is on top of the
   stack. */
static void print_until(struct printer *printer, size_t end) {
  for (size_t at = 0; at < end && !printer->refusal; at++) {
    expr_print_close_jumps(printer, at);
    if (!printer->refusal) expr_print_step(printer, at);
  }
}

static void printer_free(struct printer *printer) {
  if (!printer) return;
  while (printer->top > 0) fragment_free(&printer->stack[--printer->top]);
  free(printer);
}

void expr_print_operation(const struct expr *expr, size_t at, struct text *out) {
  struct printer *printer = calloc(1, sizeof *printer);
  if (!printer) return; /* without memory the message is left without the operation */
  printer->expr = expr;
  print_until(printer, at + 1);
  const struct text *text = &printer->stack[printer->top - 1].text;
  text_add_n(out, text_get(text), text->length);
  printer_free(printer);
}

static int finish_c(struct printer *printer, struct text *out, cugen_error *err) {
  const struct fragment *result = &printer->stack[printer->top - 1];
  if (!printer->refusal && result->kind == FRAGMENT_GUARDED)
    expr_print_refuse(printer, "a number may be a condition");
  if (!printer->refusal) {
    if (result->text.failed) return error_memory(err);
    text_add_n(out, text_get(&result->text), result->text.length);
    return out->failed ? error_memory(err) : CUGEN_OK;
  }
  struct text quoted = {0};
  expr_quote(printer->expr->text, 0, &quoted);
  error_set(err, CUGEN_ERROR_CONFIG, "%s cannot be written as C: %s", text_get(&quoted),
            printer->refusal);
  text_free(&quoted);
  return CUGEN_ERROR_CONFIG;
}

static int run_c(struct printer *printer, struct text *out, cugen_error *err) {
  print_until(printer, printer->expr->count);
  expr_print_close_jumps(printer, printer->expr->count);
  return finish_c(printer, out, err);
}

int expr_print_c(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                 void *context, struct text *out, cugen_error *err) {
  struct printer *printer = calloc(1, sizeof *printer);
  if (!printer) return error_memory(err);
  *printer = (struct printer){.expr = expr, .c = true, .slot_name = slot_name, .context = context};
  int status = run_c(printer, out, err);
  printer_free(printer);
  return status;
}

int expr_print_formula(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                       void *context, struct text *out, cugen_error *err) {
  struct printer *printer = calloc(1, sizeof *printer);
  if (!printer) return error_memory(err);
  *printer = (struct printer){
      .expr = expr, .c = true, .formula = true, .slot_name = slot_name, .context = context};
  print_until(printer, expr->count);
  expr_print_close_jumps(printer, expr->count);
  if (!printer->refusal && printer->stack[printer->top - 1].kind == FRAGMENT_BOOLEAN)
    expr_print_refuse(printer, "it is a condition, not a number");
  int status = finish_c(printer, out, err);
  printer_free(printer);
  return status;
}

int expr_print_checked(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                       void *context, struct text *out, enum expr_kind *kind, cugen_error *err) {
  struct printer *printer = calloc(1, sizeof *printer);
  if (!printer) return error_memory(err);
  *printer = (struct printer){
      .expr = expr, .c = true, .checked = true, .slot_name = slot_name, .context = context};
  int status = run_c(printer, out, err);
  enum fragment_kind is = status ? FRAGMENT_NUMBER : printer->stack[printer->top - 1].kind;
  *kind = is == FRAGMENT_BOOLEAN ? EXPR_BOOLEAN : is == FRAGMENT_REAL ? EXPR_REAL : EXPR_WHOLE;
  printer_free(printer);
  return status;
}
