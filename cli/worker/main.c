/* cugen-worker: the program that libcugen starts to verify and time kernels, so that one that crashes harms nobody. */
#include <cugen.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "worker") == 0) return cugen_worker_main(argc, argv);
  fputs("cugen-worker " CUGEN_VERSION ": started by libcugen when it tunes, not by hand\n", stderr);
  return -CUGEN_ERROR_USAGE;
}
