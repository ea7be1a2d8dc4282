/* The space of a config, and its variants; see space.h. */
#include "space.h"

#include <stdlib.h>
#include <string.h>

#include "gen/config/evaluate.h"
#include "walk.h"

/* ---- Opening -------------------------------------------------------------------------------- */

/* Finds the first requirement that the device or the problem does not meet. */
static int check_requirements(const struct config_implementation *implementation,
                              const struct value *slots, const struct config_requirement **unmet,
                              cugen_error *err) {
  for (size_t i = 0; i < implementation->requirement_count && !*unmet; i++) {
    const struct config_requirement *requirement = &implementation->requirements[i];
    bool met;
    int status = expr_eval_bool(requirement->expr, slots, &met, err);
    if (status) {
      config_prefix(err, requirement->line, "requires");
      return status;
    }
    if (!met) *unmet = requirement;
  }
  return CUGEN_OK;
}

static void space_trim(struct rows *rows) {
  if (rows->count == 0) return;
  uint64_t *ranks = realloc(rows->ranks, rows->count * sizeof *ranks);
  if (ranks) rows->ranks = ranks;
  rows->capacity = rows->count;
}

static int space_walk(struct domain *domain, struct rows *rows, struct effort *effort,
                      cugen_error *err) {
  uint64_t *removed = calloc(domain->rule_count + 1, sizeof *removed);
  int status = removed ? domain_walk(domain, NULL, rows, removed, effort, err) : error_memory(err);
  for (size_t i = 0; i < domain->rule_count && !status; i++) domain->listed[i].removed = removed[i];
  free(removed);
  return status;
}

/* Sets *out to whether the filter has `implementation` or `variant` and admits a valid variant. */
static int is_named(struct domain *domain, const cugen_filter *filter, struct effort *effort,
                    bool *out, cugen_error *err) {
  struct rows rows = {.limit = SPACE_MAX_ROWS};
  *out = false;
  if (!filter || !(filter->implementation || filter->variant)) return CUGEN_OK;
  const int status = space_walk(domain, &rows, effort, err);
  *out = rows.count > 0;
  free(rows.ranks);
  return status;
}

static int open_implementation(struct space *space, size_t index, const struct value *slots,
                               const struct device_facts *facts, const cugen_filter *filter,
                               cugen_error *err) {
  const struct config_implementation *implementation = &space->config->implementations[index];
  struct space_implementation *out = &space->implementations[index];
  struct domain *domain = &space->domains[index];
  struct rows *rows = &space->rows[index];
  *out = (struct space_implementation){.implementation = implementation, .first = space->valid};
  rows->limit = SPACE_MAX_ROWS - (size_t)space->valid;
  int status = domain_open(space->config, implementation, slots, filter, domain, err);
  if (status) return status;
  if (implementation->library && !facts->libraries[implementation->library->id]) {
    bool named;
    out->unmet = &implementation->library->requirement;
    out->lack = facts->lack;
    status = is_named(domain, filter, &space->effort, &named, err);
    out->unlisted = !named;
    return status;
  }
  status = check_requirements(implementation, slots, &out->unmet, err);
  if (!status && !out->unmet) status = space_walk(domain, rows, &space->effort, err);
  if (status) return status;
  space_trim(rows);
  out->rules = domain->listed;
  out->rule_count = domain->rule_count;
  out->cartesian = domain->cartesian;
  out->valid = rows->count;
  space->valid += out->valid;
  if (implementation->tunable_count > space->max_tunables)
    space->max_tunables = implementation->tunable_count;
  if (!__builtin_add_overflow(space->cartesian, out->cartesian, &space->cartesian)) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_CONFIG, "%s: the space has 2^64 combinations or more",
                   space->config->path);
}

static bool heuristics_removed(const struct space *space) {
  for (size_t i = 0; i < space->count; i++)
    for (size_t r = 0; r < space->implementations[i].rule_count; r++) {
      const struct space_rule *rule = &space->implementations[i].rules[r];
      if (rule->kind == CUGEN_RESTRICTION_HEURISTIC && rule->removed) return true;
    }
  return false;
}

int space_open_within(const struct config *config, const struct problem *problem,
                      const struct device_facts *facts, const cugen_filter *filter,
                      struct space_stop stop, struct space **out, cugen_error *err) {
  const size_t count = config->implementation_count;
  *out = NULL;
  struct space *space = calloc(1, sizeof *space);
  if (!space) return error_memory(err);
  space->config = config;
  space->effort = effort_begin(stop);
  space->implementations = calloc(count + 1, sizeof *space->implementations);
  space->domains = calloc(count + 1, sizeof *space->domains);
  space->rows = calloc(count + 1, sizeof *space->rows);
  struct value *slots = calloc((size_t)config->first_tunable + 1, sizeof *slots);
  const bool room = space->implementations && space->domains && space->rows && slots;
  int status = room ? CUGEN_OK : error_memory(err);
  if (!status && filter) status = space_filter_check(config, filter, err);
  if (!status) config_slots(config, problem, facts, slots);
  for (size_t i = 0; i < count && !status; i++) {
    space->count++; /* so that space_close frees the implementation that failed */
    status = open_implementation(space, i, slots, facts, filter, err);
  }
  free(slots);
  const bool nothing = !status && !filter && !space->valid && heuristics_removed(space);
  if (status || nothing)
    space_close(space);
  else
    *out = space;
  if (!nothing) return status;
  return space_open_within(config, problem, facts, &(const cugen_filter){.all = true}, stop, out,
                           err);
}

int space_open(const struct config *config, const struct problem *problem,
               const struct device_facts *facts, struct space **out, cugen_error *err) {
  return space_open_within(config, problem, facts, NULL, (struct space_stop){0}, out, err);
}

void space_close(struct space *space) {
  if (!space) return;
  for (size_t i = 0; i < space->count; i++) {
    free(space->rows[i].ranks);
    domain_close(&space->domains[i]);
  }
  free(space->implementations);
  free(space->domains);
  free(space->rows);
  free(space);
}

/* ---- Reading -------------------------------------------------------------------------------- */

uint64_t space_valid(const struct space *space) {
  return space->valid;
}

uint64_t space_cartesian(const struct space *space) {
  return space->cartesian;
}

const struct space_implementation *space_implementations(const struct space *space, size_t *count) {
  *count = space->count;
  return space->implementations;
}

size_t space_max_tunables(const struct space *space) {
  return space->max_tunables;
}

size_t space_implementation_of(const struct space *space, uint64_t index) {
  size_t i = 0;
  while (index - space->implementations[i].first >= space->implementations[i].valid) i++;
  return i;
}

/* The index of a variant that only heuristics remove is space_valid, plus all combinations of the
   implementations before, plus the variant's rank. */
bool space_left_out_index(const struct space *space, size_t implementation, uint64_t rank,
                          uint64_t *index) {
  *index = space->valid;
  for (size_t i = 0; i < implementation; i++)
    if (__builtin_add_overflow(*index, space->domains[i].cartesian, index)) return false;
  return !__builtin_add_overflow(*index, rank, index);
}

void space_variant(const struct space *space, uint64_t index, struct variant *out,
                   struct value *values_out) {
  size_t i = 0;
  uint64_t rank = index - space->valid;
  if (index < space->valid) {
    i = space_implementation_of(space, index);
    rank = space->rows[i].ranks[index - space->implementations[i].first];
  } else {
    while (rank >= space->domains[i].cartesian) rank -= space->domains[i++].cartesian;
  }
  const struct config_implementation *implementation = space->implementations[i].implementation;
  for (size_t t = implementation->tunable_count; t-- > 0;) {
    const struct config_tunable *tunable = &implementation->tunables[t];
    values_out[t] = tunable->values[rank % tunable->value_count];
    rank /= tunable->value_count;
  }
  *out = (struct variant){.implementation = implementation, .values = values_out};
}

/* ---- Neighbours ----------------------------------------------------------------------------- */

size_t space_max_neighbours(const struct space *space) {
  size_t most = 0;
  for (size_t i = 0; i < space->count; i++) {
    const struct config_implementation *implementation = space->implementations[i].implementation;
    size_t count = 0;
    for (size_t t = 0; t < implementation->tunable_count; t++)
      count += implementation->tunables[t].value_count - 1;
    if (count > most) most = count;
  }
  return most;
}

/* Finds the row of the rank. Returns false if that combination is not valid. */
static bool space_find_rank(const struct rows *rows, uint64_t rank, size_t *at) {
  *at = rows_at_least(rows, 0, rank);
  return *at < rows->count && rows->ranks[*at] == rank;
}

size_t space_neighbours(const struct space *space, uint64_t index, uint64_t *out) {
  size_t i = space_implementation_of(space, index), count = 0, at;
  const struct space_implementation *one = &space->implementations[i];
  const struct domain *domain = &space->domains[i];
  uint64_t rank = space->rows[i].ranks[index - one->first];
  for (size_t t = 0; t < one->implementation->tunable_count; t++) {
    size_t own = domain_value(domain, rank, t);
    uint64_t base = rank - own * domain->strides[t];
    for (size_t v = 0; v < one->implementation->tunables[t].value_count; v++)
      if (v != own && space_find_rank(&space->rows[i], base + v * domain->strides[t], &at))
        out[count++] = one->first + at;
  }
  return count;
}

/* ---- Places --------------------------------------------------------------------------------- */

size_t space_place(const struct space *space, uint64_t index, size_t tunable) {
  size_t i = space_implementation_of(space, index);
  return domain_value(&space->domains[i],
                      space->rows[i].ranks[index - space->implementations[i].first], tunable);
}

bool space_at(const struct space *space, size_t implementation, const size_t *places,
              uint64_t *index) {
  const struct domain *domain = &space->domains[implementation];
  uint64_t rank = 0;
  size_t at;
  if (!space->implementations[implementation].valid) return false;
  for (size_t t = 0; t < domain->implementation->tunable_count; t++)
    rank += places[t] * domain->strides[t];
  if (!space_find_rank(&space->rows[implementation], rank, &at)) return false;
  *index = space->implementations[implementation].first + at;
  return true;
}

void variant_print(const struct variant *variant, struct text *out) {
  text_add(out, variant->implementation->name);
  for (size_t i = 0; i < variant->implementation->tunable_count; i++) {
    text_add_char(out, ' ');
    setting_print(variant->implementation->tunables[i].name, variant->values[i], out);
  }
}

/* ---- Why a space is empty ------------------------------------------------------------------- */

void space_rule_print(const struct space_rule *rule, struct text *out) {
  switch (rule->kind) {
  case CUGEN_RESTRICTION_WHERE:
    text_addf(out, "%s:%d: where \"%s\"", rule->line.path, rule->line.number, rule->text);
    break;
  case CUGEN_RESTRICTION_HEURISTIC:
    text_addf(out, "%s:%d: heuristic \"%s\"", rule->line.path, rule->line.number, rule->text);
    break;
  case CUGEN_RESTRICTION_LIMIT:
    text_addf(out, "%s:%d: %s", rule->line.path, rule->line.number, rule->text);
    break;
  case CUGEN_RESTRICTION_FILTER: text_addf(out, "%s \"%s\"", rule->option, rule->text); break;
  }
}

/* Returns the number of combinations that the rule removed. For a filter's rule, adds those of the
   later rules of equal text, because a filter has a rule for each tunable that it names; returns 0
   if an earlier rule has the same text. */
static uint64_t removed_alike(const struct space_implementation *one, size_t rule) {
  const struct space_rule *own = &one->rules[rule];
  uint64_t removed = own->removed;
  for (size_t i = 0; i < one->rule_count && own->kind == CUGEN_RESTRICTION_FILTER; i++) {
    const struct space_rule *other = &one->rules[i];
    if (i == rule || other->kind != own->kind || strcmp(other->option, own->option) != 0 ||
        strcmp(other->text, own->text) != 0)
      continue;
    if (i < rule) return 0;
    removed += other->removed;
  }
  return removed;
}

void space_unmet_print(const struct space_implementation *one, struct text *out) {
  static const char *const lacks[] = {
      [LIBRARY_LACKS_GPU] = "runs on a GPU of this machine only",
      [LIBRARY_LEFT_OUT] = "is left out by cugen_options.no_library",
      [LIBRARY_NOT_INSTALLED] = "is not installed here",
  };
  const struct config_requirement *unmet = one->unmet;
  text_addf(out, "%s:%d: ", unmet->line.path, unmet->line.number);
  if (unmet->expr)
    text_addf(out, "requires \"%s\", which this device or problem does not meet", unmet->text);
  else
    text_addf(out, "the %s %s", unmet->text, lacks[one->lack]);
}

static void explain_implementation(const struct space_implementation *one, struct text *out) {
  const struct config_implementation *implementation = one->implementation;
  if (one->unmet) {
    text_addf(out, "\n  %s: ", implementation->name);
    space_unmet_print(one, out);
    return;
  }
  text_addf(out, "\n  %s: of ", implementation->name);
  text_add_count(out, one->cartesian);
  text_add(out, one->cartesian == 1 ? " combination" : " combinations");
  for (size_t i = 0; i < one->rule_count; i++) {
    uint64_t removed = removed_alike(one, i);
    if (!removed) continue;
    text_add(out, "\n    ");
    space_rule_print(&one->rules[i], out);
    text_add(out, " rules out ");
    text_add_count(out, removed);
  }
}

/* Returns the number of combinations of the implementation if the filters alone remove them; else
   0. */
static uint64_t left_out(const struct space_implementation *one) {
  uint64_t removed = 0;
  for (size_t i = 0; i < one->rule_count; i++) {
    if (one->rules[i].removed && one->rules[i].kind != CUGEN_RESTRICTION_FILTER) return 0;
    removed += one->rules[i].removed;
  }
  return one->unmet ? 0 : removed;
}

/* Adds one line about all implementations that the filters alone leave without a variant. */
static void explain_left_out(const struct space *space, struct text *out) {
  uint64_t combinations = 0;
  for (size_t i = 0; i < space->count; i++) {
    const struct space_implementation *one = &space->implementations[i];
    if (!left_out(one)) continue;
    text_addf(out, "%s%s", combinations ? ", " : "\n  ", one->implementation->name);
    combinations += left_out(one);
  }
  if (!combinations) return;
  text_add(out, ": none of ");
  text_add_count(out, combinations);
  text_add(out, combinations == 1 ? " combination is within that" : " combinations is within that");
}

/* Lists the filters that removed something, each once. Returns false if none did. */
static bool list_filters(const struct space *space, struct text *out) {
  for (size_t i = 0; i < space->count; i++) {
    const struct space_implementation *one = &space->implementations[i];
    for (size_t r = 0; r < one->rule_count; r++) {
      struct text printed = {0};
      if (one->rules[r].kind != CUGEN_RESTRICTION_FILTER || !one->rules[r].removed) continue;
      space_rule_print(&one->rules[r], &printed);
      if (!strstr(text_get(out), text_get(&printed)))
        text_addf(out, "%s%s", out->length ? " and " : "", text_get(&printed));
      text_free(&printed);
    }
  }
  return out->length > 0;
}

int space_explain_empty(const struct space *space, cugen_error *err) {
  struct text filters = {0}, why = {0};
  error_set(err, CUGEN_ERROR_EMPTY, "%s: no variant is left for this problem on this device",
            space->config->path);
  if (list_filters(space, &filters)) error_append(err, " within %s", text_get(&filters));
  explain_left_out(space, &why);
  for (size_t i = 0; i < space->count; i++)
    if (!left_out(&space->implementations[i]) && !space->implementations[i].unlisted)
      explain_implementation(&space->implementations[i], &why);
  error_append(err, "%s", text_get(&why));
  if (heuristics_removed(space)) error_append(err, "\n--all takes what heuristics leave out");
  text_free(&filters);
  text_free(&why);
  return CUGEN_ERROR_EMPTY;
}
