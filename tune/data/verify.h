/* Compares an output with the reference's results, element by element, and reports the first
   difference. */
#ifndef TUNE_DATA_VERIFY_H
#define TUNE_DATA_VERIFY_H

#include "base/kernel.h"

/* The elements of the outputs that are compared. */
struct samples {
  int64_t *flat; /* logical flat indices; NULL: all elements of the largest output */
  int64_t count;
};

/* The reference is computed only at samples if the config's flops exceed VERIFY_FULL_FLOPS or if an
   output has more elements than VERIFY_FULL_ELEMENTS, unless no output has more than 2^14
   elements. */
#define VERIFY_FULL_FLOPS    1e12
#define VERIFY_FULL_ELEMENTS ((int64_t)1 << 26)

/* Chooses the samples of all outputs together: all elements or, beyond the limits above, for each
   shape of an output up to 2^20 edge and 2^14 random elements, or all elements if they are at most
   2^14. The caller calls samples_free. */
int samples_choose(const struct kernel_argument *const *outputs, size_t count, double flops,
                   uint64_t seed, struct samples *out, cugen_error *err);
/* Returns the flat index of the i-th sample. */
int64_t samples_flat(const struct samples *samples, int64_t i);
/* Returns true if the output has the element of the i-th sample. */
bool samples_due(const struct samples *samples, int64_t i, const struct kernel_argument *output);
void samples_free(struct samples *samples);

/* The counts of a comparison, made on the host or on a device. */
struct verify_tally {
  double worst; /* the largest error, in units of the tolerance */
  /* Number of wrong elements, and index of the first one into the samples; -1: none. */
  int64_t wrong, first;
  /* Sums of squares of the differences and of the wanted values, complete only if the argument has
     a norm. */
  double errors, wanted;
};

/* Adds elements to a tally that began with first = -1 and zeros. got and want as for
   verify_output. */
void verify_count(const struct kernel_argument *output, const void *got, const void *want,
                  const struct samples *samples, struct verify_tally *tally);
/* Turns a tally into a verdict, as verify_output does. got and want hold only the first wrong
   element, and are unused if no element is wrong. */
int verify_judge(const struct kernel_argument *output, const struct verify_tally *tally,
                 const struct samples *samples, const void *got, const void *want, double *error,
                 cugen_error *err);

/* Compares an output. got: the output's whole buffer. want: the reference's results in dtype->wide,
   one for each sample, or one for each element if all are compared. *error is raised to the largest
   |got - want| / (tolerance * max(1, |want|)); it is infinity for a NaN, or for any difference at
   tolerance 0. CUGEN_ERROR_WRONG, with the coordinates and values of the first wrong element, if
   that quotient exceeds 1. If the argument has a norm, *error is raised to ||got - want|| / (norm *
   ||want||), too, which must not exceed 1 either. */
int verify_output(const struct kernel_argument *output, const void *got, const void *want,
                  const struct samples *samples, double *error, cugen_error *err);

/* Returns CUGEN_ERROR_WRONG if a byte of the output's padding is not the poison, with which the
   padding was filled before the run. */
int verify_padding(const struct kernel_argument *output, const void *got, unsigned char poison,
                   cugen_error *err);

/* The padding between rows, in bytes: row r begins at r * pitch, and its padding are the `width`
   bytes from `skip` on, without those at or beyond `limit`. If `rows` is 0, there is no padding, or
   it is scattered. */
struct verify_gaps {
  int64_t rows, pitch, skip, width, limit;
  bool scattered;
};
struct verify_gaps verify_gaps(const struct kernel_argument *output);
/* Reports that the given byte of the padding was written. */
int verify_gap_written(const struct kernel_argument *output, int64_t byte, cugen_error *err);

/* Prints the place of an element, such as "C[1, 2]". */
void verify_place(const struct kernel_argument *argument, int64_t flat, struct text *out);

/* Appends to a message about an output that the output's contents are undefined before a launch,
   and how the config can have it begin with zeros. */
void verify_add_beginning(const char *output, struct text *message);

/* Reports how an input changed in a run. Always returns CUGEN_ERROR_WRONG, with the first element
   that differs from `was`, or with the padding if no element differs. */
int verify_unchanged(const struct kernel_argument *input, const void *got, const void *was,
                     cugen_error *err);

#endif
