/* Restricts tuning and plans to variants that give the same bits as a named variant. */
#ifndef API_BITWISE_H
#define API_BITWISE_H

#include "api.h"

/* Runs the variant of options->bitwise, remembers its record, and sets target->outputs and the
   kernel's equal_to and outputs. CUGEN_ERROR_USAGE: for example, the variant does not exist or
   fails, or its launches give different bits. */
int bitwise_begin(cugen_kernel *kernel, const cugen_tune_options *options,
                  struct tune_target *target, cugen_error *err);
/* Selects the best variant recorded with the outputs of the named variant; the named variant itself
   if its outputs are not recorded. Free *out also after a failure. */
int bitwise_select(cugen_kernel *kernel, const char *name, struct selection *out, cugen_error *err);

#endif
