/* Figures that explain times: the ceilings of a kernel's device, and occupancy on any device. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "base/expr.h"
#include "explain.h"
#include "runtime/model/described.h"
#include "runtime/model/occupancy.h"
#include "runtime/model/roofline.h"
#include "source.h"

/* ---- Ceilings ------------------------------------------------------------------------------- */

static const char copy_config[] = "peak_copy", fma_config[] = "peak_fma";

/* Adds the rates that were measured on the kernel's device, of copying and of multiply-adds of that
   type. */
static int explain_add_measured(cugen_kernel *k, const struct dtype *dtype, cugen_ceilings *out,
                                cugen_error *err) {
  struct cache *cache;
  struct cache_rate copy, fma = {0};
  struct text word = {0};
  text_addf(&word, "dtype=%s", dtype->name);
  int status = word.failed ? error_memory(err) : api_cache_to_read(k->lookup.lib, &cache, err);
  if (!status)
    status = cache_greatest_rate(cache, k->lookup.device.fingerprint, copy_config, "", &copy, err);
  if (!status)
    status = cache_greatest_rate(cache, k->lookup.device.fingerprint, fma_config, text_get(&word),
                                 &fma, err);
  text_free(&word);
  if (status) return status;
  out->bandwidth = copy.bytes, out->bandwidth_at = copy.measured_at;
  out->flops = fma.flops, out->flops_at = fma.measured_at;
  return CUGEN_OK;
}

int api_kernel_ceilings(cugen_kernel *k, cugen_ceilings *out, cugen_error *error) {
  const struct config *config = k->lookup.config;
  const char *products = NULL;
  int status = api_products(k, &products, error);
  /* A kernel that declares no products is taken to compute in the type of its first output, or in
     f32 if there is no output. */
  const struct dtype *dtype = products ? dtype_find(products) : NULL;
  for (size_t i = 0; i < config->argument_count && !dtype; i++) {
    const cugen_argument_kind kind = config->arguments[i].kind;
    cugen_argument_info info;
    if ((kind == CUGEN_ARGUMENT_OUTPUT || kind == CUGEN_ARGUMENT_INOUT) &&
        cugen_kernel_argument(k, i, &info, NULL) == CUGEN_OK)
      dtype = dtype_find(info.dtype);
  }
  if (!dtype) dtype = &dtype_table[DTYPE_f32];
  *out = roofline_peak(&k->lookup.device, dtype);
  out->dtype = products ? products : dtype->name;
  if (products) out->tensor_flops_peak = roofline_tensor_flops(&k->lookup.device, products);
  return status || !k->lookup.device.facts.is_gpu ? status
                                                  : explain_add_measured(k, dtype, out, error);
}

double api_kernel_tensor_flops(const cugen_kernel *k, const char *type) {
  return k && type ? roofline_tensor_flops(&k->lookup.device, type) : 0;
}

double api_roofline(cugen_kernel *k, double flops, double bytes, double seconds, int *measured) {
  bool is_measured;
  /* If the cache cannot be read, the ceilings are the peaks. */
  if (!k->ceilings.dtype) api_kernel_ceilings(k, &k->ceilings, NULL);
  double fraction = roofline_fraction(&k->ceilings, flops, bytes, seconds, &is_measured);
  *measured = is_measured;
  return fraction;
}

/* ---- Occupancy ------------------------------------------------------------------------------ */

static int check_resources(const cugen_resources *r, const struct device_facts *facts,
                           cugen_error *err) {
  if (!facts->is_gpu)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "the cpu device has no occupancy: blocks run there one after the other; "
                     "model:A100 is one that has");
  if (r->threads < 1 || r->threads > facts->max_threads_per_block)
    return error_set(err, CUGEN_ERROR_USAGE, "a block has 1 to %d threads, not %d",
                     (int)facts->max_threads_per_block, r->threads);
  if (r->registers < 1 || r->registers > 255)
    return error_set(err, CUGEN_ERROR_USAGE, "a thread has 1 to 255 registers, not %d",
                     r->registers);
  if (r->shared_bytes < 0)
    return error_set(err, CUGEN_ERROR_USAGE, "a block has no %lld bytes of shared memory",
                     (long long)r->shared_bytes);
  if (r->has_carveout && (r->carveout < 0 || r->carveout > 100))
    return error_set(err, CUGEN_ERROR_USAGE, "a carveout is 0 to 100 percent, not %d", r->carveout);
  return CUGEN_OK;
}

struct shared {
  int64_t fixed;
  struct expr *more; /* the expression of dynamic_shared; NULL: none */
};

static struct expr_symbol explain_find_name(void *context, const char *name) {
  (void)context;
  return (struct expr_symbol){.kind = strcmp(name, "block") == 0 ? SYMBOL_SLOT : SYMBOL_UNKNOWN};
}

static const char *const *explain_list_names(void *context, size_t *count) {
  static const char *const names[] = {"block"};
  (void)context;
  *count = 1;
  return names;
}

static int explain_shared_of(void *context, int threads, int64_t *bytes, cugen_error *err) {
  const struct shared *shared = context;
  const struct value block = {.type = VALUE_INT, .integer = threads};
  cugen_error why;
  *bytes = 0;
  if (shared->more && expr_eval_int(shared->more, &block, bytes, &why))
    return error_set(err, CUGEN_ERROR_USAGE, "shared memory \"%s\": %s", expr_text(shared->more),
                     why.message);
  if (*bytes < 0 || *bytes > INT_MAX)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "shared memory \"%s\": a block of %d threads has no %lld bytes",
                     expr_text(shared->more), threads, (long long)*bytes);
  *bytes += shared->fixed;
  return CUGEN_OK;
}

static int fill_occupancy(const struct device_facts *facts, const cugen_resources *resources,
                          struct shared *shared, cugen_occupancy *out, cugen_error *err) {
  const struct kernel_resources used = {.registers = resources->registers};
  const int warp = (int)facts->warp_size,
            carveout = resources->has_carveout ? resources->carveout : -1;
  struct occupancy occupancy, best = {0};
  int status = explain_shared_of(shared, resources->threads, &out->shared_bytes, err);
  if (!status)
    status = occupancy_get(facts, &used, resources->threads, out->shared_bytes, carveout,
                           &occupancy, err);
  if (!status)
    status = occupancy_best_block(facts, &used, carveout, explain_shared_of, shared,
                                  &out->best_threads, err);
  if (!status && out->best_threads)
    status = explain_shared_of(shared, out->best_threads, &out->best_shared_bytes, err);
  if (!status && out->best_threads)
    status = occupancy_get(facts, &used, out->best_threads, out->best_shared_bytes, carveout, &best,
                           err);
  if (status) return status;
  out->best_fraction = best.fraction;
  out->blocks = occupancy.blocks;
  out->max_threads = (int)facts->max_threads_per_sm;
  out->fraction = occupancy.fraction;
  out->limiter = occupancy.limiter;
  out->warps = (resources->threads + warp - 1) / warp;
  out->idle_lanes = out->warps * warp - resources->threads;
  return CUGEN_OK;
}

int api_device_occupancy(cugen *lib, const char *device, const cugen_resources *resources,
                         cugen_occupancy *out, cugen_error *error) {
  const struct expr_scope scope = {explain_find_name, explain_list_names, NULL};
  const char *text = resources->dynamic_shared;
  struct found_device found;
  struct shared shared = {.fixed = resources->shared_bytes};
  cugen_error why;
  *out = (cugen_occupancy){.limiter = "none"};
  int status = api_find_device(lib, device ? device : lib->device, &found, NULL, error);
  const struct device_description *description = &found.description;
  if (!status) status = check_resources(resources, &description->facts, error);
  if (status) return status;
  if (text) status = expr_parse(text, &scope, &shared.more, &why);
  if (status == CUGEN_ERROR_MEMORY) return error_copy(error, &why);
  if (status)
    return error_set(error, CUGEN_ERROR_USAGE, "shared memory \"%s\": %s", text, why.message);
  status = fill_occupancy(&description->facts, resources, &shared, out, error);
  expr_free(shared.more);
  if (status) return status;
  snprintf(out->device, sizeof out->device, "%s", description->name);
  snprintf(out->arch, sizeof out->arch, "%s", description->arch);
  return CUGEN_OK;
}
