/* Signals that ask for a clean stop; see stop.h. */
#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Set by a signal handler and read by several threads, therefore lock-free atomics. */
static atomic_int stop_signal;
static atomic_int stop_second; /* second of the first signal, by the monotonic clock */

/* Signals within one to two seconds count as one request: a terminal or a supervisor may signal
   both the process and its group. */
static void note_signal(int number) {
  struct timespec clock;
  const int before = errno;
  clock_gettime(CLOCK_MONOTONIC, &clock);
  const int now = (int)clock.tv_sec;
  if (stop_signal && now - stop_second > 1) {
    signal(number, SIG_DFL);
    raise(number);
  }
  if (!stop_signal) stop_second = now;
  stop_signal = number;
  errno = before;
}

/* Explains a SIGBUS: SQLite maps the -shm file beside a database, and any program that may write
   the file can truncate it. */
static void tell_bus(int number) {
  static const char message[] = "cugen: a file that is in use was cut by another program, such as "
                                "the cache's -shm: what was stored before is there\n";
  const ssize_t told = write(STDERR_FILENO, message, sizeof message - 1);
  (void)told;
  raise(number); /* SA_RESETHAND has reset the handler */
}

void stop_catch(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;
  struct sigaction bus = {.sa_handler = tell_bus, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigemptyset(&bus.sa_mask);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) /* a SIGHUP that nohup ignores stays
                                                             ignored */
    if (sigaction(ends[i], NULL, &before) || before.sa_handler != SIG_IGN || ends[i] != SIGHUP)
      sigaction(ends[i], &action, NULL);
  sigaction(SIGBUS, &bus, NULL);
}

bool stop_asked(void) {
  return stop_signal != 0;
}

int stop_exit_code(void) {
  return 128 + stop_signal;
}
