/* What the tests of the shipped kernels share: the library on the cpu device, variants run and
   held against their references, and configs cut down to the one variant that a plan is to take. */
#ifndef TESTS_CPU_KERNELS_H
#define TESTS_CPU_KERNELS_H

#include "base/text.h"

/* For cmocka's groups: *state is the library. */
int open_library(void **state);
int close_library(void **state);

/* settings: at most `most`, up to a NULL. */
cugen_kernel *open_kernel(cugen *lib, const char *config, const char *const *settings, size_t most);

/* It must be right; returns its error in parts of the tolerance. */
double run_variant(cugen_kernel *kernel, const char *variant);

struct text read_text(const char *path);

/* The first `from` behind the first `after` becomes `to`. */
void replace(struct text *text, const char *after, const char *from, const char *to);

void add_text(cugen *lib, const char *name, const struct text *text);

/* A kernel of a test's own: NAME.lua with the template NAME.cu, and reference.cu. */
struct made_up {
  const char *name, *config, *reference;
  const char *head; /* of the template, up to the kernel's body */
  const char *setting;
};

cugen_kernel *open_made_up(cugen *lib, const struct made_up *made, const char *body);

/* A shipped config with fewer variants. */
struct choice {
  const char *config;
  const char *implementation; /* the only one; NULL: all */
  /* "vec = 4, image_in = 'array'": their only values; NULL: all of each */
  const char *tunables;
};

/* The config of the choice, under the name "chosen.lua". */
void add_choice(cugen *lib, const struct choice *choice);

/* A plan, which takes the first variant that the choice leaves. */
cugen_plan *open_choice(cugen *lib, const struct choice *choice, const char *const *settings,
                        size_t most);

/* Binds, launches once and closes the call. */
void launch_once(cugen_plan *plan, void *const *arguments, size_t count);

#endif
