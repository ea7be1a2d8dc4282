/* Whether the data kernels give on a device what the host gives. */
#ifndef TUNE_DATA_PROOF_H
#define TUNE_DATA_PROOF_H

#include "data_kernels.h"

/* *same: fills of every dtype, digests, comparisons with a planted fault, each of some hundred elements. An error: the device fails. */
int data_proof(struct device *device, struct data_kernels *kernels, bool *same, cugen_error *err);

#endif
