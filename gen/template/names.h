/* The names that a template may use and what each means: in `//@` lines a value, in CUDA text a line of the
   prologue. In declaration order: index_t, tensor_map, the problem, tunables, derived names, then for each argument NAME_t,
   NAME_strideI, NAME_pitch, NAME_layout, and the scalars themselves. */
#ifndef GEN_TEMPLATE_NAMES_H
#define GEN_TEMPLATE_NAMES_H

#include "gen/config/config.h"

enum name_kind {
  NAME_INDEX_T,    /* the type of offsets */
  NAME_TENSOR_MAP, /* the type of a tensor map */
  NAME_SLOT,       /* a problem value or tunable */
  NAME_DERIVED,
  NAME_SCALAR, /* a scalar argument that is no slot */
  NAME_TYPE,   /* A_t */
  NAME_STRIDE, /* A_stride0 */
  NAME_PITCH,  /* A_pitch */
  NAME_LAYOUT  /* A_layout: "row" or "col" */
};

struct name {
  const char *text;
  size_t length;
  enum name_kind kind;
  int index;             /* slot; of derived; or of arguments */
  int dimension;         /* NAME_STRIDE */
  int scalar;            /* the scalar argument of this name, -1: none */
  bool used;             /* the expansion mentions it */
  bool asked;            /* a //@ line or ${} has read its value */
  bool tested;           /* a directive mentions it: only a macro serves there */
  bool doubted;          /* a directive asks whether it is one */
  bool scoped;           /* the source declares it, too: a constant leaves that alone, a macro would not */
  bool valued;           /* more than whether it is defined is asked of it */
  const char *declared;  /* where it does, for messages; NULL: nowhere, or in a branch of the preprocessor alone */
  const char *variable;  /* where a variable of a function hides it, or NULL */
  const char *redefined; /* where the body defines it under a condition, or NULL */
  size_t at;             /* in texts: where text stands until names_open is done */
};

/* What names mean in one expansion; everything is borrowed. */
struct names_input {
  const struct config *config;
  const struct config_tunable *tunables;
  size_t tunable_count;
  const struct config_derived *derived;
  size_t derived_count;
  const struct value *slots;
  size_t slot_count;
  const struct config_argument *own; /* the implementation's scalars, behind the config's arguments */
  size_t own_count;
  const struct kernel_argument *arguments; /* those of the config and these, evaluated */
  const bool *plain;                       /* for each: packed and row-major whatever the config says */
  bool wide_index;                         /* index_t has 64 bits */
};

struct names {
  struct names_input in;
  struct name *list;
  size_t count, capacity;
  unsigned short *buckets; /* index into list + 1; a power of two of them */
  size_t bucket_count;
  struct text texts; /* of the composed names */
  bool *known;       /* for each slot: compiled in, not passed at launch */
  bool *facts;       /* of the device: those that the template asked for by `device` */
  bool all_known;
};

int names_open(const struct names_input *in, struct names *out, cugen_error *err);
void names_close(struct names *names);

struct name *names_find(const struct names *names, const char *text, size_t length);
/* What Lua sees: a number, string or boolean; VALUE_NIL for what exists in CUDA text only (index_t, tensor_map, A_t). */
int names_value(const struct names *names, const struct name *name, struct value *out, cugen_error *err);
/* A string that is no dtype: it has no form in CUDA text. */
bool names_only_lua(const struct names *names, const struct name *name);
/* Known at launch only: the kernel's parameter holds it. */
bool names_parameter(const struct names *names, const struct name *name);
/* In CUDA text it is a number, and so a macro. */
bool names_macro(const struct names *names, const struct name *name);
/* Of such: one that a constexpr can hold as well, so that name->scoped may ask for that. */
bool names_constant(const struct names *names, const struct name *name);
bool names_tunable(const struct names *names, const struct name *name);
/* What the last text said of it. */
void names_forget(struct name *name);
/* Appends the line of the prologue. *type gets the dtype it needs, or NULL. */
int names_define(const struct names *names, const struct name *name, struct text *out, const struct dtype **type,
                 cugen_error *err);

/* Expressions whose value alone the text depends on: of derived names, and whether there is an argument or a tensor map. */
struct names_values {
  const struct expr **list; /* the config's, with room for one a name, an argument and a tensor map */
  size_t count;
};

/* Notes one there, or where there is no place (NULL) the slots that it depends on. */
void names_read_value(const struct expr *expr, bool *reads, struct names_values *values);

/* Sets reads[slot] for each slot whose value the expansion's text depends on: for all of them it is the same kernel when
   these have the same values and index_t the same width. With values (else NULL) the derived names that Lua has read and the arguments' conditions stand there, and
   what they depend on is not set for their sake. */
void names_reads(const struct names *names, bool *reads, struct names_values *values);

#endif
