/* Opens cugen on the cpu device, loads a shipped config and counts its arguments, which uses
   every room. The program has its own Lua and SQLite, which must not clash with cugen's. */
#include <cugen.h>
#include <stdio.h>

int lua_newstate(void);
int sqlite3_open_v2(void);
int lua_newstate(void) {
  return 1;
}
int sqlite3_open_v2(void) {
  return 1;
}

int main(void) {
  cugen_error error = {0};
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen *lib = NULL;
  cugen_kernel *kernel = NULL;
  options.device = "cpu";
  options.cache = "none";
  if (cugen_open(&options, &lib, &error) ||
      cugen_kernel_open(lib, "matmul", NULL, 0, &kernel, &error)) {
    fprintf(stderr, "%s: %s\n", cugen_status_text(error.status), error.message);
    cugen_close(lib);
    return 1;
  }
  printf("%s %s: %zu arguments\n", CUGEN_VERSION, cugen_kernel_name(kernel),
         cugen_kernel_arguments(kernel));
  cugen_kernel_close(kernel);
  cugen_close(lib);
  return lua_newstate() + sqlite3_open_v2() == 2 ? 0 : 1;
}
