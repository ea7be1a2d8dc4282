/* Layouts in configs: a word such as "row+${pad}", or an expression that gives one. See build.h. */
#include <string.h>

#include "build.h"

/* ---- Reading -------------------------------------------------------------------------------- */

/* The attribute that is read, of an array of that rank. */
struct reading {
  struct build *build;
  struct config_line line;
  const char *what;
  int rank;
};

/* Returns whether the text begins as a word does. Names in expressions that begin with row or col
   go on with another letter; an expression cannot begin with a digit, since it gives a word. */
static bool is_word(const char *text) {
  const bool order = strncmp(text, "row", 3) == 0 || strncmp(text, "col", 3) == 0;
  const size_t length = order ? 3 : strspn(text, "0123456789");
  return strncmp(text, "${", 2) == 0 || (length && strchr("/+^:", text[length]));
}

/* Reads one word. What follows a tunable is checked when the word is evaluated. */
static int read_layout_word(const struct reading *r, const char *word,
                            struct config_spelling *out) {
  struct layout layout;
  int status = strstr(word, "${") ? CUGEN_OK : layout_read(word, r->rank, &layout, r->build->err);
  if (status) {
    error_prefix_at(r->build->err, r->line.path, r->line.number, "%s", r->what);
    return status;
  }
  return read_spelled(r->build, r->line, r->what, word, out);
}

/* Counts the words, or adds them to `out` once it has room. */
struct words {
  const struct reading *reading;
  struct config_layout *out;
  size_t count;
  int status;
};

static void add_word(void *context, const char *word) {
  struct words *w = context;
  struct config_spelling *words = (struct config_spelling *)w->out->words;
  w->count++;
  for (size_t i = 0; i < w->out->word_count; i++)
    if (strcmp(words[i].text, word) == 0) return;
  if (!words || w->status) return;
  w->status = read_layout_word(w->reading, word, &words[w->out->word_count]);
  w->out->word_count += !w->status;
}

static int layout_read_choice(const struct reading *r, struct config_layout *out) {
  static const char *const known[] = {"row", "col", NULL};
  const struct expr_scope scope = {scope_symbol, scope_names, r->build};
  struct words words = {r, out, 0, CUGEN_OK};
  struct config_word choice = {0};
  int status = read_word(r->build, r->line, r->what, known, &choice);
  out->choice = choice.expr;
  if (!status)
    status = expr_each_string(out->choice, &scope, add_word, &words, &out->open, r->build->err);
  if (status) return status;
  out->words = arena_array(r->build->arena, words.count, sizeof *out->words);
  if (!out->words) return build_memory(r->build);
  status = expr_each_string(out->choice, &scope, add_word, &words, &out->open, r->build->err);
  return status ? status : words.status;
}

int read_layout(struct build *build, struct config_line line, const char *what, int rank,
                struct config_layout *out) {
  const struct reading r = {build, line, what, rank};
  const char *text;
  *out = (struct config_layout){0};
  int status = read_string(build, line, what, &text);
  if (status) return status;
  if (!is_word(text)) return layout_read_choice(&r, out);
  struct config_spelling *word = arena_array(build->arena, 1, sizeof *word);
  if (!word) return build_memory(build);
  out->words = word;
  out->word_count = 1;
  return read_layout_word(&r, text, word);
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

/* Sets *out to the word as the config has it, which may have ${expression} in it. */
static int choose_word(const struct config_layout *layout, const struct value *slots,
                       const struct config_spelling **out, struct config_spelling *other,
                       cugen_error *err) {
  struct value choice;
  *out = layout->word_count ? layout->words : other;
  other->text = "row";
  if (!layout->choice) return CUGEN_OK;
  int status = expr_eval(layout->choice, slots, &choice, err);
  if (status) return status;
  if (choice.type != VALUE_STRING)
    return error_set(err, CUGEN_ERROR_CONFIG, "'%s' gives no word", expr_text(layout->choice));
  other->text = choice.string;
  *out = other;
  for (size_t i = 0; i < layout->word_count; i++)
    if (strcmp(layout->words[i].text, choice.string) == 0) *out = &layout->words[i];
  return CUGEN_OK;
}

int config_layout_read(const struct config_layout *layout, const struct value *slots, int rank,
                       struct layout *out, cugen_error *err) {
  struct config_spelling other = {0};
  const struct config_spelling *word;
  struct text spelled = {0};
  int status = choose_word(layout, slots, &word, &other, err);
  if (status) return status;
  if (!word->part_count) return layout_read(word->text, rank, out, err);
  status = config_spell(word, slots, &spelled, err);
  if (!status) status = layout_read(text_get(&spelled), rank, out, err);
  text_free(&spelled);
  return status;
}

void config_argument_reads(const struct config_argument *argument, bool *reads) {
  note_reads(argument->dtype.expr, reads);
  note_reads(argument->when, reads);
  note_reads(argument->pitch, reads);
  for (int i = 0; i < argument->rank; i++) {
    note_reads(argument->shape[i], reads);
    note_reads(argument->strides[i], reads);
  }
  config_layout_reads(&argument->layout, reads);
}

void config_layout_reads(const struct config_layout *layout, bool *reads) {
  note_reads(layout->choice, reads);
  for (size_t i = 0; i < layout->word_count; i++) config_spelling_reads(&layout->words[i], reads);
}

/* ---- The size of an array as an expression -------------------------------------------------- */

/* A number of the word at *at: digits, or the expression in ${}. */
static void size_take_number(const char **at, struct text *out) {
  const char *close = strchr(*at, '}');
  const bool spelled = strncmp(*at, "${", 2) == 0 && close;
  const char *from = spelled ? *at + 2 : *at,
             *end = spelled ? close : from + strspn(from, "0123456789");
  text_add_char(out, '(');
  text_add_n(out, from, (size_t)(end - from));
  text_add_char(out, ')');
  *at = spelled ? close + 1 : end;
}

static bool size_take(const char **at, char mark) {
  const bool there = **at == mark;
  *at += there;
  return there;
}

/* The word in parts, each number an expression in parentheses. */
struct size_parts {
  int rank, contiguous; /* contiguous: the dimension, of a word without tiles */
  struct text first[KERNEL_MAX_RANK], last[KERNEL_MAX_RANK]; /* extents of the outermost and of the
                                                                innermost tiles; empty without */
  struct text pad, block; /* block: elements within which a swizzle exchanges */
  struct text line;       /* bytes of the swizzle of a tensor map */
};

static void size_read_tiles(const char **at, struct size_parts *parts) {
  while (size_take(at, '/')) {
    for (int i = 0; i < parts->rank; i++) {
      text_restart(&parts->last[i]);
      size_take_number(at, &parts->last[i]);
      if (!parts->first[i].length) text_add(&parts->first[i], text_get(&parts->last[i]));
      size_take(at, 'x');
    }
    if (size_take(at, ':')) *at += strcspn(*at, "/+^");
  }
}

static void size_read_parts(const char *word, struct size_parts *parts) {
  const char *at = word + strcspn(word, "/+^");
  const bool row = strncmp(word, "row", 3) == 0, col = strncmp(word, "col", 3) == 0;
  parts->contiguous = row ? parts->rank - 1 : col ? 0 : at[-1] - '0';
  size_read_tiles(&at, parts);
  if (size_take(&at, '+')) size_take_number(&at, &parts->pad);
  if (!size_take(&at, '^')) return;
  struct text bits = {0}, base = {0};
  size_take_number(&at, &bits);
  if (size_take(&at, ',')) {
    size_take_number(&at, &base);
    text_addf(&parts->block, "select(%s > 0, pow(2, %s + %s), 1)", text_get(&bits), text_get(&bits),
              text_get(&base));
  } else {
    text_add(&parts->line, text_get(&bits));
  }
  parts->block.failed |= bits.failed | base.failed;
  text_free(&bits);
  text_free(&base);
}

static void size_add_elements(const struct size_parts *parts, const struct expr *const *shape,
                              struct text *out) {
  const bool tiled = parts->first[0].length;
  for (int i = 0; i < parts->rank; i++)
    if (tiled)
      text_addf(out, "ceil_div(%s, %s) * (%s // %s) * ", expr_text(shape[i]),
                text_get(&parts->first[i]), text_get(&parts->first[i]), text_get(&parts->last[i]));
    else if (i != parts->contiguous)
      text_addf(out, "(%s) * ", expr_text(shape[i]));
  text_add(out, "(");
  for (int i = 0; tiled && i < parts->rank; i++)
    text_addf(out, "%s%s", i ? " * " : "", text_get(&parts->last[i]));
  if (!tiled) text_addf(out, "(%s)", expr_text(shape[parts->contiguous]));
  if (parts->pad.length) text_addf(out, " + %s", text_get(&parts->pad));
  text_add(out, ")");
}

/* An array whose size is asked. element: the expression of an element's bytes. */
struct sized {
  int rank;
  const struct expr *const *shape;
  const char *element;
};

/* Adds the bytes of an array in the layout of a word. */
static void add_word_size(const char *word, const struct sized *array, struct text *out) {
  const char *const element = array->element;
  struct size_parts parts = {.rank = array->rank};
  struct text elements = {0};
  size_read_parts(word, &parts);
  size_add_elements(&parts, array->shape, &elements);
  if (parts.line.length)
    text_addf(out, "round_up(%s * %s, %s)", text_get(&elements), element, text_get(&parts.line));
  else if (parts.block.length)
    text_addf(out, "round_up(%s, %s) * %s", text_get(&elements), text_get(&parts.block), element);
  else
    text_addf(out, "%s * %s", text_get(&elements), element);
  out->failed |= elements.failed | parts.pad.failed | parts.block.failed | parts.line.failed;
  for (int i = 0; i < array->rank; i++) {
    out->failed |= parts.first[i].failed | parts.last[i].failed;
    text_free(&parts.first[i]);
    text_free(&parts.last[i]);
  }
  text_free(&parts.pad);
  text_free(&parts.block);
  text_free(&parts.line);
  text_free(&elements);
}

/* Adds the bytes that a word's swizzle wants its array to be aligned to: eight of its lines, so
   that the pattern begins anew (PTX ISA, "Tensor swizzling modes"); 16 without, for one access. */
static void add_word_align(const char *word, const struct sized *array, struct text *out) {
  const char *at = word + strcspn(word, "^");
  struct text line = {0};
  (void)array;
  if (size_take(&at, '^')) size_take_number(&at, &line);
  if (line.length && *at != ',')
    text_addf(out, "8 * %s", text_get(&line));
  else
    text_add(out, "16");
  out->failed |= line.failed;
  text_free(&line);
}

/* Adds what `add` says of the layout's word, or a choice among what it says of each. */
static void add_each_word(const struct config_layout *layout, const struct sized *array,
                          void (*add)(const char *word, const struct sized *array,
                                      struct text *out),
                          struct text *out) {
  if (layout->word_count > 1) text_add(out, "select(");
  for (size_t i = 0; i < layout->word_count; i++) {
    const bool last = i + 1 == layout->word_count;
    if (!last) text_addf(out, "(%s) == '%s', ", expr_text(layout->choice), layout->words[i].text);
    add(layout->words[i].text, array, out);
    if (!last) text_add(out, ", ");
  }
  if (layout->word_count > 1) text_add(out, ")");
  if (!layout->word_count) add("row", array, out);
}

void layout_size_text(const struct config_layout *layout, int rank, const struct expr *const *shape,
                      const char *element, struct text *out) {
  add_each_word(layout, &(struct sized){rank, shape, element}, add_word_size, out);
}

void layout_align_text(const struct config_layout *layout, struct text *out) {
  add_each_word(layout, NULL, add_word_align, out);
}
