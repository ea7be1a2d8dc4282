/* Fuzz target: any bytes as a plan's choice. An accepted choice prints as the same bytes; a
   refusal has a reason. */
#include <stdlib.h>
#include <string.h>

#include "api/choice.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct choice choice;
  struct text text = {0};
  cugen_error err = {0};
  size_t used;
  char *bytes = malloc(size + 1);
  require(bytes);
  if (size) memcpy(bytes, data, size);
  int status = choice_parse(bytes, size, &choice, &used, &err);
  require(status == CUGEN_OK || (err.status == status && err.message[0] && used == 0));
  if (!status) {
    choice_print(&choice, &text);
    require(!text.failed && used <= size && text.length == used &&
            memcmp(text_get(&text), bytes, used) == 0);
    choice_free(&choice);
  }
  text_free(&text);
  free(bytes);
  return 0;
}
