/* Where a source says what a launch is refused for. A source is one text with #line, so that a place is a file and a line of the
   user's. It is read as text, and only once something has been refused: whether it is refused, the image says. */
#ifndef BASE_SOURCE_PLACE_H
#define BASE_SOURCE_PLACE_H

#include "text.h"

enum source_cause {
  SOURCE_BOUNDS,   /* the kernel's __launch_bounds__ */
  SOURCE_CLUSTER,  /* its __cluster_dims__ */
  SOURCE_SHARED,   /* a static __shared__ array, of the kernel's own before others */
  SOURCE_CONSTANT, /* a __constant__ variable */
  SOURCE_GRID_SYNC /* where threads of a whole grid wait for each other */
};

/* Appends the file and sets the line. entry: the kernel as it is launched ("reduce<4>"); NULL: any. False: the source does not
   have it, or a macro of a header has. */
bool source_place(const char *source, const char *entry, enum source_cause cause, struct text *file, int *line);

#endif
