/* Prints formulas as C++; see formula_print.h. Parameters are printed as __v_NAME, which no name of
   a config can be. */
#include "formula_print.h"

#include <string.h>

struct writer {
  const struct config *config;
  const struct config_formula *formula;
  struct text name;         /* the name returned last */
  bool index[FORMULA_MOST]; /* for each parameter, whether the body uses it as an index */
};

static void put_element(const struct writer *writer, const struct formula_element *element,
                        struct text *out) {
  const struct config_argument *argument = &writer->config->arguments[element->argument];
  text_addf(out, "__t(%s[", argument->name);
  for (int i = 0; i < argument->rank; i++) {
    text_addf(out, "%s__v_%s", i ? " + " : "", writer->formula->parameters[element->indices[i]]);
    if (argument->rank > 1) text_addf(out, " * %s_stride%d", argument->name, i);
  }
  text_add(out, "])");
}

/* Returns the text of a slot whose value is known only at launch. */
static const char *formula_print_write_slot(void *context, int slot) {
  struct writer *writer = context;
  const struct config *config = writer->config;
  const struct config_formula *formula = writer->formula;
  struct text *out = &writer->name;
  text_clear(out);
  if (slot >= FORMULA_ELEMENT)
    put_element(writer, &formula->elements[slot - FORMULA_ELEMENT], out);
  else if (slot >= FORMULA_SCALAR)
    text_addf(out, "__t(%s)", config->arguments[slot - FORMULA_SCALAR].name);
  else if (slot < config->first_tunable)
    text_addf(out, "__t(%s)", config->problems[slot - config->first_problem].name);
  else if (slot < FORMULA_PARAMETER)
    text_addf(out, "__t(%s)", config->shared_tunables[slot - config->first_tunable].name);
  else if (writer->index[slot - FORMULA_PARAMETER])
    text_addf(out, "__t(__v_%s)", formula->parameters[slot - FORMULA_PARAMETER]);
  else
    text_addf(out, "__v_%s", formula->parameters[slot - FORMULA_PARAMETER]);
  return text_get(out);
}

static void find_indices(struct writer *writer, const struct expr *body) {
  size_t count;
  const int *slots = expr_slots(body, &count);
  for (size_t i = 0; i < count; i++) {
    if (slots[i] < FORMULA_ELEMENT) continue;
    const struct formula_element *element = &writer->formula->elements[slots[i] - FORMULA_ELEMENT];
    for (int d = 0; d < writer->config->arguments[element->argument].rank; d++)
      writer->index[element->indices[d]] = true;
  }
}

int formula_print(const struct config *config, const struct config_formula *formula,
                  const struct value *slots, const bool *known, size_t slot_count,
                  const char *const *arguments, struct text *out, cugen_error *err) {
  struct text body = {0};
  struct expr *bound;
  const char *first = formula->parameters[0];
  struct writer writer = {config, formula, {0}, {false}};
  int status = expr_bind(formula->expr, slots, known, slot_count, &bound, err);
  if (status) return status;
  find_indices(&writer, bound);
  status = expr_print_formula(bound, formula_print_write_slot, &writer, &body, err);
  if (!status) {
    text_add(out, "([&](");
    for (size_t i = 0; i < formula->parameter_count; i++) {
      if (i) text_add(out, ", ");
      if (i == 0 || writer.index[i])
        text_add(out, "auto");
      else
        text_addf(out, "decltype(__v_%s)", first);
      text_addf(out, " __v_%s", formula->parameters[i]);
    }
    text_addf(out, ") -> decltype(__v_%s) { ", first);
    if (strstr(text_get(&body), "__t(")) text_addf(out, "using __t = decltype(__v_%s); ", first);
    text_addf(out, "return %s; }(", text_get(&body));
    for (size_t i = 0; i < formula->parameter_count; i++)
      text_addf(out, "%s(%s)", i ? ", " : "", arguments[i]);
    text_add(out, "))");
    if (body.failed || writer.name.failed || out->failed) status = error_memory(err);
  }
  text_free(&body);
  text_free(&writer.name);
  expr_free(bound);
  return status;
}

void formula_arity(const struct config_formula *formula, size_t count, struct text *out) {
  text_addf(out, "formula %s takes %zu arguments (", formula->name, formula->parameter_count);
  for (size_t i = 0; i < formula->parameter_count; i++)
    text_addf(out, "%s%s", i ? ", " : "", formula->parameters[i]);
  text_addf(out, "), not %zu", count);
}
