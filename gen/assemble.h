/* From a rendered body to a source that stands by itself: its `#include <...>` lines moved to the top, the prologue
   of the names it mentions, then the body. Finds its __global__ functions on the way. */
#ifndef GEN_ASSEMBLE_H
#define GEN_ASSEMBLE_H

#include "names.h"

enum { KERNELS_LISTED = 16 };

/* The __global__ functions of a body, each name once; those past the list are only counted. */
struct kernel_names {
  struct kernel_name {
    const char *at; /* in the body */
    size_t length;
    bool templated;
  } list[KERNELS_LISTED];
  size_t count;
};

/* Appends includes, prologue and body to out. names loses what was marked as used before. parameters_used: the body
   holds the ${params} of these arguments. */
int assemble(struct names *names, const struct text *body, bool parameters_used, struct text *out,
             struct kernel_names *kernels, cugen_error *err);

#endif
