/* Type checks of expressions before they are evaluated. Finds what is a mistake for every value of
   the slots: `not BS == 64` with a number BS, BS == '64', and mode == 'fastt' if mode never has
   this value. Algorithm: abstract interpretation. Each node gets the set of values that it may
   have: their types, and the strings if all of them are known, as for a tunable. The set of a
   `select` unites the sets of its two choices. An expression that passes may still fail when it is
   evaluated. */
#include "expr_program.h"

#include <stdlib.h>
#include <string.h>

enum {
  IS_NIL = 1,
  IS_FALSE = 2,
  IS_TRUE = 4,
  IS_NUMBER = 8,
  IS_WORD = 16,
  IS_BOOLEAN = IS_FALSE | IS_TRUE,
  IS_ANY = 31
};

enum { WORDS_MOST = 256, SHOWN_VALUES = 8 };

/* The set of values that an operand may have. */
struct set {
  unsigned types;
  bool open; /* not all strings of the set are known; otherwise they are words[first .. first +
                count) */
  int first, count;
  const char *name;        /* name of the slot, if the operand is a slot with known values; else
                              NULL */
  struct expr_symbol slot; /* the slot's symbol, if `name` is set */
};

struct checker {
  const struct expr *expr;
  const struct expr_scope *scope;
  const char *words[WORDS_MOST];
  int word_count;
  struct set *sets; /* of each node */
  struct text what; /* the message of the first mistake; empty if none was found */
};

/* ---- Sets ----------------------------------------------------------------------------------- */

static unsigned expr_types_type_of(const struct value *value) {
  switch (value->type) {
  case VALUE_NIL: return IS_NIL;
  case VALUE_BOOL: return value->boolean ? IS_TRUE : IS_FALSE;
  case VALUE_STRING: return IS_WORD;
  default: return IS_NUMBER;
  }
}

static void expr_types_add_word(struct checker *checker, struct set *set, const char *word) {
  if (checker->word_count == WORDS_MOST) {
    set->open = true;
    return;
  }
  checker->words[checker->word_count++] = word;
  set->count++;
}

static struct set set_of(struct checker *checker, const struct value *values, size_t count,
                         bool open) {
  struct set set = {.open = open, .first = checker->word_count};
  for (size_t i = 0; i < count; i++) {
    set.types |= expr_types_type_of(&values[i]);
    if (values[i].type == VALUE_STRING && !set.open)
      expr_types_add_word(checker, &set, values[i].string);
  }
  if (open && set.types & IS_BOOLEAN) set.types |= IS_BOOLEAN;
  set.open = set.open && set.types & IS_WORD;
  return set;
}

static struct set slot_set(struct checker *checker, int slot) {
  const struct expr *expr = checker->expr;
  struct set set = {.types = IS_ANY, .open = true};
  for (size_t i = 0; i < expr->name_count; i++) {
    if (expr->names[i].slot != slot) continue;
    const struct expr_symbol symbol =
        checker->scope->find(checker->scope->context, expr->names[i].name);
    if (symbol.kind != SYMBOL_SLOT || symbol.slot != slot || !symbol.value_count) continue;
    set = set_of(checker, symbol.values, symbol.value_count, symbol.open);
    set.name = expr->names[i].name;
    set.slot = symbol;
  }
  return set;
}

static struct set expr_types_joined(struct checker *checker, const struct set *a,
                                    const struct set *b) {
  struct set set = {
      .types = a->types | b->types, .open = a->open || b->open, .first = checker->word_count};
  for (int i = 0; i < a->count && !set.open; i++)
    expr_types_add_word(checker, &set, checker->words[a->first + i]);
  for (int i = 0; i < b->count && !set.open; i++)
    expr_types_add_word(checker, &set, checker->words[b->first + i]);
  return set;
}

static bool share_word(const struct checker *checker, const struct set *a, const struct set *b) {
  const char *const *words = checker->words;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++)
      if (strcmp(words[a->first + i], words[b->first + j]) == 0) return true;
  return false;
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void expr_types_add_values(const struct set *set, struct text *out) {
  if (!set->name || set->slot.open) return;
  text_add(out, " (");
  for (size_t i = 0; i < set->slot.value_count && i < SHOWN_VALUES; i++) {
    if (i) text_add(out, ", ");
    value_print(set->slot.values[i], out);
  }
  text_add(out, set->slot.value_count > SHOWN_VALUES ? ", ...)" : ")");
}

/* Appends a description such as "BS is a number (64, 96, 128)". */
static void expr_types_describe(const struct set *set, const char *otherwise, struct text *out) {
  static const struct {
    unsigned type;
    const char *text;
  } rows[] = {
      {IS_NIL, "nil"}, {IS_BOOLEAN, "true or false"}, {IS_NUMBER, "a number"}, {IS_WORD, "a word"}};
  bool begun = false;
  text_addf(out, "%s is ", set->name ? set->name : otherwise);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!(set->types & rows[i].type)) continue;
    text_addf(out, "%s%s", begun ? " or " : "", rows[i].text);
    begun = true;
  }
  expr_types_add_values(set, out);
}

static struct text *expr_types_begin(struct checker *checker) {
  text_add(&checker->what, "in ");
  expr_quote(checker->expr->text, 0, &checker->what);
  text_add(&checker->what, ": ");
  return &checker->what;
}

static const char not_binds[] =
    "; \"not\" comes before a comparison: write not (a == b), or a ~= b";

/* Refuses the operand `set` of node `at`, because the operand must be true or false. */
static void refuse_condition(struct checker *checker, size_t at, const struct set *set) {
  const struct node *node = &checker->expr->nodes[at], *end = checker->expr->nodes;
  struct text *out = expr_types_begin(checker);
  expr_types_describe(set, "what is asked", out);
  text_addf(out, ", and \"%s\" needs true or false",
            node->op == OP_NOT   ? "not"
            : node->op == OP_AND ? "and"
                                 : "select");
  const struct node *parent = node + 1;
  end += checker->expr->node_count;
  while (parent < end && (node_operands(parent) == 0 || parent->at[0] != (int32_t)at)) parent++;
  if (node->op == OP_NOT && parent < end && parent->op >= OP_FIRST_COMPARISON &&
      parent->op <= OP_LAST_COMPARISON)
    text_add(out, not_binds);
  else if (set->name && set->types == IS_NUMBER)
    text_addf(out, "; compare it, as in %s ~= 0", set->name);
  else
    text_add(out, "; compare it with something");
}

static void refuse_types(struct checker *checker, size_t at, const struct set *a,
                         const struct set *b) {
  struct text *out = expr_types_begin(checker);
  expr_print_node(checker->expr, at, out);
  text_add(out, " compares what is never equal: ");
  expr_types_describe(a, "the left side", out);
  text_add(out, ", ");
  expr_types_describe(b, "the right side", out);
  const struct node *nodes = checker->expr->nodes;
  if (nodes[nodes[at].at[0]].op == OP_NOT || nodes[nodes[at].at[1]].op == OP_NOT)
    text_add(out, not_binds);
}

static void refuse_words(struct checker *checker, size_t at, const struct set *a,
                         const struct set *b) {
  struct text *out = expr_types_begin(checker);
  const struct set *odd = a->count < b->count ? a : b, *of = odd == a ? b : a;
  const char *word = checker->words[odd->first];
  const char *nearest = text_nearest(word, &checker->words[of->first], (size_t)of->count);
  expr_print_node(checker->expr, at, out);
  text_addf(out, " compares what is never equal: %s is never \"%s\", but",
            of->name ? of->name : "the other side", word);
  for (int i = 0; i < of->count && i < SHOWN_VALUES; i++)
    text_addf(out, "%s \"%s\"", i ? "," : "", checker->words[of->first + i]);
  if (of->count > SHOWN_VALUES) text_add(out, ", ...");
  if (nearest) text_addf(out, " (nearest \"%s\")", nearest);
}

/* ---- Running -------------------------------------------------------------------------------- */

/* Makes true and false one type, so that `a == false` is not refused if a is always true. */
static unsigned compared(unsigned types) {
  return types & IS_BOOLEAN ? types | IS_BOOLEAN : types;
}

/* Returns whether the operand is a slot with a single string, such as a tunable with one value. A
   comparison with such a slot is not refused, because an expression that several implementations
   share also compares with values of other implementations. */
static bool is_fixed(const struct set *set) {
  return set->name && set->count == 1;
}

static void expr_types_compare(struct checker *checker, size_t at, const struct set *a,
                               const struct set *b) {
  if (!(compared(a->types) & compared(b->types)))
    refuse_types(checker, at, a, b);
  else if (a->types == IS_WORD && b->types == IS_WORD && !a->open && !b->open && !is_fixed(a) &&
           !is_fixed(b) && !share_word(checker, a, b))
    refuse_words(checker, at, a, b);
}

/* A number on the left of `and` is allowed and counts as true, as in Lua, because configs write
   `device.is_gpu and a or b`. */
static bool asks_condition(enum expr_op op, const struct set *first) {
  return op == OP_NOT || op == OP_SELECT || (op == OP_AND && !(first->types & IS_NUMBER));
}

/* Returns the set of the node at index `at`. */
static struct set expr_types_step(struct checker *checker, size_t at) {
  const struct node *node = &checker->expr->nodes[at];
  const enum expr_op op = node->op;
  struct set *a = &checker->sets[node->at[0]], *b = &checker->sets[node->at[1]], first = *a;
  if (op == OP_PUSH)
    return node->place == OPERAND_SLOT
               ? slot_set(checker, node->operand)
               : set_of(checker, &checker->expr->constants[node->operand], 1, false);
  if (node_operands(node) && asks_condition(op, a) && !(a->types & IS_BOOLEAN))
    refuse_condition(checker, at, a);
  if (op == OP_EQUAL || op == OP_DIFFER) expr_types_compare(checker, at, a, b);
  if (op == OP_SELECT) return expr_types_joined(checker, b, &checker->sets[node->at[2]]);
  if (op == OP_AND) first = (struct set){.types = first.types & (IS_FALSE | IS_NIL)};
  if (op == OP_OR) first.types &= ~(unsigned)(IS_FALSE | IS_NIL);
  if (op == OP_AND || op == OP_OR) return expr_types_joined(checker, &first, b);
  const bool boolean =
      op == OP_NOT || op == OP_IS_POW2 || (op >= OP_FIRST_COMPARISON && op <= OP_LAST_COMPARISON);
  return (struct set){.types = boolean ? IS_BOOLEAN : IS_NUMBER};
}

static void checker_free(struct checker *checker) {
  text_free(&checker->what);
  free(checker->sets);
  free(checker);
}

static struct checker *expr_types_run(const struct expr *expr, const struct expr_scope *scope) {
  struct checker *checker = calloc(1, sizeof *checker);
  if (!checker) return NULL;
  checker->expr = expr;
  checker->scope = scope;
  checker->sets = calloc(expr->node_count, sizeof *checker->sets);
  if (!checker->sets) return checker_free(checker), NULL;
  for (size_t at = 0; at < expr->node_count && !checker->what.length; at++)
    checker->sets[at] = expr_types_step(checker, at);
  return checker;
}

int expr_check_types(const struct expr *expr, const struct expr_scope *scope, cugen_error *err) {
  if (!scope || !scope->find) return CUGEN_OK;
  struct checker *checker = expr_types_run(expr, scope);
  if (!checker) return error_memory(err);
  int status = checker->what.failed ? error_memory(err) : CUGEN_OK;
  if (!status && checker->what.length)
    status = error_set(err, CUGEN_ERROR_CONFIG, "%s", text_get(&checker->what));
  checker_free(checker);
  return status;
}

int expr_each_string(const struct expr *expr, const struct expr_scope *scope,
                     void (*visit)(void *context, const char *string), void *context, bool *open,
                     cugen_error *err) {
  struct checker *checker = expr_types_run(expr, scope);
  if (!checker) return error_memory(err);
  const struct set *result = &checker->sets[expr->node_count - 1];
  *open = result->open;
  for (int i = 0; i < result->count; i++) visit(context, checker->words[result->first + i]);
  checker_free(checker);
  return CUGEN_OK;
}
