/* Describing findings. */
#ifndef EMULATOR_CHECK_MESSAGES_H
#define EMULATOR_CHECK_MESSAGES_H

#include "check.h"

/* Returns the finding's description, one sentence without the place, to be freed. NULL: no
   memory. */
char *check_message(cugen_finding_kind kind, const struct check_detail *finding);
/* Returns why a source that the host's compiler refused is not checked, to be freed: the
   unsupported instruction, or else the compiler's error. NULL: no memory. */
char *check_not_emulated(const char *source, cugen_cause cause, const char *refusal);

#endif
