/* What is done with data where they lie: kernels of cugen's own (data_kernels.cu) fill inputs, digest them, look for bytes that
   are not what they should be, and compare outputs. They compute what elements.c and verify.c compute here, so that a verdict
   does not depend on where it was found; data_proof.c holds them to it on each device before they are used. Nothing of a buffer's
   size is moved.

   Questions are collected: begin, ask any number, await. The answers lie in the order of the questions. All is ordered like
   launches; only data_kernels_await waits. */
#ifndef TUNE_DATA_KERNELS_H
#define TUNE_DATA_KERNELS_H

#include "data_layout.h"
#include "runtime/device.h"
#include "verify.h"

struct data_kernels;

enum { DATA_MOST_QUESTIONS = 6 * KERNEL_MAX_ARGUMENTS, DATA_PARTS = 6 };

/* Source and kernels of one part, for a compiler. kernel_spec_free. */
int data_kernels_spec(int part, struct kernel_spec *out, cugen_error *err);

/* compiled: of every part. */
int data_kernels_open(struct device *device, const struct compiled *const *compiled, struct data_kernels **out,
                      cugen_error *err);
void data_kernels_close(struct data_kernels *kernels);

/* Whether the argument's contents can be made there: it has a fill. As element_fill. */
bool data_kernels_make(const struct kernel_argument *argument);
int data_kernels_fill(struct data_kernels *kernels, const struct kernel_argument *argument, uint64_t seed,
                      size_t ordinal, void *to, cugen_error *err);

/* As element_widen of each element, or of the samples: to[n] is sample n. Where an array has fewer elements to[n] stays as it is. */
int data_kernels_widen(struct data_kernels *kernels, const struct kernel_argument *argument, const void *from,
                       void *to, const int64_t *samples, int64_t count, cugen_error *err);
/* to: `count` samples, or elements (samples NULL), the last one first. */
int data_kernels_reverse(struct data_kernels *kernels, const int64_t *samples, int64_t count, int64_t *to,
                         cugen_error *err);

/* ---- Questions ---- */

int data_kernels_begin(struct data_kernels *kernels, cugen_error *err);
/* tally.digest: a change of a single byte always shows; of several, with a chance of 2^-64 that it does not. Digests of two devices
   cannot be compared: each has a random key. */
int data_kernels_digest(struct data_kernels *kernels, const void *from, size_t bytes, cugen_error *err);
/* tally.digest: element_digest of the argument's elements, the same on every device. */
int data_kernels_bits(struct data_kernels *kernels, const struct kernel_argument *argument, const void *from,
                      cugen_error *err);
/* tally.first: the first of these bytes that is not `byte`, counted from `from`; UINT64_MAX: there is none. */
int data_kernels_find(struct data_kernels *kernels, const void *from, const struct verify_gaps *where,
                      unsigned char byte, cugen_error *err);
/* The same of both guards, which is two questions. False through *asked: they cannot be read, and nothing is asked. */
int data_kernels_guards(struct data_kernels *kernels, const struct memory *memory, bool *asked, cugen_error *err);
/* tally: as struct verify_tally. want: the reference, in the wide type, samples: NULL, or where to compare; both on the device. */
int data_kernels_compare(struct data_kernels *kernels, const struct kernel_argument *output, const void *got,
                         const void *want, const int64_t *samples, int64_t count, cugen_error *err);
/* tally.first: the first of a reference's results, of 8 bytes each, that is due and holds that byte alone. */
int data_kernels_unwritten(struct data_kernels *kernels, const struct kernel_argument *output, const void *results,
                           const int64_t *samples, int64_t count, unsigned char poison, cugen_error *err);
/* The elements of an argument from `from`, where they lie packed and in the wide type, which has 8 bytes, into `to`, as element_put has
   them there. tally.wrong: how many hold the poison alone or may be no number of the argument's type, for the host to look at; 0: all
   are right. */
int data_kernels_narrow(struct data_kernels *kernels, const struct kernel_argument *argument, const void *from,
                        unsigned char poison, void *to, cugen_error *err);
/* As data_kernels_compare, of errors in units of what is allowed. */
int data_kernels_errors(struct data_kernels *kernels, const double *errors, int64_t count, cugen_error *err);
/* *tallies: theirs, until the next data_kernels_begin. */
int data_kernels_await(struct data_kernels *kernels, const struct data_tally **tallies, cugen_error *err);

struct verify_tally data_tally_read(const struct data_tally *tally);

#endif
