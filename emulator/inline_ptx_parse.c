/* Parsing PTX: instructions, labels and declarations of registers; see inline_ptx.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "inline_ptx.h"

/* Limits of the text of one asm. */
enum { NAME_MOST = 48, INSTRUCTIONS_MOST = 4096, DEPTH_MOST = 64 };

static const char *const types[] = {"",
#define ROW(name, bits, kind) #name,
                                    IPTX_TYPES(ROW)
#undef ROW
};

static const char *const words[] = {
#define ROW(name) #name,
    IPTX_WORDS(ROW)
#undef ROW
};

/* Words without an effect here, such as hints about caches, by their beginnings. */
static const char *const hints[] = {"L1",         "L2",          "evict_",
                                    "cache_hint", "no_allocate", "complete_tx",
                                    "bytes",      "bulk_group",  "async_generic"};

struct reader {
  const char *at;
  struct iptx_program *program;
  char names[IPTX_REGISTERS][NAME_MOST];
  bool predicates[IPTX_REGISTERS], declares_predicates;
  char *wrong;
  size_t size;
  bool failed, wgmma;        /* wgmma: the present instruction is a wgmma */
  size_t blocks[DEPTH_MOST]; /* for each open brace, the number of instructions before it */
  size_t depth;
};

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void parse_fail(struct reader *r, const char *what, const char *name, size_t length) {
  if (!r->failed)
    snprintf(r->wrong, r->size, "%s '%.*s'", what,
             (int)(length < 2 * NAME_MOST ? length : 2 * NAME_MOST), name);
  r->failed = true;
}

static void parse_skip(struct reader *r) {
  for (;;) {
    r->at += strspn(r->at, " \t\r\n\f\v");
    if (r->at[0] == '/' && r->at[1] == '/')
      r->at += strcspn(r->at, "\n");
    else if (r->at[0] == '/' && r->at[1] == '*') {
      const char *end = strstr(r->at + 2, "*/");
      r->at = end ? end + 2 : r->at + strlen(r->at);
    } else
      return;
  }
}

static bool parse_take(struct reader *r, char c) {
  parse_skip(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static size_t parse_name_length(const char *at) {
  size_t length = *at == '%';
  while (is_name(at[length])) length++;
  return length;
}

static bool parse_is_word(const char *at, size_t length, const char *word) {
  if (strlen(word) != length) return false;
  for (size_t i = 0; i < length; i++)
    if (toupper((unsigned char)at[i]) != word[i]) return false;
  return true;
}

/* ---- Terms ---------------------------------------------------------------------------------- */

static int find_register(const struct reader *r, const char *name, size_t length) {
  for (unsigned i = 0; i < r->program->registers; i++)
    if (strlen(r->names[i]) == length && !strncmp(r->names[i], name, length)) return (int)i;
  return -1;
}

static void parse_read_number(struct reader *r, struct iptx_term *term) {
  char *end;
  const char *at = r->at;
  if (at[0] == '0' && strchr("fFdD", at[1]) && at[1]) {
    term->bits = strtoull(at + 2, &end, 16);
    /* kept as a double, like a real number that is written out */
    if (tolower((unsigned char)at[1]) == 'f') {
      const uint32_t single = (uint32_t)term->bits;
      float value;
      memcpy(&value, &single, sizeof value);
      const double wide = value;
      memcpy(&term->bits, &wide, sizeof wide);
    }
    term->kind = IPTX_REAL;
  } else {
    term->bits = (uint64_t)strtoll(at, &end, 0);
    if (*at != '-') term->bits = strtoull(at, &end, 0);
    term->kind = IPTX_IMMEDIATE;
    if (*end == '.' || *end == 'e') {
      const double value = strtod(at, &end);
      memcpy(&term->bits, &value, sizeof value);
      term->kind = IPTX_REAL;
    }
    if (*end == 'U' || *end == 'u') end++;
  }
  if (end == at) parse_fail(r, "the number", at, strcspn(at, " ,;]}"));
  r->at = end;
}

static const char *const specials[] = {
#define ROW(name, text) text,
    IPTX_SPECIALS(ROW)
#undef ROW
};

static bool read_special(struct reader *r, const char *name, struct iptx_term *term) {
  size_t length = 0;
  while (is_name(name[length]) || (name[length] == '.' && is_name(name[length + 1]))) length++;
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
    if (strlen(specials[i]) != length || strncmp(specials[i], name, length) != 0) continue;
    term->kind = IPTX_SPECIAL;
    term->index = (uint16_t)i;
    r->at = name + length;
    return true;
  }
  return false;
}

/* Reads a term: a number; %0, an operand; %%laneid or %laneid, a special register; the name of a
   declared register; or _, nothing. */
static void read_term(struct reader *r, struct iptx_term *term) {
  *term = (struct iptx_term){.kind = IPTX_NOTHING};
  parse_skip(r);
  if (parse_take(r, '!')) term->negated = true;
  parse_skip(r);
  const char *begin = r->at;
  if (begin[0] == '%' && isdigit((unsigned char)begin[1])) {
    term->kind = IPTX_OPERAND;
    term->index = (uint16_t)strtoul(begin + 1, (char **)&r->at, 10);
    return;
  }
  if (isdigit((unsigned char)*begin) || *begin == '-') {
    parse_read_number(r, term);
    return;
  }
  while (*r->at == '%') r->at++;
  const char *name = r->at;
  const size_t length = parse_name_length(name);
  r->at += length;
  const int found = find_register(r, name, length);
  if (found >= 0) {
    term->kind = IPTX_REGISTER;
    term->index = (uint16_t)found;
    term->predicate = r->predicates[found];
  } else if (!read_special(r, name, term) && !(length == 1 && *name == '_')) {
    parse_fail(r, "the register", name, length ? length : 1);
  }
}

/* Reads a term. A wgmma's list of sums may be longer than IPTX_TERMS, if each further operand has
   the number after that of the operand before; such operands are only counted. */
static void add_term(struct reader *r, struct iptx_argument *argument) {
  struct iptx_term term = {.kind = IPTX_NOTHING};
  if (argument->count < IPTX_TERMS) {
    read_term(r, &argument->terms[argument->count++]);
    return;
  }
  if (r->wgmma && argument->count < IPTX_LIST) read_term(r, &term);
  if (term.kind == IPTX_OPERAND && term.index == argument->terms[0].index + argument->count)
    argument->count++;
  else
    parse_fail(r, "a vector of more than 8 parts at", r->at, 8);
}

static void read_vector(struct reader *r, struct iptx_argument *argument) {
  do add_term(r, argument);
  while (!r->failed && parse_take(r, ','));
  if (!parse_take(r, '}')) parse_fail(r, "a vector without end at", r->at, 8);
}

static void parse_read_address(struct reader *r, struct iptx_argument *argument) {
  argument->address = true;
  add_term(r, argument);
  while (!r->failed && parse_take(r, '+')) {
    struct iptx_term offset;
    read_term(r, &offset);
    if (offset.kind == IPTX_IMMEDIATE)
      argument->offset += (int64_t)offset.bits;
    else
      argument->added = offset;
  }
  if (parse_take(r, ',')) {
    if (parse_take(r, '{'))
      read_vector(r, argument);
    else
      add_term(r, argument);
  }
  if (!parse_take(r, ']')) parse_fail(r, "an address without end at", r->at, 8);
}

/* Reads the arguments. `p | q` is one argument of two terms. */
static void parse_read_arguments(struct reader *r, struct iptx_instruction *i) {
  parse_skip(r);
  if (*r->at == ';') return;
  do {
    if (i->count == IPTX_ARGUMENTS) {
      parse_fail(r, "more than 8 arguments at", r->at, 8);
      return;
    }
    struct iptx_argument *argument = &i->arguments[i->count++];
    if (parse_take(r, '{'))
      read_vector(r, argument);
    else if (parse_take(r, '['))
      parse_read_address(r, argument);
    else
      add_term(r, argument);
    if (parse_take(r, '|')) add_term(r, argument);
  } while (!r->failed && parse_take(r, ','));
}

/* ---- Instructions --------------------------------------------------------------------------- */

static bool parse_add_type(struct iptx_instruction *i, const char *at, size_t length) {
  for (size_t type = 1; type < sizeof types / sizeof *types; type++) {
    if (!parse_is_word(at, length, types[type])) continue;
    if (i->type_count < IPTX_INSTRUCTION_TYPES) i->types[i->type_count++] = (unsigned char)type;
    return true;
  }
  return false;
}

/* Reads a shape such as m64n128k16. */
static bool add_shape(struct iptx_instruction *i, const char *at, size_t length) {
  int columns, depth, end = 0;
  if (sscanf(at, "m64n%3dk%3d%n", &columns, &depth, &end) != 2 || (size_t)end != length)
    return false;
  i->columns = (uint16_t)columns;
  return true;
}

static bool parse_add_word(struct iptx_instruction *i, const char *at, size_t length) {
  char dimension[3] = {'D', at[0], 0};
  if (length == 2 && at[1] == 'd') at = dimension; /* 2d is the word D2 */
  for (size_t word = 0; word < IPTX_W_COUNT; word++) {
    if (!parse_is_word(at, length, words[word])) continue;
    i->words[word / 64] |= UINT64_C(1) << word % 64;
    return true;
  }
  return false;
}

static bool is_hint(const char *at) {
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    if (!strncmp(at, hints[i], strlen(hints[i]))) return true;
  return false;
}

/* Reads ".shared::cta.b32", where points and colons separate the words. */
static void read_words(struct reader *r, struct iptx_instruction *i, const char *name,
                       size_t whole) {
  while (*r->at == '.') {
    const char *at = ++r->at;
    while (is_name(*r->at)) r->at++;
    size_t length = (size_t)(r->at - at);
    const bool hint = is_hint(at);
    if (length && !hint && !parse_add_type(i, at, length) && !parse_add_word(i, at, length) &&
        !add_shape(i, at, length))
      parse_fail(r, "the instruction", name, whole);
    while (!strncmp(r->at, "::", 2)) {
      at = r->at += 2;
      while (is_name(*r->at)) r->at++;
      length = (size_t)(r->at - at);
      if (!strncmp(at, "cache_hint", strlen("cache_hint"))) parse_add_word(i, "hint", 4);
      if (!hint && !is_hint(at) && !parse_add_type(i, at, length) && !parse_add_word(i, at, length))
        parse_fail(r, "the instruction", name, whole);
    }
  }
}

static const struct iptx_operation *find_operation(const struct iptx_instruction *i,
                                                   const char *name, size_t length) {
  const struct iptx_operation *const all[] = {iptx_arithmetic, iptx_memory,  iptx_collective,
                                              iptx_matrix,     iptx_control, iptx_warpgroup};
  for (size_t t = 0; t < sizeof all / sizeof *all; t++)
    for (const struct iptx_operation *row = all[t]; row->name; row++) {
      if (strlen(row->name) != length || strncmp(row->name, name, length) != 0 ||
          (row->word != IPTX_W_COUNT && !iptx_has(i, row->word)))
        continue;
      if (row->least > row->most) return NULL;
      if (i->count >= row->least && i->count <= row->most) return row;
    }
  return NULL;
}

/* Returns false if a word changes the result and the operation here does not obey the word: .cc
   (the carry); outside of conversions, rounding other than to nearest, .satfinite, and .sat of
   integers; in conversions, .satfinite to types other than e4m3 and e5m2. */
static bool obeys_words(const struct iptx_instruction *i, const char *name, size_t length) {
  static const enum iptx_word rounding[] = {IPTX_W_RZ, IPTX_W_RM, IPTX_W_RP, IPTX_W_SATFINITE};
  const char kind = i->type_count ? iptx_kind(i->types[0]) : 0;
  if (iptx_has(i, IPTX_W_CC)) return false;
  if (length == 3 && !strncmp(name, "cvt", 3))
    return !iptx_has(i, IPTX_W_SATFINITE) || kind == 'x' || kind == 'y';
  for (size_t word = 0; word < sizeof rounding / sizeof *rounding; word++)
    if (iptx_has(i, rounding[word])) return false;
  return !iptx_has(i, IPTX_W_SAT) || kind == 'f' || kind == 'd' || kind == 'h' || kind == 'H' ||
         kind == 'g' || kind == 'G';
}

static struct iptx_instruction *add_instruction(struct reader *r) {
  struct iptx_program *program = r->program;
  const bool full = program->count == INSTRUCTIONS_MOST;
  if (full || !ARRAY_ADD(program->instructions, program->count, (struct iptx_instruction){0})) {
    parse_fail(r, full ? "inline PTX of more than 4096 instructions at" : "no memory for", r->at,
               8);
    return NULL;
  }
  return &program->instructions[program->count - 1];
}

static void parse_read_instruction(struct reader *r, struct iptx_instruction *i) {
  if (parse_take(r, '@')) read_term(r, &i->guard);
  parse_skip(r);
  const char *name = r->at;
  const size_t length = parse_name_length(name), whole = strcspn(name, " \t\n;");
  r->at += length;
  r->wgmma = length == 5 && !strncmp(name, "wgmma", 5);
  read_words(r, i, name, whole);
  if (length == 3 && !strncmp(name, "bra", 3)) {
    parse_skip(r);
    while (*r->at == '%') r->at++; /* %= makes a label unique, and has no effect here */
    i->label = r->at;
    while (is_name(*r->at) || *r->at == '%' || *r->at == '=') r->at++;
    i->label_length = (size_t)(r->at - i->label);
  } else if (!r->failed) {
    parse_read_arguments(r, i);
  }
  if (!r->failed && !parse_take(r, ';') && *r->at && *r->at != '}')
    parse_fail(r, "the instruction", name, whole);
  if (r->failed) return;
  const struct iptx_operation *operation = find_operation(i, name, length);
  if (!operation || !obeys_words(i, name, length))
    parse_fail(r, "the instruction", name, whole);
  else
    i->perform = operation->perform;
}

static void parse_declare(struct reader *r, const char *name, size_t length) {
  const int known = find_register(r, name, length);
  if (known >= 0) {
    r->predicates[known] = r->declares_predicates;
    return;
  }
  if (r->program->registers == IPTX_REGISTERS || !length || length >= NAME_MOST) {
    parse_fail(r, "the declaration of", name, length);
    return;
  }
  memcpy(r->names[r->program->registers], name, length);
  r->predicates[r->program->registers] = r->declares_predicates;
  r->names[r->program->registers++][length] = '\0';
}

static void declare_several(struct reader *r, const char *name, size_t length) {
  const unsigned long count = strtoul(r->at, (char **)&r->at, 10);
  for (unsigned long i = 0; i < count && !r->failed; i++) {
    char numbered[NAME_MOST];
    const int written = snprintf(numbered, sizeof numbered, "%.*s%lu", (int)length, name, i);
    parse_declare(r, numbered, written > 0 ? (size_t)written : 0);
  }
  parse_take(r, '>');
}

/* Reads `.reg .pred p, q;` or `.reg .b32 r<4>;`. */
static void read_declaration(struct reader *r) {
  const char *begin = r->at;
  r->at += strlen(".reg");
  parse_skip(r);
  if (*r->at != '.') {
    parse_fail(r, "the declaration", begin, strcspn(begin, ";"));
    return;
  }
  const char *type = r->at + 1;
  for (r->at++; is_name(*r->at); r->at++) continue;
  r->declares_predicates = r->at - type == 4 && !strncmp(type, "pred", 4);
  do {
    parse_skip(r);
    while (*r->at == '%') r->at++;
    const char *name = r->at;
    const size_t length = parse_name_length(name);
    r->at += length;
    if (parse_take(r, '<'))
      declare_several(r, name, length);
    else
      parse_declare(r, name, length);
  } while (!r->failed && parse_take(r, ','));
  parse_take(r, ';');
}

/* Reads a label, which becomes an instruction without an effect. Returns false if there is none. */
static bool read_definition(struct reader *r) {
  const char *begin = r->at;
  size_t length = 0;
  while (is_name(begin[length]) || begin[length] == '%' || begin[length] == '=') length++;
  const char *colon = begin + length + strspn(begin + length, " \t");
  if (!length || *colon != ':' || colon[1] == ':') return false;
  struct iptx_instruction *mark = add_instruction(r);
  if (!mark) return true;
  mark->label = begin;
  mark->label_length = length;
  r->at = colon + 1;
  return true;
}

static const struct iptx_instruction *find_label(const struct iptx_program *p, size_t first,
                                                 const struct iptx_instruction *branch) {
  for (size_t i = first; i < p->count; i++) {
    const struct iptx_instruction *mark = &p->instructions[i];
    if (!mark->perform && mark->label && mark->label_length == branch->label_length &&
        !strncmp(mark->label, branch->label, branch->label_length))
      return mark;
  }
  return NULL;
}

/* Sets the targets of the branches to labels of the block that began at the instruction `first` and
   ends here. Forgets these labels, which cannot be seen from outside of the block; the branches
   that are left may go to labels of the blocks around it. */
static void parse_resolve(struct reader *r, size_t first) {
  struct iptx_program *p = r->program;
  for (size_t i = first; i < p->count; i++) {
    struct iptx_instruction *branch = &p->instructions[i];
    const struct iptx_instruction *mark =
        branch->perform && branch->label ? find_label(p, first, branch) : NULL;
    if (!mark) continue;
    branch->target = (uint16_t)(mark - p->instructions);
    branch->label = NULL;
  }
  for (size_t i = first; i < p->count; i++)
    if (!p->instructions[i].perform) p->instructions[i].label = NULL;
}

static void parse_read_statement(struct reader *r) {
  if (!strncmp(r->at, ".reg", 4) && !is_name(r->at[4])) {
    read_declaration(r);
  } else if (*r->at == '{' && r->depth == DEPTH_MOST) {
    parse_fail(r, "more than 64 nested braces at", r->at, 8);
  } else if (*r->at == '{') {
    r->blocks[r->depth++] = r->program->count;
    r->at++;
  } else if (*r->at == '}') {
    if (r->depth) parse_resolve(r, r->blocks[--r->depth]);
    r->at++;
  } else if (*r->at == ';') {
    r->at++;
  } else if (*r->at == '.') {
    parse_fail(r, "the directive", r->at, strcspn(r->at, " ;"));
  } else if (!read_definition(r)) {
    struct iptx_instruction *i = add_instruction(r);
    if (i) parse_read_instruction(r, i);
  }
}

/* Closes all blocks at the end of the text. */
static void parse_end(struct reader *r) {
  const struct iptx_program *p = r->program;
  while (r->depth) parse_resolve(r, r->blocks[--r->depth]);
  parse_resolve(r, 0);
  for (size_t i = 0; i < p->count; i++)
    if (p->instructions[i].label)
      parse_fail(r, "the label", p->instructions[i].label, p->instructions[i].label_length);
}

struct iptx_program *iptx_parse(const char *text, char *wrong, size_t size) {
  struct iptx_program *program = calloc(1, sizeof *program);
  struct reader *r = program ? calloc(1, sizeof *r) : NULL;
  if (r) program->text = strdup(text);
  if (!r || !program->text) {
    snprintf(wrong, size, "inline PTX, for which there is no memory,");
    free(r);
    iptx_free(program);
    return NULL;
  }
  *r = (struct reader){.at = program->text, .program = program, .wrong = wrong, .size = size};
  for (parse_skip(r); *r->at && !r->failed; parse_skip(r)) parse_read_statement(r);
  if (!r->failed) parse_end(r);
  const bool failed = r->failed || program->count > UINT16_MAX;
  free(r);
  if (!failed) return program;
  iptx_free(program);
  return NULL;
}

void iptx_free(struct iptx_program *program) {
  if (!program) return;
  free(program->instructions);
  free(program->text);
  free(program);
}
