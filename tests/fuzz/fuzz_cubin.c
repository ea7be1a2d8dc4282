/* Fuzz target: any bytes as a cubin, and as ptxas's messages about one. Nothing outside of the
   bytes is read, and results stay within the caller's arrays. The first byte chooses the kernel
   that is asked for. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/model/cubin.h"

enum { CAPACITY = 8 };

static void check(const char *image, size_t length, const char *entry) {
  struct kernel_resources resources;
  cugen_error err = {0};
  int status = cubin_resources(image, length, entry, &resources, &err);
  require(status == CUGEN_OK || (err.status == status && err.message[0]));
  struct sass_facts code = cubin_code(image, length, entry);
  require(code.in_flight <= code.loads && code.loads <= code.instructions);
  int sizes[CAPACITY + 1] = {[CAPACITY] = 77};
  require(cubin_parameters(image, length, entry, sizes, CAPACITY) >= -1);
  require(sizes[CAPACITY] == 77);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const entries[] = {"_Z3addPfi", "scale", ""};
  if (!size) return 0;
  const char *entry = entries[data[0] % 3];
  /* Copies of exactly this size, so that a sanitizer sees a read past the end. */
  char *image = malloc(size), *log = malloc(size);
  require(image && log);
  memcpy(image, data + 1, size - 1);
  memcpy(log, data + 1, size - 1);
  log[size - 1] = '\0';
  check(image, size - 1, entry);
  ptxas_log_spills(log, entry);
  free(image);
  free(log);
  return 0;
}
