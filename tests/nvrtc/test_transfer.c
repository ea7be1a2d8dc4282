/* The kernel of `cugen transfer` compiles without a warning, for three generations of GPUs, and
   has four 16-byte loads on their way before its first store. */
#include "gen/sources/sources.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/testing.h"

static void compile_for(const struct nvrtc *nvrtc, const struct toolkit *toolkit,
                        const char *arch) {
  static const struct sources shipped = {NULL, NULL, NULL};
  static const char *const entries[] = {"transfer_copy"};
  FREED(text) path = {0}, source = {0};
  FREED(compiled) compiled;
  cugen_error err;
  if (sources_template(&shipped, "transfer_copy.cu", NULL, NULL, &path, &source, &err))
    fail_msg("%s", err.message);
  struct compile_request request = {.toolkit = toolkit,
                                    .name = text_get(&path),
                                    .source = text_get(&source),
                                    .arch = arch,
                                    .entries = entries,
                                    .entry_count = 1};
  if (nvrtc_compile(nvrtc, &request, &compiled, &err)) fail_msg("%s: %s", arch, err.message);
  assert_null(strstr(compiled.log, "warning"));
  assert_string_equal(compiled.entries[0], "transfer_copy");
  assert_int_equal(compiled.resources[0].local_bytes, 0); /* the four packs are in registers */
  assert_in_range(compiled.resources[0].registers, 16 + 4, 128);
}

TEST(test_copier) {
  CLOSED(toolkit) *toolkit;
  const struct nvrtc *nvrtc;
  cugen_error err;
  if (toolkit_open(&(struct toolkit_options){0}, &toolkit, &err)) fail_msg("%s", err.message);
  int status = nvrtc_open(toolkit, &nvrtc, &err);
  if (status == CUGEN_ERROR_MISSING) {
    printf("skipped: %s\n", err.message);
    exit(77);
  }
  if (status) fail_msg("%s", err.message);
  compile_for(nvrtc, toolkit, "sm_80");
  compile_for(nvrtc, toolkit, "sm_90a");
  compile_for(nvrtc, toolkit, "sm_120");
}
