/* Kernels of libraries that take the place of a template and its compile. A config's `library
   "cublasLt" { ... }` becomes a library_call, one for each variant and problem. The text of a call
   is both the variant's source and its compiled image. The backend reads the text and opens the
   library.

   To add a library, add a row of LIBRARIES, its table of fields, and a file in runtime/cuda that
   makes the call. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include "facts.h"
#include "kernel.h"

/* A field of the declaration holds the name of an argument that is a buffer or a scalar, or an
   expression that gives a whole number or one of the field's words. */
enum library_kind { LIBRARY_BUFFER, LIBRARY_SCALAR, LIBRARY_NUMBER, LIBRARY_WORD };

struct library_field {
  const char *name;
  enum library_kind kind;
  bool needed;       /* the declaration must have the field */
  int64_t usual;     /* the number where the declaration leaves the field out */
  const char *words; /* separated by blanks; the first is the default */
};

struct library {
  const char *name;         /* "cublasLt" */
  const char *const *files; /* file names of the library, newest first, NULL-terminated */
  const struct library_field *fields;
  size_t field_count;
};
extern const struct library libraries[LIBRARY_COUNT];
enum { LIBRARY_MOST_FIELDS = 16 };

/* The fields of cublasLt: C = activation(alpha * A * B + beta * added + bias). */
enum library_math { LIBRARY_EXACT, LIBRARY_TF32, LIBRARY_FAST }; /* the words of the field `math` */
#define CUBLASLT_FIELDS(X)                                                                         \
  X(a, LIBRARY_BUFFER, true, 0, NULL)                                                              \
  X(b, LIBRARY_BUFFER, true, 0, NULL)                                                              \
  X(c, LIBRARY_BUFFER, true, 0, NULL)                                                              \
  X(added, LIBRARY_BUFFER, false, 0, NULL)                                                         \
  X(bias, LIBRARY_BUFFER, false, 0, NULL)                                                          \
  X(alpha, LIBRARY_SCALAR, false, 0, NULL)                                                         \
  X(beta, LIBRARY_SCALAR, false, 0, NULL)                                                          \
  X(batch, LIBRARY_NUMBER, false, 1, NULL)                                                         \
  X(algorithm, LIBRARY_NUMBER, false, 0, NULL)                                                     \
  X(activation, LIBRARY_WORD, false, 0, "none relu gelu")                                          \
  X(math, LIBRARY_WORD, false, 0, "exact tf32 fast")
enum cublaslt_field {
#define X(name, ...) CUBLASLT_##name,
  CUBLASLT_FIELDS(X)
#undef X
      CUBLASLT_FIELD_COUNT
};

struct library_value {
  /* type of an argument; NULL: the call has no such argument */
  const struct dtype *dtype;
  bool columns; /* a matrix is stored by columns */
  int rank;
  int64_t shape[KERNEL_MAX_RANK], stride[KERNEL_MAX_RANK]; /* strides in elements */
  int64_t number;                                          /* a number, or the index of a word */
};

struct library_call {
  enum library_id library;
  uint64_t build; /* as in device_facts.libraries; another build is another kernel */
  struct library_value values[LIBRARY_MOST_FIELDS];
};

/* Returns LIBRARY_COUNT if there is no library of that name. */
enum library_id library_find(const char *name);
/* Returns the index of the word among the field's words; -1: it is none of these. */
int library_word(const struct library_field *field, const char *word);
/* Returns whether a source or an image is the call of a library or of a user's function; //
   comments in front of the call are skipped. */
bool library_call_is(const char *text, size_t length);
void library_call_print(const struct library_call *call, struct text *out);
/* Reads what library_call_print wrote, behind // comments. CUGEN_ERROR_CONFIG: the text is
   damaged, or of a cugen that knows other libraries. */
int library_call_parse(const char *text, size_t length, struct library_call *out, cugen_error *err);

/* The beginning of the text that calls a function of the user. The function's name, a blank and the
   path of the shared library follow (runtime/function.h). */
#define LIBRARY_FUNCTION "library function "

#endif
