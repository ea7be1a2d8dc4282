/* What a program that is going to tune waits for, over the fake driver and the fake NVRTC in
   this program and in its worker processes, which are this program too: CUDA is started in one
   process, which lists the GPUs and then tunes. Where that fails all is as without. */

#include <cuda.h>
#include <signal.h>
#include <unistd.h>

#include "api/machine.h"
#include "api/tuning.h"
#include "base/system.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "tests/opening.h"
#include "tune/data/data_kernels.h"

enum { VARIANTS = 4 };

/* FAKE_LOG: appends the number of each process as a line. FAKE_BLIND: no call to the driver
   succeeds in such a process. */
static int serve(int argc, char **argv) {
  FILE *log = fopen(getenv("FAKE_LOG"), "a");
  if (!log || fprintf(log, "%ld\n", (long)getpid()) < 0 || fclose(log)) return 1;
  if (find_fake(NULL)) return 1;
  fake->run = fake_run_wild;
  fake->fail_on = true;
  if (getenv("FAKE_BLIND")) fake->fail_at = 1, fake->fail_with = CUDA_ERROR_NO_DEVICE;
  return cugen_worker_main(argc, argv);
}

struct opened {
  char log[32];
  struct text self;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_error error;
};

static int open_log(void **state) {
  static struct opened opened;
  opened = (struct opened){.log = "/tmp/cugen-start-XXXXXX"};
  const int file = mkstemp(opened.log);
  if (file < 0 || find_fake(NULL) || path_self(&opened.self, NULL)) return -1;
  close(file);
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = fake_run_wild};
  setenv("FAKE_LOG", opened.log, 1);
  unsetenv("FAKE_BLIND");
  *state = &opened;
  return 0;
}

static int close_log(void **state) {
  struct opened *o = *state;
  cugen_kernel_close(o->kernel);
  cugen_close(o->lib);
  unlink(o->log);
  text_free(&o->self);
  return 0;
}

static void open_kernel(struct opened *o, const char *worker) {
  o->lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                        .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"), .worker = worker);
  api_expect_tuning(o->lib, 1);
  o->kernel = kernel_of(o->lib, "tests/configs/wild.lua", NULL, 0);
}

static int tune(struct opened *o, cugen_tune_result *result) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.budget_seconds = -1;
  options.strategy = "exhaustive";
  options.variant_timeout = 60;
  options.threads = 1;
  options.again = 1;
  *result = (cugen_tune_result){0};
  return api_kernel_tune(o->kernel, &options, result, &o->error);
}

static void tune_all(struct opened *o, cugen_tune_result *result) {
  if (tune(o, result)) fail_msg("%s", o->error.message);
  assert_int_equal(result->tried, VARIANTS);
  assert_int_equal(result->failed, 0);
}

/* Returns the number of processes so far. Each gets the signal; 0: none. */
static size_t count_processes(const struct opened *o, int number) {
  char line[32];
  size_t count = 0;
  FILE *log = fopen(o->log, "r");
  assert_non_null(log);
  for (; fgets(line, sizeof line, log); count++)
    if (number) assert_int_equal(kill((pid_t)strtol(line, NULL, 10), number), 0);
  fclose(log);
  return count;
}

/* The worker and one compiler start; this process does not call the driver. */
TEST_WITH(starts_once, open_log, close_log) {
  struct opened *o = *state;
  cugen_device_info device;
  cugen_tune_result result;
  open_kernel(o, text_get(&o->self));
  assert_string_equal(cugen_kernel_device(o->kernel)->name, "NVIDIA Pretended");
  assert_string_equal(cugen_kernel_device(o->kernel)->arch, "sm_90a");
  tune_all(o, &result);
  assert_int_equal(count_processes(o, 0), 2);
  assert_non_null(strstr(cugen_where(o->lib), "driver: CUDA 13.0"));
  assert_int_equal(cugen_devices(o->lib, &device, 1, NULL), 2);
  assert_int_equal(fake->calls, 0);
}

/* The next run has a worker of its own and all images of the first run; the best variant is
   compiled for its PTX. */
TEST_WITH(tunes_again, open_log, close_log) {
  struct opened *o = *state;
  cugen_tune_result first, second;
  open_kernel(o, text_get(&o->self));
  tune_all(o, &first);
  tune_all(o, &second);
  assert_int_equal(count_processes(o, 0), 3);
  assert_int_equal(first.compiled, VARIANTS + 1 + DATA_PARTS); /* and the reference */
  assert_int_equal(second.compiled, 1);
}

/* A list of GPUs that the worker did not give comes from the driver in this process. */
TEST_WITH(looks_here, open_log, close_log) {
  struct opened *o = *state;
  cugen_tune_result result;
  setenv("FAKE_BLIND", "1", 1);
  open_kernel(o, text_get(&o->self));
  assert_string_equal(cugen_kernel_device(o->kernel)->name, "NVIDIA Pretended");
  assert_true(fake->calls > 0);
  assert_int_equal(tune(o, &result), CUGEN_ERROR_DEVICE);
  assert_non_null(strstr(o->error.message, "cuDriverGetVersion"));
}

TEST_WITH(dies_in_between, open_log, close_log) {
  struct opened *o = *state;
  cugen_tune_result result;
  open_kernel(o, text_get(&o->self));
  while (count_processes(o, 0) < 2) usleep(1000);
  assert_int_equal(count_processes(o, SIGKILL), 2);
  usleep(100000); /* their sockets close */
  tune_all(o, &result);
  assert_int_equal(count_processes(o, 0), 4);
}

TEST_WITH(is_no_worker, open_log, close_log) {
  struct opened *o = *state;
  cugen_tune_result result;
  open_kernel(o, "/bin/true");
  assert_string_equal(cugen_kernel_device(o->kernel)->id, "cuda:0");
  assert_int_equal(tune(o, &result), CUGEN_ERROR_MISSING);
  assert_non_null(strstr(o->error.message, "/bin/true does not answer as the worker"));
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "worker") == 0) return serve(argc, argv);
  return tests_run();
}
