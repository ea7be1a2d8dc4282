/* Predictions: the devices with enough known facts, and the keys in the cache. */
#include <stdio.h>

#include "base/device_name.h"
#include "lookup.h"
#include "runtime/model/described.h"
#include "runtime/model/model.h"

int api_check_target(const cugen *lib, const struct device_description *d, cugen_error *err) {
  const int capability = (int)d->facts.compute_capability,
            major = toolkit_nvrtc_major(lib->toolkit);
  if (capability < GPU_OLDEST_TARGET_12)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s is described for 'cugen occupancy' and 'cugen roofline' without a CONFIG "
                     "only: CUDA 11 was the last toolkit with a target for sm_%d, and cugen needs "
                     "NVRTC 12 or 13 (docs/old-cards.md)",
                     d->name, capability);
  if (capability >= GPU_OLDEST_TARGET || major < 13) return CUGEN_OK;
  return error_set(
      err, CUGEN_ERROR_USAGE,
      "NVRTC %d has no target for sm_%d, the architecture of %s: CUDA 12 is the last toolkit that "
      "has; name one with cugen_options.toolkit (docs/old-cards.md says where it comes from)",
      major, capability, d->name);
}

int api_check_predictable(const cugen *lib, const struct device_description *d, cugen_error *err) {
  if (!d->facts.is_gpu)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "predictions are for GPUs, and this is the cpu device");
  int status = api_check_target(lib, d, err);
  if (status) return status;
  if (d->rates.l2_bytes_per_clock > 0) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "no prediction for %s: nothing is known of its speed; describe it in a file "
                   "(docs/model.md) and name it with cugen_options.device: model:./mygpu.lua",
                   d->name);
}

/* The device and the options of the key both mark a prediction. The figures separate predictions
   from different descriptions of one name. */
int api_key_predictions(cugen *lib, const struct device_description *device, const char *arch,
                        struct prediction_key *out, cugen_error *err) {
  struct device_description known;
  /* A present GPU has the figures of its description. */
  const bool described = device_parse(device->id).kind != CUGEN_DEVICE_MODEL &&
                         api_described(lib, device->fingerprint, &known);
  const uint64_t figures = described_figures(described ? &known : device);
  struct record_options options = {
      .kind = OPTIONS_PREDICTED, .model = MODEL_VERSION, .figures = (uint32_t)figures};
  snprintf(options.arch, sizeof options.arch, "%s", arch);
  *out = (struct prediction_key){0};
  text_addf(&out->device, DEVICE_NAME_PREDICTED "%s", device->fingerprint);
  record_options_print(&options, &out->options);
  return out->device.failed || out->options.failed ? error_memory(err) : CUGEN_OK;
}

void api_prediction_key_free(struct prediction_key *key) {
  text_free(&key->device);
  text_free(&key->options);
}
