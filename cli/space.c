/* cugen space: counts the combinations and the valid variants, and shows which restrictions removed
   the others. */
#include <string.h>

#include "api/kernel.h"
#include "cli.h"
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
  table_open(&table, cli, columns, 4);
  for (size_t i = 0; i < space->implementations; i++) {
    const cugen_implementation_info *info = &space->implementation[i];
    table_cell(&table, info->name);
    table_cell(&table, print_count(info->cartesian).text);
    table_cell(&table, print_count(info->valid).text);
    table_cellf(&table, info->unavailable ? "needs %s" : "%s",
                info->unavailable ? info->unavailable : "");
  }
  return table_close(&table, 2, stdout, &cli->error);
}

/* Restrictions that removed nothing are only counted unless --wide is given. */
static bool space_is_listed(const struct cli *cli, const cugen_restriction_info *info) {
  return info->removed || options_given(cli, OPTION_WIDE);
}

/* Returns the length, with the slash, of the folder that the files of all restrictions that removed
   something have in common; 0 if there is none, or no width. */
static size_t common_folder(const struct cli *cli, const cugen_space_info *space) {
  char common[512] = "";
  size_t length = 0;
  bool any = false;
  for (size_t i = 0; i < space->restrictions && cli->width; i++) {
    const cugen_restriction_info *info = &space->restriction[i];
    if (!info->removed || !*info->file) continue;
    if (!any) length = (size_t)snprintf(common, sizeof common, "%.500s", info->file);
    for (any = true;
         length && (common[length - 1] != '/' || strncmp(common, info->file, length) != 0);)
      length--;
  }
  return length;
}

static int print_removing(struct cli *cli, const cugen_space_info *space) {
  static const struct table_column columns[] = {
      {"removed", TABLE_RIGHT, 0}, {"by", 0, 0}, {"where", TABLE_WRAP, 0}, {"line", TABLE_WRAP, 0}};
  struct table table;
  const size_t folder = common_folder(cli, space);
  char folder_name[512] = "";
  table_open(&table, cli, columns, 4);
  for (size_t i = 0; i < space->restrictions; i++) {
    const cugen_restriction_info *info = &space->restriction[i];
    if (!space_is_listed(cli, info)) continue;
    const bool in_folder = folder && strlen(info->file) > folder;
    if (in_folder) snprintf(folder_name, sizeof folder_name, "%.*s", (int)folder, info->file);
    table_cell(&table, print_count(info->removed).text);
    table_cell(&table, info->implementation);
    table_cellf(&table, "%s%s", info->kind == CUGEN_RESTRICTION_HEURISTIC ? "heuristic: " : "",
                info->text);
    table_cellf(&table, "%s%s", message_own(info->file).text + (in_folder ? folder : 0),
                info->line ? print_format(":%d", info->line).text : "");
  }
  const int status = table_close(&table, 2, stdout, &cli->error);
  if (*folder_name) printf("  all files are in %s\n", folder_name);
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
  size_t idle = 0;
  for (size_t i = 0; i < space->restrictions; i++)
    idle += !space_is_listed(cli, &space->restriction[i]);
  if (idle < space->restrictions) status = print_removing(cli, space);
  if (!status && idle)
    printf("  %s removed nothing; --wide lists them\n", print_many(idle, "restriction").text);
  return status;
}

static json_t *restriction_json(const void *item) {
  const cugen_restriction_info *info = item;
  static const char *const kinds[] = {"where", "limit", "filter", "heuristic"};
  return JSON_NEW(MEMBER(string, info, implementation), {"kind", json_string(kinds[info->kind])},
                  {"where", json_string(info->text)},
                  {"file", json_string(message_own(info->file).text)}, MEMBER(integer, info, line),
                  MEMBER(count, info, removed));
}

static int space_print_json(struct cli *cli, const cugen_space_info *space, uint64_t left_out,
                            uint64_t listed) {
  json_t *object = json_kernel(cli);
  int status = CUGEN_OK;
  JSON_ADD(object, MEMBER(count, space, cartesian), MEMBER(count, space, valid),
           {"left_out", json_count(left_out)},
           {"implementations",
            JSON_LIST(space->implementation, space->implementations, json_implementation)},
           {"restrictions", JSON_LIST(space->restriction, space->restrictions, restriction_json)});
  if (options_given(cli, OPTION_LIST)) {
    json_t *variants = json_array();
    json_object_set_new(object, "variants", variants);
    status = space_list_variants(cli, listed, variants);
  }
  if (!status) return cli_print_json(cli, object);
  json_decref(object);
  return status;
}

/* Counts the variants that only heuristics leave out. *out is 0 if the space is too large to
   count. */
static int count_left_out(struct cli *cli, cugen_space_info *space, uint64_t *out) {
  cugen_space_info all;
  cugen_error ignored;
  size_t heuristics = 0;
  *out = 0;
  for (size_t i = 0; i < space->restrictions; i++)
    heuristics += space->restriction[i].kind == CUGEN_RESTRICTION_HEURISTIC;
  if (!heuristics) return CUGEN_OK;
  if (!cli_filter(cli, true) && !api_kernel_space(cli->kernel, &all, &ignored))
    *out = all.valid - space->valid;
  const int status = cli_filter(cli, false);
  return status ? status : api_kernel_space(cli->kernel, space, &cli->error);
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
