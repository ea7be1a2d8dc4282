/* Descriptions of GPUs, configs/devices/NAME.lua: a list of figures, each a call, in the sandbox of configs. docs/model.md
   describes them. */
#ifndef GEN_CONFIG_DEVICE_FILE_H
#define GEN_CONFIG_DEVICE_FILE_H

#include "base/error.h"
#include "base/gpu.h"
#include "gen/sources/sources.h"

/* CUGEN_ERROR_CONFIG names the file and line of what is wrong. */
int device_file_parse(const char *path, const char *content, size_t length, struct gpu_model *out, cugen_error *err);

/* "a100" or "A100": a shipped one, or the file of that name (a100.lua) in device_dir (may be NULL), which comes first;
   "./mygpu.lua", or anything with a '/' or that ends in .lua: that file. CUGEN_ERROR_USAGE: there is none of the name,
   with those there are. */
int device_file_open(const char *device_dir, const char *name, struct gpu_model *out, cugen_error *err);

/* The shipped ones and those of device_dir (may be NULL), from the oldest. Fills at most count and returns how many there are. */
size_t device_files(const char *device_dir, struct gpu_model *out, size_t count);

#endif
