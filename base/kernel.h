/* A kernel as plain data: what gen hands to runtime and tune, with every expression already evaluated. One
   kernel_spec is one variant of one config for one problem on one device. */
#ifndef BASE_KERNEL_H
#define BASE_KERNEL_H

#include "dtype.h"
#include "hash.h"
#include "text.h"
#include "value.h"

#define KERNEL_MAX_RANK CUGEN_MAX_RANK

/* The host's: page-locked, by the driver or after malloc; mapped; moved by the driver. */
enum memory_kind {
  MEMORY_DEVICE,
  MEMORY_PINNED,
  MEMORY_MAPPED,
  MEMORY_MANAGED,
  MEMORY_REGISTERED,
  MEMORY_KIND_COUNT
};
/* "device", "pinned", "mapped", "managed", "registered" */
extern const char *const memory_kind_names[MEMORY_KIND_COUNT];

enum fill_kind { FILL_UNIFORM, FILL_IDENTITY, FILL_INDEX, FILL_ONES, FILL_ZERO, FILL_KIND_COUNT };
/* "uniform" (floats in [-1, 1), integers in [-8, 8], unsigned in [0, 16]), "identity" (ones where all
   coordinates are equal), "index" (the logical flat index), "ones", "zero" */
extern const char *const fill_kind_names[FILL_KIND_COUNT];

/* Where an input's elements come from: its fill, an expression, a list, a file, a kernel. */
enum data_kind { DATA_FILL, DATA_VALUES, DATA_LIST, DATA_FILE, DATA_GENERATOR };

/* How a kernel gets at an argument: by its address, as a __constant__ symbol, through a texture over the buffer itself,
   through a texture over a CUDA array that the buffer is copied into before each launch, as a __device__ symbol that it is
   copied to or from with each launch, or through a tensor map, which is an implementation's to say (tensor). */
enum access_kind {
  ACCESS_GLOBAL,
  ACCESS_CONSTANT,
  ACCESS_TEXTURE,
  ACCESS_ARRAY,
  ACCESS_SYMBOL,
  ACCESS_TENSOR,
  ACCESS_KIND_COUNT
};
/* "global", "constant", "texture", "array", "symbol", "tensor" */
extern const char *const access_kind_names[ACCESS_KIND_COUNT];

/* What a texture gives outside its bounds: the nearest element, zero, the texture repeated, the texture reflected with its
   edge twice. */
enum address_kind { ADDRESS_CLAMP, ADDRESS_BORDER, ADDRESS_WRAP, ADDRESS_MIRROR, ADDRESS_KIND_COUNT };
/* "clamp", "border", "wrap", "mirror" */
extern const char *const address_kind_names[ADDRESS_KIND_COUNT];

/* What a struct may have at most that is passed by value. */
#define KERNEL_STRUCT_BYTES 256

/* One argument of the kernel, in declaration order. Buffers: `elements` counts from the first to the last element
   that layout and pitch can reach. stride[i] is the distance in elements between neighbours in dimension i. */
struct kernel_argument {
  const char *name;
  const char *file; /* of the config, where it is declared; NULL: not known */
  int line;
  cugen_argument_kind kind;
  const struct dtype *dtype;
  int rank; /* 0: scalar */
  int64_t shape[KERNEL_MAX_RANK], stride[KERNEL_MAX_RANK];
  bool column_major;
  int64_t elements;
  enum memory_kind memory;
  enum access_kind access;
  enum address_kind address; /* of textures */
  int box[KERNEL_MAX_RANK];  /* of tensor maps: elements that one copy moves, as shape */
  int swizzle;   /* of tensor maps: bytes over which 16-byte parts are exchanged, 32, 64 or 128; 0: none */
  int64_t parts; /* of tensor maps: so many equal ones side by side along the outermost dimension, a dimension of
                    their own; 0 or 1: none */
  enum fill_kind fill;
  enum data_kind data;   /* not DATA_FILL: it lies in the memory that a data set shares (tune/dataset.h) */
  struct hash data_hash; /* of what the data depends on; empty: its fill alone */
  double tolerance;      /* outputs: |got - want| <= tolerance * max(1, |want|) */
  double norm;           /* outputs: ||got - want|| <= norm * ||want||; 0: not asked */
  struct value value;    /* scalars; VALUE_NIL: a struct */
  /* A scalar that is a struct: its name in C, its bytes as they are passed. 0 bytes: it is none. */
  const char *struct_name; /* the config's; NULL in a worker */
  int struct_bytes;
  unsigned char packed[KERNEL_STRUCT_BYTES];
  bool compiled_in; /* scalars: a #define, not a parameter */
  bool is_size;     /* scalars: it passes a size of the problem, for which buffers and grid are */
  bool absent;      /* not of this problem: a scalar that is compiled in and that nothing mentions */
  bool unused;      /* scratch: the source names it as a parameter only */
  bool overwrite;   /* inputs: the kernel may write to it, and what it leaves there counts for nothing */
};

/* What a launch passes for one parameter. */
struct kernel_parameter {
  size_t argument;
  struct value value; /* of a scalar that has another value in this launch; VALUE_NIL: the argument itself */
};

struct kernel_launch {
  const char *entry; /* the kernel as named in the source: "matmul", "reduce<4>" */
  const char *place; /* where a user finds it: "matmul.cu:12"; "" or NULL: not known */
  int line;          /* in the config; 0: not known */
  /* It passes these of the spec's parameters, in order, instead of every argument. all: these are every argument, and behind
     them the implementation's own scalars. */
  bool listed, all;
  size_t first_parameter, parameter_count;
  uint32_t grid[3], block[3];
  int64_t shared_bytes; /* dynamic */
  /* Preferred part of what L1 and shared memory share, in percent; the driver decides unless has_carveout. */
  bool has_carveout;
  int carveout;
  bool overlap;     /* it may begin before what stands in front of it in the stream has ended */
  bool cooperative; /* its blocks run all at once, so that they may wait for each other (grid.sync()) */
};

#define KERNEL_MAX_LAUNCHES  16384     /* different ones */
#define KERNEL_MAX_SEQUENCE  (1 << 20) /* that one call makes */
#define KERNEL_MAX_ENTRIES   8         /* kernels among them; also launch { } in an implementation */
#define KERNEL_MAX_ARGUMENTS 32

/* Strings in it belong to the spec (kernel_spec_free) except dtypes. A launch that lists no parameters gets all arguments
   that are not compiled in, not symbols, in order. */
struct kernel_spec {
  char *variant; /* "tiled tile=16 pad=1" */
  char *source;
  char
      *options; /* of the compiler, with blanks between them: "--use_fast_math --maxrregcount=64"; "" or NULL: none */
  struct hash hash; /* of the normalised source (no comments, #line or spacing) and the launches: equal hashes
                       are the same kernel */
  struct hash
      source_hash; /* of the normalised source, the options and which of a template's instances are launched: equal
                              hashes share a compile */
  /* The rest of what `hash` covers, so that it can be told what changed; empty: not known. What is passed (arguments,
     scalars) and what a result is held against (reference, tolerances, fills, check problem). */
  struct hash launches_hash, arguments_hash, proof_hash;
  /* What proof_hash is of; its last proof_lines lines are about the problem's parameters, in order. NULL: there is none. */
  char *proof;
  size_t proof_lines;
  /* What a variant runs on and what its result is compared with: equal buffers_hash, the same buffers with the same
     contents; equal data_hash, the same buffers and the same reference results. Made by expand_variant. */
  struct hash buffers_hash, data_hash;
  /* Behind the arguments, own_count scalars of the implementation's own: no application sees them, and each launch has a value
     for them. */
  struct kernel_argument *arguments;
  size_t argument_count, own_count;
  /* Launches that differ, and their numbers in the sequence in which a call makes them. NULL: each once, as they stand. */
  struct kernel_launch *launches;
  size_t launch_count;
  uint32_t *sequence;
  size_t sequence_count;
  struct kernel_parameter *parameters; /* of the launches that list them */
  size_t parameter_count;
  double flops, bytes; /* 0: not declared */
  char
      *order; /* a hint where a result is wrong: a kernel's names say another order of its arguments; NULL: none do */
  struct text strings; /* backing store of the names above */
};

void kernel_spec_free(struct kernel_spec *spec);
/* How many launches a call makes, and the i-th of them. */
size_t kernel_spec_calls(const struct kernel_spec *spec);
size_t kernel_spec_call(const struct kernel_spec *spec, size_t i); /* a number of spec->launches */
/* How often it makes each of spec->launches: times[spec->launch_count]. */
void kernel_spec_times(const struct kernel_spec *spec, size_t *times);
/* Whether it makes so many launches that texts and hashes are of those that differ, and of their sequence by itself. */
bool kernel_spec_is_long(const struct kernel_spec *spec);
/* The kernel's identity whatever its grid is: of its source and of what an implementation's own scalars pass. Without such scalars it is
   source_hash. */
struct hash kernel_spec_passed(const struct kernel_spec *spec);
/* Appends spec->order to the reason of such an outcome, where it may be the cause. */
void kernel_add_order(const struct kernel_spec *spec, cugen_outcome outcome, struct text *reason);
/* What proof_hash would be if the problem had not these parameters, a bit each. Of more parameters than KERNEL_MAX_LACKED
   none can be lacked. */
enum { KERNEL_MAX_LACKED = 64 };
struct hash kernel_spec_proof_without(const struct kernel_spec *spec, uint64_t parameters);

/* An argument as a tensor map counts: the contiguous dimension first, the parts last. */
struct tensor_extent {
  int rank;
  int64_t shape[KERNEL_MAX_RANK + 1];
  int64_t stride[KERNEL_MAX_RANK + 1]; /* in bytes */
  int box[KERNEL_MAX_RANK + 1];
};
struct tensor_extent kernel_argument_tensor(const struct kernel_argument *argument);

/* Of a buffer, or of a scalar as it is passed. */
int64_t kernel_argument_bytes(const struct kernel_argument *argument);

/* The dtype of every struct: "struct", which no config can name. As elements, its bytes. */
extern const struct dtype kernel_struct_dtype;

/* What of an argument tells it from another one of its name. */
enum argument_aspect {
  ARGUMENT_STORAGE = 1,   /* kind, dtype, memory, extent, strides */
  ARGUMENT_SHAPE = 2,     /* where it does not follow from the storage: with a pitch */
  ARGUMENT_FILL = 4,      /* of buffers that are given contents; the data that takes its place */
  ARGUMENT_TOLERANCE = 8, /* and norm */
  ARGUMENT_VALUE = 16,    /* of scalars */
  ARGUMENT_ACCESS = 32,   /* how the kernel gets at it: textures, tensor maps */
  ARGUMENT_PASSED = ARGUMENT_STORAGE | ARGUMENT_VALUE | ARGUMENT_ACCESS,
  ARGUMENT_CONTENTS = ARGUMENT_STORAGE | ARGUMENT_SHAPE | ARGUMENT_FILL,
  ARGUMENT_PROOF = ARGUMENT_SHAPE | ARGUMENT_FILL | ARGUMENT_TOLERANCE
};
/* Appends those aspects as text: arguments are equal in them when the texts are. Every identity is made of these: a hash of
   a kernel, of its data, of what proves it. */
void kernel_argument_describe(const struct kernel_argument *argument, unsigned aspects, struct text *out);

/* Whether it is one of the kernel's parameters: neither compiled in nor a symbol. */
bool kernel_argument_passed(const struct kernel_argument *argument);

/* What the launch passes, in order; returns how many. */
size_t kernel_launch_parameters(const struct kernel_spec *spec, const struct kernel_launch *launch,
                                struct kernel_parameter out[KERNEL_MAX_ARGUMENTS]);

/* Whether it is a variable of the kernel's module, __constant__ or __device__. */
bool kernel_argument_symbol(const struct kernel_argument *argument);

/* Whether the kernel's parameter is a texture object. */
bool kernel_argument_textured(const struct kernel_argument *argument);

#endif
