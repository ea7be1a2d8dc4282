/* The progress bar, on stderr, when that is a terminal: how many are tried of how many, the best, the time left. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

#include "cugen_tools.h"

struct progress {
  bool shown;              /* stderr is a terminal and the user wants it */
  bool drawn;              /* something stands on the line */
  double begin, last_draw; /* monotonic seconds */
};

/* Monotonic seconds. */
double progress_now(void);
void progress_open(struct progress *progress, bool quiet);
/* One line, redrawn at most ten times a second. */
void progress_draw(struct progress *progress, const cugen_progress *state);
/* Leaves the line empty. */
void progress_close(struct progress *progress);
#endif
