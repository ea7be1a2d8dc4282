/* What a test can see of the fake cuBLASLt (fake_cublaslt.c), and set in it: it exports this as the
   symbol `fake_cublaslt`. */
#ifndef TESTS_FAKE_CUBLASLT_H
#define TESTS_FAKE_CUBLASLT_H

#include <stddef.h>

struct fake_cublaslt {
  /* Set by the test. */
  int algorithms;   /* how many the heuristics name; 0: they have none, NOT_SUPPORTED */
  int aligned_only; /* how many of them, the last, take only buffers aligned to 256 bytes */
  size_t workspace; /* that each algorithm wants */
  const char *fail; /* the function that fails, "Matmul"; NULL: none */

  /* Seen by the test. */
  long objects;        /* handles, descriptions and layouts that exist now */
  long products;       /* products computed so far */
  unsigned long least; /* the fewest elements that one of their results had; 0: none yet */
  int algorithm;       /* of the last product */
  const void *workspace_at;
  void *stream;
  int compute, scale, types[4]; /* of the last product: its operation, and of A, B, C, D */
  int transposed[2], fast;
};

#endif
