/* Devices that are not here; see described.h. */
#include "described.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MODEL_PREFIX "model:"

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
static const struct {
  int capability;
  int threads_per_sm, blocks_per_sm;
  int shared_per_sm, shared_per_block; /* KiB; the second on request */
} table[] = {
    {35, 2048, 16, 48, 48},    {70, 2048, 32, 96, 96},    {75, 1024, 16, 64, 64},    {80, 2048, 32, 164, 163},
    {86, 1536, 16, 100, 99},   {87, 1536, 16, 164, 163},  {89, 1536, 24, 100, 99},   {90, 2048, 32, 228, 227},
    {100, 2048, 32, 228, 227}, {103, 2048, 32, 228, 227}, {110, 1536, 24, 228, 227}, {120, 1536, 24, 100, 99},
    {121, 1536, 24, 100, 99},
};

/* The oldest that an image can be made for, by CUDA 13. */
enum { OLDEST_ARCH = 75 };

/* Devices that are often asked about, as their drivers report them; memory in MiB, L2 in KiB. */
static const struct {
  const char *name, *full_name;
  int capability, sm_count, clock_khz, memory_clock_khz, memory_bus_bits, l2_kib, memory_mib;
} models[] = {
    {MODEL_PREFIX "K40", "Tesla K40m", 35, 15, 875000, 3004000, 384, 1536, 11441},
    {MODEL_PREFIX "V100", "Tesla V100-SXM2-16GB", 70, 80, 1530000, 877000, 4096, 6144, 16151},
    {MODEL_PREFIX "A100", "NVIDIA A100-SXM4-40GB", 80, 108, 1410000, 1215000, 5120, 40960, 40326},
    {MODEL_PREFIX "H100", "NVIDIA H100 80GB HBM3", 90, 132, 1980000, 2619000, 5120, 51200, 81079},
    {MODEL_PREFIX "H200", "NVIDIA H200", 90, 132, 1980000, 3201000, 6016, 61440, 143155},
};
enum { MODELS = sizeof models / sizeof *models };

static bool fill_facts(int capability, int sm_count, struct device_facts *out) {
  size_t i = 0, count = sizeof table / sizeof *table;
  while (i < count && table[i].capability != capability) i++;
  if (i == count) return false;
  *out = (struct device_facts){.compute_capability = capability,
                               .architecture_specific = capability >= 90,
                               .sm_count = sm_count,
                               .warp_size = 32,
                               .max_threads_per_block = 1024,
                               .max_threads_per_sm = table[i].threads_per_sm,
                               .max_blocks_per_sm = table[i].blocks_per_sm,
                               .registers_per_block = 65536,
                               .registers_per_sm = 65536,
                               .shared_per_block = 49152,
                               .shared_per_block_optin = 1024 * table[i].shared_per_block,
                               .shared_per_sm = 1024 * table[i].shared_per_sm,
                               .shared_reserved_per_block = capability >= 80 ? 1024 : 0,
                               .constant_bytes = 65536,
                               .pitch_alignment = 512,
                               .is_gpu = 1};
  return true;
}

/* Whole numbers without a sign; *end is behind them. */
static int digits(const char *text, const char **end) {
  char *stop = NULL;
  long value = isdigit((unsigned char)*text) ? strtol(text, &stop, 10) : 0;
  *end = stop ? stop : text;
  return value < 100000 ? (int)value : 0;
}

/* "sm_90", "sm_90a" */
static bool from_arch(const char *text, struct device_description *out) {
  const char *end = text;
  int capability = strncmp(text, "sm_", 3) == 0 ? digits(text + 3, &end) : 0;
  size_t length = strlen(text);
  if (!capability || (*end && strcmp(end, "a") != 0) || length >= sizeof out->arch) return false;
  if (capability < OLDEST_ARCH || !fill_facts(capability, 0, &out->facts)) return false;
  out->facts.architecture_specific = *end == 'a';
  memcpy(out->arch, text, length + 1);
  return true;
}

/* "NAME sm_90 132 SMs" */
static bool from_fingerprint(const char *text, struct device_description *out) {
  const char *mark = NULL, *end;
  for (const char *at = strstr(text, " sm_"); at; at = strstr(at + 1, " sm_")) mark = at;
  size_t name = mark ? (size_t)(mark - text) : 0, length = strlen(text);
  if (!name || name >= sizeof out->name || length >= sizeof out->fingerprint) return false;
  int capability = digits(mark + 4, &end);
  int count = *end == ' ' ? digits(end + 1, &end) : 0;
  if (!count || strcmp(end, " SMs") != 0 || !fill_facts(capability, count, &out->facts)) return false;
  memcpy(out->name, text, name);
  memcpy(out->fingerprint, text, length + 1);
  snprintf(out->arch, sizeof out->arch, "sm_%d%s", capability, out->facts.architecture_specific ? "a" : "");
  return true;
}

/* ---- Models ---- */

static bool model_fingerprint(size_t i, char *text, size_t size) {
  int length = snprintf(text, size, "%s sm_%d %d SMs", models[i].full_name, models[i].capability, models[i].sm_count);
  return length > 0 && (size_t)length < size;
}

/* What a fingerprint does not say, from the model that has it. */
static void add_model(struct device_description *out) {
  char fingerprint[sizeof out->fingerprint];
  for (size_t i = 0; i < MODELS; i++) {
    if (!model_fingerprint(i, fingerprint, sizeof fingerprint) || strcmp(fingerprint, out->fingerprint) != 0)
      continue;
    snprintf(out->id, sizeof out->id, "%s", models[i].name);
    out->facts.clock_khz = models[i].clock_khz;
    out->facts.memory_clock_khz = models[i].memory_clock_khz;
    out->facts.memory_bus_bits = models[i].memory_bus_bits;
    out->facts.l2_bytes = 1024LL * models[i].l2_kib;
    out->facts.memory_bytes = (int64_t)models[i].memory_mib << 20;
  }
}

/* "model:H200" */
static bool from_model(const char *text, struct device_description *out) {
  char fingerprint[sizeof out->fingerprint];
  for (size_t i = 0; i < MODELS; i++)
    if (strcasecmp(text, models[i].name) == 0)
      return model_fingerprint(i, fingerprint, sizeof fingerprint) && from_fingerprint(fingerprint, out);
  return false;
}

const char *described_model(size_t index) {
  return index < MODELS ? models[index].name : NULL;
}

bool described_device(const char *text, struct device_description *out) {
  *out = (struct device_description){0};
  bool known = from_arch(text, out) || from_fingerprint(text, out) || from_model(text, out);
  if (known) add_model(out);
  return known;
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
