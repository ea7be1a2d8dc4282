/* The variants that are known to fail for one problem, which no export takes unless the user names
   them. */
#include <stdlib.h>

#include "export.h"

void export_failing_close(struct export_failing *failing) {
  for (size_t i = 0; i < failing->count; i++) {
    failures_close(failing->failures[i]);
    lookup_close(&failing->lookups[i]);
  }
  free(failing->failures);
  free(failing->lookups);
  *failing = (struct export_failing){0};
}

bool export_stands_for_others(const struct export_device *device) {
  return device->ptx || device->anonymous;
}

int export_failing_open(struct exporter *x, size_t device, const struct problem *problem,
                        cugen_error *err) {
  struct export_failing *failing = &x->failing;
  int status = CUGEN_OK;
  export_failing_close(failing);
  failing->lookups = calloc(x->device_count, sizeof *failing->lookups);
  failing->failures = calloc(x->device_count, sizeof *failing->failures);
  if (!failing->lookups || !failing->failures) return error_memory(err);
  for (size_t i = 0; i < x->device_count && !status; i++) {
    if (export_stands_for_others(&x->devices[i])) continue;
    if (i != device && !export_stands_for_others(&x->devices[device])) continue;
    const size_t at = failing->count++;
    struct lookup *l = &failing->lookups[at];
    status = lookup_for_problem(&x->devices[i].lookup, problem, l, err);
    if (!status) status = failures_open(l, &failing->failures[at], err);
  }
  return status;
}

int export_is_failing(struct exporter *x, const struct lookup *l, uint64_t index, bool *out,
                      cugen_error *err) {
  const struct cache_record *failed = NULL;
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->failing.count && !status && !failed; i++)
    status = failures_find_at(x->failing.failures[i], l, index, &failed, err);
  *out = failed != NULL;
  return status;
}
