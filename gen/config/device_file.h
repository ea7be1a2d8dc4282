/* Descriptions of GPUs, configs/devices/NAME.lua: a list of figures, each a call, run in the
   sandbox of configs. docs/model.md describes the figures. */
#ifndef GEN_CONFIG_DEVICE_FILE_H
#define GEN_CONFIG_DEVICE_FILE_H

#include "base/error.h"
#include "base/gpu.h"
#include "gen/sources/sources.h"

/* Parses a description. CUGEN_ERROR_CONFIG: something is wrong; the message names the file, and the
   line if a single figure is wrong. */
int device_file_parse(const char *path, const char *content, size_t length, struct gpu_model *out,
                      cugen_error *err);

/* Opens a description by name: "a100" or "A100" is the file a100.lua in device_dir (may be NULL),
   else the shipped description; "./mygpu.lua", or any name with a '/' or ending in .lua, is a file.
   CUGEN_ERROR_USAGE: there is no description of this name; the message lists names.
   CUGEN_ERROR_MISSING: there is no such file. */
int device_file_open(const char *device_dir, const char *name, struct gpu_model *out,
                     cugen_error *err);

/* Lists the shipped descriptions and those of device_dir (may be NULL), by rising compute
   capability. Fills at most count entries and returns how many descriptions there are; 0: out of
   memory. */
size_t device_files(const char *device_dir, struct gpu_model *out, size_t count);

#endif
