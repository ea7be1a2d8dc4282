/* Shared by the expr_*.c files. An expression is a short program in postfix order for a stack
   machine. The parser emits the program; derived names and bound values are emitted into the
   program of another expression; the printer runs the program on text instead of values. Only the
   parser recurses. */
#ifndef BASE_EXPR_PROGRAM_H
#define BASE_EXPR_PROGRAM_H

#include "expr.h"

/* Limits, so that a hostile config cannot cost much time or stack. No sensible expression comes
   near them. */
enum { EXPR_MAX_CODE = 4096, EXPR_MAX_STACK = 128, EXPR_MAX_NESTING = 100 };

/* The operations. Columns: name; number of operands; pattern in Lua; pattern in C (NULL: cannot be
   printed); pattern in checked C, for whole numbers; whether the result is a boolean. In a pattern
   %a is an operand, and %A an operand in parentheses unless it is a name or a number.

   AND and OR jump over their right operand. SELECT takes its condition off the stack and, if the
   condition is false, jumps behind the ELSE that ends its first choice; the ELSE jumps over the
   second choice. ELEMENT takes as many indices as its operand says (element_operand). CALL pushes
   what the call of that number gives. The operations from GELU to RELU exist in formulas only
   (expr_parse_formula). */
#define EXPR_OPS(X)                                                                                \
  X(PUSH, 0, "", NULL, NULL, false)                                                                \
  X(AND, 0, "%A and %B", "%A && %B", "%A && %B", false)                                            \
  X(OR, 0, "%A or %B", "%A || %B", "%A || %B", false)                                              \
  X(SELECT, 0, "", NULL, NULL, false)                                                              \
  X(ELSE, 0, "", NULL, NULL, false)                                                                \
  X(ELEMENT, 0, "", NULL, NULL, false)                                                             \
  X(CALL, 0, "", NULL, NULL, false)                                                                \
  X(NOT, 1, "not %A", "!%A", "!%A", true)                                                          \
  X(NEGATE, 1, "-%A", "-%A", "subtract(e, 0, %a)", false)                                          \
  X(IS_POW2, 1, "is_pow2(%a)", "%A > 0 && (%A & (%A - 1)) == 0", "is_pow2(%a)", true)              \
  X(LOG2, 1, "log2(%a)", "(long long)__builtin_ctzll((unsigned long long)%A)",                     \
    "log2_exact(e, %a)", false)                                                                    \
  X(ABS, 1, "abs(%a)", "%A < 0 ? -%A : %A", "absolute(e, %a)", false)                              \
  X(SIZEOF, 1, "sizeof(%a)", NULL, NULL, false)                                                    \
  X(EPS, 1, "eps(%a)", NULL, NULL, false)                                                          \
  X(SQRT, 1, "sqrt(%a)", "sqrt((double)%A)", "root((double)%A)", false)                            \
  X(F32, 1, "f32(%a)", "(float)(%a)", "(double)(float)(%a)", false)                                \
  X(EXP, 1, "exp(%a)", NULL, NULL, false)                                                          \
  X(LOG, 1, "log(%a)", NULL, NULL, false)                                                          \
  X(TANH, 1, "tanh(%a)", NULL, NULL, false)                                                        \
  X(ERF, 1, "erf(%a)", NULL, NULL, false)                                                          \
  X(SIN, 1, "sin(%a)", NULL, NULL, false)                                                          \
  X(COS, 1, "cos(%a)", NULL, NULL, false)                                                          \
  X(FLOOR, 1, "floor(%a)", "(long long)floor((double)%A)", "whole_below(e, (double)%A)", false)    \
  X(CEIL, 1, "ceil(%a)", "(long long)ceil((double)%A)", "whole_above(e, (double)%A)", false)       \
  X(GELU, 1, "gelu(%a)", NULL, NULL, false)                                                        \
  X(FAST_GELU, 1, "fast_gelu(%a)", NULL, NULL, false)                                              \
  X(RELU, 1, "relu(%a)", NULL, NULL, false)                                                        \
  X(ADD, 2, "%A + %B", "%A + %B", "add(e, %a, %b)", false)                                         \
  X(SUBTRACT, 2, "%A - %B", "%A - %B", "subtract(e, %a, %b)", false)                               \
  X(MULTIPLY, 2, "%A * %B", "%A * %B", "multiply(e, %a, %b)", false)                               \
  X(DIVIDE, 2, "%A / %B", "%A / %B", "divide_exactly(e, %a, %b)", false)                           \
  X(FLOOR_DIVIDE, 2, "%A // %B", "%A / %B", "divide(e, %a, %b)", false)                            \
  X(MODULO, 2, "%A %% %B", "%A %% %B", "modulo(e, %a, %b)", false)                                 \
  X(EQUAL, 2, "%A == %B", "%A == %B", "%A == %B", true)                                            \
  X(DIFFER, 2, "%A ~= %B", "%A != %B", "%A != %B", true)                                           \
  X(LESS, 2, "%A < %B", "%A < %B", "%A < %B", true)                                                \
  X(LESS_EQUAL, 2, "%A <= %B", "%A <= %B", "%A <= %B", true)                                       \
  X(GREATER, 2, "%A > %B", "%A > %B", "%A > %B", true)                                             \
  X(GREATER_EQUAL, 2, "%A >= %B", "%A >= %B", "%A >= %B", true)                                    \
  X(CEIL_DIV, 2, "ceil_div(%a, %b)", "(%A + %B - 1) / %B", "ceil_div(e, %a, %b)", false)           \
  X(ROUND_UP, 2, "round_up(%a, %b)", "(%A + %B - 1) / %B * %B", "round_up(e, %a, %b)", false)      \
  X(POW, 2, "pow(%a, %b)", NULL, "power(e, %a, %b)", false)                                        \
  X(CEIL_LOG, 2, "ceil_log(%a, %b)", NULL, "ceil_log(e, %a, %b)", false)                           \
  X(MIN, 2, "min(%a, %b)", "%A <= %B ? %A : %B", "lesser(%a, %b)", false)                          \
  X(MAX, 2, "max(%a, %b)", "%A >= %B ? %A : %B", "greater(%a, %b)", false)

enum expr_op {
#define X(name, operands, lua, c, checked, boolean) OP_##name,
  EXPR_OPS(X)
#undef X
      OP_COUNT,
  OP_FIRST_UNARY = OP_NOT,
  OP_FIRST_BINARY = OP_ADD,
  OP_FIRST_COMPARISON = OP_EQUAL,
  OP_LAST_COMPARISON = OP_GREATER_EQUAL
};

/* The operand of ELEMENT: the buffer's number and number of dimensions. */
static inline size_t element_operand(int buffer, int rank) {
  return (size_t)buffer << 3 | (size_t)rank;
}
static inline int element_buffer(int32_t operand) {
  return operand >> 3;
}
static inline int element_rank(int32_t operand) {
  return operand & 7;
}
/* The names of buffers are kept in the same list as the names of slots, under numbers that no slot
   has. */
enum { EXPR_BUFFER_NAME = 1 << 24 };

/* Where the right operand of an instruction is. PUSH and binary operations name a slot or a
   constant directly if possible. The operand of a jump is the number of instructions to skip. */
enum operand_place { OPERAND_STACK, OPERAND_SLOT, OPERAND_CONSTANT, OPERAND_JUMP, OPERAND_CALL };

struct instruction {
  uint8_t op, place;
  int32_t operand;
};

struct slot_name {
  int slot;
  char *name;
};

struct program_call {
  const struct expr_call *call;
  int32_t *constants; /* for each slot of the call the constant that stands for it; -1: none */
};

struct expr {
  char *text;
  struct instruction *code;
  struct value *constants; /* the program owns their strings */
  struct slot_name *names; /* of all mentioned slots, possibly of more */
  struct program_call *calls;
  int *slots; /* the mentioned slots, ascending */
  size_t count, constant_count, name_count, call_count, slot_count;
  size_t capacity, constant_capacity, name_capacity, call_capacity;
  /* Used only while the program is built. */
  size_t last_target; /* the highest instruction that a jump leads to; the instructions before it
                         must not be merged with it */
  int depth, max_depth, open_jumps;
};

/* ---- Evaluating (expr.c) -------------------------------------------------------------------- */

enum trouble {
  TROUBLE_NONE,
  TROUBLE_OVERFLOW,
  TROUBLE_ZERO,
  TROUBLE_INEXACT,
  TROUBLE_NUMBERS,
  TROUBLE_INTEGERS,
  TROUBLE_COMPARE,
  TROUBLE_POSITIVE,
  TROUBLE_NEGATIVE,
  TROUBLE_BASE,
  TROUBLE_POW2,
  TROUBLE_DTYPE,
  TROUBLE_FORMULA,
  TROUBLE_LOGARITHM,
  TROUBLE_INDEX,
  TROUBLE_CONDITION,
  TROUBLE_TRUTH,
  TROUBLE_CALL, /* the call has set the error itself */
  TROUBLE_COUNT
};

/* Applies one operation to values. right is ignored by unary operations. */
enum trouble expr_apply(enum expr_op op, const struct value *left, const struct value *right,
                        struct value *out);
/* Evaluates a call. slots: those of the program; NULL if all slots of the call are bound. */
int expr_call_value(const struct expr *program, const struct program_call *call,
                    const struct value *slots, struct value *out, cugen_error *err);
/* Truth as in Lua: every value but nil and false. */
static inline bool value_truthy(struct value value) {
  return value.type != VALUE_NIL && (value.type != VALUE_BOOL || value.boolean);
}

/* ---- Building (expr_program.c): each returns a status with err filled ----------------------- */

struct expr *program_new(const char *text);
int program_push_constant(struct expr *program, struct value value, cugen_error *err);
int program_push_slot(struct expr *program, int slot, const char *name, cugen_error *err);
/* Emits an operation on the operands pushed last. If all operands are constants, the result is
   emitted instead. */
int program_operate(struct expr *program, enum expr_op op, cugen_error *err);

/* Emits the read of a buffer's element. Its indices were pushed last. */
int program_element(struct expr *program, int buffer, int rank, const char *name, cugen_error *err);

/* Emits a call; its value instead if it reads no slots. */
int program_call(struct expr *program, const struct expr_call *call, cugen_error *err);

struct program_jump {
  /* JUMP_REAL: a jump was emitted. Others: the condition is constant, and this operand or choice
     stays */
  enum { JUMP_REAL, JUMP_KEEPS_LEFT, JUMP_KEEPS_RIGHT } kind;
  size_t at, constant_count, last_target;
  int depth;
};
/* Opens an OP_AND or OP_OR after its left operand; program_close_jump is called after the right
   operand. */
int program_open_jump(struct expr *program, enum expr_op op, struct program_jump *jump,
                      cugen_error *err);
void program_close_jump(struct expr *program, const struct program_jump *jump);
/* Opens a select after its condition; program_else is called between its two choices,
   program_close_jump after them. */
int program_open_select(struct expr *program, struct program_jump *jump, cugen_error *err);
int program_else(struct expr *program, struct program_jump *jump, cugen_error *err);

/* Emits all of another program. Slots with known[slot] set (known may be NULL) are replaced by
   their values. */
int program_append(struct expr *program, const struct expr *other, const struct value *slots,
                   const bool *known, size_t slot_count, cugen_error *err);
int program_finish(struct expr *program, cugen_error *err);

/* ---- Types (expr_types.c) ------------------------------------------------------------------- */

/* Refuses comparisons that hold for no value of the scope's slots, and conditions that are never
   true or false. */
int expr_check_types(const struct expr *expr, const struct expr_scope *scope, cugen_error *err);

/* ---- Text (expr_print.c) -------------------------------------------------------------------- */

/* Appends the expression in quotes, with unprintable bytes escaped, and shortened around `column`
   (from 0) if it is long. */
void expr_quote(const char *text, size_t column, struct text *out);
/* Prints the operation at code[at] with its operands, as the user would write it. */
void expr_print_operation(const struct expr *expr, size_t at, struct text *out);
/* Prints an operation with the given operands, as the user would write it. */
void expr_print_values(enum expr_op op, const struct value *left, const struct value *right,
                       struct text *out);

#endif
