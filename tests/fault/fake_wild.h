/* What the fake driver does for launches of wild.lua's kernel and of its reference. */
#ifndef TESTS_FAULT_FAKE_WILD_H
#define TESTS_FAULT_FAKE_WILD_H

#include <string.h>

#include "fake_cuda.h"

static inline bool fake_is_reference(const struct fake_launch *launch) {
  return launch->kernel && strcmp(launch->kernel, "reference") == 0;
}

/* Writes zeros: f32 for the kernel, f64 for the reference. */
static inline void fake_run_wild(const struct fake_launch *launch) {
  const bool reference = fake_is_reference(launch);
  char *out;
  int n;
  memcpy(&out, launch->parameters[0], sizeof out);
  memcpy(&n, launch->parameters[4], sizeof n);
  long long count = n;
  if (reference) memcpy(&count, launch->parameters[6], sizeof count);
  memset(out, 0, (size_t)count * (reference ? sizeof(double) : sizeof(float)));
}

#endif
