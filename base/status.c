/* Names of statuses, outcomes and findings, for messages and JSON; and what causes of errors mean
   (cause.h). */
#include "cause.h"
#include "error.h"

static const char *const statuses[] = {
    [-CUGEN_OK] = "no error",
    [-CUGEN_ERROR_INTERNAL] = "internal error",
    [-CUGEN_ERROR_USAGE] = "wrong use",
    [-CUGEN_ERROR_CONFIG] = "bad config",
    [-CUGEN_ERROR_TEMPLATE] = "template error",
    [-CUGEN_ERROR_EMPTY] = "empty space",
    [-CUGEN_ERROR_COMPILE] = "compiler error",
    [-CUGEN_ERROR_DEVICE] = "device error",
    [-CUGEN_ERROR_MISSING] = "something is missing",
    [-CUGEN_ERROR_CACHE] = "cache error",
    [-CUGEN_ERROR_IO] = "input or output error",
    [-CUGEN_ERROR_WRONG] = "wrong result",
    [-CUGEN_ERROR_MEMORY] = "out of memory",
    [-CUGEN_ERROR_INTERRUPTED] = "interrupted",
};

static const struct {
  const char *name, *text;
} outcomes[] = {
    [CUGEN_OUTCOME_OK] = {"ok", "ok"},
    [CUGEN_OUTCOME_COMPILE] = {"compile", "does not compile"},
    [CUGEN_OUTCOME_LAUNCH] = {"launch", "cannot be launched"},
    [CUGEN_OUTCOME_WRONG] = {"wrong", "wrong result"},
    [CUGEN_OUTCOME_BOUNDS] = {"bounds", "out of bounds"},
    [CUGEN_OUTCOME_TRAP] = {"trap", "trap"},
    [CUGEN_OUTCOME_TIMEOUT] = {"timeout", "time limit"},
    [CUGEN_OUTCOME_UNPREDICTED] = {"unpredicted", "no prediction"},
};

static const char *const findings[] = {
    [CUGEN_FINDING_RACE] = "race",
    [CUGEN_FINDING_BLOCK_RACE] = "race between blocks",
    [CUGEN_FINDING_COPY_IN_FLIGHT] = "copy in flight",
    [CUGEN_FINDING_UNINITIALISED] = "uninitialised read",
    [CUGEN_FINDING_OUT_OF_BOUNDS] = "out of bounds",
    [CUGEN_FINDING_MISALIGNED] = "misaligned access",
    [CUGEN_FINDING_INDEX] = "index out of bounds",
    [CUGEN_FINDING_INPUT_WRITE] = "write to an input",
    [CUGEN_FINDING_DIVERGENCE] = "barrier divergence",
    [CUGEN_FINDING_EXITED] = "barrier after exit",
    [CUGEN_FINDING_ABSENT_LANES] = "absent lanes",
    [CUGEN_FINDING_DEADLOCK] = "deadlock",
    [CUGEN_FINDING_HANG] = "hang",
    [CUGEN_FINDING_MISSING_FENCE] = "missing fence",
    [CUGEN_FINDING_ACCUMULATORS] = "sums in flight",
    [CUGEN_FINDING_ASYNC_MISUSE] = "asynchronous misuse",
    [CUGEN_FINDING_TRAP] = "trap",
    [CUGEN_FINDING_WRONG] = "wrong result",
    [CUGEN_FINDING_SAME_VALUE] = "same value written",
    [CUGEN_FINDING_CONSTANT_WRITE] = "write to a constant",
    [CUGEN_FINDING_SHARED_LIMIT] = "too much shared memory",
    [CUGEN_FINDING_LAUNCH] = "cannot be launched",
};

enum {
  STATUSES = sizeof statuses / sizeof *statuses,
  OUTCOMES = sizeof outcomes / sizeof *outcomes,
  FINDINGS = sizeof findings / sizeof *findings
};

const char *cugen_version(void) {
  return CUGEN_VERSION;
}

const char *cugen_status_text(int status) {
  return status <= 0 && -(long)status < STATUSES ? statuses[-status] : "unknown status";
}

const char *outcome_text(int outcome) {
  return outcome >= 0 && outcome < OUTCOMES ? outcomes[outcome].text : "unknown outcome";
}

const char *outcome_name(int outcome) {
  return outcome >= 0 && outcome < OUTCOMES ? outcomes[outcome].name : "unknown";
}

const char *finding_name(int kind) {
  return kind >= 0 && kind < FINDINGS ? findings[kind] : "unknown";
}

/* ---- Causes --------------------------------------------------------------------------------- */

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
