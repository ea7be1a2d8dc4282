/* The state of one expansion. expand.c runs the steps, which the other files expand_*.c implement.
   See expand.h. */
#ifndef GEN_TEMPLATE_EXPANSION_H
#define GEN_TEMPLATE_EXPANSION_H

#include "assemble.h"
#include "expand.h"
#include "gen/sources/data_files.h"
#include "gen/sources/source_text.h"
#include "headers.h"
#include "render.h"

/* Hashes of a reference, verify kernel or generator: of its source alone, and of the source with
   its launch and the scalars passed. Empty: there is none, or its expansion fails. */
struct proof {
  struct hash source, kernel;
};

enum { PROOFS_KEPT = 32, CHECKS_KEPT = 256 };

struct expander {
  /* The references, verify kernels and generators expanded last, with the inputs that they depend
     on. */
  struct kept_proof {
    struct text key;
    struct proof proof;
  } proofs[PROOFS_KEPT];
  size_t next_proof;
  /* What variants' kernels on check problems are, each at a place that follows from the hash
     of what it depends on. */
  struct kept_check {
    struct hash key;
    struct kernel_compared kernel;
  } checks[CHECKS_KEPT];
  const struct sources *sources;
  struct data_files data_files;
  struct renderer *renderer;
  struct headers *headers;
  /* kept between expansions to save allocations */
  struct text rendered, body, defines, source, normal, parameters, title;
  /* Which slots influenced the last expansion, one flag for each slot. reads_beside leaves out the
     slots that influenced the expansion only through an expression in `values`. */
  bool *reads, *reads_beside;
  size_t read_count;
  const struct expr **values; /* expressions of which only the value influenced the expansion */
  size_t value_count;
};

struct expansion {
  struct expander *expander;
  const struct config *config;
  const struct problem *problem;
  const struct device_facts *facts;
  const struct variant *variant; /* may be NULL in a reference without shared tunables */
  bool unnamed;                  /* errors do not name the variant */
  bool reference;                /* a reference, generator or verify kernel is expanded */
  bool verifies;
  int generates;             /* the argument whose data the generator makes; -1: none */
  int64_t samples;           /* elements that a reference or verify kernel visits; 0: all */
  struct proof proof, judge; /* of the variant's reference (or answers) and verify kernel */
  struct proof check_proof, check_judge; /* hashes of the reference and the verify kernel for the
                                            check problem */
  struct value *slots;
  size_t slot_count;
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  size_t argument_count, own_count; /* own: the implementation's scalars, which follow the
                                       arguments */
  bool plain[KERNEL_MAX_ARGUMENTS]; /* for each argument: packed and row-major, whatever the config
                                         says */
  bool changed[KERNEL_MAX_ARGUMENTS]; /* of a reference or verify kernel: arguments whose contents
                                         before the run are passed, too */
  bool wide_index;                    /* index_t has 64 bits */
  bool parameters_used;               /* the template used ${params} */
  size_t steps[CONFIG_MAX_LAUNCHES];  /* number of rounds of each loop of the implementation */
  const char *template_name, *entry;  /* entry: the kernel if `reference`; NULL: the only one */
  struct config_line template_line;
  struct names names;
  struct kernel_entry entries[KERNEL_MAX_ENTRIES]; /* the launched kernels, each once */
  size_t entry_count;
  size_t launch_room, parameter_room; /* allocated lengths of the spec's arrays */
  struct kernel_names kernels;
  struct kernel_spec *out;
  cugen_error *err;
};

/* Each function here that returns int returns a status and describes a failure in x->err. */

/* ---- expand_arguments.c --------------------------------------------------------------------- */

size_t expansion_tunable_count(const struct expansion *x);
const struct config_tunable *expansion_tunables(const struct expansion *x);
int expansion_fill_slots(struct expansion *x);
bool expansion_is_buffer(const struct kernel_argument *argument);
int64_t expansion_output_elements(const struct expansion *x);
int expansion_fill_arguments(struct expansion *x);
int expansion_write_parameters(struct expansion *x);

/* ---- expand_source.c ------------------------------------------------------------------------ */

int expansion_open_names(struct expansion *x);
int expansion_evaluate_options(struct expansion *x);
int expansion_spell_entries(struct expansion *x);
/* Finds the launch's entry in x->entries, or adds it there. The slots have the launch's step. */
int expansion_find_entry(struct expansion *x, const struct config_launch *launch,
                         struct kernel_entry **out);
/* Begins the source with comments that name the variant, the problem and the options. */
int expansion_write_title(struct expansion *x);
int expansion_write_source(struct expansion *x);
/* Empties the reads, and makes room for `values` values. */
int expansion_fresh_reads(struct expansion *x, size_t values);
int expansion_note_reads(struct expansion *x);

void expansion_set_step(struct expansion *x, const struct config_launch *launch, size_t step,
                        size_t steps);

/* ---- expand_library.c: the steps of a library's kernel ------------------------------------- */

bool expansion_calls_library(const struct expansion *x);
/* Writes the text of the call as the source. */
int expansion_write_call(struct expansion *x);
int expansion_note_call_reads(struct expansion *x);
int expansion_library_launch(struct expansion *x);

/* ---- expand_launches.c ---------------------------------------------------------------------- */

size_t expansion_store_string(struct kernel_spec *spec, const char *string);
int expansion_evaluate_launches(struct expansion *x);
int expansion_reference_launch(struct expansion *x);

/* ---- expand_spec.c -------------------------------------------------------------------------- */

int expansion_count_steps(struct expansion *x);
int expansion_allocate_spec(struct expansion *x);
int expansion_finish_strings(struct expansion *x);
int expansion_take_hashes(struct expansion *x);
/* Checks, as far as the text shows, that the kernels take the parameters that are passed. Notes the
   first suspicious order of names in spec->order. */
int expansion_check_parameters(struct expansion *x);
int expansion_take_data_hashes(struct expansion *x);
int expansion_evaluate_work(struct expansion *x);
int expansion_name_variant(struct expansion *x);

#endif
