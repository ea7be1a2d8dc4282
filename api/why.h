/* Why a look-up finds what it finds: what is asked, and the comparison of one record with it. */
#ifndef CUGEN_API_WHY_H
#define CUGEN_API_WHY_H

#include "api.h"

enum { WHY_NEAREST = 3, WHY_ROWS = 96 };

struct why_rows {
  cugen_why_row rows[WHY_ROWS];
  size_t count;
};

/* What is asked, and what was handed out of it last. */
struct why {
  struct lookup *lookup;
  const char *policy;
  char **strings;
  size_t string_count, string_capacity;
  struct why_rows details[WHY_NEAREST];
  cugen_why_match matches[WHY_NEAREST];
  size_t match_count;
  bool failed;                       /* for want of memory */
  struct prediction_key predictions; /* filled with the first prediction looked at */
};

/* What was handed out last goes. */
void why_clear(void *why);

/* Takes the string over; what is returned stays until the next question. "", and why->failed: no memory. */
const char *why_keep(struct why *why, char *string);
const char *why_keepf(struct why *why, const char *format, ...) PRINTF_LIKE(2, 3);

/* Compares a record of that place with what is asked, field by field, and puts that and its verdict behind why->matches, which
   must have room. */
int why_explain(struct why *why, const struct cache_space *space, const struct cache_record *record,
                cugen_error *err);

/* What the look-up would want of the place's options: of a prediction that it is by the same model from the same figures. */
const char *why_wanted_options(struct why *why, const struct cache_space *space);

/* How many settings of problem a are not the same in b. */
size_t why_settings_that_differ(const char *a, const char *b);

#endif
