/* The forms of other autotuners' files of results; see foreign.h. Each form is JSON, and each
   result in it becomes an object of parameters with a time. Facts of the whole file, such as the
   device, become parameters of each result (not in T4), so that a map can test them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

struct forms {
  const char *path;
  foreign_visit *visit;
  void *context;
  cugen_error *err;
};

int foreign_parse(const char *path, const struct text *text, json_t **out, cugen_error *err) {
  json_error_t why;
  *out = json_loadb(text_get(text), text->length, 0, &why);
  if (!*out)
    return error_set_at(err, CUGEN_ERROR_USAGE, path, why.line > 0 ? why.line : 1, "%s", why.text);
  if (json_is_object(*out)) return CUGEN_OK;
  json_decref(*out);
  *out = NULL;
  return error_set_at(err, CUGEN_ERROR_USAGE, path, 1, "an object of JSON is expected: { ... }");
}

static double number_of(json_t *value) {
  return json_is_number(value) ? json_number_value(value) : -1;
}

/* Copies numbers, words, and what is true or false. */
static void copy_scalars(json_t *to, json_t *from) {
  const char *name;
  json_t *value;
  json_object_foreach(from, name, value) {
    if (!json_is_object(value) && !json_is_array(value) && !json_is_null(value))
      json_object_set(to, name, value);
  }
}

/* Makes the parameters of a result: those that all results have, and the result's own. */
static json_t *join(json_t *common, json_t *own) {
  json_t *all = json_object();
  copy_scalars(all, common);
  copy_scalars(all, own);
  return all;
}

static int give(const struct forms *f, json_t *parameters, double seconds) {
  int status =
      parameters ? f->visit(f->context, parameters, seconds, f->err) : error_memory(f->err);
  json_decref(parameters);
  return status;
}

/* ---- Kernel Tuner's cache: times in milliseconds, a word for a failure ---- */

static bool is_kernel_tuner(json_t *root) {
  return json_is_object(json_object_get(root, "cache"));
}

static int read_kernel_tuner(const struct forms *f, json_t *root) {
  static const char *const sizes[] = {"problem_size_x", "problem_size_y", "problem_size_z"};
  const char *key;
  json_t *result, *common = join(root, NULL), *size = json_object_get(root, "problem_size");
  int status = CUGEN_OK;
  /* The size is a number, which join has copied, or a list of up to three. */
  for (size_t i = 0; i < json_array_size(size) && i < 3; i++)
    json_object_set(common, sizes[i], json_array_get(size, i));
  json_object_foreach(json_object_get(root, "cache"), key, result) {
    const double time = number_of(json_object_get(result, "time"));
    if (!status) status = give(f, join(common, result), time < 1e20 ? time / 1e3 : -1);
  }
  json_decref(common);
  return status;
}

/* ---- T4, results of autotuners: the measurement named time ---- */

static bool is_t4(json_t *root) {
  json_t *results = json_object_get(root, "results");
  return json_is_array(results) &&
         (!json_array_size(results) ||
          json_is_object(json_object_get(json_array_get(results, 0), "configuration")));
}

/* Returns the seconds of a unit, of a millisecond if the unit is missing; 0: unknown. */
static double unit_seconds(const char *unit) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {
      {"s", 1},       {"seconds", 1},         {"ms", 1e-3},           {"milliseconds", 1e-3},
      {"us", 1e-6},   {"microseconds", 1e-6}, {"ns", 1e-9},           {"nanoseconds", 1e-9},
      {"Seconds", 1}, {"Milliseconds", 1e-3}, {"Microseconds", 1e-6}, {"Nanoseconds", 1e-9},
      {"", 1e-3}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(units[i].name, unit ? unit : "") == 0) return units[i].seconds;
  return 0;
}

/* *seconds < 0: the result failed, or has no time. */
static int t4_seconds(const struct forms *f, json_t *result, double *seconds) {
  const char *invalidity = json_string_value(json_object_get(result, "invalidity"));
  size_t i;
  json_t *one;
  *seconds = -1;
  if (invalidity && strcmp(invalidity, "correct") != 0) return CUGEN_OK;
  json_array_foreach(json_object_get(result, "measurements"), i, one) {
    const char *name = json_string_value(json_object_get(one, "name"));
    const char *unit = json_string_value(json_object_get(one, "unit"));
    if (!name || strcmp(name, "time") != 0) continue;
    if (unit_seconds(unit) <= 0)
      return error_set(f->err, CUGEN_ERROR_USAGE,
                       "%s: the unit of a time, '%s', is not known: write s, ms, us or ns", f->path,
                       unit);
    *seconds = number_of(json_object_get(one, "value")) * unit_seconds(unit);
    return CUGEN_OK;
  }
  return CUGEN_OK;
}

static int read_t4(const struct forms *f, json_t *root) {
  size_t i;
  json_t *result;
  int status = CUGEN_OK;
  json_array_foreach(json_object_get(root, "results"), i, result) {
    double seconds = -1;
    if (!status) status = t4_seconds(f, result, &seconds);
    if (!status) status = give(f, join(NULL, json_object_get(result, "configuration")), seconds);
  }
  return status;
}

/* ---- KTT: a list of names and values, a unit for the whole file ---- */

static bool is_ktt(json_t *root) {
  return json_is_array(json_object_get(root, "Results"));
}

/* Returns the parameters of a result: the common ones, those of the result, and its configuration's
   values by name. */
static json_t *ktt_parameters(json_t *common, json_t *result) {
  json_t *all = join(common, result), *pair;
  size_t i;
  json_array_foreach(json_object_get(result, "Configuration"), i, pair) {
    const char *name = json_string_value(json_object_get(pair, "Name"));
    if (name) json_object_set(all, name, json_object_get(pair, "Value"));
  }
  return all;
}

static int read_ktt(const struct forms *f, json_t *root) {
  json_t *common = json_object_get(root, "Metadata"), *result;
  const char *name = json_string_value(json_object_get(common, "TimeUnit"));
  const double unit = unit_seconds(name);
  size_t i;
  int status = CUGEN_OK;
  if (unit <= 0)
    return error_set(f->err, CUGEN_ERROR_USAGE, "%s: TimeUnit '%s' is not known", f->path,
                     name ? name : "");
  json_array_foreach(json_object_get(root, "Results"), i, result) {
    const char *state = json_string_value(json_object_get(result, "Status"));
    const bool right = !state || strcmp(state, "Ok") == 0;
    const double time = number_of(json_object_get(result, "TotalDuration"));
    status = give(f, ktt_parameters(common, result), right ? time * unit : -1);
    if (status) break;
  }
  return status;
}

/* ---- CLBlast: its database, whose results are "64,8" and a time, or the file of a tuner ---- */

static bool is_clblast(json_t *root) {
  return json_is_array(json_object_get(root, "sections")) ||
         (json_object_get(root, "kernel_family") &&
          json_is_array(json_object_get(root, "results")));
}

/* Adds the values of a text, "64,8", by their names. */
static void add_listed(json_t *to, json_t *names, const char *values) {
  for (size_t i = 0; i < json_array_size(names); i++) {
    const char *name = json_string_value(json_array_get(names, i));
    const size_t length = strcspn(values, ",");
    if (name) json_object_set_new(to, name, json_stringn(values, length));
    values += length + (values[length] == ',');
  }
}

static int read_section(const struct forms *f, json_t *section) {
  json_t *names = json_object_get(section, "parameter_names"), *result;
  size_t i;
  int status = CUGEN_OK;
  json_array_foreach(json_object_get(section, "results"), i, result) {
    json_t *parameters = join(section, json_object_get(result, "parameters"));
    json_t *time = json_object_get(result, "time");
    if (json_is_array(result)) {
      const char *values = json_string_value(json_array_get(result, 0));
      add_listed(parameters, names, values ? values : "");
      time = json_array_get(result, 1);
    }
    const double milliseconds = number_of(time);
    if (status)
      json_decref(parameters);
    else
      status = give(f, parameters, milliseconds > 0 ? milliseconds / 1e3 : -1);
  }
  return status;
}

static int read_clblast(const struct forms *f, json_t *root) {
  json_t *sections = json_object_get(root, "sections"), *section;
  size_t i;
  int status = sections ? CUGEN_OK : read_section(f, root);
  json_array_foreach(sections, i, section) {
    if (!status) status = read_section(f, section);
  }
  return status;
}

/* ---- vLLM and SGLang: the best parameters by the number of rows, M, without a time ---- */

static bool is_tuned_json(json_t *root) {
  const char *name;
  json_t *value;
  size_t count = 0;
  json_object_foreach(root, name, value) {
    if (!json_is_object(value)) continue;
    if (!*name || name[strspn(name, "0123456789")]) return false;
    count++;
  }
  return count > 0;
}

static int read_tuned_json(const struct forms *f, json_t *root) {
  const char *rows;
  json_t *value, *common = join(root, NULL);
  int status = CUGEN_OK;
  json_object_foreach(root, rows, value) {
    if (status || !json_is_object(value)) continue;
    json_t *parameters = join(common, value);
    json_object_set_new(parameters, "M", json_string(rows));
    status = give(f, parameters, 0);
  }
  json_decref(common);
  return status;
}

/* ---- All ---- */

static const struct {
  bool (*is)(json_t *root);
  int (*read)(const struct forms *f, json_t *root);
} forms[] = {{is_kernel_tuner, read_kernel_tuner},
             {is_clblast, read_clblast},
             {is_t4, read_t4},
             {is_ktt, read_ktt},
             {is_tuned_json, read_tuned_json}};

int foreign_read(const char *path, const struct text *text, foreign_visit *visit, void *context,
                 cugen_error *err) {
  const struct forms f = {path, visit, context, err};
  json_t *root;
  int status = foreign_parse(path, text, &root, err);
  if (status) return status;
  size_t i = 0;
  while (i < sizeof forms / sizeof *forms && !forms[i].is(root)) i++;
  if (i < sizeof forms / sizeof *forms)
    status = forms[i].read(&f, root);
  else
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "%s is of an unknown form; known are Kernel Tuner's cache (\"cache\"), T4 "
                       "(\"results\" with \"configuration\"), KTT's results (\"Results\"), "
                       "CLBlast's database and tuner files (\"sections\", \"kernel_family\"), and "
                       "the tuned JSON of vLLM and SGLang (an object for each number of rows)",
                       path);
  json_decref(root);
  return status;
}
