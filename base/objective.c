/* Objectives; see objective.h. Each word stands for an expression of a cost. */
#include "objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr.h"

const char *const objective_names[OBJECTIVES] = {"time",   "flops",        "bytes",
                                                 "energy", "energy_delay", "expression"};
static const char *const preference_names[PREFERENCES] = {"simplest", "registers", "energy"};

static const char *const word_costs[OBJECTIVE_EXPRESSION] = {"time", "time / flops", "time / bytes",
                                                             "energy", "energy * time"};

/* ---- Reading -------------------------------------------------------------------------------- */

enum { SLOT_TIME, SLOT_ENERGY, SLOT_POWER, SLOT_FLOPS, SLOT_BYTES, SLOTS };
static const char *const names[SLOTS] = {"time", "energy", "power", "flops", "bytes"};

static struct expr_symbol objective_find_name(void *context, const char *name) {
  int slot = 0;
  (void)context;
  while (slot < SLOTS && strcmp(names[slot], name) != 0) slot++;
  return (struct expr_symbol){.kind = slot < SLOTS ? SYMBOL_SLOT : SYMBOL_UNKNOWN, .slot = slot};
}

static const char *const *objective_list_names(void *context, size_t *count) {
  (void)context;
  *count = SLOTS;
  return names;
}

/* Evaluates the expression. Returns false if the expression has no value for `v`. */
static bool objective_evaluate(const struct objective *o, const struct objective_values *v,
                               double *out) {
  const double power = v->seconds > 0 ? v->joules / v->seconds : 0;
  const struct value slots[SLOTS] = {value_float(v->seconds), value_float(v->joules),
                                     value_float(power), value_float(v->flops),
                                     value_float(v->bytes)};
  cugen_error ignored;
  return expr_eval_float(o->cost, slots, out, &ignored) == CUGEN_OK && isfinite(*out);
}

/* Decides whether the expression is a cost or a rate, by its change at one point when the time
   doubles and when the energy doubles. */
static int take_direction(struct objective *o, cugen_error *err) {
  const struct objective_values at = {1e-3, 0.3, 1e12, 1e9}, longer = {2e-3, 0.3, 1e12, 1e9},
                                hotter = {1e-3, 0.6, 1e12, 1e9};
  double now, with_time, with_energy;
  if (!objective_evaluate(o, &at, &now) || !objective_evaluate(o, &longer, &with_time) ||
      !objective_evaluate(o, &hotter, &with_energy) || !(now > 0))
    return error_set(err, CUGEN_ERROR_CONFIG,
                     "objective \"%.80s\" is no number above 0 for a run of 1 ms with 0.3 J, 1e12 "
                     "flops and 1e9 bytes",
                     o->text);
  if (with_time == now && with_energy == now)
    return error_set(err, CUGEN_ERROR_CONFIG,
                     "objective \"%.80s\" depends on neither time nor energy nor power: all "
                     "variants would be alike",
                     o->text);
  o->rate = with_time <= now && with_energy <= now;
  return CUGEN_OK;
}

static int objective_read_text(struct objective *o, const char *text, cugen_error *err) {
  const struct expr_scope scope = {objective_find_name, objective_list_names, NULL};
  int kind = OBJECTIVE_TIME;
  while (kind < OBJECTIVE_EXPRESSION && strcmp(text, objective_names[kind]) != 0) kind++;
  o->kind = (enum objective_kind)kind;
  o->text = strdup(text);
  if (!o->text) return error_memory(err);
  cugen_error why = {0};
  int status =
      expr_parse(kind < OBJECTIVE_EXPRESSION ? word_costs[kind] : text, &scope, &o->cost, &why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  if (status)
    return error_set(
        err, status,
        "objective \"%.80s\": %.900s. It is time, flops, bytes, energy, energy_delay or an "
        "expression of time, energy, power, flops and bytes",
        text, why.message);
  size_t count;
  const int *slots = expr_slots(o->cost, &count);
  for (size_t i = 0; i < count; i++) {
    o->needs_energy |= slots[i] == SLOT_ENERGY || slots[i] == SLOT_POWER;
    o->needs_flops |= slots[i] == SLOT_FLOPS;
    o->needs_bytes |= slots[i] == SLOT_BYTES;
  }
  return kind < OBJECTIVE_EXPRESSION ? CUGEN_OK : take_direction(o, err);
}

int objective_open(const char *text, struct objective **out, cugen_error *err) {
  struct objective *o = calloc(1, sizeof *o);
  *out = NULL;
  int status = o ? objective_read_text(o, text, err) : error_memory(err);
  if (status)
    objective_close(o);
  else
    *out = o;
  return status;
}

void objective_close(struct objective *o) {
  if (!o) return;
  expr_free(o->cost);
  free(o->text);
  free(o);
}

int preference_find(const char *text, enum preference *out, cugen_error *err) {
  int i = 0;
  while (i < PREFERENCES && strcmp(text, preference_names[i]) != 0) i++;
  if (i == PREFERENCES)
    return error_set(err, CUGEN_ERROR_USAGE, "\"%.80s\" is none of simplest, registers, energy",
                     text);
  *out = (enum preference)i;
  return CUGEN_OK;
}

/* ---- Asking --------------------------------------------------------------------------------- */

enum objective_kind objective_kind_of(const struct objective *o) {
  return o ? o->kind : OBJECTIVE_TIME;
}

bool objective_needs_energy(const struct objective *o) {
  return o && o->needs_energy;
}

enum preference objective_prefers(const struct objective *o) {
  return o ? o->prefer : PREFER_SIMPLEST;
}

double objective_cost(const struct objective *o, const struct objective_values *v) {
  double value;
  if (objective_kind_of(o) == OBJECTIVE_TIME) return v->seconds;
  const bool known = !(o->needs_flops && !(v->flops > 0)) && !(o->needs_bytes && !(v->bytes > 0));
  if (o->needs_energy && !(v->joules > 0)) return OBJECTIVE_UNKNOWN * v->seconds;
  if (!known || !objective_evaluate(o, v, &value) || !(value > 0)) return (double)INFINITY;
  return o->rate ? 1 / value : value;
}

double objective_cost_of_time(const struct objective *o, double seconds, double flops,
                              double bytes) {
  const double typical_power = 500; /* watts */
  const struct objective_values values = {seconds, seconds * typical_power, flops, bytes};
  return objective_cost(o, &values);
}

/* Bisects the exponent between 1 ns and 1e6 s, because a cost that depends on the time rises with
   the time. */
double objective_seconds_for(const struct objective *o, double cost, double flops, double bytes) {
  double low = 1e-9, high = 1e6;
  if (objective_kind_of(o) == OBJECTIVE_TIME) return cost;
  if (!(objective_cost_of_time(o, low, flops, bytes) < cost &&
        cost < objective_cost_of_time(o, high, flops, bytes)))
    return 0;
  for (int i = 0; i < 80; i++) {
    const double middle = sqrt(low * high);
    if (objective_cost_of_time(o, middle, flops, bytes) < cost)
      low = middle;
    else
      high = middle;
  }
  return high;
}

bool objective_same_work(const struct objective *o, const struct objective_values *a,
                         const struct objective_values *b) {
  return !o ||
         ((!o->needs_flops || a->flops == b->flops) && (!o->needs_bytes || a->bytes == b->bytes));
}
