/* Reads and prints the policy, which decides what variant serves a problem that was not tuned. See
   build.h. */
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

static void policy_read_distance(struct build *build, int table, enum policy_kind kind) {
  static const char *const known[] = {"distance"};
  refuse_unknown_key(build, "field", build_text(build, "policy \"%s\"", kinds[kind]), known, 1);
  if (!push_field(build, table, "distance"))
    build_fail(build, "policy \"%s\" has no distance: %s", kinds[kind], examples[kind]);
  const struct value value =
      read_value(build, build_text(build, "distance of policy \"%s\"", kinds[kind]));
  build->config->policy.distance = value.type == VALUE_INT     ? (double)value.integer
                                   : value.type == VALUE_FLOAT ? value.real
                                                               : 0;
  if (build->config->policy.distance <= 0)
    build_fail(build,
               "distance of policy \"%s\" is a number above 0, the largest |log2| of a ratio of "
               "sizes: 1 is twice or half",
               kinds[kind]);
}

/* ---- buckets { M = { 64, 256 } } ------------------------------------------------------------ */

static void check_bound(struct build *build, const struct config_problem *problem,
                        struct value value, int64_t before) {
  size_t i = 0;
  while (i < problem->value_count && !value_equal(problem->values[i], value)) i++;
  if (value.type != VALUE_INT || value.integer < 1)
    build_fail(build,
               "policy gives problem \"%s\" the bound %s: bounds are whole numbers from 1 up",
               problem->name, build_value(build, value));
  if (value.integer <= before)
    build_fail(build, "policy gives problem \"%s\" the bound %lld after %lld: bounds rise",
               problem->name, (long long)value.integer, (long long)before);
  if (problem->listed && i == problem->value_count)
    build_fail(build, "policy gives problem \"%s\" the bound %lld, which is not in its list at %s",
               problem->name, (long long)value.integer, build_line(build, problem->line));
}

/* Reads the list on top of the stack. */
static void read_bucket(struct build *build, size_t index) {
  const struct config_problem *problem = &build->config->problems[index];
  struct config_policy *policy = &build->config->policy;
  struct policy_bucket *out = &policy->buckets[policy->bucket_count++];
  const struct value *values;
  if (problem->values[0].type != VALUE_INT)
    build_fail(build,
               "policy names problem \"%s\", which is no whole number: only sizes have buckets",
               problem->name);
  read_values(build, build_text(build, "policy's list for problem \"%s\"", problem->name), &values,
              &out->count);
  out->problem = index;
  out->bounds = build_array(build, out->count, sizeof *out->bounds);
  for (size_t i = 0; i < out->count; i++) {
    check_bound(build, problem, values[i], i ? out->bounds[i - 1] : 0);
    out->bounds[i] = values[i].integer;
  }
}

static void read_buckets(struct build *build, int table) {
  const struct config *config = build->config;
  struct config_policy *policy = &build->config->policy;
  refuse_unknown_problem(build, table, "policy");
  policy->buckets = build_array(build, config->problem_count, sizeof *policy->buckets);
  for (size_t i = 0; i < config->problem_count; i++) {
    if (!push_field(build, table, config->problems[i].name)) continue;
    read_bucket(build, i);
    lua_pop(build->L, 1);
  }
  if (!policy->bucket_count)
    build_fail(build, "policy \"buckets\" names no problem: %s", examples[POLICY_BUCKETS]);
}

/* ---- The declaration ------------------------------------------------------------------------ */

void read_policy(struct build *build, const struct item *item, void *out) {
  const int table = lua_gettop(build->L);
  const char *name = item->name;
  int kind = 0;
  (void)out;
  while (kind < KINDS && strcmp(name, kinds[kind]) != 0) kind++;
  if (kind == KINDS)
    build_fail_name(build, name, kinds, KINDS, "policy '%.80s' is none of %s, %s, %s, %s", name,
                    kinds[0], kinds[1], kinds[2], kinds[3]);
  build->config->policy.kind = (enum policy_kind)kind;
  if ((kind == POLICY_EXACT || kind == POLICY_PORTFOLIO) && lua_isnil(build->L, table)) return;
  if (kind == POLICY_EXACT)
    build_fail(build, "policy \"exact\" takes nothing more: %s", examples[kind]);
  if (lua_type(build->L, table) != LUA_TTABLE)
    build_fail(build, "policy \"%s\" needs its values in braces: %s", kinds[kind], examples[kind]);
  if (kind == POLICY_BUCKETS)
    read_buckets(build, table);
  else
    policy_read_distance(build, table, (enum policy_kind)kind);
}

/* ---- Using a policy ------------------------------------------------------------------------- */

int64_t policy_bound(const struct policy_bucket *bucket, int64_t size) {
  if (size < 1) return size;
  size_t i = 0;
  while (i + 1 < bucket->count && bucket->bounds[i] < size) i++;
  return bucket->bounds[i];
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
    const struct policy_bucket *bucket = &policy->buckets[i];
    text_addf(out, "%s%s = {", i ? ", " : " { ", config->problems[bucket->problem].name);
    for (size_t b = 0; b < bucket->count; b++)
      text_addf(out, "%s %lld", b ? "," : "", (long long)bucket->bounds[b]);
    text_add(out, " }");
  }
  if (policy->bucket_count) text_add(out, " }");
}
