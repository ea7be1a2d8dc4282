/* Finds the backend that an id such as "cuda:1" belongs to. */
#ifndef RUNTIME_DEVICES_H
#define RUNTIME_DEVICES_H

#include "device.h"

extern const struct device_ops cuda_device_ops, cpu_device_ops;

/* Returns the backend and ordinal for an id such as "cuda:1" or "cpu". For any other id
   CUGEN_ERROR_USAGE, whose message lists the devices there are. */
int device_find(const char *id, const struct device_ops **ops, int *ordinal, cugen_error *err);

#endif
