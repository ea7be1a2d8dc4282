/* A function of the user's own in place of a plan's kernels: the baseline of a tune. The image of
   such a plan is the text of the call (base/library.h), which any device takes. */
#ifndef RUNTIME_FUNCTION_H
#define RUNTIME_FUNCTION_H

#include "device.h"

bool function_is(const struct compiled *compiled);
/* Finds the function in its library, which stays loaded, with the function's static variables. */
int function_load(const struct compiled *compiled, cugen_baseline *out, cugen_error *err);

/* A function bound to its arguments. */
struct function_call {
  cugen_baseline function;
  void *arguments[KERNEL_MAX_ARGUMENTS];
  cugen_argument_info infos[KERNEL_MAX_ARGUMENTS];
  const cugen_argument_info *about[KERNEL_MAX_ARGUMENTS]; /* point to infos */
};
/* Calls the function on the device's stream. If the function returns a code of failure, the cause
   is CUGEN_CAUSE_RESOURCES, as when a driver cannot launch. */
int function_launch(struct device *device, struct function_call *call, cugen_error *err);

#endif
