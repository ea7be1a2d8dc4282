/* What is checked: a list of runs, each a variant on a problem. */
#ifndef CHECK_LIST_H
#define CHECK_LIST_H

#include "check.h"
#include "gen/space/sizes.h"

struct check_problem {
  struct problem problem;
  struct space *space;
  char *text;
  size_t family;
  bool whole;    /* its sizes are whole tiles */
  bool around;   /* it is around the tiles of a variant, and differs from its family's first in sizes alone */
  char *no_data; /* NULL, or why its data and reference could not be made: it is not tried again */
  int no_data_status;
};

/* Implementations that are checked on the same sizes: the kernel's check { }, or one of their own. */
struct check_family {
  const struct config_implementation *owner; /* whose check { } it is; NULL: the kernel's */
  size_t first, count;                       /* problems that differ in sizes alone */
  struct problem base;                       /* the first of them: its values are that one's */
  struct sizes sizes;
};

struct check_run {
  size_t problem;
  uint64_t index; /* in the problem's space */
  uint64_t text;  /* hash of the variant's */
  bool elsewhere; /* the variant is none of its family's first problem */
  size_t variant; /* the same number where the text is the same: below variant_count */
};

/* Values of tunables that variants of one implementation had: a bit each, as far as there is room. */
struct check_covered {
  uint64_t values[32];
};
/* Whether the variant has a value that none before it had. */
bool check_covers_more(const struct variant *variant, struct check_covered *covered);

struct check_list {
  struct check_problem *problems;
  size_t problem_count;
  struct check_family *families;
  size_t family_count;
  size_t *family_of; /* by implementation */
  struct check_run *runs;
  size_t run_count, room, variant_count;
  struct check_kept *kept; /* what a check { } names and no other size is made of */
  size_t kept_count;
};

void check_list_free(struct check_list *list);
/* Of all implementations, each on the first problem of its family. */
uint64_t check_list_valid(const struct check_list *list);
/* The run's variant. */
int check_list_print(const struct check_list *list, const struct check_run *run, struct text *out, cugen_error *err);

/* Whether it differs from its family's first problem in sizes alone. */
bool check_list_sized(const struct check_list *list, const struct check_problem *problem);
bool check_list_has_run(const struct check_list *list, size_t implementation);
/* `before` and settings ("-s n=192") of a size of that family that has the variant, if one has it. */
void check_list_suggest(const struct tune_target *target, const struct check_list *list, size_t family,
                        const char *variant, const char *before, struct text *out);

/* The variant is not on the check problem: adds the sizes that have it, if there are, to the message. */
void check_list_explain(const struct tune_target *target, const struct check_list *list, const char *variant,
                        cugen_error *err);

/* ---- For those that fill it: selection.c, sample.c, sizes.c ---- */

/* A copy of base, the list's last one; its values may then be changed. NULL: no memory. */
struct problem *check_list_problem(struct check_list *list, size_t family, const struct problem *base,
                                   cugen_error *err);
int check_list_open(const struct tune_target *target, struct check_problem *problem, cugen_error *err);
void check_list_drop(struct check_list *list); /* the last one, which no run has */
/* Whether the user has set it. */
bool check_list_fixed(const struct check_options *options, const char *name);
int check_list_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err);
/* Whether the variant, whose runs are the list's last, has one on the problem. */
bool check_list_ran(const struct check_list *list, size_t problem, uint64_t index);
/* The variant on its family's first problem, and where it is valid on the others: on all sizes, or on the `only`-th. */
int check_list_variant(struct check_list *list, size_t family, uint64_t index, size_t only, cugen_error *err);
/* The implementation on its family's first problem; *count: implementations there are. */
const struct space_implementation *check_list_home(const struct check_list *list, size_t implementation,
                                                   size_t *count);

#endif
