/* Makes the data of inputs, and the right results of outputs, that a config gives by an expression,
   a list or a file. The calling process makes them, in the memory that the dataset shares with the
   worker (dataset.h). */
#ifndef TUNE_DATA_DATA_H
#define TUNE_DATA_DATA_H

#include "gen/template/expand.h"

/* A request for the data of one problem. */
struct data_request {
  const struct config *config;
  const struct sources *sources;
  const struct value *slots; /* values of the problem's parameters and of shared tunables */
  const struct kernel_spec *spec;
  uint64_t seed;
  /* Seconds that the expression of one argument may take, then CUGEN_ERROR_DEVICE; 0: no limit. */
  double timeout;
  /* The calling thread calls stop repeatedly while it evaluates an expression; if stop returns
     true, the result is CUGEN_ERROR_INTERRUPTED. NULL: never called. */
  bool (*stop)(void *context);
  void *context;
};

/* Writes to shared + dataset_data_offset the data of every input that has an expression, a list or
   a file. Inputs with a fill or a generator are skipped. An error message names the line of the
   argument. */
int data_make(const struct data_request *request, char *shared, cugen_error *err);

/* Writes to shared + dataset_results_offset those elements of right results that are compared, and
   marks the results as ready. Reads the data that data_make has made. An error message names the
   line of the reference. */
int data_make_answers(const struct data_request *request, char *shared, cugen_error *err);

#endif
