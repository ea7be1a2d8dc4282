/* Runs steps in processes of their own; see isolate.h. */
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory that both processes see. A kernel can overwrite it until its process has ended, so that it
   is copied afterwards and only the copy is used. */
struct shared {
  uint32_t done; /* 1: the step reached its end */
  _Alignas(max_align_t) char result[];
};

static void close_between(unsigned first, unsigned last) {
  if (first > last) return;
#if defined(SYS_close_range)
  if (syscall(SYS_close_range, first, last, 0u) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);
  for (unsigned fd = first; fd <= last && fd < (most > 0 ? (unsigned)most : 1024); fd++)
    close((int)fd);
}

_Noreturn static void run_step(void (*step)(void *context, void *result), void *context,
                               struct shared *shared, int output, int kept) {
  if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) _exit(1);
  /* Closes all descriptors but `kept`, above all the worker's socket, through which a kernel could
     answer for the worker. */
  const unsigned first = STDERR_FILENO + 1, place = kept < (int)first ? first - 1 : (unsigned)kept;
  if (place > first) close_between(first, place - 1);
  close_between(place + 1, ~0u);
  /* The environment may contain secrets that a kernel could print. */
  for (char **at = environ; at && *at; at++) explicit_bzero(*at, strlen(*at));
  clearenv();
  setvbuf(stdout, NULL, _IONBF, 0); /* so that text printed before a crash is not lost */
  step(context, shared->result);
  fflush(stdout);
  shared->done = 1;
  _exit(0);
}

/* Byte that separates the outputs. If a kernel prints this byte itself, less of its output is
   shown. */
static const char mark = '\0';

void isolate_mark(void) {
  fflush(stdout);
  while (write(STDOUT_FILENO, &mark, 1) < 0 && errno == EINTR) {
  }
}

/* Removes the mark from the text. Only the first byte that equals `mark` is a mark. Returns the
   number of bytes removed. */
static ssize_t take_mark(char *buffer, size_t length, struct isolate_output *output) {
  char *found = output->marked ? NULL : memchr(buffer, mark, length);
  if (!found) return 0;
  const size_t before = (size_t)(found - buffer);
  output->marked = 1;
  output->first = output->bytes + before;
  memmove(found, found + 1, length - before - 1);
  return 1;
}

/* Collects the output until the process has ended or closed its streams. The process may be able to
   overwrite *output, which the coordinator reads. Therefore this function reads *output only at the
   beginning. */
static void isolate_collect(int pipe, struct isolate_output *output) {
  struct isolate_output own = *output;
  char buffer[4096];
  ssize_t got;
  while ((got = read(pipe, buffer, sizeof buffer)) != 0) {
    if (got < 0 && errno != EINTR) return;
    if (got < 0) continue;
    got -= take_mark(buffer, (size_t)got, &own);
    const size_t room = own.bytes < sizeof own.text ? sizeof own.text - (size_t)own.bytes : 0;
    memcpy(own.text + sizeof own.text - room, buffer, (size_t)got < room ? (size_t)got : room);
    own.bytes += (uint64_t)got;
    *output = own;
  }
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

/* Runs the step in a process of its own. Ends this process as that process ended, if the step did
   not return. */
static int run_apart(void (*step)(void *context, void *result), void *context,
                     struct shared *shared, struct isolate_output *output, int kept,
                     cugen_error *err) {
  int ends[2], how = 0;
  if (pipe2(ends, O_CLOEXEC))
    return error_set(err, CUGEN_ERROR_IO, "a pipe for a variant: %s", strerror(errno));
  const pid_t parent = getpid(), child = fork();
  const int code = errno;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the parent ended before prctl asked for the signal */
    run_step(step, context, shared, ends[1], kept);
  }
  close(ends[1]);
  if (child > 0) isolate_collect(ends[0], output);
  close(ends[0]);
  if (child < 0)
    return error_set(err, CUGEN_ERROR_IO, "a process for a variant: %s", strerror(code));
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (shared->done != 1 || how) die_likewise(how);
  return CUGEN_OK;
}

int isolate(void (*step)(void *context, void *result), void *context, void *result, size_t bytes,
            struct isolate_output *output, int kept, cugen_error *err) {
  const size_t whole = sizeof(struct shared) + bytes;
  struct shared *shared =
      mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return error_set(err, CUGEN_ERROR_MEMORY, "memory for a result: %s", strerror(errno));
  memcpy(shared->result, result, bytes);
  const int status = run_apart(step, context, shared, output, kept, err);
  memcpy(result, shared->result, bytes);
  munmap(shared, whole);
  return status;
}
