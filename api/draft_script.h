/* A tuning script in T1, the JSON in which Kernel Tuner and KTT describe what they tune
   (kernel_tuner/schema/T1), as parts of a config. The script's expressions are Python's. A
   condition that has no form in a config becomes a comment; a size or an extent without a form
   becomes 1. */
#ifndef API_DRAFT_SCRIPT_H
#define API_DRAFT_SCRIPT_H

#include <jansson.h>

#include "base/dtype.h"
#include "draft.h"
#include "gen/sources/signature.h"

enum { SCRIPT_TUNABLES = 128, SCRIPT_SIZES = 3 };

struct script_tunable {
  const char *name; /* belongs to the script */
  struct value *values;
  size_t count;
};

struct script {
  const char *path;
  json_t *root, *kernel; /* the whole script, which owns the rest, and its KernelSpecification */
  const char *file, *entry;
  int64_t sizes[SCRIPT_SIZES]; /* ProblemSize */
  size_t size_count;
  struct script_tunable tunables[SCRIPT_TUNABLES];
  size_t tunable_count;
  char **words; /* copies of the tunables' values that are strings */
  size_t word_count;
};

/* Reads a script. *out borrows `path`; close *out also after a failure. */
int script_open(const char *path, struct script *out, cugen_error *err);
void script_close(struct script *script);
/* Fails if the numbers of the script's arguments and of the kernel's parameters do not fit. */
int script_check(const struct script *script, const struct signature *in, cugen_error *err);

/* Returns the dtype of a type's name in a script or a kernel's text; NULL: unknown. *elements
   becomes the length of a vector such as float4, else 1. */
const struct dtype *script_type(const char *type, int *elements);

/* These functions append parts of a config. *guesses grows by the lines marked "guess" or "to
   do". */
void script_add_problem(const struct script *script, struct text *out, size_t *guesses);
/* Sets the names and kinds of the draft's parameters, too. */
void script_add_arguments(const struct script *script, api_draft *draft, struct text *out,
                          size_t *guesses);
/* Appends the declarations of constants for the reference. */
void script_add_constants(const struct script *script, struct text *out);
void script_add_tunables(const struct script *script, struct text *out, size_t *guesses);
void script_add_launch(const struct script *script, struct text *out, size_t *guesses);

#endif
