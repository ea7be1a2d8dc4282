/* Devices that are not here: what is known of one from its fingerprint, from its compute capability alone, or from a
   description. */
#ifndef RUNTIME_MODEL_DESCRIBED_H
#define RUNTIME_MODEL_DESCRIBED_H

#include "runtime/device.h"

/* Fills name, arch ("sm_90a"), fingerprint and facts from "NVIDIA H200 sm_90 132 SMs" or from an architecture such as
   "sm_90a", which leaves name and fingerprint empty. The id is "", and facts that only the device itself can tell stay 0,
   see described_knows. False: it is none of these, or of a compute capability that is not known here. */
bool described_device(const char *text, struct device_description *out);

/* All of it, from a description; the id is "model:H200". */
void described_model(const struct gpu_model *model, struct device_description *out);

/* A hash of all its figures but the compute capability, which stands beside it wherever this does. */
uint64_t described_figures(const struct device_description *device);

/* Whether the device's fact is known; of one that is here, or a model, all are. */
bool described_knows(const struct device_description *device, enum device_fact fact);

#endif
