/* Devices that are not here: what is known of one from its fingerprint, or from its compute capability alone. */
#ifndef RUNTIME_DESCRIBED_H
#define RUNTIME_DESCRIBED_H

#include "device.h"

/* Fills name, arch ("sm_90a"), fingerprint and facts from "NVIDIA H200 sm_90 132 SMs", or from an architecture such as
   "sm_90a", which leaves name and fingerprint empty. Facts that only the device itself can tell stay 0, see
   described_knows. False: it is neither, or of a compute capability that is not known here. */
bool described_device(const char *text, struct device_description *out);

/* Whether a described device's fact is known; with_count: its fingerprint was. */
bool described_knows(enum device_fact fact, bool with_count);

#endif
