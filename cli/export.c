/* cugen export: writes tuned variants as plain C into a folder. The C code needs only the driver at
   run time. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/export/bundle.h"
#include "cli.h"
#include "print.h"

static int take_distance(struct cli *cli, double *out) {
  const char *text = cli->values[OPTION_DISTANCE];
  char *end;
  if (!text) return CUGEN_OK;
  *out = strtod(text, &end);
  if (isdigit((unsigned char)*text) && !*end && *out > 0 && *out < 1000) return CUGEN_OK;
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "--distance %s: a number above 0 is expected; 1 is twice or half a size", text);
}

static int export_print_json(struct cli *cli, const char *folder, const cugen_export_result *r) {
  json_t *notes = json_array();
  for (const char *line = r->notes; *line;) {
    const size_t length = strcspn(line, "\n");
    json_array_append_new(notes, json_stringn(line, length));
    line += length + (line[length] == '\n');
  }
  json_t *object =
      JSON_NEW({"kernel", json_string(cugen_kernel_name(cli->kernel))}, MEMBER(string, r, name),
               {"folder", json_string(folder)}, MEMBER(count, r, devices),
               MEMBER(count, r, problems), MEMBER(count, r, variants), MEMBER(count, r, images),
               MEMBER(count, r, portfolios), MEMBER(count, r, compiled), MEMBER(count, r, stale),
               MEMBER(integer, r, image_bytes), MEMBER(integer, r, source_bytes), {"notes", notes});
  return cli_print_json(cli, object);
}

int command_export(struct cli *cli) {
  const char *folder = cli->values[OPTION_OUTPUT];
  cugen_export_options options = {0};
  cugen_export_result result;
  if (!folder)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "an export needs a folder: %s -o FOLDER",
                    hint(cli, "export").text);
  options.devices = cli->values[OPTION_DEVICES];
  options.problems = cli->values[OPTION_PROBLEMS];
  options.predicted = options_given(cli, OPTION_PREDICTED);
  options.ptx = options_given(cli, OPTION_PTX);
  options.force = options_given(cli, OPTION_FORCE);
  options.portfolio = options_given(cli, OPTION_ONLY_PORTFOLIO);
  options.variant = cli->values[OPTION_VARIANT];
  int status = take_distance(cli, &options.distance);
  if (!status) status = cli_open_kernel(cli);
  if (!status) status = api_kernel_export(cli->kernel, &options, folder, &result, &cli->error);
  if (status) return status;
  cli_remark_cache(cli);
  if (options_given(cli, OPTION_JSON)) return export_print_json(cli, folder, &result);
  for (const char *line = result.notes; *line;) {
    int length = (int)strcspn(line, "\n");
    cli_remark(cli, "%.*s", length, line);
    line += length + (line[length] == '\n');
  }
  printf("%s: %s.h, %s.c, example.c, CMakeLists.txt, README.md\n", folder, result.name,
         result.name);
  printf("%s, %s, %s in %s: %s of code, %s of source\n", print_many(result.devices, "device").text,
         print_many(result.problems, "tuned problem").text,
         print_many(result.variants, "variant").text, print_many(result.images, "image").text,
         print_bytes(result.image_bytes).text, print_bytes(result.source_bytes).text);
  if (result.portfolios) puts(print_many(result.portfolios, "portfolio").text);
  printf("Build it there, and link it with -ldl; README.md says how it is used:\n  cc -std=c11 -O2 "
         "-c %s.c\n",
         result.name);
  return CUGEN_OK;
}
