/* Reads policy, which decides the tuned problem whose best variant serves a problem that was not
   tuned. See build.h. */
#include <lua.h>
#include <math.h>
#include <string.h>

#include "build.h"

enum { KINDS = POLICY_PORTFOLIO + 1 };

static const char *const kinds[KINDS] = {"exact", "nearest", "buckets", "portfolio"};
static const char *const examples[KINDS] = {
    "policy \"exact\"",
    "policy \"nearest\" { distance = 1 }",
    "policy \"buckets\" { M = { 256, 1024, 4096 } }",
    "policy \"portfolio\" { distance = 1 }",
};

/* ---- nearest { distance = 1 }, portfolio { distance = 1 } ----------------------------------- */

static int policy_read_distance(struct build *build, struct config_line line, int table,
                                enum policy_kind kind) {
  static const char *const known[] = {"distance"};
  struct value value;
  struct text what = {0};
  const char *odd = unknown_key(build, table, known, 1);
  if (odd)
    return refuse_name(build, line, odd, known, 1, "unknown field '%s' of policy \"%s\"", odd,
                       kinds[kind]);
  if (!push_field(build, table, "distance"))
    return build_fail(build, line, "policy \"%s\" has no distance: %s", kinds[kind],
                      examples[kind]);
  text_addf(&what, "distance of policy \"%s\"", kinds[kind]);
  int status = read_value(build, line, text_get(&what), &value);
  text_free(&what);
  lua_pop(build->L, 1);
  if (status) return status;
  double distance = value.type == VALUE_INT     ? (double)value.integer
                    : value.type == VALUE_FLOAT ? value.real
                                                : 0;
  if (distance <= 0)
    return build_fail(
        build, line,
        "distance of policy \"%s\" is a number above 0, the largest |log2| of a ratio of sizes: 1 "
        "is twice or half",
        kinds[kind]);
  build->config->policy.distance = distance;
  return CUGEN_OK;
}

/* ---- buckets { M = { 64, 256 } } ------------------------------------------------------------ */

static int check_bound(struct build *build, struct config_line line,
                       const struct config_problem *problem, struct value value, int64_t before) {
  struct text text = {0};
  value_print(value, &text);
  const char *bound = text_get(&text);
  int status = CUGEN_OK;
  size_t i = 0;
  while (i < problem->value_count && !value_equal(problem->values[i], value)) i++;
  if (value.type != VALUE_INT || value.integer < 1)
    status = build_fail(
        build, line, "policy gives problem \"%s\" the bound %s: bounds are whole numbers from 1 up",
        problem->name, bound);
  else if (value.integer <= before)
    status =
        build_fail(build, line, "policy gives problem \"%s\" the bound %s after %lld: bounds rise",
                   problem->name, bound, (long long)before);
  else if (problem->listed && i == problem->value_count)
    status = build_fail(build, line,
                        "policy gives problem \"%s\" the bound %s, which is not in its list at %s",
                        problem->name, bound, build_line(build, line, problem->line));
  text_free(&text);
  return status;
}

/* Reads the list on top of the stack. */
static int read_bounds(struct build *build, struct config_line line,
                       const struct config_problem *problem, struct policy_bucket *out) {
  const struct value *values;
  struct text what = {0};
  text_addf(&what, "policy's list for problem \"%s\"", problem->name);
  int status = read_values(build, line, text_get(&what), &values, &out->count);
  text_free(&what);
  if (status) return status;
  out->bounds = arena_array(build->arena, out->count, sizeof *out->bounds);
  if (!out->bounds) return build_memory(build);
  for (size_t i = 0; i < out->count && !status; i++) {
    status = check_bound(build, line, problem, values[i], i ? out->bounds[i - 1] : 0);
    if (!status) out->bounds[i] = values[i].integer;
  }
  return status;
}

static int read_bucket(struct build *build, struct config_line line, size_t index) {
  const struct config_problem *problem = &build->config->problems[index];
  struct config_policy *policy = &build->config->policy;
  if (problem->values[0].type != VALUE_INT)
    return build_fail(
        build, line,
        "policy names problem \"%s\", which is no whole number: only sizes have buckets",
        problem->name);
  struct policy_bucket *bucket = &policy->buckets[policy->bucket_count++];
  bucket->problem = index;
  return read_bounds(build, line, problem, bucket);
}

static int read_buckets(struct build *build, struct config_line line, int table) {
  const struct config *config = build->config;
  struct config_policy *policy = &build->config->policy;
  int status = refuse_unknown_problem(build, line, table, "policy");
  if (status) return status;
  policy->buckets = arena_array(build->arena, config->problem_count, sizeof *policy->buckets);
  if (!policy->buckets) return build_memory(build);
  for (size_t i = 0; i < config->problem_count && !status; i++) {
    if (!push_field(build, table, config->problems[i].name)) continue;
    status = read_bucket(build, line, i);
    lua_pop(build->L, 1);
  }
  if (!status && !policy->bucket_count)
    return build_fail(build, line, "policy \"buckets\" names no problem: %s",
                      examples[POLICY_BUCKETS]);
  return status;
}

/* ---- The declaration ------------------------------------------------------------------------ */

static int unknown_kind(struct build *build, struct config_line line, const char *name) {
  return refuse_name(build, line, name, kinds, KINDS, "policy '%.80s' is none of %s, %s, %s, %s",
                     name, kinds[0], kinds[1], kinds[2], kinds[3]);
}

static int read_policy_value(struct build *build, struct config_line line, enum policy_kind kind) {
  int table = lua_gettop(build->L);
  build->config->policy.kind = kind;
  if ((kind == POLICY_EXACT || kind == POLICY_PORTFOLIO) && lua_isnil(build->L, table))
    return CUGEN_OK;
  if (kind == POLICY_EXACT)
    return build_fail(build, line, "policy \"exact\" takes nothing more: %s", examples[kind]);
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, line, "policy \"%s\" needs its values in braces: %s", kinds[kind],
                      examples[kind]);
  return kind == POLICY_BUCKETS ? read_buckets(build, line, table)
                                : policy_read_distance(build, line, table, kind);
}

int read_policy(struct build *build, const struct list *list) {
  const struct item *item = list_find(list, KEYWORD_policy);
  if (!item) return CUGEN_OK;
  const struct config_line line = item->declaration->line;
  int kind = 0;
  while (kind < KINDS && strcmp(item->name, kinds[kind]) != 0) kind++;
  if (kind == KINDS) return unknown_kind(build, line, item->name);
  list_push(build, list, item);
  int status = read_policy_value(build, line, (enum policy_kind)kind);
  lua_pop(build->L, 1);
  return status;
}

/* ---- Using a policy ------------------------------------------------------------------------- */

int64_t policy_bound(const struct policy_bucket *bucket, int64_t size) {
  if (size < 1) return size;
  size_t i = 0;
  while (i + 1 < bucket->count && bucket->bounds[i] < size) i++;
  return bucket->bounds[i];
}

static void print_bucket(const struct config *config, const struct policy_bucket *bucket,
                         struct text *out) {
  text_addf(out, "%s = {", config->problems[bucket->problem].name);
  for (size_t i = 0; i < bucket->count; i++)
    text_addf(out, "%s %lld", i ? "," : "", (long long)bucket->bounds[i]);
  text_add(out, " }");
}

void policy_print(const struct config *config, struct text *out) {
  const struct config_policy *policy = &config->policy;
  text_add(out, kinds[policy->kind]);
  if (policy->distance > 0) {
    text_add(out, " { distance = ");
    bool whole = policy->distance == floor(policy->distance) && policy->distance < 1e15;
    value_print(whole ? value_int((int64_t)policy->distance) : value_float(policy->distance), out);
    text_add(out, " }");
  }
  for (size_t i = 0; i < policy->bucket_count; i++) {
    text_add(out, i ? ", " : " { ");
    print_bucket(config, &policy->buckets[i], out);
  }
  if (policy->bucket_count) text_add(out, " }");
}
