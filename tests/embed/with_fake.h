/* What tests over the fake driver share. NVRTC does not work beside it, so that images come from
   the cache. */
#ifndef TESTS_WITH_FAKE_H
#define TESTS_WITH_FAKE_H

#include "api/api.h"
#include "tests/fault/find_fake.h"

/* Puts images of the kernel's first variants, which the fake driver will load, into its cache. */
void fake_keep_images(cugen_kernel *kernel);

#endif
