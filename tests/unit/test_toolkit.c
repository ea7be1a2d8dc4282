/* Where NVRTC, headers and the compiler are searched, and in which order, with folders made for
   the test; and that libraries are opened once. */

#include <sys/stat.h>

#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "tests/testing.h"

static struct text root;

FIXTURE(make_root) {
  unsetenv("CUGEN_TOOLKIT");
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  unsetenv("CUGEN_CXX");
  text_clear(&root);
  return folder_temporary(&root, NULL);
}

FIXTURE(remove_root) {
  int status = folder_remove(text_get(&root));
  text_free(&root);
  return status;
}

/* Returns root/below, which is valid until the next call. */
static const char *path_of(const char *below) {
  static struct text path;
  text_free(&path);
  if (!below) return NULL;
  text_addf(&path, "%s/%s", text_get(&root), below);
  return text_get(&path);
}

static void put(const char *below) {
  FREED(text) folder = {0};
  path_folder(path_of(below), &folder);
  assert_int_equal(folder_make(text_get(&folder), NULL), CUGEN_OK);
  assert_int_equal(file_write(path_of(below), "", 0, NULL), CUGEN_OK);
}

static void setenv_root(const char *name, const char *below) {
  assert_int_equal(setenv(name, path_of(below), 1), 0);
}

static struct toolkit *open_with(const char *toolkit_option, const char *compiler_option) {
  struct toolkit_options options = {toolkit_option, compiler_option};
  struct toolkit *toolkit;
  assert_int_equal(toolkit_open(&options, &toolkit, NULL), CUGEN_OK);
  return toolkit;
}

static void assert_found(const struct text *found, const char *below) {
  assert_string_equal(text_get(found), below ? path_of(below) : "");
}

/* ---- Layouts -------------------------------------------------------------------------------- */

/* Opens a new root with these two files as the toolkit. */
static struct toolkit *open_files(const char *first, const char *second) {
  folder_remove(text_get(&root));
  make_root(NULL);
  put(first);
  put(second);
  return open_with(text_get(&root), NULL);
}

static void check_layout(const char *library, const char *header, const char *include) {
  CLOSED(toolkit) *toolkit = open_files(library, header);
  assert_found(&toolkit->nvrtc, library);
  assert_found(&toolkit->include, include);
  assert_int_equal(toolkit_nvrtc_major(toolkit), strstr(library, ".so.12") ? 12 : 13);
}

TEST_WITH(test_layouts, make_root, remove_root) {
  check_layout("lib64/libnvrtc.so.13", "include/cuda_fp16.h", "include");
  check_layout("lib/libnvrtc.so.12", "include/cuda_fp16.h", "include");
  check_layout("targets/x86_64-linux/lib/libnvrtc.so.13",
               "targets/x86_64-linux/include/cuda_fp16.h", "targets/x86_64-linux/include");
  check_layout("targets/sbsa-linux/lib/libnvrtc.so.13", "targets/sbsa-linux/include/cuda_fp16.h",
               "targets/sbsa-linux/include");
  check_layout("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cu13/include/cuda_fp16.h",
               "nvidia/cu13/include");
  check_layout("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cuda_runtime/include/cuda_fp16.h",
               "nvidia/cuda_runtime/include");
}

/* CUDA's core libraries are in a folder of their own since CUDA 13 and in CUDA 12's wheels,
   otherwise beside the headers. */
static void check_core(const char *header, const char *core_header, const char *core) {
  CLOSED(toolkit) *toolkit = open_files(header, core_header);
  assert_true(toolkit->include.length > 0);
  assert_found(&toolkit->core, core);
}

TEST_WITH(test_core_libraries, make_root, remove_root) {
  check_core("include/cuda_fp16.h", "include/cccl/cuda/std/cstdint", "include/cccl");
  check_core("nvidia/cu13/include/cuda_fp16.h", "nvidia/cu13/include/cccl/cuda/std/cstdint",
             "nvidia/cu13/include/cccl");
  check_core("nvidia/cuda_runtime/include/cuda_fp16.h", "nvidia/cuda_cccl/include/cuda/std/cstdint",
             "nvidia/cuda_cccl/include");
  check_core("include/cuda_fp16.h", "include/cuda/std/cstdint", NULL);
}

TEST_WITH(test_newest_nvrtc_first, make_root, remove_root) {
  put("lib64/libnvrtc.so.12");
  put("lib/libnvrtc.so.13");
  setenv_root("CUGEN_TOOLKIT", ".");
  CLOSED(toolkit) *toolkit = open_with(NULL, NULL);
  assert_found(&toolkit->nvrtc, "./lib/libnvrtc.so.13");
  assert_int_equal(toolkit_nvrtc_major(toolkit), 13);
}

/* The builtins that NVRTC will load have its whole version in their name. */
TEST_WITH(test_version_by_builtins, make_root, remove_root) {
  static const struct {
    const char *file;
    int version;
  } steps[] = {{"lib/libnvrtc.so.13", 0},
               {"lib/libnvrtc-builtins.so.12.8", 0}, /* builtins of another NVRTC */
               {"lib/libnvrtc-builtins.so.13.1", 13010},
               {"lib/libnvrtc-builtins.so.13.0", 0}}; /* not clear which NVRTC these belong to */
  setenv_root("CUGEN_TOOLKIT", ".");
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    put(steps[i].file);
    CLOSED(toolkit) *toolkit = open_with(NULL, NULL);
    assert_int_equal(toolkit_nvrtc_version(toolkit), steps[i].version);
  }
}

/* ---- Order ---------------------------------------------------------------------------------- */

TEST_WITH(test_option_before_environment, make_root, remove_root) {
  put("option/lib/libnvrtc.so.13");
  put("variable/lib/libnvrtc.so.13");
  put("variable/include/cuda_fp16.h");
  setenv_root("CUGEN_TOOLKIT", "variable");
  struct toolkit *toolkit = open_with(path_of("option"), NULL);
  assert_found(&toolkit->nvrtc, "option/lib/libnvrtc.so.13");
  assert_found(&toolkit->include, NULL); /* only the folder that was named is searched */
  toolkit_close(toolkit);
  toolkit = open_with("", NULL);
  assert_found(&toolkit->nvrtc, "variable/lib/libnvrtc.so.13");
  assert_found(&toolkit->include, "variable/include");
  toolkit_close(toolkit);
}

TEST_WITH(test_home_before_path, make_root, remove_root) {
  put("home/lib64/libnvrtc.so.13");
  put("path/lib64/libnvrtc.so.13");
  put("path/include/cuda_fp16.h");
  setenv_root("CUDA_HOME", "home");
  setenv_root("CUDA_PATH", "path");
  CLOSED(toolkit) *toolkit = open_with(NULL, NULL);
  const char *searched = text_get(&toolkit->searched[TOOLKIT_PART_NVRTC]);
  const char *beside = strstr(searched, "/toolkit: "), *home = strstr(searched, path_of("home"));
  assert_non_null(beside);
  if (home) { /* nothing lies beside the test program */
    assert_true(beside < home);
    assert_found(&toolkit->nvrtc, "home/lib64/libnvrtc.so.13");
    assert_found(&toolkit->include, "path/include");
  } else {
    assert_non_null(strstr(searched, "/toolkit: found"));
  }
}

/* ---- Compilers ------------------------------------------------------------------------------ */

static void put_program(const char *below) {
  put(below);
  assert_int_equal(chmod(path_of(below), 0755), 0);
}

static void expect_compiler(const char *option, const char *below) {
  CLOSED(toolkit) *toolkit = open_with(NULL, option);
  assert_found(&toolkit->compiler, below);
}

TEST_WITH(test_compiler_order, make_root, remove_root) {
  char *path = strdup(getenv("PATH"));
  assert_non_null(path);
  put_program("bin/clang++");
  setenv_root("PATH", "bin");
  expect_compiler(NULL, "bin/clang++");
  put_program("bin/g++");
  put_program("own");
  expect_compiler(NULL, "bin/g++");
  setenv_root("CUGEN_CXX", "own");
  expect_compiler(NULL, "own");
  expect_compiler(path_of("bin/clang++"), "bin/clang++");
  setenv("PATH", path, 1);
  free(path);
}

TEST_WITH(test_named_compiler_is_the_only_one, make_root, remove_root) {
  CLOSED(toolkit) *toolkit = open_with(NULL, "no-such-compiler");
  assert_found(&toolkit->compiler, NULL);
  FAILS_WITH(toolkit_missing(toolkit, TOOLKIT_PART_COMPILER, &err), CUGEN_ERROR_MISSING,
             "a C++ compiler, which the cpu device needs, was not found.\n"
             "Install g++ (Debian and Ubuntu: apt-get install g++), or name one with "
             "cugen_options.compiler or $CUGEN_CXX.\n"
             "  looked at: no-such-compiler: no such program");
}

/* ---- Messages ------------------------------------------------------------------------------- */

TEST_WITH(test_missing_says_where, make_root, remove_root) {
  put("nowhere/file");
  CLOSED(toolkit) *toolkit = open_with(path_of("nowhere"), NULL);
  cugen_error err;
  assert_int_equal(toolkit_missing(toolkit, TOOLKIT_PART_NVRTC, &err), CUGEN_ERROR_MISSING);
  const char *want = formed("\n  looked at: %s: not there", path_of("nowhere"));
  assert_non_null(strstr(err.message, "NVRTC (libnvrtc.so.13 or .12) was not found."));
  assert_non_null(strstr(err.message, "cugen_options.toolkit"));
  assert_non_null(strstr(err.message, "pip install 'cuda-toolkit["));
  assert_non_null(strstr(err.message, want));
  assert_int_equal(toolkit_missing(toolkit, TOOLKIT_PART_HEADERS, &err), CUGEN_ERROR_MISSING);
  assert_non_null(strstr(err.message, "cuda_fp16.h"));
  assert_int_equal(toolkit_nvrtc_major(toolkit), 0);
}

/* ---- Libraries ------------------------------------------------------------------------------ */

static int loads;

static int load_table(const struct toolkit *toolkit, void **table, cugen_error *err) {
  loads++;
  *table = calloc(1, 16);
  return *table ? CUGEN_OK : error_memory(err);
}

static int load_nothing(const struct toolkit *toolkit, void **table, cugen_error *err) {
  loads++;
  *table = NULL;
  return error_set(err, CUGEN_ERROR_MISSING, "it is away, try %d", loads);
}

TEST_WITH(test_loaded_once, make_root, remove_root) {
  CLOSED(toolkit) *toolkit = open_with(NULL, NULL);
  const void *first, *second;
  loads = 0;
  assert_int_equal(toolkit_library(toolkit, TOOLKIT_NVML, load_table, &first, NULL), CUGEN_OK);
  assert_int_equal(toolkit_library(toolkit, TOOLKIT_NVML, load_table, &second, NULL), CUGEN_OK);
  assert_ptr_equal(first, second);
  assert_int_equal(loads, 1);
}

TEST_WITH(test_failure_is_remembered, make_root, remove_root) {
  CLOSED(toolkit) *toolkit = open_with(NULL, NULL);
  const void *table;
  loads = 0;
  for (int i = 0; i < 2; i++) {
    FAILS_WITH(toolkit_library(toolkit, TOOLKIT_DRIVER, load_nothing, &table, &err),
               CUGEN_ERROR_MISSING, "it is away, try 1");
    assert_null(table);
  }
  assert_int_equal(toolkit_library(toolkit, TOOLKIT_DRIVER, load_nothing, &table, NULL),
                   CUGEN_ERROR_MISSING);
}

struct c_library {
  size_t (*length)(const char *);
  void (*nothing)(void);
};

TEST(test_symbols) {
  static const struct toolkit_symbol symbols[] = {
      {"strlen", offsetof(struct c_library, length), true},
      {"no_such_function", offsetof(struct c_library, nothing), false}};
  static const struct toolkit_symbol needed = {"no_such_function",
                                               offsetof(struct c_library, nothing), true};
  struct c_library table;
  assert_int_equal(toolkit_load("libc.so.6", symbols, 2, &table, NULL), CUGEN_OK);
  assert_int_equal(table.length("four"), 4);
  assert_null(table.nothing);
  FAILS_WITH(toolkit_load("libc.so.6", &needed, 1, &table, &err), CUGEN_ERROR_MISSING,
             "libc.so.6 is too old: it has no no_such_function");
  FAILS_WITH(toolkit_load("libnosuch.so.1", symbols, 2, &table, &err), CUGEN_ERROR_MISSING,
             "libnosuch.so.1 was not found");
  FAILS(toolkit_load("/etc/passwd", symbols, 2, &table, &err), CUGEN_ERROR_MISSING,
        "/etc/passwd cannot be loaded: ");
}
