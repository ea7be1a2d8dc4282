/* Describing findings. */
#ifndef EMULATOR_CHECK_MESSAGES_H
#define EMULATOR_CHECK_MESSAGES_H

#include "check.h"

/* One sentence without the place; the caller frees it. NULL: no memory. */
char *check_message(cugen_finding_kind kind, const struct check_detail *finding);
/* Why a source that the host's compiler refused is not checked: names the unsupported
   instruction, if that is the reason. */
char *check_not_emulated(const char *source, cugen_cause cause, const char *refusal);

#endif
