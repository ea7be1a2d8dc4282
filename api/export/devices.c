/* The devices of an export: remembered devices, architectures, and PTX for all other devices. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bundle.h"
#include "export.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/devices.h"
#include "runtime/model/described.h"
#include "runtime/model/model.h"

/* ---- A kernel on a device that need not be present ------------------------------------------ */

void export_device_free(struct export_device *device) {
  lookup_close(&device->lookup);
  free(device->text);
  free(device->uncompiled);
  *device = (struct export_device){0};
}

/* Describes the device with this text. If the text is an architecture and the config uses facts in
   which GPUs of one architecture differ, the described GPU that represents the architecture
   answers, with a note. CUGEN_ERROR_USAGE: nothing is known of the device, or the config uses facts
   that are not known. */
static int devices_describe(const struct lookup *base, const char *text, struct text *notes,
                            struct device_description *out, cugen_error *err) {
  struct device_description model;
  if (!api_described(base->lib, text, out))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "nothing is known of the device '%s': it is of a compute capability that this "
                     "cugen does not know",
                     text);
  if (out->fingerprint[0]) api_prefer_present(base->lib, out);
  int status = api_check_facts(base->config, base->problem, out, text, err);
  if (!status || out->fingerprint[0] || !notes) return status;
  if (!api_model_of(base->lib, text, &model)) return status;
  text_addf(notes, "%s: what the config asks about the device is answered for %s (%s)\n", text,
            model.name, model.id);
  *out = model;
  out->name[0] = out->fingerprint[0] = '\0'; /* stands for any GPU of the architecture */
  return CUGEN_OK;
}

int export_open_device(const struct lookup *base, const char *text, const char *arch,
                       const struct device_description *known, struct text *notes,
                       struct export_device *out, cugen_error *err) {
  struct lookup *l = &out->lookup;
  *out = (struct export_device){.lookup = {.lib = base->lib,
                                           .opened = base->opened,
                                           .config = base->config,
                                           .origin = base->origin,
                                           .ops = &cuda_device_ops,
                                           .nvrtc_version = api_nvrtc_version(base->lib)}};
  if (known) l->device = *known;
  int status = known ? api_check_facts(l->config, base->problem, &l->device, text, err)
                     : devices_describe(base, text, notes, &l->device, err);
  if (status) return status;
  lookup_drop_libraries(l);
  out->anonymous = !l->device.fingerprint[0];
  l->measure = base->measure;
  status = lookup_set_arch(l, arch ? arch : l->device.arch, err);
  struct text name = {0};
  text_addf(&name, "%s%s", out->anonymous ? "any " : "", text);
  out->text = text_take(&name);
  if (!status && !out->text) status = error_memory(err);
  if (status) export_device_free(out);
  return status;
}

/* Checks that NVRTC can build for the device. Otherwise replaces this device's notes, those behind
   `noted`, by the reason that the device is left out. */
static int check_built(struct exporter *x, const struct export_device *device, size_t noted,
                       bool *built, cugen_error *err) {
  cugen_error why;
  int status = nvrtc_check_arch(x->base->lookup.lib->toolkit, device->lookup.arch, &why);
  *built = !status;
  if (status != CUGEN_ERROR_COMPILE) return status ? error_copy(err, &why) : CUGEN_OK;
  text_cut(x->notes, noted);
  int length;
  const char *line = error_essence(why.message, &length);
  text_addf(x->notes, "%s is left out: %.*s\n", device->text, length, line);
  error_prefix(&why, "%s", device->text);
  x->unbuilt = why;
  return CUGEN_OK;
}

/* Adds a device, unless the export has it or NVRTC cannot build for it. arch: the architecture to
   compile for; NULL: the device's own. known: the device's description; NULL: the text is
   described. */
static int devices_add_device(struct exporter *x, const char *text, const char *arch,
                              const struct device_description *known, cugen_error *err) {
  for (size_t i = 0; i < x->device_count; i++) {
    const struct lookup *l = &x->devices[i].lookup;
    const char *named = x->devices[i].anonymous ? l->arch : l->device.fingerprint;
    if (strcmp(named, text) == 0 && (!arch || strcmp(l->arch, arch) == 0)) return CUGEN_OK;
  }
  if (!ARRAY_ROOM(x->devices, x->device_count)) return error_memory(err);
  struct export_device *device = &x->devices[x->device_count];
  const size_t noted = x->notes->length;
  bool built = false;
  int status = export_open_device(&x->base->lookup, text, arch, known, x->notes, device, err);
  if (status) return status;
  struct lookup *l = &device->lookup;
  status = check_built(x, device, noted, &built, err);
  if (!status && built && x->options->predicted && !device->anonymous)
    status = api_find_predictions(l, &l->predictions, err);
  if (status || !built)
    export_device_free(device);
  else
    x->device_count++;
  return status;
}

/* ---- Selecting devices ---------------------------------------------------------------------- */

struct remembered {
  struct cache_space *spaces;
  size_t count;
};

/* Returns whether a set of records is of this config, timed like the base kernel's or, with
   options->predicted, predicted by this version of the model; for the library's arch or else the
   device's own; and for the device that `part` means: its architecture or, ignoring case, a part of
   its text ("h200"); NULL: any device. */
static bool devices_is_meant(const struct exporter *x, const struct cache_space *space,
                             const char *part) {
  struct device_description description;
  const struct lookup *base = &x->base->lookup;
  const char *device = device_parse(space->device).name;
  const struct record_options said = record_options_parse(space->options);
  const bool wanted = said.kind == OPTIONS_PREDICTED
                          ? x->options->predicted && said.model == MODEL_VERSION
                          : said.kind == OPTIONS_MEASURED && said.measure == base->measure;
  if (!wanted || strcmp(space->config, base->config->name) != 0 ||
      !described_device(device, &description) || !description.fingerprint[0])
    return false;
  const char *arch = base->lib->arch ? base->lib->arch : description.arch;
  if (strcmp(said.arch, arch) != 0) return false;
  return !part || strcasestr(device, part) || strcmp(said.arch, part) == 0;
}

/* Adds the remembered devices that `part` means. known: as in devices_add_device. */
static int devices_add_remembered(struct exporter *x, const struct remembered *all,
                                  const char *part, const struct device_description *known,
                                  bool *found, cugen_error *err) {
  int status = CUGEN_OK;
  *found = false;
  for (size_t i = 0; i < all->count && !status; i++) {
    const struct cache_space *space = &all->spaces[i];
    if (!devices_is_meant(x, space, part)) continue;
    *found = true;
    status = devices_add_device(x, device_parse(space->device).name,
                                record_options_parse(space->options).arch, known, err);
  }
  return status;
}

static bool has_predictions(const struct exporter *x, const struct remembered *all) {
  for (size_t i = 0; i < all->count; i++)
    if (strcmp(all->spaces[i].config, x->base->lookup.config->name) == 0 &&
        device_parse(all->spaces[i].device).predicted)
      return true;
  return false;
}

static int devices_unknown_device(const struct exporter *x, const struct remembered *all,
                                  const char *item, cugen_error *err) {
  if (device_parse(item).kind == CUGEN_DEVICE_CPU)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "--devices: a bundle is for GPUs; what the cpu device runs stays with cugen");
  if (strncmp(item, "sm_", 3) == 0 || strncmp(item, "compute_", 8) == 0)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "--devices: '%s' is no architecture that cugen knows the limits of; one is "
                     "written sm_80 or sm_90a (PTX for other devices comes with --ptx)",
                     item);
  const char **names = calloc(all->count + 1, sizeof *names);
  size_t count = 0;
  if (!names) return error_memory(err);
  for (size_t i = 0; i < all->count; i++)
    if (devices_is_meant(x, &all->spaces[i], NULL) &&
        (!count || strcmp(names[count - 1], all->spaces[i].device) != 0))
      names[count++] = all->spaces[i].device;
  const char *nearest = text_nearest(item, names, count);
  error_set(err, CUGEN_ERROR_USAGE,
            "--devices: nothing of %s is remembered for a device called '%s'",
            x->base->lookup.config->name, item);
  if (nearest) error_append(err, "; the nearest is '%s'", nearest);
  for (size_t i = 0; i < count && !nearest; i++)
    error_append(err, "%s'%s'", i ? ", " : "; remembered are ", names[i]);
  if (has_predictions(x, all) && !x->options->predicted)
    error_append(err, ". What is predicted ships with --predicted");
  error_append(err, ". An architecture such as sm_90a needs no records");
  free(names);
  return CUGEN_ERROR_USAGE;
}

/* Adds a device of which nothing is remembered. Unless a variant is named, a note says that the
   defaults are exported. */
static int devices_add_default(struct exporter *x, const struct remembered *all, const char *text,
                               const struct device_description *known, cugen_error *err) {
  const size_t before = x->device_count;
  int status = devices_add_device(x, text, NULL, known, err);
  if (x->device_count > before && !x->options->variant)
    text_addf(x->notes, "%s: nothing is %s, the config's default variants are exported\n", text,
              has_predictions(x, all) && !x->options->predicted
                  ? "measured, and predictions were not asked for (--predicted)"
                  : "remembered");
  return status;
}

/* Adds "model:H200", "model:./mygpu.lua", or a described GPU by its name alone. */
static int devices_add_model(struct exporter *x, const struct remembered *all, const char *item,
                             bool *found, cugen_error *err) {
  struct device_description description;
  const cugen_device_name named = device_parse(item);
  cugen_error why;
  int status = api_model(x->base->lookup.lib, named.name, &description, &why);
  *found = named.kind == CUGEN_DEVICE_MODEL || !status;
  if (status) return *found ? error_copy(err, &why) : CUGEN_OK;
  bool remembered;
  status = devices_add_remembered(x, all, description.fingerprint, &description, &remembered, err);
  return status || remembered
             ? status
             : devices_add_default(x, all, description.fingerprint, &description, err);
}

static int add_item(struct exporter *x, const struct remembered *all, const char *item,
                    cugen_error *err) {
  struct device_description description;
  bool found;
  int status = devices_add_remembered(x, all, item, NULL, &found, err);
  if (!status && !found) status = devices_add_model(x, all, item, &found, err);
  if (status || found) return status;
  if (!described_device(item, &description) || description.fingerprint[0])
    return devices_unknown_device(x, all, item, err);
  return devices_add_default(x, all, item, NULL, err);
}

/* Adds a list such as "H200, sm_80". */
static int add_list(struct exporter *x, const struct remembered *all, const char *list,
                    cugen_error *err) {
  int status = CUGEN_OK;
  bool more = true;
  while (more && !status) {
    size_t length = strcspn(list, ",");
    const char *end = list + length;
    while (list < end && *list == ' ') list++;
    while (end > list && end[-1] == ' ') end--;
    char *item = strndup(list, (size_t)(end - list));
    status = item ? CUGEN_OK : error_memory(err);
    if (!status && !*item)
      status = error_set(err, CUGEN_ERROR_USAGE,
                         "--devices: a name is missing; it is a list such as \"H200, sm_80\"");
    if (!status) status = add_item(x, all, item, err);
    free(item);
    list = end + strcspn(end, ",");
    more = list[0] && list[1]; /* a comma at the end is ignored */
    list += more;
  }
  return status;
}

/* The model to export for if no device is remembered or requested, and this machine has no GPU. */
static const char usual_model[] = "model:A100";

static int devices_add_own(struct exporter *x, const struct remembered *all, cugen_error *err) {
  const struct lookup *base = &x->base->lookup;
  const char *text = base->lib->arch                 ? base->lib->arch
                     : base->ops == &cuda_device_ops ? base->device.fingerprint
                                                     : NULL;
  bool found;
  if (!text && x->base->fallback.length) return devices_add_model(x, all, usual_model, &found, err);
  if (!text)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "nothing is remembered of %s for any GPU; tune it there, or name an "
                     "architecture: sm_90a as --devices exports the default variants",
                     base->config->name);
  return devices_add_default(x, all, text,
                             base->described && !base->lib->arch ? &base->device : NULL, err);
}

/* ---- PTX ------------------------------------------------------------------------------------ */

/* Adds PTX for the lowest architecture on which the kernel's problem has a valid variant; with
   options->variant, on which that variant is valid, for the options' first problem if there is
   one. */
static int add_ptx(struct exporter *x, cugen_error *err) {
  static const char *const archs[] = {"75", "80", "86", "89", "90", "100", "120"};
  if (!ARRAY_ROOM(x->devices, x->device_count)) return error_memory(err);
  struct export_device *device = &x->devices[x->device_count];
  struct lookup *l = &device->lookup;
  const bool named = x->options->variant && x->problem_count;
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
    struct text arch = {0};
    text_addf(&arch, "sm_%s", archs[i]);
    int status =
        export_open_device(&x->base->lookup, text_get(&arch), NULL, NULL, NULL, device, err);
    if (!status) status = lookup_set_problem(l, named ? x->problems : &x->base->problem, err);
    if (!status) status = lookup_space(l, err);
    const bool some = !status && space_valid(l->space) > 0 && export_named_fits(x, l);
    text_clear(&arch);
    text_addf(&arch, "compute_%s", archs[i]);
    memcpy(l->arch, text_get(&arch), arch.length + 1);
    free(device->text);
    device->text = text_take(&arch);
    device->ptx = true;
    x->device_count += !status && some;
    if (status || !some) export_device_free(device);
    if (status || some) return status;
  }
  return error_set(err, CUGEN_ERROR_EMPTY, "--ptx: no architecture gives %s a valid variant",
                   x->base->lookup.config->name);
}

int export_devices(struct exporter *x, cugen_error *err) {
  struct remembered all = {0};
  bool found = false;
  int status = cache_spaces(x->cache, &all.spaces, &all.count, err);
  if (!status && x->options->devices) status = add_list(x, &all, x->options->devices, err);
  if (!status && !x->options->devices)
    status = devices_add_remembered(x, &all, NULL, NULL, &found, err);
  if (!status && !x->options->devices && !found) status = devices_add_own(x, &all, err);
  cache_spaces_free(all.spaces, all.count);
  if (!status && x->options->ptx) status = add_ptx(x, err);
  return status || x->device_count ? status : error_copy(err, &x->unbuilt);
}
