/* NVML, libnvidia-ml.so.1, opened at run time: reads clocks, power and energy. cugen works without
   NVML. */
#ifndef RUNTIME_CUDA_NVML_H
#define RUNTIME_CUDA_NVML_H

#include "runtime/device.h"

struct nvml;        /* the loaded library */
struct nvml_device; /* a GPU's handle; owned by NVML, never freed */

int nvml_open(const struct toolkit *toolkit, const struct nvml **out, cugen_error *err);
/* uuid: "GPU-..." as in device_description. */
int nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_device **out,
              cugen_error *err);

/* Reads the clock, the power and what holds the clocks back, such as "power cap, thermal". Values
   that cannot be read stay 0. A GPU whose clocks are low because it is idle is not held back. */
void nvml_read(const struct nvml *nvml, struct nvml_device *device, struct device_clock *out);

/* Sets *joules to the energy taken since the driver was loaded. CUGEN_ERROR_DEVICE: the energy
   cannot be read. */
int nvml_energy(const struct nvml *nvml, struct nvml_device *device, double *joules,
                cugen_error *err);

#endif
