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

#endif
