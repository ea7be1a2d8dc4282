/* Capture of the problems that an application asks for: a file gets a JSON line when a plan is
   opened, or refused because no tuned variant serves, and a line with the number of launches when a
   plan that was launched is closed. */
#ifndef API_CAPTURE_H
#define API_CAPTURE_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct capture;

struct capture_line {
  const char *kernel, *problem, *device;
  const char *plan; /* a word for a cugen_plan_choice, such as "exact" or "other_gpu"; "none": the
                       plan was refused */
  const char *variant; /* text of the variant; "": none */
  double seconds;      /* time of an opened plan's record; 0: none */
  uint64_t opens, launches;
};

/* Only remembers the path: capture_add opens the file for each line. */
int capture_open(const char *path, struct capture **out, cugen_error *err);
void capture_close(struct capture *capture);
/* Writes a line; any thread may call this function. A line that cannot be written is dropped, and
   the first reason is kept for capture_describe. capture NULL: does nothing. */
void capture_add(struct capture *capture, const struct capture_line *line);
/* Appends the file's path, and the reason if lines are missing. */
void capture_describe(const struct capture *capture, struct text *out);

#endif
