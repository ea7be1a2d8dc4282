/* Restricts the system calls of a process by seccomp (Linux 3.17), on x86-64 and aarch64. A call
   that is not allowed raises SIGSYS; a few that libraries can do without fail with an errno. */
#ifndef BASE_SECCOMP_H
#define BASE_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seccomp_rules {
  bool loading;  /* files may be opened for reading, and stricter rules may be entered later */
  uint64_t fork; /* 0: the process may not start processes; otherwise the key of seccomp_fork */
};

/* Enters the rules for good, for this thread and the threads that it starts. The rules allow calls
   for memory, time, threads, signals to the process itself, and reading and writing open
   descriptors. Returns false if the kernel or the processor has no such filter. "No new privileges"
   must be set before. */
bool seccomp_enter(const struct seccomp_rules *rules);
/* Forks under rules that have this key; with key 0, like fork(). May only be called in a process
   without other threads. */
pid_t seccomp_fork(uint64_t key);
/* The name of a system call, such as "execve", for a message; NULL if the table of names lacks the
   call. May be called in a signal handler. */
const char *seccomp_name(int number);

#endif
