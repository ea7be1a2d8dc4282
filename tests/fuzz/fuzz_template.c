/* Fuzz target: any bytes as a template. Parsing ends and gives one line of Lua for each line of
   the template, and the normal form of a text is its own normal form. Neither Lua nor a compiler
   is run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gen/sources/source_text.h"
#include "gen/template/template.h"

static void require(bool condition) {
  if (!condition) abort();
}

static size_t count_lines(const char *text, size_t length) {
  size_t lines = 0;
  for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
  return lines;
}

static void check_template(const struct template *template, const char *data, size_t size) {
  size_t lines = count_lines(data, size), last = size > 0 && data[size - 1] == '\n';
  require(count_lines(text_get(&template->lua), template->lua.length) == lines - last);
  size_t literal = 0;
  for (size_t i = 0; i < template->fragment_count; i++) {
    require(template->fragments[i].at == literal);
    literal += template->fragments[i].length;
  }
  require(literal == template->literal.length);
  for (size_t i = 0; i < template->piece_count; i++)
    require(template->pieces[i].first + template->pieces[i].expressions < template->fragment_count);
}

/* Returns whether no token can become part of another one when the text around it is removed:
   there is no lone quote or backslash, and no backslash at the end of a line. */
static bool regular(const char *data, size_t size) {
  struct source_reader reader = {data, data + size};
  for (struct source_token token = source_next(&reader); token.kind != SOURCE_END;
       token = source_next(&reader)) {
    if (token.kind == SOURCE_SPLICE) return false;
    if (token.kind == SOURCE_MARK && memchr("\"'\\", *token.at, 3)) return false;
  }
  return true;
}

static void check_normal_form(const char *data, size_t size) {
  struct text once = {0}, twice = {0};
  source_normalise(data, size, &once);
  require(once.length <= size + 1);
  source_normalise(text_get(&once), once.length, &twice);
  bool equal =
      once.length == twice.length && memcmp(text_get(&once), text_get(&twice), once.length) == 0;
  require(equal || !regular(data, size));
  text_free(&once);
  text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  /* A copy of exactly this size, so that a sanitizer sees a read past its end. */
  char *data = calloc(size ? size : 1, 1);
  if (!data) return 0;
  if (size) memcpy(data, bytes, size);
  struct template *template;
  cugen_error err;
  if (template_parse("t.cu", data, size, &template, &err) == CUGEN_OK) {
    check_template(template, data, size);
    check_normal_form(text_get(&template->literal), template->literal.length);
    template_free(template);
  }
  check_normal_form(data, size);
  free(data);
  return 0;
}
