/* The libraries, and the text of their calls: a line for the library and its build, then a line for
   each field,
     library cublasLt 1f0e...
     a f16 row 2 4096 512 512 1
     batch 1
   where an argument has its type, its order, its rank, its shape and its strides. See library.h. */
#include "library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cublaslt_files[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};

static const struct library_field cublaslt_fields[] = {
#define X(name, ...) {#name, __VA_ARGS__},
    CUBLASLT_FIELDS(X)
#undef X
};
_Static_assert((int)CUBLASLT_FIELD_COUNT <= (int)LIBRARY_MOST_FIELDS,
               "a call has room for all fields");

const struct library libraries[LIBRARY_COUNT] = {
    [LIBRARY_cublasLt] = {"cublasLt", cublaslt_files, cublaslt_fields, CUBLASLT_FIELD_COUNT}};

enum library_id library_find(const char *name) {
  int i = 0;
  while (i < LIBRARY_COUNT && strcmp(libraries[i].name, name) != 0) i++;
  return (enum library_id)i;
}

/* Finds the word with this number (-1: none), or the word of these bytes (NULL: none), and appends
   the word to *out unless out is NULL. Returns its number, or -1. */
static int find_word(const char *words, int number, const char *word, size_t length,
                     struct text *out) {
  for (int i = 0; *words; i++) {
    const size_t own = strcspn(words, " ");
    if (number == i || (word && own == length && memcmp(words, word, length) == 0)) {
      if (out) text_add_n(out, words, own);
      return i;
    }
    words += own + (words[own] == ' ');
  }
  return -1;
}

int library_word(const struct library_field *field, const char *word) {
  return find_word(field->words, -1, word, strlen(word), NULL);
}

/* ---- Printing ------------------------------------------------------------------------------- */

static bool is_argument(const struct library_field *field) {
  return field->kind == LIBRARY_BUFFER || field->kind == LIBRARY_SCALAR;
}

void library_call_print(const struct library_call *call, struct text *out) {
  const struct library *library = &libraries[call->library];
  text_addf(out, "library %s %016" PRIx64 "\n", library->name, call->build);
  for (size_t f = 0; f < library->field_count; f++) {
    const struct library_field *field = &library->fields[f];
    const struct library_value *value = &call->values[f];
    if (is_argument(field) && !value->dtype) continue;
    text_add(out, field->name);
    if (is_argument(field)) {
      text_addf(out, " %s %s %d", value->dtype->name, value->columns ? "col" : "row", value->rank);
      for (int i = 0; i < value->rank; i++) text_addf(out, " %" PRId64, value->shape[i]);
      for (int i = 0; i < value->rank; i++) text_addf(out, " %" PRId64, value->stride[i]);
    } else if (field->kind == LIBRARY_WORD) {
      text_add_char(out, ' ');
      find_word(field->words, (int)value->number, NULL, 0, out);
    } else {
      text_addf(out, " %" PRId64, value->number);
    }
    text_add_char(out, '\n');
  }
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct words {
  const char *at, *end; /* of the text */
};

static void skip_comments(struct words *w) {
  while (w->end - w->at > 1 && w->at[0] == '/' && w->at[1] == '/') {
    const char *newline = memchr(w->at, '\n', (size_t)(w->end - w->at));
    w->at = newline ? newline + 1 : w->end;
  }
}

/* Takes the next word into `out`, which becomes "" at the end and for a word that is too long. */
static const char *take(struct words *w, char out[32]) {
  size_t length = 0;
  while (w->at < w->end && (*w->at == ' ' || *w->at == '\n')) w->at++;
  while (&w->at[length] < w->end && w->at[length] != ' ' && w->at[length] != '\n') length++;
  const size_t kept = length < 32 ? length : 0;
  memcpy(out, w->at, kept);
  out[kept] = '\0';
  w->at += length;
  return out;
}

static bool take_number(struct words *w, int64_t *out) {
  char word[32], *end;
  *out = strtoll(take(w, word), &end, 10);
  return *word && !*end;
}

static bool take_argument(struct words *w, struct library_value *out) {
  char word[32];
  int64_t rank = -1;
  out->dtype = dtype_find(take(w, word));
  out->columns = strcmp(take(w, word), "col") == 0;
  bool good = out->dtype && (out->columns || strcmp(word, "row") == 0) && take_number(w, &rank) &&
              rank >= 0 && rank <= KERNEL_MAX_RANK;
  out->rank = good ? (int)rank : 0;
  for (int i = 0; i < out->rank; i++)
    good = good && take_number(w, &out->shape[i]) && out->shape[i] > 0;
  for (int i = 0; i < out->rank; i++)
    good = good && take_number(w, &out->stride[i]) && out->stride[i] > 0;
  return good;
}

static bool take_value(struct words *w, const struct library_field *field,
                       struct library_value *out) {
  char word[32];
  if (is_argument(field)) return take_argument(w, out);
  if (field->kind == LIBRARY_NUMBER) return take_number(w, &out->number);
  out->number = library_word(field, take(w, word));
  return out->number >= 0;
}

/* The fields stand in the order of the table; an argument that is not needed may be left out. */
static bool take_fields(struct words *w, const struct library *library, struct library_call *out) {
  char word[32];
  take(w, word);
  for (size_t i = 0; i < library->field_count; i++) {
    const struct library_field *field = &library->fields[i];
    if (strcmp(word, field->name) == 0) {
      if (!take_value(w, field, &out->values[i])) return false;
      take(w, word);
    } else if (field->needed || !is_argument(field)) {
      return false;
    }
  }
  return !*word && w->at == w->end;
}

bool library_call_is(const char *text, size_t length) {
  static const char begin[] = "library ";
  struct words w = {text, text + length};
  skip_comments(&w);
  return (size_t)(w.end - w.at) >= sizeof begin - 1 && memcmp(w.at, begin, sizeof begin - 1) == 0;
}

int library_call_parse(const char *text, size_t length, struct library_call *out,
                       cugen_error *err) {
  struct words w = {text, text + length};
  char word[32], *end = word;
  *out = (struct library_call){0};
  skip_comments(&w);
  take(&w, word);
  bool good = strcmp(word, "library") == 0;
  out->library = library_find(take(&w, word));
  good = good && out->library < LIBRARY_COUNT;
  out->build = strtoull(take(&w, word), &end, 16);
  good = good && *word && !*end && take_fields(&w, &libraries[out->library], out);
  return good ? CUGEN_OK
              : error_set(err, CUGEN_ERROR_CONFIG,
                          "this is no call of a library as this cugen writes it: tune again");
}
