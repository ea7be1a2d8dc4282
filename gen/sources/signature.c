/* Reads kernels in the text of a .cu; see signature.h. */
#include "signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uses.h"

enum { NESTED = 32 /* most open brackets */ };

/* ---- Parameter lists ------------------------------------------------------------------------ */

/* Counts the token if it is a bracket; `open` holds the open brackets. Returns false if a closing
   bracket does not match the innermost open bracket, as the > of a comparison, a shift or an arrow
   inside another bracket, or if more than NESTED brackets are open. */
static bool take_bracket(struct source_token token, char *open, int *depth) {
  static const char opening[] = "([{<", closing[] = ")]}>";
  if (source_is_mark_of(token, opening)) {
    if (*depth == NESTED) return false;
    open[(*depth)++] = *token.at;
  } else if (source_is_mark_of(token, closing)) {
    if (open[*depth - 1] != opening[strchr(closing, *token.at) - closing]) return false;
    --*depth;
  }
  return true;
}

/* Moves the word that was taken for the name to the type. */
static void name_is_type(struct signature_parameter *p) {
  const size_t used = strlen(p->type), length = p->name.length;
  if (p->name.kind != SOURCE_WORD) return;
  if (used + 1 + length >= SIGNATURE_TYPE) p->plain = false;
  if (p->plain)
    snprintf(p->type + used, SIGNATURE_TYPE - used, "%s%.*s", used ? " " : "", (int)length,
             p->name.at);
  p->name = (struct source_token){0};
}

static void take_token(struct signature_parameter *p, struct source_token token) {
  static const char *const silent[] = {"const", "volatile", "__restrict__", "__restrict",
                                       "restrict"};
  if (source_is(token, "const") && !p->pointer) p->constant = true;
  for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
    if (source_is(token, silent[i])) return;
  if (token.kind == SOURCE_WORD || source_is_mark_of(token, "*")) name_is_type(p);
  if (token.kind == SOURCE_WORD)
    p->name = token;
  else if (source_is_mark_of(token, "*"))
    p->pointer = true;
  else
    p->plain = false;
}

int signature_read_list(struct source_reader text, struct signature_parameter *seen) {
  struct signature_parameter spare;
  char open[NESTED] = "(";
  int depth = 1, tokens = 0;
  bool nothing = false;
  seen[0] = (struct signature_parameter){.plain = true};
  for (int commas = 0;;) {
    const struct source_token token = source_next_solid(&text);
    if (token.kind == SOURCE_END || source_is_mark_of(token, "#.") ||
        !take_bracket(token, open, &depth))
      return SIGNATURE_UNKNOWN;
    if (depth == 0) return tokens > nothing ? commas + 1 : SIGNATURE_UNKNOWN;
    nothing = tokens++ == 0 && source_is(token, "void");
    if (depth == 1 && source_is_mark_of(token, ",")) commas++;
    struct signature_parameter *const p = commas < KERNEL_MAX_ARGUMENTS ? &seen[commas] : &spare;
    if (depth == 1 && source_is_mark_of(token, ","))
      *p = (struct signature_parameter){.plain = true};
    else
      take_token(p, token);
  }
}

/* ---- Kernels -------------------------------------------------------------------------------- */

/* Skips the text up to and including the bracket that closes the bracket just read. */
static void skip_brackets(struct source_reader *text, char opening, char closing) {
  for (int depth = 1; depth > 0;) {
    const struct source_token token = source_next_solid(text);
    if (token.kind == SOURCE_END) return;
    if (token.kind == SOURCE_MARK) depth += (*token.at == opening) - (*token.at == closing);
  }
}

struct source_token signature_kernel_name(struct source_reader *text) {
  struct source_token word = {0}, token = source_next_solid(text);
  while (token.kind != SOURCE_END && !source_is_mark_of(token, ";{")) {
    if (source_is_mark_of(token, "(") && word.kind == SOURCE_WORD) {
      struct source_reader ahead = *text;
      skip_brackets(&ahead, '(', ')');
      const struct source_reader behind = ahead;
      if (source_is_mark_of(source_next_solid(&ahead), "{;")) return word;
      *text = behind;
    }
    word = token;
    token = source_next_solid(text);
  }
  return (struct source_token){0};
}

size_t signature_kernels(const char *text, struct source_token *names) {
  struct source_reader reader = {text, text + strlen(text)};
  size_t count = 0;
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       token = source_next_solid(&reader)) {
    if (!source_is(token, "__global__")) continue;
    const struct source_token name = signature_kernel_name(&reader);
    if (name.kind != SOURCE_WORD) continue;
    size_t known = 0;
    while (known < count && known < SIGNATURE_KERNELS && !source_same(names[known], name)) known++;
    if (known < count) continue;
    if (count < SIGNATURE_KERNELS) names[count] = name;
    count++;
  }
  return count;
}

/* Reads template <int BLOCK, typename T> behind the word `template`. */
static void read_templates(struct source_reader text, struct signature *out) {
  struct signature_parameter one = {.plain = true};
  out->template_count = 0;
  if (!source_is_mark_of(source_next_solid(&text), "<")) return;
  for (int depth = 1; depth > 0;) {
    const struct source_token token = source_next_solid(&text);
    if (token.kind == SOURCE_END) return;
    depth += source_is_mark_of(token, "<(") - source_is_mark_of(token, ">)");
    const bool ends = depth == 0 || (depth == 1 && source_is_mark_of(token, ","));
    if (ends && one.name.kind == SOURCE_WORD && out->template_count < SIGNATURE_TEMPLATES) {
      struct signature_template *made = &out->templates[out->template_count++];
      made->name = one.name;
      memcpy(made->type, one.type, sizeof made->type);
    }
    if (ends)
      one = (struct signature_parameter){.plain = true};
    else if (source_is_mark_of(token, "="))
      one.plain = false; /* a default: what follows is no name */
    else if (one.plain)
      take_token(&one, token);
  }
}

static bool stands_in(struct source_reader reader, struct source_token name) {
  struct source_token token = source_next_solid(&reader);
  while (token.kind != SOURCE_END && !source_same(token, name)) token = source_next_solid(&reader);
  return token.kind != SOURCE_END;
}

/* Reads the lines #ifndef X, #define X 16 of macros that the text behind them uses. */
static void read_macros(const char *text, struct signature *out) {
  struct source_reader reader = {text, text + strlen(text)};
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       token = source_next_solid(&reader)) {
    if (!source_is_mark_of(token, "#") || !source_is(source_next_in_line(&reader), "ifndef"))
      continue;
    const struct source_token name = source_next_in_line(&reader);
    struct source_reader ahead = reader;
    if (!source_is_mark_of(source_next_solid(&ahead), "#") ||
        !source_is(source_next_in_line(&ahead), "define") ||
        !source_same(source_next_in_line(&ahead), name))
      continue;
    const struct source_token value = source_next_in_line(&ahead);
    if (value.kind == SOURCE_NUMBER && out->macro_count < SIGNATURE_MACROS &&
        stands_in(ahead, name))
      out->macros[out->macro_count++] = (struct signature_macro){
          .name = name, .value = strtol(value.at, NULL, 0), .defined = true};
  }
}

/* Returns whether a word looks like a macro that a tuner defines, such as TILE, or Kernel Tuner's
   block_size_x. */
static bool looks_defined(struct source_token word) {
  static const char *const begins[] = {"block_size_", "tile_size_", "work_per_thread_"};
  static const char *const known[] = {"NULL",  "NAN",   "INFINITY", "FLT_", "DBL_", "INT_",
                                      "UINT_", "CHAR_", "LONG_",    "M_",   "CUDA", "CUDART_"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(word.at, begins[i], strlen(begins[i])) == 0) return true;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(word.at, known[i], strlen(known[i])) == 0) return false;
  bool letters = false;
  for (size_t i = 0; i < word.length; i++) {
    if (word.at[i] >= 'a' && word.at[i] <= 'z') return false;
    letters |= word.at[i] >= 'A' && word.at[i] <= 'Z';
  }
  return letters && *word.at != '_' && word.length > 1;
}

/* Returns whether the text seems to define or declare the word, because another word stands in
   front, as in #define N or const int N, or because the word is assigned. */
static bool is_declared(const char *text, struct source_token word) {
  struct source_reader reader = {text, text + strlen(text)};
  struct source_token before = {0};
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       before = token, token = source_next_solid(&reader)) {
    struct source_reader ahead = reader;
    if (!source_same(token, word)) continue;
    if (source_is_mark_of(source_next_solid(&ahead), "=") &&
        !source_is_mark_of(source_next_solid(&ahead), "="))
      return true;
    if (before.kind == SOURCE_WORD && !source_is(before, "return") && !source_is(before, "if") &&
        !source_is(before, "elif") && !source_is(before, "defined"))
      return true;
  }
  return false;
}

static bool is_noted(const struct signature *out, struct source_token word) {
  for (size_t i = 0; i < out->macro_count; i++)
    if (source_same(out->macros[i].name, word)) return true;
  for (size_t i = 0; i < out->template_count; i++)
    if (source_same(out->templates[i].name, word)) return true;
  return false;
}

/* Skips the kernel whose __global__ has just been read, unless it is the kernel of `out`. */
static void skip_other(struct source_reader *reader, const struct signature *out) {
  struct source_reader ahead = *reader;
  if (source_same(signature_kernel_name(&ahead), out->name)) return;
  skip_brackets(&ahead, '(', ')');
  if (source_is_mark_of(source_next_solid(&ahead), "{")) skip_brackets(&ahead, '{', '}');
  *reader = ahead;
}

enum { WORDS_MOST = 256 };

/* Reads the text outside of other kernels: adds the words that it uses like macros and does not
   define, as macros of the value 0, and notes dynamic shared memory. */
static void read_free_words(const char *text, struct signature *out) {
  struct source_reader reader = {text, text + strlen(text)};
  struct source_token before = {0};
  int looked = 0; /* words that were looked for in the whole text */
  for (struct source_token token = source_next_solid(&reader);
       token.kind != SOURCE_END && looked < WORDS_MOST;
       before = token, token = source_next_solid(&reader)) {
    if (source_is(token, "__global__")) skip_other(&reader, out);
    if (source_is(token, "__shared__") && source_is(before, "extern")) out->dynamic_shared = true;
    struct source_reader ahead = reader;
    if (token.kind != SOURCE_WORD || out->macro_count == SIGNATURE_MACROS ||
        source_is_mark_of(before, ".:") || source_is_mark_of(source_next_solid(&ahead), "(:") ||
        !looks_defined(token) || is_noted(out, token) || (looked++, is_declared(text, token)))
      continue;
    out->macros[out->macro_count++] = (struct signature_macro){.name = token};
  }
}

/* Returns whether a condition may stand behind the two tokens, the newest first: behind #if, !, &&
   and ||, and, in front of a question mark, also behind an assignment or in a list. */
static bool opens_condition(const struct source_token *before, bool question) {
  static const char *const words[] = {"if", "elif", "constexpr", "while"};
  const struct source_token last = before[0];
  const bool twice = source_is_mark_of(before[1], "&|") && *before[1].at == *last.at;
  if (source_is_mark_of(last, "&|")) return twice;
  if (question && source_is_mark_of(last, "=")) return !source_is_mark_of(before[1], "=!<>");
  if (question && (source_is_mark_of(last, "(,:?[{") || source_is(last, "return"))) return true;
  if (source_is_mark_of(last, "("))
    return source_is_mark_of(before[1], "(!&|") || source_is_one_of(before[1], words, 4);
  return source_is_mark_of(last, "!") || source_is_one_of(last, words, 2);
}

/* Returns whether a condition may end in front of the text, as at the end of a line or in front of
   a comparison with 0 or 1. */
static bool ends_condition(struct source_reader text) {
  const struct source_token next = source_next_in_line(&text);
  if (next.kind == SOURCE_NEWLINE || next.kind == SOURCE_END) return true;
  if (source_is_mark_of(next, "&|")) return next.at[1] == *next.at;
  if (!source_is_mark_of(next, "=!")) return source_is_mark_of(next, ")?;,");
  const bool compared = next.at[1] == '=';
  source_next_in_line(&text);
  const struct source_token number = source_next_in_line(&text);
  return compared && number.kind == SOURCE_NUMBER && number.length == 1 &&
         (*number.at == '0' || *number.at == '1');
}

/* Returns whether the text uses the word, and only as a condition. Definitions of the word, and
   questions whether the word is defined, are no uses. */
static bool is_switch(const char *text, struct source_token word) {
  static const char *const defining[] = {"ifndef", "ifdef", "define", "undef", "defined"};
  struct source_reader reader = {text, text + strlen(text)};
  struct source_token before[2] = {{0}};
  bool used = false;
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       before[1] = before[0], before[0] = token, token = source_next_solid(&reader)) {
    const struct source_token last = before[source_is_mark_of(before[0], "(")];
    if (!source_same(token, word) || source_is_one_of(last, defining, 5)) continue;
    struct source_reader ahead = reader;
    used = opens_condition(before, source_is_mark_of(source_next_solid(&ahead), "?")) &&
           ends_condition(reader);
    if (!used) return false;
  }
  return used;
}

/* ---- The launch ------------------------------------------------------------------------------ */

/* number of last tokens of a body that are kept, the newest first */
enum { WINDOW = 9 + 4 * SIGNATURE_FACTORS };

/* Returns 0 to 2 for the words x, y and z; -1: another token. */
static int axis_of(struct source_token token) {
  static const char names[] = "xyz";
  const char *const at = token.length == 1 ? strchr(names, *token.at) : NULL;
  return at ? (int)(at - names) : -1;
}

/* Returns the axis if window[at] ends word.x, word.y or word.z; else -1. */
static int axis_at(const struct source_token *window, int at, const char *word) {
  return source_is_mark_of(window[at + 1], ".") && source_is(window[at + 2], word)
             ? axis_of(window[at])
             : -1;
}

static bool is_factor(struct source_token token) {
  return token.kind == SOURCE_WORD ||
         (token.kind == SOURCE_NUMBER && strspn(token.at, "0123456789") >= token.length);
}

/* Stores the factor in *place unless a word is there, or the factor is blockDim. */
static void note_factor(struct source_token *place, struct source_token factor) {
  if (place->kind != SOURCE_WORD && is_factor(factor) && !source_is(factor, "blockDim"))
    *place = factor;
}

static bool has_words(const struct source_token *factors) {
  for (size_t i = 0; i < SIGNATURE_FACTORS; i++)
    if (factors[i].kind == SOURCE_WORD) return true;
  return false;
}

/* Stores the factors, unless blockDim is alone, if *place is empty, or if the factors have words
   and *place has none. */
static void store_product(struct source_token *place, const struct source_token *factors) {
  if (source_is(factors[0], "blockDim") && !factors[1].length) return;
  if (!place->length || (has_words(factors) && !has_words(place)))
    memcpy(place, factors, SIGNATURE_FACTORS * sizeof *factors);
}

/* Stores the product W * V or (W * V) whose first token is given and whose rest is the text. The
   text in brackets has to be a whole product, because it may be a sum, or a cast. */
static void note_product(struct source_token *place, struct source_token first,
                         struct source_reader text) {
  struct source_token factors[SIGNATURE_FACTORS] = {{0}}, token = first;
  const bool brackets = source_is_mark_of(first, "(");
  if (brackets) token = source_next_solid(&text);
  for (size_t count = 0; count < SIGNATURE_FACTORS && is_factor(token);) {
    factors[count++] = token;
    if (source_is(token, "blockDim")) source_next_solid(&text), source_next_solid(&text);
    token = source_next_solid(&text);
    if (!source_is_mark_of(token, "*")) break;
    token = source_next_solid(&text);
  }
  const struct source_token behind = source_next_solid(&text);
  const bool whole =
      source_is_mark_of(token, ")") && behind.kind == SOURCE_MARK && *behind.at != '(';
  if (whole || !brackets) store_product(place, factors);
}

/* Like note_product, for the product that ends with window[at] and stands in front of blockIdx. */
static void note_product_before(struct source_token *place, const struct source_token *window,
                                size_t at) {
  struct source_token factors[SIGNATURE_FACTORS] = {{0}};
  const bool brackets = source_is_mark_of(window[at], ")");
  size_t count = 0;
  for (at += brackets; is_factor(window[at]); at += 2) {
    if (count == SIGNATURE_FACTORS) return;
    if (axis_at(window, (int)at, "blockDim") >= 0) at += 2;
    factors[count++] = window[at];
    if (!source_is_mark_of(window[at + 1], "*")) break;
  }
  const bool whole = source_is_mark_of(window[at + 1], "(");
  if (whole || !brackets) store_product(place, factors);
}

/* Notes what the newest tokens, and the text behind them, say of grid and block. *loop: the axis of
   a loop that begins at threadIdx, until its step is read; -1: none. */
static void note_extents(const struct source_token *window, struct source_reader text, int *loop,
                         struct signature *out) {
  const int thread = axis_at(window, 0, "threadIdx"), block = axis_at(window, 0, "blockIdx");
  if (thread >= out->block_dimensions) out->block_dimensions = thread + 1;
  if (block >= out->grid_dimensions) out->grid_dimensions = block + 1;
  /* blockIdx.x * W * V */
  int axis = source_is_mark_of(window[1], "*") ? axis_at(window, 2, "blockIdx") : -1;
  if (axis >= 0) note_product(out->grid_steps[axis], window[0], text);
  if (axis >= 0 && (window[0].kind != SOURCE_WORD || source_is(window[0], "blockDim")))
    out->grid_by_threads[axis] = true;
  /* (blockIdx.x + 1) * W */
  axis = source_is_mark_of(window[1], "*") && source_is_mark_of(window[2], ")") &&
                 source_is_mark_of(window[4], "+-")
             ? axis_at(window, 5, "blockIdx")
             : -1;
  if (axis >= 0) note_product(out->grid_steps[axis], window[0], text);
  const int of_grid = axis_at(window, source_is(window[2], "gridDim") ? 4 : 0, "blockIdx"),
            grid = axis_at(window, source_is(window[2], "gridDim") ? 0 : 4, "gridDim");
  if (of_grid > 0 && grid >= 0 && source_is_mark_of(window[3], "*")) out->grid_flat[of_grid] = true;
  if (block >= 0 && source_is_mark_of(window[3], "*")) { /* W * V * blockIdx.x */
    note_product_before(out->grid_steps[block], window, 4);
    out->grid_by_threads[block] |= axis_of(window[4]) >= 0 || window[4].kind != SOURCE_WORD;
  }
  /* blockIdx.x * W + threadIdx.x */
  if (thread >= 0 && source_is_mark_of(window[3], "+") && source_is_mark_of(window[5], "*") &&
      axis_at(window, 6, "blockIdx") == thread)
    note_factor(&out->block_extents[thread], window[4]);
  /* (... + threadIdx.x) * V; a number may also count the fields of a record in an index */
  axis = source_is_mark_of(window[1], "*") && source_is_mark_of(window[2], ")")
             ? axis_at(window, 3, "threadIdx")
             : -1;
  struct source_reader ahead = text;
  if (axis >= 0 && (out->grid_steps[axis]->length || out->grid_by_threads[axis]) &&
      (window[0].kind == SOURCE_WORD || source_is_mark_of(source_next_solid(&ahead), ";,")))
    note_factor(&out->grid_factors[axis], window[0]);
  /* for (i = threadIdx.x; ...; i += W) */
  axis = source_is_mark_of(window[0], ";") ? axis_at(window, 1, "threadIdx") : -1;
  if (axis >= 0) *loop = axis;
  if (*loop >= 0 && source_is_mark_of(window[1], "=") && source_is_mark_of(window[2], "+"))
    note_factor(&out->block_extents[*loop], window[0]);
  if (source_is_mark_of(window[0], "{)")) *loop = -1;
}

enum { ALIASES = 16, STEPS = 16 };

/* What the body has said so far. */
struct body_names {
  /* local variables whose value is blockIdx or threadIdx of an axis, as in int tx = threadIdx.x */
  struct alias {
    struct source_token name, word, point, axis;
  } aliases[ALIASES];
  /* variables that begin at 0, and the W of i += W; length 0: not read so far */
  struct {
    struct source_token name, step;
  } steps[STEPS];
  size_t alias_count, step_count;
};

/* Notes the alias that the newest tokens define. The variable of a loop that begins at threadIdx.x
   is no alias. */
static void note_alias(struct body_names *names, const struct source_token *window) {
  int at = 6;
  if (!source_is_mark_of(window[0], ";,") || !source_is_mark_of(window[4], "=") ||
      window[5].kind != SOURCE_WORD || names->alias_count == ALIASES ||
      (axis_at(window, 1, "threadIdx") < 0 && axis_at(window, 1, "blockIdx") < 0))
    return;
  while (at < WINDOW - 1 && window[at].kind == SOURCE_WORD) at++;
  if (!source_is_mark_of(window[at], "("))
    names->aliases[names->alias_count++] =
        (struct alias){window[5], window[3], window[2], window[1]};
}

/* Notes i = 0 and i += W, and that a block has W threads where threadIdx.y + i follows. */
static void note_step(struct body_names *names, const struct source_token *window,
                      struct signature *out) {
  const int axis = source_is_mark_of(window[1], "+") ? axis_at(window, 2, "threadIdx") : -1;
  const bool begins = source_is_mark_of(window[1], "=") && window[2].kind == SOURCE_WORD &&
                      window[0].length == 1 && *window[0].at == '0';
  size_t i = 0;
  const struct source_token name = begins ? window[2] : axis >= 0 ? window[0] : window[3];
  while (i < names->step_count && !source_same(names->steps[i].name, name)) i++;
  if (begins && i == names->step_count && i < STEPS) names->steps[names->step_count++].name = name;
  if (begins || i == names->step_count) return;
  struct source_token *const step = &names->steps[i].step;
  if (axis < 0 && source_is_mark_of(window[1], "=") && source_is_mark_of(window[2], "+"))
    note_factor(step, window[0]);
  else if (axis >= 0 && step->length)
    out->block_extents[axis] = *step;
}

static void read_body(struct source_reader text, struct signature *out) {
  struct source_token window[WINDOW] = {{0}};
  struct body_names names = {.alias_count = 0};
  int depth = 0, loop = -1;
  for (struct source_token token = source_next_solid(&text); token.kind != SOURCE_END;
       token = source_next_solid(&text)) {
    struct source_token tokens[] = {{0}, {0}, token}; /* or the three that an alias stands for */
    size_t first = 2;
    depth += source_is_mark_of(token, "{") - source_is_mark_of(token, "}");
    if (depth == 0 && source_is_mark_of(token, "};")) return;
    for (size_t i = 0; i < names.alias_count && !source_is_mark_of(window[0], "."); i++) {
      const struct alias *a = &names.aliases[i];
      if (!source_same(a->name, token)) continue;
      tokens[0] = a->word, tokens[1] = a->point, tokens[2] = a->axis;
      first = 0;
    }
    for (size_t i = first; i < 3; i++) {
      memmove(window + 1, window, sizeof window - sizeof *window);
      window[0] = tokens[i];
      note_extents(window, text, &loop, out);
    }
    note_alias(&names, window);
    note_step(&names, window, out);
  }
}

/* Returns the number of a constant, as in #define W 32 or const int W = 32; else the word. */
static struct source_token number_of(const char *text, struct source_token word) {
  struct source_reader reader = {text, text + strlen(text)};
  struct source_token before = {0}, token = source_next_solid(&reader);
  for (; token.kind != SOURCE_END; before = token, token = source_next_solid(&reader)) {
    if (!source_same(token, word) || before.kind != SOURCE_WORD) continue;
    struct source_reader ahead = reader;
    struct source_token number = source_next_in_line(&ahead);
    while (source_is_mark_of(number, "=(")) number = source_next_in_line(&ahead);
    const struct source_token behind = source_next_in_line(&ahead);
    if (number.kind == SOURCE_NUMBER && is_factor(number) &&
        (behind.kind != SOURCE_MARK || source_is_mark_of(behind, ");,#")))
      return number;
  }
  return word;
}

/* Puts numbers in place of the names of constants. */
static void read_constants(const char *text, struct signature *out) {
  for (int axis = 0; axis < 3; axis++) {
    struct source_token *const extent = &out->block_extents[axis], *const factor =
                                                                       &out->grid_factors[axis];
    if (!is_noted(out, *extent)) *extent = number_of(text, *extent);
    if (!is_noted(out, *factor)) *factor = number_of(text, *factor);
    for (int i = 0; i < SIGNATURE_FACTORS; i++) {
      struct source_token *const step = &out->grid_steps[axis][i];
      if (!is_noted(out, *step)) *step = number_of(text, *step);
    }
  }
}

void signature_read(const char *text, struct source_token kernel, struct signature *out) {
  struct source_reader reader = {text, text + strlen(text)}, template = {0};
  *out = (struct signature){.name = kernel, .parameter_count = SIGNATURE_UNKNOWN};
  read_macros(text, out);
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       token = source_next_solid(&reader)) {
    if (source_is_mark_of(token, ";}")) template = (struct source_reader){0};
    if (source_is(token, "template")) template = reader;
    if (!source_is(token, "__global__")) continue;
    if (!source_same(signature_kernel_name(&reader), kernel)) continue;
    if (template.at) read_templates(template, out);
    out->parameter_count = signature_read_list(reader, out->parameters);
    skip_brackets(&reader, '(', ')');
    read_body(reader, out);
    uses_read(reader, out);
    read_free_words(text, out);
    for (size_t i = 0; i < out->macro_count; i++)
      out->macros[i].condition = is_switch(text, out->macros[i].name);
    read_constants(text, out);
    return;
  }
}
