/* Parsing PTX; see ptx.h. Statements end with ';', labels with ':'. A label that is used before its
   definition is resolved at the end of the scope that defines it. */
#include "ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct range { /* .reg .b32 %r<513>: the names %r0 to %r512 */
  struct ptx_name name;
  int first, count;
};

struct symbol {
  struct ptx_name name;
  bool is_register;
  int64_t value; /* a slot, an address, or the index of a label's instruction or table */
};

struct fixup {
  size_t operand;
  struct ptx_name name;
};

struct reader {
  struct ptx_kernel *out;
  const char *at;
  int line;
  bool failed; /* out of memory */
  struct range *ranges;
  struct symbol *symbols;
  struct fixup *fixups;
  size_t range_count, symbol_count, fixup_count;
  int64_t shared, local, other; /* bytes given to variables of each space so far */
  int passed;                   /* number of .param variables of calls */
  int file, source_line;        /* place by the last .loc */
  cugen_error *err;
};

static int ptx_refuse(struct reader *r, const char *what, struct ptx_name word) {
  return error_set(r->err, CUGEN_ERROR_COMPILE, "PTX line %d: %s '%.*s'", r->line, what,
                   (int)word.length, word.text);
}

static bool ptx_is_word(struct ptx_name word, const char *text) {
  return strlen(text) == word.length && strncmp(word.text, text, word.length) == 0;
}

static bool begins(struct ptx_name word, const char *text) {
  return strlen(text) <= word.length && strncmp(word.text, text, strlen(text)) == 0;
}

/* ---- The text ------------------------------------------------------------------------------- */

static void skip_comment(struct reader *r) {
  for (r->at += 2; *r->at && !(r->at[0] == '*' && r->at[1] == '/'); r->at++)
    r->line += *r->at == '\n';
  if (*r->at) r->at += 2;
}

static void ptx_skip_space(struct reader *r) {
  for (;;) {
    if (r->at[0] == '/' && r->at[1] == '/')
      r->at += strcspn(r->at, "\n");
    else if (r->at[0] == '/' && r->at[1] == '*')
      skip_comment(r);
    else if (*r->at && isspace((unsigned char)*r->at))
      r->line += *r->at++ == '\n';
    else
      return;
  }
}

static bool in_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static struct ptx_name ptx_next_word(struct reader *r) {
  ptx_skip_space(r);
  struct ptx_name word = {r->at, 0};
  while (in_name(r->at[word.length]) ||
         (r->at[word.length] == ':' && r->at[word.length + 1] == ':'))
    word.length += r->at[word.length] == ':' ? 2 : 1; /* shared::cta */
  if (!word.length && *r->at) word.length = 1;
  r->at += word.length;
  return word;
}

/* Skips past the next character that is in `any`, or to the end of the text. */
static void skip_behind(struct reader *r, const char *any) {
  while (*r->at && !strchr(any, *r->at)) r->line += *r->at++ == '\n';
  if (*r->at) r->at++;
}

/* Skips up to the end of a function's body, or to the ';' of a declaration without a body. */
static void skip_body(struct reader *r) {
  int depth = 0;
  for (; *r->at; r->at++) {
    r->line += *r->at == '\n';
    if (*r->at == ';' && !depth) break;
    if (*r->at == '{') depth++;
    if (*r->at == '}' && --depth == 0) break;
  }
  if (*r->at) r->at++;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static struct symbol *ptx_find_symbol(struct reader *r, struct ptx_name name) {
  for (size_t i = r->symbol_count; i > 0; i--) {
    struct symbol *symbol = &r->symbols[i - 1];
    if (symbol->name.length == name.length &&
        memcmp(symbol->name.text, name.text, name.length) == 0)
      return symbol;
  }
  return NULL;
}

static void add_symbol(struct reader *r, struct ptx_name name, bool is_register, int64_t value) {
  const struct symbol symbol = {name, is_register, value};
  r->failed |= !ARRAY_ADD(r->symbols, r->symbol_count, symbol);
}

/* Reads .func (.param .b32 func_retval0) name; the name becomes a symbol, because a kernel may use
   the function's address. */
static void read_function(struct reader *r) {
  struct ptx_name name = ptx_next_word(r);
  while (begins(name, ".")) name = ptx_next_word(r);
  if (*name.text == '(') {
    skip_behind(r, ")");
    name = ptx_next_word(r);
  }
  add_symbol(r, name, false, 0);
  skip_body(r);
}

/* Returns the slot of a register such as %r12 in the range %r<513>; -1: not found. */
static int find_in_range(const struct reader *r, struct ptx_name name) {
  size_t letters = name.length;
  while (letters > 0 && isdigit((unsigned char)name.text[letters - 1])) letters--;
  if (letters == name.length) return -1;
  long number = strtol(name.text + letters, NULL, 10);
  for (size_t i = r->range_count; i > 0; i--) {
    const struct range *range = &r->ranges[i - 1];
    if (range->name.length == letters && memcmp(range->name.text, name.text, letters) == 0 &&
        number < range->count)
      return range->first + (int)number;
  }
  return -1;
}

static void add_slots(struct reader *r, int count, bool valueless) {
  struct ptx_kernel *k = r->out;
  bool *grown = realloc(k->valueless, (size_t)(k->slots + count) * sizeof *grown);
  if (!grown) {
    r->failed = true;
    return;
  }
  k->valueless = grown;
  for (int i = 0; i < count; i++) k->valueless[k->slots++] = valueless;
}

enum { MOST_REGISTERS = 1 << 20, MOST_CLUSTER = 16, PASSED = 1 << 20 };

/* Reads .reg .b32 %r<513>, %SP; the type may follow without a blank: .reg.b32. */
static void read_registers(struct reader *r, struct ptx_name directive) {
  enum { REG = sizeof ".reg" - 1 };
  struct ptx_name type = {directive.text + REG, directive.length - REG};
  if (!type.length) type = ptx_next_word(r);
  bool valueless = begins(type, ".f");
  while (*r->at && !r->failed) {
    struct ptx_name name = ptx_next_word(r);
    if (ptx_is_word(name, ";")) return;
    if (ptx_is_word(name, ",")) continue;
    ptx_skip_space(r);
    if (*r->at == '<') {
      char *end;
      long count = strtol(r->at + 1, &end, 10);
      r->at = *end == '>' ? end + 1 : end;
      if (count < 1 || count > MOST_REGISTERS) continue;
      const struct range range = {name, r->out->slots, (int)count};
      r->failed |= !ARRAY_ADD(r->ranges, r->range_count, range);
      add_slots(r, (int)count, valueless);
    } else {
      add_symbol(r, name, true, r->out->slots);
      add_slots(r, 1, valueless);
    }
  }
}

/* Reads .shared .align 16 .b8 tile[1024]; the initial content is ignored. */
static void read_variable(struct reader *r, struct ptx_name space) {
  int64_t align = 1, size = 4, elements = 1;
  struct ptx_name word = ptx_next_word(r), name = {"", 0};
  for (; *r->at && !strchr(";={", *word.text); word = ptx_next_word(r)) {
    if (ptx_is_word(word, ".align")) {
      align = strtoll(ptx_next_word(r).text, NULL, 10);
    } else if (*word.text == '[') {
      elements *= strtoll(r->at, NULL, 10);
      skip_behind(r, "]");
    } else if (*word.text == '.') {
      size_t digits = strcspn(word.text, "0123456789");
      if (digits < word.length) size = strtoll(word.text + digits, NULL, 10) / 8;
      if (size < 1) size = 1;
    } else {
      name = word;
    }
  }
  if (*word.text != ';') skip_behind(r, ";");
  /* an argument or result of a call, not a parameter of the kernel */
  if (ptx_is_word(space, ".param")) {
    add_symbol(r, name, false, (int64_t)(PASSED + r->passed++) << PTX_PARAM_SHIFT);
    return;
  }
  int64_t *given = ptx_is_word(space, ".shared")  ? &r->shared
                   : ptx_is_word(space, ".local") ? &r->local
                                                  : &r->other;
  int64_t base = given == &r->other ? PTX_CONST_BASE : 0;
  if (align > 1) *given = (*given + align - 1) / align * align;
  add_symbol(r, name, false, base + *given);
  *given += elements * size;
}

/* ---- Operands ------------------------------------------------------------------------------- */

static const char *const special_names[PTX_OTHER_SPECIAL] = {
    "%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x",   "%ntid.y",   "%ntid.z", "%ctaid.x",
    "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid"};

static size_t ptx_add_operand(struct reader *r, struct ptx_operand operand) {
  struct ptx_kernel *k = r->out;
  r->failed |= !ARRAY_ADD(k->operands, k->operand_count, operand);
  return r->failed ? 0 : k->operand_count - 1;
}

/* Reads a register, a special register, the sink `_`, WARP_SZ or a symbol. A name that is not
   defined yet is resolved later. */
static struct ptx_operand named(struct reader *r, struct ptx_name name) {
  struct symbol *symbol;
  int slot = find_in_range(r, name);
  if (slot >= 0) return (struct ptx_operand){PTX_REGISTER, slot, 0};
  for (int i = 0; i < PTX_OTHER_SPECIAL; i++)
    if (ptx_is_word(name, special_names[i])) return (struct ptx_operand){PTX_SPECIAL, i, 0};
  if (ptx_is_word(name, "_")) return (struct ptx_operand){PTX_SINK, -1, 0};
  if (ptx_is_word(name, "WARP_SZ")) return (struct ptx_operand){PTX_NUMBER, -1, 32};
  symbol = ptx_find_symbol(r, name);
  if (symbol && symbol->is_register)
    return (struct ptx_operand){PTX_REGISTER, (int)symbol->value, 0};
  if (symbol) return (struct ptx_operand){PTX_NUMBER, -1, symbol->value};
  if (*name.text == '%') return (struct ptx_operand){PTX_SPECIAL, PTX_OTHER_SPECIAL, 0};
  const struct fixup fixup = {r->out->operand_count, name};
  r->failed |= !ARRAY_ADD(r->fixups, r->fixup_count, fixup);
  return (struct ptx_operand){PTX_NUMBER, -1, 0};
}

static struct ptx_operand ptx_number(struct reader *r, struct ptx_name word) {
  bool negative = *word.text == '-';
  if (negative) word = ptx_next_word(r);
  if (word.length > 2 && word.text[0] == '0' && strchr("fFdD", word.text[1])) /* 0f3F800000 */
    return (struct ptx_operand){PTX_NUMBER, -1, (int64_t)strtoull(word.text + 2, NULL, 16)};
  int64_t value = (int64_t)strtoull(word.text, NULL, 0);
  return (struct ptx_operand){PTX_NUMBER, -1, negative ? -value : value};
}

static struct ptx_operand plain(struct reader *r, struct ptx_name word) {
  return isdigit((unsigned char)*word.text) || *word.text == '-' ? ptx_number(r, word)
                                                                 : named(r, word);
}

/* Reads [%rd1+16], [name+-8], [%rd1, {%r1, %r2}]: a tensor's coordinates become further
   operands. */
static void ptx_read_address(struct reader *r) {
  size_t at = ptx_add_operand(r, (struct ptx_operand){PTX_ADDRESS, -1, 0});
  size_t fixups = r->fixup_count;
  struct ptx_operand base = plain(r, ptx_next_word(r));
  if (r->failed) return;
  if (r->fixup_count > fixups) r->fixups[fixups].operand = at;
  struct ptx_operand *address = &r->out->operands[at];
  if (base.kind == PTX_REGISTER)
    address->slot = base.slot;
  else
    address->value = base.value;
  for (struct ptx_name word = ptx_next_word(r); *r->at && *word.text != ']';
       word = ptx_next_word(r)) {
    if (*word.text == '+')
      r->out->operands[at].value += ptx_number(r, ptx_next_word(r)).value;
    else if (!strchr(",{}", *word.text))
      ptx_add_operand(r, plain(r, word));
    if (r->failed) return;
  }
}

/* Reads operands up to the end of the statement. *first becomes the number of entries that the
   first operand takes, several for {a, b} or p|q. */
static int read_operands(struct reader *r, int *first) {
  size_t begin = r->out->operand_count;
  int depth = 0;
  bool counted = false;
  *first = 0;
  for (;;) {
    struct ptx_name word = ptx_next_word(r);
    if (!word.length) return ptx_refuse(r, "the file ends in a statement", word);
    if (*word.text == ';') break;
    if (*word.text == '{') depth++;
    if (*word.text == '}') depth--;
    if (*word.text == ',' && !depth && !counted) {
      *first = (int)(r->out->operand_count - begin);
      counted = true;
    }
    if (strchr("{},|!()", *word.text)) continue;
    if (*word.text == '[')
      ptx_read_address(r);
    else
      ptx_add_operand(r, plain(r, word));
    if (r->failed) return error_memory(r->err);
  }
  if (!counted) *first = (int)(r->out->operand_count - begin);
  return CUGEN_OK;
}

/* ---- Statements ----------------------------------------------------------------------------- */

/* Reads call (retval0), name, (param0), or a call through a register. The names of arguments are
   skipped. */
static void ptx_read_call(struct reader *r, struct ptx_instruction *out) {
  /* roughly: a printf reserves room in a buffer and copies the text's address and the values */
  const int print_weight = 400;
  struct ptx_kernel *k = r->out;
  struct ptx_name name = ptx_next_word(r);
  if (*name.text == '(') {
    skip_behind(r, ")");
    ptx_next_word(r); /* skips the comma */
    name = ptx_next_word(r);
  }
  skip_behind(r, ";");
  out->op = ptx_is_word(name, "__assertfail") ? PTX_FAIL
            : ptx_is_word(name, "vprintf")    ? PTX_PRINT
                                              : PTX_CALL;
  if (out->op == PTX_PRINT) out->weight = print_weight;
  out->immediate = (int64_t)k->called_count;
  r->failed |= !ARRAY_ADD(k->called, k->called_count, name);
}

static int ptx_read_instruction(struct reader *r, struct ptx_name word) {
  struct ptx_kernel *k = r->out;
  struct ptx_instruction made = {.guard = -1, .line = r->line, .first = k->operand_count};
  int first = 0, status = CUGEN_OK;
  if (*word.text == '@') {
    word = ptx_next_word(r);
    made.guard_not = *word.text == '!';
    if (made.guard_not) word = ptx_next_word(r);
    made.guard = named(r, word).slot;
    word = ptx_next_word(r);
    if (made.guard < 0) return ptx_refuse(r, "no predicate", word);
  }
  ptx_opcode_read(word.text, word.length, &made);
  made.file = r->file, made.source_line = r->source_line;
  if (made.op == PTX_CALL)
    ptx_read_call(r, &made);
  else
    status = read_operands(r, &first);
  if (status) return status;
  made.count = (int)(k->operand_count - made.first);
  if (made.results) made.results = first; /* a vector or pair is several results */
  return !r->failed && ARRAY_ADD(k->instructions, k->count, made) ? CUGEN_OK : error_memory(r->err);
}

/* Reads .loc 1 12 3, function_name NAME, inlined_at 1 7 5. For inlined code the line is that of
   the caller. Line 0 is ignored. */
static void read_location(struct reader *r) {
  static const char inlined[] = "inlined_at";
  const size_t length = strcspn(r->at, "\n");
  const char *at = memmem(r->at, length, inlined, sizeof inlined - 1);
  char *end;
  const long file = strtol(at ? at + sizeof inlined - 1 : r->at, &end, 10),
             line = strtol(end, NULL, 10);
  if (line > 0) r->file = (int)file, r->source_line = (int)line;
  r->at += length;
}

/* Reads .branchtargets $L_1, $L_2; which follows the table's label. The label's value becomes the
   index of an operand that holds the number of targets; the next operands are the targets. */
static int read_targets(struct reader *r) {
  const size_t first = ptx_add_operand(r, (struct ptx_operand){PTX_NUMBER, -1, 0});
  int ignored, status;
  if (!r->symbol_count)
    return ptx_refuse(r, "no label in front of", (struct ptx_name){".branchtargets", 14});
  r->symbols[r->symbol_count - 1].value = (int64_t)first;
  status = r->failed ? error_memory(r->err) : read_operands(r, &ignored);
  if (!status) r->out->operands[first].value = (int64_t)(r->out->operand_count - first - 1);
  return status;
}

static int ptx_read_statement(struct reader *r, struct ptx_name word) {
  static const char *const spaces[] = {".shared", ".local", ".const", ".global", ".param"};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    if (!ptx_is_word(word, spaces[i])) continue;
    read_variable(r, word);
    return r->failed ? error_memory(r->err) : CUGEN_OK;
  }
  if (begins(word, ".reg")) {
    read_registers(r, word);
  } else if (ptx_is_word(word, ".loc")) {
    read_location(r);
  } else if (ptx_is_word(word, ".branchtargets")) {
    return read_targets(r);
  } else if (*word.text == '.') {
    skip_behind(r, ";\n"); /* for example .pragma */
  } else {
    ptx_skip_space(r);
    if (*r->at != ':') return ptx_read_instruction(r, word);
    r->at++;
    add_symbol(r, word, false, (int64_t)r->out->count);
  }
  return r->failed ? error_memory(r->err) : CUGEN_OK;
}

/* Reads up to the closing brace. Each copy of an inline asm is a scope with names of its own. */
static int read_scope(struct reader *r, int depth) {
  enum { MOST_SCOPES = 64 };
  const size_t ranges = r->range_count, symbols = r->symbol_count, fixups = r->fixup_count;
  for (int status = CUGEN_OK; !status;) {
    struct ptx_name word = ptx_next_word(r);
    if (!word.length) return ptx_refuse(r, "the file ends in a kernel", word);
    if (depth > MOST_SCOPES) return ptx_refuse(r, "too many scopes at", word);
    if (*word.text == '}') break;
    if (*word.text == '{')
      status = read_scope(r, depth + 1);
    else if (*word.text != ';')
      status = ptx_read_statement(r, word);
    if (status) return status;
  }
  if (!depth) return CUGEN_OK;

  /* Labels that were used before they were defined are resolved; a name that is not defined in this
     scope may be defined in the enclosing one. */
  size_t kept = fixups;
  for (size_t i = fixups; i < r->fixup_count; i++) {
    struct symbol *symbol = ptx_find_symbol(r, r->fixups[i].name);
    if (symbol && symbol >= r->symbols + symbols)
      r->out->operands[r->fixups[i].operand].value += symbol->value;
    else
      r->fixups[kept++] = r->fixups[i];
  }
  r->fixup_count = kept, r->symbol_count = symbols, r->range_count = ranges;
  return CUGEN_OK;
}

/* Reads .param .u64 NAME, .param .align 64 .b8 NAME[128]. */
static void ptx_read_parameters(struct reader *r) {
  struct ptx_name last = {"", 0};
  for (struct ptx_name word = ptx_next_word(r); *r->at; word = ptx_next_word(r)) {
    bool ends = *word.text == ',' || *word.text == ')';
    if (ends && last.length)
      add_symbol(r, last, false, (int64_t)r->out->parameters++ << PTX_PARAM_SHIFT);
    if (*word.text == ')') return;
    if (*word.text == '[')
      skip_behind(r, "]");
    else if (!ends && *word.text != '.' && !isdigit((unsigned char)*word.text))
      last = word;
    if (ends) last.length = 0;
  }
}

/* Returns whether ptxas is taken to replace the branch by predicates: a short forward branch over
   straight code, or over further such branches with targets in between. */
static bool is_predicated(const struct ptx_kernel *k, size_t branch, int64_t target) {
  enum { SHORT = 16 };
  if (k->instructions[branch].guard < 0 || target <= (int64_t)branch ||
      target - (int64_t)branch > SHORT)
    return false;
  for (size_t i = branch + 1; i < (size_t)target && i < k->count; i++) {
    const struct ptx_instruction *in = &k->instructions[i];
    if (in->op == PTX_BARRIER || in->op > PTX_BRANCH)
      return false; /* opcodes above PTX_BRANCH in the enum leave the straight code */
    if (in->op != PTX_BRANCH) continue;
    const int64_t inner = in->guard >= 0 && in->count ? k->operands[in->first].value : 0;
    if (inner <= (int64_t)i || inner > target) return false;
  }
  return true;
}

struct ptx_targets ptx_targets_of(const struct ptx_kernel *k, const struct ptx_instruction *in) {
  const struct ptx_targets none = {NULL, 0};
  if (in->op == PTX_BRANCH && in->count) return (struct ptx_targets){&k->operands[in->first], 1};
  if (in->op != PTX_BRANCH_TABLE || in->count < 2) return none;
  const int64_t table = k->operands[in->first + 1].value, most = (int64_t)k->operand_count;
  if (table < 0 || table >= most || k->operands[table].kind != PTX_NUMBER) return none;
  const int64_t count = k->operands[table].value;
  return count < 1 || count >= most - table
             ? none
             : (struct ptx_targets){&k->operands[table + 1], (size_t)count};
}

static void mark_leader(struct ptx_kernel *k, int64_t at) {
  if (at >= 0 && at < (int64_t)k->count) k->instructions[at].leader = true;
}

/* Marks the beginnings of basic blocks: the first instruction, targets of branches, and
   instructions after a branch. A branch that becomes predicates begins none. */
static void mark_leaders(struct ptx_kernel *k) {
  mark_leader(k, 0);
  for (size_t i = 0; i < k->count; i++) {
    const struct ptx_instruction *in = &k->instructions[i];
    const struct ptx_targets targets = ptx_targets_of(k, in);
    const bool alone =
        in->op == PTX_BRANCH && targets.count && is_predicated(k, i, targets.first[0].value);
    for (size_t j = 0; j < targets.count && !alone; j++) mark_leader(k, targets.first[j].value);
    if (targets.count && !alone) mark_leader(k, (int64_t)i + 1);
    if (alone) k->instructions[i].weight = 0; /* the branch is replaced by predicates */
  }
}

static int ptx_resolve(struct reader *r) {
  struct ptx_kernel *k = r->out;
  for (size_t i = 0; i < r->fixup_count; i++) {
    struct symbol *symbol = ptx_find_symbol(r, r->fixups[i].name);
    struct ptx_operand *operand = &k->operands[r->fixups[i].operand];
    if (!symbol) return ptx_refuse(r, "unknown name", r->fixups[i].name);
    operand->value += symbol->value;
  }
  for (size_t i = 0; i < k->count; i++)
    if (k->instructions[i].op == PTX_BRANCH_TABLE && !ptx_targets_of(k, &k->instructions[i]).count)
      return error_set(r->err, CUGEN_ERROR_COMPILE, "PTX line %d: a branch without targets",
                       k->instructions[i].line);
  mark_leaders(k);
  ptx_join(k);
  k->static_shared = r->shared;
  return CUGEN_OK;
}

/* Reads directives such as .reqnctapercluster 2, 1, 1 up to the body. */
static void read_directives(struct reader *r) {
  r->out->cluster = 1;
  for (bool counts = false; *r->at;) {
    struct ptx_name word = ptx_next_word(r);
    if (!word.length || *word.text == '{') return;
    if (*word.text == '.') counts = ptx_is_word(word, ".reqnctapercluster");
    if (!counts || !isdigit((unsigned char)*word.text)) continue;
    long blocks = strtol(word.text, NULL, 10);
    if (blocks >= 1 && blocks <= MOST_CLUSTER) r->out->cluster *= (int)blocks;
  }
}

/* Reads .file 1 "k.cu". */
static void ptx_read_file(struct reader *r) {
  struct ptx_kernel *k = r->out;
  struct ptx_file file = {.number = (int)strtol(ptx_next_word(r).text, NULL, 10)};
  ptx_skip_space(r);
  if (*r->at != '"') return;
  const size_t length = strcspn(r->at + 1, "\"\n");
  /* NVRTC puts the current folder of its process in front of the name */
  const char *slash = memrchr(r->at + 1, '/', length);
  file.name.text = slash ? slash + 1 : r->at + 1;
  file.name.length = (size_t)(r->at + 1 + length - file.name.text);
  r->failed |= !ARRAY_ADD(k->files, k->file_count, file);
  r->at = file.name.text + file.name.length;
}

int ptx_open(const char *text, const char *entry, struct ptx_kernel *out, cugen_error *err) {
  *out = (struct ptx_kernel){0};
  struct reader r = {.out = out, .at = text, .line = 1, .err = err};
  bool found = false;
  int status = CUGEN_OK;
  while (!status) {
    struct ptx_name word = ptx_next_word(&r);
    /* If the kernel has source lines, the names of their files stand at the module's end. */
    if (!word.length || (found && !r.source_line)) break;
    if (ptx_is_word(word, ".shared") || ptx_is_word(word, ".const") || ptx_is_word(word, ".global"))
      read_variable(&r, word);
    if (ptx_is_word(word, ".func")) read_function(&r);
    if (ptx_is_word(word, ".file")) ptx_read_file(&r);
    if (ptx_is_word(word, ".section")) skip_body(&r);
    if (!ptx_is_word(word, ".entry")) continue;
    if (found || !ptx_is_word(ptx_next_word(&r), entry)) {
      skip_behind(&r, ")");
      skip_body(&r);
      continue;
    }
    found = true;
    ptx_read_parameters(&r);
    read_directives(&r);
    status = read_scope(&r, 0);
  }
  if (!status && r.failed) status = error_memory(err);
  if (!status && !found)
    status = error_set(err, CUGEN_ERROR_COMPILE, "the PTX holds no kernel '%s'", entry);
  if (!status) status = ptx_resolve(&r);
  free(r.ranges);
  free(r.symbols);
  free(r.fixups);
  if (status) ptx_close(out);
  return status;
}

void ptx_append_place(const struct ptx_kernel *kernel, const struct ptx_instruction *in,
                      cugen_error *err) {
  for (size_t i = 0; i < kernel->file_count && in->source_line; i++) {
    const struct ptx_name name = kernel->files[i].name;
    if (kernel->files[i].number != in->file) continue;
    error_append(err, ", %.*s:%d", (int)name.length, name.text, in->source_line);
    return;
  }
}

void ptx_close(struct ptx_kernel *kernel) {
  free(kernel->instructions);
  free(kernel->operands);
  free(kernel->called);
  free(kernel->files);
  free(kernel->valueless);
  *kernel = (struct ptx_kernel){0};
}
