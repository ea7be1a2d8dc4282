/* What a test can see of the fake NVRTC (fake_nvrtc.c), and set in it: it exports this as the
   symbol `fake_nvrtc`. */
#ifndef TESTS_FAKE_NVRTC_H
#define TESTS_FAKE_NVRTC_H

enum fake_image {
  FAKE_IMAGE_CUBIN, /* an ELF that names the kernels */
  FAKE_IMAGE_NOISE, /* bytes that are not an ELF */
  FAKE_IMAGE_EMPTY, /* no bytes */
  FAKE_IMAGE_OTHER  /* an ELF without the kernels */
};

struct fake_nvrtc {
  /* Set by the test. */
  long fail_at;           /* number of the call that fails, from 1; 0: none */
  int fail_compile;       /* 1: compiling fails, whatever its number */
  int fail_with;          /* the nvrtcResult of a failure */
  enum fake_image image;  /* the image that compiling gives */
  const char *log;        /* the log; NULL: none, not even a NUL */
  double compile_seconds; /* seconds that a compile takes unless the flow callback stops it */

  /* Seen by the test. */
  long calls;              /* calls so far that can fail */
  const char *failed_call; /* name of the call that was made to fail */
  long programs;           /* programs that exist now */
};

#endif
