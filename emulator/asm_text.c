/* Translates inline assembly, which is PTX, into a call with the statement's text and operands
   (shim/inline_ptx.h). If an instruction of a literal text is not supported, the statement becomes
   a call of a function with the attribute error, which the compiler refuses unless the call is dead
   code. */
#include "compile.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/source_place.h"
#include "inline_ptx.h"

/* STATEMENT_MOST: bytes that are searched for the end of a statement. */
enum { WRONG_MOST = 160, STATEMENT_MOST = 16384 };

/* Skips blanks, comments and line continuations. */
static const char *asm_text_skip(const char *at) {
  for (const char *past;; at = past) {
    while (isspace((unsigned char)*at) || (*at == '\\' && at[1] == '\n')) at++;
    past = *at == '/' ? text_skip_opaque(at) : at;
    if (past == at) return at;
  }
}

/* Returns the opening parenthesis after `asm` and its qualifiers; NULL: there is none. */
static const char *find_open(const char *at) {
  static const char *const first[] = {"asm", "__asm__", "__asm"}, *const qualifiers[] = {
                                                                      "volatile", "__volatile__",
                                                                      "inline"};
  const char *past = NULL;
  for (size_t i = 0; i < sizeof first / sizeof *first && !past; i++)
    past = source_after_word(at, first[i]);
  if (!past) return NULL;
  for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++) {
    const char *end = source_after_word(asm_text_skip(past), qualifiers[i]);
    if (end) past = end, i = (size_t)-1;
  }
  past = asm_text_skip(past);
  return *past == '(' ? past : NULL;
}

static const char *find_close(const char *open) {
  int depth = 0;
  for (const char *at = open; *at && at - open < STATEMENT_MOST;) {
    const char *past = text_skip_opaque(at);
    if (past > at) {
      at = past;
      continue;
    }
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) return at;
    at++;
  }
  return NULL;
}

/* Returns the next separator outside of brackets and literals; `end`: there is none. */
static const char *find_separator(const char *at, const char *end, char separator) {
  int depth = 0;
  while (at < end) {
    const char *past = text_skip_opaque(at);
    if (past > at) {
      at = past;
      continue;
    }
    depth += (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
    if (depth == 0 && *at == separator) return at;
    at++;
  }
  return end;
}

/* ---- The text ------------------------------------------------------------------------------- */

static char unescape(char c) {
  return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* Reads adjacent string literals. Returns false if there is something else, such as a macro. */
static bool read_literals(const char *at, const char *end, struct text *out) {
  for (at = asm_text_skip(at); at < end; at = asm_text_skip(at + 1)) {
    if (*at != '"') return false;
    for (at++; at < end && *at != '"'; at++) {
      if (*at == '\\' && at[1] == '\n')
        at++;
      else
        text_add_char(out, *at == '\\' && at + 1 < end ? unescape(*++at) : *at);
    }
  }
  return true;
}

/* Returns true if the text can be parsed, or is no literal and so not known yet. *empty: the text
   has no instruction. */
static bool asm_text_is_known(const char *at, const char *end, char *wrong, bool *empty) {
  struct text text = {0};
  bool known = true;
  *empty = false;
  if (read_literals(at, end, &text)) {
    struct iptx_program *program = iptx_parse(text_get(&text), wrong, WRONG_MOST);
    known = program != NULL;
    *empty = known && !program->count;
    iptx_free(program);
  }
  text_free(&text);
  return known;
}

/* ---- Writing -------------------------------------------------------------------------------- */

void asm_keep_lines(const char *at, const char *end, struct text *out) {
  for (; at < end; at++) {
    if (*at == '\\' && at + 1 < end && at[1] == '\n') text_add_char(out, '\\');
    if (*at == '\n') text_add_char(out, '\n');
  }
}

/* Writes each operand of a list such as `"=r"(x), "+r"(y)` as a call of `name`. Returns false if
   the list has another form. */
static bool add_operands(const char *at, const char *end, const char *name, struct text *out) {
  while (asm_text_skip(at) < end) {
    const char *constraint = asm_text_skip(at), *past = text_skip_opaque(constraint),
               *open = asm_text_skip(past), *close = NULL;
    asm_keep_lines(at, constraint, out);
    if (*constraint == '"' && open < end && *open == '(') close = find_close(open);
    if (!close || close >= end) return false;
    text_addf(out, ", %s(%.*s, ", name, (int)(past - constraint), constraint);
    text_add_n(out, open, (size_t)(close + 1 - open));
    text_add_char(out, ')');
    at = asm_text_skip(close + 1); /* nvcc accepts a missing comma */
    asm_keep_lines(close + 1, at, out);
    if (at < end && *at == ',') at++;
  }
  return true;
}

/* Copies the text without its comments. */
static void add_plain(const char *at, const char *end, struct text *out) {
  for (const char *past; at < end; at = past) {
    past = *at == '"'                                ? text_skip_opaque(at)
           : *at == '/' && text_skip_opaque(at) > at ? text_skip_opaque(at)
                                                     : at + 1;
    if (*at == '/' && past > at + 1)
      asm_keep_lines(at, past, out);
    else
      text_add_n(out, at, (size_t)(past - at));
  }
}

static const char *asm_text_refuse(const char *at, const char *close, const char *wrong,
                                   unsigned *refused, struct text *out) {
  text_addf(out, "do { extern void cugen_refused_%u() __attribute__((__error__(\"", *refused);
  for (const char *c = wrong; *c; c++)
    text_add_char(out, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? ' ' : *c);
  text_addf(out, " has no form on the cpu device\"))); cugen_refused_%u(); } while (0)", *refused);
  asm_keep_lines(at, close, out);
  ++*refused;
  return close + 1;
}

const char *asm_translate(const char *at, unsigned *refused, struct text *out) {
  const char *open = find_open(at), *close = open ? find_close(open) : NULL;
  char wrong[WRONG_MOST] = "";
  bool empty;
  if (!close) return NULL;
  const char *outputs = find_separator(open + 1, close, ':');
  if (!asm_text_is_known(open + 1, outputs, wrong, &empty))
    return asm_text_refuse(at, close, wrong, refused, out);
  if (empty) return NULL;
  const char *inputs = find_separator(outputs + (outputs < close), close, ':');
  const char *clobbers = find_separator(inputs + (inputs < close), close, ':');
  struct text call = {0};
  asm_keep_lines(at, open, &call);
  text_add(&call, "cugen_asm(");
  add_plain(open + 1, outputs, &call);
  bool plain = outputs == close || add_operands(outputs + 1, inputs, "cugen_out", &call);
  if (plain && inputs < close) plain = add_operands(inputs + 1, clobbers, "cugen_in", &call);
  asm_keep_lines(clobbers, close, &call);
  text_add_char(&call, ')');
  if (plain) text_add_n(out, text_get(&call), call.length);
  out->failed |= call.failed;
  text_free(&call);
  return plain ? close + 1 : NULL;
}
