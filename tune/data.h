/* The data of inputs that a config gives by an expression, a list or a file, made in this process and put where a data set
   shares it (dataset.h). */
#ifndef TUNE_DATA_H
#define TUNE_DATA_H

#include "gen/template/expand.h"

/* What decides the data of one problem. */
struct data_request {
  const struct config *config;
  const struct sources *sources;
  const struct value *slots; /* with the shared tunables */
  const struct kernel_spec *spec;
  uint64_t seed;
  double timeout; /* seconds for the values of one input, CUGEN_ERROR_DEVICE beyond them; 0: none */
  /* Polled by the calling thread; true: give up with CUGEN_ERROR_INTERRUPTED. NULL: never. */
  bool (*stop)(void *context);
  void *context;
};

/* Writes every input with such data to shared + dataset_data_offset. What generators make is left out. An error names the
   argument's line. */
int data_make(const struct data_request *request, char *shared, cugen_error *err);

#endif
