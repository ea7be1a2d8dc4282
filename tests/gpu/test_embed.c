/* A plan in an application's own context, launched on its own stream of a real GPU. Skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include <cugen.h>
#include <dlfcn.h>
#include <stdio.h>

enum { COUNT = 100003, LAUNCHES = 20 };
static float x[COUNT], y[COUNT], out[COUNT];

static struct {
  CUresult (*init)(unsigned);
  CUresult (*create)(CUcontext *, unsigned, CUdevice);
  CUresult (*destroy)(CUcontext);
  CUresult (*current)(CUcontext *);
  CUresult (*stream)(CUstream *, unsigned);
  CUresult (*wait)(CUstream);
  CUresult (*alloc)(CUdeviceptr *, size_t);
  CUresult (*download)(void *, CUdeviceptr, size_t);
  CUresult (*upload)(CUdeviceptr, const void *, size_t);
} cu;

static const struct {
  const char *name;
  void *place;
} functions[] = {{"cuInit", &cu.init},
                 {"cuCtxCreate_v2", &cu.create},
                 {"cuCtxDestroy_v2", &cu.destroy},
                 {"cuCtxGetCurrent", &cu.current},
                 {"cuStreamCreate", &cu.stream},
                 {"cuStreamSynchronize", &cu.wait},
                 {"cuMemAlloc_v2", &cu.alloc},
                 {"cuMemcpyDtoH_v2", &cu.download},
                 {"cuMemcpyHtoD_v2", &cu.upload}};

static const char *open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return "there is no CUDA driver";
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!(*(void **)functions[i].place = dlsym(library, functions[i].name))) return functions[i].name;
  return cu.init(0) ? "the driver sees no GPU" : NULL;
}

static void *upload(const float *from) {
  CUdeviceptr to = 0;
  assert_int_equal(cu.alloc(&to, sizeof x), CUDA_SUCCESS);
  assert_int_equal(cu.upload(to, from, sizeof x), CUDA_SUCCESS);
  return (void *)(uintptr_t)to;
}

static cugen_plan *open_plan(cugen *lib) {
  static const char *const size[] = {"n=100003"};
  cugen_error error;
  cugen_kernel *kernel;
  cugen_plan *plan;
  if (cugen_kernel_open(lib, "tests/configs/wild.lua", size, 1, &kernel, &error)) fail_msg("%s", error.message);
  if (cugen_plan_open(kernel, NULL, &plan, &error)) fail_msg("%s", error.message);
  cugen_kernel_close(kernel);
  return plan;
}

static void test_own_context(void **state) {
  (void)state;
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen *lib;
  CUcontext context, now;
  CUstream stream;
  cugen_error error;
  cugen_call *call;
  options.device = "cuda:0";
  options.cache = "none";
  assert_int_equal(cu.create(&context, 0, 0), CUDA_SUCCESS);
  assert_int_equal(cu.stream(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 1000), y[i] = 3;
  void *result = upload(out), *arguments[] = {result, upload(x), upload(y), NULL, NULL};
  if (cugen_open(&options, &lib, &error)) fail_msg("%s", error.message);
  cugen_plan *plan = open_plan(lib);
  if (cugen_call_bind(plan, arguments, 5, &call, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < LAUNCHES; i++)
    if (cugen_call_launch(call, stream, &error)) fail_msg("%s", error.message);
  assert_int_equal(cu.wait(stream), CUDA_SUCCESS);
  assert_int_equal(cu.download(out, (CUdeviceptr)(uintptr_t)result, sizeof out), CUDA_SUCCESS);
  for (int i = 0; i < COUNT; i++) assert_true(out[i] == 2.5f * x[i] + 3);
  cugen_call_close(call);
  cugen_plan_close(plan);
  cugen_close(lib);
  assert_int_equal(cu.current(&now), CUDA_SUCCESS);
  assert_ptr_equal(now, context);
  assert_int_equal(cu.destroy(context), CUDA_SUCCESS);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_context)};
  const char *missing = open_driver();
  if (missing) {
    printf("skipped: %s\n", missing);
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
