/* NVML through a table of functions; see nvml.h. The prototypes and constants are those of the
   NVML API Reference Guide, because not every toolkit has nvml.h. */
#include "nvml.h"
#include "runtime/compile/toolkit.h"

#include <stdlib.h>

enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

#define NVML_FUNCTIONS(X)                                                                          \
  X(init, nvmlInit_v2, true, (void))                                                               \
  X(device_by_uuid, nvmlDeviceGetHandleByUUID, true, (const char *, struct nvml_device **))        \
  X(clock, nvmlDeviceGetClockInfo, true, (struct nvml_device *, int, unsigned *))                  \
  X(power, nvmlDeviceGetPowerUsage, false, (struct nvml_device *, unsigned *))                     \
  X(energy, nvmlDeviceGetTotalEnergyConsumption, false,                                            \
    (struct nvml_device *, unsigned long long *))                                                  \
  X(throttle, nvmlDeviceGetCurrentClocksThrottleReasons, false,                                    \
    (struct nvml_device *, unsigned long long *))

struct nvml {
#define X(member, symbol, required, parameters) int(*member) parameters;
  NVML_FUNCTIONS(X)
#undef X
  const char *(*error_string)(int);
};

static const struct toolkit_symbol symbols[] = {
#define X(member, symbol, required, parameters) {#symbol, offsetof(struct nvml, member), required},
    NVML_FUNCTIONS(X)
#undef X
        {"nvmlErrorString", offsetof(struct nvml, error_string), true}};

/* nvmlClocksThrottleReason...; idle (1) and an application's own clock setting (2) are not
   reported. */
static const struct reason {
  uint64_t bits;
  const char *text;
} reasons[] = {{NVML_POWER_CAP, "power cap"},
               {0x8, "hardware slowdown"},
               {0x20, "thermal"},
               {0x40, "hardware thermal"},
               {0x80, "hardware power brake"}};

static int nvml_load(const struct toolkit *toolkit, void **table, cugen_error *err) {
  struct nvml *nvml = calloc(1, sizeof *nvml);
  if (!nvml) return error_memory(err);
  int status =
      toolkit_load(text_get(&toolkit->nvml), symbols, sizeof symbols / sizeof *symbols, nvml, err);
  int result = status ? NVML_SUCCESS : nvml->init();
  if (result != NVML_SUCCESS)
    status = error_set(err, CUGEN_ERROR_DEVICE, "nvmlInit: %s", nvml->error_string(result));
  if (status) {
    free(nvml);
    return status;
  }
  *table = nvml;
  return CUGEN_OK;
}

int nvml_open(const struct toolkit *toolkit, const struct nvml **out, cugen_error *err) {
  const void *table;
  int status = toolkit_library(toolkit, TOOLKIT_NVML, nvml_load, &table, err);
  *out = table;
  return status;
}

int nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_device **out,
              cugen_error *err) {
  *out = NULL;
  int result = nvml->device_by_uuid(uuid, out);
  if (result == NVML_SUCCESS) return CUGEN_OK;
  *out = NULL;
  return error_set(err, CUGEN_ERROR_DEVICE, "nvmlDeviceGetHandleByUUID(%s): %s", uuid,
                   nvml->error_string(result));
}

static int clock_of(const struct nvml *nvml, struct nvml_device *device, int which) {
  unsigned mhz = 0;
  return nvml->clock(device, which, &mhz) == NVML_SUCCESS ? (int)mhz : 0;
}

void nvml_read(const struct nvml *nvml, struct nvml_device *device, struct nvml_state *out) {
  unsigned power = 0;
  unsigned long long throttle = 0;
  *out = (struct nvml_state){.sm_mhz = clock_of(nvml, device, NVML_CLOCK_SM),
                             .memory_mhz = clock_of(nvml, device, NVML_CLOCK_MEM)};
  if (nvml->power && nvml->power(device, &power) == NVML_SUCCESS)
    out->power_milliwatts = (int)power;
  if (nvml->throttle && nvml->throttle(device, &throttle) == NVML_SUCCESS) out->throttle = throttle;
}

int nvml_energy(const struct nvml *nvml, struct nvml_device *device, double *joules,
                cugen_error *err) {
  static const char name[] = "nvmlDeviceGetTotalEnergyConsumption";
  unsigned long long millijoules = 0;
  *joules = 0;
  if (!nvml->energy) return error_set(err, CUGEN_ERROR_DEVICE, "libnvidia-ml.so.1 has no %s", name);
  int result = nvml->energy(device, &millijoules);
  if (result != NVML_SUCCESS)
    return error_set(err, CUGEN_ERROR_DEVICE, "%s: %s", name, nvml->error_string(result));
  *joules = (double)millijoules / 1000;
  return CUGEN_OK;
}

void nvml_throttle_text(uint64_t throttle, struct text *out) {
  const char *separator = "";
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    if (!(throttle & reasons[i].bits)) continue;
    text_addf(out, "%s%s", separator, reasons[i].text);
    separator = ", ";
  }
}
