/* What tests over the fake driver share. NVRTC does not work beside it, so that images come from the cache. */
#ifndef TESTS_WITH_FAKE_H
#define TESTS_WITH_FAKE_H

#include "api/api.h"
#include "tests/fault/fake_cuda.h"

/* Loaded here, it is also what the library finds under that name. NULL: it is not there. */
struct fake_cuda *fake_find(void);

/* Puts images of the kernel's first variants, which the fake driver will load, into its cache. */
void fake_keep_images(cugen_kernel *kernel);

#endif
