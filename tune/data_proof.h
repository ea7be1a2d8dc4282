/* Whether the data kernels give on a device what the host gives. */
#ifndef TUNE_DATA_PROOF_H
#define TUNE_DATA_PROOF_H

#include "data_kernels.h"

/* Fills of every dtype, a digest, comparisons with planted faults, on some thousand elements. CUGEN_ERROR_DEVICE when one differs; the
   message says which. */
int data_proof(struct device *device, struct data_kernels *kernels, cugen_error *err);

#endif
