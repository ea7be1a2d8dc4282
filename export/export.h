/* The inside of an export, shared by its files: export.c runs it and writes the folder, collect.c finds what goes
   in, codes.c compiles variants and keeps each once, portfolio.c has portfolios, named.c one variant by name, code.c says one variant in C, source.c
   prints the whole, readme.c what stands beside it. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "api/api.h"

/* A device to be exported for. The look-up is of the config on it, for one problem after the other. */
struct export_device {
  struct lookup lookup;
  char *text;     /* for messages: the fingerprint, "any sm_90a", "PTX compute_75" */
  bool anonymous; /* any of that compute capability */
  bool ptx;
};

/* A cubin or PTX, once however many variants have it. */
struct export_image {
  struct hash hash;
  void *data;
  size_t bytes;
  bool ptx;
};

/* A variant in C. */
struct export_code {
  size_t device;
  char *variant;
  struct text conditions; /* a line each: what a problem must be for it to serve, beside the class */
  struct text class;      /* likewise: the values that are no sizes */
  struct text label;      /* these for a person: "dtype=f32 layout=row" */
  struct text sizes;      /* the body of its sizes function */
  bool wide;
  bool pinned; /* some sizes are fixed: they are part of the code */
  size_t image;
  int64_t
      rounds; /* of a loop that is written round by round, so that the code serves these alone; 0: there is none */
  size_t kernel_count;
  char *kernels[KERNEL_MAX_ENTRIES];
  size_t implementation;
  uint64_t order; /* in its implementation, for the defaults */
};

struct export_measured {
  size_t code;
  double seconds, cost; /* cache_record_cost */
  uint64_t order;       /* in the space of its problem */
};

/* Strings in the problem are those of `text` below or of the config. */
struct export_tuned {
  size_t device;
  struct problem problem;
  char *text;
  size_t first, count; /* of measured */
};

struct export_default {
  size_t device, code;
  size_t try; /* which of the config's it is (space_default) */
};

/* Its variants are members by the rule's index. */
struct export_portfolio {
  size_t device;
  const struct problem *class; /* one of its class */
  struct text rule;            /* an expression of C */
  struct text times;           /* statements of C that set the variants' times */
  size_t first, count;         /* of members */
  bool shipped;                /* it comes with cugen: what is measured here goes before it */
  double doubted;              /* of its body */
};

/* One variant of it: its codes, each for other sizes; none: the bundle does not have it. */
struct export_member {
  size_t first, count; /* of member_codes */
};

struct exporter {
  cugen_kernel *base;
  const cugen_export_options *options;
  cugen_export_result *result;
  struct cache *cache;
  struct text *notes;       /* lines for a person */
  struct problem *problems; /* --problems */
  size_t problem_count;
  struct export_device *devices;
  size_t device_count;
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
  struct text named;    /* options->variant in full, once it was found */
  struct text *classes; /* labels, each once */
  size_t class_count;
};

/* ---- collect.c ---- */

/* Fills devices, tuned problems, defaults, codes and images. */
int export_collect(struct exporter *x, cugen_error *err);
void export_free(struct exporter *x);

/* ---- codes.c ---- */

/* A variant of the device's problem in C, without its image; spec is its expansion. */
int export_make_code(struct exporter *x, size_t device, uint64_t index, struct export_code *out,
                     struct kernel_spec *spec, cugen_error *err);
/* Takes the code and gives its image; an equal one that is there already is used instead. */
int export_add_code(struct exporter *x, struct export_code *code, const struct kernel_spec *spec, size_t *index,
                    cugen_error *err);
/* The first argument that is read as a texture, which a bundle does not make; NULL. */
const struct kernel_argument *export_textured(const struct kernel_spec *spec);
/* The code of a variant of the device's problem, compiled; SIZE_MAX: a bundle cannot have it. */
int export_add_variant(struct exporter *x, size_t device, uint64_t variant, size_t *code, cugen_error *err);
/* Each code once, at its first place among the config's. */
int export_keep_default(struct exporter *x, struct export_default candidate, cugen_error *err);

/* ---- classes.c ---- */

/* Problems of other classes: what a derived name is there, and so the variant's code, is another. */
struct export_classes {
  struct problem
      *problems; /* several of one class: the variant may be none of the first one's space. Their strings are
                               those of the problem that they were made of */
  size_t *of;    /* of each its class */
  bool *served;  /* of each class: it needs none of the further problems */
  size_t count;
};

/* Of a variant of the look-up's problem, which is `from`; it was expanded last. */
int export_classes_find(const struct lookup *lookup, uint64_t variant, const struct problem *from,
                        struct export_classes *out, cugen_error *err);
/* Whether the class of this problem still needs code; and that it has some now. */
bool export_class_open(const struct export_classes *classes, size_t problem);
void export_class_serve(struct export_classes *classes, size_t problem);
void export_classes_free(struct export_classes *classes);

/* ---- portfolio.c ---- */

/* Those of a device that a plan would ask. */
int export_portfolios(struct exporter *x, size_t device, cugen_error *err);
/* The one that ships for the problem's class, if there is one. The problem lives as long as the exporter. */
int export_shipped(struct exporter *x, size_t device, const struct problem *problem, cugen_error *err);
size_t export_portfolio_count(const struct exporter *x, bool shipped);
void export_portfolios_free(struct exporter *x);

/* ---- named.c ---- */

/* The variant that options->variant names, on the device: for the problems of options->problems, else the base's. */
int export_named(struct exporter *x, size_t device, cugen_error *err);
/* Whether it is one of the look-up's space; true where none is named. */
bool export_named_fits(struct exporter *x, struct lookup *lookup);

/* ---- devices.c ---- */

int export_devices(struct exporter *x, cugen_error *err);
void export_device_free(struct export_device *device);
/* The config on a described device (runtime/model/described.h) or, if it is here, on the device itself. known: its
   description, NULL: what the text says. notes: where it is said which GPU represents an architecture of which too little is
   known; NULL: none does. */
int export_open_device(const struct lookup *base, const char *text, const char *options,
                       const struct device_description *known, struct text *notes, struct export_device *out,
                       cugen_error *err);

/* ---- code.c ---- */

/* The variant of the device at its look-up's problem; spec is its expansion, the last one made. Image and kernels stay
   empty. */
int export_code(const struct lookup *lookup, const struct variant *variant, const struct kernel_spec *spec,
                struct export_code *out, cugen_error *err);
void export_code_free(struct export_code *code);
/* A string as C writes it. */
void export_quote(const char *string, struct text *out);

/* ---- source.c, readme.c ---- */

/* "matmul": the prefix of everything, and the name of the files. */
void export_name(const struct config *config, struct text *out);
/* Which inputs the kernel may write to, each line after `before`; nothing where there is none. */
void export_overwritten(const struct config *config, const char *before, struct text *out);
int export_header(const struct exporter *x, struct text *out, cugen_error *err);
int export_source(const struct exporter *x, struct text *out, cugen_error *err);
void export_readme(const struct exporter *x, struct text *out);
void export_cmake(const struct exporter *x, struct text *out);
void export_example(const struct exporter *x, struct text *out);

#endif
