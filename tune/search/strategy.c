/* The strategies there are; see strategy.h. The first is the default. A new one is a file beside this one and a row here. */
#include "strategy.h"

#include <string.h>

static const struct strategy_ops *const table[] = {&strategy_surrogate,    &strategy_portfolio, &strategy_local,
                                                   &strategy_evolutionary, &strategy_random,    &strategy_exhaustive};

const struct strategy_ops *strategy_at(size_t index) {
  return index < sizeof table / sizeof *table ? table[index] : NULL;
}

int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err) {
  const struct strategy_ops *ops;
  *out = NULL;
  if (!name) name = table[0]->name;
  for (size_t i = 0; (ops = strategy_at(i)); i++)
    if (strcmp(ops->name, name) == 0) *out = ops;
  if (*out) return CUGEN_OK;
  error_set(err, CUGEN_ERROR_USAGE, "no strategy is called '%s'; there are", name);
  for (size_t i = 0; (ops = strategy_at(i)); i++) error_append(err, "%s '%s'", i ? "," : "", ops->name);
  return CUGEN_ERROR_USAGE;
}
