/* Explains what a look-up finds: the request, and the comparison of a record with the request. */
#ifndef API_WHY_MATCH_H
#define API_WHY_MATCH_H

#include "api.h"
#include "why.h"

enum { WHY_NEAREST = 3, WHY_ROWS = 96 };

struct why_rows {
  cugen_why_row rows[WHY_ROWS];
  size_t count;
};

/* The request, and the result that was handed out last. */
struct why {
  struct lookup *lookup;
  const char *policy;
  char **strings;
  size_t string_count;
  struct why_rows details[WHY_NEAREST];
  cugen_why_match matches[WHY_NEAREST];
  size_t match_count;
  bool failed;                       /* memory is out */
  struct prediction_key predictions; /* set when the first prediction is compared */
};

/* Frees the last result. */
void why_clear(void *why);

/* Takes over the string and keeps it until the next request. Returns "" and sets why->failed if
   memory is out. */
const char *why_keep(struct why *why, char *string);
const char *why_keepf(struct why *why, const char *format, ...) PRINTF_LIKE(2, 3);

/* Compares a record of the set that `space` names with the request, field by field, and appends the
   comparison and its verdict to why->matches, which must have room. */
int why_explain(struct why *why, const struct cache_space *space, const struct cache_record *record,
                cugen_error *err);

/* Returns the options that the look-up would want in the set of records that `space` names: for
   predictions, those of this version of the model and this device's figures. */
const char *why_wanted_options(struct why *why, const struct cache_space *space);

/* Counts the settings of problem a that b does not have equally. */
size_t why_settings_that_differ(const char *a, const char *b);

#endif
