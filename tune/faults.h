/* Faults that variants may share: a template that does not expand, data that cannot be made. One bad value of a tunable is
   the end of the variants that have it; what is wrong with all of them ends the run. */
#ifndef TUNE_FAULTS_H
#define TUNE_FAULTS_H

#include "candidate.h"

/* Whether every variant of those implementations (as in space_list_means; NULL: all) is faulty as far as is known now: of many, of some
   that are spread over the space. Compiles and runs nothing. */
int faults_everywhere(struct bench *bench, const char *implementations, bool *everywhere, cugen_error *err);

#endif
