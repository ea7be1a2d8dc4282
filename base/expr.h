/* Expressions: strings in Lua's own syntax (and or not, comparison, + - * / // %, parentheses, calls, strings,
   device.name), parsed once into small immutable programs. Integers have 64 bits; overflow, inexact `/` on
   integers, division by zero and a wrong type are errors, never a wrong number. `and`/`or` give their operand as
   in Lua and skip what they need not evaluate; what `not` negates is true or false, and no word stands left of `and`.
   select(condition, value, ..., otherwise) is the value of the first condition that is true, and evaluates no other.
   Functions: ceil_div(a, b), round_up(a, b), pow(a, b) of whole numbers, ceil_log(a, b) (the smallest k with
   b^k >= a), min(...), max(...), is_pow2(a), log2(a) (exact), abs(a),
   sizeof(dtype) in bytes, eps(dtype) (the type's machine epsilon, 0 for integers), sqrt(a), exp(a), log(a), tanh(a), erf(a),
   sin(a), cos(a), floor(a) and ceil(a) (whole numbers), f32(a) (rounded to float, a float's literal in C). */
#ifndef BASE_EXPR_H
#define BASE_EXPR_H

#include "value.h"

struct expr;

/* What a name means. A derived name's expression is inlined (its slots are the same scope's). */
struct expr_symbol {
  enum { SYMBOL_UNKNOWN, SYMBOL_SLOT, SYMBOL_CONSTANT, SYMBOL_EXPR, SYMBOL_BUFFER } kind; /* a buffer has elements */
  int slot;
  struct value constant;
  const struct expr *expr;
  /* Of a slot: what it can be, or only of which types (open). None: nothing is known of it. */
  const struct value *values;
  size_t value_count;
  bool open;
};

/* A scope: find resolves a name ("tile", "device.sm_count"); names lists all known ones for suggestions. */
struct expr_scope {
  struct expr_symbol (*find)(void *context, const char *name);
  const char *const *(*names)(void *context, size_t *count);
  void *context;
};

/* The message of a parse error says what was expected and at which column; the caller prefixes file:line. */
int expr_parse(const char *source, const struct expr_scope *scope, struct expr **out, cugen_error *err);
/* The same for the body of a formula: gelu and relu are functions there, and element resolves
   name[indices[0], ...] to a slot, or appends to `why` what is wrong with it. */
typedef bool expr_element(void *context, const char *name, const char *const *indices, size_t count, int *slot,
                          struct text *why);
int expr_parse_formula(const char *source, const struct expr_scope *scope, expr_element *element, struct expr **out,
                       cugen_error *err);
/* The same where elements of buffers may stand, name[a, b], by any indices: find gives the buffer's number (below 2^16) and
   how many dimensions it has, or appends to `why` what is wrong with it. */
typedef bool expr_find_buffer(void *context, const char *name, int *buffer, int *rank, struct text *why);
int expr_parse_elements(const char *source, const struct expr_scope *scope, expr_find_buffer *find, struct expr **out,
                        cugen_error *err);
void expr_free(struct expr *expr);

/* The text it was parsed from. */
const char *expr_text(const struct expr *expr);

/* slots[i] is the value of slot i; only slots the program mentions are read. Never allocates. */
int expr_eval(const struct expr *expr, const struct value *slots, struct value *out, cugen_error *err);
int expr_eval_int(const struct expr *expr, const struct value *slots, int64_t *out, cugen_error *err);
/* Integers are converted. */
int expr_eval_float(const struct expr *expr, const struct value *slots, double *out, cugen_error *err);
int expr_eval_bool(const struct expr *expr, const struct value *slots, bool *out, cugen_error *err);

/* A buffer whose elements an expression reads. Those of an integer type are integers there. */
struct expr_buffer {
  const void *data;
  double (*load)(const void *from, int64_t index);
  bool (*get)(const void *from, int64_t index,
              int64_t *value); /* of an integer type, else NULL; false: past 64 bits */
  int64_t shape[4], stride[4];
};
/* As expr_eval, of an expression with elements: buffers has one for each number that find gave. */
int expr_eval_elements(const struct expr *expr, const struct value *slots, const struct expr_buffer *buffers,
                       struct value *out, cugen_error *err);

/* The slots it mentions, in rising order, each once. */
const int *expr_slots(const struct expr *expr, size_t *count);
/* Whether it mentions the slot; expr may be NULL. */
bool expr_sees(const struct expr *expr, int slot);

/* The same with a number in the place of each word; *out NULL: a word has none (number gives less than 0). */
int expr_number_words(const struct expr *expr, int64_t (*number)(void *context, const char *word), void *context,
                      struct expr **out, cugen_error *err);

/* The most that evaluating it costs, in simple operations. */
size_t expr_cost(const struct expr *expr);

/* A program equal to expr with every slot for which known[slot] is set replaced by its value, and constants
   folded; what fails to fold (an overflow, say) stays to fail when evaluated. slot_count bounds both arrays. */
int expr_bind(const struct expr *expr, const struct value *slots, const bool *known, size_t slot_count,
              struct expr **out, cugen_error *err);

/* True, and *out set (when not NULL), when it is a constant. */
bool expr_constant(const struct expr *expr, struct value *out);

/* As a C expression over the slots' names, which are long long there: bind every slot that is not an integer first.
   Right for what sizes are, operands that are not negative: `//`, `%` and ceil_div then agree with C's own division;
   overflow, division by zero and inexact `/` go unnoticed in C. select(c, a, b) and `c and a or b` become `c ? a : b`; what has no such
   form (a number as a condition), strings and sizeof(name) are refused. */
int expr_print_c(const struct expr *expr, const char *(*slot_name)(void *context, int slot), void *context,
                 struct text *out, cugen_error *err);

enum expr_kind { EXPR_WHOLE, EXPR_REAL, EXPR_BOOLEAN };

/* The same, right for every operand: whole numbers (long long) go through the functions add(e, a, b), subtract, multiply,
   divide, divide_exactly, modulo, ceil_div, round_up, log2_exact(e, a), absolute(e, a), lesser(a, b), greater(a, b),
   is_pow2(a), whole_below(e, x), whole_above(e, x), which set the int *e where the expression would be an error; numbers with a
   fraction are doubles, root(a) their square root. An exported bundle brings them. *kind is what comes out. */
int expr_print_checked(const struct expr *expr, const char *(*slot_name)(void *context, int slot), void *context,
                       struct text *out, enum expr_kind *kind, cugen_error *err);

/* As the C++ expression of a formula, over slots that are all of one arithmetic type, which the text calls __t. `/` is
   division in that type; whole numbers in operations that only they have (`//`) must be constants. Each operand
   appears once. A condition as the result is refused. */
int expr_print_formula(const struct expr *expr, const char *(*slot_name)(void *context, int slot), void *context,
                       struct text *out, cugen_error *err);

#endif
