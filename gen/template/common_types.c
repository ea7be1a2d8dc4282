/* Notes the short type names of nvcc that a source uses without declaring them; see
   common_types.h. */
#include "common_types.h"

static const struct {
  const char *name, *type;
  bool nvcc; /* nvcc knows the name, so that a source that declares it in an #if does so for other
                compilers, and means this type */
} known[COMMON_TYPES] = {
    {"uint", "unsigned int", true},
    {"ushort", "unsigned short", true},
    {"ulong", "unsigned long", true},
    {"uchar", "unsigned char", false},
};

/* Recognises declarations such as `using uint = ...`, `struct uint` and `typedef ... uint;`. */
static bool common_types_declares(const struct common_types *types, struct source_token before,
                                  struct source_reader behind) {
  static const char *const words[] = {"using", "struct", "class", "enum", "union"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (before.kind == SOURCE_WORD && source_is(before, words[i])) return true;
  return types->in_typedef && source_is_mark_of(source_next_solid(&behind), ";,");
}

void common_types_see(struct common_types *types, struct source_token word,
                      struct source_token before, struct source_reader behind, bool outside,
                      bool conditions) {
  types->in_typedef |= word.length == 7 && source_is(word, "typedef");
  for (size_t i = 0; i < COMMON_TYPES && *word.at == 'u'; i++) {
    if (!source_is(word, known[i].name)) continue;
    types->list[i].used = true;
    types->list[i].declared |=
        outside && common_types_declares(types, before, behind) && !(conditions && known[i].nvcc);
  }
}

void common_types_write(const struct common_types *types, const char *defines, struct text *out) {
  const size_t before = out->length;
  for (size_t i = 0; i < COMMON_TYPES; i++) {
    struct source_reader reader = {defines, defines + strlen(defines)};
    struct source_token token = {SOURCE_MARK, defines, 0};
    while (token.kind != SOURCE_END && !source_is(token, known[i].name))
      token = source_next(&reader);
    if (types->list[i].used && !types->list[i].declared && token.kind == SOURCE_END)
      text_addf(out, "using %s = %s;\n", known[i].name, known[i].type);
  }
  if (out->length != before) text_add_char(out, '\n');
}
