/* The names that a template may use. The prologue declares in this order: the shared arrays;
   index_t, tensor_map, the problem, tunables and derived names; for each buffer NAME_t,
   NAME_strideI, NAME_pitch and the elements, for each scalar NAME_t and the scalar; the
   implementation's scalars. */
#ifndef GEN_TEMPLATE_NAMES_H
#define GEN_TEMPLATE_NAMES_H

#include "gen/config/config.h"

enum name_kind {
  NAME_INDEX_T,    /* the type of offsets */
  NAME_TENSOR_MAP, /* the type of a tensor map */
  NAME_SLOT,       /* a parameter of the problem or a tunable */
  NAME_DERIVED,
  NAME_SCALAR,  /* a scalar argument that is not a slot */
  NAME_TYPE,    /* A_t: the type of an argument */
  NAME_STRIDE,  /* A_stride0 */
  NAME_PITCH,   /* A_pitch */
  NAME_LAYOUT,  /* A_layout: the word of the layout, such as "row" */
  NAME_ELEMENT, /* A in A(i, j): an element of a buffer */
  NAME_SHARED   /* a shared array */
};

struct name {
  const char *text;
  size_t length;
  enum name_kind kind;
  int index;             /* number of the slot, derived name, argument or shared array */
  int dimension;         /* of NAME_STRIDE and NAME_PITCH: the dimension of that stride */
  int scalar;            /* number of the scalar argument of this name, -1: none */
  bool used;             /* the text of the expansion mentions the name */
  bool asked;            /* a //@ line or ${} has read the name's value */
  bool tested;           /* an #if mentions the name, which must therefore be a macro */
  bool doubted;          /* a directive asks whether the name is defined */
  bool scoped;           /* the source also declares the name; after assemble_settle: the name is
                            a constant, which a declaration can hide, and no macro */
  bool valued;           /* the text uses the value, not only whether the name is defined */
  const char *declared;  /* place of the source's declaration; NULL: none, or only in a branch of
                            the preprocessor */
  const char *variable;  /* like declared, but only for a variable of a function */
  const char *redefined; /* place of a #define in an #if other than the name's own #ifndef, or
                            NULL */
  size_t at;             /* offset of the text in `texts`, until names_open has finished */
};

/* The inputs that decide what names mean in one expansion. All pointers are borrowed. */
struct names_input {
  const struct config *config;
  const struct config_tunable *tunables;
  size_t tunable_count;
  const struct config_derived *derived;
  size_t derived_count;
  const struct value *slots;
  size_t slot_count;
  const struct config_argument *own; /* the implementation's scalars, which follow the config's
                                        arguments */
  size_t own_count;
  const struct kernel_argument *arguments; /* the evaluated arguments of the config, then the
                                              evaluated `own` */
  const bool *plain;                       /* for each argument: the layout is packed and row-major,
                                              whatever the config says */
  bool wide_index;                         /* whether index_t has 64 bits */
  const struct config_implementation
      *sharing; /* the variant's implementation; NULL: a reference is expanded */
  const struct layout_array *shared; /* the evaluated shared arrays of `sharing` */
};

struct names {
  struct names_input in;
  struct name *list;
  size_t count, capacity;
  unsigned short *buckets; /* a hash table of 1 + an index into list; 0: an empty bucket */
  size_t bucket_count;
  struct text texts; /* texts of the composed names */
  bool *known;       /* for each slot: the value is compiled in, not passed at launch */
  bool *facts;       /* for each device fact: the template read the fact through `device` */
  bool all_known;
};

int names_open(const struct names_input *in, struct names *out, cugen_error *err);
void names_close(struct names *names);

/* Finds a name, except NAME_ELEMENT: a buffer's name without an index is the kernel's parameter. */
struct name *names_find(const struct names *names, const char *text, size_t length);
struct name *names_find_any(const struct names *names, const char *text, size_t length);
/* Sets *out to the value that Lua sees: a number, string or boolean; a dtype's name for index_t and
   A_t; VALUE_NIL for tensor_map, elements and shared arrays, which only CUDA text has. */
int names_value(const struct names *names, const struct name *name, struct value *out,
                cugen_error *err);
/* Returns whether the value is a string that is not a dtype, which has no form in CUDA text. */
bool names_only_lua(const struct names *names, const struct name *name);
/* Returns whether the value is known only at launch, as a parameter of the kernel. */
bool names_parameter(const struct names *names, const struct name *name);
/* Returns whether the name is a number or boolean in CUDA text, defined as a macro or constant. */
bool names_macro(const struct names *names, const struct name *name);
/* Returns whether a constexpr can hold the number as well as a macro can, so that name->scoped
   decides between macro and constant. */
bool names_constant(const struct names *names, const struct name *name);
bool names_tunable(const struct names *names, const struct name *name);

/* Appends the name's lines of the prologue, if it has any. *type becomes the dtype that the lines
   need, or NULL. */
int names_define(const struct names *names, const struct name *name, struct text *out,
                 const struct dtype **type, cugen_error *err);

/* Expressions of which only the value influences the text: derived names, and the conditions of
   arguments and tensor maps. */
struct names_values {
  const struct expr **list; /* expressions of the config; room for one per name, argument and tensor
                               map */
  size_t count;
};

void names_read_value(const struct expr *expr, struct names_values *values);

/* Sets reads[slot] for each slot whose value influences the text of the expansion, and lists in
   values the derived names that Lua has read and the conditions of arguments: with equal values of
   the slots and expressions, and an index_t of equal width, the kernel is the same. */
void names_reads(const struct names *names, bool *reads, struct names_values *values);

/* ---- shared.c ------------------------------------------------------------------------------- */

/* Appends the type of the shared array, with its accessors, and its declaration: a variable of
   static shared memory, or a part of the block's dynamic shared memory. block_align: for the first
   dynamic array of a source the alignment of the dynamic memory, which is then declared, too; else
   0. */
void shared_array_define(const struct layout_array *array, int64_t block_align, struct text *out);

#endif
