/* Fuzz target: any bytes as the text of a .cu, whose kernels are read without a compiler. What is
   stored must point into the text. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gen/sources/signature.h"

static void check_inside(const char *text, struct source_token token) {
  if (token.length && (token.at < text || token.at + token.length > text + strlen(text))) abort();
}

static void check_bound(const char *text, const struct signature_bound *bound) {
  check_inside(text, bound->size);
  check_inside(text, bound->times[0]);
  check_inside(text, bound->times[1]);
  check_inside(text, bound->divisor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  struct source_token names[SIGNATURE_KERNELS];
  struct signature signature;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  const size_t count = signature_kernels(text, names);
  for (size_t i = 0; i < count && i < SIGNATURE_KERNELS; i++) {
    check_inside(text, names[i]);
    signature_read(text, names[i], &signature);
    for (size_t m = 0; m < signature.macro_count; m++) check_inside(text, signature.macros[m].name);
    for (int axis = 0; axis < 3; axis++) {
      for (int f = 0; f < SIGNATURE_FACTORS; f++) check_inside(text, signature.grid_steps[axis][f]);
      check_inside(text, signature.block_extents[axis]);
      check_bound(text, &signature.grid_bounds[axis]);
    }
    for (size_t p = 0; p < KERNEL_MAX_ARGUMENTS; p++)
      for (int s = 0; s < SIGNATURE_STRIDES; s++) {
        check_inside(text, signature.indices[p].strides[s]);
        check_bound(text, &signature.indices[p].bounds[s]);
      }
  }
  free(text);
  return 0;
}
