/* A growable text buffer; see text.h. */
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `extra` more bytes and the final NUL. */
static bool text_reserve(struct text *text, size_t extra) {
  if (text->failed) return false;
  if (extra > SIZE_MAX / 2 - text->length) {
    text->failed = true;
    return false;
  }
  size_t need = text->length + extra + 1;
  if (need <= text->capacity) return true;
  size_t capacity = text->capacity ? text->capacity : 64;
  while (capacity < need) capacity *= 2;
  char *data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void text_add_n(struct text *text, const char *bytes, size_t length) {
  if (!text_reserve(text, length)) return;
  if (length) memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void text_cut(struct text *text, size_t length) {
  if (text->failed || length >= text->length) return;
  text->length = length;
  text->data[length] = '\0';
}

void text_add(struct text *text, const char *string) {
  text_add_n(text, string, strlen(string));
}

void text_add_char(struct text *text, char c) {
  text_add_n(text, &c, 1);
}

void text_add_count(struct text *text, uint64_t n) {
  char digits[24];
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) text_add_char(text, ',');
    text_add_char(text, digits[i]);
  }
}

void text_vaddf(struct text *text, const char *format, va_list args) {
  if (!text_reserve(text, 0)) return;
  const size_t room = text->capacity - text->length;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(text->data + text->length, room, format, args);
  if (length >= 0 && (size_t)length >= room)
    length = text_reserve(text, (size_t)length)
                 ? vsnprintf(text->data + text->length, (size_t)length + 1, format, again)
                 : -1;
  va_end(again);
  if (length >= 0)
    text->length += (size_t)length;
  else
    text->failed = true;
  text->data[text->length] = '\0'; /* an addition that failed is not added in part */
}

void text_addf(struct text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vaddf(text, format, args);
  va_end(args);
}

size_t text_character(const char *at, size_t left) {
  const unsigned char *text = (const unsigned char *)at;
  size_t length = *text < 0x80 ? 1 : *text < 0xc2 ? 0 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;
  if (*text >= 0xf5 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  if (length == 3 && ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f)))
    return 0;
  if (length == 4 && ((text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f)))
    return 0;
  return length;
}

/* Returns whether a character controls a terminal: C0 without newline and tab, DEL and C1, the
   marks of Unicode's bidirectional algorithm (annex 9), and Unicode's line separators. */
static bool steers(unsigned c) {
  if (c < 0x20) return c != '\n' && c != '\t';
  return (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static unsigned code_point(const char *at, size_t length) {
  const unsigned char *text = (const unsigned char *)at;
  unsigned c = length == 1 ? *text : *text & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) c = c << 6 | (text[i] & 0x3fu);
  return c;
}

/* Appends \u and four digits for a character, or \x and two digits for a byte. */
static void add_escape(struct text *text, bool character, unsigned c) {
  char escape[] = {'\\', character ? 'u' : 'x', 0, 0, 0, 0};
  size_t length = character ? 6 : 4;
  for (size_t i = length; i > 2; c >>= 4) escape[--i] = "0123456789abcdef"[c & 15];
  text_add_n(text, escape, length);
}

void text_add_clean(struct text *text, const char *bytes, size_t length) {
  size_t written = 0;
  for (size_t at = 0, size; at < length; at += size) {
    size = text_character(bytes + at, length - at);
    const unsigned c = size ? code_point(bytes + at, size) : (unsigned char)bytes[at];
    if (size && !steers(c)) continue;
    text_add_n(text, bytes + written, at - written);
    add_escape(text, size > 0, c);
    size += !size;
    written = at + size;
  }
  text_add_n(text, bytes + written, length - written);
}

void text_clear(struct text *text) {
  text->length = 0;
  if (text->data) text->data[0] = '\0';
}

void text_restart(struct text *text) {
  text_clear(text);
  text->failed = false;
}

void text_free(struct text *text) {
  free(text->data);
  *text = (struct text){0};
}

const char *text_get(const struct text *text) {
  return text->data ? text->data : "";
}

char *text_take(struct text *text) {
  if (text->failed) {
    text_free(text);
    return NULL;
  }
  text_add_n(text, "", 0); /* so that an empty text is "" and not NULL */
  char *data = text->failed ? NULL : text->data;
  if (!data) free(text->data);
  *text = (struct text){0};
  return data;
}

enum { LONGEST_NAME = 64 };

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static bool same_letter(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Counts the letters to insert, drop, change or swap with their neighbour (optimal string alignment
   distance), ignoring case. Both names have at most LONGEST_NAME letters. */
static size_t edit_distance(const char *a, const char *b) {
  size_t n = strlen(b), rows[3][LONGEST_NAME + 1];
  for (size_t j = 0; j <= n; j++) rows[0][j] = j;
  size_t i = 0;
  for (; a[i]; i++) {
    const size_t *above = rows[i % 3], *second = rows[(i + 2) % 3];
    size_t *row = rows[(i + 1) % 3];
    row[0] = i + 1;
    for (size_t j = 0; j < n; j++) {
      row[j + 1] = least(above[j] + !same_letter(a[i], b[j]), least(row[j], above[j + 1]) + 1);
      bool swapped = i && j && same_letter(a[i], b[j - 1]) && same_letter(a[i - 1], b[j]);
      if (swapped) row[j + 1] = least(row[j + 1], second[j - 1] + 1);
    }
  }
  return rows[i % 3][n];
}

/* A name is near if at most a third of its letters (at least one) differ, but not if all differ. */
const char *text_nearest(const char *name, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t length = strlen(name), limit = length < 6 ? 1 : length / 3;
  if (length > LONGEST_NAME) return NULL;
  for (size_t i = 0; i < count; i++) {
    size_t other = strlen(names[i]);
    /* a lower bound of the distance */
    size_t apart = length > other ? length - other : other - length;
    if (other > LONGEST_NAME || apart > limit) continue;
    size_t distance = edit_distance(name, names[i]);
    if (distance > limit || distance >= (length > other ? length : other) ||
        (best && distance == limit))
      continue;
    limit = distance;
    best = names[i];
  }
  return best;
}

bool text_is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

const char *text_skip_opaque(const char *at) {
  if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
  if (at[0] == '/' && at[1] == '*') {
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
  }
  if (*at != '"' && *at != '\'') return at;
  for (const char *end = at + 1; *end && *end != '\n'; end++) {
    if (*end == '\\' && end[1])
      end++;
    else if (*end == *at)
      return end + 1;
  }
  return at + 1;
}
