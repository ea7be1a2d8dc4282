/* Expanding a small config; see expanding.h. */
#include "expanding.h"
#include "tests/testing.h"

const struct device_facts expanding_facts = {.compute_capability = 90,
                                             .sm_count = 132,
                                             .warp_size = 32,
                                             .max_threads_per_block = 1024,
                                             .shared_per_block = 49152,
                                             .pitch_alignment = 512,
                                             .is_gpu = 1};

void expanding_check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

void expanding_add(struct expanding *bench, const char *name, const char *content) {
  expanding_add_bytes(bench, name, content, strlen(content));
}

void expanding_add_bytes(struct expanding *bench, const char *name, const void *bytes,
                         size_t length) {
  FREED(text) folder = {0};
  const char *path = formed("%s/%s", text_get(&bench->folder), name);
  path_folder(path, &folder);
  WORKS(folder_make(text_get(&folder), &err));
  WORKS(file_write(path, bytes, length, &err));
}

/* body: the declarations inside kernel "k". The test adds templates before it expands anything. */
struct expanding *expanding_open(const char *body, const char *const *settings,
                                 size_t setting_count) {
  static struct expanding bench;
  FREED(text) content = {0};
  bench = (struct expanding){0};
  WORKS(folder_temporary(&bench.folder, &err));
  bench.sources.template_dir = text_get(&bench.folder);
  text_addf(&content, "kernel \"k\" {\n%s\n}\n", body);
  WORKS(config_parse("k.lua", text_get(&content), content.length, &bench.config, &err));
  WORKS(problem_set(bench.config, settings, setting_count, false, &bench.problem, &err));
  WORKS(space_open(bench.config, &bench.problem, &expanding_facts, &bench.space, &err));
  WORKS(expander_open(&bench.sources, &bench.expander, &err));
  return &bench;
}

void expanding_close(struct expanding *bench) {
  expander_close(bench->expander);
  space_close(bench->space);
  problem_free(&bench->problem);
  config_close(bench->config);
  folder_remove(text_get(&bench->folder));
  text_free(&bench->folder);
}

/* Takes the first combination, which need not be in the space: the expansion refuses a kernel
   that the device cannot launch, too. */
static void first_combination(const struct config *config, struct variant *out,
                              struct value *values) {
  const struct config_implementation *first = &config->implementations[0];
  for (size_t i = 0; i < first->tunable_count; i++) values[i] = first->tunables[i].values[0];
  *out = (struct variant){first, values};
}

int expanding_try(struct expanding *bench, uint64_t index, struct kernel_spec *out,
                  cugen_error *err) {
  struct value values[16];
  struct variant variant;
  assert_true(space_max_tunables(bench->space) <= 16);
  assert_true(index < space_valid(bench->space) || index == 0);
  if (space_valid(bench->space))
    space_variant(bench->space, index, &variant, values);
  else
    first_combination(bench->config, &variant, values);
  return expand_variant(bench->expander, bench->config, &bench->problem, &expanding_facts, &variant,
                        out, err);
}

struct kernel_spec expanding_one(struct expanding *bench, uint64_t index) {
  struct kernel_spec spec;
  WORKS(expanding_try(bench, index, &spec, &err));
  return spec;
}

/* Puts the test's folder in place of T in expected texts, because #line names paths. */
static void expected_paths(const struct expanding *bench, const char *expected, struct text *out) {
  for (; *expected; expected++) {
    if (expected[0] == 'T' && expected[1] == '/')
      text_add(out, text_get(&bench->folder));
    else
      text_add_char(out, *expected);
  }
}

void expanding_text(const struct expanding *bench, const char *got, const char *expected) {
  FREED(text) full = {0};
  expected_paths(bench, expected, &full);
  assert_string_equal(got, text_get(&full));
}

/* Expects the source of the first variant, without its title lines. */
void expanding_source(const char *body, const char *template, const char *expected) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  expanding_add(bench, "t.cu", template);
  FREED(kernel_spec) spec = expanding_one(bench, 0);
  const char *source = spec.source;
  while (strncmp(source, "// ", 3) == 0) source = strchr(source, '\n') + 1;
  expanding_text(bench, source, expected);
}

void expanding_error(const char *body, const char *template, int status, const char *expected) {
  CLOSED(expanding) *bench = expanding_open(body, NULL, 0);
  struct kernel_spec spec;
  cugen_error err = {0};
  expanding_add(bench, "t.cu", template);
  assert_int_equal(expanding_try(bench, 0, &spec, &err), status);
  assert_int_equal(err.status, status);
  expanding_text(bench, err.message, expected);
  if (err.line) { /* the error's fields and its message have the same place */
    assert_non_null(strstr(err.message, formed("%s:%d: ", err.file, err.line)));
  }
  assert_int_equal(err.line > 0, strstr(expected, "T/t.cu:") || strstr(expected, ".lua:"));
  assert_null(spec.source);
  assert_null(spec.arguments);
}
