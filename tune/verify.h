/* Is the result right? Compares an output with the reference's, element by element, and says where it is not. */
#ifndef TUNE_VERIFY_H
#define TUNE_VERIFY_H

#include "base/kernel.h"

/* Which outputs are compared: all of them, or, where the whole reference would cost too much, all edges and a seeded
   random choice. */
struct samples {
  int64_t *flat; /* logical flat indices, NULL: all of the largest output */
  int64_t count;
};

/* Above this many operations or elements the reference is computed at sampled outputs only. */
#define VERIFY_FULL_FLOPS    1e12
#define VERIFY_FULL_ELEMENTS ((int64_t)1 << 26)

/* Of all outputs together: the edges of each, elements of each at random, and all elements of small ones. */
int samples_choose(const struct kernel_argument *const *outputs, size_t count, double flops, uint64_t seed,
                   struct samples *out, cugen_error *err);
/* The i-th sample's flat index, and whether the output has such an element. */
int64_t samples_flat(const struct samples *samples, int64_t i);
bool samples_due(const struct samples *samples, int64_t i, const struct kernel_argument *output);
void samples_free(struct samples *samples);

/* What a comparison found, here or on a device. */
struct verify_tally {
  double worst;          /* the largest error, in units of the tolerance */
  int64_t wrong, first;  /* first: index into the samples, -1 */
  double errors, wanted; /* sums of squares; of rows that are compared at a time only where there is a norm */
};

/* Adds to a tally that begins with first = -1 and zeros: got and want as for verify_output. */
void verify_count(const struct kernel_argument *output, const void *got, const void *want,
                  const struct samples *samples, struct verify_tally *tally);
/* What it means: as verify_output. got and want are the first wrong element alone; unused where none is. */
int verify_judge(const struct kernel_argument *output, const struct verify_tally *tally,
                 const struct samples *samples, const void *got, const void *want, double *error, cugen_error *err);

/* got: the output's whole buffer. want: the reference, in the wide dtype, one for each sample (where those are all: one for
   each element). *error gets the
   largest |got - want| / (tolerance * max(1, |want|)); infinity for a NaN or for any difference at tolerance 0.
   CUGEN_ERROR_WRONG, with the first wrong element's coordinates and values, when it exceeds 1. Where the argument has
   a norm, the same for the Euclidean norms of got - want and want. */
int verify_output(const struct kernel_argument *output, const void *got, const void *want,
                  const struct samples *samples, double *error, cugen_error *err);

/* Outputs are poisoned, each byte alike; what lies between rows must still be poison afterwards.
   CUGEN_ERROR_WRONG otherwise. */
int verify_padding(const struct kernel_argument *output, const void *got, unsigned char poison, cugen_error *err);

/* What lies between rows, in bytes: of each row those from `skip` on, `width` of them, none at or behind `limit`. No rows: there
   is none. */
struct verify_gaps {
  int64_t rows, pitch, skip, width, limit;
};
struct verify_gaps verify_gaps(const struct kernel_argument *output);
/* Says that this byte was written. */
int verify_gap_written(const struct kernel_argument *output, int64_t byte, cugen_error *err);

/* "C[1, 2]" */
void verify_place(const struct kernel_argument *argument, int64_t flat, struct text *out);

/* Appends to what was found of an output that it begins undefined, and how it can begin with zeros. */
void verify_add_beginning(const char *output, struct text *message);

/* Of an input that differs from what it was: CUGEN_ERROR_WRONG with the first such element. */
int verify_unchanged(const struct kernel_argument *input, const void *got, const void *was, cugen_error *err);

#endif
