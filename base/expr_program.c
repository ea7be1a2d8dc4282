/* Building of expressions: adding nodes, folding of constants and binding, compiling; see
   expr_program.h. */
#include "expr_program.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory --------------------------------------------------------------------------------- */

/* Like ARRAY_ROOM (array.h), for an array of the program, whose status keeps a failure. */
#define PROGRAM_ROOM(program, array, count)                                                        \
  program_room(program, &(program)->array, (program)->count, sizeof *(program)->array)
static bool program_room(struct expr *program, void *place, size_t count, size_t size) {
  if (!program->status && !array_room(place, count, size))
    program->status = error_memory(program->err);
  return !program->status;
}

static char *expr_program_copy(struct expr *program, const char *string) {
  char *copy = strdup(string);
  if (!copy) program->status = error_memory(program->err);
  return copy;
}

void expr_free(struct expr *expr) {
  if (!expr) return;
  for (size_t i = 0; i < expr->constant_count; i++)
    if (expr->constants[i].type == VALUE_STRING) free((char *)(uintptr_t)expr->constants[i].string);
  for (size_t i = 0; i < expr->name_count; i++) free(expr->names[i].name);
  for (size_t i = 0; i < expr->call_count; i++) free(expr->calls[i].constants);
  free(expr->calls);
  free(expr->names);
  free(expr->constants);
  free(expr->slots);
  free(expr->nodes);
  free(expr->code);
  free(expr->text);
  free(expr);
}

struct expr *program_new(const char *text, cugen_error *err) {
  struct expr *program = calloc(1, sizeof *program);
  if (program) program->err = err;
  if (program && (program->text = expr_program_copy(program, text))) return program;
  error_memory(err);
  expr_free(program);
  return NULL;
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static void too_large(struct expr *program) {
  program->status = error_set(
      program->err, CUGEN_ERROR_CONFIG,
      "the expression is too large: with derived names put in, it has more than %d operations",
      EXPR_MAX_CODE);
}

static int32_t add_node(struct expr *program, struct node node) {
  if (program->node_count >= EXPR_MAX_NODES && !program->status) too_large(program);
  if (!PROGRAM_ROOM(program, nodes, node_count)) return 0;
  program->nodes[program->node_count] = node;
  return (int32_t)program->node_count++;
}

static int32_t add_constant(struct expr *program, struct value value) {
  if (!PROGRAM_ROOM(program, constants, constant_count)) return 0;
  if (value.type == VALUE_STRING && !(value.string = expr_program_copy(program, value.string)))
    return 0;
  program->constants[program->constant_count] = value;
  return (int32_t)program->constant_count++;
}

static const char *expr_program_slot_name(const struct expr *program, int slot) {
  for (size_t i = 0; i < program->name_count; i++)
    if (program->names[i].slot == slot) return program->names[i].name;
  return NULL;
}

static void add_name(struct expr *program, int slot, const char *name) {
  if (expr_program_slot_name(program, slot) || !PROGRAM_ROOM(program, names, name_count)) return;
  char *copy = expr_program_copy(program, name);
  if (copy) program->names[program->name_count++] = (struct slot_name){slot, copy};
}

int32_t program_constant(struct expr *program, struct value value) {
  return add_node(program, (struct node){.op = OP_PUSH,
                                         .place = OPERAND_CONSTANT,
                                         .operand = add_constant(program, value)});
}

int32_t program_slot(struct expr *program, int slot, const char *name) {
  add_name(program, slot, name);
  return add_node(program, (struct node){.op = OP_PUSH, .place = OPERAND_SLOT, .operand = slot});
}

int32_t program_operate(struct expr *program, enum expr_op op, int32_t a, int32_t b, int32_t c) {
  return add_node(program, (struct node){.op = (uint8_t)op, .at = {a, b, c}});
}

int32_t program_element(struct expr *program, int buffer, int rank, const char *name,
                        const int32_t *indices) {
  struct node node = {.op = OP_ELEMENT, .operand = element_operand(buffer, rank)};
  for (int i = 0; i < rank; i++) node.at[i] = indices[i];
  add_name(program, EXPR_BUFFER_NAME + buffer, name);
  return add_node(program, node);
}

/* Adds a call. values[i] is the value of the call's i-th slot, or NULL if unknown; values may be
   NULL. */
static int32_t add_call(struct expr *program, const struct expr_call *call,
                        const struct value *const *values) {
  int32_t *constants = malloc((call->count + 1) * sizeof *constants);
  if (!constants && !program->status) program->status = error_memory(program->err);
  if (!constants || !PROGRAM_ROOM(program, calls, call_count)) {
    free(constants);
    return 0;
  }
  program->calls[program->call_count] = (struct program_call){call, constants};
  for (size_t i = 0; i < call->count; i++)
    constants[i] = values && values[i] ? add_constant(program, *values[i]) : -1;
  return add_node(program, (struct node){.op = OP_CALL,
                                         .place = OPERAND_CALL,
                                         .operand = (int32_t)program->call_count++});
}

int32_t program_call(struct expr *program, const struct expr_call *call) {
  return add_call(program, call, NULL);
}

/* ---- Copying and binding -------------------------------------------------------------------- */

/* What becomes of a node of `from` in the copy. */
struct fate {
  const struct value *constant; /* the node's value; NULL: not known here */
  struct value value;           /* the result, if the node is an operation that was folded */
  int32_t same;                 /* the operand that stands for the node, or the node itself */
  int32_t to;                   /* number of the node in the copy */
  bool needed;
};

struct copy {
  const struct expr *from;
  const struct value *slots;
  const bool *known;
  size_t known_count;
  struct fate *fates;
};

static const struct value *known_slot(const struct copy *copy, int slot) {
  const size_t i = (size_t)slot;
  return copy->known && i < copy->known_count && copy->known[i] ? &copy->slots[i] : NULL;
}

/* Sets values[i] to the value that is known for the call's i-th slot, or NULL. Returns whether all
   values are known. */
static bool known_of_call(const struct copy *copy, const struct program_call *call,
                          const struct value **values) {
  bool all = true;
  for (size_t i = 0; i < call->call->count; i++) {
    values[i] = call->constants[i] >= 0 ? &copy->from->constants[call->constants[i]]
                                        : known_slot(copy, call->call->slots[i]);
    all &= values[i] != NULL;
  }
  return all;
}

/* A call that fails is not folded, so that it fails when the program is evaluated. */
static bool fold_call(const struct copy *copy, const struct node *node, struct value *out) {
  const struct program_call *call = &copy->from->calls[node->operand];
  const struct value *known[EXPR_CALL_SLOTS];
  struct value values[EXPR_CALL_SLOTS];
  if (!known_of_call(copy, call, known)) return false;
  for (size_t i = 0; i < call->call->count; i++) values[call->call->slots[i]] = *known[i];
  return !call->call->evaluate(call->call->context, values, out, NULL);
}

/* Returns the operand of `and`, `or` or `select` that a constant condition leaves; -1: none. A
   constant that is no condition stays, so that the program fails when it is evaluated. */
static int32_t left_operand(const struct node *node, const struct value *condition) {
  if (!condition) return -1;
  if (node->op == OP_SELECT)
    return condition->type == VALUE_BOOL ? node->at[condition->boolean ? 1 : 2] : -1;
  if (node->op == OP_AND && condition->type == VALUE_STRING) return -1;
  return node->at[value_truthy(*condition) == (node->op == OP_AND)];
}

/* Decides what becomes of node i, whose operands are decided. An operation that fails is not
   folded. Results of operations are no strings, so no string needs an owner here. */
static void decide(const struct copy *copy, size_t i) {
  const struct node *node = &copy->from->nodes[i];
  struct fate *fate = &copy->fates[i];
  const struct value *values[4] = {NULL};
  const int count = node_operands(node);
  bool folded = false;
  for (int k = 0; k < count; k++) values[k] = copy->fates[node->at[k]].constant;
  *fate = (struct fate){.same = (int32_t)i};
  if (node->op == OP_PUSH) {
    fate->constant = node->place == OPERAND_CONSTANT ? &copy->from->constants[node->operand]
                                                     : known_slot(copy, node->operand);
  } else if (node->op == OP_AND || node->op == OP_OR || node->op == OP_SELECT) {
    const int32_t left = left_operand(node, values[0]);
    if (left >= 0) fate->same = copy->fates[left].same;
    if (left >= 0) fate->constant = copy->fates[left].constant;
  } else if (node->op == OP_CALL) {
    folded = fold_call(copy, node, &fate->value);
  } else if (node->op != OP_ELEMENT) {
    folded = values[0] && values[count - 1] &&
             !expr_apply(node->op, values[0], values[count - 1], &fate->value);
  }
  if (folded) fate->constant = &fate->value;
}

static int32_t copy_node(const struct copy *copy, const struct node *node, const struct fate *fate,
                         struct expr *out) {
  const struct value *known[EXPR_CALL_SLOTS];
  int32_t at[4] = {0};
  if (fate->constant) return program_constant(out, *fate->constant);
  for (int k = 0; k < node_operands(node); k++)
    at[k] = copy->fates[copy->fates[node->at[k]].same].to;
  if (node->op == OP_PUSH)
    return program_slot(out, node->operand, expr_program_slot_name(copy->from, node->operand));
  if (node->op == OP_CALL) {
    const struct program_call *call = &copy->from->calls[node->operand];
    known_of_call(copy, call, known);
    return add_call(out, call->call, known);
  }
  if (node->op != OP_ELEMENT) return program_operate(out, node->op, at[0], at[1], at[2]);
  const int buffer = element_buffer(node->operand);
  return program_element(out, buffer, element_rank(node->operand),
                         expr_program_slot_name(copy->from, EXPR_BUFFER_NAME + buffer), at);
}

/* Decides about each node after its operands, marks the nodes that the last node needs, and copies
   the marked ones. Returns the number of the last node in the copy. */
static int32_t copy_nodes(struct copy *copy, struct expr *out) {
  const struct expr *from = copy->from;
  copy->fates = calloc(from->node_count + 1, sizeof *copy->fates);
  if (!copy->fates) {
    out->status = error_memory(out->err);
    return 0;
  }
  for (size_t i = 0; i < from->node_count; i++) decide(copy, i);
  const int32_t last = copy->fates[from->node_count - 1].same;
  copy->fates[last].needed = true;
  for (size_t i = (size_t)last + 1; i-- > 0;)
    for (int k = 0;
         copy->fates[i].needed && !copy->fates[i].constant && k < node_operands(&from->nodes[i]);
         k++)
      copy->fates[copy->fates[from->nodes[i].at[k]].same].needed = true;
  for (size_t i = 0; i <= (size_t)last; i++)
    if (copy->fates[i].needed)
      copy->fates[i].to = copy_node(copy, &from->nodes[i], &copy->fates[i], out);
  const int32_t to = copy->fates[last].to;
  free(copy->fates);
  return to;
}

int32_t program_append(struct expr *program, const struct expr *other) {
  return copy_nodes(&(struct copy){.from = other}, program);
}

/* ---- Compiling ------------------------------------------------------------------------------ */

/* The role of a node, which decides what follows it in the code. PLACE_JUMPS: left operand of `and`
   or `or`, or condition of a select; a jump of the parent follows. PLACE_ELSE: first choice of a
   select; the select's ELSE follows. PLACE_DIRECT: has no code, because the parent's instruction
   names the slot or constant. */
struct place {
  enum { PLACE_OPERAND, PLACE_JUMPS, PLACE_ELSE, PLACE_DIRECT } kind;
  size_t parent;
  size_t jump; /* of a parent: the parent's last jump */
};

struct compiler {
  struct expr *expr;
  struct place *places;
  int depth, jumps; /* values on the stack, and jumps that do not lead anywhere yet */
};

static void find_places(struct compiler *c) {
  const struct node *nodes = c->expr->nodes;
  for (size_t i = 0; i < c->expr->node_count; i++) {
    const bool select = nodes[i].op == OP_SELECT;
    if (select || nodes[i].op == OP_AND || nodes[i].op == OP_OR)
      c->places[nodes[i].at[0]] = (struct place){PLACE_JUMPS, i, 0};
    if (select) c->places[nodes[i].at[1]] = (struct place){PLACE_ELSE, i, 0};
    if (nodes[i].op >= OP_FIRST_BINARY && nodes[nodes[i].at[1]].op == OP_PUSH)
      c->places[nodes[i].at[1]].kind = PLACE_DIRECT;
  }
}

static size_t emit(struct compiler *c, enum expr_op op, enum operand_place place, int32_t operand,
                   size_t node) {
  struct expr *expr = c->expr;
  if (expr->count >= EXPR_MAX_CODE && !expr->status) too_large(expr);
  if (expr->status) return 0;
  expr->code[expr->count] =
      (struct instruction){(uint8_t)op, (uint8_t)place, (uint16_t)node, operand};
  return expr->count++;
}

/* Makes the jump lead to the next instruction. */
static void land(struct compiler *c, size_t jump) {
  if (!c->expr->status) c->expr->code[jump].operand = (int32_t)(c->expr->count - jump - 1);
}

/* Emits the instruction of a node, and behind it the jump of the node's parent, if any. */
static void compile_node(struct compiler *c, size_t i) {
  const struct node *node = &c->expr->nodes[i], *right = &c->expr->nodes[node->at[1]];
  const struct place *place = &c->places[i];
  struct place *parent = &c->places[place->parent];
  if (place->kind == PLACE_DIRECT) return;
  if (node->op == OP_AND || node->op == OP_OR || node->op == OP_SELECT) {
    land(c, place->jump);
    c->jumps--;
  } else if (node->op >= OP_FIRST_BINARY && right->op == OP_PUSH) {
    emit(c, node->op, right->place, right->operand, i);
  } else {
    emit(c, node->op, node->place, node->operand, i);
    c->depth += 1 - node_operands(node);
  }
  if ((c->depth > EXPR_MAX_STACK || c->jumps >= EXPR_MAX_STACK) && !c->expr->status)
    c->expr->status =
        error_set(c->expr->err, CUGEN_ERROR_CONFIG,
                  "the expression is nested too deeply: with derived names put in, more than %d "
                  "levels",
                  EXPR_MAX_STACK);
  if (place->kind == PLACE_OPERAND) return;
  const size_t before = parent->jump;
  parent->jump = emit(c, place->kind == PLACE_ELSE ? OP_ELSE : c->expr->nodes[place->parent].op,
                      OPERAND_JUMP, 0, i);
  if (place->kind == PLACE_ELSE) land(c, before);
  c->jumps += place->kind == PLACE_JUMPS;
  c->depth--;
}

static int compare_ints(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Lists the slots that the code and the calls mention. */
static void list_slots(struct expr *expr) {
  size_t most = expr->count + 1, count = 0;
  for (size_t i = 0; i < expr->call_count; i++) most += expr->calls[i].call->count;
  expr->slots = malloc(most * sizeof *expr->slots);
  if (!expr->slots) expr->status = error_memory(expr->err);
  if (expr->status) return;
  for (size_t i = 0; i < expr->count; i++)
    if (expr->code[i].place == OPERAND_SLOT) expr->slots[count++] = expr->code[i].operand;
  for (size_t c = 0; c < expr->call_count; c++)
    for (size_t i = 0; i < expr->calls[c].call->count; i++)
      if (expr->calls[c].constants[i] < 0) expr->slots[count++] = expr->calls[c].call->slots[i];
  qsort(expr->slots, count, sizeof *expr->slots, compare_ints);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || expr->slots[i] != expr->slots[i - 1])
      expr->slots[expr->slot_count++] = expr->slots[i];
}

/* Each node has at most two instructions, its own and a jump of its parent. */
static void compile(struct expr *expr) {
  struct compiler c = {.expr = expr, .places = calloc(expr->node_count + 1, sizeof *c.places)};
  const size_t most = 2 * expr->node_count < EXPR_MAX_CODE ? 2 * expr->node_count : EXPR_MAX_CODE;
  expr->code = calloc(most + 1, sizeof *expr->code);
  if (!c.places || !expr->code) expr->status = error_memory(expr->err);
  if (!expr->status) find_places(&c);
  for (size_t i = 0; i < expr->node_count && !expr->status; i++) compile_node(&c, i);
  free(c.places);
  if (!expr->status) list_slots(expr);
}

int expr_bind(const struct expr *expr, const struct value *slots, const bool *known,
              size_t slot_count, struct expr **out, cugen_error *err) {
  struct copy copy = {.from = expr, .slots = slots, .known = known, .known_count = slot_count};
  *out = program_new(expr->text, err);
  if (!*out) return CUGEN_ERROR_MEMORY;
  copy_nodes(&copy, *out);
  if (!(*out)->status) compile(*out);
  const int status = (*out)->status;
  (*out)->err = NULL;
  if (!status) return CUGEN_OK;
  expr_free(*out);
  *out = NULL;
  return status;
}

int expr_of_call(const struct expr_call *call, struct expr **out, cugen_error *err) {
  struct expr *program = program_new(call->text, err);
  *out = NULL;
  if (!program) return CUGEN_ERROR_MEMORY;
  program_call(program, call);
  const int status =
      program->status ? program->status : expr_bind(program, NULL, NULL, 0, out, err);
  expr_free(program);
  return status;
}

int expr_number_words(const struct expr *expr, int64_t (*number)(void *context, const char *word),
                      void *context, struct expr **out, cugen_error *err) {
  int status = expr_bind(expr, NULL, NULL, 0, out, err);
  for (size_t i = 0; !status && *out && i < (*out)->constant_count; i++) {
    struct value *constant = &(*out)->constants[i];
    if (constant->type != VALUE_STRING) continue;
    const int64_t instead = number(context, constant->string);
    if (instead < 0) {
      expr_free(*out);
      *out = NULL;
    } else {
      free((char *)(uintptr_t)constant->string);
      *constant = value_int(instead);
    }
  }
  return status;
}

/* ---- Finished expressions ------------------------------------------------------------------- */

const char *expr_text(const struct expr *expr) {
  return expr->text;
}

size_t expr_cost(const struct expr *expr) {
  size_t cost = 0;
  for (size_t i = 0; i < expr->count; i++) {
    const enum expr_op op = expr->code[i].op;
    if (op == OP_CALL)
      cost += expr->calls[expr->code[i].operand].call->cost;
    else if (op == OP_POW || op == OP_CEIL_LOG)
      cost += 32; /* loops */
    else
      cost += op >= OP_SQRT && op <= OP_CEIL ? 8 : 1; /* functions of floats take about 20 ns */
  }
  return cost;
}

const int *expr_slots(const struct expr *expr, size_t *count) {
  *count = expr->slot_count;
  return expr->slots;
}

bool expr_sees(const struct expr *expr, int slot) {
  for (size_t i = 0; expr && i < expr->slot_count; i++)
    if (expr->slots[i] == slot) return true;
  return false;
}

bool expr_constant(const struct expr *expr, struct value *out) {
  if (expr->count != 1 || expr->code[0].place != OPERAND_CONSTANT) return false;
  if (out) *out = expr->constants[expr->code[0].operand];
  return true;
}
