/* Finds a backend by a device's id. */
#ifndef RUNTIME_DEVICES_H
#define RUNTIME_DEVICES_H

#include "device.h"

extern const struct device_ops cuda_device_ops, cpu_device_ops;

/* Finds the backend and ordinal for an id such as "cuda:1" or "cpu". CUGEN_ERROR_USAGE: the id has
   another form; the message lists the forms. */
int device_find(const char *id, const struct device_ops **ops, int *ordinal, cugen_error *err);

#endif
