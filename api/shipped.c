/* Portfolios that are shipped for the shipped configs: their times were measured on GPUs elsewhere,
   or predicted for such a GPU ("device predicted NVIDIA A100 ..."). They serve a plan if nothing is
   remembered here. tools/bench/ship-portfolio writes configs/portfolios/NAME.txt, which begins with

     device NVIDIA H200 sm_90 132 SMs
     kernel matmul
     objective time
     within M * N * K <= 24795676672
     class dtype=bf16 layout_a=row ...
     class dtype=f16 layout_a=row ...

   An empty line follows, and then the body of a portfolio (runtime/store/portfolio.h). Each class
   is served up to the largest problem from which it was learnt, or a multiple of it; for larger
   problems the config suggests variants. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "base/text.h"
#include "portfolio.h"
#include "priors.h"

/* ---- Reading a portfolio -------------------------------------------------------------------- */

/* Returns the rest of the first line of the head that begins with the word, and its length; NULL:
   there is none. */
static const char *shipped_find_line(const char *at, const char *word, size_t *length) {
  const size_t begin = strlen(word);
  while (*at && *at != '\n') {
    const size_t whole = strcspn(at, "\n");
    if (whole > begin && strncmp(at, word, begin) == 0 && at[begin] == ' ') {
      *length = whole - begin - 1;
      return at + begin + 1;
    }
    at += whole + (at[whole] == '\n');
  }
  return NULL;
}

static bool has_line(const char *text, const char *word, const char *rest) {
  size_t length;
  const char *line = shipped_find_line(text, word, &length);
  return line && strlen(rest) == length && strncmp(line, rest, length) == 0;
}

/* The caller frees the copy. */
static char *copy_line(const char *text, const char *word, cugen_error *err) {
  size_t length = 0;
  const char *line = shipped_find_line(text, word, &length);
  char *copy = strndup(line ? line : "", length);
  if (!copy) error_memory(err);
  return copy;
}

/* Returns whether the portfolio lists the look-up's class. */
static int has_class(const char *text, const struct cache_key *class_key, bool *has,
                     cugen_error *err) {
  struct text class = {0};
  size_t length;
  uint64_t lacks;
  *has = false;
  for (const char *at = text; !*has && (at = shipped_find_line(at, "class", &length));
       at += length + (at[length] == '\n')) {
    text_clear(&class);
    text_add_n(&class, at, length);
    if (class.failed) break;
    *has = cache_lacks(class_key, text_get(&class), &lacks);
  }
  const int status = class.failed ? error_memory(err) : CUGEN_OK;
  text_free(&class);
  return status;
}

/* ---- The nearest portfolio ------------------------------------------------------------------ */

/* Returns whether the portfolio's times are measured or predicted as wanted, and its GPU has the
   compute capability. */
static bool may_serve(const char *text, int capability, bool predicted) {
  char device[256];
  struct device_gpu gpu;
  size_t length;
  const char *line = shipped_find_line(text, "device", &length);
  if (!line || length >= sizeof device) return false;
  memcpy(device, line, length);
  device[length] = '\0';
  const cugen_device_name named = device_parse(device);
  return named.predicted == predicted && device_gpu_parse(named.name, &gpu) &&
         gpu.capability == capability;
}

/* Returns the distance of the portfolio's GPU: 0 for this very GPU, 1 or more for another, INFINITY
   for a GPU without a description. */
static int device_distance(const struct lookup *l, const char *text, double *out,
                           cugen_error *err) {
  struct device_description other;
  char *device = copy_line(text, "device", err);
  if (!device) return CUGEN_ERROR_MEMORY;
  *out = INFINITY;
  const char *name = device_parse(device).name;
  if (strcmp(name, l->device.fingerprint) == 0)
    *out = 0;
  else if (api_described(l->lib, name, &other))
    *out = api_gpu_distance(&other.facts, &l->device.facts);
  free(device);
  return CUGEN_OK;
}

/* Few files are of the kernel, and fewer of the class, so the expensive distance is computed only
   for these. */
static int shipped_distance(const struct lookup *l, const char *text,
                            const struct cache_key *class_key, double *out, cugen_error *err) {
  bool meant = has_line(text, "kernel", l->config->name) &&
               has_line(text, "objective", portfolio_objective(l->config));
  *out = INFINITY;
  int status = meant ? has_class(text, class_key, &meant, err) : CUGEN_OK;
  return status || !meant ? status : device_distance(l, text, out, err);
}

/* *out becomes the embedded text of the nearest portfolio; NULL: there is none. */
static int find_nearest(const struct lookup *l, const struct cache_key *class_key, bool predicted,
                        const char **out, cugen_error *err) {
  double nearest = INFINITY, distance;
  int status = CUGEN_OK;
  *out = NULL;
  for (const struct embedded_file *file = embedded_files; file->path && !status; file++) {
    static const char folder[] = "configs/portfolios/";
    if (strncmp(file->path, folder, strlen(folder)) != 0 ||
        !may_serve(file->data, (int)l->device.facts.compute_capability, predicted))
      continue;
    status = shipped_distance(l, file->data, class_key, &distance, err);
    if (!status && distance < nearest) *out = file->data, nearest = distance;
  }
  return status;
}

/* ---- Serving -------------------------------------------------------------------------------- */

/* Parses the portfolio and adds its limit to the rule, which names no variant beyond the limit. */
static int make_body(const char *shipped, struct portfolio_body *out, cugen_error *err) {
  struct text rule = {0};
  size_t length = 0;
  const char *within = shipped_find_line(shipped, "within", &length),
             *body = strstr(shipped, "\n\n");
  int status = portfolio_body_parse(body ? body + 2 : "", out, err);
  if (status) return status;
  text_add(&rule, "select(");
  text_add_n(&rule, within ? within : "false", length ? length : 5);
  text_addf(&rule, ", %s, %zu)", out->rule, out->count);
  free(out->rule);
  out->rule = text_take(&rule);
  return out->rule ? CUGEN_OK : error_memory(err);
}

static int make_found(const struct lookup *l, const char *shipped, struct portfolio_shipped *out,
                      cugen_error *err) {
  struct device_description there;
  int status = make_body(shipped, &out->body, err);
  char *device = status ? NULL : copy_line(shipped, "device", err);
  if (!device) return status ? status : CUGEN_ERROR_MEMORY;
  out->predicted = device_parse(device).predicted;
  out->device = strdup(device_parse(device).name);
  free(device);
  if (!out->device) return error_memory(err);
  out->same_model =
      strcmp(out->device, l->device.fingerprint) == 0 ||
      (api_described(l->lib, out->device, &there) && strcmp(there.name, l->device.name) == 0);
  return CUGEN_OK;
}

int portfolio_find_shipped(const struct lookup *l, bool predicted, struct portfolio_shipped *out,
                           bool *found, cugen_error *err) {
  struct text class = {0};
  const char *shipped = NULL;
  *out = (struct portfolio_shipped){0};
  *found = false;
  if (!l->config->shipped) return CUGEN_OK; /* the user's own config of the same name */
  problem_print_class(l->config, l->problem, &class);
  const struct cache_key class_key = {.problem = text_get(&class),
                                      .may_lack = problem_class_may_lack(l->config, l->problem)};
  int status =
      class.failed ? error_memory(err) : find_nearest(l, &class_key, predicted, &shipped, err);
  if (!status && shipped) status = make_found(l, shipped, out, err);
  *found = !status && shipped;
  if (status) portfolio_shipped_free(out);
  text_free(&class);
  return status;
}

void portfolio_shipped_free(struct portfolio_shipped *shipped) {
  portfolio_body_free(&shipped->body);
  free(shipped->device);
  *shipped = (struct portfolio_shipped){0};
}

int portfolio_serve_shipped(struct lookup *l, bool predicted, struct failures *failures,
                            struct portfolio_answer *out, struct text *device, bool *found,
                            cugen_error *err) {
  struct portfolio_shipped shipped;
  bool any;
  *found = false;
  int status = portfolio_find_shipped(l, predicted, &shipped, &any, err);
  if (status || !any) return status;
  status = portfolio_serve_by(l, &shipped.body, true, failures, out, found, err);
  if (*found) text_add(device, shipped.device);
  out->same_model = *found && shipped.same_model;
  portfolio_shipped_free(&shipped);
  return status;
}

int portfolio_shipped_leaders(struct lookup *l, struct priors *out, cugen_error *err) {
  struct portfolio_shipped shipped;
  struct portfolio_order order;
  bool any;
  int status = portfolio_find_shipped(l, false, &shipped, &any, err);
  if (!status && !any) status = portfolio_find_shipped(l, true, &shipped, &any, err);
  if (status || !any) return status;
  const struct portfolio_body *body = &shipped.body;
  const size_t before = out->count;
  status = portfolio_ask(body, l->config, l->problem, &order, err);
  for (size_t i = 0; i < order.count && !status && order.named; i++)
    priors_add(out, body->variants[order.at[i]].variant);
  if (out->count > before)
    text_addf(&out->shipped, "%s%s", shipped.predicted ? "predictions for " : "", shipped.device);
  portfolio_shipped_free(&shipped);
  return status;
}
