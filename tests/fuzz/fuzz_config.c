/* Fuzz target: any bytes as a config. A config that parses must be as config.h promises, and its
   default problem must evaluate or fail with a message. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gen/config/evaluate.h"

static void check_implementation(const struct config *config,
                                 const struct config_implementation *implementation) {
  require(implementation->name && implementation->template_name &&
          implementation->launch_count > 0);
  require(implementation->tunable_count >= config->shared_tunable_count);
  for (size_t i = 0; i < implementation->tunable_count; i++)
    require(implementation->tunables[i].value_count > 0);
  for (size_t i = 0; i < implementation->launch_count; i++)
    require(implementation->launches[i].grid[0] && implementation->launches[i].block[0]);
}

static void check_arguments(const struct config *config, const struct problem *problem) {
  struct device_facts facts = {.warp_size = 32, .pitch_alignment = 512};
  size_t count = config_slot_count(config, NULL);
  struct value *slots = calloc(count + 1, sizeof *slots);
  struct kernel_argument *arguments = calloc(config->argument_count + 1, sizeof *arguments);
  cugen_error err = {0};
  require(slots && arguments);
  config_slots(config, problem, &facts, slots);
  for (size_t i = 0; i < config->shared_tunable_count; i++)
    slots[(size_t)config->first_tunable + i] = config->shared_tunables[i].values[0];
  if (config_arguments(config, slots, arguments, &err)) require(err.message[0] != '\0');
  free(slots);
  free(arguments);
}

static void check(const struct config *config) {
  struct problem problem, checked;
  cugen_error err;
  require(config->name && config->path && config->implementation_count > 0 &&
          config->argument_count > 0);
  for (size_t i = 0; i < config->implementation_count; i++)
    check_implementation(config, &config->implementations[i]);
  if (problem_set(config, NULL, 0, false, &problem, &err)) return;
  check_arguments(config, &problem);
  if (problem_check(config, &problem, &checked, &err) == CUGEN_OK) {
    check_arguments(config, &checked);
    problem_free(&checked);
  }
  problem_free(&problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct config *config;
  cugen_error err = {0};
  int status = config_parse("fuzz.lua", (const char *)data, size, &config, &err);
  require((status == CUGEN_OK) == (config != NULL));
  if (status) require(err.message[0] != '\0' && err.status == status);
  if (config) check(config);
  config_close(config);
  return 0;
}
