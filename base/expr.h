/* Expressions: strings in Lua's syntax (and or not, comparison, + - * / // %, parentheses, calls,
   strings, device.name), which are parsed once into small immutable programs.
   Integers have 64 bits. Overflow, an inexact `/` of integers, division by zero and a wrong type
   are errors, never a wrong number. `and` and `or` give one of their operands and skip the other,
   as in Lua. The operand of `not` must be true or false, and the left operand of `and` must not be
   a string. select(condition, value, ..., otherwise) is the value behind the first condition that
   is true, or `otherwise`; no other value is evaluated.
   Functions: ceil_div(a, b), round_up(a, b), pow(a, b) of whole numbers, ceil_log(a, b) (the
   smallest k with b^k >= a), min(...), max(...), is_pow2(a), log2(a) (exact), abs(a), sizeof(dtype)
   in bytes, eps(dtype) (the machine epsilon of the type, 0 for integers), sqrt(a), exp(a), log(a),
   tanh(a), erf(a), sin(a), cos(a), floor(a) and ceil(a) (whole numbers), f32(a) (rounded to float;
   printed in C as a float literal). A scope may have functions of its own. */
#ifndef BASE_EXPR_H
#define BASE_EXPR_H

#include "value.h"

struct expr;

/* The meaning of a name. The expression of a derived name (SYMBOL_EXPR) is inlined, and must use
   the slots of this scope. */
struct expr_symbol {
  /* SYMBOL_BUFFER: the name has elements, as in name[i] */
  enum { SYMBOL_UNKNOWN, SYMBOL_SLOT, SYMBOL_CONSTANT, SYMBOL_EXPR, SYMBOL_BUFFER } kind;
  int slot;
  struct value constant;
  const struct expr *expr;
  /* For a slot: all values that the slot can have; if `open`, only examples of the types that it
     can have. NULL if nothing is known. */
  const struct value *values;
  size_t value_count;
  bool open;
};

/* A scope of names. find resolves a name ("tile", "device.sm_count"); names lists all known names,
   for suggestions in messages. */
struct expr_scope {
  struct expr_symbol (*find)(void *context, const char *name);
  const char *const *(*names)(void *context, size_t *count);
  void *context;
};

/* Parses an expression. The caller puts file:line in front of an error's message. */
int expr_parse(const char *source, const struct expr_scope *scope, struct expr **out,
               cugen_error *err);

/* A call of one of the scope's own functions, such as conflicts('As', 'col'), whose value is a
   whole number. The call belongs to the scope and must outlive expressions that mention the
   call. */
struct expr_call {
  const char *text; /* the call as messages show it */
  int (*evaluate)(const void *context, const struct value *slots, struct value *out,
                  cugen_error *err);
  const void *context;
  const int *slots; /* the slots that evaluate reads, each once and each below EXPR_CALL_SLOTS */
  size_t count;
  size_t cost; /* of an evaluation, as expr_cost counts */
};
enum { EXPR_CALL_SLOTS = 1280, EXPR_CALL_ARGUMENTS = 4 };

/* The functions of a scope. names ends with NULL. call() makes a call of the function `name`, and
   owns the arguments from then on. If the call is wrong, call() returns NULL and appends the reason
   to `why`. */
struct expr_functions {
  const char *const *names;
  const struct expr_call *(*call)(void *context, const char *name, const char *text,
                                  struct expr *const *arguments, size_t count, struct text *why);
};

/* What only expr_parse_with allows in an expression. A member that is NULL allows nothing. Every
   function here is called with the context of the scope. */
struct expr_extras {
  const struct expr_functions *functions;
  /* For the body of a formula: the functions gelu, fast_gelu and relu are known, and `element`
     resolves name[indices[0], ...] to a slot, or appends to `why` the reason that it cannot. */
  bool (*element)(void *context, const char *name, const char *const *indices, size_t count,
                  int *slot, struct text *why);
  /* Elements of buffers, name[a, b], may stand with any expressions as indices. find_buffer gives
     the buffer's number (below 2^16) and its number of dimensions, or appends to `why` the reason
     that it cannot. */
  bool (*find_buffer)(void *context, const char *name, int *buffer, int *rank, struct text *why);
};
/* Like expr_parse, for an expression that may have the extras. */
int expr_parse_with(const char *source, const struct expr_scope *scope,
                    const struct expr_extras *extras, struct expr **out, cugen_error *err);
/* Makes an expression of a single call. */
int expr_of_call(const struct expr_call *call, struct expr **out, cugen_error *err);
void expr_free(struct expr *expr);

/* The text from which the expression was parsed. */
const char *expr_text(const struct expr *expr);

/* Evaluates the expression. slots[i] is the value of slot i; only the slots that the expression
   mentions are read. */
int expr_eval(const struct expr *expr, const struct value *slots, struct value *out,
              cugen_error *err);
int expr_eval_int(const struct expr *expr, const struct value *slots, int64_t *out,
                  cugen_error *err);
/* Like expr_eval, for a result that is a number. An integer is converted. */
int expr_eval_float(const struct expr *expr, const struct value *slots, double *out,
                    cugen_error *err);
int expr_eval_bool(const struct expr *expr, const struct value *slots, bool *out, cugen_error *err);

/* A buffer whose elements an expression reads. Elements of an integer type are read as integers. */
struct expr_buffer {
  const void *data;
  double (*load)(const void *from, int64_t index);
  bool (*get)(const void *from, int64_t index,
              int64_t *value); /* for a buffer of an integer type, else NULL; returns false if the
                                  element does not fit into an int64_t */
  int64_t shape[4], stride[4];
};
/* Evaluates the expression for `count` elements at once, at most EXPR_BLOCK. The value of slot i
   for element k is slots[i * EXPR_BLOCK + k]. buffers is indexed by the numbers that find_buffer
   gave at parsing; NULL if the expression reads no buffer. *done becomes `count`, or after an error
   the index of the first element that failed; out has the values of the *done first elements. */
enum { EXPR_BLOCK = 64 };
int expr_eval_block(const struct expr *expr, const struct value *slots,
                    const struct expr_buffer *buffers, size_t count, struct value *out,
                    size_t *done, cugen_error *err);

/* The slots that the expression or a call in it mentions, ascending, each once. */
const int *expr_slots(const struct expr *expr, size_t *count);
/* Returns whether the expression mentions the slot; expr may be NULL. */
bool expr_sees(const struct expr *expr, int slot);

/* Calls visit with strings that the expression may give, possibly more than once. *open: whether
   the expression may also give strings that were not visited. */
int expr_each_string(const struct expr *expr, const struct expr_scope *scope,
                     void (*visit)(void *context, const char *string), void *context, bool *open,
                     cugen_error *err);

/* Copies the expression with each string replaced by the integer that `number` gives for it. *out
   is NULL if number gives a negative value for a string. */
int expr_number_words(const struct expr *expr, int64_t (*number)(void *context, const char *word),
                      void *context, struct expr **out, cugen_error *err);

/* An estimate of the highest cost of one evaluation, in simple operations. */
size_t expr_cost(const struct expr *expr);

/* Makes a program equal to expr: each slot with known[slot] set is replaced by its value, and
   operations on constants and calls whose slots are all known are folded. An operation that fails
   while folding (by an overflow, say) stays in the program and fails when the program is evaluated.
   slot_count is the length of both arrays. */
int expr_bind(const struct expr *expr, const struct value *slots, const bool *known,
              size_t slot_count, struct expr **out, cugen_error *err);

/* Returns true, and sets *out unless it is NULL, if the expression is a constant. */
bool expr_constant(const struct expr *expr, struct value *out);

/* Prints a C expression over the names of the slots, which are long long in C; bind every slot that
   is not an integer first. The C expression is right for operands that are not negative, as sizes
   are: `//`, `%` and ceil_div then agree with C's division. Overflow, division by zero, an inexact
   `/` and log2 of what is no power of two are not noticed in C. select(c, a, b) and `c and a or b`
   become `c ? a : b`. Other conditional forms of values, strings, nil, elements, calls of a scope's
   functions, and the functions for which EXPR_OPS has no C, such as sizeof, pow and exp, are
   refused. */
int expr_print_c(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                 void *context, struct text *out, cugen_error *err);

enum expr_kind { EXPR_WHOLE, EXPR_REAL, EXPR_BOOLEAN };

/* Prints a C expression that is right for every operand. Whole numbers (long long) are computed by
   the functions add(e, a, b), subtract, multiply, divide, divide_exactly, modulo, ceil_div,
   round_up, power, ceil_log, log2_exact(e, a), absolute(e, a), lesser(a, b), greater(a, b),
   is_pow2(a), whole_below(e, x) and whole_above(e, x). The functions with e set the int *e where
   the expression would be an error. Numbers with a fraction are doubles, and root(a) is the square
   root. *kind becomes the type of the result. */
int expr_print_checked(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                       void *context, struct text *out, enum expr_kind *kind, cugen_error *err);

/* Prints the C++ expression of a formula. All slots have one arithmetic type, which the text calls
   __t, and `/` is division in this type. The operands of operations on whole numbers (`//`) must be
   constants. Each operand appears once in the text. A formula whose result is a condition is
   refused. */
int expr_print_formula(const struct expr *expr, const char *(*slot_name)(void *context, int slot),
                       void *context, struct text *out, cugen_error *err);

#endif
