/* NVML, libnvidia-ml.so.1, opened at run time: what the clocks and the power do while something is measured.
   Everything works without it. */
#ifndef RUNTIME_CUDA_NVML_H
#define RUNTIME_CUDA_NVML_H

#include <stdint.h>

#include "runtime/compile/toolkit.h"

struct nvml;        /* the loaded library */
struct nvml_device; /* a GPU's handle; NVML's own, never freed */

int nvml_open(const struct toolkit *toolkit, const struct nvml **out, cugen_error *err);
/* uuid: "GPU-..." as device_description has it. */
int nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_device **out, cugen_error *err);

struct nvml_state {
  int sm_mhz, memory_mhz; /* 0: not known */
  int power_milliwatts;   /* 0: not known */
  uint64_t throttle;      /* NVML's bits; nvml_throttle_text reads them */
};
enum { NVML_POWER_CAP = 0x4 }; /* the bit for the board's limit */

/* What cannot be read stays 0. */
void nvml_read(const struct nvml *nvml, struct nvml_device *device, struct nvml_state *out);

/* Joules since the driver was loaded. CUGEN_ERROR_DEVICE: the GPU, or the library, has no such counter. */
int nvml_energy(const struct nvml *nvml, struct nvml_device *device, double *joules, cugen_error *err);

/* "power cap, thermal"; adds nothing when the clocks are held back by nothing but being idle. */
void nvml_throttle_text(uint64_t throttle, struct text *out);

#endif
