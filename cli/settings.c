/* What rows have in common; see settings.h. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "print.h"

char *settings_take(const char *text, const char *others, bool shared) {
  char *out = NULL;
  size_t size, length;
  FILE *stream = open_memstream(&out, &size);
  if (!stream) return NULL;
  for (const char *word = text, *lead = ""; *word; word += length, word += strspn(word, " ")) {
    length = strcspn(word, " ");
    if (print_has_word(others, word, length) != shared) continue;
    fprintf(stream, "%s%.*s", lead, (int)length, word);
    lead = " ";
  }
  return fclose(stream) == 0 ? out : NULL;
}

bool settings_add(struct settings *settings, const char *text) {
  char **texts = realloc(settings->texts, (settings->count + 1) * sizeof *texts);
  if (!texts) return false;
  settings->texts = texts;
  texts[settings->count] = strdup(text);
  return texts[settings->count++] != NULL;
}

void settings_free(struct settings *settings) {
  for (size_t i = 0; i < settings->count; i++) free(settings->texts[i]);
  free(settings->texts);
  *settings = (struct settings){NULL, 0};
}

static bool same_group(const char *a, const char *b) {
  const size_t length = strcspn(a, " ");
  return strncmp(a, b, length) == 0 && strcspn(b, " ") == length;
}

/* What all rows of the group of `text` have, and how many these are. To be freed; NULL: out of memory. */
static char *shared_of(const struct settings *settings, const char *text, size_t *rows) {
  const char *own = text + strcspn(text, " ");
  char *shared = settings_take(own, own, true);
  *rows = 0;
  for (size_t i = 0; i < settings->count && shared; i++) {
    if (!same_group(text, settings->texts[i])) continue;
    char *fewer = settings_take(shared, settings->texts[i], true);
    free(shared);
    shared = fewer;
    ++*rows;
  }
  return shared;
}

char *settings_short(const struct settings *settings, size_t i) {
  size_t rows;
  const char *text = settings->texts[i];
  char *shared = shared_of(settings, text, &rows), *out = shared ? settings_take(text, shared, false) : NULL;
  free(shared);
  return out;
}

static bool is_first(const struct settings *settings, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same_group(settings->texts[k], settings->texts[i])) return false;
  return true;
}

void settings_print(const struct settings *settings, FILE *out) {
  for (size_t i = 0; i < settings->count; i++) {
    const char *text = settings->texts[i];
    size_t rows;
    char *shared = is_first(settings, i) ? shared_of(settings, text, &rows) : NULL;
    if (shared && *shared)
      fprintf(out, "%.*s: %s%s\n", (int)strcspn(text, " "), text, rows > 1 ? "all rows have " : "", shared);
    free(shared);
  }
}
