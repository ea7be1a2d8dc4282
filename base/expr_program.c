/* Building of the programs of expressions: emitting, folding of constants, binding; see
   expr_program.h. */
#include "expr_program.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory --------------------------------------------------------------------------------- */

static char *expr_program_copy_string(const char *string) {
  size_t size = strlen(string) + 1;
  char *copy = malloc(size);
  if (copy) memcpy(copy, string, size);
  return copy;
}

/* Makes room for one more element in *array. */
static bool expr_program_grow(void **array, size_t *capacity, size_t count, size_t element) {
  void *data = array_reserve(*array, capacity, count, element);
  if (data) *array = data;
  return data != NULL;
}

static void drop_constants(struct expr *program, size_t keep) {
  while (program->constant_count > keep) {
    struct value *last = &program->constants[--program->constant_count];
    /* owned, because expr_program_add_constant copied the string */
    if (last->type == VALUE_STRING) free((void *)last->string);
  }
}

void expr_free(struct expr *expr) {
  if (!expr) return;
  drop_constants(expr, 0);
  for (size_t i = 0; i < expr->name_count; i++) free(expr->names[i].name);
  for (size_t i = 0; i < expr->call_count; i++) free(expr->calls[i].constants);
  free(expr->calls);
  free(expr->names);
  free(expr->constants);
  free(expr->slots);
  free(expr->code);
  free(expr->text);
  free(expr);
}

struct expr *program_new(const char *text) {
  struct expr *program = calloc(1, sizeof *program);
  if (!program) return NULL;
  program->text = expr_program_copy_string(text);
  if (program->text &&
      expr_program_grow((void **)&program->code, &program->capacity, 0, sizeof *program->code))
    return program;
  expr_free(program);
  return NULL;
}

/* ---- Emitting ------------------------------------------------------------------------------- */

static int too_large(cugen_error *err) {
  return error_set(
      err, CUGEN_ERROR_CONFIG,
      "the expression is too large: with derived names put in, it has more than %d operations",
      EXPR_MAX_CODE);
}

static int too_deep(cugen_error *err) {
  return error_set(
      err, CUGEN_ERROR_CONFIG,
      "the expression is nested too deeply: with derived names put in, more than %d levels",
      EXPR_MAX_STACK);
}

static int expr_program_emit(struct expr *program, enum expr_op op, enum operand_place place,
                             size_t operand, cugen_error *err) {
  if (program->count >= EXPR_MAX_CODE) return too_large(err);
  if (!expr_program_grow((void **)&program->code, &program->capacity, program->count,
                         sizeof *program->code))
    return error_memory(err);
  program->code[program->count++] =
      (struct instruction){(uint8_t)op, (uint8_t)place, (int32_t)operand};
  return CUGEN_OK;
}

/* Emits an operation that takes nothing off the stack: OP_PUSH or OP_CALL. */
static int emit_push(struct expr *program, enum expr_op op, enum operand_place place,
                     size_t operand, cugen_error *err) {
  if (program->depth >= EXPR_MAX_STACK) return too_deep(err);
  int status = expr_program_emit(program, op, place, operand, err);
  if (status) return status;
  if (++program->depth > program->max_depth) program->max_depth = program->depth;
  return CUGEN_OK;
}

static int expr_program_add_constant(struct expr *program, struct value value, cugen_error *err) {
  if (!expr_program_grow((void **)&program->constants, &program->constant_capacity,
                         program->constant_count, sizeof value))
    return error_memory(err);
  if (value.type == VALUE_STRING && !(value.string = expr_program_copy_string(value.string)))
    return error_memory(err);
  program->constants[program->constant_count++] = value;
  return CUGEN_OK;
}

int program_push_constant(struct expr *program, struct value value, cugen_error *err) {
  int status = expr_program_add_constant(program, value, err);
  if (status) return status;
  status = emit_push(program, OP_PUSH, OPERAND_CONSTANT, program->constant_count - 1, err);
  if (status) drop_constants(program, program->constant_count - 1);
  return status;
}

static const char *expr_program_slot_name(const struct expr *program, int slot) {
  for (size_t i = 0; i < program->name_count; i++)
    if (program->names[i].slot == slot) return program->names[i].name;
  return NULL;
}

static int expr_program_add_name(struct expr *program, int slot, const char *name,
                                 cugen_error *err) {
  if (expr_program_slot_name(program, slot)) return CUGEN_OK;
  if (!expr_program_grow((void **)&program->names, &program->name_capacity, program->name_count,
                         sizeof *program->names))
    return error_memory(err);
  char *copy = expr_program_copy_string(name);
  if (!copy) return error_memory(err);
  program->names[program->name_count++] = (struct slot_name){slot, copy};
  return CUGEN_OK;
}

int program_push_slot(struct expr *program, int slot, const char *name, cugen_error *err) {
  int status = expr_program_add_name(program, slot, name, err);
  return status ? status : emit_push(program, OP_PUSH, OPERAND_SLOT, (size_t)slot, err);
}

/* Returns whether the last `operands` instructions are the pushes of the last operands and no jump
   leads between them. */
static bool last_are_pushes(const struct expr *program, size_t operands) {
  if (program->count < operands || program->last_target > program->count - operands) {
    /* a jump to the first of the pushes only ends the code before it */
    return false;
  }
  for (size_t i = program->count - operands; i < program->count; i++)
    if (program->code[i].op != OP_PUSH) return false;
  return true;
}

static struct value *last_constant(const struct expr *program, size_t back) {
  const struct instruction *push = &program->code[program->count - back];
  return push->place == OPERAND_CONSTANT ? &program->constants[push->operand] : NULL;
}

/* Replaces an operation whose operands are constants by its result, unless the operation fails. */
static bool expr_program_fold(struct expr *program, enum expr_op op) {
  size_t operands = op >= OP_FIRST_BINARY ? 2 : 1;
  if (!last_are_pushes(program, operands)) return false;
  struct value *left = last_constant(program, operands), *right = last_constant(program, 1), result;
  if (!left || !right || expr_apply(op, left, right, &result)) return false;
  /* Constants are stored in the order of their pushes, so the operands are the last ones. Results
     are never strings. */
  size_t keep = (size_t)program->code[program->count - operands].operand;
  drop_constants(program, keep);
  program->constants[program->constant_count++] = result;
  program->count -= operands - 1;
  program->depth -= (int)operands - 1;
  return true;
}

int program_element(struct expr *program, int buffer, int rank, const char *name,
                    cugen_error *err) {
  int status = expr_program_add_name(program, EXPR_BUFFER_NAME + buffer, name, err);
  program->depth -= rank - 1;
  return status ? status
                : expr_program_emit(program, OP_ELEMENT, OPERAND_STACK,
                                    element_operand(buffer, rank), err);
}

/* Where a call comes from: a program in which some of its slots are bound (NULL: none is), and the
   values that are bound now. */
struct call_source {
  const struct expr *program;
  const struct program_call *call;
  const struct value *slots;
  const bool *known;
  size_t known_count;
};

/* Returns the value that is known for slot i of the call; NULL: none. */
static const struct value *known_for(const struct call_source *from, size_t i) {
  const size_t slot = (size_t)from->call->call->slots[i];
  if (from->program && from->call->constants[i] >= 0)
    return &from->program->constants[from->call->constants[i]];
  return from->known && slot < from->known_count && from->known[slot] ? &from->slots[slot] : NULL;
}

/* Adds the call with constants for its known slots. Sets *open to the number of the other slots. */
static int add_call(struct expr *program, const struct call_source *from, size_t *open,
                    cugen_error *err) {
  const struct expr_call *call = from->call->call;
  int32_t *constants = malloc((call->count + 1) * sizeof *constants);
  if (!constants || !expr_program_grow((void **)&program->calls, &program->call_capacity,
                                       program->call_count, sizeof *program->calls)) {
    free(constants);
    return error_memory(err);
  }
  program->calls[program->call_count++] = (struct program_call){call, constants};
  *open = 0;
  for (size_t i = 0; i < call->count; i++) {
    const struct value *known = known_for(from, i);
    constants[i] = known ? (int32_t)program->constant_count : -1;
    *open += !known;
    int status = known ? expr_program_add_constant(program, *known, err) : CUGEN_OK;
    if (status) return status;
  }
  return CUGEN_OK;
}

/* Emits the call, or its value if all of its slots are known. A call that fails stays, so that it
   fails when it is evaluated. */
static int put_call(struct expr *program, const struct call_source *from, cugen_error *err) {
  const size_t constants = program->constant_count, at = program->call_count;
  struct value value;
  size_t open;
  int status = add_call(program, from, &open, err);
  if (status) return status;
  if (open || expr_call_value(program, &program->calls[at], NULL, &value, NULL))
    return emit_push(program, OP_CALL, OPERAND_CALL, at, err);
  free(program->calls[--program->call_count].constants);
  drop_constants(program, constants);
  return program_push_constant(program, value, err);
}

int program_call(struct expr *program, const struct expr_call *call, cugen_error *err) {
  const struct program_call unbound = {.call = call};
  return put_call(program, &(struct call_source){.call = &unbound}, err);
}

int program_operate(struct expr *program, enum expr_op op, cugen_error *err) {
  if (expr_program_fold(program, op)) return CUGEN_OK;
  if (op < OP_FIRST_BINARY) return expr_program_emit(program, op, OPERAND_STACK, 0, err);
  program->depth--;
  if (!last_are_pushes(program, 1)) return expr_program_emit(program, op, OPERAND_STACK, 0, err);
  /* the operation takes its right operand directly from the slot or constant */
  program->code[program->count - 1].op = (uint8_t)op;
  return CUGEN_OK;
}

int program_open_jump(struct expr *program, enum expr_op op, struct program_jump *jump,
                      cugen_error *err) {
  if (program->open_jumps >= EXPR_MAX_STACK) return too_deep(err);
  struct value *left = last_are_pushes(program, 1) ? last_constant(program, 1) : NULL;
  /* a string as a condition is kept, so that it fails when evaluated */
  const bool known = left && (op == OP_OR || left->type != VALUE_STRING);
  jump->kind = !known                                  ? JUMP_REAL
               : value_truthy(*left) == (op == OP_AND) ? JUMP_KEEPS_RIGHT
                                                       : JUMP_KEEPS_LEFT;
  jump->depth = program->depth;
  if (jump->kind == JUMP_KEEPS_RIGHT) {
    drop_constants(program, program->constant_count - 1);
    program->count--;
  }
  jump->at = program->count;
  jump->constant_count = program->constant_count;
  jump->last_target = program->last_target;
  int status =
      jump->kind == JUMP_REAL ? expr_program_emit(program, op, OPERAND_JUMP, 0, err) : CUGEN_OK;
  if (status) return status;
  program->depth--;
  program->open_jumps++;
  return CUGEN_OK;
}

/* Removes all code from jump->at on. */
static void cut_back(struct expr *program, const struct program_jump *jump) {
  drop_constants(program, jump->constant_count);
  program->count = jump->at;
  program->last_target = jump->last_target;
}

static void expr_program_land(struct expr *program, size_t jump) {
  program->code[jump].operand = (int32_t)(program->count - jump - 1);
  program->last_target = program->count;
}

void program_close_jump(struct expr *program, const struct program_jump *jump) {
  program->open_jumps--;
  program->depth = jump->depth;
  if (jump->kind == JUMP_REAL)
    expr_program_land(program, jump->at);
  else if (jump->kind == JUMP_KEEPS_LEFT)
    cut_back(program, jump);
}

static void begin_choice(struct expr *program, struct program_jump *jump) {
  jump->at = program->count;
  jump->constant_count = program->constant_count;
  jump->last_target = program->last_target;
}

/* A constant that is not a condition is kept, so that it fails when evaluated. */
int program_open_select(struct expr *program, struct program_jump *jump, cugen_error *err) {
  if (program->open_jumps >= EXPR_MAX_STACK) return too_deep(err);
  struct value *condition = last_are_pushes(program, 1) ? last_constant(program, 1) : NULL;
  bool known = condition && condition->type == VALUE_BOOL;
  jump->kind = !known ? JUMP_REAL : condition->boolean ? JUMP_KEEPS_LEFT : JUMP_KEEPS_RIGHT;
  jump->depth = program->depth;
  if (known) {
    drop_constants(program, program->constant_count - 1);
    program->count--;
  }
  begin_choice(program, jump);
  int status = known ? CUGEN_OK : expr_program_emit(program, OP_SELECT, OPERAND_JUMP, 0, err);
  if (status) return status;
  program->depth--;
  program->open_jumps++;
  return CUGEN_OK;
}

int program_else(struct expr *program, struct program_jump *jump, cugen_error *err) {
  const size_t at = jump->at;
  program->depth = jump->depth - 1;
  if (jump->kind == JUMP_KEEPS_RIGHT) {
    cut_back(program, jump);
    return CUGEN_OK;
  }
  begin_choice(program, jump);
  if (jump->kind == JUMP_KEEPS_LEFT) return CUGEN_OK;
  int status = expr_program_emit(program, OP_ELSE, OPERAND_JUMP, 0, err);
  if (!status) expr_program_land(program, at);
  return status;
}

/* ---- Copying and binding -------------------------------------------------------------------- */

struct copy {
  struct expr *program;
  const struct expr *from;
  const struct value *slots;
  const bool *known;
  size_t known_count;
  struct program_jump jumps[EXPR_MAX_STACK];
  size_t targets[EXPR_MAX_STACK];
  int open;
};

static int copy_operand(struct copy *copy, const struct instruction *from, cugen_error *err) {
  if (from->place == OPERAND_CONSTANT)
    return program_push_constant(copy->program, copy->from->constants[from->operand], err);
  size_t slot = (size_t)from->operand;
  if (copy->known && slot < copy->known_count && copy->known[slot])
    return program_push_constant(copy->program, copy->slots[slot], err);
  return program_push_slot(copy->program, from->operand,
                           expr_program_slot_name(copy->from, from->operand), err);
}

/* Copies a jump. Until the end of a select is copied, its ELSE has no target. */
static int copy_jump(struct copy *copy, size_t at, cugen_error *err) {
  const struct instruction *from = &copy->from->code[at];
  if (from->op == OP_ELSE) {
    copy->targets[copy->open - 1] = at + 1 + (size_t)from->operand;
    return program_else(copy->program, &copy->jumps[copy->open - 1], err);
  }
  bool select = from->op == OP_SELECT;
  struct program_jump *jump = &copy->jumps[copy->open];
  int status = select ? program_open_select(copy->program, jump, err)
                      : program_open_jump(copy->program, from->op, jump, err);
  if (status) return status;
  copy->targets[copy->open++] = select ? SIZE_MAX : at + 1 + (size_t)from->operand;
  return CUGEN_OK;
}

static int copy_instruction(struct copy *copy, size_t at, cugen_error *err) {
  /* no more jumps are open than there is room for: NOLINTNEXTLINE(clang-analyzer-core.*) */
  const struct instruction *from = &copy->from->code[at];
  if (from->place == OPERAND_JUMP) return copy_jump(copy, at, err);
  if (from->op == OP_ELEMENT) {
    int buffer = element_buffer(from->operand);
    return program_element(copy->program, buffer, element_rank(from->operand),
                           expr_program_slot_name(copy->from, EXPR_BUFFER_NAME + buffer), err);
  }
  if (from->op == OP_CALL)
    return put_call(copy->program,
                    &(struct call_source){copy->from, &copy->from->calls[from->operand],
                                          copy->slots, copy->known, copy->known_count},
                    err);
  int status = from->place == OPERAND_STACK ? CUGEN_OK : copy_operand(copy, from, err);
  return status || from->op == OP_PUSH ? status : program_operate(copy->program, from->op, err);
}

int program_append(struct expr *program, const struct expr *other, const struct value *slots,
                   const bool *known, size_t slot_count, cugen_error *err) {
  struct copy copy = {
      .program = program, .from = other, .slots = slots, .known = known, .known_count = slot_count};
  for (size_t at = 0; at <= other->count; at++) {
    while (copy.open > 0 && copy.targets[copy.open - 1] == at)
      program_close_jump(program, &copy.jumps[--copy.open]);
    int status = at < other->count ? copy_instruction(&copy, at, err) : CUGEN_OK;
    if (status) return status;
  }
  return CUGEN_OK;
}

int expr_bind(const struct expr *expr, const struct value *slots, const bool *known,
              size_t slot_count, struct expr **out, cugen_error *err) {
  *out = NULL;
  struct expr *bound = program_new(expr->text);
  if (!bound) return error_memory(err);
  int status = program_append(bound, expr, slots, known, slot_count, err);
  if (!status) status = program_finish(bound, err);
  if (status) {
    expr_free(bound); /* which ends with free: NOLINT(clang-analyzer-unix.Malloc) */
    return status;
  }
  *out = bound;
  return CUGEN_OK;
}

int expr_of_call(const struct expr_call *call, struct expr **out, cugen_error *err) {
  *out = program_new(call->text);
  if (!*out) return error_memory(err);
  int status = program_call(*out, call, err);
  if (!status) status = program_finish(*out, err);
  if (!status) return CUGEN_OK;
  expr_free(*out);
  *out = NULL;
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

/* ---- Finished programs ---------------------------------------------------------------------- */

static int compare_ints(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Appends the slots that are not bound. */
static void add_call_slots(const struct program_call *call, int *slots, size_t *count) {
  for (size_t i = 0; i < call->call->count; i++)
    if (call->constants[i] < 0) slots[(*count)++] = call->call->slots[i];
}

int program_finish(struct expr *program, cugen_error *err) {
  size_t most = program->count + 1, count = 0;
  for (size_t i = 0; i < program->call_count; i++) most += program->calls[i].call->count;
  program->slots = malloc(most * sizeof *program->slots);
  if (!program->slots) return error_memory(err);
  for (size_t i = 0; i < program->count; i++) {
    const struct instruction *at = &program->code[i];
    if (at->place == OPERAND_SLOT) program->slots[count++] = at->operand;
    if (at->op == OP_CALL) add_call_slots(&program->calls[at->operand], program->slots, &count);
  }
  qsort(program->slots, count, sizeof *program->slots, compare_ints);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || program->slots[i] != program->slots[i - 1])
      program->slots[program->slot_count++] = program->slots[i];
  return CUGEN_OK;
}

const char *expr_text(const struct expr *expr) {
  return expr->text;
}

/* Estimates the cost of an operation: pow and ceil_log are loops, functions of floats take about 20
   ns. */
static size_t operation_cost(enum expr_op op) {
  if (op == OP_POW || op == OP_CEIL_LOG) return 32;
  return op >= OP_SQRT && op <= OP_CEIL ? 8 : 1;
}

size_t expr_cost(const struct expr *expr) {
  size_t cost = 0;
  for (size_t i = 0; i < expr->count; i++)
    cost += expr->code[i].op == OP_CALL ? expr->calls[expr->code[i].operand].call->cost
                                        : operation_cost(expr->code[i].op);
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
