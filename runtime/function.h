/* A function of the user's own in place of a plan's kernels: the baseline of a tune. Its image is
   the text of its call (base/library.h), which any device takes. */
#ifndef RUNTIME_FUNCTION_H
#define RUNTIME_FUNCTION_H

#include "device.h"

/* Returns whether the image is the call of a user's function. */
bool function_is(const struct compiled *compiled);
/* Loads the library, which then stays loaded, with the function's static variables. */
int function_load(const struct compiled *compiled, cugen_baseline *out, cugen_error *err);

/* A function bound to its arguments. */
struct function_call {
  cugen_baseline function;
  void *arguments[KERNEL_MAX_ARGUMENTS];
  cugen_argument_info infos[KERNEL_MAX_ARGUMENTS];
  const cugen_argument_info *about[KERNEL_MAX_ARGUMENTS]; /* point to infos */
};
/* Calls the function on the device's stream. Its own code of a failure has the cause
   CUGEN_CAUSE_RESOURCES, like that of a driver which cannot launch. */
int function_launch(struct device *device, struct function_call *call, cugen_error *err);

#endif
