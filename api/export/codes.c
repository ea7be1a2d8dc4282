/* Codes and images of an export; see export.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"
#include "runtime/devices.h"
#include "runtime/model/model.h"
#include "runtime/model/occupancy.h"
#include "runtime/plan.h"

/* ---- Images --------------------------------------------------------------------------------- */

/* Takes a cubin from the cache, or compiles it and stores it there. PTX is always compiled. */
static int codes_get_image(struct exporter *x, const struct lookup *l,
                           const struct kernel_spec *spec, bool ptx, struct compiled *out,
                           cugen_error *err) {
  struct text key = {0};
  bool found = false;
  int status = CUGEN_OK;
  *out = (struct compiled){0};
  if (!ptx) {
    status = cache_image_key(spec, l->arch, text_get(&l->options), l->nvrtc_version, &key, err);
    if (!status) status = lookup_find_image(x->cache, spec, text_get(&key), out, &found, err);
  }
  if (!status && !found) {
    status = lookup_compile(l, spec, false, out, err);
    if (status) error_prefix(err, "%s for %s", spec->variant, l->arch);
    x->result->compiled += !status;
    if (!status && !ptx) cache_image_store(x->cache, text_get(&key), out, NULL);
  }
  text_free(&key);
  return status;
}

static int codes_add_image(struct exporter *x, struct compiled *compiled, bool ptx, size_t *index,
                           cugen_error *err) {
  for (*index = 0; *index < x->image_count; ++*index)
    if (x->images[*index].bytes == compiled->image_length && x->images[*index].ptx == ptx &&
        memcmp(x->images[*index].data, compiled->image, compiled->image_length) == 0)
      return CUGEN_OK;
  if (!ARRAY_ROOM(x->images, x->image_count)) return error_memory(err);
  x->images[x->image_count++] =
      (struct export_image){compiled->image_hash, compiled->image, compiled->image_length, ptx};
  compiled->image = NULL;
  return CUGEN_OK;
}

/* Checks the symbols and, unless the image is PTX, the launches. */
static int codes_check(const struct kernel_spec *spec, const struct lookup *l, bool ptx,
                       const struct compiled *compiled, cugen_error *err) {
  int status = model_check_symbols(spec, compiled, err);
  if (!status && !ptx)
    status = plan_check_launches(&cuda_device_ops, &l->device.facts, spec, compiled,
                                 occupancy_resident, err);
  if (status) error_prefix(err, "%s for %s", spec->variant, l->arch);
  return status;
}

/* ---- Codes ---------------------------------------------------------------------------------- */

static bool same_text(const struct text *a, const struct text *b) {
  return strcmp(text_get(a), text_get(b)) == 0;
}

static bool same_code(const struct export_code *a, const struct export_code *b) {
  return a->device == b->device && a->wide == b->wide && strcmp(a->variant, b->variant) == 0 &&
         same_text(&a->class, &b->class) && same_text(&a->conditions, &b->conditions) &&
         same_text(&a->sizes, &b->sizes);
}

int export_make_code(struct exporter *x, size_t device, uint64_t index, struct export_code *out,
                     struct kernel_spec *spec, cugen_error *err) {
  const struct lookup *l = &x->devices[device].lookup;
  *out = (struct export_code){0};
  int status = lookup_expand_known(l, index, spec, err);
  if (status) return status;
  status = export_code(l, index, spec, out, err);
  out->device = device;
  if (status) kernel_spec_free(spec);
  return status;
}

int export_add_code(struct exporter *x, struct export_code *code, const struct kernel_spec *spec,
                    size_t *index, cugen_error *err) {
  const struct lookup *l = &x->devices[code->device].lookup;
  bool ptx = x->devices[code->device].ptx;
  struct compiled compiled = {0};
  for (size_t i = 0; i < x->code_count; i++)
    if (same_code(&x->codes[i], code)) return *index = i, CUGEN_OK;
  if (!ARRAY_ROOM(x->codes, x->code_count)) return error_memory(err);
  int status = codes_get_image(x, l, spec, ptx, &compiled, err);
  if (!status) status = codes_check(spec, l, ptx, &compiled, err);
  const char *entries[KERNEL_MAX_ENTRIES];
  const size_t entry_count = plan_entries(spec, entries);
  for (size_t i = 0; i < entry_count && !status; i++) {
    code->kernels[i] = strdup(compiled.entries[i]); /* in the order of plan_entries */
    code->kernel_count = i + 1;
    if (!code->kernels[i]) status = error_memory(err);
  }
  if (!status) status = codes_add_image(x, &compiled, ptx, &code->image, err);
  compiled_free(&compiled);
  if (status) return status;
  *index = x->code_count++;
  x->codes[*index] = *code;
  *code = (struct export_code){0};
  return CUGEN_OK;
}

const struct kernel_argument *export_textured(const struct kernel_spec *spec) {
  for (size_t i = 0; i < spec->argument_count; i++)
    if (kernel_argument_textured(&spec->arguments[i])) return &spec->arguments[i];
  return NULL;
}

int export_try_code(struct exporter *x, struct export_code *code, const struct kernel_spec *spec,
                    size_t *index, bool *compiles, cugen_error *err) {
  struct export_device *device = &x->devices[code->device];
  struct text line = {0};
  size_t at = 0;
  while (at < device->uncompiled_count &&
         strcmp(device->uncompiled[at].hex, spec->source_hash.hex) != 0)
    at++;
  *compiles = at == device->uncompiled_count;
  if (!*compiles) return CUGEN_OK;
  int status = export_add_code(x, code, spec, index, err);
  if (status != CUGEN_ERROR_COMPILE) return status;
  *compiles = false;
  if (err && !x->uncompiled.status) x->uncompiled = *err;
  text_addf(&line, "%s: '%s' does not compile, so it is left out\n", device->text, spec->variant);
  if (!strstr(text_get(x->notes), text_get(&line))) text_add(x->notes, text_get(&line));
  text_free(&line);
  return ARRAY_ADD(device->uncompiled, device->uncompiled_count, spec->source_hash)
             ? CUGEN_OK
             : error_memory(err);
}

int export_add_variant(struct exporter *x, size_t device, uint64_t variant, size_t *index,
                       bool *compiles, cugen_error *err) {
  struct export_code code;
  struct kernel_spec spec;
  *index = SIZE_MAX;
  int status = export_make_code(x, device, variant, &code, &spec, err);
  if (status) return status;
  if (compiles) *compiles = true;
  if (!export_textured(&spec))
    status = compiles ? export_try_code(x, &code, &spec, index, compiles, err)
                      : export_add_code(x, &code, &spec, index, err);
  export_code_free(&code);
  kernel_spec_free(&spec);
  return status;
}

int export_keep_default(struct exporter *x, struct export_default candidate, cugen_error *err) {
  for (size_t i = 0; i < x->default_count; i++)
    if (x->defaults[i].code == candidate.code) {
      if (candidate.try < x->defaults[i].try) x->defaults[i].try = candidate.try;
      return CUGEN_OK;
    }
  if (!ARRAY_ROOM(x->defaults, x->default_count)) return error_memory(err);
  x->defaults[x->default_count++] = candidate;
  return CUGEN_OK;
}
