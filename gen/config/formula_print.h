/* Formulas: scalar functions that a config gives as expressions, written as C++ for templates and references alike. */
#ifndef GEN_CONFIG_FORMULA_PRINT_H
#define GEN_CONFIG_FORMULA_PRINT_H

#include "config.h"

/* Appends a call of the formula with the arguments' C++ text, in parentheses: a lambda, so that each argument is computed
   once, in the type of the first one. Slots with known[slot] are put in; the others are parameters of the kernel. */
int formula_print(const struct config *config, const struct config_formula *formula, const struct value *slots,
                  const bool *known, size_t slot_count, const char *const *arguments, struct text *out,
                  cugen_error *err);

/* formula(argument, ...) with the wrong number of arguments: appends the sentence that says so. */
void formula_arity(const struct config_formula *formula, size_t count, struct text *out);

#endif
