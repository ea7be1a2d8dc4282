/* A process in a jail opens what the jail has and nothing else; so does the compiler of the cpu device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/device.h"
#include "runtime/devices.h"

static struct text folder, inside, outside;

static int setup(void **state) {
  (void)state;
  int status = folder_temporary(&folder, NULL);
  text_addf(&inside, "%s/in", text_get(&folder));
  text_addf(&outside, "%s/secret", text_get(&folder));
  if (!status) status = folder_make(text_get(&inside), NULL);
  if (!status) status = file_put(text_get(&outside), "a secret", 8, NULL);
  return status;
}

static int teardown(void **state) {
  (void)state;
  folder_remove(text_get(&folder));
  text_free(&folder);
  text_free(&inside);
  text_free(&outside);
  return 0;
}

static bool opens(const char *path, int flags) {
  int fd = open(path, flags, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* The bits of what went wrong, from the process that is in the jail. */
static int live_in(int jail) {
  struct text made = {0};
  text_addf(&made, "%s/made", text_get(&inside));
  pid_t pid = fork();
  if (pid == 0)
    _exit((jail_enter(jail) ? 0 : 1) | (opens(text_get(&outside), O_RDONLY) ? 2 : 0) |
          (opens(text_get(&outside), O_WRONLY) ? 4 : 0) | (opens(text_get(&made), O_RDWR | O_CREAT) ? 0 : 8) |
          (opens("/etc/passwd", O_RDONLY) ? 16 : 0));
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  text_free(&made);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void only_what_it_has(void **state) {
  (void)state;
  const struct jail_place places[] = {{text_get(&inside), JAIL_WRITE}, {"/nowhere", JAIL_READ}, {NULL, JAIL_READ}};
  int jail = jail_make(places, sizeof places / sizeof *places);
  if (jail < 0) skip(); /* this kernel has no Landlock */
  assert_int_equal(live_in(jail), 0);
  close(jail);
  assert_true(opens(text_get(&outside), O_RDONLY)); /* this process is not in it */
}

static int compile(const struct toolkit *toolkit, const char *source) {
  static const char *const entries[] = {"k"};
  const struct compile_request request = {
      .toolkit = toolkit, .name = "k.cu", .source = source, .entries = entries, .entry_count = 1, .timeout = 300};
  struct compiled compiled;
  cugen_error err;
  int status = cpu_device_ops.compile(&request, &compiled, &err);
  if (!status) compiled_free(&compiled);
  return status;
}

static void the_compiler_too(void **state) {
  (void)state;
  struct toolkit *toolkit;
  struct text source = {0};
  int jail = jail_make(NULL, 0);
  if (jail < 0) skip();
  close(jail);
  assert_int_equal(toolkit_open(&(const struct toolkit_options){0}, &toolkit, NULL), CUGEN_OK);
  if (!toolkit->compiler.length) skip();
  text_addf(&source, "asm(\".incbin \\\"%s\\\"\");\n__global__ void k(float *x) { x[0] = 1; }\n", text_get(&outside));
  assert_int_equal(compile(toolkit, text_get(&source)), CUGEN_ERROR_COMPILE);
  assert_int_equal(compile(toolkit, "#include <cstdint>\n__global__ void k(float *x) { x[0] = 1; }\n"), CUGEN_OK);
  text_free(&source);
  toolkit_close(toolkit);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_it_has), cmocka_unit_test(the_compiler_too)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
