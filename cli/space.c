/* cugen space: counts the combinations and the valid variants, and shows which restrictions removed
   the others. */
#include <inttypes.h>
#include <string.h>

#include "api/kernel.h"
#include "cli.h"
#include "option_names.h"
#include "print.h"
#include "table.h"

static int space_list_variants(struct cli *cli, uint64_t count, json_t *array) {
  int status = CUGEN_OK;
  clean_kind(WRAP_NOTHING);
  for (uint64_t i = 0; !status && i < count; i++) {
    const char *variant;
    status = api_kernel_variant(cli->kernel, i, &variant, &cli->error);
    if (status) break;
    if (array)
      json_array_append_new(array, json_string(variant));
    else
      puts(variant);
  }
  clean_kind(WRAP_PROSE);
  return status;
}

static int space_print_implementations(struct cli *cli, const cugen_space_info *space) {
  static const struct table_column columns[] = {{"implementation", 0, 0},
                                                {"combinations", TABLE_RIGHT, 0},
                                                {"valid", TABLE_RIGHT, 0},
                                                {"", TABLE_WRAP, 0}};
  struct table table;
  int status = CUGEN_OK;
  table_open(&table, cli, columns, 4);
  for (size_t i = 0; !status && i < space->implementations; i++) {
    cugen_implementation_info info;
    status = api_kernel_implementation(cli->kernel, i, &info, &cli->error);
    if (status) break;
    table_cell(&table, info.name);
    table_cell(&table, print_count(info.cartesian).text);
    table_cell(&table, print_count(info.valid).text);
    table_cellf(&table, info.unavailable ? "needs %s" : "%s",
                info.unavailable ? info.unavailable : "");
  }
  cugen_error ignored;
  int closed = table_close(&table, 2, stdout, status ? &ignored : &cli->error);
  return status ? status : closed;
}

/* Adds "heuristic: BM <= 128". */
static void space_add_text(struct table *table, const cugen_restriction_info *info) {
  table_cellf(table, "%s%s", info->kind == CUGEN_RESTRICTION_HEURISTIC ? "heuristic: " : "",
              info->text);
}

/* Restrictions that removed nothing, which are most of a large config's, are only counted unless
   --wide is given. */
static bool space_is_listed(const struct cli *cli, const cugen_restriction_info *info) {
  return info->removed || options_given(cli, OPTION_WIDE);
}

/* Returns the length of the folder, including its slash, that all files of restrictions that
   removed something share; 0 without a width. */
static size_t common_folder(struct cli *cli, const cugen_space_info *space) {
  cugen_restriction_info info;
  char common[512] = "";
  size_t length = 0;
  bool any = false;
  for (size_t i = 0; i < space->restrictions && cli->width; i++) {
    if (api_kernel_restriction(cli->kernel, i, &info, &cli->error) || !info.removed || !*info.file)
      continue;
    if (!any) length = (size_t)snprintf(common, sizeof common, "%.500s", info.file);
    for (any = true;
         length && (common[length - 1] != '/' || strncmp(common, info.file, length) != 0);)
      length--;
  }
  return length;
}

static int print_removing(struct cli *cli, const cugen_space_info *space) {
  static const struct table_column columns[] = {
      {"removed", TABLE_RIGHT, 0}, {"by", 0, 0}, {"where", TABLE_WRAP, 0}, {"line", TABLE_WRAP, 0}};
  struct table table;
  int status = CUGEN_OK;
  const size_t folder = common_folder(cli, space);
  char folder_name[512] = "";
  table_open(&table, cli, columns, 4);
  for (size_t i = 0; !status && i < space->restrictions; i++) {
    cugen_restriction_info info;
    status = api_kernel_restriction(cli->kernel, i, &info, &cli->error);
    if (status || !space_is_listed(cli, &info)) continue;
    const bool in_folder = folder && strlen(info.file) > folder;
    if (in_folder) snprintf(folder_name, sizeof folder_name, "%.*s", (int)folder, info.file);
    table_cell(&table, print_count(info.removed).text);
    table_cell(&table, info.implementation);
    space_add_text(&table, &info);
    table_cellf(&table, "%s%s", message_own(info.file).text + (in_folder ? folder : 0),
                info.line ? print_format(":%d", info.line).text : "");
  }
  cugen_error ignored;
  int closed = table_close(&table, 2, stdout, status ? &ignored : &cli->error);
  if (!status && *folder_name) printf("  all files are in %s\n", folder_name);
  return status ? status : closed;
}

static int print_restrictions(struct cli *cli, const cugen_space_info *space) {
  cugen_restriction_info info;
  size_t idle = 0;
  for (size_t i = 0; i < space->restrictions; i++)
    idle += api_kernel_restriction(cli->kernel, i, &info, &cli->error) == CUGEN_OK &&
            !space_is_listed(cli, &info);
  const int status = idle < space->restrictions ? print_removing(cli, space) : CUGEN_OK;
  if (!status && idle)
    printf("  %s removed nothing; --wide lists them\n", print_many(idle, "restriction").text);
  return status;
}

static int print_space(struct cli *cli, const cugen_space_info *space, uint64_t left_out) {
  printf("%s %s on ", cugen_kernel_name(cli->kernel), api_kernel_problem_short(cli->kernel));
  cli_print_device(cli, stdout);
  printf("\n%s of ", print_count(space->valid).text);
  printf("%s combinations are valid\n", print_count(space->cartesian).text);
  if (left_out)
    printf("%s more are left out by heuristics for this device; --all takes them\n",
           print_count(left_out).text);
  putchar('\n');
  int status = space_print_implementations(cli, space);
  if (status || !space->restrictions) return status;
  putchar('\n');
  return print_restrictions(cli, space);
}

static json_t *restriction_json(const cugen_restriction_info *info) {
  static const char *const kinds[] = {"where", "limit", "filter", "heuristic"};
  return JSON_NEW(MEMBER(string, info, implementation), {"kind", json_string(kinds[info->kind])},
                  {"where", json_string(info->text)},
                  {"file", json_string(message_own(info->file).text)}, MEMBER(integer, info, line),
                  MEMBER(count, info, removed));
}

static int space_fill_json(struct cli *cli, const cugen_space_info *space, uint64_t left_out,
                           json_t *object) {
  json_t *implementations = json_array(), *restrictions = json_array();
  int status = CUGEN_OK;
  JSON_ADD(object, MEMBER(count, space, cartesian), MEMBER(count, space, valid),
           {"left_out", json_count(left_out)}, {"implementations", implementations},
           {"restrictions", restrictions});
  for (size_t i = 0; !status && i < space->implementations; i++) {
    cugen_implementation_info info;
    status = api_kernel_implementation(cli->kernel, i, &info, &cli->error);
    if (!status) json_array_append_new(implementations, json_implementation(&info));
  }
  for (size_t i = 0; !status && i < space->restrictions; i++) {
    cugen_restriction_info info;
    status = api_kernel_restriction(cli->kernel, i, &info, &cli->error);
    if (!status) json_array_append_new(restrictions, restriction_json(&info));
  }
  return status;
}

static int space_print_json(struct cli *cli, const cugen_space_info *space, uint64_t left_out,
                            uint64_t listed) {
  json_t *object = json_kernel(cli);
  int status = space_fill_json(cli, space, left_out, object);
  if (!status && options_given(cli, OPTION_LIST)) {
    json_t *variants = json_array();
    json_object_set_new(object, "variants", variants);
    status = space_list_variants(cli, listed, variants);
  }
  if (!status) return cli_print_json(cli, object);
  json_decref(object);
  return status;
}

static bool space_has_heuristics(struct cli *cli, const cugen_space_info *space) {
  cugen_restriction_info info = {.kind = CUGEN_RESTRICTION_WHERE};
  for (size_t i = 0; i < space->restrictions && info.kind != CUGEN_RESTRICTION_HEURISTIC; i++)
    if (api_kernel_restriction(cli->kernel, i, &info, &cli->error)) return false;
  return info.kind == CUGEN_RESTRICTION_HEURISTIC;
}

/* Counts the variants that only heuristics leave out; the rules themselves count combinations. This
   walks the whole space; *out is 0 if the space is too large. */
static int count_left_out(struct cli *cli, const cugen_space_info *space, uint64_t *out) {
  cugen_space_info all;
  cugen_error ignored;
  *out = 0;
  if (!space_has_heuristics(cli, space)) return CUGEN_OK;
  if (!cli_filter(cli, true) && !api_kernel_space(cli->kernel, &all, &ignored))
    *out = all.valid - space->valid;
  return cli_filter(cli, false);
}

int command_space(struct cli *cli) {
  cugen_space_info space;
  uint64_t left_out;
  size_t most = SIZE_MAX;
  const bool json = options_given(cli, OPTION_JSON);
  int status = options_count(cli, OPTION_LIST, 1, &most);
  if (!status) status = cli_open_kernel(cli);
  if (!status) status = api_kernel_space(cli->kernel, &space, &cli->error);
  if (status) return status;
  cli_remark_unused(cli);
  uint64_t listed = most < space.valid ? most : space.valid;
  if (options_given(cli, OPTION_LIST) && !json) return space_list_variants(cli, listed, NULL);
  status = count_left_out(cli, &space, &left_out);
  if (status) return status;
  return json ? space_print_json(cli, &space, left_out, listed)
              : print_space(cli, &space, left_out);
}
