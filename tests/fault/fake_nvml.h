/* What a test can see of and do to the fake NVML (fake_nvml.c), found in it as the symbol
   `fake_nvml`. */
#ifndef TESTS_FAKE_NVML_H
#define TESTS_FAKE_NVML_H

#include <stdbool.h>

struct fake_nvml {
  double joules; /* taken so far: the test adds to it */
  bool frozen;   /* the counter moves no more */
  int result;    /* what reading the counter gives: 0, or 3 where it is not supported */
};

#endif
