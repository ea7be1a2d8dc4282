/* From what is read to a recorded space; see recording.h. */
#include "recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- Adding variants ------------------------------------------------------------------------ */

int recording_refuse(const struct recording *recording, cugen_error *err, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  int status = error_set(err, CUGEN_ERROR_CACHE, "%s: variant %zu: %s", recording->path,
                         recording->count + 1, text_get(&what));
  text_free(&what);
  return status;
}

int recording_add_axis(struct recording *recording, const char *name, cugen_error *err) {
  if (recording->axis_count == RECORDED_MOST_AXES)
    return error_set(err, CUGEN_ERROR_CACHE, "%s: it has more than %d tunables", recording->path,
                     RECORDED_MOST_AXES);
  char *copy = strdup(name);
  if (!copy) return error_memory(err);
  recording->axes[recording->axis_count++] = (struct recording_axis){.name = copy};
  return CUGEN_OK;
}

/* *number is NAN for a word. Returns false if the value is neither a word nor a number. */
static bool print_value(const json_t *value, struct text *text, double *number) {
  text_clear(text);
  *number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
  if (json_is_string(value))
    text_add(text, json_string_value(value)), *number = (double)NAN;
  else if (json_is_integer(value))
    text_addf(text, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    text_addf(text, "%.15g", *number);
  else if (json_is_boolean(value))
    text_add(text, json_is_true(value) ? "true" : "false");
  else
    return false;
  return true;
}

static int add_value(struct recording_axis *axis, const char *text, double number,
                     cugen_error *err) {
  char **texts = array_grow(axis->texts, axis->count, sizeof *texts);
  if (texts) axis->texts = texts;
  double *numbers = texts ? array_grow(axis->numbers, axis->count, sizeof *numbers) : NULL;
  if (numbers) axis->numbers = numbers;
  char *copy = numbers ? strdup(text) : NULL;
  if (!copy) return error_memory(err);
  texts[axis->count] = copy;
  numbers[axis->count++] = number;
  return CUGEN_OK;
}

static int place_value(struct recording *recording, struct recording_axis *axis,
                       const json_t *value, uint16_t *position, cugen_error *err) {
  struct text text = {0};
  double number;
  size_t at = 0;
  int status = CUGEN_OK;
  if (!value) return recording_refuse(recording, err, "it has no value of '%s'", axis->name);
  if (json_is_null(value)) {
    *position = RECORDED_ABSENT;
    axis->gaps = true;
    return CUGEN_OK;
  }
  if (!print_value(value, &text, &number))
    status = recording_refuse(recording, err, "the value of '%s' is neither a number nor a text",
                              axis->name);
  while (at < axis->count && strcmp(axis->texts[at], text_get(&text)) != 0) at++;
  if (!status && at == RECORDED_MOST_VALUES)
    status = recording_refuse(recording, err, "'%s' has more than %d values", axis->name,
                              RECORDED_MOST_VALUES);
  if (!status && at == axis->count) status = add_value(axis, text_get(&text), number, err);
  *position = (uint16_t)at;
  text_free(&text);
  return status;
}

/* Makes room for one more element in each of the arrays. */
static int grow(struct recording *recording, cugen_error *err) {
  double **const columns[] = {&recording->costs, &recording->compile, &recording->total};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    double *grown = array_grow(*columns[i], recording->count, sizeof *grown);
    if (!grown) return error_memory(err);
    *columns[i] = grown;
  }
  uint16_t *positions =
      array_grow(recording->positions, recording->count, recording->axis_count * sizeof *positions);
  if (!positions) return error_memory(err);
  recording->positions = positions;
  return CUGEN_OK;
}

int recording_add(struct recording *recording, const json_t *const *values, double cost,
                  double compile, double total, cugen_error *err) {
  if (!recording->axis_count)
    return error_set(err, CUGEN_ERROR_CACHE, "%s: its variants have no tunables", recording->path);
  int status = grow(recording, err);
  for (size_t i = 0; i < recording->axis_count && !status; i++)
    status = place_value(recording, &recording->axes[i], values[i],
                         &recording->positions[recording->count * recording->axis_count + i], err);
  if (status) return status;
  recording->costs[recording->count] = cost;
  recording->compile[recording->count] = compile;
  recording->total[recording->count++] = total;
  return CUGEN_OK;
}

void recording_free(struct recording *recording) {
  for (size_t i = 0; i < recording->axis_count; i++) {
    for (size_t v = 0; v < recording->axes[i].count; v++) free(recording->axes[i].texts[v]);
    free(recording->axes[i].texts);
    free(recording->axes[i].numbers);
    free(recording->axes[i].name);
  }
  free(recording->positions);
  free(recording->costs);
  free(recording->compile);
  free(recording->total);
}

/* ---- From what was read to a space ---------------------------------------------------------- */

static bool is_numeric(const struct recording_axis *axis) {
  for (size_t i = 0; i < axis->count; i++)
    if (isnan(axis->numbers[i])) return false;
  return true;
}

/* Sets to[v] to the number of values that are smaller than v. */
static void rank_values(const struct recording_axis *axis, bool numeric, uint16_t *to) {
  for (size_t v = 0; v < axis->count; v++) {
    size_t below = numeric ? 0 : v;
    for (size_t other = 0; other < axis->count && numeric; other++)
      below += axis->numbers[other] < axis->numbers[v] ||
               (other < v && axis->numbers[other] <= axis->numbers[v]);
    to[v] = (uint16_t)below;
  }
}

/* Takes over the texts. to: the new position of each value. */
static int finish_axis(struct recording_axis *from, struct recorded_axis *out, uint16_t *to,
                       cugen_error *err) {
  const bool numeric = is_numeric(from);
  *out = (struct recorded_axis){.count = from->count,
                                .texts = calloc(from->count, sizeof *out->texts)};
  if (numeric) out->values = calloc(from->count, sizeof *out->values);
  if (!out->texts || (numeric && !out->values)) return error_memory(err);
  rank_values(from, numeric, to);
  out->name = from->name, from->name = NULL;
  for (size_t v = 0; v < from->count; v++) {
    out->texts[to[v]] = from->texts[v], from->texts[v] = NULL;
    if (numeric) out->values[to[v]] = from->numbers[v];
  }
  return CUGEN_OK;
}

static bool is_wide(const struct recording_axis *axis) {
  return axis->count > 1 || (axis->gaps && axis->count);
}

/* Keeps the axes that tell variants apart, and every variant's positions on them. */
static int finish_axes(struct recording *from, struct recorded *out, cugen_error *err) {
  size_t wide = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < from->axis_count; i++) wide += is_wide(&from->axes[i]);
  out->axes = calloc(wide + 1, sizeof *out->axes);
  out->positions = calloc(wide * from->count + 1, sizeof *out->positions);
  uint16_t *to = calloc(RECORDED_MOST_VALUES, sizeof *to);
  if (!out->axes || !out->positions || !to) status = error_memory(err);
  for (size_t i = 0; i < from->axis_count && !status; i++) {
    if (!is_wide(&from->axes[i])) continue;
    const size_t at = out->axis_count++;
    status = finish_axis(&from->axes[i], &out->axes[at], to, err);
    for (size_t v = 0; v < from->count && !status; v++) {
      const uint16_t position = from->positions[v * from->axis_count + i];
      out->positions[v * wide + at] = position == RECORDED_ABSENT ? RECORDED_ABSENT : to[position];
    }
  }
  free(to);
  return status;
}

int recording_finish(struct recording *from, struct recorded *out, cugen_error *err) {
  size_t valid = 0;
  for (size_t i = 0; i < from->count; i++) valid += isnan(from->costs[i]) ? 0 : 1;
  if (!valid)
    return error_set(err, CUGEN_ERROR_CACHE, "%s: not one of its %zu variants has a time",
                     from->path, from->count);
  out->count = from->count, out->per_second = from->per_second;
  out->kernel = strdup(from->kernel), out->device = strdup(from->device);
  if (!out->kernel || !out->device) return error_memory(err);
  int status = finish_axes(from, out, err);
  out->costs = from->costs, out->compile = from->compile, out->total = from->total;
  from->costs = from->compile = from->total = NULL;
  return status ? status : recorded_index(out, err);
}
