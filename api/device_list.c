/* Lists of devices, "cuda:0,cuda:2", "cuda:0,T4" or "all", and groups of devices that share their
   records; see lookup.h. */
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "lookup.h"
#include "machine.h"
#include "runtime/devices.h"

void api_device_list_free(struct device_list *list) {
  free(list->all);
  free(list->names);
  *list = (struct device_list){0};
}

bool api_devices_are_alike(const struct found_device *a, const struct found_device *b) {
  if (a->described || b->described) return a == b;
  return strcmp(a->description.fingerprint, b->description.fingerprint) == 0 &&
         strcmp(a->description.arch, b->description.arch) == 0;
}

/* ---- "all" ---------------------------------------------------------------------------------- */

/* Lists all GPUs of this machine. A GPU that cannot be described is an error. */
static int list_all(cugen *lib, struct device_list *out, cugen_error *err) {
  cugen_error why = {0};
  const int count = api_count_devices(lib, &cuda_device_ops, &why);
  if (count < 1)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "device 'all' means all CUDA GPUs of this machine, and there is none: %s",
                     why.message);
  out->all = calloc((size_t)count, sizeof *out->all);
  if (!out->all) return error_memory(err);
  int status = CUGEN_OK;
  for (int i = 0; i < count && !status; i++) {
    struct found_device *one = &out->all[out->count++];
    one->ops = &cuda_device_ops;
    one->name = one->description.id;
    status = api_describe_device(lib, &cuda_device_ops, i, &one->description, err);
  }
  return status;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Adds a device. A GPU that the list already has is refused; the processor may be listed twice,
   because it has several cores. */
static int find_one(cugen *lib, const char *name, struct device_list *out, cugen_error *err) {
  if (!*name)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "a name is missing in the list of devices: write \"cuda:0,cuda:2\"");
  if (strcmp(name, DEVICE_NAME_ALL) == 0)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "'all' stands alone: it means all GPUs of this machine");
  struct found_device *one = &out->all[out->count++];
  int status = api_find_device(lib, name, one, NULL, err);
  one->name = one->described ? name : one->description.id;
  if (status || !one->description.facts.is_gpu) return status;
  for (const struct found_device *other = out->all; other < one; other++)
    if (strcmp(other->description.id, one->description.id) == 0 &&
        strcmp(other->description.fingerprint, one->description.fingerprint) == 0)
      return error_set(err, CUGEN_ERROR_USAGE, "%s is in the list of devices twice", name);
  return CUGEN_OK;
}

int api_list_devices(cugen *lib, const char *text, struct device_list *out, cugen_error *err) {
  size_t most = 1;
  *out = (struct device_list){0};
  if (strcmp(text, DEVICE_NAME_ALL) == 0) return list_all(lib, out, err);
  for (const char *at = text; *at; at++) most += *at == ',';
  out->names = strdup(text);
  out->all = calloc(most, sizeof *out->all);
  int status = out->names && out->all ? CUGEN_OK : error_memory(err);
  for (char *at = out->names, *next; at && !status; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    status = find_one(lib, at + strspn(at, " "), out, err);
  }
  return status;
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* Returns whether no earlier device of the list is alike device i. */
static bool begins_group(const struct device_list *list, size_t i) {
  size_t before = 0;
  while (before < i && !api_devices_are_alike(&list->all[before], &list->all[i])) before++;
  return before == i;
}

int api_device_group(cugen *lib, const char *text, size_t index, const char **out,
                     cugen_error *error) {
  struct device_list list;
  *out = NULL;
  text_restart(&lib->group);
  int status = api_list_devices(lib, text, &list, error);
  size_t first = 0;
  while (!status && first < list.count && !(begins_group(&list, first) && index-- == 0)) first++;
  for (size_t i = first; i < list.count && !status; i++)
    if (api_devices_are_alike(&list.all[i], &list.all[first]))
      text_addf(&lib->group, "%s%s", i > first ? "," : "", list.all[i].name);
  api_device_list_free(&list);
  if (!status && lib->group.failed) status = error_memory(error);
  if (!status && lib->group.length) *out = text_get(&lib->group);
  return status;
}
