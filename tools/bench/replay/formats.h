/* The formats of files that are read. */
#ifndef REPLAY_FORMATS_H
#define REPLAY_FORMATS_H

#include "recording.h"

/* A row of the table of formats. */
struct recorded_format {
  const char *name;
  const char *mark; /* the root has a member of this name */
  int (*read)(struct recording *recording, const json_t *root, cugen_error *err);
};
extern const struct recorded_format recorded_formats[]; /* ended by a NULL name */

#endif
