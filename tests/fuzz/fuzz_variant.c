/* Fuzz target: any text as that of a variant. A variant that is found prints as a text that
   finds the same variant. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gen/space/space.h"

static struct space *space;
static struct value values[8];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  static const char text[] =
      "kernel 'k' { problem 'M' (4), output 'y' { dtype = 'f32', shape = { 'M' }, tolerance = "
      "'1e-6' },"
      "  reference 'r.cu', tunable 'tile' { 8, 16, 32 },"
      "  implementation 'i' { template 't.cu', tunable 'x' { -7, 1 }, tunable 'b' { true, false },"
      "    tunable 's' { 'ab', 'c=d' }, where \"tile > 8 or b\", grid { '1' }, block { '32' } },"
      "  implementation 'j' { template 't.cu', tunable 'z' { -1, 2 }, grid { '1' }, block { '32' } "
      "} }";
  static const struct device_facts facts = {.warp_size = 32};
  static struct problem problem;
  struct config *config;
  cugen_error err;
  require(config_parse("fuzz.lua", text, sizeof text - 1, &config, &err) == CUGEN_OK);
  require(problem_set(config, NULL, 0, false, &problem, &err) == CUGEN_OK);
  require(space_open(config, &problem, &facts, &space, &err) == CUGEN_OK);
  require(space_max_tunables(space) <= sizeof values / sizeof *values);
  return 0;
}

static void check(uint64_t index) {
  struct variant variant;
  struct text text = {0};
  uint64_t again;
  require(index < space_valid(space));
  space_variant(space, index, &variant, values);
  variant_print(&variant, &text);
  require(!text.failed && space_find(space, text_get(&text), &again, NULL) == CUGEN_OK &&
          again == index);
  text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = strndup((const char *)data, size);
  uint64_t index = 0;
  cugen_error err = {0};
  require(text);
  int status = space_find(space, text, &index, &err);
  if (status == CUGEN_OK)
    check(index);
  else
    require(err.status == status && err.message[0]);
  free(text);
  return 0;
}
