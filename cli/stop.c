/* Signals that ask for a clean stop; see stop.h. */
#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* What a signal handler may set, and several threads read: atomics without locks. */
static atomic_int stop_signal;
static atomic_int stop_second; /* when it came first; of a clock that nobody sets */

/* Within a second it is the same wish: a terminal or a supervisor may signal a process both by itself and with its
   group. */
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

void stop_catch(void) {
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool stop_asked(void) {
  return stop_signal != 0;
}

int stop_exit_code(void) {
  return 128 + stop_signal;
}
