/* The space of a config: every combination of tunables that satisfies the restrictions, for one problem on one
   device. A restriction is tried as soon as its names are bound, so that a space of billions with thousands of
   valid combinations is walked in milliseconds. Rows stand in declaration order, the last tunable fastest. */
#ifndef GEN_SPACE_SPACE_H
#define GEN_SPACE_SPACE_H

#include "base/error.h"
#include "gen/config/config.h"

struct space;

/* What removes combinations: a where of the config, a limit of the device, a heuristic of the config, what the user asked for. */
struct space_rule {
  cugen_restriction_kind kind;
  const char *text;        /* "tile % vec == 0", "block: at most 1024 threads (device.max_threads_per_block)" */
  const char *option;      /* of a filter: "cugen_filter.where" */
  struct config_line line; /* in the config; a filter has none */
  uint64_t removed;
};

struct space_implementation {
  const struct config_implementation *implementation;
  const struct config_requirement *unmet; /* NULL, or what the device lacks; then valid = 0 */
  uint64_t cartesian;
  uint64_t valid;
  uint64_t first;                 /* index of its first variant in the space */
  const struct space_rule *rules; /* where as declared, limits, heuristics, filters */
  size_t rule_count;              /* their removed sum with valid to cartesian (0 when unmet) */
};

/* Which variants are wanted of those that there are. An implementation that has not a tunable that is named has none. */
struct space_filter {
  const char *const *where; /* expressions: "BM >= 64" */
  size_t where_count;
  const char *variant;        /* "tiled tile=32", "til* vec=*", "tile=32"; NULL: any */
  const char *implementation; /* "wgmma,naive*"; NULL: any */
  bool all;                   /* heuristics leave out nothing */
};

/* Asked while a space is walked, some hundred times a second: true ends the walk with CUGEN_ERROR_INTERRUPTED. */
struct space_stop {
  bool (*asked)(void *context); /* NULL: never */
  void *context;
};

/* An error inside a restriction (overflow, say) names its file:line and the values. One whose walk takes too long, or has too
   many variants, is CUGEN_ERROR_CONFIG. An empty space is no error here; space_explain_empty says why. */
int space_open(const struct config *config, const struct problem *problem, const struct device_facts *facts,
               struct space **out, cugen_error *err);
/* The same, only what the filter (may be NULL) admits. Without a filter, heuristics that would leave nothing are not in force. A
   wrong filter is CUGEN_ERROR_USAGE. space_find asks the stop, too. */
int space_open_within(const struct config *config, const struct problem *problem, const struct device_facts *facts,
                      const struct space_filter *filter, struct space_stop stop, struct space **out,
                      cugen_error *err);
void space_close(struct space *space);

uint64_t space_valid(const struct space *space);
uint64_t space_cartesian(const struct space *space);
const struct space_implementation *space_implementations(const struct space *space, size_t *count);

/* Sets err to CUGEN_ERROR_EMPTY with the restriction (file:line, text) that emptied each implementation. */
int space_explain_empty(const struct space *space, cugen_error *err);
/* Where the rule is from, and what it says: `t.lua:5: where "tile % vec == 0"`. */
void space_rule_print(const struct space_rule *rule, struct text *out);

/* Whether a list "wgmma,naive*" means the implementation. */
bool space_list_means(const char *list, const char *name);
/* CUGEN_ERROR_USAGE, with the nearest name, when part of the list means no implementation of the config. */
int space_list_check(const struct config *config, const char *list, cugen_error *err);

/* ---- Variants ---- */

struct variant {
  const struct config_implementation *implementation;
  const struct value *values; /* one for each tunable; slots first_tunable + i */
};

/* index: below space_valid, or what space_find gave. values_out: room for the implementation's tunables (at most
   space_max_tunables). */
void space_variant(const struct space *space, uint64_t index, struct variant *out, struct value *values_out);
size_t space_max_tunables(const struct space *space);

/* The variants of the same implementation that differ from it in one tunable, by tunable, then as their values stand
   there. out: room for space_max_neighbours. */
size_t space_neighbours(const struct space *space, uint64_t index, uint64_t *out);
size_t space_max_neighbours(const struct space *space);

/* Which implementation a searched variant is of, and which value of its tunable it has, as they stand in the config. */
size_t space_implementation_of(const struct space *space, uint64_t index);
size_t space_place(const struct space *space, uint64_t index, size_t tunable);
/* The searched variant of that implementation with these values of its tunables; false: there is none. */
bool space_at(const struct space *space, size_t implementation, const size_t *places, uint64_t *index);

/* "tiled tile=16 pad=1" */
void variant_print(const struct variant *variant, struct text *out);

/* The index of the first variant that the text names: an implementation, then any of its tunables; names left out
   may have any value. Heuristics rule out nothing: where they alone leave out all that the text names, the index is
   space_valid or more. Unknown names and values are CUGEN_ERROR_USAGE with the nearest; a combination that a
   restriction rules out says which. */
int space_find(const struct space *space, const char *text, uint64_t *index, cugen_error *err);
/* The same for a record's text, which is one variant's: CUGEN_ERROR_USAGE where the config has a tunable now that it does not name. */
int space_find_one(const struct space *space, const char *text, uint64_t *index, cugen_error *err);
/* The same. Where restrictions rule it out, `rules` gets them alone, as equal texts for all that they rule out. */
int space_find_ruled_out(const struct space *space, const char *text, uint64_t *index, struct text *rules,
                         cugen_error *err);
/* The same, but what rules it out is not looked for, which takes long. */
int space_find_brief(const struct space *space, const char *text, uint64_t *index, cugen_error *err);
/* The same of what is searched, below space_valid, and without a reason; false: there is none. */
bool space_look_up(const struct space *space, const char *text, uint64_t *index);

/* The variants that the config names by try, as far as they are some here: the last implementation's first, since ladders
   end with the fastest. out: room for as many as config_tries counts. Returns how many. */
size_t space_tries(const struct space *space, uint64_t *out);
/* The try at that place, in the same order; false: it is no variant here, or there are not so many. */
bool space_try(const struct space *space, size_t at, uint64_t *index);
/* What is taken of a space that is not empty where nothing is known: the first of its tries, else its first variant.
   *try: the try's place among those of the config; what config_tries counts: none is a variant. NULL: not asked. */
uint64_t space_default(const struct space *space, size_t *try);

#endif
