/* A recorded space while a file is read into it. */
#ifndef REPLAY_RECORDING_H
#define REPLAY_RECORDING_H

#include <jansson.h>

#include "recorded.h"

/* An axis whose values are in the order of the file. */
struct recording_axis {
  char *name;
  char **texts;
  double *numbers; /* the values as numbers; NAN: a word */
  size_t count;
  bool gaps; /* some variants have no value on this axis */
};

struct recording {
  const char *path;
  const char *kernel, *device; /* borrowed from the root */
  double per_second;           /* units of the costs in a second */
  struct recording_axis axes[RECORDED_MOST_AXES];
  size_t axis_count;
  uint16_t *positions;
  double *costs, *compile, *total;
  size_t count;
};

int recording_add_axis(struct recording *recording, const char *name, cugen_error *err);
/* values: one for each axis; JSON's null if the variant has none. cost NAN: the variant failed. */
int recording_add(struct recording *recording, const json_t *const *values, double cost,
                  double compile, double total, cugen_error *err);
/* Takes over the texts and the numbers; out->format is kept. */
int recording_finish(struct recording *recording, struct recorded *out, cugen_error *err);
void recording_free(struct recording *recording);
/* Refuses the variant that would be added next: "PATH: variant 12: ...". */
int recording_refuse(const struct recording *recording, cugen_error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif
