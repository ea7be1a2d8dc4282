/* Shares of a large piece of work on data, one a thread. */
#ifndef TUNE_PARALLEL_FOR_H
#define TUNE_PARALLEL_FOR_H

#include <stddef.h>
#include <stdint.h>

enum { PARALLEL_MOST = 16 };

/* How many for so many elements: one a processor, but at least 2^18 elements each. */
int parallel_count(int64_t elements);
/* Where the part begins, in units of which there are `all`; part `count` begins where the last one ends. */
int64_t parallel_begin(int64_t all, int part, int count);
/* Calls run with each of `count` parts, which lie `size` bytes apart. The first is the caller's, and so is one whose thread
   cannot be started. */
void parallel_for(void (*run)(void *part), void *parts, size_t size, int count);

#endif
