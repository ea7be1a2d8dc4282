/* Layouts: at which offset each element of an array lies. A layout is a word such as "row+8",
   "col", "row/32x8" or "row^3,3,3"; docs/layouts.md has the language. */
#ifndef BASE_LAYOUT_H
#define BASE_LAYOUT_H

#include "text.h"

#define KERNEL_MAX_RANK CUGEN_MAX_RANK

enum {
  LAYOUT_TILES = 3, /* how often an array may be divided into tiles */
  LAYOUT_MODES = (LAYOUT_TILES + 1) * KERNEL_MAX_RANK,
  LAYOUT_WORD = 96 /* bytes of the longest word of an argument, with its NUL */
};

/* A word that was read for arrays of one rank, without their shape. */
struct layout {
  int rank, tiles;
  /* For each level of tiles, and last for the elements of an innermost tile: the dimensions from
     the outermost to the contiguous one. */
  int order[LAYOUT_TILES + 1][KERNEL_MAX_RANK];
  int64_t tile[LAYOUT_TILES][KERNEL_MAX_RANK]; /* elements along each dimension */
  int64_t pad;           /* elements left free behind each innermost tile, or each line of an array
                            without tiles */
  int bits, base, shift; /* CuTe's Swizzle<bits, base, shift> of the offset; bits 0: none */
  int bytes;             /* 32, 64 or 128: the swizzle of a tensor map; 0: none */
};

/* Part of an index: index / divisor % extent. Each step of this part moves an element by
   `stride`. */
struct layout_mode {
  int dimension;
  int64_t divisor, extent, stride;
};

/* A layout of an array with a shape. The offset of an element is the sum over all modes of part
   times stride, which is then swizzled. The first mode is the outermost. */
struct layout_map {
  struct layout_mode modes[LAYOUT_MODES];
  int count;
  int64_t size; /* elements from the first offset to the last, pads and ragged tiles included,
                   rounded up to a whole block of the swizzle */
  int bits, base, shift; /* the swizzle, as in struct layout */
};

/* Reads a word. Fails with CUGEN_ERROR_CONFIG if the word is no layout of an array of this rank. */
int layout_read(const char *word, int rank, struct layout *out, cugen_error *err);
/* Like layout_read, for a word in which each ${...} stands for the next of the numbers. */
int layout_read_spelled(const char *word, int rank, const int64_t *numbers, struct layout *out,
                        cugen_error *err);
/* Prints the word that layout_read reads, in its shortest form. */
void layout_print(const struct layout *layout, struct text *out);

/* Makes the map of an array whose elements have element_bytes bytes. Fails with CUGEN_ERROR_CONFIG
   if the array has 2^62 or more elements, or if a tensor map swizzles and element_bytes is no power
   of two up to 16. */
int layout_of_shape(const struct layout *layout, const int64_t *shape, int element_bytes,
                    struct layout_map *out, cugen_error *err);
int64_t layout_offset(const struct layout_map *map, const int64_t *indices);
/* The inverse of layout_offset: sets the indices of the element at an offset. Returns false for an
   offset that no element of an array of this shape has, as in a pad or beyond a ragged edge. */
bool layout_element(const struct layout_map *map, int rank, const int64_t *shape, int64_t offset,
                    int64_t *indices);

/* A shared array that a variant declares. The name and file of the array belong to the config. */
struct layout_array {
  const char *name, *file;
  int line;
  const struct dtype *dtype;
  int rank;
  int64_t shape[KERNEL_MAX_RANK];
  struct layout layout;
  struct layout_map map;
  bool staged; /* `stages` equal arrays behind one another; the first index is the stage */
  int64_t stages, stage_stride; /* in elements */
  int64_t align, offset;        /* in bytes; the offset in the block of dynamic shared memory */
  bool dynamic;                 /* lies in dynamic shared memory */
};

#endif
