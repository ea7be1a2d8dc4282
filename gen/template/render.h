/* Runs a template in the Lua sandbox. The result is text without the prologue, made of the parsed
   template and the names of one expansion. A #line or empty lines are written where the lines of
   the text no longer match the template's. A renderer keeps the compiled templates. */
#ifndef GEN_TEMPLATE_RENDER_H
#define GEN_TEMPLATE_RENDER_H

#include "names.h"

struct renderer;

/* sources is borrowed. Only one thread may use the renderer at a time. */
int renderer_open(const struct sources *sources, struct renderer **out, cugen_error *err);
void renderer_close(struct renderer *renderer);

struct render_request {
  const char *template_name, *from; /* as in sources_template */
  const char *named_in;             /* file and line that name the template, for the error if the
                                       template does not exist */
  int named_at;
  const struct names *names;
  const char *parameters; /* replaces ${params} */
};

/* Appends the text to body. *parameters_used: whether the template used ${params}. An error of the
   template is CUGEN_ERROR_TEMPLATE and names the template's line. */
int render(struct renderer *renderer, const struct render_request *request, struct text *body,
           bool *parameters_used, cugen_error *err);

#endif
