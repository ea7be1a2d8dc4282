/* The structs that a launch of cugen's own kernels is passed by value. data_kernels.c includes this
   file, and the build puts it in front of data_kernels.cu; therefore it includes nothing. Integers
   are long long, which has 64 bits on host and device. */
#ifndef TUNE_DATA_DATA_LAYOUT_H
#define TUNE_DATA_DATA_LAYOUT_H

enum { DATA_RANK = 4, DATA_MODES = 16 };

/* As struct layout_mode. */
struct data_mode {
  int dimension;
  long long divisor, extent, stride;
};

/* How elements are numbered and where they are stored. Element n has the coordinates of index n in
   `shape`, the last coordinate varying fastest. It is stored sum(coordinate * stride) elements
   after the first one, and its logical flat index is sum(coordinate * weight).
   With modes, as of a tiled or swizzled array, element n has the flat index n and is stored where
   struct layout_map says. */
struct data_layout {
  int rank;
  long long shape[DATA_RANK], stride[DATA_RANK], weight[DATA_RANK];
  int mode_count, bits, base, shift;
  struct data_mode modes[DATA_MODES];
};

/* A dtype: its kind and format as in base/dtype.h, the range of an integer type, and the largest
   number of a float type. */
struct data_type {
  int kind, bytes, exponent_bits, fraction_bits, infinities;
  double low, high, largest;
};

/* The result of a question. `worst` holds the bits of a double that is not negative, so that
   comparing the bits as integers compares the numbers. */
struct data_tally {
  unsigned long long worst, wrong, first, digest;
  double errors, wanted;
};

#endif
