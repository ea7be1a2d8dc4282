/* Machine code, read just far enough to see what ptxas made of the PTX: how many global loads a warp keeps under way, and
   how many instructions there are. */
#ifndef RUNTIME_SASS_H
#define RUNTIME_SASS_H

#include <stddef.h>

struct sass_facts {
  int instructions; /* 0: nothing is known */
  int loads;        /* of global memory, in the text of the program */
  int in_flight;    /* of them, under way together at most before a result is waited for */
};

/* The code of one kernel, of compute capability 7.0 or newer: what cubin_code gives. */
struct sass_facts sass_read(const void *code, size_t length);

#endif
