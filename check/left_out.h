/* What a check leaves out, and why: implementations without a run, and variants that the check problem rules out. */
#ifndef CHECK_LEFT_OUT_H
#define CHECK_LEFT_OUT_H

#include "list.h"

/* what: a variant or an implementation; variants: how many, the first is named. */
typedef int check_left_keep(void *context, const char *what, size_t variants, const char *why, cugen_error *err);

/* Calls keep with each: implementations without a run, unless the user left them out; where all variants are to be checked those
   that options->whole has and the check problem has not; where every value is, variants of options->whole with values that no
   run has. The list has its runs. */
int check_left_tell(const struct tune_target *target, const struct check_options *options,
                    const struct check_list *list, check_left_keep *keep, void *context, cugen_error *err);

/* Adds to *out why "index arithmetic in 32 bits", its name among what is left out, is not checked by sizes as small as a check's:
   on the problem an array has more elements than such an index reaches. Adds nothing where none has. */
extern const char check_left_wide_name[];
int check_left_wide(const struct config *config, const struct problem *problem, const struct device_facts *facts,
                    struct text *out, cugen_error *err);

#endif
