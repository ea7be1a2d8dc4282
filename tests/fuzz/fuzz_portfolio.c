/* Fuzz target: any text as a portfolio. An accepted portfolio prints as a text with the same
   meaning; a refusal has a reason. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/store/portfolio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct portfolio_body body, again;
  struct text once = {0}, twice = {0};
  cugen_error err = {0};
  char *text = malloc(size + 1);
  require(text);
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  int status = portfolio_body_parse(text, &body, &err);
  require(status == CUGEN_OK || (err.status == status && err.message[0] && !body.count));
  if (!status) {
    portfolio_body_print(&body, &once);
    require(portfolio_body_parse(text_get(&once), &again, &err) == CUGEN_OK &&
            again.count == body.count);
    portfolio_body_print(&again, &twice);
    require(strcmp(text_get(&once), text_get(&twice)) == 0);
    portfolio_body_free(&body);
    portfolio_body_free(&again);
  }
  text_free(&once);
  text_free(&twice);
  free(text);
  return 0;
}
