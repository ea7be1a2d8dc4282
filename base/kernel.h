/* A kernel as plain data, with every expression already evaluated. One kernel_spec is one variant
   of one config for one problem on one device. */
#ifndef BASE_KERNEL_H
#define BASE_KERNEL_H

#include "dtype.h"
#include "hash.h"
#include "layout.h"
#include "text.h"
#include "value.h"

/* Kinds of memory of a buffer: device memory; host memory that the driver page-locks when it is
   allocated (pinned) or after malloc (registered), or that it maps into the device (mapped); or
   memory that the driver moves between host and device (managed). */
enum memory_kind {
  MEMORY_DEVICE,
  MEMORY_PINNED,
  MEMORY_MAPPED,
  MEMORY_MANAGED,
  MEMORY_REGISTERED,
  MEMORY_KIND_COUNT
};
extern const char *const memory_kind_names[MEMORY_KIND_COUNT];

enum fill_kind { FILL_UNIFORM, FILL_IDENTITY, FILL_INDEX, FILL_ONES, FILL_ZERO, FILL_KIND_COUNT };
/* "uniform" (floats in [-1, 1], integers in [-8, 8], unsigned in [0, 16]), "identity" (1 where all
   coordinates are equal, else 0), "index" (the logical flat index, at most the type's largest
   number), "ones", "zero" */
extern const char *const fill_kind_names[FILL_KIND_COUNT];

/* Where an input's elements come from: its fill, an expression, a list, a file, or a generator
   kernel. */
enum data_kind { DATA_FILL, DATA_VALUES, DATA_LIST, DATA_FILE, DATA_GENERATOR };

/* How a kernel reaches an argument: by its address; as a __constant__ symbol; through a texture
   over the buffer itself; through a texture over a CUDA array, into which the buffer is copied; as
   a __device__ symbol, which is copied from or to the buffer; by its address in a symbol; through a
   tensor map; or by its address in a field of a struct that is passed. An implementation declares
   the tensor map (tensor), the struct its fields, and the argument every other way. */
enum access_kind {
  ACCESS_GLOBAL,
  ACCESS_CONSTANT,
  ACCESS_TEXTURE,
  ACCESS_ARRAY,
  ACCESS_SYMBOL,
  ACCESS_POINTER,
  ACCESS_TENSOR,
  ACCESS_FIELD,
  ACCESS_KIND_COUNT
};
extern const char *const access_kind_names[ACCESS_KIND_COUNT];

/* What a texture gives outside its bounds: the nearest element, zero, the texture repeated, or the
   texture reflected with its edge element twice. */
enum address_kind {
  ADDRESS_CLAMP,
  ADDRESS_BORDER,
  ADDRESS_WRAP,
  ADDRESS_MIRROR,
  ADDRESS_KIND_COUNT
};
extern const char *const address_kind_names[ADDRESS_KIND_COUNT];

/* The largest size of a struct that is passed by value. */
#define KERNEL_STRUCT_BYTES 256

/* One argument of the kernel. For buffers, `elements` counts from the first to the last element
   that the layout can reach, pads and ragged tiles included. */
struct kernel_argument {
  const char *name;
  const char *file; /* config file that declares the argument; "" or NULL if unknown */
  int line;
  cugen_argument_kind kind;
  const struct dtype *dtype;
  int rank; /* 0 for a scalar */
  int64_t shape[KERNEL_MAX_RANK];
  /* `layout` is the word in its shortest form; "" for an array that declares its strides. A tiled
     or swizzled array has a map (map.count > 0) and no strides; of any other array, stride[i] is
     the distance in elements between neighbours in dimension i. */
  char layout[LAYOUT_WORD];
  struct layout_map map;
  int64_t stride[KERNEL_MAX_RANK];
  int64_t elements;
  enum memory_kind memory;
  enum access_kind access;
  size_t holder;             /* fields: the number of the struct, a later argument */
  int offset;                /* fields: the place of the address in the struct, in bytes */
  enum address_kind address; /* textures: behaviour outside the bounds */
  int box[KERNEL_MAX_RANK];  /* tensor maps: the elements that one copy moves, in the order of
                                shape */
  int swizzle;               /* tensor maps: length in bytes of the rows in which 16-byte parts are
                                exchanged: 32, 64 or 128; 0 for no swizzle */
  int64_t parts;             /* tensor maps: number of equal parts side by side along the outermost
                                dimension, which become a dimension of their own; 0 or 1 for none */
  enum fill_kind fill;
  enum data_kind data;   /* unless DATA_FILL, a data set has the contents (tune/data/dataset.h) */
  struct hash data_hash; /* hash of everything that the data depends on; empty if the data depends
                            on its fill alone */
  double tolerance;      /* outputs must satisfy |got - want| <= tolerance * max(1, |want|) */
  double norm;           /* outputs must also satisfy ||got - want|| <= norm * ||want||, in the
                            Euclidean norm; 0: no norm */
  struct value value;    /* value of a scalar; VALUE_NIL for a struct */
  /* For a scalar that is a struct: its name in C, and its bytes as they are passed. 0 bytes if the
     scalar is no struct. */
  const char *struct_name; /* belongs to the config; NULL in a worker */
  int struct_bytes;
  unsigned char packed[KERNEL_STRUCT_BYTES];
  bool compiled_in; /* a scalar that is a #define, not a parameter */
  bool is_size;     /* a scalar that passes a size of the problem, from which buffers and grid
                       follow */
  bool absent;      /* the problem lacks the argument, which is a compiled-in scalar of value 0 */
  bool unused;      /* scratch that no kernel uses */
  bool overwrite;   /* an input that the kernel may write to; its contents after the launch are not
                       checked */
};

/* The value that a launch passes for one parameter. */
struct kernel_parameter {
  size_t argument;
  struct value value; /* another value of a scalar for this launch; VALUE_NIL passes the argument
                         itself */
};

struct kernel_launch {
  const char *entry; /* name of the kernel in the source: "matmul", "reduce<4>" */
  const char *place; /* place in the user's file: "matmul.cu:12"; "" or NULL if unknown */
  int line;          /* line in the config; 0 if unknown */
  /* listed: the launch passes `parameters` of the spec, in order, instead of every argument. all:
     these parameters are every argument, followed by the implementation's own scalars. */
  bool listed, all;
  size_t first_parameter, parameter_count;
  uint32_t grid[3], block[3];
  int64_t shared_bytes; /* dynamic shared memory of a block */
  /* The preferred share of shared memory in the storage that L1 and shared memory divide, in
     percent. The driver decides unless has_carveout is set. */
  bool has_carveout;
  int carveout;
  bool overlap;     /* the launch may begin before earlier work in its stream has ended */
  bool cooperative; /* all blocks run at once, so that they may wait for each other (grid.sync()) */
};

#define KERNEL_MAX_LAUNCHES 16384     /* different launches of one kernel_spec */
#define KERNEL_MAX_SEQUENCE (1 << 20) /* launches made by one call */
/* different kernels of one kernel_spec, and launch { } blocks of an implementation */
#define KERNEL_MAX_ENTRIES   8
#define KERNEL_MAX_ARGUMENTS 32

/* The spec owns its strings (kernel_spec_free) unless a member says otherwise, but not its dtypes.
   A launch that lists no parameters gets, in order, all arguments for which kernel_argument_passed
   is true. A spec that wire_get_spec read has only the variant, arguments, launches, sequence and
   parameters. */
struct kernel_spec {
  char *variant; /* "tiled tile=16 pad=1" */
  char *source;
  char *options;           /* of the compiler, separated by blanks: "--use_fast_math
                              --maxrregcount=64"; "" or NULL for none */
  struct hash hash;        /* of the texts of source_hash, launches_hash, arguments_hash and
                              proof_hash (see kernel_spec_add_check) */
  struct hash source_hash; /* of the normalised source (without comments, #line and spacing), the
                              compiler options and the launched instances of templates. Kernels
                              with equal source_hash share a compile. */
  /* Hashes of the other parts of `hash`: the launches, the values passed (arguments, scalars), and
     the check of results (reference, tolerances, fills, check problem). Empty if unknown. */
  struct hash launches_hash, arguments_hash, proof_hash;
  /* The text hashed by proof_hash; NULL if there is none. Its first proof_check bytes name the
     kernels of kernel_spec_add_check. Its last proof_lines lines describe the parameters of the
     problem, in order. */
  char *proof;
  size_t proof_check, proof_lines;
  /* `hash` without these kernels, as versions before they were hashed stored it. */
  struct hash plain_hash;
  /* Hashes of the data that a variant runs on and is compared with. Variants with equal
     buffers_hash have equal buffers with equal contents for one seed; with equal data_hash also
     equal reference results. */
  struct hash buffers_hash, data_hash;
  /* The arguments, followed by own_count scalars of the implementation. Applications do not see
     these scalars; each launch has values for them. */
  struct kernel_argument *arguments;
  size_t argument_count, own_count;
  /* The different launches, and the sequence of their indices in which a call makes them. sequence
     is NULL if a call makes each launch once, in order. */
  struct kernel_launch *launches;
  size_t launch_count;
  uint32_t *sequence;
  size_t sequence_count;
  struct kernel_parameter *parameters; /* of the launches that list their parameters */
  size_t parameter_count;
  struct layout_array *shared; /* the shared arrays (layout.h) */
  size_t shared_count;
  double flops, bytes; /* declared work of the problem; 0 if not declared */
  char *order;         /* a hint for a wrong result: the kernel's parameter names suggest another
                          order of the arguments; NULL if they do not */
  struct text strings; /* storage of the names in the arguments and launches */
};

void kernel_spec_free(struct kernel_spec *spec);
/* The number of launches that a call makes; kernel_spec_call gives the i-th. */
size_t kernel_spec_calls(const struct kernel_spec *spec);
/* Returns an index of spec->launches. */
size_t kernel_spec_call(const struct kernel_spec *spec, size_t i);
/* Counts how often a call makes each of spec->launches; times has spec->launch_count elements. */
void kernel_spec_times(const struct kernel_spec *spec, size_t *times);
/* Returns whether a call makes so many launches that hashes describe the different launches and
   their sequence separately. */
bool kernel_spec_is_long(const struct kernel_spec *spec);
/* Returns a hash of the source and of the values passed for the implementation's own scalars.
   Without such scalars, source_hash. */
struct hash kernel_spec_passed(const struct kernel_spec *spec);
/* Appends spec->order to the reason of a failed variant if the order of arguments can be the cause
   of the outcome. */
void kernel_add_order(const struct kernel_spec *spec, cugen_outcome outcome, struct text *reason);
/* Hashes of what runs and of what its results are compared with, apart from the parameters of the
   problem: they may get a further one whose value changes nothing. All empty: nothing runs. */
struct kernel_compared {
  struct hash source, launches, arguments, proof;
};
struct kernel_compared kernel_spec_compared(const struct kernel_spec *spec);
/* Adds the variant's kernels on the problems on which it is checked to the proof: results of `spec`
   are compared there first, so that they prove nothing once one of these kernels is another. Of a
   part that equals that of `spec` only this is added, so that a part that changes in both differs
   once. */
int kernel_spec_add_check(struct kernel_spec *spec, const struct kernel_compared *there,
                          size_t count, cugen_error *err);
/* The proof_hash that the spec would have if the problem lacked the parameters whose bits are set
   in `parameters`; with all of them if the problem has more than KERNEL_MAX_LACKED parameters.
   plain: without the kernels of kernel_spec_add_check. */
enum { KERNEL_MAX_LACKED = 64 };
struct hash kernel_spec_proof_without(const struct kernel_spec *spec, uint64_t parameters,
                                      bool plain);

/* An argument in the order of a tensor map: the contiguous dimension first, the parts last. */
struct tensor_extent {
  int rank;
  int64_t shape[KERNEL_MAX_RANK + 1];
  int64_t stride[KERNEL_MAX_RANK + 1]; /* in bytes */
  int box[KERNEL_MAX_RANK + 1];
};
/* Returns the argument's layout as a word, "strides" for an array that declares strides. */
const char *kernel_argument_layout(const struct kernel_argument *argument);

/* Returns the i-th dimension of an array that has strides, counted from the contiguous one. */
int kernel_argument_dimension(const struct kernel_argument *argument, int i);
/* Returns the map of the array; for an array with strides, a map made from the strides. */
struct layout_map kernel_argument_map(const struct kernel_argument *argument);

struct tensor_extent kernel_argument_tensor(const struct kernel_argument *argument);

/* The size of a buffer, or of a scalar as it is passed. */
int64_t kernel_argument_bytes(const struct kernel_argument *argument);

/* The dtype of every struct, "struct". An element is a byte. */
extern const struct dtype kernel_struct_dtype;

/* Aspects in which two arguments of the same name can differ. */
enum argument_aspect {
  ARGUMENT_STORAGE = 1,   /* kind, dtype, memory, extent, strides or layout */
  ARGUMENT_SHAPE = 2,     /* the shape where it does not follow from the storage, as with a pitch */
  ARGUMENT_FILL = 4,      /* the fill, or the data in place of the fill; and overwrite */
  ARGUMENT_TOLERANCE = 8, /* tolerance and norm */
  ARGUMENT_VALUE = 16,    /* the value of a scalar, or the bytes of a struct */
  ARGUMENT_ACCESS = 32,   /* how the kernel reaches the argument, with its texture or tensor map */
  ARGUMENT_PASSED = ARGUMENT_STORAGE | ARGUMENT_VALUE | ARGUMENT_ACCESS,
  ARGUMENT_CONTENTS = ARGUMENT_STORAGE | ARGUMENT_SHAPE | ARGUMENT_FILL,
  ARGUMENT_PROOF = ARGUMENT_SHAPE | ARGUMENT_FILL | ARGUMENT_TOLERANCE
};
/* Appends the aspects as text. Arguments are equal in the aspects if their texts are equal. */
void kernel_argument_describe(const struct kernel_argument *argument, unsigned aspects,
                              struct text *out);

/* Returns whether the argument is a parameter of the kernel: neither compiled in nor a symbol nor
   a field of another parameter. */
bool kernel_argument_passed(const struct kernel_argument *argument);

/* Writes the addresses of the buffers that are fields of argument `index`, a struct, into the
   struct's bytes. addresses[i] belongs to the spec's argument i. */
void kernel_struct_fill(const struct kernel_spec *spec, size_t index, void *const *addresses,
                        unsigned char *bytes);

/* Fills in the arguments that the launch passes, in order; returns their number. */
size_t kernel_launch_parameters(const struct kernel_spec *spec, const struct kernel_launch *launch,
                                struct kernel_parameter out[KERNEL_MAX_ARGUMENTS]);

/* Returns whether the argument or its address is in a __constant__ or __device__ variable. */
bool kernel_argument_symbol(const struct kernel_argument *argument);

/* Returns whether the parameter of the kernel is a texture object. */
bool kernel_argument_textured(const struct kernel_argument *argument);

/* Describes the argument for an application. The strings belong to the argument or are static. */
void kernel_argument_info(const struct kernel_argument *argument, cugen_argument_info *out);

#endif
