/* Code that a compiled object would run when it is loaded or unloaded: constructors, destructors,
   functions that select functions (IFUNC). */
#ifndef EMULATOR_OBJECT_H
#define EMULATOR_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/launch.h"
#include "runtime/device.h"

/* CUGEN_ERROR_COMPILE: the object would run code, or has entries that no linker makes for a kernel.
   watched: one constructor and one destructor are the compiler's own and are allowed. */
int object_check(const void *image, size_t length, bool watched, cugen_error *err);
/* Reports that a source has code that runs at loading; returns CUGEN_ERROR_COMPILE. */
int object_refuse(cugen_error *err);
/* Changes the image's file, which the loader will read, so that loading it runs nothing. */
void object_disarm(const void *image, size_t length, int file);
/* Gets the resources that the source states for the index-th kernel (shim/entry.h): launch bounds,
   clusters, and the bytes of all constants. */
void object_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out);
/* Returns true if memory at the address, relative to the object's load address, is read-only. */
bool object_is_const(const void *image, size_t length, uint64_t address);

#endif
