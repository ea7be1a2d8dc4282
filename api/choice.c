/* Reads and writes choices; see choice.h. Printing a parsed choice gives the same bytes. */
#include "choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const char head[] = "cugen choice ", version[] = "1", end[] = "end ";

void choice_print(const struct choice *choice, struct text *out) {
  const size_t begin = out->length;
  text_addf(out, "%s%s\n", head, version);
#define FIELD(name, empty) text_addf(out, #name " %s\n", choice->name);
  CHOICE_FIELDS(FIELD)
#undef FIELD
  if (out->failed) return;
  const struct hash checksum = hash_bytes(text_get(out) + begin, out->length - begin);
  text_addf(out, "%s%s\n", end, checksum.hex);
}

void choice_free(struct choice *choice) {
#define FIELD(name, empty) free(choice->name);
  CHOICE_FIELDS(FIELD)
#undef FIELD
  *choice = (struct choice){0};
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct reader {
  const char *at, *stop;
  cugen_error *err;
};

static int choice_refuse(const struct reader *reader, const char *why) {
  return error_set(reader->err, CUGEN_ERROR_CACHE, "not a choice that cugen_plan_save wrote: %s",
                   why);
}

/* Returns the rest of the line behind `word`; NULL if the line begins otherwise or has no end. */
static const char *choice_take_line(struct reader *reader, const char *word, size_t *length) {
  const size_t left = (size_t)(reader->stop - reader->at), skip = strlen(word);
  const char *newline = left > skip ? memchr(reader->at, '\n', left) : NULL;
  if (!newline || (size_t)(newline - reader->at) < skip || memcmp(reader->at, word, skip) != 0)
    return NULL;
  const char *rest = reader->at + skip;
  *length = (size_t)(newline - rest);
  reader->at = newline + 1;
  return rest;
}

static int choice_read_head(struct reader *reader) {
  size_t length;
  const char *text = choice_take_line(reader, head, &length);
  if (!text) return choice_refuse(reader, "it does not begin like one");
  if (length == strlen(version) && memcmp(text, version, length) == 0) return CUGEN_OK;
  if (length && text[length - 1] == '\r')
    return choice_refuse(reader, "its lines end in CR LF; have them end in LF alone");
  return error_set(reader->err, CUGEN_ERROR_CACHE,
                   "the choice has format '%.*s', this cugen reads format %s",
                   (int)(length < 20 ? length : 20), text, version);
}

static int choice_read_field(struct reader *reader, const char *word, bool may_be_empty,
                             char **out) {
  size_t length;
  const char *text = choice_take_line(reader, word, &length);
  if (!text || (!length && !may_be_empty)) return choice_refuse(reader, "a line is damaged");
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < ' ' || text[i] == 127)
      return choice_refuse(reader, "a line is damaged");
  *out = strndup(text, length);
  return *out ? CUGEN_OK : error_memory(reader->err);
}

int choice_parse(const char *bytes, size_t length, struct choice *out, size_t *used,
                 cugen_error *err) {
  struct reader reader = {bytes, bytes + (length < CHOICE_MOST_BYTES ? length : CHOICE_MOST_BYTES),
                          err};
  *out = (struct choice){0};
  *used = 0;
  int status = choice_read_head(&reader);
#define FIELD(name, empty)                                                                         \
  if (!status) status = choice_read_field(&reader, #name " ", empty, &out->name);
  CHOICE_FIELDS(FIELD)
#undef FIELD
  if (!status) {
    const struct hash checksum = hash_bytes(bytes, (size_t)(reader.at - bytes));
    size_t digits;
    const char *text = choice_take_line(&reader, end, &digits);
    if (!text || digits != strlen(checksum.hex) || memcmp(text, checksum.hex, digits) != 0)
      status = choice_refuse(&reader, "it is damaged, since its checksum is another; save the "
                                      "choice again, or keep its bytes as they are");
  }
  if (status)
    choice_free(out);
  else
    *used = (size_t)(reader.at - bytes);
  return status;
}
