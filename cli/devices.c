/* cugen devices: prints the present devices, the described devices and the devices with results in
   the cache; and where cugen found the driver, NVRTC, the headers and so on. */
#include <stdlib.h>
#include <string.h>

#include "api/cache.h"
#include "api/machine.h"
#include "cli.h"
#include "print.h"
#include "table.h"

static struct shown print_or_dash(int value) {
  return value ? print_format("%d", value) : print_format("-");
}

/* here: devices of this machine; else models, which have no driver and no compiler. */
static int devices_print_table(struct cli *cli, const cugen_device_info *devices, size_t count,
                               bool here) {
  const struct table_column name = {"name", TABLE_WRAP, 0};
  const struct table_column columns[] = {{here ? "device" : "described", 0, 0},
                                         {"arch", 0, 0},
                                         {"SMs", TABLE_RIGHT, 0},
                                         {"memory", TABLE_RIGHT, 0},
                                         {"MHz", TABLE_RIGHT, 1},
                                         here ? (struct table_column){"driver", TABLE_RIGHT, 2}
                                              : name,
                                         {"NVRTC", TABLE_RIGHT, 3},
                                         name};
  struct table table;
  table_open(&table, cli, columns, here ? 8 : 6);
  for (size_t i = 0; i < count; i++) {
    const cugen_device_info *device = &devices[i];
    table_cell(&table, device->id);
    table_cell(&table, *device->arch ? device->arch : "-");
    table_cell(&table, print_or_dash(device->sm_count).text);
    table_cell(&table, device->memory_bytes ? print_bytes(device->memory_bytes).text : "-");
    table_cell(&table, print_or_dash(device->clock_khz / 1000).text);
    if (here) table_cell(&table, print_version(device->driver_version).text);
    if (here) table_cell(&table, print_version(device->nvrtc_version).text);
    table_cell(&table, device->name);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

struct lists {
  cugen_device_info *here, *described;
  size_t here_count, described_count;
  const char *why; /* why there is no GPU */
  const cugen_cache_set *sets;
  size_t set_count;
};

/* Returns true if set i is the first of its device. Only measured sets count, because predictions
   belong to a model. */
static bool devices_is_first(const struct lists *lists, size_t i) {
  const char *device = lists->sets[i].device;
  size_t before = 0;
  while (before < i && strcmp(lists->sets[before].device, device) != 0) before++;
  return before == i && !device_parse(device).predicted;
}

/* The reason why there is no GPU is in cugen_where's line about the driver. */
static int devices_print_text(struct cli *cli, const struct lists *lists) {
  int status = devices_print_table(cli, lists->here, lists->here_count, true);
  if (status) return status;
  printf("\nNot here, but described: --device takes them, too (docs/model.md).\n");
  status = devices_print_table(cli, lists->described, lists->described_count, false);
  if (status) return status;
  printf("A description of your own: --device model:./FILE.lua\n");
  bool any = false;
  for (size_t i = 0; i < lists->set_count; i++) {
    if (!devices_is_first(lists, i)) continue;
    if (!any)
      printf("\nMeasured, as the cache has it: --device takes these texts to read results.\n");
    printf("\"%s\"\n", lists->sets[i].device);
    any = true;
  }
  printf("\n%s", cugen_where(cli->lib));
  return CUGEN_OK;
}

static int devices_print_json(struct cli *cli, const struct lists *lists) {
  json_t *remembered = json_array();
  for (size_t i = 0; i < lists->set_count; i++)
    if (devices_is_first(lists, i))
      json_array_append_new(remembered, json_text(lists->sets[i].device));
  return cli_print_json(
      cli, JSON_NEW({"devices", JSON_LIST(lists->here, lists->here_count, json_device)},
                    {"described", JSON_LIST(lists->described, lists->described_count, json_device)},
                    {"remembered", remembered}, {"no_gpu", json_optional_string(lists->why)},
                    {"where", json_string(cugen_where(cli->lib))}));
}

int command_devices(struct cli *cli) {
  struct lists lists = {0};
  int status = cli_open(cli);
  if (status) return status;
  lists.here_count = cugen_devices(cli->lib, NULL, 0, &lists.why);
  lists.described_count = api_described_devices(cli->lib, NULL, 0);
  lists.here = calloc(lists.here_count + 1, sizeof *lists.here);
  lists.described = calloc(lists.described_count + 1, sizeof *lists.described);
  if (!lists.here || !lists.described || !lists.described_count) status = cli_no_memory(cli);
  if (!status) cugen_devices(cli->lib, lists.here, lists.here_count, NULL);
  if (!status) api_described_devices(cli->lib, lists.described, lists.described_count);
  const cugen_cache_filter all = {0};
  cugen_error ignored; /* a cache that cannot be read counts as empty */
  if (!status && api_cache_list(cli->lib, &all, &lists.sets, &lists.set_count, &ignored))
    lists.set_count = 0;
  if (!status)
    status = options_given(cli, OPTION_JSON) ? devices_print_json(cli, &lists)
                                             : devices_print_text(cli, &lists);
  free(lists.described);
  free(lists.here);
  return status;
}
