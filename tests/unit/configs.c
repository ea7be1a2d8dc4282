/* Configs for tests; see configs.h. */
#include "configs.h"
#include "base/text.h"
#include "tests/testing.h"

struct config *parse(const char *text) {
  struct config *config;
  WORKS(config_parse("c.lua", text, strlen(text), &config, &err));
  assert_non_null(config);
  return config;
}

/* An error whose message begins with the file and a line has these as its place, too. */
static void expect_place(const cugen_error *err) {
  char *end;
  const long line =
      strncmp(err->message, "c.lua:", 6) == 0 ? strtol(err->message + 6, &end, 10) : 0;
  assert_int_equal(err->line, line);
  assert_string_equal(err->file, line ? "c.lua" : "");
}

void expect_error(const char *text, const char *want) {
  struct config *config;
  cugen_error err;
  if (config_parse("c.lua", text, strlen(text), &config, &err) == CUGEN_OK)
    fail_msg("no error: %.300s", text);
  assert_null(config);
  assert_int_equal(err.status, CUGEN_ERROR_CONFIG);
  if (strncmp(err.message, want, strlen(want)) != 0)
    fail_msg("%.300s\n got: %s\nwant: %s", text, err.message, want);
  expect_place(&err);
  assert_int_equal(config_parse("c.lua", text, strlen(text), &config, NULL), CUGEN_ERROR_CONFIG);
}

/* Completes a config by the parts that the test is not about. Line 1 opens the kernel; `body`
   begins on line 2. */
static char *with_rest(const char *body) {
  struct text text = {0};
  size_t end = strlen(body);
  while (end && (body[end - 1] == ' ' || body[end - 1] == '\n')) end--;
  text_addf(&text, "kernel \"k\" {\n%s%s\n", body, end && body[end - 1] == ',' ? "" : ",");
  if (!strstr(body, "output"))
    text_add(&text, "output \"C\" { dtype = \"f32\", shape = { 8 } },\n");
  if (!strstr(body, "reference")) text_add(&text, "reference \"none\",\n");
  if (!strstr(body, "implementation"))
    text_add(&text, "implementation \"i\" { template \"t.cu\", grid { 1 }, block { 32 } },\n");
  text_add(&text, "}\n");
  char *result = text_take(&text);
  assert_non_null(result);
  return result;
}

struct config *parse_body(const char *body) {
  char *text = with_rest(body);
  struct config *config = parse(text);
  free(text);
  return config;
}

void expect_body_error(const char *body, const char *want) {
  char *text = with_rest(body);
  expect_error(text, want);
  free(text);
}
