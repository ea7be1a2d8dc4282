/* Finds places in a source; see source_place.h. One pass over the tokens skips comments and
   literals. A declaration or statement ends at ';', '{' or '}'. */
#include "source_place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct token {
  const char *at;
  size_t length; /* of a word; 1 for a punctuation mark */
  struct source_line place;
};

struct scan {
  const char *at;
  struct source_line place;
  bool begins; /* only blanks stand before `at` on its line */
};

bool source_line_read(const char *at, struct source_line *place) {
  char *end;
  if (strncmp(at, "#line ", 6) != 0) return false;
  const long line = strtol(at + 6, &end, 10);
  if (end == at + 6 || line < 1) return false;
  place->line = (int)line - 1;
  if (end[0] == ' ' && end[1] == '"')
    place->file = end + 2, place->length = strcspn(end + 2, "\"\n");
  return true;
}

bool source_line_is(const struct source_line *place, const char *file, int line) {
  return place->line == line && place->file && strlen(file) == place->length &&
         memcmp(file, place->file, place->length) == 0;
}

const char *source_line_first(const char *source, struct source_line *place) {
  *place = (struct source_line){.line = 1};
  return source_line_read(source, place) ? source_line_next(source, place) : source;
}

const char *source_line_next(const char *at, struct source_line *place) {
  do {
    at += strcspn(at, "\n");
    at += *at == '\n';
    place->line++;
  } while (source_line_read(at, place));
  return at;
}

const char *source_after_word(const char *at, const char *word) {
  const size_t length = strlen(word);
  return strncmp(at, word, length) == 0 && !text_is_word(at[length]) ? at + length : NULL;
}

const char *source_find_word(const char *begin, const char *at, const char *end, const char *word,
                             size_t length) {
  for (; at < end && (at = memmem(at, (size_t)(end - at), word, length)); at++)
    if ((at == begin || !text_is_word(at[-1])) && (at + length == end || !text_is_word(at[length])))
      return at;
  return NULL;
}

/* Reads the next token. Returns false at the end of the source. */
static bool next(struct scan *s, struct token *out) {
  while (*s->at) {
    const char *past = text_skip_opaque(s->at);
    if (*s->at == '\n') {
      s->place.line++;
      s->begins = true;
      s->at++;
    } else if (isspace((unsigned char)*s->at)) {
      s->at++;
    } else if (*s->at == '#' && s->begins && source_line_read(s->at, &s->place)) {
      s->at += strcspn(s->at, "\n");
    } else if (past != s->at) {
      for (; s->at < past; s->at++) s->place.line += *s->at == '\n';
    } else {
      size_t length = 0;
      while (text_is_word(s->at[length])) length++;
      *out = (struct token){s->at, length ? length : 1, s->place};
      s->at += out->length;
      s->begins = false;
      return true;
    }
  }
  return false;
}

static bool is(const struct token *token, const char *word) {
  return token->length == strlen(word) && memcmp(token->at, word, token->length) == 0;
}

static bool is_same(const struct token *a, const struct token *b) {
  return a->length && a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

static bool is_end(const struct token *token) {
  return is(token, ";") || is(token, "{") || is(token, "}");
}

/* ---- A word in a kernel's declaration or body ----------------------------------------------- */

/* What was seen of the current declaration. */
struct declaration {
  bool global, named;
  struct token found; /* the searched word; length 0 if the declaration does not have it */
};

struct search {
  const char *word;
  struct token name; /* name of the kernel; length 0: any kernel */
  bool in_body;      /* the searched word stands in the body of the kernel, not in its
                        declaration */
  struct declaration declaration;
  int depth, body;          /* depth: open braces; body: the depth of the kernel's body, 0 outside
                               of it */
  struct token last, first; /* last: the previous token; first: the first place of the searched word
                               in the source */
};

/* Returns "name" of an entry such as "scope::name<arguments>". */
static struct token plain_name(const char *entry) {
  const size_t end = entry ? strcspn(entry, "<") : 0;
  size_t start = end;
  while (start > 0 && entry[start - 1] != ':') start--;
  return (struct token){.at = entry ? entry + start : "", .length = end - start};
}

/* Handles the end of a declaration or statement. Returns whether the search is over. */
static bool see_end(struct search *s, const struct token *token) {
  const struct declaration *d = &s->declaration;
  const bool kernel = d->global && (d->named || !s->name.length);
  if (is(token, "{") && ++s->depth && kernel && !s->body) s->body = s->depth;
  if (is(token, "}") && s->depth-- == s->body) s->body = 0;
  if (kernel && d->found.length && !s->in_body) return true;
  s->declaration = (struct declaration){0};
  return false;
}

/* Handles the next token. Returns whether the search is over. */
static bool source_place_see(struct search *s, const struct token *token) {
  struct declaration *d = &s->declaration;
  bool over = false;
  if (is_end(token)) {
    over = see_end(s, token);
  } else if (is(token, "__global__")) {
    d->global = true;
  } else if (is_same(token, &s->name)) {
    d->named = true;
  } else if (is(token, s->word) && !is(&s->last, "extern")) {
    if (!s->first.length) s->first = *token;
    d->found = *token;
    over = s->in_body && s->body;
  }
  s->last = *token;
  return over;
}

static struct token source_place_find_word(const char *source, const char *entry, const char *word,
                                           bool in_body) {
  struct search s = {.word = word, .name = plain_name(entry), .in_body = in_body};
  struct scan scan = {.at = source, .place = {.line = 1}, .begins = true};
  struct token token;
  while (next(&scan, &token))
    if (source_place_see(&s, &token)) return in_body ? token : s.declaration.found;
  return s.first;
}

/* ---- The barrier of a grid ------------------------------------------------------------------ */

enum { GROUPS_MOST = 8 };

struct grid_search {
  struct token groups[GROUPS_MOST]; /* variables that hold a grid group */
  size_t group_count;
  struct token before[2]; /* the last token and the token before it */
  /* What was seen of the current statement: */
  struct token assigned;      /* the word before its '=' */
  bool grid, declares, waits; /* grid: this_grid; declares: grid_group; waits: the word sync */
  struct token first;         /* the source's first mention of a grid group */
};

static bool source_place_is_group(const struct grid_search *s, const struct token *token) {
  for (size_t i = 0; i < s->group_count; i++)
    if (is_same(token, &s->groups[i])) return true;
  return false;
}

static void add_group(struct grid_search *s, const struct token *token) {
  if (token->length && s->group_count < GROUPS_MOST) s->groups[s->group_count++] = *token;
}

/* Handles the next token. Returns whether the kernel waits for its grid at this token. */
static bool see_grid(struct grid_search *s, const struct token *token) {
  const struct token *last = &s->before[0], *behind = &s->before[1];
  const bool word = text_is_word(*token->at), group = source_place_is_group(s, token);
  bool found = group && is(last, "(") && is(behind, "sync"); /* sync(grid) */
  if (is_end(token)) {
    s->assigned = (struct token){0};
    s->grid = s->declares = s->waits = false;
  } else if (is(token, "=") && text_is_word(*last->at)) {
    s->assigned = *last;
  } else if (is(token, "this_grid") || is(token, "grid_group")) {
    if (!s->first.length) s->first = *token;
    found = s->waits && is(token, "this_grid");
    add_group(s, &s->assigned);
    s->grid |= is(token, "this_grid");
    s->declares |= is(token, "grid_group");
  } else if (is(token, "sync") || is(token, "barrier_arrive") || is(token, "barrier_wait")) {
    const bool member = is(last, ".");
    found = member && ((is(behind, ")") && s->grid) || source_place_is_group(s, behind));
    s->waits |= is(token, "sync") && !member;
  } else if (s->declares && word && !is(token, "const")) {
    add_group(s, token);
    s->declares = false;
  }
  s->before[1] = s->before[0];
  s->before[0] = *token;
  return found;
}

static struct token find_grid_sync(const char *source) {
  struct grid_search s = {.before = {{.at = ""}, {.at = ""}}};
  struct scan scan = {.at = source, .place = {.line = 1}, .begins = true};
  struct token token;
  while (next(&scan, &token))
    if (see_grid(&s, &token)) return token;
  return s.first;
}

/* ---- Finding a cause ------------------------------------------------------------------------ */

bool source_place(const char *source, const char *entry, enum source_cause cause, struct text *file,
                  int *line) {
  static const char *const words[] = {[SOURCE_BOUNDS] = "__launch_bounds__",
                                      [SOURCE_CLUSTER] = "__cluster_dims__",
                                      [SOURCE_SHARED] = "__shared__",
                                      [SOURCE_CONSTANT] = "__constant__"};
  if (cause == SOURCE_NOTHING) return false;
  const struct token found =
      cause == SOURCE_GRID_SYNC
          ? find_grid_sync(source)
          : source_place_find_word(source, cause == SOURCE_CONSTANT ? NULL : entry, words[cause],
                                   cause == SOURCE_SHARED);
  if (!found.length || !found.place.file) return false;
  text_add_n(file, found.place.file, found.place.length);
  *line = found.place.line;
  return true;
}
