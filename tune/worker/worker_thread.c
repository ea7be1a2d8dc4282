/* A worker thread; see worker_thread.h. The thread and its starter both own struct worker_thread,
   because either may end first. */
#include "worker_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"
#include "worker.h"

struct worker_thread {
  pthread_t thread;
  int socket; /* the thread's end of the socket pair */
  struct worker_place place;
  atomic_bool stop;
  atomic_int owners;
};

static void worker_thread_release(struct worker_thread *t) {
  if (atomic_fetch_sub(&t->owners, 1) == 1) free(t);
}

static void *worker_thread_serve(void *context) {
  struct worker_thread *t = context;
  worker_serve(t->socket, &t->place);
  close(t->socket);
  worker_thread_release(t);
  return NULL;
}

/* Starts the thread with the application's signals blocked, other than those that the thread causes
   itself. Returns 0 or an errno. */
static int start_without_signals(struct worker_thread *t) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failed = pthread_create(&t->thread, NULL, worker_thread_serve, t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

int worker_thread_start(void *context, struct worker_thread **out, int *socket, cugen_error *err) {
  int ends[2];
  *out = NULL;
  struct worker_thread *t = calloc(1, sizeof *t);
  if (!t) return error_memory(err);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
    free(t);
    return error_set(err, CUGEN_ERROR_MEMORY, "a socket for the worker thread: %s",
                     strerror(errno));
  }
  t->socket = ends[1];
  t->place = (struct worker_place){.embedded = true, .context = context, .stop = &t->stop};
  atomic_init(&t->owners, 2);
  const int failed = start_without_signals(t);
  if (failed) {
    close(ends[0]);
    close(ends[1]);
    free(t);
    return error_set(err, CUGEN_ERROR_MEMORY, "a worker thread: %s", strerror(failed));
  }
  *socket = ends[0];
  *out = t;
  return CUGEN_OK;
}

bool worker_thread_end(struct worker_thread *t, double seconds) {
  atomic_store(&t->stop, true);
  bool ended = thread_join_within(t->thread, seconds);
  if (!ended) pthread_detach(t->thread);
  worker_thread_release(t);
  return ended;
}
