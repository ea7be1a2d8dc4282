/* A look-up: a config for one problem on one device, and what follows from them: the records, the
   space of variants, and the variants' sources. */
#ifndef API_LOOKUP_H
#define API_LOOKUP_H

#include "gen/template/expand.h"
#include "library.h"

/* ---- predictions.c: predictions of a model for a described GPU ------------------------------ */

struct lookup;

/* The device and options under which predictions are kept. */
struct prediction_key {
  struct text device, options;
};
/* Checks that cugen supports the device's architecture, and that the NVRTC that was found compiles
   for the architecture, as far as NVRTC's major version tells. */
int api_check_target(const cugen *lib, const struct device_description *device, cugen_error *err);
/* Like api_check_target, and checks that enough of the device is known to predict times. */
int api_check_predictable(const cugen *lib, const struct device_description *device,
                          cugen_error *err);
/* Makes the key. Free *out also after a failure. */
int api_key_predictions(cugen *lib, const struct device_description *device, const char *arch,
                        struct prediction_key *out, cugen_error *err);
void api_prediction_key_free(struct prediction_key *key);

/* ---- other_gpu.c ---------------------------------------------------------------------------- */

/* Returns how different two GPUs are: the larger of the ratios of multiprocessors and of memory
   bandwidth, as far as these are known; 1: equal. */
double api_gpu_distance(const struct device_facts *a, const struct device_facts *b);

/* ---- devices.c ------------------------------------------------------------------------------ */

struct found_device {
  const struct device_ops *ops;
  struct device_description description;
  bool described;   /* the device is only described, so nothing runs on it */
  bool predicted;   /* named by the text under which its predictions are kept */
  const char *name; /* in a list: the name of this device alone; belongs to the list */
};
/* Finds a device. name: an id, or the text or described name ("H200") of a device that need not be
   present; NULL: the present GPU that the library's local_rank selects; without a GPU the cpu
   device, with the reason appended to `fallback` (may be NULL). */
int api_find_device(cugen *lib, const char *name, struct found_device *out, struct text *fallback,
                    cugen_error *err);

struct device_list {
  struct found_device *all;
  char *names; /* the text of the list, cut into names */
  size_t count;
};
/* Parses a list of devices (CUGEN_DEVICE_LIST). CUGEN_ERROR_USAGE: for example, a name is missing,
   or a GPU is listed twice. Free *out also after a failure. */
int api_list_devices(cugen *lib, const char *text, struct device_list *out, cugen_error *err);
void api_device_list_free(struct device_list *list);
/* Returns whether the devices share their records. */
bool api_devices_are_alike(const struct found_device *a, const struct found_device *b);

/* If the described device is present, replaces the description by what the driver says, which has
   more facts, and returns true. */
bool api_prefer_present(cugen *lib, struct device_description *description);

/* ---- facts.c: facts that only a present device can tell ------------------------------------- */

/* Fails with CUGEN_ERROR_USAGE if the config, in a part that can serve the problem, uses an unknown
   fact of the device; text names the device. */
int api_check_facts(const struct config *config, const struct problem *problem,
                    const struct device_description *device, const char *text, cugen_error *err);
/* Like api_check_facts, for the source that was expanded last. */
int api_check_read_facts(const struct config *config, const struct expander *expander,
                         const struct device_description *device, const char *text,
                         cugen_error *err);

/* ---- lookup.c ------------------------------------------------------------------------------- */

/* An opened config, shared by all its look-ups. */
struct opened_config {
  struct sources sources; /* copy of the library's at the time of opening; files added later are not
                             seen */
  struct config *config;
  struct text origin;        /* identifies the config file, see cache_key */
  struct expander *expander; /* opened on first use */
};
/* Opens a config. Close *out also after a failure. */
int opened_config_open(const cugen *lib, const char *name, struct opened_config *out,
                       cugen_error *err);
void opened_config_close(struct opened_config *opened);

struct lookup {
  cugen *lib;
  struct opened_config *opened; /* borrowed */
  const struct config *config;  /* belongs to `opened` */
  const char *origin;           /* belongs to `opened`; NULL: records of all files of this config's
                                   name are equivalent */
  const struct device_ops *ops;
  struct device_description device;
  bool described; /* the device is only described, so nothing runs on it */
  char arch[16];  /* architecture to compile for: "sm_90a" */
  int nvrtc_version;
  enum measure_way measure;          /* how variants are timed; not used for predictions */
  struct text options;               /* options of measurements: "arch sm_90a", "arch sm_90a,
                                        measure graph" */
  bool predicted;                    /* the records are predictions, not measurements */
  struct prediction_key predictions; /* the key under which predictions are stored */
  const struct problem *problem;     /* borrowed */
  const char *const *settings;       /* settings of the kernel, borrowed; NULL: unknown */
  size_t setting_count;
  bool asked;               /* the problem comes from the user's settings, so an invalid size is
                               blamed on a setting */
  struct text problem_text; /* cache_key.problem */
  uint64_t may_lack;        /* cache_key.may_lack */
  char **uncompiled; /* variants that did not compile for the problem (lookup_drop_variant) */
  size_t uncompiled_count;
  const cugen_filter *filter; /* borrowed; NULL: the whole space */
  struct space *space;        /* the variants that the filter admits; built by lookup_space */
  struct value *values;       /* values of the variant that lookup_variant returned last */
};

/* Makes a look-up for another problem, of the same config and device, of measurements, and without
   filter, origin and settings. Close *out also after a failure. */
int lookup_for_problem(const struct lookup *from, const struct problem *problem, struct lookup *out,
                       cugen_error *err);
/* Sets the problem, which is borrowed, and drops the old problem's space and dropped variants. */
int lookup_set_problem(struct lookup *lookup, const struct problem *problem, cugen_error *err);
/* Sets the architecture to compile for, and the options that follow from it and from `measure`. */
int lookup_set_arch(struct lookup *lookup, const char *arch, cugen_error *err);
/* Checks that times can be predicted for the look-up's device. Missing rates of the device are
   filled in from a description. */
int lookup_check_predictable(struct lookup *lookup, cugen_error *err);
/* Makes the look-up's records predictions from now on. */
int lookup_use_predictions(struct lookup *lookup, cugen_error *err);
void lookup_drop_space(struct lookup *lookup);
/* From now on no variant of the look-up is a library's kernel. */
void lookup_drop_libraries(struct lookup *lookup);
/* From now on the variant, which does not compile for the look-up's problem, counts among the
   failures, until lookup_forget_dropped is called or the problem is set. */
int lookup_drop_variant(struct lookup *lookup, const char *variant, cugen_error *err);
void lookup_forget_dropped(struct lookup *lookup);
/* Returns the variant to use when `index` is the best for another problem or GPU: `index` itself,
   or the first algorithm of a library, whose list of algorithms depends on problem and GPU. */
uint64_t lookup_lent(const struct lookup *lookup, uint64_t index);
void lookup_close(struct lookup *lookup);

int lookup_space(struct lookup *lookup, cugen_error *err);
int lookup_expander(struct lookup *lookup, cugen_error *err);
/* Opens the space and the expander, by which records are judged and variants expanded. */
int lookup_prepare(struct lookup *lookup, cugen_error *err);
/* Returns a variant of the look-up's open space. The next call overwrites the variant's values. */
struct variant lookup_variant(const struct lookup *lookup, uint64_t index);
/* Appends the variant's text. */
void lookup_print(const struct lookup *lookup, uint64_t index, struct text *out);
/* Makes the variant's kernel_spec. Space and expander must be open. */
int lookup_expand(const struct lookup *lookup, uint64_t index, struct kernel_spec *out,
                  cugen_error *err);
/* expand_add_check for the spec that lookup_expand made for that index. */
int lookup_add_check(const struct lookup *lookup, uint64_t index, struct kernel_spec *spec,
                     cugen_error *err);
/* Like lookup_expand; CUGEN_ERROR_USAGE if the source uses a fact of the device that is not
   known. */
int lookup_expand_known(const struct lookup *lookup, uint64_t index, struct kernel_spec *out,
                        cugen_error *err);

/* Compiles the kernel. keep_ptx: the result has the PTX, too. */
int lookup_compile(const struct lookup *lookup, const struct kernel_spec *spec, bool keep_ptx,
                   struct compiled *out, cugen_error *err);
/* Takes the compiled kernel from the cache, under a key of cache_image_key. An image with another
   number of entries is not taken. */
int lookup_find_image(struct cache *cache, const struct kernel_spec *spec, const char *key,
                      struct compiled *out, bool *found, cugen_error *err);
/* Frees what is not needed once the image is loaded: the source and, on a GPU, the image (NULL: the
   image is kept, to be lent). */
void lookup_drop_image(const struct device *device, struct compiled *image,
                       struct kernel_spec *spec);
/* Fails with CUGEN_ERROR_COMPILE if NVRTC is there and rejects a source that was made for the cpu
   device. */
int lookup_accepts(const struct lookup *l, const struct kernel_spec *spec, cugen_error *err);
/* Returns a target for tuning with what the look-up knows; the caller adds caches and options. */
struct tune_target;
struct tune_target lookup_target(const struct lookup *lookup);

/* Returns the key of the look-up's records. The strings belong to the look-up. */
struct cache_key lookup_key(const struct lookup *lookup);
/* Return the keys of the look-up's measurements, and of its predictions under `key`. */
struct cache_key lookup_measured_key(const struct lookup *lookup);
struct cache_key lookup_predicted_key(const struct lookup *lookup,
                                      const struct prediction_key *key);

/* Finds the key of the predictions for the look-up's device. Free *out also after a failure. */
int api_find_predictions(const struct lookup *lookup, struct prediction_key *out, cugen_error *err);

/* Loads the records under the key, which records_free frees. */
int lookup_records(const struct lookup *lookup, const struct cache_key *key,
                   struct cache_record **records, size_t *count, cugen_error *err);
void records_free(struct cache_record *records, size_t count);

/* Fails with CUGEN_ERROR_DEVICE if the device is only described, so that nothing can run. */
int lookup_check_present(const struct lookup *lookup, cugen_error *err);
/* Returns whether the device is described and enough of it is known to predict times. */
bool lookup_predicts(const struct lookup *lookup);
/* Sets *out to the context to work in: `given`, or if that is NULL the current one. *out NULL: the
   primary one, or the device has no contexts. CUGEN_ERROR_USAGE: `given` is set and the device has
   no contexts. */
int lookup_context(const struct lookup *lookup, void *given, void **out, cugen_error *err);

/* Appends the origin of the config, for cache_key.origin. */
int api_origin(const struct sources *sources, const struct config *config, struct text *out,
               cugen_error *err);

/* Return whether two problems are equal, and whether they are equal but for sizes. */
bool api_same_problem(const struct problem *a, const struct problem *b);
bool api_same_class(const struct config *config, const struct problem *a, const struct problem *b);

/* Makes the problem that has the settings of this text, and otherwise the defaults. */
int api_parse_problem(const struct config *config, const char *text, struct problem *out,
                      cugen_error *err);
/* Reads a text of problem_print, from which parameters with their defaults may be left out. *known
   is false, and nothing needs to be freed, if the config does not have such a problem any more. */
int api_read_problem(const struct config *config, const char *text, struct problem *out,
                     bool *known, cugen_error *err);

/* ---- judgement.c: whether a record is still valid ------------------------------------------- */

/* The result of judging a record for a look-up. */
struct judgement {
  enum {
    JUDGED_CURRENT, /* the variant still expands to the recorded kernel, or is refused for the
                       recorded reason */
    JUDGED_CHANGED, /* the variant expands to another kernel, whose hashes are in `now` */
    JUDGED_GONE,    /* the space has no variant of this name; `why` says what removes the variant */
    JUDGED_BROKEN   /* the variant no longer expands; `why` has the reason */
  } how;
  uint64_t order;           /* cache_record_order; UINT64_MAX: the variant is gone */
  struct hash proof, whole; /* the kernel's hashes to compare with the record's proof_hash and hash:
                               the proof without the parameters that the record lacks */
  bool proof_changed;       /* the result was verified against another reference or tolerance, so a
                               current variant is not known to be right */
  struct cache_record now;  /* the hashes and the declared work of the kernel as it is now */
  struct hash passed;       /* kernel_spec_passed of the kernel as it is now */
  cugen_error why;
};
/* Judges a record. Space and expander must be open. Fails only if memory is out. */
int api_judge(struct lookup *lookup, const struct cache_record *record, struct judgement *out,
              cugen_error *err);
/* Like api_judge; `predicted` tells whether the record is a prediction. */
int api_judge_as(struct lookup *lookup, bool predicted, const struct cache_record *record,
                 struct judgement *out, cugen_error *err);
/* Checks whether the record is of the kernel to which its variant expands now, and sets the
   record's order. If a current record was verified against another reference or tolerance, its
   `verdict` becomes CACHE_NOT_RUN. *spec becomes that kernel, or empty; for a prediction with a
   verdict its hashes are those of api_hash_verdict. Free *spec also after a failure. */
int api_check_current(struct lookup *lookup, bool predicted, struct cache_record *record,
                      bool *current, struct kernel_spec *spec, cugen_error *err);
/* Frees the records that are not current; only_others: only records from other config files. Space
   and expander must be open. */
int api_drop_stale(struct lookup *lookup, struct cache_record *records, size_t *count,
                   bool only_others, cugen_error *err);

/* ---- failures.c: variants that are known to be wrong or to fail ----------------------------- */

/* Variants that failed on the look-up's device, for the look-up's problem or, on the cpu device,
   the check problem; variants whose prediction the cpu device refuted; and those of
   lookup_drop_variant. */
struct failures;
/* Loads the failures; *out NULL: none is remembered. Close *out also after a failure. The look-up
   is borrowed. */
int failures_open(struct lookup *lookup, struct failures **out, cugen_error *err);
void failures_close(struct failures *failures);
/* Finds the record that says how the variant fails; *out NULL: there is none with the variant's
   present source. */
int failures_find(struct failures *failures, const char *variant, const struct cache_record **out,
                  cugen_error *err);
/* Like failures_find, for the variant with this index in the space of `lookup`, which must be
   open. */
int failures_find_at(struct failures *failures, const struct lookup *lookup, uint64_t index,
                     const struct cache_record **out, cugen_error *err);
/* Marks the predictions under the look-up's key that are known to be wrong, and moves them behind
   all others. Drops another config file's prediction of a variant unless it says more than this
   file's. Does nothing for measurements. Space and expander must be open. */
int failures_mark(struct lookup *lookup, struct cache_record *records, size_t *count,
                  cugen_error *err);

/* ---- best.c --------------------------------------------------------------------------------- */

/* The best record, the index of its variant and the variant's expansion; found false: all else is
   empty. */
struct best_record {
  bool found;
  uint64_t index;
  struct cache_record record;
  struct kernel_spec spec; /* for the look-up's problem */
};
/* Finds the best record under the key whose variant is in `space`: the one with the smallest cost;
   among tied records, the one with the least cache_record_order. predicted: the key is that of
   predictions. failures: variants that do not count; NULL: none. Free *out also after a failure. */
int api_best_under(struct lookup *lookup, const struct cache_key *key, bool predicted,
                   const struct space *space, struct failures *failures, struct best_record *out,
                   cugen_error *err);
/* Finds the best record under the look-up's own key, in its own space. */
int api_best(struct lookup *lookup, struct best_record *out, cugen_error *err);
/* Finds the best measurement under the key, of this variant and with these outputs only; NULL:
   any. */
int api_best_giving(struct lookup *lookup, const struct cache_key *key, const char *variant,
                    const cugen_outputs *outputs, struct best_record *out, cugen_error *err);
void api_best_free(struct best_record *best);

#endif
