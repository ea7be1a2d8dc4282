/* What a library found: shipped configs, the driver and compilers, the cache, and devices. */
#ifndef API_MACHINE_H
#define API_MACHINE_H

#include <stdbool.h>

#include "base/results.h"

/* The configs that ship with cugen, such as "matmul.lua". Returns how many exist; 0: out of
   memory. Fills at most count. The strings live as long as the program. */
size_t api_configs(cugen *lib, const char **out, size_t count);

/* The lines of cugen_where, in their order. */
enum api_place {
  API_PLACE_DRIVER,
  API_PLACE_NVRTC,
  API_PLACE_NVRTC_VERSION,
  API_PLACE_HEADERS,
  API_PLACE_COMPILER,
  API_PLACE_CUBLASLT, /* "": there is none */
  API_PLACE_CACHE,
  API_PLACE_WARNING,   /* why the cache cannot be written */
  API_PLACE_CLOCK,     /* what is wrong with this machine's clock */
  API_PLACE_IMAGE_KEY, /* why images are not kept */
  API_PLACE_CAPTURE,
  API_PLACE_WORKER,
  API_PLACES
};
/* Returns what cugen_where says in that line; "": the line is left out. The text lives until the
   next call of api_where or cugen_where. */
const char *api_where(cugen *lib, enum api_place place);

/* Returns whether there is a C++ compiler for the cpu device. */
bool api_has_compiler(const cugen *lib);

/* Parses the text of options.cache. Whether the cache exists is not checked. NULL is the default, a
   file. */
cugen_cache_kind api_cache_parse(const char *text);

/* Splits listed devices ("all") into groups that can be tuned together, such as the GPUs of one
   model. The groups have the order of their first devices. *out becomes the list of the group with
   that index, for options.device of a separate library ("cuda:0,cuda:2"), or NULL behind the last
   group. *out lives until the next call. CUGEN_ERROR_USAGE: for example, a name is missing, or a
   GPU is listed twice. */
int api_device_group(cugen *lib, const char *list, size_t index, const char **out,
                     cugen_error *error);

enum { API_MOST_MODELS = 64 }; /* most described devices that are listed */

/* Lists the described devices, shipped or in options.device_dir, by compute capability and then by
   name, at most API_MOST_MODELS. A name such as "model:K40" is for options.device. Returns how many
   exist; fills at most count. The strings live until the library is closed. */
size_t api_models(cugen *lib, const char **out, size_t count);
/* Like api_models, with the devices' facts; the id is "model:K40". */
size_t api_described_devices(cugen *lib, cugen_device_info *out, size_t count);

/* Announces that this program will tune or run variants. A worker process then looks for the GPUs,
   and the first tuning or run continues with this worker, so that this process need not start CUDA
   to describe a GPU. Call this function before any that finds devices. threads: as in
   cugen_tune_options. */
void api_expect_tuning(cugen *lib, int threads);

#endif
