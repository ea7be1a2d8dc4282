/* Steps in processes of their own; see isolate.h. */
#include "isolate.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What both processes see. */
struct shared {
  bool done;
  _Alignas(max_align_t) char result[];
};

_Noreturn static void run_step(void (*step)(void *, void *), void *context, struct shared *shared, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1); /* it went before that was asked for */
  step(context, shared->result);
  shared->done = true;
  _exit(0);
}

_Noreturn static void die_likewise(int status) {
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  signal(number, SIG_DFL);
  if (number && sigprocmask(SIG_UNBLOCK, &only, NULL) == 0) raise(number);
  _exit(number ? 128 + number : WEXITSTATUS(status));
}

int isolate(void (*step)(void *context, void *result), void *context, void *result, size_t bytes, cugen_error *err) {
  const size_t whole = sizeof(struct shared) + bytes;
  struct shared *shared = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return error_set(err, CUGEN_ERROR_MEMORY, "memory for a result: %s", strerror(errno));
  memcpy(shared->result, result, bytes);
  const pid_t parent = getpid(), child = fork();
  int status = child < 0 ? error_set(err, CUGEN_ERROR_IO, "a process for a variant: %s", strerror(errno)) : CUGEN_OK;
  if (child == 0) run_step(step, context, shared, parent);
  int how = 0;
  while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (!status && !shared->done) die_likewise(how);
  memcpy(result, shared->result, bytes);
  munmap(shared, whole);
  return status;
}
