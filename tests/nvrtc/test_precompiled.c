/* Precompiled headers with the real NVRTC: images are the same as without, once two were
   compiled; where moving the includes would change the meaning of a source, the source stays as
   it is. No GPU is needed. */
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/precompiled.h"
#include "tests/testing.h"

CLOSABLE(precompiled, precompiled_close);

struct fixture {
  struct toolkit *toolkit;
  const struct nvrtc *nvrtc;
  struct text folder;
};

static int set_up(void **state) {
  static struct fixture f;
  cugen_error err;
  assert_int_equal(toolkit_open(&(struct toolkit_options){0}, &f.toolkit, &err), CUGEN_OK);
  if (nvrtc_open(f.toolkit, &f.nvrtc, &err)) {
    printf("skipped: %s\n", err.message);
    exit(77);
  }
  assert_int_equal(folder_temporary(&f.folder, &err), CUGEN_OK);
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  folder_remove(text_get(&f->folder));
  text_free(&f->folder);
  toolkit_close(f->toolkit);
  return 0;
}

static enum compile_more more;

static int compile(const struct fixture *f, struct precompiled *p, const char *source,
                   struct compiled *out, cugen_error *err) {
  static const char *const entries[] = {"k"};
  const struct compile_request request = {.toolkit = f->toolkit,
                                          .name = "k",
                                          .source = source,
                                          .arch = "sm_90",
                                          .entries = entries,
                                          .entry_count = 1,
                                          .timeout = 600,
                                          .more = more};
  return p ? precompiled_compile(p, f->nvrtc, &request, out, err)
           : nvrtc_compile(f->nvrtc, &request, out, err);
}

/* Compiles with and without, compares the images, and tells whether the precompiled headers
   existed already. */
static bool compile_both(const struct fixture *f, struct precompiled *p, const char *source) {
  FREED(compiled) with, without;
  WORKS(compile(f, p, source, &with, &err));
  WORKS(compile(f, NULL, source, &without, &err));
  assert_string_equal(with.image_hash.hex, without.image_hash.hex);
  return precompiled_in_use(p);
}

TEST(test_used) {
  const struct fixture *f = *state;
  CLOSED(precompiled) *p;
  assert_int_equal(precompiled_open(text_get(&f->folder), 1, &p, NULL), CUGEN_OK);
  for (int block = 32; block <= 96; block += 32) {
    char source[600];
    snprintf(
        source, sizeof source,
        "#define BLOCK %d\n#line 1 \"k.cu\"\n// sums\n#ifndef UNROLL\n#define UNROLL 2\n#endif\n"
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        "extern \"C\" __global__ void k(float *y) { auto g = cg::this_thread_block(); g.sync();\n"
        "  y[g.thread_rank()] = BLOCK * UNROLL; }\n",
        block);
    assert_int_equal(compile_both(f, p, source), block >= 64);
  }
}

/* Compiles `count` sources, and returns whether precompiled headers are in use afterwards. */
static bool is_used_after(const struct fixture *f, int count) {
  CLOSED(precompiled) *p;
  struct compiled compiled;
  assert_int_equal(precompiled_open(text_get(&f->folder), more == COMPILE_FEW ? 1 : 3, &p, NULL),
                   CUGEN_OK);
  for (int i = 0; i < count; i++) {
    WORKS(compile(f, p, "#include <cuda/std/limits>\n__global__ void k(float *y) { y[0] = 1; }\n",
                  &compiled, &err));
    compiled_free(&compiled);
  }
  bool used = precompiled_in_use(p);
  return used;
}

/* Precompiling is not worth while if few compiles follow; if many follow, it begins after two. */
TEST(test_worth) {
  more = COMPILE_FEW;
  assert_false(is_used_after(*state, 3));
  more = COMPILE_MANY;
  assert_true(is_used_after(*state, 2));
  more = COMPILE_UNKNOWN;
}

/* The header depends on a macro that is defined in front of it, so the images differ and nothing
   is moved. */
TEST(test_refused) {
  const struct fixture *f = *state;
  CLOSED(precompiled) *p;
  assert_int_equal(precompiled_open(text_get(&f->folder), 1, &p, NULL), CUGEN_OK);
  for (int i = 0; i < 2; i++)
    assert_false(
        compile_both(f, p,
                     "#define infinity endless\n#include <cuda/std/limits>\n#undef infinity\n"
                     "extern \"C\" __global__ void k(float *y) {\n"
                     "  y[0] = cuda::std::numeric_limits<float>::endless(); }\n"));
}

/* The errors of a wrong source have its own lines, as without precompiled headers. */
TEST(test_messages) {
  const struct fixture *f = *state;
  CLOSED(precompiled) *p;
  cugen_error err, plain;
  struct compiled compiled;
  char source[400];
  assert_int_equal(precompiled_open(text_get(&f->folder), 1, &p, NULL), CUGEN_OK);
  for (int i = 0; i < 3; i++) {
    snprintf(
        source, sizeof source,
        "#define N %d\n#include <cuda/std/limits>\nextern \"C\" __global__ void k(float *y) {\n"
        "%s y[0] = N; }\n",
        i, i < 2 ? "" : "no_such_name;");
    if (i < 2) {
      compile_both(f, p, source);
      continue;
    }
    assert_true(precompiled_in_use(p));
    assert_int_equal(compile(f, p, source, &compiled, &err), CUGEN_ERROR_COMPILE);
    assert_int_equal(compile(f, NULL, source, &compiled, &plain), CUGEN_ERROR_COMPILE);
    assert_string_equal(err.message, plain.message);
    assert_non_null(strstr(err.message, ":4"));
  }
}

static void finds(const char *source, const char *includes, const char *macros) {
  FREED(text) found = {0}, names = {0};
  assert_int_equal(precompiled_find(source, &found, &names), *includes != 0);
  assert_string_equal(text_get(&found), includes);
  assert_string_equal(text_get(&names), macros);
}

TEST(test_find) {
  finds("", "", "");
  finds("#include <cstdint>\n", "", "");
  finds("#include \"cub/cub.cuh\"\n", "", "");
  finds("#include <cub/cub.cuh", "", "");
  finds("/* never ends\n#include <cub/cub.cuh>\n", "", "");
  finds("#define A 1\n/* a\n b */ // c\n#include <cstdint>\n # include  <cub/a.cuh> // "
        "why\n#define B 2\n#include "
        "<cmath>\n",
        "#include <cstdint>\n#include <cub/a.cuh>\n", "A\n");
  finds("#define A(x) \\\n  x\n#if A(1)\n#include <cuda/atomic>\n#endif\n#include <cuda/barrier>\n",
        "#include <cuda/barrier>\n", "A\n");
  finds("int x;\n#include <cub/cub.cuh>\n", "", "");
}

ALL_TESTS_WITH(set_up, tear_down);
