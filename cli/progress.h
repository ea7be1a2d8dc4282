/* The progress bar, on stderr, when that is a terminal: how many are tried of how many, the best, the time left. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

#include "api/tools.h"

struct progress {
  bool shown;                   /* stderr is a terminal and the user wants it */
  bool drawn;                   /* something stands on the line */
  double begin, last_draw;      /* monotonic seconds */
  struct progress_board *board; /* whose line it shares; NULL: it has one of its own */
  size_t part;                  /* of the board */
};

/* What of it is one search's. */
struct progress_part {
  const char *name;
  bool begun, ended;
  cugen_progress state; /* without pointers that end with the call */
  bool found;           /* it has a best */
};

/* One line for several searches, each in a thread of its own. */
struct progress_board {
  pthread_mutex_t lock;
  struct progress line;
  struct progress_part *parts;
  size_t count;
  bool silent; /* results are being printed */
};

/* Monotonic seconds. */
double progress_now(void);
void progress_open(struct progress *progress, bool quiet);
/* One line, redrawn at most ten times a second. */
void progress_draw(struct progress *progress, const cugen_progress *state);
/* Leaves the line empty. */
void progress_close(struct progress *progress);
/* For a remark between: the line is empty, and stays so until progress_go_on. */
void progress_pause(struct progress *progress);
void progress_go_on(struct progress *progress);

/* A board with one part for each name, a list of devices that the first one stands for; the names must outlive it. False: out of memory. */
bool progress_board_open(struct progress_board *board, const char *const *names, size_t count, bool quiet);
void progress_board_close(struct progress_board *board);
/* From here on, nothing is drawn; or it is again. */
void progress_board_silence(struct progress_board *board, bool silent);
/* Like progress_open, for a part of the board. */
void progress_open_part(struct progress *progress, struct progress_board *board, size_t part);
#endif
