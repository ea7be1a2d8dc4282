/* Divides a large piece of work on data into parts, each run by one thread. */
#ifndef TUNE_DATA_PARALLEL_FOR_H
#define TUNE_DATA_PARALLEL_FOR_H

#include <stddef.h>
#include <stdint.h>

enum { PARALLEL_MOST = 16 };

/* Returns the number of parts for so many elements: one for each processor, but at least 2^18
   elements in each part. */
int parallel_count(int64_t elements);
/* Returns where a part begins, for `all` units divided into `count` parts. Part `count` begins at
   the end of the last part. */
int64_t parallel_begin(int64_t all, int part, int count);
/* Calls run for each of `count` parts, which are stored `size` bytes apart. The calling thread runs
   the first part, and every part whose thread cannot be started. */
void parallel_for(void (*run)(void *part), void *parts, size_t size, int count);

#endif
