/* One expansion under way, as the files of the expander pass it on: expand.c runs the steps in order, expand_arguments.c,
   expand_source.c, expand_launches.c and expand_spec.c carry them out. See expand.h. */
#ifndef GEN_TEMPLATE_EXPANSION_H
#define GEN_TEMPLATE_EXPANSION_H

#include "assemble.h"
#include "expand.h"
#include "gen/sources/data_files.h"
#include "gen/sources/source_text.h"
#include "headers.h"
#include "render.h"

/* Of a reference or its like: its source alone, and with its launch and the scalars that it is passed. Empty: there is none. */
struct proof {
  struct hash source, kernel;
};

enum { PROOFS_KEPT = 32 };

struct expander {
  /* The last references expanded, by what shapes them: a tuner goes to and fro between problems and shared tunables. */
  struct kept_proof {
    struct text key;
    struct proof proof;
  } proofs[PROOFS_KEPT];
  size_t next_proof;
  const struct sources *sources;
  struct data_files data_files;
  struct renderer *renderer;
  struct headers *headers;
  struct text rendered, body, defines, source, normal, parameters, title; /* kept for their memory */
  /* Of the last expansion, one a slot: what shaped it; the same beside the values. */
  bool *reads, *reads_beside;
  size_t read_count;
  const struct expr **values; /* derived names of which the value alone did */
  size_t value_count;
};

/* A kernel that is launched, as an entry says; "" until it is known: the only one. */
struct expansion_entry {
  struct text name;
  struct config_line line;     /* of the first launch that names it */
  bool only;                   /* no entry says it */
  bool stored;                 /* its strings are the spec's, */
  size_t name_at, place_at;    /* at these offsets */
  bool launched, has_carveout; /* by the launches so far */
  int carveout;
};

/* One expansion under way. */
struct expansion {
  struct expander *expander;
  const struct config *config;
  const struct problem *problem;
  const struct device_facts *facts;
  const struct variant *variant; /* NULL in a reference without shared tunables */
  bool unnamed;                  /* errors do not say which variant it is */
  bool reference;                /* or a generator or verify kernel */
  bool verifies;
  int generates;                         /* the argument whose data it makes; -1: none */
  int64_t samples;                       /* of a reference */
  struct proof proof, judge;             /* of the reference and the verify kernel behind a variant */
  struct proof check_proof, check_judge; /* the same for the check problem */
  struct value *slots;
  size_t slot_count;
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  size_t argument_count, own_count; /* own: behind the others, the implementation's scalars */
  bool plain[KERNEL_MAX_ARGUMENTS];
  bool changed[KERNEL_MAX_ARGUMENTS]; /* of a verify kernel: it gets what this was, too */
  bool wide_index;
  bool parameters_used;              /* ${params} */
  size_t steps[CONFIG_MAX_LAUNCHES]; /* rounds of each loop of the implementation */
  const char *template_name, *entry; /* entry: of a reference */
  struct config_line template_line;
  struct names names;
  struct expansion_entry entries[KERNEL_MAX_ENTRIES]; /* each kernel that is launched, once */
  size_t entry_count;
  size_t launch_room, parameter_room; /* of the spec's arrays */
  struct kernel_names kernels;
  struct kernel_spec *out;
  cugen_error *err;
};

/* What returns int is a step: a status, with what is wrong in x->err. */

/* ---- expand_arguments.c ---- */

size_t expansion_tunable_count(const struct expansion *x);
const struct config_tunable *expansion_tunables(const struct expansion *x);
int expansion_fill_slots(struct expansion *x);
bool expansion_is_buffer(const struct kernel_argument *argument);
int64_t expansion_output_elements(const struct expansion *x);
int expansion_fill_arguments(struct expansion *x);
int expansion_write_parameters(struct expansion *x);

/* ---- expand_source.c ---- */

int expansion_open_names(struct expansion *x);
int expansion_evaluate_options(struct expansion *x);
int expansion_spell_entries(struct expansion *x);
/* The entry of the launch with the step that the slots have; it is one of x->entries. */
int expansion_find_entry(struct expansion *x, const struct config_launch *launch, struct expansion_entry **out);
int expansion_write_source(struct expansion *x);
int expansion_note_reads(struct expansion *x);

void expansion_set_step(struct expansion *x, const struct config_launch *launch, size_t step, size_t steps);

/* ---- expand_launches.c ---- */

int expansion_launch_error(const struct expansion *x, const struct config_launch *launch, const char *what);
size_t expansion_store_string(struct kernel_spec *spec, const char *string);
int expansion_evaluate_launches(struct expansion *x);
int expansion_reference_launch(struct expansion *x);

/* ---- expand_spec.c ---- */

int expansion_count_steps(struct expansion *x);
int expansion_allocate_spec(struct expansion *x);
int expansion_finish_strings(struct expansion *x);
int expansion_take_hashes(struct expansion *x);
/* Whether its kernels take the parameters that they are passed, as far as the text tells. Notes where the names are exchanged. */
int expansion_check_parameters(struct expansion *x);
int expansion_take_data_hashes(struct expansion *x);
int expansion_evaluate_work(struct expansion *x);
int expansion_name_variant(struct expansion *x);
int expansion_copy_source(struct expansion *x);

#endif
