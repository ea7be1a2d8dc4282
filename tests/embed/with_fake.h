/* What tests over the fake driver share. NVRTC does not work beside the fake driver, so images
   come from the cache. */
#ifndef TESTS_WITH_FAKE_H
#define TESTS_WITH_FAKE_H

#include "api/api.h"
#include "tests/fault/find_fake.h"

/* Stores images of the kernel's first variants in its cache, which the fake driver can load. */
void fake_keep_images(cugen_kernel *kernel);

#endif
