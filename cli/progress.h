/* The progress bar on stderr, if stderr is a terminal: what part of the work is done, the best
   variant so far, the time left. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

#include "cugen.h"

struct progress {
  bool shown;              /* stderr is a terminal that can redraw a line, and --quiet is not
                              given */
  bool drawn;              /* something is drawn on the line */
  double begin, last_draw; /* monotonic seconds */
  /* The board that shares a line; NULL: the progress has a line of its own. */
  struct progress_board *board;
  size_t part; /* index in the board */
};

/* The part of the board that belongs to one search. */
struct progress_part {
  const char *name;
  bool begun, ended;
  cugen_progress state; /* a copy without `best` and `lost`, whose strings end with the callback */
  bool found;           /* the search has a best variant */
};

/* One line for several searches, each in a thread of its own. */
struct progress_board {
  pthread_mutex_t lock;
  struct progress line;
  struct progress_part *parts;
  size_t count;
  bool silent; /* nothing is drawn */
};

/* Returns monotonic seconds. */
double progress_now(void);
void progress_open(struct progress *progress, bool quiet);
/* Draws the line, at most ten times a second. */
void progress_draw(struct progress *progress, const cugen_progress *state);
/* Clears the line. A part of a board then counts as ended. */
void progress_close(struct progress *progress);
/* Clears the line for a remark, and locks the board, if any, until progress_go_on. */
void progress_pause(struct progress *progress);
void progress_go_on(struct progress *progress);

/* Opens a board with one part for each name, which is a list of devices. The names must outlive the
   board. Returns false if there is no memory. */
bool progress_board_open(struct progress_board *board, const char *const *names, size_t count,
                         bool quiet);
void progress_board_close(struct progress_board *board);
/* Clears the line and stops drawing, or allows drawing again. */
void progress_board_silence(struct progress_board *board, bool silent);
/* Like progress_open, for a part of the board. */
void progress_open_part(struct progress *progress, struct progress_board *board, size_t part);
#endif
