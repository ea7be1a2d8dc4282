/* A first config for a kernel that has none, guessed from the kernel's text. */
#ifndef API_DRAFT_H
#define API_DRAFT_H

#include <stddef.h>

#include "base/kernel.h"
#include "cugen.h"

typedef struct api_draft_parameter {
  char name[64], type[24]; /* type as in the kernel's text, without qualifiers; "": not a plain
                              word */
  char dtype[8];           /* "": cugen has no such type */
  const char *kind;        /* "input", "output", "inout", "scalar" */
  int pointer;
} api_draft_parameter;

typedef struct api_draft {
  char kernel[64];
  char stem[64]; /* the name of the kernel's file, or of the script, without folder and ending */
  api_draft_parameter parameters[KERNEL_MAX_ARGUMENTS];
  size_t parameter_count;
  char entry[256];    /* the config's entry, such as "product<TILE>"; "": the config names none */
  char *config;       /* the text of a config; its guesses are marked by comments */
  char *reference;    /* the text of a reference to fill in */
  size_t guess_count; /* lines of the config marked "guess" or "to do" */
} api_draft;

/* Reads the kernel of "FILE.cu" or "FILE.cu:KERNEL" and fills *out, which api_draft_free frees.
   CUGEN_ERROR_USAGE: there is no such kernel, there are several and none is named, or the
   parameters are too many or cannot be read. */
int api_draft_open(const char *kernel, api_draft *out, cugen_error *error);
/* Like api_draft_open, for the kernel of a tuning script in T1 (draft_script.h): tunables,
   restrictions, arguments and the launch are the script's. The kernel's file is in the script's
   folder or below. */
int api_draft_open_script(const char *path, api_draft *out, cugen_error *error);
void api_draft_free(api_draft *draft);

#endif
