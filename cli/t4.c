/* Converts lines of wisdom to T4, and to a cache of Kernel Tuner; see t4.h. A file holds one space:
   the records of one kernel, problem, device and options. */
#include "t4.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/key.h"
#include "print.h"

static const char *const key_names[] = {"config", "problem", "device", "options"};
enum { KEYS = sizeof key_names / sizeof *key_names };

void t4_open(struct t4 *t4) {
  *t4 = (struct t4){.results = json_array(), .names = json_object()};
}

static const char *t4_text_of(const json_t *record, const char *name) {
  const char *text = json_string_value(json_object_get(record, name));
  return text ? text : "";
}

static double milliseconds(const json_t *record, const char *name) {
  return 1e3 * json_number_value(json_object_get(record, name));
}

/* ---- A variant's tunables ------------------------------------------------------------------- */

static json_t *value_json(const char *text) {
  char *end;
  const long long whole = strtoll(text, &end, 10);
  if (*text && !*end) return json_integer(whole);
  const double real = strtod(text, &end);
  if (*text && !*end) return json_number(real);
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) return json_boolean(*text == 't');
  return json_text(text);
}

static json_t *configuration_json(const char *variant) {
  const struct variant_name parts = variant_parse(variant);
  json_t *object = json_object();
  json_object_set_new(object, "implementation", json_stringn(parts.implementation, parts.length));
  const char *at = parts.settings;
  for (struct setting setting; setting_next(&at, &setting);) {
    size_t length;
    const char *value = setting_value(&setting, &length);
    char *name = strndup(setting.text, setting.name), *text = strndup(value, length);
    if (name && text) json_object_set_new(object, name, value_json(text));
    free(name);
    free(text);
  }
  return object;
}

/* ---- A record ------------------------------------------------------------------------------- */

/* By the outcome's number in wisdom: the name in T4, and the word that Kernel Tuner has in place of
   a time. */
static const struct {
  const char *invalidity, *value;
} outcomes[] = {{"correct", NULL},
                {"compile", "CompilationFailedConfig"},
                {"runtime", "RuntimeFailedConfig"},
                {"correctness", "RuntimeFailedConfig"},
                {"runtime", "RuntimeFailedConfig"},
                {"runtime", "RuntimeFailedConfig"},
                {"timeout", "RuntimeFailedConfig"},
                {"runtime", "RuntimeFailedConfig"}};

/* "runtimes" has a single run, with the record's time, for all runs that were timed, and no run of
   a failed variant. The remaining time of the variant is attributed to the framework. */
static json_t *times_json(const json_t *record, bool right) {
  const double run = right ? milliseconds(record, "seconds") : 0,
               rest = milliseconds(record, "measure_seconds") - run;
  json_t *runs = json_array();
  if (right) json_array_append_new(runs, json_real(run));
  return JSON_NEW({"compilation", json_real(milliseconds(record, "compile_seconds"))},
                  {"runtimes", runs}, {"framework", json_real(rest > 0 ? rest : 0)},
                  {"search_algorithm", json_real(0)}, {"validation", json_real(0)});
}

static json_t *t4_result_json(const json_t *record) {
  const size_t outcome = (size_t)json_integer_value(json_object_get(record, "outcome"));
  const size_t known = outcome < sizeof outcomes / sizeof *outcomes ? outcome : 2;
  const char *failure = outcomes[known].value;
  const time_t at = (time_t)json_integer_value(json_object_get(record, "measured_at"));
  struct tm parts;
  char moment[40] = "";
  if (at && gmtime_r(&at, &parts))
    strftime(moment, sizeof moment, "%Y-%m-%d %H:%M:%S+00:00", &parts);
  json_t *measurement = JSON_NEW(
      {"name", json_string("time")},
      {"value", failure ? json_string(failure) : json_real(milliseconds(record, "seconds"))},
      {"unit", json_string("ms")});
  return JSON_NEW({"timestamp", json_string(moment)},
                  {"configuration", configuration_json(t4_text_of(record, "variant"))},
                  {"times", times_json(record, known == 0)},
                  {"invalidity", json_string(outcomes[known].invalidity)},
                  {"correctness", json_integer(known != 3)},
                  {"measurements", json_pack("[o]", measurement)},
                  {"objectives", json_pack("[s]", "time")});
}

static bool is_same_key(const json_t *record, const json_t *other) {
  for (size_t i = 0; i < KEYS; i++)
    if (strcmp(t4_text_of(record, key_names[i]), t4_text_of(other, key_names[i])) != 0)
      return false;
  return true;
}

static void add_record(struct t4 *t4, json_t *record) {
  if (!t4->first) t4->first = json_incref(record);
  if (!t4->other && !is_same_key(record, t4->first)) t4->other = json_incref(record);
  if (t4->other) return;
  json_t *result = t4_result_json(record);
  json_object_update_missing(t4->names, json_object_get(result, "configuration"));
  json_array_append_new(t4->results, result);
}

void t4_add(struct t4 *t4, const char *text, size_t length) {
  for (const char *end = text + length; text < end;) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    const size_t line = stop ? (size_t)(stop - text) : (size_t)(end - text);
    json_t *record = json_loadb(text, line, 0, NULL);
    const struct record_options options = record_options_parse(t4_text_of(record, "options"));
    /* A comparison with a baseline is no result of the search. */
    if (json_object_get(record, "variant") && options.kind != OPTIONS_BASELINE)
      add_record(t4, record);
    json_decref(record);
    text += line + 1;
  }
}

/* ---- The whole file ------------------------------------------------------------------------- */

/* Makes every configuration name every tunable, in one order; a tunable that the implementation
   lacks is null. */
static void fill_configurations(const struct t4 *t4) {
  json_t *result, *any;
  const char *name;
  size_t i;
  json_array_foreach(t4->results, i, result) {
    const json_t *own = json_object_get(result, "configuration");
    json_t *whole = json_object();
    json_object_foreach(t4->names, name, any) {
      json_t *value = json_object_get(own, name);
      json_object_set_new(whole, name, value ? json_incref(value) : json_null());
    }
    json_object_set_new(result, "configuration", whole);
  }
}

/* Fails because the records are of several spaces, of which two are named. */
static void refuse_two(const struct t4 *t4, struct cli *cli) {
  const json_t *const two[] = {t4->first, t4->other};
  cli_fail(cli, CUGEN_ERROR_USAGE, "a file holds one space, and records are of several:");
  for (size_t i = 0; i < 2; i++)
    cli_append(cli, "%s %s (%s) on %s, %s", i ? ";" : "", t4_text_of(two[i], "config"),
               t4_text_of(two[i], "problem"), t4_text_of(two[i], "device"),
               t4_text_of(two[i], "options"));
  cli_append(cli,
             "; CONFIG, --problem, --device and --measure name one ('cugen cache ls' lists them)");
}

/* Returns true if there are records, and all are of one space. False: cli->error says why. */
static bool t4_is_whole(const struct t4 *t4, struct cli *cli) {
  if (t4->other)
    refuse_two(t4, cli);
  else if (!t4->first)
    cli_fail(cli, CUGEN_ERROR_USAGE,
             "there is no such record; 'cugen cache ls' lists what there is");
  return t4->first && !t4->other;
}

json_t *t4_whole(const struct t4 *t4, struct cli *cli) {
  if (!t4_is_whole(t4, cli)) return NULL;
  fill_configurations(t4);
  json_t *metadata = JSON_NEW({"timeunit", json_string("milliseconds")},
                              {"kernel_name", json_text(t4_text_of(t4->first, "config"))},
                              {"device_name", json_text(t4_text_of(t4->first, "device"))},
                              {"problem", json_text(t4_text_of(t4->first, "problem"))},
                              {"options", json_text(t4_text_of(t4->first, "options"))},
                              {"autotuner", json_string("cugen " CUGEN_VERSION)});
  return JSON_NEW({"schema_version", json_string("1.0.0")}, {"metadata", metadata},
                  {"results", json_incref(t4->results)});
}

/* ---- As a cache of Kernel Tuner ------------------------------------------------------------- */

static bool has_value(const json_t *values, const json_t *value) {
  const json_t *one;
  size_t i;
  json_array_foreach(values, i, one) {
    if (json_equal(one, value)) return true;
  }
  return false;
}

static json_t *lists_json(const struct t4 *t4) {
  json_t *lists = json_object(), *result, *value;
  const char *name;
  size_t i;
  json_array_foreach(t4->results, i, result) {
    json_object_foreach(json_object_get(result, "configuration"), name, value) {
      if (!json_object_get(lists, name)) json_object_set_new(lists, name, json_array());
      if (!has_value(json_object_get(lists, name), value))
        json_array_append(json_object_get(lists, name), value);
    }
  }
  return lists;
}

/* Appends a tunable's value to the key as Python's str() writes the value. */
static void t4_add_value(char **key, const json_t *value) {
  char *all, *dumped = json_is_string(value) ? strdup(json_string_value(value))
                                             : json_dumps(value, JSON_ENCODE_ANY);
  const char *text = json_is_null(value)    ? "None"
                     : json_is_true(value)  ? "True"
                     : json_is_false(value) ? "False"
                                            : dumped;
  if (!*key || !text || asprintf(&all, "%s%s%s", *key, **key ? "," : "", text) < 0) all = NULL;
  free(dumped);
  free(*key);
  *key = all;
}

static json_t *entry_json(const json_t *result) {
  const json_t *times = json_object_get(result, "times"),
               *runs = json_object_get(times, "runtimes");
  const json_t *measurement = json_array_get(json_object_get(result, "measurements"), 0);
  json_t *entry = json_copy(json_object_get(result, "configuration")),
         *run = json_array_get(runs, 0);
  return JSON_ADD(entry, {"time", json_incref(json_object_get(measurement, "value"))},
                  {"times", json_incref((json_t *)runs)},
                  {"compile_time", json_incref(json_object_get(times, "compilation"))},
                  {"verification_time", json_real(0)},
                  {"benchmark_time", json_real(json_number_value(run))},
                  {"strategy_time", json_real(0)},
                  {"framework_time", json_incref(json_object_get(times, "framework"))},
                  {"timestamp", json_incref(json_object_get(result, "timestamp"))});
}

static json_t *entries_json(const struct t4 *t4) {
  json_t *entries = json_object(), *result, *value;
  const char *name;
  size_t i;
  json_array_foreach(t4->results, i, result) {
    char *key = strdup("");
    json_object_foreach(json_object_get(result, "configuration"), name, value)
        t4_add_value(&key, value);
    json_object_set_new(entries, key ? key : "", entry_json(result));
    free(key);
  }
  return entries;
}

json_t *t4_as_cache(const struct t4 *t4, struct cli *cli) {
  if (!t4_is_whole(t4, cli)) return NULL;
  fill_configurations(t4);
  json_t *lists = lists_json(t4), *names = json_array(), *any;
  const char *name;
  json_object_foreach(lists, name, any) json_array_append_new(names, json_string(name));
  return JSON_NEW({"device_name", json_text(t4_text_of(t4->first, "device"))},
                  {"kernel_name", json_text(t4_text_of(t4->first, "config"))},
                  {"problem_size", json_text(t4_text_of(t4->first, "problem"))},
                  {"tune_params_keys", names}, {"tune_params", lists},
                  {"objective", json_string("time")}, {"cache", entries_json(t4)});
}

void t4_close(struct t4 *t4) {
  json_decref(t4->results);
  json_decref(t4->names);
  json_decref(t4->first);
  json_decref(t4->other);
}
