/* The textual steps of compiling for the cpu device, which keep all lines in place; see
   compile.h. Words in comments and literals are ignored. */
#include "compile.h"

#include <ctype.h>
#include <string.h>

#include "base/source_place.h"
#include "runtime/compile/passed.h"

/* ---- Words ---------------------------------------------------------------------------------- */

static const char *translate_skip_space(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

static const char *translate_skip_parentheses(const char *at) {
  int depth = 0;
  for (; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) return at + (*at == ')');
  }
  return at;
}

/* Skips `__align__(16)`, `alignas(16)`, `__attribute__((...))` of dynamic shared memory, whose
   alignment follows from CUGEN_ALIGNED (shim/entry.h). */
static const char *skip_alignment(const char *at) {
  static const char *const words[] = {"__align__", "alignas", "__attribute__"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *end = source_after_word(at, words[i]);
    if (!end) continue;
    return translate_skip_space(translate_skip_parentheses(translate_skip_space(end)));
  }
  return at;
}

/* ---- Shared memory and launches ------------------------------------------------------------- */

/* Where the word that is being translated stands. */
struct place {
  int depth;        /* 1 within braces of neither a namespace nor extern "C", else 0 */
  bool macro;       /* within a directive */
  unsigned refused; /* number of refused constructs so far */
  int launches;     /* number of `<<<` so far without their `>>>` */
};

/* The words in front of a type, in any order. */
struct specifiers {
  bool shared, external, constant, changing;
  int others; /* words besides __shared__ */
};

/* Reads the specifiers at `at`; returns the beginning of the type. */
static const char *read_specifiers(const char *at, struct specifiers *out) {
  *out = (struct specifiers){.shared = false};
  for (const char *end;; at = translate_skip_space(end)) {
    if ((end = source_after_word(at, "__shared__"))) {
      out->shared = true;
      continue;
    }
    if ((end = source_after_word(at, "extern")))
      out->external = true;
    else if ((end = source_after_word(at, "const")))
      out->constant = true;
    else if ((end = source_after_word(at, "volatile")))
      out->changing = true;
    else if (!(end = source_after_word(at, "static")))
      return at;
    out->others++;
  }
}

/* Whether __shared__ follows the type: `extern float __shared__ name[];`. */
static bool is_shared_later(const char *type) {
  size_t length = strcspn(type, "[;({=\"");
  for (size_t i = 1; type[length] == '[' && i < length; i++)
    if (!text_is_word(type[i - 1]) && source_after_word(type + i, "__shared__")) return true;
  return false;
}

static void translate_add_type(const char *type, const char *end, struct text *out) {
  for (const char *at = type, *past; at < end; at++) {
    bool begins = at > type && !text_is_word(at[-1]);
    if (begins && (past = source_after_word(at, "__shared__")) && past <= end) at = past;
    if (begins && (past = skip_alignment(at)) > at && past <= end) at = past;
    if (at < end) text_add_char(out, *at);
  }
}

/* Skips `[4] [8]`. */
static const char *skip_bounds(const char *at) {
  for (const char *end; *(end = translate_skip_space(at)) == '[' && (end = strchr(end, ']'));)
    at = end + 1;
  return at;
}

/* Returns the end of the declaration: its semicolon, or, if a macro has none, the macro's end. */
static const char *find_end(const char *at, bool macro) {
  const char *end = at + strcspn(at, ";");
  if (!macro) return end;
  const char *line = at;
  while (*(line += strcspn(line, "\n")) && line > at && line[-1] == '\\') line++;
  return end < line ? end : line;
}

/* Translates `extern __shared__ float name[];` at `at`, whose type begins at `type`. Returns the
   end of the declaration, or NULL if it does not declare an array. Inside a function the result
   is a pointer; at file scope it is a reference to the pointer that is set at each launch. Bounds
   after the first belong to the type: `float name[][8]` is `float (*name)[8]`. */
static const char *translate_dynamic(const char *at, const char *type,
                                     const struct specifiers *specifiers, const struct place *place,
                                     struct text *out) {
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
  const char *bounds = translate_skip_space(close + 1), *past = skip_bounds(bounds);
  const char *reference = inside ? "" : "&", *words = specifiers->changing ? "volatile " : "";
  struct text plain = {0};
  translate_add_type(type, name, &plain);
  const char *open = past > bounds ? "(" : "", *shut = past > bounds ? ")" : "";
  text_addf(out, "%s%s%s%s*%s%.*s%s%.*s = (%s%s%s*%s%s%.*s)cugen_builtins.dynamic_shared",
            inside ? "" : "static ", words, text_get(&plain), open, reference,
            (int)(name_end - name), name, shut, (int)(past - bounds), bounds, words,
            text_get(&plain), open, reference, shut, (int)(past - bounds), bounds);
  out->failed |= plain.failed;
  text_free(&plain);
  asm_keep_lines(at, end, out);
  return end;
}

/* Translates the alignas of `__shared__ alignas(16) float name[32];`, which C++ wants in another
   place. Returns the place after the alignas, or `type` if there is none. */
static const char *translate_alignment(const char *type, struct text *out) {
  const char *open = source_after_word(type, "alignas"),
             *end = open ? translate_skip_parentheses(translate_skip_space(open)) : type;
  if (!open) return type;
  open = translate_skip_space(open);
  const size_t length = (size_t)(end - open);
  /* Between angle brackets a comparison needs parentheses, which a type may not have. */
  const bool comparison =
      memchr(open, '?', length) || (memchr(open, '>', length) && !memchr(open, '<', length));
  text_addf(out,
            comparison ? "__attribute__((__aligned__(cugen_alignment<(%.*s)>()))) "
                       : "__attribute__((__aligned__(cugen_alignment<%.*s>()))) ",
            length > 2 ? (int)length - 2 : 0, open + 1);
  return end;
}

/* Translates a declaration of shared memory at `at` in a form that the macro __shared__ cannot
   handle. The macro has to be the first word. NULL: no translation is needed. */
static const char *translate_shared(const char *at, const struct place *place, struct text *out) {
  struct specifiers specifiers;
  const char *type = read_specifiers(at, &specifiers);
  if (specifiers.external && is_shared_later(type)) specifiers.shared = true;
  if (!specifiers.shared || (!specifiers.others && !source_after_word(type, "alignas")))
    return NULL;
  if (specifiers.external) return translate_dynamic(at, type, &specifiers, place, out);
  text_addf(out, "__shared__ %s%s", specifiers.constant ? "const " : "",
            specifiers.changing ? "volatile " : "");
  const char *past = translate_alignment(type, out);
  asm_keep_lines(at, past, out);
  return past;
}

/* A launch by a kernel is refused when it is compiled, by a call of a function with the
   attribute error. `k<<<1, 32>>>(x)` becomes `k, ({ refused }), cugen_ignored(1, 32),
   cugen_ignored(x)`, on the same lines. */
static const char *translate_launch(const char *at, struct place *place, struct text *out) {
  if (!strncmp(at, "<<<", 3)) {
    place->launches++;
    text_addf(out,
              ", ({ extern void cugen_refused_%u() __attribute__((__error__(\"a launch by a kernel "
              "(dynamic "
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

/* __noinline__ cannot be a macro of the shim, because the host's headers say
   __attribute__((__noinline__)). */
static const char *translate_noinline(const char *at, struct text *out) {
  static const char attribute[] = "__attribute__((";
  const size_t length = sizeof attribute - 1;
  const char *past = *at == '_' ? source_after_word(at, "__noinline__") : NULL;
  if (!past) return NULL;
  const bool inside =
      out->length >= length && memcmp(out->data + out->length - length, attribute, length) == 0;
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

/* Whether a line that begins at `at`, and continues no other line, is a directive. */
static bool begins_directive(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return *at == '#';
}

/* Refuses `#pragma unroll items` where `items` is computed from a value that is passed at launch:
   NVRTC refuses it, g++ would not. Returns NULL for any other directive. If preprocessing skips
   the line, the #pragma GCC error is skipped too. */
static const char *refuse_unroll(const char *source, const char *at, struct text *out) {
  const char *word = source_after_word(translate_skip_space(at + 1), "pragma"),
             *end = at + strcspn(at, "\n");
  const char *count = word ? source_after_word(translate_skip_space(word), "unroll") : NULL;
  struct passed found;
  if (!count || count > end || !passed_find(source, count, end, &found) || found.name == found.size)
    return NULL;
  text_add(out, "#pragma GCC error \"#pragma unroll takes a constant\"");
  return end;
}

/* ---- Declarations outside of functions ------------------------------------------------------ */

/* Where the translation is, and what is known of the present declaration outside of functions. */
struct scope {
  int depth, spaces;     /* numbers of open braces, and of those of namespaces and extern "C" */
  bool space;            /* the next brace opens a namespace or an extern "C" block */
  bool shared, constant; /* the declaration is of shared memory, of a constant */
  bool partial;          /* the declaration does not tell the size: extern, or a template */
  const char *name;      /* of the constant */
  size_t name_length;
};

static bool is_outside(const struct scope *s) {
  return s->depth == s->spaces;
}

static void translate_see_word(struct scope *s, const char *word, const char *end) {
  const size_t length = (size_t)(end - word);
  const char *next = translate_skip_space(end);
  if (!is_outside(s)) return;
  s->space |= source_after_word(word, "namespace") == end;
  if (source_after_word(word, "extern") == end && *next == '"')
    s->space |= *translate_skip_space(text_skip_opaque(next)) == '{';
  s->partial |=
      source_after_word(word, "extern") == end || source_after_word(word, "template") == end;
  s->shared |= source_after_word(word, "__shared__") == end;
  s->constant |= source_after_word(word, "__constant__") == end;
  const bool named = s->constant && !s->name && strchr("[=;,{", *next);
  if (named) s->name = word, s->name_length = length;
}

/* Appends macros of shim/language.h that register the declaration that has ended. */
static void end_declaration(struct scope *s, struct text *out) {
  if (s->shared) text_add(out, " CUGEN_SHARED_END");
  const int length = (int)s->name_length;
  if (s->constant && s->name && s->partial)
    text_addf(out, " CUGEN_CONSTANT(%.*s, 0)", length, s->name);
  if (s->constant && s->name && !s->partial)
    text_addf(out, " CUGEN_CONSTANT(%.*s, sizeof(%.*s))", length, s->name, length, s->name);
  *s = (struct scope){.depth = s->depth, .spaces = s->spaces};
}

static void see_sign(struct scope *s, char sign, struct text *out) {
  if (sign == '{') {
    s->spaces += s->space;
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
        scope.shared |= is_outside(&scope) && !place.macro && *translate_skip_space(past) != ';' &&
                        memmem(at, (size_t)(past - at), "__shared__", 10);
        at = past;
        continue;
      }
      while (text_is_word(*end)) end++;
      if (!place.macro) translate_see_word(&scope, at, end);
    }
    const char *past = end == at && (*at == '<' || *at == '>')  ? translate_launch(at, &place, out)
                       : end == at && *at == '#' && place.macro ? refuse_unroll(source, at, out)
                                                                : NULL;
    if (past) {
      at = past;
      continue;
    }
    const bool sign = end == at;
    if (sign && *at == '\n' && (at == source || at[-1] != '\\'))
      place.macro = begins_directive(at + 1);
    if (sign) end++;
    text_add_n(out, at, (size_t)(end - at));
    if (sign && !place.macro) see_sign(&scope, *at, out);
    place.depth = !is_outside(&scope);
    at = end;
  }
}

/* ---- Launch attributes of a kernel's declaration -------------------------------------------- */

/* The name of the kernel whose declaration continues at `at`, after its type and other
   attributes. */
static const char *kernel_name(const char *at, size_t *length) {
  static const char *const words[] = {
      "void", "__global__", "__launch_bounds__", "__cluster_dims__", "static", "__maxnreg__"};
  for (at = translate_skip_space(at); *at; at = translate_skip_space(at)) {
    const char *end = at;
    while (text_is_word(*end)) end++;
    size_t word = 0;
    while (word < sizeof words / sizeof *words && source_after_word(at, words[word]) != end) word++;
    *length = (size_t)(end - at);
    if (end == at || word == sizeof words / sizeof *words) return at;
    at = *translate_skip_space(end) == '(' ? translate_skip_parentheses(translate_skip_space(end))
                                           : end;
  }
  return at;
}

/* Appends the `template <int n>` in front of the declaration; nothing if it is not a template. */
static void add_template(const char *declaration, const char *at, struct text *out) {
  const char *begin = translate_skip_space(declaration), *end = at;
  const char *global = memmem(begin, (size_t)(at - begin), "__global__", 10);
  if (global) end = global;
  while (end > begin && end[-1] != '>') end--;
  if (source_after_word(begin, "template")) text_add_n(out, begin, (size_t)(end - begin));
}

/* Appends CUGEN_NUMBERS(0, cluster, n, 1, 1), or for a template's instance CUGEN_NUMBERS_OF with
   the template's parameters and arguments. */
static void add_numbers(const char *declaration, const char *at, const char *open, const char *past,
                        const char *entry, size_t index, const char *what, struct text *out) {
  struct text parameters = {0};
  const char *instance = entry + strcspn(entry, "<");
  const int length = (int)(past - open) - 2;
  if (*instance) add_template(declaration, at, &parameters);
  if (parameters.length)
    text_addf(out, " CUGEN_NUMBERS_OF(%zu, %s, (%s), (%s), %.*s)", index, what,
              text_get(&parameters), instance, length, open + 1);
  else
    text_addf(out, " CUGEN_NUMBERS(%zu, %s, %.*s)", index, what, length, open + 1);
  out->failed |= parameters.failed;
  text_free(&parameters);
}

void cpu_translate_numbers(const char *source, const char *entry, size_t index, const char *word,
                           const char *what, bool always, struct text *out) {
  const size_t wanted = strcspn(entry, "<");
  const char *declaration = source; /* begin of the present declaration */
  int conditions = 0;               /* open #if */
  for (const char *at = source; *at;) {
    const char *opaque = text_skip_opaque(at), *past = source_after_word(at, word);
    const bool begins = at == source || !text_is_word(at[-1]);
    if (opaque != at) {
      at = opaque;
    } else if (*at == '#' && (at == source || at[-1] == '\n')) {
      const char *directive = translate_skip_space(at + 1);
      conditions += strncmp(directive, "if", 2) == 0;
      conditions -= source_after_word(directive, "endif") != NULL;
      at += strcspn(at, "\n");
      declaration = at;
    } else if (past && begins && *translate_skip_space(past) == '(') {
      const char *open = translate_skip_space(past), *end = translate_skip_parentheses(open);
      size_t length = 0;
      const char *name = kernel_name(end, &length);
      const bool found = length == wanted && strncmp(name, entry, wanted) == 0;
      if (found && (always || !conditions))
        add_numbers(declaration, at, open, end, entry, index, what, out);
      if (found) return;
      at = end;
    } else {
      if (*at == ';' || *at == '}' || *at == '{') declaration = at + 1;
      at++;
    }
  }
}
