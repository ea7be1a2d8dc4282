/* Conversion of Lua's declarations to plain tables: everything that the files of gen/config share.
   The Lua state is only read here, with functions that neither allocate nor raise errors, so that
   no sandbox_call is needed. */
#ifndef GEN_CONFIG_BUILD_H
#define GEN_CONFIG_BUILD_H

#include "arena.h"
#include "config.h"
#include "declarations.h"
#include "sandbox.h"

enum {
  LARGEST_LIST = 512, /* declarations in one list */
  MOST_VALUES = 4096, /* values of a tunable or problem */
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

/* A name in force. Arguments are listed, too, but expressions do not see them. */
struct scope_name {
  const char *name;
  enum name_role role;
  struct config_line line;
  int slot;
  const struct expr *expr;
  bool used; /* of a tunable: whether an expression or an argument mentions it */
  /* These three are as in struct expr_symbol. */
  const struct value *values;
  size_t value_count;
  bool open;
};

struct build {
  struct config *config;
  struct arena *arena;
  lua_State *L;
  cugen_error *err;
  const struct expr_functions *functions; /* of expressions */
  struct scope_name *names; /* the names of the kernel, followed by those of the current
                               implementation */
  size_t name_count, name_capacity;
  const char **seen;              /* names that expressions see, for suggestions */
  struct config_derived *derived; /* derived names and restrictions that all implementations
                                     share */
  size_t derived_count;
  struct config_restriction *restrictions;
  size_t restriction_count;
  const struct config_implementation *implementation; /* the current implementation */
  const struct config_shared *declaring; /* the shared array that is being read; NULL: none */
  bool
      declaring_layout; /* the layout of `declaring` is being read; its dtype and shape are known */
  /* Errors of the second pass, of which several are reported at once: their lines in order, and the
     names of the declarations that failed, because what mentions them is no further error. */
  struct text noted;
  cugen_error first;
  const char *failed[16];
  size_t failed_count;
  uint32_t facts; /* device facts used by the expressions read so far: bits 1 << DEVICE_FACT_... */
};

/* ---- Errors (build.c) ----------------------------------------------------------------------- */

/* Fails with "path:line: message" and CUGEN_ERROR_CONFIG. */
int build_fail(struct build *build, struct config_line line, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Notes the error of a declaration, whose name may be NULL, and returns CUGEN_OK so that reading
   goes on with the next declaration. Any status but CUGEN_ERROR_CONFIG is returned as it is; so is
   the error after which no more are noted. top: where the Lua stack was before the declaration. */
int build_note(struct build *build, const char *name, int top, int status);
/* Returns the status of the whole reading. If errors were noted, they become its message. */
int build_report(struct build *build, int status);
/* Returns "line 12", or "line 12 of FILE" if that is not the file of `from`. */
const char *build_line(struct build *build, struct config_line from, struct config_line other);
/* Fails after an allocation from the arena failed. */
int build_memory(struct build *build);

/* ---- Lists of declarations (read.c) --------------------------------------------------------- */

struct item {
  const struct declaration *declaration;
  const char *name; /* owned by Lua, or NULL */
  int index;
};

struct list {
  int table; /* index of the Lua table on the stack */
  struct config_line line;
  enum place place;
  struct item *items;
  size_t count;
};

/* Reads the list of declarations in the table at stack index `table`. Every element must be a
   complete declaration that is allowed at this place, and some declarations may stand only once.
   owner names the list in messages: "kernel \"matmul\"". */
int read_list(struct build *build, int table, enum place place, const char *owner,
              struct config_line line, struct list *out);
size_t list_count(const struct list *list, enum keyword_id id);
/* Returns the only declaration of this kind in the list, or NULL. Of a keyword that may have either
   form, it is the declaration without a name. */
const struct item *list_find(const struct list *list, enum keyword_id id);
/* Pushes the value of the declaration. */
void list_push(struct build *build, const struct list *list, const struct item *item);

/* ---- Readers of the value on top of the stack (read.c); `what` names it in messages --------- */

int read_string(struct build *build, struct config_line line, const char *what, const char **out);
/* Reads "file.cu" or "file.cu:entry" into file and entry (NULL if no entry is given). */
int read_kernel_file(struct build *build, struct config_line line, const char *what,
                     const char *text, const char **file, const char **entry);
int read_value(struct build *build, struct config_line line, const char *what, struct value *out);
/* Reads a list of distinct values: { 16, 32 }. */
int read_values(struct build *build, struct config_line line, const char *what,
                const struct value **out, size_t *count);
int read_expr(struct build *build, struct config_line line, const char *what,
              const struct expr **out);
/* Like read_expr, for a text that is not on the stack. */
int read_expr_text(struct build *build, struct config_line line, const char *what,
                   const char *source, const struct expr **out);
/* Reads { expr, expr, ... }, with 1 to `most` expressions. */
int read_exprs(struct build *build, struct config_line line, const char *what, int most,
               const struct expr **out, int *count);
/* Reads one of the known words (NULL-terminated), or an expression. */
int read_word(struct build *build, struct config_line line, const char *what,
              const char *const *known, struct config_word *out);
/* Reads text with ${expression} in it. */
int read_spelling(struct build *build, struct config_line line, const char *what,
                  struct config_spelling *out);
/* Like read_spelling, for a text that is not on the stack; it must live as long as the config. */
int read_spelled(struct build *build, struct config_line line, const char *what, const char *text,
                 struct config_spelling *out);
/* Sets reads[slot] for each slot that the expression depends on; NULL depends on none. */
void note_reads(const struct expr *expr, bool *reads);
/* Lists the slots with reads[slot] set, of EXPR_CALL_SLOTS, as those of a call. Returns false if
   memory is out. */
bool list_reads(struct build *build, const bool *reads, struct expr_call *call);
/* layout.c. Reads a layout of an array of that rank: a word, which may have ${expression} in it, or
   an expression that gives one. */
int read_layout(struct build *build, struct config_line line, const char *what, int rank,
                struct config_layout *out);
/* Pushes table[key] of the table at index `table`. Returns false, and pushes nothing, if there is
   no such key. */
bool push_field(struct build *build, int table, const char *key);
/* Returns the first key, in the order of strcmp, that is not among the known keys; NULL if all are
   known. "" stands for a key that is not a string. */
const char *unknown_key(struct build *build, int table, const char *const *known, size_t count);
/* Fails with "message (nearest 'x')", because the name is none of `names`. */
int refuse_name(struct build *build, struct config_line line, const char *name,
                const char *const *names, size_t count, const char *format, ...) PRINTF_LIKE(6, 7);
/* Refuses a table with a key that is not a problem of this kernel. who: the declaration that holds
   the table, such as "check". */
int refuse_unknown_problem(struct build *build, struct config_line line, int table,
                           const char *who);

/* ---- Names (scope.c) ------------------------------------------------------------------------ */

/* Checks the name and puts it in force. */
int scope_add(struct build *build, const struct scope_name *name);
const struct scope_name *scope_find(const struct build *build, const char *name);
/* Ends an implementation: removes all names but the first `count`. */
void scope_end(struct build *build, size_t count);
/* Sets the possible values of the name that was added last. */
void scope_set_values(struct build *build, const struct value *values, size_t count, bool open);
/* Sets `used` of the tunables from the names in force, beginning with the name at index `first`.
   The first of the tunables has the first slot of all tunables. */
void scope_note_used(const struct build *build, size_t first, struct config_tunable *tunables);
int scope_check_generated(struct build *build);
int scope_parse(struct build *build, const char *source, struct expr **out);
/* Returns the symbol that expressions see under the name. build: a struct build. */
struct expr_symbol scope_symbol(void *build, const char *name);
/* Returns the names that expressions see; the list is valid until the next name is added. */
const char *const *scope_names(void *build, size_t *count);
const char *scope_nearest(struct build *build, const char *name);
/* functions.c. conflicts, least_pad, sectors. */
extern const struct expr_functions config_functions;

/* ---- Parts ---------------------------------------------------------------------------------- */

/* implementation.c. The lists of shared parts are read from the kernel's own list. */
int read_tunables(struct build *build, const struct list *list, int first_slot,
                  struct config_tunable *out);
int read_derived(struct build *build, const struct list *list, struct config_derived *derived,
                 size_t *count);
int read_restrictions(struct build *build, const struct list *list,
                      struct config_restriction *restrictions, size_t *count);
int read_implementation(struct build *build, const struct list *kernel, const struct item *item,
                        struct config_implementation *out);
/* waive.c; called after the tunables are read. */
int read_waivers(struct build *build, const struct list *list);
int read_tries(struct build *build, const struct list *list, struct config_implementation *out);
/* check.c; *out becomes NULL if the list has no check. */
int read_check(struct build *build, const struct list *list, const struct value **out);
/* sizes.c */
int read_problem_sets(struct build *build, const struct list *list);
/* argument.c */
bool is_argument(enum keyword_id id);
int read_argument(struct build *build, const struct list *list, const struct item *item,
                  struct config_argument *out);
/* Reads a scalar of an implementation. */
int read_own_scalar(struct build *build, const struct list *list, const struct item *item,
                    struct config_argument *out);
/* data.c. Reads an attribute of the argument that is being read, whose shape is known. The
   attribute's value is on top of the stack. */
int read_data_values(struct build *build, struct config_argument *argument, const char *what);
int read_data_file(struct build *build, struct config_argument *argument, const char *what);
int read_data_generator(struct build *build, struct config_argument *argument, const char *what);
/* data.c. Reads the table of reference { y = "2 * x[i0]", z = "z.npy" }, which is on top of the
   stack, into config.answers. */
int read_answers(struct build *build, struct config_line line);
/* struct.c. Reads an attribute like read_data_values. */
int read_struct_name(struct build *build, struct config_argument *argument, const char *what);
int read_struct_fields(struct build *build, struct config_argument *argument, const char *what);
/* Completes a struct after all attributes of its argument were read. */
int complete_struct(struct build *build, struct config_argument *argument);
/* library.c. Refuses the parts of a template beside a library. */
int library_check_parts(struct build *build, const struct list *list, const char *owner);
int read_library(struct build *build, const struct list *list, struct config_implementation *out);
/* tensor.c */
int read_tensors(struct build *build, const struct list *list, struct config_implementation *out);
/* shared.c. Reads the arrays of a list, which is that of a launch of this number, or of the
   implementation (-1), whose launches are read afterwards. */
int read_shared_arrays(struct build *build, const struct list *list, int launch,
                       struct config_implementation *out);
/* Returns what an evaluation of the array costs, as expr_cost counts. */
size_t shared_array_cost(const struct config_shared *array);
/* Gives each launch the bytes of its arrays and of those of all launches. */
int read_shared_bytes(struct build *build, const struct config_implementation *implementation);
/* options.c. outer: the options of the kernel when an implementation's are read; else NULL. */
int read_compile(struct build *build, const struct list *list, const struct config_compile *outer,
                 struct config_compile *out);
/* pass.c; both read the value on top of the stack. After read_steps the names `step` and `steps`
   are in force. */
int read_steps(struct build *build, struct config_line line, struct config_launch *out);
int read_pass(struct build *build, struct config_line line, struct config_launch *out);
/* Returns whether an expression of the launch depends on the step. */
bool sees_step(const struct config_launch *launch);
/* formula.c */
int read_formulas(struct build *build, const struct list *list);
/* policy.c */
int read_policy(struct build *build, const struct list *list);
/* kernel.c */
int read_kernel(struct build *build);

#endif
