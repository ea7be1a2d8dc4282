/* Formulas: scalar functions that a config gives as expressions, printed as C++ for templates and
   references. */
#ifndef GEN_CONFIG_FORMULA_PRINT_H
#define GEN_CONFIG_FORMULA_PRINT_H

#include "config.h"

/* Appends a call of the formula with the C++ text of the arguments, in parentheses. The call is a
   lambda, so that each argument is computed once: an index in its own type, other arguments in the
   type of the first argument. Slots with known[slot] are printed as their values, other slots by
   their names. */
int formula_print(const struct config *config, const struct config_formula *formula,
                  const struct value *slots, const bool *known, size_t slot_count,
                  const char *const *arguments, struct text *out, cugen_error *err);

/* Appends the sentence that reports a formula called with `count`, a wrong number of arguments. */
void formula_arity(const struct config_formula *formula, size_t count, struct text *out);

#endif
