/* What the causes of errors mean: how a variant ended, and how a fault is worded. */
#ifndef BASE_CAUSE_H
#define BASE_CAUSE_H

#include "error.h"

enum { FAULT_TEXT = 512 };

/* Why a kernel was ended, where the process or the launch ends with it. */
struct fault {
  cugen_cause cause;
  char text[FAULT_TEXT]; /* without the cause's prefix; "": there is no fault */
};

/* How a variant ended that failed with this cause. */
cugen_outcome cause_outcome(cugen_cause cause);
/* Stands in front of a fault's text where no outcome says the same: "trap: ". */
const char *cause_prefix(cugen_cause cause);

#endif
