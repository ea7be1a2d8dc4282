/* Which system calls a process may make: seccomp (Linux 3.17), on x86-64 and aarch64. What is not on the list raises SIGSYS. */
#ifndef BASE_SECCOMP_H
#define BASE_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seccomp_rules {
  bool loading;  /* files may be opened to be read, and stricter rules entered */
  uint64_t fork; /* 0: this process stays alone; else the key of seccomp_fork */
};

/* For good, for this thread and those that it starts: memory, time, signals to itself, threads, reading and writing what is open.
   False: the kernel or the processor has no such filter. Needs "no new privileges". */
bool seccomp_enter(const struct seccomp_rules *rules);
/* As fork, under rules with that key; 0: as fork. Only in a process without other threads. */
pid_t seccomp_fork(uint64_t key);
/* "execve" by its number; NULL: one that nobody asks for. May be called in a signal handler. */
const char *seccomp_name(int number);

#endif
