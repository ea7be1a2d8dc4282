/* What statuses and outcomes are called, in messages and in JSON. */
#include "base/error.h"
#include "cugen_tools.h"

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
enum { STATUSES = sizeof statuses / sizeof *statuses, OUTCOMES = sizeof outcomes / sizeof *outcomes };

const char *cugen_status_text(int status) {
  return status <= 0 && -(long)status < STATUSES ? statuses[-status] : "unknown status";
}

const char *cugen_outcome_text(int outcome) {
  return outcome >= 0 && outcome < OUTCOMES ? outcomes[outcome].text : "unknown outcome";
}

const char *cugen_outcome_name(int outcome) {
  return outcome >= 0 && outcome < OUTCOMES ? outcomes[outcome].name : "unknown";
}
