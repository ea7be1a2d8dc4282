/* Work on data in device memory by kernels of cugen's own (data_kernels.cu): they fill and digest
   inputs, look for bytes that were overwritten, and compare outputs. Noise, conversions and the
   error of an element equal those of elements.c and verify.c, which data_proof.c checks on each
   device. Questions are collected: call begin, ask questions, and call await. The answers have the
   order of the questions. After data_kernels_open, work is ordered like launches, and only
   data_kernels_await waits. */
#ifndef TUNE_DATA_DATA_KERNELS_H
#define TUNE_DATA_DATA_KERNELS_H

#include "data_layout.h"
#include "runtime/device.h"
#include "verify.h"

struct data_kernels;

/* The most questions between begin and await, more than the four of each argument (two guards,
   padding, elements); and the number of parts in which data_kernels.cu is compiled. */
enum { DATA_MOST_QUESTIONS = 6 * KERNEL_MAX_ARGUMENTS, DATA_PARTS = 6 };

/* Makes the source and the entries of one part, for a compiler; free them with kernel_spec_free. */
int data_kernels_spec(int part, struct kernel_spec *out, cugen_error *err);

/* compiled: the images of all parts. */
int data_kernels_open(struct device *device, const struct compiled *const *compiled,
                      struct data_kernels **out, cugen_error *err);
void data_kernels_close(struct data_kernels *kernels);

/* Returns true if the argument is an array with a fill, so that data_kernels_fill can make its
   contents. */
bool data_kernels_make(const struct kernel_argument *argument);
int data_kernels_fill(struct data_kernels *kernels, const struct kernel_argument *argument,
                      uint64_t seed, size_t ordinal, void *to, cugen_error *err);

/* Converts `count` samples, or the first `count` elements if samples is NULL, to dtype->wide as
   element_widen does: to[n] becomes sample n, or does not change if the array has no such
   element. */
int data_kernels_widen(struct data_kernels *kernels, const struct kernel_argument *argument,
                       const void *from, void *to, const int64_t *samples, int64_t count,
                       cugen_error *err);
/* Writes the flat indices of `count` samples, or of `count` elements if samples is NULL, to `to` in
   reverse order. */
int data_kernels_reverse(struct data_kernels *kernels, const int64_t *samples, int64_t count,
                         int64_t *to, cugen_error *err);

/* ---- Questions ------------------------------------------------------------------------------ */

int data_kernels_begin(struct data_kernels *kernels, cugen_error *err);
/* Answers with tally.digest. Data that differ in one byte always have different digests; otherwise
   digests collide with a chance of 2^-64. Only digests of the same data_kernels can be compared,
   because data_kernels_open draws a random key. */
int data_kernels_digest(struct data_kernels *kernels, const void *from, size_t bytes,
                        cugen_error *err);
/* Answers with tally.digest: element_digest of the argument's elements, which is equal on every
   device. */
int data_kernels_bits(struct data_kernels *kernels, const struct kernel_argument *argument,
                      const void *from, cugen_error *err);
/* Answers with tally.first: the index from `from` of the first byte of the gaps `where` that
   differs from the pattern, which begins at every address that is divisible by eight; UINT64_MAX:
   no byte differs. */
int data_kernels_find(struct data_kernels *kernels, const void *from, struct verify_gaps where,
                      uint64_t pattern, cugen_error *err);
/* Like data_kernels_find, for all padding of an output, also of a tiled or swizzled array. */
int data_kernels_gaps(struct data_kernels *kernels, const struct kernel_argument *output,
                      const void *from, unsigned char poison, cugen_error *err);
/* Asks two questions: data_kernels_find about each guard of a memory. *asked is false, and nothing
   is asked, if the guards cannot be read on the device. */
int data_kernels_guards(struct data_kernels *kernels, const struct memory *memory, bool *asked,
                        cugen_error *err);
/* Answers with a tally like struct verify_tally. want: the reference's results in dtype->wide.
   samples: the elements to compare; NULL: all. got, want and samples are in device memory. */
int data_kernels_compare(struct data_kernels *kernels, const struct kernel_argument *output,
                         const void *got, const void *want, const int64_t *samples, int64_t count,
                         cugen_error *err);
/* Answers with tally.first: the index of the first of `results`, of 8 bytes each, that belongs to
   an element of the output and still has only bytes of poison; UINT64_MAX: none. */
int data_kernels_unwritten(struct data_kernels *kernels, const struct kernel_argument *output,
                           const void *results, const int64_t *samples, int64_t count,
                           unsigned char poison, cugen_error *err);
/* Converts all elements of an argument from dtype->wide, packed at `from` with 8 bytes each, into
   the layout of the argument at `to`, as element_put does. Answers with tally.wrong: the number of
   elements that hold only the poison or may not fit the argument's type, for the host to inspect;
   0: all are right. */
int data_kernels_narrow(struct data_kernels *kernels, const struct kernel_argument *argument,
                        const void *from, unsigned char poison, void *to, cugen_error *err);
/* Like data_kernels_compare, for errors that a verify kernel computed in units of the tolerance. */
int data_kernels_errors(struct data_kernels *kernels, const double *errors, int64_t count,
                        cugen_error *err);
/* Waits for all questions. *tallies has their answers, valid until the next data_kernels_begin. */
int data_kernels_await(struct data_kernels *kernels, const struct data_tally **tallies,
                       cugen_error *err);

struct verify_tally data_tally_read(const struct data_tally *tally);

#endif
