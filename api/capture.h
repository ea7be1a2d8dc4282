/* What an application asked for: a line of JSON in a file for each plan that it opens, and one for its launches when it closes it.
   'cugen tune --from' reads them. */
#ifndef API_CAPTURE_H
#define API_CAPTURE_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct capture;

struct capture_line {
  const char *kernel, *problem, *device;
  const char *plan;    /* "exact", "near", "default", "pinned"; "none": it was refused, since nothing tuned serves */
  const char *variant; /* "": none */
  double seconds;      /* of the plan's record; 0: not measured */
  uint64_t opens, launches;
};

/* No file is touched yet. */
int capture_open(const char *path, struct capture **out, cugen_error *err);
void capture_close(struct capture *capture);
/* From any thread. What cannot be written is left out, and the first reason kept for capture_describe. capture may be NULL. */
void capture_add(struct capture *capture, const struct capture_line *line);
/* "FILE", and why lines are missing. */
void capture_describe(const struct capture *capture, struct text *out);

#endif
