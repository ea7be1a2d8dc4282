/* From a rendered body to a source that stands by itself: its `#include <...>` lines moved to the top, the prologue
   of the names it mentions, then the body. Finds its __global__ functions on the way. */
#ifndef GEN_TEMPLATE_ASSEMBLE_H
#define GEN_TEMPLATE_ASSEMBLE_H

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

struct assembly {
  struct names *names; /* loses what was marked as used before */
  const struct text *body;
  const char *defines;  /* lines in front of everything, headers too */
  bool parameters_used; /* the body holds the ${params} of these arguments */
  /* The kernels that are launched, as their declarations name them: names in them are mentions, too. */
  const struct assembly_entry {
    const char *text;
    const char *path; /* of the declaration, for messages */
    int line;
  } * entries;
  size_t entry_count;
};

/* Appends includes, prologue and body to out. */
int assemble(const struct assembly *in, struct text *out, struct kernel_names *kernels, cugen_error *err);

#endif
