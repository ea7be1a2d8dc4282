/* Libraries are loaded only when needed: NVRTC has a hundred megabytes, and a driver takes a
   while to start. */

#include <sys/stat.h>

#include "api/api.h"
#include "base/system.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/opening.h"

/* Returns whether a file of that name is mapped into this process. */
static bool is_loaded(const char *name) {
  FREED(text) maps = {0};
  assert_int_equal(file_read("/proc/self/maps", &maps, NULL), CUGEN_OK);
  bool loaded = strstr(text_get(&maps), name) != NULL;
  return loaded;
}

static cugen *open_on_cpu(void) {
  return OPEN_LIBRARY(.device = "cpu", .cache = "none");
}

TEST(a_source_needs_neither_nvrtc_nor_driver) {
  CLOSED(cugen) *lib = open_on_cpu();
  cugen_error err;
  const char *source;
  const struct nvrtc *nvrtc;
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "matmul", NULL, 0);
  if (cugen_kernel_source(kernel, NULL, &source, NULL, &err)) fail_msg("%s", err.message);
  assert_false(is_loaded("libnvrtc"));
  assert_false(is_loaded("libcuda"));
  assert_false(is_loaded("libnvidia-ml"));
  int told = cugen_kernel_device(kernel)->nvrtc_version;
  if (nvrtc_open(lib->toolkit, &nvrtc, &err) == CUGEN_OK) {
    assert_true(is_loaded("libnvrtc")); /* proves that is_loaded would have seen it */
    assert_int_equal(told, nvrtc_version(nvrtc));
  }
}

/* Two kernels ask the compiler once. */
TEST(a_compiler_is_asked_once) {
  struct text folder = {0}, program = {0}, script = {0}, asked = {0};
  assert_int_equal(folder_temporary(&folder, NULL), CUGEN_OK);
  text_addf(&program, "%s/c++", text_get(&folder));
  text_addf(&script, "#!/bin/sh\necho asked >> %s/asked\necho a compiler\n", text_get(&folder));
  assert_int_equal(file_write(text_get(&program), script.data, script.length, NULL), CUGEN_OK);
  assert_int_equal(chmod(text_get(&program), 0755), 0);
  cugen *lib = OPEN_LIBRARY(.device = "cpu", .cache = "none", .compiler = text_get(&program));
  for (int i = 0; i < 2; i++) {
    CLOSED(cugen_kernel) *kernel = kernel_of(lib, "matmul", NULL, 0);
    assert_non_null(strstr(kernel->lookup.device.fingerprint, "a compiler"));
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
