/* Is the result right? Compares an output with the reference's, element by element, and says where it is not. */
#ifndef TUNE_VERIFY_H
#define TUNE_VERIFY_H

#include "base/kernel.h"

/* Which outputs are compared: all of them, or, where the whole reference would cost too much, all edges and a seeded
   random choice. */
struct samples {
  int64_t *flat; /* logical flat indices, NULL: all */
  int64_t count;
};

/* Above this many operations or elements the reference is computed at sampled outputs only. */
#define VERIFY_FULL_FLOPS    1e12
#define VERIFY_FULL_ELEMENTS ((int64_t)1 << 26)

int samples_choose(const struct kernel_argument *output, double flops, uint64_t seed, struct samples *out,
                   cugen_error *err);
void samples_free(struct samples *samples);

/* got: the output's whole buffer. want: the reference, in the wide dtype, one for each sample. *error gets the
   largest |got - want| / (tolerance * max(1, |want|)); infinity for a NaN or for any difference at tolerance 0.
   CUGEN_ERROR_WRONG, with the first wrong element's coordinates and values, when it exceeds 1. Where the argument has
   a norm, the same for the Euclidean norms of got - want and want. */
int verify_output(const struct kernel_argument *output, const void *got, const void *want,
                  const struct samples *samples, double *error, cugen_error *err);

/* Outputs are poisoned with ones in every bit; what lies between rows must still be poison afterwards.
   CUGEN_ERROR_WRONG otherwise. */
int verify_padding(const struct kernel_argument *output, const void *got, cugen_error *err);

/* Of an input that differs from what it was: CUGEN_ERROR_WRONG with the first such element. */
int verify_unchanged(const struct kernel_argument *input, const void *got, const void *was, cugen_error *err);

#endif
