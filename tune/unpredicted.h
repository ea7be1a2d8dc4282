/* Why the model has no time for a variant, with the line of the source. Code is compiled without its lines, so that equal code is
   equal: what the model refuses is compiled once more with them, the first of each implementation and reason. */
#ifndef TUNE_UNPREDICTED_H
#define TUNE_UNPREDICTED_H

#include "compile_pool.h"

struct unpredicted {
  struct unpredicted_reason {
    char *of, *placed; /* "IMPLEMENTATION: reason", and the reason with its place */
    struct unpredicted_reason *next;
  } * reasons;
};

/* Adds the place to *why, the model's refusal of the spec. What cannot be compiled with its lines has none. */
void unpredicted_place(struct unpredicted *unpredicted, const struct device_description *device,
                       struct compile_pool *pool, const struct kernel_spec *spec, cugen_error *why);
void unpredicted_free(struct unpredicted *unpredicted);

#endif
