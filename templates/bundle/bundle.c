/* @title */
#include "bundle.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__GNUC__)
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif

#ifdef O_CLOEXEC
#define CLOSE_ON_EXEC O_CLOEXEC
#else
#define CLOSE_ON_EXEC 0
#endif

/* ---- Errors --------------------------------------------------------------------------------- */

static int fail(bundle_error *error, int status, const char *format, ...) {
  va_list values;
  if (!error) return status;
  error->status = status;
  va_start(values, format);
  vsnprintf(error->message, sizeof error->message, format, values);
  va_end(values);
  return status;
}

static int is_null(const char *what, bundle_error *error) {
  return fail(error, BUNDLE_ERROR_USAGE, "%s is NULL", what);
}
