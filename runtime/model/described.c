/* Devices that are not in this machine; see described.h. */
#include "described.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/capability.h"
#include "base/device_name.h"
#include "base/hash.h"

static bool fill_facts(int capability, int sm_count, struct device_facts *out) {
  *out = (struct device_facts){.compute_capability = capability,
                               .architecture_specific = capability >= 90,
                               .sm_count = sm_count,
                               .warp_size = 32,
                               .max_threads_per_block = 1024,
                               .registers_per_block = 65536,
                               .shared_per_block = 49152,
                               .shared_reserved_per_block = capability >= 80 ? 1024 : 0,
                               .constant_bytes = 65536,
                               .pitch_alignment = 512,
                               .is_gpu = 1};
  return capability_limits(capability, out);
}

/* Reads "sm_90" or "sm_90a"; refuses a family such as "sm_100f". */
static bool from_arch(const char *text, struct device_description *out) {
  struct arch arch;
  if (!arch_parse(text, &arch) || arch.suffix == 'f' || arch.capability < GPU_OLDEST_TARGET_12)
    return false;
  if (!fill_facts(arch.capability, 0, &out->facts)) return false;
  out->facts.architecture_specific = arch.suffix == 'a';
  snprintf(out->arch, sizeof out->arch, "%s", text);
  return true;
}

/* Reads "NAME sm_90 132 SMs"; refuses the fingerprints that predictions are stored under. */
static bool from_fingerprint(const char *text, struct device_description *out) {
  struct device_gpu gpu;
  const size_t length = strlen(text);
  if (!device_gpu_parse(text, &gpu) || (size_t)gpu.name_length >= sizeof out->name ||
      length >= sizeof out->fingerprint || !fill_facts(gpu.capability, gpu.sm_count, &out->facts))
    return false;
  memcpy(out->name, text, (size_t)gpu.name_length);
  memcpy(out->fingerprint, text, length + 1);
  snprintf(out->arch, sizeof out->arch, "sm_%d%s", gpu.capability,
           out->facts.architecture_specific ? "a" : "");
  return true;
}

void described_model(const struct gpu_model *model, struct device_description *out) {
  *out = (struct device_description){.facts = model->facts, .rates = model->rates};
  int capability = (int)model->facts.compute_capability;
  snprintf(out->id, sizeof out->id, "%s", model->id);
  snprintf(out->name, sizeof out->name, "%s", model->name);
  snprintf(out->arch, sizeof out->arch, "sm_%d%s", capability,
           model->facts.architecture_specific ? "a" : "");
  const struct device_gpu gpu = {out->name, (int)strlen(out->name), capability,
                                 (int)model->facts.sm_count};
  device_gpu_print(&gpu, out->fingerprint, sizeof out->fingerprint);
}

uint64_t described_figures(const struct device_description *device) {
  struct device_facts facts = device->facts;
  uint64_t hash = 0;
  facts.compute_capability = facts.architecture_specific = 0; /* --arch changes these facts */
  for (int i = 0; i < DEVICE_FACT_COUNT; i++) {
    int64_t value = device_fact_get(&facts, (enum device_fact)i);
    hash = hash_next(hash, &value, sizeof value);
  }
#define X(name, what) hash = hash_next(hash, &device->rates.name, sizeof device->rates.name);
  GPU_RATES(X)
#undef X
  return hash;
}

bool described_device(const char *text, struct device_description *out) {
  *out = (struct device_description){0};
  return from_arch(text, out) || from_fingerprint(text, out);
}

bool described_knows(const struct device_description *device, enum device_fact fact) {
  if (device->id[0]) return true;
  switch (fact) {
  case DEVICE_FACT_sm_count: return device->fingerprint[0] != '\0';
  case DEVICE_FACT_l2_bytes:
  case DEVICE_FACT_memory_bytes:
  case DEVICE_FACT_memory_clock_khz:
  case DEVICE_FACT_memory_bus_bits:
  case DEVICE_FACT_clock_khz: return false;
  default: return true;
  }
}
