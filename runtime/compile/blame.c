/* Finding the place in the source that a diagnostic is about; see blame.h. */
#include "blame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/source_place.h"
#include "base/system.h"
#include "toolkit.h"

static const char *blame_skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/* Returns whether the place is line `line` of the file. In front of the first #line any file
   agrees. */
static bool is_at(const struct source_line *place, const char *path, int line) {
  return place->file ? source_line_is(place, path, line) : place->line == line;
}

bool blame_is_own(const struct compile_request *request, const char *path) {
  struct source_line place;
  if (strcmp(path, request->name) == 0) return true;
  for (const char *at = source_line_first(request->source, &place); *at;
       at = source_line_next(at, &place))
    if (source_line_is(&place, path, place.line)) return true;
  return false;
}

/* ---- Functions ------------------------------------------------------------------------------ */

enum { BRANCHES_MOST = 32 };

/* The state of reading declarations outside of all braces except those of namespaces. */
struct outline {
  const char *at;
  struct source_line place;
  int depth, open;  /* number of open braces, and of those that belong to namespaces */
  const char *item; /* beginning of the present declaration; NULL: none has begun */
  bool covers;      /* the declaration contains the wanted line */
  int branches[BRANCHES_MOST], branch_count;
};

static bool blame_has_word(const char *at, const char *end, const char *word) {
  return source_find_word(at, at, end, word, strlen(word)) != NULL;
}

/* Skips the directive at o->at with its continuation lines. Each branch of an #if starts with
   the brace depth at the #if. */
static void skip_directive(struct outline *o) {
  const char *word = blame_skip_blanks(o->at + 1);
  int *count = &o->branch_count;
  if (strncmp(word, "if", 2) == 0) {
    if (*count < BRANCHES_MOST) o->branches[*count] = o->depth;
    ++*count;
  } else if (strncmp(word, "el", 2) == 0 && *count > 0 && *count <= BRANCHES_MOST) {
    o->depth = o->branches[*count - 1];
  } else if (strncmp(word, "endif", 5) == 0) {
    *count -= *count > 0;
  }
  source_line_read(o->at, &o->place);
  for (o->at += strcspn(o->at, "\n"); *o->at && o->at[-1] == '\\'; o->at += strcspn(o->at, "\n")) {
    o->place.line++;
    o->at++;
  }
}

static bool is_namespace(const char *at, const char *end) {
  return blame_has_word(at, end, "namespace") ||
         (blame_has_word(at, end, "extern") && !memchr(at, '(', (size_t)(end - at)));
}

static const char *skip_template(const char *at, const char *end) {
  if (end - at < 8 || memcmp(at, "template", 8) != 0) return at;
  int depth = 0;
  for (; at < end; at++) {
    depth += (*at == '<') - (*at == '>');
    if (*at == '>' && !depth) return at + 1;
  }
  return at;
}

/* Returns whether the declaration [o->item, o->at), with its body, is that of an unmarked
   function. */
static bool is_unmarked(const struct outline *o, struct blamed_function *out) {
  static const char *const others[] = {"struct",  "class", "union",        "enum",
                                       "typedef", "using", "static_assert"};
  const char *item = skip_template(o->item, o->at),
             *open = memchr(item, '(', (size_t)(o->at - item)), *end = open;
  if (!open || memchr(item, '=', (size_t)(open - item))) return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (blame_has_word(item, open, others[i])) return false;
  const char *brace = memchr(open, '{', (size_t)(o->at - open)), *head = brace ? brace : o->at;
  if (blame_has_word(item, head, "__global__") || blame_has_word(item, head, "__device__"))
    return false;
  while (end > item && isspace((unsigned char)end[-1])) end--;
  const char *name = end;
  while (name > item && text_is_word(name[-1])) name--;
  *out =
      (struct blamed_function){name, (size_t)(end - name), blame_has_word(item, head, "__host__")};
  return name < end;
}

enum sight { GOES_ON, UNMARKED, OTHER };

/* Processes a character outside of literals. UNMARKED, OTHER: the character ends a declaration that
   contains the wanted line and is, or is not, that of an unmarked function. */
static enum sight blame_see_mark(struct outline *o, struct blamed_function *out) {
  const bool outside = o->depth == o->open;
  if (*o->at == '{' && outside && o->item && is_namespace(o->item, o->at)) {
    o->depth++, o->open++, o->item = NULL;
  } else if (*o->at == '{') {
    o->depth++;
  } else if (*o->at == '}' && outside) {
    o->depth -= o->depth > 0, o->open -= o->open > 0, o->item = NULL;
  } else if (*o->at == '}') {
    o->depth--;
  }
  const bool ends = (*o->at == ';' && outside) || (*o->at == '}' && o->depth == o->open);
  if (!ends || !o->item) return GOES_ON;
  const bool covers = o->covers, unmarked = covers && is_unmarked(o, out);
  o->item = NULL;
  o->covers = false;
  return unmarked ? UNMARKED : covers ? OTHER : GOES_ON;
}

bool blame_function(const char *source, const char *path, int line, struct blamed_function *out) {
  struct outline o = {.at = source, .place = {.line = 1}};
  bool line_start = true;
  while (*o.at) {
    const char *past = text_skip_opaque(o.at);
    if (*o.at == '#' && line_start) {
      skip_directive(&o);
      continue;
    }
    if (!o.item && !isspace((unsigned char)*o.at) && past == o.at && *o.at != '}')
      o.item = o.at, o.covers = false;
    o.covers |= o.item && is_at(&o.place, path, line);
    const enum sight sight = past == o.at ? blame_see_mark(&o, out) : GOES_ON;
    if (sight == UNMARKED) return true;
    if (sight == OTHER && !is_at(&o.place, path, line)) return false;
    if (!isspace((unsigned char)*o.at)) line_start = false;
    if (past == o.at) past++;
    for (; o.at < past; o.at++)
      if (*o.at == '\n') o.place.line++, line_start = true;
  }
  return false;
}

/* Returns whether the declaration at `at` has the name in front of its parameters, after
   attributes: `__launch_bounds__(4) add(`. */
static bool blame_declares(const char *at, const char *name, size_t length) {
  const char *end = at + strcspn(at, "{;");
  for (const char *from = at; (at = source_find_word(from, at, end, name, length));) {
    at += length;
    const char *next = at;
    while (next < end && isspace((unsigned char)*next)) next++;
    if (*next == '(') return true;
  }
  return false;
}

int blame_kernels(const char *source, const char *entry, struct text *out) {
  static const char mark[] = "__global__";
  const char *end = entry + strcspn(entry, "<"), *name = end;
  while (name > entry && text_is_word(name[-1])) name--; /* the last part of "deep::add" */
  const size_t length = (size_t)(end - name);
  struct source_line place = {.line = 1};
  int count = 0;
  for (const char *at = source; length && *at;) {
    const char *past = text_skip_opaque(at);
    if (past == at && !strncmp(at, mark, sizeof mark - 1) && blame_declares(at, name, length))
      text_addf(out, "%s%.*s:%d", count++ ? ", " : "", (int)place.length,
                place.file ? place.file : "", place.line);
    if (*at == '#') source_line_read(at, &place);
    if (past == at) past++;
    for (; at < past; at++) place.line += *at == '\n';
  }
  return count;
}

/* ---- Includes ------------------------------------------------------------------------------- */

/* Returns the text behind `#include`; NULL: the line is no such directive. */
static const char *after_include(const char *at) {
  at = blame_skip_blanks(at);
  const char *behind = *at == '#' ? source_after_word(blame_skip_blanks(at + 1), "include") : NULL;
  return behind ? blame_skip_blanks(behind) : NULL;
}

/* Reads the name in `#include <x.h>` or `#include "x.h"`; false: the line has none. */
static bool read_include(const char *at, struct text *header) {
  at = after_include(at);
  if (!at || (*at != '<' && *at != '"')) return false;
  text_clear(header);
  text_add_n(header, at + 1, strcspn(at + 1, *at == '<' ? ">\n" : "\"\n"));
  return !header->failed;
}

const char *blame_text(const char *source, const char *path, int line) {
  struct source_line place;
  for (const char *at = source_line_first(source, &place); *at; at = source_line_next(at, &place))
    if (source_line_is(&place, path, line)) return at;
  return NULL;
}

bool blame_include(const char *source, const char *path, int line, struct text *header) {
  struct source_line place;
  for (const char *at = source_line_first(source, &place); *at; at = source_line_next(at, &place))
    if (is_at(&place, path, line) && read_include(at, header)) return true;
  return false;
}

enum { FILES_MOST = 4096 };

struct hunt {
  const struct toolkit *toolkit;
  const char *file;       /* the path to find */
  char *seen[FILES_MOST]; /* paths searched so far */
  size_t count;
  bool computed; /* a searched file includes a header by a macro, which is not followed */
};

static bool reaches(struct hunt *hunt, const char *from, const char *name);

static bool reaches_below(struct hunt *hunt, const char *path) {
  struct text content = {0}, header = {0};
  bool found = false;
  cugen_error ignored;
  if (file_read(path, &content, &ignored) == CUGEN_OK)
    for (const char *at = text_get(&content); *at && !found;
         at += strcspn(at, "\n"), at += *at == '\n') {
      found = read_include(at, &header) && reaches(hunt, path, text_get(&header));
      const char *what = after_include(at); /* `#include MACRO`, as in Thrust */
      hunt->computed |= what && text_is_word(*what);
    }
  text_free(&content);
  text_free(&header);
  return found;
}

static bool look_into(struct hunt *hunt, const char *folder, const char *name, bool *there) {
  struct text path = {0};
  bool found = false;
  text_addf(&path, "%s/%s", folder, name);
  *there = !path.failed && file_exists(text_get(&path));
  if (*there) found = strcmp(text_get(&path), hunt->file) == 0;
  for (size_t i = 0; i < hunt->count && *there; i++)
    if (strcmp(hunt->seen[i], text_get(&path)) == 0) return text_free(&path), found;
  if (*there && !found && hunt->count < FILES_MOST) {
    char *kept = hunt->seen[hunt->count] = text_take(&path);
    if (kept) hunt->count++, found = reaches_below(hunt, kept);
  }
  text_free(&path);
  return found;
}

/* Returns whether the header is hunt->file or leads to it by includes. from: the including file;
   NULL: the source. */
static bool reaches(struct hunt *hunt, const char *from, const char *name) {
  struct text folder = {0};
  bool there = false, found = false;
  if (from) path_folder(from, &folder);
  if (from && !folder.failed) found = look_into(hunt, text_get(&folder), name, &there);
  if (!there) found = look_into(hunt, text_get(&hunt->toolkit->include), name, &there);
  if (!there && hunt->toolkit->core.length)
    found = look_into(hunt, text_get(&hunt->toolkit->core), name, &there);
  text_free(&folder);
  return found;
}

/* Finds the source's include that leads to the file. If no include does, takes the first include
   below which a header is included by a macro, because the file is probably included there. */
bool blame_header(const struct toolkit *toolkit, const char *source, const char *file,
                  struct text *place, struct text *header) {
  struct hunt *hunt = calloc(1, sizeof *hunt);
  struct source_line at_place;
  struct text maybe_header = {0}, maybe_place = {0};
  bool found = false;
  if (!hunt) return false;
  hunt->toolkit = toolkit;
  hunt->file = file;
  for (const char *at = source_line_first(source, &at_place); *at && !found;
       at = source_line_next(at, &at_place)) {
    const bool before = hunt->computed;
    if (!read_include(at, header)) continue;
    found = reaches(hunt, NULL, text_get(header));
    const bool maybe = !found && hunt->computed && !before;
    text_clear(place);
    text_addf(place, "%.*s:%d", (int)at_place.length, at_place.file ? at_place.file : "",
              at_place.line);
    if (maybe) text_add(&maybe_header, text_get(header)), text_add(&maybe_place, text_get(place));
  }
  if (!found && maybe_header.length) {
    text_clear(header);
    text_clear(place);
    text_add(header, text_get(&maybe_header));
    text_add(place, text_get(&maybe_place));
    found = true;
  }
  for (size_t i = 0; i < hunt->count; i++) free(hunt->seen[i]);
  free(hunt);
  text_free(&maybe_header);
  text_free(&maybe_place);
  return found && !header->failed && !place->failed;
}
