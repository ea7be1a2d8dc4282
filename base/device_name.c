#include "device_name.h"

#include <string.h>

static const struct {
  const char *before; /* the name */
  const char *ends;   /* what may follow a whole word; "": anything */
  cugen_device_kind kind;
} kinds[] = {
    {DEVICE_NAME_CPU, " ", CUGEN_DEVICE_CPU},
    {DEVICE_NAME_CUDA, ":", CUGEN_DEVICE_CUDA},
    {DEVICE_NAME_MODEL, "", CUGEN_DEVICE_MODEL},
};

cugen_device_name cugen_device_parse(const char *text) {
  static const size_t mark = sizeof DEVICE_NAME_PREDICTED - 1;
  cugen_device_name out = {CUGEN_DEVICE_NAMED, 0, text ? text : ""};
  out.predicted = strncmp(out.name, DEVICE_NAME_PREDICTED, mark) == 0;
  if (out.predicted) out.name += mark;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !out.predicted; i++) {
    const size_t length = strlen(kinds[i].before);
    const char *rest = out.name + length;
    if (strncmp(out.name, kinds[i].before, length) != 0) continue;
    if (*kinds[i].ends && *rest && *rest != *kinds[i].ends) continue;
    out.kind = kinds[i].kind;
    out.name = rest + (*kinds[i].ends && *rest);
    break;
  }
  return out;
}
