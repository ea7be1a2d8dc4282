/* The list of runs of a check, each a variant on a problem. */
#ifndef EMULATOR_CHECK_LIST_H
#define EMULATOR_CHECK_LIST_H

#include "check.h"
#include "gen/space/sizes.h"

struct check_problem {
  struct problem problem;
  struct space *space;
  char *text;
  size_t family;
  bool whole; /* the sizes are whole tiles */
  bool seen;  /* a run on the problem has been checked */
  /* the problem has sizes around the tiles of a variant */
  bool around;
  /* why the problem's data and reference could not be made; NULL: no failure */
  char *no_data;
  int no_data_status;
};

/* The problems on which some implementations are checked: those without a check { } of their own,
   or those whose check { } gives this first problem. */
struct check_family {
  /* the implementation that has the check { }; NULL: the kernel's problem is used */
  const struct config_implementation *owner;
  /* index of the check problem, and number of problems from it on: its other sizes follow */
  size_t first, count;
  /* copy of the first problem, with borrowed values */
  struct problem base;
  struct sizes sizes;
};

struct check_run {
  size_t problem;
  uint64_t index; /* in the problem's space */
  uint64_t text;  /* hash of the variant's text */
  bool elsewhere; /* the variant is not valid on its family's first problem */
  size_t variant; /* number of the variant's text, below variant_count */
};

/* The values of tunables that variants of one implementation had: bit v of values[t] for value v of
   tunable t. Further tunables and values are not recorded. */
struct check_covered {
  uint64_t values[32];
};
/* Notes the variant's values. Returns true if one of the values is new. */
bool check_covers_more(const struct variant *variant, struct check_covered *covered);

struct check_list {
  struct check_problem *problems;
  size_t problem_count;
  struct check_family *families;
  size_t family_count;
  size_t *family_of; /* by implementation */
  struct check_run *runs;
  size_t run_count, variant_count;
  cugen_check_kept *kept; /* settings that a check { } names and that are not varied */
  size_t kept_count;
};

void check_list_free(struct check_list *list);
/* The number of valid variants of all implementations, each on the first problem of its family. */
uint64_t check_list_valid(const struct check_list *list);
int check_variant_print(const struct space *space, uint64_t index, struct text *out,
                        cugen_error *err);

/* Returns true if the problem is its family's first, or differs from the first in sizes alone. */
bool check_list_sized(const struct check_list *list, const struct check_problem *problem);
bool check_list_has_run(const struct check_list *list, size_t implementation);
/* Appends the settings, with their values in `from`, in which `other` differs from `first`: each
   with a space and `before` in front. */
void check_list_add_sizes(const struct tune_target *target, const struct problem *first,
                          const struct problem *other, const struct problem *from,
                          const char *before, struct text *out);
/* Appends `before` and settings, as in "-s n=192", that change the family's check problem into one
   on which the variant is valid; nothing if there is no such problem. */
void check_list_suggest(const struct tune_target *target, const struct check_list *list,
                        size_t family, const char *variant, const char *before, struct text *out);

/* Appends to the error a problem of the first family on which the variant is valid, if there is one
   besides the check problem. */
void check_list_explain(const struct tune_target *target, const struct check_list *list,
                        const char *variant, cugen_error *err);

/* ---- sample.c: choosing variants for a check that names none -------------------------------- */

/* Adds variants of every implementation, on several problems, so that each value of a tunable that
   up to 400 draws find has a run. */
int check_sample_values(struct check_list *list, const struct tune_target *target, uint64_t *state,
                        cugen_error *err);

/* Adds so many variants that every branch of a template that occurs in a large sample is taken. */
int check_sample_branches(struct check_list *list, const struct tune_target *target,
                          const struct check_options *options, uint64_t *state, cugen_error *err);

/* ---- sizes.c: choosing sizes around the check problem's, and around tiles ------------------- */

/* Adds to the family of that number, whose first problem is open, problems that differ from the
   first in sizes alone, as sizes_plain chooses them. list->kept records which parameters of the
   check { } are not sizes, and why. */
int check_sizes_add(const struct tune_target *target, const struct check_options *options,
                    struct check_list *list, size_t number, cugen_error *err);

/* Adds runs of the variant, which has number `index` on its family's first problem, on the problems
   around its tiles on which the variant is valid: on all (only: 0), or on at most one, which
   depends on `only`. */
int check_sizes_around(const struct tune_target *target, struct check_list *list, size_t number,
                       uint64_t index, size_t only, cugen_error *err);

/* ---- For the files that fill the list: selection.c, sample.c, sizes.c ----------------------- */

/* Appends a copy of base to the list and returns the copy, whose values the caller may change until
   the next call; NULL: no memory. */
struct problem *check_list_problem(struct check_list *list, size_t family,
                                   const struct problem *base, cugen_error *err);
int check_list_open(const struct tune_target *target, struct check_problem *problem,
                    cugen_error *err);
/* removes the last problem, which must have no run */
void check_list_drop(struct check_list *list);
/* Whether the problem has these values. */
bool check_list_equal(const struct problem *problem, const struct value *values);
/* Whether the user has set the parameter. */
bool check_list_fixed(const struct check_options *options, const char *name);
int check_list_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err);
/* Whether the variant, whose runs are the last ones of the list, has a run on the problem. */
bool check_list_ran(const struct check_list *list, size_t problem, uint64_t index);
/* Adds runs of the variant on the family's first problem, and on the other sizes on which it is
   valid: on all (only: 0), or on the `only`-th. */
int check_list_variant(struct check_list *list, size_t family, uint64_t index, size_t only,
                       cugen_error *err);
/* Returns the implementation's entry in the space of its family's first problem; *count becomes the
   number of entries in that space. */
const struct space_implementation *check_list_home(const struct check_list *list,
                                                   size_t implementation, size_t *count);

#endif
