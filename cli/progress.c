/* The progress bar; see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "print.h"

double progress_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int terminal_width(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void progress_open(struct progress *progress, bool quiet) {
  const char *terminal = getenv("TERM");
  bool able = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
  *progress = (struct progress){.shown = able && !quiet};
}

/* How much is done, from 0 to 1: of the planned variants, or of the time, whichever will end it. */
static double fraction_done(const cugen_progress *state) {
  double by_count = state->planned ? (double)state->done / (double)state->planned : 0;
  double whole = state->elapsed + state->remaining;
  double by_time = state->remaining >= 0 && whole > 0 ? state->elapsed / whole : 0;
  double done = by_count > by_time ? by_count : by_time;
  return done < 0 ? 0 : done > 1 ? 1 : done;
}

static void add(char *out, size_t size, const char *text) {
  size_t length = strlen(out);
  if (length + 1 < size) snprintf(out + length, size - length, "%s", text);
}

static void add_bar(double fraction, char *out, size_t size) {
  enum { CELLS = 20 };
  char bar[CELLS + 4] = "[";
  for (int i = 0; i < CELLS; i++) bar[i + 1] = i < (int)(fraction * CELLS + 0.5) ? '#' : '.';
  bar[CELLS + 1] = ']';
  add(out, size, bar);
}

static void add_best(const cugen_progress *state, char *out, size_t size) {
  add(out, size, "  best ");
  add(out, size, print_seconds(state->best_seconds).text);
  const char *unit = print_rate_unit(state->flops, state->bytes);
  if (unit) {
    add(out, size, ", ");
    add(out, size, print_rate(state->flops, state->bytes, state->best_seconds).text);
    add(out, size, " ");
    add(out, size, unit);
  }
}

void progress_line(const cugen_progress *state, int width, char *out, size_t size) {
  size_t room =
      width > 0 && (size_t)width < size ? (size_t)width : size; /* the last column stays free: no wrapping */
  *out = '\0';
  add_bar(fraction_done(state), out, room);
  add(out, room, " ");
  add(out, room, print_count(state->done).text);
  if (state->planned) {
    add(out, room, "/");
    add(out, room, print_count(state->planned).text);
  }
  if (state->failed) {
    add(out, room, ", ");
    add(out, room, print_count(state->failed).text);
    add(out, room, " failed");
  }
  if (state->remaining >= 0) {
    add(out, room, "  ");
    add(out, room, print_clock(state->remaining).text);
    add(out, room, " left");
  }
  if (!state->best) return;
  add_best(state, out, room);
  add(out, room, "  ");
  add(out, room, state->best);
}

void progress_draw(struct progress *progress, const cugen_progress *state) {
  enum { REDRAWS_PER_SECOND = 10 };
  double time = progress_now();
  if (!progress->shown || (progress->drawn && time - progress->last_draw < 1.0 / REDRAWS_PER_SECOND)) return;
  char line[512];
  progress_line(state, terminal_width(), line, sizeof line);
  char clean[6 * sizeof line];
  cugen_clean_text(line, strlen(line), clean, sizeof clean);
  fflush(stderr);
  dprintf(STDERR_FILENO, "\r%s\033[K", clean);
  progress->drawn = true;
  progress->last_draw = time;
}

void progress_close(struct progress *progress) {
  if (progress->drawn) dprintf(STDERR_FILENO, "\r\033[K");
  progress->drawn = false;
}
