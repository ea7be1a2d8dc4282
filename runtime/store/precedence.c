/* Whether two records of a variant are the same measurement, and which takes precedence; see
   engine.h. */
#include <math.h>
#include <string.h>

#include "engine.h"

static bool same_column(const struct cache_record *a, const struct cache_record *b, int column) {
  char outputs[2][OUTPUTS_TEXT];
  const struct cache_value x = cache_value_of(a, column, outputs[0]),
                           y = cache_value_of(b, column, outputs[1]);
  switch (x.kind) {
  /* Reasons are not compared, because some of their characters do not survive a text file. */
  case CACHE_TEXT: return column == CACHE_COLUMN_reason || strcmp(x.text, y.text) == 0;
  case CACHE_WHOLE: return x.whole == y.whole;
  case CACHE_REAL: break;
  }
  return isnan(x.real) ? isnan(y.real) : x.real == y.real;
}

bool cache_records_equal(const struct cache_record *a, const struct cache_record *b) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (!same_column(a, b, i)) return false;
  return true;
}

static int precedence_rank(const struct cache_record *record) {
  if (cache_record_is_refuted(record)) return 0;
  return record->outcome == CUGEN_OUTCOME_OK ? 1 : 2;
}

bool cache_record_goes_first(const struct cache_record *new, const struct cache_record *old) {
  if (old->wrong) return true;
  if (strcmp(new->hash.hex, old->hash.hex) != 0) return new->measured_at > old->measured_at;
  if (precedence_rank(new) != precedence_rank(old))
    return precedence_rank(new) < precedence_rank(old);
  if (new->outcome != CUGEN_OUTCOME_OK) return new->measured_at > old->measured_at;
  if (new->outputs.varies != old->outputs.varies) return new->outputs.varies;
  if (new->seconds == old->seconds)
    return new->verdict == CACHE_RIGHT && old->verdict != CACHE_RIGHT;
  return new->seconds < old->seconds;
}
