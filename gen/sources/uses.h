/* How the body of a kernel uses its parameters: which buffers it reads and writes, by which sizes
   it multiplies their indices, and with which sizes it compares them. */
#ifndef GEN_SOURCES_USES_H
#define GEN_SOURCES_USES_H

#include "signature.h"

/* Reads the body at the head of the text; the parameters of *out have been read. Fills `uses`,
   `indices`, `grid_bounds`, `sizes` and `guarded` of *out, and may set `grid_by_threads`. */
void uses_read(struct source_reader text, struct signature *out);

#endif
