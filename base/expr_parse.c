/* Parser of expressions: Lua's syntax and priorities (Lua 5.4 manual, 3.4.8). A function that
   parses adds nodes and returns the number of the last node. The status of the program keeps the
   first failure, after which no more tokens are read and no nodes added. */
#include "dtype.h"
#include "expr_program.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SYMBOL };

struct parser {
  const char *source;
  const struct expr_scope *scope;
  struct expr_extras extras;
  struct expr *program;
  cugen_error *err;
  int nesting; /* how many expressions, each inside another, are being parsed */
  /* The current token is source[start, at). */
  enum token_kind kind;
  const struct symbol *infix; /* the operator, if the token is a binary operator; else NULL */
  size_t start, at;
  struct value number;
  struct text name; /* the name of a name token, the contents of a string token */
};

/* ---- Messages ------------------------------------------------------------------------------- */

/* Keeps the first failure and makes the current token the last one. */
static int32_t expr_parse_stop(struct parser *parser, int status) {
  if (!parser->program->status) parser->program->status = status;
  parser->kind = TOKEN_END;
  parser->infix = NULL;
  return 0;
}

/* Fails with "WHAT, at column 8 of "tile + "". */
static int32_t expr_parse_fail_at(struct parser *parser, size_t column, const char *what) {
  struct text quoted = {0};
  if (parser->program->status) return 0;
  expr_quote(parser->source, column, &quoted);
  const int status = error_set(parser->err, CUGEN_ERROR_CONFIG, "%s, at column %zu of %s", what,
                               column + 1, text_get(&quoted));
  text_free(&quoted);
  return expr_parse_stop(parser, status);
}

/* Like expr_parse_fail_at, and frees the message. */
static int32_t expr_parse_fail_text(struct parser *parser, size_t column, struct text *what) {
  if (what->failed)
    expr_parse_stop(parser, error_memory(parser->err));
  else
    expr_parse_fail_at(parser, column, text_get(what));
  text_free(what);
  return 0;
}

static void quote_token(struct parser *parser, struct text *out) {
  if (parser->kind == TOKEN_END) {
    text_add(out, "the end");
    return;
  }
  struct text token = {0};
  text_add_n(&token, parser->source + parser->start, parser->at - parser->start);
  expr_quote(text_get(&token), 0, out);
  text_free(&token);
}

/* Words and operators of other languages, each with the text to write instead. */
static const char *const foreign_words[][2] = {
    {"in", "a == 1 or a == 2"},
    {"not", "a ~= 1 and a ~= 2"},
    {"is", "a == b"},
    {"if", "select(condition, a, b)"},
    {"xor", "a ~= b of conditions"},
    {"True", "true"},
    {"False", "false"},
    {"TRUE", "true"},
    {"FALSE", "false"},
    {"mod", "a % b"},
    {"div", "a // b"},
};

/* Returns the text to write instead of a word of another language; NULL for any other word. */
static const char *instead_of(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++)
    if (strlen(foreign_words[i][0]) == length && memcmp(foreign_words[i][0], word, length) == 0)
      return foreign_words[i][1];
  return NULL;
}

static int32_t expected(struct parser *parser, const char *what) {
  struct text message = {0};
  text_addf(&message, "expected %s, found ", what);
  quote_token(parser, &message);
  const char *instead = instead_of(parser->source + parser->start, parser->at - parser->start);
  if (instead) text_addf(&message, "; write %s", instead);
  return expr_parse_fail_text(parser, parser->start, &message);
}

/* ---- Symbols -------------------------------------------------------------------------------- */

enum { PRIORITY_COMPARISON = 3, PRIORITY_UNARY = 7 };

#define BITS                                                                                       \
  "there are no bit operations: is_pow2(a) tells a power of two, a % 8 == 0 a multiple, and, or, " \
  "not join "                                                                                      \
  "conditions"

/* Operators. Binary operators have a priority. A symbol that Lua does not have, or that is not
   allowed in expressions, has the text to write instead. A symbol stands before its own prefixes;
   otherwise frequent symbols come first. */
static const struct symbol {
  const char *text;
  enum expr_op op;
  int priority;
  const char *instead;
} symbols[] = {
    {.text = "**", .instead = "there is no power operator: write x * x"},
    {"*", OP_MULTIPLY, 6, NULL},
    {.text = "("},
    {.text = ")"},
    {.text = ","},
    {"+", OP_ADD, 5, NULL},
    {"%", OP_MODULO, 6, NULL},
    {"//", OP_FLOOR_DIVIDE, 6, NULL},
    {"/", OP_DIVIDE, 6, NULL},
    {.text = "--", .instead = "-- begins a comment in Lua: write a - (-b)"},
    {"-", OP_SUBTRACT, 5, NULL},
    {"==", OP_EQUAL, 3, NULL},
    {.text = "=", .instead = "\"equal\" is written == as in Lua"},
    {"~=", OP_DIFFER, 3, NULL},
    {.text = "~", .instead = BITS},
    {"<=", OP_LESS_EQUAL, 3, NULL},
    {.text = "<<", .instead = "there is no shift: multiply"},
    {"<", OP_LESS, 3, NULL},
    {">=", OP_GREATER_EQUAL, 3, NULL},
    {.text = ">>", .instead = "there is no shift: use //"},
    {">", OP_GREATER, 3, NULL},
    {.text = "["},
    {.text = "]"},
    {.text = "!=", .instead = "\"not equal\" is written ~= as in Lua"},
    {.text = "!", .instead = "\"!\" is written not"},
    {.text = "&&", .instead = "\"&&\" is written and"},
    {.text = "&", .instead = BITS},
    {.text = "||", .instead = "\"||\" is written or"},
    {.text = "|", .instead = BITS},
    {.text = "..", .instead = "strings cannot be joined here"},
    {.text = "?", .instead = "a choice is written: select(condition, a, b)"},
    {.text = "^", .instead = "there is no power operator: write x * x"},
    {.text = "#", .instead = "there is no length operator"},
};

static const struct symbol words[] = {{"or", OP_OR, 1, NULL}, {"and", OP_AND, 2, NULL}};

/* ---- Tokens --------------------------------------------------------------------------------- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool expr_parse_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns whether the current token is this operator or keyword. */
static bool token_is(const struct parser *parser, const char *text) {
  if (parser->kind != TOKEN_SYMBOL && parser->kind != TOKEN_NAME) return false;
  if (parser->source[parser->start] != *text) return false; /* rejects most tokens without a call */
  size_t length = strlen(text);
  return parser->at - parser->start == length &&
         memcmp(parser->source + parser->start, text, length) == 0;
}

/* Reads a name. A dot is part of the name if a letter follows: device.sm_count. */
static void expr_parse_read_name(struct parser *parser) {
  const char *s = parser->source;
  size_t at = parser->at;
  while (expr_parse_is_letter(s[at]) || is_digit(s[at]) ||
         (s[at] == '.' && expr_parse_is_letter(s[at + 1])))
    at++;
  text_add_n(&parser->name, s + parser->at, at - parser->at);
  parser->at = at;
  parser->kind = TOKEN_NAME;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (token_is(parser, words[i].text)) parser->infix = &words[i];
}

static void read_float(struct parser *parser, size_t length) {
  enum { LONGEST = 64 };
  char digits[LONGEST + 1], *end;
  if (length > LONGEST) {
    expr_parse_fail_at(parser, parser->start, "this number is too long");
    return;
  }
  memcpy(digits, parser->source + parser->start, length);
  digits[length] = '\0';
  errno = 0;
  double real = strtod(digits, &end);
  char *point = *end ? strchr(digits, '.') : NULL;
  if (point) { /* strtod expects the decimal point of the application's locale, like Lua's own
                  reader */
    *point = localeconv()->decimal_point[0];
    real = strtod(digits, &end);
  }
  if (*end)
    expr_parse_fail_at(parser, parser->start, "this is not a number");
  else if (errno == ERANGE && (real > 1 || real < -1))
    expr_parse_fail_at(parser, parser->start, "this number is too large");
  parser->number = value_float(real);
}

static void read_integer(struct parser *parser, size_t length, bool hex) {
  const char *s = parser->source + parser->start;
  uint64_t value = 0, base = hex ? 16 : 10;
  size_t i = hex ? 2 : 0;
  bool right = i < length, fits = true;
  for (; i < length && right && fits; i++) {
    const uint64_t digit = (uint64_t)(is_digit(s[i]) ? s[i] - '0' : (s[i] | 0x20) - 'a' + 10);
    right = digit < base;
    fits = !right || value <= (INT64_MAX - digit) / base;
    value = value * base + digit;
  }
  if (!right) expr_parse_fail_at(parser, parser->start, "this is not a number");
  if (!fits) expr_parse_fail_at(parser, parser->start, "this number does not fit into 64 bits");
  parser->number = value_int((int64_t)value);
}

/* Takes all characters that could be part of a number, so that "12ab" is one wrong number and not
   two tokens. */
static void expr_parse_read_number(struct parser *parser) {
  const char *s = parser->source;
  size_t at = parser->at;
  bool hex = s[at] == '0' && (s[at + 1] | 0x20) == 'x', floating = false;
  for (; expr_parse_is_letter(s[at]) || is_digit(s[at]) || s[at] == '.'; at++) {
    char lower = (char)(s[at] | 0x20);
    bool exponent = lower == (hex ? 'p' : 'e');
    floating |= exponent || s[at] == '.';
    if (exponent && (s[at + 1] == '+' || s[at + 1] == '-')) at++;
  }
  size_t length = at - parser->at;
  parser->at = at;
  parser->kind = TOKEN_NUMBER;
  if (floating)
    read_float(parser, length);
  else
    read_integer(parser, length, hex);
}

static void expr_parse_read_string(struct parser *parser) {
  static const char escapes[][2] = {{'n', '\n'},  {'t', '\t'}, {'r', '\r'},
                                    {'\\', '\\'}, {'"', '"'},  {'\'', '\''}};
  const char *s = parser->source;
  char quote = s[parser->at++];
  parser->kind = TOKEN_STRING;
  for (; s[parser->at] != quote; parser->at++) {
    char c = s[parser->at];
    if (c == '\0' || c == '\n') {
      expr_parse_fail_at(parser, parser->start, "this string has no closing quote");
      return;
    }
    if (c == '\\') {
      char escaped = s[++parser->at];
      size_t i = 0, count = sizeof escapes / sizeof *escapes;
      while (i < count && escapes[i][0] != escaped) i++;
      if (i == count) {
        expr_parse_fail_at(parser, parser->at - 1,
                           "only \\n \\t \\r \\\\ \\\" \\' may stand in a string");
        return;
      }
      c = escapes[i][1];
    }
    text_add_char(&parser->name, c);
  }
  parser->at++;
}

static void read_symbol(struct parser *parser) {
  const char *s = parser->source + parser->at;
  parser->kind = TOKEN_SYMBOL;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    if (*s != *symbols[i].text) continue;
    size_t length = strlen(symbols[i].text);
    if (strncmp(s, symbols[i].text, length) != 0) continue;
    parser->at += length;
    if (symbols[i].priority) parser->infix = &symbols[i];
    if (symbols[i].instead) expr_parse_fail_at(parser, parser->start, symbols[i].instead);
    return;
  }
  parser->at++;
  expected(parser, "an expression");
}

static void advance(struct parser *parser) {
  if (parser->program->status) { /* for example, adding a node failed */
    expr_parse_stop(parser, parser->program->status);
    return;
  }
  while (is_space(parser->source[parser->at])) parser->at++;
  char c = parser->source[parser->at];
  parser->start = parser->at;
  parser->infix = NULL;
  text_clear(&parser->name);
  if (c == '\0')
    parser->kind = TOKEN_END;
  else if (expr_parse_is_letter(c))
    expr_parse_read_name(parser);
  else if (is_digit(c) || (c == '.' && is_digit(parser->source[parser->at + 1])))
    expr_parse_read_number(parser);
  else if (c == '"' || c == '\'')
    expr_parse_read_string(parser);
  else
    read_symbol(parser);
  if (parser->name.failed) expr_parse_stop(parser, error_memory(parser->err));
}

static void expect(struct parser *parser, const char *symbol, const char *what) {
  if (token_is(parser, symbol))
    advance(parser);
  else
    expected(parser, what);
}

/* Returns whether the symbol ends a list, or a failure does. */
static bool ends(const struct parser *parser, const char *symbol) {
  return parser->program->status || token_is(parser, symbol);
}

/* ---- Functions ------------------------------------------------------------------------------ */

/* The functions. min and max take two or more arguments and are computed from left to right; select
   is parsed by parse_select. */
static const struct function {
  const char *name;
  enum expr_op op;
  int arguments;
  bool more;
  bool formula; /* allowed in formulas only; these rows come last */
} functions[] = {
    {"ceil_div", OP_CEIL_DIV, 2, false, false},
    {"round_up", OP_ROUND_UP, 2, false, false},
    {"pow", OP_POW, 2, false, false},
    {"ceil_log", OP_CEIL_LOG, 2, false, false},
    {"select", OP_SELECT, 3, true, false},
    {"min", OP_MIN, 2, true, false},
    {"max", OP_MAX, 2, true, false},
    {"is_pow2", OP_IS_POW2, 1, false, false},
    {"log2", OP_LOG2, 1, false, false},
    {"abs", OP_ABS, 1, false, false},
    {"sizeof", OP_SIZEOF, 1, false, false},
    {"eps", OP_EPS, 1, false, false},
    {"sqrt", OP_SQRT, 1, false, false},
    {"exp", OP_EXP, 1, false, false},
    {"log", OP_LOG, 1, false, false},
    {"tanh", OP_TANH, 1, false, false},
    {"erf", OP_ERF, 1, false, false},
    {"sin", OP_SIN, 1, false, false},
    {"cos", OP_COS, 1, false, false},
    {"floor", OP_FLOOR, 1, false, false},
    {"ceil", OP_CEIL, 1, false, false},
    {"f32", OP_F32, 1, false, false},
    {"gelu", OP_GELU, 1, false, true},
    {"fast_gelu", OP_FAST_GELU, 1, false, true},
    {"relu", OP_RELU, 1, false, true},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static size_t function_count(const struct parser *parser) {
  size_t count = 0;
  while (count < FUNCTION_COUNT && (parser->extras.element || !functions[count].formula)) count++;
  return count;
}

static const struct function *expr_parse_find_function(const struct parser *parser,
                                                       const char *name) {
  const size_t count = function_count(parser);
  for (size_t i = 0; i < count; i++)
    if (*functions[i].name == *name && strcmp(functions[i].name, name) == 0) return &functions[i];
  return NULL;
}

static bool is_scope_function(const struct parser *parser, const char *name) {
  const char *const *known = parser->extras.functions ? parser->extras.functions->names : NULL;
  while (known && *known && strcmp(*known, name) != 0) known++;
  return known && *known;
}

static int32_t expr_parse_priority(struct parser *parser, int priority);
static int parse_program(struct parser *parser, struct expr **out);

/* Returns cugen's name of a function that other languages or libraries give this name, or NULL. */
static const char *other_name(const char *name) {
  static const char *const names[][2] = {{"cdiv", "ceil_div"},     {"ceildiv", "ceil_div"},
                                         {"div_up", "ceil_div"},   {"divup", "ceil_div"},
                                         {"div_ceil", "ceil_div"}, {"align_up", "round_up"},
                                         {"align", "round_up"},    {"power_of_two", "is_pow2"},
                                         {"fmin", "min"},          {"fmax", "max"},
                                         {"fabs", "abs"},          {"where", "select"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], name) == 0) return names[i][1];
  return NULL;
}

static int32_t unknown_function(struct parser *parser, const char *name, size_t column) {
  enum { SCOPE_MOST = 8 };
  const char *names[FUNCTION_COUNT + SCOPE_MOST];
  const char *const *more = parser->extras.functions ? parser->extras.functions->names : NULL;
  struct text message = {0};
  size_t known = function_count(parser);
  for (size_t i = 0; i < known; i++) names[i] = functions[i].name;
  for (size_t i = 0; i < SCOPE_MOST && more && more[i]; i++) names[known++] = more[i];
  const char *other = other_name(name), *nearest = other ? other : text_nearest(name, names, known);
  text_addf(&message, "unknown function \"%.100s\"", name);
  if (nearest) text_addf(&message, "; did you mean \"%s\"?", nearest);
  if (!nearest) text_add(&message, "; there are");
  for (size_t i = 0; !nearest && i < known; i++) text_addf(&message, " %s", names[i]);
  return expr_parse_fail_text(parser, column, &message);
}

/* Parses the arguments of a function, from behind the "(". Further arguments are joined to the
   first two from left to right. */
static int32_t parse_arguments(struct parser *parser, const struct function *function,
                               size_t column) {
  int count = 0;
  int32_t node = 0;
  while (!ends(parser, ")")) {
    if (count > 0) expect(parser, ",", "\",\" or \")\"");
    const int32_t argument = expr_parse_priority(parser, 0);
    const bool joins = ++count >= 2 && (count == 2 || function->more);
    node = joins ? program_operate(parser->program, function->op, node, argument, 0) : argument;
  }
  if (count < function->arguments || (count > function->arguments && !function->more)) {
    struct text message = {0};
    text_addf(&message, "%s needs %s%d argument%s", function->name,
              function->more ? "at least " : "", function->arguments,
              function->arguments == 1 ? "" : "s");
    return expr_parse_fail_text(parser, column, &message);
  }
  if (count == 1) node = program_operate(parser->program, function->op, node, 0, 0);
  advance(parser);
  return node;
}

/* Parses the arguments of select, from behind the "(": conditions, each with a value, and the value
   for all other cases. Each condition becomes a select between its value and the select of the next
   condition, or the last value. */
static int32_t parse_select(struct parser *parser, size_t column) {
  enum { MOST = 2 * EXPR_MAX_NESTING + 1 };
  int32_t given[MOST];
  int count = 0;
  while (!ends(parser, ")")) {
    if (count) expect(parser, ",", "\",\" or \")\"");
    const int32_t node = expr_parse_priority(parser, 0);
    if (count == MOST)
      expr_parse_fail_at(parser, parser->start, "the expression is nested too deeply");
    else
      given[count++] = node;
  }
  if (count < 3 || count % 2 == 0)
    return expr_parse_fail_at(
        parser, column,
        "select needs conditions, each with a value, and a last value for all other cases: "
        "select(c1, v1, c2, v2, otherwise)");
  advance(parser);
  int32_t node = given[count - 1];
  for (int i = count - 3; i >= 0; i -= 2)
    node = program_operate(parser->program, OP_SELECT, given[i], given[i + 1], node);
  return node;
}

/* Parses the argument of a scope's function, up to the "," or ")" behind it, as an expression of
   its own. */
static struct expr *parse_argument(struct parser *parser) {
  const size_t from = parser->start;
  struct text source = {0};
  struct expr *argument = NULL;
  int status = CUGEN_OK;
  for (int depth = 0;
       parser->kind != TOKEN_END && (depth || !(token_is(parser, ",") || token_is(parser, ")")));) {
    depth += token_is(parser, "(") - token_is(parser, ")");
    advance(parser);
  }
  text_add_n(&source, parser->source + from, parser->start - from);
  if (source.failed) expr_parse_stop(parser, error_memory(parser->err));
  if (!parser->program->status)
    status = parse_program(&(struct parser){.source = text_get(&source),
                                            .scope = parser->scope,
                                            .extras = {.functions = parser->extras.functions},
                                            .err = parser->err,
                                            .nesting = parser->nesting + 1},
                           &argument);
  if (status) expr_parse_stop(parser, status);
  text_free(&source);
  return argument;
}

/* Parses a call of a scope's function. The scope takes over the arguments. */
static int32_t parse_scope_call(struct parser *parser, const char *name, size_t column) {
  struct expr *arguments[EXPR_CALL_ARGUMENTS] = {NULL};
  struct text text = {0}, why = {0};
  size_t count = 0;
  int32_t node = 0;
  while (!ends(parser, ")")) {
    if (count) expect(parser, ",", "\",\" or \")\"");
    if (count == EXPR_CALL_ARGUMENTS)
      expr_parse_fail_at(parser, parser->start, "there are too many arguments");
    else if ((arguments[count] = parse_argument(parser)))
      count++;
  }
  if (parser->program->status) {
    for (size_t i = 0; i < count; i++) expr_free(arguments[i]);
    return 0;
  }
  text_add_n(&text, parser->source + column, parser->at - column);
  const struct expr_call *call = parser->extras.functions->call(
      parser->scope->context, name, text_get(&text), arguments, count, &why);
  if (call && !text.failed)
    node = program_call(parser->program, call);
  else if (text.failed || why.failed)
    expr_parse_stop(parser, error_memory(parser->err));
  else
    expr_parse_fail_at(parser, column, text_get(&why));
  text_free(&text);
  text_free(&why);
  advance(parser);
  return node;
}

static int32_t parse_call(struct parser *parser, const char *name, size_t column) {
  const struct function *function = expr_parse_find_function(parser, name);
  if (!function && !is_scope_function(parser, name)) return unknown_function(parser, name, column);
  advance(parser);
  if (!function) return parse_scope_call(parser, name, column);
  return function->op == OP_SELECT ? parse_select(parser, column)
                                   : parse_arguments(parser, function, column);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int32_t expr_parse_unknown_name(struct parser *parser, const char *name, size_t column) {
  size_t count = 0;
  const struct expr_scope *scope = parser->scope;
  const char *const *names = scope && scope->names ? scope->names(scope->context, &count) : NULL;
  const char *nearest = text_nearest(name, names, names ? count : 0);
  struct text message = {0};
  if (expr_parse_find_function(parser, name) && !dtype_find(name))
    text_addf(&message, "\"%s\" is a function: expected \"(\" after it", name);
  else
    text_addf(&message, "unknown name \"%.100s\"", name);
  if (dtype_find(name))
    text_addf(&message, "; a dtype is written in quotes: '%s'", name);
  else if (nearest && !expr_parse_find_function(parser, name))
    text_addf(&message, "; did you mean \"%s\"?", nearest);
  else if (instead_of(name, strlen(name)))
    text_addf(&message, "; write %s", instead_of(name, strlen(name)));
  return expr_parse_fail_text(parser, column, &message);
}

static int32_t expr_parse_push_name(struct parser *parser, const char *name, size_t column) {
  struct expr_symbol symbol = {.kind = SYMBOL_UNKNOWN};
  if (parser->scope && parser->scope->find)
    symbol = parser->scope->find(parser->scope->context, name);
  switch (symbol.kind) {
  case SYMBOL_SLOT: return program_slot(parser->program, symbol.slot, name);
  case SYMBOL_CONSTANT: return program_constant(parser->program, symbol.constant);
  case SYMBOL_EXPR:
    if (symbol.expr->call_count && (parser->extras.element || parser->extras.find_buffer))
      return expr_parse_fail_at(parser, column, "what this asks about arrays has no place here");
    return program_append(parser->program, symbol.expr);
  case SYMBOL_BUFFER:
    return expr_parse_fail_at(parser, column, "a buffer stands with its indices: name[i]");
  case SYMBOL_UNKNOWN: break;
  }
  return expr_parse_unknown_name(parser, name, column);
}

enum { MOST_INDICES = 4 };

/* Reads the names of a formula's indices, from behind the "[" to the "]". */
static size_t expr_parse_read_indices(struct parser *parser, char **indices) {
  size_t count = 0;
  do {
    if (count) expect(parser, ",", "\",\" or \"]\"");
    if (parser->kind != TOKEN_NAME || parser->infix)
      expected(parser, "the name of a parameter");
    else if (count == MOST_INDICES)
      expr_parse_fail_at(parser, parser->start, "a buffer has at most 4 dimensions");
    else if (!(indices[count++] = text_take(&parser->name)))
      expr_parse_stop(parser, error_memory(parser->err));
    advance(parser);
  } while (!ends(parser, "]"));
  advance(parser);
  return count;
}

/* Parses the indices of an element, from behind the "[" to the "]". */
static int parse_indices(struct parser *parser, int32_t *indices) {
  int count = 0;
  do {
    if (count) expect(parser, ",", "\",\" or \"]\"");
    const int32_t index = expr_parse_priority(parser, 0);
    if (count == MOST_INDICES)
      expr_parse_fail_at(parser, parser->start, "a buffer has at most 4 dimensions");
    else
      indices[count++] = index;
  } while (!ends(parser, "]"));
  advance(parser);
  return count;
}

static int32_t parse_buffer(struct parser *parser, const char *name, size_t column) {
  struct text why = {0};
  int32_t indices[MOST_INDICES];
  int buffer, rank;
  if (!parser->extras.find_buffer(parser->scope->context, name, &buffer, &rank, &why))
    return expr_parse_fail_text(parser, column, &why);
  advance(parser);
  const int count = parse_indices(parser, indices);
  if (count == rank) return program_element(parser->program, buffer, rank, name, indices);
  text_addf(&why, "\"%s\" has %d dimension%s, not %d", name, rank, rank == 1 ? "" : "s", count);
  return expr_parse_fail_text(parser, column, &why);
}

static int32_t parse_element(struct parser *parser, const char *name, size_t column) {
  char *indices[MOST_INDICES] = {NULL};
  struct text why = {0};
  int slot = 0;
  int32_t node = 0;
  if (parser->extras.find_buffer) return parse_buffer(parser, name, column);
  if (!parser->extras.element)
    return expr_parse_fail_at(parser, parser->start, "elements of buffers are for formulas");
  advance(parser);
  const size_t count = expr_parse_read_indices(parser, indices);
  if (parser->program->status ||
      parser->extras.element(parser->scope->context, name, (const char *const *)indices, count,
                             &slot, &why))
    node = program_slot(parser->program, slot, name);
  else
    expr_parse_fail_text(parser, column, &why);
  for (size_t i = 0; i < count; i++) free(indices[i]);
  return node;
}

static bool find_literal(const char *name, struct value *out) {
  if (strcmp(name, "nil") == 0)
    *out = (struct value){.type = VALUE_NIL};
  else if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
    *out = value_bool(name[0] == 't');
  else
    return false;
  return true;
}

static int32_t parse_name(struct parser *parser) {
  const size_t column = parser->start;
  if (parser->infix) return expected(parser, "a value");
  struct value literal;
  struct text name = parser->name; /* taken over, so that advance does not overwrite the name */
  parser->name = (struct text){0};
  advance(parser);
  int32_t node = 0;
  if (find_literal(text_get(&name), &literal))
    node = program_constant(parser->program, literal);
  else if (token_is(parser, "("))
    node = parse_call(parser, text_get(&name), column);
  else if (token_is(parser, "["))
    node = parse_element(parser, text_get(&name), column);
  else if (!parser->program->status)
    node = expr_parse_push_name(parser, text_get(&name), column);
  text_free(&name);
  return node;
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static int32_t parse_unary(struct parser *parser, enum expr_op op) {
  advance(parser);
  return program_operate(parser->program, op, expr_parse_priority(parser, PRIORITY_UNARY), 0, 0);
}

static int32_t parse_simple(struct parser *parser) {
  int32_t node;
  if (token_is(parser, "not")) return parse_unary(parser, OP_NOT);
  if (token_is(parser, "-")) return parse_unary(parser, OP_NEGATE);
  if (token_is(parser, "(")) {
    advance(parser);
    node = expr_parse_priority(parser, 0);
    expect(parser, ")", "an operator or \")\"");
  } else if (parser->kind == TOKEN_NUMBER || parser->kind == TOKEN_STRING) {
    node = program_constant(parser->program, parser->kind == TOKEN_NUMBER
                                                 ? parser->number
                                                 : value_string(text_get(&parser->name)));
    advance(parser);
  } else {
    node = parser->kind == TOKEN_NAME ? parse_name(parser) : expected(parser, "a value");
  }
  return node;
}

/* Parses operators of a priority above `priority`. All operators are left associative. */
static int32_t expr_parse_priority(struct parser *parser, int priority) {
  if (++parser->nesting > EXPR_MAX_NESTING)
    return expr_parse_fail_at(parser, parser->start, "the expression is nested too deeply");
  int32_t node = parse_simple(parser);
  const struct symbol *infix;
  for (int last = 0; (infix = parser->infix) && infix->priority > priority;
       last = infix->priority) {
    if (infix->priority == PRIORITY_COMPARISON && last == PRIORITY_COMPARISON)
      return expr_parse_fail_at(
          parser, parser->start,
          "comparisons cannot be chained (write a <= b and b <= c, or use parentheses)");
    advance(parser);
    const int32_t right = expr_parse_priority(parser, infix->priority);
    node = program_operate(parser->program, infix->op, node, right, 0);
  }
  parser->nesting--;
  return node;
}

static int parse_program(struct parser *parser, struct expr **out) {
  *out = NULL;
  parser->program = program_new(parser->source, parser->err);
  if (!parser->program) return CUGEN_ERROR_MEMORY;
  advance(parser);
  expr_parse_priority(parser, 0);
  if (parser->kind != TOKEN_END) expected(parser, "an operator or the end");
  int status = parser->program->status;
  if (!status) status = expr_bind(parser->program, NULL, NULL, 0, out, parser->err);
  if (!status) status = expr_check_types(*out, parser->scope, parser->err);
  text_free(&parser->name);
  expr_free(parser->program);
  if (!status) return CUGEN_OK;
  expr_free(*out);
  *out = NULL;
  return status;
}

int expr_parse_with(const char *source, const struct expr_scope *scope,
                    const struct expr_extras *extras, struct expr **out, cugen_error *err) {
  return parse_program(
      &(struct parser){.source = source, .scope = scope, .extras = *extras, .err = err}, out);
}

int expr_parse(const char *source, const struct expr_scope *scope, struct expr **out,
               cugen_error *err) {
  return expr_parse_with(source, scope, &(struct expr_extras){0}, out, err);
}
