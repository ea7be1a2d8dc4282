/* Portfolios that ship: what was measured elsewhere, on GPUs of a kind, for the shipped configs. They serve a plan where nothing is
   remembered here. tools/ship-portfolio writes portfolios/NAME.txt, of which each is

     device NVIDIA H200 sm_90 132 SMs
     kernel matmul
     objective time
     within M * N * K <= 24795676672
     class dtype=bf16 layout_a=row ...
     class dtype=f16 layout_a=row ...

   and, behind an empty line, a portfolio's body (runtime/store/portfolio.h). Each class is served, up to the largest problem that it
   was learnt from: what lies beyond was not seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "portfolio.h"
#include "priors.h"

struct shipped {
  char *text; /* a copy, cut into lines */
  const char *device, *kernel, *objective, *within;
  bool serves; /* the look-up's class is among its own */
  const char *body;
};

/* ---- Reading one ---------------------------------------------------------------------------------------------------- */

/* The rest of a line that begins with the word; NULL: it does not. */
static const char *after_word(const char *line, const char *word) {
  const size_t length = strlen(word);
  return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static void take_line(struct shipped *out, const char *line, const struct cache_key *class_key) {
  const char *rest;
  uint64_t lacks;
  if ((rest = after_word(line, "device"))) out->device = rest;
  if ((rest = after_word(line, "kernel"))) out->kernel = rest;
  if ((rest = after_word(line, "objective"))) out->objective = rest;
  if ((rest = after_word(line, "within"))) out->within = rest;
  if ((rest = after_word(line, "class"))) out->serves = out->serves || cache_lacks(class_key, rest, &lacks);
}

/* The text is cut into lines, and stays its owner's. */
static void read_head(char *text, const struct cache_key *class_key, struct shipped *out) {
  *out = (struct shipped){.text = text, .device = "", .kernel = "", .objective = "", .within = "", .body = ""};
  for (char *line = text; *line && *line != '\n';) {
    char *end = line + strcspn(line, "\n");
    char *next = *end ? end + 1 : end;
    *end = '\0';
    take_line(out, line, class_key);
    line = next;
    if (*line == '\n') out->body = line + 1;
  }
}

/* ---- Which is nearest ------------------------------------------------------------------------------------------------ */

/* 0: that very GPU; from 1 on: another one of its compute capability; INFINITY: neither. */
static double device_distance(const struct lookup *l, const char *device) {
  struct device_description other;
  if (strcmp(l->device.fingerprint, device) == 0) return 0;
  if (!api_described(l->lib, device, &other) || other.facts.compute_capability != l->device.facts.compute_capability)
    return INFINITY;
  return api_gpu_distance(&other.facts, &l->device.facts);
}

static double shipped_distance(const struct lookup *l, const struct shipped *shipped) {
  const bool meant = shipped->serves && strcmp(shipped->kernel, l->config->name) == 0 &&
                     strcmp(shipped->objective, portfolio_objective(l->config)) == 0;
  return meant ? device_distance(l, shipped->device) : INFINITY;
}

/* *out has the nearest; its text is NULL where there is none. */
static int find_nearest(const struct lookup *l, const struct cache_key *class_key, struct shipped *out,
                        cugen_error *err) {
  double nearest = INFINITY;
  *out = (struct shipped){0};
  for (const struct embedded_file *file = embedded_files; file->path; file++) {
    struct shipped next;
    if (strncmp(file->path, "portfolios/", 11) != 0) continue;
    char *text = strdup(file->data);
    if (!text) return error_memory(err);
    read_head(text, class_key, &next);
    const double distance = shipped_distance(l, &next);
    if (distance < nearest) {
      free(out->text);
      *out = next;
      nearest = distance;
    } else {
      free(text);
    }
  }
  return CUGEN_OK;
}

/* ---- Serving --------------------------------------------------------------------------------------------------------- */

/* Its rule with its limit: beyond, it names none. */
static int make_body(const struct shipped *shipped, struct portfolio_body *out, cugen_error *err) {
  struct text rule = {0};
  int status = portfolio_body_parse(shipped->body, out, err);
  if (status) return status;
  text_addf(&rule, "select(%s, %s, %zu)", shipped->within, out->rule, out->count);
  free(out->rule);
  out->rule = text_take(&rule);
  return out->rule ? CUGEN_OK : error_memory(err);
}

static int make_found(const struct lookup *l, const struct shipped *shipped, struct portfolio_shipped *out,
                      cugen_error *err) {
  struct device_description there;
  int status = make_body(shipped, &out->body, err);
  out->same_model = api_described(l->lib, shipped->device, &there) && strcmp(there.name, l->device.name) == 0;
  out->device = strdup(shipped->device);
  return status || out->device ? status : error_memory(err);
}

int portfolio_find_shipped(const struct lookup *l, struct portfolio_shipped *out, bool *found, cugen_error *err) {
  struct text class = {0}, settings = {0};
  struct shipped shipped = {0};
  *out = (struct portfolio_shipped){0};
  *found = false;
  if (!l->config->shipped) return CUGEN_OK; /* somebody's own, of the same name */
  problem_print_class(l->config, l->problem, &class, &settings);
  const struct cache_key class_key = {.problem = text_get(&class), .settings = text_get(&settings)};
  int status = class.failed || settings.failed ? error_memory(err) : find_nearest(l, &class_key, &shipped, err);
  if (!status && shipped.text) status = make_found(l, &shipped, out, err);
  *found = !status && shipped.text;
  if (status) portfolio_shipped_free(out);
  free(shipped.text);
  text_free(&class);
  text_free(&settings);
  return status;
}

void portfolio_shipped_free(struct portfolio_shipped *shipped) {
  portfolio_body_free(&shipped->body);
  free(shipped->device);
  *shipped = (struct portfolio_shipped){0};
}

int portfolio_serve_shipped(struct lookup *l, struct portfolio_answer *out, struct text *device, bool *found,
                            cugen_error *err) {
  struct portfolio_shipped shipped;
  bool any;
  *found = false;
  int status = portfolio_find_shipped(l, &shipped, &any, err);
  if (status || !any) return status;
  status = portfolio_serve_by(l, &shipped.body, true, out, found, err);
  if (*found) text_add(device, shipped.device);
  out->same_model = *found && shipped.same_model;
  portfolio_shipped_free(&shipped);
  return status;
}

int portfolio_shipped_leaders(struct lookup *l, struct priors *out, cugen_error *err) {
  struct portfolio_shipped shipped;
  size_t which;
  bool any;
  int status = portfolio_find_shipped(l, &shipped, &any, err);
  if (status || !any) return status;
  const struct portfolio_body *body = &shipped.body;
  const size_t before = out->count;
  status = portfolio_ask(body, l->config, l->problem, &which, err);
  if (!status && which < body->count) priors_add(out, body->variants[which].variant);
  for (size_t i = 0; i < body->count && !status && which < body->count; i++)
    priors_add(out, body->variants[i].variant);
  if (out->count > before) text_add(&out->shipped, shipped.device);
  portfolio_shipped_free(&shipped);
  return status;
}
