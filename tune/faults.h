/* Finds faults that variants may share, such as a template that does not expand or data that cannot
   be made. If only the variants with one bad value of a tunable have the fault, the run goes on
   without them; if all variants have it, the run ends. */
#ifndef TUNE_FAULTS_H
#define TUNE_FAULTS_H

#include "candidate.h"

/* Sets *everywhere to whether every variant of those implementations (as in space_list_means; NULL:
   all) is faulty. A space that is too large is sampled. Nothing is compiled or run. */
int faults_everywhere(struct bench *bench, const char *implementations, bool *everywhere,
                      cugen_error *err);

#endif
