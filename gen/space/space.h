/* The space of a config: all combinations of tunables that satisfy the restrictions, for one
   problem on one device. A restriction is tried as soon as its names are bound. Variants are
   numbered in the order of declaration, with the last tunable varying fastest. */
#ifndef GEN_SPACE_SPACE_H
#define GEN_SPACE_SPACE_H

#include "base/results.h"
#include "gen/config/problem.h"

struct space;

/* A rule that removes combinations: a `where` of the config, a limit of the device, a heuristic of
   the config, or a filter of the user. */
struct space_rule {
  cugen_restriction_kind kind;
  const char *text;        /* such as "tile % vec == 0" or "block: at most 1024 threads
                              (device.max_threads_per_block)" */
  const char *option;      /* of a filter, the option: "--where" */
  struct config_line line; /* line in the config; a filter has none */
  uint64_t removed;
};

struct space_implementation {
  const struct config_implementation *implementation;
  const struct config_requirement *unmet; /* a requirement that is not met, or the library that
                                             cannot be used; valid is then 0; NULL: none */
  enum library_lack lack;                 /* if `unmet` is a library */
  bool unlisted; /* the implementation is the kernel of a library that cannot be used, and the
                    filter does not name it, so that lists leave it out */
  uint64_t cartesian;
  uint64_t valid;
  uint64_t first;                 /* index of the first variant of the implementation */
  const struct space_rule *rules; /* in this order: `where`s as declared, limits, heuristics,
                                     filters */
  size_t rule_count;              /* the sum of all `removed` and valid is cartesian (unless a
                                     requirement is unmet, then valid is 0) */
};

/* `asked` is called at short intervals while a space is walked; if it returns true, the walk ends
   with CUGEN_ERROR_INTERRUPTED. */
struct space_stop {
  bool (*asked)(void *context); /* NULL: never stop */
  void *context;
};

/* Opens a space. Config and problem outlive the space. An error in a restriction (an overflow, say)
   names its file, its line and the values. A space whose walk takes too long, or that has too many
   variants, is CUGEN_ERROR_CONFIG. An empty space is not an error; see space_explain_empty. */
int space_open(const struct config *config, const struct problem *problem,
               const struct device_facts *facts, struct space **out, cugen_error *err);
/* Like space_open, with only the variants that the filter (may be NULL) admits. Without a filter,
   heuristics that would remove all variants are ignored. A wrong filter is CUGEN_ERROR_USAGE.
   space_find uses the stop, too. */
int space_open_within(const struct config *config, const struct problem *problem,
                      const struct device_facts *facts, const cugen_filter *filter,
                      struct space_stop stop, struct space **out, cugen_error *err);
void space_close(struct space *space);

/* Appends why an implementation has no variants: its "c.lua:12: requires ..." is not met, or its
   library is missing or left out. */
void space_unmet_print(const struct space_implementation *one, struct text *out);

uint64_t space_valid(const struct space *space);
uint64_t space_cartesian(const struct space *space);
const struct space_implementation *space_implementations(const struct space *space, size_t *count);

/* Sets err to CUGEN_ERROR_EMPTY, and names for each implementation the rules (file:line, text) that
   removed combinations, and how many. Implementations that the filter alone removes share a line;
   `unlisted` implementations have none. */
int space_explain_empty(const struct space *space, cugen_error *err);
/* Prints the place and the text of the rule: `t.lua:5: where "tile % vec == 0"`. */
void space_rule_print(const struct space_rule *rule, struct text *out);

/* Returns whether the list, such as "wgmma,naive*", includes the implementation. */
bool space_list_means(const char *list, const char *name);
/* Fails with CUGEN_ERROR_USAGE, and the nearest name, if a part of the list matches no
   implementation of the config. */
int space_list_check(const struct config *config, const char *list, cugen_error *err);

/* ---- Variants ------------------------------------------------------------------------------- */

struct variant {
  const struct config_implementation *implementation;
  const struct value *values; /* of the implementation's tunables, for the slots from first_tunable
                                 on */
};

/* Fills in the variant of an index, which is below space_valid or comes from space_find.
   values_out: room for the tunables of the implementation (at most space_max_tunables). */
void space_variant(const struct space *space, uint64_t index, struct variant *out,
                   struct value *values_out);
size_t space_max_tunables(const struct space *space);

/* Lists the variants of the same implementation that differ from a searched variant (index below
   space_valid) in the value of one tunable: by tunable, then in the order of the values. out: room
   for space_max_neighbours. */
size_t space_neighbours(const struct space *space, uint64_t index, uint64_t *out);
size_t space_max_neighbours(const struct space *space);

/* Return the number of the implementation of a searched variant, and the number of the value of its
   tunable, in the order of the config. */
size_t space_implementation_of(const struct space *space, uint64_t index);
size_t space_place(const struct space *space, uint64_t index, size_t tunable);
/* Finds the searched variant of the implementation in which tunable t has its value number
   places[t]. Returns false if there is none. */
bool space_at(const struct space *space, size_t implementation, const size_t *places,
              uint64_t *index);

/* Prints "tiled tile=16 pad=1". */
void variant_print(const struct variant *variant, struct text *out);

/* Finds the first variant that the text names: an implementation, then any of its tunables;
   tunables that are left out may have any value. Heuristics are ignored: if they alone remove all
   variants that the text names, the index is space_valid or more. Unknown names and values are
   CUGEN_ERROR_USAGE with the nearest ones; for a combination that a restriction removes, the
   message names the restriction. */
int space_find(const struct space *space, const char *text, uint64_t *index, cugen_error *err);
/* Like space_find, for the text of a record, which must name one variant: CUGEN_ERROR_USAGE if the
   config has a tunable now that the text does not name. */
int space_find_one(const struct space *space, const char *text, uint64_t *index, cugen_error *err);
/* Like space_find. If restrictions remove the variants, the restrictions are appended to `rules`,
   so that equal texts mean removal by the same restrictions. */
int space_find_ruled_out(const struct space *space, const char *text, uint64_t *index,
                         struct text *rules, cugen_error *err);
/* Like space_find, but does not look for the restrictions that remove the variants, which may take
   long. */
int space_find_brief(const struct space *space, const char *text, uint64_t *index,
                     cugen_error *err);
/* Like space_find, but only among searched variants, and without an error. */
bool space_look_up(const struct space *space, const char *text, uint64_t *index);

/* Lists the variants that the config names by `try` and that are valid here. Variants of the last
   implementation come first, because configs usually put the fastest implementation last.
   out: room for as many as config_tries counts. Returns the number of variants. */
size_t space_tries(const struct space *space, uint64_t *out);
/* Finds the variant of the try at that place, in the order of space_tries. Returns false if the
   variant is not valid here, or if there are fewer tries. */
bool space_try(const struct space *space, size_t at, uint64_t *index);

#endif
