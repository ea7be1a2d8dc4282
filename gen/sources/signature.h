/* What the text of a plain .cu says of its kernels, read without a compiler: parameters, template
   parameters, the macros that the text needs from outside, and how a kernel uses its arguments. */
#ifndef GEN_SOURCES_SIGNATURE_H
#define GEN_SOURCES_SIGNATURE_H

#include "base/kernel.h"
#include "source_text.h"

enum {
  SIGNATURE_UNKNOWN = -1,
  SIGNATURE_TYPE = 24, /* room for "unsigned long long" */
  SIGNATURE_TEMPLATES = 16,
  SIGNATURE_MACROS = 32,
  SIGNATURE_FACTORS = 4,
  SIGNATURE_STRIDES = 3,
  SIGNATURE_KERNELS = 32
};

/* A parameter in the text, such as "const float *data". */
struct signature_parameter {
  struct source_token name;
  char type[SIGNATURE_TYPE]; /* type without qualifiers: "float"; empty: unknown */
  bool constant;             /* const in front of the star */
  bool pointer, plain;       /* plain: only words and stars, and the type fits into `type` */
};

/* Reads a parameter list whose opening bracket has been read. Returns the number of parameters, of
   which the first KERNEL_MAX_ARGUMENTS are stored, or SIGNATURE_UNKNOWN if the list is empty or
   cannot be read. */
int signature_read_list(struct source_reader text, struct signature_parameter *seen);

enum signature_use {
  SIGNATURE_UNUSED, /* the text uses no element of the pointer; a called function may */
  SIGNATURE_READ,
  SIGNATURE_WRITTEN,
  SIGNATURE_CHANGED /* read and written, or the text takes the address of an element */
};

/* What the text compares an index with: a parameter, times others or divided by a number, as in
   i < n, i < rows * cols, i < n / 4. */
struct signature_bound {
  struct source_token size, times[2], divisor; /* length 0: none */
};

/* The indices of a parameter, as far as the text tells. Local variables stand for their first
   values. */
struct signature_index {
  struct source_token strides[SIGNATURE_STRIDES]; /* scalar parameters by which indices are
                                                     multiplied: the length of a row is last */
  size_t stride_count;
  struct signature_bound bounds[SIGNATURE_STRIDES]; /* of the variables in the indices */
  size_t bound_count;
  bool seen;       /* the text has an index of the parameter */
  bool plain;      /* all indices are numbers, or all are blockIdx of the same axis */
  long largest;    /* if plain: the largest number */
  int axis;        /* if plain: the axis; -1: none */
  unsigned blocks; /* the axes of blockIdx in the indices: 1, 2 and 4 for x, y and z */
};

struct signature {
  struct source_token name; /* of the kernel */
  struct signature_parameter parameters[KERNEL_MAX_ARGUMENTS];
  enum signature_use uses[KERNEL_MAX_ARGUMENTS];
  struct signature_index indices[KERNEL_MAX_ARGUMENTS];
  struct signature_bound grid_bounds[3]; /* of what is computed from blockIdx.x, .y or .z alone */
  /* scalars by which indices are multiplied, with which they are compared, or without a use */
  bool sizes[KERNEL_MAX_ARGUMENTS];
  int parameter_count; /* SIGNATURE_UNKNOWN: the text does not tell */
  struct signature_template {
    struct source_token name;
    char type[SIGNATURE_TYPE]; /* "int", "bool", "typename" */
  } templates[SIGNATURE_TEMPLATES];
  size_t template_count;
  /* Macros that the text uses and defines only where they are not defined, as #ifndef X,
     #define X 16, and words that it uses like macros and does not define, with the value 0. */
  struct signature_macro {
    struct source_token name;
    long value;
    bool defined;   /* the value is the text's */
    bool condition; /* the text uses the macro only as a condition, as in #if X or if (X) */
  } macros[SIGNATURE_MACROS];
  size_t macro_count;
  bool guarded;        /* the text compares what it computes from the launch with a size */
  bool dynamic_shared; /* the text declares an extern __shared__ array */
  /* For x, y and z, as far as the text tells; a token of length 0: none. grid_steps: the words and
     numbers by which blockIdx.x is multiplied, as W and V of blockIdx.x * (W * V); grid_factors: V
     of (blockIdx.x * W + threadIdx.x) * V; block_extents, the threads of a block: W of blockIdx.x *
     W + threadIdx.x, or of a loop from threadIdx.x by += W. Numbers stand for constants, and in
     grid_steps the word blockDim for blockDim.x. */
  struct source_token grid_steps[3][SIGNATURE_FACTORS], grid_factors[3], block_extents[3];
  bool grid_flat[3];       /* the text multiplies blockIdx.y by gridDim.x, to count all blocks */
  bool grid_by_threads[3]; /* the text multiplies blockIdx.x by blockDim.x, a number or an
                              expression in brackets, or bounds a sum with threadIdx.x */
  /* 0 to 3: up to the last axis of threadIdx and of blockIdx that the kernel names */
  int block_dimensions, grid_dimensions;
};

/* Reads on from __global__ to the opening bracket of the parameter list and returns the kernel's
   name, skipping attributes such as __launch_bounds__(256). SOURCE_END: there is none. */
struct source_token signature_kernel_name(struct source_reader *text);

/* Returns the only axis of a set of 1, 2 and 4, as 0 to 2; -1: there is none, or several. */
static inline int signature_axis(unsigned axes) {
  return axes == 1 ? 0 : axes == 2 ? 1 : axes == 4 ? 2 : -1;
}

/* Lists the different names of the text's kernels. Returns their number, of which the first
   SIGNATURE_KERNELS are stored; SIGNATURE_KERNELS + 1 means more. */
size_t signature_kernels(const char *text, struct source_token *names);
/* Reads the kernel of that name. The tokens in *out point into the text. */
void signature_read(const char *text, struct source_token kernel, struct signature *out);

#endif
