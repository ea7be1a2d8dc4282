/* A config opened for the cpu device, as tune's parts want it. */
#ifndef TESTS_CPU_OPENED_H
#define TESTS_CPU_OPENED_H

#include "tune/candidate.h"

struct opened {
  struct source_file
      /* sources_add before opened_open: the config is read from these, and the test frees none */
      *files;
  struct sources sources;
  struct config *config;
  struct problem problem;
  struct space *space;
  struct toolkit *toolkit;
  struct device_description device;
  struct cache *cache; /* nothing is kept */
  struct tune_target target;
};

/* Fails the test with the error's message. */
void check(int status, const cugen_error *err);
/* With the config's check problem, or with the default one. */
void opened_open(struct opened *o, const char *config, bool check_problem);
void opened_close(struct opened *o);

/* A permutation that the seed gives. */
void shuffle(size_t *order, size_t count, unsigned *seed);

#endif
