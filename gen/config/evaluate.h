/* Evaluation of a config for one variant of one problem on one device: from the slots to arguments,
   flags, shared arrays, tensor maps and parameters. The functions NAME_reads tell on which slots
   the result of such an evaluation depends. */
#ifndef GEN_CONFIG_EVALUATE_H
#define GEN_CONFIG_EVALUATE_H

#include "problem.h"

/* Returns the number of slots without the two slots of a launch's steps. implementation NULL: only
   with the shared tunables. */
size_t config_slot_count(const struct config *config,
                         const struct config_implementation *implementation);
/* Fills slots[0 .. first_tunable) from facts and problem; the caller owns slots. */
void config_slots(const struct config *config, const struct problem *problem,
                  const struct device_facts *facts, struct value *slots);

/* Returns the slot of the element's number in expressions for data; the slots of its coordinates
   follow. In other expressions these slots belong to an implementation's own tunables. */
int config_data_slot(const struct config *config);

/* Describes everything but shape and type that the data depends on. arguments: as config_arguments
   fills them, with data_hash set in those that the data reads. content: the hash of the data file
   or generator; empty if there is none. */
void config_data_describe(const struct config *config, const struct config_data *data,
                          const struct value *slots, const struct kernel_argument *arguments,
                          struct hash content, struct text *out);

/* Evaluates all attributes of the arguments. slots: as config_slots fills them, and the shared
   tunables. out has config->argument_count entries, whose strings point into the config. A pitch
   smaller than a row, strides under which elements share an offset, a word that is no layout of the
   argument, a shape below 1 and a buffer above 2^62 bytes are errors with the line of the
   argument. */
int config_arguments(const struct config *config, const struct value *slots,
                     struct kernel_argument *out, cugen_error *err);

/* Evaluates what decides where the elements of a buffer lie: dtype, shape, strides. out->absent:
   the problem does not have the argument. */
int config_argument_lies(const struct config *config, const struct config_argument *argument,
                         const struct value *slots, struct kernel_argument *out, cugen_error *err);
/* Sets reads[slot] for each slot that config_argument_lies reads. */
void config_argument_reads(const struct config_argument *argument, bool *reads);

/* Evaluates the implementation's own scalars into the entries of the array behind the arguments;
   slots also hold the implementation's tunables. */
int config_own(const struct config *config, const struct config_implementation *implementation,
               const struct value *slots, struct kernel_argument *arguments, cugen_error *err);

/* Checks that the arguments can exist, so that a size of 0 or a too large size is reported before
   anything is computed from it. With shared tunables the arguments may depend on them, and nothing
   is checked. */
int config_check_sizes(const struct config *config, const struct problem *problem,
                       const struct device_facts *facts, cugen_error *err);

/* Appends the text with the values of its expressions: numbers unchanged, booleans as 1 and 0,
   dtypes as C++ names them, other strings unchanged. */
int config_spell(const struct config_spelling *spelling, const struct value *slots,
                 struct text *out, cugen_error *err);

/* Sets reads[slot] for each slot that the expression depends on; NULL depends on none. */
void config_expr_reads(const struct expr *expr, bool *reads);
/* Sets reads[slot] for each slot that the text depends on. */
void config_spelling_reads(const struct config_spelling *spelling, bool *reads);
bool config_spelling_sees(const struct config_spelling *spelling, int slot);
/* Sets reads[slot] for each slot that the entry of a launch depends on. An entry that depends on
   its step also depends on the slots that decide the number of steps. */
void config_entry_reads(const struct config_launch *launch, bool *reads);

/* Appends the compiler flags, separated by blanks: an option of the implementation takes precedence
   over the kernel's. A reference (its slots hold only the shared tunables) gets the flags that
   `flags` lists, and of the options only --std, because others may make it less exact. */
int config_flags(const struct config_compile *compile, bool reference, const struct value *slots,
                 struct text *out, cugen_error *err);
/* Appends the macros of the options as `#define` lines. NDEBUG, which compilers must know before
   the source, is appended to the flags, too. */
int config_defines(const struct config_compile *compile, const struct value *slots,
                   struct text *lines, struct text *flags, cugen_error *err);
/* Sets reads[slot] for each slot that the flags and macros depend on. */
void config_compile_reads(const struct config_compile *compile, bool *reads);

/* Sets *out to the type of the operands if the work is products of matrices: the name of a dtype,
   "tf32" or "fp8", which is never freed; else NULL. slots as in config_arguments. */
int config_products(const struct config *config, const struct value *slots, const char **out,
                    cugen_error *err);

/* Turns the arguments that the implementation declares as `tensor`, and whose `when` holds, into
   tensor maps; slots also hold the tunables. A box or a buffer that a tensor map cannot have is an
   error with the line of the tensor. */
int config_tensors(const struct config_implementation *implementation, const struct value *slots,
                   struct kernel_argument *arguments, cugen_error *err);

/* Limit of the bytes of a launch's declared arrays in static shared memory. A block has at most
   48 KB of static shared memory (CUDA C++ Programming Guide, "Technical Specifications per Compute
   Capability"), of which 8 KB are left to arrays that the source itself has. */
enum { SHARED_STATIC_MOST = 40 * 1024 };

/* Evaluates the implementation's shared arrays into out[0 .. shared_count). The arrays of a launch
   lie behind those of all launches, in static shared memory if all fit and none is `dynamic`. */
int config_shared_arrays(const struct config_implementation *implementation,
                         const struct value *slots, struct layout_array *out, cugen_error *err);
/* Evaluates one array, without its place among the other arrays; without `layout` only its dtype
   and shape. */
int config_shared_array(const struct config_shared *array, const struct value *slots, bool layout,
                        struct layout_array *out, cugen_error *err);
void config_shared_array_reads(const struct config_shared *array, bool layout, bool *reads);
/* Sets reads[slot] for each slot that decides what the arrays of a launch (-1: of all launches) are
   and where they lie. If there are arrays of all launches, every array counts, because each can
   make the arrays of all launches dynamic. */
void config_shared_reads(const struct config_implementation *implementation, int launch,
                         bool *reads);

/* Evaluates a layout. The message of a refusal has no place: the caller adds it. */
int config_layout_read(const struct config_layout *layout, const struct value *slots, int rank,
                       struct layout *out, cugen_error *err);
/* Sets reads[slot] for each slot that the layout depends on. */
void config_layout_reads(const struct config_layout *layout, bool *reads);

/* Sets *out to the number of rounds of the launch's loop: 0 to KERNEL_MAX_SEQUENCE. */
int config_steps(const struct config_launch *launch, const struct value *slots, int64_t *out,
                 cugen_error *err);
/* Fills out[0 .. launch->passed_count) with the parameters that the launch passes; slots also hold
   its step. Naming an argument that is not a parameter is an error with the line of the launch. */
int config_pass(const struct config *config, const struct config_implementation *implementation,
                const struct config_launch *launch, const struct kernel_argument *arguments,
                const struct value *slots, struct kernel_parameter *out, cugen_error *err);

/* Returns whether index_t, which is also the type of dtype "index", has 64 bits: an argument has
   more than about 2^31 elements, or a scalar of dtype "index" has a larger value. */
bool config_wide_index(const struct config *config, const struct kernel_argument *arguments);

#endif
