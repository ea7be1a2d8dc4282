/* Code that a compiled object would run when it is loaded or unloaded: constructors,
   destructors, functions that select functions. */
#ifndef EMULATOR_OBJECT_H
#define EMULATOR_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/launch.h"
#include "runtime/device.h"

/* CUGEN_ERROR_COMPILE: the object would run code. watched: one constructor is the compiler's own
   and is allowed. */
int object_check(const void *image, size_t length, bool watched, cugen_error *err);
/* Reports that error; always returns CUGEN_ERROR_COMPILE. */
int object_refuse(cugen_error *err);
/* Changes the image's file, which the loader will read, so that loading it runs nothing. */
void object_disarm(const void *image, size_t length, int file);
/* The resources of the index-th kernel as far as its source states them (shim/entry.h): launch
   bounds, clusters, and the constants of all kernels. */
void object_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out);
/* Whether memory at the address, relative to the object's load address, is read-only. */
bool object_is_const(const void *image, size_t length, uint64_t address);

#endif
