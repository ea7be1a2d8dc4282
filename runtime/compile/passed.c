/* Finding names that are not constants; see passed.h. The prologue defines a value that is
   computed from a passed size as a macro over the kernel's parameter: `#define items
   ((index_t)((((long long)cols) + 255) / 256))`. */
#include "passed.h"

#include <string.h>

#include "base/source_place.h"
#include "base/text.h"

static const char *word_end(const char *at) {
  while (text_is_word(*at)) at++;
  return at;
}

static bool passed_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/* Returns whether the word is a by-value parameter in the head of a kernel [list, end): "index_t
   cols,". */
static bool is_parameter(const char *list, const char *end, const char *word, size_t length) {
  for (const char *at = list; (at = memmem(at, (size_t)(end - at), word, length)); at += length) {
    const char *before = at, *behind = at + length;
    while (before > list && passed_is_blank(before[-1])) before--;
    while (behind < end && passed_is_blank(*behind)) behind++;
    if (before < at && text_is_word(before[-1]) && (*behind == ',' || *behind == ')')) return true;
  }
  return false;
}

/* Returns whether any kernel has the word as a by-value parameter. */
static bool is_passed(const char *source, const char *word, size_t length) {
  static const char mark[] = "__global__";
  for (const char *at = source; (at = strstr(at, mark)); at += sizeof mark - 1)
    if (is_parameter(at, at + strcspn(at, "{;"), word, length)) return true;
  return false;
}

/* Returns the expression that the prologue defines the word as; NULL: there is none. The
   definitions follow the last #line of the prologue; a source without that #line begins with
   them. */
static const char *definition(const char *source, const char *word, size_t length) {
  static const char mark[] = "#define ", prologue[] = "#line 1 \"" SOURCE_PROLOGUE "\"\n";
  const char *begin = source;
  for (const char *at = source; (at = strstr(at, prologue));) begin = at += sizeof prologue - 1;
  const char *end = strstr(begin, "\n#line ");
  for (const char *at = begin; end && at < end; at += strcspn(at, "\n"), at += *at == '\n') {
    const char *name = at + sizeof mark - 1;
    if (strncmp(at, mark, sizeof mark - 1) == 0 && strncmp(name, word, length) == 0 &&
        name[length] == ' ')
      return name + length;
  }
  return NULL;
}

static bool is_derived(const char *source, const char *word, size_t length, struct passed *out) {
  const char *at = definition(source, word, length);
  for (; at && *at && *at != '\n'; at++) {
    const size_t size = (size_t)(word_end(at) - at);
    if (!size) continue;
    *out = (struct passed){word, at, length, size};
    if (is_passed(source, at, size)) return true;
    at += size - 1;
  }
  return false;
}

bool passed_find(const char *source, const char *at, const char *end, struct passed *out) {
  int brackets = *at == '#'; /* in a directive, any word counts as if in brackets */
  while (at < end) {
    const char *past = text_skip_opaque(at);
    const size_t length = past == at ? (size_t)(word_end(at) - at) : 0;
    if (length && is_derived(source, at, length, out)) return true;
    if (length && brackets > 0 && is_passed(source, at, length)) {
      *out = (struct passed){at, at, length, length};
      return true;
    }
    brackets += (*at == '[') - (*at == ']');
    at = length ? at + length : past == at ? at + 1 : past;
  }
  return false;
}
