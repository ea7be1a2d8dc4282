/* From declarations to plain tables: what the files of gen/config share. The Lua state is only read here, with
   functions that neither allocate nor raise errors, so that no sandbox_call is needed. */
#ifndef GEN_CONFIG_BUILD_H
#define GEN_CONFIG_BUILD_H

#include "arena.h"
#include "config.h"
#include "declarations.h"
#include "sandbox.h"

enum {
  LARGEST_LIST = 512, /* declarations in one list */
  MOST_VALUES = 4096, /* of a tunable or problem */
  LONGEST_EXPRESSION = 8192
};

enum name_role { ROLE_PROBLEM, ROLE_TUNABLE, ROLE_DERIVED, ROLE_ARGUMENT, ROLE_FORMULA, ROLE_LAUNCH };

/* A name in force. Arguments have one but expressions do not see it. */
struct scope_name {
  const char *name;
  enum name_role role;
  struct config_line line;
  int slot;
  const struct expr *expr;
  bool used; /* of a tunable: an expression or an argument mentions it */
  /* As in struct expr_symbol. */
  const struct value *values;
  size_t value_count;
  bool open;
};

struct build {
  struct config *config;
  struct arena *arena;
  lua_State *L;
  cugen_error *err;
  struct scope_name *names; /* those of the kernel, then those of the implementation at hand */
  size_t name_count, name_capacity;
  const char **seen;              /* what expressions see, for suggestions */
  struct config_derived *derived; /* these and the restrictions: those shared by all implementations */
  size_t derived_count;
  struct config_restriction *restrictions;
  size_t restriction_count;
  const struct config_implementation *implementation; /* at hand */
  uint32_t facts; /* what the expressions read so far ask of the device: 1 << DEVICE_FACT_... */
};

/* ---- Errors (build.c) ---- */

/* "path:line: message", CUGEN_ERROR_CONFIG. */
int build_fail(struct build *build, struct config_line line, const char *format, ...) PRINTF_LIKE(3, 4);
/* "line 12", or "line 12 of FILE" where that is not the file of `from`. */
const char *build_line(struct build *build, struct config_line from, struct config_line other);
/* After an allocation from the arena failed. */
int build_memory(struct build *build);

/* ---- Lists of declarations (read.c) ---- */

struct item {
  const struct declaration *declaration;
  const char *name; /* Lua's string, or NULL */
  int index;
};

struct list {
  int table; /* stack index */
  struct config_line line;
  enum place place;
  struct item *items;
  size_t count;
};

/* The table at stack index `table`: every element is a complete declaration that may stand in such a place, those that
   may not repeat do not. owner: "kernel \"matmul\"". */
int read_list(struct build *build, int table, enum place place, const char *owner, struct config_line line,
              struct list *out);
size_t list_count(const struct list *list, enum keyword_id id);
/* The only one, or NULL. */
const struct item *list_find(const struct list *list, enum keyword_id id);
/* Pushes the item's value. */
void list_push(struct build *build, const struct list *list, const struct item *item);

/* ---- Values on top of the stack (read.c); `what` names them in messages ---- */

int read_string(struct build *build, struct config_line line, const char *what, const char **out);
/* "file.cu" or "file.cu:entry", into file and entry (NULL: none is said). */
int read_kernel_file(struct build *build, struct config_line line, const char *what, const char *text,
                     const char **file, const char **entry);
int read_value(struct build *build, struct config_line line, const char *what, struct value *out);
/* { 16, 32 }, each once. */
int read_values(struct build *build, struct config_line line, const char *what, const struct value **out,
                size_t *count);
int read_expr(struct build *build, struct config_line line, const char *what, const struct expr **out);
/* { expr, expr, ... }, from 1 to most of them. */
int read_exprs(struct build *build, struct config_line line, const char *what, int most, const struct expr **out,
               int *count);
/* One of the known words (NULL-terminated), or an expression. */
int read_word(struct build *build, struct config_line line, const char *what, const char *const *known,
              struct config_word *out);
/* Text with ${expression} in it. */
int read_spelling(struct build *build, struct config_line line, const char *what, struct config_spelling *out);
/* Pushes table[key] of the table at the index; false, nothing pushed: there is none. */
bool push_field(struct build *build, int table, const char *key);
/* The first key in strcmp's order that is not among the known ones; NULL: all are. "" stands for one that is no
   string. */
const char *unknown_key(struct build *build, int table, const char *const *known, size_t count);
/* "message (nearest 'x')": the name is none of these. */
int refuse_name(struct build *build, struct config_line line, const char *name, const char *const *names,
                size_t count, const char *format, ...) PRINTF_LIKE(6, 7);
/* Refuses a table whose keys are not all problems of this kernel; who: "check". */
int refuse_unknown_problem(struct build *build, struct config_line line, int table, const char *who);

/* ---- Names (scope.c) ---- */

/* Checks the name and puts it in force. */
int scope_add(struct build *build, const struct scope_name *name);
const struct scope_name *scope_find(const struct build *build, const char *name);
/* Ends an implementation: only the first count names stay. */
void scope_end(struct build *build, size_t count);
/* What the last name added can be. */
void scope_set_values(struct build *build, const struct value *values, size_t count, bool open);
/* No name in force is one that templates get from an argument (A_t, A_stride0, ...). */
/* Tells the tunables, of which the first has the first slot of all, whether they are used; of the names from `first` on. */
void scope_note_used(const struct build *build, size_t first, struct config_tunable *tunables);
int scope_check_generated(struct build *build);
int scope_parse(struct build *build, const char *source, struct expr **out);
/* As expressions see the name. */
struct expr_symbol scope_symbol(void *build, const char *name);
/* What expressions see; the list lasts until the next name is added. */
const char *const *scope_names(void *build, size_t *count);
const char *scope_nearest(struct build *build, const char *name);

/* ---- Parts ---- */

/* implementation.c; the lists of shared parts come from the kernel's own list. */
int read_tunables(struct build *build, const struct list *list, int first_slot, struct config_tunable *out);
int read_rules(struct build *build, const struct list *list, struct config_derived *derived, size_t *derived_count,
               struct config_restriction *restrictions, size_t *restriction_count);
int read_implementation(struct build *build, const struct list *kernel, const struct item *item,
                        struct config_implementation *out);
/* try.c; after the tunables. */
int read_waivers(struct build *build, const struct list *list);
int read_tries(struct build *build, const struct list *list, struct config_implementation *out);
/* check.c; *out: NULL where there is none. */
int read_check(struct build *build, const struct list *list, const struct value **out);
/* sizes.c */
int read_problem_sets(struct build *build, const struct list *list);
/* argument.c */
bool is_argument(enum keyword_id id);
int read_argument(struct build *build, const struct list *list, const struct item *item, struct config_argument *out);
/* Of an implementation. */
int read_own_scalar(struct build *build, const struct list *list, const struct item *item,
                    struct config_argument *out);
/* data.c; of the argument that is being read, which has its shape, with the attribute's value at the top. */
int read_data_values(struct build *build, struct config_argument *argument, const char *what);
int read_data_file(struct build *build, struct config_argument *argument, const char *what);
int read_data_generator(struct build *build, struct config_argument *argument, const char *what);
/* struct.c; likewise. */
int read_struct_name(struct build *build, struct config_argument *argument, const char *what);
int read_struct_fields(struct build *build, struct config_argument *argument, const char *what);
/* After all attributes. */
int complete_struct(struct build *build, struct config_argument *argument);
/* tensor.c */
int read_tensors(struct build *build, const struct list *list, struct config_implementation *out);
/* options.c; outer: the kernel's, for an implementation, or NULL. */
int read_compile(struct build *build, const struct list *list, const struct config_compile *outer,
                 struct config_compile *out);
/* pass.c; both of the value at the top. After steps its names are in force. */
int read_steps(struct build *build, struct config_line line, struct config_launch *out);
int read_pass(struct build *build, struct config_line line, struct config_launch *out);
/* Whether an expression of the launch sees which step it is. */
bool sees_step(const struct config_launch *launch);
/* formula.c */
int read_formulas(struct build *build, const struct list *list);
/* policy.c */
int read_policy(struct build *build, const struct list *list);
/* kernel.c */
int read_kernel(struct build *build);

#endif
