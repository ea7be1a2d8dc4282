/* Makes a whole source from a rendered body: its `#include <...>` lines, the definitions of the
   names that the body mentions (the prologue), then the body. Also finds the __global__ functions
   of the body. */
#ifndef GEN_TEMPLATE_ASSEMBLE_H
#define GEN_TEMPLATE_ASSEMBLE_H

#include "names.h"

enum { KERNELS_LISTED = 16 };

/* The __global__ functions of a body, each name once. Functions beyond the size of the list are
   only counted. */
struct kernel_names {
  struct kernel_name {
    const char *at; /* place in the body */
    size_t length;
    bool templated;
  } list[KERNELS_LISTED];
  size_t count;
};

/* Finds the kernel of an entry such as "scope::name<arguments>"; NULL if it is not listed. */
const struct kernel_name *kernel_names_find(const struct kernel_names *kernels, const char *entry);

/* A launched kernel, as an entry names it; the name is "" until the only kernel is known. */
struct kernel_entry {
  struct text name;
  struct config_line line;     /* line of the first launch that names the kernel */
  bool only;                   /* no entry names the kernel, because it is the only one */
  bool stored;                 /* the strings of the kernel are stored in the spec */
  size_t name_at, place_at;    /* offsets of the kernel's strings in the spec, if `stored` */
  bool launched, has_carveout; /* whether the launches so far launch the kernel, and set its
                                  carveout */
  int carveout;
};

struct assembly {
  struct names *names; /* assemble clears the marks of earlier uses */
  const struct text *body;
  const char *defines;                /* lines to put before everything, also before headers */
  bool parameters_used;               /* whether the body contains ${params} */
  const struct kernel_entry *entries; /* names in entries count as mentioned */
  size_t entry_count;
};

/* Appends defines, includes, prologue and body to out. */
int assemble(const struct assembly *in, struct text *out, struct kernel_names *kernels,
             cugen_error *err);

#endif
