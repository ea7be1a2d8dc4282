/* A look-up: a config for one problem on one device, and what is found by that: its records, the space of its variants, their
   sources. It is a value: whoever asks about another problem or device makes another one. */
#ifndef API_LOOKUP_H
#define API_LOOKUP_H

#include "gen/template/expand.h"
#include "library.h"

/* ---- predictions.c: what a model says of a described GPU ---- */

struct lookup;

/* Under which device and options predictions are kept. */
struct prediction_key {
  struct text device, options;
};
/* What such options say. */
struct prediction_origin {
  int model; /* its version */
  uint32_t figures;
  char arch[32];
};
bool api_prediction_origin(const char *options, struct prediction_origin *out); /* false: not of a prediction */
/* Whether the NVRTC that was found compiles for the device, as far as its major version tells. */
int api_check_target(const cugen *lib, const struct device_description *device, cugen_error *err);
/* And whether enough of the device is known to predict for it. */
int api_check_predictable(const cugen *lib, const struct device_description *device, cugen_error *err);
/* To be freed whatever comes back. */
int api_key_predictions(cugen *lib, const struct device_description *device, const char *arch,
                        struct prediction_key *out, cugen_error *err);
void api_prediction_key_free(struct prediction_key *key);

/* ---- find_predictions.c ---- */

/* What predictions for the look-up's device are kept under: a GPU that is here, or is known by its text alone, too. To be freed whatever
   comes back. */
int api_find_predictions(const struct lookup *lookup, struct prediction_key *out, cugen_error *err);

/* ---- other_gpu.c ---- */

/* How unlike two GPUs are: the larger ratio of multiprocessors and of memory bandwidth, as far as these are known; 1: alike. */
double api_gpu_distance(const struct device_facts *a, const struct device_facts *b);

/* ---- devices.c ---- */

struct found_device {
  const struct device_ops *ops;
  struct device_description description;
  bool described; /* the device is not here */
  bool predicted; /* what was asked for are its predictions */
};
/* name NULL: the first GPU, else the cpu device, with the reason added to `fallback`. Else an id, or the text of a device that
   need not be here. */
int api_find_device(cugen *lib, const char *name, struct found_device *out, struct text *fallback, cugen_error *err);

/* Several devices of this machine. */
struct device_list {
  struct found_device *all;
  size_t count;
};
/* A text of CUGEN_DEVICE_LIST. CUGEN_ERROR_USAGE: one is not here, is there twice, or does not go with the others. To be freed whatever
   comes back. */
int api_list_devices(cugen *lib, const char *text, struct device_list *out, cugen_error *err);
void api_device_list_free(struct device_list *list);
/* Whether their records are the same: then they can be tuned together. */
bool api_devices_are_alike(const struct found_device *a, const struct found_device *b);

/* The device itself, where it is here, knows more than its description. */
bool api_prefer_present(cugen *lib, struct device_description *description);

/* ---- facts.c: facts that only a device itself can tell ---- */

/* CUGEN_ERROR_USAGE when the config, where it can serve the problem, uses a fact of the device that nobody here knows; text
   names it. */
int api_check_facts(const struct config *config, const struct problem *problem,
                    const struct device_description *device, const char *text, cugen_error *err);
/* The same of the source that was expanded last. */
int api_check_read_facts(const struct config *config, const struct expander *expander,
                         const struct device_description *device, const char *text, cugen_error *err);

/* ---- lookup.c ---- */

/* A config as it was opened, shared by every look-up of it. */
struct opened_config {
  struct sources sources; /* the library's when this was opened: a file added later is for others */
  struct config *config;
  struct text origin;        /* which config file it is, see cache_key */
  struct expander *expander; /* opened when first needed */
};
/* To be closed whatever comes back. */
int opened_config_open(const cugen *lib, const char *name, struct opened_config *out, cugen_error *err);
void opened_config_close(struct opened_config *opened);

struct lookup {
  cugen *lib;
  struct opened_config *opened; /* borrowed */
  const struct config *config;  /* opened's */
  const char *origin;           /* opened's; NULL: records of all files of this config's name are alike */
  const struct device_ops *ops;
  struct device_description device;
  bool described; /* the device is not here */
  char arch[16];  /* what is compiled for: "sm_90a" */
  int nvrtc_version;
  enum measure_way measure;          /* how it is measured; predictions are not */
  struct text options;               /* of what is measured: "arch sm_90a", "arch sm_90a, measure graph" */
  bool predicted;                    /* its records are predictions, */
  struct prediction_key predictions; /* kept under these */
  const struct problem *problem;     /* borrowed */
  const char *const *settings;       /* those of the kernel, borrowed; NULL: not known */
  size_t setting_count;
  bool asked;                                 /* the problem is somebody's settings: what they make wrong is theirs */
  struct text problem_text, problem_settings; /* as cache_key has them */
  const struct space_filter *filter;          /* borrowed; NULL: the whole space is wanted */
  struct space *space;                        /* what the filter admits; built when first needed */
  struct value *values;                       /* of the variant being looked at */
};

/* Of the same config and device, for another problem; without the filter. To be closed whatever comes back. */
int lookup_for_problem(const struct lookup *from, const struct problem *problem, struct lookup *out,
                       cugen_error *err);
/* Everything that depends on the problem is dropped. The problem is borrowed. */
int lookup_set_problem(struct lookup *lookup, const struct problem *problem, cugen_error *err);
/* What is compiled for, and the options that go with it and with `measure`. */
int lookup_set_arch(struct lookup *lookup, const char *arch, cugen_error *err);
/* What such options say. */
struct lookup_options {
  char arch[16];
  enum measure_way measure;
};
/* False: they are not of measurements. */
bool lookup_read_options(const char *options, struct lookup_options *out);
/* From now on its records are predictions. */
int lookup_use_predictions(struct lookup *lookup, cugen_error *err);
void lookup_drop_space(struct lookup *lookup);
void lookup_close(struct lookup *lookup);

int lookup_space(struct lookup *lookup, cugen_error *err);
int lookup_expander(struct lookup *lookup, cugen_error *err);
/* Of its space, which is open; until the next one is asked for. */
struct variant lookup_variant(const struct lookup *lookup, uint64_t index);
/* The variant's kernel_spec. Its expander is open. */
int lookup_expand(const struct lookup *lookup, const struct variant *variant, struct kernel_spec *out,
                  cugen_error *err);
/* The same; CUGEN_ERROR_USAGE where the source would have a fact of the device that nobody here knows. */
int lookup_expand_known(const struct lookup *lookup, const struct variant *variant, struct kernel_spec *out,
                        cugen_error *err);

/* keep_ptx: the result has the PTX, too. */
int lookup_compile(const struct lookup *lookup, const struct kernel_spec *spec, bool keep_ptx, struct compiled *out,
                   cugen_error *err);
/* Whether NVRTC takes the source, which is for the cpu device; CUGEN_OK where there is no NVRTC. */
int lookup_accepts(const struct lookup *l, const struct kernel_spec *spec, cugen_error *err);

/* What its records are found by. Strings are the look-up's. */
struct cache_key lookup_key(const struct lookup *lookup);
/* The same of what was measured, and of what was predicted under that key. */
struct cache_key lookup_measured_key(const struct lookup *lookup);
struct cache_key lookup_predicted_key(const struct lookup *lookup, const struct prediction_key *key);

/* CUGEN_ERROR_DEVICE when nothing can run, since the device is only described. */
int lookup_check_present(const struct lookup *lookup, cugen_error *err);
/* Whether the device is described and enough of it is known to predict for it. */
bool lookup_predicts(const struct lookup *lookup);
/* The context to work in: `given`, which a device must have contexts for, else what is current; NULL: the primary. */
int lookup_context(const struct lookup *lookup, void *given, void **out, cugen_error *err);

/* Prints the problem for a look-up. */
int api_print_problem(const struct config *config, const struct problem *problem, struct text *out,
                      struct text *settings, cugen_error *err);
/* What cache_key.origin says of the config. */
int api_origin(const struct sources *sources, const struct config *config, struct text *out, cugen_error *err);

/* ---- problem_text.c ---- */

/* Reads what problem_print wrote, parameters left out that have their default. *known is false, and nothing is to be freed,
   when the config has changed since. */
int api_read_problem(const struct config *config, const char *text, struct problem *out, bool *known,
                     cugen_error *err);

/* ---- judgement.c: whether a record still says something ---- */

/* What a record is to a look-up now. */
struct judgement {
  enum {
    JUDGED_CURRENT, /* its variant still expands to the kernel that was measured */
    JUDGED_CHANGED, /* to another one, spec's hashes */
    JUDGED_GONE,    /* no variant of the space is called that; why says what rules it out */
    JUDGED_BROKEN   /* it no longer expands; why */
  } how;
  uint64_t order;           /* cache_record_order; UINT64_MAX: its variant is gone */
  struct hash proof, whole; /* the record's, if it were current: without the parameters that it lacks */
  bool proof_changed;      /* current, but what its result is held against is another: nothing is known to be right */
  struct cache_record now; /* only its hashes and work */
  struct hash passed;      /* kernel_spec_passed of it */
  cugen_error why;
};
/* Space and expander are open. Fails for want of memory only. */
int api_judge(struct lookup *lookup, const struct cache_record *record, struct judgement *out, cugen_error *err);
/* Like api_judge, but `predicted` says whether the record is a prediction. */
int api_judge_as(struct lookup *lookup, bool predicted, const struct cache_record *record, struct judgement *out,
                 cugen_error *err);
/* Makes the kernel's hashes those that a prediction's verdict has, which depends on the config's rules. */
int api_hash_verdict(const struct config *config, struct kernel_spec *spec, cugen_error *err);
/* Whether the record is of what its variant expands to now, which is *spec; sets its order. *spec is to be freed whatever comes back. */
int api_check_current(struct lookup *lookup, bool predicted, struct cache_record *record, bool *current,
                      struct kernel_spec *spec, cugen_error *err);
/* Frees those that are not current. Space and expander are open. */
int api_drop_stale(struct lookup *lookup, struct cache_record *records, size_t *count, cugen_error *err);
/* Frees those of other config files that are not current. Space and expander are open. */
int api_drop_others(struct lookup *lookup, struct cache_record *records, size_t *count, cugen_error *err);

/* ---- failures.c: what is known to be wrong, or to fail ---- */

/* Variants that were seen to fail on the look-up's device, for its problem or on the check problem, and those whose prediction the cpu device
   refuted there. Nothing takes one of them that was not named. */
struct failures;
/* To be closed whatever comes back; NULL: none is remembered. The look-up is borrowed. */
int failures_open(struct lookup *lookup, struct failures **out, cugen_error *err);
void failures_close(struct failures *failures);
/* The record that says how the variant fails, if its source is still the one that failed; NULL: there is none. */
int failures_find(struct failures *failures, const char *variant, const struct cache_record **out, cugen_error *err);
/* Makes predictions under the look-up's key that are known to be wrong say so, behind all others. Of a kernel that two files have, one
   prediction stays. Does nothing with what is measured: it ran. Space and expander are open. */
int failures_mark(struct lookup *lookup, struct cache_record *records, size_t *count, cugen_error *err);

/* ---- best.c ---- */

/* The best record, its variant's index and what that expands to; found false: nothing is in it. */
struct best_record {
  bool found;
  uint64_t index;
  struct cache_record record;
  struct kernel_spec spec; /* for the look-up's problem */
};
/* The best record under the key that is also a variant of `space`. The least cost leads, within a tie the one that comes first
   in the config. predicted: the key is one of predictions. failures: these variants do not count; NULL: none. To be freed whatever
   comes back. */
int api_best_under(struct lookup *lookup, const struct cache_key *key, bool predicted, const struct space *space,
                   struct failures *failures, struct best_record *out, cugen_error *err);
/* Under the look-up's own key, in its own space. */
int api_best(struct lookup *lookup, struct best_record *out, cugen_error *err);
/* Of what was measured, under that key: only this variant's, only what gave these outputs; NULL: any. */
int api_best_giving(struct lookup *lookup, const struct cache_key *key, const char *variant,
                    const cugen_outputs *outputs, struct best_record *out, cugen_error *err);
void api_best_free(struct best_record *best);

#endif
