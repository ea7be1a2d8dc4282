/* NVML through a table of functions; see nvml.h. The prototypes and constants are those of the
   NVML API Reference Guide, because not every toolkit has nvml.h. */
#include "nvml.h"
#include "runtime/compile/toolkit.h"

#include <stdio.h>
#include <string.h>

enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1 };

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

/* nvmlClocksThrottleReason...; others, such as idle (1) or an application's clock setting (2), are
   not reported. */
enum { NVML_POWER_CAP = 0x4 };
static const struct reason {
  uint64_t bits;
  const char *text;
} reasons[] = {{NVML_POWER_CAP, "power cap"},
               {0x8, "hardware slowdown"},
               {0x20, "thermal"},
               {0x40, "hardware thermal"},
               {0x80, "hardware power brake"}};

static int nvml_load(const struct toolkit *toolkit, void **table, cugen_error *err) {
  int status =
      toolkit_load_table(text_get(&toolkit->nvml), symbols, sizeof symbols / sizeof *symbols,
                         sizeof(struct nvml), table, err);
  if (status) return status;
  const struct nvml *nvml = *table;
  const int result = nvml->init();
  return result == NVML_SUCCESS
             ? CUGEN_OK
             : error_set(err, CUGEN_ERROR_DEVICE, "nvmlInit: %s", nvml->error_string(result));
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

void nvml_read(const struct nvml *nvml, struct nvml_device *device, struct device_clock *out) {
  unsigned mhz = 0, milliwatts = 0;
  unsigned long long bits = 0;
  *out = (struct device_clock){0};
  if (nvml->clock(device, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS) out->sm_mhz = (int)mhz;
  if (nvml->power && nvml->power(device, &milliwatts) == NVML_SUCCESS)
    out->power_watts = (int)milliwatts / 1000;
  if (!nvml->throttle || nvml->throttle(device, &bits) != NVML_SUCCESS) return;
  out->at_power_cap = bits & NVML_POWER_CAP;
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    const size_t length = strlen(out->throttle);
    if (bits & reasons[i].bits)
      snprintf(out->throttle + length, sizeof out->throttle - length, "%s%s", length ? ", " : "",
               reasons[i].text); /* what does not fit is cut off */
  }
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
