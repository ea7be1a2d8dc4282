/* Predictions: for which devices there can be any, and what they are kept under. */
#include "base/device_name.h"
#include "lookup.h"
#include "runtime/model/described.h"
#include "runtime/model/model.h"

int api_check_predictable(const struct device_description *d, cugen_error *err) {
  if (!d->facts.is_gpu)
    return error_set(err, CUGEN_ERROR_USAGE, "predictions are for GPUs, and this is the cpu device");
  if (d->facts.compute_capability < GPU_OLDEST_TARGET)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "%s is described for occupancy and roofline only: NVRTC 13 has no target for %s; predictions begin "
        "with sm_%d, such as model:T4",
        d->name, d->arch, GPU_OLDEST_TARGET);
  if (d->rates.l2_bytes_per_clock > 0) return CUGEN_OK;
  return error_set(
      err, CUGEN_ERROR_USAGE,
      "no prediction for %s: nothing is known of its speed; describe it in a file (docs/model.md) and name it: "
      "--device model:./mygpu.lua",
      d->name);
}

/* Those of the description, not what a driver says: where the GPU is here, the same predictions are meant. */
static uint64_t figures_of(cugen *lib, const struct device_description *device) {
  struct device_description known;
  const bool is_model = cugen_device_parse(device->id).kind == CUGEN_DEVICE_MODEL;
  return described_figures(!is_model && api_described(lib, device->fingerprint, &known) ? &known : device);
}

/* The key says that it is a prediction in two places: neither the device nor the options of a measurement are like it.
   The figures keep what is predicted from one description apart from what is from another of the same name. */
int api_key_predictions(cugen *lib, const struct device_description *device, const char *arch,
                        struct prediction_key *out, cugen_error *err) {
  uint32_t figures = (uint32_t)figures_of(lib, device);
  *out = (struct prediction_key){0};
  text_addf(&out->device, DEVICE_NAME_PREDICTED "%s", device->fingerprint);
  text_addf(&out->options, DEVICE_NAME_PREDICTED "by model %d, arch %s, figures %08x", MODEL_VERSION, arch, figures);
  return out->device.failed || out->options.failed ? error_memory(err) : CUGEN_OK;
}

void api_prediction_key_free(struct prediction_key *key) {
  text_free(&key->device);
  text_free(&key->options);
}
