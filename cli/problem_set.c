/* Reads problems that are tuned together; see problem_set.h. All forms become lines of words
   NAME=VALUE,VALUE; a line stands for all combinations of its values. */
#include "problem_set.h"
#include "api/kernel.h"
#include "api/tuning.h"
#include "base/array.h"
#include "base/input.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 24, MOST_NAMES = 64, MOST_TOLD = 64 };

/* ---- One line: a product of lists ----------------------------------------------------------- */

struct word {
  const char *name; /* name, up to '=' */
  size_t name_length;
  const char *values; /* the values, "64,128" */
  size_t length, count;
};

struct line {
  const char *where;
  struct word words[MOST_NAMES];
  size_t count;
};

static const struct word *problem_set_find_word(const struct line *line, const struct word *word) {
  for (size_t i = 0; i < line->count; i++)
    if (line->words[i].name_length == word->name_length &&
        memcmp(line->words[i].name, word->name, word->name_length) == 0)
      return &line->words[i];
  return NULL;
}

/* Splits "M=64,128" of `length` characters into name and values. */
static int split_word(struct cli *cli, const struct line *line, const char *text, size_t length,
                      struct word *out) {
  const char *equals = memchr(text, '=', length);
  const char *fault = NULL;
  if (!equals || equals == text)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "%s'%.*s': NAME=VALUE is expected, such as M=64",
                    line->where, (int)length, text);
  *out = (struct word){text, (size_t)(equals - text), equals + 1,
                       (size_t)(text + length - equals - 1), 1};
  for (size_t i = 0; i < out->length; i++) {
    if (out->values[i] == '=' && out->count > 1)
      fault = "a blank is expected between the names, as in M=64 N=128";
    if (out->values[i] != ',') continue;
    out->count++;
    if (i == 0 || out->values[i - 1] == ',') fault = "a value is missing";
  }
  if (!out->length || out->values[out->length - 1] == ',') fault = "a value is missing";
  return fault ? cli_fail(cli, CUGEN_ERROR_USAGE, "%s'%.*s': %s", line->where, (int)length, text,
                          fault)
               : CUGEN_OK;
}

static int problem_set_add_word(struct cli *cli, struct line *line, const char *text,
                                size_t length) {
  struct word word = {0};
  int status = split_word(cli, line, text, length, &word);
  if (status || !word.name) return status;
  if (problem_set_find_word(line, &word))
    return cli_fail(cli, CUGEN_ERROR_USAGE, "%s%.*s has two values; a list is written %.*s=64,128",
                    line->where, (int)word.name_length, word.name, (int)word.name_length,
                    word.name);
  if (line->count == MOST_NAMES)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "%sa problem has at most %d values", line->where,
                    MOST_NAMES);
  line->words[line->count++] = word;
  return CUGEN_OK;
}

/* Adds the values of --set for parameters that the line does not name. */
static int problem_set_add_settings(struct cli *cli, struct problem_set *set, struct line *line) {
  const size_t own = line->count;
  int status = CUGEN_OK;
  for (size_t i = 0; i < cli->setting_count && !status; i++) {
    struct word word = {0};
    status = split_word(cli, line, cli->settings[i], strlen(cli->settings[i]), &word);
    const struct word *found = status || !word.name ? NULL : problem_set_find_word(line, &word);
    if (status || (found && found < line->words + own)) continue;
    status = problem_set_add_word(cli, line, cli->settings[i], strlen(cli->settings[i]));
    if (i < MOST_TOLD) set->taken |= (uint64_t)1 << i;
  }
  return status;
}

/* Returns "M=64", with value i of the word. */
static char *setting_of(const struct word *word, size_t i) {
  const char *value = word->values, *end = word->values + word->length;
  for (; i > 0; i--) value = (const char *)memchr(value, ',', (size_t)(end - value)) + 1;
  const char *comma = memchr(value, ',', (size_t)(end - value));
  char *out;
  const int length = (int)((comma ? comma : end) - value);
  return asprintf(&out, "%.*s=%.*s", (int)word->name_length, word->name, length, value) < 0 ? NULL
                                                                                            : out;
}

/* Adds combination i; the last word changes fastest. */
static bool add_combination(struct problem_set *set, const struct line *line, size_t i) {
  if (!ARRAY_ROOM(set->problems, set->count)) return false;
  struct problem_settings *problem = &set->problems[set->count++];
  *problem = (struct problem_settings){
      .where = strdup(line->where), .settings = calloc(line->count + 1, sizeof *problem->settings)};
  if (!problem->where || !problem->settings) return false;
  problem->count = line->count;
  for (size_t w = line->count; w-- > 0; i /= line->words[w].count) {
    problem->settings[w] = setting_of(&line->words[w], i % line->words[w].count);
    if (!problem->settings[w]) return false;
  }
  return true;
}

/* Adds the problems of a line such as "M=64,128 N=64". */
static int problem_set_add_line(struct cli *cli, struct problem_set *set, const char *where,
                                const char *text, size_t length) {
  struct line line = {.where = where};
  int status = CUGEN_OK;
  const char *end = text + length;
  while (text < end && !status) {
    size_t word = 0;
    while (text < end && strchr(" \t\r", *text)) text++;
    while (text + word < end && !strchr(" \t\r", text[word])) word++;
    if (word) status = problem_set_add_word(cli, &line, text, word);
    text += word;
  }
  if (!status) status = problem_set_add_settings(cli, set, &line);
  if (status) return status;
  size_t count = 1;
  for (size_t w = 0; w < line.count && count <= CUGEN_MOST_PROBLEMS; w++)
    count *= line.words[w].count;
  if (set->count + count > CUGEN_MOST_PROBLEMS)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "%smore than %d problems: tune fewer together", where,
                    CUGEN_MOST_PROBLEMS);
  for (size_t i = 0; i < count; i++)
    if (!add_combination(set, &line, i)) return cli_no_memory(cli);
  return CUGEN_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static int write_value(struct cli *cli, const char *where, const char *name, const json_t *value,
                       struct text *out) {
  const char *string = json_string_value(value);
  if (json_is_integer(value))
    text_addf(out, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    text_addf(out, "%.17g", json_real_value(value));
  else if (json_is_boolean(value))
    text_add(out, json_is_true(value) ? "true" : "false");
  else if (string && *string && !strpbrk(string, " \t\r\n,"))
    text_add(out, string);
  else
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "%s\"%s\": a number, a word, true, false or a list of these is expected", where,
                    name);
  return CUGEN_OK;
}

static int write_field(struct cli *cli, const char *where, const char *name, const json_t *value,
                       struct text *out) {
  int status = CUGEN_OK;
  text_addf(out, "%s=", name);
  if (!json_is_array(value)) status = write_value(cli, where, name, value, out);
  for (size_t i = 0; i < json_array_size(value) && !status; i++) {
    text_add(out, i ? "," : "");
    status = write_value(cli, where, name, json_array_get(value, i), out);
  }
  text_add_char(out, ' ');
  return status;
}

static int problem_set_add_object(struct cli *cli, struct problem_set *set, const char *where,
                                  json_t *object) {
  struct text line = {0};
  const char *name;
  json_t *value;
  int status = CUGEN_OK;
  if (!json_is_object(object))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "%san object is expected, such as {\"M\": 64, \"N\": 128}", where);
  json_object_foreach(object, name, value) {
    if (!status) status = write_field(cli, where, name, value, &line);
  }
  if (line.failed && !status) status = cli_no_memory(cli);
  if (!status) status = problem_set_add_line(cli, set, where, text_get(&line), line.length);
  text_free(&line);
  return status;
}

static int load_json(struct cli *cli, const char *path, size_t line, const char *text,
                     size_t length, json_t **out) {
  json_error_t why;
  *out = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
  if (*out) return CUGEN_OK;
  line += (size_t)(why.line > 0 ? why.line : 1) - 1;
  cli_fail(cli, CUGEN_ERROR_USAGE, "%s:%zu: %s", path, line, why.text);
  return cli_place(cli, path, line);
}

static int add_array(struct cli *cli, struct problem_set *set, const char *path, const char *text,
                     size_t length) {
  json_t *array;
  int status = load_json(cli, path, 1, text, length, &array);
  for (size_t i = 0; !status && i < json_array_size(array); i++) {
    char *where;
    if (asprintf(&where, "%s: problem %zu: ", path, i + 1) < 0)
      return json_decref(array), cli_no_memory(cli);
    status = problem_set_add_object(cli, set, where, json_array_get(array, i));
    free(where);
  }
  json_decref(array);
  return status;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static int add_text_line(struct cli *cli, struct problem_set *set, const char *path, size_t number,
                         const char *text, size_t length) {
  char *where;
  const size_t before = set->count;
  while (length && strchr(" \t\r", *text)) text++, length--;
  if (!length || *text == '#') return CUGEN_OK;
  if (asprintf(&where, "%s:%zu: ", path, number) < 0) return cli_no_memory(cli);
  int status;
  if (*text == '{') {
    json_t *object = NULL;
    status = load_json(cli, path, number, text, length, &object);
    if (!status) status = problem_set_add_object(cli, set, where, object);
    json_decref(object);
  } else {
    status = problem_set_add_line(cli, set, where, text, length);
  }
  free(where);
  for (size_t i = before; i < set->count; i++)
    set->problems[i].file = path, set->problems[i].line = number;
  if (status == CUGEN_ERROR_USAGE && !cli->error.line) cli_place(cli, path, number);
  return status;
}

static int problem_set_add_text(struct cli *cli, struct problem_set *set, const char *name,
                                const char *text, size_t length) {
  size_t blank = 0;
  while (blank < length && strchr(" \t\r\n", text[blank])) blank++;
  if (memchr(text, '\0', length))
    return cli_fail(cli, CUGEN_ERROR_USAGE, "%s: no text: lines such as M=64 N=128 are expected",
                    name);
  if (blank < length && text[blank] == '[') return add_array(cli, set, name, text, length);
  int status = CUGEN_OK;
  const char *end = text + length;
  for (size_t number = 1; text < end && !status; number++) {
    const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
    status = add_text_line(cli, set, name, number, text, (size_t)(stop - text));
    text = stop + 1;
  }
  return status;
}

static int problem_set_read_file(struct cli *cli, const char *path, struct problem_set *set) {
  const struct input_limits limits = {.most = MOST_BYTES, .stop = {cli_is_stopped, NULL}};
  struct input input;
  struct text text = {0};
  int status = input_open(&input, path, &limits, &cli->error);
  if (status) return status;
  status = input_rest(&input, &text, &cli->error);
  if (!status) status = problem_set_add_text(cli, set, input.name, text_get(&text), text.length);
  if (!status && !set->count)
    status = cli_fail(cli, CUGEN_ERROR_USAGE,
                      "%s: no problem is in it; a line is one, such as M=64 N=128", input.name);
  input_close(&input);
  text_free(&text);
  return status;
}

/* ---- The whole set -------------------------------------------------------------------------- */

int problem_set_read(struct cli *cli, struct problem_set *out) {
  const char *path = cli->values[OPTION_PROBLEM_FILE];
  bool listed = false;
  if (path) {
    const int status = problem_set_read_file(cli, path, out);
    if (!status) problem_set_remark_unused(cli, out, path);
    return status;
  }
  for (size_t i = 0; i < cli->setting_count; i++) listed |= strchr(cli->settings[i], ',') != NULL;
  return listed ? problem_set_add(cli, out, "", "") : CUGEN_OK;
}

int problem_set_add(struct cli *cli, struct problem_set *set, const char *where, const char *text) {
  return problem_set_add_line(cli, set, where, text, strlen(text));
}

void problem_set_remark_unused(const struct cli *cli, const struct problem_set *set,
                               const char *path) {
  for (size_t i = 0; i < cli->setting_count && i < MOST_TOLD; i++)
    if (!(set->taken >> i & 1))
      cli_remark(cli, "--set %s changes nothing: every problem in %s has its own %.*s",
                 cli->settings[i], strcmp(path, "-") == 0 ? "stdin" : path,
                 (int)strcspn(cli->settings[i], "="), cli->settings[i]);
}

int problem_set_of_config(struct cli *cli, struct problem_set *out) {
  const char *set;
  int status = CUGEN_OK;
  for (size_t i = 0; !status && (set = api_kernel_problem_set(cli->kernel, i)); i++)
    status = problem_set_add(cli, out, "the config's problems: ", set);
  return status;
}

void problem_set_free(struct problem_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    struct problem_settings *problem = &set->problems[i];
    array_free_texts(problem->settings, problem->count);
    free(problem->where);
  }
  free(set->problems);
  *set = (struct problem_set){0};
}
