/* The ways in which a variant is timed (docs/tuning.md). The options of a record name the way
   unless it is the default (base/key.h). */
#ifndef BASE_MEASURE_WAY_H
#define BASE_MEASURE_WAY_H

enum measure_way {
  MEASURE_BURST,     /* short batches of launches, directly behind each other; the default */
  MEASURE_GRAPH,     /* the batches of MEASURE_BURST, replayed from a CUDA graph */
  MEASURE_SUSTAINED, /* longer batches, until clocks, power and times are steady or the time is
                        up */
  MEASURE_COLD,      /* one launch at a time, with its buffers evicted from the caches */
  MEASURE_WAYS,
  MEASURE_SERVED /* times that a plan measured while serving; measure_way_find does not find this
                    way */
};
extern const char *const measure_way_names[MEASURE_SERVED + 1];

/* Returns MEASURE_WAYS if the word is none of the ways. */
enum measure_way measure_way_find(const char *word);

#endif
