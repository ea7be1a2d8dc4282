/* The causes of errors in one table; see cause.h. */
#include "cause.h"

static const struct {
  cugen_outcome outcome;
  const char *prefix;
} causes[] = {
    [CUGEN_CAUSE_NONE] = {CUGEN_OUTCOME_TRAP, ""},
    [CUGEN_CAUSE_BOUNDS] = {CUGEN_OUTCOME_BOUNDS, "out of bounds: "},
    [CUGEN_CAUSE_INPUT] = {CUGEN_OUTCOME_WRONG, ""},
    [CUGEN_CAUSE_TRAP] = {CUGEN_OUTCOME_TRAP, "trap: "},
    [CUGEN_CAUSE_MASK] = {CUGEN_OUTCOME_TRAP, "trap: "},
    [CUGEN_CAUSE_RESOURCES] = {CUGEN_OUTCOME_LAUNCH, ""},
    [CUGEN_CAUSE_KERNEL_TIME] = {CUGEN_OUTCOME_TIMEOUT, ""},
    [CUGEN_CAUSE_COMPILE_TIME] = {CUGEN_OUTCOME_COMPILE, ""},
    [CUGEN_CAUSE_ASSEMBLY] = {CUGEN_OUTCOME_COMPILE, ""},
    [CUGEN_CAUSE_DEVICE_LOST] = {CUGEN_OUTCOME_TRAP, ""},
    [CUGEN_CAUSE_BUSY] = {CUGEN_OUTCOME_TRAP, ""},
    [CUGEN_CAUSE_GRID_SYNC] = {CUGEN_OUTCOME_LAUNCH, ""},
    [CUGEN_CAUSE_UNSUPPORTED] = {CUGEN_OUTCOME_LAUNCH, ""},
};
enum { CAUSES = sizeof causes / sizeof *causes };

/* Maps an unknown number to CUGEN_CAUSE_NONE, because a worker's answer may be corrupted. */
static cugen_cause cause_known(cugen_cause cause) {
  return (unsigned)cause < CAUSES ? cause : CUGEN_CAUSE_NONE;
}

cugen_outcome cause_outcome(cugen_cause cause) {
  return causes[cause_known(cause)].outcome;
}

const char *cause_prefix(cugen_cause cause) {
  return causes[cause_known(cause)].prefix;
}
