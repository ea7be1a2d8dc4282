/* Runs a template in the sandbox: from its parsed form and the names of one expansion to its text, still without
   prologue, with #line wherever the text gets out of step with the template. Parsed and compiled templates are kept,
   so that rendering again only runs them. */
#ifndef GEN_TEMPLATE_RENDER_H
#define GEN_TEMPLATE_RENDER_H

#include "names.h"

struct renderer;

/* sources is borrowed. One thread at a time. */
int renderer_open(const struct sources *sources, struct renderer **out, cugen_error *err);
void renderer_close(struct renderer *renderer);

struct render_request {
  const char *template_name, *from; /* as in sources_template */
  const char *named_in;             /* the file and line that name the template, for the error when there is none */
  int named_at;
  const struct names *names;
  const char *parameters; /* what ${params} means */
};

/* The text is appended to body and ends with a newline. *parameters_used: the template asked for ${params}. An
   error is CUGEN_ERROR_TEMPLATE and names the template's own line. */
int render(struct renderer *renderer, const struct render_request *request, struct text *body, bool *parameters_used,
           cugen_error *err);

#endif
