/* Fault texts: written by hand, since a signal handler may do nothing else. */
#ifndef RUNTIME_CPU_NOTE_H
#define RUNTIME_CPU_NOTE_H

#include "abi.h"

struct note {
  char *at, *end; /* the final NUL goes to *at, which never passes *end */
};

void note_text(struct note *note, const char *string);
void note_number(struct note *note, unsigned number, unsigned base, int digits);
/* "block (0,1,0)" */
void note_position(struct note *note, const char *what, struct cpu_dim3 at);
/* A mask. */
void note_lanes(struct note *note, unsigned lanes);
/* "1 of 32" */
void note_count(struct note *note, unsigned count, const char *what, unsigned of);

#endif
