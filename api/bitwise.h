/* Only what gives the same bits as a named variant. */
#ifndef API_BITWISE_H
#define API_BITWISE_H

#include "api.h"

/* Runs the variant of options->bitwise, remembers it, and sets target->outputs, and the kernel's equal_to and outputs.
   CUGEN_ERROR_USAGE: it fails, or differs from itself. */
int bitwise_begin(cugen_kernel *kernel, const cugen_tune_options *options, struct tune_target *target,
                  cugen_error *err);
/* The best of those that are recorded to give what that variant gives, else the variant itself. *out is to be freed whatever comes
   back. */
int bitwise_select(cugen_kernel *kernel, const char *name, struct selection *out, cugen_error *err);

#endif
