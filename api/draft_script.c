/* Reads scripts in T1 and prints parts of a config; see draft_script.h. */
#include "draft_script.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/expr.h"
#include "base/sizes.h"
#include "base/system.h"
#include "foreign.h"
#include "gen/config/names.h"

enum { MOST_VALUES = 4096, MOST_EXPRESSION = 2000 };

static const char *const size_names[] = {"problem_size_x", "problem_size_y", "problem_size_z"};

static const char *word_of(json_t *object, const char *name) {
  const char *word = json_string_value(json_object_get(object, name));
  return word ? word : "";
}

/* Returns why a config cannot use that name of the script; NULL: a config can. */
static const char *script_refuses(const char *name) {
  for (size_t i = 0; i < sizeof size_names / sizeof *size_names; i++)
    if (strcmp(name, size_names[i]) == 0) return "it is the name of a size";
  return names_identifier(name) ? names_refused(name, true) : "it is no name in C";
}

static bool is_word(const char *word, const char *wanted) {
  return strcmp(word, wanted) == 0;
}

const struct dtype *script_type(const char *type, int *elements) {
  char base[SIGNATURE_TYPE];
  const size_t length = strlen(type);
  *elements = 1;
  for (size_t i = 0; i < DTYPE_COUNT; i++)
    if (strcmp(dtype_table[i].cuda_name, type) == 0 || strcmp(dtype_table[i].c_name, type) == 0)
      return &dtype_table[i];
  if (dtype_meant(type)) return dtype_find(dtype_meant(type));
  if (length < 2 || length > sizeof base || !strchr("234", type[length - 1])) return NULL;
  memcpy(base, type, length - 1);
  base[length - 1] = '\0';
  int inner;
  const struct dtype *dtype = script_type(base, &inner);
  *elements = type[length - 1] - '0';
  return dtype;
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static const struct script_tunable *script_tunable(const struct script *s, const char *name,
                                                   size_t length) {
  for (size_t i = 0; i < s->tunable_count; i++)
    if (strlen(s->tunables[i].name) == length && memcmp(s->tunables[i].name, name, length) == 0)
      return &s->tunables[i];
  return NULL;
}

/* Returns the length of the operand at the text's end, such as "x" or "(a + b)", with the blanks
   behind; 0: there is none. */
static size_t last_operand(const char *text, size_t length) {
  size_t end = length, depth = 0;
  while (end && text[end - 1] == ' ') end--;
  size_t at = end;
  if (at && text[at - 1] == ')') {
    do {
      at--;
      depth += text[at] == ')';
      depth -= text[at] == '(';
    } while (at && depth);
  }
  while (at && text_is_word(text[at - 1])) at--;
  return at < end ? length - at : 0;
}

/* Returns the length of the exponent at the text's beginning, such as "-(a + b)" or "b ** c". */
static size_t exponent_length(const char *text) {
  size_t at = strspn(text, " "), depth = 0;
  at += text[at] == '-';
  while (text_is_word(text[at])) at++;
  if (text[at] == '(') {
    do {
      depth += text[at] == '(';
      depth -= text[at] == ')';
      at++;
    } while (text[at] && depth);
  }
  const size_t next = at + strspn(text + at, " ");
  return strncmp(text + next, "**", 2) == 0 ? next + 2 + exponent_length(text + next + 2) : at;
}

/* Sets *out to the largest (`most`) or smallest value of a tunable. Returns false if the tunable
   has no value, or a value that is no whole number. */
static bool bound_of(const struct script_tunable *tunable, bool most, int64_t *out) {
  for (size_t i = 0; i < tunable->count; i++) {
    const struct value value = tunable->values[i];
    if (value.type != VALUE_INT) return false;
    if (!i || (most ? value.integer > *out : value.integer < *out)) *out = value.integer;
  }
  return tunable->count > 0;
}

/* Writes the word of Python at `at`, or what a config has in its place. Returns how many characters
   were read. */
static size_t put_word(const struct script *s, const char *at, struct text *out) {
  size_t length = 0;
  int64_t bound = 0;
  while (text_is_word(at[length])) length++;
  const char *rest = at + length;
  const bool most = length == 3 && memcmp(at, "max", 3) == 0,
             least = length == 3 && memcmp(at, "min", 3) == 0;
  if (length == 11 && memcmp(at, "ProblemSize", 11) == 0 && rest[0] == '[' && rest[1] >= '0' &&
      rest[1] <= '2' && rest[2] == ']')
    return text_add(out, size_names[rest[1] - '0']), length + 3;
  if (length == 4 && memcmp(at, "True", 4) == 0) return text_add(out, "true"), length;
  if (length == 5 && memcmp(at, "False", 5) == 0) return text_add(out, "false"), length;
  if ((most || least) && *rest == '(') {
    const size_t inner = strcspn(rest + 1, ",()");
    const struct script_tunable *tunable = script_tunable(s, rest + 1, inner);
    if (tunable && rest[1 + inner] == ')' && bound_of(tunable, most, &bound))
      return text_addf(out, "%" PRId64, bound), length + inner + 2;
  }
  text_add_n(out, at, length);
  return length;
}

/* Writes a Python expression in the syntax of configs, which differs in quotes, !=, ** and the
   words that put_word replaces. */
static void to_lua(const struct script *s, const char *python, struct text *out) {
  for (const char *at = python; *at;) {
    const char quote = *at == '\'' || *at == '"' ? *at : 0;
    if (quote) {
      const char *end = strchr(at + 1, quote);
      const size_t inner = end ? (size_t)(end - at - 1) : strlen(at + 1);
      text_add_char(out, '\'');
      text_add_n(out, at + 1, inner);
      text_add_char(out, '\'');
      at += inner + 1 + (end != NULL);
    } else if (text_is_word(*at)) {
      at += put_word(s, at, out);
    } else if (strncmp(at, "!=", 2) == 0) {
      text_add(out, "~=");
      at += 2;
    } else if (strncmp(at, "**", 2) == 0) {
      struct text base = {0}, raised = {0};
      const size_t before = last_operand(text_get(out), out->length),
                   after = exponent_length(at + 2);
      char *const exponent = strndup(at + 2, after);
      text_add(&base, text_get(out) + out->length - before);
      if (exponent) to_lua(s, exponent, &raised);
      text_cut(out, out->length - before);
      text_addf(out, "pow(%s, %s)", text_get(&base), text_get(&raised));
      out->failed |= !exponent || base.failed || raised.failed;
      free(exponent);
      text_free(&base);
      text_free(&raised);
      at += 2 + after;
    } else {
      text_add_char(out, *at++);
    }
  }
}

/* The names that an expression may use. */
struct script_scope {
  const struct script *script;
  const char *variable; /* the only name that a list's element may use; NULL: sizes and tunables */
};

/* All names get slot 0: only a list's variable is ever evaluated; other expressions are printed. */
static struct expr_symbol script_find(void *context, const char *name) {
  const struct script_scope *scope = context;
  struct expr_symbol slot = {.kind = SYMBOL_SLOT};
  if (scope->variable) return is_word(name, scope->variable) ? slot : (struct expr_symbol){0};
  for (size_t i = 0; i < SCRIPT_SIZES && i < scope->script->size_count; i++)
    if (is_word(name, size_names[i])) return slot;
  return script_tunable(scope->script, name, strlen(name)) ? slot : (struct expr_symbol){0};
}

static const char *const *script_known(void *context, size_t *count) {
  (void)context;
  *count = 0;
  return NULL;
}

static int parse_python(const struct script *s, const char *variable, const char *python,
                        struct text *lua, struct expr **out, cugen_error *err) {
  struct script_scope context = {s, variable};
  const struct expr_scope scope = {script_find, script_known, &context};
  if (strlen(python) > MOST_EXPRESSION)
    return error_set(err, CUGEN_ERROR_USAGE, "an expression of more than %d characters",
                     MOST_EXPRESSION);
  to_lua(s, python, lua);
  return lua->failed ? error_memory(err) : expr_parse(text_get(lua), &scope, out, err);
}

/* ---- Values of tunables --------------------------------------------------------------------- */

static int add_value(struct script *s, struct script_tunable *to, struct value value,
                     cugen_error *err) {
  if (to->count >= MOST_VALUES)
    return error_set(err, CUGEN_ERROR_USAGE, "there are more than %d", MOST_VALUES);
  for (size_t i = 0; i < to->count; i++)
    if (value_equal(to->values[i], value)) return CUGEN_OK;
  if (value.type == VALUE_STRING) {
    const char *refused = names_refused_word(value.string);
    if (refused)
      return error_set(err, CUGEN_ERROR_USAGE, "'%s' is none that a tunable can have: %s",
                       value.string, refused);
    if (!array_add_text(&s->words, &s->word_count, value.string)) return error_memory(err);
    value.string = s->words[s->word_count - 1];
  }
  if (!ARRAY_ROOM(to->values, to->count)) return error_memory(err);
  to->values[to->count++] = value;
  return CUGEN_OK;
}

/* Adds the value of the expression `python`, in which `variable` has the value `at`. variable NULL:
   no name is known. */
static int add_element(struct script *s, struct script_tunable *to, const char *variable,
                       int64_t at, const char *python, cugen_error *err) {
  const struct value slot = value_int(at);
  struct text lua = {0};
  struct expr *expr = NULL;
  struct value value;
  int status = parse_python(s, variable ? variable : "", python, &lua, &expr, err);
  if (!status) status = expr_eval(expr, &slot, &value, err);
  if (!status) status = add_value(s, to, value, err);
  expr_free(expr);
  text_free(&lua);
  return status;
}

/* Cuts the text at the commas that stand outside of brackets and quotes, and adds the value of each
   part that is not empty. */
static int add_elements(struct script *s, struct script_tunable *to, char *text, cugen_error *err) {
  int status = CUGEN_OK;
  for (char *at = text; *at && !status;) {
    char *const part = at + strspn(at, " \n\t");
    int depth = 0;
    char quote = 0;
    for (; *at && (*at != ',' || depth || quote); at++) {
      if (quote ? *at == quote : *at == '\'' || *at == '"') quote = quote ? 0 : *at;
      if (!quote) depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    }
    const bool more = *at == ',';
    *at = '\0';
    if (*part) status = add_element(s, to, NULL, 0, part, err);
    at += more;
  }
  return status;
}

/* Adds the elements of range(...), or of "python for variable in range(...)". */
static int add_range(struct script *s, struct script_tunable *to, char *text, cugen_error *err) {
  static const char in_range[] = " in range(", is_for[] = " for ";
  struct script_tunable bounds = {.name = to->name};
  char *const behind = strstr(text, is_for), *const in = strstr(text, in_range);
  char *arguments = in ? in + sizeof in_range - 1 : strstr(text, "range(") + sizeof "range(" - 1;
  const char *python = "i", *variable = "i";
  if (behind && in && behind < in) {
    *behind = *in = '\0';
    python = text;
    variable = behind + sizeof is_for - 1;
  }
  char *const end = strchr(arguments, ')');
  if (!end || (behind && strstr(end, " if ")))
    return error_set(err, CUGEN_ERROR_USAGE, "only range(...) without a condition is read");
  *end = '\0';
  int status = add_elements(s, &bounds, arguments, err);
  for (size_t i = 0; i < bounds.count && !status; i++)
    if (bounds.values[i].type != VALUE_INT)
      status = error_set(err, CUGEN_ERROR_USAGE, "range takes whole numbers");
  if (!status && (bounds.count < 1 || bounds.count > 3))
    status = error_set(err, CUGEN_ERROR_USAGE, "range takes one to three numbers");
  if (!status && bounds.values) {
    const int64_t from = bounds.count > 1 ? bounds.values[0].integer : 0,
                  to_before = bounds.values[bounds.count > 1].integer,
                  step = bounds.count > 2 ? bounds.values[2].integer : 1;
    if (!step) status = error_set(err, CUGEN_ERROR_USAGE, "range takes no step of 0");
    bool more = true;
    for (int64_t i = from; !status && more && (step > 0 ? i < to_before : i > to_before);) {
      status = add_element(s, to, variable, i, python, err);
      more = !__builtin_add_overflow(i, step, &i);
    }
  }
  free(bounds.values);
  return status;
}

/* Takes a list of Python: "[1, 2]", "[2**i for i in range(6)]", "list(range(1, 9))". */
static int add_listed(struct script *s, struct script_tunable *to, const char *python,
                      cugen_error *err) {
  char *const text = strdup(python);
  if (!text) return error_memory(err);
  char *begin = text + strcspn(text, "[("), *end = strrchr(text, *begin == '(' ? ')' : ']');
  int status;
  if (strstr(text, "range(")) {
    status = add_range(s, to, *text == '[' ? text + 1 : text, err);
  } else if (!*begin || !end) {
    status = error_set(err, CUGEN_ERROR_USAGE, "a list is expected");
  } else {
    *end = '\0';
    status = add_elements(s, to, begin + 1, err);
  }
  if (!status && !to->count) status = error_set(err, CUGEN_ERROR_USAGE, "there is none");
  if (status && status != CUGEN_ERROR_MEMORY) {
    error_prefix(err, "%s: the values of '%s', %s", s->path, to->name, python);
    status = err->status = CUGEN_ERROR_USAGE;
  }
  free(text);
  return status;
}

static struct value json_value(json_t *value) {
  if (json_is_boolean(value)) return value_bool(json_is_true(value));
  if (json_is_integer(value)) return value_int(json_integer_value(value));
  if (json_is_real(value)) return value_float(json_real_value(value));
  return json_is_string(value) ? value_string(json_string_value(value)) : (struct value){0};
}

static int read_tunable(struct script *s, json_t *parameter, cugen_error *err) {
  json_t *values = json_object_get(parameter, "Values"), *value;
  size_t i;
  if (s->tunable_count == SCRIPT_TUNABLES)
    return error_set(err, CUGEN_ERROR_USAGE, "%s has more than %d tuning parameters", s->path,
                     SCRIPT_TUNABLES);
  struct script_tunable *to = &s->tunables[s->tunable_count];
  to->name = word_of(parameter, "Name");
  const char *refused = script_refuses(to->name);
  if (refused)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s: tuning parameter '%s' cannot have that name here: %s", s->path, to->name,
                     refused);
  s->tunable_count++;
  if (json_is_string(values)) return add_listed(s, to, json_string_value(values), err);
  int status = CUGEN_OK;
  json_array_foreach(values, i, value) {
    if (!status) status = add_value(s, to, json_value(value), err);
  }
  if (!status && !to->count) status = error_set(err, CUGEN_ERROR_USAGE, "there is none");
  return status ? error_prefix(err, "%s: the values of '%s'", s->path, to->name), status : CUGEN_OK;
}

/* ---- The script ----------------------------------------------------------------------------- */

static int read_sizes(struct script *s, cugen_error *err) {
  json_t *size = json_object_get(s->kernel, "ProblemSize"), *one;
  size_t i;
  if (!size) return CUGEN_OK;
  if (json_is_integer(size)) return s->sizes[s->size_count++] = json_integer_value(size), CUGEN_OK;
  json_array_foreach(size, i, one) {
    if (i == SCRIPT_SIZES || !json_is_integer(one) || json_integer_value(one) < 1) break;
    s->sizes[s->size_count++] = json_integer_value(one);
  }
  if (s->size_count && s->size_count == json_array_size(size)) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "%s: ProblemSize: one to three whole numbers are expected", s->path);
}

static int check_kernel(const struct script *s, cugen_error *err) {
  const char *language = word_of(s->kernel, "Language");
  if (!s->kernel)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s has no KernelSpecification: a script in T1 is expected, such as Kernel "
                     "Tuner and KTT read",
                     s->path);
  if (!is_word(language, "CUDA"))
    return error_set(err, CUGEN_ERROR_USAGE, "%s is for the language '%s', and cugen for CUDA",
                     s->path, language);
  if (!*s->file || !*s->entry)
    return error_set(err, CUGEN_ERROR_USAGE, "%s: KernelFile or KernelName is missing", s->path);
  if (*s->file == '/' || strstr(s->file, ".."))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s: KernelFile '%s' has to be beside the script, or in a folder there",
                     s->path, s->file);
  return CUGEN_OK;
}

int script_open(const char *path, struct script *out, cugen_error *err) {
  struct text text = {0};
  json_t *parameter;
  size_t i;
  *out = (struct script){.path = path};
  int status = file_read_at_most(path, SIZE_CONFIG, &text, err);
  if (!status) status = foreign_parse(path, &text, &out->root, err);
  text_free(&text);
  if (status) return status;
  json_t *space = json_object_get(out->root, "ConfigurationSpace");
  out->kernel = json_object_get(out->root, "KernelSpecification");
  out->file = word_of(out->kernel, "KernelFile");
  out->entry = word_of(out->kernel, "KernelName");
  status = check_kernel(out, err);
  if (!status) status = read_sizes(out, err);
  json_array_foreach(json_object_get(space, "TuningParameters"), i, parameter) {
    if (!status) status = read_tunable(out, parameter, err);
  }
  return status;
}

void script_close(struct script *s) {
  for (size_t i = 0; i < s->tunable_count; i++) free(s->tunables[i].values);
  array_free_texts(s->words, s->word_count);
  json_decref(s->root);
}

/* ---- Parts of a config ---------------------------------------------------------------------- */

static void mark(struct text *out, size_t *guesses, const char *what) {
  text_addf(out, "  -- guess%s%s\n", *what ? ": " : "", what);
  ++*guesses;
}

/* Adds a comment on what the script has and a config cannot have. */
static void add_to_do(struct text *out, size_t *guesses, const char *indent, const char *what,
                      const char *text, const char *why) {
  const char *const parts[] = {text, *why ? ": " : "", why};
  text_addf(out, "%s-- to do: %s ", indent, what);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (const char *at = parts[i]; *at; at++)
      text_add_char(out, iscntrl((unsigned char)*at) ? ' ' : *at);
  text_add_char(out, '\n');
  ++*guesses;
}

/* Adds the expression in quotes. Returns false, with the reason in `why`, if a config cannot have
   the expression. */
static bool add_expression(const struct script *s, const char *python, struct text *out,
                           struct text *why) {
  struct text lua = {0};
  struct expr *expr = NULL;
  cugen_error err;
  const bool right = parse_python(s, NULL, python, &lua, &expr, &err) == CUGEN_OK &&
                     !strpbrk(text_get(&lua), "\"\\\r\n");
  if (right)
    text_addf(out, "\"%s\"", text_get(&lua));
  else if (why)
    text_add(why, expr ? "it has a quote, a backslash or a line break" : err.message);
  expr_free(expr);
  text_free(&lua);
  return right;
}

void script_add_problem(const struct script *s, struct text *out, size_t *guesses) {
  static const int small[] = {97, 101, 45};
  if (!s->size_count) return;
  for (size_t i = 0; i < SCRIPT_SIZES && i < s->size_count; i++)
    text_addf(out, "  problem \"%s\" (%" PRId64 "),\n", size_names[i], s->sizes[i]);
  text_add(out, "  check {");
  for (size_t i = 0; i < SCRIPT_SIZES && i < s->size_count; i++)
    text_addf(out, "%s %s = %d", i ? "," : "", size_names[i], small[i]);
  text_add(out, " },");
  mark(out, guesses, "small and ragged, if the kernel's sizes are not fixed");
  text_add_char(out, '\n');
}

/* Adds a buffer's shape: all sizes if their product is the argument's Size, else Size itself, or 1
   if Size is missing or has no form in a config. */
static void add_shape(const struct script *s, json_t *argument, int elements, struct text *out,
                      const char **said) {
  json_t *size = json_object_get(argument, "Size");
  const char *python = json_string_value(size);
  int64_t product = s->size_count ? 1 : 0;
  for (size_t i = 0; i < SCRIPT_SIZES && i < s->size_count; i++) product *= s->sizes[i];
  text_add(out, "shape = { ");
  *said = "shape";
  if (json_is_integer(size) && product == json_integer_value(size)) {
    for (size_t i = s->size_count; i-- > 0;)
      text_addf(out, "\"%s\"%s", size_names[i], i ? ", " : "");
  } else if (json_is_integer(size)) {
    text_addf(out, "%" PRId64, (int64_t)json_integer_value(size));
    *said = "";
  } else if (!python || !add_expression(s, python, out, NULL)) {
    text_add(out, "1");
    *said = python ? "shape; the script's size has no form here" : "shape; the script has no size";
  }
  text_addf(out, elements > 1 ? ", %d }" : " }", elements);
}

static const char *kind_of(json_t *argument, const char *seen) {
  const char *access = word_of(argument, "AccessType");
  if (is_word(access, "WriteOnly")) return "output";
  if (is_word(access, "ReadWrite")) return "inout";
  if (json_is_true(json_object_get(argument, "Output")) ||
      json_integer_value(json_object_get(argument, "Output")))
    return "output";
  return is_word(access, "ReadOnly") || is_word(seen, "scalar") ? "input" : seen;
}

static void add_fill(json_t *argument, struct text *out, const char **said) {
  json_t *value = json_object_get(argument, "FillValue");
  const char *fill = word_of(argument, "FillType");
  const double number = json_number_value(value);
  if (is_word(fill, "Random") || !*fill) return;
  if (!is_word(fill, "Constant") || !json_is_number(value)) {
    *said = "data; the script makes or reads them";
    return;
  }
  if (number >= 0 && number <= 0) {
    text_add(out, ", fill = \"zero\"");
  } else {
    text_add(out, ", values = \"");
    value_print(json_value(value), out);
    text_add_char(out, '"');
  }
}

static const struct dtype *type_of(json_t *argument, int *elements) {
  const struct dtype *dtype = script_type(word_of(argument, "Type"), elements);
  return dtype ? dtype : is_word(word_of(argument, "Type"), "bool") ? dtype_find("u8") : NULL;
}

static void add_buffer(const struct script *s, json_t *argument, const char *kind, const char *name,
                       struct text *out, size_t *guesses) {
  int elements = 1;
  const struct dtype *dtype = type_of(argument, &elements);
  const char *said = "", *type = dtype ? dtype->name : "f32";
  const bool result = is_word(kind, "output") || is_word(kind, "inout");
  text_addf(out, "  %s \"%s\" { dtype = \"%s\", ", kind, name, type);
  add_shape(s, argument, elements, out, &said);
  if (!is_word(kind, "output")) add_fill(argument, out, &said);
  if (result && dtype_find(type)->floating)
    text_addf(out, ", tolerance = \"16 * eps('%s')\", norm = \"16 * eps('%s')\"", type, type);
  text_add(out, " },");
  if (!dtype) said = "type; the script's is not one of cugen's";
  if (*said || result)
    mark(out, guesses, *said ? said : "tolerance");
  else
    text_add_char(out, '\n');
}

static void add_number(json_t *argument, const char *name, struct text *out, size_t *guesses) {
  int elements = 1;
  const struct dtype *dtype = type_of(argument, &elements);
  json_t *fill = json_object_get(argument, "FillValue");
  const struct value value = json_is_string(fill) ? (struct value){0} : json_value(fill);
  if (!dtype || elements > 1) {
    add_to_do(out, guesses, "  ", "the scalar", name, "its type is not one of cugen's");
    return;
  }
  text_addf(out, "  scalar \"%s\" { dtype = \"%s\", value = \"", name, dtype->name);
  value_print(value.type == VALUE_NIL ? value_int(1) : value, out);
  text_add(out, "\" },");
  if (value.type == VALUE_NIL || !dtype->floating)
    mark(out, guesses, value.type == VALUE_NIL ? "value" : "if it is a size, make it a problem");
  else
    text_add_char(out, '\n');
}

static bool is_constant(json_t *argument) {
  return is_word(word_of(argument, "MemType"), "Constant") ||
         is_word(word_of(argument, "MemoryType"), "Symbol");
}

static json_t *arguments_of(const struct script *s) {
  return json_object_get(s->kernel, "Arguments");
}

/* Kernel Tuner passes what it copies to constant memory as a parameter, too; KTT does not. */
int script_check(const struct script *s, const struct signature *in, cugen_error *err) {
  const size_t count = json_array_size(arguments_of(s)),
               wanted = in->parameter_count > 0 ? (size_t)in->parameter_count : 0;
  size_t i, constants = 0;
  json_t *argument;
  json_array_foreach(arguments_of(s), i, argument) {
    constants += is_constant(argument);
  }
  if (wanted == count || wanted == count - constants) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "%s has %zu arguments, %zu of them in constant memory, and kernel '%s' in %s "
                   "has %zu parameters",
                   s->path, count, constants, s->entry, s->file, wanted);
}

/* Returns the argument's name in the script if a config can have it and no other argument has; else
   `otherwise`, the kernel's. */
static const char *argument_name(const struct script *s, json_t *argument, const char *otherwise) {
  const char *name = word_of(argument, "Name");
  json_t *other;
  size_t i;
  if (script_refuses(name)) return otherwise;
  json_array_foreach(arguments_of(s), i, other) {
    if (other != argument && is_word(word_of(other, "Name"), name)) return otherwise;
  }
  return name;
}

void script_add_arguments(const struct script *s, api_draft *draft, struct text *out,
                          size_t *guesses) {
  const bool passed = draft->parameter_count == json_array_size(arguments_of(s));
  json_t *argument;
  size_t i, at = 0;
  json_array_foreach(arguments_of(s), i, argument) {
    const bool constant = is_constant(argument);
    if ((constant && !passed) || at >= draft->parameter_count) continue;
    api_draft_parameter *p = &draft->parameters[at++];
    const char *name = constant ? p->name : argument_name(s, argument, p->name);
    if (p->pointer) p->kind = kind_of(argument, p->kind);
    if (p->pointer)
      add_buffer(s, argument, p->kind, name, out, guesses);
    else
      add_number(argument, name, out, guesses);
    if (name != p->name) snprintf(p->name, sizeof p->name, "%s", name);
  }
  json_array_foreach(arguments_of(s), i, argument) {
    const char *name = word_of(argument, "Name");
    if (is_constant(argument) && script_refuses(name))
      add_to_do(out, guesses, "  ", "the constant", name, script_refuses(name));
    else if (is_constant(argument))
      add_buffer(s, argument, "constant", name, out, guesses);
  }
}

void script_add_constants(const struct script *s, struct text *out) {
  json_t *argument;
  size_t i;
  json_array_foreach(arguments_of(s), i, argument) {
    const char *name = word_of(argument, "Name");
    json_t *size = json_object_get(argument, "Size");
    struct text lua = {0};
    int elements = 1;
    if (!is_constant(argument) || script_refuses(name)) continue;
    type_of(argument, &elements);
    text_addf(out, "__constant__ %s_t %s[", name, name);
    if (json_is_integer(size))
      text_addf(out, "%" PRId64, (int64_t)json_integer_value(size));
    else if (json_is_string(size) && add_expression(s, json_string_value(size), &lua, NULL))
      text_addf(out, "${%.*s}", (int)(lua.length - 2), text_get(&lua) + 1);
    else
      text_add_char(out, '1');
    text_addf(out, elements > 1 ? " * %d];\n" : "];\n", elements);
    text_free(&lua);
  }
}

static void add_defaults(const struct script *s, struct text *out) {
  json_t *parameter;
  size_t i, count = 0;
  json_array_foreach(
      json_object_get(json_object_get(s->root, "ConfigurationSpace"), "TuningParameters"), i,
      parameter) {
    const struct value value = json_value(json_object_get(parameter, "Default"));
    size_t at = 0;
    while (at < s->tunables[i].count && !value_equal(s->tunables[i].values[at], value)) at++;
    if (value.type == VALUE_NIL || at == s->tunables[i].count) continue;
    text_addf(out, "%s%s = ", count++ ? ", " : "    try { ", s->tunables[i].name);
    if (value.type == VALUE_STRING) text_add_char(out, '"');
    value_print(value, out);
    if (value.type == VALUE_STRING) text_add_char(out, '"');
  }
  if (count) text_add(out, " },\n");
}

void script_add_tunables(const struct script *s, struct text *out, size_t *guesses) {
  json_t *condition;
  size_t i;
  for (i = 0; i < s->tunable_count; i++) {
    text_addf(out, "    tunable \"%s\" {", s->tunables[i].name);
    for (size_t k = 0; k < s->tunables[i].count; k++) {
      const bool word = s->tunables[i].values[k].type == VALUE_STRING;
      text_addf(out, "%s%s", k ? ", " : " ", word ? "\"" : "");
      value_print(s->tunables[i].values[k], out);
      if (word) text_add_char(out, '"');
    }
    text_add(out, " },\n");
  }
  add_defaults(s, out);
  json_array_foreach(json_object_get(json_object_get(s->root, "ConfigurationSpace"), "Conditions"),
                     i, condition) {
    const char *python = word_of(condition, "Expression");
    struct text lua = {0}, why = {0};
    if (add_expression(s, python, &lua, &why))
      text_addf(out, "    where %s,\n", text_get(&lua));
    else
      add_to_do(out, guesses, "    ", "where", python, text_get(&why));
    text_free(&lua);
    text_free(&why);
  }
}

/* ---- The launch ---- */

/* Adds the extent `name` ("LocalSize" or "GlobalSize") along an axis, in quotes. A missing extent
   is 1. */
static void add_extent(const struct script *s, const char *name, char axis, struct text *out,
                       bool *right) {
  const char letter[2] = {axis, '\0'};
  json_t *extent = json_object_get(json_object_get(s->kernel, name), letter);
  const char *python = json_string_value(extent);
  if (json_is_integer(extent))
    text_addf(out, "\"%" PRId64 "\"", (int64_t)json_integer_value(extent));
  else if (!add_expression(s, python ? python : "1", out, NULL))
    text_add(out, "\"1\""), *right = false;
}

/* Adds the product of the list's expressions, in quotes. An empty list stands for the tunable
   block_size_x, _y or _z of this dimension, or for 1 if there is none. Returns false if the product
   cannot be expressed. */
static bool add_product(const struct script *s, json_t *list, int dimension, struct text *out) {
  struct text product = {0};
  json_t *one;
  size_t i;
  json_array_foreach(list, i, one) {
    const char *python = json_string_value(one), *end = python;
    while (end && text_is_word(*end)) end++;
    const bool plain = end && !*end;
    text_addf(&product, plain ? "%s%s" : "%s(%s)", i ? " * " : "", python ? python : "");
  }
  if (!json_array_size(list)) {
    char block[] = "block_size_x";
    block[sizeof block - 2] = "xyz"[dimension];
    text_add(&product, script_tunable(s, block, strlen(block)) ? block : "1");
  }
  const bool right = add_expression(s, text_get(&product), out, NULL);
  text_free(&product);
  return right;
}

/* Adds an extent of Kernel Tuner's grid: a size divided by GridDiv. */
static void add_divided(const struct script *s, int dimension, struct text *out, bool *right) {
  const char key[] = {'G', 'r', 'i', 'd', 'D', 'i', 'v', "XYZ"[dimension], '\0'};
  struct text step = {0};
  if (!add_product(s, json_object_get(s->kernel, key), dimension, &step)) {
    text_add(&step, "\"1\"");
    *right = false;
  }
  if (is_word(text_get(&step), "\"1\""))
    text_addf(out, "\"%s\"", size_names[dimension]);
  else
    text_addf(out, "\"ceil_div(%s, %.*s)\"", size_names[dimension], (int)(step.length - 2),
              text_get(&step) + 1);
  text_free(&step);
}

/* Adds an extent of the grid. KTT's is GlobalSize, which OpenCL counts in threads. */
static void add_grid(const struct script *s, int dimension, struct text *out, bool *right) {
  const char axis = "XYZ"[dimension];
  struct text threads = {0}, block = {0};
  if (dimension < (int)s->size_count) {
    add_divided(s, dimension, out, right);
  } else if (is_word(word_of(s->kernel, "GlobalSizeType"), "OpenCL")) {
    add_extent(s, "GlobalSize", axis, &threads, right);
    add_extent(s, "LocalSize", axis, &block, right);
    text_addf(out, "\"ceil_div(%.*s, %.*s)\"", (int)(threads.length - 2), text_get(&threads) + 1,
              (int)(block.length - 2), text_get(&block) + 1);
  } else {
    add_extent(s, "GlobalSize", axis, out, right);
  }
  text_free(&threads);
  text_free(&block);
}

/* Returns the number of dimensions (1 to 3) without trailing extents that are 1 or missing. */
static int dimensions(const struct script *s, const char *name) {
  json_t *extents = json_object_get(s->kernel, name);
  int count = 3;
  for (; count > 1; count--) {
    const char axis[] = {"XYZ"[count - 1], '\0'};
    json_t *extent = json_object_get(extents, axis);
    const char *text = json_string_value(extent);
    if (extent && json_integer_value(extent) != 1 && !(text && is_word(text, "1"))) break;
  }
  return count;
}

static void end_extents(struct text *out, size_t *guesses, bool right) {
  text_add(out, " },");
  if (right)
    text_add_char(out, '\n');
  else
    mark(out, guesses, "an extent of the script has no form here");
}

void script_add_launch(const struct script *s, struct text *out, size_t *guesses) {
  const int blocks = s->size_count ? (int)s->size_count : dimensions(s, "GlobalSize"),
            threads = dimensions(s, "LocalSize");
  const int64_t shared = json_integer_value(json_object_get(s->kernel, "SharedMemory"));
  json_t *option;
  size_t i;
  bool right = true;
  text_add(out, "    grid { ");
  for (int axis = 0; axis < blocks; axis++) {
    text_add(out, axis ? ", " : "");
    add_grid(s, axis, out, &right);
  }
  end_extents(out, guesses, right);
  right = true;
  text_add(out, "    block { ");
  for (int axis = 0; axis < threads; axis++) {
    text_add(out, axis ? ", " : "");
    add_extent(s, "LocalSize", "XYZ"[axis], out, &right);
  }
  end_extents(out, guesses, right);
  if (shared > 0) text_addf(out, "    shared \"%" PRId64 "\",\n", shared);
  /* The option of fast mathematics is translated, -std is dropped, and any other option becomes a
     comment. */
  json_array_foreach(json_object_get(s->kernel, "CompilerOptions"), i, option) {
    const char *word = json_string_value(option);
    if (!word || !*word || strncmp(word, "-std", 4) == 0) continue;
    if (strstr(word, "use_fast_math"))
      text_add(out, "    options { fast_math = true },\n");
    else
      add_to_do(out, guesses, "    ", "the compiler option", word,
                "docs/config.md has options { }");
  }
}
