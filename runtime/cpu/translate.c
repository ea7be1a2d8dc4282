/* The textual steps of compiling for the cpu device, all on their lines; see translate.h. Words are looked at outside of comments and
   literals. */
#include "translate.h"

#include <ctype.h>
#include <string.h>

#include "asm_text.h"
#include "runtime/compile/passed.h"

/* ---- Words ---- */

static const char *skip_space(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

/* After `word` when it stands at `at` as a whole word, else NULL. */
static const char *after_word(const char *at, const char *word) {
  size_t length = strlen(word);
  return strncmp(at, word, length) == 0 && !text_is_word(at[length]) ? at + length : NULL;
}

/* Past what is in parentheses. */
static const char *skip_parentheses(const char *at) {
  int depth = 0;
  for (; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) return at + (*at == ')');
  }
  return at;
}

/* Past `__align__(16)`, `alignas(16)`, `__attribute__((...))`: mmap'ed memory is aligned to a page. */
static const char *skip_alignment(const char *at) {
  static const char *const words[] = {"__align__", "alignas", "__attribute__"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *end = after_word(at, words[i]);
    if (!end) continue;
    return skip_space(skip_parentheses(skip_space(end)));
  }
  return at;
}

/* ---- Shared memory and launches ---- */

/* Where a word stands. */
struct place {
  int depth;        /* in how many braces */
  bool macro;       /* in a directive */
  unsigned refused; /* things so far that have no form here */
  int launches;     /* open ones, `<<<` */
};

/* The words in front of a type, in any order. */
struct specifiers {
  bool shared, external, constant, changing;
  int others; /* words besides __shared__ */
};

/* Reads them at `at`; gives the type's place. */
static const char *read_specifiers(const char *at, struct specifiers *out) {
  *out = (struct specifiers){.shared = false};
  for (const char *end;; at = skip_space(end)) {
    if ((end = after_word(at, "__shared__"))) {
      out->shared = true;
      continue;
    }
    if ((end = after_word(at, "extern")))
      out->external = true;
    else if ((end = after_word(at, "const")))
      out->constant = true;
    else if ((end = after_word(at, "volatile")))
      out->changing = true;
    else if (!(end = after_word(at, "static")))
      return at;
    out->others++;
  }
}

static void keep_newlines(const char *at, const char *end, struct text *out) {
  for (; at < end; at++)
    if (*at == '\n') text_add_char(out, '\n');
}

/* Whether it stands behind the type: `extern float __shared__ name[];`. */
static bool is_shared_later(const char *type) {
  size_t length = strcspn(type, "[;({=\"");
  for (size_t i = 1; type[length] == '[' && i < length; i++)
    if (!text_is_word(type[i - 1]) && after_word(type + i, "__shared__")) return true;
  return false;
}

static void add_type(const char *type, const char *end, struct text *out) {
  for (const char *at = type, *past; at < end; at++) {
    bool begins = at > type && !text_is_word(at[-1]);
    if (begins && (past = after_word(at, "__shared__")) && past <= end) at = past;
    if (begins && (past = skip_alignment(at)) > at && past <= end) at = past;
    if (at < end) text_add_char(out, *at);
  }
}

/* Past `[4] [8]`. */
static const char *skip_bounds(const char *at) {
  for (const char *end; *(end = skip_space(at)) == '[' && (end = strchr(end, ']'));) at = end + 1;
  return at;
}

/* Where the declaration ends: its semicolon, or in a macro perhaps the last line. */
static const char *find_end(const char *at, bool macro) {
  const char *end = at + strcspn(at, ";");
  if (!macro) return end;
  const char *line = at;
  while (*(line += strcspn(line, "\n")) && line > at && line[-1] == '\\') line++;
  return end < line ? end : line;
}

/* `extern __shared__ float name[];` at `at`, whose type is given: writes its replacement and gives the place after it; NULL
   when there is no array. Inside a function a plain pointer; at file scope a reference to the pointer, which is set at each
   launch. Bounds behind the first are the type's: `float name[][8]` is `float (*name)[8]`. */
static const char *translate_dynamic(const char *at, const char *type, const struct specifiers *specifiers,
                                     const struct place *place, struct text *out) {
  type = skip_alignment(type);
  const char *bracket = type + strcspn(type, "[;");
  if (*bracket != '[') return NULL;
  const char *name_end = bracket;
  while (name_end > type && isspace((unsigned char)name_end[-1])) name_end--;
  const char *name = name_end;
  while (name > type && text_is_word(name[-1])) name--;
  const char *end = find_end(bracket, place->macro), *close = strchr(bracket, ']');
  if (name == type || !close || (!*end && !place->macro)) return NULL;
  const bool inside = place->depth || place->macro;
  const char *bounds = skip_space(close + 1), *past = skip_bounds(bounds);
  const char *reference = inside ? "" : "&", *words = specifiers->changing ? "volatile " : "";
  struct text plain = {0};
  add_type(type, name, &plain);
  const char *open = past > bounds ? "(" : "", *shut = past > bounds ? ")" : "";
  text_addf(out, "%s%s%s%s*%s%.*s%s%.*s = (%s%s%s*%s%s%.*s)cugen_builtins.dynamic_shared", inside ? "" : "static ",
            words, text_get(&plain), open, reference, (int)(name_end - name), name, shut, (int)(past - bounds),
            bounds, words, text_get(&plain), open, reference, shut, (int)(past - bounds), bounds);
  out->failed |= plain.failed;
  text_free(&plain);
  keep_newlines(at, end, out);
  return end;
}

/* `__shared__ alignas(16) float name[32];`: C++ wants the attribute elsewhere. Gives the place behind it. */
static const char *translate_alignment(const char *type, struct text *out) {
  const char *open = after_word(type, "alignas"), *end = open ? skip_parentheses(skip_space(open)) : type;
  if (!open) return type;
  open = skip_space(open);
  const int length = (int)(end - open);
  /* Of what may be a type, the alignment: of an expression it would be another. */
  const bool type_name = length > 3 && !isdigit((unsigned char)open[1]) &&
                         (isdigit((unsigned char)end[-2]) || memchr(open, ':', (size_t)length));
  text_addf(out, type_name ? "__align__(alignof%.*s) " : "__align__%.*s ", length, open);
  return end;
}

/* A declaration of shared memory that begins at `at`: what the macro __shared__ does not take. That means `static` and, in a
   watched kernel, for a variable of its own, so that it is to be the first word. NULL: nothing is to be done. */
static const char *translate_shared(const char *at, const struct place *place, struct text *out) {
  struct specifiers specifiers;
  const char *type = read_specifiers(at, &specifiers);
  if (specifiers.external && is_shared_later(type)) specifiers.shared = true;
  if (!specifiers.shared || (!specifiers.others && !after_word(type, "alignas"))) return NULL;
  if (specifiers.external) return translate_dynamic(at, type, &specifiers, place, out);
  text_addf(out, "__shared__ %s%s", specifiers.constant ? "const " : "", specifiers.changing ? "volatile " : "");
  const char *past = translate_alignment(type, out);
  keep_newlines(at, past, out);
  return past;
}

/* A launch by a kernel: what compiles it is refused, by a call of a function whose attribute says so. `k<<<1, 32>>>(x)` becomes
   `k, ({ refused }), cugen_ignored(1, 32), cugen_ignored(x)`, on its lines. */
static const char *translate_launch(const char *at, struct place *place, struct text *out) {
  if (!strncmp(at, "<<<", 3)) {
    place->launches++;
    text_addf(out,
              ", ({ extern void cugen_refused_%u() __attribute__((__error__(\"a launch by a kernel (dynamic "
              "parallelism) has no "
              "form on the cpu device\"))); cugen_refused_%u(); 0; }), cugen_ignored(",
              place->refused, place->refused);
    place->refused++;
    return at + 3;
  }
  if (!place->launches || strncmp(at, ">>>", 3) != 0) return NULL;
  place->launches--;
  text_add(out, "), cugen_ignored");
  return at + 3;
}

/* No macro of the shim: the host's headers say __attribute__((__noinline__)). */
static const char *translate_noinline(const char *at, struct text *out) {
  static const char attribute[] = "__attribute__((";
  const size_t length = sizeof attribute - 1;
  const char *past = *at == '_' ? after_word(at, "__noinline__") : NULL;
  if (!past) return NULL;
  const bool inside = out->length >= length && memcmp(out->data + out->length - length, attribute, length) == 0;
  text_add(out, inside ? "__noinline__" : "__attribute__((__noinline__))");
  return past;
}

static const char *translate_word(const char *at, struct place *place, struct text *out) {
  const char *past = translate_shared(at, place, out);
  if (!past) past = translate_noinline(at, out);
  if (!past && (*at == 'a' || *at == '_') && (place->depth || place->macro))
    past = asm_translate(at, &place->refused, out);
  return past;
}

/* Whether the line that `at` begins is a directive's, and not a continued one. */
static bool begins_directive(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return *at == '#';
}

/* What NVRTC refuses and g++ ignores: `#pragma unroll items`, where that comes from what is passed at launch. NULL: it is no such
   directive. Where preprocessing leaves it out, #pragma GCC error says nothing either. */
static const char *refuse_unroll(const char *source, const char *at, struct text *out) {
  const char *word = after_word(skip_space(at + 1), "pragma"), *end = at + strcspn(at, "\n");
  const char *count = word ? after_word(skip_space(word), "unroll") : NULL;
  struct passed found;
  if (!count || count > end || !passed_find(source, count, end, &found) || found.name == found.size) return NULL;
  text_add(out, "#pragma GCC error \"#pragma unroll takes a constant\"");
  return end;
}

/* ---- Declarations outside of functions ---- */

/* Braces that are open, the outer ones of them namespaces; and of the declaration that goes on outside of functions, whether it is
   of shared memory, or a constant and its name. */
struct scope {
  int depth, spaces;
  bool space; /* the next brace is a namespace's */
  bool shared, constant;
  bool partial; /* its size is not known there: extern, or a template */
  const char *name;
  size_t name_length;
};

static bool is_outside(const struct scope *s) {
  return s->depth == s->spaces;
}

static void see_word(struct scope *s, const char *word, const char *end) {
  const size_t length = (size_t)(end - word);
  const char *next = skip_space(end);
  s->space |= after_word(word, "namespace") == end;
  if (after_word(word, "extern") == end && *next == '"') s->space |= *skip_space(text_skip_opaque(next)) == '{';
  if (!is_outside(s)) return;
  s->partial |= after_word(word, "extern") == end || after_word(word, "template") == end;
  s->shared |= after_word(word, "__shared__") == end;
  s->constant |= after_word(word, "__constant__") == end;
  const bool named = s->constant && !s->name && strchr("[=;,{", *next);
  if (named) s->name = word, s->name_length = length;
}

/* What a watched kernel's symbols are to say of the declaration that has ended: shim/language.h. */
static void end_declaration(struct scope *s, struct text *out) {
  if (s->shared) text_add(out, " CUGEN_SHARED_END");
  const int length = (int)s->name_length;
  if (s->constant && s->name && s->partial) text_addf(out, " CUGEN_CONSTANT(%.*s, 0)", length, s->name);
  if (s->constant && s->name && !s->partial)
    text_addf(out, " CUGEN_CONSTANT(%.*s, sizeof(%.*s))", length, s->name, length, s->name);
  *s = (struct scope){.depth = s->depth, .spaces = s->spaces};
}

static void see_sign(struct scope *s, char sign, struct text *out) {
  if (sign == '{') {
    s->spaces += s->space && is_outside(s);
    s->depth++;
    s->space = false;
  }
  if (sign == '}') s->depth--;
  if (s->spaces > s->depth) s->spaces = s->depth;
  if (sign == ';' && is_outside(s)) end_declaration(s, out);
}

void cpu_translate(const char *source, struct text *out) {
  struct place place = {.macro = begins_directive(source)};
  struct scope scope = {.depth = 0};
  for (const char *at = source; *at;) {
    const char *end = text_skip_opaque(at);
    if (end == at && text_is_word(*at)) {
      const char *past = translate_word(at, &place, out);
      if (past) {
        scope.shared |= is_outside(&scope) && !place.macro && *skip_space(past) != ';' &&
                        memmem(at, (size_t)(past - at), "__shared__", 10);
        at = past;
        continue;
      }
      while (text_is_word(*end)) end++;
      if (!place.macro) see_word(&scope, at, end);
    }
    const char *past = end == at && (*at == '<' || *at == '>')  ? translate_launch(at, &place, out)
                       : end == at && *at == '#' && place.macro ? refuse_unroll(source, at, out)
                                                                : NULL;
    if (past) {
      at = past;
      continue;
    }
    const bool sign = end == at;
    if (sign && *at == '\n' && (at == source || at[-1] != '\\')) place.macro = begins_directive(at + 1);
    if (sign) end++;
    text_add_n(out, at, (size_t)(end - at));
    if (sign && !place.macro) see_sign(&scope, *at, out);
    place.depth = !is_outside(&scope);
    at = end;
  }
}

/* ---- What a kernel's declaration says of its launches ---- */

/* The kernel whose declaration goes on at `at`: its name, behind its type and other attributes. */
static const char *kernel_name(const char *at, size_t *length) {
  static const char *const words[] = {"void",   "__global__", "__launch_bounds__", "__cluster_dims__",
                                      "static", "__maxnreg__"};
  for (at = skip_space(at); *at; at = skip_space(at)) {
    const char *end = at;
    while (text_is_word(*end)) end++;
    size_t word = 0;
    while (word < sizeof words / sizeof *words && after_word(at, words[word]) != end) word++;
    *length = (size_t)(end - at);
    if (end == at || word == sizeof words / sizeof *words) return at;
    at = *skip_space(end) == '(' ? skip_parentheses(skip_space(end)) : end;
  }
  return at;
}

/* A reading of declarations: where the one under way begins, and in how many #if it stands. */
struct reading {
  const char *declaration;
  int conditions;
};

static const char *read_directive(struct reading *r, const char *at) {
  const char *word = skip_space(at + 1);
  r->conditions += strncmp(word, "if", 2) == 0;
  r->conditions -= after_word(word, "endif") != NULL;
  at += strcspn(at, "\n");
  r->declaration = at;
  return at;
}

/* `template <int n>` in front of the declaration; nothing where it is no template. */
static void add_template(const char *declaration, const char *at, struct text *out) {
  const char *begin = skip_space(declaration), *end = at;
  const char *global = memmem(begin, (size_t)(at - begin), "__global__", 10);
  if (global) end = global;
  while (end > begin && end[-1] != '>') end--;
  if (after_word(begin, "template")) text_add_n(out, begin, (size_t)(end - begin));
}

/* CUGEN_NUMBERS(0, cluster, n, 1, 1), or of a template's instance the numbers of a structure with the template's parameters. */
static void add_numbers(const struct reading *r, const char *at, const char *open, const char *past,
                        const char *entry, size_t index, const char *what, struct text *out) {
  struct text parameters = {0};
  const char *instance = entry + strcspn(entry, "<");
  const int length = (int)(past - open) - 2;
  if (*instance) add_template(r->declaration, at, &parameters);
  if (parameters.length)
    text_addf(out, " CUGEN_NUMBERS_OF(%zu, %s, (%s), (%s), %.*s)", index, what, text_get(&parameters), instance,
              length, open + 1);
  else
    text_addf(out, " CUGEN_NUMBERS(%zu, %s, %.*s)", index, what, length, open + 1);
  out->failed |= parameters.failed;
  text_free(&parameters);
}

void cpu_translate_numbers(const char *source, const char *entry, size_t index, const char *word, const char *what,
                           bool always, struct text *out) {
  const size_t wanted = strcspn(entry, "<");
  struct reading r = {.declaration = source};
  for (const char *at = source; *at;) {
    const char *opaque = text_skip_opaque(at), *past = after_word(at, word);
    const bool begins = at == source || !text_is_word(at[-1]);
    if (opaque != at) {
      at = opaque;
    } else if (*at == '#' && (at == source || at[-1] == '\n')) {
      at = read_directive(&r, at);
    } else if (past && begins && *skip_space(past) == '(') {
      const char *open = skip_space(past), *end = skip_parentheses(open);
      size_t length = 0;
      const char *name = kernel_name(end, &length);
      const bool found = length == wanted && strncmp(name, entry, wanted) == 0;
      if (found && (always || !r.conditions)) add_numbers(&r, at, open, end, entry, index, what, out);
      if (found) return;
      at = end;
    } else {
      if (*at == ';' || *at == '}' || *at == '{') r.declaration = at + 1;
      at++;
    }
  }
}
