/* To be preloaded: pretends a machine without libpq. Every other library can be loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *dlopen(const char *name, int flags) {
  void *(*real)(const char *, int);
  *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
  return name && strncmp(name, "libpq.", strlen("libpq.")) == 0 ? real("libpq.so.nowhere", flags)
                                                                : real(name, flags);
}
