/* What is checked: a list of runs, each a variant on a problem. */
#ifndef TUNE_CHECK_LIST_H
#define TUNE_CHECK_LIST_H

#include "check.h"

enum { CHECK_WHOLE = 1 }; /* the problem whose sizes are whole tiles, if there is more than one size */

struct check_problem {
  struct problem problem;
  struct space *space;
  char *text;
};

struct check_run {
  size_t problem;
  uint64_t index; /* in the problem's space */
  size_t group;   /* of runs of one variant, which share a compile */
};

struct check_list {
  struct check_problem *problems;
  size_t problem_count, size_count; /* the first size_count differ in sizes alone; the first is the target's own */
  struct check_run *runs;
  size_t run_count, room, group_count;
};

/* *out is to be freed whatever comes back. */
int check_list_make(const struct tune_target *target, const struct check_options *options, struct check_list *out,
                    cugen_error *err);
void check_list_free(struct check_list *list);

/* ---- For check_sample.c ---- */

/* A copy of base, the list's last one; its values may then be changed. NULL: no memory. */
struct problem *check_list_problem(struct check_list *list, const struct problem *base, cugen_error *err);
int check_list_open(const struct tune_target *target, struct check_problem *problem, cugen_error *err);
void check_list_drop(struct check_list *list); /* the last one, which no run has */
/* Whether the user has set it. */
bool check_list_fixed(const struct check_options *options, const char *name);
int check_list_run(struct check_list *list, size_t problem, uint64_t index, cugen_error *err);
/* The variant on the first problem, and where it is valid on the others: on all sizes, or on the `only`-th. */
int check_list_variant(struct check_list *list, uint64_t index, size_t only, cugen_error *err);
uint64_t check_draw(uint64_t *state);

#endif
