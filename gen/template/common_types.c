/* Finds the short type names of nvcc that a source uses without declaring them; see
   common_types.h. */
#include "common_types.h"

#include <string.h>

#include "gen/sources/source_text.h"

static const struct {
  const char *name, *type;
  bool nvcc; /* nvcc knows the name. A source that declares it (for other compilers only) means this
                type */
} known[COMMON_TYPES] = {
    {"uint", "unsigned int", true},
    {"ushort", "unsigned short", true},
    {"ulong", "unsigned long", true},
    {"uchar", "unsigned char", false},
};

/* Finds the word as a whole word, possibly in a comment. */
static bool common_types_has_word(const char *text, size_t length, const char *word) {
  const size_t word_length = strlen(word);
  const char *end = text + length, *at = text;
  while ((at = memmem(at, (size_t)(end - at), word, word_length))) {
    const char *after = at + word_length;
    if ((at == text || !text_is_word(at[-1])) && (after == end || !text_is_word(*after)))
      return true;
    at = after;
  }
  return false;
}

static bool has_any(const char *text, size_t length) {
  for (size_t i = 0; i < COMMON_TYPES; i++)
    if (common_types_has_word(text, length, known[i].name)) return true;
  return false;
}

/* The state of reading a text for declarations outside of all braces. */
struct reading {
  struct common_types *types;
  struct source_reader reader;
  struct source_token before;
  bool line_start, in_directive, in_typedef;
  int depth, conditions;
};

/* Recognises `using uint = ...`, `struct uint` and `typedef ... uint;`. */
static bool common_types_declares(const struct reading *r) {
  static const char *const before[] = {"using", "struct", "class", "enum", "union"};
  struct source_reader ahead = r->reader;
  if (r->depth || r->in_directive) return false;
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    if (r->before.kind == SOURCE_WORD && source_is(r->before, before[i])) return true;
  const struct source_token after = source_next_solid(&ahead);
  return r->in_typedef && (source_is_mark(after, ';') || source_is_mark(after, ','));
}

static void common_types_see_word(struct reading *r, struct source_token word) {
  r->in_typedef |= source_is(word, "typedef");
  for (size_t i = 0; i < COMMON_TYPES; i++) {
    if (!source_is(word, known[i].name)) continue;
    r->types->list[i].used = true;
    r->types->list[i].declared |= common_types_declares(r) && !(r->conditions && known[i].nvcc);
  }
}

static void common_types_see_mark(struct reading *r, struct source_token mark) {
  if (r->line_start && *mark.at == '#') {
    struct source_reader ahead = r->reader;
    const struct source_token word = source_next_in_line(&ahead);
    r->in_directive = true;
    if (word.kind != SOURCE_WORD) return;
    r->conditions += strncmp(word.at, "if", 2) == 0;
    r->conditions -= r->conditions && source_is(word, "endif");
  } else if (!r->in_directive) {
    r->depth += (*mark.at == '{') - (*mark.at == '}' && r->depth);
    r->in_typedef &= *mark.at != ';' || r->depth;
  }
}

void common_types_see(struct common_types *types, const char *text, size_t length) {
  struct reading r = {.types = types, .reader = {text, text + length}, .line_start = true};
  if (!has_any(text, length)) return;
  for (;;) {
    const struct source_token token = source_next(&r.reader);
    if (token.kind == SOURCE_END) return;
    if (token.kind == SOURCE_NEWLINE) r.line_start = true, r.in_directive = false;
    if (token.kind == SOURCE_WORD) common_types_see_word(&r, token);
    if (token.kind == SOURCE_MARK) common_types_see_mark(&r, token);
    if (token.kind < SOURCE_WORD) continue;
    r.line_start = false;
    r.before = token;
  }
}

void common_types_write(const struct common_types *types, const char *defines, struct text *out) {
  const size_t before = out->length;
  for (size_t i = 0; i < COMMON_TYPES; i++) {
    const char *name = known[i].name;
    if (!types->list[i].used || types->list[i].declared ||
        common_types_has_word(defines, strlen(defines), name))
      continue;
    text_addf(out, "using %s = %s;\n", name, known[i].type);
  }
  if (out->length != before) text_add_char(out, '\n');
}
