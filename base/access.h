/* One access of a warp to a declared array: the elements that each lane accesses, and the cost. */
#ifndef BASE_ACCESS_H
#define BASE_ACCESS_H

#include "layout.h"
#include "warp.h"

enum access_form { ACCESS_LANES, ACCESS_ROW, ACCESS_COL, ACCESS_LDMATRIX };

/* An access that access_read has read, for arrays of one rank and any shape. */
struct access {
  enum access_form form;
  int64_t at[WARP_LANES][KERNEL_MAX_RANK]; /* ACCESS_LANES: the indices of each lane */
};

/* Reads "row" (lanes along the last index), "col" (along the one before it), "ldmatrix" (four
   matrices of 8 x 16 bytes), or an expression of `lane` for each index, "lane // 4, lane % 4 * 2".
   name: that of the array, for messages. CUGEN_ERROR_USAGE if the text is none of these, or the
   array has no such access. */
int access_read(const char *text, const char *name, int rank, struct access *out, cugen_error *err);

struct access_array {
  const struct layout_map *map;
  bool shared;
  int rank, element_bytes;
  int64_t shape[KERNEL_MAX_RANK];
};

struct access_count {
  int bytes; /* of each lane's access */
  int lanes; /* lanes that access elements within the array */
  int apart; /* a lane whose bytes the layout does not keep together and aligned, in which case
                lanes, needed and least are 0; -1: no lane */
  /* needed: passes over the banks of shared memory, or sectors of global memory; least: the fewest
     with which so many bytes can be accessed */
  int needed, least;
};

/* Counts the access as a load. bytes: of each lane; 0: an element, 16 for ldmatrix.
   CUGEN_ERROR_USAGE if no access to such elements has so many. */
int access_count(const struct access *access, const struct access_array *array, int64_t bytes,
                 struct access_count *out, cugen_error *err);

/* Sets *pad to the smallest number of elements behind each line, or each innermost tile, with which
   the access needs the fewest passes. layout: the layout of the array, whose own pad and swizzle
   are ignored. *out: the result of access_count with this padding; `apart` is not -1 if no padding
   allows the access. */
int access_least_pad(const struct access *access, const struct access_array *array,
                     const struct layout *layout, int64_t bytes, int64_t *pad,
                     struct access_count *out, cugen_error *err);

#endif
