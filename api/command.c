/* Runs commands of cugen's command line for an application (cugen_command). The worker program runs
   the command in a process of its own (cli/serve.c) and answers with one JSON object. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/system.h"
#include "base/text.h"
#include "library.h"

/* The options with which the library was opened, by the fields of cugen_options, such as
   "config_dir=/srv". A default applies if the command has that option and the command's words do
   not give it. */
struct defaults {
  char **words;
  size_t count;
};

static bool command_add_default(struct defaults *defaults, const char *name, const char *value) {
  struct text word = {0};
  if (!value) return true;
  text_addf(&word, "%s=%s", name, value);
  const bool good =
      !word.failed && array_add_text(&defaults->words, &defaults->count, text_get(&word));
  text_free(&word);
  return good;
}

static bool command_is_stopped(void *context) {
  const cugen *lib = context;
  return lib->stop && lib->stop(lib->stop_context);
}

/* Makes the command line: WORKER worker command VERSION DEFAULT... -- WORD... NULL: out of
   memory. */
static const char **make_words(const cugen *lib, const struct defaults *defaults,
                               const char *const *words, size_t count) {
  const char **argv = calloc(defaults->count + count + 6, sizeof *argv);
  size_t n = 0;
  if (!argv) return NULL;
  argv[n++] = lib->worker;
  argv[n++] = "worker";
  argv[n++] = "command";
  argv[n++] = CUGEN_VERSION;
  for (size_t i = 0; i < defaults->count; i++) argv[n++] = defaults->words[i];
  argv[n++] = "--";
  for (size_t i = 0; i < count; i++) argv[n++] = words[i];
  return argv;
}

static int api_command_run(cugen *lib, const char *const *words, size_t count, struct text *answer,
                           int *exit_code, cugen_error *err) {
  struct defaults defaults = {0};
  const struct process_limits limits = {.stop = {command_is_stopped, lib}};
  const char *way = lib->measure != MEASURE_WAYS ? measure_way_names[lib->measure] : NULL;
#define X(member, option, variable) &&command_add_default(&defaults, #option, lib->member)
  const bool good = true LIBRARY_STRINGS(X) && command_add_default(&defaults, "measure", way) &&
                    command_add_default(&defaults, "no_library", lib->no_library ? "1" : NULL);
#undef X
  const char **argv = good ? make_words(lib, &defaults, words, count) : NULL;
  int status = argv ? process_run_within(argv, &limits, answer, exit_code, err) : error_memory(err);
  free(argv);
  array_free_texts(defaults.words, defaults.count);
  return status;
}

/* Takes over the error that the command's process reported. */
static int take_error(const json_t *answer, cugen_error *err) {
  const int status = (int)json_integer_value(json_object_get(answer, "status"));
  const int cause = (int)json_integer_value(json_object_get(answer, "cause"));
  const char *file = json_string_value(json_object_get(answer, "file"));
  if (!status) return CUGEN_OK;
  error_set_cause(err, status, (cugen_cause)cause, "%s",
                  json_string_value(json_object_get(answer, "message")));
  error_place(err, file ? file : "", (int)json_integer_value(json_object_get(answer, "line")));
  return status;
}

static int command_take_answer(cugen *lib, const struct text *text, int exit_code,
                               const char **json, cugen_error *err) {
  json_t *answer = json_loadb(text_get(text), text->length, 0, NULL);
  json_t *result = json_object_get(answer, "json");
  char *copy = json_is_object(result) ? json_dumps(result, JSON_REAL_PRECISION(17)) : NULL;
  int status = CUGEN_OK;
  /* An answer without a message is cut, or from another program than this build's cugen-worker. */
  if (!json_is_string(json_object_get(answer, "message")))
    status = error_set(err, CUGEN_ERROR_MISSING,
                       "%s does not run commands of cugen " CUGEN_VERSION
                       " (exit code %d, %zu bytes of output): the worker must be the cugen-worker "
                       "of this build; see cugen_options.worker and $CUGEN_WORKER",
                       lib->worker, exit_code, text->length);
  text_restart(&lib->json);
  if (copy) text_add(&lib->json, copy);
  if (!status && json_is_object(result) && (!copy || lib->json.failed)) status = error_memory(err);
  if (!status && copy) *json = text_get(&lib->json);
  if (!status) status = take_error(answer, err);
  free(copy);
  json_decref(answer);
  return status;
}

int cugen_command(cugen *lib, const char *const *words, size_t count, const char **json,
                  cugen_error *error) {
  struct text answer = {0};
  int exit_code = 0;
  if (API_NEEDS(error, "lib, words, json", lib, words, json)) return CUGEN_ERROR_USAGE;
  *json = NULL;
  for (size_t i = 0; i < count; i++)
    if (!words[i])
      return error_set(error, CUGEN_ERROR_USAGE, "cugen_command: words[%zu] is NULL", i);
  if (!lib->worker)
    return error_set(error, CUGEN_ERROR_MISSING,
                     "the worker program, which runs commands, was not found; looked at %s",
                     text_get(&lib->worker_places));
  int status = api_command_run(lib, words, count, &answer, &exit_code, error);
  if (!status && answer.failed) status = error_memory(error);
  if (!status) status = command_take_answer(lib, &answer, exit_code, json, error);
  text_free(&answer);
  return status;
}
