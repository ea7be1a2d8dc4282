/* A stand-in for libnvidia-ml.so.1: one GPU, whose energy counter moves in steps of 20 ms. */
#include "fake_nvml.h"

#include <time.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of functions of the interface */

struct fake_nvml fake_nvml;

struct device;

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **out);
int nvmlDeviceGetClockInfo(struct device *device, int which, unsigned *mhz);
int nvmlDeviceGetTotalEnergyConsumption(struct device *device, unsigned long long *millijoules);
const char *nvmlErrorString(int result);

int nvmlInit_v2(void) {
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **out) {
  *out = (struct device *)(void *)&fake_nvml;
  return !uuid ? 2 : fake_nvml.lost ? 6 : 0;
}

int nvmlDeviceGetClockInfo(struct device *device, int which, unsigned *mhz) {
  *mhz = which == 1 ? 1980 : 3201;
  return 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int nvmlDeviceGetTotalEnergyConsumption(struct device *device, unsigned long long *millijoules) {
  static double moved, joules;
  if (!fake_nvml.frozen && now() - moved >= 0.02) moved = now(), joules = fake_nvml.joules;
  *millijoules = (unsigned long long)(joules * 1000 + 0.5);
  return fake_nvml.result;
}

const char *nvmlErrorString(int result) {
  return result == 3 ? "Not Supported" : "Unknown Error";
}
