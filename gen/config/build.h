/* Conversion of Lua's declarations to plain tables: what the files that read declarations share.
   These files run outside of sandbox_call, so they only read the Lua state, with functions that
   neither allocate nor raise errors. A reader that fails does not return: build_fail leaves it by
   longjmp. So a reader owns no memory outside of the config's arena. */
#ifndef GEN_CONFIG_BUILD_H
#define GEN_CONFIG_BUILD_H

#include <setjmp.h>

#include "arena.h"
#include "config.h"
#include "declarations.h"
#include "gen/sandbox/sandbox.h"

enum {
  LARGEST_LIST = 512, /* declarations in one list */
  MOST_VALUES = 4096, /* values of a tunable or problem parameter */
  LONGEST_EXPRESSION = 8192
};

enum name_role {
  ROLE_PROBLEM,
  ROLE_TUNABLE,
  ROLE_DERIVED,
  ROLE_ARGUMENT,
  ROLE_FORMULA,
  ROLE_SHARED,
  ROLE_LAUNCH
};

/* A name in force: declared by the kernel or the current implementation. Arguments are listed, too,
   but expressions do not see arguments. */
struct scope_name {
  const char *name;
  enum name_role role;
  struct config_line line;
  int slot; /* -1: none */
  const struct expr *expr;
  bool used; /* of a tunable: whether an expression or an argument mentions it */
  /* values, value_count and open are as in struct expr_symbol. */
  const struct value *values;
  size_t value_count;
  bool open;
};

struct build {
  struct config *config;
  struct arena *arena;
  lua_State *L;
  struct config_line line;                /* of the declaration that is being read */
  const struct expr_functions *functions; /* that expressions may call */
  struct scope_name *names; /* the names of the kernel, followed by those of the current
                               implementation */
  size_t name_count;
  struct config_derived *derived; /* derived names and restrictions that all implementations
                                     share */
  size_t derived_count;
  struct config_restriction *restrictions;
  size_t restriction_count;
  struct config_implementation *implementation; /* the current implementation */
  const struct config_shared *declaring; /* the shared array that is being read; NULL: none */
  bool
      declaring_layout; /* the layout of `declaring` is being read; its dtype and shape are known */
  uint32_t facts;    /* bits 1 << DEVICE_FACT_...: facts that the current implementation, or outside
                     of implementations the kernel, has used so far */
  cugen_error error; /* why the last reader failed */
  jmp_buf *guard;    /* where execution goes on after a reader failed */
  /* Errors of the second pass (config.c), which are reported together. noted: their messages in
     order, a line each; first: the first error; failed: names of the declarations that failed,
     whose use is no further error. */
  struct text noted;
  cugen_error first;
  const char *failed[16];
  size_t failed_count;
};

/* ---- Errors (build.c) ----------------------------------------------------------------------- */

/* Fails with "path:line: message" and CUGEN_ERROR_CONFIG, at build->line or another line. */
_Noreturn void build_fail(struct build *build, const char *format, ...) PRINTF_LIKE(2, 3);
_Noreturn void build_fail_at(struct build *build, struct config_line line, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Fails with "message (nearest 'x')", because the name is none of `names`; with "message" if none
   is near. */
_Noreturn void build_fail_name(struct build *build, const char *name, const char *const *names,
                               size_t count, const char *format, ...) PRINTF_LIKE(5, 6);
/* Fails after an allocation failed, from the arena or elsewhere. */
_Noreturn void build_memory(struct build *build);
/* Fails unless the status is CUGEN_OK: puts "path:line: what: " in front of build->error. */
void build_check(struct build *build, int status, const char *what);

typedef void build_reader(struct build *build, void *context);
/* Calls read(build, context). If `read` fails, notes the error of the declaration, whose name may
   be NULL, so that reading goes on with the next declaration. Any error but CUGEN_ERROR_CONFIG ends
   the reading; so does a CUGEN_ERROR_CONFIG for which `failed` has no more room. */
void build_note(struct build *build, const char *name, build_reader *read, void *context);
/* Calls read(build, NULL) and returns the status of the whole reading. The message of a
   CUGEN_ERROR_CONFIG has all errors that were noted. Frees what `build` holds outside of the
   arena. */
int build_run(struct build *build, build_reader *read, cugen_error *err);

/* Returns "line 12", or "line 12 of FILE" if FILE is not the file of build->line. */
const char *build_line(struct build *build, struct config_line other);

/* ---- Memory of the arena (build.c): never NULL ---------------------------------------------- */

void *build_array(struct build *build, size_t count, size_t size);
char *build_copy(struct build *build, const char *string, size_t length);
const char *build_text(struct build *build, const char *format, ...) PRINTF_LIKE(2, 3);
/* Copies a text and frees it. */
const char *build_take(struct build *build, struct text *text);
/* Joins words as "a, b, c". */
const char *build_join(struct build *build, const char *const *words, size_t count);
/* Prints a value for a message. */
const char *build_value(struct build *build, struct value value);

/* ---- Lists of declarations (read.c) --------------------------------------------------------- */

struct item {
  const struct declaration *declaration;
  const char *name; /* owned by Lua, or NULL */
  int index;        /* position in the list, from 1 */
};

struct list {
  int table; /* index of the Lua table on the stack */
  enum place place;
  struct item *items;
  size_t count;
};

/* Reads the list of declarations in the table on top of the stack. owner names the list in
   messages: "kernel \"matmul\"". */
struct list read_list(struct build *build, enum place place, const char *owner);
size_t list_count(const struct list *list, enum keyword_id id);
/* Returns the first declaration of this keyword in the list, or NULL. If the keyword's naming is
   EITHER, declarations with a name are skipped. */
const struct item *list_find(const struct list *list, enum keyword_id id);
/* Pushes the value of the declaration. */
void list_push(struct build *build, const struct list *list, const struct item *item);

/* Reads a declaration, whose value is on top of the stack and whose line is build->line. */
typedef void item_reader(struct build *build, const struct item *item, void *out);
void read_item(struct build *build, const struct list *list, const struct item *item,
               item_reader *read, void *out);
/* Like read_item, but notes an error (build_note). */
void note_item(struct build *build, const struct list *list, const struct item *item,
               item_reader *read, void *out);
/* Reads the declaration that list_find finds, if there is one. */
void read_only(struct build *build, const struct list *list, enum keyword_id id, item_reader *read,
               void *out);
/* Reads the declarations of a keyword into the elements of an array, in order. *count grows by the
   number of elements begun; count may be NULL. */
void read_items(struct build *build, const struct list *list, enum keyword_id id, item_reader *read,
                void *array, size_t size, size_t *count);
void note_items(struct build *build, const struct list *list, enum keyword_id id, item_reader *read,
                void *array, size_t size, size_t *count);
/* Allocates an array for the declarations of a keyword, and reads them into it. array and count:
   the members that get the array and the number of elements begun, before `read` is called. */
#define READ_ARRAY(build, list, id, read, array, count)                                            \
  read_items(build, list, id, read,                                                                \
             (void *)((array) = build_array(build, list_count(list, id), sizeof *(array))),        \
             sizeof *(array), &(count))

/* ---- Readers of the value on top of the stack (read.c); `what` names it in messages --------- */

/* Returns the length of a list without holes and without fields; -1: the value is no such list. */
lua_Integer list_length(struct build *build);
const char *read_string(struct build *build, const char *what);
/* Reads "file.cu" or "file.cu:entry" into file and entry (NULL if no entry is given). */
void read_kernel_file(struct build *build, const char *what, const char *text, const char **file,
                      const char **entry);
struct value read_value(struct build *build, const char *what);
/* Reads a list of distinct values: { 16, 32 }. */
void read_values(struct build *build, const char *what, const struct value **out, size_t *count);
const struct expr *read_expr(struct build *build, const char *what);
/* Reads a string as an expression of the given scope, which may have the extras. */
const struct expr *read_expr_of(struct build *build, const char *what,
                                const struct expr_scope *scope, const struct expr_extras *extras);
/* Makes the arena own the expression, which was parsed from the source. */
const struct expr *keep_expr(struct build *build, struct expr *expr, const char *source);
/* Reads { expr, expr, ... }, with 1 to `most` expressions. Returns their number. */
int read_exprs(struct build *build, const char *what, int most, const struct expr **out);
/* Reads one of the known words (NULL-terminated), or an expression. */
struct config_word read_word(struct build *build, const char *what, const char *const *known);
/* spelling.c. Reads text with ${expression} in it. */
struct config_spelling read_spelling(struct build *build, const char *what);
/* Like read_spelling, for a text that is not on the stack, which must live as long as the
   config. */
struct config_spelling read_spelled(struct build *build, const char *what, const char *text);
/* Sets the slots of a call to those with reads[slot] set; reads has EXPR_CALL_SLOTS elements.
   Returns false if memory is out. */
bool list_reads(struct build *build, const bool *reads, struct expr_call *call);
/* layout.c. Reads a layout of an array of that rank: a word, which may have ${expression} in it, or
   an expression that gives one. */
struct config_layout read_layout(struct build *build, const char *what, int rank);
/* Pushes table[key] of the table at index `table`. Returns false, and pushes nothing, if there is
   no such key. */
bool push_field(struct build *build, int table, const char *key);
bool has_field(struct build *build, int table, const char *key);
/* Reads the field as an expression; NULL if there is no such key. */
const struct expr *read_field_expr(struct build *build, int table, const char *key,
                                   const char *what);
/* Returns the first key, in the order of strcmp, that is not among the known keys; NULL if all are
   known. "" stands for a key that is not a string. */
const char *unknown_key(struct build *build, int table, const char *const *known, size_t count);
/* Refuses the table on top of the stack if it has a key that is none of `known`. noun: the kind of
   the keys, such as "attribute"; owner: what has the keys, such as "tensor \"A\"", or "". */
void refuse_unknown_key(struct build *build, const char *noun, const char *owner,
                        const char *const *known, size_t count);
/* Like refuse_unknown_key, and refuses a value that is no table. example: a right declaration. */
void refuse_odd_table(struct build *build, const char *noun, const char *owner, const char *example,
                      const char *const *known, size_t count);
/* Refuses a table with a key that is no problem parameter of this kernel. who: the declaration that
   holds the table, such as "check". */
void refuse_unknown_problem(struct build *build, int table, const char *who);
/* Refuses a value whose type is not that of the parameter's default, or that is not among the
   parameter's listed values. */
void check_problem_value(struct build *build, const char *who, const struct config_problem *problem,
                         struct value value);

/* An attribute of an argument or shared array, which `read` reads into the object. If `read` is
   NULL, the object has at `offset` a struct config_word for one of `words`, or, if `words` is NULL,
   an expression. */
struct attribute {
  const char *name;
  unsigned kinds; /* bits of the kinds of arguments that may have it; 0 in shared arrays */
  void (*read)(struct build *build, void *object, const char *what);
  size_t offset;
  const char *const *words;
  size_t word_count;
};
/* Reads the attributes in the order of the rows from the table on top of the stack. owner names the
   object: "shape of OWNER". */
void read_attributes(struct build *build, const struct attribute *rows, size_t count,
                     const char *owner, void *object);

/* ---- Names (scope.c) ------------------------------------------------------------------------ */

/* Checks the name, which lies in the arena, and adds it to the names in force, with the line
   build->line. */
void scope_add(struct build *build, struct scope_name name);
const struct scope_name *scope_find(const struct build *build, const char *name);
/* Removes all names but the first `count`. */
void scope_end(struct build *build, size_t count);
/* Sets the possible values of the name that was added last. */
void scope_set_values(struct build *build, const struct value *values, size_t count, bool open);
/* Sets `used` of the tunables from the names in force, beginning with the name at index `first`.
   tunables[0] is the tunable with the slot first_tunable. */
void scope_note_used(const struct build *build, size_t first, struct config_tunable *tunables);
void scope_check_generated(struct build *build);
/* Parses an expression of names in force. On failure the error is in build->error. */
int scope_parse(struct build *build, const char *source, struct expr **out);
/* Returns the symbol that expressions see under the name. build: a struct build. */
struct expr_symbol scope_symbol(void *build, const char *name);
/* Returns the names that expressions see. The list belongs to the arena; NULL with a count of 0:
   memory is out. */
const char *const *scope_names(void *build, size_t *count);

/* functions.c. The functions conflicts, least_pad and sectors. */
extern const struct expr_functions config_functions;

/* ---- Parts ---------------------------------------------------------------------------------- */

/* implementation.c */
item_reader read_tunable, read_derived, read_restriction, read_implementation;

/* problem_values.c. Read the declarations check, problems and try. read_check sets *out to NULL if
   the list has no check; read_problem_set and read_try set a `const char *`. */
void read_check(struct build *build, const struct list *list, const struct value **out);
item_reader read_problem_set, read_try;
/* argument.c */
bool is_argument(enum keyword_id id);
/* Lists the names of the arguments read so far, for suggestions; names has KERNEL_MAX_ARGUMENTS
   elements. Returns their number. */
size_t argument_names(const struct config *config, const char **names);
item_reader read_argument, read_own_scalar; /* own: a scalar of the implementation */
/* data.c. Reads an attribute of the argument that is being read, whose shape is known. The
   attribute's value is on top of the stack. */
void read_data_values(struct build *build, void *argument, const char *what);
void read_data_file(struct build *build, void *argument, const char *what);
void read_data_generator(struct build *build, void *argument, const char *what);
/* data.c. Reads the table of reference { y = "2 * x[i0]", z = "z.npy" }, which is on top of the
   stack, into config.answers. */
void read_answers(struct build *build);
/* struct.c. Reads an attribute like read_data_values. */
void read_struct_name(struct build *build, void *argument, const char *what);
void read_struct_fields(struct build *build, void *argument, const char *what);
/* Completes a struct after all attributes of its argument were read. */
void complete_struct(struct build *build, const struct config_argument *argument);
/* library.c. Refuses declarations that cannot stand beside a library, such as a template. */
void library_check_parts(struct build *build, const struct list *list, const char *owner);
item_reader read_library;
/* tensor.c */
item_reader read_tensor;
/* shared.c. Reads the shared arrays of a list: that of the launch with this number, or, with -1,
   that of the implementation, whose launches are read afterwards. */
void read_shared_arrays(struct build *build, const struct list *list, int launch);
/* Returns what an evaluation of the array costs, as expr_cost counts. */
size_t shared_array_cost(const struct config_shared *array);
/* Sets `shared` of each launch that has shared arrays to an expression for its bytes of dynamic
   shared memory. */
void read_shared_bytes(struct build *build);
/* options.c. outer: the options of the kernel when an implementation's are read; else NULL. */
void read_compile(struct build *build, const struct list *list, const struct config_compile *outer,
                  struct config_compile *out);
/* pass.c. Read the value on top of the stack. After read_steps the names `step` and `steps` are in
   force. */
void read_steps(struct build *build, struct config_launch *out);
void read_pass(struct build *build, struct config_launch *out);
/* Returns whether an expression of the launch depends on the step. */
bool sees_step(const struct config_launch *launch);
/* formula.c */
item_reader read_formula;
/* policy.c */
item_reader read_policy;
/* kernel.c */
build_reader read_kernel;

#endif
