/* Finds what the settings of rows have in common; see settings.h. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/key.h"
#include "base/text.h"

char *settings_take(const char *text, const char *others, bool shared) {
  struct text out = {0};
  struct setting word;
  while (setting_next(&text, &word))
    if (settings_have(others, &word) == shared)
      text_addf(&out, "%s%.*s", out.length ? " " : "", (int)word.length, word.text);
  return text_take(&out);
}

bool settings_add(struct settings *settings, const char *text) {
  return array_add_text(&settings->texts, &settings->count, text);
}

void settings_free(struct settings *settings) {
  array_free_texts(settings->texts, settings->count);
  array_free_texts(settings->tried, settings->tried_count);
  *settings = (struct settings){0};
}

/* Adds a tried variant if a single row, of another variant, shows the variant's implementation. */
bool settings_add_tried(struct settings *settings, const char *text) {
  size_t rows = 0;
  for (size_t i = 0; i < settings->count; i++) {
    if (!variant_same_implementation(text, settings->texts[i])) continue;
    if (strcmp(text, settings->texts[i]) == 0) return true;
    rows++;
  }
  return rows != 1 || array_add_text(&settings->tried, &settings->tried_count, text);
}

/* Removes from *shared the words that some text of the implementation lacks, and counts the
   implementation's texts. *shared becomes NULL if memory runs out. */
static void keep_shared(char **shared, const char *text, char *const *texts, size_t count,
                        size_t *found) {
  *found = 0;
  for (size_t i = 0; i < count && *shared; i++) {
    if (!variant_same_implementation(text, texts[i])) continue;
    char *fewer = settings_take(*shared, texts[i], true);
    free(*shared);
    *shared = fewer;
    ++*found;
  }
}

/* Returns the words that all rows of the implementation of `text` have, and the number of rows.
   With a single row, the tried variants must have the words, too; "" if none was tried. The caller
   frees the text; NULL: out of memory. */
static char *settings_shared_of(const struct settings *settings, const char *text, size_t *rows,
                                size_t *tried) {
  const char *own = variant_parse(text).settings;
  char *shared = settings_take(own, own, true);
  keep_shared(&shared, text, settings->texts, settings->count, rows);
  keep_shared(&shared, text, settings->tried, settings->tried_count, tried);
  if (shared && *rows == 1 && !*tried) *shared = '\0';
  return shared;
}

/* Returns the variant with its settings sorted by length; settings of equal length keep their
   order. */
static char *shortest_first(const char *text) {
  struct text out = {0};
  const size_t most = strlen(text);
  text_addf(&out, "%.*s", VARIANT_IMPLEMENTATION(text));
  for (size_t length = 1; length < most; length++) {
    const char *at = variant_parse(text).settings;
    for (struct setting word; setting_next(&at, &word);)
      if (word.length == length) text_addf(&out, " %.*s", (int)length, word.text);
  }
  return text_take(&out);
}

char *settings_short(const struct settings *settings, size_t i) {
  size_t rows, tried;
  const char *text = settings->texts[i];
  char *shared = settings_shared_of(settings, text, &rows, &tried);
  const bool alone = shared && rows == 1 && !tried;
  char *out = !shared ? NULL : alone ? shortest_first(text) : settings_take(text, shared, false);
  free(shared);
  return out;
}

static bool settings_is_first(const struct settings *settings, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (variant_same_implementation(settings->texts[k], settings->texts[i])) return false;
  return true;
}

void settings_print(const struct settings *settings, FILE *out) {
  bool any = false;
  for (size_t i = 0; i < settings->count; i++) {
    const char *text = settings->texts[i];
    size_t rows, tried;
    char *shared =
        settings_is_first(settings, i) ? settings_shared_of(settings, text, &rows, &tried) : NULL;
    if (shared && *shared)
      fprintf(out, "%.*s..: %s have %s\n", VARIANT_IMPLEMENTATION(text),
              rows > 1 ? "all rows" : "all variants tried", shared);
    any |= shared && *shared;
    free(shared);
  }
  if (any) fputs("--variant needs what .. stands for, too; --wide has it in the rows.\n", out);
}
