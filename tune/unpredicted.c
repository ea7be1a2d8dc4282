/* Finds the source lines of code that the model refuses; see unpredicted.h. */
#include "unpredicted.h"

#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "runtime/model/model.h"

void unpredicted_place(struct unpredicted *unpredicted, const struct device_description *device,
                       struct compile_pool *pool, const struct kernel_spec *spec,
                       cugen_error *why) {
  struct text of = {0};
  text_addf(&of, "%.*s: %s", VARIANT_IMPLEMENTATION(spec->variant), why->message);
  for (const struct unpredicted_reason *known = unpredicted->reasons; known; known = known->next) {
    if (strcmp(known->of, text_get(&of)) != 0) continue;
    text_free(&of);
    error_set(why, why->status, "%s", known->placed);
    return;
  }
  /* The model is asked about the code compiled with line numbers, so that the refusal names its
     source line. */
  struct model_prediction ignored;
  struct compiled compiled = {0};
  cugen_error placed;
  if (compile_pool_with_lines(pool, spec, &compiled, &placed) == CUGEN_OK &&
      model_predict(device, spec, &compiled, 0, &ignored, &placed) == CUGEN_ERROR_COMPILE)
    *why = placed;
  compiled_free(&compiled);
  struct unpredicted_reason *made = calloc(1, sizeof *made);
  if (made)
    *made = (struct unpredicted_reason){text_take(&of), strdup(why->message), unpredicted->reasons};
  if (made && made->of && made->placed) {
    unpredicted->reasons = made;
    return;
  }
  /* Without memory, the place is searched again for the next variant. */
  if (made) free(made->of), free(made->placed), free(made);
  text_free(&of);
}

void unpredicted_free(struct unpredicted *unpredicted) {
  while (unpredicted->reasons) {
    struct unpredicted_reason *next = unpredicted->reasons->next;
    free(unpredicted->reasons->of);
    free(unpredicted->reasons->placed);
    free(unpredicted->reasons);
    unpredicted->reasons = next;
  }
}
