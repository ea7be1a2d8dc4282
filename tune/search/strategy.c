/* Finds strategies in the table of strategy.h. */
#include "strategy.h"

#include <string.h>

#include "base/text.h"

#define X(name) &strategy_##name,
static const struct strategy_ops *const table[] = {STRATEGIES(X)};
#undef X

enum { KNOWN_PER_AHEAD = 8 }; /* so many known results allow one more variant */

size_t strategy_ahead(size_t busy, uint64_t known, size_t most) {
  const uint64_t ahead = busy + known / KNOWN_PER_AHEAD;
  return ahead < most ? (size_t)ahead : most;
}

const struct strategy_ops *strategy_at(size_t index) {
  return index < sizeof table / sizeof *table ? table[index] : NULL;
}

int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err) {
  enum { COUNT = sizeof table / sizeof *table };
  const char *names[COUNT];
  *out = NULL;
  if (!name) name = table[0]->name;
  for (size_t i = 0; i < COUNT; i++) {
    names[i] = table[i]->name;
    if (strcmp(names[i], name) == 0) *out = table[i];
  }
  if (*out) return CUGEN_OK;
  const char *nearest = text_nearest(name, names, COUNT);
  error_set(err, CUGEN_ERROR_USAGE, "no strategy is called '%.100s'", name);
  if (nearest) error_append(err, " (nearest '%s')", nearest);
  for (size_t i = 0; i < COUNT; i++)
    error_append(err, "%s '%s'", i ? "," : "; there are", names[i]);
  return CUGEN_ERROR_USAGE;
}
