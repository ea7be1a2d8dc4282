/* The lexical rules of CUDA C++ that cugen needs; see source_text.h. */
#include "source_text.h"

#include <string.h>

#include "base/source_place.h"

enum { CLASS_MARK, CLASS_BLANK, CLASS_NEWLINE, CLASS_WORD, CLASS_DIGIT };

/* The class of each byte. Bytes beyond ASCII count as letters, because identifiers may be UTF-8. */
static const unsigned char classes[256] = {
#define M CLASS_MARK
#define B CLASS_BLANK
#define N CLASS_NEWLINE
#define D CLASS_DIGIT
#define W CLASS_WORD
#define X W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W
    // clang-format off
    M, M, M, M, M, M, M, M, M, B, N, B, B, B, M, M, /* tab, newline, vertical tab, form feed,
                                                       return */
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    B, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* space */
    D, D, D, D, D, D, D, D, D, D, M, M, M, M, M, M,
    M, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, /* A to O */
    W, W, W, W, W, W, W, W, W, W, W, M, M, M, M, W, /* P to Z, _ */
    M, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
    W, W, W, W, W, W, W, W, W, W, W, M, M, M, M, M,
    X, X, X, X, X, X, X, X,
// clang-format on
#undef M
#undef B
#undef N
#undef D
#undef W
#undef X
};

static int class_of(char c) {
  return classes[(unsigned char)c];
}

static bool in_word(char c) {
  int class = class_of(c);
  return class == CLASS_WORD || class == CLASS_DIGIT;
}

/* Returns the length of a backslash-newline at `at`, or 0. */
static size_t source_text_splice(const char *at, const char *end) {
  if (end - at >= 2 && at[0] == '\\' && at[1] == '\n') return 2;
  if (end - at >= 3 && at[0] == '\\' && at[1] == '\r' && at[2] == '\n') return 3;
  return 0;
}

/* Returns the newline that ends the line at `at`, where spliced lines count as one line; `end` if
   there is none. */
static const char *source_text_line_end(const char *at, const char *end) {
  for (const char *start = at;; at++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (!at) return end;
    const char *before = at > start && at[-1] == '\r' ? at - 1 : at;
    if (before == start || before[-1] != '\\') return at;
  }
}

static const char *block_comment(const char *at, const char *end) {
  for (at += 2; (at = memchr(at, '*', (size_t)(end - at))); at++)
    if (at + 1 < end && at[1] == '/') return at + 2;
  return end;
}

/* Returns the place behind the closing quote, or NULL if the line has none. */
static const char *quoted(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != '\n') {
    size_t spliced = source_text_splice(at, end);
    if (spliced) {
      at += spliced;
    } else if (*at == '\\' && at + 1 < end) {
      at += 2;
    } else if (*at++ == quote) {
      return at;
    }
  }
  return NULL;
}

/* Returns the parenthesis behind the delimiter of a raw string. NULL: the delimiter is not valid
   (more than 16 characters, a blank or a backslash). */
static const char *raw_open(const char *quote, const char *end) {
  enum { LONGEST_DELIMITER = 16 };
  static const char never[] = " ()\\\t\v\f\r\n";
  const char *at = quote + 1, *last = end - at > LONGEST_DELIMITER ? at + LONGEST_DELIMITER : end;
  while (at < last && !memchr(never, *at, sizeof never - 1)) at++;
  return at < end && *at == '(' ? at : NULL;
}

/* [lex.string]: R"delimiter( ... )delimiter". `at` is the quote. Compilers refuse a raw string with
   an invalid delimiter, so that here such a string just ends at the newline. */
static const char *raw_string(const char *at, const char *end) {
  const char *delimiter = at + 1, *open = raw_open(at, end);
  if (!open) return (at = memchr(at, '\n', (size_t)(end - at))) ? at : end;
  size_t length = (size_t)(open - delimiter);
  for (at = open + 1; (at = memchr(at, ')', (size_t)(end - at))); at++)
    if ((size_t)(end - at) > length + 1 && memcmp(at + 1, delimiter, length) == 0 &&
        at[1 + length] == '"')
      return at + length + 2;
  return end;
}

static bool raw_prefix(const char *word, size_t length) {
  static const char *const prefixes[] = {"R", "u8R", "uR", "UR", "LR"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strlen(prefixes[i]) == length && memcmp(prefixes[i], word, length) == 0) return true;
  return false;
}

/* [lex.ppnumber] */
static const char *source_text_number(const char *at, const char *end) {
  while (at < end) {
    char c = *at;
    bool sign_may_follow = c == 'e' || c == 'E' || c == 'p' || c == 'P';
    if (!in_word(c) && c != '.' && !(c == '\'' && at + 1 < end && in_word(at[1]))) break;
    at++;
    if (sign_may_follow && at < end && (*at == '+' || *at == '-')) at++;
  }
  return at;
}

static enum source_kind source_text_read_word(struct source_reader *reader) {
  const char *start = reader->at, *at = start + 1, *end = reader->end;
  while (at < end && in_word(*at)) at++;
  bool prefix = at < end && *at == '"' && raw_prefix(start, (size_t)(at - start));
  reader->at = prefix ? raw_string(at, end) : at;
  return prefix ? SOURCE_LITERAL : SOURCE_WORD;
}

static enum source_kind read_mark(struct source_reader *reader) {
  const char *at = reader->at, *end = reader->end;
  char next = at + 1 < end ? at[1] : '\0';
  const char *close = *at == '"' || *at == '\'' ? quoted(at, end) : NULL;
  if (close) return reader->at = close, SOURCE_LITERAL;
  if (*at == '/' && next == '/') return reader->at = source_text_line_end(at, end), SOURCE_COMMENT;
  if (*at == '/' && next == '*') return reader->at = block_comment(at, end), SOURCE_COMMENT;
  if (*at == '.' && next >= '0' && next <= '9')
    return reader->at = source_text_number(at + 1, end), SOURCE_NUMBER;
  size_t spliced = source_text_splice(at, end);
  reader->at += spliced ? spliced : 1;
  return spliced ? SOURCE_SPLICE : SOURCE_MARK;
}

struct source_token source_next(struct source_reader *reader) {
  struct source_token token = {SOURCE_END, reader->at, 0};
  if (reader->at >= reader->end) return token;
  switch (class_of(*reader->at)) {
  case CLASS_BLANK:
    while (reader->at < reader->end && class_of(*reader->at) == CLASS_BLANK) reader->at++;
    token.kind = SOURCE_BLANK;
    break;
  case CLASS_NEWLINE: reader->at++, token.kind = SOURCE_NEWLINE; break;
  case CLASS_WORD: token.kind = source_text_read_word(reader); break;
  case CLASS_DIGIT:
    reader->at = source_text_number(reader->at, reader->end), token.kind = SOURCE_NUMBER;
    break;
  default: token.kind = read_mark(reader); break;
  }
  token.length = (size_t)(reader->at - token.at);
  return token;
}

struct source_token source_next_solid(struct source_reader *reader) {
  struct source_token token;
  do token = source_next(reader);
  while (token.kind >= SOURCE_BLANK && token.kind <= SOURCE_COMMENT);
  return token;
}

struct source_token source_next_in_line(struct source_reader *reader) {
  struct source_token token;
  do token = source_next(reader);
  while (token.kind >= SOURCE_BLANK && token.kind <= SOURCE_COMMENT &&
         token.kind != SOURCE_NEWLINE);
  return token;
}

bool source_is(struct source_token token, const char *word) {
  return token.length > 0 && strncmp(token.at, word, token.length) == 0 &&
         word[token.length] == '\0';
}

bool source_is_one_of(struct source_token token, const char *const *words, size_t count) {
  for (size_t i = 0; i < count && token.kind == SOURCE_WORD; i++)
    if (*token.at == *words[i] && source_is(token, words[i])) return true;
  return false;
}

void source_skip_line(struct source_reader *reader) {
  struct source_reader ahead = *reader;
  while (ahead.at < ahead.end && source_next(&ahead).kind != SOURCE_NEWLINE) *reader = ahead;
}

/* ---- Normalising ---------------------------------------------------------------------------- */

/* The output memory is one byte longer than the input: a blank or newline is written only in place
   of a blank, newline or comment, except for the newline of a directive that ends the text. */
struct normaliser {
  char *to;
  char last;       /* the last character written; '\n' at the start of a line */
  int last_melts;  /* the kinds of tokens that could merge with the last token: a number absorbs
                      letters, digits and, if it ends as `1e`, a sign */
  bool line_start; /* only blanks were read since the last newline of the input */
  bool in_directive;
  bool open_quote; /* leaves_open holds for a token of the line, so that the following line must not
                      become the token's end */
  bool gap;        /* blanks, newlines or comments were skipped */
};

/* Tokens without a blank between them could merge into one token, or into a comment, if they are of
   one kind: words, numbers and literals; or operators. A sign could merge with a number that ends
   as `1e`. */
enum { MELTS_WORD = 1, MELTS_OPERATOR = 2, MELTS_SIGN = 4 };

static const unsigned char mark_melts[256] = {
    ['"'] = MELTS_WORD, ['\''] = MELTS_WORD, ['.'] = MELTS_WORD | MELTS_OPERATOR,
#define OPERATOR(mark) [mark] = MELTS_OPERATOR
#define SIGN(mark)     [mark] = MELTS_OPERATOR | MELTS_SIGN
    SIGN('+'),          SIGN('-'),           OPERATOR('*'),
    OPERATOR('/'),      OPERATOR('%'),       OPERATOR('&'),
    OPERATOR('|'),      OPERATOR('^'),       OPERATOR('<'),
    OPERATOR('>'),      OPERATOR('='),       OPERATOR('!'),
    OPERATOR(':'),      OPERATOR('~'),       OPERATOR('?'),
    OPERATOR('#'),      OPERATOR('@'),       OPERATOR('$'),
    OPERATOR('\\'),
#undef SIGN
#undef OPERATOR
};

static int melts(char c) {
  return in_word(c) ? MELTS_WORD : mark_melts[(unsigned char)c];
}

static void put_newline(struct normaliser *n) {
  if (n->last != '\n') *n->to++ = n->last = '\n';
}

/* Returns whether the following line could continue the token: a quote without its other half, or a
   raw string with an invalid delimiter. */
static bool leaves_open(const struct source_token *token) {
  if (token->kind == SOURCE_MARK) return *token->at == '"' || *token->at == '\'';
  if (token->kind != SOURCE_LITERAL || !in_word(*token->at)) return false;
  const char *end = token->at + token->length;
  return !raw_open(memchr(token->at, '"', token->length), end);
}

static void source_text_put(struct normaliser *n, const struct source_token *token) {
  /* Blanks are significant in a directive: `#define f (x)`. */
  bool melt = (n->last_melts & melts(*token->at)) != 0;
  bool blank = n->gap && n->last != '\n' && (n->in_directive ? n->last != '#' : melt);
  if (blank) *n->to++ = ' ';
  memcpy(n->to, token->at, token->length);
  n->to += token->length;
  n->last = token->at[token->length - 1];
  n->last_melts = melts(n->last);
  if (token->kind == SOURCE_NUMBER)
    n->last_melts |= MELTS_WORD | (memchr("eEpP", n->last, 4) ? MELTS_SIGN : 0);
  n->open_quote |= leaves_open(token);
  n->gap = n->line_start = false;
}

static void source_text_end_line(struct normaliser *n) {
  if (n->in_directive || n->open_quote) put_newline(n);
  n->in_directive = n->open_quote = false;
  n->line_start = n->gap = true;
}

static void begin_directive(struct normaliser *n, struct source_reader *reader,
                            const struct source_token *mark) {
  struct source_reader ahead = *reader;
  if (source_is(source_next_in_line(&ahead), "line")) {
    source_skip_line(reader);
    return;
  }
  put_newline(n);
  n->in_directive = true;
  source_text_put(n, mark);
}

void source_normalise(const char *text, size_t length, struct text *out) {
  size_t start = out->length;
  text_add_n(out, text, length); /* reserves the memory, which is then overwritten */
  text_add_char(out, '\n');
  if (out->failed) return;
  struct normaliser n = {.to = out->data + start, .last = '\n', .line_start = true};
  struct source_reader reader = {text, text + length};
  for (struct source_token token = source_next(&reader); token.kind != SOURCE_END;
       token = source_next(&reader)) {
    switch (token.kind) {
    case SOURCE_SPLICE: break; /* joins the text on both sides, as the language says */
    case SOURCE_BLANK:
    case SOURCE_COMMENT: n.gap = true; break;
    case SOURCE_NEWLINE: source_text_end_line(&n); break;
    default:
      if (n.line_start && *token.at == '#')
        begin_directive(&n, &reader, &token);
      else
        source_text_put(&n, &token);
    }
  }
  source_text_end_line(&n);
  *n.to = '\0';
  out->length = (size_t)(n.to - out->data);
}

/* ---- Places --------------------------------------------------------------------------------- */

void source_add_line(struct text *out, int line, const char *path) {
  text_addf(out, "#line %d \"", line);
  for (; *path; path++) {
    if (*path == '"' || *path == '\\') text_add_char(out, '\\');
    text_add_char(out, *path);
  }
  text_add(out, "\"\n");
}

void source_locate(const char *text, size_t offset, struct text *path, int *line) {
  const char *at = text, *const end = text + offset;
  struct source_line place = {.line = 1};
  for (const char *newline; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
    source_line_read(at, &place);
    place.line++;
  }
  for (const char *c = place.file; c && *c != '"' && *c != '\n'; c++) {
    c += *c == '\\'; /* source_add_line escapes quotes and backslashes */
    text_add_char(path, *c);
  }
  *line = place.line;
}

int source_fail(cugen_error *err, int status, const char *text, const char *at,
                const char *otherwise, const char *message) {
  struct text path = {0};
  int line;
  source_locate(text, (size_t)(at - text), &path, &line);
  if (!path.length) text_add(&path, otherwise);
  const int result = path.failed ? error_memory(err)
                                 : error_set_at(err, status, text_get(&path), line, "%s", message);
  text_free(&path);
  return result;
}
