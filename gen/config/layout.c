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

/* Reads a word whose ${} are whole numbers, without printing them. Returns false if they are not,
   or stand beside digits, or the word is wrong. */
static bool read_by_numbers(const struct config_spelling *word, const struct value *slots, int rank,
                            struct layout *out) {
  enum { NUMBERS_MOST = 16 };
  int64_t numbers[NUMBERS_MOST];
  if (word->part_count > NUMBERS_MOST) return false;
  for (size_t i = 0; i < word->part_count; i++)
    if (expr_eval_int(word->parts[i], slots, &numbers[i], NULL)) return false;
  return !layout_read_spelled(word->text, rank, numbers, out, NULL);
}

int config_layout_read(const struct config_layout *layout, const struct value *slots, int rank,
                       struct layout *out, cugen_error *err) {
  struct config_spelling other = {0};
  const struct config_spelling *word;
  struct text spelled = {0};
  int status = choose_word(layout, slots, &word, &other, err);
  if (status) return status;
  if (!word->part_count) return layout_read(word->text, rank, out, err);
  if (read_by_numbers(word, slots, rank, out)) return CUGEN_OK;
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
