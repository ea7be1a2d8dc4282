/* The structs that cugen's own kernels share with the host: layouts and types are passed by value,
   tallies lie in memory. data_kernels.h includes this file, and the build puts it in front of
   data_kernels.cu; therefore it includes nothing. Integers are long long, of 64 bits. */
#ifndef TUNE_DATA_DATA_LAYOUT_H
#define TUNE_DATA_DATA_LAYOUT_H

enum { DATA_RANK = 4, DATA_MODES = 16 };

/* Has the members of struct layout_mode (base/layout.h). */
struct data_mode {
  int dimension;
  long long divisor, extent, stride;
};

/* How elements are numbered and where they are stored. Element n has the coordinates of index n in
   `shape`, the last coordinate varying fastest. Element n is stored sum(coordinate * stride)
   elements after the first one, and its logical flat index is sum(coordinate * weight). With modes,
   which tiled and swizzled arrays have, element n has the flat index n and is stored where struct
   layout_map says. */
struct data_layout {
  int rank;
  long long shape[DATA_RANK], stride[DATA_RANK], weight[DATA_RANK];
  int mode_count, bits, base, shift;
  struct data_mode modes[DATA_MODES];
};

/* A dtype: its kind and format as in base/dtype.h. low, high: the range to which doubles are
   clamped for an integer type. largest: the largest finite number of a float type; infinity for an
   integer type. */
struct data_type {
  int kind, bytes, exponent_bits, fraction_bits, infinities;
  double low, high, largest;
};

/* The answer to a question (data_kernels.h). `worst` holds the bits of a double that is not
   negative, so that comparing the bits as integers compares the numbers. */
struct data_tally {
  unsigned long long worst, wrong, first, digest;
  double errors, wanted;
};

#endif
