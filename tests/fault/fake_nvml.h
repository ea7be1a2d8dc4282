/* What a test can see of the fake NVML (fake_nvml.c), and set in it: it exports this as the
   symbol `fake_nvml`. */
#ifndef TESTS_FAKE_NVML_H
#define TESTS_FAKE_NVML_H

#include <stdbool.h>

struct fake_nvml {
  double joules; /* energy taken so far, to which the test adds */
  bool frozen;   /* the counter does not move any more */
  bool lost;     /* no GPU is found */
  int result;    /* result of reading the counter: 0, or 3 if it is not supported */
};

#endif
