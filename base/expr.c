/* Evaluation of expressions; see expr.h.

   The code is postfix, for a stack machine (expr_program.h), in which an instruction may take its
   right operand directly from a slot or a constant. `and`, `or` and `select` are forward jumps, so
   a program runs each instruction at most once. Evaluation is the hot path of the space walk:
   integers are handled first. The depth of the stack is limited when the program is built, so that
   no stack is allocated. expr_eval_block applies each instruction to many elements before the next
   instruction, because dispatching an instruction takes longer than computing its result.

   Invariant: evaluating a bound program (expr_bind) gives the result or the error that the original
   program gives. */
#include "dtype.h"
#include "expr_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Marks functions that are compiled several times, inlined: for a single element and for a block,
   and expr_binary also for each operation on a block. */
#define EXPR_INLINE static inline __attribute__((always_inline))

/* ---- Integers ------------------------------------------------------------------------------- */

/* Most sizes fit into 32 bits, where a division is several times faster than in 64 bits. */
static bool both_small(int64_t a, int64_t b) {
  return ((uint64_t)a | (uint64_t)b) <= UINT32_MAX;
}

static int64_t expr_floor_divide(int64_t a, int64_t b) {
  if (both_small(a, b)) return (int64_t)((uint32_t)a / (uint32_t)b);
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t floor_modulo(int64_t a, int64_t b) {
  if (both_small(a, b)) return (int64_t)((uint32_t)a % (uint32_t)b);
  if (b == -1) return 0; /* the smallest number % -1 traps on x86 */
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static enum trouble ceil_divide(int64_t a, int64_t b, int64_t *out) {
  if (b <= 0) return b == 0 ? TROUBLE_ZERO : TROUBLE_POSITIVE;
  int64_t rest = floor_modulo(a, b);
  *out = expr_floor_divide(a, b) + (rest != 0);
  return TROUBLE_NONE;
}

static enum trouble overflow_if(bool overflow) {
  return overflow ? TROUBLE_OVERFLOW : TROUBLE_NONE;
}

/* Computes the power by repeated squaring. A square that the result does not use is not computed,
   because it could overflow. */
static enum trouble power(int64_t a, int64_t b, int64_t *out) {
  bool overflow = false;
  if (b < 0) return TROUBLE_NEGATIVE;
  for (*out = 1; b && !overflow; b /= 2) {
    if (b % 2) overflow = __builtin_mul_overflow(*out, a, out);
    if (b > 1) overflow = __builtin_mul_overflow(a, a, &a) || overflow;
  }
  return overflow_if(overflow);
}

/* Counts how often a must be divided by b, rounding up each time, until 1 is left. */
static enum trouble ceil_logarithm(int64_t a, int64_t b, int64_t *out) {
  if (b < 2) return TROUBLE_BASE;
  for (*out = 0; a > 1; ++*out) a = (a - 1) / b + 1;
  return TROUBLE_NONE;
}

EXPR_INLINE enum trouble divide_integers(enum expr_op op, int64_t a, int64_t b, int64_t *out) {
  if (op == OP_CEIL_DIV) return ceil_divide(a, b, out);
  if (op == OP_POW) return power(a, b, out);
  if (op == OP_CEIL_LOG) return ceil_logarithm(a, b, out);
  if (op == OP_ROUND_UP) {
    enum trouble trouble = ceil_divide(a, b, out);
    return trouble ? trouble : overflow_if(__builtin_mul_overflow(*out, b, out));
  }
  if (b == 0) return TROUBLE_ZERO;
  if (op == OP_MODULO) {
    *out = floor_modulo(a, b);
    return TROUBLE_NONE;
  }
  if (a == INT64_MIN && b == -1) return TROUBLE_OVERFLOW; /* the quotient does not fit */
  if (op == OP_DIVIDE && floor_modulo(a, b) != 0) return TROUBLE_INEXACT;
  *out = expr_floor_divide(a, b);
  return TROUBLE_NONE;
}

EXPR_INLINE enum trouble apply_integers(enum expr_op op, int64_t a, int64_t b, struct value *out) {
  out->type = op >= OP_FIRST_COMPARISON && op <= OP_LAST_COMPARISON ? VALUE_BOOL : VALUE_INT;
  switch (op) {
  case OP_ADD: return overflow_if(__builtin_add_overflow(a, b, &out->integer));
  case OP_SUBTRACT: return overflow_if(__builtin_sub_overflow(a, b, &out->integer));
  case OP_MULTIPLY: return overflow_if(__builtin_mul_overflow(a, b, &out->integer));
  case OP_EQUAL: out->boolean = a == b; break;
  case OP_DIFFER: out->boolean = a != b; break;
  case OP_LESS: out->boolean = a < b; break;
  case OP_LESS_EQUAL: out->boolean = a <= b; break;
  case OP_GREATER: out->boolean = a > b; break;
  case OP_GREATER_EQUAL: out->boolean = a >= b; break;
  case OP_MIN: out->integer = a < b ? a : b; break;
  case OP_MAX: out->integer = a > b ? a : b; break;
  default: return divide_integers(op, a, b, &out->integer);
  }
  return TROUBLE_NONE;
}

/* ---- Other types ---------------------------------------------------------------------------- */

/* A float result that is not finite (1e308 * 10) is an overflow, like that of an integer. */
EXPR_INLINE enum trouble float_result(double result, struct value *out) {
  *out = value_float(result);
  return overflow_if(!isfinite(result));
}

/* Returns the sign of a - b, exactly, even if the integer has more digits than a double; 2 if b is
   NaN. */
static int compare_int_float(int64_t a, double b) {
  if (isnan(b)) return 2;
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  int64_t whole = (int64_t)b; /* the conversion rounds towards zero, so the fraction decides if the
                                 whole parts are equal */
  if (a != whole) return a < whole ? -1 : 1;
  double fraction = b - (double)whole;
  return (fraction < 0) - (fraction > 0);
}

static int compare_numbers(const struct value *a, const struct value *b) {
  if (a->type == VALUE_INT && b->type == VALUE_INT)
    return (a->integer > b->integer) - (a->integer < b->integer);
  if (a->type == VALUE_INT) return compare_int_float(a->integer, b->real);
  if (b->type == VALUE_INT) {
    int reverse = compare_int_float(b->integer, a->real);
    return reverse == 2 ? 2 : -reverse;
  }
  if (isnan(a->real) || isnan(b->real)) return 2;
  return (a->real > b->real) - (a->real < b->real);
}

static enum trouble expr_compare(enum expr_op op, const struct value *a, const struct value *b,
                                 struct value *out) {
  int order;
  if (op == OP_EQUAL || op == OP_DIFFER) {
    /* an instruction has its operands: NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    *out = value_bool(value_equal(*a, *b) == (op == OP_EQUAL));
    return TROUBLE_NONE;
  }
  if (a->type == VALUE_STRING && b->type == VALUE_STRING)
    order = strcmp(a->string, b->string);
  else if (value_is_number(a) && value_is_number(b))
    order = compare_numbers(a, b);
  else
    return TROUBLE_COMPARE;
  bool ordered = order != 2 || a->type == VALUE_STRING;
  bool holds = op == OP_LESS         ? order < 0
               : op == OP_LESS_EQUAL ? order <= 0
               : op == OP_GREATER    ? order > 0
                                     : order >= 0;
  *out = value_bool(ordered && holds);
  return TROUBLE_NONE;
}

/* Lua 5.4 manual, 3.4.1: the remainder has the sign of the divisor. */
static double float_modulo(double a, double b) {
  double rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

EXPR_INLINE enum trouble apply_floats(enum expr_op op, double a, double b, struct value *out) {
  if ((op == OP_DIVIDE || op == OP_FLOOR_DIVIDE || op == OP_MODULO) && b == 0) return TROUBLE_ZERO;
  switch (op) {
  case OP_ADD: return float_result(a + b, out);
  case OP_SUBTRACT: return float_result(a - b, out);
  case OP_MULTIPLY: return float_result(a * b, out);
  case OP_DIVIDE: return float_result(a / b, out);
  case OP_FLOOR_DIVIDE: return float_result(floor(a / b), out);
  case OP_MODULO: return float_result(float_modulo(a, b), out);
  default: return TROUBLE_INTEGERS; /* ceil_div, round_up, pow, ceil_log */
  }
}

EXPR_INLINE enum trouble apply_mixed(enum expr_op op, const struct value *a, const struct value *b,
                                     struct value *out) {
  if (op >= OP_FIRST_COMPARISON && op <= OP_LAST_COMPARISON) return expr_compare(op, a, b, out);
  if (!value_is_number(a) || !value_is_number(b)) return TROUBLE_NUMBERS;
  if (op == OP_MIN || op == OP_MAX) {
    int order = compare_numbers(a, b);
    *out = (op == OP_MIN) == (order <= 0) ? *a : *b;
    return TROUBLE_NONE;
  }
  return apply_floats(op, value_real(a), value_real(b), out);
}

static enum trouble apply_dtype(enum expr_op op, const struct value *a, struct value *out) {
  const struct dtype *dtype = a->type == VALUE_STRING ? dtype_find(a->string) : NULL;
  if (!dtype) return TROUBLE_DTYPE;
  *out = op == OP_SIZEOF ? value_int(dtype->bytes) : value_float(dtype_epsilon(dtype));
  return TROUBLE_NONE;
}

static enum trouble apply_bits(enum expr_op op, const struct value *a, struct value *out) {
  if (a->type != VALUE_INT) return TROUBLE_INTEGERS;
  bool power = a->integer > 0 && (a->integer & (a->integer - 1)) == 0;
  if (op == OP_IS_POW2) {
    *out = value_bool(power);
    return TROUBLE_NONE;
  }
  if (!power) return TROUBLE_POW2;
  *out = value_int(__builtin_ctzll((unsigned long long)a->integer));
  return TROUBLE_NONE;
}

static enum trouble apply_sign(enum expr_op op, const struct value *a, struct value *out) {
  if (!value_is_number(a)) return TROUBLE_NUMBERS;
  if (a->type == VALUE_FLOAT) {
    *out = *a; /* keeps the mark `single` */
    out->real = op == OP_ABS ? fabs(a->real) : -a->real;
    return TROUBLE_NONE;
  }
  if (op == OP_ABS && a->integer >= 0) {
    *out = *a;
    return TROUBLE_NONE;
  }
  out->type = VALUE_INT;
  return overflow_if(__builtin_sub_overflow((int64_t)0, a->integer, &out->integer));
}

static enum trouble round_to_single(double a, struct value *out) {
  enum trouble trouble = float_result((double)(float)a, out);
  out->single = true;
  return trouble;
}

static enum trouble apply_function(enum expr_op op, double a, struct value *out) {
  switch (op) {
  case OP_F32: return round_to_single(a, out);
  case OP_EXP: return float_result(exp(a), out);
  case OP_LOG: return a > 0 ? float_result(log(a), out) : TROUBLE_LOGARITHM;
  case OP_TANH: return float_result(tanh(a), out);
  case OP_ERF: return float_result(erf(a), out);
  case OP_SIN: return float_result(sin(a), out);
  case OP_COS: return float_result(cos(a), out);
  default: return a < 0 ? TROUBLE_NEGATIVE : float_result(sqrt(a), out); /* OP_SQRT */
  }
}

/* A whole number is not converted to a float, which would lose its last digits. */
static enum trouble round_to_whole(enum expr_op op, const struct value *a, struct value *out) {
  if (!value_is_number(a)) return TROUBLE_NUMBERS;
  const double whole = op == OP_FLOOR ? floor(value_real(a)) : ceil(value_real(a));
  if (a->type == VALUE_FLOAT && !(whole >= -0x1p63 && whole < 0x1p63)) return TROUBLE_OVERFLOW;
  *out = value_int(a->type == VALUE_INT ? a->integer : (int64_t)whole);
  return TROUBLE_NONE;
}

static enum trouble apply_unary(enum expr_op op, const struct value *a, struct value *out) {
  switch (op) {
  case OP_NOT:
    *out = value_bool(a->type == VALUE_BOOL && !a->boolean);
    return a->type == VALUE_BOOL ? TROUBLE_NONE : TROUBLE_TRUTH;
  case OP_FLOOR:
  case OP_CEIL: return round_to_whole(op, a, out);
  case OP_NEGATE:
  case OP_ABS: return apply_sign(op, a, out);
  case OP_IS_POW2:
  case OP_LOG2: return apply_bits(op, a, out);
  case OP_SIZEOF:
  case OP_EPS: return apply_dtype(op, a, out);
  case OP_GELU:
  case OP_FAST_GELU:
  case OP_RELU: return TROUBLE_FORMULA;
  default: return value_is_number(a) ? apply_function(op, value_real(a), out) : TROUBLE_NUMBERS;
  }
}

enum trouble expr_apply(enum expr_op op, const struct value *left, const struct value *right,
                        struct value *out) {
  struct value result = value_int(0);
  enum trouble trouble;
  if (op < OP_FIRST_BINARY)
    trouble = apply_unary(op, left, &result);
  else if (left->type == VALUE_INT && right->type == VALUE_INT)
    trouble = apply_integers(op, left->integer, right->integer, &result);
  else
    trouble = apply_mixed(op, left, right, &result);
  if (!trouble) *out = result;
  return trouble;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* Why a program stopped. */
struct failure {
  enum trouble trouble;
  size_t at;                /* the instruction's place in the code */
  struct value left, right; /* the operands of that instruction */
  cugen_error *err;         /* filled in by a call that fails */
};

/* Evaluates a call. slots: the values of the expression's slots. */
static int expr_call_value(const struct expr *expr, const struct program_call *call,
                           const struct value *slots, struct value *out, cugen_error *err) {
  struct value values[EXPR_CALL_SLOTS];
  const struct expr_call *of = call->call;
  for (size_t i = 0; i < of->count; i++)
    values[of->slots[i]] =
        call->constants[i] < 0 ? slots[of->slots[i]] : expr->constants[call->constants[i]];
  return of->evaluate(of->context, values, out, err);
}

/* A block of up to EXPR_BLOCK elements, for which a program is run at once. Each slot, and each
   level of the stack, is a column of values. Place i of the stack's columns belongs to element
   lane[i], because elements that take different paths are moved apart (expr_divide). The functions
   that take `one` are compiled a second time for a single element, whose columns are single
   values. */
struct block {
  const struct expr *expr;
  const struct value *slots;
  const struct expr_buffer *buffers;
  struct value *stack; /* column 0 is unused, below the first operand */
  uint8_t *lane;
  struct group *waiting; /* groups that have not run to the end yet */
  size_t waiting_count;
  struct value *out;
  struct failure *failure;
};

/* Places of a block that take the same path: the next instruction, the column of the stack's top,
   and the range of places. */
struct group {
  const struct instruction *at;
  size_t top, first, last;
};

/* Notes why the program stops. Returns false, so that the callers can return the result. */
static bool expr_note(struct failure *failure, enum trouble trouble, size_t at,
                      const struct value *left, const struct value *right) {
  *failure = (struct failure){trouble, at, *left, *right, failure->err};
  return false;
}
EXPR_INLINE bool expr_stop(const struct block *b, enum trouble trouble,
                           const struct instruction *at, const struct value *left,
                           const struct value *right) {
  return expr_note(b->failure, trouble, (size_t)(at - b->expr->code), left, right);
}

/* Returns the values of the slot or constant that an instruction names. For a block the values are
   gathered in `column`. */
EXPR_INLINE const struct value *expr_operands(const struct block *b, const struct instruction *at,
                                              struct value *column, const uint8_t *lane, size_t n,
                                              bool one) {
  const struct value *places[] = {
      [OPERAND_SLOT] = b->slots, [OPERAND_CONSTANT] = b->expr->constants};
  const struct value *values = places[at->place];
  if (one) return &values[at->operand];
  for (size_t i = 0; i < n; i++)
    column[i] =
        values[at->place == OPERAND_SLOT ? at->operand * EXPR_BLOCK + lane[i] : at->operand];
  return column;
}

/* Results are written straight into the stack, field by field: copying a value of 16 bytes right
   after writing its parts waits for the store. */
EXPR_INLINE bool expr_binary(struct block *b, const struct instruction *at, enum expr_op op,
                             struct value *top, const struct value *right, size_t n) {
  for (size_t i = 0; i < n; i++) {
    enum trouble trouble;
    struct value left;
    /* a program never takes more operands than it pushed: NOLINTNEXTLINE(clang-analyzer-core.*) */
    if (top[i].type == VALUE_INT && right[i].type == VALUE_INT) {
      left.integer = top[i].integer;
      trouble = apply_integers(op, left.integer, right[i].integer, &top[i]);
      left.type = VALUE_INT;
    } else {
      left = top[i];
      trouble = apply_mixed(op, &left, &right[i], &top[i]);
    }
    if (trouble) return expr_stop(b, trouble, at, &left, &right[i]);
  }
  return true;
}

/* Like expr_binary, with a loop of its own for each operation. */
static bool expr_binary_loops(struct block *b, const struct instruction *at, struct value *top,
                              const struct value *right, size_t n) {
  switch ((enum expr_op)at->op) {
#define X(name, operands, ...)                                                                     \
  case OP_##name: return operands < 2 || expr_binary(b, at, OP_##name, top, right, n);
    EXPR_OPS(X)
#undef X
  case OP_COUNT: break;
  }
  return true;
}

EXPR_INLINE bool expr_unary(struct block *b, const struct instruction *at, struct value *top,
                            size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct value operand = top[i];
    enum trouble trouble = apply_unary(at->op, &operand, &top[i]);
    if (trouble) return expr_stop(b, trouble, at, &operand, &operand);
  }
  return true;
}

/* Reads elements of a buffer. The indices are in as many columns from top on as the buffer has
   dimensions, and the elements replace the first column. */
EXPR_INLINE bool expr_elements(struct block *b, const struct instruction *at, struct value *top,
                               size_t step, size_t n) {
  const struct expr_buffer *buffer = &b->buffers[element_buffer(at->operand)];
  /* a caller passes buffers if the expression reads elements:
     NOLINTBEGIN(clang-analyzer-core.NullDereference) */
  for (size_t i = 0; i < n; i++) {
    int64_t offset = 0, whole = 0;
    for (int k = 0; k < element_rank(at->operand); k++) {
      const struct value *index = &top[(size_t)k * step + i], size = value_int(buffer->shape[k]);
      if (index->type != VALUE_INT) return expr_stop(b, TROUBLE_INTEGERS, at, index, &size);
      if (index->integer < 0 || index->integer >= size.integer)
        return expr_stop(b, TROUBLE_INDEX, at, index, &size);
      offset += index->integer * buffer->stride[k];
    }
    if (!buffer->get)
      top[i] = value_float(buffer->load(buffer->data, offset));
    else if (buffer->get(buffer->data, offset, &whole))
      top[i] = value_int(whole);
    else
      return expr_stop(b, TROUBLE_OVERFLOW, at,
                       &top[(size_t)(element_rank(at->operand) - 1) * step + i], &top[i]);
  }
  /* NOLINTEND(clang-analyzer-core.NullDereference) */
  return true;
}

/* Evaluates a call for a single element; expressions that are evaluated in blocks have no calls.
   The function does not get the block, so that the block's members stay in registers. */
static bool expr_calls(const struct expr *expr, const struct value *slots,
                       const struct instruction *at, struct value *top, struct failure *failure) {
  *top = value_int(0);
  return !expr_call_value(expr, &expr->calls[at->operand], slots, top, failure->err) ||
         expr_note(failure, TROUBLE_CALL, (size_t)(at - expr->code), top, top);
}

static bool expr_jumps(enum expr_op op, const struct value *condition) {
  return op == OP_SELECT ? !condition->boolean : value_truthy(*condition) == (op == OP_OR);
}

/* Counts the places that take the jump. */
EXPR_INLINE bool expr_count_jumps(struct block *b, const struct instruction *at,
                                  const struct value *top, size_t n, size_t *out) {
  *out = 0;
  for (size_t i = 0; i < n; i++) {
    /* a program pushed the operand: NOLINTNEXTLINE(clang-analyzer-core.*) */
    if (at->op == OP_AND && top[i].type == VALUE_STRING)
      return expr_stop(b, TROUBLE_TRUTH, at, &top[i], &top[i]);
    if (at->op == OP_SELECT && top[i].type != VALUE_BOOL) /* NOLINT(clang-analyzer-core.*) */
      return expr_stop(b, TROUBLE_CONDITION, at, &top[i], &top[i]);
    *out += expr_jumps(at->op, &top[i]);
  }
  return true;
}

/* Divides a group in which some places take a jump and others do not: those that jump become a
   group of their own, behind the others, and wait. */
static void expr_divide(struct block *b, struct group *g) {
  const size_t end = g->top + 1;
  size_t stay = g->first;
  for (size_t i = g->first; i < g->last; i++) {
    if (expr_jumps(g->at->op, &b->stack[g->top * EXPR_BLOCK + i])) continue;
    for (size_t k = 1; k < end; k++) {
      struct value *column = &b->stack[k * EXPR_BLOCK], kept = column[i];
      column[i] = column[stay];
      column[stay] = kept;
    }
    const uint8_t kept = b->lane[i];
    b->lane[i] = b->lane[stay];
    b->lane[stay++] = kept;
  }
  b->waiting[b->waiting_count++] = (struct group){g->at, g->top, stay, g->last};
  g->last = stay;
}

/* Runs a group to the end of the program. */
EXPR_INLINE bool expr_run(struct block *b, struct group *g, bool one) {
  const size_t step = one ? 1 : EXPR_BLOCK;
  const struct instruction *at = g->at, *end = b->expr->code + b->expr->count;
  struct value *top = b->stack + g->top * step + g->first;
  const uint8_t *lane = b->lane + g->first;
  size_t n = one ? 1 : g->last - g->first, jumping;
  for (; at < end; at++) {
    enum expr_op op = at->op;
    if (op >= OP_FIRST_BINARY) {
      if (at->place == OPERAND_STACK) top -= step;
      const struct value *right =
          at->place == OPERAND_STACK ? top + step : expr_operands(b, at, top + step, lane, n, one);
      if (!(one ? expr_binary(b, at, op, top, right, 1) : expr_binary_loops(b, at, top, right, n)))
        return false;
    } else if (op == OP_PUSH) {
      top += step;
      const struct value *values = expr_operands(b, at, top, lane, n, one);
      if (one) *top = *values;
    } else if (op == OP_AND || op == OP_OR || op == OP_SELECT) {
      if (!expr_count_jumps(b, at, top, n, &jumping)) return false;
      if (!one && jumping && jumping < n) {
        *g = (struct group){at, (size_t)(top - b->stack) / step, g->first, g->last};
        expr_divide(b, g);
        n -= jumping, jumping = 0;
      }
      if (jumping) at += at->operand;
      if (!jumping || op == OP_SELECT) top -= step;
    } else if (op == OP_ELSE) {
      at += at->operand;
    } else if (op == OP_ELEMENT) {
      top -= (size_t)(element_rank(at->operand) - 1) * step;
      if (!expr_elements(b, at, top, step, n)) return false;
    } else if (at->place == OPERAND_CALL) { /* OP_CALL; testing one more op is slower */
      top += step;
      if (!expr_calls(b->expr, b->slots, at, top, b->failure)) return false;
    } else if (!expr_unary(b, at, top, n)) {
      return false;
    }
  }
  for (size_t i = 0; i < n; i++) /* NOLINTNEXTLINE(clang-analyzer-core.*): the result was pushed */
    b->out[one ? 0 : lane[i]] = top[i].type == VALUE_BOOL ? value_bool(top[i].boolean) : top[i];
  return true;
}

static bool expr_run_block(struct block *b, struct group g) {
  b->waiting[0] = g;
  b->waiting_count = 1;
  while (b->waiting_count) {
    g = b->waiting[--b->waiting_count];
    if (!expr_run(b, &g, false)) return false;
  }
  return true;
}

static const char *const trouble_text[TROUBLE_COUNT] = {
    [TROUBLE_OVERFLOW] = "which does not fit into 64 bits",
    [TROUBLE_ZERO] = "which divides by zero",
    [TROUBLE_INEXACT] =
        "which is no whole number; // rounds down, ceil_div() up, 1.0 * a / b gives a fraction",
    [TROUBLE_NUMBERS] = "which needs numbers",
    [TROUBLE_INTEGERS] = "which needs whole numbers",
    [TROUBLE_COMPARE] = "which compares what has no order",
    [TROUBLE_POSITIVE] = "which needs a positive divisor",
    [TROUBLE_NEGATIVE] = "which needs a number that is not negative",
    [TROUBLE_BASE] = "which needs a base of at least 2",
    [TROUBLE_POW2] = "which needs a power of two",
    [TROUBLE_DTYPE] = "which needs the name of a dtype, such as \"f32\"",
    [TROUBLE_FORMULA] = "which is for formulas",
    [TROUBLE_LOGARITHM] = "which needs a number above zero",
    [TROUBLE_CONDITION] = "which is no condition: select needs true or false",
    [TROUBLE_TRUTH] = "which needs true or false: compare it with something",
};

/* Explains why an element cannot be read: in "v[index + 1]": v[index + 1] has the index 8, and
   there are 0 to 7. */
static int explain_element(const struct expr *expr, const struct failure *failure,
                           cugen_error *err) {
  struct text text = {0}, operation = {0}, value = {0};
  expr_quote(expr->text, 0, &text);
  expr_print_node(expr, expr->code[failure->at].node, &operation);
  value_print(failure->left, &value);
  error_set(err, CUGEN_ERROR_CONFIG, "in %s: %.300s has the index %.100s, ", text_get(&text),
            text_get(&operation), text_get(&value));
  if (failure->trouble == TROUBLE_OVERFLOW)
    error_append(err, "and the element there does not fit into 64 bits with a sign");
  else if (failure->trouble == TROUBLE_INTEGERS)
    error_append(err, "which is no whole number");
  else
    error_append(err, "and there are 0 to %lld", (long long)failure->right.integer - 1);
  text_free(&text);
  text_free(&operation);
  text_free(&value);
  return CUGEN_ERROR_CONFIG;
}

/* Explains a failed operation: in "tile // vec <= 4": tile // vec is 32 // 0, which divides by
   zero. */
static int expr_explain(const struct expr *expr, const struct failure *failure, cugen_error *err) {
  if (!err) return CUGEN_ERROR_CONFIG;
  if (failure->trouble == TROUBLE_CALL) return err->status;
  if (expr->code[failure->at].op == OP_ELEMENT) return explain_element(expr, failure, err);
  struct text text = {0}, operation = {0}, values = {0};
  expr_quote(expr->text, 0, &text);
  expr_print_node(expr, expr->code[failure->at].node, &operation);
  enum expr_op op = expr->code[failure->at].op;
  expr_print_values(op == OP_SELECT || op == OP_AND ? OP_PUSH : op, &failure->left, &failure->right,
                    &values);
  bool same = strcmp(text_get(&operation), text_get(&values)) == 0;
  error_set(err, CUGEN_ERROR_CONFIG, "in %s: %.300s%s%.300s, %s", text_get(&text),
            same ? "" : text_get(&operation), same ? "" : " is ", text_get(&values),
            trouble_text[failure->trouble]);
  text_free(&text);
  text_free(&operation);
  text_free(&values);
  return CUGEN_ERROR_CONFIG;
}

int expr_eval(const struct expr *expr, const struct value *slots, struct value *out,
              cugen_error *err) {
  struct value stack[EXPR_MAX_STACK + 1];
  struct group all = {expr->code, 0, 0, 1};
  struct failure failure;
  uint8_t lane = 0;
  failure.err = err;
  struct block b = {
      .expr = expr, .slots = slots, .stack = stack, .lane = &lane, .out = out, .failure = &failure};
  stack->type = VALUE_NIL;
  return expr_run(&b, &all, true) ? CUGEN_OK : expr_explain(expr, &failure, err);
}

int expr_eval_block(const struct expr *expr, const struct value *slots,
                    const struct expr_buffer *buffers, size_t count, struct value *out,
                    size_t *done, cugen_error *err) {
  /* Besides the stack: the unused column 0, and a column for the operand of an instruction. */
  struct value stack[(EXPR_MAX_STACK + 2) * EXPR_BLOCK];
  struct group waiting[EXPR_BLOCK];
  uint8_t lane[EXPR_BLOCK];
  struct failure failure = {.err = err};
  struct block b = {.expr = expr,
                    .slots = slots,
                    .buffers = buffers,
                    .stack = stack,
                    .lane = lane,
                    .waiting = waiting,
                    .failure = &failure,
                    .out = out};
  for (size_t i = 0; i < count; i++) lane[i] = (uint8_t)i;
  *done = count;
  if (expr_run_block(&b, (struct group){expr->code, 0, 0, count})) return CUGEN_OK;
  /* Finds the first element that fails. */
  for (*done = 0; *done < count; ++*done) {
    lane[0] = (uint8_t)*done;
    if (!expr_run_block(&b, (struct group){expr->code, 0, 0, 1})) break;
  }
  return expr_explain(expr, &failure, err);
}

/* Evaluates the expression; fails with the message `needed` unless the value has one of the two
   types. */
static int expr_eval_as(const struct expr *expr, const struct value *slots, struct value *value,
                        enum value_type type, enum value_type or, const char *needed,
                        cugen_error *err) {
  value->type = VALUE_NIL;
  int status = expr_eval(expr, slots, value, err);
  if (status || value->type == type || value->type == or) return status;
  if (!err) return CUGEN_ERROR_CONFIG;
  struct text text = {0}, got = {0};
  expr_quote(expr->text, 0, &text);
  expr_print_values(OP_PUSH, value, NULL, &got);
  error_set(err, CUGEN_ERROR_CONFIG, "%s gives %.300s, but %s", text_get(&text), text_get(&got),
            needed);
  text_free(&text);
  text_free(&got);
  return CUGEN_ERROR_CONFIG;
}

int expr_eval_int(const struct expr *expr, const struct value *slots, int64_t *out,
                  cugen_error *err) {
  struct value value;
  int status =
      expr_eval_as(expr, slots, &value, VALUE_INT, VALUE_INT, "a whole number is needed", err);
  if (!status) *out = value.integer;
  return status;
}

int expr_eval_float(const struct expr *expr, const struct value *slots, double *out,
                    cugen_error *err) {
  struct value value;
  int status = expr_eval_as(expr, slots, &value, VALUE_INT, VALUE_FLOAT, "a number is needed", err);
  if (!status) *out = value_real(&value);
  return status;
}

int expr_eval_bool(const struct expr *expr, const struct value *slots, bool *out,
                   cugen_error *err) {
  struct value value;
  int status = expr_eval_as(expr, slots, &value, VALUE_BOOL, VALUE_BOOL,
                            "true or false is needed: compare it with something", err);
  if (!status) *out = value.boolean;
  return status;
}
