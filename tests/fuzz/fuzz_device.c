/* Fuzz target: any bytes as a description of a GPU. The figures of a description that parses are
   in their ranges and suffice for occupancy; a refusal has a reason. */
#include "fuzz.h"
#include "gen/config/device_file.h"
#include "runtime/model/occupancy.h"

static void check(const struct gpu_model *model) {
  const struct device_facts *f = &model->facts;
  struct kernel_resources resources = {.registers = 64, .max_threads = 1024};
  struct occupancy occupancy;
  cugen_error err = {0};
  require(model->id[0] && model->name[0]);
  require(f->sm_count >= 1 && f->sm_count <= 1024 && f->compute_capability >= 30 &&
          f->compute_capability <= 199);
  require(f->shared_per_block_optin <= f->shared_per_sm);
  require(model->rates.fp32_lanes >= 1 && model->rates.memory_gb_per_second >= 1);
  if (occupancy_get(f, &resources, 256, 0, -1, &occupancy, &err)) require(err.message[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct gpu_model model;
  cugen_error err = {0};
  int status = device_file_parse("fuzz.lua", (const char *)data, size, &model, &err);
  if (status)
    require(err.message[0] != '\0' && err.status == status);
  else
    check(&model);
  return 0;
}
