/* cugen show: prints the problem, the implementations, the arguments in order, and the C signature
   of the launch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/machine.h"
#include "api/source.h"
#include "base/dtype.h"
#include "cli.h"
#include "launches.h"
#include "print.h"
#include "table.h"
#include "trace.h"

static const char *const kinds[] = {"input", "output", "inout", "scratch", "scalar", "constant"};

/* Returns the C type of an element, or "struct". */
static const char *c_type(const cugen_argument_info *argument) {
  const struct dtype *dtype = dtype_find(argument->dtype);
  return dtype ? dtype->c_name : argument->dtype;
}

/* Prints "96 x 200" of numbers[0..rank). */
static struct shown print_extents(const int64_t *numbers, int rank, const char *between) {
  struct shown shown = {"-"};
  size_t used = 0;
  for (int i = 0; i < rank && used < sizeof shown.text; i++)
    used += (size_t)snprintf(shown.text + used, sizeof shown.text - used, "%s%" PRId64,
                             i ? between : "", numbers[i]);
  return shown;
}

static int print_signature(struct cli *cli, const void *of, FILE *out) {
  (void)of;
  const char *between = "";
  fprintf(out, "void %s(", cugen_kernel_name(cli->kernel));
  for (size_t i = 0; i < cugen_kernel_arguments(cli->kernel); i++) {
    cugen_argument_info argument;
    int status = cugen_kernel_argument(cli->kernel, i, &argument, &cli->error);
    if (status) return status;
    /* The caller passes neither scratch arrays nor what is compiled in. */
    if (argument.kind == CUGEN_ARGUMENT_SCRATCH || argument.compiled_in) continue;
    const bool scalar = argument.rank == 0, reads = argument.kind == CUGEN_ARGUMENT_INPUT ||
                                                    argument.kind == CUGEN_ARGUMENT_CONSTANT;
    fprintf(out, "%s%s%s %s%s", between, reads && !scalar && !argument.overwrite ? "const " : "",
            c_type(&argument), scalar ? "" : "*", argument.name);
    between = ", ";
  }
  fputs(*between ? ");" : "void);", out);
  return CUGEN_OK;
}

/* Returns false for a tiled or swizzled array, which has no strides. */
static bool has_strides(const cugen_argument_info *argument) {
  return !argument->rank || argument->stride[0];
}

static int print_arguments(struct cli *cli, FILE *out) {
  static const struct table_column columns[] = {{"kind", 0, 0},
                                                {"name", 0, 0},
                                                {"dtype", 0, 0},
                                                {"shape", TABLE_WRAP, 0},
                                                {"strides", TABLE_WRAP, 0},
                                                {"layout", 0, 1},
                                                {"bytes", TABLE_RIGHT, 2},
                                                {"memory", TABLE_WRAP, 0}};
  struct table table;
  int status = CUGEN_OK;
  table_open(&table, cli, columns, 8);
  for (size_t i = 0; i < cugen_kernel_arguments(cli->kernel); i++) {
    cugen_argument_info argument;
    status = cugen_kernel_argument(cli->kernel, i, &argument, &cli->error);
    if (status) break;
    table_cell(&table, argument.absent ? "-" : kinds[argument.kind]);
    table_cell(&table, argument.name);
    table_cell(&table, argument.dtype);
    table_cell(&table, print_extents(argument.shape, argument.rank, " x ").text);
    table_cell(&table, has_strides(&argument)
                           ? print_extents(argument.stride, argument.rank, ", ").text
                           : "-");
    table_cell(&table, argument.rank ? argument.layout : "-");
    table_cell(&table, print_bytes(argument.bytes).text);
    table_cell(&table, argument.absent        ? "not of this problem"
                       : argument.compiled_in ? "compiled in"
                       : argument.rank        ? argument.memory
                                              : "by value");
  }
  cugen_error ignored;
  int closed = table_close(&table, 2, out, status ? &ignored : &cli->error);
  return status ? status : closed;
}

static void show_print_implementations(const cugen_space_info *space, FILE *out) {
  for (size_t i = 0; i < space->implementations; i++) {
    const cugen_implementation_info *info = &space->implementation[i];
    fprintf(out, "  %s: ", info->name);
    if (info->unavailable)
      fprintf(out, "not for this problem on this device, it needs %s\n", info->unavailable);
    else {
      fprintf(out, "%s of ", print_count(info->valid).text);
      fprintf(out, "%s combinations valid\n", print_count(info->cartesian).text);
    }
  }
}

/* Returns true if the launches depend on a device that is not here. */
static bool needs_device(int status) {
  return status == CUGEN_ERROR_USAGE;
}

/* Prints the launches of the variant that --variant names, or else of the variant that a plan would
   use; show_find_missing reports an error of the latter. */
static int print_launches(struct cli *cli, FILE *out) {
  struct launches launches;
  int status = launches_find(cli, cli->values[OPTION_VARIANT], &launches);
  if (status && (status == CUGEN_ERROR_MEMORY || cli->values[OPTION_VARIANT])) return status;
  if (needs_device(status)) fprintf(out, "\nLaunches: %s\n", cli->error.message);
  if (status) return CUGEN_OK;
  fprintf(out, "\nLaunches of %s:\n", launches.variant);
  return launches_print(cli, &launches, "  ", out);
}

/* Finds the error with which tuning would fail. */
static int show_find_missing(struct cli *cli) {
  int status = api_kernel_complete(cli->kernel, cli->values[OPTION_VARIANT], &cli->error);
  return needs_device(status) ? CUGEN_OK : status;
}

static int print_kernel(struct cli *cli, const void *of, FILE *out) {
  const cugen_space_info *space = of;
  fprintf(out, "%s on ", cugen_kernel_name(cli->kernel));
  cli_print_device(cli, out);
  fprintf(out, "\n\nProblem:\n  %s\n", cugen_kernel_problem(cli->kernel));
  fprintf(out, "\nPolicy for problems that are not tuned:\n  %s\n\nImplementations:\n",
          api_kernel_policy(cli->kernel));
  show_print_implementations(space, out);
  fprintf(out, "\nArguments, strides in elements:\n");
  int status = print_arguments(cli, out);
  if (status) return status;
  const cugen_launch_info *launches;
  size_t count;
  status = api_kernel_launches(cli->kernel, NULL, &launches, &count, NULL, &cli->error);
  if (status == CUGEN_ERROR_MEMORY) return status;
  if (!status) {
    fprintf(out, "\nTo call it:\n  ");
    status = print_signature(cli, NULL, out);
    if (status) return status;
    fputc('\n', out);
  }
  return print_launches(cli, out);
}

/* Sets *text to the output of `print`, which the caller frees, so that an error is reported before
   anything is printed. */
static int print_to_memory(struct cli *cli, int (*print)(struct cli *, const void *, FILE *),
                           const void *of, char **text) {
  size_t length;
  FILE *stream = open_memstream(text, &length);
  if (!stream) return *text = NULL, cli_no_memory(cli);
  int status = print(cli, of, stream);
  if (fclose(stream) != 0 && !status) status = cli_no_memory(cli);
  return status;
}

static int print_whole(struct cli *cli, int (*print)(struct cli *, const void *, FILE *),
                       const void *of) {
  char *text;
  int status = print_to_memory(cli, print, of, &text);
  if (!status) fputs(text, stdout);
  free(text);
  return status;
}

static json_t *argument_json(const cugen_argument_info *argument) {
  return JSON_NEW(MEMBER(string, argument, name), {"kind", json_string(kinds[argument->kind])},
                  MEMBER(string, argument, dtype), {"c_type", json_string(c_type(argument))},
                  {"shape", json_extents(argument->shape, argument->rank)},
                  {"stride", has_strides(argument) ? json_extents(argument->stride, argument->rank)
                                                   : json_null()},
                  {"layout", argument->rank ? json_string(argument->layout) : json_null()},
                  MEMBER(integer, argument, bytes),
                  {"memory", argument->rank ? json_string(argument->memory) : json_null()},
                  {"access", argument->rank ? json_string(argument->access) : json_null()},
                  MEMBER(boolean, argument, compiled_in), MEMBER(boolean, argument, absent),
                  MEMBER(boolean, argument, overwrite), MEMBER(optional_string, argument, data),
                  MEMBER(optional_string, argument, data_from));
}

static int show_fill_json(struct cli *cli, const cugen_space_info *space, json_t *object) {
  json_t *arguments = json_array();
  JSON_ADD(object, {"policy", json_string(api_kernel_policy(cli->kernel))},
           {"objective", json_string(api_kernel_objective_text(cli->kernel))},
           {"measure", json_optional_string(api_kernel_measure(cli->kernel))},
           {"implementations",
            JSON_LIST(space->implementation, space->implementations, json_implementation)},
           {"arguments", arguments});
  int status = CUGEN_OK;
  for (size_t i = 0; !status && i < cugen_kernel_arguments(cli->kernel); i++) {
    cugen_argument_info argument;
    status = cugen_kernel_argument(cli->kernel, i, &argument, &cli->error);
    if (!status) json_array_append_new(arguments, argument_json(&argument));
  }
  char *signature = NULL;
  if (!status) status = print_to_memory(cli, print_signature, NULL, &signature);
  if (!status) json_object_set_new(object, "signature", json_string(signature));
  free(signature);
  if (status) return status;
  struct launches launches;
  status = launches_find(cli, cli->values[OPTION_VARIANT], &launches);
  if (status && (status == CUGEN_ERROR_MEMORY || cli->values[OPTION_VARIANT])) return status;
  JSON_ADD(object, {"variant", status ? json_null() : json_string(launches.variant)},
           {"launches", status ? json_null() : launches_json(&launches)});
  return CUGEN_OK;
}

/* ---- Without a config: the shipped configs -------------------------------------------------- */

enum { MOST_CONFIGS = 64 };

static size_t list_configs(struct cli *cli, const char **names) {
  size_t count = api_configs(cli->lib, names, MOST_CONFIGS);
  return count < MOST_CONFIGS ? count : MOST_CONFIGS;
}

/* Returns the length of "matmul" in "matmul.lua". */
static int show_name_length(const char *file) {
  return (int)strcspn(file, ".");
}

static int print_configs(struct cli *cli, const void *of, FILE *out) {
  (void)of;
  const char *names[MOST_CONFIGS];
  size_t count = list_configs(cli, names);
  for (size_t i = 0; i < count; i++) {
    cugen_kernel *kernel;
    int status = cugen_kernel_open(cli->lib, names[i], NULL, 0, &kernel, &cli->error);
    if (status) return status;
    fprintf(out, "%.*s: %s\n  %s\n", show_name_length(names[i]), names[i],
            api_kernel_summary(kernel), cugen_kernel_problem(kernel));
    cugen_kernel_close(kernel);
  }
  return CUGEN_OK;
}

static int show_configs(struct cli *cli) {
  const char *names[MOST_CONFIGS];
  int status = cli_open(cli);
  if (status) return status;
  if (!options_given(cli, OPTION_JSON)) {
    status = print_whole(cli, print_configs, NULL);
    if (!status) cli_remark(cli, "these configs ship; 'cugen show CONFIG' describes one");
    return status;
  }
  json_t *array = json_array();
  size_t count = list_configs(cli, names);
  for (size_t i = 0; i < count; i++)
    json_array_append_new(array, json_stringn(names[i], (size_t)show_name_length(names[i])));
  return cli_print_json(cli, JSON_NEW({"configs", array}));
}

int command_show(struct cli *cli) {
  cugen_space_info space;
  if (options_given(cli, OPTION_TRACE)) return trace_show(cli);
  if (!cli->operand) return show_configs(cli);
  int status = cli_open_kernel(cli);
  if (!status) status = api_kernel_space(cli->kernel, &space, &cli->error);
  if (status) return status;
  cli_remark_unused(cli);
  if (!options_given(cli, OPTION_JSON)) {
    status = print_whole(cli, print_kernel, &space);
    return status ? status : show_find_missing(cli);
  }
  json_t *object = json_kernel(cli);
  status = show_fill_json(cli, &space, object);
  if (!status) status = show_find_missing(cli);
  if (!status) return cli_print_json(cli, object);
  json_decref(object);
  return status;
}
