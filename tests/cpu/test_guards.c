/* A write beside a buffer is found for every argument's buffer and on both sides. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/dtype.h"
#include "emulator/shared_zone.h"
#include "runtime/devices.h"
#include "tests/testing.h"
#include "tune/data/dataset_buffers.h"

enum { ARGUMENTS = 4, ELEMENTS = 10 };

static struct kernel_argument buffer(const char *name, cugen_argument_kind kind,
                                     const char *dtype) {
  return (struct kernel_argument){.name = name,
                                  .kind = kind,
                                  .dtype = dtype_find(dtype),
                                  .rank = 1,
                                  .shape = {ELEMENTS},
                                  .stride = {1},
                                  .elements = ELEMENTS,
                                  .memory = MEMORY_DEVICE};
}

struct fixture {
  struct device *device;
  struct dataset *dataset;
};

static int set_up(void **state) {
  static struct fixture fixture;
  static struct kernel_argument arguments[ARGUMENTS];
  char variant[] = "v";
  arguments[0] = buffer("first", CUGEN_ARGUMENT_INPUT, "f32");
  arguments[1] = buffer("second", CUGEN_ARGUMENT_INOUT, "i8");
  arguments[2] = buffer("third", CUGEN_ARGUMENT_SCRATCH, "f64");
  arguments[3] = buffer("fourth", CUGEN_ARGUMENT_OUTPUT, "f16");
  const struct kernel_spec spec = {
      .variant = variant, .arguments = arguments, .argument_count = ARGUMENTS};
  const struct dataset_request request = {.id = 1, .spec = &spec, .shared = -1};
  const struct device_options options = {.embedded = true};
  const struct device_ops *ops;
  int ordinal;
  cugen_error err;
  if (device_find("cpu", &ops, &ordinal, &err) || ops->open(&options, &fixture.device, &err) ||
      dataset_open(fixture.device, &request, &fixture.dataset, &err))
    fail_msg("%s", err.message);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  dataset_close(fixture->device, fixture->dataset);
  fixture->device->ops->close(fixture->device);
  return 0;
}

static void assert_found(struct fixture *fixture, size_t argument, ptrdiff_t at, const char *side) {
  const struct kernel_argument *a = &fixture->dataset->spec.arguments[argument];
  unsigned char *start = fixture->dataset->sets[0][argument].host;
  cugen_error err = {0};
  start[at] ^= 0x55;
  assert_int_equal(dataset_guards(fixture->device, fixture->dataset, &err), CUGEN_ERROR_WRONG);
  assert_int_equal(err.cause, CUGEN_CAUSE_BOUNDS);
  if (strncmp(err.message, a->name, strlen(a->name)) != 0 || !strstr(err.message, side))
    fail_msg("no '%s' %s in: %s", a->name, side, err.message);
  /* the guards were restored */
  assert_int_equal(dataset_guards(fixture->device, fixture->dataset, &err), CUGEN_OK);
}

TEST_WITH(each_side_of_each_argument, set_up, tear_down) {
  struct fixture *fixture = *state;
  WORKS(dataset_guards(fixture->device, fixture->dataset, &err));
  for (size_t i = 0; i < ARGUMENTS; i++) {
    const ptrdiff_t bytes = (ptrdiff_t)kernel_argument_bytes(&fixture->dataset->spec.arguments[i]);
    assert_found(fixture, i, -1, "before the start");
    assert_found(fixture, i, bytes, "past the end");
  }
}

/* Of several damaged buffers the first is named. */
TEST_WITH(the_first_of_several, set_up, tear_down) {
  struct fixture *fixture = *state;
  cugen_error err = {0};
  for (size_t i = 0; i < ARGUMENTS; i++)
    ((unsigned char *)fixture->dataset->sets[0][i].host)[-1] ^= 0x55;
  assert_int_equal(dataset_guards(fixture->device, fixture->dataset, &err), CUGEN_ERROR_WRONG);
  assert_int_equal(strncmp(err.message, "first", 5), 0);
  assert_int_equal(dataset_guards(fixture->device, fixture->dataset, &err), CUGEN_OK);
}

static bool memory_is_out;

/* Takes the place of the C library's function in this program. */
int mprotect(void *at, size_t bytes, int protection) {
  if (!memory_is_out) return (int)syscall(SYS_mprotect, at, bytes, protection);
  errno = ENOMEM;
  return -1;
}

/* Shared memory that could not be made accessible is laid out anew at the next launch. */
TEST(test_shared_memory_after_a_failure) {
  struct shared_zone zone = {.soft = true};
  cugen_error refused;
  memory_is_out = true;
  const int status = shared_zone_prepare(&zone, 1, 4096, SHARED_ZONE_NEAR, &refused);
  memory_is_out = false;
  assert_int_equal(status, CUGEN_ERROR_MEMORY);
  WORKS(shared_zone_prepare(&zone, 1, 4096, SHARED_ZONE_NEAR, &err));
  *zone.start = 1;
  shared_zone_free(&zone);
}
