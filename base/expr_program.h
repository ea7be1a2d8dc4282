/* Shared by the expr_*.c files. An expression is an array of nodes in postfix order: operands stand
   in front of their operation, and the last node is the whole expression. Printing and the check of
   types go through the nodes in order, without recursion. expr_bind folds constant nodes and
   compiles the nodes to the program that is evaluated, which is postfix code for a stack
   machine. */
#ifndef BASE_EXPR_PROGRAM_H
#define BASE_EXPR_PROGRAM_H

#include "expr.h"

/* Limits, so that a hostile config cannot cost much time or stack. EXPR_MAX_NODES holds for an
   expression that is being built, before constants are folded. EXPR_MAX_STACK limits the values on
   the stack, and the jumps that have no target yet. */
enum {
  EXPR_MAX_CODE = 4096,
  EXPR_MAX_NODES = 4 * EXPR_MAX_CODE,
  EXPR_MAX_STACK = 128,
  EXPR_MAX_NESTING = 100
};

/* The operations. Columns: name; number of operands (0 also where node_operands says otherwise);
   pattern in Lua; pattern in C (NULL: cannot be printed); pattern in checked C, for whole numbers;
   whether the result is a boolean. In a pattern %a is the left operand and %b the right one; %A and
   %B are in parentheses unless they are a name, a number or a call.

   In code, AND and OR jump over their right operand. SELECT takes its condition off the stack and,
   if the condition is false, jumps behind the ELSE that ends its first choice; the ELSE, which no
   node has, jumps over the second choice. ELEMENT takes as many indices as its operand says
   (element_operand). CALL pushes the value of the call whose number is its operand. The operations
   from GELU to RELU exist in formulas only (expr_extras.element). */
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
static inline int32_t element_operand(int buffer, int rank) {
  return buffer << 3 | rank;
}
static inline int element_buffer(int32_t operand) {
  return operand >> 3;
}
static inline int element_rank(int32_t operand) {
  return operand & 7;
}
/* Buffers' names are in the list of slots' names, under numbers that no slot has. */
enum { EXPR_BUFFER_NAME = 1 << 24 };

/* Where the right operand of an instruction is. PUSH names a slot or a constant, and so does a
   binary operation if possible. The operand of a jump is the number of instructions to skip. */
enum operand_place { OPERAND_STACK, OPERAND_SLOT, OPERAND_CONSTANT, OPERAND_JUMP, OPERAND_CALL };

struct instruction {
  uint8_t op, place;
  uint16_t node; /* the node that became this instruction; for a jump, the node in front of the
                    jump */
  int32_t operand;
};

/* An operation on other nodes; or a PUSH or CALL, whose place and operand are those of an
   instruction. */
struct node {
  uint8_t op, place;
  int32_t operand;
  int32_t at[4]; /* the operands; of a select the condition and the two choices */
};

struct slot_name {
  int slot;
  char *name;
};

struct program_call {
  const struct expr_call *call;
  int32_t *constants; /* for each slot of the call the index of the constant that replaces it; -1:
                         none */
};

struct expr {
  char *text;
  struct node *nodes;
  struct instruction *code;
  struct value *constants; /* the expression owns their strings */
  struct slot_name *names; /* of all mentioned slots and buffers */
  struct program_call *calls;
  int *slots; /* the mentioned slots, ascending */
  size_t node_count, count, constant_count, name_count, call_count, slot_count;
  /* status: the first failure while the expression is built; err: describes that failure */
  int status;
  cugen_error *err;
};

static inline int node_operands(const struct node *node) {
  return node->op == OP_SELECT                     ? 3
         : node->op == OP_ELEMENT                  ? element_rank(node->operand)
         : node->op == OP_AND || node->op == OP_OR ? 2
         : node->op >= OP_FIRST_BINARY             ? 2
         : node->op >= OP_FIRST_UNARY              ? 1
                                                   : 0;
}

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

/* Applies an operation to values. Unary operations ignore `right`. */
enum trouble expr_apply(enum expr_op op, const struct value *left, const struct value *right,
                        struct value *out);
/* Truth as in Lua: every value but nil and false. */
static inline bool value_truthy(struct value value) {
  return value.type != VALUE_NIL && (value.type != VALUE_BOOL || value.boolean);
}

/* ---- Building (expr_program.c) -------------------------------------------------------------- */

/* Returns an expression without nodes, or NULL if memory is out. The functions below return the
   number of the added node, or any number after a failure, which they keep in `status`. */
struct expr *program_new(const char *text, cugen_error *err);
int32_t program_constant(struct expr *program, struct value value);
int32_t program_slot(struct expr *program, int slot, const char *name);
int32_t program_call(struct expr *program, const struct expr_call *call);
/* An operation on the nodes added before; a unary operation ignores b, and every operation but a
   select ignores c. */
int32_t program_operate(struct expr *program, enum expr_op op, int32_t a, int32_t b, int32_t c);
/* An element of a buffer; `indices` are `rank` nodes. */
int32_t program_element(struct expr *program, int buffer, int rank, const char *name,
                        const int32_t *indices);
/* Copies the nodes that the result of another expression needs. Returns the number of the last
   copy. */
int32_t program_append(struct expr *program, const struct expr *other);

/* ---- Types (expr_types.c) ------------------------------------------------------------------- */

/* Refuses == and ~= whose operands can never be equal, and conditions that can never be true or
   false, as far as the values that the scope knows for its slots show. Fails with
   CUGEN_ERROR_CONFIG or CUGEN_ERROR_MEMORY. */
int expr_check_types(const struct expr *expr, const struct expr_scope *scope, cugen_error *err);

/* ---- Text (expr_print.c) -------------------------------------------------------------------- */

/* Appends the text in quotes, with ASCII control characters escaped, and shortened around
   `column` (from 0) if it is long. */
void expr_quote(const char *text, size_t column, struct text *out);
/* Prints the node with its operands, as the user would write it. */
void expr_print_node(const struct expr *expr, size_t node, struct text *out);
/* Prints an operation with the given operands, as the user would write it. */
void expr_print_values(enum expr_op op, const struct value *left, const struct value *right,
                       struct text *out);

#endif
