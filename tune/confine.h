/* The jail of a process that loads and runs kernels on the cpu device, which are code like any other. */
#ifndef TUNE_CONFINE_H
#define TUNE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Made once by a worker, for the processes that it forks. */
struct confinement {
  int files;     /* of jail_make: what may be opened while an object is loaded; -1: this kernel has no Landlock */
  uint64_t fork; /* of this process: the key of seccomp_fork; 0: it stays alone */
};

void confinement_open(struct confinement *out);
void confinement_close(struct confinement *confinement);

/* In the forked process, before it loads anything. spreads: its launches may use processes of their own. */
void confine_loading(struct confinement *confinement, bool spreads);
/* Before the first kernel runs: what is loaded stays, no file is opened any more, and none is open but the standard ones. */
void confine_running(const struct confinement *confinement);

#endif
