/* What the handles of cugen.h are made of. The only place that joins gen, runtime and tune. */
#ifndef API_API_H
#define API_API_H

#include "base/error.h"
#include "gen/expand.h"
#include "runtime/cache.h"
#include "tune/tuner.h"

struct cugen {
  char *device, *arch, *config_dir, *template_dir, *cache_path, *toolkit_dir, *compiler, *worker;
  struct sources sources;
  struct toolkit_options toolkit_options;
  struct toolkit *toolkit;
  struct cache *cache; /* opened when first needed */
  struct text where, why;
  struct text warning; /* of the cache: that it cannot be written */
};

struct cugen_kernel {
  cugen *lib;
  struct config *config;
  struct problem problem;
  bool on_check;
  char **settings;
  size_t setting_count;
  const struct device_ops *ops;
  struct device_description device;
  cugen_device_info device_info;
  char arch[16];
  int nvrtc_version;
  struct text fallback, problem_text, key_options;
  struct space *space;       /* built when first needed */
  struct expander *expander; /* likewise */
  struct value *values;      /* of the variant being looked at */
  struct text variant_text, source;
  struct cache_record *records; /* what is remembered, loaded when first asked for */
  size_t record_count;
  bool records_loaded;
};

/* ---- library.c ---- */
int api_cache(cugen *lib, struct cache **out, cugen_error *err);
void api_device_info(const struct cugen *lib, const struct device_description *from, cugen_device_info *out);
/* Version of the compiler behind that device: NVRTC's, or 0. */
int api_nvrtc_version(const cugen *lib);

/* ---- kernel.c ---- */
int api_space(cugen_kernel *kernel, cugen_error *err);
int api_expander(cugen_kernel *kernel, cugen_error *err);
/* The variant's index: NULL: the best remembered, else the first; "best"; or a variant's text. */
int api_find_variant(cugen_kernel *kernel, const char *variant, uint64_t *index, cugen_error *err);

/* ---- tuning.c ---- */
int api_records(cugen_kernel *kernel, cugen_error *err);
void api_forget_records(cugen_kernel *kernel);

#endif
