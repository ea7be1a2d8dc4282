/* Finds faults that variants may share, such as a template that does not expand or data that cannot
   be made. */
#ifndef TUNE_FAULTS_H
#define TUNE_FAULTS_H

#include "candidate.h"

/* Returns the number of the i-th of `samples` variants that are sampled from `variants`: one from a
   varying place of each of `samples` equal parts, so that tunables that change from each number to
   the next differ between samples. */
static inline uint64_t faults_sample(uint64_t variants, uint64_t samples, uint64_t i) {
  const uint64_t part = variants / samples;
  return i * part + (i * UINT64_C(0x9e3779b97f4a7c15) >> 32) % part;
}

/* Sets *everywhere to whether every variant of the listed implementations (as in space_list_means;
   NULL: all) is faulty. Of more than 64 variants, 64 are tested. Nothing is compiled or run. */
int faults_everywhere(struct bench *bench, const char *implementations, bool *everywhere,
                      cugen_error *err);

#endif
