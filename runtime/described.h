/* Devices that are not here: what is known of one from its fingerprint, or from its compute capability alone. */
#ifndef RUNTIME_DESCRIBED_H
#define RUNTIME_DESCRIBED_H

#include "device.h"

/* Fills name, arch ("sm_90a"), fingerprint and facts from "NVIDIA H200 sm_90 132 SMs", from "model:H200", or from an
   architecture such as "sm_90a", which leaves name and fingerprint empty. The id is "model:H200" where the device is one
   of the models; else it is "", and facts that only the device itself can tell stay 0, see described_knows. False: it is
   none of these, or of a compute capability that is not known here. */
bool described_device(const char *text, struct device_description *out);

/* Whether the device's fact is known; of one that is here, or a model, all are. */
bool described_knows(const struct device_description *device, enum device_fact fact);

/* "model:K40", "model:V100" and so on, from the oldest; NULL: there is none at that index. */
const char *described_model(size_t index);

#endif
