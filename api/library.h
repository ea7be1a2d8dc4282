/* The library's handle, and functions on it that the files of api/ share. */
#ifndef API_LIBRARY_H
#define API_LIBRARY_H

#include <pthread.h>

#include "base/error.h"
#include "base/measure_way.h"
#include "gen/space/space.h"
#include "runtime/compile/toolkit.h"
#include "runtime/store/cache.h"

struct capture;

/* The options that are strings: the member of struct cugen, the field of cugen_options, and the
   environment's variable that is used if the field is NULL. */
#define LIBRARY_STRINGS(X)                                                                         \
  X(device, device, "CUGEN_DEVICE")                                                                \
  X(arch, arch, NULL)                                                                              \
  X(config_dir, config_dir, NULL)                                                                  \
  X(template_dir, template_dir, NULL)                                                              \
  X(device_dir, device_dir, NULL)                                                                  \
  X(cache_path, cache, "CUGEN_CACHE")                                                              \
  X(toolkit_dir, toolkit, NULL)                                                                    \
  X(compiler, compiler, NULL)                                                                      \
  X(worker, worker, "CUGEN_WORKER")                                                                \
  X(objective, objective, NULL)                                                                    \
  X(prefer, prefer, NULL)                                                                          \
  X(pin, pin, "CUGEN_PIN")                                                                         \
  X(capture_path, capture, "CUGEN_CAPTURE")

/* The last result that a public function handed out. The result stays until the next call of the
   function, or until its handle is closed. */
struct kept {
  void *data;                /* the result; NULL: none */
  void (*clear)(void *data); /* frees the contents of data, but not data itself */
};
/* Frees the kept result and keeps `size` zeroed bytes in its place. Returns NULL, with err filled,
   if memory is out. */
void *kept_renew(struct kept *kept, size_t size, void (*clear)(void *data), cugen_error *err);
void kept_close(struct kept *kept);

struct cugen {
#define X(member, option, variable) char *member;
  LIBRARY_STRINGS(X)
#undef X
  char *cache_name;
  const char *pin_from;       /* what named the pin file, an option or a variable, for messages */
  int local_rank;             /* number of this process among those of a job on this machine; 0: the
                                 first, or the only one */
  struct capture *capture;    /* NULL: nothing is captured */
  enum preference preference; /* preference named by options.prefer */
  enum measure_way measure;   /* MEASURE_WAYS: the config decides */
  bool no_library;            /* libraries' kernels are no variants */
  cugen_stop_callback stop;   /* NULL: never stop */
  void *stop_context;
  struct sources sources;
  struct source_file *files; /* the list that sources.files points to */
  struct toolkit_options toolkit_options;
  struct toolkit *toolkit;
  int prepared;                    /* compilers to start while a worker lists the GPUs
                                      (api_expect_tuning); 0: this process lists the GPUs */
  struct device_description *gpus; /* the GPUs that the worker listed; protected by the lock */
  int gpu_count;                   /* 0: not listed yet, or without success */
  bool gpus_asked;
  struct worker *_Atomic looked; /* the worker that listed the GPUs, until a tuning or run takes
                                    it; NULL: none */
  struct compilers *compilers;   /* NULL: there is no worker program, so NVRTC runs in this
                                    process */
  struct cache *cache;           /* opened on first use; protected by the lock */
  struct cache *nothing;         /* empty cache for readers while there is no file; opened on first
                                    use */
  struct kept_images *with_ptx;  /* compiled images of predicted variants, with their PTX */
  struct cache *images;          /* images of kernels that many runs share, such as references; in
                                    memory, opened on first use */
  pthread_mutex_t lock;          /* protects the listed GPUs, the caches and the models; kernels of
                                    one library may be used by several threads */
  struct gpu_model *models;      /* the described GPUs; loaded on first use, protected by the
                                    lock */
  size_t model_count;
  struct text where, why;                /* where: text that api_where or cugen_where handed out;
                                            why: cugen_devices */
  struct text json;                      /* text that cugen_cache_import or cugen_command handed
                                            out */
  struct text group;                     /* text that api_device_group handed out */
  struct text worker_places;             /* places that were searched for `worker` */
  struct text warning;                   /* warning that the cache cannot be written */
  struct kept sets, checked, portfolios; /* results that cache.c handed out */
  struct kept transfer;                  /* results that transfer.c handed out */
};

/* Finds the worker program for a library that was given none. *out is NULL if there is none; places
   describes where the program was searched. */
int api_find_worker(char **out, struct text *places, cugen_error *err);

/* ---- library.c ------------------------------------------------------------------------------ */

/* For the first lines of a public function: API_NEEDS(error, "kernel, out", k, out). Fails with
   CUGEN_ERROR_USAGE and the argument's name in the header if one of the pointers is NULL. */
#define API_NEEDS(error, names, ...)                                                               \
  api_needs(__func__, names, (const void *const[]){__VA_ARGS__},                                   \
            sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *), error)
int api_needs(const char *function, const char *names, const void *const *pointers, size_t count,
              cugen_error *err);
/* Fails with CUGEN_ERROR_USAGE unless options->size is the size of the type in this build. */
#define API_SIZE(error, type, init, options)                                                       \
  api_size(#type, #init, (options)->size, sizeof(type), error)
int api_size(const char *type, const char *init, size_t got, size_t want, cugen_error *err);
/* Fails with CUGEN_ERROR_USAGE and a list of the words if the word is unknown. */
int api_measure_way(const char *word, enum measure_way *out, cugen_error *err);
int api_cache(cugen *lib, struct cache **out, cugen_error *err);
/* Opens the cache for reading. If there is no file, an empty cache in memory is used, and no file
   is made. */
int api_cache_to_read(cugen *lib, struct cache **out, cugen_error *err);
int api_images(cugen *lib, struct cache **out, cugen_error *err);
bool api_cache_is_missing(const cugen *lib);
void api_device_info(const struct cugen *lib, const struct device_description *from,
                     cugen_device_info *out);
/* Returns the version of NVRTC; 0: there is none. NVRTC is loaded only if the files beside it do
   not tell the version. */
int api_nvrtc_version(const cugen *lib);
/* The stop callback for walks of a space. */
struct space_stop api_stop(cugen *lib);

/* ---- gpus.c --------------------------------------------------------------------------------- */

/* Like device_ops.count and device_ops.describe. If a worker has listed the GPUs, the worker's list
   is used, so that this process need not start CUDA. */
int api_count_devices(cugen *lib, const struct device_ops *ops, cugen_error *err);
int api_describe_device(cugen *lib, const struct device_ops *ops, int ordinal,
                        struct device_description *out, cugen_error *err);

/* ---- models.c ------------------------------------------------------------------------------- */

/* Finds the description of a fingerprint or architecture: that of the described GPU with this
   fingerprint, or else what follows from the text alone. Returns false if nothing is known. */
bool api_described(cugen *lib, const char *text, struct device_description *out);
/* Finds the description by the name behind "model:". */
int api_model(const cugen *lib, const char *name, struct device_description *out, cugen_error *err);
/* Returns the name behind "model:" that is nearest to the text, or else the only name that contains
   the text, as RTX4090 contains "4090"; NULL: none. The library owns the name. */
const char *api_nearest_model(cugen *lib, const char *text);
/* Finds the described GPU that represents an architecture: the last of the architecture in the
   order of api_models. */
bool api_model_of(cugen *lib, const char *arch, struct device_description *out);

#endif
