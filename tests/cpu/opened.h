/* A config opened for the cpu device in the form that the parts of tune/ take. */
#ifndef TESTS_CPU_OPENED_H
#define TESTS_CPU_OPENED_H

#include "tune/candidate.h"

struct opened {
  struct source_file
      /* Files in memory from which the config is read: call sources_add before opened_open. The
         test does not free them. */
      *files;
  struct sources sources;
  struct config *config;
  struct problem problem;
  struct space *space;
  struct toolkit *toolkit;
  struct device_description device;
  struct cache *cache; /* a cache in memory */
  struct tune_target target;
};

/* Fails the test with the error's message. */
void check(int status, const cugen_error *err);
/* Opens the config for its check problem, or for its default problem. */
void opened_open(struct opened *o, const char *config, bool check_problem);
void opened_close(struct opened *o);

/* All variants of a config, compiled. */
enum { BUILT_MOST = 64 };
struct built {
  struct opened opened;
  struct bench bench;
  struct candidate *candidates[BUILT_MOST];
  size_t count;
};
void built_open(struct built *b, const char *config);
void built_close(struct built *b);
/* Runs the variant, at most `timeout` seconds. */
void built_run(struct built *b, size_t number, const struct measure_options *measure,
               double timeout, struct cache_record *record);

/* Shuffles the order; equal seeds give equal permutations. */
void shuffle(size_t *order, size_t count, unsigned *seed);

#endif
