/* The choice of a plan as bytes, which are lines of text, beginning with a version and ending with
   a checksum. Several choices may follow each other. */
#ifndef API_CHOICE_H
#define API_CHOICE_H

#include "base/error.h"
#include "base/text.h"

/* The fields, one per line in this order: name, whether the field may be empty. */
#define CHOICE_FIELDS(X)                                                                           \
  X(kernel, false)                                                                                 \
  X(problem, true)                                                                                 \
  X(variant, false)                                                                                \
  X(target, false)    /* "cuda sm_90a" */                                                          \
  X(source, false)    /* hash of the expanded source */                                            \
  X(launches, false)  /* hash of the launches */                                                   \
  X(arguments, false) /* hash of the arguments */

struct choice {
#define FIELD(name, empty) char *name;
  CHOICE_FIELDS(FIELD)
#undef FIELD
};

enum { CHOICE_MOST_BYTES = 1 << 16 };

void choice_print(const struct choice *choice, struct text *out);
/* Parses the first choice in `length` bytes; *used becomes the choice's length. CUGEN_ERROR_CACHE:
   the bytes are not a choice, damaged, of another format version, or more than CHOICE_MOST_BYTES.
   choice_free frees the strings. */
int choice_parse(const char *bytes, size_t length, struct choice *out, size_t *used,
                 cugen_error *err);
void choice_free(struct choice *choice);

#endif
