/* The meaning of the causes of errors: the outcome of a variant that fails with a cause, and the
   words for a fault. */
#ifndef BASE_CAUSE_H
#define BASE_CAUSE_H

#include <stdbool.h>

#include "error.h"

enum { FAULT_TEXT = 512 };

/* The fault that ended a kernel, and with it the launch or the process. */
struct fault {
  cugen_cause cause;
  bool beside;           /* the kernel accessed memory just in front of a buffer or behind one */
  char text[FAULT_TEXT]; /* without the prefix of the cause; "" if there is no fault */
};

/* The outcome of a variant that failed with this cause. */
cugen_outcome cause_outcome(cugen_cause cause);
/* The prefix of a fault's text that names the fault's kind, such as "trap: ", for where the text is
   shown without the outcome; "" if the cause has no prefix. */
const char *cause_prefix(cugen_cause cause);

#endif
