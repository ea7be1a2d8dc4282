/* The jail of a process that loads and runs kernels on the cpu device, which are native code. */
#ifndef TUNE_WORKER_CONFINE_H
#define TUNE_WORKER_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* A worker makes one confinement for all processes that it forks. */
struct confinement {
  /* Landlock ruleset of jail_make: the files that may be opened while an object is loaded. -1: the
     system has no usable Landlock. */
  int files;
  uint64_t fork; /* key of seccomp_fork that lets this process fork; 0: it must not fork */
  bool none;     /* confine_running does nothing in this process */
};

void confinement_open(struct confinement *out);
void confinement_close(struct confinement *confinement);

/* Limits the files, memory and system calls of this process before it loads an object. spreads:
   launches may use further processes. */
void confine_loading(struct confinement *confinement, bool spreads);
/* Closes all descriptors but the standard streams and, unless a sanitizer runs, forbids opening
   files; loaded objects stay loaded. Does nothing if confinement->none. */
void confine_running(const struct confinement *confinement);

#endif
