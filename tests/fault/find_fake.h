/* Finds the stand-in for the driver, which the build has put into a folder of its own. */
#ifndef TESTS_FAULT_FIND_FAKE_H
#define TESTS_FAULT_FIND_FAKE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "fake_cuda.h"

static struct fake_cuda *fake;

/* Fixture: loads the stand-in, so that the library finds it under the driver's name. */
static inline int find_fake(void **state) {
  const char *folder = getenv("CUGEN_TEST_FAKE_CUDA");
  struct text path = {0};
  (void)state;
  text_addf(&path, "%s/libcuda.so.1", folder ? folder : ".");
  void *handle = dlopen(text_get(&path), RTLD_NOW);
  fake = handle ? dlsym(handle, "fake_cuda") : NULL;
  if (!fake) fprintf(stderr, "%s is not the fake driver\n", text_get(&path));
  text_free(&path);
  return fake ? 0 : -1;
}

#endif
