/* Explains why a look-up finds a record or not. */
#ifndef API_WHY_H
#define API_WHY_H

#include "base/results.h"

/* The result of comparing a wanted value with the recorded one. */
typedef enum cugen_why_state {
  CUGEN_WHY_SAME,
  CUGEN_WHY_DIFFERS,
  CUGEN_WHY_UNKNOWN /* the record does not have the value */
} cugen_why_state;

/* A value that a look-up compares. */
typedef struct cugen_why_row {
  const char *field;          /* "device", "options", "M", "variant", "source", "launches",
                                 "what is passed", ... */
  const char *wanted, *found; /* the value of the kernel now, and the value in the record */
  cugen_why_state state;
  int decides; /* 0: shown only */
} cugen_why_row;

/* A record that the look-up found or nearly found. */
typedef struct cugen_why_match {
  const char *variant;
  const char *verdict; /* a sentence that says why the record is used or not */
  cugen_outcome outcome;
  int predicted; /* the record is a prediction */
  double seconds;
  int64_t measured_at; /* seconds since the epoch */
  const cugen_why_row *rows;
  size_t row_count;
} cugen_why_match;

typedef struct cugen_why {
  int hit;                        /* a current record was found */
  const char *verdict;            /* a sentence or two */
  const char *advice;             /* what to do after a miss, or "" */
  int tune;                       /* the advice is to tune this kernel */
  const cugen_why_match *matches; /* the records found; after a miss the nearest ones, at most
                                     three */
  size_t match_count;
} cugen_why;

/* Explains, value by value, what a look-up of this kernel finds. variant: explain the record of
   this variant (a text as for cugen_kernel_source); NULL: the best. A miss is not an error.
   Everything in *out lives until the next call. */
int api_kernel_why(cugen_kernel *kernel, const char *variant, cugen_why *out, cugen_error *error);

#endif
