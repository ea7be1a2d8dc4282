/* Devices that are not here: what may be asked of them, and what only the device itself can tell. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/device_name.h"
#include "runtime/devices.h"
#include "runtime/model/described.h"
#include "runtime/model/model.h"

/* The device itself knows more than its description. */
bool api_prefer_present(const cugen *lib, struct device_description *description) {
  struct device_description present;
  cugen_error ignored;
  int count = cuda_device_ops.count(lib->toolkit, &ignored);
  for (int i = 0; i < count; i++)
    if (cuda_device_ops.describe(lib->toolkit, i, &present, &ignored) == CUGEN_OK &&
        strcmp(present.fingerprint, description->fingerprint) == 0) {
      *description = present;
      return true;
    }
  return false;
}

/* The name of a fact among those bits that nobody here knows; NULL: none. */
static const char *unknown_fact(const struct device_description *device, uint32_t facts) {
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    if (facts >> i & 1 && !described_knows(device, (enum device_fact)i)) return device_fact_names[i];
  return NULL;
}

static uint32_t facts_of(const struct expr *expr) {
  size_t count;
  uint32_t facts = 0;
  const int *slots = expr_slots(expr, &count);
  for (size_t i = 0; i < count && slots[i] < DEVICE_FACT_COUNT; i++) facts |= 1U << slots[i];
  return facts;
}

/* Whether the problem, or what is known of the device, rules the implementation out: then nothing else is asked. */
static bool is_ruled_out(const cugen_kernel *k, const struct problem *problem,
                         const struct config_implementation *implementation) {
  struct value *slots = calloc((size_t)k->config->first_tunable + 1, sizeof *slots);
  bool out = false;
  if (!slots) return false;
  config_slots(k->config, problem, &k->device.facts, slots);
  for (size_t i = 0; i < implementation->requirement_count && !out; i++) {
    const struct expr *expr = implementation->requirements[i].expr;
    bool met = true;
    out = !unknown_fact(&k->device, facts_of(expr)) && expr_eval_bool(expr, slots, &met, NULL) == CUGEN_OK && !met;
  }
  free(slots);
  return out;
}

static int refuse_fact(const cugen_kernel *k, const char *name, const char *text, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_USAGE,
                   "%s: the config uses %s, which only the device itself can tell, and %s is not here; do this on a "
                   "machine that has it, or name a GPU that is described ('cugen devices')",
                   k->config->path, name, text);
}

int api_check_facts(const cugen_kernel *k, const struct problem *problem, const char *text, cugen_error *err) {
  const char *name = NULL;
  for (size_t i = 0; i < k->config->implementation_count && !name; i++) {
    const struct config_implementation *implementation = &k->config->implementations[i];
    if (!is_ruled_out(k, problem, implementation)) name = unknown_fact(&k->device, implementation->facts);
  }
  if (!name) name = unknown_fact(&k->device, k->config->facts);
  return name ? refuse_fact(k, name, text, err) : CUGEN_OK;
}

int api_expand(cugen_kernel *k, const struct variant *variant, struct kernel_spec *out, cugen_error *err) {
  size_t count;
  uint32_t facts = 0;
  int status = expand_variant(k->expander, k->config, &k->problem, &k->device.facts, variant, out, err);
  if (status) return status;
  const bool *reads = expander_reads(k->expander, &count);
  for (size_t i = 0; i < DEVICE_FACT_COUNT; i++) facts |= (uint32_t)reads[i] << i;
  const char *name = unknown_fact(&k->device, facts);
  if (!name) return CUGEN_OK;
  kernel_spec_free(out);
  return refuse_fact(k, name, k->device.fingerprint[0] ? k->device.fingerprint : k->arch, err);
}

/* A processor elsewhere has its records under its own text; the limits that a config sees are the same for all. */
static int describe_cpu(cugen_kernel *k, const char *text, cugen_error *err) {
  size_t length = strlen(text);
  if (length >= sizeof k->device.fingerprint)
    return error_set(err, CUGEN_ERROR_USAGE, "no device has so long a name: %.40s...", text);
  k->ops = &cpu_device_ops;
  int status = cpu_device_ops.describe(k->lib->toolkit, 0, &k->device, err);
  if (status || strcmp(k->device.fingerprint, text) == 0) return status;
  k->described = true;
  memcpy(k->device.fingerprint, text, length + 1);
  const char *called = cugen_device_parse(text).name;
  size_t name = strcspn(called, ",");
  if (name >= sizeof k->device.name) name = sizeof k->device.name - 1;
  memcpy(k->device.name, called, name);
  k->device.name[name] = '\0';
  return CUGEN_OK;
}

static int describe_predicted(cugen_kernel *k, const char *text, bool *known, cugen_error *err) {
  *known = api_described(k->lib, text, &k->device) && k->device.fingerprint[0];
  k->ops = &cuda_device_ops;
  k->described = true;
  return *known ? cugen_kernel_use_predictions(k, err) : CUGEN_OK;
}

int api_describe_device(cugen_kernel *k, const char *text, bool *known, cugen_error *err) {
  const cugen_device_name named = cugen_device_parse(text);
  const bool is_model = named.kind == CUGEN_DEVICE_MODEL;
  if (named.predicted) return describe_predicted(k, named.name, known, err);
  *known = named.kind == CUGEN_DEVICE_CPU && *named.name; /* a processor's text, not the id */
  if (*known) return describe_cpu(k, text, err);
  *known = is_model;
  int status = is_model ? api_model(k->lib, named.name, &k->device, err) : CUGEN_OK;
  if (!*known) *known = api_described(k->lib, text, &k->device) && k->device.fingerprint[0];
  if (status || !*known) return status;
  k->ops = &cuda_device_ops;
  k->described = is_model || !api_prefer_present(k->lib, &k->device);
  return CUGEN_OK;
}

/* ---- Predictions ---- */

static int check_predictable(const cugen_kernel *k, cugen_error *err) {
  const struct device_description *d = &k->device;
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

bool api_predicts(const cugen_kernel *k) {
  cugen_error ignored;
  return k->described && !check_predictable(k, &ignored);
}

int api_check_present(const cugen_kernel *k, cugen_error *err) {
  if (!k->described) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "%s is described and not here: nothing can run on it; %s--device cpu runs the variants here",
                   k->device.name, api_predicts(k) ? "'cugen tune' predicts for it, " : "");
}

/* Those of the description, not what a driver says: where the GPU is here, the same predictions are meant. */
static uint64_t figures_of(cugen *lib, const struct device_description *device) {
  struct device_description known;
  const bool is_model = cugen_device_parse(device->id).kind == CUGEN_DEVICE_MODEL;
  return described_figures(!is_model && api_described(lib, device->fingerprint, &known) ? &known : device);
}

/* The key says that it is a prediction in two places: neither the device nor the options of a measurement are like it.
   The figures keep what is predicted from one description apart from what is from another of the same name. */
int api_key_predictions(cugen_kernel *k, const char *arch, cugen_error *err) {
  uint32_t figures = (uint32_t)figures_of(k->lib, &k->device);
  text_addf(&k->predicted_device, DEVICE_NAME_PREDICTED "%s", k->device.fingerprint);
  text_addf(&k->predicted_options, DEVICE_NAME_PREDICTED "by model %d, arch %s, figures %08x", MODEL_VERSION, arch,
            figures);
  if (k->predicted_device.failed || k->predicted_options.failed) return error_memory(err);
  k->predicted = true;
  return CUGEN_OK;
}

int cugen_kernel_use_predictions(cugen_kernel *k, cugen_error *error) {
  struct device_description known;
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  if (k->predicted) return CUGEN_OK;
  /* A driver says nothing of rates and latencies. */
  if (k->device.rates.l2_bytes_per_clock <= 0 && api_described(k->lib, k->device.fingerprint, &known))
    k->device.rates = known.rates;
  int status = check_predictable(k, error);
  if (status) return status;
  api_forget_records(k);
  return api_key_predictions(k, k->lib->arch ? k->lib->arch : k->device.arch, error);
}
