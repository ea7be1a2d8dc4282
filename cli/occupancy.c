/* cugen occupancy: how many blocks of a kernel a multiprocessor holds, on this machine's GPUs and
   on models. */
#include <stdlib.h>
#include <string.h>

#include "api/explain.h"
#include "api/machine.h"
#include "api/records.h"
#include "api/source.h"
#include "cli.h"
#include "print.h"
#include "table.h"

/* ---- The kernel's resources ----------------------------------------------------------------- */

struct kernel {
  cugen_resources takes;
  bool now;           /* the resources come from a compile made now, because no record is stored */
  const char *device; /* name of the device that the resources were taken for; NULL: the resources
                         come from options */
  int cluster_blocks, active_clusters;
};

/* variant "": the best variant is wanted. */
static bool occupancy_is_wanted(const cugen_stored_record *stored, const char *variant) {
  const cugen_record *r = &stored->record;
  if (!stored->current || r->registers < 1) return false;
  return *variant ? strcmp(r->variant, variant) == 0 : r->outcome == CUGEN_OUTCOME_OK;
}

static int occupancy_refuse(struct cli *cli, const char *variant) {
  const char *model = cli_fallback_model(cli);
  bool predicted = cugen_kernel_fallback(cli->kernel) && cli_is_predicted(cli, model);
  cli_fail(cli, CUGEN_ERROR_USAGE,
           "%s%s%s: no compiled kernel is remembered for this device and problem; ", cli->operand,
           *variant ? " " : "", variant);
  if (predicted)
    cli_append(cli, "--device %s takes what is predicted there", model);
  else
    cli_append(cli, "'cugen tune' on a GPU or for a model");
  cli_append(cli, ", or give --registers, --block and --shared");
  return cli->error.status;
}

/* Finds the record of the variant, or for "" the best record, by api_best_of as a plan does. *out
   becomes NULL if there is none. */
static int find_record(struct cli *cli, const char *variant, const cugen_record **out) {
  const cugen_stored_record *all;
  size_t count, found = 0;
  *out = NULL;
  int status = cli_stored(cli, &all, &count);
  if (status) return status;
  const cugen_record **wanted = calloc(count + 1, sizeof *wanted);
  if (!wanted) return cli_no_memory(cli);
  for (size_t i = 0; i < count; i++)
    if (occupancy_is_wanted(&all[i], variant)) wanted[found++] = &all[i].record;
  const size_t best = found && !*variant ? api_best_of(wanted, found) : 0;
  if (best < found) *out = wanted[best];
  free(wanted);
  return CUGEN_OK;
}

/* Takes the preferred carveout from the first launch with the record's number of threads and
   dynamic shared memory. */
static int take_carveout(struct cli *cli, const cugen_record *r, cugen_resources *out) {
  const cugen_launch_info *launches;
  size_t count, i = 0;
  int status = api_kernel_launches(cli->kernel, r->variant, &launches, &count, NULL, &cli->error);
  if (status) return status;
  for (; i < count; i++) {
    const unsigned *block = launches[i].block;
    if ((int64_t)block[0] * block[1] * block[2] == r->threads &&
        launches[i].shared_bytes == r->dynamic_shared_bytes)
      break;
  }
  out->has_carveout = i < count && launches[i].carveout >= 0;
  if (out->has_carveout) out->carveout = launches[i].carveout;
  return CUGEN_OK;
}

/* Compiles the variant ("": the config's default) for the kernel's device, and, without --json,
   prints its name. */
static int compile_now(struct cli *cli, const char *variant, struct kernel *out) {
  const char *source, *name, *text = *variant ? variant : NULL;
  *out = (struct kernel){.now = true, .device = cugen_kernel_device(cli->kernel)->name};
  int status = api_kernel_resources(cli->kernel, text, &out->takes, &cli->error);
  if (!status) status = cugen_kernel_source(cli->kernel, text, &source, &name, &cli->error);
  if (!status && !options_given(cli, OPTION_JSON))
    printf("%s%s\n", name, text ? "" : ", the config's default");
  return status;
}

/* Takes the resources from the record of the variant, or for "" of the best one. If a model has no
   such record, predicts or compiles now. */
static int take_record(struct cli *cli, const char *variant, struct kernel *out) {
  const cugen_record *r;
  bool now = false;
  int status = find_record(cli, variant, &r);
  if (!status && !r && cli_device(cli) == CUGEN_DEVICE_MODEL) {
    if (cli_tuning(cli) == CLI_REFUSES) return compile_now(cli, variant, out);
    now = true;
    status = cli_predict(cli);
    if (!status) status = find_record(cli, variant, &r);
  }
  if (status || !r) return status ? status : occupancy_refuse(cli, variant);
  *out = (struct kernel){
      .takes = {.registers = r->registers, .threads = r->threads, .shared_bytes = r->shared_bytes},
      .now = now,
      .device = cugen_kernel_device(cli->kernel)->name,
      .cluster_blocks = r->cluster_blocks,
      .active_clusters = r->active_clusters};
  /* Resources come from the compiler, but the choice of the best is predicted. */
  bool chosen = r->predicted && !*variant;
  const char *why = !chosen ? ""
                    : now   ? ", the model's choice of one of each implementation"
                            : ", the model's choice: predicted";
  if (!options_given(cli, OPTION_JSON)) printf("%s%s\n", r->variant, why);
  return take_carveout(cli, r, &out->takes);
}

static int take_kernel(struct cli *cli, struct kernel *out) {
  const char *source, *name = "", *variant = cli->values[OPTION_VARIANT];
  int status = cli_open_kernel(cli);
  if (!status) status = cli_use_check_on_cpu(cli);
  if (!status && variant)
    status = cugen_kernel_source(cli->kernel, variant, &source, &name, &cli->error);
  if (status) return status;
  char *whole = strdup(name); /* copied, because the kernel may be closed */
  status = whole ? take_record(cli, whole, out) : cli_no_memory(cli);
  free(whole);
  return status;
}

static int occupancy_take_number(struct cli *cli, enum cli_option option, size_t least,
                                 int64_t *out) {
  size_t value = (size_t)*out;
  int status = options_count(cli, option, least, &value);
  if (!status && value > INT32_MAX)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--%s %s: that is more than any device has",
                    cli_options[option].name, cli->values[option]);
  *out = (int64_t)value;
  return status;
}

static int occupancy_take_options(struct cli *cli, cugen_resources *out) {
  int64_t registers = out->registers, threads = out->threads;
  const char *shared = cli->values[OPTION_SHARED];
  int status = occupancy_take_number(cli, OPTION_REGISTERS, 1, &registers);
  if (!status) status = occupancy_take_number(cli, OPTION_BLOCK, 1, &threads);
  if (shared && shared[strspn(shared, "0123456789")]) { /* an expression in the block's threads */
    out->shared_bytes = 0;
    out->dynamic_shared = shared;
  } else if (!status) {
    status = occupancy_take_number(cli, OPTION_SHARED, 0, &out->shared_bytes);
  }
  out->registers = (int)registers;
  out->threads = (int)threads;
  return status;
}

/* ---- The devices ---------------------------------------------------------------------------- */

struct answer {
  char id[32];
  cugen_occupancy occupancy;
};

struct answers {
  struct answer rows[64];
  size_t count;
};

static int occupancy_ask(struct cli *cli, const char *device, const cugen_resources *resources,
                         struct answers *out) {
  struct answer *row = &out->rows[out->count];
  if (out->count == sizeof out->rows / sizeof *out->rows) return CUGEN_OK;
  int status = api_device_occupancy(cli->lib, device, resources, &row->occupancy, &cli->error);
  snprintf(row->id, sizeof row->id, "%.31s", device);
  out->count += !status;
  return status;
}

/* Asks the GPUs of this machine, then the models. */
static int occupancy_ask_all(struct cli *cli, const cugen_resources *resources,
                             struct answers *out) {
  cugen_device_info devices[16];
  const char *models[API_MOST_MODELS];
  size_t count = cugen_devices(cli->lib, devices, 16, NULL);
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && i < 16 && !status; i++)
    if (device_parse(devices[i].id).kind == CUGEN_DEVICE_CUDA)
      status = occupancy_ask(cli, devices[i].id, resources, out);
  size_t model_count = api_models(cli->lib, models, API_MOST_MODELS);
  if (!status && !model_count) status = cli_no_memory(cli);
  for (size_t i = 0; i < model_count && !status; i++)
    status = occupancy_ask(cli, models[i], resources, out);
  return status;
}

/* ---- Printing ------------------------------------------------------------------------------- */

static int occupancy_print_text(struct cli *cli, const struct kernel *kernel,
                                const struct answers *answers) {
  static const struct table_column columns[] = {
      {"device", 0, 0},           {"arch", 0, 1},
      {"blocks", TABLE_RIGHT, 0}, {"occupancy", TABLE_RIGHT, 0},
      {"limit", TABLE_WRAP, 0},   {"best block", TABLE_RIGHT, 0},
      {"name", TABLE_WRAP, 2}};
  struct table table;
  const cugen_resources *takes = &kernel->takes;
  const cugen_occupancy *first = &answers->rows[0].occupancy;
  printf("%d registers a thread, %d threads and ", takes->registers, takes->threads);
  printf("%s of shared memory a block", print_bytes(first->shared_bytes).text);
  if (takes->dynamic_shared) printf(" (%s)", takes->dynamic_shared);
  if (takes->has_carveout) printf(", carveout %d%%", takes->carveout);
  putchar('\n');
  if (first->idle_lanes)
    printf("block %d: %s, %s (%s)\n", takes->threads, print_many((size_t)first->warps, "warp").text,
           print_many((size_t)first->idle_lanes, "idle lane").text,
           print_percent((double)first->idle_lanes / (first->idle_lanes + takes->threads)).text);
  if (kernel->cluster_blocks > 1) {
    printf("clusters of %d blocks, of which ", kernel->cluster_blocks);
    if (kernel->active_clusters > 0)
      printf("%s runs %d at once, as its driver says\n", kernel->device, kernel->active_clusters);
    else
      printf("an unknown number runs at once\n");
  }
  putchar('\n');
  table_open(&table, cli, columns, 7);
  /* Shared memory that depends on the block size is shown for the best block. */
  const bool grows = takes->dynamic_shared != NULL;
  for (size_t i = 0; i < answers->count; i++) {
    const cugen_occupancy *o = &answers->rows[i].occupancy;
    table_cell(&table, answers->rows[i].id);
    table_cell(&table, o->arch);
    table_cell(&table, print_count((uint64_t)o->blocks).text);
    table_cell(&table, print_percent(o->fraction).text);
    table_cell(&table, o->blocks ? o->limiter : "does not fit");
    if (o->best_threads)
      table_cellf(&table, "%s with %d%s%s", print_percent(o->best_fraction).text, o->best_threads,
                  grows ? ", " : "", grows ? print_bytes(o->best_shared_bytes).text : "");
    else
      table_cell(&table, "-");
    table_cell(&table, o->device);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

static json_t *answer_json(const void *item) {
  const struct answer *answer = item;
  const cugen_occupancy *o = &answer->occupancy;
  return JSON_NEW(
      {"device", json_string(answer->id)}, {"name", json_string(o->device)},
      MEMBER(string, o, arch), MEMBER(integer, o, blocks), MEMBER(integer, o, max_threads),
      {"occupancy", json_number(o->fraction)}, MEMBER(string, o, limiter),
      MEMBER(known_integer, o, best_threads),
      {"best_shared_bytes", o->best_threads ? json_integer(o->best_shared_bytes) : json_null()},
      {"best_occupancy", json_known(o->best_fraction)});
}

static json_t *positive(int number) {
  return number > 0 ? json_integer(number) : json_null();
}

static int occupancy_print_json(struct cli *cli, const struct kernel *kernel,
                                const struct answers *answers) {
  const cugen_occupancy *first = &answers->rows[0].occupancy;
  return cli_print_json(
      cli, JSON_NEW({"registers", json_integer(kernel->takes.registers)},
                    {"threads", json_integer(kernel->takes.threads)},
                    MEMBER(integer, first, shared_bytes),
                    {"dynamic_shared", json_optional_string(kernel->takes.dynamic_shared)},
                    {"carveout", kernel->takes.has_carveout ? json_integer(kernel->takes.carveout)
                                                            : json_null()},
                    MEMBER(integer, first, warps), MEMBER(integer, first, idle_lanes),
                    {"predicted_now", json_boolean(kernel->now)},
                    {"cluster_blocks", positive(kernel->cluster_blocks)},
                    {"active_clusters", positive(kernel->active_clusters)},
                    {"devices", JSON_LIST(answers->rows, answers->count, answer_json)}));
}

int command_occupancy(struct cli *cli) {
  struct kernel kernel = {.takes = {.registers = 32, .threads = 256}};
  struct answers answers = {0};
  const char *device = cli->values[OPTION_DEVICE];
  int status = cli->operand ? take_kernel(cli, &kernel) : cli_open(cli);
  if (!status) status = occupancy_take_options(cli, &kernel.takes);
  bool one = device && (!cli->operand || device_parse(device).kind != CUGEN_DEVICE_CPU);
  if (!status)
    status = one ? occupancy_ask(cli, device, &kernel.takes, &answers)
                 : occupancy_ask_all(cli, &kernel.takes, &answers);
  if (status) return status;
  return options_given(cli, OPTION_JSON) ? occupancy_print_json(cli, &kernel, &answers)
                                         : occupancy_print_text(cli, &kernel, &answers);
}
