/* What a compiled object would run by being loaded and unloaded: constructors, destructors, functions that choose functions. */
#ifndef RUNTIME_CPU_OBJECT_H
#define RUNTIME_CPU_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/launch.h"
#include "runtime/device.h"

/* CUGEN_ERROR_COMPILE: it would run something. watched: one constructor is the compiler's own. */
int object_check(const void *image, size_t length, bool watched, cugen_error *err);
/* Always CUGEN_ERROR_COMPILE: the message of that. */
int object_refuse(cugen_error *err);
/* In the file that holds the image, which the loader is to read: nothing is run by loading it. */
void object_disarm(const void *image, size_t length, int file);
/* What the index-th kernel takes, as far as its source says it (shim/entry.h): bounds, clusters, and the constants of all. */
void object_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out);
/* What lies at the address, which is relative to where the object is loaded, can be read only. */
bool object_is_const(const void *image, size_t length, uint64_t address);

#endif
