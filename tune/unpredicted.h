/* Finds the source line behind the model's refusal to predict a variant. Images have no line
   numbers, so that equal code has equal images. Therefore the first refused variant of each
   implementation and reason is compiled once more with line numbers. */
#ifndef TUNE_UNPREDICTED_H
#define TUNE_UNPREDICTED_H

#include "compile_pool.h"

struct unpredicted {
  struct unpredicted_reason {
    char *of, *placed; /* the key "IMPLEMENTATION: reason", and the reason with its source line */
    struct unpredicted_reason *next;
  } * reasons;
};

/* Adds the source line to *why, which is the model's reason for refusing the spec. *why stays as it
   is if no line is found. */
void unpredicted_place(struct unpredicted *unpredicted, const struct device_description *device,
                       struct compile_pool *pool, const struct kernel_spec *spec, cugen_error *why);
void unpredicted_free(struct unpredicted *unpredicted);

#endif
