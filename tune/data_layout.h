/* What a launch of cugen's own kernels is passed by value: included by data_kernels.c, and put in front of data_kernels.cu. So it
   includes nothing. Integers are long long, which has 64 bits on both sides. */
#ifndef TUNE_DATA_LAYOUT_H
#define TUNE_DATA_LAYOUT_H

enum { DATA_RANK = 4 };

/* How elements are numbered and where they lie: number n has the coordinates that n has in `shape`, the last one fastest. It lies
   sum(coordinate * stride) elements behind the first, and its logical flat index is sum(coordinate * weight). */
struct data_layout {
  int rank;
  long long shape[DATA_RANK], stride[DATA_RANK], weight[DATA_RANK];
};

/* A dtype: its kind and format as in base/dtype.h; the ends of an integer type's range, and the largest number of a float type. */
struct data_type {
  int kind, bytes, exponent_bits, fraction_bits, infinities;
  double low, high, largest;
};

/* What a launch found. `worst` has the bits of a double, whose order is that of the numbers: they are not negative. */
struct data_tally {
  unsigned long long worst, wrong, first, digest;
  double errors, wanted;
};

#endif
