/* Tests whether the data kernels compute on a device what the host computes. */
#ifndef TUNE_DATA_DATA_PROOF_H
#define TUNE_DATA_DATA_PROOF_H

#include "data_kernels.h"

/* Sets *same to whether fills, digests, conversions and comparisons with a planted fault agree with
   the host for every dtype, each on 279 elements. An error means that the device or an allocation
   failed. */
int data_proof(struct device *device, struct data_kernels *kernels, bool *same, cugen_error *err);

#endif
