/* The library's handle, and what every public function begins with. */
#ifndef API_LIBRARY_H
#define API_LIBRARY_H

#include <pthread.h>

#include "api/tools.h"
#include "base/error.h"
#include "base/measure_way.h"
#include "gen/space/space.h"
#include "kept.h"
#include "runtime/compile/toolkit.h"
#include "runtime/store/cache.h"

struct capture;

struct cugen {
  char *device, *arch, *config_dir, *template_dir, *device_dir, *cache_path, *cache_name, *toolkit_dir, *compiler,
      *worker, *objective, *prefer, *pin, *capture_path;
  const char *pin_from;       /* which of the two named it, for messages */
  int local_rank;             /* of several processes on this machine; 0: the first, or the only one */
  struct capture *capture;    /* NULL: nothing is captured */
  enum preference preference; /* that `prefer` names */
  enum measure_way measure;   /* MEASURE_WAYS: as the config says */
  cugen_stop_callback stop;   /* NULL: never */
  void *stop_context;
  struct sources sources;
  struct source_file *files; /* what sources.files sees */
  struct toolkit_options toolkit_options;
  struct toolkit *toolkit;
  int prepared; /* compilers that start while a worker lists the GPUs, as api_expect_tuning says; 0: it does not */
  struct device_description *gpus; /* what that listed, under the lock; */
  int gpu_count;                   /* 0: nothing yet, or in vain */
  bool gpus_asked;
  struct worker *_Atomic looked;   /* that worker, until a tuning takes it; NULL: there is none */
  struct compilers *compilers;     /* NULL: no worker program, so that NVRTC runs in this process */
  struct cache *cache;             /* opened when first needed, */
  struct cache *nothing;           /* what readers get while there is no file, likewise */
  struct compiled_store *with_ptx; /* images of what is predicted */
  struct cache *images;            /* references and the like, which many runs share: in memory, likewise */
  pthread_mutex_t lock;            /* under this: kernels of one cugen may be in several threads */
  struct gpu_model *models;        /* the described GPUs that ship, likewise */
  size_t model_count;
  struct text where, why;
  struct text json;                      /* what cugen_cache_import or cugen_command handed out */
  struct text group;                     /* what api_device_group handed out */
  struct text worker_places;             /* looked at for `worker` */
  struct text warning;                   /* of the cache: that it cannot be written */
  struct kept sets, checked, portfolios; /* what cache.c handed out */
  struct kept transfer;                  /* and transfer.c */
};

/* The program to start for isolated work, for a library that was given none: *out is NULL when there is none, and places
   says where it was looked for. */
int api_find_worker(char **out, struct text *places, cugen_error *err);

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
/* CUGEN_ERROR_USAGE, with the words that there are. */
int api_measure_way(const char *word, enum measure_way *out, cugen_error *err);
int api_cache(cugen *lib, struct cache **out, cugen_error *err);
/* For those that only read: where there is no file it is an empty one in memory, and none is made. */
int api_cache_to_read(cugen *lib, struct cache **out, cugen_error *err);
int api_images(cugen *lib, struct cache **out, cugen_error *err);
bool api_cache_is_missing(const cugen *lib);
void api_device_info(const struct cugen *lib, const struct device_description *from, cugen_device_info *out);
/* NVRTC's version, or 0; NVRTC is not loaded for it where the files beside it tell. */
int api_nvrtc_version(const cugen *lib);
/* What walks of a space ask whether to stop. */
struct space_stop api_stop(cugen *lib);

/* ---- gpus.c ---- */

/* As device_ops.count and device_ops.describe. What a worker listed is taken from that list, so that this process does not start CUDA. */
int api_count_devices(cugen *lib, const struct device_ops *ops, cugen_error *err);
int api_describe_device(cugen *lib, const struct device_ops *ops, int ordinal, struct device_description *out,
                        cugen_error *err);

/* ---- models.c ---- */

/* A fingerprint or architecture; a GPU that is described here is known whole. */
bool api_described(cugen *lib, const char *text, struct device_description *out);
/* The name behind "model:". */
int api_model(const cugen *lib, const char *name, struct device_description *out, cugen_error *err);
/* The described GPU that represents those of an architecture: the latest that has it. */
bool api_model_of(cugen *lib, const char *arch, struct device_description *out);

#endif
