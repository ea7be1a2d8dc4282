/* Breaks lines between words; see wrap.h.

   A continued line is indented: two columns more than the line that it continues, or to where the
   last table column began, if spaces separate columns (" time 37.97 ms ..."). A command in a
   message begins at a word `'cugen` and ends at the closing quote, or begins at a word `cugen`
   after a colon and ends with the line. A command stays in one line, so that it can be copied. A
   command that is longer than a line begins a line, and is continued behind backslashes. */
#include "wrap.h"

#include <string.h>

#include "terminal.h"

static void put_spaces(size_t count, FILE *out) {
  fprintf(out, "%*s", (int)count, "");
}

static void break_line(struct wrap *w, FILE *out) {
  fputc('\n', out);
  put_spaces(w->hang, out);
  w->column = w->hang;
  w->spaces = 0;
}

static bool too_wide(const struct wrap *w, size_t columns) {
  return w->column + w->spaces + columns > (size_t)w->width;
}

/* Writes the text behind the spaces that were held back. */
static void wrap_put(struct wrap *w, const char *text, size_t length, FILE *out) {
  const size_t most = (size_t)w->width;
  if (!w->begun) w->hang = w->spaces + 2 < most / 2 ? w->spaces + 2 : 0;
  put_spaces(w->spaces, out);
  w->column += w->spaces;
  if (w->begun && w->spaces > 1 && w->column < most / 2) w->hang = w->column;
  fwrite(text, 1, length, out);
  w->column += terminal_columns(text, length);
  w->begun = true;
  w->spaces = 0;
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* The quotes that the text is in. For a shell, a backslash and a line end vanish between double
   quotes, but are literal between single ones. */
struct quotes {
  bool twofold, single;
};

/* Returns the length of the piece at text that cannot be broken. */
static size_t piece_length(const char *text, size_t length, struct quotes *in) {
  size_t piece = 0;
  for (; piece < length && (text[piece] != ' ' || in->single); piece++) {
    if (text[piece] == '"' && !in->single) in->twofold = !in->twofold;
    if (text[piece] == '\'' && !in->twofold) in->single = !in->single;
  }
  return piece;
}

/* Continues a command on the next line, which is not indented between double quotes, because
   spaces there would be part of the quoted text. */
static void continue_command(struct wrap *w, bool quoted, FILE *out) {
  fputs(" \\", out);
  const size_t hang = w->hang;
  if (quoted) w->hang = 0;
  break_line(w, out);
  w->hang = hang;
}

static void split_command(struct wrap *w, FILE *out) {
  struct quotes in = {false, false};
  const size_t quote = w->command == '\'';
  for (size_t at = 0, piece; at < w->length; at += piece + 1) {
    const bool quoted = in.twofold, first = at == 0;
    piece =
        piece_length(w->word + at + (first ? quote : 0), w->length - at - (first ? quote : 0), &in);
    if (first) piece += quote;
    const size_t backslash = at + piece < w->length ? 2 : 0;
    if (!first) w->spaces = 1;
    if (!first && too_wide(w, terminal_columns(w->word + at, piece) + backslash))
      continue_command(w, quoted, out);
    wrap_put(w, w->word + at, piece, out);
  }
}

static bool begins_command(struct wrap *w) {
  static const char quoted[] = "'cugen", bare[] = "cugen";
  if (w->kind != WRAP_PROSE) return false;
  if (w->length == strlen(quoted) && memcmp(w->word, quoted, w->length) == 0) w->command = '\'';
  if (w->colon && w->length == strlen(bare) && memcmp(w->word, bare, w->length) == 0)
    w->command = ':';
  return w->command != 0;
}

/* Returns true if the command's last character, or the one before a comma or period, closes the
   quote. */
static bool ends_command(const struct wrap *w) {
  size_t marks = 0;
  for (size_t i = 0; i < w->length; i++) marks += w->word[i] == '"';
  return w->command == '\'' && marks % 2 == 0 &&
         (w->word[w->length - 1] == '\'' || w->word[w->length - 2] == '\'');
}

/* ---- Words ---------------------------------------------------------------------------------- */

static void put_word(struct wrap *w, FILE *out) {
  if (!w->length) return;
  const size_t columns = terminal_columns(w->word, w->length),
               begin = w->begun ? w->hang : w->spaces;
  w->colon = w->word[w->length - 1] == ':';
  if (w->begun && w->spaces && too_wide(w, columns)) break_line(w, out);
  if (w->command && begin + columns > (size_t)w->width)
    split_command(w, out);
  else
    wrap_put(w, w->word, w->length, out);
  w->length = 0;
  w->command = 0;
}

static void add_byte(struct wrap *w, char c, FILE *out) {
  if (w->length == sizeof w->word) put_word(w, out);
  w->word[w->length++] = c;
}

static void add_space(struct wrap *w, FILE *out) {
  if (w->command ? !ends_command(w) : begins_command(w)) {
    add_byte(w, ' ', out);
    return;
  }
  put_word(w, out);
  w->spaces++;
}

void wrap_add(struct wrap *w, const char *text, size_t length, FILE *out) {
  if (!w->width) {
    fwrite(text, 1, length, out);
    return;
  }
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') {
      put_word(w, out);
      fputc('\n', out);
      w->begun = w->colon = false;
      w->column = w->spaces = 0;
    } else if (text[i] == ' ' && w->kind != WRAP_NOTHING) {
      add_space(w, out);
    } else {
      add_byte(w, text[i], out);
    }
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
  put_spaces(w->spaces, out);
  w->spaces = 0;
}
