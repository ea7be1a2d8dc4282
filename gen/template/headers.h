/* Replaces `#include "x.h"` in a .cu by the text of the header, so that the source is
   self-contained. #line directives name the lines of the header. Headers of the toolkit and the
   system stay as #include lines. */
#ifndef GEN_TEMPLATE_HEADERS_H
#define GEN_TEMPLATE_HEADERS_H

#include "gen/config/config.h"

struct headers; /* the headers that were read so far */

/* sources is borrowed. */
int headers_open(const struct sources *sources, struct headers **out, cugen_error *err);
void headers_close(struct headers *headers);

/* Appends the body, which has #line directives where needed, with its headers to out. config: path
   of the config, whose include_dirs are in compile. An include that is not allowed, or whose file
   cannot be determined, is an error with its line; in an #if an `#error` takes its place. */
int headers_inline(struct headers *headers, const char *config,
                   const struct config_compile *compile, const struct text *body, struct text *out,
                   cugen_error *err);

#endif
