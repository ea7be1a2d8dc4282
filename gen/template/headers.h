/* The plain headers of a .cu: what `#include "x.h"` names is put in its place, so that a source stands by itself: it is
   hashed, compiled on every device and printed as one text, errors name the header's own lines through #line, and no compiler
   opens a file by a name that the source chose. Headers of the toolkit and the system stay #include lines. */
#ifndef GEN_TEMPLATE_HEADERS_H
#define GEN_TEMPLATE_HEADERS_H

#include "gen/config/config.h"

struct headers; /* those read so far */

/* sources is borrowed. */
int headers_open(const struct sources *sources, struct headers **out, cugen_error *err);
void headers_close(struct headers *headers);

struct headers_request {
  const char *config; /* path */
  const struct config_compile *compile;
  const struct text *body; /* with #line wherever it needs it */
};

/* Appends the body with its headers to out. An include that may not be, or that cannot be told what it names, is an error
   with its line; within an #if an `#error` in its place. */
int headers_inline(struct headers *headers, const struct headers_request *request, struct text *out,
                   cugen_error *err);

#endif
