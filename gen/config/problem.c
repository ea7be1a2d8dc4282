/* Problems: the values of a config's parameters. See problem.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "names.h"

/* ---- Looking up names ----------------------------------------------------------------------- */

const struct config_problem *config_find_problem(const struct config *config, const char *name) {
  for (size_t i = 0; i < config->problem_count; i++)
    if (strcmp(config->problems[i].name, name) == 0) return &config->problems[i];
  return NULL;
}

const struct config_argument *config_find_argument(const struct config *config, const char *name) {
  for (size_t i = 0; i < config->argument_count; i++)
    if (strcmp(config->arguments[i].name, name) == 0) return &config->arguments[i];
  return NULL;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static int problem_new(const struct config *config, struct problem *out, cugen_error *err) {
  *out = (struct problem){.count = config->problem_count};
  out->values = calloc(config->problem_count + 1, sizeof *out->values);
  return out->values ? CUGEN_OK : error_memory(err);
}

void problem_free(struct problem *problem) {
  free(problem->values);
  text_free(&problem->strings);
  *problem = (struct problem){0};
}

/* ---- Settings ------------------------------------------------------------------------------- */

/* A setting "M=8192" (`whole`) in its parts: the parameter, and the text of the value, which is a
   copy in the strings of the problem. */
struct given {
  const struct config *config;
  const struct config_problem *problem;
  const char *whole, *text;
  cugen_error *err;
};

static int problem_refuse(const struct given *setting, const char *expected) {
  return error_set(setting->err, CUGEN_ERROR_USAGE, "setting '%s': %s (%s:%d)", setting->whole,
                   expected, setting->problem->line.path, setting->problem->line.number);
}

static int parse_integer(const struct given *setting, struct value *out) {
  const char *digits = setting->text + (setting->text[0] == '-');
  bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (digits[0] < '0' || digits[0] > '9')
    return problem_refuse(setting, "a whole number was expected");
  char *end;
  errno = 0;
  long long value = strtoll(setting->text, &end, hexadecimal ? 16 : 10);
  if (*end) return problem_refuse(setting, "a whole number was expected");
  if (errno == ERANGE) return problem_refuse(setting, "this number does not fit into 64 bits");
  *out = value_int(value);
  return CUGEN_OK;
}

/* Parses a number as expressions do, because this does not depend on the locale. */
static int parse_real(const struct given *setting, struct value *out) {
  struct expr *expr;
  bool number = strspn(setting->text, "+-0123456789.eExXpPaAbBcCdDfF") == strlen(setting->text);
  if (!number || expr_parse(setting->text, NULL, &expr, NULL))
    return problem_refuse(setting, "a number was expected");
  double real = 0;
  bool constant = expr_constant(expr, NULL) && !expr_eval_float(expr, NULL, &real, NULL);
  expr_free(expr);
  *out = value_float(real);
  return constant ? CUGEN_OK : problem_refuse(setting, "a number was expected");
}

static int parse_value(const struct given *setting, struct value *out) {
  switch (setting->problem->values[0].type) {
  case VALUE_INT: return parse_integer(setting, out);
  case VALUE_FLOAT: return parse_real(setting, out);
  case VALUE_BOOL:
    *out = value_bool(strcmp(setting->text, "true") == 0);
    if (out->boolean || strcmp(setting->text, "false") == 0) return CUGEN_OK;
    return problem_refuse(setting, "true or false was expected");
  default:
    *out = value_string(setting->text);
    if (!names_refused_word(setting->text)) return CUGEN_OK;
    return problem_refuse(setting, "a word was expected");
  }
}

/* Prints the listed values, and the one nearest to `word` if one is near. */
static void print_choices(const struct config_problem *problem, const char *word,
                          struct text *out) {
  const char *words[64];
  size_t count = 0;
  text_addf(out, "%s is one of ", problem->name);
  for (size_t i = 0; i < problem->value_count; i++) {
    text_add(out, i ? ", " : "");
    value_print(problem->values[i], out);
    if (problem->values[i].type == VALUE_STRING && count < 64)
      words[count++] = problem->values[i].string;
  }
  const char *nearest = text_nearest(word, words, count);
  if (nearest) text_addf(out, "; nearest '%s'", nearest);
}

/* Replaces the value by the equal listed value, which the config owns. */
static int find_listed(const struct given *setting, struct value *value) {
  const struct config_problem *problem = setting->problem;
  for (size_t i = 0; i < problem->value_count; i++) {
    if (!value_equal(problem->values[i], *value)) continue;
    *value = problem->values[i];
    return CUGEN_OK;
  }
  struct text choices = {0};
  print_choices(problem, setting->text, &choices);
  int status =
      choices.failed ? error_memory(setting->err) : problem_refuse(setting, text_get(&choices));
  text_free(&choices);
  return status;
}

static int set_value(const struct given *setting, struct problem *out) {
  struct value value = {.type = VALUE_NIL};
  int status = parse_value(setting, &value);
  if (setting->problem->listed) {
    /* find_listed also refuses a value of the wrong type, with a message that says more. */
    if (status) value = value_string(setting->text);
    status = find_listed(setting, &value);
  }
  if (!status) out->values[setting->problem - setting->config->problems] = value;
  return status;
}

/* Returns whether `known` is near to the name, and nearer than `best` (NULL: none yet). */
static bool is_nearer(const char *name, const char *known, const char *best) {
  const char *const names[] = {best ? best : "", known};
  return text_nearest(name, names, 2) == known;
}

static const struct config_problem *nearest_problem(const struct config *config, const char *name) {
  const struct config_problem *best = NULL;
  for (size_t i = 0; i < config->problem_count; i++)
    if (is_nearer(name, config->problems[i].name, best ? best->name : NULL))
      best = &config->problems[i];
  return best;
}

/* Returns the tunable nearest to the name, and the first implementation that has it. */
static const struct config_tunable *nearest_tunable(const struct config *config, const char *name,
                                                    const struct config_implementation **owner) {
  const struct config_tunable *best = NULL;
  for (size_t i = 0; i < config->implementation_count; i++)
    for (size_t t = 0; t < config->implementations[i].tunable_count; t++) {
      const struct config_tunable *tunable = &config->implementations[i].tunables[t];
      if (is_nearer(name, tunable->name, best ? best->name : NULL))
        best = tunable, *owner = &config->implementations[i];
    }
  return best;
}

/* Explains how a tunable is chosen: with the given value if the tunable has it, else with its first
   value. */
static int say_tunable(const struct config_tunable *tunable, const char *owner, const char *text,
                       cugen_error *err) {
  struct text value = {0};
  size_t i = 0;
  for (; i < tunable->value_count && strcmp(text_get(&value), text) != 0; i++) {
    text_restart(&value);
    value_print(tunable->values[i], &value);
  }
  if (strcmp(text_get(&value), text) != 0)
    text_restart(&value), value_print(tunable->values[0], &value);
  const char *quote = tunable->values[0].type == VALUE_STRING ? "'" : "";
  error_append(err,
               " (%s:%d); choose it with --where \"%s == %s%s%s\" or by a variant, \"%s %s=%s\"",
               tunable->line.path, tunable->line.number, tunable->name, quote, text_get(&value),
               quote, owner, tunable->name, text_get(&value));
  text_free(&value);
  return CUGEN_ERROR_USAGE;
}

/* Names the tunable of exactly this name, else the nearest problem parameter, else the nearest
   tunable, else all parameters. */
static int unknown_problem(const struct config *config, const char *whole, const char *name,
                           const char *text, cugen_error *err) {
  const struct config_implementation *owner = NULL;
  const struct config_problem *problem = nearest_problem(config, name);
  const struct config_tunable *tunable = nearest_tunable(config, name, &owner);
  const bool exact = tunable && strcmp(tunable->name, name) == 0;
  error_set(err, CUGEN_ERROR_USAGE, "setting '%s': kernel \"%s\" has no problem '%s'", whole,
            config->name, name);
  if (tunable && (exact || !problem)) {
    if (exact)
      error_append(err, ": it is a tunable");
    else
      error_append(err, "; nearest is the tunable '%s'", tunable->name);
    return say_tunable(tunable, owner->name, text, err);
  }
  if (problem)
    return error_append(err, " (nearest '%s', %s:%d)", problem->name, problem->line.path,
                        problem->line.number);
  for (size_t i = 0; i < config->problem_count; i++)
    error_append(err, "%s%s", i ? ", " : "; it has ", config->problems[i].name);
  return CUGEN_ERROR_USAGE;
}

/* Copies all settings into `strings`, with a NUL in place of "=" and behind each setting. The text
   must not grow later, because values point into it. */
static int copy_settings(const char *const *settings, size_t count, struct text *strings,
                         cugen_error *err) {
  for (size_t i = 0; i < count; i++) {
    const char *equals = strchr(settings[i], '=');
    if (!equals || equals == settings[i])
      return error_set(err, CUGEN_ERROR_USAGE, "setting '%s' is not of the form name=value",
                       settings[i]);
    text_add_n(strings, settings[i], (size_t)(equals - settings[i]));
    text_add_char(strings, '\0');
    text_add_n(strings, equals + 1, strlen(equals + 1) + 1);
  }
  return strings->failed ? error_memory(err) : CUGEN_OK;
}

/* Applies all settings, and reports every wrong name and value, a line each. */
static int apply_settings(const struct config *config, const char *const *settings, size_t count,
                          struct problem *out, cugen_error *err) {
  int status = copy_settings(settings, count, &out->strings, err);
  if (status) return status;
  const char *at = text_get(&out->strings);
  for (size_t i = 0; i < count && (!status || status == CUGEN_ERROR_USAGE); i++) {
    const char *name = at, *text = name + strlen(name) + 1;
    cugen_error wrong;
    at = text + strlen(text) + 1;
    const struct config_problem *p = config_find_problem(config, name);
    const int failed = p ? set_value(&(struct given){config, p, settings[i], text, &wrong}, out)
                         : unknown_problem(config, settings[i], name, text, &wrong);
    if (failed && !status)
      status = error_copy(err, &wrong);
    else if (failed)
      error_append(err, "\n%s", wrong.message);
  }
  return status;
}

int problem_set(const struct config *config, const char *const *settings, size_t count, bool check,
                struct problem *out, cugen_error *err) {
  int status = problem_new(config, out, err);
  if (status) return status;
  for (size_t i = 0; i < config->problem_count; i++) {
    const struct config_problem *p = &config->problems[i];
    out->values[i] = check && p->check.type != VALUE_NIL ? p->check : p->values[0];
  }
  status = apply_settings(config, settings, count, out, err);
  if (status) problem_free(out);
  return status;
}

/* ---- The check problem, buckets ------------------------------------------------------------- */

static int problem_copy(const struct config *config, const struct problem *base,
                        struct problem *out, cugen_error *err) {
  int status = problem_new(config, out, err);
  if (status) return status;
  text_add_n(&out->strings, text_get(&base->strings), base->strings.length);
  if (out->strings.failed) {
    problem_free(out);
    return error_memory(err);
  }
  const char *old = text_get(&base->strings), *new = text_get(&out->strings);
  for (size_t i = 0; i < base->count; i++) {
    struct value value = base->values[i];
    /* A string that lies in the text of `base` is moved to the copy's text. */
    if (value.type == VALUE_STRING && value.string >= old &&
        value.string < old + base->strings.length)
      value.string = new + (value.string - old);
    out->values[i] = value;
  }
  return CUGEN_OK;
}

int problem_check(const struct config *config, const struct problem *base, struct problem *out,
                  cugen_error *err) {
  int status = problem_copy(config, base, out, err);
  for (size_t i = 0; i < config->problem_count && !status; i++)
    if (config->problems[i].check.type != VALUE_NIL) out->values[i] = config->problems[i].check;
  return status;
}

int problem_bucket(const struct config *config, const struct problem *base, struct problem *out,
                   cugen_error *err) {
  int status = problem_copy(config, base, out, err);
  for (size_t i = 0; i < config->policy.bucket_count && !status; i++) {
    struct value *value = &out->values[config->policy.buckets[i].problem];
    *value = value_int(policy_bound(&config->policy.buckets[i], value->integer));
  }
  return status;
}

/* ---- Text ----------------------------------------------------------------------------------- */

bool config_is_size(const struct config *config, size_t problem) {
  return config->problems[problem].values[0].type == VALUE_INT;
}

/* Which parameters a text has. */
enum told { TOLD_ALL, TOLD_CLASS, TOLD_SHORT };

static bool problem_tells(const struct config *config, const struct problem *problem, size_t i,
                          enum told told) {
  const struct value value = problem->values[i];
  if (told == TOLD_ALL) return true;
  if (told == TOLD_CLASS) return !config_is_size(config, i);
  const bool plain =
      value.type == VALUE_STRING ? !dtype_find(value.string) : value.type == VALUE_BOOL;
  return !plain || !value_equal(value, config->problems[i].values[0]);
}

static void print_settings(const struct config *config, const struct problem *problem,
                           enum told told, struct text *out) {
  const char *between = "";
  for (size_t i = 0; i < config->problem_count; i++) {
    if (!problem_tells(config, problem, i, told)) continue;
    text_add(out, between);
    setting_print(config->problems[i].name, problem->values[i], out);
    between = " ";
  }
}

void problem_print(const struct config *config, const struct problem *problem, struct text *out) {
  print_settings(config, problem, TOLD_ALL, out);
}

void problem_print_class(const struct config *config, const struct problem *problem,
                         struct text *out) {
  print_settings(config, problem, TOLD_CLASS, out);
}

static uint64_t may_lack(const struct config *config, const struct problem *problem,
                         enum told told) {
  uint64_t bits = 0;
  unsigned at = 0;
  for (size_t i = 0; i < config->problem_count; i++) {
    const struct config_problem *p = &config->problems[i];
    if (!problem_tells(config, problem, i, told)) continue;
    const bool checked = p->check.type == VALUE_NIL || value_equal(p->check, p->values[0]);
    if (at < KERNEL_MAX_LACKED && checked && value_equal(problem->values[i], p->values[0]))
      bits |= UINT64_C(1) << at;
    at++;
  }
  return bits;
}

uint64_t problem_may_lack(const struct config *config, const struct problem *problem) {
  return may_lack(config, problem, TOLD_ALL);
}

uint64_t problem_class_may_lack(const struct config *config, const struct problem *problem) {
  return may_lack(config, problem, TOLD_CLASS);
}

void problem_print_short(const struct config *config, const struct problem *problem,
                         struct text *out) {
  print_settings(config, problem, TOLD_SHORT, out);
}

void problem_add_check(const struct config *config, const struct problem *check, struct text *out) {
  text_add(out, "on the check problem ");
  problem_print_short(config, check, out);
  text_add(out, ": ");
}

/* ---- Slots ---------------------------------------------------------------------------------- */

size_t config_slot_count(const struct config *config,
                         const struct config_implementation *implementation) {
  return (size_t)config->first_tunable +
         (implementation ? implementation->tunable_count : config->shared_tunable_count);
}

void config_slots(const struct config *config, const struct problem *problem,
                  const struct device_facts *facts, struct value *slots) {
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    slots[i] = value_int(device_fact_get(facts, (enum device_fact)i));
  for (size_t i = 0; i < config->problem_count; i++)
    slots[(size_t)config->first_problem + i] = problem->values[i];
}
