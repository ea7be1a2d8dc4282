/* The arrays of a variant, arguments and shared arrays: the offsets of their elements, and what a
   warp's access touches, computed from the declarations alone. */
#ifndef API_LAYOUT_H
#define API_LAYOUT_H

#include "base/results.h"

typedef struct api_array {
  const char *name;
  int shared;         /* lies in shared memory, else in global memory */
  const char *memory; /* "global", "static shared", "dynamic shared" */
  const char *dtype;
  const char *layout; /* docs/layouts.md: "row", "row+8"; or "strides" */
  const char *file;   /* place of the declaration; NULL: unknown */
  int line;
  int rank, element_bytes;
  int64_t shape[CUGEN_MAX_RANK];
  int64_t stages; /* equal arrays behind one another */
  int64_t bytes;  /* size in memory, with pads and stages, and alignment between stages */
} api_array;

/* What one access of a warp touches. */
typedef struct api_access {
  int bytes;   /* of a lane */
  int lanes;   /* that lie within the array */
  int sectors; /* global memory: sectors of 32 bytes; 0 for shared memory */
  int passes;  /* shared memory: passes over the banks; 0 for global memory */
  int least;   /* the fewest sectors or passes that so many bytes need */
  /* The layout without a swizzle, with the least padding that gives the fewest passes, "row+1", and
     its passes; "": padding does not help. */
  char padded[64];
  int padded_passes;
} api_access;

struct api_layouts;

/* Finds the arrays of a variant (a text as for cugen_kernel_source). api_layouts_variant returns
   the variant's full text. All strings live until api_layouts_close. */
int api_layouts_open(cugen_kernel *kernel, const char *variant, struct api_layouts **out,
                     cugen_error *error);
void api_layouts_close(struct api_layouts *layouts);
const char *api_layouts_variant(const struct api_layouts *layouts);
size_t api_layouts_count(const struct api_layouts *layouts);
const api_array *api_layouts_array(const struct api_layouts *layouts, size_t array);

/* The offset of an element in elements. */
int64_t api_layouts_offset(const struct api_layouts *layouts, size_t array, const int64_t *indices);

/* Counts one access of a warp. access: "row" (lanes along the last index), "col" (along the one
   before it), "ldmatrix" (four matrices of 8 x 16 bytes), or an expression of `lane` for each
   index, "lane // 4, lane % 4 * 2". bytes: of each lane's access; 0: an element, 16 for ldmatrix.
   CUGEN_ERROR_USAGE: `access` is none of these, or the layout does not keep the bytes of a lane
   together and aligned. */
int api_layouts_access(const struct api_layouts *layouts, size_t array, const char *access,
                       int bytes, api_access *out, cugen_error *error);

#endif
