/* Libraries are loaded only when needed: NVRTC has a hundred megabytes, and a driver takes a
   while to start. */

#include <string.h>
#include <sys/stat.h>

#include "api/api.h"
#include "base/system.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/testing.h"

/* Returns whether a file of that name is mapped into this process. */
static bool is_loaded(const char *name) {
  struct text maps = {0};
  assert_int_equal(file_read("/proc/self/maps", &maps, NULL), CUGEN_OK);
  bool loaded = strstr(text_get(&maps), name) != NULL;
  text_free(&maps);
  return loaded;
}

static cugen *open_on_cpu(void) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen *lib;
  cugen_error err;
  options.device = "cpu";
  options.cache = "none";
  if (cugen_open(&options, &lib, &err)) fail_msg("%s", err.message);
  return lib;
}

TEST(a_source_needs_neither_nvrtc_nor_driver) {
  cugen *lib = open_on_cpu();
  cugen_kernel *kernel;
  cugen_error err;
  const char *source;
  const struct nvrtc *nvrtc;
  if (cugen_kernel_open(lib, "matmul", NULL, 0, &kernel, &err)) fail_msg("%s", err.message);
  if (cugen_kernel_source(kernel, NULL, &source, NULL, &err)) fail_msg("%s", err.message);
  assert_false(is_loaded("libnvrtc"));
  assert_false(is_loaded("libcuda"));
  assert_false(is_loaded("libnvidia-ml"));
  int told = cugen_kernel_device(kernel)->nvrtc_version;
  if (nvrtc_open(lib->toolkit, &nvrtc, &err) == CUGEN_OK) {
    assert_true(is_loaded("libnvrtc")); /* proves that is_loaded would have seen it */
    assert_int_equal(told, nvrtc_version(nvrtc));
  }
  cugen_kernel_close(kernel);
  cugen_close(lib);
}

/* Two kernels ask the compiler once. */
TEST(a_compiler_is_asked_once) {
  struct text folder = {0}, program = {0}, script = {0}, asked = {0};
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen *lib;
  assert_int_equal(folder_temporary(&folder, NULL), CUGEN_OK);
  text_addf(&program, "%s/c++", text_get(&folder));
  text_addf(&script, "#!/bin/sh\necho asked >> %s/asked\necho a compiler\n", text_get(&folder));
  assert_int_equal(file_write(text_get(&program), script.data, script.length, NULL), CUGEN_OK);
  assert_int_equal(chmod(text_get(&program), 0755), 0);
  options.device = "cpu";
  options.cache = "none";
  options.compiler = text_get(&program);
  assert_int_equal(cugen_open(&options, &lib, NULL), CUGEN_OK);
  for (int i = 0; i < 2; i++) {
    cugen_kernel *kernel;
    assert_int_equal(cugen_kernel_open(lib, "matmul", NULL, 0, &kernel, NULL), CUGEN_OK);
    assert_non_null(strstr(kernel->lookup.device.fingerprint, "a compiler"));
    cugen_kernel_close(kernel);
  }
  cugen_close(lib);
  text_clear(&script);
  text_addf(&script, "%s/asked", text_get(&folder));
  assert_int_equal(file_read(text_get(&script), &asked, NULL), CUGEN_OK);
  assert_string_equal(text_get(&asked), "asked\n");
  folder_remove(text_get(&folder));
  struct text *all[] = {&folder, &program, &script, &asked};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) text_free(all[i]);
}

int main(void) {
  return cmocka_run_group_tests(tests, NULL, NULL);
}
