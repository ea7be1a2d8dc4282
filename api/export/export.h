/* The inside of an export, shared by its files: export.c writes the folder; collect.c decides what
   is exported, devices.c for which devices, defaults.c what serves problems that nobody tuned;
   failing.c finds variants that fail; codes.c compiles variants; classes.c finds sizes with other
   codes; portfolio.c exports portfolios, named.c a variant by name; code.c prints one variant as C;
   source.c prints the source, readme.c further files. */
#ifndef API_EXPORT_EXPORT_H
#define API_EXPORT_EXPORT_H

#include "api/api.h"
#include "bundle.h"

/* A device that the bundle gets code for. The look-up is for one problem after another. */
struct export_device {
  struct lookup lookup;
  char *text;     /* the device in messages: its fingerprint, "any sm_90a" or "compute_75" for
                     PTX */
  bool anonymous; /* stands for any GPU of the compute capability */
  bool ptx;
  struct hash *uncompiled; /* sources of unmeasured variants that do not compile for the device */
  size_t uncompiled_count;
};

/* A cubin or PTX, stored once for all variants that use it. */
struct export_image {
  struct hash hash;
  void *data;
  size_t bytes;
  bool ptx;
};

/* A variant printed as C. */
struct export_code {
  size_t device;
  char *variant;
  struct text conditions; /* conditions for a problem to be served, in addition to the class; one
                             per line */
  struct text class;      /* the values that are not sizes; one per line */
  struct text label;      /* the class for a reader: "dtype=f32 layout=row" */
  struct text fixed;      /* the class and the pinned sizes as an initialiser in C */
  struct text sizes;      /* body of the function that computes the sizes */
  bool wide;              /* indices need 64 bits */
  bool pinned;            /* some sizes are part of the code and therefore fixed */
  size_t image;
  int64_t rounds; /* number of rounds of a loop that is printed round by round, so that the code
                     serves only this number; else 0 */
  size_t kernel_count;
  char *kernels[KERNEL_MAX_ENTRIES];
  size_t implementation;
  uint64_t order; /* order in the implementation, for the defaults */
};

struct export_measured {
  size_t code;
  const char *how;      /* "measured", or whether the prediction was verified */
  double seconds, cost; /* cost: cache_record_cost */
  uint64_t order;       /* cache_record_order: decides between tied costs */
};

struct export_tuned {
  size_t device;
  struct problem problem;
  char *text;
  size_t first, count; /* range in `measured` */
};

struct export_default {
  size_t device, code;
  size_t try; /* index of the variant among the config's tries (space_try); their number if it is
                 none; 0 for options->variant */
};

/* The variants that are known to fail on a device; if the device stands for others (PTX, an
   architecture), those that fail on any device of the export (failing.c). */
struct export_failing {
  size_t device;
  struct failing_place **places;
  size_t count;
};

struct export_portfolio {
  size_t device;
  const struct problem *class; /* a problem of the portfolio's class */
  struct text rule;            /* the rule as a C expression */
  struct text times;           /* C statements that set the times of the variants */
  size_t first, count;         /* range in `members` */
  bool shipped;                /* cugen ships the portfolio, so variants measured here precede its
                                  members */
  double doubted;              /* `doubted` of the portfolio's body */
};

/* A variant of a portfolio: its codes, each for other sizes. Without codes the bundle does not have
   the variant. */
struct export_member {
  size_t first, count; /* range in `member_codes` */
};

struct exporter {
  cugen_kernel *base;
  const cugen_export_options *options;
  cugen_export_result *result;
  struct cache *cache;
  struct text *notes;       /* notes for the user, one per line */
  struct problem *problems; /* parsed options->problems */
  size_t problem_count;
  struct export_device *devices;
  size_t device_count;
  cugen_error unbuilt;    /* why NVRTC cannot build for the device that was left out last */
  cugen_error uncompiled; /* error of the first unmeasured variant that did not compile */
  struct export_image *images;
  size_t image_count;
  struct export_code *codes;
  size_t code_count;
  struct export_measured *measured;
  size_t measured_count;
  struct export_tuned *tuned;
  size_t tuned_count;
  struct export_default *defaults;
  size_t default_count;
  struct export_portfolio *portfolios;
  size_t portfolio_count;
  struct export_member *members;
  size_t member_count;
  size_t *member_codes;
  size_t member_code_count;
  struct problem **portfolio_classes;
  size_t portfolio_class_count;
  struct export_failing failing; /* of the device that is being added */
  struct text named;             /* full text of options->variant, once it was found */
  char **classes;                /* labels of the classes, without duplicates */
  size_t class_count;
};

/* ---- collect.c ------------------------------------------------------------------------------ */

/* Fills in what the bundle contains. */
int export_collect(struct exporter *x, cugen_error *err);
void export_free(struct exporter *x);

/* ---- defaults.c ----------------------------------------------------------------------------- */

/* Adds the default variants of the device, for problems that nobody tuned. */
int export_defaults(struct exporter *x, size_t device, cugen_error *err);

/* ---- failing.c ------------------------------------------------------------------------------ */

/* Problems as texts (problem_print), which array_free_texts frees. */
struct export_texts {
  char **all;
  size_t count;
};
/* Adds the problems with records under the key. Free *out also after a failure. */
int export_problem_texts(struct exporter *x, const struct cache_key *key, struct export_texts *out,
                         cugen_error *err);
/* Returns whether the device is PTX or an architecture. */
bool export_stands_for_others(const struct export_device *device);
/* Makes x->failing the variants that are known to fail on the device. */
int export_failing_open(struct exporter *x, size_t device, cugen_error *err);
void export_failing_close(struct export_failing *failing);
/* Tells whether the variant with this index in the look-up's open space is one of x->failing that
   failed other than at its launch. */
int export_is_failing(struct exporter *x, const struct lookup *lookup, uint64_t index, bool *out,
                      cugen_error *err);

/* ---- codes.c -------------------------------------------------------------------------------- */

/* Prints a variant of the device's problem as C, without its image; spec is the variant's
   expansion. */
int export_make_code(struct exporter *x, size_t device, uint64_t index, struct export_code *out,
                     struct kernel_spec *spec, cugen_error *err);
/* Adds the code with its compiled image, and empties *code. If an equal code exists, *index becomes
   that code's, and *code stays. */
int export_add_code(struct exporter *x, struct export_code *code, const struct kernel_spec *spec,
                    size_t *index, cugen_error *err);
/* Like export_add_code, for a variant that was not measured. A variant that does not compile is
   passed over with a note; *compiles is then false. */
int export_try_code(struct exporter *x, struct export_code *code, const struct kernel_spec *spec,
                    size_t *index, bool *compiles, cugen_error *err);
/* Returns the first argument that is read as a texture, which bundles do not support; NULL: there
   is none. */
const struct kernel_argument *export_textured(const struct kernel_spec *spec);
/* Adds the code of a variant of the device's problem, compiled; *code is SIZE_MAX if none is added.
   *compiles as in export_try_code; NULL: the variant was measured or named. */
int export_add_variant(struct exporter *x, size_t device, uint64_t variant, size_t *code,
                       bool *compiles, cugen_error *err);
/* Adds a default. Each code is kept once, with the smallest `try`. */
int export_keep_default(struct exporter *x, struct export_default candidate, cugen_error *err);

/* ---- classes.c ------------------------------------------------------------------------------ */

/* Problems of other classes of sizes, in which a derived name has another value and the variant
   therefore another code. */
struct export_classes {
  struct problem *problems; /* several problems of one class, because the variant may not be valid
                               for the first one. Strings in the problems belong to `from` of
                               export_classes_find */
  size_t *of;               /* for each problem, its class */
  bool *served;             /* for each class: the class has code, so that further problems are not
                               needed */
  size_t count;
};

/* Finds the classes for a variant of the look-up's problem, which is `from`. The variant must be
   the last one that the look-up's expander expanded. */
int export_classes_find(const struct lookup *lookup, uint64_t variant, const struct problem *from,
                        struct export_classes *out, cugen_error *err);
/* Tell whether the class of this problem still needs code, and note that it has code now. */
bool export_class_open(const struct export_classes *classes, size_t problem);
void export_class_serve(struct export_classes *classes, size_t problem);
void export_classes_free(struct export_classes *classes);

/* ---- portfolio.c ---------------------------------------------------------------------------- */

/* Exports the remembered portfolios of the device. */
int export_portfolios(struct exporter *x, size_t device, cugen_error *err);
/* Exports the shipped portfolio for the problem's class, if there is one and the device stands for
   no others. The problem must live as long as the exporter. */
int export_shipped(struct exporter *x, size_t device, const struct problem *problem,
                   cugen_error *err);
size_t export_portfolio_count(const struct exporter *x, bool shipped);
void export_portfolios_free(struct exporter *x);

/* ---- named.c -------------------------------------------------------------------------------- */

/* Exports the variant that options->variant names on the device: for the problems of
   options->problems, else for the problem of the base kernel. */
int export_named(struct exporter *x, size_t device, cugen_error *err);
/* Returns whether the named variant is in the look-up's space; true if no variant is named. */
bool export_named_fits(struct exporter *x, struct lookup *lookup);

/* ---- devices.c ------------------------------------------------------------------------------ */

int export_devices(struct exporter *x, cugen_error *err);
void export_device_free(struct export_device *device);
/* Opens the config on a described device (runtime/model/described.h), or on the device itself if it
   is present. arch: the architecture; NULL: the device's. known: the description; NULL: the text is
   described. notes: gets a note if a GPU represents an architecture of which too little is known;
   NULL: no GPU may. */
int export_open_device(const struct lookup *base, const char *text, const char *arch,
                       const struct device_description *known, struct text *notes,
                       struct export_device *out, cugen_error *err);

/* ---- code.c --------------------------------------------------------------------------------- */

/* Prints the variant for the look-up's device and problem; spec is the variant's expansion, which
   must be the last one made. The image and the names of kernels are not set. */
int export_code(const struct lookup *lookup, uint64_t index, const struct kernel_spec *spec,
                struct export_code *out, cugen_error *err);
void export_code_free(struct export_code *code);
/* Appends the string as a C string literal. */
void export_quote(const char *string, struct text *out);
/* Appends the value as a constant of C. */
void export_value(struct value value, struct text *out);

/* ---- source.c, readme.c --------------------------------------------------------------------- */

/* Appends "matmul": the prefix of all names, and the name of the files. */
void export_name(const struct config *config, struct text *out);
/* Appends "MATMUL": the prefix of macros. */
void export_upper(const struct config *config, struct text *out);
/* Appends a list of the inputs that the kernel may write to, and a sentence on them, each behind
   `before`; nothing if there are none. */
void export_overwritten(const struct config *config, const char *before, struct text *out);
/* Appends the arguments of the bundle's function for TVM-FFI: "A, B, C". */
void export_given(const struct config *config, struct text *out);
int export_header(const struct exporter *x, struct text *out, cugen_error *err);
int export_source(const struct exporter *x, struct text *out, cugen_error *err);
void export_readme(const struct exporter *x, struct text *out);
void export_cmake(const struct exporter *x, struct text *out);
void export_example(const struct exporter *x, struct text *out);

#endif
