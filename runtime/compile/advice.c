/* Adding advice to a compiler's diagnostics; see advice.h. */
#include "advice.h"

#include <ctype.h>
#include <string.h>

#include "base/source_place.h"
#include "hints.h"

/* The parts of a diagnostic: "k.cu:12: error: what" or "k.cu:12:3: error: what". */
struct diagnostic {
  struct text path;
  int line;
};

static bool advice_take_apart(const char *line, size_t length, struct diagnostic *out) {
  const char *end = line + length;
  for (const char *colon = line; (colon = memchr(colon, ':', (size_t)(end - colon))); colon++) {
    size_t digits = 0;
    out->line = 0;
    while (colon + 1 + digits < end && isdigit((unsigned char)colon[1 + digits]) && digits < 9)
      out->line = 10 * out->line + (colon[1 + digits++] - '0');
    if (!digits || colon + 1 + digits >= end || colon[1 + digits] != ':') continue;
    text_add_n(&out->path, line, (size_t)(colon - line));
    return !out->path.failed;
  }
  return false;
}

/* ---- Missing headers ------------------------------------------------------------------------ */

/* Takes the text between two marks of the line; returns false if the marks are not there. */
static bool advice_between(const char *line, size_t length, const char *open, const char *close,
                           struct text *out) {
  const char *end = line + length, *at = memmem(line, length, open, strlen(open));
  if (!at) return false;
  at += strlen(open);
  const char *last = memmem(at, (size_t)(end - at), close, strlen(close));
  if (last) text_add_n(out, at, (size_t)(last - at));
  return last && !out->failed;
}

static bool missing_header(const char *line, size_t length, struct text *out) {
  return advice_between(line, length, "cannot open source file \"", "\"", out) ||
         /* the form of clang */
         advice_between(line, length, "fatal error: '", "' file not found", out) ||
         advice_between(line, length, "fatal error: ", ": No such file", out);
}

static enum standard_lack advice_lack(const struct advice *advice, const char *header) {
  return advice->cpu ? STANDARD_LACK_CPU : standard_find_lack(advice->request->toolkit, header);
}

/* ---- Headers that the cpu device lacks ------------------------------------------------------ */

/* Whether the toolkit's header needs the GPU's compiler, by the beginning of its name. */
static bool is_for_gpus(const char *header) {
  static const char *const families[] = {
      "cooperative_groups", "cub/",    "cuda/", "thrust/", "nv/", "curand", "cublas",
      "cuComplex.h",        "cusolver"};
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (strncmp(header, families[i], strlen(families[i])) == 0) return true;
  return false;
}

/* Replaces the diagnostic, because a host compiler's message about such a header does not help. */
static bool refuse_for_gpus(struct advice *advice, const char *path, int line, const char *header,
                            struct text *out) {
  if (!advice->cpu || !is_for_gpus(header)) return false;
  hints_for_gpus(path, line, header, out);
  advice->given = advice->ends = true;
  return true;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Takes the name that the diagnostic does not know. */
static bool unknown_name(const char *line, size_t length, struct text *out) {
  return advice_between(line, length, "identifier \"", "\" is undefined", out) ||
         advice_between(line, length, "error: '", "' was not declared", out) ||
         advice_between(line, length, "error: '", "' does not name a type", out);
}

/* ---- Constants ------------------------------------------------------------------------------ */

/* Whether the diagnostic asks for a constant as an array's bound, a template's argument or a
   #pragma's number, in the words of NVRTC, g++ and clang++. */
static bool wants_constant(const char *line, size_t length) {
  static const char *const words[] = {
      "must have a constant value", "variable length array",   "takes a constant",
      "in a constant expression",   "not a constant",          "is not constant",
      "integral constant expr",     "not an integer constant", "storage size of"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (memmem(line, length, words[i], strlen(words[i]))) return true;
  return false;
}

static bool advise_constant(const struct advice *advice, const struct diagnostic *d,
                            const char *line, size_t length, struct text *out) {
  const char *text = wants_constant(line, length)
                         ? blame_text(advice->request->source, text_get(&d->path), d->line)
                         : NULL;
  struct passed found;
  if (!text || !passed_find(advice->request->source, text, text + strcspn(text, "\n"), &found)) {
    const bool vla = advice->cpu && memmem(line, length, "variable length array", 21);
    if (vla) hints_constant(NULL, out);
    return vla;
  }
  hints_constant(&found, out);
  return true;
}

/* ---- Limits of ptxas ------------------------------------------------------------------------ */

/* Messages such as "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes,
   0xc000 max)", which name no line. */
static const struct limit {
  const char *words;
  enum source_cause cause;
} limits[] = {{"too much global constant data", SOURCE_CONSTANT},
              {"too much shared data", SOURCE_SHARED}};

static const struct limit *advice_find_limit(const char *line, size_t length) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (memmem(line, length, limits[i].words, strlen(limits[i].words))) return &limits[i];
  return NULL;
}

static void advice_add_limit(struct advice *advice, const struct limit *limit, const char *line,
                             size_t length, struct text *out) {
  const struct compile_request *request = advice->request;
  struct text file = {0};
  int number = 0;
  if (source_place(request->source, request->entry_count == 1 ? request->entries[0] : NULL,
                   limit->cause, &file, &number)) {
    text_addf(out, "%s:%d: ", text_get(&file), number);
    error_place(&advice->where, text_get(&file), number);
  }
  text_add_n(out, line, length);
  hints_limit(limit->cause, out);
  advice->given = true;
  out->failed |= file.failed;
  text_free(&file);
}

/* ---- Whole diagnostics ---------------------------------------------------------------------- */

static bool is_error(const char *line, size_t length) {
  return memmem(line, length, "error: ", strlen("error: ")) != NULL;
}

/* A diagnostic in a file that is not part of the source. */
static void add_foreign(struct advice *advice, const struct diagnostic *d, const char *line,
                        size_t length, const char *from, struct text *out) {
  struct text header = {0}, place = {0};
  struct diagnostic includer = {.line = 0};
  const char *source = advice->request->source;
  bool found = false;
  if (!from) {
    found = blame_header(advice->request->toolkit, source, text_get(&d->path), &place, &header);
  } else if (advice_take_apart(from, strlen(from), &includer)) {
    text_addf(&place, "%s:%d", text_get(&includer.path), includer.line);
    found = blame_include(source, text_get(&includer.path), includer.line, &header);
  }
  /* The cpu device's own headers have no folder: the header exists, but only in part. */
  const bool ours = advice->cpu && text_get(&d->path)[0] != '/';
  if (!found || ours ||
      !refuse_for_gpus(advice, text_get(&includer.path), includer.line, text_get(&header), out)) {
    if (found) text_addf(out, "%s: #include <%s>: ", text_get(&place), text_get(&header));
    text_add_n(out, line, length);
    if (found) hints_header(advice->cpu, ours, text_get(&header), out);
    advice->given = found;
  }
  out->failed |= header.failed || place.failed;
  text_free(&includer.path);
  text_free(&header);
  text_free(&place);
}

/* A diagnostic in one of the source's own files. */
static void advice_add_own(struct advice *advice, const struct diagnostic *d, const char *line,
                           size_t length, struct text *out) {
  struct text header = {0}, name = {0};
  struct blamed_function function;
  const bool missing = missing_header(line, length, &header);
  if (missing && refuse_for_gpus(advice, text_get(&d->path), d->line, text_get(&header), out)) {
    text_free(&header);
    return;
  }
  text_add_n(out, line, length);
  advice->given = true;
  if (missing)
    hints_missing(advice_lack(advice, text_get(&header)), text_get(&header),
                  text_get(&advice->request->toolkit->include), out);
  else if (!(unknown_name(line, length, &name) && hints_name(text_get(&name), out)) &&
           !hints_flag(line, length, out) && !advise_constant(advice, d, line, length, out)) {
    advice->given = blame_function(advice->request->source, text_get(&d->path), d->line, &function);
    if (advice->given) hints_function(&function, out);
  }
  out->failed |= header.failed || name.failed;
  text_free(&header);
  text_free(&name);
}

/* The index of the kernel if the diagnostic is in the code that cugen appends to the source for
   launched kernels; else -1. */
static int entry_number(const struct advice *advice, const struct diagnostic *d, const char *line,
                        size_t length) {
  const char *path = text_get(&d->path);
  const int count = (int)advice->request->entry_count;
  int number = -1;
  if (advice->cpu && strcmp(path, CPU_ENTRIES_NAME) == 0)
    number = d->line - 1;
  else if (!advice->cpu && strcmp(path, "__nv_name_map") == 0)
    number = d->line - 2;
  else if (advice->cpu && count == 1 && strcmp(path, CPU_UNIT_NAME) == 0 &&
           memmem(line, length, " converting ", 12))
    number = 0;
  return number < count ? number : -1;
}

static void add_entry(struct advice *advice, int number, const char *line, size_t length,
                      struct text *out) {
  static const char mark[] = "error: ";
  const char *entry = advice->request->entries[number],
             *what = memmem(line, length, mark, sizeof mark - 1);
  struct text places = {0};
  const int count = blame_kernels(advice->request->source, entry, &places);
  if (count) text_addf(out, "%.*s: ", (int)strcspn(text_get(&places), ","), text_get(&places));
  text_addf(out, "entry \"%s\": ", entry);
  text_add_n(out, what, length - (size_t)(what - line));
  if (count > 1)
    text_addf(out, ". Several kernels have this name (%s): rename all but one", text_get(&places));
  advice->given = true;
  out->failed |= places.failed;
  text_free(&places);
}

/* The most bytes of a diagnostic, which may quote names and lines of any length. */
enum { LINE_MOST = 1000 };

/* Whether the diagnostic is in one of the source's own files, whose place is noted. The prologue
   has no file: its name is the variant's. */
static bool note_own(struct advice *advice, const struct diagnostic *d) {
  if (!blame_is_own(advice->request, text_get(&d->path))) return false;
  if (strcmp(text_get(&d->path), advice->request->name) != 0)
    error_place(&advice->where, text_get(&d->path), d->line);
  return true;
}

void advice_add(struct advice *advice, const char *line, size_t length, const char *from,
                struct text *out) {
  if (length > LINE_MOST) {
    length = LINE_MOST;
    /* a UTF-8 character stays whole */
    while (length && ((unsigned char)line[length] & 0xc0) == 0x80) length--;
  }
  struct diagnostic d = {.line = 0};
  int number = -1;
  const struct limit *limit = advice->cpu || advice->given ? NULL : advice_find_limit(line, length);
  if (limit)
    advice_add_limit(advice, limit, line, length, out);
  else if (advice->given || !is_error(line, length) || !advice_take_apart(line, length, &d))
    text_add_n(out, line, length);
  else if ((number = entry_number(advice, &d, line, length)) >= 0)
    add_entry(advice, number, line, length, out);
  else if (note_own(advice, &d))
    advice_add_own(advice, &d, line, length, out);
  else
    add_foreign(advice, &d, line, length, from, out);
  text_free(&d.path);
}
