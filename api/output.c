/* Output to files for programs: file_begin, file_add and file_end of base/system.h behind a
   handle. */
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "library.h"
#include "output.h"

struct cugen_output {
  struct file_writing file;
  char *path;
};

static int output_open_copy(cugen_output *output, const char *path, cugen_error *error) {
  output->path = strdup(path);
  return output->path ? file_begin(&output->file, output->path, error) : error_memory(error);
}

int api_output_open(const char *path, cugen_output **out, cugen_error *error) {
  if (API_NEEDS(error, "path, out", path, out)) return CUGEN_ERROR_USAGE;
  *out = calloc(1, sizeof **out);
  if (!*out) return error_memory(error);
  const int status = output_open_copy(*out, path, error);
  if (!status) return CUGEN_OK;
  free((*out)->path);
  free(*out);
  *out = NULL;
  return status;
}

int api_output_add(cugen_output *output, const void *data, size_t length, cugen_error *error) {
  if (API_NEEDS(error, "output, data", output, data)) return CUGEN_ERROR_USAGE;
  return file_add(&output->file, data, length, error);
}

int api_output_close(cugen_output *output, int keep, cugen_error *error) {
  if (!output) return CUGEN_OK;
  const int status = file_end(&output->file, keep ? CUGEN_OK : CUGEN_ERROR_INTERRUPTED, error);
  free(output->path);
  free(output);
  return keep ? status : CUGEN_OK;
}
