/* The ways in which a variant is timed (docs/tuning.md), and how they stand in the options that a record is kept under: behind the
   compile's, as in "arch sm_90a, measure graph". The default way is not named there, so that its records are those of always. */
#ifndef BASE_MEASURE_WAY_H
#define BASE_MEASURE_WAY_H

#include "text.h"

enum measure_way {
  MEASURE_BURST,     /* short batches of launches, one right behind the other; the default */
  MEASURE_GRAPH,     /* such batches, replayed from a CUDA graph */
  MEASURE_SUSTAINED, /* such batches, after a load under which clocks and power have settled */
  MEASURE_COLD,      /* one launch at a time, with nothing of its buffers in a cache */
  MEASURE_WAYS,
  MEASURE_SERVED /* of options alone: what a plan found out while serving. Nothing can be tuned so, and no word finds it */
};
extern const char *const measure_way_names[MEASURE_SERVED + 1];

/* MEASURE_WAYS: the word is none of them. */
enum measure_way measure_way_find(const char *word);

/* Adds the way to the options of a compile. */
void measure_way_add(enum measure_way way, struct text *options);
/* The way that such options name (MEASURE_WAYS: one of a later cugen), and in *length how long those of the compile are. */
enum measure_way measure_way_of(const char *options, size_t *length);

#endif
