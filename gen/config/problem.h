/* Problems: a value for each parameter that a config declares by `problem`. */
#ifndef GEN_CONFIG_PROBLEM_H
#define GEN_CONFIG_PROBLEM_H

#include "config.h"

struct problem {
  struct value *values; /* the value of each parameter in config->problems; the config or `strings`
                           below owns the characters */
  size_t count;
  struct text strings;
};

/* Sets a problem from settings such as "M=8192". Parameters without a setting get their check { }
   value if `check` is set, else their default. */
int problem_set(const struct config *config, const char *const *settings, size_t count, bool check,
                struct problem *out, cugen_error *err);
/* Makes the check problem for `base`: the check { } values; base's values for the parameters that
   check does not name (dtype, layouts). */
int problem_check(const struct config *config, const struct problem *base, struct problem *out,
                  cugen_error *err);
/* Copies `base` with each size that has buckets replaced by its policy_bound. */
int problem_bucket(const struct config *config, const struct problem *base, struct problem *out,
                   cugen_error *err);
/* Finds the problem whose arguments are these arrays, arrays[i] for argument i, and appends its
   text; fails if there is none. fixed[i]: parameter i keeps its value of `base`. See fit.c. */
int problem_fit(const struct config *config, const struct problem *base, const bool *fixed,
                const struct device_facts *facts, const cugen_array *arrays, size_t count,
                struct text *out, cugen_error *err);
void problem_free(struct problem *problem);
/* Prints "M=4096 N=4096 dtype=f32". */
void problem_print(const struct config *config, const struct problem *problem, struct text *out);
/* Prints only the class of a problem, "dtype=f32". */
void problem_print_class(const struct config *config, const struct problem *problem,
                         struct text *out);
/* Marks the settings of problem_print that have their default in this problem and in the check
   problem: bit i is set for the i-th setting, if i < KERNEL_MAX_LACKED (cache_key.may_lack). */
uint64_t problem_may_lack(const struct config *config, const struct problem *problem);
/* Like problem_may_lack, for the settings of problem_print_class. */
uint64_t problem_class_may_lack(const struct config *config, const struct problem *problem);
/* Prints a problem for a reader: parameters that have their default and are neither numbers nor
   element types are left out. */
void problem_print_short(const struct config *config, const struct problem *problem,
                         struct text *out);
/* Appends "on the check problem rows=5 cols=203: ", which precedes a message about that problem. */
void problem_add_check(const struct config *config, const struct problem *check, struct text *out);

#endif
