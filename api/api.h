/* What the handles of the public headers are made of. The only place that joins gen, runtime and tune. */
#ifndef API_API_H
#define API_API_H

#include <pthread.h>

#include "base/error.h"
#include "cugen_tools.h"
#include "gen/template/expand.h"
#include "runtime/compile/toolkit.h"
#include "runtime/store/cache.h"
#include "tune/tuner.h"

struct cugen {
  char *device, *arch, *config_dir, *template_dir, *device_dir, *cache_path, *toolkit_dir, *compiler, *worker;
  cugen_stop_callback stop; /* NULL: never */
  void *stop_context;
  struct sources sources;
  struct source_file *files; /* what sources.files sees */
  struct toolkit_options toolkit_options;
  struct toolkit *toolkit;
  struct compilers *compilers; /* NULL: no worker program, so that NVRTC runs in this process */
  struct cache *cache;         /* opened when first needed, */
  struct cache *nothing;       /* what readers get while there is no file, likewise */
  pthread_mutex_t lock;        /* under this: kernels of one cugen may be in several threads */
  struct gpu_model *models;    /* the described GPUs that ship, likewise */
  size_t model_count;
  struct text where, why;
  struct text worker_places;     /* looked at for `worker` */
  struct text warning;           /* of the cache: that it cannot be written */
  struct api_listing *listing;   /* what cache.c handed out */
  struct api_transfer *transfer; /* and transfer.c */
};

/* The program to start for isolated work, for a library that was given none: *out is NULL when there is none, and places
   says where it was looked for. */
int api_find_worker(char **out, struct text *places, cugen_error *err);

/* Which variant a plan uses, and why. */
struct selection {
  cugen_plan_choice how;
  uint64_t index;
  struct cache_record record; /* unless how is CUGEN_PLAN_DEFAULT */
  struct text problem;        /* the one that the record is of */
  bool predicted;             /* the default is the model's choice */
  bool named;                 /* the default is one of the config's tries */
  double distance;
};

/* A filter with strings of its own; strings NULL: none. */
struct api_filter {
  struct space_filter filter;
  char **strings;
  size_t string_count;
};

struct cugen_kernel {
  cugen *lib;
  struct sources sources; /* the library's when this was opened: a file added later is for others */
  struct config *config;
  struct problem problem;
  bool on_check;
  char **settings;
  size_t setting_count;
  const struct device_ops *ops;
  struct device_description device;
  bool described; /* the device is not here */
  bool predicted; /* records are predictions for it */
  cugen_device_info device_info;
  char arch[16];
  int nvrtc_version;
  struct text origin; /* which config file it is, see cache_key */
  struct text fallback, problem_text, problem_short, key_options, policy;
  struct text problem_settings;                    /* as cache_key.settings */
  struct text predicted_device, predicted_options; /* what they are kept under */
  struct text printed;                             /* by the kernels of the last run or check */
  struct text unverified;                          /* why the last run verified nothing, or not all that it was to */
  struct api_filter filter;
  struct space *space;       /* what the filter admits; built when first needed */
  struct expander *expander; /* likewise */
  struct value *values;      /* of the variant being looked at */
  struct text variant_text, source;
  struct selection selection;   /* what cugen_kernel_choose found */
  cugen_ceilings ceilings;      /* dtype NULL: not yet looked up */
  struct cache_record *records; /* what is remembered, loaded when first asked for */
  size_t record_count;
  bool records_loaded;
  struct api_record_list *record_list;   /* what records.c handed out */
  struct api_why *why;                   /* and why.c */
  struct api_check *check;               /* and check.c */
  struct api_launches *launches;         /* and launches.c */
  struct text export_name, export_notes; /* what export.c handed out */
  int64_t tuned_at; /* when this handle last began to tune; 0: never. Records since then are its own */
};

/* ---- library.c ---- */

/* For the first lines of a public function: API_NEEDS(error, "kernel, out", k, out). CUGEN_ERROR_USAGE, with the name as
   the header has it, when one of the pointers is NULL. */
#define API_NEEDS(error, names, ...)                                                                                 \
  api_needs(__func__, names, (const void *const[]){__VA_ARGS__},                                                     \
            sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *), error)
int api_needs(const char *function, const char *names, const void *const *pointers, size_t count, cugen_error *err);
/* CUGEN_ERROR_USAGE unless options->size is that of the type here. */
#define API_SIZE(error, type, init, options) api_size(#type, #init, (options)->size, sizeof(type), error)
int api_size(const char *type, const char *init, size_t got, size_t want, cugen_error *err);
int api_cache(cugen *lib, struct cache **out, cugen_error *err);
/* For those that only read: where there is no file it is an empty one in memory, and none is made. */
int api_cache_to_read(cugen *lib, struct cache **out, cugen_error *err);
bool api_cache_is_missing(const cugen *lib);
void api_device_info(const struct cugen *lib, const struct device_description *from, cugen_device_info *out);
/* NVRTC's version, or 0; NVRTC is not loaded for it where the files beside it tell. */
int api_nvrtc_version(const cugen *lib);

/* ---- kernel.c ---- */
int api_space(cugen_kernel *kernel, cugen_error *err);
/* What walks of a space ask whether to stop. */
struct space_stop api_stop(cugen *lib);
/* What cache_key.origin says of the config at this path. */
int api_origin(const struct sources *sources, const char *path, struct text *out, cugen_error *err);
int api_expander(cugen_kernel *kernel, cugen_error *err);
/* Fills ops, device, described, fallback and nvrtc_version. device NULL: the first GPU, else the cpu device. */
int api_choose_device(cugen_kernel *kernel, const char *device, cugen_error *err);
/* The variant's index: NULL: as a plan chooses; "best"; or a variant's text. */
int api_find_variant(cugen_kernel *kernel, const char *variant, uint64_t *index, cugen_error *err);
/* Its text, which lives until the next variant is asked for. The index may be of one that heuristics leave out. */
int api_variant_text(cugen_kernel *kernel, uint64_t index, const char **out, cugen_error *err);
/* Expands that variant and leaves its text in variant_text. */
int api_expand_text(cugen_kernel *kernel, const char *variant, struct kernel_spec *out, cugen_error *err);
/* With the shared tunables of a valid variant (0: the first): they alone can shape arguments. out: KERNEL_MAX_ARGUMENTS. */
int api_arguments(cugen_kernel *k, uint64_t index, struct kernel_argument *out, cugen_error *err);
/* config_products of the first valid variant; NULL where there is none. */
int api_products(cugen_kernel *k, const char **out, cugen_error *err);
void api_describe_argument(const struct kernel_argument *argument, cugen_argument_info *out);

/* ---- launches.c ---- */
void api_launches_close(struct api_launches *launches);

/* ---- filter.c ---- */
void api_filter_free(struct api_filter *filter);
/* NULL: there is none. */
const struct space_filter *api_filter(const cugen_kernel *kernel);

/* ---- predictions.c ---- */

/* The device itself, where it is here, knows more than its description. */
bool api_prefer_present(const cugen *lib, struct device_description *description);
/* Fills the kernel's ops, device and described from a text that names a device without it being here. */
int api_describe_device(cugen_kernel *kernel, const char *text, bool *known, cugen_error *err);
/* CUGEN_ERROR_USAGE when the config, where it can serve the problem, uses a fact of the device that nobody here knows; text
   names it. */
int api_check_facts(const cugen_kernel *kernel, const struct problem *problem, const char *text, cugen_error *err);
/* expand_variant for the kernel's problem and device. The same error where the source would have a fact that nobody here knows. */
int api_expand(cugen_kernel *kernel, const struct variant *variant, struct kernel_spec *out, cugen_error *err);
/* CUGEN_ERROR_DEVICE when nothing can run, since the device is only described. */
int api_check_present(const cugen_kernel *kernel, cugen_error *err);
/* Whether the kernel's device is described and enough of it is known to predict for it. */
bool api_predicts(const cugen_kernel *kernel);

/* Makes records predictions: fills what they are kept under. */
int api_key_predictions(cugen_kernel *kernel, const char *arch, cugen_error *err);

/* ---- verify.c ---- */

/* Verifies the fastest prediction, and the next where it is wrong. What keeps it from doing so is no error: the kernel's
   unverified says it. CUGEN_ERROR_INTERRUPTED: the callback asked to stop. */
int api_verify_predictions(cugen_kernel *kernel, const cugen_tune_options *options, cugen_tune_result *result,
                           cugen_error *err);

/* ---- models.c ---- */

/* A fingerprint or architecture; a GPU that is described here is known whole. */
bool api_described(cugen *lib, const char *text, struct device_description *out);
/* The name behind "model:". */
int api_model(const cugen *lib, const char *name, struct device_description *out, cugen_error *err);
/* The described GPU that represents those of an architecture: the latest that has it. */
bool api_model_of(cugen *lib, const char *arch, struct device_description *out);

/* ---- explain.c ---- */

/* Looks them up when they are first needed; never NULL. */
const cugen_ceilings *api_ceilings(cugen_kernel *kernel);
double api_roofline(cugen_kernel *kernel, double flops, double bytes, double seconds, int *measured);

/* ---- cache.c ---- */
void api_listing_close(struct api_listing *listing);

/* ---- transfer.c ---- */
void api_transfer_close(struct api_transfer *transfer);

/* ---- records.c ---- */
void api_record_list_close(struct api_record_list *record_list);

/* ---- why.c ---- */
void api_why_close(struct api_why *why);

/* ---- check.c ---- */
void api_check_close(struct api_check *check);

/* ---- tuning.c ---- */

/* What the kernel's records are looked up by. Its strings are the kernel's own. */
struct cache_key api_key(const cugen_kernel *kernel);

/* What a record is to this kernel now. */
struct judgement {
  enum {
    JUDGED_CURRENT, /* its variant still expands to the kernel that was measured */
    JUDGED_CHANGED, /* to another one, spec's hashes */
    JUDGED_GONE,    /* no variant of the space is called that; why says what rules it out */
    JUDGED_BROKEN   /* it no longer expands; why */
  } how;
  struct hash proof, whole; /* the record's, if it were current: without the parameters that it lacks */
  bool proof_changed;      /* current, but what its result is held against is another: nothing is known to be right */
  struct cache_record now; /* only its hashes and work */
  cugen_error why;
};
/* The kernel's space and expander are open. Fails for want of memory only. */
int api_judge(cugen_kernel *kernel, const struct cache_record *record, struct judgement *out, cugen_error *err);
/* Frees those of other config files that are not of this kernel as it is now. Its space and expander are open. */
int api_drop_others(cugen_kernel *kernel, struct cache_record *records, size_t *count, cugen_error *err);
int api_records(cugen_kernel *kernel, cugen_error *err);
void api_forget_records(cugen_kernel *kernel);
/* The kernel's best record that is also a variant of `space`, and its index there. The least cost leads, within a tie
   the one that comes first in the config. The caller frees *record when *found. */
int api_best(cugen_kernel *kernel, const struct space *space, struct cache_record *record, uint64_t *index,
             bool *found, cugen_error *err);
/* The context to work in: `given`, which a device must have contexts for, else what is current; NULL: the primary. */
int api_context(const cugen_kernel *kernel, void *given, void **out, cugen_error *err);
/* The strings in *out are those of *from. */
void api_publish(cugen_kernel *kernel, const struct cache_record *from, cugen_record *out);

/* ---- selection.c ---- */

/* distance as in cugen_plan_options. *out is to be freed whatever comes back. */
int api_select(cugen_kernel *kernel, double distance, struct selection *out, cugen_error *err);
/* The variant of a space that is not empty where nothing is known; named: the config names it (try). */
uint64_t api_default(const cugen_kernel *kernel, bool *named);
void api_selection_free(struct selection *selection);

/* The variants of the kernel's space that lead the remembered problems nearest to its own: where tuning begins. Only
   sizes may differ, by however much. */
int api_near_leaders(cugen_kernel *kernel, struct cache *cache, uint64_t *indices, size_t room, size_t *count,
                     cugen_error *err);

/* Prints the problem for a look-up. */
int api_print_problem(const struct config *config, const struct problem *problem, struct text *out,
                      struct text *settings, cugen_error *err);
/* Reads what problem_print wrote, parameters left out that have their default. *known is false, and nothing is to be freed, when the config has changed since. */
int api_read_problem(const struct config *config, const char *text, struct problem *out, bool *known,
                     cugen_error *err);

#endif
