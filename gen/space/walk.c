/* The walk over the combinations of one implementation.

   Algorithm: backtracking, one level for each tunable, in declared order, without recursion. Knuth
   describes the method (The Art of Computer Programming 4B, section 7.2.2, algorithm B); the bit
   masks are our own addition. A level holds a mask with one bit for each value of its tunable.
   Entering a level sets all bits, then each rule whose deepest tunable this is clears the bits of
   the values that it does not allow. The walk takes the bits that are left one after the other,
   lowest first, and goes down. At the last level each bit left is a valid combination: a row.

   A rule is evaluated only where it has to be:
   - at its deepest tunable, since all of its names are known there and no earlier;
   - only for values that earlier rules left alive, so that "b ~= 0" may stand before "a // b";
   - once for each choice of its second deepest tunable (`hoist`). Between two such choices nothing
     changes that the rule mentions, so its results are kept in its own mask. Each choice takes a
     new number from the walk's clock; results that carry an older number are stale.

   Invariants:
   - A rule that clears a bit is charged with every combination below it, so that after a walk
     cartesian = valid + the sum of removed, exactly.
   - Rules are tried by depth, then in the order in which they were listed. The first one that fails
     is charged.
   - Rows have rising ranks, since levels count as digits do: the last tunable is the fastest.
   - `fixed` leaves one bit to a level. Then only the combinations with that value are counted.
   - The numbers of values and of tunables are not limited.

   Cost: steps are counted, not timed (see walk.h), so that every machine refuses the same spaces. A
   long walk estimates all of its steps (see Estimates below) and stops when it is hopeless. */
#include "walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Walks ---------------------------------------------------------------------------------- */

struct level {
  const struct value *values;
  struct value *slot;
  size_t count, words;
  size_t at;                   /* the first word of `alive` that is not consumed */
  size_t first_rule, end_rule; /* the rules that are tried at this level */
  uint64_t *alive;             /* a bit for each value that is not removed yet; bits are cleared as
                                  the values are visited */
  uint64_t below;              /* combinations of the deeper tunables that `fixed` allows */
  uint64_t base;               /* rank of the values chosen at the levels above */
  uint64_t stamp;              /* number of the choice of the present value, from the walk's
                                  clock */
  int64_t only;                /* index of the only allowed value; -1: all values are allowed */
  uint64_t enter_cost;         /* steps of entering the level, without the trials of its rules */
  uint64_t weight;             /* in an estimate: the number of nodes that this node stands for */
};

/* The results of a rule for the values of its deepest tunable, valid for the choice `stamp` of its
   second deepest tunable. */
struct mask {
  uint64_t *known, *pass;
  uint64_t stamp;
};

struct walk {
  const struct domain *domain;
  const int64_t *fixed;
  struct rows *rows;
  uint64_t *removed;
  struct value *slots;
  struct level *levels;
  struct mask *masks; /* one mask for each rule */
  uint64_t *words;    /* memory of all masks */
  size_t depth;       /* number of levels */
  uint64_t clock;
  struct effort *effort;
  uint64_t doubt; /* number of steps after which the walk is estimated; 0: no estimate follows */
  cugen_error *err;
};

/* Marks functions of the walk's inner loop. Estimates call these functions, too, so that the
   compiler would no longer inline them by itself, and the walk would be a tenth slower. */
#define INNER __attribute__((always_inline))

static size_t word_count(const struct config_tunable *tunable) {
  return (tunable->value_count + 63) / 64;
}

static size_t total_words(const struct domain *domain) {
  const struct config_tunable *tunables = domain->implementation->tunables;
  size_t total = 1;
  for (size_t i = 0; i < domain->implementation->tunable_count; i++)
    total += word_count(&tunables[i]);
  for (size_t i = 0; i < domain->rule_count; i++)
    if (domain->rules[i].depth >= 0) total += 2 * word_count(&tunables[domain->rules[i].depth]);
  return total;
}

static void set_levels(struct walk *walk) {
  const struct domain *domain = walk->domain;
  uint64_t *words = walk->words, below = 1;
  size_t rule = domain->rule_count;
  for (size_t i = walk->depth; i-- > 0;) {
    const struct config_tunable *tunable = &domain->implementation->tunables[i];
    struct level *level = &walk->levels[i];
    *level =
        (struct level){.values = tunable->values, .count = tunable->value_count, .below = below};
    level->slot = &walk->slots[(size_t)domain->config->first_tunable + i];
    level->only = walk->fixed ? walk->fixed[i] : -1;
    level->words = word_count(tunable);
    level->alive = words;
    words += level->words;
    if (level->only < 0) below *= level->count;
    level->end_rule = rule;
    while (rule > 0 && domain->rules[rule - 1].depth == (int)i) rule--;
    level->first_rule = rule;
    level->enter_cost = 2 * level->words * (level->end_rule - rule + 1);
  }
  for (size_t i = 0; i < domain->rule_count; i++) {
    int depth = domain->rules[i].depth;
    if (depth < 0) continue;
    walk->masks[i] = (struct mask){.known = words, .pass = words + walk->levels[depth].words};
    words += 2 * walk->levels[depth].words;
  }
}

static void walk_free(struct walk *walk) {
  free(walk->slots);
  free(walk->levels);
  free(walk->masks);
  free(walk->words);
}

static int walk_start(struct walk *walk) {
  const struct domain *domain = walk->domain;
  walk->depth = domain->implementation->tunable_count;
  walk->slots = malloc((domain->slot_count + 2) * sizeof *walk->slots);
  walk->levels = calloc(walk->depth + 1, sizeof *walk->levels);
  walk->masks = calloc(domain->rule_count + 1, sizeof *walk->masks);
  walk->words = calloc(total_words(domain), sizeof *walk->words);
  if (!walk->slots || !walk->levels || !walk->masks || !walk->words) return error_memory(walk->err);
  memcpy(walk->slots, domain->slots, domain->slot_count * sizeof *walk->slots);
  walk->clock = 1; /* the masks begin with stamp 0, so that all are stale */
  set_levels(walk);
  return CUGEN_OK;
}

/* ---- Trying rules --------------------------------------------------------------------------- */

/* Evaluates the failing rule again in its unbound form, in which sizes still have their names, and
   adds the file, the line and the values to the message. The slots may point to strings of the
   problem, which outlives the space. */
static int walk_explain(const struct walk *walk, const struct rule *rule) {
  const struct domain *domain = walk->domain;
  const struct space_rule *listed = &domain->listed[rule->index];
  struct text values = {0};
  bool holds;
  expr_eval_bool(rule->written, walk->slots, &holds, walk->err);
  for (size_t i = 0; i < domain->implementation->tunable_count; i++) {
    if (!rule_mentions(domain, rule, i)) continue;
    text_addf(&values, " %s=", domain->implementation->tunables[i].name);
    value_print(walk->slots[(size_t)domain->config->first_tunable + i], &values);
  }
  if (listed->kind == CUGEN_RESTRICTION_FILTER)
    error_prefix(walk->err, "%s", listed->option);
  else
    config_prefix(walk->err, listed->line, "%s",
                  listed->kind == CUGEN_RESTRICTION_HEURISTIC ? "heuristic" : "where");
  error_append(walk->err, " (%s%s)", domain->implementation->name, text_get(&values));
  text_free(&values);
  int status = listed->kind == CUGEN_RESTRICTION_FILTER ? CUGEN_ERROR_USAGE : CUGEN_ERROR_CONFIG;
  if (walk->err) walk->err->status = status;
  return status;
}

/* ---- Effort --------------------------------------------------------------------------------- */

struct effort effort_begin(struct space_stop stop) {
  return (struct effort){.stop = stop, .most = SPACE_MAX_STEPS, .next = SPACE_STOP_STEPS};
}

static bool is_hopeless(const struct walk *walk);

/* Called when effort->next steps are reached. */
__attribute__((noinline, cold)) static int walk_look_up(struct walk *walk) {
  const struct config_implementation *implementation = walk->domain->implementation;
  struct effort *effort = walk->effort;
  bool doubt = walk->doubt && effort->steps >= walk->doubt;
  if (doubt) walk->doubt = 0;
  if (effort->steps > effort->most || (doubt && is_hopeless(walk)))
    return config_fail(walk->err, implementation->line,
                       "the space of \"%s\" is too large to walk: that takes more than %" PRIu64
                       " steps. Give tunables fewer values, or declare first the tunables that "
                       "restrictions mention, and "
                       "add restrictions of few tunables",
                       implementation->name, effort->most);
  if (effort->stop.asked && effort->stop.asked(effort->stop.context))
    return error_set(walk->err, CUGEN_ERROR_INTERRUPTED, "interrupted while the space was walked");
  effort->next = effort->steps + SPACE_STOP_STEPS;
  return CUGEN_OK;
}

static inline int walk_spend(struct walk *walk, uint64_t steps) {
  walk->effort->steps += steps;
  return walk->effort->steps < walk->effort->next ? CUGEN_OK : walk_look_up(walk);
}

static int try_rule(struct walk *walk, const struct rule *rule, bool *holds) {
  return rule_try(walk->domain, rule, walk->slots, holds) ? walk_explain(walk, rule) : CUGEN_OK;
}

/* Evaluates the rule for the values in `wanted`, a word of the level's mask. */
static int fill_mask(struct walk *walk, const struct rule *rule, struct mask *mask,
                     struct level *level, size_t word, uint64_t wanted) {
  int status = walk_spend(walk, rule->cost * (uint64_t)__builtin_popcountll(wanted));
  mask->known[word] |= wanted;
  for (; wanted && !status; wanted &= wanted - 1) {
    bool holds;
    uint64_t bit = wanted & (~wanted + 1);
    *level->slot = level->values[word * 64 + (size_t)__builtin_ctzll(wanted)];
    status = try_rule(walk, rule, &holds);
    if (status) break;
    mask->pass[word] = holds ? mask->pass[word] | bit : mask->pass[word] & ~bit;
  }
  return status;
}

static int apply_rule(struct walk *walk, size_t index, struct level *level) {
  const struct rule *rule = &walk->domain->rules[index];
  struct mask *mask = &walk->masks[index];
  uint64_t stamp = rule->hoist < 0 ? 1 : walk->levels[rule->hoist].stamp;
  if (mask->stamp != stamp) memset(mask->known, 0, level->words * sizeof *mask->known);
  mask->stamp = stamp;
  for (size_t word = 0; word < level->words; word++) {
    uint64_t wanted = level->alive[word] & ~mask->known[word];
    int status = wanted ? fill_mask(walk, rule, mask, level, word, wanted) : CUGEN_OK;
    if (status) return status;
    uint64_t dead = level->alive[word] & ~mask->pass[word];
    walk->removed[rule->index] += (uint64_t)__builtin_popcountll(dead) * level->below;
    level->alive[word] &= ~dead;
  }
  return CUGEN_OK;
}

static void allow_values(struct level *level) {
  level->at = 0;
  if (level->only >= 0) {
    memset(level->alive, 0, level->words * sizeof *level->alive);
    level->alive[level->only / 64] = UINT64_C(1) << (level->only % 64);
    return;
  }
  memset(level->alive, 0xff, level->words * sizeof *level->alive);
  if (level->count % 64) level->alive[level->words - 1] = (UINT64_C(1) << (level->count % 64)) - 1;
}

/* Finds the values of a level that are allowed with the values chosen at the levels above. */
INNER static inline int walk_enter(struct walk *walk, struct level *level) {
  int status = walk_spend(walk, level->enter_cost);
  if (status) return status;
  allow_values(level);
  for (size_t i = level->first_rule; i < level->end_rule && !status; i++)
    status = apply_rule(walk, i, level);
  return status;
}

/* Tries the rules that mention no tunable. */
static int try_root(struct walk *walk, uint64_t combinations, bool *alive) {
  *alive = true;
  for (size_t i = 0; i < walk->domain->rule_count && walk->domain->rules[i].depth < 0 && *alive;
       i++) {
    int status = try_rule(walk, &walk->domain->rules[i], alive);
    if (status) return status;
    if (!*alive) walk->removed[walk->domain->rules[i].index] += combinations;
  }
  return CUGEN_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int walk_too_many(const struct walk *walk) {
  return error_set(
      walk->err, CUGEN_ERROR_CONFIG,
      "%s: the space has more than %d valid variants: add restrictions (where) or give tunables "
      "fewer values",
      walk->domain->config->path, SPACE_MAX_ROWS);
}

/* Returns whether there are certainly too many rows. If no rule mentions a deeper tunable, every
   value that is alive here is valid with all values of the deeper tunables. */
static bool has_too_many(const struct walk *walk, const struct level *level) {
  if (!walk->rows || level->below <= walk->rows->limit ||
      level->end_rule != walk->domain->rule_count)
    return false;
  for (size_t word = 0; word < level->words; word++)
    if (level->alive[word]) return true;
  return false;
}

static int rows_grow(struct walk *walk) {
  struct rows *rows = walk->rows;
  size_t capacity = rows->capacity ? rows->capacity * 2 : 1024;
  if (rows->count >= rows->limit) return walk_too_many(walk);
  if (capacity > rows->limit) capacity = rows->limit;
  uint64_t *ranks = realloc(rows->ranks, capacity * sizeof *ranks);
  if (!ranks) return error_memory(walk->err);
  rows->ranks = ranks;
  rows->capacity = capacity;
  return CUGEN_OK;
}

static int walk_add_row(struct walk *walk, uint64_t rank) {
  if (walk->rows->count == walk->rows->capacity) {
    int status = rows_grow(walk);
    if (status) return status;
  }
  walk->rows->ranks[walk->rows->count++] = rank;
  return CUGEN_OK;
}

/* Adds a row for each value that is alive at the last level. */
static int add_rows(struct walk *walk) {
  const struct level *level = &walk->levels[walk->depth - 1];
  int status = CUGEN_OK;
  for (size_t word = 0; walk->rows && word < level->words; word++)
    for (uint64_t alive = level->alive[word]; alive && !status; alive &= alive - 1)
      status = walk_add_row(walk, level->base + word * 64 + (uint64_t)__builtin_ctzll(alive));
  return status;
}

/* ---- The walk ------------------------------------------------------------------------------- */

/* Chooses the next value of the level; returns false if there is none left. */
INNER static inline bool choose_next(struct walk *walk, size_t depth) {
  struct level *level = &walk->levels[depth];
  size_t word = level->at;
  while (word < level->words && !level->alive[word]) word++;
  level->at = word;
  if (word == level->words) return false;
  size_t value = word * 64 + (size_t)__builtin_ctzll(level->alive[word]);
  level->alive[word] &= level->alive[word] - 1;
  level->stamp = ++walk->clock;
  *level->slot = level->values[value];
  walk->levels[depth + 1].base = level->base + value * walk->domain->strides[depth];
  return true;
}

/* Not recursive, because the number of tunables is not limited. */
static int walk_levels(struct walk *walk) {
  size_t depth = 0, last = walk->depth - 1;
  int status = walk_enter(walk, &walk->levels[0]);
  if (!status && has_too_many(walk, &walk->levels[0])) status = walk_too_many(walk);
  while (!status) {
    if (depth < last && choose_next(walk, depth)) {
      status = walk_enter(walk, &walk->levels[++depth]);
      if (!status && has_too_many(walk, &walk->levels[depth])) status = walk_too_many(walk);
      continue;
    }
    if (depth == last) status = add_rows(walk);
    if (depth-- == 0) break;
  }
  return status;
}

static int space_walk_all(struct walk *walk) {
  uint64_t combinations = 1;
  for (size_t i = 0; i < walk->depth; i++)
    if (walk->levels[i].only < 0) combinations *= walk->levels[i].count;
  bool alive;
  int status = try_root(walk, combinations, &alive);
  if (status || !alive) return status;
  if (walk->depth > 0) return walk_levels(walk);
  return walk->rows ? walk_add_row(walk, 0) : CUGEN_OK;
}

int domain_walk(const struct domain *domain, const int64_t *fixed, struct rows *rows,
                uint64_t *removed, struct effort *effort, cugen_error *err) {
  struct walk walk = {.domain = domain,
                      .fixed = fixed,
                      .rows = rows,
                      .removed = removed,
                      .effort = effort,
                      .err = err};
  walk.doubt = effort->steps + SPACE_DOUBT_STEPS;
  int status = walk_start(&walk);
  if (!status) status = space_walk_all(&walk);
  walk_free(&walk);
  return status;
}

/* ---- Estimates ------------------------------------------------------------------------------ */

/* Estimates after Knuth, Estimating the efficiency of backtrack programs (Mathematics of
   Computation 29, 1975): on a random path from the root, the weight of a node is the product of the
   numbers of choices above it. The average over many paths approaches the cost of the whole
   walk. */

enum { ESTIMATES = 256 };

static uint64_t walk_add_product(uint64_t sum, uint64_t a, uint64_t b) {
  uint64_t product, total;
  bool over =
      __builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &total);
  return over ? UINT64_MAX : total;
}

/* Enters the level and adds the weighted steps. A rule is tried once for each choice of its second
   deepest tunable, however many levels lie between. */
static int enter_weighted(struct walk *walk, struct level *level, uint64_t *steps) {
  int status = walk_spend(walk, level->enter_cost);
  *steps = walk_add_product(*steps, level->weight, level->enter_cost);
  allow_values(level);
  for (size_t i = level->first_rule; i < level->end_rule && !status; i++) {
    uint64_t before = walk->effort->steps;
    status = apply_rule(walk, i, level);
    *steps = walk_add_product(*steps, walk->levels[walk->domain->rules[i].hoist + 1].weight,
                              walk->effort->steps - before);
  }
  return status;
}

/* Chooses one of the alive values at random; returns false if there is none. */
static bool choose_any(struct walk *walk, size_t depth, uint64_t *random) {
  struct level *level = &walk->levels[depth];
  uint64_t alive = 0;
  for (size_t word = 0; word < level->words; word++)
    alive += (uint64_t)__builtin_popcountll(level->alive[word]);
  if (!alive) return false;
  /* the multiplier and increment of Knuth's MMIX */
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  for (uint64_t i = (*random >> 33) % alive + 1; i > 0; i--) choose_next(walk, depth);
  /* cannot overflow: at most the number of all combinations */
  walk->levels[depth + 1].weight = level->weight * alive;
  return true;
}

/* Follows one random path. */
static int estimate(struct walk *walk, uint64_t *random, uint64_t *steps) {
  size_t depth = 0;
  int status;
  walk->levels[0].weight = 1;
  do {
    status = enter_weighted(walk, &walk->levels[depth], steps);
  } while (!status && depth + 1 < walk->depth && *steps <= SPACE_MAX_STEPS &&
           choose_any(walk, depth++, random));
  return status;
}

/* Returns whether most estimates are above the limit. For a walk that takes a quarter of the limit,
   at most one estimate in four is expected above the limit (Markov's inequality), so that such a
   walk is practically never refused. If the estimates miss a hopeless walk, the limit ends the
   walk. */
static bool are_above(struct walk *walk) {
  uint64_t random = 1;
  int above = 0;
  for (int i = 0; i < ESTIMATES; i++) {
    uint64_t steps = 0;
    if (estimate(walk, &random, &steps)) return false;
    above += steps > SPACE_MAX_STEPS;
  }
  return above > ESTIMATES / 2;
}

/* The estimates take no longer than the walk so far. Errors in the estimates are ignored, because
   the walk itself will meet them. */
static bool is_hopeless(const struct walk *walk) {
  struct effort effort = {.most = SPACE_DOUBT_STEPS, .next = SPACE_DOUBT_STEPS};
  struct walk probe = {.domain = walk->domain, .fixed = walk->fixed, .effort = &effort};
  probe.removed = calloc(walk->domain->rule_count + 1, sizeof *probe.removed);
  bool hopeless = probe.removed && walk_start(&probe) == CUGEN_OK && are_above(&probe);
  free(probe.removed);
  walk_free(&probe);
  return hopeless;
}

size_t rows_at_least(const struct rows *rows, size_t from, uint64_t rank) {
  size_t low = from, high = rows->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rows->ranks[middle] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
