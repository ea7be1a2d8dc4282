/* Checks whether a config uses facts that only a present device can tell. */
#include <stdlib.h>

#include "gen/config/evaluate.h"
#include "lookup.h"
#include "runtime/model/described.h"

/* Returns the name of a fact in the set of bits `facts` that is not known; NULL: all are known. */
static const char *unknown_fact(const struct device_description *device, uint32_t facts) {
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    if (facts >> i & 1 && !described_knows(device, (enum device_fact)i))
      return device_fact_names[i];
  return NULL;
}

static uint32_t facts_of(const struct expr *expr) {
  size_t count;
  uint32_t facts = 0;
  const int *slots = expr_slots(expr, &count);
  for (size_t i = 0; i < count && slots[i] < DEVICE_FACT_COUNT; i++) facts |= 1U << slots[i];
  return facts;
}

/* Returns whether the problem, or a known fact of the device, rules the implementation out, so that
   the implementation's other facts do not matter. */
static bool is_ruled_out(const struct config *config, const struct problem *problem,
                         const struct device_description *device,
                         const struct config_implementation *implementation) {
  struct value *slots = calloc((size_t)config->first_tunable + 1, sizeof *slots);
  bool out = false;
  if (!slots) return false;
  config_slots(config, problem, &device->facts, slots);
  for (size_t i = 0; i < implementation->requirement_count && !out; i++) {
    const struct expr *expr = implementation->requirements[i].expr;
    bool met = true;
    out = !unknown_fact(device, facts_of(expr)) &&
          expr_eval_bool(expr, slots, &met, NULL) == CUGEN_OK && !met;
  }
  free(slots);
  return out;
}

static int refuse_fact(const struct config *config, const char *name, const char *text,
                       cugen_error *err) {
  return error_set(
      err, CUGEN_ERROR_USAGE,
      "%s: the config uses %s, which only the device itself can tell, and %s is not here. Run this "
      "on a machine that has it, or name a described GPU ('cugen devices')",
      config->path, name, text);
}

int api_check_facts(const struct config *config, const struct problem *problem,
                    const struct device_description *device, const char *text, cugen_error *err) {
  const char *name = NULL;
  for (size_t i = 0; i < config->implementation_count && !name; i++) {
    const struct config_implementation *implementation = &config->implementations[i];
    if (!is_ruled_out(config, problem, device, implementation))
      name = unknown_fact(device, implementation->facts);
  }
  if (!name) name = unknown_fact(device, config->facts);
  return name ? refuse_fact(config, name, text, err) : CUGEN_OK;
}

int api_check_read_facts(const struct config *config, const struct expander *expander,
                         const struct device_description *device, const char *text,
                         cugen_error *err) {
  size_t count;
  uint32_t facts = 0;
  const bool *reads = expander_reads(expander, &count);
  for (size_t i = 0; i < DEVICE_FACT_COUNT; i++) facts |= (uint32_t)reads[i] << i;
  const char *name = unknown_fact(device, facts);
  return name ? refuse_fact(config, name, text, err) : CUGEN_OK;
}
