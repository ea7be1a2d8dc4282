/* cugen space: how many combinations there are, how many are valid, and what removed the others. */
#include <inttypes.h>

#include "cli.h"
#include "print.h"

static int list_variants(struct cli *cli, uint64_t count, json_t *array) {
  int status = CUGEN_OK;
  for (uint64_t i = 0; !status && i < count; i++) {
    const char *variant;
    status = cugen_kernel_variant(cli->kernel, i, &variant, &cli->error);
    if (status) break;
    if (array)
      json_array_append_new(array, json_string(variant));
    else
      puts(variant);
  }
  return status;
}

static int print_implementations(struct cli *cli, const cugen_space_info *space) {
  static const char *const headers[] = {"implementation", ">combinations", ">valid", ""};
  struct table table;
  int status = CUGEN_OK;
  table_open(&table, headers, 4);
  for (size_t i = 0; !status && i < space->implementations; i++) {
    cugen_implementation_info info;
    status = cugen_kernel_implementation(cli->kernel, i, &info, &cli->error);
    if (status) break;
    char unmet[256] = "";
    if (info.unavailable) snprintf(unmet, sizeof unmet, "needs %s", info.unavailable);
    table_cell(&table, info.name);
    table_cell(&table, print_count(info.cartesian).text);
    table_cell(&table, print_count(info.valid).text);
    table_cell(&table, unmet);
  }
  cugen_error ignored;
  int closed = table_close(&table, 2, stdout, status ? &ignored : &cli->error);
  return status ? status : closed;
}

static int print_restrictions(struct cli *cli, const cugen_space_info *space) {
  static const char *const headers[] = {">removed", "by implementation", "where", "line"};
  struct table table;
  int status = CUGEN_OK;
  table_open(&table, headers, 4);
  for (size_t i = 0; !status && i < space->restrictions; i++) {
    cugen_restriction_info info;
    status = cugen_kernel_restriction(cli->kernel, i, &info, &cli->error);
    if (status) break;
    char place[512], line[16];
    snprintf(line, sizeof line, ":%d", info.line);
    snprintf(place, sizeof place, "%s%s", info.file, info.line ? line : "");
    table_cell(&table, print_count(info.removed).text);
    table_cell(&table, info.implementation);
    table_cell(&table, info.text);
    table_cell(&table, place);
  }
  cugen_error ignored;
  int closed = table_close(&table, 2, stdout, status ? &ignored : &cli->error);
  return status ? status : closed;
}

static int print_space(struct cli *cli, const cugen_space_info *space) {
  printf("%s %s on ", cugen_kernel_name(cli->kernel), cugen_kernel_problem_short(cli->kernel));
  cli_print_device(cli, stdout);
  printf("\n%s of ", print_count(space->valid).text);
  printf("%s combinations are valid\n\n", print_count(space->cartesian).text);
  int status = print_implementations(cli, space);
  if (status || !space->restrictions) return status;
  putchar('\n');
  return print_restrictions(cli, space);
}

static json_t *restriction_json(const cugen_restriction_info *info) {
  static const char *const kinds[] = {"where", "limit", "filter"};
  json_t *object = json_object();
  json_object_set_new(object, "implementation", json_string(info->implementation));
  json_object_set_new(object, "kind", json_string(kinds[info->kind]));
  json_object_set_new(object, "where", json_string(info->text));
  json_object_set_new(object, "file", json_string(info->file));
  json_object_set_new(object, "line", json_integer(info->line));
  json_object_set_new(object, "removed", json_integer((json_int_t)info->removed));
  return object;
}

static int fill_json(struct cli *cli, const cugen_space_info *space, json_t *object) {
  json_t *implementations = json_array(), *restrictions = json_array();
  int status = CUGEN_OK;
  json_object_set_new(object, "kernel", json_string(cugen_kernel_name(cli->kernel)));
  json_object_set_new(object, "problem", json_string(cugen_kernel_problem(cli->kernel)));
  json_object_set_new(object, "device", json_device(cugen_kernel_device(cli->kernel)));
  json_object_set_new(object, "cartesian", json_integer((json_int_t)space->cartesian));
  json_object_set_new(object, "valid", json_integer((json_int_t)space->valid));
  json_object_set_new(object, "implementations", implementations);
  json_object_set_new(object, "restrictions", restrictions);
  for (size_t i = 0; !status && i < space->implementations; i++) {
    cugen_implementation_info info;
    status = cugen_kernel_implementation(cli->kernel, i, &info, &cli->error);
    if (!status) json_array_append_new(implementations, json_implementation(&info));
  }
  for (size_t i = 0; !status && i < space->restrictions; i++) {
    cugen_restriction_info info;
    status = cugen_kernel_restriction(cli->kernel, i, &info, &cli->error);
    if (!status) json_array_append_new(restrictions, restriction_json(&info));
  }
  return status;
}

static int print_json(struct cli *cli, const cugen_space_info *space, uint64_t listed) {
  json_t *object = json_object();
  int status = fill_json(cli, space, object);
  if (!status && options_given(cli, OPTION_LIST)) {
    json_t *variants = json_array();
    json_object_set_new(object, "variants", variants);
    status = list_variants(cli, listed, variants);
  }
  if (!status) return cli_print_json(cli, object);
  json_decref(object);
  return status;
}

int command_space(struct cli *cli) {
  cugen_space_info space;
  size_t most = SIZE_MAX;
  int status = options_count(cli, OPTION_LIST, 1, &most);
  if (!status) status = cli_open_kernel(cli);
  if (!status) status = cugen_kernel_space(cli->kernel, &space, &cli->error);
  if (status) return status;
  uint64_t listed = most < space.valid ? most : space.valid;
  if (options_given(cli, OPTION_JSON)) return print_json(cli, &space, listed);
  return options_given(cli, OPTION_LIST) ? list_variants(cli, listed, NULL) : print_space(cli, &space);
}
