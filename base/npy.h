/* NumPy's file format .npy, versions 1.0 and 2.0 (numpy.lib.format): a header that describes the
   elements, followed by the elements. Arrays of numbers in this machine's byte order, in one to
   four dimensions, are read. */
#ifndef BASE_NPY_H
#define BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* NPY_HEAD: bytes at the start of a file that suffice for any header that is read. */
enum { NPY_MOST_RANK = 4, NPY_MOST_HEADER = 4096, NPY_HEAD = NPY_MOST_HEADER + 12 };

struct npy {
  char type[8]; /* type of an element as NumPy writes it, without the byte order: "f4", "i8",
                   "V2" */
  int bytes;    /* size of an element */
  bool fortran; /* whether the first dimension is contiguous; otherwise the last one is */
  int rank;
  int64_t shape[NPY_MOST_RANK]; /* each at least 1 */
  size_t offset;                /* of the first element in the file */
};

/* Parses a header. head: the first head_length bytes of a file of `length` bytes. Fails with
   CUGEN_ERROR_CONFIG, and a message without the file's name, if the file is not a .npy file, has an
   array that is not supported, or has more or fewer bytes than its elements. */
int npy_parse(const void *head, size_t head_length, size_t length, struct npy *out,
              cugen_error *err);

/* Returns whether a file's name ends in ".npy". */
bool npy_is_name(const char *name);

#endif
