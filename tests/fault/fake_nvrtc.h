/* What a test can see of and do to the fake NVRTC (fake_nvrtc.c), found in it as the symbol
   `fake_nvrtc`. */
#ifndef TESTS_FAKE_NVRTC_H
#define TESTS_FAKE_NVRTC_H

enum fake_image {
  FAKE_IMAGE_CUBIN, /* an ELF that names the kernels */
  FAKE_IMAGE_NOISE, /* bytes that are no ELF */
  FAKE_IMAGE_EMPTY, /* no byte */
  FAKE_IMAGE_OTHER  /* an ELF without the kernels */
};

struct fake_nvrtc {
  /* Set by the test. */
  long fail_at;           /* this call fails, counted from 1; 0: none */
  int fail_compile;       /* 1: compiling fails, whichever call that is */
  int fail_with;          /* the nvrtcResult of either */
  enum fake_image image;  /* what compiling gives */
  const char *log;        /* NULL: none, not even a NUL */
  double compile_seconds; /* what it takes, unless the flow callback says stop */

  /* Seen by the test. */
  long calls;              /* that can fail, so far */
  const char *failed_call; /* the one that was made to fail */
  long programs;           /* alive now */
};

#endif
