/* Signals that ask for a clean stop; see stop.h. */
#include "stop.h"

#include <signal.h>
#include <time.h>

/* The one thing that a signal handler may set. */
static volatile sig_atomic_t stop_signal;

static volatile sig_atomic_t stop_second; /* when it came first; of a clock that nobody sets */

/* Within a second it is the same wish: a terminal or a supervisor may signal a process both by itself and with its
   group. */
static void note_signal(int number) {
  struct timespec clock;
  clock_gettime(CLOCK_MONOTONIC, &clock);
  const sig_atomic_t now = (sig_atomic_t)clock.tv_sec;
  if (stop_signal && now - stop_second > 1) {
    signal(number, SIG_DFL);
    raise(number);
  }
  if (!stop_signal) stop_second = now;
  stop_signal = number;
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
  return 128 + (int)stop_signal;
}
