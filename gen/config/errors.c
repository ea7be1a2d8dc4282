/* Errors that name a line of the config. */
#include <stdarg.h>

#include "base/error.h"
#include "base/text.h"
#include "config.h"

int config_fail(cugen_error *err, struct config_line line, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  const int status = what.failed ? error_memory(err)
                                 : error_set_at(err, CUGEN_ERROR_CONFIG, line.path, line.number,
                                                "%s", text_get(&what));
  text_free(&what);
  return status;
}

int config_prefix(cugen_error *err, struct config_line line, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  const int status = error_prefix_at(err, line.path, line.number, "%s", text_get(&what));
  text_free(&what);
  return status;
}
