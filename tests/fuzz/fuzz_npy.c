/* Fuzz target: any bytes as a .npy file. If they are accepted, the elements are exactly the
   bytes behind the header. */
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "fuzz.h"

static void check(const struct npy *npy, size_t size) {
  uint64_t bytes = (uint64_t)npy->bytes;
  require(npy->rank >= 1 && npy->rank <= NPY_MOST_RANK);
  require(npy->bytes == 1 || npy->bytes == 2 || npy->bytes == 4 || npy->bytes == 8);
  for (int i = 0; i < npy->rank; i++) {
    require(npy->shape[i] >= 1 && (uint64_t)npy->shape[i] <= size);
    bytes *= (uint64_t)npy->shape[i];
  }
  require(npy->offset <= size && bytes == size - npy->offset);
  require(strlen(npy->type) == 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct npy npy;
  cugen_error err = {0};
  /* exactly this size, so that a sanitizer sees a read past the end */
  char *copy = malloc(size + !size);
  require(copy);
  memcpy(copy, data, size);
  int status = npy_parse(copy, size, size, &npy, &err);
  if (status == CUGEN_OK)
    check(&npy, size);
  else
    require(err.status == status && err.message[0]);
  free(copy);
  return 0;
}
