/* Walks once over a rendered body, then puts the whole source together; see assemble.h. */
#include "assemble.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/source_place.h"
#include "common_types.h"
#include "gen/sources/signature.h"
#include "scopes.h"

/* A part that is left out of the body: `#include <header>` from the # to the >, or a #define or
   #undef. */
struct include {
  size_t at, length;
  const char *header; /* the header with its brackets; NULL: the part is left out without a
                         replacement */
  size_t header_length;
  bool macro; /* `header` is a whole #define or #undef, which moves with the includes behind it */
};

struct walk {
  struct names *names;
  const struct text *body;
  struct source_reader reader;
  struct scopes scopes;
  const char *outside; /* where the last function or declaration of the file ended; NULL: none */
  bool line_start;
  bool in_directive, in_test; /* in_test: in a line with #if, #elif or the like */
  bool in_value;              /* in an #if that stands in no other condition, where the compiler
                                 takes undefined names for 0 */
  int conditions;             /* number of open #if */
  const char *asked;          /* the word behind the last #ifdef, #ifndef, defined or #define, whose
                                 value does not matter there */
  const struct name *guarded; /* name of the innermost #ifndef, while its first branch is open */
  bool templated;             /* `template` was read since the last semicolon or brace */
  struct include *includes;
  size_t include_count;
  struct kernel_names *kernels;
  struct common_types types;
  cugen_error *err;
};

/* Fails at `at`, a place in the body. The message is the name followed by `what`. */
static int error_at(struct walk *walk, const char *at, const char *what, const char *name) {
  struct text said = {0};
  text_addf(&said, "%s%s", name, what);
  int status = said.failed ? error_memory(walk->err)
                           : source_fail(walk->err, CUGEN_ERROR_TEMPLATE, walk->body->data, at, "",
                                         text_get(&said));
  text_free(&said);
  return status;
}

/* ---- Mentions ------------------------------------------------------------------------------- */

/* Refuses an #if with a name whose value is passed at launch, because the compiler would take the
   name for 0. A source that asks whether the name is a macro, or defines the name, is not
   refused. */
static int test(struct walk *walk, struct name *name, struct source_token word) {
  name->tested = true;
  if (!walk->in_value || name->doubted || name->redefined || !names_parameter(walk->names, name))
    return CUGEN_OK;
  return error_at(
      walk, word.at,
      names_tunable(walk->names, name)
          ? " is passed at launch, and #if would take it for 0: use if, or pass it by a scalar of "
            "another name"
          : " is passed at launch, and #if would take it for 0: use if, or specialize it",
      name->text);
}

static void assemble_doubt(struct walk *walk, struct source_token word) {
  struct name *name =
      word.kind == SOURCE_WORD ? names_find(walk->names, word.at, word.length) : NULL;
  walk->asked = word.at;
  if (name) name->doubted = true;
}

/* Handles a call in a condition. `defined(word)` does not use the word's value. A condition with
   another call is not checked. */
static void call_in_condition(struct walk *walk, struct source_token word) {
  struct source_reader ahead = walk->reader;
  struct source_token next = source_next_in_line(&ahead);
  const bool opens = source_is_mark(next, '(');
  if (source_is(word, "defined"))
    assemble_doubt(walk, opens ? source_next_in_line(&ahead) : next);
  else if (opens)
    walk->in_value = false;
}

static int mention(struct walk *walk, struct name *name, struct source_token word) {
  int status = walk->in_test ? test(walk, name, word) : CUGEN_OK;
  name->valued |= word.at != walk->asked;
  if (status || name->used) return status;
  if (names_only_lua(walk->names, name))
    return error_at(walk, word.at, " is a string: use it in a //@ line or in ${}", name->text);
  name->used = true;
  return CUGEN_OK;
}

/* Refuses a global of a config's name, because the whole file would see the global's value instead
   of the variant's. */
static int meet_global(struct walk *walk, struct name *name, struct source_token word) {
  if (walk->conditions || !names_macro(walk->names, name)) return mention(walk, name, word);
  return error_at(walk, word.at,
                  " comes from the config, and this declaration would hide it: remove the "
                  "declaration, or rename one of them",
                  name->text);
}

static int meet_name(struct walk *walk, struct name *name, struct source_token word) {
  if (walk->in_directive) return mention(walk, name, word);
  const enum scope_sight sight = scopes_see(&walk->scopes, word, walk->reader, name);
  if (sight == SCOPE_MENTION) return mention(walk, name, word);
  if (sight == SCOPE_GLOBAL) return meet_global(walk, name, word);
  name->scoped = true;
  if (sight == SCOPE_HIDDEN || walk->conditions) return CUGEN_OK;
  if (!name->declared) name->declared = word.at;
  if (sight == SCOPE_VARIABLE && !name->variable) name->variable = word.at;
  return CUGEN_OK;
}

/* ---- Directives ----------------------------------------------------------------------------- */

/* Leaves [at, end) out of the body. header: the line that moves to the top in its place, or
   NULL. */
static int assemble_cut(struct walk *walk, const char *at, const char *end, const char *header,
                        size_t header_length) {
  const struct include cut = {(size_t)(at - walk->body->data), (size_t)(end - at), header,
                              header_length, false};
  return ARRAY_ADD(walk->includes, walk->include_count, cut) ? CUGEN_OK : error_memory(walk->err);
}

/* Notes that a #define or #undef moves with the includes behind it, because the macro may be meant
   for a header: `#define NDEBUG`. Inside a condition the line stays. */
static int hold_macro(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  source_skip_line(&ahead);
  const size_t length = (size_t)(ahead.at - mark.at);
  int status = walk->conditions ? CUGEN_OK : assemble_cut(walk, mark.at, ahead.at, mark.at, length);
  if (!status && !walk->conditions) walk->includes[walk->include_count - 1].macro = true;
  return status;
}

/* Leaves the held macros where they are, because no include follows them. */
static void release_macros(struct walk *walk) {
  size_t last = walk->include_count, kept;
  while (last && (!walk->includes[last - 1].header || walk->includes[last - 1].macro)) last--;
  kept = last;
  for (size_t i = last; i < walk->include_count; i++)
    if (!walk->includes[i].macro) walk->includes[kept++] = walk->includes[i];
  walk->include_count = kept;
}

/* Moves an #include <header>. An include inside a condition stays where it is. */
static int assemble_include_line(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  const struct source_token open = source_next_in_line(&ahead);
  if (!source_is_mark(open, '<')) return CUGEN_OK;
  const char *end = walk->body->data + walk->body->length;
  const char *newline = memchr(open.at, '\n', (size_t)(end - open.at));
  const char *close = memchr(open.at, '>', (size_t)((newline ? newline : end) - open.at));
  if (!close) return CUGEN_OK;
  walk->reader.at = close + 1;
  return walk->conditions
             ? CUGEN_OK
             : assemble_cut(walk, mark.at, close + 1, open.at, (size_t)(close + 1 - open.at));
}

/* Returns whether only a number follows on the line, possibly in parentheses or with a sign. */
static bool is_number_line(struct source_reader reader) {
  bool number = false;
  struct source_token token = source_next_in_line(&reader);
  for (; token.kind != SOURCE_END && token.kind != SOURCE_NEWLINE;
       token = source_next_in_line(&reader)) {
    if (token.kind == SOURCE_NUMBER)
      number = true;
    else if (token.kind != SOURCE_MARK || !strchr("()+-", *token.at))
      return false;
  }
  return number;
}

/* Handles a #define. For a name of the config, outside of conditions, a number is left out, so that
   the variant's value holds; anything else is refused, because it would silently win over that
   value. */
static int define_line(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  struct source_token word = source_next_in_line(&ahead);
  if (word.kind != SOURCE_WORD) return CUGEN_OK;
  struct name *name = names_find(walk->names, word.at, word.length);
  if (!name) return hold_macro(walk, mark);
  walk->asked = word.at;
  if (walk->conditions) { /* whether the line is reached, only the compiler knows: see add_checks */
    if (!name->redefined && name != walk->guarded) name->redefined = word.at;
    return CUGEN_OK;
  }
  if (!is_number_line(ahead) || *ahead.at == '(' || !names_macro(walk->names, name))
    return error_at(walk, word.at,
                    " comes from the config: put #ifndef and #endif around its #define",
                    name->text);
  source_skip_line(&walk->reader);
  return assemble_cut(walk, mark.at, walk->reader.at, NULL, 0);
}

static int undef_line(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  struct source_token word = source_next_in_line(&ahead);
  const bool own = word.kind == SOURCE_WORD && !names_find(walk->names, word.at, word.length);
  return own ? hold_macro(walk, mark) : CUGEN_OK;
}

static int open_condition(struct walk *walk, struct source_token mark) {
  (void)mark;
  walk->in_value = !walk->conditions++;
  walk->guarded = NULL;
  walk->in_test = true;
  scopes_if(&walk->scopes);
  return CUGEN_OK;
}

static int open_ifdef(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  assemble_doubt(walk, source_next_in_line(&ahead));
  return open_condition(walk, mark);
}

static int open_guard(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  struct source_token word = source_next_in_line(&ahead);
  int status = open_ifdef(walk, mark);
  if (word.kind == SOURCE_WORD) walk->guarded = names_find(walk->names, word.at, word.length);
  return status;
}

static int next_condition(struct walk *walk, struct source_token mark) {
  (void)mark;
  walk->guarded = NULL;
  walk->in_test = true;
  scopes_else(&walk->scopes);
  return CUGEN_OK;
}

static int close_condition(struct walk *walk, struct source_token mark) {
  (void)mark;
  if (walk->conditions) walk->conditions--;
  walk->guarded = NULL;
  scopes_endif(&walk->scopes);
  return CUGEN_OK;
}

static int skip_line(struct walk *walk, struct source_token mark) {
  (void)mark;
  source_skip_line(&walk->reader);
  return CUGEN_OK;
}

/* The directives that need handling; other directives only mention names. */
static const struct directive {
  const char *word;
  int (*handle)(struct walk *walk, struct source_token mark);
} directives[] = {
    {"include", assemble_include_line},
    {"define", define_line},
    {"undef", undef_line},
    {"if", open_condition},
    {"ifdef", open_ifdef},
    {"ifndef", open_guard},
    {"line", skip_line},
    {"elif", next_condition},
    {"else", next_condition},
    {"endif", close_condition},
    {"error", skip_line},
    {"warning", skip_line},
};

static int directive(struct walk *walk, struct source_token mark) {
  struct source_reader ahead = walk->reader;
  struct source_token word = source_next_in_line(&ahead);
  if (word.kind != SOURCE_WORD) return CUGEN_OK;
  walk->reader = ahead;
  walk->in_directive = true;
  for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
    if (source_is(word, directives[i].word)) return directives[i].handle(walk, mark);
  return CUGEN_OK;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

const struct kernel_name *kernel_names_find(const struct kernel_names *kernels, const char *entry) {
  const size_t length = strcspn(entry, "<");
  size_t start = length;
  while (start > 0 && entry[start - 1] != ':') start--;
  for (size_t i = 0; i < kernels->count && i < KERNELS_LISTED; i++) {
    const struct kernel_name *kernel = &kernels->list[i];
    if (kernel->length == length - start && memcmp(kernel->at, entry + start, kernel->length) == 0)
      return kernel;
  }
  return NULL;
}

/* Adds the kernel whose __global__ was just read. */
static void assemble_find_kernel(struct walk *walk) {
  struct kernel_names *kernels = walk->kernels;
  struct source_reader reader = walk->reader;
  const struct source_token name = signature_kernel_name(&reader);
  if (name.kind != SOURCE_WORD) return;
  for (size_t i = 0; i < kernels->count && i < KERNELS_LISTED; i++)
    if (source_is_word(name, kernels->list[i].at, kernels->list[i].length)) return;
  if (kernels->count < KERNELS_LISTED)
    kernels->list[kernels->count] = (struct kernel_name){name.at, name.length, walk->templated};
  kernels->count++;
}

/* ---- The walk ------------------------------------------------------------------------------- */

/* Returns the number of arguments in the parentheses that follow, 1 for `()`; 0 if none follow. */
static int count_indices(struct source_reader reader) {
  struct source_token token = source_next_solid(&reader);
  int depth = source_is_mark(token, '('), count = depth;
  while (depth && token.kind != SOURCE_END) {
    token = source_next_solid(&reader);
    if (token.kind != SOURCE_MARK) continue;
    depth += (strchr("([{", *token.at) != NULL) - (strchr(")]}", *token.at) != NULL);
    count += depth == 1 && *token.at == ',';
  }
  return count;
}

/* Notes A(i, j): a buffer's name with as many indices as dimensions, in a directive, or in a
   function if the buffer is a symbol or a parameter. */
static int meet_element(struct walk *walk, struct name *name, struct source_token word) {
  const bool member = scopes_member(&walk->scopes);
  const struct kernel_argument *argument = &walk->names->in.arguments[name->index];
  const bool inside = walk->in_directive || walk->scopes.depth > 0;
  if (!walk->in_directive) {
    if (!inside && walk->scopes.parentheses) name->declared = word.at;
    scopes_see(&walk->scopes, word, walk->reader, NULL);
  }
  const bool known = walk->in_directive || kernel_argument_symbol(argument) ||
                     (name->declared && name->declared > walk->outside);
  if (inside && known && !member && count_indices(walk->reader) == argument->rank)
    name->used = true;
  return CUGEN_OK;
}

/* Returns whether no brace is open, not even that of a namespace. */
static bool is_outside(const struct walk *walk) {
  return !walk->scopes.depth && !walk->scopes.transparent;
}

static int visit_word(struct walk *walk, struct source_token word) {
  struct name *name = names_find_any(walk->names, word.at, word.length);
  if (!name)
    common_types_see(&walk->types, word, walk->scopes.before[0], walk->reader,
                     !walk->in_directive && is_outside(walk), walk->conditions);
  if (name && name->kind == NAME_ELEMENT) return meet_element(walk, name, word);
  if (word.length == 10 && source_is(word, "__global__"))
    assemble_find_kernel(walk);
  else if (word.length == 8 && source_is(word, "template"))
    walk->templated = true;
  else if (walk->in_test && !name)
    call_in_condition(walk, word);
  if (name) return meet_name(walk, name, word);
  if (!walk->in_directive) scopes_see(&walk->scopes, word, walk->reader, NULL);
  return CUGEN_OK;
}

static int visit_mark(struct walk *walk, struct source_token mark) {
  if (walk->line_start && *mark.at == '#') return directive(walk, mark);
  if (*mark.at == ';' || *mark.at == '{' || *mark.at == '}') walk->templated = false;
  if (!walk->in_directive) scopes_see(&walk->scopes, mark, walk->reader, NULL);
  if ((*mark.at == ';' || *mark.at == '}') && walk->scopes.depth == 0) walk->outside = mark.at;
  walk->types.in_typedef &= walk->in_directive || *mark.at != ';' || !is_outside(walk);
  return CUGEN_OK;
}

static int walk_body(struct walk *walk) {
  int status = CUGEN_OK;
  while (!status) {
    const struct source_token token = source_next(&walk->reader);
    switch (token.kind) {
    case SOURCE_END: return CUGEN_OK;
    case SOURCE_WORD: status = visit_word(walk, token); break;
    case SOURCE_MARK: status = visit_mark(walk, token); break;
    case SOURCE_NEWLINE: walk->in_directive = walk->in_test = walk->in_value = false; break;
    case SOURCE_NUMBER:
    case SOURCE_LITERAL:
      if (!walk->in_directive) scopes_see(&walk->scopes, token, walk->reader, NULL);
      break;
    default: break;
    }
    if (token.kind == SOURCE_NEWLINE)
      walk->line_start = true;
    else if (token.kind >= SOURCE_WORD)
      walk->line_start = false;
  }
  return status;
}

/* ---- The kernels to launch ------------------------------------------------------------------ */

static int entry_error(struct walk *walk, const struct kernel_entry *entry, const struct name *name,
                       const char *what) {
  return config_fail(walk->err, entry->line, "entry \"%s\": %s %s", text_get(&entry->name),
                     name->text, what);
}

/* Notes the names in an entry. "reduce<block_size, half>" is written behind the source, where
   macros are known but parameters are not. */
static int entry_mentions(struct walk *walk, const struct kernel_entry *entry) {
  const char *text = text_get(&entry->name);
  struct source_reader reader = {text, text + entry->name.length};
  for (struct source_token t = source_next(&reader); t.kind != SOURCE_END;
       t = source_next(&reader)) {
    struct name *name = t.kind == SOURCE_WORD ? names_find(walk->names, t.at, t.length) : NULL;
    if (t.kind == SOURCE_WORD) common_types_see(&walk->types, t, t, reader, false, false);
    if (!name) continue;
    if (names_only_lua(walk->names, name))
      return entry_error(walk, entry, name, "is a word: put its value in with ${}");
    if (names_parameter(walk->names, name))
      return entry_error(walk, entry, name,
                         "is passed at launch: put its value in with ${}, or specialize it");
    name->used = name->valued = true;
  }
  return CUGEN_OK;
}

/* ---- Clashes -------------------------------------------------------------------------------- */

/* Decides whether a name becomes a constant or a macro. A declaration can hide a constant but not a
   macro. A source that needs the macro and also declares the name is refused here; the compiler
   would only complain about `int 128`. A name that cannot be a constant, and is declared only in
   branches of the preprocessor, stays a macro. */
static int assemble_settle(struct walk *walk, struct name *name) {
  const bool shared = name->kind == NAME_SHARED;
  if (name->variable && !name->used && (shared || names_tunable(walk->names, name)))
    return error_at(walk, name->variable,
                    shared ? " is a shared array of the config, and this variable hides it: remove "
                             "the variable's declaration, or rename one of them"
                           : " is a tunable of the config, and this variable hides it: remove the "
                             "variable's declaration, or rename one of them",
                    name->text);
  if (!name->scoped || !name->used || !names_macro(walk->names, name)) return CUGEN_OK;
  name->scoped = !name->tested && names_constant(walk->names, name);
  if (name->scoped || !name->declared) return CUGEN_OK;
  return error_at(
      walk, name->declared,
      name->tested
          ? " is declared here, and is a macro of the config's that a directive tests: rename one"
          : " is declared here, and is a macro of the config's that a launch's sizes decide: "
            "rename one",
      name->text);
}

/* ---- The prologue --------------------------------------------------------------------------- */

struct prologue {
  struct names *names;
  struct text lines; /* the definitions, in the order in which they were made */
  struct definition {
    size_t at, length;
    bool done;
  } * definitions;                  /* one for each name */
  const char *headers[DTYPE_COUNT]; /* headers needed by dtypes, without brackets */
  size_t header_count;
};

static void need_header(struct prologue *prologue, const struct dtype *dtype) {
  if (!dtype || !dtype->header) return;
  for (size_t i = 0; i < prologue->header_count; i++)
    if (strcmp(prologue->headers[i], dtype->header) == 0) return;
  if (prologue->header_count < sizeof prologue->headers / sizeof *prologue->headers)
    prologue->headers[prologue->header_count++] = dtype->header;
}

/* Marks the names in a definition as used. */
static bool mark_mentions(struct names *names, const char *text, size_t length) {
  struct source_reader reader = {text, text + length};
  bool marked = false;
  for (struct source_token token = source_next(&reader); token.kind != SOURCE_END;
       token = source_next(&reader)) {
    struct name *name =
        token.kind == SOURCE_WORD ? names_find(names, token.at, token.length) : NULL;
    if (name) name->valued = true;
    if (!name || name->used) continue;
    name->used = marked = true;
  }
  return marked;
}

/* Defines every used name that is not defined yet. *more: whether the definitions use further
   names. */
static int define_round(struct prologue *prologue, bool *more, cugen_error *err) {
  struct names *names = prologue->names;
  *more = false;
  for (size_t i = 0; i < names->count; i++) {
    struct definition *definition = &prologue->definitions[i];
    if (!names->list[i].used || definition->done) continue;
    const struct dtype *type;
    definition->at = prologue->lines.length;
    int status = names_define(names, &names->list[i], &prologue->lines, &type, err);
    if (status) return status;
    if (prologue->lines.failed) return error_memory(err);
    definition->length = prologue->lines.length - definition->at;
    definition->done = true;
    need_header(prologue, type);
    /* The definition of a number or type mentions no other name, unless the launch decides its
       value. */
    const bool alone = names->list[i].scalar < 0 && names->list[i].kind != NAME_ELEMENT;
    if (names->all_known && alone) continue;
    *more |= mark_mentions(names, text_get(&prologue->lines) + definition->at, definition->length);
  }
  return CUGEN_OK;
}

/* The types of shared arrays come first, so that no macro changes the names inside of them. */
static void add_definitions(const struct prologue *prologue, struct text *out) {
  size_t before = out->length;
  for (int shared = 1; shared >= 0; shared--)
    for (size_t i = 0; i < prologue->names->count; i++)
      if ((prologue->names->list[i].kind == NAME_SHARED) == shared)
        text_add_n(out, text_get(&prologue->lines) + prologue->definitions[i].at,
                   prologue->definitions[i].length);
  if (out->length != before) text_add_char(out, '\n');
}

/* ---- Putting the source together ------------------------------------------------------------ */

static bool already_included(const struct walk *walk, size_t count, const char *header,
                             size_t length) {
  for (size_t i = 0; i < count; i++) {
    const struct include *include = &walk->includes[i];
    if (include->header && include->header_length == length &&
        memcmp(include->header, header, length) == 0)
      return true;
  }
  return false;
}

/* Adds the include with a #line for its original place, to which a compiler's message then
   refers. */
static void add_moved(const struct walk *walk, const struct include *include, struct text *out) {
  struct text path = {0};
  int line;
  source_locate(walk->body->data, include->at, &path, &line);
  if (path.length) source_add_line(out, line, text_get(&path));
  text_addf(out, "%s%.*s\n", include->macro ? "" : "#include ", (int)include->header_length,
            include->header);
  out->failed |= path.failed;
  text_free(&path);
}

static void add_includes(const struct walk *walk, const struct prologue *prologue,
                         struct text *out) {
  size_t before = out->length;
  for (size_t i = 0; i < walk->include_count; i++) {
    const struct include *include = &walk->includes[i];
    if (include->header &&
        (include->macro || !already_included(walk, i, include->header, include->header_length)))
      add_moved(walk, include, out);
  }
  if (out->length != before) source_add_line(out, 1, SOURCE_PROLOGUE);
  for (size_t i = 0; i < prologue->header_count; i++) {
    struct text header = {0};
    text_addf(&header, "<%s>", prologue->headers[i]);
    if (!already_included(walk, walk->include_count, text_get(&header), header.length))
      text_addf(out, "#include %s\n", text_get(&header));
    out->failed |= header.failed;
    text_free(&header);
  }
  if (out->length != before) text_add_char(out, '\n');
}

/* The lines of moved includes are kept empty, so that no #line is needed. */
static void assemble_add_body(const struct walk *walk, struct text *out) {
  size_t at = 0;
  for (size_t i = 0; i < walk->include_count; i++) {
    text_add_n(out, walk->body->data + at, walk->includes[i].at - at);
    at = walk->includes[i].at;
    for (const size_t end = at + walk->includes[i].length; at < end; at++)
      if (walk->body->data[at] == '\n') text_add_char(out, '\n');
  }
  text_add_n(out, text_get(walk->body) + at, walk->body->length - at);
}

/* Adds checks behind the body: a number that the body defines in a condition must have the config's
   value there. */
static int add_checks(struct walk *walk, struct text *out) {
  for (size_t i = 0; i < walk->names->count; i++) {
    const struct name *name = &walk->names->list[i];
    struct value value;
    if (!name->redefined || !name->used || name->scoped || !names_macro(walk->names, name))
      continue;
    int status = names_value(walk->names, name, &value, walk->err);
    if (status) return status;
    if (value.type != VALUE_INT && value.type != VALUE_BOOL) continue;
    if (!name->valued) continue;
    struct text path = {0};
    int line;
    source_locate(walk->body->data, (size_t)(name->redefined - walk->body->data), &path, &line);
    text_addf(out, "#if (%s) != (", name->text);
    value_print(value, out);
    text_add(out, ")\n");
    source_add_line(out, line, text_get(&path));
    text_addf(
        out, "#error %s comes from the config: put #ifndef and #endif around its #define\n#endif\n",
        name->text);
    text_free(&path);
  }
  return CUGEN_OK;
}

/* The compiler compares the places of the fields with those that the config declares. NVRTC's front
   end lacks __builtin_offsetof, but has the operator by which EDG's headers define offsetof. */
static void add_struct_checks(const struct walk *walk, struct text *out) {
  static const char define[] =
      "#ifdef __EDG__\n#define __builtin_offsetof(type, field) __INTADDR__(&((type *)0)->field)\n"
      "#endif\n";
  const struct names_input *in = &walk->names->in;
  const size_t start = out->length;
  struct text check = {0};
  for (size_t i = 0; i < in->config->argument_count; i++) {
    const struct config_argument *declared = &in->config->arguments[i];
    if (!in->arguments[i].struct_bytes) continue;
    if (out->length == start) text_add(out, define);
    for (const struct config_field *f = declared->fields;
         f < declared->fields + declared->field_count; f++) {
      text_clear(&check);
      text_addf(&check, "static_assert(__builtin_offsetof(%s, %s) == %d, \"by the config, field ",
                declared->struct_name, f->name, f->offset);
      text_addf(&check, "%s of %s is at byte %d\");\n", f->name, declared->struct_name, f->offset);
      if (strstr(text_get(out) + start, text_get(&check))) continue; /* of an earlier argument */
      source_add_line(out, declared->line.number, declared->line.path);
      text_add(out, text_get(&check));
    }
  }
  out->failed |= check.failed;
  text_free(&check);
}

static int assemble_build(struct walk *walk, struct prologue *prologue,
                          const struct assembly *assembly, struct text *out) {
  const struct names_input *in = &prologue->names->in;
  int status = walk_body(walk);
  release_macros(walk);
  for (size_t i = 0; i < assembly->entry_count && !status; i++)
    status = entry_mentions(walk, &assembly->entries[i]);
  for (size_t i = 0; i < walk->names->count && !status; i++)
    status = assemble_settle(walk, &walk->names->list[i]);
  if (status) return status;
  prologue->definitions = calloc(prologue->names->count + 1, sizeof *prologue->definitions);
  if (!prologue->definitions) return error_memory(walk->err);
  for (bool more = true; more && !status;) status = define_round(prologue, &more, walk->err);
  if (status) return status;
  for (size_t i = 0; i < in->config->argument_count + in->own_count && assembly->parameters_used;
       i++)
    if (in->arguments[i].kind == CUGEN_ARGUMENT_SCALAR && !in->arguments[i].compiled_in)
      need_header(prologue, in->arguments[i].dtype);
  text_add(out, assembly->defines);
  if (*assembly->defines) source_add_line(out, 1, SOURCE_PROLOGUE);
  if (*assembly->defines) text_add_char(out, '\n');
  add_includes(walk, prologue, out);
  common_types_write(&walk->types, assembly->defines, out);
  add_definitions(prologue, out);
  assemble_add_body(walk, out);
  add_struct_checks(walk, out);
  status = add_checks(walk, out);
  if (status) return status;
  return out->failed ? error_memory(walk->err) : CUGEN_OK;
}

int assemble(const struct assembly *in, struct text *out, struct kernel_names *kernels,
             cugen_error *err) {
  const struct text *body = in->body;
  struct walk walk = {.names = in->names,
                      .body = body,
                      .reader = {text_get(body), text_get(body) + body->length},
                      .scopes = {.statement = text_get(body)},
                      .line_start = true,
                      .kernels = kernels,
                      .err = err};

  *kernels = (struct kernel_names){.count = 0};
  /* Clears the marks of earlier uses, but not `asked`, which Lua sets. */
  for (size_t i = 0; i < in->names->count; i++) {
    struct name *name = &in->names->list[i];
    name->used = name->tested = name->doubted = name->scoped = name->valued = false;
    name->declared = name->variable = name->redefined = NULL;
  }
  struct prologue prologue = {.names = in->names};
  int status = assemble_build(&walk, &prologue, in, out);
  free(walk.includes);
  free(prologue.definitions);
  text_free(&prologue.lines);
  return status;
}
