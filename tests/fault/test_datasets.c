/* A dataset is opened while memory runs out, at one allocation after the other: the error is
   CUGEN_ERROR_MEMORY, and nothing stays behind. */
#include "base/dtype.h"
#include "failing_memory.h"
#include "runtime/devices.h"
#include "tests/testing.h"
#include "tune/data/dataset.h"

#if SANITIZED
SKIP_ALL_TESTS("sanitizers bring their own malloc");
#endif

static struct device *device;

FIXTURE(set_up) {
  const struct device_options options = {.embedded = true};
  const struct device_ops *ops;
  int ordinal;
  (void)state;
  return device_find("cpu", &ops, &ordinal, NULL) || ops->open(&options, &device, NULL) ? -1 : 0;
}

FIXTURE(tear_down) {
  (void)state;
  device->ops->close(device);
  return 0;
}

TEST(every_allocation_of_opening_fails_once) {
  struct kernel_argument arguments[2] = {{.name = "in", .kind = CUGEN_ARGUMENT_INPUT},
                                         {.name = "out", .kind = CUGEN_ARGUMENT_OUTPUT}};
  for (size_t i = 0; i < 2; i++) {
    struct kernel_argument *a = &arguments[i];
    a->dtype = dtype_find("f32");
    a->rank = 1;
    a->shape[0] = a->elements = 10;
    a->stride[0] = 1;
    a->memory = MEMORY_DEVICE;
  }
  const struct kernel_spec spec = {.arguments = arguments, .argument_count = 2};
  const struct dataset_request request = {.id = 1, .spec = &spec, .timed = true, .shared = -1};
  for (long n = 0;; n++) {
    struct dataset *dataset;
    const long before = heap.held;
    heap.failed = false;
    heap.left = n;
    const int status = dataset_open(device, &request, &dataset, NULL);
    heap.left = -1;
    if (!heap.failed) {
      assert_int_equal(status, CUGEN_OK);
      dataset_close(device, dataset);
      assert_true(n > 4);
      return;
    }
    assert_int_equal(status, CUGEN_ERROR_MEMORY);
    assert_null(dataset);
    assert_int_equal(heap.held, before);
  }
}

ALL_TESTS_WITH(set_up, tear_down);
