/* Breaking lines between words; see wrap.h.

   A line that goes on hangs below what it continues: two columns further in than the line began, or where its last column
   began, when spaces set columns apart ("  time        37.97 ms ..."). Commands in messages are known by their first word:
   'cugen ... until the quote ends, or ": cugen ..." until the line does. */
#include "wrap.h"

#include <string.h>

#include "terminal.h"

static void put_spaces(size_t count, FILE *out) {
  fprintf(out, "%*s", (int)count, "");
}

/* Between double quotes a backslash and the line end are nothing to a shell; spaces at the begin of the next line would be. */
static void break_line(struct wrap *w, FILE *out) {
  if (w->space == WRAP_COMMAND && w->quoted_space) {
    put_spaces(w->spaces, out);
    fputs("\\\n", out);
    w->column = 0;
    return;
  }
  fputs(w->space == WRAP_COMMAND ? " \\\n" : "\n", out);
  put_spaces(w->hang, out);
  w->column = w->hang;
}

static bool word_is(const struct wrap *w, const char *text) {
  return w->length == strlen(text) && memcmp(w->word, text, w->length) == 0;
}

/* The quotes of the word, and whether a command begins or ends with it. */
static void cite(struct wrap *w) {
  if (!w->cited && word_is(w, "'cugen")) w->cited = '\'';
  if (!w->cited && w->colon && word_is(w, "cugen")) w->cited = ':';
  for (size_t i = 0; i < w->length && w->cited; i++) w->quoted ^= w->word[i] == '"';
  const bool ends = w->length > 1 && (w->word[w->length - 1] == '\'' || w->word[w->length - 2] == '\'');
  if (w->cited == '\'' && !w->quoted && ends) w->cited = 0;
  w->colon = w->word[w->length - 1] == ':';
}

static void put_word(struct wrap *w, FILE *out) {
  if (!w->length) return;
  if (w->kind == WRAP_PROSE) cite(w);
  const size_t columns = terminal_columns(w->word, w->length), most = (size_t)w->width,
               spare = w->kind == WRAP_COMMAND || w->space == WRAP_COMMAND || w->cited ? 2 : 0; /* for a backslash */
  if (!w->begun) w->hang = w->spaces + 2 < most / 2 ? w->spaces + 2 : 0;
  if (w->begun && w->spaces && w->column + w->spaces + columns + spare > most) {
    break_line(w, out);
  } else {
    put_spaces(w->spaces, out);
    w->column += w->spaces;
    if (w->begun && w->spaces > 1 && w->column < most / 2) w->hang = w->column;
  }
  fwrite(w->word, 1, w->length, out);
  w->column += columns;
  w->begun = true;
  w->spaces = w->length = 0;
}

static void end_line(struct wrap *w, FILE *out) {
  put_word(w, out);
  fputc('\n', out);
  w->begun = w->quoted = w->shut = w->colon = false;
  w->column = w->spaces = 0;
  w->cited = 0;
}

static void add_space(struct wrap *w, FILE *out) {
  put_word(w, out);
  w->spaces++;
  w->space = w->cited ? WRAP_COMMAND : w->kind;
  w->quoted_space = w->quoted;
}

static void add_byte(struct wrap *w, char c, FILE *out) {
  if (w->length == sizeof w->word) put_word(w, out);
  w->word[w->length++] = c;
  if (w->kind != WRAP_COMMAND) return;
  if (c == '"' && !w->shut) w->quoted = !w->quoted;
  if (c == '\'' && !w->quoted) w->shut = !w->shut;
}

void wrap_add(struct wrap *w, const char *text, size_t length, FILE *out) {
  if (!w->width) {
    fwrite(text, 1, length, out);
    return;
  }
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n')
      end_line(w, out);
    else if (text[i] == ' ' && !w->shut && w->kind != WRAP_NOTHING)
      add_space(w, out);
    else
      add_byte(w, text[i], out);
  }
}

void wrap_add_style(struct wrap *w, const char *escape, FILE *out) {
  const size_t length = strlen(escape);
  if (!w->width || w->length + length > sizeof w->word) {
    fputs(escape, out);
    return;
  }
  memcpy(w->word + w->length, escape, length);
  w->length += length;
}

void wrap_end(struct wrap *w, FILE *out) {
  put_word(w, out);
}
