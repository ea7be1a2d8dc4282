/* Opening libpq; see libpq.h. */
#include "libpq.h"

#include <stddef.h>

#include "base/error.h"
#include "runtime/compile/toolkit.h"

static const char library[] = "libpq.so.5";

static const struct toolkit_symbol symbols[] = {
#define X(member, symbol, result, parameters) {#symbol, offsetof(struct libpq, member), true},
    PQ_FUNCTIONS(X)
#undef X
};

int libpq_open(struct libpq *out, cugen_error *err) {
  int status = toolkit_load(library, symbols, sizeof symbols / sizeof *symbols, out, err);
  if (status)
    error_append(err, "; a store on PostgreSQL needs libpq (Debian and Ubuntu: apt-get install "
                      "libpq5), or name a file with cugen_options.cache");
  return status;
}
