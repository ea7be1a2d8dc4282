/* Finds the device that a text names: a device of this machine, or a described one. */
#include <string.h>

#include "base/device_name.h"
#include "lookup.h"
#include "runtime/devices.h"

bool api_prefer_present(cugen *lib, struct device_description *description) {
  struct device_description present;
  cugen_error ignored;
  int count = api_count_devices(lib, &cuda_device_ops, &ignored);
  for (int i = 0; i < count; i++)
    if (api_describe_device(lib, &cuda_device_ops, i, &present, &ignored) == CUGEN_OK &&
        strcmp(present.fingerprint, description->fingerprint) == 0) {
      *description = present;
      return true;
    }
  return false;
}

/* Describes the processor with this text, whose records are its own. The facts that a config sees
   are those of this machine's processor. */
static int describe_cpu(const cugen *lib, const char *text, struct found_device *out,
                        cugen_error *err) {
  struct device_description *device = &out->description;
  size_t length = strlen(text);
  if (length >= sizeof device->fingerprint)
    return error_set(err, CUGEN_ERROR_USAGE, "no device has so long a name: %.40s...", text);
  out->ops = &cpu_device_ops;
  int status = cpu_device_ops.describe(lib->toolkit, 0, device, err);
  if (status || strcmp(device->fingerprint, text) == 0) return status;
  out->described = true;
  memcpy(device->fingerprint, text, length + 1);
  const char *called = device_parse(text).name;
  size_t name = device_processor_length(called);
  if (name >= sizeof device->name) name = sizeof device->name - 1;
  memcpy(device->name, called, name);
  device->name[name] = '\0';
  return CUGEN_OK;
}

/* Finds a device by a described GPU's name, or the text of a GPU or processor; *known: `text` names
   such a device. Without "model:", a present GPU with this fingerprint is taken. */
static int find_described(cugen *lib, const char *text, struct found_device *out, bool *known,
                          cugen_error *err) {
  const cugen_device_name named = device_parse(text);
  const bool is_model = named.kind == CUGEN_DEVICE_MODEL;
  cugen_error none;
  if (named.predicted) {
    *known = api_described(lib, named.name, &out->description) && out->description.fingerprint[0];
    out->ops = &cuda_device_ops;
    out->described = out->predicted = true;
    return *known ? api_check_predictable(lib, &out->description, err) : CUGEN_OK;
  }
  *known = named.kind == CUGEN_DEVICE_CPU && *named.name; /* the text of a processor, not the id */
  if (*known) return describe_cpu(lib, text, out, err);
  int status = is_model ? api_model(lib, named.name, &out->description, err) : CUGEN_OK;
  *known = is_model ||
           (api_described(lib, text, &out->description) && out->description.fingerprint[0]) ||
           (named.kind == CUGEN_DEVICE_NAMED &&
            api_model(lib, named.name, &out->description, &none) == CUGEN_OK);
  if (status || !*known) return status;
  out->ops = &cuda_device_ops;
  out->described = is_model || !api_prefer_present(lib, &out->description);
  return CUGEN_OK;
}

int api_find_device(cugen *lib, const char *name, struct found_device *out, struct text *fallback,
                    cugen_error *err) {
  bool described;
  int ordinal = 0;
  *out = (struct found_device){0};
  if (!name) {
    /* The default is a GPU, or the cpu device if there is no GPU. If a job runs several tasks on
       this machine, the tasks use the visible GPUs in turn. */
    cugen_error why = {0};
    const int count = api_count_devices(lib, &cuda_device_ops, &why);
    out->ops = count < 1 ? &cpu_device_ops : &cuda_device_ops;
    if (count < 1 && fallback) text_add(fallback, why.message);
    if (count > 0) ordinal = lib->local_rank % count;
    return api_describe_device(lib, out->ops, ordinal, &out->description, err);
  }
  int status = find_described(lib, name, out, &described, err);
  if (described || status) return status;
  *out = (struct found_device){0};
  status = device_find(name, &out->ops, &ordinal, err);
  const char *nearest = status ? api_nearest_model(lib, name) : NULL;
  if (nearest) error_append(err, "; the nearest is " DEVICE_NAME_MODEL "%s", nearest);
  return status ? status : api_describe_device(lib, out->ops, ordinal, &out->description, err);
}
