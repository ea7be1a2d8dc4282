/* Finds the place in a source that is the cause of a refused launch. A source is one text with
   #line directives, so a place is a file and line of the user. The source is read as text, and only
   after a launch was refused on the evidence of its image. */
#ifndef BASE_SOURCE_PLACE_H
#define BASE_SOURCE_PLACE_H

#include "text.h"

enum source_cause {
  SOURCE_BOUNDS,   /* the __launch_bounds__ of the kernel */
  SOURCE_CLUSTER,  /* the __cluster_dims__ of the kernel */
  SOURCE_SHARED,   /* a static __shared__ array, preferably one of the kernel itself */
  SOURCE_CONSTANT, /* a __constant__ variable */
  SOURCE_GRID_SYNC /* where all threads of a grid wait for each other */
};

/* Appends the name of the file to *file and sets *line. entry: the kernel as it is launched
   ("reduce<4>"); NULL: any kernel. Returns false if the cause is not in the source, or only in a
   macro of a header. */
bool source_place(const char *source, const char *entry, enum source_cause cause, struct text *file,
                  int *line);

#endif
