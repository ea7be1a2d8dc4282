/* Prints the header and source of a bundle: the files of templates/bundle, with the kernel's name
   in place of "bundle", and tables in place of the marks. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export.h"

/* ---- Names ---------------------------------------------------------------------------------- */

void export_name(const struct config *config, struct text *out) {
  if (isdigit((unsigned char)config->name[0])) text_add(out, "kernel_");
  for (const char *c = config->name; *c; c++)
    text_add_char(out, isalnum((unsigned char)*c) ? *c : '_');
}

void export_upper(const struct config *config, struct text *out) {
  struct text name = {0};
  export_name(config, &name);
  for (const char *c = text_get(&name); *c; c++)
    text_add_char(out, (char)toupper((unsigned char)*c));
  text_free(&name);
}

/* Appends the names of the arguments: "A, B, C, M, N, K". */
static void add_arguments(const struct exporter *x, struct text *out) {
  const struct config *config = x->base->lookup.config;
  for (size_t i = 0; i < config->argument_count; i++)
    text_addf(out, "%s%s", i ? ", " : "", config->arguments[i].name);
}

/* Returns whether the function of TVM-FFI takes the argument: a buffer that is no scratch, or a
   number that does not follow from the problem. */
static bool source_is_given(const struct config_argument *argument) {
  size_t reads = 0;
  if (argument->kind != CUGEN_ARGUMENT_SCALAR) return argument->kind != CUGEN_ARGUMENT_SCRATCH;
  if (argument->struct_name || !argument->value) return false;
  expr_slots(argument->value, &reads);
  return reads == 0;
}

void export_given(const struct config *config, struct text *out) {
  const char *between = "";
  for (size_t i = 0; i < config->argument_count; i++) {
    if (!source_is_given(&config->arguments[i])) continue;
    text_addf(out, "%s%s", between, config->arguments[i].name);
    between = ", ";
  }
}

/* Appends the names of the problem's values: "M, N, dtype". */
static void source_add_names(const struct config *config, struct text *out) {
  for (size_t i = 0; i < config->problem_count; i++)
    text_addf(out, "%s%s", i ? ", " : "", config->problems[i].name);
}

static void add_title(const struct exporter *x, struct text *out) {
  text_addf(out, "%s: tuned variants of one CUDA kernel, made by 'cugen export' %s; do not edit.",
            x->base->lookup.config->name, CUGEN_VERSION);
}

/* ---- Parts of the header -------------------------------------------------------------------- */

static void add_real(double value, struct text *out) {
  value_print(value_float(value), out);
}

/* Appends the values of a problem: "{4096, "f32", 0}". */
static void source_add_problem(const struct problem *problem, struct text *out) {
  text_add_char(out, '{');
  for (size_t i = 0; i < problem->count; i++) {
    text_add(out, i ? ", " : "");
    export_value(problem->values[i], out);
  }
  if (!problem->count) text_add_char(out, '0');
  text_add_char(out, '}');
}

/* ---- Images --------------------------------------------------------------------------------- */

/* Prints each image as numbers of eight bytes, because numbers are aligned, and zeros are short. */
static void add_images(const struct exporter *x, struct text *out) {
  enum { A_LINE = 5 };
  text_add(out, "/* ---- Code for the devices: each image once, as numbers of eight bytes, the "
                "lowest first ---- */\n\n");
  for (size_t i = 0; i < x->image_count; i++) {
    const struct export_image *image = &x->images[i];
    text_addf(out, "static const unsigned long long image_%zu[] = {", i);
    for (size_t at = 0; at < image->bytes; at += 8) {
      uint64_t word = 0;
      const size_t left = image->bytes - at;
      memcpy(&word, (const char *)image->data + at, left < 8 ? left : 8);
      text_add(out, at / 8 % A_LINE ? " " : "\n    ");
      text_addf(out, word < 10 ? "%" PRIu64 "," : "0x%" PRIx64 ",", word);
    }
    text_add(out, "\n};\n\n");
  }
  text_add(out, "static const struct image images[] = {\n");
  for (size_t i = 0; i < x->image_count; i++)
    text_addf(out, "    {image_%zu, %zu},\n", i, x->images[i].bytes);
  text_add(out, "};\n\n");
}

/* ---- The problems that a variant serves, and its sizes -------------------------------------- */

/* Function bodies; functions with equal bodies are printed once. */
struct bodies {
  char **list;
  size_t count;
};

static size_t source_find_body(const struct bodies *bodies, const struct text *body) {
  size_t at = 0;
  while (at < bodies->count && strcmp(bodies->list[at], text_get(body)) != 0) at++;
  return at;
}

static bool source_add_body(struct bodies *bodies, const struct text *body) {
  return source_find_body(bodies, body) < bodies->count ||
         array_add_text(&bodies->list, &bodies->count, text_get(body));
}

static void conditions_of(const struct export_code *code, struct text *out) {
  text_clear(out);
  text_add(out, text_get(&code->class));
  text_add(out, text_get(&code->conditions));
}

/* Appends the lines of the text, each behind `lead`. */
static void source_add_lines(const char *text, const char *lead, struct text *out) {
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    text_add(out, lead);
    text_add_n(out, line, length);
    text_add_char(out, '\n');
    line += length + 1;
  }
}

static void add_code(const struct export_code *code, size_t serves, size_t sizes,
                     struct text *out) {
  text_add(out, "    {");
  export_quote(code->variant, out);
  text_addf(out, ", %zu, {%s}, %d, serves_%zu, sizes_%zu, %" PRId64 ", %zu, {", code->image,
            code->fixed.length ? text_get(&code->fixed) : "0", code->wide, serves, sizes,
            code->rounds, code->kernel_count);
  for (size_t i = 0; i < code->kernel_count; i++) {
    text_add(out, i ? ", " : "");
    export_quote(code->kernels[i], out);
  }
  text_add(out, "}},\n");
}

static bool add_codes(const struct exporter *x, struct text *out) {
  struct bodies serves = {0}, sizes = {0};
  struct text conditions = {0};
  bool done = true;
  for (size_t i = 0; i < x->code_count && done; i++) {
    conditions_of(&x->codes[i], &conditions);
    done = source_add_body(&serves, &conditions) && source_add_body(&sizes, &x->codes[i].sizes);
  }
  text_add(out,
           "/* ---- Variants: the problems each is right for, and its sizes there ---- */\n\n");
  for (size_t i = 0; i < serves.count; i++) {
    text_addf(out,
              "static int serves_%zu(const problem_values *p) {\n  int wrong = 0, *e = &wrong;\n"
              "  (void)p, (void)e;\n  int right = 1\n",
              i);
    source_add_lines(serves.list[i], "      && ", out);
    text_add(out, "      ;\n  return right && !wrong;\n}\n\n");
  }
  for (size_t i = 0; i < sizes.count; i++) {
    text_addf(out,
              "static void sizes_%zu(const problem_values *p, struct sizes *s) {\n"
              "  int *e = &s->failed;\n  (void)p, (void)e;\n",
              i);
    source_add_lines(sizes.list[i], "  ", out);
    text_add(out, "}\n\n");
  }
  text_add(out, "static const struct code codes[] = {\n");
  for (size_t i = 0; i < x->code_count && done; i++) {
    conditions_of(&x->codes[i], &conditions);
    add_code(&x->codes[i], source_find_body(&serves, &conditions),
             source_find_body(&sizes, &x->codes[i].sizes), out);
  }
  text_add(out, "};\n\n");
  done = done && !conditions.failed;
  text_free(&conditions);
  array_free_texts(serves.list, serves.count);
  array_free_texts(sizes.list, sizes.count);
  return done;
}

/* ---- Devices and measurements --------------------------------------------------------------- */

static void source_add_devices(const struct exporter *x, struct text *out) {
  text_add(out, "static const struct device devices[] = {\n");
  for (size_t i = 0; i < x->device_count; i++) {
    const struct export_device *device = &x->devices[i];
    const struct device_facts *facts = &device->lookup.device.facts;
    text_add(out, "    {");
    if (device->anonymous)
      text_add(out, "NULL");
    else
      export_quote(device->lookup.device.name, out);
    text_addf(out, ", %d, %d, %d, %d, ", (int)facts->compute_capability, (int)facts->sm_count,
              device->ptx, (int)facts->max_threads_per_block);
    export_quote(device->text, out);
    text_add(out, ", ");
    export_quote(device->lookup.arch, out);
    text_add(out, "},\n");
  }
  text_add(out, "};\n\n");
}

static void source_add_tuned(const struct exporter *x, struct text *out) {
  text_addf(out,
            "/* Tables end with a row that is not counted: one of none would not be C. */\nstatic "
            "const size_t tuned_count = %zu;\n"
            "static const struct tuned tuned[] = {\n",
            x->tuned_count);
  for (size_t i = 0; i < x->tuned_count; i++) {
    const struct export_tuned *t = &x->tuned[i];
    text_addf(out, "    {%zu, ", t->device);
    source_add_problem(&t->problem, out);
    text_add(out, ", ");
    export_quote(t->text, out);
    text_addf(out, ", %zu, %zu},\n", t->first, t->count);
  }
  text_add(out, "    {.device = 0},\n};\n\n");
  text_add(out, "static const struct measured measurements[] = {\n");
  for (size_t i = 0; i < x->measured_count; i++) {
    text_addf(out, "    {%zu, ", x->measured[i].code);
    add_real(x->measured[i].seconds, out);
    text_add(out, ", ");
    add_real(x->measured[i].cost, out);
    text_addf(out, ", %" PRIu64 "u},\n", x->measured[i].order);
  }
  text_addf(out, "    {0, 0, 0, 0},\n};\n\nstatic const size_t fallback_count = %zu;\n",
            x->default_count);
  text_add(out, "static const struct fallback fallbacks[] = {\n");
  for (size_t i = 0; i < x->default_count; i++)
    text_addf(out, "    {%zu, %zu},\n", x->defaults[i].device, x->defaults[i].code);
  text_add(out, "    {0, 0},\n};\n\n");
}

static void source_add_portfolios(const struct exporter *x, struct text *out) {
  text_add(out, "/* ---- Portfolios: few variants for all sizes, and the rule that says which "
                "serves which ---- */\n\n");
  for (size_t i = 0; i < x->portfolio_count; i++) {
    const struct export_portfolio *p = &x->portfolios[i];
    text_addf(out,
              "static long long rule_%zu(const problem_values *p, double *times) {\n"
              "  int wrong = 0, *e = &wrong;\n  (void)p, (void)e;\n%s  const long long least = "
              "least_of(times, %zu);\n  (void)least;\n"
              "  const long long says = %s;\n  return wrong ? -1 : says;\n}\n\n",
              i, text_get(&p->times), p->count, text_get(&p->rule));
  }
  text_add(out, "static const size_t member_codes[] = {");
  for (size_t i = 0; i < x->member_code_count; i++) text_addf(out, "%zu, ", x->member_codes[i]);
  text_add(out, "0};\nstatic const struct member members[] = {");
  for (size_t i = 0; i < x->member_count; i++)
    text_addf(out, "{%zu, %zu}, ", x->members[i].first, x->members[i].count);
  text_addf(out,
            "{0, 0}};\nstatic const size_t portfolio_count = %zu;\nstatic const struct portfolio "
            "portfolios[] = {\n",
            x->portfolio_count);
  for (size_t i = 0; i < x->portfolio_count; i++) {
    const struct export_portfolio *p = &x->portfolios[i];
    text_addf(out, "    {%zu, ", p->device);
    source_add_problem(p->class, out);
    text_addf(out, ", rule_%zu, %zu, %zu, %d, %lld / 1e6},\n", i, p->first, p->count, p->shipped,
              llround(1e6 * p->doubted)); /* printed as an integer, because the locale may have
                                             another decimal point */
  }
  text_add(out, "    {.device = 0},\n};\n\n");
}

/* ---- Problems ------------------------------------------------------------------------------- */

static void add_sizes_of(const struct config *config, struct text *out) {
  size_t at = 0, sizes = 0;
  for (size_t i = 0; i < config->problem_count; i++) sizes += config_is_size(config, i);
  text_addf(out, "enum { SIZES = %zu };\nstatic const size_t size_count = SIZES;\n\n", sizes);
  text_add(
      out,
      "static void sizes_of(const problem_values *p, long long *out) {\n  (void)p, (void)out;\n");
  for (size_t i = 0; i < config->problem_count; i++)
    if (config_is_size(config, i))
      text_addf(out, "  out[%zu] = p->%s;\n", at++, config->problems[i].name);
  text_add(out, "}\n\n/* Everything but sizes is equal. */\n"
                "static int same_class(const problem_values *a, const problem_values *b) {\n  "
                "(void)a, (void)b;\n"
                "  return 1");
  for (size_t i = 0; i < config->problem_count; i++) {
    const char *name = config->problems[i].name;
    enum value_type type = config->problems[i].values[0].type;
    if (type == VALUE_STRING) text_addf(out, " && word_is(b->%s, a->%s)", name, name);
    if (type == VALUE_BOOL) text_addf(out, " && !a->%s == !b->%s", name, name);
    if (type == VALUE_FLOAT)
      text_addf(out, " && a->%s <= b->%s && a->%s >= b->%s", name, name, name, name);
  }
  text_add(out, ";\n}\n\n");
}

static void add_print_problem(const struct config *config, struct text *out) {
  static const char *const formats[] = {
      [VALUE_BOOL] = "%s", [VALUE_INT] = "%lld", [VALUE_FLOAT] = "%g", [VALUE_STRING] = "%s"};
  text_add(
      out,
      "static void print_problem(const problem_values *p, char *out, size_t size) {\n  (void)p;\n"
      "  snprintf(out, size, \"");
  for (size_t i = 0; i < config->problem_count; i++)
    text_addf(out, "%s%s=%s", i ? " " : "", config->problems[i].name,
              formats[config->problems[i].values[0].type]);
  if (!config->problem_count) text_add(out, "%s\", \"");
  text_add(out, "\"");
  for (size_t i = 0; i < config->problem_count; i++) {
    const char *name = config->problems[i].name;
    enum value_type type = config->problems[i].values[0].type;
    if (type == VALUE_STRING)
      text_addf(out, ",\n           p->%s ? p->%s : \"(null)\"", name, name);
    else
      text_addf(out,
                type == VALUE_BOOL ? ",\n           p->%s ? \"true\" : \"false\""
                                   : ",\n           p->%s",
                name);
  }
  text_add(out, ");\n}\n\n");
}

/* ---- The policy ----------------------------------------------------------------------------- */

/* Returns the largest ratio whose log2 is within the distance, by which the bundle compares like a
   plan does. */
static double farthest(double distance) {
  double ratio = exp2(distance);
  while (log2(nextafter(ratio, INFINITY)) <= distance) ratio = nextafter(ratio, INFINITY);
  while (log2(ratio) > distance) ratio = nextafter(ratio, 0);
  return ratio;
}

static void add_buckets(const struct config *config, struct text *out) {
  struct text rows = {0};
  for (size_t i = 0; i < config->problem_count; i++) {
    const struct policy_bucket *bucket = NULL;
    if (!config_is_size(config, i)) continue;
    for (size_t b = 0; b < config->policy.bucket_count && !bucket; b++)
      if (config->policy.buckets[b].problem == i) bucket = &config->policy.buckets[b];
    if (!bucket) {
      text_add(&rows, "    {NULL, 0},\n");
      continue;
    }
    text_addf(out, "static const long long bounds_%s[] = {", config->problems[i].name);
    for (size_t b = 0; b < bucket->count; b++)
      text_addf(out, "%s%lld", b ? ", " : "", (long long)bucket->bounds[b]);
    text_add(out, "};\n");
    text_addf(&rows, "    {bounds_%s, %zu},\n", config->problems[i].name, bucket->count);
  }
  text_addf(
      out, "MAYBE_UNUSED static const struct bucket buckets[SIZES + 1] = {\n%s    {NULL, 0},\n};\n",
      text_get(&rows));
  out->failed |= rows.failed;
  text_free(&rows);
}

static void add_policy(const struct exporter *x, struct text *out) {
  const struct config *config = x->base->lookup.config;
  double distance = x->options->distance;
  enum policy_kind kind = distance > 0   ? POLICY_NEAREST
                          : distance < 0 ? POLICY_EXACT
                                         : config->policy.kind;
  /* the policy for problems that no portfolio serves */
  if (kind == POLICY_PORTFOLIO) kind = config->policy.distance > 0 ? POLICY_NEAREST : POLICY_EXACT;
  static const char *const functions[] = {
      [POLICY_EXACT] = "0",
      [POLICY_NEAREST] = "choose_nearest(device, p, sizes, s, out)",
      [POLICY_BUCKETS] = "choose_bucket(device, p, sizes, s, out)"};
  if (distance == 0) distance = config->policy.distance;
  struct text policy = {0};
  policy_print(config, &policy);
  text_addf(out, "/* The config's policy: %s */\n", text_get(&policy));
  text_free(&policy);
  add_buckets(config, out);
  text_add(out, "#define FARTHEST ");
  add_real(kind == POLICY_NEAREST ? farthest(distance) : 1, out);
  text_addf(out, "\n#define CHOOSE_NEAR(device, p, sizes, s, out) %s\n", functions[kind]);
}

static void add_kinds(const struct config *config, struct text *out) {
  static const char *const kinds[] = {
      [CUGEN_ARGUMENT_INPUT] = "INPUT",   [CUGEN_ARGUMENT_OUTPUT] = "OUTPUT",
      [CUGEN_ARGUMENT_INOUT] = "INOUT",   [CUGEN_ARGUMENT_SCRATCH] = "SCRATCH",
      [CUGEN_ARGUMENT_SCALAR] = "SCALAR", [CUGEN_ARGUMENT_CONSTANT] = "CONSTANT"};
  text_add(out, "static const struct argument arguments_of_kernel[] = {\n");
  for (size_t i = 0; i < config->argument_count; i++)
    text_addf(out, "    {\"%s\", KIND(%s), %d},\n", config->arguments[i].name,
              kinds[config->arguments[i].kind], source_is_given(&config->arguments[i]));
  text_add(out, "};\n\n");
}

static void add_field_table(const struct config *config, struct text *out) {
  static const char *const types[] = {[VALUE_BOOL] = "FIELD_FLAG",
                                      [VALUE_INT] = "FIELD_WHOLE",
                                      [VALUE_FLOAT] = "FIELD_REAL",
                                      [VALUE_STRING] = "FIELD_WORD"};
  text_addf(out, "enum { FIELDS = %zu };\nstatic const size_t field_count = FIELDS;\n",
            config->problem_count);
  text_add(out, "static const struct field fields[FIELDS + 1] = {\n");
  for (size_t i = 0; i < config->problem_count; i++) {
    const char *name = config->problems[i].name;
    const char *type =
        config_is_size(config, i) ? "FIELD_SIZE" : types[config->problems[i].values[0].type];
    text_addf(out,
              "    {\"%s\", %s, offsetof(problem_values, %s), sizeof ((problem_values *)0)->%s},\n",
              name, type, name, name);
  }
  text_add(out, "    {NULL, FIELD_SIZE, 0, 0},\n};\n\n");
}

static bool add_tables(const struct exporter *x, struct text *out) {
  const struct config *config = x->base->lookup.config;
  add_kinds(config, out);
  add_field_table(config, out);
  add_sizes_of(config, out);
  add_print_problem(config, out);
  source_add_devices(x, out);
  add_images(x, out);
  bool done = add_codes(x, out);
  source_add_tuned(x, out);
  source_add_portfolios(x, out);
  text_add(out, "static const char *const classes[] = {\n");
  for (size_t i = 0; i < x->class_count; i++) {
    text_add(out, "    ");
    export_quote(x->classes[i], out);
    text_add(out, ",\n");
  }
  text_add(out, "};\n\n");
  add_policy(x, out);
  return done;
}

/* ---- Filling in the templates --------------------------------------------------------------- */

/* Returns whether the line consists of this mark only. */
static bool source_is_mark(const char *line, size_t length, const char *mark) {
  while (length && *line == ' ') line++, length--;
  return length == strlen(mark) && strncmp(line, mark, length) == 0;
}

void export_overwritten(const struct config *config, const char *before, struct text *out) {
  const char *between = "Inputs that the kernel may write to: ";
  const size_t begin = out->length;
  for (size_t i = 0; i < config->argument_count; i++) {
    if (!config->arguments[i].overwrite) continue;
    text_addf(out, "%s%s%s", out->length == begin ? before : "", between,
              config->arguments[i].name);
    between = ", ";
  }
  if (out->length > begin)
    text_addf(out, ".%sOne is written to where its `overwrite` is 1: fill it before each launch.",
              before);
}

/* Appends the template's next character, or what replaces a word there: the kernel's name for
   bundle_ and BUNDLE_, names for @arguments and the like. Returns how many characters were read. */
static size_t substitute(const struct exporter *x, const char *at, struct text *out) {
  const struct config *config = x->base->lookup.config;
  if (strncmp(at, "bundle_", 7) == 0 || strncmp(at, "bundle.h", 8) == 0)
    return export_name(config, out), 6;
  if (strncmp(at, "_bundle(", 8) == 0) return text_add_char(out, '_'), export_name(config, out), 7;
  if (strncmp(at, "BUNDLE_", 7) == 0) return export_upper(config, out), 6;
  if (strncmp(at, "@argument_count", 15) == 0)
    return text_addf(out, "%zu", config->argument_count), 15;
  if (strncmp(at, "@arguments", 10) == 0) return add_arguments(x, out), 10;
  if (strncmp(at, "@overwritten", 12) == 0) return export_overwritten(config, "\n   ", out), 12;
  if (strncmp(at, "@symbol", 7) == 0) return export_name(config, out), 7;
  if (strncmp(at, "@given", 6) == 0) return export_given(config, out), 6;
  if (strncmp(at, "@fields", 7) == 0) return source_add_names(config, out), 7;
  if (strncmp(at, "@name", 5) == 0) return text_add(out, config->name), 5;
  if (strncmp(at, "@title", 6) == 0) return add_title(x, out), 6;
  text_add_char(out, *at);
  return 1;
}

static int source_fill(const struct exporter *x, const char *path, const char *mark,
                       const struct text *content, const char *mark2, const struct text *content2,
                       struct text *out, cugen_error *err) {
  const struct embedded_file *file = embedded_files;
  while (file->path && strcmp(file->path, path) != 0) file++;
  if (!file->path) return error_set(err, CUGEN_ERROR_INTERNAL, "%s is not in this program", path);
  const char *end = file->data + file->length;
  for (const char *line = file->data; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    size_t length = stop ? (size_t)(stop - line) : (size_t)(end - line);
    if (source_is_mark(line, length, mark))
      text_add(out, text_get(content));
    else if (source_is_mark(line, length, mark2))
      text_add(out, text_get(content2));
    else
      for (const char *at = line; at < line + length + (stop != NULL);)
        at += substitute(x, at, out);
    line += length + 1;
  }
  return out->failed || content->failed || content2->failed ? error_memory(err) : CUGEN_OK;
}

static void add_field(const struct config_problem *problem, struct text *out) {
  static const char *const types[] = {[VALUE_BOOL] = "int ",
                                      [VALUE_INT] = "long long ",
                                      [VALUE_FLOAT] = "double ",
                                      [VALUE_STRING] = "const char *"};
  const enum value_type type = problem->values[0].type;
  text_addf(out, "  %s%s;", types[type], problem->name);
  if (type == VALUE_BOOL) text_add(out, " /* 0 or 1 */");
  if (type == VALUE_STRING && problem->listed) {
    text_add(out, " /* ");
    for (size_t i = 0; i < problem->value_count; i++) {
      text_add(out, i ? ", " : "");
      value_print(problem->values[i], out);
    }
    text_add(out, " */");
  }
  text_add_char(out, '\n');
}

int export_header(const struct exporter *x, struct text *out, cugen_error *err) {
  const struct config *config = x->base->lookup.config;
  struct text fields = {0}, init = {0};
  for (size_t i = 0; i < config->problem_count; i++) add_field(&config->problems[i], &fields);
  if (!config->problem_count)
    text_add(&fields, "  int none; /* the kernel has only one problem */\n");
  text_add(&init, "#define ");
  export_upper(config, &init);
  text_add(&init, "_PROBLEM_INIT \\\n  ");
  source_add_problem(&x->base->problem, &init);
  text_add_char(&init, '\n');
  int status = source_fill(x, "templates/bundle/bundle.h", "/* @problem */", &fields, "/* @init */",
                           &init, out, err);
  text_free(&fields);
  text_free(&init);
  return status;
}

/* Joins several files into one C file. */
int export_source(const struct exporter *x, struct text *out, cugen_error *err) {
  static const char *const parts[] = {
      "templates/bundle/bundle.c",  "templates/bundle/numbers.c", "templates/bundle/sizes.c",
      "templates/bundle/tables.c",  "templates/bundle/choose.c",  "templates/bundle/driver.c",
      "templates/bundle/library.c", "templates/bundle/capture.c", "templates/bundle/plan.c",
      "templates/bundle/tensor.c",  "templates/bundle/call.c",    "templates/bundle/tvm_ffi.c",
  };
  struct text tables = {0}, none = {0};
  int status = add_tables(x, &tables) ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
    status = source_fill(x, parts[i], "/* @tables */", &tables, "", &none, out, err);
  text_free(&tables);
  return status;
}
