/* Opens the library, and tells what was found on this machine and its devices. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "capture.h"
#include "library.h"
#include "machine.h"
#include "runtime/compile/kept.h"
#include "runtime/cuda/compilers.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/devices.h"
#include "tune/worker/worker.h"

/* ---- Checks of every public function's arguments -------------------------------------------- */

int api_needs(const char *function, const char *names, const void *const *pointers, size_t count,
              cugen_error *err) {
  size_t at = 0;
  while (at < count && pointers[at]) at++;
  if (at == count) return CUGEN_OK;
  for (; at; at--) names += strcspn(names, ",") + strlen(", ");
  return error_set(err, CUGEN_ERROR_USAGE, "%s: %.*s is NULL", function, (int)strcspn(names, ","),
                   names);
}

int api_size(const char *type, const char *init, size_t got, size_t want, cugen_error *err) {
  if (got == want) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE, "%s.size is %zu, should be %zu: start from %s", type,
                   got, want, init);
}

/* ---- Results that stay ---------------------------------------------------------------------- */

void kept_close(struct kept *kept) {
  if (kept->data) kept->clear(kept->data);
  free(kept->data);
  *kept = (struct kept){0};
}

void *kept_renew(struct kept *kept, size_t size, void (*clear)(void *data), cugen_error *err) {
  kept_close(kept);
  void *data = calloc(1, size);
  if (data)
    *kept = (struct kept){data, clear};
  else
    error_memory(err);
  return data;
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Takes an option, or if the option is NULL the variable of the environment; an empty text counts
   as nothing. These variables are read only when the library opens. */
static int library_take(char **to, const char *option, const char *variable) {
  const char *from = option ? option : variable ? getenv(variable) : NULL;
  *to = from && *from ? strdup(from) : NULL;
  return from && *from && !*to ? CUGEN_ERROR_MEMORY : CUGEN_OK;
}

/* Returns Slurm's number of this task among the job's tasks on this machine; 0 without Slurm. */
static int read_local_rank(void) {
  const char *text = getenv("SLURM_LOCALID");
  const long rank = text ? strtol(text, NULL, 10) : 0;
  return rank > 0 && rank < INT_MAX ? (int)rank : 0;
}

/* Returns $XDG_CACHE_HOME/cugen/cugen.db, else ~/.cache/cugen/cugen.db, else "none"; NULL: out of
   memory. The XDG specification requires an absolute path, and that other paths are ignored. */
static char *default_cache(void) {
  struct text path = {0};
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (xdg && *xdg == '/')
    text_addf(&path, "%s/cugen/cugen.db", xdg);
  else if (home && *home)
    text_addf(&path, "%s/.cache/cugen/cugen.db", home);
  else
    text_add(&path, "none");
  return text_take(&path);
}

static int library_take_options(cugen *lib, const cugen_options *o, cugen_error *err) {
#define X(member, option, variable)                                                                \
  if (library_take(&lib->member, o->option, variable)) return error_memory(err);
  LIBRARY_STRINGS(X)
#undef X
  lib->no_library = o->no_library != 0;
  lib->pin_from = o->pin && *o->pin ? "cugen_options.pin" : "CUGEN_PIN";
  lib->local_rank = read_local_rank();
  if (!lib->cache_path) lib->cache_path = default_cache();
  if (!lib->cache_path) return error_memory(err);
  struct text name = {0};
  cache_name(lib->cache_path, &name);
  lib->cache_name = text_take(&name);
  return lib->cache_name ? CUGEN_OK : error_memory(err);
}

int api_measure_way(const char *word, enum measure_way *out, cugen_error *err) {
  const char *const *names = measure_way_names;
  *out = measure_way_find(word);
  if (*out < MEASURE_WAYS) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE, "cugen_options.measure %s: it is none of %s, %s, %s, %s",
                   word, names[0], names[1], names[2], names[3]);
}

/* Refuses folders that do not exist, because cugen would silently use the shipped files. */
static int library_check_folders(const cugen *lib, cugen_error *err) {
  const char *const rows[][2] = {
      {lib->config_dir, "config"}, {lib->template_dir, "template"}, {lib->device_dir, "device"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i][0] && !folder_exists(rows[i][0]))
      return error_set(err, CUGEN_ERROR_USAGE, "cugen_options.%s_dir %s: there is no such folder",
                       rows[i][1], rows[i][0]);
  return CUGEN_OK;
}

/* Checks the texts of objective and prefer. */
static int library_check_objective(cugen *lib, cugen_error *err) {
  const char *option = "objective";
  struct objective *objective = NULL;
  int status = lib->objective ? objective_open(lib->objective, &objective, err) : CUGEN_OK;
  objective_close(objective);
  if (!status && lib->prefer) {
    option = "prefer";
    status = preference_find(lib->prefer, &lib->preference, err);
  }
  if (!status || status == CUGEN_ERROR_MEMORY) return status;
  struct text message = {0};
  text_addf(&message, "cugen_options.%s: %s", option, err ? err->message : "");
  status = error_set(err, CUGEN_ERROR_USAGE, "%s", text_get(&message));
  text_free(&message);
  return status;
}

/* Takes the worker option, or searches for the program. "none" means that there is none. */
static int take_worker(cugen *lib, cugen_error *err) {
  if (!lib->worker) return api_find_worker(&lib->worker, &lib->worker_places, err);
  if (strcmp(lib->worker, "none") != 0) return CUGEN_OK;
  free(lib->worker);
  lib->worker = NULL;
  text_add(&lib->worker_places, "nothing, as asked for by \"none\"");
  return lib->worker_places.failed ? error_memory(err) : CUGEN_OK;
}

int cugen_open(const cugen_options *options, cugen **out, cugen_error *error) {
  static const cugen_options defaults = CUGEN_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (API_NEEDS(error, "out", out)) return CUGEN_ERROR_USAGE;
  *out = NULL;
  if (API_SIZE(error, cugen_options, CUGEN_OPTIONS_INIT, options)) return CUGEN_ERROR_USAGE;
  cugen *lib = calloc(1, sizeof *lib);
  if (!lib) return error_memory(error);
  pthread_mutex_init(&lib->lock, NULL);
  lib->stop = options->stop;
  lib->stop_context = options->stop_context;
  lib->with_ptx = kept_images_new((size_t)128 << 20);
  int status = lib->with_ptx ? library_take_options(lib, options, error) : error_memory(error);
  lib->measure = MEASURE_WAYS;
  if (!status && options->measure) status = api_measure_way(options->measure, &lib->measure, error);
  if (!status && lib->capture_path) status = capture_open(lib->capture_path, &lib->capture, error);
  if (!status) status = library_check_folders(lib, error);
  if (!status) status = library_check_objective(lib, error);
  if (!status) status = take_worker(lib, error);
  lib->sources = (struct sources){lib->config_dir, lib->template_dir, NULL};
  lib->toolkit_options = (struct toolkit_options){lib->toolkit_dir, lib->compiler};
  if (!status) status = toolkit_open(&lib->toolkit_options, &lib->toolkit, error);
  const struct compilers_options compilers = {.program = lib->worker,
                                              .toolkit = lib->toolkit_options};
  if (!status && lib->worker) status = compilers_open(&compilers, &lib->compilers, error);
  if (status)
    cugen_close(lib);
  else
    *out = lib;
  return status;
}

void cugen_close(cugen *lib) {
  if (!lib) return;
#define X(member, option, variable) free(lib->member);
  LIBRARY_STRINGS(X)
#undef X
  free(lib->cache_name);
  struct kept *kept[] = {&lib->sets, &lib->checked, &lib->portfolios, &lib->transfer};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) kept_close(kept[i]);
  capture_close(lib->capture);
  cache_close(lib->cache);
  cache_close(lib->nothing);
  cache_close(lib->images);
  kept_images_free(lib->with_ptx);
  worker_close(lib->looked);
  free(lib->gpus);
  compilers_close(lib->compilers);
  toolkit_close(lib->toolkit);
  pthread_mutex_destroy(&lib->lock);
  free(lib->models);
  sources_forget(lib->files);
  text_free(&lib->worker_places);
  text_free(&lib->where);
  text_free(&lib->warning);
  text_free(&lib->why);
  text_free(&lib->group);
  text_free(&lib->json);
  free(lib);
}

/* ---- Stopping ------------------------------------------------------------------------------- */

static bool library_ask_stop(void *context) {
  const cugen *lib = context;
  return lib->stop(lib->stop_context) != 0;
}

struct space_stop api_stop(cugen *lib) {
  return (struct space_stop){lib->stop ? library_ask_stop : NULL, lib};
}

/* ---- Configs and templates ------------------------------------------------------------------ */

int cugen_add_file(cugen *lib, const char *name, const char *text, size_t length,
                   cugen_error *error) {
  if (API_NEEDS(error, "lib, name, text", lib, name, length ? text : name))
    return CUGEN_ERROR_USAGE;
  int status = sources_add(&lib->files, name, text, length, error);
  lib->sources.files = lib->files;
  return status;
}

size_t api_configs(cugen *lib, const char **out, size_t count) {
  (void)lib; /* the shipped configs are part of the program and do not depend on lib */
  return sources_configs(out, out ? count : 0);
}

/* ---- The cache ------------------------------------------------------------------------------ */

int api_cache(cugen *lib, struct cache **out, cugen_error *err) {
  pthread_mutex_lock(&lib->lock);
  int status =
      lib->cache
          ? CUGEN_OK
          : cache_open_watched(lib->cache_path,
                               (struct process_stop){lib->stop ? library_ask_stop : NULL, lib},
                               &lib->cache, &lib->warning, err);
  *out = lib->cache;
  pthread_mutex_unlock(&lib->lock);
  return status;
}

int api_images(cugen *lib, struct cache **out, cugen_error *err) {
  pthread_mutex_lock(&lib->lock);
  int status = lib->images ? CUGEN_OK : cache_open("none", &lib->images, NULL, err);
  *out = lib->images;
  pthread_mutex_unlock(&lib->lock);
  return status;
}

bool api_cache_is_missing(const cugen *lib) {
  return cache_is_missing(lib->cache_path);
}

int api_cache_to_read(cugen *lib, struct cache **out, cugen_error *err) {
  pthread_mutex_lock(&lib->lock);
  bool nothing = !lib->cache && api_cache_is_missing(lib);
  int status = nothing && !lib->nothing ? cache_open("none", &lib->nothing, NULL, err) : CUGEN_OK;
  *out = lib->nothing;
  pthread_mutex_unlock(&lib->lock);
  return nothing ? status : api_cache(lib, out, err);
}

static int ask_nvrtc(const cugen *lib) {
  const struct nvrtc *nvrtc;
  cugen_error ignored;
  return nvrtc_open(lib->toolkit, &nvrtc, &ignored) ? 0 : nvrtc_version(nvrtc);
}

int api_nvrtc_version(const cugen *lib) {
  int told = toolkit_nvrtc_version(lib->toolkit);
  return told ? told : ask_nvrtc(lib);
}

/* ---- cugen_where ---------------------------------------------------------------------------- */

static void library_add_version(struct text *out, int version) {
  if (version) text_addf(out, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* Appends where a part was found: "/usr/local/cuda/lib64/libnvrtc.so.13", or the places where it
   was searched. */
static void add_found(const cugen *lib, enum toolkit_part part, struct text *out) {
  const struct toolkit *t = lib->toolkit;
  const struct text *const found[TOOLKIT_PARTS] = {&t->nvrtc, &t->include, &t->compiler};
  if (!found[part]->length) text_addf(out, "not found; looked at %s", text_get(&t->places[part]));
  text_add(out, text_get(found[part]));
}

bool api_has_compiler(const cugen *lib) {
  return lib->toolkit->compiler.length > 0;
}

/* Appends the value of a line of cugen_where, or nothing if the line is left out. */
static void add_place(cugen *lib, enum api_place place, struct text *out) {
  cugen_error err;
  struct device_description device;
  switch (place) {
  case API_PLACE_DRIVER:
    if (api_count_devices(lib, &cuda_device_ops, &err) > 0 &&
        api_describe_device(lib, &cuda_device_ops, 0, &device, &err) == CUGEN_OK)
      library_add_version(out, device.driver_version);
    else
      text_add(out, err.message);
    break;
  case API_PLACE_NVRTC: add_found(lib, TOOLKIT_PART_NVRTC, out); break;
  case API_PLACE_NVRTC_VERSION: library_add_version(out, ask_nvrtc(lib)); break;
  case API_PLACE_HEADERS: add_found(lib, TOOLKIT_PART_HEADERS, out); break;
  case API_PLACE_COMPILER: add_found(lib, TOOLKIT_PART_COMPILER, out); break;
  case API_PLACE_CUBLASLT:
    text_add(out, text_get(&lib->toolkit->kernels[LIBRARY_cublasLt].path));
    break;
  case API_PLACE_CACHE: text_add(out, lib->cache_name); break;
  case API_PLACE_WARNING: text_add(out, text_get(&lib->warning)); break;
  case API_PLACE_CLOCK:
    if (!cache_time(clock_unix(), 1))
      text_add(
          out,
          "this machine's clock is before 2020: what is measured is remembered without its time");
    break;
  case API_PLACE_IMAGE_KEY:
    if (lib->cache) text_add(out, cache_image_warning(lib->cache));
    break;
  case API_PLACE_CAPTURE:
    if (lib->capture) capture_describe(lib->capture, out);
    break;
  case API_PLACE_WORKER:
    text_addf(out, "%s%s", lib->worker ? "" : "not found; looked at ",
              lib->worker ? lib->worker : text_get(&lib->worker_places));
    break;
  case API_PLACES: break;
  }
}

const char *api_where(cugen *lib, enum api_place place) {
  if (!lib) return "";
  text_restart(&lib->where);
  add_place(lib, place, &lib->where);
  return text_get(&lib->where);
}

const char *cugen_where(cugen *lib) {
  static const char *const names[API_PLACES] = {"driver",   "nvrtc",     "nvrtc version", "headers",
                                                "compiler", "cublasLt",  "cache",         "warning",
                                                "clock",    "image key", "capture",       "worker"};
  if (!lib) return "";
  text_restart(&lib->where);
  for (int place = 0; place < API_PLACES; place++) {
    struct text value = {0};
    add_place(lib, (enum api_place)place, &value);
    if (value.length) text_addf(&lib->where, "%s: %s\n", names[place], text_get(&value));
    lib->where.failed |= value.failed;
    text_free(&value);
  }
  return text_get(&lib->where);
}

/* ---- Devices -------------------------------------------------------------------------------- */

void api_device_info(const cugen *lib, const struct device_description *from,
                     cugen_device_info *out) {
  const struct device_facts *facts = &from->facts;
  *out = (cugen_device_info){.driver_version = from->driver_version,
                             .nvrtc_version = api_nvrtc_version(lib),
                             .sm_count = (int)facts->sm_count,
                             .clock_khz = (int)facts->clock_khz,
                             .memory_clock_khz = (int)facts->memory_clock_khz,
                             .memory_bus_bits = (int)facts->memory_bus_bits,
                             .memory_bytes = facts->memory_bytes,
                             .l2_bytes = facts->l2_bytes,
                             .shared_bytes_per_block = facts->shared_per_block_optin};
  snprintf(out->id, sizeof out->id, "%s", from->id);
  snprintf(out->name, sizeof out->name, "%s", from->name);
  snprintf(out->uuid, sizeof out->uuid, "%s", from->uuid);
  snprintf(out->arch, sizeof out->arch, "%s", from->arch);
}

static size_t library_add_devices(cugen *lib, const struct device_ops *ops, cugen_device_info *out,
                                  size_t room, size_t at, cugen_error *err) {
  int count = api_count_devices(lib, ops, err);
  for (int i = 0; i < count; i++) {
    struct device_description description;
    if (api_describe_device(lib, ops, i, &description, err)) continue;
    if (at < room) api_device_info(lib, &description, &out[at]);
    at++;
  }
  return at;
}

size_t cugen_devices(cugen *lib, cugen_device_info *out, size_t count, const char **why) {
  cugen_error err = {0}, ignored;
  if (why) *why = NULL;
  if (!lib) return 0;
  if (!out) count = 0;
  size_t gpus = library_add_devices(lib, &cuda_device_ops, out, count, 0, &err);
  text_restart(&lib->why);
  if (gpus == 0) text_add(&lib->why, err.message);
  if (why) *why = gpus ? NULL : text_get(&lib->why);
  if (gpus >= count)
    return gpus + 1; /* count has no room for the cpu device, so the compiler is not asked for its
                        version */
  return library_add_devices(lib, &cpu_device_ops, out, count, gpus, &ignored);
}

int cugen_worker_main(int argc, char **argv) {
  (void)argc, (void)argv;
  enum { SOCKET = 3 }; /* process_spawn connects this descriptor */
  return worker_serve(SOCKET, &(struct worker_place){0});
}
