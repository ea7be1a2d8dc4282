/* Runs a template in the sandbox: from its parsed form and the names of one expansion to its text,
   still without the prologue. A #line is written wherever the lines of the text no longer match the
   template's. Parsed and compiled templates are kept, so that rendering again only runs them. */
#ifndef GEN_TEMPLATE_RENDER_H
#define GEN_TEMPLATE_RENDER_H

#include "names.h"

struct renderer;

/* sources is borrowed. Only one thread may use the renderer at a time. */
int renderer_open(const struct sources *sources, struct renderer **out, cugen_error *err);
void renderer_close(struct renderer *renderer);

struct render_request {
  const char *template_name, *from; /* as in sources_template */
  const char *named_in;             /* file and line that name the template, for the error if it
                                       does not exist */
  int named_at;
  const struct names *names;
  const char *parameters; /* replaces ${params} */
};

/* Appends the text, which ends with a newline, to body. *parameters_used: whether the template used
   ${params}. Errors are CUGEN_ERROR_TEMPLATE and name the line of the template. */
int render(struct renderer *renderer, const struct render_request *request, struct text *body,
           bool *parameters_used, cugen_error *err);

#endif
