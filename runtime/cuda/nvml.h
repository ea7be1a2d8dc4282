/* NVML, libnvidia-ml.so.1, opened at run time: reads clocks and power during a measurement.
   cugen works without it. */
#ifndef RUNTIME_CUDA_NVML_H
#define RUNTIME_CUDA_NVML_H

#include <stdint.h>

#include "runtime/compile/toolkit.h"

struct nvml;        /* the loaded library */
struct nvml_device; /* a GPU's handle; owned by NVML, never freed */

int nvml_open(const struct toolkit *toolkit, const struct nvml **out, cugen_error *err);
/* uuid: "GPU-..." as in device_description. */
int nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_device **out,
              cugen_error *err);

struct nvml_state {
  int sm_mhz, memory_mhz; /* 0: not known */
  int power_milliwatts;   /* 0: not known */
  uint64_t throttle;      /* NVML's bits, which nvml_throttle_text puts into words */
};
enum { NVML_POWER_CAP = 0x4 }; /* the bit of the board's power limit */

/* Values that cannot be read stay 0. */
void nvml_read(const struct nvml *nvml, struct nvml_device *device, struct nvml_state *out);

/* Joules taken since the driver was loaded. CUGEN_ERROR_DEVICE: the GPU, or the library, has no
   energy counter. */
int nvml_energy(const struct nvml *nvml, struct nvml_device *device, double *joules,
                cugen_error *err);

/* Appends the reasons that hold the clocks back, such as "power cap, thermal". A GPU whose
   clocks are low only because it is idle has none. */
void nvml_throttle_text(uint64_t throttle, struct text *out);

#endif
