/* Imports results of other autotuners as suggestions; see foreign.h. The map is a JSON file:

     { "config": "matmul", "implementation": "tiled", "where": "precision == 32",
       "problem": { "M": "arg_m", "N": 1024 },
       "tunables": { "tile": "MWG", "rows": "MWG / MDIMC", "order": "'rows'" } }

   The values of "where", "problem" and "tunables" are constants, or expressions over the names of
   the other autotuner's parameters. */
#include "foreign.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/expr.h"
#include "base/input.h"
#include "base/sizes.h"
#include "library.h"
#include "lookup.h"

enum { SUGGESTIONS_OF_A_PROBLEM = 32 };
/* Stored for a result without a time, because suggestions are ordered by time. */
#define UNKNOWN_SECONDS 1

/* ---- The map -------------------------------------------------------------------------------- */

/* Names of the other autotuner's parameters that expressions of the map mention. */
struct foreign_names {
  char **all;
  size_t count;
  bool failed; /* memory is out */
};

/* What the map gives to a setting of the problem or to a tunable. */
struct foreign_value {
  const char *name; /* belongs to the config */
  struct expr *expr;
  const struct value *constant; /* in place of expr: the only value that the tunable has */
};

struct foreign_map {
  const char *path;
  json_t *root;
  struct opened_config opened;
  const struct config_implementation *implementation;
  struct foreign_names names;
  struct expr *where; /* NULL: every result */
  struct foreign_value *problem, *tunables;
  size_t problem_count;
};

/* Adds an unknown name, because any name may be a parameter in the file of results. */
static struct expr_symbol foreign_find(void *context, const char *name) {
  struct foreign_names *names = context;
  size_t at = 0;
  while (at < names->count && strcmp(names->all[at], name) != 0) at++;
  if (at == names->count && !array_add_text(&names->all, &names->count, name))
    return names->failed = true, (struct expr_symbol){0};
  return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = (int)at};
}

static const char *const *foreign_known(void *context, size_t *count) {
  const struct foreign_names *names = context;
  *count = names->count;
  return (const char *const *)names->all;
}

static int parse_value(struct foreign_map *map, const char *where, json_t *value, struct expr **out,
                       cugen_error *err) {
  const struct expr_scope scope = {foreign_find, foreign_known, &map->names};
  struct text text = {0};
  if (json_is_string(value))
    text_add(&text, json_string_value(value));
  else if (json_is_boolean(value))
    text_add(&text, json_is_true(value) ? "true" : "false");
  else if (json_is_integer(value))
    text_addf(&text, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    value_print(value_float(json_real_value(value)), &text);
  else
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s: %s: an expression over the file's parameters, or a number, is expected",
                     map->path, where);
  int status = text.failed ? error_memory(err) : expr_parse(text_get(&text), &scope, out, err);
  if (map->names.failed) status = error_memory(err);
  if (status && status != CUGEN_ERROR_MEMORY) {
    error_prefix(err, "%s: %s", map->path, where);
    status = err->status = CUGEN_ERROR_USAGE;
  }
  text_free(&text);
  return status;
}

static int read_word(const struct foreign_map *map, const char *name, const char **out,
                     cugen_error *err) {
  *out = json_string_value(json_object_get(map->root, name));
  return *out ? CUGEN_OK
              : error_set(err, CUGEN_ERROR_USAGE, "%s: \"%s\" is missing: a text is expected",
                          map->path, name);
}

static int find_implementation(struct foreign_map *map, cugen_error *err) {
  const struct config *config = map->opened.config;
  const char *name = NULL;
  int status = read_word(map, "implementation", &name, err);
  if (status) return status;
  for (size_t i = 0; i < config->implementation_count; i++)
    if (strcmp(config->implementations[i].name, name) == 0)
      return map->implementation = &config->implementations[i], CUGEN_OK;
  error_set(err, CUGEN_ERROR_USAGE, "%s: '%s' is no implementation of %s; there are", map->path,
            name, config->name);
  for (size_t i = 0; i < config->implementation_count; i++)
    error_append(err, "%s %s", i ? "," : "", config->implementations[i].name);
  return CUGEN_ERROR_USAGE;
}

static const struct config_problem *find_setting(const struct config *config, const char *name) {
  for (size_t i = 0; i < config->problem_count; i++)
    if (strcmp(config->problems[i].name, name) == 0) return &config->problems[i];
  return NULL;
}

/* Settings that the map leaves out have the config's defaults. */
static int read_problem(struct foreign_map *map, cugen_error *err) {
  json_t *problem = json_object_get(map->root, "problem"), *value;
  const char *name;
  int status = CUGEN_OK;
  map->problem = calloc(json_object_size(problem) + 1, sizeof *map->problem);
  if (!map->problem) return error_memory(err);
  json_object_foreach(problem, name, value) {
    const struct config_problem *setting = find_setting(map->opened.config, name);
    struct foreign_value *to = &map->problem[map->problem_count];
    if (status) break;
    if (!setting)
      return error_set(err, CUGEN_ERROR_USAGE, "%s: problem: '%s' is no setting of %s", map->path,
                       name, map->opened.config->name);
    to->name = setting->name;
    status = parse_value(map, name, value, &to->expr, err);
    map->problem_count += !status;
  }
  return status;
}

static int read_tunables(struct foreign_map *map, cugen_error *err) {
  const struct config_implementation *of = map->implementation;
  json_t *tunables = json_object_get(map->root, "tunables");
  size_t used = 0;
  int status = CUGEN_OK;
  map->tunables = calloc(of->tunable_count + 1, sizeof *map->tunables);
  if (!map->tunables) return error_memory(err);
  for (size_t i = 0; i < of->tunable_count && !status; i++) {
    const struct config_tunable *tunable = &of->tunables[i];
    json_t *value = json_object_get(tunables, tunable->name);
    map->tunables[i].name = tunable->name;
    used += value != NULL;
    if (value)
      status = parse_value(map, tunable->name, value, &map->tunables[i].expr, err);
    else if (tunable->value_count == 1)
      map->tunables[i].constant = &tunable->values[0];
    else
      status = error_set(err, CUGEN_ERROR_USAGE,
                         "%s: tunables: '%s' of %s is missing: give it an expression or a constant",
                         map->path, tunable->name, of->name);
  }
  if (!status && used < json_object_size(tunables)) {
    error_set(err, status = CUGEN_ERROR_USAGE, "%s: tunables: %s has only", map->path, of->name);
    for (size_t i = 0; i < of->tunable_count; i++)
      error_append(err, "%s %s", i ? "," : "", of->tunables[i].name);
  }
  return status;
}

static int check_words(const struct foreign_map *map, cugen_error *err) {
  static const char *const words[] = {"config", "implementation", "where", "problem", "tunables"};
  const char *name;
  json_t *value;
  json_object_foreach(map->root, name, value) {
    size_t at = 0;
    while (at < sizeof words / sizeof *words && strcmp(words[at], name) != 0) at++;
    if (at == sizeof words / sizeof *words)
      return error_set(
          err, CUGEN_ERROR_USAGE,
          "%s: '%s' is not known: a map has config, implementation, where, problem and tunables",
          map->path, name);
    if (at >= 3 && !json_is_object(value))
      return error_set(err, CUGEN_ERROR_USAGE, "%s: %s: an object is expected: { ... }", map->path,
                       name);
  }
  return CUGEN_OK;
}

static int map_open(const cugen *lib, const char *path, struct foreign_map *map, cugen_error *err) {
  struct text text = {0};
  const char *config = NULL;
  map->path = path;
  int status = file_read_at_most(path, SIZE_DESCRIPTION, &text, err);
  if (!status) status = foreign_parse(path, &text, &map->root, err);
  if (!status) status = check_words(map, err);
  if (!status) status = read_word(map, "config", &config, err);
  if (!status) status = opened_config_open(lib, config, &map->opened, err);
  if (!status) status = find_implementation(map, err);
  json_t *where = status ? NULL : json_object_get(map->root, "where");
  if (where) status = parse_value(map, "where", where, &map->where, err);
  if (!status) status = read_problem(map, err);
  if (!status) status = read_tunables(map, err);
  text_free(&text);
  return status;
}

static void map_close(struct foreign_map *map) {
  for (size_t i = 0; i < map->problem_count; i++) expr_free(map->problem[i].expr);
  for (size_t i = 0; map->tunables && i < map->implementation->tunable_count; i++)
    expr_free(map->tunables[i].expr);
  array_free_texts(map->names.all, map->names.count);
  free(map->problem);
  free(map->tunables);
  expr_free(map->where);
  opened_config_close(&map->opened);
  json_decref(map->root);
}

/* ---- One result ----------------------------------------------------------------------------- */

struct suggestion {
  char *problem, *variant;
  double seconds;
};

struct suggesting {
  const char *path;
  struct foreign_map map;
  struct value *slots; /* the parameters of one result, in the order of map.names */
  struct suggestion *all;
  size_t count;
  struct text why; /* why the first result is no variant of the config */
  api_suggested *out;
};

/* A text that is a number counts as that number, because some forms write numbers as texts. */
static struct value value_of(json_t *parameter) {
  const char *word = json_string_value(parameter);
  char *end = NULL;
  if (json_is_boolean(parameter)) return value_bool(json_is_true(parameter));
  if (json_is_integer(parameter)) return value_int(json_integer_value(parameter));
  if (json_is_real(parameter)) {
    const double real = json_real_value(parameter);
    const bool whole = fabs(real) < 1e15 && real >= floor(real) && real <= floor(real);
    return whole ? value_int((int64_t)real) : value_float(real);
  }
  if (!word) return (struct value){.type = VALUE_NIL};
  errno = 0;
  const long long whole = strtoll(word, &end, 10);
  if (*word && !*end && !errno) return value_int(whole);
  const double real = strtod(word, &end);
  return *word && !*end && isfinite(real) ? value_float(real) : value_string(word);
}

static int check_parameter(const struct suggesting *s, size_t at, json_t *parameters,
                           cugen_error *err) {
  const char *other;
  json_t *value;
  size_t listed = 0;
  if (s->slots[at].type != VALUE_NIL) return CUGEN_OK;
  error_set(err, CUGEN_ERROR_USAGE, "%s: a result in %s has no parameter '%s'; it has", s->map.path,
            s->path, s->map.names.all[at]);
  json_object_foreach(parameters, other, value) {
    error_append(err, "%s %s", listed++ ? "," : "", other);
  }
  return CUGEN_ERROR_USAGE;
}

/* Sets *meant to false if the map's `where` excludes the result. Only the parameters that `where`
   reads must exist. */
static int is_meant(const struct suggesting *s, json_t *parameters, bool *meant, cugen_error *err) {
  size_t count = 0;
  const int *slots = s->map.where ? expr_slots(s->map.where, &count) : NULL;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = check_parameter(s, (size_t)slots[i], parameters, err);
  if (status || !s->map.where) return status;
  status = expr_eval_bool(s->map.where, s->slots, meant, err);
  if (status) error_prefix(err, "%s: where", s->map.path);
  return status ? (err->status = CUGEN_ERROR_USAGE) : CUGEN_OK;
}

static int evaluate(const struct suggesting *s, const struct foreign_value *of,
                    enum value_type type, struct value *out, cugen_error *err) {
  int status = of->constant ? CUGEN_OK : expr_eval(of->expr, s->slots, out, err);
  if (of->constant) *out = *of->constant;
  /* 1 is true where the config has a flag. */
  if (!status && type == VALUE_BOOL && out->type == VALUE_INT &&
      (out->integer == 0 || out->integer == 1))
    *out = value_bool(out->integer == 1);
  return status;
}

static void unmatched(struct suggesting *s, const char *why) {
  s->out->unmatched++;
  if (!s->why.length) text_add(&s->why, why);
}

/* Appends " name=value". Returns false, with the reason noted, if the tunable gets no value that it
   may have. */
static bool add_tunable(struct suggesting *s, size_t at, struct text *variant) {
  const struct config_tunable *tunable = &s->map.implementation->tunables[at];
  struct value value;
  cugen_error why;
  size_t i = 0;
  if (evaluate(s, &s->map.tunables[at], tunable->values[0].type, &value, &why))
    return unmatched(s, why.message), false;
  while (i < tunable->value_count && !value_equal(tunable->values[i], value)) i++;
  text_add_char(variant, ' ');
  if (i < tunable->value_count)
    return setting_print(tunable->name, tunable->values[i], variant), true;
  struct text text = {0};
  text_addf(&text, "tunable '%s' has no value ", tunable->name);
  value_print(value, &text);
  unmatched(s, text_get(&text));
  text_free(&text);
  return false;
}

/* Prints the problem as the keys of records have it; *known false: the config does not have the
   problem. */
static int print_problem(struct suggesting *s, struct text *out, bool *known, cugen_error *err) {
  const struct config *config = s->map.opened.config;
  struct text words = {0};
  struct problem problem = {0};
  cugen_error why = {0};
  int status = CUGEN_OK;
  for (size_t i = 0; i < s->map.problem_count && !status; i++) {
    const struct foreign_value *of = &s->map.problem[i];
    struct value value;
    status = evaluate(s, of, find_setting(config, of->name)->values[0].type, &value, &why);
    if (i) text_add_char(&words, ' ');
    if (!status) setting_print(of->name, value, &words);
  }
  if (!status)
    status = words.failed ? CUGEN_ERROR_MEMORY
                          : api_parse_problem(config, text_get(&words), &problem, &why);
  if (!status) problem_print(config, &problem, out);
  *known = !status;
  if (status && status != CUGEN_ERROR_MEMORY) unmatched(s, why.message), status = CUGEN_OK;
  problem_free(&problem);
  text_free(&words);
  return status || out->failed ? error_memory(err) : CUGEN_OK;
}

static int foreign_take(void *context, json_t *parameters, double seconds, cugen_error *err) {
  struct suggesting *s = context;
  struct text problem = {0}, variant = {0};
  bool meant = true, known = true;
  s->out->results++;
  if (!(seconds >= 0) || !isfinite(seconds)) return s->out->left_out++, CUGEN_OK;
  for (size_t i = 0; i < s->map.names.count; i++)
    s->slots[i] = value_of(json_object_get(parameters, s->map.names.all[i]));
  int status = is_meant(s, parameters, &meant, err);
  if (status || !meant) return s->out->left_out += !meant, status;
  for (size_t i = 0; i < s->map.names.count && !status; i++)
    status = check_parameter(s, i, parameters, err);
  if (status) return status;
  text_add(&variant, s->map.implementation->name);
  for (size_t i = 0; i < s->map.implementation->tunable_count && known; i++)
    known = add_tunable(s, i, &variant);
  if (known) status = print_problem(s, &problem, &known, err);
  if (!status && known) {
    const struct suggestion one = {text_take(&problem), text_take(&variant), seconds};
    if (!ARRAY_ADD(s->all, s->count, one))
      free(one.problem), free(one.variant), status = error_memory(err);
    else if (!one.problem || !one.variant)
      status = error_memory(err);
  }
  text_free(&problem);
  text_free(&variant);
  return status;
}

/* ---- Storing -------------------------------------------------------------------------------- */

static int suggestion_compare(const void *left, const void *right) {
  const struct suggestion *a = left, *b = right;
  const int problems = strcmp(a->problem, b->problem);
  if (problems) return problems;
  if (a->seconds < b->seconds || a->seconds > b->seconds) return a->seconds < b->seconds ? -1 : 1;
  return strcmp(a->variant, b->variant);
}

/* Keeps the fastest suggestions of each problem, with each variant once. */
static void keep_fastest(struct suggesting *s) {
  size_t kept = 0, first = 0;
  if (s->count) qsort(s->all, s->count, sizeof *s->all, suggestion_compare);
  for (size_t i = 0; i < s->count; i++) {
    struct suggestion *one = &s->all[i];
    if (kept && strcmp(s->all[kept - 1].problem, one->problem) != 0) first = kept;
    bool wanted = kept - first < SUGGESTIONS_OF_A_PROBLEM;
    for (size_t k = first; k < kept && wanted; k++)
      wanted = strcmp(s->all[k].variant, one->variant) != 0;
    s->out->slower += !wanted;
    const struct suggestion taken = *one;
    *one = (struct suggestion){0};
    if (wanted)
      s->all[kept++] = taken;
    else
      free(taken.problem), free(taken.variant);
  }
  s->count = kept;
}

static int store(struct suggesting *s, struct cache *cache, cugen_error *err) {
  struct cache_stage *stage;
  char none[] = "";
  size_t twice;
  int status = cache_stage_open(cache, s->count, NULL, &stage, err);
  for (size_t i = 0; i < s->count && !status; i++) {
    const struct suggestion *one = &s->all[i];
    struct cache_entry entry = {
        .key = {.device = FOREIGN_DEVICE,
                .config = s->map.opened.config->name,
                .problem = one->problem,
                .options = FOREIGN_OPTIONS,
                .origin = ""},
        .record = {.variant = one->variant,
                   .hash = hash_bytes(one->variant, strlen(one->variant)),
                   .reason = none,
                   .seconds = one->seconds > 0 ? one->seconds : UNKNOWN_SECONDS}};
    const char *name, *wrong = cache_key_wrong(&entry.key, &name);
    status = wrong ? error_set(err, CUGEN_ERROR_USAGE, "%s: a %s %s", s->path, name, wrong)
                   : cache_stage_add(stage, &entry, i + 1, &twice, err);
  }
  if (!status) status = cache_stage_merge(stage, &s->out->merged, err);
  cache_stage_close(stage);
  return status;
}

static int check_any(const struct suggesting *s, cugen_error *err) {
  if (s->count) return CUGEN_OK;
  error_set(err, CUGEN_ERROR_USAGE,
            "%s: none of %zu results is a variant of %s %s by %s: %zu failed, or are not among "
            "those that the map takes",
            s->path, s->out->results, s->map.opened.config->name, s->map.implementation->name,
            s->map.path, s->out->left_out);
  if (s->out->unmatched)
    error_append(err, ", %zu do not match, the first because %s", s->out->unmatched,
                 text_get(&s->why));
  return CUGEN_ERROR_USAGE;
}

int api_foreign_import(cugen *lib, struct cache *cache, const char *path, const char *map,
                       api_suggested *out, cugen_error *err) {
  const struct input_limits limits = {0};
  struct suggesting s = {.path = path, .out = out};
  struct input input;
  struct text text = {0};
  *out = (api_suggested){0};
  int status = map_open(lib, map, &s.map, err);
  if (!status) s.slots = calloc(s.map.names.count + 1, sizeof *s.slots);
  if (!status && !s.slots) status = error_memory(err);
  if (!status) status = input_open(&input, path, &limits, err);
  if (!status) {
    status = input_rest(&input, &text, err);
    input_close(&input);
  }
  if (!status) status = foreign_read(path, &text, foreign_take, &s, err);
  if (!status) status = check_any(&s, err);
  if (!status) keep_fastest(&s);
  if (!status) status = store(&s, cache, err);
  for (size_t i = 0; i < s.count; i++) free(s.all[i].problem), free(s.all[i].variant);
  free(s.all);
  free(s.slots);
  text_free(&s.why);
  text_free(&text);
  map_close(&s.map);
  return status;
}
