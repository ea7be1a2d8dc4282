/* What the tests of the shipped kernels share: the library on the cpu device, running variants
   and comparing them with their references, and configs cut down to the one variant that a plan
   is to take. */
#ifndef TESTS_CPU_KERNELS_H
#define TESTS_CPU_KERNELS_H

#include "base/text.h"

/* Set-up of a group of cmocka tests: *state becomes the library. */
int open_library(void **state);
int close_library(void **state);

/* settings: at most `most` strings; a NULL ends them. */
cugen_kernel *open_kernel(cugen *lib, const char *config, const char *const *settings, size_t most);

/* Runs the variant, which must be right. Returns its error in units of the tolerance. */
double run_variant(cugen_kernel *kernel, const char *variant);

struct text read_text(const char *path);

/* Replaces the first `from` behind the first `after` by `to`. */
void replace(struct text *text, const char *after, const char *from, const char *to);

void add_text(cugen *lib, const char *name, const struct text *text);

/* A kernel that a test makes: NAME.lua with the template NAME.cu, and reference.cu. */
struct made_up {
  const char *name, *config, *reference;
  const char *head; /* the template's text up to the kernel's body */
  const char *setting;
};

cugen_kernel *open_made_up(cugen *lib, const struct made_up *made, const char *body);

/* A shipped config of which only some variants are left. */
struct choice {
  const char *config;
  const char *implementation; /* the only implementation; NULL: all */
  /* The only values of some tunables, such as "vec = 4, image_in = 'array'"; NULL: all values. */
  const char *tunables;
};

/* Adds the config of the choice to the library under the name "chosen.lua". */
void add_choice(cugen *lib, const struct choice *choice);

/* Opens a plan, which takes the first variant of the choice. */
cugen_plan *open_choice(cugen *lib, const struct choice *choice, const char *const *settings,
                        size_t most);

/* Binds the arguments, launches once and closes the call. */
void launch_once(cugen_plan *plan, void *const *arguments, size_t count);

/* Runs the variants of a section of runs.txt, each of which must be right. */
void run_section(cugen *lib, const char *name);

#endif
