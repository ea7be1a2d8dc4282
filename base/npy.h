/* NumPy's file format .npy, versions 1.0 and 2.0 (numpy.lib.format): a header that says what the elements are, then the
   elements. Only what a config can declare is read: numbers of this machine's byte order, one to four dimensions. */
#ifndef BASE_NPY_H
#define BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum { NPY_MOST_RANK = 4, NPY_MOST_HEADER = 4096, NPY_HEAD = NPY_MOST_HEADER + 12 };

struct npy {
  char type[8]; /* as NumPy writes it, without the byte order: "f4", "i8", "V2" */
  int bytes;    /* of an element */
  bool fortran; /* the first dimension is contiguous; else the last one */
  int rank;
  int64_t shape[NPY_MOST_RANK]; /* each 1 or more */
  size_t offset;                /* of the elements */
};

/* head: the first head_length bytes of a file of `length` bytes, NPY_HEAD where it is as long: no more is looked at.
   CUGEN_ERROR_CONFIG, the message without the file's name: it is no such file, has something that is not read here, or
   more or fewer bytes than its elements. */
int npy_parse(const void *head, size_t head_length, size_t length, struct npy *out, cugen_error *err);

#endif
