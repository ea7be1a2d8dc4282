/* Replaces includes by the text of their headers; see headers.h. A header that guards itself, by
   #pragma once or by an #ifndef around all of it, appears once if its first appearance stands in no
   condition; its guard is then removed, so that the headers that it includes are unconditional,
   too. Otherwise the header keeps a guard. The guard of the body is removed, too. */
#include "headers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sizes.h"
#include "gen/sources/source_text.h"

enum { DEEPEST_HEADER = 32 };

/* The guard `#ifndef X` around a whole text: its place, and that of its #endif. */
struct guard {
  bool found;
  size_t begin, end;
};

struct header {
  char *from, *name; /* the including file, and the name as written there */
  const struct config_compile *compile;
  char *path; /* path of the header; NULL: the header is no file of the user's */
  struct text text;
  bool pragma; /* the header has #pragma once */
  struct guard guard;
  bool quoted;
};

struct headers {
  const struct sources *sources;
  struct header **list;
  size_t count;
};

/* ---- Reading -------------------------------------------------------------------------------- */

static void header_free(struct header *h) {
  free(h->from);
  free(h->name);
  free(h->path);
  text_free(&h->text);
  free(h);
}

/* Reads the word of a directive, which splices may divide; *reader moves behind the word. */
static void directive_word(struct source_reader *reader, struct text *out) {
  struct source_token token;
  text_clear(out);
  do token = source_next(reader);
  while (token.kind == SOURCE_BLANK || token.kind == SOURCE_COMMENT || token.kind == SOURCE_SPLICE);
  for (; token.kind == SOURCE_WORD || token.kind == SOURCE_SPLICE; token = source_next(reader)) {
    if (token.kind == SOURCE_WORD) text_add_n(out, token.at, token.length);
    struct source_reader ahead = *reader;
    enum source_kind next = source_next(&ahead).kind;
    if (next != SOURCE_WORD && next != SOURCE_SPLICE) return;
  }
}

/* Finds the next directive. Returns the place of its mark, or NULL at the end; sets *other if other
   tokens come first. `%:` is an alternative spelling of `#`. */
static const char *next_directive(struct source_reader *reader, bool *line_start, bool *other) {
  for (;;) {
    struct source_token token = source_next(reader);
    if (token.kind == SOURCE_END) return NULL;
    if (token.kind == SOURCE_NEWLINE) *line_start = true;
    if (token.kind < SOURCE_WORD) continue;
    const bool digraph = *token.at == '%' && reader->at < reader->end && *reader->at == ':';
    if (*line_start && token.kind == SOURCE_MARK && (*token.at == '#' || digraph)) {
      reader->at += digraph;
      return token.at;
    }
    *line_start = false;
    *other = true;
  }
}

static bool is_if(const struct text *word) {
  return strncmp(text_get(word), "if", 2) == 0;
}

/* Reads from behind the line of an #if to the #endif that closes it. Returns NULL if there is none
   or an #else or #elif comes first. */
static const char *closing_endif(struct source_reader *reader, struct text *word) {
  bool line_start = false, other;
  for (int depth = 1; depth; line_start = false) {
    source_skip_line(reader);
    const char *at = next_directive(reader, &line_start, &other);
    if (!at) return NULL;
    directive_word(reader, word);
    if (depth == 1 && !strncmp(text_get(word), "el", 2)) return NULL;
    depth += is_if(word) - (strcmp(text_get(word), "endif") == 0);
    if (!depth) return at;
  }
  return NULL;
}

/* Finds the next directive that is not a #line, and stores the directive's word in *word. */
static const char *written_directive(struct source_reader *reader, bool *other, struct text *word) {
  bool line_start = true;
  for (const char *at; (at = next_directive(reader, &line_start, other)); line_start = false) {
    directive_word(reader, word);
    if (strcmp(text_get(word), "line") != 0) return at;
    source_skip_line(reader);
  }
  return NULL;
}

/* Recognises `#ifndef X`, `#define X`, ..., `#endif` with nothing outside of them. */
static struct guard find_guard(const struct text *text, struct text *word) {
  const struct guard none = {.found = false};
  struct source_reader reader = {text_get(text), text_get(text) + text->length};
  bool other = false;
  const char *open = written_directive(&reader, &other, word);
  if (!open || other || strcmp(text_get(word), "ifndef") != 0) return none;
  const struct source_token name = source_next_in_line(&reader);
  const char *define = written_directive(&reader, &other, word);
  if (!define || other || strcmp(text_get(word), "define") != 0) return none;
  if (!source_is_word(source_next_in_line(&reader), name.at, name.length)) return none;
  const char *close = closing_endif(&reader, word);
  if (!close) return none;
  source_skip_line(&reader);
  if (source_next_solid(&reader).kind != SOURCE_END) return none;
  return (struct guard){true, (size_t)(open - text->data), (size_t)(close - text->data)};
}

/* Removes #pragma once but keeps its line empty; the compiler would apply the pragma to the whole
   source. */
static void take_pragma_once(struct header *h, struct text *word) {
  struct source_reader reader = {text_get(&h->text), text_get(&h->text) + h->text.length};
  bool line_start = true, other = false;
  for (const char *at; (at = next_directive(&reader, &line_start, &other)); line_start = false) {
    directive_word(&reader, word);
    struct source_reader ahead = reader;
    struct source_token once = source_next_in_line(&ahead);
    if (strcmp(text_get(word), "pragma") != 0 || !source_is(once, "once")) continue;
    memset(h->text.data + (at - h->text.data), ' ', (size_t)(ahead.at - at));
    h->pragma = true;
  }
}

static int study(struct header *h, cugen_error *err) {
  struct text word = {0};
  if (memchr(text_get(&h->text), '\0', h->text.length))
    return error_set(err, CUGEN_ERROR_TEMPLATE, "%s has a NUL byte: not a text file", h->path);
  if (!h->text.length || h->text.data[h->text.length - 1] != '\n') text_add_char(&h->text, '\n');
  if (!h->text.failed) take_pragma_once(h, &word);
  if (!h->text.failed && !h->pragma) h->guard = find_guard(&h->text, &word);
  int status = h->text.failed || word.failed ? error_memory(err) : CUGEN_OK;
  text_free(&word);
  return status;
}

static int headers_read_header(struct headers *headers, const struct header_search *wanted,
                               struct header *h, cugen_error *err) {
  struct text path = {0};
  bool found = false;
  int status = h->from && h->name ? CUGEN_OK : error_memory(err);
  if (!status) status = sources_header(headers->sources, wanted, &path, &h->text, &found, err);
  if (!status && found) {
    h->path = text_take(&path);
    status = h->path ? study(h, err) : error_memory(err);
  }
  text_free(&path);
  return status;
}

static int headers_find_header(struct headers *headers, const struct header_search *wanted,
                               const struct config_compile *compile, struct header **out,
                               cugen_error *err) {
  for (size_t i = 0; i < headers->count; i++) {
    struct header *h = headers->list[i];
    *out = h;
    if (h->compile == compile && h->quoted == wanted->quoted && !strcmp(h->name, wanted->name) &&
        !strcmp(h->from, wanted->from))
      return CUGEN_OK;
  }
  struct header *h = calloc(1, sizeof *h);
  if (!h) return error_memory(err);
  *h = (struct header){.from = strdup(wanted->from),
                       .name = strdup(wanted->name),
                       .compile = compile,
                       .quoted = wanted->quoted};
  int status = headers_read_header(headers, wanted, h, err);
  if (!status && !ARRAY_ADD(headers->list, headers->count, h)) status = error_memory(err);
  if (status) header_free(h);
  *out = status ? NULL : h;
  return status;
}

int headers_open(const struct sources *sources, struct headers **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  if (!*out) return error_memory(err);
  (*out)->sources = sources;
  return CUGEN_OK;
}

void headers_close(struct headers *headers) {
  if (!headers) return;
  for (size_t i = 0; i < headers->count; i++) header_free(headers->list[i]);
  free(headers->list);
  free(headers);
}

/* ---- Replacing includes --------------------------------------------------------------------- */

struct seen_header {
  const char *path;
  bool whole; /* the header has appeared outside of conditions */
};

struct inliner {
  struct headers *headers;
  const char *config; /* path of the config */
  const struct config_compile *compile;
  struct text *out;
  struct text word;
  struct text guarded; /* path of the body, if its guard was removed */
  const struct layer *top;
  int conditions, depth;
  struct seen_header *seen;
  size_t seen_count;
  cugen_error *err;
};

struct layer {
  const struct layer *below;
  const struct header *header; /* NULL: the body of the template */
  const char *text;
  size_t length;
  struct guard guard; /* the guard that is removed */
  size_t written;
};

static int inline_layer(struct inliner *in, struct layer *layer);

static void headers_locate(const struct layer *layer, const char *at, struct text *path,
                           int *line) {
  source_locate(layer->text, (size_t)(at - layer->text), path, line);
  if (!path->length && layer->header) text_add(path, layer->header->path);
}

static int headers_fail(struct inliner *in, const struct layer *layer, const char *at,
                        const char *what) {
  return source_fail(in->err, CUGEN_ERROR_TEMPLATE, layer->text, at,
                     layer->header ? layer->header->path : "", what);
}

/* Refuses an include. In a condition an #error takes its place, because a branch that is never
   compiled may contain anything. */
static int headers_refuse(struct inliner *in, const struct layer *layer, const char *at,
                          const char *what) {
  if (!in->conditions) return headers_fail(in, layer, at, what);
  text_addf(in->out, "#error %s\n", what);
  return CUGEN_OK;
}

static void write_until(struct inliner *in, struct layer *layer, const char *at) {
  text_add_n(in->out, layer->text + layer->written, (size_t)(at - layer->text) - layer->written);
  layer->written = (size_t)(at - layer->text);
}

/* Returns whether the header is to appear. *bare: without its guard; *number: the header's number,
   for the macro that guards a header with #pragma once. */
static bool appears(struct inliner *in, const struct header *h, bool *bare, size_t *number) {
  const bool once = h->pragma || h->guard.found;
  if (once && in->guarded.length && !strcmp(text_get(&in->guarded), h->path)) return false;
  *bare = once && !in->conditions;
  *number = in->seen_count;
  for (const struct layer *l = in->top; l && once; l = l->below)
    if (l->header && !strcmp(l->header->path, h->path)) return false;
  for (size_t i = 0; i < in->seen_count && once; i++) {
    if (strcmp(in->seen[i].path, h->path) != 0) continue;
    if (in->seen[i].whole) return false;
    *number = i;
    *bare = false;
    in->seen[i].whole = !in->conditions;
    return true;
  }
  const struct seen_header seen = {h->path, !in->conditions};
  if (once && !ARRAY_ADD(in->seen, in->seen_count, seen)) in->out->failed = true;
  return true;
}

static int put_header(struct inliner *in, const struct header *h) {
  bool bare;
  size_t number;
  if (!appears(in, h, &bare, &number)) return CUGEN_OK;
  const bool guard = h->pragma && !bare;
  struct layer layer = {
      .below = in->top, .header = h, .text = h->text.data, .length = h->text.length};
  if (bare) layer.guard = h->guard;
  if (guard) text_addf(in->out, "#ifndef cugen_once_%zu\n#define cugen_once_%zu\n", number, number);
  in->conditions += guard;
  source_add_line(in->out, 1, h->path);
  int status = inline_layer(in, &layer);
  in->conditions -= guard;
  if (guard) text_add(in->out, "#endif\n");
  return status;
}

static int put_found(struct inliner *in, struct layer *layer, const char *at, const char *next,
                     const struct header *h) {
  struct text path = {0};
  int line, status;
  if (in->depth >= DEEPEST_HEADER)
    return headers_fail(in, layer, at,
                        "headers are nested more than 32 deep: does one include itself?");
  headers_locate(layer, next, &path, &line);
  if (in->out->length && in->out->data[in->out->length - 1] != '\n') text_add_char(in->out, '\n');
  status = put_header(in, h);
  source_add_line(in->out, line, text_get(&path));
  text_free(&path);
  if (!status && in->out->length > SIZE_TEMPLATE)
    return headers_fail(in, layer, at, "the source with its headers is larger than 16 MiB");
  return status;
}

/* Replaces an include by the user's own file, or, if there is none, keeps the include for the
   compiler, in angle brackets. */
static int include_name(struct inliner *in, struct layer *layer, const char *at, const char *next,
                        bool quoted, const char *name) {
  struct text from = {0}, what = {0};
  struct header *h = NULL;
  int line, status;
  const struct config_compile *compile = in->compile;
  if (!sources_inside(name)) {
    text_addf(&what,
              "#include of '%s' is refused: name a header relative to its file or to a folder of "
              "include_dirs, "
              "without '..' or a hidden name (template_dir names a folder elsewhere)",
              name);
    status = what.failed ? error_memory(in->err) : headers_refuse(in, layer, at, text_get(&what));
    text_free(&what);
    return status;
  }
  headers_locate(layer, at, &from, &line);
  const struct header_search wanted = {.name = name,
                                       .from = text_get(&from),
                                       .quoted = quoted,
                                       .config = in->config,
                                       .folders = compile->folders,
                                       .folder_count = compile->folder_count};
  status = from.failed ? error_memory(in->err)
                       : headers_find_header(in->headers, &wanted, compile, &h, in->err);
  if (status == CUGEN_ERROR_TEMPLATE || status == CUGEN_ERROR_IO || status == CUGEN_ERROR_MISSING) {
    text_add(&what, in->err ? in->err->message : "");
    status = headers_refuse(in, layer, at, text_get(&what));
  } else if (!status && h->path) {
    status = put_found(in, layer, at, next, h);
  } else if (!status && quoted) {
    text_addf(in->out, "#include <%s>\n", name);
  } else if (!status) {
    write_until(in, layer, next);
  }
  text_free(&what);
  text_free(&from);
  return status;
}

/* Reads the name behind #include. Returns false if there is none. */
static bool headers_read_name(struct source_reader *reader, bool *quoted, struct text *name) {
  struct source_token token = source_next_in_line(reader);
  *quoted = token.kind == SOURCE_LITERAL && *token.at == '"';
  const char *end = token.at + token.length - 1;
  if (!*quoted) {
    if (token.kind != SOURCE_MARK || *token.at != '<') return false;
    end = token.at + strcspn(token.at, ">\n");
    if (*end != '>') return false;
    reader->at = end + 1;
  }
  text_add_n(name, token.at + 1, (size_t)(end - token.at) - 1);
  return true;
}

static int headers_include_line(struct inliner *in, struct layer *layer, const char *at,
                                struct source_reader *reader) {
  struct text name = {0};
  bool quoted;
  write_until(in, layer, at);
  const bool named = headers_read_name(reader, &quoted, &name) && !name.failed;
  source_skip_line(reader);
  const char *next = reader->at < reader->end ? reader->at + 1 : reader->end;
  int status;
  if (!strcmp(text_get(&in->word), "include") && named)
    status = include_name(in, layer, at, next, quoted, text_get(&name));
  else
    status = headers_refuse(in, layer, at,
                            "only #include of a name in quotes or angle brackets is read here");
  layer->written = (size_t)(next - layer->text);
  reader->at = next;
  text_free(&name);
  return status;
}

static int see_directive(struct inliner *in, struct layer *layer, const char *at,
                         struct source_reader *reader) {
  static const char *const including[] = {"include", "include_next", "import", "embed"};
  directive_word(reader, &in->word);
  const char *word = text_get(&in->word);
  const size_t place = (size_t)(at - layer->text);
  if (layer->guard.found && (place == layer->guard.begin || place == layer->guard.end)) {
    write_until(in, layer, at);
    source_skip_line(reader);
    layer->written = (size_t)(reader->at - layer->text);
    return CUGEN_OK;
  }
  for (size_t i = 0; i < sizeof including / sizeof *including; i++)
    if (!strcmp(word, including[i])) return headers_include_line(in, layer, at, reader);
  in->conditions += is_if(&in->word) - (!strcmp(word, "endif") && in->conditions);
  return CUGEN_OK;
}

static int inline_layer(struct inliner *in, struct layer *layer) {
  struct source_reader reader = {layer->text, layer->text + layer->length};
  bool line_start = true, other = false;
  int status = CUGEN_OK;
  in->top = layer;
  in->depth++;
  for (const char *at; !status && (at = next_directive(&reader, &line_start, &other));) {
    line_start = false;
    status = see_directive(in, layer, at, &reader);
    if (reader.at > layer->text && reader.at[-1] == '\n') line_start = true;
  }
  if (!status) write_until(in, layer, layer->text + layer->length);
  in->depth--;
  in->top = layer->below;
  return status;
}

int headers_inline(struct headers *headers, const char *config,
                   const struct config_compile *compile, const struct text *body, struct text *out,
                   cugen_error *err) {
  struct inliner *in = calloc(1, sizeof *in);
  cugen_error error = {0};
  if (!in) return error_memory(err);
  *in = (struct inliner){.headers = headers,
                         .config = config,
                         .compile = compile,
                         .out = out,
                         .err = err ? err : &error};
  struct layer layer = {.text = text_get(body), .length = body->length};
  int line;
  layer.guard = find_guard(body, &in->word);
  if (layer.guard.found)
    headers_locate(&layer, layer.text + layer.guard.begin, &in->guarded, &line);
  int status = inline_layer(in, &layer);
  if (!status && (out->failed || in->word.failed || in->guarded.failed)) status = error_memory(err);
  text_free(&in->word);
  text_free(&in->guarded);
  free(in->seen);
  free(in);
  return status;
}
