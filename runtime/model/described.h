/* Devices that are not in this machine: the facts that follow from a fingerprint, from a compute
   capability alone, or from a description. */
#ifndef RUNTIME_MODEL_DESCRIBED_H
#define RUNTIME_MODEL_DESCRIBED_H

#include "runtime/device.h"

/* Fills name, arch ("sm_90a"), fingerprint and facts from "NVIDIA H200 sm_90 132 SMs" or from an
   architecture such as "sm_90a", which leaves name and fingerprint empty. The id is "". Facts
   that only the device itself can tell stay 0, see described_knows. Returns false if the text is
   neither, or the compute capability is not known to cugen. */
bool described_device(const char *text, struct device_description *out);

/* Fills id ("model:H200"), name, arch, fingerprint, facts and rates. */
void described_model(const struct gpu_model *model, struct device_description *out);

/* Returns a hash of all figures of a device except the compute capability and the suffix "a". */
uint64_t described_figures(const struct device_description *device);

/* Returns whether that fact of the device is known; always true for a device in this machine and
   for a model. */
bool described_knows(const struct device_description *device, enum device_fact fact);

#endif
