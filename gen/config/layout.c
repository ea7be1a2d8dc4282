/* Layouts in configs: a word such as "row+${pad}", or an expression that gives one. See build.h. */
#include <string.h>

#include "build.h"
#include "evaluate.h"

/* ---- Reading -------------------------------------------------------------------------------- */

/* Returns whether the text begins as a layout's word does, and not as an expression. An expression
   cannot begin with a digit, because its value is a word. */
static bool is_word(const char *text) {
  const bool order = strncmp(text, "row", 3) == 0 || strncmp(text, "col", 3) == 0;
  const size_t length = order ? 3 : strspn(text, "0123456789");
  return strncmp(text, "${", 2) == 0 || (length && strchr("/+^:", text[length]));
}

/* Reads one word. A word with ${} in it is checked only when it is evaluated. */
static struct config_spelling read_layout_word(struct build *build, const char *what, int rank,
                                               const char *word) {
  struct layout layout;
  if (!strstr(word, "${"))
    build_check(build, layout_read(word, rank, &layout, &build->error), what);
  return read_spelled(build, what, word);
}

/* The words that an expression gives, each once; while `list` is NULL, only their count, with
   repetitions. */
struct words {
  const char **list;
  size_t count;
};

static void add_word(void *context, const char *word) {
  struct words *w = context;
  for (size_t i = 0; w->list && i < w->count; i++)
    if (strcmp(w->list[i], word) == 0) return;
  if (w->list) w->list[w->count] = word;
  w->count++;
}

static struct config_layout layout_read_choice(struct build *build, const char *what, int rank) {
  static const char *const known[] = {"row", "col", NULL};
  const struct expr_scope scope = {scope_symbol, scope_names, build};
  struct config_layout out = {.choice = read_word(build, what, known).expr};
  struct words words = {0};
  int status = expr_each_string(out.choice, &scope, add_word, &words, &out.open, &build->error);
  if (status) build_memory(build);
  words = (struct words){.list = build_array(build, words.count, sizeof *words.list)};
  status = expr_each_string(out.choice, &scope, add_word, &words, &out.open, &build->error);
  if (status) build_memory(build);
  struct config_spelling *spelled = build_array(build, words.count, sizeof *spelled);
  for (size_t i = 0; i < words.count; i++)
    spelled[i] = read_layout_word(build, what, rank, words.list[i]);
  out.words = spelled;
  out.word_count = words.count;
  return out;
}

struct config_layout read_layout(struct build *build, const char *what, int rank) {
  const char *text = read_string(build, what);
  if (!is_word(text)) return layout_read_choice(build, what, rank);
  struct config_spelling *word = build_array(build, 1, sizeof *word);
  *word = read_layout_word(build, what, rank, text);
  return (struct config_layout){.words = word, .word_count = 1};
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

/* Sets *out to the word, which may have ${expression} in it. other: room for a word that the config
   does not list. */
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

/* Reads a word whose ${} are whole numbers, without printing them. Returns false if a ${} is no
   whole number or stands beside digits, or if the word is wrong. */
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
  config_expr_reads(argument->dtype.expr, reads);
  config_expr_reads(argument->when, reads);
  config_expr_reads(argument->pitch, reads);
  for (int i = 0; i < argument->rank; i++) {
    config_expr_reads(argument->shape[i], reads);
    config_expr_reads(argument->strides[i], reads);
  }
  config_layout_reads(&argument->layout, reads);
}

void config_layout_reads(const struct config_layout *layout, bool *reads) {
  config_expr_reads(layout->choice, reads);
  for (size_t i = 0; i < layout->word_count; i++) config_spelling_reads(&layout->words[i], reads);
}
