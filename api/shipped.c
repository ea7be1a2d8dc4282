/* Portfolios that are shipped for the shipped configs: their times were measured on GPUs elsewhere,
   or predicted for such a GPU ("device predicted NVIDIA A100 ..."). Shipped portfolios serve a plan
   if no measurement here does. tools/bench/ship-portfolio writes configs/portfolios/NAME.txt, which
   begins with

     device NVIDIA H200 sm_90 132 SMs
     kernel matmul
     objective time
     within M * N * K <= 24795676672
     class dtype=bf16 layout_a=row ...
     class dtype=f16 layout_a=row ...
     exchange M N BM BN
     unchanged wgmma
     mirror dtype=bf16 layout_a=col ...

   An empty line follows, and then the body of a portfolio (runtime/store/portfolio.h). The
   portfolio does not serve sizes for which `within` is false. A class that is a mirror is served
   after the words of each pair of `exchange` have changed places, but in variants of the
   implementations that are `unchanged`: a product whose C is stored by columns is the transposed
   product with C by rows, and wgmma's tile is of the transpose then. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/device_name.h"
#include "base/key.h"
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

/* Returns the number of settings in which the two classes differ; INFINITY if the type of the
   elements, "dtype", is among them. */
static double class_difference(const char *class, const char *wanted) {
  struct setting setting;
  double differ = 0;
  while (setting_next(&class, &setting)) {
    if (settings_have(wanted, &setting)) continue;
    if (setting_is_named(setting.text, "dtype")) return INFINITY;
    differ++;
  }
  return differ;
}

/* *out becomes the least difference between the look-up's class and those that the portfolio lists
   behind the word, "class" or "mirror"; 0 if the look-up's class is listed. */
static int shipped_difference(const char *text, const char *word, const struct cache_key *class_key,
                              double *out, cugen_error *err) {
  struct text class = {0};
  size_t length;
  uint64_t lacks;
  *out = INFINITY;
  for (const char *at = text; *out > 0 && (at = shipped_find_line(at, word, &length));
       at += length + (at[length] == '\n')) {
    text_clear(&class);
    text_add_n(&class, at, length);
    if (class.failed) break;
    const bool same = cache_lacks(class_key, text_get(&class), &lacks);
    *out = same ? 0 : fmin(*out, fmax(class_difference(text_get(&class), class_key->problem), 1));
  }
  const int status = class.failed ? error_memory(err) : CUGEN_OK;
  text_free(&class);
  return status;
}

/* ---- Portfolios by their distance ----------------------------------------------------------- */

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

/* The embedded text of a portfolio, and the distances of its class and of its GPU from those of the
   look-up. INFINITY: the portfolio does not serve. */
struct shipped_file {
  const char *text;
  size_t place; /* among the embedded files; decides between equal distances */
  double class, device;
  bool mirrored; /* the class is one of its mirrors */
};

/* Sets the distances of the class and of the GPU: 0 for the look-up's own GPU, 1 or more for
   another, INFINITY for a GPU without a description. The distance of the GPU, which is expensive,
   is computed only for files of the kernel and of a class that the kind admits. */
static int measure_distance(const struct lookup *l, const struct cache_key *class_key,
                            enum portfolio_kind kind, struct shipped_file *file, cugen_error *err) {
  struct device_description other;
  file->class = file->device = INFINITY;
  if (!has_line(file->text, "kernel", l->config->name) ||
      !has_line(file->text, "objective", portfolio_objective(l->config)))
    return CUGEN_OK;
  double mirrored = INFINITY;
  int status = shipped_difference(file->text, "class", class_key, &file->class, err);
  if (!status) status = shipped_difference(file->text, "mirror", class_key, &mirrored, err);
  file->mirrored = mirrored < file->class;
  if (file->mirrored) file->class = mirrored;
  if (status || isinf(file->class) || (file->class > 0 && kind != PORTFOLIO_OTHER_CLASS))
    return status;
  char *device = copy_line(file->text, "device", err);
  if (!device) return CUGEN_ERROR_MEMORY;
  const char *name = device_parse(device).name;
  if (strcmp(name, l->device.fingerprint) == 0)
    file->device = 0;
  else if (api_described(l->lib, name, &other))
    file->device = api_gpu_distance(&other.facts, &l->device.facts);
  free(device);
  return CUGEN_OK;
}

static int compare_files(const void *a, const void *b) {
  const struct shipped_file *x = a, *y = b;
  if (x->class != y->class) return x->class < y->class ? -1 : 1;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Lists the portfolios of the kind, the nearest first. For PORTFOLIO_OTHER_CLASS those of the
   look-up's own class are among them. The caller frees the list, also after a failure. */
static int list_shipped(const struct lookup *l, const struct cache_key *class_key,
                        enum portfolio_kind kind, struct shipped_file **files, size_t *count,
                        cugen_error *err) {
  static const char folder[] = "configs/portfolios/";
  int status = CUGEN_OK;
  for (const struct embedded_file *file = embedded_files; file->path && !status; file++) {
    struct shipped_file one = {.text = file->data, .place = (size_t)(file - embedded_files)};
    if (strncmp(file->path, folder, strlen(folder)) != 0 ||
        !may_serve(file->data, (int)l->device.facts.compute_capability,
                   kind == PORTFOLIO_PREDICTED))
      continue;
    status = measure_distance(l, class_key, kind, &one, err);
    if (status || isinf(one.device)) continue;
    if (ARRAY_ROOM(*files, *count))
      (*files)[(*count)++] = one;
    else
      status = error_memory(err);
  }
  if (*count) qsort(*files, *count, sizeof **files, compare_files);
  return status;
}

/* Lists the portfolios of the kind that may serve the look-up. Another class serves only if the
   look-up's own class has no portfolio. */
static int list_serving(const struct lookup *l, enum portfolio_kind kind,
                        struct shipped_file **files, size_t *count, cugen_error *err) {
  struct text class = {0};
  *files = NULL, *count = 0;
  if (!l->config->shipped)
    return CUGEN_OK; /* the config is the user's own, perhaps with a shipped config's name */
  problem_print_class(l->config, l->problem, &class);
  const struct cache_key class_key = {.problem = text_get(&class),
                                      .may_lack = problem_class_may_lack(l->config, l->problem)};
  int status =
      class.failed ? error_memory(err) : list_shipped(l, &class_key, kind, files, count, err);
  if (kind == PORTFOLIO_OTHER_CLASS && *count && (*files)[0].class == 0) *count = 0;
  text_free(&class);
  return status;
}

/* ---- Serving -------------------------------------------------------------------------------- */

/* Adds the portfolio's limit to the rule, which names no variant beyond the limit. */
static int limit_rule(const char *shipped, struct portfolio_body *body, cugen_error *err) {
  struct text rule = {0};
  size_t length = 0;
  const char *within = shipped_find_line(shipped, "within", &length);
  text_add(&rule, "select(");
  text_add_n(&rule, within ? within : "false", length ? length : 5);
  text_addf(&rule, ", %s, %zu)", body->rule, body->count);
  free(body->rule);
  body->rule = text_take(&rule);
  return body->rule ? CUGEN_OK : error_memory(err);
}

/* Returns the word with which the word changes places, or the word itself; *length becomes that of
   the result. pairs: words with a blank between, the two of each pair beside each other. */
static const char *exchanged_word(const char *pairs, const char *word, size_t *length) {
  const char *at = pairs, *before = NULL;
  size_t before_length = 0;
  for (size_t i = 0; *at && *at != '\n'; i++) {
    const size_t own = strcspn(at, " \n");
    const char *next = at + own + (at[own] == ' ');
    if (own == *length && strncmp(at, word, own) == 0) {
      *length = i % 2 ? before_length : strcspn(next, " \n");
      return i % 2 ? before : next;
    }
    before = at, before_length = own, at = next;
  }
  return word;
}

/* Appends the line with the words of each pair exchanged. */
static void mirror_line(const char *pairs, const char *line, size_t length, struct text *out) {
  for (const char *at = line; at < line + length;) {
    size_t own = 0;
    while (text_is_word(at[own])) own++;
    size_t other = own;
    const char *word = own ? exchanged_word(pairs, at, &other) : at;
    text_add_n(out, word, own ? other : 1);
    at += own ? own : 1;
  }
}

/* Returns whether the line is "variant NUMBER HASH IMPLEMENTATION ..." of an implementation in the
   list of words. */
static bool is_unchanged(const char *list, const char *line) {
  static const char mark[] = "variant ";
  if (!list || strncmp(line, mark, sizeof mark - 1) != 0) return false;
  for (int i = 0; i < 3; i++) line += strcspn(line, " \n"), line += *line == ' ';
  const size_t own = strcspn(line, " \n");
  for (size_t length; *list && *list != '\n'; list += length + (list[length] == ' ')) {
    length = strcspn(list, " \n");
    if (length == own && strncmp(list, line, own) == 0) return true;
  }
  return false;
}

/* Returns a copy of the portfolio in which the words of its pairs have changed places; the caller
   frees it. */
static char *mirror(const char *shipped, cugen_error *err) {
  struct text out = {0};
  size_t length;
  const char *pairs = shipped_find_line(shipped, "exchange", &length),
             *unchanged = shipped_find_line(shipped, "unchanged", &length);
  for (const char *line = shipped; *line; line += length) {
    length = strcspn(line, "\n");
    length += line[length] == '\n';
    if (!pairs || is_unchanged(unchanged, line))
      text_add_n(&out, line, length);
    else
      mirror_line(pairs, line, length, &out);
  }
  char *copy = text_take(&out);
  if (!copy) error_memory(err);
  return copy;
}

/* Parses the portfolio and describes its device. Free *out also after a failure. */
static int make_found(const struct lookup *l, const struct shipped_file *file,
                      struct portfolio_shipped *out, cugen_error *err) {
  struct device_description there;
  char *mirrored = file->mirrored ? mirror(file->text, err) : NULL;
  if (file->mirrored && !mirrored) return CUGEN_ERROR_MEMORY;
  const char *shipped = mirrored ? mirrored : file->text;
  const char *body = strstr(shipped, "\n\n");
  int status = portfolio_body_parse(body ? body + 2 : "", &out->body, err);
  if (!status) status = limit_rule(shipped, &out->body, err);
  free(mirrored);
  if (status) return status;
  char *device = copy_line(file->text, "device", err);
  if (!device) return CUGEN_ERROR_MEMORY;
  out->predicted = device_parse(device).predicted;
  out->device = strdup(device_parse(device).name);
  free(device);
  if (!out->device) return error_memory(err);
  out->same_model =
      strcmp(out->device, l->device.fingerprint) == 0 ||
      (api_described(l->lib, out->device, &there) && strcmp(there.name, l->device.name) == 0);
  return CUGEN_OK;
}

int portfolio_find_shipped(const struct lookup *l, enum portfolio_kind kind,
                           struct portfolio_shipped *out, bool *found, cugen_error *err) {
  struct shipped_file *files = NULL;
  size_t count = 0;
  *out = (struct portfolio_shipped){0};
  *found = false;
  int status = list_serving(l, kind, &files, &count, err);
  if (!status && count) status = make_found(l, &files[0], out, err);
  *found = !status && count;
  if (status) portfolio_shipped_free(out);
  free(files);
  return status;
}

void portfolio_shipped_free(struct portfolio_shipped *shipped) {
  portfolio_body_free(&shipped->body);
  free(shipped->device);
  *shipped = (struct portfolio_shipped){0};
}

int portfolio_serve_shipped(struct lookup *l, enum portfolio_kind kind, struct failures *failures,
                            struct portfolio_answer *out, struct text *device, bool *found,
                            cugen_error *err) {
  struct shipped_file *files = NULL;
  size_t count = 0;
  *found = false;
  int status = list_serving(l, kind, &files, &count, err);
  for (size_t i = 0; i < count && !status && !*found; i++) {
    struct portfolio_shipped shipped = {0};
    status = make_found(l, &files[i], &shipped, err);
    if (!status) status = portfolio_serve_by(l, &shipped.body, kind, failures, out, found, err);
    if (*found) text_add(device, shipped.device);
    out->same_model = *found && shipped.same_model;
    portfolio_shipped_free(&shipped);
  }
  free(files);
  return status;
}

int portfolio_shipped_leaders(struct lookup *l, struct priors *out, cugen_error *err) {
  struct portfolio_shipped shipped;
  struct portfolio_order order;
  int status = CUGEN_OK;
  bool any = false;
  for (int kind = PORTFOLIO_MEASURED; kind < PORTFOLIO_KINDS && !status && !any; kind++)
    status = portfolio_find_shipped(l, (enum portfolio_kind)kind, &shipped, &any, err);
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
