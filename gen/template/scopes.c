/* Finds the names that a source declares itself; see scopes.h. */
#include "scopes.h"

#include <string.h>

/* ---- Declarations --------------------------------------------------------------------------- */

/* Returns whether the word may end a type: a type known here, or a word that ends with _t. */
static bool is_type(struct source_token token) {
  static const char *const words[] = {"int",  "float", "double", "unsigned", "signed", "long",
                                      "char", "uchar", "ushort", "ulong",    "short",  "bool",
                                      "auto", "half",  "uint",   "void",     "float4", "float2",
                                      "int2", "int4",  "dim3"};
  if (source_is_one_of(token, words, sizeof words / sizeof *words)) return true;
  return token.kind == SOURCE_WORD && token.length > 2 &&
         memcmp(token.at + token.length - 2, "_t", 2) == 0;
}

/* Words and marks that may stand between a type and the declared name. */
static bool is_qualifier(struct source_token token) {
  static const char *const words[] = {"const",      "volatile", "__restrict__",
                                      "__restrict", "restrict", "__shared__"};
  return source_is_mark(token, '*') || source_is_mark(token, '&') ||
         source_is_one_of(token, words, sizeof words / sizeof *words);
}

/* Words that may stand in front of a type. */
static bool is_prefix(struct source_token token) {
  static const char *const words[] = {"static",   "const",      "constexpr", "volatile",
                                      "register", "__shared__", "extern"};
  return source_is_one_of(token, words, sizeof words / sizeof *words);
}

/* Words that may stand in front of a name that is used, not declared. */
static bool is_operator_word(struct source_token token) {
  static const char *const words[] = {"return", "case",   "else",    "do",    "goto", "throw",
                                      "new",    "delete", "sizeof",  "and",   "or",   "not",
                                      "xor",    "bitand", "bitor",   "compl", "if",   "operator",
                                      "in",     "typeof", "decltype"};
  return source_is_one_of(token, words, sizeof words / sizeof *words);
}

static bool ends_declarator(struct source_token token) {
  return token.kind == SOURCE_MARK && strchr("=;,)[{(:", *token.at);
}

/* The state of reading a statement again up to a name, to tell whether the statement declares the
   name. */
struct reading {
  struct source_token before; /* the token read last */
  bool typed;                 /* a type was read, followed by nothing but qualifiers */
  bool declares;              /* the statement begins with a type and has no < yet, so names behind
                                 commas are declared, too */
  bool begun;                 /* something other than a prefix (is_prefix) was read */
  int parentheses;
  int angles; /* open angle brackets of `template <` */
};

static struct reading scopes_read_statement(const char *statement, const char *name) {
  struct source_reader reader = {statement, name};
  struct reading r = {.before = {SOURCE_END, statement, 0}};
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       token = source_next_solid(&reader)) {
    if (r.before.kind == SOURCE_WORD && source_is(r.before, "template") &&
        source_is_mark(token, '<'))
      r.angles = 1;
    else if (r.angles)
      r.angles += source_is_mark(token, '<') - source_is_mark(token, '>');
    r.parentheses += (source_is_mark(token, '(') || source_is_mark(token, '[')) -
                     (source_is_mark(token, ')') || source_is_mark(token, ']'));
    r.typed = is_type(token) || (r.typed && is_qualifier(token));
    r.declares = (r.declares || (!r.begun && r.typed)) && !source_is_mark(token, '<');
    r.begun |= !is_prefix(token);
    r.before = token;
  }
  return r;
}

/* Returns whether the name is declared at this place. after: the token behind the name. */
static bool scopes_declares(const struct reading *r, struct source_token after) {
  if (r->angles)
    return r->before.kind == SOURCE_WORD && !is_operator_word(r->before) &&
           (source_is_mark(after, ',') || source_is_mark(after, '>') || source_is_mark(after, '='));
  if (r->typed) return ends_declarator(after);
  if (r->declares && !r->parentheses && source_is_mark(r->before, ','))
    return after.kind == SOURCE_MARK && strchr("=;,[", *after.at);
  return r->before.kind == SOURCE_WORD && !is_operator_word(r->before) &&
         after.kind == SOURCE_MARK && strchr("=;,)[", *after.at);
}

/* ---- Scopes --------------------------------------------------------------------------------- */

bool scopes_member(const struct scopes *s) {
  return source_is_mark(s->before[0], '.') ||
         (source_is_mark(s->before[0], '>') && source_is_mark(s->before[1], '-'));
}

static enum scope_sight see_name(struct scopes *s, struct source_token token,
                                 struct source_reader ahead, const struct name *name) {
  bool hidden = scopes_member(s);
  for (size_t i = 0; i < s->hidden_count && !hidden; i++) hidden = s->hidden[i].name == name;
  if (hidden) return SCOPE_HIDDEN;
  const struct reading r = scopes_read_statement(s->statement, token.at);
  if (!scopes_declares(&r, source_next_solid(&ahead)) || s->hidden_count == SCOPES_MOST)
    return SCOPE_MENTION;
  const bool parameter = s->parentheses || r.angles;
  if (!parameter && !s->depth) return SCOPE_GLOBAL;
  s->hidden[s->hidden_count++] = (struct hidden){name, s->depth, parameter};
  return parameter ? SCOPE_PARAMETER : SCOPE_VARIABLE;
}

/* Forgets the names whose scope ends. brace: a brace was closed; else a statement ended. */
static void end_scopes(struct scopes *s, bool brace) {
  size_t kept = 0;
  for (size_t i = 0; i < s->hidden_count; i++) {
    const struct hidden h = s->hidden[i];
    const bool over = h.parameter ? s->depth <= h.depth : brace && s->depth < h.depth;
    if (!over) s->hidden[kept++] = h;
  }
  s->hidden_count = kept;
}

static bool opens_namespace(const struct scopes *s, const char *brace) {
  struct source_reader reader = {s->statement, brace};
  struct source_token token = source_next_solid(&reader);
  if (token.kind == SOURCE_WORD && source_is(token, "inline")) token = source_next_solid(&reader);
  if (token.kind != SOURCE_WORD) return false;
  if (source_is(token, "namespace")) return true;
  return source_is(token, "extern") && source_next_solid(&reader).kind == SOURCE_LITERAL &&
         source_next_solid(&reader).kind == SOURCE_END;
}

enum scope_sight scopes_see(struct scopes *s, struct source_token token, struct source_reader ahead,
                            const struct name *name) {
  const enum scope_sight sight = name ? see_name(s, token, ahead, name) : SCOPE_MENTION;
  const char mark = token.kind == SOURCE_MARK ? *token.at : '\0';
  if (mark == '{') {
    const bool transparent = opens_namespace(s, token.at);
    s->transparent = s->transparent << 1 | transparent;
    s->depth += !transparent;
  } else if (mark == '}') {
    s->depth -= s->depth > 0 && !(s->transparent & 1);
    s->transparent >>= 1;
    end_scopes(s, true);
  }
  s->parentheses += (mark == '(') - (mark == ')' && s->parentheses);
  if (mark == ';' && !s->parentheses) end_scopes(s, false);
  const bool loop =
      mark == '(' && s->before[0].kind == SOURCE_WORD && source_is(s->before[0], "for");
  if (loop || mark == ';' || mark == '{' || mark == '}') s->statement = token.at + 1;
  s->before[1] = s->before[0];
  s->before[0] = token;
  return sight;
}

/* ---- Branches ------------------------------------------------------------------------------- */

/* Branches nested deeper than BRANCHES_MOST are not followed. */
void scopes_if(struct scopes *s) {
  if (s->branch_count < BRANCHES_MOST)
    s->branches[s->branch_count] =
        (struct branch){s->parentheses, s->depth, s->transparent, s->hidden_count};
  s->branch_count++;
}

void scopes_else(struct scopes *s) {
  if (s->branch_count < 1 || s->branch_count > BRANCHES_MOST) return;
  const struct branch *b = &s->branches[s->branch_count - 1];
  s->parentheses = b->parentheses;
  s->depth = b->depth;
  s->transparent = b->transparent;
  if (s->hidden_count > b->hidden_count) s->hidden_count = b->hidden_count;
}

void scopes_endif(struct scopes *s) {
  s->branch_count -= s->branch_count > 0;
}
