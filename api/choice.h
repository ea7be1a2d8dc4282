/* A plan's choice as bytes: which variant of which kernel, for which problem and target. Lines of text with a version in front and a
   checksum at the end, so that a person can read them and damage is found. Several may stand one after another. */
#ifndef API_CHOICE_H
#define API_CHOICE_H

#include "base/error.h"
#include "base/text.h"

/* name, whether it may be empty: a line each, in this order. */
#define CHOICE_FIELDS(X)                                                                                             \
  X(kernel, false)                                                                                                   \
  X(problem, true)                                                                                                   \
  X(variant, false)                                                                                                  \
  X(target, false)    /* "cuda sm_90a" */                                                                            \
  X(source, false)    /* hashes of what the variant expands to: its source, */                                       \
  X(launches, false)  /* its launches, */                                                                            \
  X(arguments, false) /* and its arguments */

struct choice {
#define FIELD(name, empty) char *name;
  CHOICE_FIELDS(FIELD)
#undef FIELD
};

enum { CHOICE_MOST_BYTES = 1 << 16 };

void choice_print(const struct choice *choice, struct text *out);
/* The first one in `length` bytes; *used: how many it takes. CUGEN_ERROR_CACHE: it is none, or damaged, or of a newer cugen. The strings
   are freed by choice_free. */
int choice_parse(const char *bytes, size_t length, struct choice *out, size_t *used, cugen_error *err);
void choice_free(struct choice *choice);

#endif
