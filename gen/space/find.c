/* Finds the index of a variant in the space from its text; see space_find in space.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "walk.h"

/* The most combinations on which a single rule is tried, to explain why a variant is missing. */
enum { LONE_RULE_MOST = 1000000 };

/* ---- Reading the text ----------------------------------------------------------------------- */

struct search {
  const struct space *space;
  const char *text;
  const char *at; /* the part that is not read yet */
  size_t index;   /* number of the implementation */
  const struct config_implementation *implementation;
  int64_t *fixed;       /* for each tunable the index of its value, or -1 if the text does not name
                           the tunable */
  struct domain rest;   /* the implementation's domain without heuristics, made if no searched
                           variant is found */
  struct effort effort; /* of the walks in this search */
  struct text *rules;   /* the rules that remove the variant are appended here; NULL: not wanted */
  bool brief;           /* the rules that remove the variant are not looked for */
  bool whole;           /* the text must name all tunables */
  cugen_error *err;
};

/* Finds the index of the word among `names`. Lists the names if the word is none of them. */
static int find_choose(const struct search *search, const char *what, const char *word,
                       size_t length, const char *const *names, size_t count, size_t *index) {
  for (*index = 0; *index < count; ++*index)
    if (strlen(names[*index]) == length && memcmp(names[*index], word, length) == 0)
      return CUGEN_OK;
  char *copy = strndup(word, length);
  if (!copy) return error_memory(search->err);
  error_set(search->err, CUGEN_ERROR_USAGE, "%s \"%.100s\" in \"%.500s\"", what, copy,
            search->text);
  space_add_known(search->err, copy, names, count);
  if (strchr(copy, '*'))
    error_append(
        search->err,
        "; one variant is named without '*' ('cugen tune' and 'cugen space' take patterns)");
  free(copy);
  return CUGEN_ERROR_USAGE;
}

static int find_read_implementation(struct search *search) {
  const struct config *config = search->space->config;
  size_t count = config->implementation_count;
  struct setting word;
  const char **names = malloc((count + 1) * sizeof *names);
  if (!names) return error_memory(search->err);
  for (size_t i = 0; i < count; i++) names[i] = config->implementations[i].name;
  setting_next(&search->at, &word);
  int status = find_choose(search, "unknown implementation", word.text, word.length, names, count,
                           &search->index);
  if (status == CUGEN_ERROR_USAGE && word.name < word.length)
    error_append(search->err, "; a variant begins with its implementation: \"%s %.300s\"", names[0],
                 search->text);
  free(names);
  if (!status) search->implementation = &config->implementations[search->index];
  return status;
}

/* Returns each value as variant_print writes it; NULL when out of memory. */
static char **print_values(const struct config_tunable *tunable) {
  char **printed = calloc(tunable->value_count + 1, sizeof *printed);
  for (size_t i = 0; printed && i < tunable->value_count; i++) {
    struct text text = {0};
    value_print(tunable->values[i], &text);
    printed[i] = text_take(&text);
    if (printed[i]) continue;
    array_free_texts(printed, i);
    return NULL;
  }
  return printed;
}

static int find_read_value(struct search *search, const struct setting *setting, size_t tunable) {
  const struct config_tunable *one = &search->implementation->tunables[tunable];
  if (search->fixed[tunable] >= 0)
    return error_set(search->err, CUGEN_ERROR_USAGE, "\"%s\" is given twice in \"%.500s\"",
                     one->name, search->text);
  char **printed = print_values(one);
  if (!printed) return error_memory(search->err);
  struct text what = {0};
  size_t value = 0, length;
  const char *word = setting_value(setting, &length);
  text_addf(&what, "%s has no value", one->name);
  int status = find_choose(search, text_get(&what), word, length, (const char *const *)printed,
                           one->value_count, &value);
  if (!status) search->fixed[tunable] = (int64_t)value;
  text_free(&what);
  array_free_texts(printed, one->value_count);
  return status;
}

static int read_setting(struct search *search, const struct setting *setting) {
  const struct config_implementation *implementation = search->implementation;
  size_t tunable = 0, count = implementation->tunable_count;
  const char **names = malloc((count + 1) * sizeof *names);
  if (!names) return error_memory(search->err);
  for (size_t i = 0; i < count; i++) names[i] = implementation->tunables[i].name;
  int status =
      find_choose(search, "unknown tunable", setting->text, setting->name, names, count, &tunable);
  free(names);
  if (status) return status;
  if (setting->name == setting->length)
    return error_set(search->err, CUGEN_ERROR_USAGE, "expected \"%s=VALUE\" in \"%.500s\"",
                     implementation->tunables[tunable].name, search->text);
  return find_read_value(search, setting, tunable);
}

static int find_read_text(struct search *search) {
  struct setting setting;
  int status = find_read_implementation(search);
  if (status) return status;
  size_t count = search->implementation->tunable_count;
  search->fixed = malloc((count + 1) * sizeof *search->fixed);
  if (!search->fixed) return error_memory(search->err);
  for (size_t i = 0; i < count; i++) search->fixed[i] = -1;
  while (!status && setting_next(&search->at, &setting)) status = read_setting(search, &setting);
  return status;
}

/* Checks that the text names all tunables. A record of an older config may lack some. */
static int find_check_whole(const struct search *search) {
  const struct config_implementation *implementation = search->implementation;
  for (size_t i = 0; i < implementation->tunable_count; i++)
    if (search->fixed[i] < 0)
      return error_set(search->err, CUGEN_ERROR_USAGE,
                       "\"%.500s\" does not name the tunable \"%s\"", search->text,
                       implementation->tunables[i].name);
  return CUGEN_OK;
}

/* ---- Looking it up -------------------------------------------------------------------------- */

/* Returns the first tunable whose value in this rank is not the wanted value; the number of
   tunables if none. */
static size_t first_mismatch(const struct search *search, const struct domain *domain,
                             uint64_t rank) {
  size_t i = 0, count = search->implementation->tunable_count;
  while (i < count &&
         (search->fixed[i] < 0 || domain_value(domain, rank, i) == (size_t)search->fixed[i]))
    i++;
  return i;
}

/* Finds the smallest rank above `rank` that has the wanted value of `tunable` and the first values
   of all later tunables. Returns false if there is none. */
static bool next_rank(const struct search *search, const struct domain *domain, uint64_t rank,
                      size_t tunable, uint64_t *out) {
  uint64_t stride = domain->strides[tunable], wanted = (uint64_t)search->fixed[tunable];
  uint64_t values = search->implementation->tunables[tunable].value_count,
           block = rank / stride / values;
  if (rank / stride % values > wanted) block++;
  if (block >= domain->cartesian / stride / values) return false;
  *out = (block * values + wanted) * stride;
  return true;
}

/* Finds the first row that the text matches. Leaps from one candidate to the next by binary
   search. */
static bool space_find_row(const struct search *search, size_t *row) {
  const struct rows *rows = &search->space->rows[search->index];
  const struct domain *domain = &search->space->domains[search->index];
  uint64_t rank;
  for (*row = 0; *row < rows->count; *row = rows_at_least(rows, *row, rank)) {
    size_t mismatch = first_mismatch(search, domain, rows->ranks[*row]);
    if (mismatch == search->implementation->tunable_count) return true;
    if (!next_rank(search, domain, rows->ranks[*row], mismatch, &rank)) return false;
  }
  return false;
}

/* ---- Why a variant is missing --------------------------------------------------------------- */

/* Finds out whether the rule alone removes all combinations that the text leaves open. Tunables
   that neither text nor rule mentions have their first value. A rule that cannot be evaluated
   without other rules, which protect it from a division by zero, does not count; nor does a rule
   that takes too long, or for which too many combinations are open. */
static bool removes_all(struct search *search, const struct rule *rule, uint64_t *removed,
                        int64_t *fixed) {
  const struct config_implementation *implementation = search->implementation;
  struct domain alone = search->rest;
  struct rule only = *rule;
  uint64_t open = 1;
  for (size_t i = 0; i < implementation->tunable_count; i++) {
    bool mentioned = rule_mentions(&search->rest, rule, i);
    fixed[i] = search->fixed[i] < 0 && !mentioned ? 0 : search->fixed[i];
    if (fixed[i] < 0) open *= implementation->tunables[i].value_count;
    if (open > LONE_RULE_MOST) return false;
  }
  alone.rules = &only;
  alone.rule_count = 1;
  removed[only.index] = 0;
  return !domain_walk(&alone, fixed, NULL, removed, &search->effort, NULL) &&
         removed[only.index] == open;
}

/* If some rules alone remove all combinations, keeps only these rules, because dropping others
   would not help. */
static void keep_decisive(struct search *search, uint64_t *removed) {
  const struct domain *domain = &search->rest;
  size_t count = search->space->domains[search->index].rule_count;
  uint64_t *alone = calloc(count + 1, sizeof *alone);
  int64_t *fixed = malloc((search->implementation->tunable_count + 1) * sizeof *fixed);
  bool any = false;
  for (size_t i = 0; alone && fixed && i < domain->rule_count; i++) {
    const struct rule *rule = &domain->rules[i];
    bool decides = removed[rule->index] && removes_all(search, rule, alone, fixed);
    if (!decides) alone[rule->index] = 0;
    any = any || decides;
  }
  for (size_t i = 0; any && i < count; i++)
    if (!alone[i]) removed[i] = 0;
  free(alone);
  free(fixed);
}

/* Appends the total of a limit, if the text names all tunables that the limit depends on. */
static void print_total(const struct search *search, size_t listed, struct text *out) {
  const struct domain *domain = &search->space->domains[search->index];
  const struct config_tunable *tunables = search->implementation->tunables;
  const size_t first = (size_t)domain->config->first_tunable;
  const struct rule *rule = domain->rules;
  int64_t total;
  while (rule->index != listed) rule++;
  struct value *slots = malloc((domain->slot_count + CONFIG_STEP_SLOTS) * sizeof *slots);
  bool known = slots && rule->limit.count;
  if (known) memcpy(slots, domain->slots, domain->slot_count * sizeof *slots);
  for (size_t i = 0; i < search->implementation->tunable_count && known; i++) {
    const int64_t fixed = search->fixed[i];
    if (fixed < 0)
      known = !rule_mentions(domain, rule, i);
    else
      slots[first + i] = tunables[i].values[fixed];
  }
  if (known && launch_limit_total(&rule->limit, slots, &total))
    text_addf(out, ", here %lld", (long long)total);
  free(slots);
}

static int explain_unmet(const struct search *search) {
  struct text why = {0};
  space_unmet_print(&search->space->implementations[search->index], &why);
  int status =
      error_set(search->err, CUGEN_ERROR_USAGE, "\"%.500s\": %s", search->text, text_get(&why));
  text_free(&why);
  return status;
}

/* Names the rules that remove the combinations, one per line if there are several. */
static int explain_missing(struct search *search, uint64_t *removed) {
  const struct domain *domain = &search->space->domains[search->index];
  struct text text = {0};
  size_t culprits = 0;
  keep_decisive(search, removed);
  for (size_t i = 0; i < domain->rule_count; i++) culprits += removed[i] > 0;
  for (size_t i = 0; i < domain->rule_count; i++) {
    if (!removed[i]) continue;
    text_add(&text, text.length ? "\n  " : "");
    space_rule_print(&domain->listed[i], &text);
    print_total(search, i, &text);
    if (culprits > 1) text_addf(&text, " (%llu combinations)", (unsigned long long)removed[i]);
  }
  error_set(search->err, CUGEN_ERROR_USAGE, "\"%.500s\" is ruled out by%s%s", search->text,
            culprits > 1 ? "\n  " : " ", text_get(&text));
  if (search->rules) text_add(search->rules, text_get(&text));
  text_free(&text);
  return CUGEN_ERROR_USAGE;
}

/* Walks the combinations that the text leaves open. Finds the first combination that only
   heuristics remove; if there is none, fails and, unless `brief`, names the rules that remove the
   combinations. */
static int find_left_out(struct search *search, uint64_t *index) {
  const struct space *space = search->space;
  const struct domain *domain = &space->domains[search->index];
  struct rows rows = {.limit = SPACE_MAX_ROWS};
  if (space->implementations[search->index].unmet) return explain_unmet(search);
  int status = domain_without_heuristics(domain, &search->rest, search->err);
  uint64_t *removed = calloc(domain->rule_count + 1, sizeof *removed);
  if (!status && !removed) status = error_memory(search->err);
  if (!status)
    status =
        domain_walk(&search->rest, search->fixed, &rows, removed, &search->effort, search->err);
  bool found =
      !status && rows.count && space_left_out_index(space, search->index, rows.ranks[0], index);
  if (!status && !found && search->brief)
    status = error_set(search->err, CUGEN_ERROR_USAGE, "\"%.500s\" is ruled out", search->text);
  else if (!status && !found)
    status = explain_missing(search, removed);
  free(search->rest.rules);
  free(rows.ranks);
  free(removed);
  return status;
}

bool space_look_up(const struct space *space, const char *text, uint64_t *index) {
  cugen_error ignored;
  struct search search = {.space = space, .text = text, .at = text, .err = &ignored};
  size_t row = 0;
  bool found = find_read_text(&search) == CUGEN_OK && space_find_row(&search, &row);
  if (found) *index = space->implementations[search.index].first + row;
  free(search.fixed);
  return found;
}

int space_find(const struct space *space, const char *text, uint64_t *index, cugen_error *err) {
  return space_find_ruled_out(space, text, index, NULL, err);
}

static int find_find(struct search *search, uint64_t *index) {
  search->effort = effort_begin(search->space->effort.stop);
  size_t row = 0;
  int status = find_read_text(search);
  if (!status && search->whole) status = find_check_whole(search);
  if (!status && space_find_row(search, &row))
    *index = search->space->implementations[search->index].first + row;
  else if (!status)
    status = find_left_out(search, index);
  free(search->fixed);
  return status;
}

int space_find_ruled_out(const struct space *space, const char *text, uint64_t *index,
                         struct text *rules, cugen_error *err) {
  struct search search = {.space = space, .text = text, .at = text, .rules = rules, .err = err};
  return find_find(&search, index);
}

int space_find_brief(const struct space *space, const char *text, uint64_t *index,
                     cugen_error *err) {
  struct search search = {.space = space, .text = text, .at = text, .brief = true, .err = err};
  return find_find(&search, index);
}

int space_find_one(const struct space *space, const char *text, uint64_t *index, cugen_error *err) {
  struct search search = {.space = space, .text = text, .at = text, .whole = true, .err = err};
  return find_find(&search, index);
}

/* ---- Variants named by the config ----------------------------------------------------------- */

/* Returns the text of variant number `at` that the config names by `try`; NULL: there are fewer. */
static const char *find_try_at(const struct config *config, size_t at) {
  for (size_t i = config->implementation_count; i-- > 0;) {
    const struct config_implementation *implementation = &config->implementations[i];
    if (at < implementation->try_count) return implementation->tries[at];
    at -= implementation->try_count;
  }
  return NULL;
}

bool space_try(const struct space *space, size_t at, uint64_t *index) {
  const char *text = find_try_at(space->config, at);
  return text && space_look_up(space, text, index);
}

size_t space_tries(const struct space *space, uint64_t *out) {
  size_t count = 0;
  for (size_t i = 0; find_try_at(space->config, i); i++) count += space_try(space, i, &out[count]);
  return count;
}
