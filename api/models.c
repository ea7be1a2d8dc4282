/* The described GPUs, shipped or from the library's folder, and the described GPU that a text
   names. */
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "base/text.h"
#include "gen/config/device_file.h"
#include "library.h"
#include "machine.h"
#include "runtime/model/described.h"

/* Loads the descriptions on first use; the library owns them. Returns their number; 0: out of
   memory. */
static size_t load_models(cugen *lib, const struct gpu_model **out) {
  pthread_mutex_lock(&lib->lock);
  if (!lib->models) lib->models = calloc(API_MOST_MODELS, sizeof *lib->models);
  if (lib->models && !lib->model_count)
    lib->model_count = device_files(lib->device_dir, lib->models, API_MOST_MODELS);
  *out = lib->models;
  size_t count = lib->model_count < API_MOST_MODELS ? lib->model_count : API_MOST_MODELS;
  pthread_mutex_unlock(&lib->lock);
  return *out ? count : 0;
}

bool api_described(cugen *lib, const char *text, struct device_description *out) {
  const struct gpu_model *models;
  if (!described_device(text, out)) return false;
  size_t count = out->fingerprint[0] ? load_models(lib, &models) : 0;
  for (size_t i = 0; i < count; i++) {
    struct device_description model;
    described_model(&models[i], &model);
    if (strcmp(model.fingerprint, out->fingerprint) != 0) continue;
    *out = model;
    break;
  }
  return true;
}

int api_model(const cugen *lib, const char *name, struct device_description *out,
              cugen_error *err) {
  struct gpu_model model;
  int status = device_file_open(lib->device_dir, name, &model, err);
  if (!status) described_model(&model, out);
  return status;
}

const char *api_nearest_model(cugen *lib, const char *text) {
  const struct gpu_model *models;
  const char *names[API_MOST_MODELS], *only = NULL;
  const size_t count = load_models(lib, &models);
  size_t containing = 0;
  for (size_t i = 0; i < count; i++) {
    names[i] = models[i].id + strlen(DEVICE_NAME_MODEL);
    if (*text && strcasestr(names[i], text)) only = names[i], containing++;
  }
  const char *nearest = text_nearest(text, names, count);
  return nearest ? nearest : containing == 1 ? only : NULL;
}

bool api_model_of(cugen *lib, const char *arch, struct device_description *out) {
  const struct gpu_model *models;
  bool found = false;
  for (size_t i = 0, count = load_models(lib, &models); i < count; i++) {
    struct device_description model;
    described_model(&models[i], &model);
    if (strcmp(model.arch, arch) != 0) continue;
    *out = model;
    found = true;
  }
  return found;
}

size_t api_described_devices(cugen *lib, cugen_device_info *out, size_t count) {
  const struct gpu_model *models;
  struct device_description model;
  if (!lib) return 0;
  if (!out) count = 0;
  size_t all = load_models(lib, &models);
  for (size_t i = 0; i < all && i < count; i++) {
    described_model(&models[i], &model);
    api_device_info(lib, &model, &out[i]);
  }
  return all;
}

size_t api_models(cugen *lib, const char **out, size_t count) {
  const struct gpu_model *models;
  if (!lib) return 0;
  if (!out) count = 0;
  size_t all = load_models(lib, &models);
  for (size_t i = 0; i < all && i < count; i++) out[i] = models[i].id;
  return all;
}
