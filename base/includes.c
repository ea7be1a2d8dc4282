/* Finds everything in a source that a compiler might include; see includes.h. */
#include "includes.h"

#include <ctype.h>
#include <string.h>

#include "system.h"

/* Returns the length of the line splice at this place, 0 if there is none: a backslash or its
   trigraph at the end of a line. Blanks may stand behind the backslash, because g++ overlooks
   them. */
static size_t includes_splice(const char *at) {
  const size_t mark = *at == '\\' ? 1 : strncmp(at, "?\?/", 3) == 0 ? 3 : 0;
  if (!mark) return 0;
  const size_t blank = strspn(at + mark, " \t\r\f\v");
  return at[mark + blank] == '\n' ? mark + blank + 1 : 0;
}

/* Skips blanks, comments and splices within a line. */
static const char *includes_skip(const char *at) {
  for (size_t length;;) {
    if ((length = includes_splice(at)))
      at += length;
    else if (*at && strchr(" \t\r\f\v", *at))
      at++;
    else if (at[0] == '/' && at[1] == '*')
      at = text_skip_opaque(at);
    else
      return at;
  }
}

/* The length of "#", "%:" or the trigraph of "#" at this place; 0 if none is here. */
static size_t mark_length(const char *at) {
  return *at == '#' ? 1 : strncmp(at, "%:", 2) == 0 ? 2 : strncmp(at, "?\?=", 3) == 0 ? 3 : 0;
}

/* Returns whether a directive may begin here: only blanks or the end of a comment stand before it
   on its line. A carriage return ends a line, too, as for g++. */
static bool may_begin(const char *source, const char *at) {
  while (at > source && strchr(" \t\f\v", at[-1])) at--;
  return at == source || at[-1] == '\n' || at[-1] == '\r' ||
         (at - source >= 2 && at[-1] == '/' && at[-2] == '*');
}

/* Reads the word of a directive without the word's splices. Returns the place behind the word. */
static const char *includes_read_word(const char *at, char *word, size_t size) {
  size_t length = 0, gap;
  for (;; at += gap) {
    for (; isalpha((unsigned char)*at) || *at == '_'; at++)
      if (length + 1 < size) word[length++] = *at;
    if (!(gap = includes_splice(at))) break;
  }
  word[length] = '\0';
  return at;
}

static bool reads_file(const char *word) {
  static const char *const words[] = {"include", "include_next", "import", "embed"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i]) == 0) return true;
  return false;
}

/* Returns whether the argument names a header as includes_check demands; appends the name. */
static bool includes_is_plain(const char *at, struct text *name) {
  const char *end = *at == '<' ? ">\n" : *at == '"' ? "\"\n" : NULL;
  if (!end) return false;
  const size_t length = strcspn(at + 1, end);
  text_add_n(name, at + 1, length);
  const char *plain = text_get(name);
  return at[1 + length] == *end && *plain && *plain != '/' && !strpbrk(plain, "\\?") &&
         !path_has_hidden(plain);
}

int includes_check(const char *source, cugen_error *err) {
  char word[16];
  int status = CUGEN_OK;
  for (const char *at = source; *at && !status; at++) {
    const size_t length = mark_length(at);
    if (!length || !may_begin(source, at)) continue;
    struct text name = {0};
    const char *argument =
        includes_skip(includes_read_word(includes_skip(at + length), word, sizeof word));
    if (reads_file(word) && !includes_is_plain(argument, &name))
      status = error_set(err, CUGEN_ERROR_COMPILE,
                         "the source has #%s %.*s: a header is named in quotes or angle brackets, "
                         "without '..' or a "
                         "hidden name",
                         word, (int)strcspn(argument, "\n"), argument);
    if (name.failed) status = error_memory(err);
    text_free(&name);
  }
  return status;
}
